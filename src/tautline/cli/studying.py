"""The commands of studies: `tautline study STUDY.toml`, `study --resume STORE`, `study info` and `study report`."""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from tautline.cli import output, targets
from tautline.cli.app import AsJson, Group, NoColor, Pdf, Project, Quiet, app
from tautline.cli.output import one_line_errors


class _RunByDefault(Group):
    """`tautline study FILE` is `tautline study run FILE`: a command goes first if there is one."""

    _told = False

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """With the options of `run`, which are options of `tautline study` as well."""
        self._told = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._told = False

    def get_params(self, ctx: Any) -> list[Any]:
        own = super().get_params(ctx)
        return [*self.commands["run"].params, *own] if self._told else own

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return ["[OPTIONS]", "STUDY | COMMAND [ARGS]..."]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["run", *args]
        return super().parse_args(ctx, args)


studies = typer.Typer(
    cls=_RunByDefault,
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="""Run a scenario many times with some of its values varied, on all cores or on a Dask cluster.

    Example: tautline study sweep.toml -o sweep.zarr --workers 2

    A study that was interrupted or killed goes on with `tautline study --resume sweep.zarr`.

    Ctrl-C ends at once; the batches that are complete are in the store.
    """,
)
app.add_typer(studies, name="study")

Store = Annotated[Path, typer.Argument(help="A study's store (.zarr).")]


@studies.command()
def run(
    study: Annotated[Path | None, typer.Argument(help="A study file (.toml).")] = None,
    out: Annotated[Path | None, typer.Option("--output", "-o", help="Store; STUDY.zarr by default.")] = None,
    resume: Annotated[
        Path | None,
        typer.Option("--resume", help="Finish this store: compute what is missing or damaged, no more."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Processes; as many as there are cores by default.")
    ] = None,
    dask: Annotated[
        str | None, typer.Option("--dask", help="Address of a Dask scheduler, e.g. tcp://127.0.0.1:8786.")
    ] = None,
    batch: Annotated[
        int | None, typer.Option("--batch", min=1, help="Members computed at once; measured by default.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", metavar="", help="Replace an existing study.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    no_color: NoColor = False,
) -> None:
    """Run a study, or finish one with --resume. The word `run` may be left out.

    Example: tautline study sweep.toml -o sweep.zarr --workers 2
    """
    from tautline.cli.interrupting import ends_soon
    from tautline.cli.watch import watching_study

    with one_line_errors("study"):
        from tautline.studies.execution import run as studies_run

        target = _target(study, out, resume, batch, overwrite)
        begun = perf_counter()
        watcher = None
        try:
            goes_on = f"`tautline study --resume {target}` goes on from the last complete batch"
            with ends_soon(goes_on), watching_study(quiet or as_json, no_color) as watcher:
                if resume is not None:
                    studies_run.resume_study(resume, study, workers=workers, client=dask, watch=watcher)
                else:
                    assert study is not None
                    studies_run.study(
                        study, target, workers=workers, client=dask, batch=batch, overwrite=overwrite, watch=watcher
                    )
        except KeyboardInterrupt:
            print(f"interrupted; {_kept(target, resume, watcher)}", file=sys.stderr)
            raise typer.Exit(output.INTERRUPTED) from None
        _finish(target, watcher, perf_counter() - begun, quiet, as_json, no_color)


def _target(study: Path | None, out: Path | None, resume: Path | None, batch: int | None, overwrite: bool) -> Path:
    """Where results go; options that contradict each other are refused."""
    from tautline.errors import InputError

    if resume is not None:
        for name, given in (("--output", out), ("--batch", batch), ("--overwrite", overwrite or None)):
            if given is not None:
                raise InputError(f"{name}: expected without --resume, which goes on with the store as it is")
        return resume
    if study is None:
        raise InputError("STUDY: expected a study file, or --resume STORE, got neither")
    if study.suffix == ".zarr":
        raise InputError(f"{study}: a store and not a study file; `tautline study --resume {study}` finishes it")
    target = out or Path(f"{study.stem}.zarr")
    targets.check_targets({target: targets.STUDY}, [study], overwrite=True)  # never replaces what is no study
    return target


def _kept(target: Path, resume: Path | None, watcher: Any) -> str:
    """Sentence on what an interrupted study has kept, and how to go on."""
    last = None if watcher is None else watcher.last
    if last is None and resume is None:  # a store of that name is an earlier one
        return "nothing was computed yet"
    kept = f"{last.done} of {last.members} members are kept; " if last is not None else ""
    return f"{kept}`tautline study --resume {target}` goes on from there"


def _finish(target: Path, watcher: Any, wall: float, quiet: bool, as_json: bool, no_color: bool) -> None:
    """Summary of a study that has just ended."""
    from tautline.studies.analysis.summary import summarize

    summary = summarize(target)
    if as_json:
        output.print_json({**summary, "store": str(target), "wall_time": wall})
    elif not quiet:
        extra = {"wall time": watcher.rates(wall), "store": str(target)}
        mended = 0 if watcher.last is None else watcher.last.mended
        if mended:
            extra["computed again"] = "1 damaged batch" if mended == 1 else f"{mended} damaged batches"
        _print(summary, extra, no_color)


@studies.command()
def info(store: Store, as_json: AsJson = False, no_color: NoColor = False) -> None:
    """Print what a study's store holds: how its members ended, and the range of every output.

    Example: tautline study info sweep.zarr
    """
    with one_line_errors("study info"):
        from tautline.studies.analysis.summary import summarize

        summary = summarize(store)
        if as_json:
            output.print_json(summary)
            return
        _print(summary, {"written by": f"tautline {summary['version']}"}, no_color)
        if summary["status"] != "completed":
            print(f"unfinished; `tautline study --resume {store}` goes on from there")


@studies.command()
def report(
    store: Store,
    folder: Annotated[Path | None, typer.Option("--output", "-o", help="Folder; STORE-report by default.")] = None,
    project: Project = "",
    pdf: Pdf = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", metavar="", help="Replace an existing report.")] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Pictures of a study (PNG, SVG), and one page with all of them that opens offline; also of an unfinished one.

    Example: tautline study report sweep.zarr -o sweep-report
    """
    with one_line_errors("study report"):
        from tautline.files.runs import StoreError
        from tautline.studies.report.report import report as make

        target = folder or Path(f"{store.stem}-report")
        targets.check_targets({target: targets.FOLDER, pdf: targets.PDF}, [store], overwrite)
        if not overwrite and target.is_dir() and any(target.iterdir()):
            raise StoreError(f"{target}: exists already; allow overwriting with --overwrite")
        say = None if quiet or as_json else lambda name: print(f"pictures of {name}")
        page = make(store, target, say=say, project=project, pdf=pdf)
        output.print_files([page] if pdf is None else [page, pdf], quiet, as_json)


def _print(summary: dict[str, Any], extra: dict[str, str], no_color: bool) -> None:
    sides = [f"{name} ({size})" for name, size in summary["dimensions"].items()]
    rows = {
        "status": summary["status"],
        "members": f"{summary['done']} of {summary['members']}",
        "varied": ", ".join(sides if len(sides) > 1 else summary["parameters"]),
        "endings": ", ".join(f"{count} {name}" for name, count in summary["endings"].items()),
        **{name: _range(x) for name, x in summary["outputs"].items()},
        **{name: _range(x) for name, x in summary["health"].items() if x["min"] is not None},
        "with warnings": f"{summary['members_with_warnings']} members",
        **extra,
    }
    output.print_rows(rows, no_color)
    for x in summary["warnings"]:
        print(f"warning {x['kind']}: {x['members']} members, for example: {x['example']}")
    for failure in summary["failures"]:
        values = ", ".join(f"{key} = {_short(x)}" for key, x in failure["values"].items())
        print(f"member {failure['member']} ({values}): {failure['message']}")
    failed = sum(summary["endings"].get(name, 0) for name in (*output.NUMERICAL, "refused", "failed"))
    if failed > len(summary["failures"]):
        print(f"... and {failed - len(summary['failures'])} more that failed; `message` in the store has all")


def _short(x: Any) -> str:
    return f"{x:.6g}" if isinstance(x, float) else str(x)


def _range(x: dict[str, Any]) -> str:
    from tautline.quantities import between, unit_text

    return "nothing yet" if x["min"] is None else between(x["min"], x["max"], unit_text(x["units"]))
