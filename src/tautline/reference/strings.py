"""The string's laws: tension and elastic energy from strain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tautline.model.string import String
from tautline.reference.curves import Array


class Linear:
    """Hooke's law, in compression too."""

    def __init__(self, string: String) -> None:
        self.stiffness = string.stiffness

    def tension(self, x: Array) -> Array:
        return self.stiffness * x

    def energy(self, x: Array) -> Array:
        return 0.5 * self.stiffness * x**2


class TensionOnly(Linear):
    """Slack where it is not stretched."""

    def tension(self, x: Array) -> Array:
        return np.where(x > 0.0, super().tension(x), 0.0)

    def energy(self, x: Array) -> Array:
        return np.where(x > 0.0, super().energy(x), 0.0)


class Table:
    """A monotone cubic through a table, straight lines beyond."""

    def __init__(self, string: String) -> None:
        from scipy.interpolate import PchipInterpolator

        self.curve: Any = PchipInterpolator(*string.tension_table)
        self.integral = self.curve.antiderivative()
        self.ends = (string.tension_table[0][0], string.tension_table[0][-1])
        self.slope = self.curve.derivative()

    def tension(self, x: Array) -> Array:
        within = np.clip(x, *self.ends)
        return np.asarray(self.curve(within) + self.slope(within) * (x - within))

    def energy(self, x: Array) -> Array:
        within = np.clip(x, *self.ends)
        beyond = x - within
        inner = self.integral(within) - self.integral(0.0)
        return np.asarray(inner + beyond * (self.curve(within) + 0.5 * self.slope(within) * beyond))


# By name of the registry.
LAWS: dict[str, Callable[[String], Any]] = {"linear": Linear, "tension_only": TensionOnly, "table": Table}


class StringLaw:
    """The law of a string, for numbers and arrays."""

    def __init__(self, string: String) -> None:
        self.pushes = string.law == "linear"
        self.law = LAWS[string.law](string)

    def tension(self, strain: Any) -> Array:
        """Elastic tension (N)."""
        return np.asarray(self.law.tension(np.asarray(strain, dtype=np.float64)))

    def energy(self, strain: Any) -> Array:
        """Elastic energy per unstretched length (J/m), 0 without strain; its slope is the tension."""
        return np.asarray(self.law.energy(np.asarray(strain, dtype=np.float64)))

    def damped(self, strain: Array, viscous: Array) -> Array:
        """Tension that damping adds to the elastic one: nothing to a slack string, and never so much that it pushes."""
        if self.pushes:
            return viscous
        elastic = self.tension(strain)
        return np.where(elastic > 0.0, np.maximum(elastic + viscous, 0.0) - elastic, 0.0)
