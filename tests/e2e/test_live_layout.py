"""Room for the scene on the page of a live simulation: in small windows, on phones and under an alarm."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.browser import Serving, serving
from tests.support.pages import PHONE, Pages, settled

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect, Page


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder: Path = tmp_path_factory.mktemp("live")
    with serving("live", "hook-and-load", "--alarm", "90 kN", cwd=folder) as started:
        yield started


def box(page: Page, selector: str) -> FloatRect:
    found = page.locator(selector).bounding_box()
    assert found is not None
    return found


@pytest.mark.parametrize("size", [(800, 600), pytest.param((1280, 720), marks=pytest.mark.long)])
def test_an_alarm_moves_no_button(size: tuple[int, int], server: Serving, open_page: Pages) -> None:
    page = open_page(server.address, size=size)
    page.keyboard.press("r")
    page.get_by_test_id("alarm").fill("90")
    page.keyboard.press("Enter")
    settled(page, "!document.querySelector('#alarm-box').classList.contains('alarmed')")
    before = [box(page, selector) for selector in ("#controls", "#record", "#reset")]
    page.get_by_test_id("alarm").fill("1")
    page.keyboard.press("Enter")
    settled(page, "document.querySelector('#alarm-box').classList.contains('alarmed')")
    assert "in hoist at" in page.locator("#banner-text").inner_text()
    assert [box(page, selector) for selector in ("#controls", "#record", "#reset")] == before


@pytest.mark.parametrize(
    "size", [(1280, 800), *(pytest.param(x, marks=pytest.mark.long) for x in ((1440, 900), PHONE))]
)
def test_the_number_of_a_dial_is_beside_it(size: tuple[int, int], server: Serving, open_page: Pages) -> None:
    page = open_page(server.address, size=size)
    slider, number = box(page, "#dial"), box(page, "#dial-number")
    assert slider["x"] + slider["width"] <= number["x"] < slider["x"] + slider["width"] + 20
    assert number["y"] < slider["y"] + 0.5 * slider["height"] < number["y"] + number["height"]


def test_a_small_window_leaves_the_scene_its_height(server: Serving, open_page: Pages) -> None:
    page = open_page(server.address, size=(800, 600))
    scene, legend, plots = (box(page, selector) for selector in ("#scene", "#legend", "#plots"))
    assert scene["height"] > 340 and plots["height"] == scene["height"]
    assert legend["width"] * legend["height"] < 0.15 * scene["width"] * scene["height"]
    assert page.get_by_test_id("range").is_visible()


def test_a_phone_shows_a_scene_of_a_third_of_its_height_under_a_banner(server: Serving, open_page: Pages) -> None:
    """Free of buttons and legend, with the buttons of the drum and the beginning of a curve below it."""
    page = open_page(server.address, size=PHONE)
    page.keyboard.press("r")
    page.get_by_test_id("alarm").fill("2")
    page.keyboard.press("Enter")
    settled(page, "document.querySelector('#alarm-box').classList.contains('alarmed')")
    page.evaluate("scrollTo(0, 0)")
    scene, tools, legend = (box(page, selector) for selector in ("#scene", "#scene .top-left", "#legend"))
    assert box(page, "#banner")["y"] + box(page, "#banner")["height"] <= scene["y"]
    assert scene["height"] > PHONE[1] / 3 and legend["y"] - tools["y"] - tools["height"] >= 250
    drum, curve, foot = (box(page, selector) for selector in ("#reels", ".chart canvas >> nth=0", "#transport"))
    assert drum["y"] >= scene["y"] + scene["height"] and drum["y"] + drum["height"] < curve["y"] < foot["y"] - 50


@pytest.mark.parametrize("width", [340, *(pytest.param(x, marks=pytest.mark.long) for x in (390, 420))])
def test_buttons_of_the_scene_are_whole_on_a_phone(width: int, server: Serving, open_page: Pages) -> None:
    page = open_page(server.address, size=(width, 850))
    settled(page, "!document.querySelector('#names').hidden")
    for button in page.locator("#scene .top-left .button:visible").all():
        found = button.bounding_box()
        assert found is not None and found["x"] >= 0 and found["x"] + found["width"] <= width, button.inner_text()
        assert button.evaluate("e => e.scrollWidth <= e.clientWidth"), button.inner_text()
    assert box(page, "#scene .top-left")["height"] < (50 if width >= 390 else 100)
