"""The string's law: tension and elastic energy from strain."""

from __future__ import annotations

from typing import Any

import numpy as np

from tautline.model.string import String
from tautline.reference.curves import Array


class StringLaw:
    """Tension F(strain) and energy W(strain) per unstretched length, W' = F and W(0) = 0."""

    def __init__(self, string: String) -> None:
        self.stiffness = string.stiffness
        self.kind = string.law
        self.curve: Any = None
        if string.tension_table is not None:
            from scipy.interpolate import PchipInterpolator

            self.curve = PchipInterpolator(*string.tension_table)
            self.integral = self.curve.antiderivative()
            self.ends = (string.tension_table[0][0], string.tension_table[0][-1])
            self.slope = self.curve.derivative()

    def tension(self, strain: Any) -> Array:
        """Elastic tension (N)."""
        x = np.asarray(strain, dtype=np.float64)
        if self.kind == "linear":
            return self.stiffness * x
        if self.kind == "tension_only":
            return np.where(x > 0.0, self.stiffness * x, 0.0)
        within = np.clip(x, *self.ends)
        return np.asarray(self.curve(within) + self.slope(within) * (x - within))

    def energy(self, strain: Any) -> Array:
        """Elastic energy per unstretched length (J/m)."""
        x = np.asarray(strain, dtype=np.float64)
        if self.kind == "linear":
            return 0.5 * self.stiffness * x**2
        if self.kind == "tension_only":
            return np.where(x > 0.0, 0.5 * self.stiffness * x**2, 0.0)
        within = np.clip(x, *self.ends)
        beyond = x - within
        inner = self.integral(within) - self.integral(0.0)
        return np.asarray(inner + beyond * (self.curve(within) + 0.5 * self.slope(within) * beyond))

    def damped(self, strain: Array, viscous: Array) -> Array:
        """What damping adds to the elastic tension: nothing to a slack string, and never so much that it pushes."""
        if self.kind == "linear":
            return viscous
        elastic = self.tension(strain)
        return np.where(elastic > 0.0, np.maximum(elastic + viscous, 0.0) - elastic, 0.0)
