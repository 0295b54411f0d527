"""A crane driven in a browser: to both ends of its rope, past the end of its program, with an alarm and a replay."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.support.browser import serving
from tests.support.pages import Pages, at_rest, colors, picture, settled, violations

if TYPE_CHECKING:
    from playwright.sync_api import Page

# A short rope, so that both ends are near; a program of 2 s that ends while the drum turns.
SETTINGS = ("run.elements=4", "initial.deployed=6 m", "string.length=10 m", "run.duration=2 s")
WEIGHT = 1000.0 * 9.81
REPLAYS = """document.querySelector('[data-testid="replay"]').getAttribute('aria-pressed') === '{}'"""
RAMP = 0.08 * 9.81  # m/s^2
NAME_OF_JIB = """() => {
    const name = [...document.querySelectorAll("[data-testid=part-names] span")].find(x => x.textContent === "jib");
    const { left, top, height } = name.getBoundingClientRect();
    return [left, top + 0.5 * height];
}"""
WATCH = """() => {
    window.seen = [];
    setInterval(() => seen.push([tautline.time(), tautline.value("end_tension"), tautline.value("reel_speed")]), 30);
}"""


def watched(page: Page) -> np.ndarray:
    """Time, tension at the load and speed of the reel, as the page has shown them since it was last asked."""
    found = np.array(page.evaluate("seen.splice(0)"), dtype=float)
    shown: np.ndarray = found[np.isfinite(found).all(axis=1)]
    return shown


def state(page: Page) -> str:
    text: str = page.get_by_test_id("reel-state").inner_text()
    return text


@pytest.mark.long
def test_a_crane_is_driven(tmp_path: Path, open_page: Pages) -> None:
    with serving("live", "crane-hoist", *(f"--set={x}" for x in SETTINGS), "--alarm", "30 kN", cwd=tmp_path) as server:
        page = open_page(server.address)
        assert page.get_by_test_id("state").inner_text() == "ready" and "program" in state(page)
        assert "Space begins the program" in page.get_by_test_id("banner").inner_text()
        assert violations(page) == []
        page.evaluate(WATCH)

        # the program, and what follows it: no jump
        page.keyboard.press("Space")
        settled(page, "document.getElementById('banner-text').textContent.includes('The program has ended')", 60.0)
        settled(page, "document.querySelector('.reel-state').textContent.endsWith('· 0 m/s')", 60.0)
        time, tension, speed = watched(page).T
        after = time > 2.0
        assert speed[~after].max() > 0.5 and after.any()
        # the load is braked by the ramp where the torque had pulled; twice that, as dropped on a spring
        pulled = 0.7  # m/s^2, at most: 150 N m on a drum of 0.16 m, with 1000 kg and 469 kg of the drum
        bound = 2.0 * 1010.0 * (RAMP + pulled)
        assert np.abs(tension[after] - WEIGHT).max() < bound < 0.5 * WEIGHT
        settled(page, "document.getElementById('banner').hidden", 60.0)  # no news of old

        # to both ends by a key that is held; nothing goes over, nothing is pressed together
        page.get_by_test_id("cruise").fill("2")
        page.get_by_test_id("cruise").press("Enter")
        for key, end in (("ArrowUp", "upper end"), ("ArrowDown", "lower end")):
            page.keyboard.down(key)
            settled(page, f"document.querySelector('.reel-state').textContent.includes('· 0 m/s · {end}')", 90.0)
            page.keyboard.up(key)
            assert end in page.get_by_test_id("banner").inner_text()
        _, tension, speed = watched(page).T
        assert tension.min() > 0.5 * WEIGHT and 1.5 < np.abs(speed).max() < 2.0 + 1e-6
        assert page.get_by_test_id("state").inner_text() == "running"

        # a button that is let go brings the drum to rest, before the end
        button = page.get_by_test_id("wind-in")
        button.hover()
        page.mouse.down()
        settled(page, "tautline.value('reel_speed') > 0.5")
        page.mouse.up()
        settled(page, "tautline.value('reel_speed') === 0")
        assert "end" not in state(page)
        page.get_by_test_id("length").fill("4")
        page.get_by_test_id("go").click()
        settled(page, "document.querySelector('.reel-state').textContent.startsWith('4 m out · 0 m/s')", 60.0)

        # an alarm at a tension that a ramp exceeds, and the last ten seconds once more
        page.get_by_test_id("alarm").fill("10.2")
        page.get_by_test_id("alarm").press("Enter")
        page.keyboard.down("ArrowUp")
        settled(page, "document.getElementById('banner').classList.contains('alarm')")
        page.keyboard.up("ArrowUp")
        told = re.match(r"Alarm: ([\d.]+) kN at [\d.]+ s, above 10\.2 kN", page.get_by_test_id("banner").inner_text())
        # ramps of 0.16 g at most, and the bounce on the rope, which is at most as much
        assert told is not None and 10.2 < float(told[1]) < 1.32e-3 * WEIGHT
        page.keyboard.press("z")
        page.wait_for_timeout(200)
        assert page.get_by_test_id("forces").get_attribute("aria-pressed") == "true" and colors(picture(page)) > 60
        assert violations(page) == []
        newest = page.evaluate("tautline.time()")
        page.keyboard.press("x")
        settled(page, f"tautline.time() < {newest} - 8")
        settled(page, REPLAYS.format("true"))
        behind = page.evaluate("tautline.time()")
        settled(page, f"tautline.time() > {behind} + 0.5")
        page.keyboard.press("n")
        settled(page, f"tautline.time() > {newest}")
        settled(page, REPLAYS.format("false"))
        # keys are the page's after the scene was dragged
        box = page.locator("#scene-picture").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 60, box["y"] + 200)
        page.mouse.down()
        page.mouse.move(box["x"] + 120, box["y"] + 220, steps=4)
        page.mouse.up()
        page.keyboard.down("ArrowDown")
        settled(page, "tautline.value('reel_speed') < -0.2")
        page.keyboard.up("ArrowDown")
        open_page.forgiven = "ERR_CONNECTION_REFUSED"


@pytest.mark.long
def test_a_trolley_is_carried_by_hand(tmp_path: Path, open_page: Pages) -> None:
    """A body whose motion is given is dragged in the scene, and moved by keys."""
    with serving("live", "hook-and-load", "--set=lines.hoist.elements=4", cwd=tmp_path) as server:
        page = open_page(server.address)
        page.get_by_test_id("view-front").click()
        before = page.evaluate("tautline.nodes().slice(0, 3)")
        page.keyboard.down("ArrowRight")
        settled(page, f"tautline.nodes()[0] > {before[0]} + 0.3", 60.0)
        page.keyboard.up("ArrowRight")
        place = page.evaluate("tautline.nodes()[0]")
        page.wait_for_timeout(2500)
        rest = page.evaluate("tautline.nodes()[0]")
        assert place < rest < place + 3.0
        assert page.evaluate("tautline.nodes()[0]") == pytest.approx(rest, abs=0.2)

        # by the mouse: its name begins where it is; back, and it stays where it is left
        x, y = page.evaluate(NAME_OF_JIB)
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x - 60, y, steps=6)
        settled(page, f"tautline.nodes()[0] < {rest} - 0.5", 60.0)
        page.mouse.up()
        assert at_rest(page) < rest - 0.5
        assert page.evaluate("tautline.nodes()[2]") == pytest.approx(before[2], abs=1.0), "level, but for its own heave"
        open_page.forgiven = "ERR_CONNECTION_REFUSED"
