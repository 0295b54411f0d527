"""A session behind a websocket: states go out by the clock, commands for the reel come in."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from time import perf_counter
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from tautline.errors import InputError
from tautline.viewer.server import Answer, PageServer, encoded, page_answer
from tautline.viewer.session import STATES_A_SECOND, Session

MOST_VIEWERS = 8
# Bytes that a slow page may be behind; it misses states rather than slowing the others down.
BEHIND = 1 << 18
STATUS_EVERY = 0.5  # s
LATE = 0.1  # s that the clock may be late and still catch up
AT_ONCE = 3  # states computed at one wake-up at most


class LiveServer:
    """One session, shown to every page that connects."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._viewers: set[ServerConnection] = set()
        self._awaited = True  # the first page
        self._moved = True
        self._said: str | None = None
        self._sending: set[asyncio.Future[None]] = set()
        answers: dict[str, Answer] = {"/": page_answer(self._boot, session.title)}
        self.server = PageServer(answers, self._converse)

    def _boot(self) -> dict[str, Any]:
        return {"mode": "live", "token": self.server.token, "runs": [self.session.meta()]}

    async def _converse(self, connection: ServerConnection) -> None:
        """One page: a greeting, then its messages until it goes."""
        if len(self._viewers) >= MOST_VIEWERS:
            await connection.close(1013, f"{MOST_VIEWERS} pages are watching already")
            return
        self._viewers.add(connection)
        self._awaited = False
        with suppress(ConnectionClosed):
            try:
                await connection.send(self._hello())
                await connection.send(self.session.past())
                async for text in connection:
                    await connection.send(self._reply(text))
            finally:
                self._viewers.discard(connection)

    def _hello(self) -> str:
        return encoded({"type": "hello", "meta": self.session.meta(), "status": self.session.status()})

    def _reply(self, text: str | bytes) -> str:
        number: Any = None
        try:
            message = _parsed(text)
            number = message.get("id") if isinstance(message, dict) else None
            number = number if isinstance(number, (int, str)) and len(str(number)) < 40 else None
            self.session.obey(message)
        except InputError as error:
            return encoded({"type": "refused", "id": number, "why": str(error)})
        self._moved = True
        if message["type"] == "reset":
            self._broadcast(self._hello())
        self._tell_status()
        return encoded({"type": "ok", "id": number})

    def _broadcast(self, message: str | bytes) -> None:
        """To every page that is not too far behind."""
        for viewer in tuple(self._viewers):
            if viewer.transport.get_write_buffer_size() < BEHIND:
                task = asyncio.ensure_future(_send(viewer, message))
                self._sending.add(task)
                task.add_done_callback(self._sending.discard)

    def _tell_status(self) -> None:
        text = encoded({"type": "status", "status": self.session.status()})
        if text != self._said:
            self._said = text
            self._broadcast(text)

    async def run(self) -> None:
        """Advance the simulation by the clock from when the first page is there, for ever."""
        session = self.session
        due = clock = told_at = perf_counter()
        simulated = behind = 0.0  # since the last status; due, but not yet computed
        try:
            while True:
                # by deadlines, so that a late wake-up does not slow the clock down
                due = max(due + 1.0 / STATES_A_SECOND, perf_counter() - LATE)
                await asyncio.sleep(max(0.0, due - perf_counter()))
                now = perf_counter()
                behind += session.rate * (now - clock)
                clock = now
                if session.paused or session.ended or self._awaited:
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
                if now - told_at >= STATUS_EVERY:
                    session.achieved = simulated / (now - told_at)
                    told_at, simulated = now, 0.0
                    self._tell_status()
        finally:
            session.close()


async def _send(viewer: ServerConnection, message: str | bytes) -> None:
    with suppress(ConnectionClosed):
        await viewer.send(message)


def _parsed(text: str | bytes) -> Any:
    if isinstance(text, bytes):
        raise InputError("message: expected text, got bytes")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(f"message: expected JSON, got {text[:40]!r}") from None
