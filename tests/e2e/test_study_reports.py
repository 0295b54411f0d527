"""Results of studies, end to end: sensitivities with a known physical answer, and reports of all designs."""

from __future__ import annotations

import json
import re
from functools import partialmethod
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from PIL import Image
from typer.testing import CliRunner

import tautline as tl
from tautline.cli.commands import app
from tautline.engine.chain.family import BatchResult, Family
from tautline.studies.report import report as reports
from tautline.studies.report.report import report

# Pages of many figures.
pytestmark = pytest.mark.long

GRAVITY = 9.81
# A body at rest on a string: its stretch is (M + m/2) g L / EA, whatever the drum is like, which is locked.
HANGING: dict[str, Any] = {
    "scenario": "fixed-length",
    "set": {
        "initial": {"kind": "hanging", "deployed": "10 m"},
        "gravity": GRAVITY,
        "run.duration": "20 ms",
        "run.sample": "5 ms",
        "run.elements": 4,
    },
    "vary": {
        "string.stiffness": {"from": "30 N", "to": "90 N", "scale": "log"},
        "body.mass": {"from": "50 g", "to": "250 g"},
        "reel.inertia_mass": {"from": "0.5 kg", "to": "2 kg"},
    },
    "outputs": ["final stretched_length", "stretched_length"],
}
LENGTH, DENSITY = 10.0, 0.025


def exact_indices() -> tuple[np.ndarray, np.ndarray]:
    """First and total order of a product of independent factors, from their means and variances."""
    mass = (0.05 + 0.25) / 2 + DENSITY * LENGTH / 2, (0.25 - 0.05) ** 2 / 12
    low, high = 1 / 90, 1 / 30  # of 1 / EA, whose logarithm is uniform
    mean = (high - low) / np.log(high / low)
    softness = mean, (high**2 - low**2) / (2 * np.log(high / low)) - mean**2
    alone = np.array([softness[1] * mass[0] ** 2, mass[1] * softness[0] ** 2, 0.0])
    pair = softness[1] * mass[1]
    return alone / (alone.sum() + pair), (alone + np.array([pair, pair, 0.0])) / (alone.sum() + pair)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="module")
def hanging(folder: Path) -> xr.Dataset:
    return tl.study({**HANGING, "design": {"kind": "sobol-indices", "base": 128, "seed": 1}}, folder / "sobol.zarr")


def test_what_the_stretch_of_a_hanging_string_depends_on(hanging: xr.Dataset) -> None:
    load = (hanging["body.mass"] + DENSITY * LENGTH / 2) * GRAVITY
    stretch = LENGTH * load / hanging["string.stiffness"]
    assert np.allclose(hanging.final_stretched_length, LENGTH + stretch, rtol=1e-9)
    found = tl.studies.sensitivity(hanging, confidence=0.99).sel(output="final_stretched_length")
    first, total = exact_indices()
    assert (np.abs(found.first - first) <= found.first_confidence + 1e-12).all()
    assert (np.abs(found.total - total) <= found.total_confidence + 1e-12).all()
    assert found.total.sel(parameter="reel.inertia_mass") < 1e-12
    assert first[:2].min() > found.total_confidence.max()  # both stand out from what is uncertain


def test_elementary_effects_of_the_same(folder: Path) -> None:
    study = {**HANGING, "design": {"kind": "morris", "trajectories": 12, "seed": 1}}
    found = tl.studies.sensitivity(tl.study(study, folder / "morris.zarr")).isel(output=0)
    mass, drum = (found.sel(parameter=key) for key in ("body.mass", "reel.inertia_mass"))
    # along the mass alone, the stretch is a line: its slope is g L / EA at the walk's stiffness
    softest, stiffest = 0.2 * GRAVITY * LENGTH / np.array([30.0, 90.0])
    assert stiffest < mass.mu_star < softest and mass.mu_star == pytest.approx(float(mass.mu))
    assert mass.sigma > 0.0
    assert drum.mu_star < 1e-9 * mass.mu_star
    assert found.sel(parameter="string.stiffness").mu < 0.0
    page = report(folder / "morris.zarr", folder / "morris")
    assert {"final_stretched_length-tornado", "stretched_length-bands"} <= names(page)


# -- reports --------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Links that a browser would fetch, and the text that it would show."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.sources: list[str] = []
        self.text = ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.sources += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "data")]

    def handle_data(self, data: str) -> None:
        self.text += data


def names(page: Path) -> set[str]:
    """Pictures beside a page: as PNG and as SVG, each with something on it; and the page needs nothing but itself."""
    found = {path.stem for path in page.parent.glob("*.png")}
    assert found == {path.stem for path in page.parent.glob("*.svg")}
    for name in found:
        shades = np.asarray(Image.open(page.parent / f"{name}.png").convert("L"))
        assert (shades < 200).mean() > 0.003, name
    read = Page(page)
    assert sum(source.startswith("data:image/png;base64,") for source in read.sources) == len(found)
    assert all(source.startswith(("data:", "#")) for source in read.sources)
    return found


def test_the_report_of_sobol_indices(hanging: xr.Dataset, folder: Path) -> None:
    words = ["study", "report", str(folder / "sobol.zarr"), "-o", str(folder / "sobol")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    as_json = CliRunner().invoke(app, [*words, "--overwrite", "--json"])
    assert json.loads(as_json.stdout) == {"files": [str(folder / "sobol" / "report.html")]}
    assert "pictures of final_stretched_length" in done.output and "report.html" in done.output
    found = names(folder / "sobol" / "report.html")
    wanted = ("tornado", "pairs", "settling-indices", "distribution", "points", "settling")
    assert {f"final_stretched_length-{name}" for name in wanted} | {"stretched_length-bands"} == found
    text = Page(folder / "sobol" / "report.html").text
    assert "not finished" not in text and "1024" in text and "table for Sobol' indices" in text


GRID = {
    "title": "Grid <with> failures",
    "scenario": "fixed-length",
    "set": {"run.duration": "50 ms", "run.elements": 4},
    "outputs": ["max tension", "final velocity", "energy"],
    "vary": {
        "string.stiffness": {"from": "20 N", "to": "80 N", "points": 4, "scale": "log"},
        "initial.deployed": ["9 m", "8 m", "120 m"],
        "reel.guide_law": ["dissipative", "none"],
        "body.mass": ["80 g", "100 g"],
    },
}


def test_the_report_of_an_unfinished_grid_with_failures(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "COMPONENTS_SHOWN", 1)
    tl.study(GRID, folder / "grid.zarr", workers=1, batch=4, watch=lambda progress: progress.done >= 36)
    page = report(folder / "grid.zarr", folder / "grid")
    read = Page(page)
    assert "36 of 48 members" in read.text and "tautline study --resume" in read.text
    assert "Grid <with> failures" in read.text and "Grid <with>" not in page.read_text(encoding="utf-8")
    assert re.search(r"refused12.*initial\.deployed = 120.*length less reel\.guide_length", read.text)
    found = names(page)
    assert {"max_tension-map", "max_tension-tornado", "energy-bands"} <= found
    # fifteen components of the velocities
    assert "final_velocity: 14 more components" in read.text
    assert {name for name in found if name.startswith("final_velocity")} == set()  # the first is that of the guide
    assert "The same for all members: 0" in read.text


def test_warnings_are_counted_on_the_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def warnings(family: Family, least: float, result: BatchResult) -> dict[int, list[tl.RunWarning]]:
        stiffness = np.asarray(result.chain.string.stiffness)
        texts = {k: f"the mesh is coarse ({x:g} N)" for k, x in enumerate(stiffness) if x > least}
        return {k: [tl.RunWarning("mesh", text)] for k, text in texts.items()}

    vary = {"string.stiffness": [20.0, 40.0, 60.0]}
    for least, words in ((100.0, "No member has a warning."), (30.0, "2 of 3 members have warnings")):
        monkeypatch.setattr(Family, "warnings", partialmethod(warnings, least))
        tl.study({**GRID, "outputs": ["max tension"], "vary": vary}, folder / "r.zarr", workers=1, overwrite=True)
        text = Page(report(folder / "r.zarr", folder / "warnings")).text
        assert words in text
    assert "mesh: 2 members, for example: the mesh is coarse (40 N)" in text
    printed = CliRunner().invoke(app, ["study", "info", str(folder / "r.zarr")]).output
    assert "2 members" in printed and "warning mesh: 2 members, for example: the mesh is coarse (40 N)" in printed


def test_the_report_of_a_line_and_of_what_does_not_vary(folder: Path) -> None:
    vary = {"reel.inertia_mass": {"from": "1 kg", "to": "2 kg", "points": 3}}
    tl.study({**GRID, "outputs": ["max tension"], "vary": vary}, folder / "same.zarr")
    page = report(folder / "same.zarr", folder / "same")
    assert not names(page) and "The same for all members" in Page(page).text
    vary = {"string.stiffness": {"from": "20 N", "to": "80 N", "points": 5}}
    tl.study({**GRID, "outputs": ["max tension"], "vary": vary}, folder / "line.zarr")
    assert names(report(folder / "line.zarr", folder / "line")) == {"max_tension-line"}


def test_what_is_refused(folder: Path, hanging: xr.Dataset, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious", encoding="utf-8")
    for arguments, words in (
        (["nowhere.zarr"], "no such study"),
        ([str(folder / "sobol.zarr"), "-o", str(tmp_path / "file")], "expected a folder"),
    ):
        done = CliRunner().invoke(app, ["study", "report", *arguments])
        assert done.exit_code == 4 and words in done.output and "Traceback" not in done.output
