"""The string."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tautline.errors import InputError
from tautline.kernels import data
from tautline.kernels.data import Array
from tautline.model import checks
from tautline.model.piecewise import increasing

ELASTIC_LAWS = {"linear": data.LINEAR, "tension_only": data.TENSION_ONLY, "table": data.TABLE}


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
        checks.choice("String.law", self.law, ELASTIC_LAWS)
        if (self.law == "table") != (self.tension_table is not None):
            raise InputError("String.tension_table: expected with law='table' and only then")
        if self.tension_table is not None:
            set_(self, "tension_table", _checked_table(self.tension_table))
            steepest = _steepest(self.coefficients())
            if not math.isclose(self.stiffness, steepest, rel_tol=1e-6):
                raise InputError(
                    f"String.stiffness: expected the steepest slope of the table, {steepest:.9g} N, "
                    f"got {self.stiffness:g}; String.from_table finds it"
                )

    @classmethod
    def from_table(cls, length: float, density: float, strains: Any, tensions: Any, **others: Any) -> String:
        """A string whose tension follows a table; other arguments as in `String`."""
        table = _checked_table((strains, tensions))
        stiffness = _steepest(_coefficients(*table))
        return cls(length, density, stiffness, law="table", tension_table=table, **others)

    @property
    def wave_speed(self) -> float:
        """Speed of longitudinal waves along the unstretched string, sqrt(EA/mu) (m/s)."""
        return float((self.stiffness / self.density) ** 0.5)

    @property
    def area(self) -> float:
        """Cross-section, from the diameter (m^2)."""
        return 0.25 * math.pi * self.diameter**2

    def coefficients(self) -> Array:
        """The table as the kernels read it."""
        if self.tension_table is None:
            return np.zeros((data.TABLE_ROWS, 1))
        return _coefficients(*self.tension_table).copy()

    def tension(self, strain: Any) -> Array:
        """Elastic tension at a strain (N)."""
        return self._evaluated(strain)[0]

    def slope(self, strain: Any) -> Array:
        """Rate of the elastic tension by strain (N)."""
        x = np.asarray(strain, dtype=np.float64)
        if self.law != "table":
            return np.where((x < 0.0) & (self.law == "tension_only"), 0.0, self.stiffness)
        c = _coefficients(*self.tension_table)
        i = np.clip(np.searchsorted(c[data.KNOT], x, side="right") - 1, 0, c.shape[1] - 1)
        dx = x - c[data.KNOT, i]
        bends = dx >= 0.0
        curve = 2.0 * c[data.SECOND, i] + 3.0 * dx * c[data.THIRD, i]
        return np.asarray(np.where(bends, c[data.SLOPE, i] + dx * curve, c[data.SLOPE, i]))

    def strain(self, tension: Any) -> Array:
        """Strain at an elastic tension that is not negative; the least one where several have it, the greatest at 0."""
        F = np.asarray(tension, dtype=np.float64)
        if self.law != "table":
            return np.asarray(F / self.stiffness)
        # bisection between knots, and beyond them along the straight lines
        c = _coefficients(*self.tension_table)
        slack = c[data.KNOT, c[data.TENSION] <= 0.0]  # no less than the last of these, where there are any
        low = np.full_like(F, slack[-1] if len(slack) else min(c[data.KNOT, 0], 0.0) - 1.0)
        rise = np.maximum(F - c[data.TENSION, -1], 0.0) / max(c[data.SLOPE, -1], 1e-9 * self.stiffness)
        high = c[data.KNOT, -1] + rise + 1e-12
        for _ in range(100):
            middle = 0.5 * (low + high)
            below = self.tension(middle) < F
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.asarray(high)

    def energy_density(self, strain: Any) -> Array:
        """Elastic energy per unstretched length at a strain (J/m)."""
        return self._evaluated(strain)[1]

    def _evaluated(self, strain: Any) -> tuple[Array, Array]:
        x = np.asarray(strain, dtype=np.float64)
        if self.law != "table":
            taut = np.maximum(x, 0.0) if self.law == "tension_only" else x
            return self.stiffness * taut, 0.5 * self.stiffness * taut**2
        c = _coefficients(*self.tension_table)
        i = np.clip(np.searchsorted(c[data.KNOT], x, side="right") - 1, 0, c.shape[1] - 1)
        dx = x - c[data.KNOT, i]
        inside = dx >= 0.0
        second, third = np.where(inside, c[data.SECOND, i], 0.0), np.where(inside, c[data.THIRD, i], 0.0)
        a, b = c[data.TENSION, i], c[data.SLOPE, i]
        tension = a + dx * (b + dx * (second + dx * third))
        energy = c[data.ENERGY, i] + dx * (a + dx * (b / 2.0 + dx * (second / 3.0 + dx * third / 4.0)))
        return tension, energy


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
def _coefficients(strains: tuple[float, ...], tensions: tuple[float, ...]) -> Array:
    """A monotone cubic between the points and its integral, zero at strain 0; straight lines beyond the ends."""
    from scipy.interpolate import PchipInterpolator

    curve = PchipInterpolator(strains, tensions)
    out = np.zeros((data.TABLE_ROWS, len(strains)))
    out[data.KNOT], out[data.TENSION] = strains, tensions
    out[data.SLOPE] = curve.derivative()(np.array(strains))
    out[data.SECOND, :-1], out[data.THIRD, :-1] = curve.c[1], curve.c[0]
    primitive = curve.antiderivative()
    out[data.ENERGY] = primitive(np.array(strains)) - primitive(0.0)
    return out


def _steepest(c: Array) -> float:
    """Largest slope of the curve: at a knot, or where the slope between two knots has its top."""
    b, second, third = c[data.SLOPE], c[data.SECOND], c[data.THIRD]
    width = np.diff(c[data.KNOT], append=c[data.KNOT, -1])
    bends = third < 0.0
    x = np.divide(-second, 3.0 * third, out=np.zeros_like(b), where=bends)
    x = np.clip(x, 0.0, width)
    return float(max(b.max(), (b + x * (2.0 * second + x * 3.0 * third)).max()))
