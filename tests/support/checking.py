"""Checkers: each raises AssertionError with the figures when a property does not hold.

tests/checkers/ shows for every one of them an input that makes it fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def measured_order(steps: Sequence[float], errors: Sequence[float]) -> float:
    """Slope of log(error) over log(step), least squares."""
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


def check_order(steps: Sequence[float], errors: Sequence[float], expected: float, tolerance: float = 0.3) -> float:
    """At least three step sizes, errors above rounding, slope within `tolerance` of the expected order."""
    assert len(steps) >= 3, f"an order needs three step sizes, got {len(steps)}"
    assert min(errors) > 1e-13, f"errors reach rounding: {errors}"
    assert len(set(steps)) == len(steps), f"step sizes repeat: {steps}"
    order = measured_order(steps, errors)
    assert abs(order - expected) <= tolerance, f"order {order:.3f}, expected {expected}; errors {errors}"
    return order


def check_below(name: str, value: float, bound: float) -> float:
    """value < bound; NaN fails."""
    assert value < bound, f"{name} is {value:.3g}, expected below {bound:.3g}"
    return value


def check_close(name: str, value: Any, expected: Any, tolerance: float) -> float:
    """Largest absolute difference at most `tolerance`; shapes must agree, NaN fails."""
    a, b = np.asarray(value, dtype=float), np.asarray(expected, dtype=float)
    assert a.shape == b.shape, f"{name}: shapes {a.shape} and {b.shape} differ"
    error = float(np.max(np.abs(a - b), initial=0.0))
    assert error <= tolerance, f"{name} differs by {error:.3g}, expected at most {tolerance:.3g}"
    return error


def check_bounded_without_drift(name: str, series: Any, bound: float, drift: float) -> tuple[float, float]:
    """Deviation from the first value stays below `bound`, and its trend over the run below `drift`.

    The trend is the slope of a straight line through the series times its length.
    """
    x = np.asarray(series, dtype=float) - float(np.asarray(series)[0])
    largest = float(np.max(np.abs(x)))
    assert largest < bound, f"{name} deviates by {largest:.3g}, expected below {bound:.3g}"
    trend = abs(float(np.polyfit(np.linspace(0.0, 1.0, len(x)), x, 1)[0]))
    assert trend < drift, f"{name} drifts by {trend:.3g} over the run, expected below {drift:.3g}"
    return largest, trend


def check_rotation(R: Any, tolerance: float = 1e-14) -> float:
    """R^T R = I and det R = +1."""
    A = np.asarray(R, dtype=float)
    error = float(np.linalg.norm(A.T @ A - np.eye(3)))
    assert error <= tolerance, f"|R^T R - I| = {error:.3g}, expected at most {tolerance:.3g}"
    assert np.linalg.det(A) > 0.0, "a reflection, not a rotation"
    return error


def check_symplectic(A: Any, before: Any, after: Any, tolerance: float) -> float:
    """A^T Omega(z') A = Omega(z), relative to the size of Omega."""
    defect = np.asarray(A).T @ after @ A - before
    error = float(np.abs(defect).max() / np.abs(before).max())
    assert error <= tolerance, f"symplectic defect {error:.3g}, expected at most {tolerance:.3g}"
    return error
