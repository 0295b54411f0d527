"""Runs and live simulations as widgets of a notebook, which Python can play, stop and read."""

from __future__ import annotations

import asyncio
from importlib.resources import files
from typing import Any

import anywidget
import traitlets
import xarray as xr

from tautline.errors import InputError
from tautline.model.system.case import Case
from tautline.viewer.pace import Pace
from tautline.viewer.page import fill, page_of
from tautline.viewer.pilot import Control, checked_control
from tautline.viewer.session import Session

# Before the page's own script: the socket that the cell gives it.
BRIDGE = "if (window.frameElement?.tautlineSocket) window.WebSocket = frameElement.tautlineSocket;"


class Widget(anywidget.AnyWidget):
    """The viewer in a cell. `time` (s) and `playing` follow what the page does, and lead it when they are set."""

    _esm = (files("tautline.viewer") / "notebook.js").read_text(encoding="utf-8")
    page = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(560).tag(sync=True)
    time = traitlets.Float(0.0).tag(sync=True)
    playing = traitlets.Bool(False).tag(sync=True)


class LiveWidget(Widget):
    """A simulation in the kernel, driven from the cell; it moves on while no other cell is running."""

    def __init__(self, case: Case, height: int, control: Control | None = None) -> None:
        self.session = Session(case, case.title or "live", control=control)
        self._pace = Pace(self.session, self._tell)
        self._task: asyncio.Future[None] | None = None
        boot = {"mode": "live", "token": "", "runs": [self.session.meta()]}
        text = fill(boot, self.session.title, first=BRIDGE)
        super().__init__(page=text, height=height)
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
    """As `tautline.viewer.widget`, which says where the library for it is missing."""
    checked = checked_control(control, period)
    if isinstance(what, Case):
        return LiveWidget(what, height, checked)
    if checked is not None:
        raise InputError("control: expected none beside a run that is over, got one; give a case")
    return Widget(page=page_of(what, *others), height=height)
