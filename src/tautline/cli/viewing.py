"""The commands that open a browser: view and live."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tautline.cli.app import ScenarioName, Settings, app, overrides
from tautline.cli.output import one_line_errors
from tautline.cli.reading import existing, run_name

Port = Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 takes a free one.")]
Browser = Annotated[
    bool, typer.Option(metavar="", help="Open the page in the browser; its address is printed in any case.")
]


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
        from tautline.viewer.opening import announce
        from tautline.viewer.server import replay, run_until_stopped

        readers = [Reader(existing(each)) for each in paths]
        try:
            server = replay(
                [(run_name(each, reader.attrs), reader) for each, reader in zip(paths, readers, strict=True)]
            )
            run_until_stopped(server, port, announce(" and ".join(map(str, paths)), browser))
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
        from tautline.viewer.live_server import live as run_live

        chosen = scenarios.load(scenario, overrides(settings))
        name = scenarios.find(scenario).stem
        print(run_live(chosen, name, record=record, port=port, browser=browser), end="")
