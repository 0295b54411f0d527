"""Features of the viewer's pages beyond a replay: read values, share, know scale, be used without a mouse."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

import tautline as tl
from tests.support.browser import serving
from tests.support.commands import tautline
from tests.support.pages import DESKTOP, PHONE, Pages, at_rest, colors, nodes, picture, settled, violations

# Much in a browser; test_viewer_page.py has what a page must do.
pytestmark = pytest.mark.long

if TYPE_CHECKING:
    from playwright.sync_api import Download, Page

SPEEDS = (0.0, 0.5, 1.0, 1.5)
# Whether the browser can make films: that of `make browser` has no encoder.
FILMS = """async () => {
    const canvas = document.createElement("canvas");
    const brush = canvas.getContext("2d");
    const recorder = new MediaRecorder(canvas.captureStream(30));
    let size = 0;
    recorder.addEventListener("dataavailable", ({ data }) => size += data.size);
    const stopped = new Promise((done) => recorder.addEventListener("stop", done));
    recorder.start(100);
    for (let k = 0; k < 20; k++) {
        brush.fillRect(k, k, 9, 9);
        await new Promise((done) => setTimeout(done, 30));
    }
    recorder.stop();
    await stopped;
    return size > 0;
}"""


def swinging(speed: float) -> tuple[Any, ...]:
    p = tl.pendulum(
        string=tl.String(length=12.0, density=0.05, stiffness=100.0, law="linear"),
        reel=tl.Reel(drum_radius=0.3, guide_length=0.4, inertia_mass=0.8),
        body=tl.RigidBody.box(0.5, (0.4, 0.5, 0.8), (0.1, 0.0, 0.4)),
        elements=6,
    )
    return p, tl.Straight(5.0, (1.0, 0.0, 1.0), end_velocity=(0.0, speed, 0.0)), tl.Locked()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("features")
    for k, speed in enumerate(SPEEDS):
        tl.run_to_file(made / f"swing-{k}.nc", *swinging(speed), duration=3.0, sample=0.01)
    return made


def values(page: Page, plot: str) -> list[str]:
    """Beside the names of the curves of a plot."""
    return page.get_by_test_id(f"chart-{plot}").locator(".value").all_inner_texts()


def numbers(page: Page, plot: str) -> list[float | None]:
    """Texts as numbers, when all have come; None where there is none."""
    settled(
        page, f"![...document.querySelectorAll('[data-testid=chart-{plot}] .value')].some(e => e.innerText === '…')"
    )
    found = [text.replace("\u2212", "-") for text in values(page, plot)]
    return [None if text == "\u2013" else float(text) for text in found]


def range_of(page: Page) -> tuple[float, float]:
    low, high = page.evaluate("tautline.plotted()")
    return float(low), float(high)


def saved(download: Download) -> bytes:
    return Path(download.path()).read_bytes()


# -- reading values ----------------------------------------------------------------------------------


@pytest.mark.long
def test_values_are_read_off_several_runs(folder: Path, open_page: Pages) -> None:
    """One crosshair over all charts; A to D and their differences; wheels zoom; four views."""
    runs = [tl.open_run(folder / f"swing-{k}.nc") for k in range(4)]
    with serving("view", *(f"swing-{k}.nc" for k in range(4)), cwd=folder) as server:
        page = open_page(server.address)
        labels = page.locator("#run-labels").inner_text()
        assert all(f"{letter}: initial.end_velocity (0, {k / 2:g}, 0) m/s" in labels for k, letter in enumerate("ABCD"))
        assert page.locator("h1").inner_text() == "Initial.end_velocity"
        assert labels.count("ghost") == 3
        page.evaluate("tautline.seek(1.5)")
        settled(page, "[0, 1, 2, 3].every(k => tautline.frame(k) === 150)")
        for k, run in enumerate(runs):
            np.testing.assert_array_equal(nodes(page, k), run.position.values[150].astype(np.float32).ravel())
        over = page.get_by_test_id("chart-energies").locator(".u-over")
        over.scroll_into_view_if_needed()
        box = over.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 10)
        settled(page, "document.querySelectorAll('.cross-line:not([hidden])').length >= 5")
        assert page.locator(".time-tag").inner_text().startswith("1.5")
        wanted = [float(run.energy.sel(time=1.5, method="nearest")) for run in runs]
        page.wait_for_function("document.querySelector('[data-testid=chart-energies] .value').textContent !== '…'")
        page.wait_for_timeout(200)
        assert [float(x.replace("\u2212", "-")) for x in values(page, "energies")[:4]] == pytest.approx(
            wanted, rel=1e-2
        )
        page.mouse.move(5, 5)
        settled(page, "document.querySelectorAll('.cross-line:not([hidden])').length === 0")

        page.keyboard.press("d")
        settled(page, "document.getElementById('difference').ariaPressed === 'true'")
        page.evaluate("tautline.seek(0)")
        page.wait_for_timeout(300)
        first, *others = numbers(page, "energies")[:4]
        gained = [float(run.energy[0] - runs[0].energy[0]) for run in runs[1:]]
        assert first is None and others == pytest.approx(gained, rel=1e-2)
        page.keyboard.press("d")

        axis = page.get_by_test_id("time-axis").locator(".u-over")
        axis.hover()
        page.mouse.wheel(0, -600)
        settled(page, "tautline.plotted()[1] - tautline.plotted()[0] < 2.0")
        middle = 0.5 * sum(range_of(page))
        assert 1.0 < middle < 2.0, "what is pointed at stays where it is"
        axis.dblclick()
        settled(page, "tautline.plotted()[1] - tautline.plotted()[0] === 3")
        over.hover()
        page.keyboard.down("Control")
        page.mouse.wheel(0, -300)
        page.keyboard.up("Control")
        settled(page, "tautline.plotted()[1] - tautline.plotted()[0] < 2.5")

        page.get_by_test_id("chart-map").scroll_into_view_if_needed()
        assert colors(picture(page, "[data-testid=chart-map] canvas")) > 20
        page.get_by_test_id("compare").click()
        page.wait_for_timeout(150)
        quarters = picture(page)
        h, w = (n // 2 for n in quarters.shape[:2])
        assert all(colors(quarters[i * h :][:h, j * w :][:, :w]) > 60 for i in (0, 1) for j in (0, 1))
        assert "ghost" not in page.locator("#run-labels").inner_text()


def test_charts_are_chosen(folder: Path, open_page: Pages) -> None:
    """And stay so when the page is opened again. Constants take one line, rounding is zero, ticks are short."""
    case = tl.load("crane-hoist")
    still = tl.simulate(case.system, case.start, tl.Locked(), duration=1.0, sample=0.01)
    path = tl.view(still).save(folder / "still.html")
    page = open_page(path.as_uri(), offline=True)
    assert values(page, "spin") == ["0", "0", "0"]
    spin = page.get_by_test_id("chart-spin").bounding_box()
    assert spin is not None and spin["height"] < 80, "nothing turns, and that takes no chart"
    shown = page.locator("#plots .chart:not([hidden])")
    assert page.get_by_test_id("time-axis").is_visible()
    page.keyboard.press("h")
    page.get_by_test_id("pick-energies").get_by_role("checkbox").uncheck()
    page.get_by_test_id("pick-tension").get_by_label("up").click()
    page.get_by_test_id("pick-tension").get_by_role("combobox").select_option("large")
    page.keyboard.press("Escape")
    for _ in range(2):
        assert shown.first.get_attribute("data-testid") == "chart-tension"
        assert not page.get_by_test_id("chart-energies").is_visible()
        box = shown.first.bounding_box()
        assert box is not None and box["height"] >= 320
        page.reload()
        settled(page, "window.tautline !== undefined")
        page.evaluate("tautline.ready")


# -- sharing -----------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("mode", ["served", "offline"])
def test_a_view_is_shared(mode: str, folder: Path, open_page: Pages) -> None:
    """Picture twice as fine as the screen; film; a link that brings time, zoom, camera, colors and theme back."""
    if mode == "offline":
        tautline("export", "swing-1.nc", "--html", "-o", "shared.html", "--overwrite", cwd=folder)
        _share((folder / "shared.html").as_uri(), folder, open_page, True)
    else:
        with serving("view", "swing-1.nc", cwd=folder) as server:
            _share(server.address, folder, open_page, False)


def _share(address: str, folder: Path, open_page: Pages, offline: bool) -> None:
    page = open_page(address, offline=offline)
    page.evaluate("tautline.seek(1.25)")
    settled(page, "tautline.frame() === 125")
    page.get_by_test_id("color").select_option("tension")
    page.get_by_test_id("range").select_option("own")
    page.get_by_test_id("range-low").fill("-3")
    page.get_by_test_id("range-high").fill("12")
    page.get_by_test_id("range-high").press("Enter")
    assert not page.locator("#legend-zero").is_hidden(), "zero is marked where the sign changes"
    page.get_by_test_id("theme").click()
    page.locator("#scene-picture").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("+")
    page.get_by_test_id("time-axis").locator(".u-over").hover()
    page.mouse.wheel(0, -400)
    page.wait_for_timeout(300)

    page.get_by_test_id("share").click()
    with page.expect_download() as download:
        page.get_by_test_id("picture").click()
    image = Image.open(io.BytesIO(saved(download.value)))
    scene = page.locator("#scene").bounding_box()
    assert scene is not None and image.height >= 2 * scene["height"] and image.width >= 2 * scene["width"]
    assert colors(np.asarray(image.convert("RGB"))) > 500
    page.get_by_test_id("share").click()
    with page.expect_download() as download:
        page.get_by_test_id("csv").click()
    head, *rows = csv.reader(io.StringIO(saved(download.value).decode()))
    run = tl.open_run(folder / "swing-1.nc")
    table = np.array(rows, dtype=float)
    assert head[:2] == ["time (s)", "tension, at the start (N)"]
    start, end = range_of(page)
    part = run.sel(time=slice(start, end))
    np.testing.assert_allclose(table[:, 0], part.time, atol=1e-9)
    np.testing.assert_allclose(table[:, 1], part.start_tension.squeeze(), rtol=1e-9)
    if not offline:
        page.get_by_test_id("share").click()
        with page.expect_download() as download:
            page.get_by_test_id("page").click()
        alone = folder / "alone.html"
        alone.write_bytes(saved(download.value))
        assert nodes(open_page(alone.as_uri(), offline=True)).size == nodes(page).size
    page.keyboard.press("u")
    link = page.evaluate("navigator.clipboard.readText()")
    page.evaluate("document.getElementById('toasts').replaceChildren()")  # it said so

    other = open_page(link, offline=offline)
    settled(other, "tautline.frame() === 125")
    assert range_of(other) == pytest.approx(range_of(page), abs=1e-4)
    assert other.get_by_test_id("color").input_value() == "tension"
    assert other.get_by_test_id("range-high").input_value() == "12"
    assert other.evaluate("document.documentElement.dataset.theme") == page.evaluate(
        "document.documentElement.dataset.theme"
    )
    other.wait_for_timeout(200)
    difference = np.abs(picture(other) - picture(page)).max(axis=2) > 25
    assert difference.mean() < 2e-3, "the same picture"
    page.reload()
    settled(page, "window.tautline !== undefined && tautline.frame() === 125")

    page.evaluate("tautline.seek(2.4)")
    page.get_by_test_id("share").click()
    page.get_by_test_id("film-size").select_option("640x360")
    if page.evaluate(FILMS):
        with page.expect_download() as download:
            page.get_by_test_id("film").click()  # until the run is over
        film = saved(download.value)
        assert (film[:4] == b"\x1a\x45\xdf\xa3" or film[4:8] == b"ftyp") and len(film) > 5000, "WebM or MP4"
    else:
        page.get_by_test_id("film").click()
        page.get_by_text("This browser recorded nothing").wait_for()
        page.evaluate("document.getElementById('toasts').replaceChildren()")
    page.get_by_test_id("whole").click()
    settled(page, "document.fullscreenElement !== null")
    page.keyboard.press("w")
    settled(page, "document.fullscreenElement === null")


@pytest.mark.long
def test_what_was_thinned_is_told(folder: Path, open_page: Pages) -> None:
    args = swinging(0.5)
    tl.run_to_file(folder / "long.nc", *args, duration=30.0, sample=0.001, overwrite=True)
    sizes = []
    for extra, words in (((), "Thinned: the scene shows every"), (("--full",), "")):
        tautline("export", "long.nc", "--html", "-o", "long.html", "--overwrite", *extra, cwd=folder)
        sizes.append((folder / "long.html").stat().st_size)
        page = open_page((folder / "long.html").as_uri(), offline=True)
        told = page.get_by_test_id("thinned").inner_text()
        assert told.startswith(words) and ("curves show the extremes" in told) == bool(words)
        if not words:
            page.evaluate("tautline.seek(12.345)")
            settled(page, "tautline.frame() === 12345")
    assert sizes[1] > 2 * sizes[0]


# -- scale -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("length", "size"), [(1.0, DESKTOP), (100.0, PHONE), (10_000.0, DESKTOP)])
def test_the_body_is_seen_however_long_the_string(
    length: float, size: tuple[int, int], tmp_path: Path, open_page: Pages
) -> None:
    """In the whole picture by itself or by a ring, in a close-up, and near by when it is followed."""
    p = tl.pendulum(
        string=tl.String(length=2.0 * length, density=0.05, stiffness=1e4 * length, damping_ratio=0.2, law="linear"),
        reel=tl.Reel(drum_radius=0.3, guide_length=0.4, inertia_mass=5.0),
        body=tl.RigidBody.box(100.0, (0.5, 0.4, 0.3), (0.0, 0.0, 0.15)),
        elements=8,
    )
    run = tl.simulate(p, tl.Hanging(length), tl.Locked(), duration=0.02, sample=0.01)
    page = open_page(tl.view(run).save(tmp_path / "run.html").as_uri(), offline=True, size=size)
    page.get_by_test_id("view-front").click()
    page.wait_for_timeout(100)
    seen = _colored(page)
    rows = np.nonzero(seen)[0]
    assert len(rows) > 60, "neither body nor ring"
    lowest = rows.max()
    legend = page.get_by_test_id("legend").bounding_box()
    scene = page.locator("#scene").bounding_box()
    assert legend is not None and scene is not None
    foot = legend["y"] - scene["y"] if size == PHONE else seen.shape[0] - 25
    assert 0.5 * foot < lowest < foot, "clear of what lies over the picture"
    if length > 1.0:
        corner = page.get_by_test_id("inset-frame").bounding_box()
        assert corner is not None
        top, left = int(corner["y"] - scene["y"]), int(corner["x"] - scene["x"])
        close = picture(page)[top + 20 :, left + 4 :][: int(corner["width"]) - 24, : int(corner["width"]) - 8]
        assert (np.abs(close - close[0, 0]).max(axis=2) > 25).mean() > 0.08, "a close-up of the body"
    page.keyboard.press("f")
    page.wait_for_timeout(150)
    near = picture(page)
    h, w = near.shape[:2]
    middle = near[h // 2 - 60 : h // 2 + 60, w // 2 - 60 : w // 2 + 60]
    background = near[h // 2, 15]
    assert (np.abs(middle - background).max(axis=2) > 25).mean() > 0.15, "the body fills the middle"


@pytest.mark.parametrize("size", [(1300, 620), DESKTOP])
def test_wide_systems_are_framed_clear_of_what_lies_over_the_picture(
    size: tuple[int, int], tmp_path: Path, open_page: Pages
) -> None:
    """From above and from the side, a hall's four winches are neither cut nor behind the legend."""
    robot = tl.simulate(tl.load("cable-robot"), duration=0.1)
    page = open_page(tl.view(robot).save(tmp_path / "robot.html").as_uri(), offline=True, size=size)
    scene = page.locator("#scene").bounding_box()
    legend = page.get_by_test_id("legend").bounding_box()
    bar = page.locator("#scene .top-left").bounding_box()
    assert scene is not None and legend is not None and bar is not None
    page.add_style_tag(content="#legend, #part-names, #scene .top-left { visibility: hidden }")
    for view in ("iso", "top", "front"):
        page.evaluate(f"document.querySelector('[data-view={view}]').click()")
        page.wait_for_timeout(300)
        rows, columns = np.nonzero(_colored(page))
        assert len(rows) > 150, "rings around four winches"
        assert columns.min() > 8 and columns.max() < scene["width"] - 8, "cut at a side"
        assert rows.min() > bar["y"] + bar["height"] - scene["y"] and rows.max() < scene["height"] - 8
        right, below = columns > legend["x"] - scene["x"], rows > legend["y"] - scene["y"]
        assert not (right & below).any(), f"behind the legend, seen from {view}"
        assert np.ptp(columns) > 0.4 * scene["width"] or np.ptp(rows) > 0.4 * scene["height"], "needlessly small"


def test_a_finger_turns_the_scene_both_ways_once_it_was_tapped(folder: Path, tmp_path: Path, open_page: Pages) -> None:
    """Before, one that goes up scrolls a page that is longer than the screen, and one that goes sideways turns."""
    path = tl.view(tl.open_run(folder / "swing-1.nc")).save(tmp_path / "run.html").as_uri()
    page = open_page(path, offline=True, size=PHONE)
    hand = page.context.new_cdp_session(page)
    box = page.locator("#scene-picture").bounding_box()
    assert box is not None
    middle = box["x"] + 0.5 * box["width"], box["y"] + 0.6 * box["height"]

    def touch(kind: str, *place: float) -> None:
        points = [{"x": place[0], "y": place[1]}] if place else []
        hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def swiped(x: float, y: float) -> tuple[bool, float]:
        """Whether the picture turned, between the buttons, whose text is drawn anew; and how far the page scrolled."""
        page.evaluate("window.scrollTo(0, 0)")
        page.wait_for_timeout(300)
        before = picture(page)[60:-70]
        touch("touchStart", *middle)
        for k in range(1, 9):
            touch("touchMove", middle[0] + x * k / 8, middle[1] + y * k / 8)
            page.wait_for_timeout(20)
        touch("touchEnd")
        page.wait_for_timeout(300)
        scrolled = float(page.evaluate("window.scrollY"))
        page.evaluate("window.scrollTo(0, 0)")
        page.wait_for_timeout(200)
        return bool((np.abs(picture(page)[60:-70] - before).max(axis=2) > 25).mean() > 0.003), scrolled

    turned, scrolled = swiped(0, -120)
    assert not turned and scrolled > 50
    turned, scrolled = swiped(120, 0)
    assert turned and scrolled == 0
    page.touchscreen.tap(*middle)
    turned, scrolled = swiped(0, -120)
    assert turned and scrolled == 0
    page.locator("#title").tap()
    turned, scrolled = swiped(0, -120)
    assert not turned and scrolled > 50


def _colored(page: Page) -> np.ndarray:
    """Pixels in the color of marks."""
    mark = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--mark').trim()")
    wanted = [int(mark[i : i + 2], 16) for i in (1, 3, 5)]
    found: np.ndarray = np.abs(picture(page) - np.array(wanted)).max(axis=2) < 40
    return found


@pytest.mark.long
@pytest.mark.parametrize("live", [False, True], ids=["replay", "live"])
def test_a_curve_is_on_the_first_screen_of_a_phone(live: bool, folder: Path, tmp_path: Path, open_page: Pages) -> None:
    """Beside the scene, above buttons that stay; that of tension."""
    with serving(*(("live", "crane-hoist") if live else ("view", str(folder / "swing-1.nc"))), cwd=tmp_path) as server:
        page = open_page(server.address, size=PHONE)
        scene, chart = (page.locator(x).first.bounding_box() for x in ("#scene", ".chart:not([hidden]) canvas"))
        foot = page.locator("#transport").bounding_box()
        assert scene is not None and chart is not None and foot is not None
        assert scene["height"] > 0.25 * PHONE[1]
        assert chart["y"] >= scene["y"] + scene["height"] - 1 and chart["y"] + 0.7 * chart["height"] < foot["y"]
        assert page.locator(".chart:not([hidden])").first.get_attribute("data-testid") == "chart-tension"
        open_page.forgiven = "ERR_CONNECTION_REFUSED"


# -- live --------------------------------------------------------------------------------------------

PAD = """
window.stick = [0, 0, 0, 0];
window.pressed = 0;
navigator.getGamepads = () => [{connected: true, axes: window.stick,
  buttons: [...Array(8)].map((_, i) => ({pressed: i === 0 && window.pressed > 0, value: 0}))}];
"""


@pytest.mark.long
def test_a_crane_is_driven_by_hand(tmp_path: Path, open_page: Pages) -> None:
    """A body is pulled with the mouse, a gamepad winds and locks; a page that comes later has the curves so far."""
    with serving("live", "crane-hoist", "--set", "run.duration=600", cwd=tmp_path) as server:
        page = open_page(server.address)
        page.keyboard.press("l")
        settled(page, "document.getElementById('lock').ariaPressed === 'true'")
        page.get_by_test_id("view-front").click()
        page.wait_for_timeout(200)
        rows, columns = np.nonzero(_colored(page))
        scene = page.locator("#scene").bounding_box()
        assert scene is not None
        lowest = rows > rows.max() - 12
        x, y = scene["x"] + columns[lowest].mean(), scene["y"] + rows[lowest].mean()
        still = nodes(page).reshape(-1, 3)[-1]
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 90, y, steps=6)
        settled(page, f"tautline.nodes().at(-3) > {still[0]} + 0.5")
        page.mouse.up()
        page.evaluate(PAD)
        page.evaluate("window.stick = [0, 0, 0, -0.4]")  # up: retrieves
        settled(page, "document.getElementById('reel').ariaPressed === 'true'")
        page.wait_for_function(
            "parseFloat(document.querySelector('[data-testid=chart-reel] .value').textContent) > 0.5"
        )
        page.evaluate("window.stick = [0, 0, 0, 0]")
        page.evaluate("window.pressed = 1")
        settled(page, "document.getElementById('lock').ariaPressed === 'true'")

        other = open_page(server.address, size=PHONE)
        assert other.evaluate("document.documentElement.scrollWidth") == PHONE[0], "nothing sticks out"
        low, _ = range_of(other)
        assert low < 0.5, "the curves begin where the run did"
        other.get_by_test_id("chart-lengths").scroll_into_view_if_needed()
        assert colors(picture(other, "[data-testid=chart-lengths] canvas")) > 5
        small = other.locator("#controls button:visible, #transport button:visible, #header .button:visible")
        heights = [box["height"] for box in (each.bounding_box() for each in small.all()) if box is not None]
        assert min(heights) >= 40, "large enough for a finger"
        open_page.forgiven = "ERR_CONNECTION_REFUSED"


@pytest.mark.long
def test_a_trolley_is_moved_by_the_left_stick(tmp_path: Path, open_page: Pages) -> None:
    """While it is held; let go, the trolley comes to rest."""
    with serving("live", "hook-and-load", "--set=lines.hoist.elements=4", cwd=tmp_path) as server:
        page = open_page(server.address)
        start = page.evaluate("tautline.nodes()[0]")
        page.evaluate(PAD)
        page.evaluate("window.stick = [0.9, 0, 0, 0]")
        settled(page, f"tautline.nodes()[0] > {start} + 1", 60.0)
        page.evaluate("window.stick = [0, 0, 0, 0]")
        assert start + 1 < at_rest(page) < start + 15
        open_page.forgiven = "ERR_CONNECTION_REFUSED"


# -- everybody ---------------------------------------------------------------------------------------


def test_pages_are_accessible(folder: Path, tmp_path: Path, open_page: Pages) -> None:
    """No violation that axe-core finds: in both themes, with menu and dialogs open, on a phone, live."""
    path = tl.view(tl.open_run(folder / "swing-1.nc")).save(tmp_path / "run.html").as_uri()
    page = open_page(path, offline=True)
    _no_violations(page)
    page.get_by_test_id("theme").click()
    page.get_by_test_id("share").click()
    _no_violations(page)
    for key in ("h", "?"):
        page.keyboard.press(key)
        _no_violations(page)
        page.keyboard.press("Escape")
    _no_violations(open_page(path, offline=True, size=PHONE))
    with serving("live", "cable-robot", cwd=tmp_path) as server:
        _no_violations(open_page(server.address))
        open_page.forgiven = "ERR_CONNECTION_REFUSED"


def _no_violations(page: Page) -> None:
    assert violations(page) == []
    assert re.fullmatch("dark|light", page.evaluate("document.documentElement.dataset.theme"))
