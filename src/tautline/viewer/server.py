"""A server for one page on this machine: loopback only, a token in the address, nothing for other origins."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import secrets
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import Server as WebsocketServer
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from tautline.errors import InputError, TautlineError
from tautline.viewer.comparing import name_by_difference
from tautline.viewer.page import check_count, fill, offline
from tautline.viewer.payload import MOST_POINTS, Recording, frames, meta, plots

HOST = "127.0.0.1"
LARGEST_MESSAGE = 1 << 14  # bytes; what the page sends is far smaller
FAREWELL = 1.0  # s for connections to end by themselves
METHODS = ("GET", "HEAD")
MOST_ASKED = 10**9  # samples or points; what is sent has limits of its own
Query = Mapping[str, str]
Answer = Callable[[Query], tuple[str, bytes]]  # content type and body
Socket = Callable[[ServerConnection], Awaitable[None]]

# Strangers who say nonsense are refused; their nonsense is no news for the terminal.
_LOG = logging.getLogger("tautline.viewer")
_LOG.addHandler(logging.NullHandler())
_LOG.propagate = False


class PageServer:
    """Answers by path, and a websocket at /live if there is one."""

    def __init__(self, answers: Mapping[str, Answer], socket: Socket | None = None) -> None:
        self.token = secrets.token_urlsafe(16)
        self._answers = answers
        self._socket = socket
        self._port = 0
        self._reading = ThreadPoolExecutor(1)  # run files are read by one thread at a time

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self._port}/?token={self.token}"

    async def start(self, port: int = 0) -> WebsocketServer:
        try:
            server = await serve(
                self._converse,
                HOST,
                port,
                process_request=self._answer,
                max_size=LARGEST_MESSAGE,
                compression=None,
                logger=_LOG,
                server_header=None,
            )
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                hint = "in use by another program; give another port, or 0 for one that is free"
                raise TautlineError(f"--port {port}: {hint}") from None
            raise TautlineError(f"--port {port}: cannot be used ({os.strerror(error.errno or 0)})") from None
        self._port = next(iter(server.sockets)).getsockname()[1]
        return server

    def refusal(self, request: Request) -> str | None:
        """Why a request is refused, or None."""
        names = {f"{HOST}:{self._port}", f"localhost:{self._port}"}
        hosts, origins = (request.headers.get_all(name) for name in ("Host", "Origin"))
        if len(hosts) != 1 or hosts[0] not in names:
            return "this server answers to its own address only"
        if not {f"http://{name}" for name in names}.issuperset(origins):
            return "pages of other origins are not answered"
        try:
            given = _query(request).get("token", "")
        except ValueError:
            return "the address cannot be read"
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            return "the token is missing or wrong; open the address that the command printed"
        return None

    async def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        method = getattr(request, "method", "GET")  # older versions of the library refuse all others themselves
        if method not in METHODS:
            return _response(HTTPStatus.METHOD_NOT_ALLOWED, "text/plain; charset=utf-8", b"only GET and HEAD")
        answer = await self._answer_to(request)
        if answer is not None and method == "HEAD":
            answer.body = b""  # its length stays in the headers
        return answer

    async def _answer_to(self, request: Request) -> Response | None:
        refused = self.refusal(request)
        if refused is not None:
            return _response(HTTPStatus.FORBIDDEN, "text/plain; charset=utf-8", refused.encode())
        path = urlsplit(request.path).path
        if path == "/live" and self._socket is not None and "Upgrade" in request.headers:
            return None
        if path not in self._answers:
            return _response(HTTPStatus.NOT_FOUND, "text/plain; charset=utf-8", b"nothing here")
        loop = asyncio.get_running_loop()
        try:
            kind, body = await loop.run_in_executor(self._reading, self._answers[path], _query(request))
        except TautlineError as error:
            return _response(HTTPStatus.BAD_REQUEST, "text/plain; charset=utf-8", str(error).encode())
        return _response(HTTPStatus.OK, kind, body)

    async def _converse(self, connection: ServerConnection) -> None:
        if self._socket is not None:
            await self._socket(connection)


def _query(request: Request) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(urlsplit(request.path).query).items()}


def _response(status: HTTPStatus, kind: str, body: bytes) -> Response:
    headers = Headers(
        {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Content-Security-Policy": "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
            "Connection": "close",
        }
    )
    return Response(status.value, status.phrase, headers, body)


def page_answer(boot: Callable[[], dict[str, Any]], title: str) -> Answer:
    """The page, started with what `boot` gives."""
    return lambda query: ("text/html; charset=utf-8", fill(boot(), title).encode())


def replay(named: Sequence[tuple[str, Recording]]) -> PageServer:
    """A server that replays one run, or compares up to four, under the names given."""
    check_count(len(named))
    metas = [meta(run, name) for name, run in named]
    runs = [run for _, run in named]

    def chosen(query: Query) -> Recording:
        return runs[_number(query, "run", 0, len(runs) - 1)]

    def frames_answer(query: Query) -> tuple[str, bytes]:
        run = chosen(query)
        first = _number(query, "first", 0, run.rows - 1)
        count, every = (_number(query, name, 1, MOST_ASKED) for name in ("count", "every"))
        return "application/octet-stream", frames(run, first, count, every)

    def plots_answer(query: Query) -> tuple[str, bytes]:
        start, end = (_real(query, name) for name in ("from", "to"))
        points = min(_number(query, "points", 10, MOST_ASKED), MOST_POINTS)
        return "application/octet-stream", plots(chosen(query), start, end, points)

    title = name_by_difference(metas, [run.attrs for run in runs])

    def page_alone(query: Query) -> tuple[str, bytes]:
        return "text/html; charset=utf-8", offline(*named).encode()

    server = PageServer(
        {
            "/page": page_alone,
            "/": page_answer(lambda: {"mode": "replay", "title": title, "token": server.token, "runs": metas}, title),
            "/frames": frames_answer,
            "/plots": plots_answer,
        }
    )
    return server


def _number(query: Query, name: str, least: int, greatest: int) -> int:
    text = query.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) < 16 and least <= int(text) <= greatest):
        raise InputError(f"{name}: expected a whole number from {least} to {greatest}, got {text[:40]!r}")
    return int(text)


def _real(query: Query, name: str) -> float:
    text = query.get(name, "")
    with suppress(ValueError):
        value = float(text)
        if abs(value) < float("inf"):
            return value
    raise InputError(f"{name}: expected a number, got {text[:40]!r}")


async def _until_stopped(server: PageServer, port: int, ready: Callable[[str], None], beside: Any) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    if sys.platform != "win32":
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
    listening = await server.start(port)
    work = asyncio.ensure_future(beside()) if beside is not None else None
    ready(server.address)
    waiting = {asyncio.ensure_future(stop.wait())} | ({work} if work is not None else set())
    done, left = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for task in left:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    listening.close()
    with suppress(TimeoutError):  # strangers who hold a connection and say nothing do not hold us
        await asyncio.wait_for(listening.wait_closed(), FAREWELL)
    for task in done:
        task.result()


def run_until_stopped(
    server: PageServer, port: int, ready: Callable[[str], None], beside: Callable[[], Awaitable[None]] | None = None
) -> None:
    """Serve until Ctrl-C; `ready` gets the address, `beside` runs meanwhile."""
    with suppress(KeyboardInterrupt):
        asyncio.run(_until_stopped(server, port, ready, beside))
