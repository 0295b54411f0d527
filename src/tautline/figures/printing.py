"""Pages on paper: a PDF of an HTML file by a browser that is installed."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tautline.durable import StoreError, explained, replacing, write_text
from tautline.errors import InputError

# Names of the program, and the variable that names another.
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
VARIABLE = "TAUTLINE_BROWSER"
# Seconds for a page with many pictures on a busy machine.
PATIENCE = 180.0
# The browser reads and writes pipes 3 and 4.
FIRST_FREE = 10


def find_browser() -> str:
    """Path of a browser that prints; InputError says how to get one."""
    if sys.platform == "win32":
        raise InputError(
            "pdf: expected Linux or macOS, got Windows; open the page in a browser and print it from there"
        )
    given = os.environ.get(VARIABLE)
    if given is not None:
        if shutil.which(given) is None:
            raise InputError(f"{VARIABLE}: expected the path of Chromium or Chrome, got {given!r}")
        return given
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise InputError(
            "pdf: needs Chromium or Chrome, found none; install one (such as apt install chromium), name one in "
            f"{VARIABLE}, or open the page in any browser and print it"
        )
    return found


def print_pdf(page: str | os.PathLike[str], path: str | os.PathLike[str]) -> Path:
    """Print an HTML file as PDF, by Chromium or Chrome.

    Parameters
    ----------
    page : path
        HTML file, such as a report.
    path : path
        Of the PDF; a file that is there is replaced.

    Returns
    -------
    Path
        Of the PDF.
    """
    program, source, target = find_browser(), Path(page).resolve(), Path(path)
    if not source.is_file():
        raise StoreError(f"{page}: no such file")
    try:
        printed = _printed(program, source.as_uri())
    except (OSError, ValueError, KeyError) as problem:
        raise StoreError(f"{target}: {program} does not print: {problem}") from None
    with explained(target), replacing(target, "wb") as file:
        file.write(printed)
    return target


def write_page(path: Path, make: Callable[[], str], pdf: str | os.PathLike[str] | None) -> Path:
    """Write a page that is made meanwhile, and print it as PDF where a file for that is given; the path of the page."""
    if pdf is not None:
        find_browser()  # what is missing is reported before anything is computed
    write_text(path, make())
    if pdf is not None:
        print_pdf(path, pdf)
    return path


def _printed(program: str, address: str) -> bytes:
    """PDF of a page, from a browser that is started for it and speaks the DevTools protocol over two pipes."""
    (theirs, ours), (replies, answers) = _high_pipe(), _high_pipe()
    command = [program, "--headless", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe"]
    if os.geteuid() == 0:
        command.append("--no-sandbox")  # which root cannot have

    def as_it_expects() -> None:
        os.dup2(theirs, 3)
        os.dup2(answers, 4)

    with tempfile.TemporaryDirectory(prefix="tautline-", ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            [*command, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=as_it_expects,
            close_fds=False,  # which would close those two; others are not inherited
        )
        os.close(theirs)
        os.close(answers)
        try:
            return _Conversation(ours, replies).pdf(address)
        finally:
            os.close(ours)
            os.close(replies)
            browser.kill()
            browser.wait()


def _high_pipe() -> tuple[int, int]:
    """A pipe whose ends are none of the numbers that a browser uses."""
    import fcntl

    found = []
    for end in os.pipe():
        found.append(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE))
        os.close(end)
    return found[0], found[1]


class _Conversation:
    """Calls of the DevTools protocol and their answers."""

    def __init__(self, ours: int, replies: int) -> None:
        self._ours, self._replies = ours, replies
        self._rest, self._count = b"", 0
        self._end = time.monotonic() + PATIENCE

    def pdf(self, address: str) -> bytes:
        """The page at an address as PDF."""
        target = self._call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self._call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        self._call("Page.enable", session=session)
        problem = self._call("Page.navigate", {"url": address}, session).get("errorText")
        if problem:
            raise ValueError(problem)
        while self._message().get("method") != "Page.loadEventFired":
            pass
        wanted = {"preferCSSPageSize": True, "printBackground": True}
        return base64.b64decode(self._call("Page.printToPDF", wanted, session)["data"])

    def _call(self, method: str, parameters: dict[str, Any] | None = None, session: str = "") -> dict[str, Any]:
        self._count += 1
        call = {"id": self._count, "method": method, "params": parameters or {}}
        text = json.dumps(call | ({"sessionId": session} if session else {}))
        os.write(self._ours, text.encode() + b"\0")
        while (answer := self._message()).get("id") != self._count:
            pass
        if "error" in answer:
            raise ValueError(f"{method}: {answer['error'].get('message', '')}")
        result: dict[str, Any] = answer["result"]
        return result

    def _message(self) -> dict[str, Any]:
        """The next message; ValueError if the browser ends or takes too long."""
        while b"\0" not in self._rest:
            left = self._end - time.monotonic()
            if left <= 0.0 or not select.select([self._replies], [], [], left)[0]:
                raise ValueError(f"no answer in {PATIENCE:g} s")
            piece = os.read(self._replies, 1 << 20)
            if not piece:
                raise ValueError("it ended")
            self._rest += piece
        text, self._rest = self._rest.split(b"\0", 1)
        found: dict[str, Any] = json.loads(text)
        return found
