"""The end of a test run: tests that were skipped are listed with what would let them run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import pytest_terminal_summary
from tests.support import browser


class Terminal:
    """Notes what is written."""

    def __init__(self, *reasons: str) -> None:
        self.stats = {"skipped": [SimpleNamespace(longrepr=("file.py", 3, f"Skipped: {x}")) for x in reasons]}
        self.lines: list[str] = []

    def section(self, title: str, **look: bool) -> None:
        self.lines.append(title)

    def write_line(self, line: str) -> None:
        self.lines.append(line)


def summary(*reasons: str) -> list[str]:
    terminal = Terminal(*reasons)
    options: Any = SimpleNamespace(getoption=lambda name: None)
    pytest_terminal_summary(terminal, options)
    return terminal.lines


def test_skipped_tests_are_listed_by_reason() -> None:
    assert summary("no jax", "no browser", "no browser") == ["NOT TESTED", "2 tests: no browser", "1 test: no jax"]
    assert summary() == []


def test_a_missing_browser_is_skipped_with_the_command_that_installs_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "find_browser", lambda: None)
    with pytest.raises(pytest.skip.Exception, match="`make browser` installs one"), browser.browsing():
        pass
