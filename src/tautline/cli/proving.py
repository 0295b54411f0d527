"""The commands that show that the program computes what it should: reproduce and doctor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tautline._version import __version__
from tautline.cli import output, targets
from tautline.cli.app import AsJson, Pdf, Project, app
from tautline.cli.output import one_line_errors
from tautline.extras import EXTRAS


@app.command()
def reproduce(
    out: Annotated[Path, typer.Option("--output", "-o", help="The folder to write into.")] = Path("reproduction"),
    animations: Annotated[bool, typer.Option(metavar="", help="Also make the animations.")] = True,
    full: Annotated[
        bool,
        typer.Option(
            "--full", metavar="", help="Add the long comparisons with other integrators and MP4; takes minutes."
        ),
    ] = False,
    project: Project = "",
    pdf: Pdf = None,
) -> None:
    """Reproduce the paper's numerical section: figures, animations, claims, and a report in one HTML file.

    Example: tautline reproduce -o paper/
    """
    with one_line_errors("reproduce --full" if full else "reproduce"):
        from tautline.paper.reproduce import reproduce as make

        targets.check_targets({out: targets.FOLDER, pdf: targets.PDF}, [], overwrite=True)
        make(out, animations=animations, full=full, project=project, pdf=pdf)


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Print versions, the engine, where library and header for C are, and the result of a self-test of a second."""
    import platform
    from time import perf_counter

    facts: dict[str, Any] = {
        "tautline": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        **_libraries(),
    }
    begun = perf_counter()
    from tautline.kernels.machine.choice import engine
    from tautline.kernels.machine.library import Library

    facts["engine"] = f"{engine().name}: {engine().why}"
    if isinstance(found := engine(), Library):
        facts["C library"] = str(found.path)
        facts["C header"] = str(found.path.with_name("tautline.h"))
    if engine().name == "compiled":
        from tautline.kernels.machine.folders import cache_folder

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
    facts["self-test time"] = f"{perf_counter() - begun:.2f} s"
    if as_json:
        output.print_json(facts)
    else:
        for name, value in facts.items():
            print(f"{name:<16}{value}")
    if not all(checks.values()):
        raise typer.Exit(1)


def _libraries() -> dict[str, str]:
    """Versions of the libraries that the package names; those of extras may be missing."""
    import re
    from importlib import metadata

    found = {}
    for line in metadata.requires("tautline") or ():
        library = re.match(r"[\w.-]+", line)
        extra = re.search(r"extra == ['\"](\w+)['\"]", line)
        if library is None or (extra and extra[1] not in EXTRAS.values()) or library[0] == "tautline":
            continue
        try:
            found[library[0]] = metadata.version(library[0])
        except metadata.PackageNotFoundError:
            found[library[0]] = f'not installed; pip install "tautline[{extra[1]}]"' if extra else "not installed"
    return found
