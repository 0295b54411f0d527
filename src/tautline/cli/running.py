"""The commands that simulate one scenario: run and resume."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from tautline.cli import output, targets
from tautline.cli.app import AsJson, NoColor, Quiet, RunPath, ScenarioName, Settings, app, overrides
from tautline.cli.output import one_line_errors


@app.command()
def run(
    scenario: ScenarioName,
    out: Annotated[Path | None, typer.Option("--output", "-o", help="Run file; SCENARIO.nc by default.")] = None,
    settings: Settings = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", metavar="", help="Replace an existing run file.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    no_color: NoColor = False,
) -> None:
    """Simulate a scenario and save the run while it goes on.

    Example: tautline run retrieval -o retrieval.nc --set command.torque="1.5 N*m"
    """
    from tautline.cli.watch import watching

    with one_line_errors("run"):
        from tautline.files import runs
        from tautline.files import scenario as scenarios

        source = scenarios.find(scenario)
        chosen = scenarios.load(scenario, overrides(settings))
        target = out or Path(f"{source.stem}.nc")
        targets.check_targets({target: targets.RUN}, [source], overwrite=True)  # `run_to_file` says how to resume
        begun = perf_counter()
        with watching(quiet or as_json, no_color) as watcher:
            runs.run_to_file(target, chosen, overwrite=overwrite, watch=watcher)
        _finish(target, perf_counter() - begun, watcher, quiet, as_json, no_color)


@app.command()
def resume(path: RunPath, quiet: Quiet = False, as_json: AsJson = False, no_color: NoColor = False) -> None:
    """Finish a run that was interrupted or killed; the result is that of an uninterrupted run, bit for bit.

    Example: tautline resume retrieval.nc
    """
    from tautline.cli.watch import watching

    with one_line_errors("resume"):
        from tautline.files import runs

        begun = perf_counter()
        with watching(quiet or as_json, no_color) as watcher:
            runs.resume(path, watcher)
        _finish(path, perf_counter() - begun, watcher, quiet, as_json, no_color)


def _finish(target: Path, wall: float, watcher: Any, quiet: bool, as_json: bool, no_color: bool) -> None:
    """Summary and exit code of a run that has just ended; `watcher` has the wall time of this session."""
    from tautline.results.summary_text import summary_rows

    summary = output.summary_of(target)
    unfinished = summary["status"] == "unfinished"
    if as_json:
        compiling = watcher.compile_time
        output.print_json({**summary, "file": str(target), "wall_time": wall - compiling, "compile_time": compiling})
    elif not quiet:
        extra = {"wall time": watcher.rates(wall), "file": str(target)}
        output.print_rows(summary_rows(summary, extra), no_color)
        print(f"look at it: tautline view {shlex.quote(str(target))}")
        if summary["status"] != "completed":
            print(summary["message"])
    if watcher.interrupted and unfinished:
        if quiet or as_json:
            print(summary["message"], file=sys.stderr)
        raise typer.Exit(output.INTERRUPTED)
    if summary["status"] in output.NUMERICAL:
        raise typer.Exit(output.STOPPED)
