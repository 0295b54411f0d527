"""The commands that draw figures of finished runs: plot and report."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from tautline.cli import completing, output, targets
from tautline.cli.app import AsJson, Expressions, Pdf, Project, Quiet, RunPath, app
from tautline.cli.output import one_line_errors
from tautline.cli.reading import run_name

# Of a run about which nothing is known; the others say little where the body does not turn or the string hangs still.
USUAL = ("snapshots", "lengths", "tension", "drive", "energy", "conservation")
FORMATS = ("png", "svg", "pdf")


@app.command()
def plot(
    paths: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run files (.nc), unfinished ones too.")],
    figure: Annotated[
        list[str] | None,
        typer.Option(
            help="snapshots, lengths, tension, drive, energy, conservation (these by default), strain_map, path, "
            "phase, attitude, spectrum, exceedance, rainflow, bending, or all; may be given several times.",
            autocompletion=completing.figure_names,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A folder, or of a single figure its file; the current folder by default."),
    ] = None,
    form: Annotated[
        list[str] | None, typer.Option("--format", help="png (the default), svg or pdf; may be given several times.")
    ] = None,
    expr: Expressions = None,
    line: Annotated[
        str | None,
        typer.Option(help="Name of a line: figures of lines show it alone; all by default."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", metavar="", help="Replace existing files.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Draw figures of runs, as RUN-FIGURE.png; of several lines or bodies some show one, as RUN-FIGURE-NAME.png.

    Example: tautline plot retrieval.nc --figure drive --figure energy -o figures --format pdf
    """
    with one_line_errors("plot"):
        from tautline import figures
        from tautline.durable import explained
        from tautline.errors import InputError
        from tautline.files.runs import open_run
        from tautline.files.runs.reading import Reader

        names = _names(figure, tuple(figures.OF_A_RUN)) if figure or not expr else []
        if len({path.stem for path in paths}) < len(paths):
            raise InputError("RUN: expected files of different names, whose figures can lie in one folder")
        pictures = {}
        for path in paths:
            with closing(Reader(path)) as reader:
                pictures[path] = figures.pictures_of(reader.attrs, names, line)
            if expr:
                pictures[path] |= {"expressions": partial(figures.expressions, texts=expr)}
        named = _targets({path: list(drawn) for path, drawn in pictures.items()}, out, form)
        files = [target for listed in named.values() for target in listed]
        targets.check_targets(dict.fromkeys(files, targets.PICTURE), paths, overwrite)
        for path in paths:
            run = open_run(path)
            for name, draw in pictures[path].items():
                drawn = draw(run)
                for target in named[path, name]:
                    with explained(target):
                        target.parent.mkdir(parents=True, exist_ok=True)
                        figures.save(drawn, target.with_suffix(""), [target.suffix[1:]])
                    if not as_json:  # each as soon as it is there
                        output.print_files([target], quiet, as_json)
        if as_json:
            output.print_files(files, quiet, as_json)


@app.command()
def report(
    path: RunPath,
    out: Annotated[Path | None, typer.Option("--output", "-o", help="The page; RUN-report.html by default.")] = None,
    rope: Annotated[
        str | None, typer.Option(help="Kind of wire rope, for the fatigue damage: six_strand or spiral_strand.")
    ] = None,
    exponent: Annotated[
        float | None, typer.Option(help="m of another fatigue curve N R^m = K, instead of --rope.")
    ] = None,
    constant: Annotated[float | None, typer.Option(help="K of that curve.")] = None,
    breaking_load: Annotated[
        str | None, typer.Option(help='Breaking load, e.g. "50 kN", in the place of that of every line.')
    ] = None,
    safety_factor: Annotated[
        float | None, typer.Option(help="That the breaking load must have over the largest tension, for the verdict.")
    ] = None,
    expr: Expressions = None,
    title: Annotated[str, typer.Option(help="Of the page; that of the run by default.")] = "",
    project: Project = "",
    pdf: Pdf = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", metavar="", help="Replace an existing page.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Write one page on a run: sketch, inputs, utilization, cycles and damage, spectrum, slack, energy of the motor.

    Example: tautline report hoist.nc --breaking-load "60 kN" --safety-factor 5 --pdf hoist.pdf
    """
    with one_line_errors("report"):
        from tautline.figures.report import report as write
        from tautline.files.runs import open_run

        run = open_run(path)
        target = out or Path(f"{path.stem}-report.html")
        targets.check_targets({target: targets.PAGE, pdf: targets.PDF}, [path], overwrite)
        write(
            run,
            target,
            title=title or run_name(path, run.attrs),
            project=project,
            file=path.name,
            pdf=pdf,
            rope=rope,
            exponent=exponent,
            constant=constant,
            breaking_load=breaking_load,
            safety_factor=safety_factor,
            expressions=expr or (),
        )
        output.print_files([target] if pdf is None else [target, pdf], quiet, as_json)


def _names(given: list[str] | None, all_names: tuple[str, ...]) -> list[str]:
    """Figures that are wanted, each once."""
    from tautline.model import checks

    for name in given or ():
        checks.choice("--figure", name, (*all_names, "all"))
    return list(dict.fromkeys(all_names if "all" in (given or ()) else given or USUAL))


def _targets(
    pictures: dict[Path, list[str]], out: Path | None, formats: list[str] | None
) -> dict[tuple[Path, str], list[Path]]:
    """Files to write, by run and picture."""
    from tautline.errors import InputError
    from tautline.model import checks

    for name in formats or ():
        checks.choice("--format", name, FORMATS)
    wanted = [(path, name) for path, names in pictures.items() for name in names]
    if out is not None and out.suffix[1:] in FORMATS and not out.is_dir():
        if len(wanted) > 1 or formats:
            raise InputError(f"--output: expected a folder for several figures or formats, got the file {out}")
        return {wanted[0]: [out]}
    if out is not None and out.exists() and not out.is_dir():
        raise InputError(f"--output: expected a folder or a name that ends in .png, .svg or .pdf, got {out}")
    folder, kinds = out or Path(), list(dict.fromkeys(formats or ("png",)))
    return {(path, name): [folder / f"{path.stem}-{name}.{kind}" for kind in kinds] for path, name in wanted}
