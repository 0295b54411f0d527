"""The commands."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from tautline._version import __version__
from tautline.cli import output
from tautline.cli.output import one_line_errors

app = typer.Typer(
    name="tautline",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="""Simulate strings that are reeled out and in, and the rigid bodies they carry.

    [bold]Examples[/bold]

    tautline run fixed-length

    tautline run crane-hoist -o hoist.nc --set body.mass="800 kg" --set run.order=4

    tautline new my.toml && tautline check my.toml && tautline run my.toml

    [bold]Exit codes[/bold]

    0 done (also when the string is fully in or out); 2 bad input; 3 stopped by the numerics (unstable step, Newton's
    method, overflow); 4 a file cannot be read or written; 130 interrupted (what is computed is saved, and
    `tautline resume` goes on from there).
    """,
)

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts, and nothing else.")]
NoColor = Annotated[bool, typer.Option("--no-color", help="No colours (also: environment variable NO_COLOR).")]
ScenarioName = Annotated[str, typer.Argument(help="A scenario file, or the name of a built-in one.")]
RunPath = Annotated[Path, typer.Argument(help="A run file (.nc).")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help='Change a value, e.g. --set string.stiffness=60 or --set body.mass="2 kg".'),
]


def _version(wanted: bool) -> None:
    if wanted:
        print(f"tautline {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of the program itself."""


def overrides(settings: list[str] | None) -> dict[str, str]:
    """What --set gave, by key."""
    from tautline.files.scenario import ScenarioError

    pairs = {}
    for setting in settings or []:
        key, sign, value = setting.partition("=")
        if not sign:
            raise ScenarioError(f"--set {setting}: expected section.key=value")
        pairs[key.strip()] = value.strip()
    return pairs


@app.command()
def run(
    scenario: ScenarioName,
    out: Annotated[Path | None, typer.Option("--output", "-o", help="Run file; SCENARIO.nc by default.")] = None,
    settings: Settings = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing run file.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    no_color: NoColor = False,
) -> None:
    """Simulate a scenario and save the run while it goes on.

    Example: tautline run retrieval -o retrieval.nc --set command.moment="1.5 N*m"
    """
    from tautline.cli.watch import Stopwatch, watching

    with one_line_errors():
        from tautline.files import runs
        from tautline.files import scenario as scenarios

        source = scenarios.find(scenario)
        chosen = scenarios.load(scenario, overrides(settings))
        target = out or Path(f"{source.stem}.nc")
        clock = Stopwatch()
        with watching(quiet or as_json, no_color) as watcher:
            runs.run_to_file(target, chosen, overwrite=overwrite, watch=watcher)
        _finish(target, clock(), watcher, quiet, as_json, no_color)


@app.command()
def resume(path: RunPath, quiet: Quiet = False, as_json: AsJson = False, no_color: NoColor = False) -> None:
    """Finish a run that was interrupted or killed; the result is that of an uninterrupted run, bit for bit.

    Example: tautline resume retrieval.nc
    """
    from tautline.cli.watch import Stopwatch, watching

    with one_line_errors():
        from tautline.files import runs

        clock = Stopwatch()
        with watching(quiet or as_json, no_color) as watcher:
            runs.resume(path, watcher)
        _finish(path, clock(), watcher, quiet, as_json, no_color)


def _summary(path: Path) -> dict[str, Any]:
    from tautline.files import runs
    from tautline.results.summary import summarise

    with closing(runs.Reader(path)) as reader:
        return summarise(reader.blocks(), reader.attrs, reader.missing)


def _finish(target: Path, wall: float, watcher: Any, quiet: bool, as_json: bool, no_color: bool) -> None:
    """Summary and exit code of a run that has just ended; `watcher` knows what was computed now."""
    summary = _summary(target)
    unfinished = summary["status"] == "unfinished"
    if as_json:
        compiling = watcher.compile_time
        output.print_json({**summary, "file": str(target), "wall_time": wall - compiling, "compile_time": compiling})
    elif not quiet:
        extra = {"wall time": watcher.rates(wall), "file": str(target)}
        output.console(no_color).print(output.summary_table(summary, extra))
        if summary["status"] != "completed":
            print(output.ending(summary))
    if watcher.interrupted and unfinished:
        if quiet or as_json:
            print(summary["message"], file=sys.stderr)
        raise typer.Exit(output.INTERRUPTED)
    if summary["status"] in output.NUMERICAL:
        raise typer.Exit(output.STOPPED)


@app.command()
def scenarios(as_json: AsJson = False, no_color: NoColor = False) -> None:
    """List the built-in scenarios."""
    from tautline.files.scenario import built_in_names, load

    found = {name: load(name) for name in built_in_names()}
    if as_json:
        output.print_json({name: {"title": s.title, "description": s.description} for name, s in found.items()})
        return
    from rich.table import Table

    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, s in found.items():
        table.add_row(name, s.description)
    output.console(no_color).print(table)
    print("\ntautline run NAME runs one, tautline show NAME prints it as a start for your own")


@app.command()
def show(scenario: ScenarioName) -> None:
    """Print a scenario file.

    Example: tautline show bungee > my-jump.toml
    """
    with one_line_errors():
        from tautline.files.scenario import find, read

        print(read(find(scenario)), end="")


@app.command()
def check(
    scenario: ScenarioName, settings: Settings = None, as_json: AsJson = False, no_color: NoColor = False
) -> None:
    """Check a scenario before running it: forces at rest, steps and what limits them, time and size of the result.

    Example: tautline check crane-hoist --set run.elements=40
    """
    with one_line_errors():
        from tautline.cli import checking
        from tautline.files import scenario as scenarios

        chosen = scenarios.load(scenario, overrides(settings))
        with chosen.naming_keys():
            facts = checking.facts(chosen)
        if as_json:
            output.print_json({"scenario": scenario, **facts})
            return
        print(f"{scenario}: good")
        output.console(no_color).print(output.two_columns(checking.rows(facts)))


_TEMPLATE_HEAD = """# A scenario for tautline. Values are SI, or text with a unit: "5 mm", "2.09 N*m", "15 deg".
# `tautline check` checks this file, `tautline run` runs it, `tautline schema` helps your editor.

"""


@app.command()
def new(
    path: Annotated[Path, typer.Argument(help="The file to write.")],
    like: Annotated[str, typer.Option(help="The built-in scenario to start from.")] = "retrieval",
) -> None:
    """Write a scenario file to start from; never over an existing one.

    Example: tautline new my-crane.toml --like crane-hoist
    """
    with one_line_errors():
        from tautline.files.runs import StoreError
        from tautline.files.scenario import find, read

        text = _TEMPLATE_HEAD + read(find(like))
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            raise StoreError(f"{path}: exists already") from None
        except OSError as error:
            raise StoreError(f"{path}: cannot be written: {error.strerror}") from None
        print(f"{path}: written; edit it, then `tautline run {path}`")


@app.command()
def schema() -> None:
    """Print the JSON Schema of scenario files, for editors that check and complete TOML.

    Example: tautline schema > tautline.schema.json
    """
    from tautline.files.scenario import json_schema

    output.print_json(json_schema())


@app.command()
def info(path: RunPath, as_json: AsJson = False, no_color: NoColor = False) -> None:
    """What a run file holds: status, conservation, extremes."""
    with one_line_errors():
        summary = _summary(path)
        if as_json:
            output.print_json(summary)
        else:
            extra = {
                "method": f"scheme {summary['scheme']}, order {summary['order']}",
                "written by": f"tautline {summary['version']}",
            }
            output.console(no_color).print(output.summary_table(summary, extra))
            print(output.ending(summary))


@app.command()
def export(
    path: RunPath,
    csv: Annotated[Path | None, typer.Option(help="Write all variables to this CSV file.")] = None,
    vtk: Annotated[Path | None, typer.Option(help="Write a VTK series for ParaView into this folder.")] = None,
    html: Annotated[bool, typer.Option("--html", help="Write one HTML file that plays the run offline.")] = False,
    out: Annotated[Path | None, typer.Option("--output", "-o", help="Of --html; RUN.html by default.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")] = False,
) -> None:
    """Write a run for other programs. The .nc file itself opens in MATLAB, Julia and xarray as it is.

    Example: tautline export retrieval.nc --csv retrieval.csv --vtk frames/ --html
    """
    with one_line_errors():
        from tautline import durable
        from tautline.errors import InputError
        from tautline.files import runs
        from tautline.files.export import write_csv, write_vtk

        page = (out or path.with_suffix(".html")) if html else None
        if csv is None and vtk is None and page is None:
            raise InputError("export: expected --csv FILE, --vtk FOLDER or --html, got none")
        if vtk is not None and vtk.exists() and not vtk.is_dir():
            raise runs.StoreError(f"{vtk}: {durable.kind_of(vtk) or 'is a file'}, expected a folder")
        for target in (csv, page, vtk and vtk / "string.pvd"):
            if target is not None and target.exists():
                durable.check_regular(target)
                if path.exists() and target.samefile(path):
                    raise InputError(f"export: expected another file than the run itself, got {target}")
                if not overwrite:
                    raise runs.StoreError(f"{target}: exists already; allow overwriting with --overwrite")
        try:
            if csv is not None:
                print(f"{csv}: {write_csv(runs.blocks(path), csv)} rows")
            if vtk is not None:
                count = write_vtk(runs.blocks(path), vtk)
                print(f"{vtk}: {count} frames; open {vtk / 'string.pvd'} and {vtk / 'body.pvd'} in ParaView")
            if page is not None:
                print(_write_page(path, page))
        except OSError as error:
            raise runs.StoreError(f"{error.filename or path}: {error.strerror or error}") from None


def run_name(path: Path, attrs: Mapping[str, Any]) -> str:
    """What a run is called on a page: its file, and its title if it has one."""
    title = str(attrs["title"])
    return path.stem if title == "tautline run" else f"{path.stem}: {title}"


def _write_page(path: Path, target: Path) -> str:
    from tautline.durable import replacing
    from tautline.files.runs import Reader
    from tautline.viewer.page import offline

    with closing(Reader(path)) as reader, replacing(target, encoding="utf-8") as file:
        file.write(offline((run_name(path, reader.attrs), reader)))
    return f"{target}: {target.stat().st_size / 1e6:.2f} MB; opens in any browser, without a network"


@app.command()
def reproduce(
    out: Annotated[Path, typer.Option("--output", "-o", help="The folder to write into.")] = Path("reproduction"),
    animations: Annotated[bool, typer.Option(help="Also make the animations.")] = True,
    full: Annotated[
        bool, typer.Option("--full", help="Add the long comparisons with other integrators and MP4; takes minutes.")
    ] = False,
) -> None:
    """Reproduce the paper's numerical section: figures, animations, claims, and a report in one HTML file.

    Example: tautline reproduce -o paper/
    """
    with one_line_errors():
        from tautline.errors import InputError
        from tautline.paper.reproduce import reproduce as make

        if out.is_file():
            raise InputError(f"--output: expected a folder, got the file {out}")
        make(out, animations=animations, full=full)


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Versions, cache folder, and a self-test of a few seconds (longer when kernels have to be compiled)."""
    import importlib.metadata
    import platform

    from tautline.cli.watch import Stopwatch

    names = ("numpy", "numba", "scipy", "xarray", "netCDF4", "pint", "typer", "rich")
    facts: dict[str, Any] = {
        "tautline": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
    }
    facts |= {name: importlib.metadata.version(name) for name in names}
    clock = Stopwatch()
    from tautline.kernels.jit import cache_folder

    folder = cache_folder()
    facts["kernel cache"] = str(folder) if folder else "none can be written: kernels are compiled in every process"
    from tautline.paper.examples import run as run_example
    from tautline.results.conservation import conservation

    checks = {}
    for number, order, bound in ((1, 2, 5e-6), (3, 4, 1e-6)):
        kept = conservation(run_example(number, order=order, duration=2.0))
        good = kept.energy < bound and kept.angular_momentum < 1e-13 and kept.orthogonality < 1e-14
        checks[f"example {number}, order {order}"] = good
    facts["self-test"] = "passed" if all(checks.values()) else f"FAILED: {checks}"
    facts["self-test time"] = f"{clock():.2f} s"
    if as_json:
        output.print_json(facts)
    else:
        for name, value in facts.items():
            print(f"{name:<16}{value}")
    if not all(checks.values()):
        raise typer.Exit(1)
