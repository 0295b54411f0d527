"""Opening pages in the browser: live simulations, with an address that other users of the machine do not see."""

from __future__ import annotations

import atexit
import html
import os
import tempfile
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tautline.extras import need


def _door(address: str) -> Path:
    """Write a page that leads to the address. Command lines can be read by other users, a file of ours cannot."""
    handle, name = tempfile.mkstemp(prefix="tautline-", suffix=".html")
    with open(handle, "w", encoding="utf-8") as file:
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={html.escape(address)}">')
    door = Path(name)
    atexit.register(door.unlink, missing_ok=True)
    return door


def announce(what: str, browser: bool) -> Callable[[str], None]:
    """Function for the address of a server once it listens: prints it, and opens it in the browser."""

    def ready(address: str) -> None:
        print(f"{what}: {address}\nCtrl-C ends it.", flush=True)
        if browser and not webbrowser.open(_door(address).as_uri()):
            print("No browser could be opened: copy the address into one.", flush=True)

    return ready


def live(
    case: Any,
    *,
    control: Any = None,
    period: float | None = None,
    record: str | os.PathLike[str] | None = None,
    alarm: float | str | None = None,
    port: int = 0,
    browser: bool = True,
) -> None:
    """Simulate a case in real time and drive it from the browser, until Ctrl-C; as `tautline live` does.

    Parameters
    ----------
    case : Case
    control : callable, optional
        Called with the simulation every `period`, as by `simulate`. Reels that are driven from a page are left alone.
    period : float, optional
        Of `control` (s); a multiple of the step, if that is fixed, else of 1/1200 s.
    record : path, optional
        File for recordings; live.nc, or the case's title with -live.nc, by default.
    alarm : float, optional
        Tension above which the page gives alarm (N); also "12 kN".
    port : int
        On 127.0.0.1; 0 takes a free one.
    browser : bool
        Open the page in the browser; its address is printed in any case.
    """
    server = need("tautline.viewer.live_server", "tl.live")
    checked = need("tautline.viewer.pilot", "tl.live").checked_control(control, period)
    path = None if record is None else Path(record)
    options = {"control": checked, "record": path, "alarm": alarm, "port": port, "browser": browser}
    print(server.live(case, case.title or "live", **options), end="")
