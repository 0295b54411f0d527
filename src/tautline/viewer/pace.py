"""A session that moves on by the clock: states and texts go out to whoever watches, texts of pages come in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from time import perf_counter
from typing import Any

from tautline.errors import InputError
from tautline.viewer.session import STATES_A_SECOND, Session

STATUS_EVERY = 0.1  # s: lengths and speeds beside the controls are those of the curves
MEASURED = 0.5  # s over which the achieved rate is measured
LATE = 0.1  # s that the clock may be late and still catch up
AT_ONCE = 3  # states computed at one wake-up at most


class Pace:
    """A session, and how its news are told to all pages that watch it."""

    def __init__(self, session: Session, broadcast: Callable[[str | bytes], None]) -> None:
        self.session = session
        self._broadcast = broadcast
        self._awaited = True  # the first page
        self._moved = True
        self._said: str | None = None

    def greetings(self) -> tuple[str, bytes]:
        """Messages to a page that comes; the simulation begins with the first one."""
        self._awaited = False
        return self._hello(), self.session.past()

    def _hello(self) -> str:
        return encoded({"type": "hello", "meta": self.session.meta(), "status": self.session.status()})

    def reply(self, text: str | bytes) -> str:
        """Do what a page asks for; the answer to it."""
        try:
            return self.carry_out(parsed(text))
        except InputError as error:
            return refusal(error)

    def carry_out(self, message: dict[str, Any]) -> str:
        """Do what a message asks for; the answer to it."""
        number = message.get("id")
        number = number if isinstance(number, (int, str)) and len(str(number)) < 40 else None
        try:
            self.session.obey(message)
        except InputError as error:
            return refusal(error, number)
        self._moved = True
        if message["type"] == "reset":
            self._broadcast(self._hello())
        self._tell_status()
        return encoded({"type": "ok", "id": number})

    def _tell_status(self) -> None:
        text = encoded({"type": "status", "status": self.session.status()})
        if text != self._said:
            self._said = text
            self._broadcast(text)

    async def run(self) -> None:
        """Advance the simulation by the clock from when the first page is there, for ever."""
        session = self.session
        due = clock = told_at = measured_at = perf_counter()
        simulated = behind = 0.0  # since the rate was measured; due, but not yet computed
        try:
            while True:
                # by deadlines, so that a late wake-up does not slow the clock down
                due = max(due + 1.0 / STATES_A_SECOND, perf_counter() - LATE)
                await asyncio.sleep(max(0.0, due - perf_counter()))
                now = perf_counter()
                behind += session.rate * (now - clock)
                clock = now
                if not session.moving or self._awaited:
                    behind = 0.0
                    if self._moved:  # an impulse or a reset meanwhile
                        self._broadcast(session.state())
                        self._moved = False
                tick = session.tick
                # what could not be computed in time is given up: late states help nobody
                behind = min(behind, AT_ONCE * tick)
                while behind >= tick and session.advance():
                    simulated += tick
                    behind -= tick
                    self._broadcast(session.state())
                if now - measured_at >= MEASURED:
                    session.achieved = simulated / (now - measured_at)
                    measured_at, simulated = now, 0.0
                if now - told_at >= STATUS_EVERY:
                    told_at = now
                    self._tell_status()
        finally:
            session.close()


def parsed(text: str | bytes) -> dict[str, Any]:
    """A message of a page; InputError if it is none."""
    if isinstance(text, bytes):
        raise InputError("message: expected text, got bytes")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(f"message: expected JSON, got {text[:40]!r}") from None
    if not isinstance(message, dict):
        raise InputError("message: expected an object with a type")
    return message


def refusal(error: InputError, number: Any = None) -> str:
    """Why a message is not carried out."""
    return encoded({"type": "refused", "id": number, "why": str(error)})


def encoded(message: dict[str, Any]) -> str:
    """A message as text."""
    return json.dumps(message, allow_nan=False)
