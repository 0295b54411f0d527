"""Start of the viewer's page in browsers that differ from those of other tests."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

import tautline as tl
from tests.support.browser import FLAGS, find_browser
from tests.support.pages import Pages, colors, picture

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def page_of_a_run(tmp_path_factory: pytest.TempPathFactory) -> str:
    body = tl.RigidBody.box(0.5, (0.4, 0.5, 0.8), (0.1, 0.0, 0.4))
    system = tl.pendulum(
        tl.String(length=12.0, density=0.05, stiffness=100.0), tl.Reel(0.3, 0.4, inertia_mass=0.8), body, elements=4
    )
    run = tl.simulate(system, tl.Straight(5.0), duration=0.2, sample=0.05)
    return tl.view(run).save(tmp_path_factory.mktemp("start") / "run.html").as_uri()


def test_in_a_browser_without_a_language(page_of_a_run: str, browser: Browser) -> None:
    """In the locale C, Chromium gives its language as "en-US@posix", which is none."""
    found = find_browser()
    assert found is not None
    environment: dict[str, str | float | bool] = {**found.environment, "LC_ALL": "C.UTF-8"}
    environment.pop("LANGUAGE", None)
    other = browser.browser_type.launch(executable_path=found.program, args=FLAGS, env=environment)
    with contextlib.closing(other), contextlib.closing(Pages(other)) as pages:
        page = pages(page_of_a_run, offline=True)
        assert "posix" in page.evaluate("Object.getPrototypeOf(navigator).__lookupGetter__('language').call(navigator)")
        assert colors(picture(page)) > 100
        page.get_by_test_id("chart-tension").wait_for(state="visible")


def test_what_ends_the_start_is_told_on_the_page(page_of_a_run: str, browser: Browser) -> None:
    """Here, a library fails that is loaded before any function of the page runs."""
    with contextlib.closing(browser.new_context()) as context:
        context.add_init_script("Intl.NumberFormat = undefined")
        page = context.new_page()
        page.goto(page_of_a_run)
        page.get_by_test_id("fatal").wait_for(state="visible")
        told = page.get_by_test_id("fatal").inner_text()
        assert "could not start in this browser" in told
        assert "NumberFormat is not a constructor" in told
