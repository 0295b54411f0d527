"""Runs and live simulations as widgets of a notebook, which Python can play, stop and read."""

from __future__ import annotations

import asyncio
import html
import uuid
from importlib.resources import files
from typing import Any

import anywidget
import traitlets
import xarray as xr

from tautline.errors import InputError
from tautline.model.system.case import Case
from tautline.results.one_line import with_names
from tautline.results.picture import sketch_of_sample
from tautline.viewer.pace import Pace
from tautline.viewer.page import fill, page_of, title_of
from tautline.viewer.pilot import Control, checked_control
from tautline.viewer.session import Session

# Before the page's own script: the socket that the cell gives it.
BRIDGE = "if (window.frameElement?.tautlineSocket) window.WebSocket = frameElement.tautlineSocket;"


class Widget(anywidget.AnyWidget):
    """The viewer in a cell. `time` (s) and `playing` follow what the page does, and lead it when they are set.

    A picture precedes it, which is all that a saved notebook shows where widgets cannot run; the viewer hides it.
    """

    _esm = (files("tautline.viewer") / "notebook.js").read_text(encoding="utf-8")
    page = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(560).tag(sync=True)
    time = traitlets.Float(0.0).tag(sync=True)
    playing = traitlets.Bool(False).tag(sync=True)
    still = traitlets.Unicode().tag(sync=True)  # id of the picture in the notebook
    picture = ""  # HTML of it

    def _ipython_display_(self) -> None:
        from IPython import display as shown

        display: Any = shown.display
        self.still = f"tautline-{uuid.uuid4().hex}"
        words = "A picture: the viewer itself needs a running notebook."
        picture = f'<div id="{self.still}">{self.picture}<div style="font-size: 12px">{words}</div></div>'
        display({"text/html": picture, "text/plain": words}, raw=True)
        bundle: Any = super()._repr_mimebundle_()
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        display(data, metadata=metadata, raw=True)


class LiveWidget(Widget):
    """A simulation in the kernel, driven from the cell; it moves on while no other cell is running."""

    def __init__(self, case: Case, height: int, control: Control | None = None) -> None:
        self.session = Session(case, case.title or "live", control=control)
        self._pace = Pace(self.session, self._tell)
        self._task: asyncio.Future[None] | None = None
        boot = {"mode": "live", "token": "", "runs": [self.session.meta()]}
        text = fill(boot, self.session.title, first=BRIDGE)
        super().__init__(page=text, height=height)
        self.picture = case._repr_html_()
        self.on_msg(self._hear)

    def _tell(self, message: str | bytes) -> None:
        if isinstance(message, str):
            self.send({"text": message})
        else:
            self.send({}, [message])

    def _hear(self, widget: Any, content: dict[str, Any], buffers: Any) -> None:
        """A page that opens is greeted, and the clock started with the first; what one says is answered."""
        if content.get("type") == "open":
            for message in self._pace.greetings():
                self._tell(message)
            if self._task is None:
                self._task = asyncio.ensure_future(self._pace.run())
        elif isinstance(content.get("text"), str):
            self._tell(self._pace.reply(content["text"]))

    def stop(self) -> None:
        """End the simulation; a recording that is going on is kept."""
        if self._task is not None:
            self._task.cancel()


def widget(what: xr.Dataset | Case, *others: xr.Dataset, height: int, control: Any, period: float | None) -> Widget:
    """Widget of `tautline.viewer.widget`, which says where the library for it is missing."""
    checked = checked_control(control, period)
    if isinstance(what, Case):
        return LiveWidget(what, height, checked)
    if checked is not None:
        raise InputError("control: expected none beside a run that is over, got one; give a case")
    found = Widget(page=page_of(what, *others), height=height)
    found.picture = _still(what)
    return found


def _still(run: xr.Dataset) -> str:
    """Sketches of a run at its start and end."""
    named = with_names(run)
    drawn = "".join(f'<div style="flex: 1">{sketch_of_sample(named, k)}</div>' for k in (0, -1))
    title = f"<b>{html.escape(title_of(run.attrs) or 'run')}, at the start and at the end</b>"
    return f'{title}<div style="display: flex">{drawn}</div>'
