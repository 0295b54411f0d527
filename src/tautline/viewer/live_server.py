"""A session behind a websocket: states go out by the clock, commands for the reel come in."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from tautline.errors import InputError
from tautline.model.system.case import Case
from tautline.viewer.alarm import alarm_limit
from tautline.viewer.opening import announce
from tautline.viewer.pace import Pace, parsed, refusal
from tautline.viewer.pilot import Control
from tautline.viewer.server import Answer, PageServer, page_answer, run_until_stopped
from tautline.viewer.session import Session

MOST_VIEWERS = 8
# Bytes that a slow page may be behind; it misses states rather than slowing the others down.
BEHIND = 1 << 18
# Messages of one page that are carried out, at most; they also take no more than half of the time. A slider sends 60.
MESSAGES_A_SECOND = 200.0
MOST_MALFORMED = 100  # in a row


class LiveServer:
    """One session, shown to every page that connects."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.pace = Pace(session, self._broadcast)
        self._viewers: set[ServerConnection] = set()
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
        with suppress(ConnectionClosed):
            try:
                for message in self.pace.greetings():
                    await connection.send(message)
                await self._listen(connection)
            finally:
                self._viewers.discard(connection)

    async def _listen(self, connection: ServerConnection) -> None:
        """Carry out what a page asks for. A page that asks too often waits, and not the others."""
        malformed = 0
        async for text in connection:
            if connection.transport.is_closing():  # gone, with messages that it left behind
                return
            begun = perf_counter()
            try:
                answer = self.pace.carry_out(parsed(text))
                malformed = 0
            except InputError as error:
                answer, malformed = refusal(error), malformed + 1
            # behind the status that it has changed, whose sending is a task already
            await asyncio.ensure_future(_send(connection, answer))
            if malformed > MOST_MALFORMED:
                await connection.close(1008, "too many messages that cannot be read")
                return
            # receiving gives way to nobody while there are messages
            await asyncio.sleep(max(1.0 / MESSAGES_A_SECOND, perf_counter() - begun))

    def _broadcast(self, message: str | bytes) -> None:
        """To every page that is not too far behind."""
        for viewer in tuple(self._viewers):
            if viewer.transport.get_write_buffer_size() < BEHIND:
                task = asyncio.ensure_future(_send(viewer, message))
                self._sending.add(task)
                task.add_done_callback(self._sending.discard)


async def _send(viewer: ServerConnection, message: str | bytes) -> None:
    if viewer.transport.is_closing():  # it went while this waited; asyncio complains of what is written then
        return
    with suppress(ConnectionClosed):
        await viewer.send(message)


def live(
    case: Case,
    name: str,
    *,
    control: Control | None = None,
    record: Path | None = None,
    alarm: float | str | None = None,
    port: int = 0,
    browser: bool = True,
) -> str:
    """Simulate a case in real time until Ctrl-C; what is left to be said then."""
    with case.naming_keys():
        session = Session(case, name, record, control, alarm_limit(alarm))
        # compiles the kernels before anyone waits for a page, and refuses a step that is too large
        session.driven.march(session.tick, session.tick, record=False)
        session.reset()
    server = LiveServer(session)
    run_until_stopped(server.server, port, announce(case.title or name, browser), server.pace.run)
    return f"{session.message}\n" if session.message else ""
