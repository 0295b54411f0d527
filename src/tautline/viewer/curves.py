"""The plots beside the scene, and the curves in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.ledger import ACCOUNTS, kept_energy
from tautline.model.system.system import System
from tautline.schema import AXES

Made = Callable[[Mapping[str, Array]], Array]  # a curve from the variables that it needs
Picked = Callable[[Array], Array]  # a curve from the values of a variable


class Plot(NamedTuple):
    name: str
    label: str
    units: str


class Curve(NamedTuple):
    """A series of a plot: what it is made from, and how."""

    name: str
    label: str
    plot: str
    needs: tuple[str, ...]
    made: Made


class OfLines(NamedTuple):
    """A variable that lines have: its label beside others of one line, and its plot where there are several lines."""

    variable: str
    label: str
    plot: Plot | None  # None: not shown of several


def _column(*place: int) -> Picked:
    """Values at a place along the dimensions after the time."""
    where: tuple[Any, ...] = (slice(None), *place)
    return lambda x: x[where]


def _size(k: int) -> Picked:
    """Sizes of vectors at a place along the second dimension."""

    def picked(x: Array) -> Array:
        found: Array = np.linalg.norm(x[:, k], axis=1)
        return found

    return picked


def _of(plot: Plot, variable: str, label: str, picked: Picked, name: str = "") -> Curve:
    """A curve of one variable."""
    return Curve(name or variable, label, plot.name, (variable,), lambda x: picked(x[variable]))


def _each(
    plot: Plot, variable: str, names: Sequence[str], wanted: Sequence[str], picked: Callable[[int], Picked]
) -> list[Curve]:
    """A curve of a variable for each of the wanted names, among all names along its second dimension."""
    return [_of(plot, variable, name, picked(names.index(name)), f"{variable}.{name}") for name in wanted]


_ENERGIES = Plot("energies", "energy", "J")
_ERROR = Plot("energy_error", "energy balance error", "J")
_LENGTHS = Plot("lengths", "deployed length", "m")
_TENSION = Plot("tension", "tension", "N")
_REEL = Plot("reel", "reel speed", "m/s")
_TORQUE = Plot("torque", "torque on the drum", "N m")
_POWER = Plot("power", "power of the drum", "W")
_SPEED = Plot("speed", "speed", "m/s")
_SPIN = Plot("spin", "angular velocity", "rad/s")
_LINEAR = Plot("linear", "linear momentum", "kg m/s")
_MOMENTUM = Plot("momentum", "angular momentum", "kg m²/s")
_ORTHOGONALITY = Plot("orthogonality", "orthogonality error", "1")
_END_TENSION = Plot("end_tension", "tension at the end", "N")

# Of lines, and of those with a reel alone; by the plot that one line has.
_LINES: dict[Plot, list[OfLines]] = {
    _TENSION: [
        OfLines("start_tension", "at the start", _TENSION._replace(label="tension at the start")),
        OfLines("end_tension", "at the end", _END_TENSION),
    ],
    _LENGTHS: [
        OfLines("unstretched_length", "unstretched", _LENGTHS),
        OfLines("stretched_length", "stretched", None),
    ],
}
_REELS: dict[Plot, list[OfLines]] = {
    _REEL: [OfLines("reel_speed", "in (+), out (-)", _REEL._replace(label="reel speed, in (+), out (-)"))],
    _TORQUE: [OfLines("torque", "retrieves (+)", _TORQUE)],
    _POWER: [OfLines("power", "drives (+), brakes (-)", _POWER)],
}
_ENERGY_CURVES = [
    _of(_ENERGIES, "energy", "total", _column()),
    _of(_ENERGIES, "kinetic_energy", "kinetic", _column()),
    _of(_ENERGIES, "gravity_energy", "gravity", _column()),
    _of(_ENERGIES, "elastic_energy", "elastic", _column()),
]
_BALANCE = Curve(
    "balance",
    "energy - work + loss, change",
    _ERROR.name,
    tuple(account.name for account in ACCOUNTS),
    kept_energy,
)
# Shown as the change since the first sample.
CHANGES = (_BALANCE.name,)

Shown = tuple[Plot, list[Curve]]


def curves_of(system: System) -> tuple[tuple[Plot, ...], tuple[Curve, ...]]:
    """Plots and curves of a system: of the whole, of every line and reel, of every body.

    Those of several lines or bodies have their names; those of one do without, and stand in fewer plots.
    """
    shown = [*_of_lines(system), *_of_bodies(system), (_ENERGIES, _ENERGY_CURVES), (_ERROR, [_BALANCE])]
    full = [(plot, curves) for plot, curves in shown if curves]
    return tuple(plot for plot, _ in full), tuple(curve for _, curves in full for curve in curves)


def _of_lines(system: System) -> list[Shown]:
    lines = list(system.lines)
    reels = [name for name, line in system.lines.items() if line.reel is not None]
    rows = [(plot, row, names) for table, names in ((_LINES, lines), (_REELS, reels)) for plot, row in table.items()]
    if len(lines) > 1:
        several = [(x.plot, x.variable, names) for _, row, names in rows for x in row if x.plot is not None]
        return [(plot, _each(plot, variable, lines, names, _column)) for plot, variable, names in several]
    return [(plot, [_of(plot, x.variable, x.label, _column(0)) for x in row]) for plot, row, names in rows if names]


def _of_bodies(system: System) -> list[Shown]:
    bodies = list(system.bodies)
    free = list(system.free_bodies)
    if len(free) == 1:
        return _of_body(bodies.index(free[0]))
    spin = _SPIN._replace(label="angular speed")
    return [
        (_SPEED, _each(_SPEED, "body_velocity", bodies, bodies, _size)),
        (spin, _each(spin, "angular_velocity", bodies, free, _size)),
        (_LINEAR, _each(_LINEAR, "linear_momentum", AXES, AXES, _column)),
        (_MOMENTUM, _each(_MOMENTUM, "angular_momentum", AXES, AXES, _column)),
        (_ORTHOGONALITY, _each(_ORTHOGONALITY, "orthogonality_error", bodies, free, _column)),
    ]


def _of_body(k: int) -> list[Shown]:
    """The only free body, by its number among all."""
    turn, error = "angular_velocity", "orthogonality_error"
    vertical = _MOMENTUM._replace(label="angular momentum about the vertical")
    return [
        (_SPEED, [_of(_SPEED, "body_velocity", "of the body", _size(k))]),
        (_SPIN, [_of(_SPIN, turn, x, _column(k, i), f"{turn}.{x}") for i, x in enumerate(AXES)]),
        (vertical, _each(vertical, "angular_momentum", AXES, AXES[2:], _column)),
        (_ORTHOGONALITY, [_of(_ORTHOGONALITY, error, "‖I - RᵀR‖", _column(k))]),
    ]
