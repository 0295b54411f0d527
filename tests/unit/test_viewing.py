"""How the pages of `tautline view` and `live` are opened."""

from __future__ import annotations

import html
import stat
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

from tautline.viewer.opening import announce


def test_the_token_is_not_on_the_command_line_of_a_browser(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Other users can read command lines; the page that leads to the address only its owner can."""
    opened: list[str] = []

    def opening(address: str) -> bool:
        opened.append(address)
        return True

    monkeypatch.setattr("webbrowser.open", opening)
    address = "http://127.0.0.1:4711/?token=secret&run=1"
    announce("a run", True)(address)
    (given,) = opened
    assert given.startswith("file://") and "secret" not in given
    door = Path(unquote(urlparse(given).path))
    assert html.escape(address) in door.read_text()
    assert stat.S_IMODE(door.stat().st_mode) == 0o600
    assert address in capsys.readouterr().out
    door.unlink()
