"""The viewer's page in a real browser, drawn in software: replay, offline, notebook, live."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline.results.warnings import encoded
from tests.support.browser import Serving, serving
from tests.support.commands import tautline
from tests.support.crane import crane
from tests.support.over_sheaves import over_sheaves
from tests.support.pages import READY, Pages, Watched, colors, nodes, picture, settled

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

N = 6
END = 3.0
SAMPLE = 0.01


STRING = tl.String(length=12.0, density=0.05, stiffness=100.0, law="linear")
REEL = tl.Reel(drum_radius=0.3, guide_length=0.4, inertia_mass=0.8)


def make(path: Path, direction: tuple[float, float, float], command: Any) -> None:
    p = tl.pendulum(STRING, REEL, tl.RigidBody.box(0.5, (0.4, 0.5, 0.8), (0.1, 0.0, 0.4)), elements=N)
    start = tl.Straight(5.0, direction, end_velocity=(0.0, 1.0, 0.0))
    tl.run_to_file(path, p, start, command, duration=END, sample=SAMPLE, title=path.stem)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("page")
    make(made / "swing.nc", (1.0, 0.0, 1.0), tl.Locked())
    make(made / "wind.nc", (0.0, 0.0, 1.0), tl.Torque(3.0))
    tl.run_to_file(made / "crane.nc", crane())
    return made


@pytest.fixture(scope="module")
def run(folder: Path) -> xr.Dataset:
    return tl.open_run(folder / "swing.nc")


@pytest.fixture(scope="module")
def kept_open(browser: Browser) -> Iterator[Pages]:
    """For pages that several tests look at, one after the other."""
    pages = Pages(browser)
    yield pages
    pages.close()


@pytest.fixture(scope="module")
def offline_file(folder: Path, run: xr.Dataset) -> str:
    """A run in a file of its own."""
    return tl.view(run).save(folder / "swing.html").as_uri()


@pytest.fixture
def offline_page(offline_file: str, open_page: Pages) -> Page:
    """Page of a file, without any network."""
    return open_page(offline_file, offline=True)


@pytest.fixture(scope="module")
def replay_server(folder: Path) -> Iterator[Serving]:
    with serving("view", "swing.nc", cwd=folder) as server:
        yield server


@pytest.fixture(params=["replay", pytest.param("offline", marks=pytest.mark.long)], scope="module")
def opened(request: pytest.FixtureRequest, kept_open: Pages) -> Page:
    """Pages of one run from a server, and from a file without any network."""
    if request.param == "replay":
        return kept_open(request.getfixturevalue("replay_server").address)
    return kept_open(request.getfixturevalue("offline_file"), offline=True)


@pytest.fixture
def shown(opened: Page) -> Page:
    """At its start."""
    opened.evaluate("tautline.seek(0)")
    settled(opened, "tautline.frame() === 0")
    return opened


def at(run: xr.Dataset, k: int) -> np.ndarray:
    found: np.ndarray = run.position.values[k].astype(np.float32).ravel()
    return found


# -- replay and offline ------------------------------------------------------------------------------


def test_scene_plots_and_slider(shown: Page, run: xr.Dataset) -> None:
    """The picture is of this run at this time."""
    before = picture(shown)
    assert colors(before) > 100, "an empty scene"
    np.testing.assert_array_equal(nodes(shown), at(run, 0))
    slider = shown.get_by_test_id("time")
    for k in (150, 37, run.sizes["time"] - 1):
        slider.evaluate(f"e => {{ e.value = {float(run.time[k])}; e.dispatchEvent(new Event('input')) }}")
        settled(shown, f"tautline.frame() === {k}")
        np.testing.assert_array_equal(nodes(shown), at(run, k))
        after = picture(shown)
        assert (np.abs(after - before).max(axis=2) > 20).sum() > 100, "the picture did not follow"
        before = after
    assert "3.00 s / 3.00 s" in shown.get_by_test_id("clock").inner_text()
    for name in ("energies", "lengths", "tension", "energy_error"):
        chart = shown.get_by_test_id(f"chart-{name}")
        chart.scroll_into_view_if_needed()
        assert colors(picture(shown, f"[data-testid=chart-{name}] canvas")) > 10, f"an empty chart of {name}"


def test_play_stops_at_the_end_or_loops(shown: Page) -> None:
    shown.evaluate("tautline.seek(2.0)")
    shown.get_by_test_id("play").click()
    settled(shown, "tautline.time() > 2.0 && tautline.playing()")
    first = shown.evaluate("tautline.nodes()")
    settled(shown, f"tautline.time() === {END} && !tautline.playing()")
    assert shown.evaluate("tautline.nodes()") != first
    shown.get_by_test_id("loop").click()
    shown.evaluate("tautline.seek(2.8)")
    shown.get_by_test_id("play").click()
    settled(shown, "tautline.time() < 1.0 && tautline.playing()")
    shown.get_by_test_id("play").click()
    assert not shown.evaluate("tautline.playing()")


def test_keys(shown: Page) -> None:
    keys = shown.keyboard
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    settled(shown, "tautline.frame() === 2")
    keys.press("ArrowLeft")
    settled(shown, "tautline.frame() === 1")
    keys.press("End")
    settled(shown, f"tautline.time() === {END}")
    keys.press("Home")
    settled(shown, "tautline.time() === 0")
    keys.press("Space")
    settled(shown, "tautline.playing() && tautline.time() > 0")
    keys.press("Space")
    assert not shown.evaluate("tautline.playing()")
    dialog = shown.get_by_test_id("help")
    keys.press("?")
    dialog.wait_for(state="visible")
    assert "play or pause" in dialog.inner_text()
    keys.press("Space")
    assert not shown.evaluate("tautline.playing()"), "a key behind the help"
    keys.press("Escape")
    dialog.wait_for(state="hidden")
    keys.press("p")
    shown.get_by_test_id("plots").wait_for(state="hidden")
    keys.press("p")
    shown.get_by_test_id("plots").wait_for(state="visible")


def test_colors_views_and_theme(offline_page: Page, run: xr.Dataset) -> None:
    """The legend tells the range of the run in its unit; each view is another picture."""
    numbers = offline_page.locator("#legend-numbers")
    greatest = {"strain": (100.0 * run.strain, "%"), "tension": (run.tension, "N"), "energy_density": (None, "J/m")}
    for name, (values, unit) in greatest.items():
        offline_page.get_by_test_id("color").select_option(name)
        *_, last = numbers.locator("span").all_inner_texts()
        assert last.endswith(unit)
        if values is not None:
            assert float(last.split()[0]) == pytest.approx(float(values.max()), rel=6e-3)
    seen: list[np.ndarray] = []
    for view in ("front", "side", "top", "iso"):
        offline_page.get_by_test_id(f"view-{view}").click()
        drawn = offline_page.evaluate("tautline.drawn()")
        settled(offline_page, f"tautline.drawn() > {drawn} - 1")
        offline_page.wait_for_timeout(60)
        seen.append(picture(offline_page))
    for k in range(3):
        assert (seen[k] != seen[k + 1]).any(axis=2).sum() > 500
    background = seen[-1][5, 400]
    offline_page.get_by_test_id("theme").click()
    offline_page.wait_for_timeout(100)
    assert np.abs(picture(offline_page)[5, 400] - background).max() > 60


def test_whole_motion_is_in_sight(offline_page: Page) -> None:
    """From the start to the end nothing leaves the picture: its border stays free of the string and the body."""
    offline_page.get_by_test_id("view-front").click()
    offline_page.wait_for_timeout(60)
    views = []
    for moment in np.linspace(0.0, END, 6):
        offline_page.evaluate(f"tautline.seek({moment})")
        offline_page.wait_for_timeout(120)
        views.append(picture(offline_page))
    changed = np.any([(np.abs(view - views[0]).max(axis=2) > 30) for view in views[1:]], axis=0)
    rows, columns = np.nonzero(changed)
    height, width = changed.shape
    assert rows.min() > 3 and columns.min() > 3 and rows.max() < height - 4 and columns.max() < width - 4
    assert rows.max() - rows.min() > 0.3 * height, "the motion fills a good part of the picture"


# -- several lines and bodies ------------------------------------------------------------------------

PARTS = ["hook", "load", "jib", "hoist", "sling", "stay"]


@pytest.fixture(params=["replay", pytest.param("offline", marks=pytest.mark.long)], scope="module")
def crane_page(request: pytest.FixtureRequest, folder: Path, kept_open: Pages) -> Iterator[Page]:
    """A run of several lines and bodies from a server, and from a file without any network."""
    if request.param == "replay":
        with serving("view", "crane.nc", cwd=folder) as server:
            yield kept_open(server.address)
    else:
        tautline("export", "crane.nc", "--html", "-o", "crane.html", "--overwrite", cwd=folder)
        yield kept_open((folder / "crane.html").as_uri(), offline=True)


def test_several_lines_and_bodies_are_shown_with_their_names(crane_page: Page, folder: Path) -> None:
    """All lines and bodies, at every time; charts tell them apart by name."""
    run = tl.open_run(folder / "crane.nc")
    crane_page.evaluate("tautline.seek(0)")
    settled(crane_page, "tautline.frame() === 0")
    before = picture(crane_page)
    assert colors(before) > 100, "an empty scene"
    for k in (60, 100):
        crane_page.evaluate(f"tautline.seek({float(run.time[k])})")
        settled(crane_page, f"tautline.frame() === {k}")
        np.testing.assert_array_equal(nodes(crane_page), at(run, k))
        crane_page.wait_for_timeout(100)
        after = picture(crane_page)
        assert (np.abs(after - before).max(axis=2) > 20).sum() > 100, "the picture did not follow"
        before = after
    for name, words in (
        ("lengths", ["hoist", "sling", "stay"]),
        ("tension", ["hoist", "sling", "stay"]),
        ("end_tension", ["hoist", "sling", "stay"]),
        ("torque", ["hoist", "sling"]),
        ("speed", ["hook", "load", "jib"]),
    ):
        chart = crane_page.get_by_test_id(f"chart-{name}")
        chart.scroll_into_view_if_needed()
        entries = chart.locator(".series").all_inner_texts()
        assert [text.split()[0] for text in entries] == words
        assert colors(picture(crane_page, f"[data-testid=chart-{name}] canvas")) > 10, f"an empty chart of {name}"
    chart = crane_page.get_by_test_id("chart-tension")
    assert "(kN)" in chart.locator("h2").inner_text()
    tension = 1e3 * float(chart.locator(".value").first.inner_text())
    assert tension == pytest.approx(float(run.start_tension.sel(line="hoist")[-1]), rel=1e-3)


def test_names_in_the_scene(crane_page: Page) -> None:
    names = crane_page.get_by_test_id("part-names").locator("span")
    assert names.all_inner_texts() == PARTS
    boxes = [name.bounding_box() for name in names.all()]
    scene = crane_page.locator("#scene").bounding_box()
    assert scene is not None
    for i, a in enumerate(boxes):
        assert a is not None and scene["y"] <= a["y"] and a["x"] + a["width"] <= scene["x"] + scene["width"]
        for b in boxes[:i]:
            assert b is not None
            apart = abs(a["y"] - b["y"]) > 10 or a["x"] > b["x"] + b["width"] or b["x"] > a["x"] + a["width"]
            assert apart, "one name covers another"
    crane_page.get_by_test_id("names").click()
    settled(crane_page, "document.getElementById('part-names').childElementCount === 0")
    crane_page.keyboard.press("b")
    settled(crane_page, f"document.getElementById('part-names').childElementCount === {len(PARTS)}")


def test_bodies_are_followed_in_turn(crane_page: Page) -> None:
    """Each comes to the middle of the picture, near; then the camera stands still again."""
    follow = crane_page.get_by_test_id("follow")
    scene = crane_page.locator("#scene").bounding_box()
    assert scene is not None
    for name in ("hook", "load"):
        crane_page.keyboard.press("f")
        assert follow.inner_text() == f"Follow {name}" and follow.get_attribute("aria-pressed") == "true"
        crane_page.evaluate("tautline.seek(0.9)")
        settled(crane_page, "tautline.frame() === 90")
        crane_page.wait_for_timeout(100)
        box = crane_page.get_by_test_id("part-names").get_by_text(name, exact=True).bounding_box()
        assert box is not None
        assert abs(box["x"] - scene["x"] - 0.5 * scene["width"]) < 15.0
        assert abs(box["y"] + 0.5 * box["height"] - scene["y"] - 0.5 * scene["height"]) < 10.0
    crane_page.keyboard.press("f")
    assert follow.inner_text() == "Follow" and follow.get_attribute("aria-pressed") == "false"


@pytest.mark.long
def test_one_line_beside_several(folder: Path, open_page: Pages) -> None:
    """They have curves in common, and others of their own."""
    with serving("view", "swing.nc", "crane.nc", cwd=folder) as server:
        page = open_page(server.address)
        page.evaluate("tautline.seek(0.5)")
        settled(page, "tautline.frame(0) === 50 && tautline.frame(1) === 50")
        for number, name in enumerate(("swing.nc", "crane.nc")):
            np.testing.assert_array_equal(nodes(page, number), at(tl.open_run(folder / name), 50))
        lengths = page.get_by_test_id("chart-lengths").inner_text()
        assert all(word in lengths for word in ("stretched", "hoist", "sling"))
        page.get_by_test_id("compare").click()
        page.wait_for_timeout(200)
        beside = picture(page)
        half = beside.shape[1] // 2
        assert colors(beside[:, :half]) > 60 and colors(beside[:, half:]) > 60


def test_a_ship_its_sea_and_the_earth(tmp_path: Path, open_page: Pages) -> None:
    """A hull lies in the water, ropes hang clear of it; in an orbit an arrow points to the Earth, and turns."""
    ship = tl.simulate(tl.load("ship-crane", {"run.duration": 0.2}))
    page = open_page(tl.view(ship).save(tmp_path / "ship.html").as_uri(), offline=True)
    hull = page.evaluate("[...getComputedStyle(document.documentElement).getPropertyValue('--body').trim()]")
    wanted = [int("".join(hull[i : i + 2]), 16) for i in (1, 3, 5)]
    page.get_by_test_id("view-front").click()
    page.wait_for_timeout(100)
    rows, columns = np.nonzero(np.abs(picture(page) - wanted).max(axis=2) < 45)
    assert np.ptp(columns) > 150 and len(rows) > 3000, "no hull"
    satellites = tl.simulate(tl.load("tethered-satellites", {"run.duration": 1500.0, "run.sample": 300.0}))
    page = open_page(tl.view(satellites).save(tmp_path / "orbit.html").as_uri(), offline=True)
    label = page.locator("#gravity-label")
    places = []
    for time in (0.0, 1500.0):
        page.evaluate(f"tautline.seek({time})")
        settled(page, f"tautline.time() === {time}")
        page.wait_for_timeout(100)
        assert label.inner_text() == "Earth"
        places.append(label.bounding_box())
    assert places[0] is not None and places[1] is not None
    assert places[0]["x"] < places[1]["x"], "to the left, by which the first axis leads away from it, and then up"
    assert places[0]["y"] > places[1]["y"] + 20


def test_spans_of_one_element_have_a_curve_along_them(tmp_path: Path, open_page: Pages) -> None:
    tackle = tl.simulate(tl.load("tackle", {"run.duration": 0.1, "lines.fall.elements": 1}))
    page = open_page(tl.view(tackle).save(tmp_path / "tackle.html").as_uri(), offline=True)
    page.evaluate("tautline.seek(0.1)")  # when tensions differ
    settled(page, "tautline.time() === 0.1")
    page.wait_for_timeout(200)
    color = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--series-0').trim()")
    wanted = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
    _, columns = np.nonzero(np.abs(picture(page, "[data-testid=chart-along] canvas") - wanted).max(axis=2) < 40)
    assert np.ptp(columns) > 100


def test_a_large_screen_has_larger_type(offline_file: str, open_page: Pages) -> None:
    page = open_page(offline_file, offline=True, size=(2560, 1400))
    style = "getComputedStyle(document.querySelector('{}'), '{}').{}"
    for part in (".chart h2", ".chart-head", "#legend label", "#legend-numbers"):
        assert page.evaluate(style.format(part, "", "fontSize")) == "14px", part
        assert page.evaluate(style.format(part, "", "backgroundColor")) == "rgba(0, 0, 0, 0)", part
    heads = [head.bounding_box() for head in page.locator(".chart:not([hidden]) .chart-head").all()]
    assert len(heads) > 4 and all(head is not None and head["width"] > 200 and head["height"] > 14 for head in heads)


def test_wheels_turn_and_the_rope_lies_on_them(tmp_path: Path, open_page: Pages) -> None:
    """A sheave on which the rope slips, one on a point mass, a drum at the end of a line: as the results have them."""
    reeved = tl.simulate(over_sheaves())
    page = open_page(tl.view(reeved).save(tmp_path / "reeved.html").as_uri(), offline=True)
    before = None
    for k in (0, reeved.sizes["time"] - 1):
        page.evaluate(f"tautline.seek({float(reeved.time[k])})")
        settled(page, f"tautline.frame() === {k}")
        page.wait_for_timeout(200)
        groove, lower, drum = page.evaluate("tautline.wheels()")
        np.testing.assert_allclose(groove["center"], 0.0, atol=1e-6)
        np.testing.assert_allclose(lower["center"], reeved.body_position.sel(body="block")[k], atol=1e-5)
        np.testing.assert_allclose(drum["center"], (5.0 - 0.4, 0.0, -0.25), atol=1e-6)
        rim = reeved.rim_travel.values[k]
        np.testing.assert_allclose([groove["turn"], lower["turn"]], [rim[0] / 0.3, rim[1] / 0.2], atol=1e-5)
        wound = -(reeved.span_length[k, 2:].sum() - reeved.span_length[0, 2:].sum())
        np.testing.assert_allclose(drum["turn"], float(wound) / 0.25, atol=1e-5)
        # the spans end at the ends of the wheel's diameter
        places = nodes(page).reshape(5, 3, 3)
        np.testing.assert_allclose([places[0, -1], places[1, 0]], [(-0.3, 0.0, 0.0), (0.3, 0.0, 0.0)], atol=1e-6)
        shown = picture(page)
        assert before is None or np.abs(shown - before).max() > 60
        before = shown
    page.screenshot(path=str(tmp_path / "reeved.png"))


def test_unusual_runs(tmp_path: Path, open_page: Pages) -> None:
    """A point mass, one element, a single sample; a run that an event ended; rows without numbers."""
    p = tl.pendulum(STRING, REEL, tl.RigidBody.point(0.5), elements=1)
    start = tl.Straight(5.0, (1.0, 0.0, 1.0))
    single = tl.simulate(p, start, tl.Locked(), duration=0.02, sample=0.01).isel(time=slice(0, 1))
    page = open_page(tl.view(single).save(tmp_path / "single.html").as_uri(), offline=True)
    assert len(nodes(page)) == 6 and colors(picture(page)) > 50
    page.keyboard.press("Space")
    page.keyboard.press("ArrowRight")
    ended = tl.simulate(p, start, tl.Free(), duration=30.0, sample=0.01)
    assert ended.attrs["status"] == "fully_deployed"
    ended["position"].values[-20:] = np.nan
    page = open_page(tl.view(ended).save(tmp_path / "ended.html").as_uri(), offline=True)
    assert page.get_by_test_id("state").inner_text() == "fully deployed"
    assert "fully deployed" in page.get_by_test_id("banner").inner_text()
    page.keyboard.press("End")
    page.get_by_test_id("scene-note").wait_for(state="visible")
    page.keyboard.press("Home")
    page.get_by_test_id("scene-note").wait_for(state="hidden")
    texts = ["the first; with a half", "the second"]
    ended.attrs |= {"warnings": encoded(tl.RunWarning("mesh", text) for text in texts), "message": "ended early"}
    page = open_page(tl.view(ended).save(tmp_path / "warned.html").as_uri(), offline=True)
    lines = page.locator("#banner-text").inner_text().splitlines()
    assert [line for line in lines if line] == ["ended early", *texts]


def test_a_notebook_shows_it(run: xr.Dataset, tmp_path: Path, browser: Browser) -> None:
    """As Jupyter does: the view's HTML put into a page of somebody else's."""
    inside = tl.view(run)._repr_html_()
    text = f"<!doctype html><meta charset=utf-8><body>{inside}</body>"
    (tmp_path / "notebook.html").write_text(text, encoding="utf-8")
    watched = Watched(browser, offline=True)
    watched.page.goto((tmp_path / "notebook.html").as_uri())
    frame = watched.page.frames[1]
    assert frame.evaluate(READY)
    found = np.array(frame.evaluate("tautline.nodes()"), dtype=np.float32)
    np.testing.assert_array_equal(found, at(run, 0))
    assert colors(picture(frame)) > 100
    assert watched.page.locator("iframe").bounding_box()["height"] == 560  # type: ignore[index]
    watched.context.close()
    assert watched.complaints == []


def test_a_page_that_was_cut_off_says_so(run: xr.Dataset, tmp_path: Path, browser: Browser) -> None:
    text = tl.view(run).save(tmp_path / "whole.html").read_text(encoding="utf-8")
    for name, damaged, words in (
        ("empty", text.replace('id="frames-0"', 'id="elsewhere"'), "frames-0"),
        ("no run", text.replace('id="boot"', 'id="elsewhere"'), "holds no run"),
    ):
        (tmp_path / "cut.html").write_text(damaged, encoding="utf-8")
        with contextlib.closing(browser.new_page()) as page:
            page.goto((tmp_path / "cut.html").as_uri())
            page.get_by_test_id("fatal").wait_for(state="visible")
            assert words in page.get_by_test_id("fatal").inner_text(), name


def test_a_page_runs_under_its_content_policy(run: xr.Dataset, tmp_path: Path, browser: Browser) -> None:
    """Scene and plots appear, and nothing that the page needs is refused."""
    path = tl.view(run).save(tmp_path / "run.html")
    watched = Watched(browser, offline=True, bypass_csp=False)
    watched.page.goto(path.as_uri())
    watched.page.get_by_test_id("scene").locator("canvas").first.wait_for(state="visible")
    assert "Content-Security-Policy" in path.read_text(encoding="utf-8")
    assert watched.complaints == []
    watched.context.close()


# -- live --------------------------------------------------------------------------------------------


def reeled(page: Page) -> float:
    """The unstretched length that the legend of the plot tells."""
    texts = page.get_by_test_id("chart-lengths").inner_text()
    return float(texts.split("unstretched")[1].split()[0].replace("\u2212", "-"))


# The button that is pressed and the slider say the same.
TORQUE = """document.getElementById('drive').ariaPressed === 'true'
    && document.getElementById('dial').ariaLabel.startsWith('Torque')"""


def test_live_page(tmp_path: Path, open_page: Pages) -> None:
    """The slider drives the drum, to a soft stop; a run that ended is the same on two pages; a server that went away is
    told, and nothing of what was before."""
    stop = '[{variable = "reel_speed < -0.6"}]'
    settings = ("run.step=auto", "initial.deployed=3", "run.minimum_length=1.5", f"run.stop={stop}")
    with serving("live", "fixed-length", *(f"--set={x}" for x in settings), cwd=tmp_path) as server:
        page = open_page(server.address)
        assert colors(picture(page)) > 100
        assert page.get_by_test_id("lock").get_attribute("aria-pressed") == "true"
        received, drawn = page.evaluate("[tautline.live.received, tautline.live.drawn]")
        settled(page, f"tautline.live.received > {received + 20} && tautline.live.drawn > {drawn + 3}")

        still = nodes(page).reshape(-1, 3)
        page.get_by_test_id("drive").click()
        assert "hold" in page.locator(".marks").inner_text()
        field = page.get_by_test_id("dial-number")
        held = float(field.input_value())  # a drum that is given a torque is given the one that holds
        limits = float(field.get_attribute("min") or 0.0), float(field.get_attribute("max") or 0.0)
        assert limits[0] < 0.0 < held < float(page.get_by_test_id("dial").get_attribute("max") or 0.0) < limits[1]
        field.fill(str(limits[1]))
        field.press("Enter")
        settled(page, "document.getElementById('drive').ariaPressed === 'true'")
        banner = page.get_by_test_id("banner")
        settled(page, "document.getElementById('banner-text').textContent.includes('upper end')")
        assert banner.is_visible()
        settled(page, "document.querySelector('.reel-state').textContent.includes('0 m/s · upper end')")
        assert page.get_by_test_id("state").inner_text() == "running"
        spooled = nodes(page).reshape(-1, 3)
        lengths = [float(np.linalg.norm(np.diff(x, axis=0), axis=1).sum()) for x in (still, spooled)]
        assert lengths[1] < 0.8 * lengths[0], f"the string was not spooled in: {lengths}"
        assert reeled(page) < 2.0

        page.get_by_test_id("reset").click()
        settled(page, "document.getElementById('state').textContent === 'running'")
        page.keyboard.press("Space")
        settled(page, "document.getElementById('state').textContent === 'paused'")
        page.keyboard.press("k")
        page.get_by_test_id("record").click()
        page.get_by_test_id("recording").wait_for(state="visible")
        page.get_by_test_id("record").click()
        page.get_by_test_id("recording").wait_for(state="hidden")
        assert page.evaluate("tautline.live.connected")

        # a torque pays out until the run ends; then buttons and slider stay as they are, here and on another page
        page.get_by_test_id("play").click()
        page.get_by_test_id("drive").click()
        assert 0.0 < float(field.input_value()) < 3.0 * held < limits[1], "what holds, not what was given before"
        field.fill(str(limits[0]))
        field.press("Enter")
        settled(page, "document.getElementById('state').textContent === 'ended'")
        page.keyboard.press("v")
        page.get_by_text("the run has ended; reset to start again").wait_for()
        settled(page, TORQUE)
        assert page.locator("#reels").evaluate("e => e.inert")
        other = open_page(server.address)
        settled(other, TORQUE)
        assert page.locator("#legend-numbers").inner_text() == other.locator("#legend-numbers").inner_text()
        page.locator(".toast").wait_for(state="detached")
        open_page.forgiven = "ERR_CONNECTION_REFUSED"  # said by the browser itself, at each attempt to connect again
        assert server.stop()[0] == 0
        settled(page, "document.getElementById('banner-text').textContent.includes('Connection lost')")
        assert banner.is_visible() and page.get_by_test_id("state").inner_text() == "not connected"
        assert page.get_by_test_id("controls").evaluate("e => e.inert")


@pytest.mark.long
def test_live_page_of_several_reels(tmp_path: Path, open_page: Pages) -> None:
    """Each reel has its controls, keys drive the one that is chosen; reels and a list of bodies steer and strike."""
    (tmp_path / "crane.toml").write_text(crane().to_toml(), encoding="utf-8")
    with serving("live", "crane.toml", "--set", "run.duration=600", cwd=tmp_path) as server:
        page = open_page(server.address)
        assert page.get_by_test_id("part-names").locator("span").all_inner_texts() == PARTS
        assert page.locator("#reels .reel-name").all_inner_texts() == ["hoist", "sling"]
        assert page.get_by_test_id("body-name").locator("option").all_inner_texts() == ["hook", "load"]
        assert page.get_by_test_id("state").inner_text() == "ready"
        assert all("program" in page.get_by_test_id(f"reel-state-{x}").inner_text() for x in ("hoist", "sling"))
        page.keyboard.press("j")
        page.keyboard.press("l")
        settled(page, "document.getElementById('lock-sling').ariaPressed === 'true'")
        assert "program" in page.get_by_test_id("reel-state-hoist").inner_text()
        marks = page.get_by_test_id("drive-hoist").evaluate("e => (e.click(), e.closest('.reel').innerText)")
        assert "hold" in marks
        page.get_by_test_id("lock-hoist").click()
        settled(page, "tautline.value('reel_speed.hoist') === 0")
        page.get_by_test_id("reel-hoist").click()
        slider = page.get_by_test_id("dial-hoist")
        slider.evaluate("e => { e.value = 0.5; e.dispatchEvent(new Event('input')) }")
        settled(page, "document.getElementById('reel-hoist').ariaPressed === 'true'")
        entries = page.get_by_test_id("chart-reel").locator(".series").all
        page.wait_for_function(
            "[...document.querySelectorAll('[data-testid=chart-reel] .value')]"
            ".map(e => e.textContent).join() === '0.5,0'"
        )
        assert [text.split()[0] for text in (entry.inner_text() for entry in entries())] == ["hoist", "sling"]
        page.get_by_test_id("body-name").select_option("load")
        assert page.get_by_test_id("impulse-size").input_value() == "130"
        page.get_by_test_id("impulse").click()
        box = page.get_by_test_id("steer-up").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 5, box["y"] + 5)
        page.mouse.down()
        speed = "document.querySelector('[data-testid=chart-reel] .value').textContent"
        settled(page, f"parseFloat({speed}) > 0.3", 30.0)
        page.mouse.up()
        settled(page, f"{speed} === '0'", 30.0)
        open_page.forgiven = "ERR_CONNECTION_REFUSED"
