"""The command that finds values of a scenario from measured series: fit."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tautline.cli import output, targets
from tautline.cli.app import AsJson, NoColor, Pdf, Project, Quiet, ScenarioName, Settings, app, overrides, pair
from tautline.cli.interrupting import ends_soon
from tautline.cli.output import one_line_errors

if TYPE_CHECKING:
    from tautline.fitting.result import Fit

CASE_FILE, PAGE_FILE = "fitted.toml", "report.html"
NOTHING = "nothing was written"


@app.command()
def fit(
    scenario: ScenarioName,
    data: Annotated[
        Path,
        typer.Argument(
            help="CSV file: names in its first line (time, start_tension, position[-1,x]), units in its second."
        ),
    ],
    vary: Annotated[
        str, typer.Option(help="Keys to be found, separated by commas: string.stiffness,string.viscosity.")
    ],
    bounds: Annotated[
        list[str] | None, typer.Option(help='Bounds of a key, e.g. --bounds string.stiffness="40 kN:80 kN".')
    ] = None,
    offset: Annotated[
        bool,
        typer.Option(
            "--offset", metavar="", help="The clock of the data has an unknown offset, of a tenth of their time."
        ),
    ] = False,
    offset_bounds: Annotated[
        str | None, typer.Option(help='The same with bounds, e.g. --offset-bounds "0 s:0.5 s".')
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(help="A column to be used, all by default; NAME=VARIABLE if it is named otherwise in the data."),
    ] = None,
    sigma: Annotated[
        list[str] | None,
        typer.Option(help='Noise of a column, e.g. --sigma start_tension="5 N"; estimated by default.'),
    ] = None,
    loss: Annotated[
        str, typer.Option(help="linear, or soft_l1, huber, cauchy, arctan, which give less weight to outliers.")
    ] = "linear",
    settings: Settings = None,
    out: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder of fitted.toml and report.html; SCENARIO-fit by default."),
    ] = None,
    project: Project = "",
    pdf: Pdf = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", metavar="", help="Replace existing files.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    no_color: NoColor = False,
) -> None:
    """Find values of a scenario that explain measured series, with standard errors, and write a report.

    The values of the scenario are the start of the search; --set gives others.

    Example: tautline fit crane.toml measured.csv --vary string.stiffness,string.viscosity -o crane-fit
    """
    with one_line_errors("fit"):
        from tautline.figures.printing import find_browser
        from tautline.files import scenario as scenarios
        from tautline.fitting import unknowns
        from tautline.fitting.fit import fit as find
        from tautline.gradients.runs import check_case

        source = scenarios.find(scenario)
        case = scenarios.load(scenario, overrides(settings))
        wanted = _vary(vary, bounds)
        unknowns.read(check_case(case), wanted)  # refuses keys before files
        folder = out or Path(f"{source.stem}-fit")
        kinds = {folder / CASE_FILE: targets.SCENARIO, folder / PAGE_FILE: targets.PAGE, pdf: targets.PDF}
        targets.check_targets({folder: targets.FOLDER, **kinds}, [source, data], overwrite)
        files = tuple(file for file in kinds if file is not None)
        if pdf is not None:
            find_browser()
        try:
            with ends_soon(NOTHING), _watching(quiet or as_json, no_color) as watch:
                found = find(
                    case,
                    data,
                    wanted,
                    columns=_columns(column),
                    offset=offset if offset_bounds is None else _range("--offset-bounds", offset_bounds),
                    sigma=dict(pair("--sigma", x) for x in sigma) if sigma else None,
                    loss=loss,
                    watch=watch,
                )
        except KeyboardInterrupt:
            print(f"interrupted; {NOTHING}", file=sys.stderr)
            raise typer.Exit(output.INTERRUPTED) from None
        _write(found, files, source.stem, project, data.name)
        _finish(found, files, quiet, as_json, no_color)


def _range(option: str, text: str) -> tuple[Any, Any]:
    """LOW:HIGH, either of which may be left out; numbers or text with units."""
    from tautline.errors import InputError

    ends = [end.strip() for end in text.split(":")]
    if len(ends) != 2:
        raise InputError(f"{option} {text}: expected LOW:HIGH, such as 3:5 or '3 s:5 s'")
    low, high = (_number(end) if end else None for end in ends)
    return low, high


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _vary(keys: str, bounds: list[str] | None) -> dict[str, Any]:
    """Keys with their bounds, as `fit` takes them."""
    from tautline.errors import InputError

    found: dict[str, Any] = {key.strip(): None for key in keys.split(",") if key.strip()}
    for text in bounds or []:
        key, ends = pair("--bounds", text)
        if key not in found:
            raise InputError(f"--bounds {text}: expected a key of --vary ({', '.join(found)})")
        found[key] = _range(f"--bounds {key}", ends)
    return found


def _columns(given: list[str] | None) -> dict[str, str] | None:
    """Variables by the names in the data."""
    if not given:
        return None
    pairs = (text.rpartition("=") for text in given)
    return {(name or variable): variable for name, _, variable in pairs}


@contextmanager
def _watching(silent: bool, no_color: bool) -> Iterator[Any]:
    """Shows the misfit after every run, on a terminal."""
    screen = output.console(no_color, stderr=True)
    if silent or not screen.is_terminal:
        yield None
        return
    with screen.status("first run") as status:
        yield lambda x: status.update(f"run {x.runs}: residuals {x.misfit:.4g} times the noise")


def _write(fit: Fit, files: tuple[Path, ...], name: str, project: str, data: str) -> None:
    from tautline.durable import explained, write_text
    from tautline.figures.fitted import fit_report

    case_file, page, *printed = files
    with explained(case_file):
        case_file.parent.mkdir(parents=True, exist_ok=True)
    write_text(case_file, fit.case.to_toml())
    pdf = printed[0] if printed else None
    fit_report(fit, page, title=fit.case.title or name, project=project, data=data, pdf=pdf)


def _finish(fit: Fit, files: tuple[Path, ...], quiet: bool, as_json: bool, no_color: bool) -> None:
    """Table and exit code."""
    if as_json:
        output.print_json({**summary(fit), "files": [str(target) for target in files]})
    elif not quiet:
        output.console(no_color).print(str(fit), soft_wrap=True)
        for target in files:
            print(target)
    if fit.status != "completed":
        if quiet or as_json:
            print(fit.message, file=sys.stderr)
        raise typer.Exit(output.STOPPED)


def summary(fit: Fit) -> dict[str, Any]:
    """A fit for scripts."""
    return {
        "status": fit.status,
        "message": fit.message,
        "warnings": [w.to_dict() for w in fit.warnings],
        "values": fit.values,
        "standard_errors": fit.standard_errors,
        "units": fit.units,
        "correlations": fit.correlations.tolist(),
        "residuals": {name: {"rms": x.rms, "noise": x.sigma, "unit": x.unit} for name, x in fit.columns.items()},
        "chi_square": fit.chi_square,
        "degrees_of_freedom": fit.degrees_of_freedom,
        "runs": fit.runs,
    }
