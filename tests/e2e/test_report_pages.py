"""Reports of runs and of studies in a real browser: on a desk and on a phone, by day and by night."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

import tautline as tl
from tautline.figures.fitted import fit_report
from tautline.figures.printing import print_pdf
from tautline.paper.reproduce import reproduce
from tautline.studies.report.report import report
from tests.support.browser import print_by_browser
from tests.support.pages import PHONE, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Pages of six kinds in a browser, on a screen and on a phone, light and dark.
pytestmark = pytest.mark.long

DESK = (1280, 720)
SHADES = {"light": "rgb(255, 255, 255)", "dark": "rgb(26, 26, 26)"}
STUDY: dict[str, Any] = {
    "title": "Lengths that the string has, and one that it has not",
    "scenario": "fixed-length",
    "set": {"run.duration": "50 ms", "run.elements": 4},
    "outputs": ["max tension", "final stretched_length", "energy"],
    "vary": {"string.stiffness": ["20 N", "50 N", "80 N"], "initial.deployed": ["9 m", "8 m", "120 m"]},
}
# What each page must say on its first screen, and its pictures.
PAGES = {
    "one line": ("he rope holds: ", 5),
    "several lines": ("Whether the rope holds is not known", 18),
    "study": ("6 of 9 members have a result; 3 refused.", 5),
    "fit": ("1 value found", 1),
    "reproduction": ("verdicts hold.", 13),
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    jump = tl.simulate(tl.load("bungee", {"string.breaking_load": "5 kN", "run.duration": "2 s"}))
    robot = tl.simulate(tl.load("cable-robot", {"run.duration": "0.4 s"}))
    tl.study(STUDY, folder / "study.zarr")
    swing = tl.load("fixed-length", {"run.duration": "0.2 s", "string.law": "tension_only"})
    series = tl.simulate(swing).stretched_length.squeeze()
    measured = {"time": series.time.values, "stretched_length": series.values}
    fit = tl.fit(swing.with_({"string.stiffness": "45 N"}), measured, ["string.stiffness"], units="SI")
    return {
        "one line": tl.report(jump, folder / "jump.html"),
        "several lines": tl.report(robot, folder / "robot.html"),
        "study": report(folder / "study.zarr", folder / "study"),
        "fit": fit_report(fit, folder / "fit.html"),
        "reproduction": reproduce(folder / "reproduction", animations=False, say=lambda _: None),
    }


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "dark"), pytest.param(DESK, "light", marks=pytest.mark.long)])
def test_the_verdict_is_on_the_first_screen(
    name: str, size: tuple[int, int], scheme: Literal["light", "dark"], pages: dict[str, Path], browser: Browser
) -> None:
    """Nothing runs over the edge or is asked of a network; the page is dark where the reader wants it."""
    context = browser.new_context(bypass_csp=True, viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    page, asked = context.new_page(), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(pages[name].as_uri())
    assert [url for url in asked if not url.startswith(("data:", "about:", "blob:"))] == [pages[name].as_uri()]
    words, pictures = PAGES[name]
    box = page.get_by_text(words).first.bounding_box()
    assert box is not None and box["y"] + box["height"] < size[1]
    sizes = page.evaluate("[...document.images].map(x => x.naturalWidth * x.naturalHeight)")
    assert len(sizes) == pictures and min(sizes) > 1e5
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == SHADES[scheme]
    assert violations(page) == []
    context.close()


@pytest.mark.parametrize("name", ["study", "fit", "reproduction"])
def test_a_page_says_how_accurate_it_is_and_is_printed(
    name: str, pages: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = pages[name].read_text(encoding="utf-8")
    for row in ("model", "mesh", "scheme", "time step", "energy balance error, of the energy in play"):
        assert f"<td>{row}</td>" in text, row
    print_by_browser(monkeypatch)
    printed = print_pdf(pages[name], tmp_path / "page.pdf").read_bytes()
    assert printed.startswith(b"%PDF-") and len(re.findall(rb"/Type\s*/Page\b", printed)) >= 2


def test_what_a_study_found_comes_first(pages: dict[str, Path], browser: Browser) -> None:
    """Ranges of its outputs and what they depend on, each a link to its pictures."""
    page = browser.new_page(bypass_csp=True, viewport={"width": DESK[0], "height": DESK[1]})
    page.goto(pages["study"].as_uri())
    table = page.locator("table").first
    box = table.bounding_box()
    assert box is not None and box["y"] + box["height"] < DESK[1]
    rows = [row.inner_text().split("\t") for row in table.locator("tr").all()]
    assert rows[0] == ["output", "least", "median", "largest", "depends most on"]
    found = tl.open_study(pages["study"].parents[1] / "study.zarr").final_stretched_length
    least, median, largest = (f"{float(x):.4g}" for x in (found.min(), found.median(), found.max()))
    assert rows[2][:4] == ["final_stretched_length (m)", least, median, largest]
    assert rows[2][4].startswith("initial.deployed (")
    assert rows[3][:2] == ["energy (J)", "over time, below"]
    page.get_by_role("link", name="energy").click()
    place = page.locator("h3#energy").bounding_box()
    assert place is not None and -1.0 <= place["y"] < DESK[1]
    page.close()
