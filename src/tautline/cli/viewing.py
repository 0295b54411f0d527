"""The commands that open a browser: view and live."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from tautline.cli import completing, targets
from tautline.cli.app import ScenarioName, Settings, app, overrides
from tautline.cli.output import INTERRUPTED, one_line_errors
from tautline.cli.reading import existing, run_name

Port = Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 takes a free one.")]
Browser = Annotated[
    bool, typer.Option(metavar="", help="Open the page in the browser; its address is printed in any case.")
]


@app.command()
def view(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="A run file (.nc) or a scenario, which is run first; up to four to compare.",
            metavar="RUN",
            autocompletion=completing.runs_and_scenarios,
        ),
    ],
    settings: Settings = None,
    port: Port = 0,
    browser: Browser = True,
) -> None:
    """Replay a run in the browser, or compare up to four: in three dimensions, with plots that follow.

    A scenario, such as `tautline view retrieval`, is run for the page alone; `tautline run` keeps the run.

    Example: tautline view retrieval.nc
    """
    with one_line_errors("view"):
        from tautline.files.runs import Reader
        from tautline.viewer.opening import announce
        from tautline.viewer.server import replay, run_until_stopped

        with ExitStack() as stack:
            files = [stack.enter_context(_run_of(each, settings)) for each in paths]
            readers = [stack.enter_context(closing(Reader(file))) for file in files]
            server = replay(
                [
                    (run_name(file, reader.attrs, several=len(files) > 1), reader)
                    for file, reader in zip(files, readers, strict=True)
                ]
            )
            run_until_stopped(server, port, announce(" and ".join(map(str, paths)), browser))


@contextmanager
def _run_of(path: Path, settings: list[str] | None) -> Iterator[Path]:
    """A run file, or that of a scenario, which is run now and forgotten afterwards."""
    from tautline.errors import InputError
    from tautline.files import scenario as scenarios

    if path.suffix == ".toml" or (not path.exists() and str(path) in scenarios.built_in_names()):
        from tautline.cli.watch import watching
        from tautline.files.runs import run_to_file

        case = scenarios.load(path, overrides(settings))
        with TemporaryDirectory(prefix="tautline-") as folder:
            target = Path(folder) / f"{path.stem}.nc"
            with watching(False, False) as watcher:
                run_to_file(target, case, watch=watcher)
            if watcher.interrupted:
                raise typer.Exit(INTERRUPTED)
            yield target
        return
    if settings:
        raise InputError(f"--set: expected with a scenario, got the run file {path}")
    yield existing(path)


@app.command()
def live(
    scenario: ScenarioName,
    settings: Settings = None,
    record: Annotated[Path | None, typer.Option(help="File for recordings; SCENARIO-live.nc by default.")] = None,
    alarm: Annotated[
        str, typer.Option(metavar="TENSION", help='Tension above which the page gives alarm: "12 kN".')
    ] = "",
    port: Port = 0,
    browser: Browser = True,
) -> None:
    """Simulate in real time and drive drums and trolleys from the browser.

    Hold a button or a key to wind, go to a length, lock, free, pull the load, replay the last ten seconds, record.

    Example: tautline live retrieval
    """
    with one_line_errors("live"):
        from tautline.files import scenario as scenarios
        from tautline.viewer.live_server import live as run_live

        chosen = scenarios.load(scenario, overrides(settings))
        source = scenarios.find(scenario)
        targets.check_targets({record: targets.RUN}, [source], overwrite=True)  # recordings take a name that is free
        print(run_live(chosen, source.stem, record=record, alarm=alarm, port=port, browser=browser), end="")
