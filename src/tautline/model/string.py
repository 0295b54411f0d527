"""The string."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tautline import registry
from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import checks
from tautline.model.piecewise import evaluate, increasing


@dataclass(frozen=True)
class String:
    """An elastic string without bending stiffness.

    Parameters
    ----------
    length : float
        Total unstretched length L, spooled and deployed (m).
    density : float
        Mass per unstretched length, mu (kg/m).
    stiffness : float
        Axial stiffness EA (N).
    law : {"linear", "tension_only", "table"}
        How tension follows from strain. "linear" is the default and the law of the paper: it pulls and **pushes**, so
        that a string that is pressed together has a negative tension, a compression that no rope can bear.
        "tension_only" is for ropes, cords and cables: as "linear" when stretched, and slack, with tension 0, when not.
        "table" takes `tension_table`.
    tension_table : (strains, tensions), optional
        For "table": tension (N) over strain, increasing; a monotone cubic goes through the points, straight lines
        beyond them. `stiffness` must then be the steepest slope; `String.from_table` finds it.
    viscosity : float
        Kelvin-Voigt damping: tension per rate of strain, eta A (N s).
    diameter : float
        For drag and buoyancy (m).
    normal_drag, tangential_drag : float
        Drag coefficients across and along the string, for `Pendulum.fluid`.
    """

    length: float
    density: float
    stiffness: float
    law: str = "linear"
    tension_table: Any = None
    viscosity: float = 0.0
    diameter: float = 0.0
    normal_drag: float = 1.2
    tangential_drag: float = 0.01

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        for name, unit in (("length", "m"), ("density", "kg/m"), ("stiffness", "N")):
            set_(self, name, checks.positive(f"String.{name}", getattr(self, name), unit))
        for name, unit in (("viscosity", "N s"), ("diameter", "m"), ("normal_drag", "1"), ("tangential_drag", "1")):
            set_(self, name, checks.non_negative(f"String.{name}", getattr(self, name), unit))
        checks.choice("String.law", self.law, registry.ELASTIC_LAWS)
        if (self.law == "table") != (self.tension_table is not None):
            raise InputError("String.tension_table: expected with law='table' and only then")
        if self.tension_table is not None:
            set_(self, "tension_table", _checked_table(self.tension_table))
            steepest = _steepest(*_pieces(*self.tension_table))
            if not math.isclose(self.stiffness, steepest, rel_tol=1e-6):
                raise InputError(
                    f"String.stiffness: expected the steepest slope of the table, {steepest:.9g} N, "
                    f"got {self.stiffness:g}; String.from_table finds it"
                )

    @classmethod
    def from_table(cls, length: float, density: float, strains: Any, tensions: Any, **others: Any) -> String:
        """A string whose tension follows a table; other arguments as in `String`."""
        table = _checked_table((strains, tensions))
        stiffness = _steepest(*_pieces(*table))
        return cls(length, density, stiffness, law="table", tension_table=table, **others)

    @property
    def wave_speed(self) -> float:
        """Speed of longitudinal waves along the unstretched string, sqrt(EA/mu) (m/s)."""
        return float((self.stiffness / self.density) ** 0.5)

    @property
    def area(self) -> float:
        """Cross-section, from the diameter (m^2)."""
        return 0.25 * math.pi * self.diameter**2

    def pieces(self) -> tuple[Array, Array]:
        """Tension of a table: strains where pieces begin, and coefficients (power, piece); straight at the ends."""
        return _pieces(*self.tension_table)

    def tension(self, strain: Any) -> Array:
        """Elastic tension at a strain (N)."""
        if self.law == "table":
            return evaluate(*self.pieces(), strain)
        return self.stiffness * self._elastic(strain)

    def slope(self, strain: Any) -> Array:
        """Rate of the elastic tension by strain (N)."""
        if self.law == "table":
            return evaluate(*self.pieces(), strain, 1)
        x = np.asarray(strain, dtype=np.float64)
        return np.where((x < 0.0) & (self.law == "tension_only"), 0.0, self.stiffness)

    def strain(self, tension: Any) -> Array:
        """Strain at an elastic tension that is not negative; the least one where several have it, the greatest at 0."""
        F = np.asarray(tension, dtype=np.float64)
        if self.law != "table":
            return np.asarray(F / self.stiffness)
        # bisection between the ends of the table, and beyond them along the straight lines
        knots, (values, slopes, *_) = self.pieces()
        slack = knots[values <= 0.0]  # no less than the last of these, where there are any
        low = np.full_like(F, slack[-1] if len(slack) else min(knots[1], 0.0) - 1.0)
        rise = np.maximum(F - values[-1], 0.0) / max(slopes[-1], 1e-9 * self.stiffness)
        high = knots[-1] + rise + 1e-12
        for _ in range(100):
            middle = 0.5 * (low + high)
            below = self.tension(middle) < F
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.asarray(high)

    def energy_density(self, strain: Any) -> Array:
        """Elastic energy per unstretched length at a strain (J/m)."""
        if self.law == "table":
            return evaluate(*_primitive(*self.tension_table), strain)
        return 0.5 * self.stiffness * self._elastic(strain) ** 2

    def _elastic(self, strain: Any) -> Array:
        x = np.asarray(strain, dtype=np.float64)
        return np.maximum(x, 0.0) if self.law == "tension_only" else x


def _checked_table(table: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    name = "String.tension_table"
    if not (isinstance(table, (tuple, list)) and len(table) == 2):
        checks.refuse(name, "a pair (strains, tensions)", table)
    strains = increasing(f"{name}[0] (strains)", table[0], "1", least=2)
    tensions = checks.array(f"{name}[1] (tensions)", table[1], strains.shape, "N")
    if (np.diff(tensions) < 0.0).any():
        raise InputError(f"{name}[1] (tensions): expected tension that does not fall with strain, got a step down")
    if not tensions.max() > tensions.min():
        raise InputError(f"{name}[1] (tensions): expected some rise, got the same tension everywhere")
    if strains[0] > 0.0 or strains[-1] < 0.0:
        raise InputError(
            f"{name}[0] (strains): expected strain 0 within the table, got {strains[0]:g} to {strains[-1]:g}"
        )
    return tuple(strains.tolist()), tuple(tensions.tolist())


@lru_cache(maxsize=64)
def _pieces(strains: tuple[float, ...], tensions: tuple[float, ...]) -> tuple[Array, Array]:
    """A monotone cubic between the points, straight lines before the first and after the last."""
    from scipy.interpolate import PchipInterpolator

    curve = PchipInterpolator(strains, tensions)
    slopes = curve.derivative()(np.array(strains))
    c = np.zeros((4, len(strains) + 1))
    c[0, 1:], c[1, 1:] = tensions, slopes
    c[2, 1:-1], c[3, 1:-1] = curve.c[1], curve.c[0]
    c[0, 0], c[1, 0] = tensions[0] - slopes[0], slopes[0]
    return np.array([strains[0] - 1.0, *strains]), c


@lru_cache(maxsize=64)
def _primitive(strains: tuple[float, ...], tensions: tuple[float, ...]) -> tuple[Array, Array]:
    """Integral of the tension over strain, zero at strain 0."""
    knots, c = _pieces(strains, tensions)
    integral = np.concatenate([np.zeros((1, len(knots))), c / np.arange(1, 5)[:, None]])
    widths = np.diff(knots)
    gained = sum(integral[power, :-1] * widths**power for power in range(1, 5))
    integral[0, 1:] = np.cumsum(gained)
    integral[0] -= evaluate(knots, integral, 0.0)
    return knots, integral


def _steepest(knots: Array, c: Array) -> float:
    """Largest slope of the curve: at a knot, or where the slope between two knots has its top."""
    _, b, second, third = c
    width = np.diff(knots, append=knots[-1])
    x = np.divide(-second, 3.0 * third, out=np.zeros_like(b), where=third < 0.0)
    x = np.clip(x, 0.0, width)
    return float(max(b.max(), (b + x * (2.0 * second + x * 3.0 * third)).max()))
