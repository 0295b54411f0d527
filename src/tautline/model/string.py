"""The string."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tautline import registry
from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model.checks import finite, non_negative, positive
from tautline.model.description import Number, OptionalNumber, changed, choice, declared, described, quantity
from tautline.model.piecewise import as_floats, evaluate
from tautline.model.tables import Over, Table

if TYPE_CHECKING:
    from tautline.model.fluid import Fluid


def _rising(name: str, table: Any) -> None:
    """Refuse tension that falls with strain, that never rises, or a table without strain 0."""
    strains, tensions = table
    if (np.diff(tensions) < 0.0).any():
        raise InputError(f"{name}[1] (tensions): expected tension that does not fall with strain, got a step down")
    if not max(tensions) > min(tensions):
        raise InputError(f"{name}[1] (tensions): expected some rise, got the same tension everywhere")
    if strains[0] > 0.0 or strains[-1] < 0.0:
        raise InputError(
            f"{name}[0] (strains): expected strain 0 within the table, got {strains[0]:g} to {strains[-1]:g}"
        )


class Formulas(NamedTuple):
    """Elastic law as arrays take it: functions of the stiffness (N) and of strains, which may carry derivatives."""

    tension: Callable[[Any, Any], Any]  # N
    slope: Callable[[Any, Any], Any]  # of the tension by strain (N)
    energy: Callable[[Any, Any], Any]  # per unstretched length (J/m)


# By name of the registry; a table has its own in each string.
FORMULAS = {
    "linear": Formulas(
        lambda EA, x: EA * as_floats(x),
        lambda EA, x: np.zeros(np.shape(x)) + EA,
        lambda EA, x: 0.5 * EA * as_floats(x) ** 2,
    ),
    "tension_only": Formulas(
        lambda EA, x: EA * np.maximum(as_floats(x), 0.0),
        lambda EA, x: np.where(np.asarray(x, dtype=np.float64) < 0.0, 0.0, EA),
        lambda EA, x: 0.5 * EA * np.maximum(as_floats(x), 0.0) ** 2,
    ),
}


@described
class String:
    """An elastic string without bending stiffness."""

    length: Number = quantity("m", positive, "Total unstretched length L, spooled and deployed.")
    density: Number = quantity("kg/m", positive, "Mass per unstretched length, mu.")
    stiffness: Number = quantity(
        "N", positive, "Axial stiffness EA; for a table its steepest slope, which is found if not given.", default=None
    )
    law: str = choice(
        registry.ELASTIC_LAWS,
        'How tension follows from strain. "tension_only" is for ropes, cords and cables: it pulls in proportion to the '
        "strain when stretched, and is slack, with tension 0, when not. "
        '"linear" is the law of the paper: it pulls and **pushes**, so that a string that is pressed together has a '
        "negative tension, a compression that no rope can bear. "
        '"table" takes `tension_table`.',
        default="tension_only",
    )
    tension_table: Any = declared(
        Table(
            "N",
            finite,
            'For the law "table": tension over strain, increasing; a monotone cubic goes through the points, straight '
            "lines beyond them.",
            "tensions",
            over=Over("strains", ""),
            constant=False,
            least=2,
            rule=_rising,
        ),
        default=None,
    )
    viscosity: Number = quantity(
        "N*s", non_negative, "Kelvin-Voigt damping: tension per rate of strain, eta A.", default=0.0
    )
    damping_ratio: Number = quantity(
        "",
        non_negative,
        "Damping of the mesh, in addition to `viscosity`: ratio to the critical damping of the highest longitudinal "
        "mode of the elements at the start of the run. It becomes a viscosity that stays the same while the reel "
        "moves.",
        default=0.0,
    )
    diameter: Number = quantity("m", non_negative, "Diameter, for drag and buoyancy.", default=0.0)
    normal_drag: Number = quantity("", non_negative, "Drag coefficient across the string, in a fluid.", default=1.2)
    tangential_drag: Number = quantity("", non_negative, "Drag coefficient along the string.", default=0.01)
    normal_added_mass: Number = quantity(
        "",
        non_negative,
        "Added mass coefficient across the string, C_a: fluid that the string moves along, over what it displaces; "
        "1 for a cylinder. Along the string there is none.",
        default=0.0,
    )
    breaking_load: OptionalNumber = quantity(
        "N",
        positive,
        "Breaking load, for utilization and fatigue; unknown if not given. The motion does not depend on it: a string "
        "that is loaded beyond it does not part.",
        default=None,
    )

    def _check_together(self) -> None:
        if (self.law == "table") != (self.tension_table is not None):
            raise InputError("String.tension_table: expected with law='table' and only then")
        if self.tension_table is None:
            if self.law not in FORMULAS:
                raise InputError(f"String.law: expected a law with an entry in model.string.FORMULAS, got {self.law!r}")
            if self.stiffness is None:
                raise InputError(f"String.stiffness: expected a value with law = {self.law!r}, got none")
            return
        steepest = _steepest(*_pieces(*self.tension_table))
        if self.stiffness is None:
            object.__setattr__(self, "stiffness", steepest)
        elif not math.isclose(self.stiffness, steepest, rel_tol=1e-6):
            raise InputError(
                f"String.stiffness: expected the steepest slope of the table, {steepest:.9g} N, "
                f"got {self.stiffness:g}; it is found if not given"
            )

    def _tidy_keys(self, keys: dict[str, Any]) -> dict[str, Any]:
        return {key: x for key, x in keys.items() if key != "stiffness" or self.law != "table"}

    @classmethod
    def from_table(cls, length: float, density: float, strains: Any, tensions: Any, **others: Any) -> String:
        """A string whose tension follows a table; other arguments as in `String`."""
        return cls(length, density, law="table", tension_table=(strains, tensions), **others)

    def on_mesh(self, element: float) -> String:
        """The string with its damping ratio made a viscosity, for elements of this length (m)."""
        if self.damping_ratio == 0.0:
            return self
        viscosity = self.viscosity + self.mesh_viscosity(element)
        return changed(self, viscosity=viscosity, damping_ratio=0.0)

    def weight(self, gravity: Any, fluid: Fluid | None) -> Any:
        """Weight per unstretched length, less the buoyancy that it has everywhere (N/m)."""
        return gravity * (self.density - (0.0 if fluid is None else fluid.least_density) * self.area)

    @property
    def wave_speed(self) -> float:
        """Speed of longitudinal waves along the unstretched string, sqrt(EA/mu) (m/s)."""
        return (self.stiffness / self.density) ** 0.5  # type: ignore[no-any-return]

    def mesh_viscosity(self, element: float) -> float:
        """Viscosity by which elements of this length have the damping ratio (N s).

        The highest mode has omega^2 = 12 EA/(mu l^2), and Kelvin-Voigt damping the ratio eta A omega/(2 EA) in it.
        """
        return self.damping_ratio * element * (self.stiffness * self.density / 3.0) ** 0.5  # type: ignore[no-any-return]

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
        return FORMULAS[self.law].tension(self.stiffness, strain)  # type: ignore[no-any-return]

    def slope(self, strain: Any) -> Array:
        """Rate of the elastic tension by strain (N)."""
        if self.law == "table":
            return evaluate(*self.pieces(), strain, 1)
        return FORMULAS[self.law].slope(self.stiffness, strain)  # type: ignore[no-any-return]

    def strain(self, tension: Any) -> Array:
        """Strain at an elastic tension that is not negative; the least one where several have it, the greatest at 0."""
        if self.law in ("linear", "tension_only"):
            return np.divide(tension, self.stiffness)  # type: ignore[no-any-return] # both may carry derivatives
        F = np.asarray(tension, dtype=np.float64)
        low, high = self._around(F)
        for _ in range(100):
            middle = 0.5 * (low + high)
            below = self.tension(middle) < F
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.asarray(high)

    def _around(self, tension: Array) -> tuple[Array, Array]:
        """Strains below and above those of tensions; of a table its ends, and beyond them its straight lines."""
        if self.law != "table":
            high = np.asarray(tension / self.stiffness)
            while (self.tension(high) < tension).any():
                high = 2.0 * high
            return np.zeros_like(tension), high
        knots, (values, slopes, *_) = self.pieces()
        slack = knots[values <= 0.0]  # no less than the last of these, where there are any
        low = np.full_like(tension, slack[-1] if len(slack) else min(knots[1], 0.0) - 1.0)
        rise = np.maximum(tension - values[-1], 0.0) / max(slopes[-1], 1e-9 * self.stiffness)
        return low, knots[-1] + rise + 1e-12

    def energy_density(self, strain: Any) -> Array:
        """Elastic energy per unstretched length at a strain (J/m)."""
        if self.law == "table":
            return evaluate(*_primitive(*self.tension_table), strain)
        return FORMULAS[self.law].energy(self.stiffness, strain)  # type: ignore[no-any-return]


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
