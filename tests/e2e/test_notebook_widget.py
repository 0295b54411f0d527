"""The viewer as a widget: its script in a real browser with a model as notebooks have it, and the kernel's side."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tautline as tl
from tautline.viewer.page import page_of
from tests.support.pages import Watched, colors, picture

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Frame

SCRIPT = (files("tautline.viewer") / "notebook.js").read_text(encoding="utf-8")
# What anywidget gives a widget: values that are kept the same, and messages to and from the kernel.
MODEL = """
(script, values) => import("data:text/javascript," + encodeURIComponent(script)).then(({ default: widget }) => {
  const listeners = {};
  window.sent = [];
  window.saved = 0;
  window.values = values;
  window.model = {
    get: (name) => values[name],
    set: (name, value) => { values[name] = value; },
    save_changes: () => window.saved++,
    send: (content) => window.sent.push(content),
    on: (name, call) => (listeners[name] ??= []).push(call),
    told: (name, ...what) => (listeners[name] ?? []).forEach((call) => call(...what)),
  };
  widget.render({ model: window.model, el: document.body });
})
"""


@pytest.fixture
def cell(browser: Browser, tmp_path: Path) -> Iterator[Watched]:
    watched = Watched(browser, offline=True)
    (tmp_path / "notebook.html").write_text("<!doctype html><title>notebook</title>", encoding="utf-8")
    watched.page.goto((tmp_path / "notebook.html").as_uri())
    yield watched
    watched.context.close()
    assert watched.complaints == []


def shown(cell: Watched, values: dict[str, Any]) -> Frame:
    """The page in the cell."""
    call = f"([script, values]) => ({MODEL})(script, values)"
    cell.page.evaluate(call, [SCRIPT, {"height": 420, "time": 0.0, "playing": False} | values])
    cell.page.wait_for_function("document.querySelector('iframe')?.contentWindow.tautline !== undefined")
    frame: Frame = cell.page.frames[1]
    return frame


def test_a_replay_and_python_lead_each_other(cell: Watched) -> None:
    run = tl.simulate(tl.load("retrieval", {"run.duration": "2 s"}))
    frame = shown(cell, {"page": page_of(run)})
    assert frame.evaluate("tautline.ready.then(() => true)") and colors(picture(frame)) > 100
    cell.page.wait_for_timeout(100)
    cell.page.evaluate("values.time = 1.25; model.told('change:time')")
    k = int(np.abs(run.time.values - 1.25).argmin())
    frame.wait_for_function(f"tautline.time() === 1.25 && tautline.frame() === {k}")
    found = np.array(frame.evaluate("tautline.nodes()"), dtype=np.float32)
    np.testing.assert_array_equal(found, run.position.values[k].astype(np.float32).ravel())
    cell.page.evaluate("values.playing = true; model.told('change:playing')")
    cell.page.wait_for_function("values.time > 1.3 && saved > 0")
    frame.evaluate("tautline.act('toggle'), tautline.seek(0.5)")
    cell.page.wait_for_function("values.time === 0.5 && values.playing === false")


def test_a_picture_stands_where_widgets_cannot_run(cell: Watched) -> None:
    """A saved notebook has it before the widget, whose viewer hides it."""
    capture = pytest.importorskip("IPython.utils.capture")
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell.instance()
    run = tl.simulate(tl.load("crane-hoist", {"run.duration": "0.2 s"}))
    for widget, drawn in ((tl.widget(run), 2), (tl.widget(tl.load("crane-hoist")), 1)):
        with capture.capture_output() as shown:
            widget._ipython_display_()
        first, second = (output.data for output in shown.outputs)
        assert first["text/html"].count("<svg") == drawn and "application/vnd.jupyter.widget-view+json" in second
        assert f'<div id="{widget.still}">' in first["text/html"]
    assert shell is not None
    cell.page.evaluate("html => { document.body.innerHTML = html }", f'<div id="{widget.still}">picture</div>')
    assert cell.page.get_by_text("picture").is_visible()
    shown_page = shown_run(cell, run, str(widget.still))
    assert shown_page.evaluate("tautline.ready.then(() => true)") and cell.page.get_by_text("picture").is_hidden()


def shown_run(cell: Watched, run: Any, still: str) -> Frame:
    return shown(cell, {"page": page_of(run), "still": still})


@pytest.mark.long
def test_a_reel_is_driven_from_a_cell(cell: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    """Greeted by the kernel, the page shows its states, and what it asks for arrives there."""
    from tautline.viewer.notebook import LiveWidget

    told: list[tuple[dict[str, Any], Any]] = []
    monkeypatch.setattr(LiveWidget, "send", lambda self, content, buffers=None: told.append((content, buffers)))

    def hear(content: dict[str, Any]) -> None:
        widget._hear(widget, content, [])

    async def for_a_while(content: dict[str, Any]) -> None:
        hear(content)
        await asyncio.sleep(0.3)
        widget.stop()

    widget = LiveWidget(tl.load("crane-hoist", {"command": {"kind": "locked"}}), 420)
    frame = shown(cell, {"page": widget.page})
    cell.page.wait_for_function("sent.length > 0")
    asked = cell.page.evaluate("sent.shift()")
    with ThreadPoolExecutor(1) as kernel:  # the browser's driver has a loop of its own here
        kernel.submit(lambda: asyncio.run(for_a_while(asked))).result()
    states = [buffers for _, buffers in told if buffers]
    assert json.loads(told[0][0]["text"])["type"] == "hello" and len(states) > 5
    assert widget.session.simulation.time > 0.05
    for content, buffers in told:
        raw = base64.b64encode(buffers[0]).decode() if buffers else ""
        cell.page.evaluate(
            "([content, raw]) => model.told('msg:custom', content,"
            " raw ? [new DataView(Uint8Array.from(atob(raw), (c) => c.charCodeAt(0)).buffer)] : [])",
            [content, raw],
        )
    assert frame.evaluate("tautline.ready.then(() => true)")
    frame.wait_for_function("tautline.live.connected")
    frame.get_by_test_id("lock").click()
    cell.page.wait_for_function("sent.length > 0")
    told.clear()
    hear(cell.page.evaluate("sent.shift()"))
    assert json.loads(told[-1][0]["text"])["type"] == "ok"
    assert widget.session.driven.drives["line"].mode == "locked"


def test_a_widget_of_runs() -> None:
    run = tl.simulate(tl.load("retrieval", {"run.duration": "0.1 s"}))
    made = tl.widget(run, run, height=300)
    assert made.height == 300 and "Retrieval 2" in made.page and not made.playing
    assert 'id="boot"' in tl.widget(tl.load("cable-robot")).page
