"""Alarm of a live simulation: a tension above a limit, at any place of any line."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tautline.model import checks
from tautline.model.forms import in_si
from tautline.results.values import Values
from tautline.viewer.subject import Subject


def alarm_limit(value: Any) -> float | None:
    """Tension in newtons, from a number or text such as "12 kN"; None or empty text for no alarm."""
    return None if value is None or value == "" else checks.positive("alarm", in_si("alarm", value, "N"), "N")


class Excess(NamedTuple):
    """The largest tension above the limit since it was exceeded."""

    tension: float  # N
    line: str
    time: float  # s


class Alarm:
    """Watches all samples, and remembers the worst until it is cleared."""

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.excess: Excess | None = None

    def clear(self) -> None:
        """Forget what was."""
        self.excess = None

    def watch(self, values: Values, subject: Subject) -> None:
        """Look at some samples."""
        if self.limit is None:
            return
        tension = values["tension"]
        row, element = np.unravel_index(int(np.argmax(np.nan_to_num(tension, nan=-np.inf))), tension.shape)
        largest = float(tension[row, element])
        if largest > max(self.limit, self.excess.tension if self.excess else 0.0):
            line = next(x.name for x in subject.lines if x.elements.start <= element < x.elements.stop)
            self.excess = Excess(largest, line, float(values["time"][row]))

    def status(self) -> dict[str, Any]:
        """For the page."""
        return {"limit": self.limit, "excess": None if self.excess is None else self.excess._asdict()}
