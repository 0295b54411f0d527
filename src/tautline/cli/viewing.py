"""The commands that open a browser: view and live."""

from __future__ import annotations

import atexit
import html
import tempfile
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from tautline.cli.app import ScenarioName, Settings, app, overrides
from tautline.cli.output import one_line_errors
from tautline.cli.reading import run_name

Port = Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 takes a free one.")]
Browser = Annotated[bool, typer.Option(help="Open the page in the browser; its address is printed in any case.")]


def _door(address: str) -> Path:
    """Write a page that leads to the address. Command lines can be read by other users, a file of ours cannot."""
    handle, name = tempfile.mkstemp(prefix="tautline-", suffix=".html")
    with open(handle, "w", encoding="utf-8") as file:
        file.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={html.escape(address)}">')
    door = Path(name)
    atexit.register(door.unlink, missing_ok=True)
    return door


def _announce(what: str, browser: bool) -> Callable[[str], None]:
    def ready(address: str) -> None:
        print(f"{what}: {address}\nCtrl-C ends it.", flush=True)
        if browser and not webbrowser.open(_door(address).as_uri()):
            print("No browser could be opened: copy the address into one.", flush=True)

    return ready


@app.command()
def view(
    paths: Annotated[list[Path], typer.Argument(help="A run file (.nc), or up to four to compare.", metavar="RUN")],
    port: Port = 0,
    browser: Browser = True,
) -> None:
    """Replay a run in the browser, or compare up to four: in three dimensions, with plots that follow.

    Example: tautline view retrieval.nc
    """
    with one_line_errors("view"):
        from tautline.files.runs import Reader
        from tautline.viewer.server import replay, run_until_stopped

        readers = [Reader(each) for each in paths]
        try:
            server = replay(
                [(run_name(each, reader.attrs), reader) for each, reader in zip(paths, readers, strict=True)]
            )
            run_until_stopped(server, port, _announce(" and ".join(map(str, paths)), browser))
        finally:
            for reader in readers:
                reader.close()


@app.command()
def live(
    scenario: ScenarioName,
    settings: Settings = None,
    record: Annotated[Path | None, typer.Option(help="File for recordings; SCENARIO-live.nc by default.")] = None,
    port: Port = 0,
    browser: Browser = True,
) -> None:
    """Simulate in real time and drive the reels from the browser: torque, speed, lock, free, impulse, record.

    Example: tautline live retrieval
    """
    with one_line_errors("live"):
        from tautline.files import scenario as scenarios
        from tautline.viewer.live import LiveServer
        from tautline.viewer.server import run_until_stopped
        from tautline.viewer.session import Session

        chosen = scenarios.load(scenario, overrides(settings))
        with chosen.naming_keys():
            session = Session(chosen, scenarios.find(scenario).stem, record)
            # compiles the kernels before anyone waits for a page, and refuses a step that is too large
            session.driven.march(session.tick, session.tick, record=False)
            session.reset()
        server = LiveServer(session)
        run_until_stopped(server.server, port, _announce(chosen.title or scenario, browser), server.pace.run)
        if session.message:
            print(session.message)
