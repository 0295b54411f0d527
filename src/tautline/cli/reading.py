"""The commands that read finished runs, for which neither engine nor kernels are loaded: info and export.

For an FMU `export` takes a scenario instead (exporting.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from tautline.cli import completing, output, targets
from tautline.cli.app import AsJson, Expressions, NoColor, RunPath, Settings, app, overrides
from tautline.cli.output import one_line_errors
from tautline.errors import InputError
from tautline.quantities import between, unit_text, value


@app.command()
def info(
    path: RunPath,
    expr: Expressions = None,
    start: Annotated[
        str | None, typer.Option(metavar="TIME", help='Extremes of --expr from this time on, such as 5 or "1 min".')
    ] = None,
    end: Annotated[str | None, typer.Option(metavar="TIME", help="And up to this one.")] = None,
    as_json: AsJson = False,
    no_color: NoColor = False,
) -> None:
    """Print what a run file holds: status, conservation, extremes, and those of expressions.

    Example: tautline info crane.nc --expr "body_position[load].x - position[hoist, 0].x"

    Example: tautline info crane.nc --expr "abs(start_angle[hoist])" --start "5 s"
    """
    with one_line_errors("info"):
        from tautline.results.summary_text import summary_rows

        summary = output.summary_of(path)
        if expr:
            window = [_time(x) for x in (start, end)]
            summary["expressions"] = {text: _extremes(path, text, *window) for text in expr}
        elif start is not None or end is not None:
            raise InputError(f"--{'end' if start is None else 'start'}: expected together with --expr, got it alone")
        if as_json:
            output.print_json(summary)
        else:
            extra = {
                "method": f"scheme {summary['scheme']}, order {summary['order']}",
                "written by": f"tautline {summary['version']}",
                **{text: _range_in_words(x) for text, x in summary.get("expressions", {}).items()},
            }
            output.print_rows(summary_rows(summary, extra), no_color)
            print(summary["message"])


@app.command()
def export(
    path: Annotated[
        Path,
        typer.Argument(
            help="A run file (.nc); for --fmu a scenario file, or the name of a built-in scenario.",
            autocompletion=completing.runs_and_scenarios,
        ),
    ],
    csv: Annotated[Path | None, typer.Option(help="Write all variables to this CSV file.")] = None,
    vtk: Annotated[Path | None, typer.Option(help="Write a VTK series for ParaView into this folder.")] = None,
    gif: Annotated[Path | None, typer.Option(help="Write an animation to this GIF file.")] = None,
    mp4: Annotated[
        Path | None, typer.Option(help=r"Write an animation to this MP4 file; needs the extra \[video].")
    ] = None,
    frames: Annotated[int, typer.Option(min=1, help="Frames of an animation, evenly spread over the run.")] = 100,
    rate: Annotated[float, typer.Option(min=0.1, max=100.0, help="Frames per second of an animation.")] = 20.0,
    fmu: Annotated[Path | None, typer.Option(help="Write a scenario for co-simulation to this FMU file.")] = None,
    fmi: Annotated[int, typer.Option(min=2, max=3, help="Version of the standard of an FMU.")] = 2,
    command: Annotated[
        list[str] | None,
        typer.Option(
            help="Input of a reel or sheave of an FMU: LINE=torque, LINE.SHEAVE=speed, length, or case for none."
        ),
    ] = None,
    velocity: Annotated[
        list[str] | None,
        typer.Option(help="A body on a path, or a line with a fixed guide, that an FMU moves by an input."),
    ] = None,
    settings: Settings = None,
    html: Annotated[
        bool, typer.Option("--html", metavar="", help="Write one HTML file that plays the run offline.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", metavar="", help="All samples in the HTML file, however large it gets.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--output", "-o", help="Of --html; RUN.html by default.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", metavar="", help="Replace existing files.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a run or a scenario for other programs. The .nc file itself opens in MATLAB, Julia and xarray as it is.

    Example: tautline export retrieval.nc --csv retrieval.csv --vtk frames/ --gif retrieval.gif --html

    Example: tautline export crane-hoist --fmu crane.fmu
    """
    with one_line_errors("export"):
        from tautline.files import runs
        from tautline.files.export import series_files, write_csv, write_vtk
        from tautline.model.wording import both

        page = (out or path.with_suffix(".html")) if html else None
        if fmu is not None:
            if any(x is not None for x in (csv, vtk, gif, mp4, page)):
                raise InputError("--fmu: expected alone, since it takes a scenario and the others a run")
            targets.check_targets({fmu: targets.FMU}, [path], overwrite)
            from tautline.cli.exporting import write_fmu

            told = write_fmu(str(path), fmu, fmi, command or [], velocity or [], overrides(settings))
            output.print_files([fmu], False, True) if as_json else print(told)
            return
        videos = [video for video in (gif, mp4) if video is not None]
        if csv is None and vtk is None and page is None and not videos:
            raise InputError(
                "export: expected --csv FILE, --vtk FOLDER, --gif FILE, --mp4 FILE or --html of a run, or --fmu FILE "
                "of a scenario, got none"
            )
        targets.check_targets({vtk: targets.FOLDER}, [path], overwrite)
        series = [] if vtk is None else series_files(runs.blocks(path), vtk)
        kinds: dict[Path | None, tuple[str, ...]] = {file: (file.suffix,) for file in series}
        kinds = {csv: targets.CSV, **kinds, gif: targets.GIF, mp4: targets.MP4, page: targets.PAGE}
        targets.check_targets(kinds, [path], overwrite)
        if mp4 is not None:
            from tautline.figures.animation import require_video

            require_video()
        say = (lambda text: None) if as_json else print
        if csv is not None:
            say(f"{csv}: {write_csv(runs.blocks(path), csv)} rows")
        if vtk is not None:
            count = write_vtk(runs.blocks(path), vtk)
            say(f"{vtk}: {count} frames; open {both([str(file) for file in series])} in ParaView")
        for video in videos:
            say(_write_video(path, video, frames, rate))
        if page is not None:
            say(_write_page(path, page, full))
        if as_json:
            output.print_files([file for file in kinds if file is not None], False, as_json)


def _time(given: str | None) -> float | str | None:
    """A time as it was typed: a number of seconds, or text with a unit."""
    try:
        return None if given is None else float(given)
    except ValueError:
        return given


def _extremes(path: Path, expression: str, start: float | str | None, end: float | str | None) -> dict[str, Any]:
    """Least and largest value of an expression, and that of the last sample, each over all components.

    Of a window the times of its first and last sample besides.
    """
    from tautline.analysis import evaluate

    found = evaluate(path, expression, start, end)
    ends = [(float(x.min()), float(x.max())) for x in (found, found[-1])]
    window = {} if start is None and end is None else {"window": (float(found.time[0]), float(found.time[-1]))}
    return {"range": ends[0], "at_end": ends[1], "unit": found.attrs.get("units", "")} | window


def _range_in_words(found: dict[str, Any]) -> str:
    unit = unit_text(found["unit"])
    everywhere, at_end = (between(low, high, unit) for low, high in (found["range"], found["at_end"]))
    if "window" not in found:
        return f"{everywhere}, {at_end} at the end"
    begun, over = (value(time, "s") for time in found["window"])
    return f"{everywhere} from {begun} to {over}, {at_end} at {over}"


def existing(path: Path) -> Path:
    """A run file; where it is missing, a message says what was probably meant."""
    if path.exists():
        return path
    from tautline.durable import StoreError
    from tautline.files.scenario import built_in_names

    beside = path.with_name(f"{path.name}.nc")
    if beside.exists():
        raise StoreError(f"{path}: no such file; did you mean {beside}?")
    if str(path) in built_in_names():
        raise StoreError(f"{path}: no such file, but a built-in scenario; `tautline run {path}` makes {path}.nc")
    raise StoreError(f"{path}: no such file")


def run_name(path: Path, attrs: Mapping[str, Any], several: bool = False) -> str:
    """Title of a run on a page; behind the name of its file where the page shows several."""
    title = str(attrs["title"])
    if title == "tautline run" or (several and title == path.stem):
        return path.stem
    return f"{path.stem}: {title}" if several else title


def _write_video(path: Path, target: Path, frames: int, rate: float) -> str:
    from tautline.durable import explained
    from tautline.figures import animate
    from tautline.files.runs import open_run

    with explained(target):
        animate(open_run(path), target, frames=frames, rate=rate)
    return f"{target}: {target.stat().st_size / 1e6:.2f} MB"


def _write_page(path: Path, target: Path, full: bool) -> str:
    from tautline.durable import replacing
    from tautline.files.runs import Reader
    from tautline.viewer.page import offline

    with closing(Reader(path)) as reader, replacing(target, encoding="utf-8") as file:
        file.write(offline((run_name(path, reader.attrs), reader), full=full))
    return f"{target}: {target.stat().st_size / 1e6:.2f} MB; opens in any browser, without a network"
