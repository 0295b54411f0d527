"""Look at runs in a browser: replay, live control, and pages that need nothing but themselves."""

from __future__ import annotations

from typing import Any

from tautline.extras import need
from tautline.viewer.page import View, view

__all__ = ["View", "view", "widget"]


def widget(what: Any, *others: Any, height: int = 560, control: Any = None, period: float | None = None) -> Any:
    """A widget for a notebook: a replay of runs, or a live simulation of a case whose reels are driven by hand.

    Its `time` (s) and `playing` follow what the page does, and lead it when they are set. A live one has `session`, the
    simulation in the kernel, and `stop()`; it moves on while no other cell is running.

    Parameters
    ----------
    what : Dataset or Case
        A run from `simulate` or `open_run`, or a case from `load`.
    *others : Dataset
        Up to three more runs, to compare.
    height : int
        In pixels.
    control, period : callable and float, optional
        A controller of a live simulation, as of `live`.
    """
    given = {"height": height, "control": control, "period": period}
    return need("tautline.viewer.notebook", "tl.widget").widget(what, *others, **given)
