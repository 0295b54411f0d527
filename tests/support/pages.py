"""Pages of the viewer in a real browser, on which nothing may go wrong unnoticed, and what can be read off them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Frame, Page, Route

READY = "window.tautline.ready.then(() => true)"
DESKTOP = (800, 560)
PHONE = (390, 844)
AXE = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"


class Watched:
    """A page on which nothing may go wrong unnoticed."""

    def __init__(
        self, browser: Browser, offline: bool = False, size: tuple[int, int] = DESKTOP, bypass_csp: bool = True
    ) -> None:
        self.context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            device_scale_factor=1,
            has_touch=size == PHONE,
            reduced_motion="reduce",
            permissions=["clipboard-read", "clipboard-write"],
            bypass_csp=bypass_csp,  # the tests' own expressions are evaluated in the page, which its policy forbids
        )
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda problem: self.complaints.append(str(problem)))
        self.context.set_default_timeout(20_000)
        if offline:
            self.context.set_offline(True)
            self.context.route("http*://**", self._cut)

    def _said(self, message: ConsoleMessage) -> None:
        # the one exception is about drawing in software
        if message.type in ("error", "warning") and "GPU stall due to ReadPixels" not in message.text:
            self.complaints.append(message.text)

    def _cut(self, route: Route) -> None:
        self.complaints.append(f"asked the network for {route.request.url}")
        route.abort()


class Pages:
    """Opens pages; at the end no error may have been logged on any of them, but for what was forgiven."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.opened: list[Watched] = []
        self.forgiven = "nothing"

    def __call__(self, address: str, offline: bool = False, size: tuple[int, int] = DESKTOP) -> Page:
        """An address, when its first picture is drawn."""
        watched = Watched(self.browser, offline, size)
        self.opened.append(watched)
        watched.page.goto(address)
        assert watched.page.evaluate(READY)
        return watched.page

    def close(self) -> None:
        for watched in self.opened:
            found = watched.page.locator("#toasts").inner_text()
            watched.context.close()
            left = [text for text in watched.complaints if self.forgiven not in text]
            assert left == [], left
            assert found == ""


def picture(page: Page | Frame, selector: str = "#scene-picture") -> np.ndarray:
    box = page.locator(selector).first.bounding_box()
    assert box is not None
    whole = page if hasattr(page, "screenshot") else page.page
    raw = whole.screenshot(clip=box)
    return np.asarray(Image.open(io.BytesIO(raw)).convert("RGB")).astype(int)


def colors(image: np.ndarray) -> int:
    return len(np.unique(image @ (1 << 16, 1 << 8, 1)))


def settled(page: Page, expression: str, seconds: float = 30.0) -> None:
    page.wait_for_function(expression, timeout=1e3 * seconds)


def at_rest(page: Page) -> float:
    """First coordinate of the first node of a live run, when it has stopped."""
    for _ in range(120):
        before = page.evaluate("[tautline.time(), tautline.nodes()[0]]")
        settled(page, f"tautline.time() > {before[0]} + 0.5", 60.0)
        time, place = page.evaluate("[tautline.time(), tautline.nodes()[0]]")
        if abs(place - before[1]) < 1e-3 * (time - before[0]):
            return float(place)
    raise AssertionError("it goes on moving")


def nodes(page: Page, number: int = 0) -> np.ndarray:
    return np.array(page.evaluate(f"tautline.nodes({number})"), dtype=np.float32)


def violations(page: Page) -> list[Any]:
    """Findings of axe-core that keep somebody from using a page."""
    if not AXE.is_file():
        pytest.skip("axe-core comes with the packages of web/ (npm ci)")
    if not page.evaluate("'axe' in window"):
        page.add_script_tag(content=AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run().then(r => r.violations.map(v => [v.id, v.nodes.map(n => n.failureSummary)]))")
    return list(found)
