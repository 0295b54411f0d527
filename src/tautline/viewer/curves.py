"""The plots beside the scene, and the curves in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.ledger import ACCOUNTS, kept_energy
from tautline.model.assembly.assembly import System
from tautline.model.assembly.parts import Kinematic
from tautline.schema import AXES


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
    made: Callable[[Mapping[str, Array]], Array]  # from the needed variables


def _variable(name: str, label: str, plot: str) -> Curve:
    return Curve(name, label, plot, (name,), lambda x: x[name])


def _column(variable: str, k: int, values: Mapping[str, Array]) -> Array:
    return values[variable][:, k]


def _size(variable: str, k: int, values: Mapping[str, Array]) -> Array:
    found: Array = np.linalg.norm(values[variable][:, k], axis=1)
    return found


def _each(
    plot: Plot, variable: str, names: Sequence[str], wanted: Sequence[str], made: Callable[..., Array]
) -> list[Curve]:
    """A curve of a variable for each of the wanted names, among all names along its second dimension."""
    return [
        Curve(f"{variable}.{name}", name, plot.name, (variable,), partial(made, variable, names.index(name)))
        for name in wanted
    ]


_BALANCE = Curve(
    "balance",
    "energy - work + loss, change",
    "energy_error",
    tuple(account.name for account in ACCOUNTS),
    kept_energy,
)
# Shown as the change since the first sample.
CHANGES = (_BALANCE.name,)

_ENERGIES = Plot("energies", "energy", "J")
_ERROR = Plot("energy_error", "energy balance error", "J")
_SPIN = Plot("spin", "angular velocity", "rad/s")
PLOTS = (
    _ENERGIES,
    Plot("lengths", "deployed length", "m"),
    Plot("tension", "tension", "N"),
    Plot("reel", "reel speed", "m/s"),
    Plot("torque", "torque on the drum", "N m"),
    Plot("power", "power of the drum", "W"),
    _SPIN,
    _ERROR,
    Plot("momentum", "angular momentum about the vertical", "kg m²/s"),
    Plot("orthogonality", "orthogonality error", "1"),
)
CURVES = (
    _variable("energy", "total", "energies"),
    _variable("kinetic_energy", "kinetic", "energies"),
    _variable("rotational_energy", "rotational", "energies"),
    _variable("gravity_energy", "gravity", "energies"),
    _variable("elastic_energy", "elastic", "energies"),
    _variable("stretched_length", "stretched", "lengths"),
    _variable("unstretched_length", "unstretched", "lengths"),
    _variable("guide_tension", "at the guide", "tension"),
    _variable("body_tension", "at the body", "tension"),
    _variable("reel_speed", "in (+), out (-)", "reel"),
    _variable("torque", "retrieves (+)", "torque"),
    _variable("power", "drives (+), brakes (-)", "power"),
    *_each(_SPIN, "angular_velocity", AXES, AXES, _column),
    _BALANCE,
    _variable("angular_momentum", "π₃", "momentum"),
    _variable("orthogonality_error", "‖I - RᵀR‖", "orthogonality"),
)


def of_assembly(assembly: System) -> tuple[tuple[Plot, ...], tuple[Curve, ...]]:
    """Plots and curves of an assembly: of the whole, of every string and reel, of every body, each by its name."""
    lines, bodies = list(assembly.lines), list(assembly.bodies)
    reels = [name for name, line in assembly.lines.items() if line.reel is not None]
    free = [name for name, body in assembly.bodies.items() if not isinstance(body, Kinematic)]
    shown: list[tuple[Plot, str, Sequence[str], Sequence[str], Callable[..., Array]]] = [
        (Plot("lengths", "deployed length", "m"), "unstretched_length", lines, lines, _column),
        (Plot("tension", "tension at the start", "N"), "start_tension", lines, lines, _column),
        (Plot("reel", "reel speed, in (+), out (-)", "m/s"), "reel_speed", lines, reels, _column),
        (Plot("torque", "torque on the drum", "N m"), "torque", lines, reels, _column),
        (Plot("power", "power of the drum", "W"), "power", lines, reels, _column),
        (Plot("speed", "speed", "m/s"), "body_velocity", bodies, bodies, _size),
        (Plot("spin", "angular speed", "rad/s"), "angular_velocity", bodies, free, _size),
        (Plot("linear", "linear momentum", "kg m/s"), "linear_momentum", AXES, AXES, _column),
        (Plot("momentum", "angular momentum", "kg m²/s"), "angular_momentum", AXES, AXES, _column),
    ]
    energies = [x for x in CURVES if x.plot == _ENERGIES.name and x.name != "rotational_energy"]
    each = [curve for row in shown for curve in _each(*row)]
    plots = [plot for plot, _, _, wanted, _ in shown if wanted]
    return (_ENERGIES, *plots, _ERROR), (*energies, *each, _BALANCE)
