"""A session behind a websocket: states go out by the clock, commands for the reel come in."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from tautline.model.assembly.case import AssemblyCase
from tautline.model.case import Case
from tautline.viewer.opening import announce
from tautline.viewer.pace import Pace
from tautline.viewer.pilot import Control
from tautline.viewer.server import Answer, PageServer, page_answer, run_until_stopped
from tautline.viewer.session import Session

MOST_VIEWERS = 8
# Bytes that a slow page may be behind; it misses states rather than slowing the others down.
BEHIND = 1 << 18


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
                async for text in connection:
                    await connection.send(self.pace.reply(text))
            finally:
                self._viewers.discard(connection)

    def _broadcast(self, message: str | bytes) -> None:
        """To every page that is not too far behind."""
        for viewer in tuple(self._viewers):
            if viewer.transport.get_write_buffer_size() < BEHIND:
                task = asyncio.ensure_future(_send(viewer, message))
                self._sending.add(task)
                task.add_done_callback(self._sending.discard)


async def _send(viewer: ServerConnection, message: str | bytes) -> None:
    with suppress(ConnectionClosed):
        await viewer.send(message)


def live(
    case: Case | AssemblyCase,
    name: str,
    *,
    control: Control | None = None,
    record: Path | None = None,
    port: int = 0,
    browser: bool = True,
) -> str:
    """Simulate a case in real time until Ctrl-C; what is left to be said then."""
    with case.naming_keys():
        session = Session(case, name, record, control)
        # compiles the kernels before anyone waits for a page, and refuses a step that is too large
        session.driven.march(session.tick, session.tick, record=False)
        session.reset()
    server = LiveServer(session)
    run_until_stopped(server.server, port, announce(case.title or name, browser), server.pace.run)
    return f"{session.message}\n" if session.message else ""
