"""The command that searches for the best values of some keys: optimize."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tautline.cli import output, targets
from tautline.cli.app import AsJson, NoColor, Quiet, app
from tautline.cli.output import one_line_errors

if TYPE_CHECKING:
    from tautline.optimal.result import Optimized

NOTHING = "nothing was written"


@app.command()
def optimize(
    file: Annotated[Path, typer.Argument(help="A file that names a scenario, keys to vary, an objective and limits.")],
    out: Annotated[
        Path | None, typer.Option("--output", "-o", help="Scenario file of the result; FILE-optimal.toml by default.")
    ] = None,
    iterations: Annotated[int | None, typer.Option("--iterations", min=1, help="At most so many.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", metavar="", help="Replace an existing file.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    no_color: NoColor = False,
) -> None:
    """Search for the values of keys that make an output of a run least within limits, and save the scenario found.

    Example: tautline optimize crane-optimal.toml -o crane-best.toml

    Ctrl-C ends the search at once and saves the values of the latest iteration.
    """
    from tautline.cli.interrupting import ends_soon
    from tautline.cli.watch import print_iteration

    with one_line_errors("optimize"):
        from tautline.durable import write_text
        from tautline.files.scenario import said_of
        from tautline.optimal.optimize import optimize as search
        from tautline.optimal.reading import OptimizeError, read
        from tautline.optimal.result import SearchInterrupted

        definition = read(file)
        arguments = definition.arguments | ({} if iterations is None else {"iterations": iterations})
        target = out or Path(f"{file.stem}-optimal.toml")
        targets.check_targets({target: targets.SCENARIO}, [file, *definition.sources], overwrite)
        watch = None if quiet or as_json else print_iteration
        try:
            # the second Ctrl-C: one must not cost the values of a long search on a busy machine
            with ends_soon(NOTHING, presses=2), said_of(file, OptimizeError):
                found = search(definition.case, watch=watch, **arguments)
        except SearchInterrupted as interrupted:
            found = interrupted.result
        except KeyboardInterrupt:
            print(f"interrupted; {NOTHING}", file=sys.stderr)
            raise typer.Exit(output.INTERRUPTED) from None
        write_text(target, found.to_toml())
        _finish(found, target, quiet, as_json, no_color)


def _finish(found: Optimized, target: Path, quiet: bool, as_json: bool, no_color: bool) -> None:
    """Summary and exit code of a search."""
    facts: dict[str, Any] = {
        "status": found.status,
        "message": found.message,
        "objective": found.objective,
        "violation": found.violation,
        "iterations": found.history[-1].iteration if found.history else 0,
        "wall_time": found.seconds,
        "values": found.values,
        "warnings": [w.to_dict() for w in found.warnings],
        "file": str(target),
    }
    if as_json:
        output.print_json(facts)
    elif not quiet:
        rows = {
            "status": found.status,
            "objective": f"{found.objective:.6g}",
            "beyond bounds": f"{100 * found.violation:.1e} % of their scales",
            "wall time": f"{found.seconds:.1f} s, {facts['iterations']} iterations",
            "file": str(target),
        }
        output.print_rows(rows, no_color)
        print("\n".join([found.message, *(f"warning: {w.text}" for w in found.warnings)]))
    if found.status == "interrupted":
        print(f"{target} holds the latest values; name it as `scenario` to go on from there", file=sys.stderr)
    if found.status != "completed":
        if quiet or as_json:
            print(found.message, file=sys.stderr)
        raise typer.Exit(output.INTERRUPTED if found.status == "interrupted" else output.STOPPED)
