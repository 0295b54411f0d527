"""The report of a study: pictures, and one HTML page with all of them that opens offline."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tautline.files.runs import StoreError
from tautline.model import checks
from tautline.studies.analysis.reading import Component, Opened
from tautline.studies.store.archive import open_archive, open_study

if TYPE_CHECKING:
    from tautline.studies.report.gallery import Strongest

# Pictures of a vector of every node would fill a book.
COMPONENTS_SHOWN = 6
FORMATS = ("png", "svg")
Say = Callable[[str], None]


class Section(NamedTuple):
    """Section of the report on one output, with the files of its pictures."""

    component: Component
    pictures: list[tuple[str, str]]  # name and caption
    notes: list[str]
    strongest: Strongest | None  # of one number a member, where the design tells


def report(
    store: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    say: Say | None = None,
    project: str = "",
    pdf: str | os.PathLike[str] | None = None,
) -> Path:
    """Pictures of a study as PNG and SVG, and a page with all of them; also of one that is not finished.

    Grids give lines or maps and the range along every side; sampled designs distributions, points with running
    medians, rank correlations and their convergence; designs for sensitivities tornado charts of Sobol' indices or
    elementary effects with their convergence; series give bands of quantiles.

    Parameters
    ----------
    store : path
        Of the study.
    folder : path
        Made if it is not there; files of an earlier report are replaced.
    say : callable, optional
        Called with a line for every output.
    project : str
        What the study is for, in the head of the page.
    pdf : path, optional
        Also print the page to this file, by Chromium or Chrome.

    Returns
    -------
    Path
        Of the page.
    """
    from tautline.figures.printing import write_page
    from tautline.studies.report.page import render

    checks.text("project", project)
    target = Path(folder)

    def made() -> str:
        with open_archive(store).read_as_a_whole():
            opened = Opened(open_study(store))
            _make_folder(target)
            sections = []
            for component in _shown(opened):
                if say is not None:
                    say(component.label)
                sections.append(_section(opened, component, target))
            return render(opened, str(store), sections, left_out(opened), target, project)

    return write_page(target / "report.html", made, pdf)


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{path}: cannot be made: {error.strerror}; expected a folder for the report") from None


def _shown(opened: Opened) -> Iterator[Component]:
    for name in opened.outputs:
        yield from opened.components(name)[:COMPONENTS_SHOWN]


def left_out(opened: Opened) -> dict[str, int]:
    """Components that have no pictures, by output."""
    sizes = {name: len(opened.components(name)) for name in opened.outputs}
    return {name: size - COMPONENTS_SHOWN for name, size in sizes.items() if size > COMPONENTS_SHOWN}


def _section(opened: Opened, component: Component, folder: Path) -> Section:
    from tautline.figures import save
    from tautline.studies.report.gallery import Strongest, gallery

    written, notes, strongest = [], [], None
    stem = re.sub(r"[^\w.-]+", "-", component.label).strip("-")
    for item in gallery(opened, component):
        if isinstance(item, str):
            notes.append(item)
            continue
        if isinstance(item, Strongest):
            strongest = item
            continue
        name = f"{stem}-{item.name}"
        try:
            save(item.figure, folder / name, FORMATS)
        except OSError as error:
            raise StoreError(f"{folder / name}: cannot be written: {error.strerror}") from None
        written.append((name, item.caption))
    return Section(component, written, notes, strongest)
