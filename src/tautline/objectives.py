"""Terms of derivatives and optimal control: numbers that a run is judged by, and limits that it must keep."""

from __future__ import annotations

from tautline.gradients.objectives import Final, Integral, Peak
from tautline.optimal.terms import AtEnd, Limit

__all__ = ["AtEnd", "Final", "Integral", "Limit", "Peak"]
