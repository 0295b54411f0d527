"""The viewer as its users meet it: a server in a process of its own, a page in a real browser."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support.commands import COMMAND

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Where tests/support/install_browser.py puts one.
INSTALLED = Path(__file__).parents[2] / "build" / "browser"
NO_BROWSER = "no browser found; `make browser` installs one"
# A graphics card in software: the same picture on every machine.
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


class Found(NamedTuple):
    """A browser that is installed, and the environment that it runs in."""

    program: str
    environment: dict[str, str]


def find_browser() -> Found | None:
    """Browser of the system, or the one that `make browser` installed."""
    # without a language the page would be told "en-US@posix", which is none
    environment = {**os.environ, "LC_ALL": "en_US.UTF-8"}
    system = next(filter(None, map(shutil.which, BROWSERS)), None)
    if system is not None:
        return Found(system, environment)
    if not (INSTALLED / "chromium").is_file():
        return None
    if (INSTALLED / "lib").is_dir():
        environment["LD_LIBRARY_PATH"] = str(INSTALLED / "lib")
    if (INSTALLED / "fonts-of-package.conf").is_file():
        environment["FONTCONFIG_FILE"] = str(INSTALLED / "fonts-of-package.conf")
    return Found(str(INSTALLED / "chromium"), environment)


def print_by_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the command print pages by the browser of the tests; where there is none, skip the test."""
    found = find_browser()
    if found is None:
        pytest.skip(NO_BROWSER)
    for name, words in (found.environment | {"TAUTLINE_BROWSER": found.program}).items():
        monkeypatch.setenv(name, words)


class Serving:
    """`tautline view` or `tautline live`, running."""

    def __init__(self, *arguments: str, cwd: Path) -> None:
        self.process = subprocess.Popen(
            [COMMAND, *arguments, "--no-browser"],
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://\S+", line)
        if found is None:
            self.process.kill()
            raise AssertionError(f"no address: {line}{self.process.communicate()}")
        self.address = found[0]
        self.hint = self.process.stdout.readline()
        parts = urlsplit(self.address)
        assert parts.port is not None
        self.port: int = parts.port
        self.token = parse_qs(parts.query)["token"][0]

    def get(self, path: str, headers: dict[str, str] | None = None, method: str = "GET") -> tuple[int, bytes]:
        """Status and body; `{token}` in the path stands for the right one."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path.replace("{token}", self.token), headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def stop(self) -> tuple[int, str, str]:
        """Ctrl-C; exit code and what it printed."""
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


@contextlib.contextmanager
def serving(*arguments: str, cwd: Path) -> Iterator[Serving]:
    """A server for a while; it must end without a word of complaint."""
    server = Serving(*arguments, cwd=cwd)
    try:
        yield server
    except BaseException:
        server.process.kill()
        server.process.communicate()
        raise
    if server.process.poll() is None:
        code, _, err = server.stop()
        assert (code, err) == (0, ""), f"exit code {code}\n{err}"


@contextlib.contextmanager
def browsing() -> Iterator[Browser]:
    """A browser without a window; skips where there is none."""
    found = find_browser()
    if found is None:
        pytest.skip(NO_BROWSER)
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found.program, args=FLAGS, env=found.environment)
        yield browser
        browser.close()
