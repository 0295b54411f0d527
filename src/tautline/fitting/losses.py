"""Losses that give less weight to outliers, by the names of SciPy."""

from __future__ import annotations

import numpy as np

from tautline.arrays import Array

LOSSES = ("linear", "soft_l1", "huber", "cauchy", "arctan")


def push(r: Array, loss: str) -> tuple[Array, Array]:
    """How residuals push the values, psi = rho'(r^2) r for the losses rho of SciPy, and its slope."""
    z = r**2
    if loss == "soft_l1":
        return r * (1.0 + z) ** -0.5, (1.0 + z) ** -1.5
    if loss == "huber":
        return np.clip(r, -1.0, 1.0), (z <= 1.0).astype(np.float64)
    if loss == "cauchy":
        return r / (1.0 + z), (1.0 - z) / (1.0 + z) ** 2
    if loss == "arctan":
        return r / (1.0 + z**2), (1.0 - 3.0 * z**2) / (1.0 + z**2) ** 2
    return r, np.ones_like(r)
