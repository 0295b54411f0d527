"""A state of rest with its forces, by line and body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model.system.state import State
from tautline.model.system.system import System
from tautline.quantities import between, number, value

# Of the size of a system: coordinates below are rounding, and printed as 0.
ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class LineAtRest:
    """A line at rest.

    Attributes
    ----------
    deployed : float
        Unstretched length outside the guide (m).
    stretched_length : float
        Length along the line (m).
    weight : float
        Weight of the deployed string, less buoyancy where it lies; negative where it floats (N).
    start_tension, end_tension : float
        Tension at both ends (N).
    start_force, end_force : array (3,)
        Pull on what holds the start and the end (N).
    tension, strain : array (elements,)
        Of the elements (N, 1).
    holding_torque : float or None
        Torque on the drum that holds it (N m): that of a lock in a run from here, and of a motor under which the drum
        stays, with the force of the guide law at standstill; None without a reel.
    drum_radius : float or None
        With the layers that are spooled (m).
    utilization : float or None
        Largest tension over the breaking load; None where that is not given.
    span_lengths : array (spans,)
        Unstretched lengths of the spans (m).
    span_tensions : array (spans, 2)
        Tension at the start and at the end of each span (N).
    end_holding_torque : float or None
        Torque that holds the drum at the end of the line (N m); None without one.
    """

    deployed: float
    stretched_length: float
    weight: float
    start_tension: float
    end_tension: float
    start_force: Array
    end_force: Array
    tension: Array
    strain: Array
    holding_torque: Any  # a number; None without a reel
    drum_radius: float | None
    utilization: float | None
    span_lengths: Array
    span_tensions: Array
    end_holding_torque: float | None = None

    @property
    def stretch(self) -> float:
        """Elongation (m)."""
        return self.stretched_length - self.deployed


@dataclass(frozen=True, eq=False)
class BodyAtRest:
    """A free body at rest.

    Attributes
    ----------
    position : array (3,)
        Center of mass (m).
    attitude : array (3, 3)
        Rotation matrix from the body frame to the inertial frame.
    weight : float
        Weight less buoyancy (N).
    forces : dict of name to array (3,)
        Forces besides those of the lines (N): "weight", and "buoyancy", "drag", "wing" (its lift and drag),
        "added_mass", "applied_force" and "acceleration" as far as they are there.
    """

    position: Array
    attitude: Array
    weight: float
    forces: Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class Statics:
    """A state of rest and the forces there.

    Attributes
    ----------
    state : State
        To start a run from, or to find modes about.
    lines : dict
        `LineAtRest` by name.
    bodies : dict
        `BodyAtRest` by name, of the bodies that are free.
    counted : dict of name to array (3,)
        Sums of the forces on bodies and deployed lines (N): "weight", "buoyancy", "drag", "wing", "added_mass",
        "applied_force" and "acceleration", as far as they are there. What holds the system bears their sum.
    residual : float
        Largest force that is not balanced (N); moments count as forces at the size of their body.
    corrections : int
        Newton corrections of the search.
    time : float
        When (s).
    """

    system: System
    state: State
    lines: Mapping[str, LineAtRest]
    bodies: Mapping[str, BodyAtRest]
    counted: Mapping[str, Array]
    residual: float
    corrections: int
    time: float = 0.0
    acceleration: bool = False

    @property
    def line(self) -> LineAtRest:
        """The only line."""
        _check_only("lines", self.lines)
        return next(iter(self.lines.values()))

    @property
    def body(self) -> BodyAtRest:
        """The only free body."""
        _check_only("bodies", self.bodies)
        return next(iter(self.bodies.values()))

    @property
    def message(self) -> str:
        """The outcome in a sentence."""
        largest = max(float(np.abs(x.tension).max()) for x in self.lines.values())
        return (
            f"in balance after {self.corrections} corrections; largest unbalanced force "
            f"{value(self.residual, 'N', 2)}, largest tension {value(largest, 'N')}"
        )

    def _repr_html_(self) -> str:
        """Card of a notebook."""
        from tautline.model.picture.cards import card_of_statics  # which needs systems

        return card_of_statics(self)

    def __repr__(self) -> str:
        rows = [self.message]
        for name, line in self.lines.items():
            drum = "" if line.holding_torque is None else f"; {value(line.holding_torque, 'N m')} hold its drum"
            rows.append(
                f"{name}: {value(line.deployed, 'm')}, {value(line.start_tension, 'N')} at its start and "
                f"{value(line.end_tension, 'N')} at its end{drum}"
            )
            ends = pairwise(["start", *self.system.lines[name].over, "end"])
            spans = zip(ends, line.span_lengths, line.span_tensions, strict=True)
            if len(line.span_lengths) > 1:
                rows += [
                    f"  {a} to {b}: {value(X, 'm')}, {between(first, last, 'N')}" for (a, b), X, (first, last) in spans
                ]
        size = max(
            [line.deployed for line in self.lines.values()] + [np.abs(x.position).max() for x in self.bodies.values()]
        )
        for name, body in self.bodies.items():
            x, y, z = (0.0 if abs(x) < ROUNDING * size else x for x in body.position)
            rows.append(f"{name}: at ({number(x)}, {number(y)}, {number(z)}) m, {value(body.weight, 'N')}")
        return "\n".join(rows)


def _check_only(kind: str, parts: Mapping[str, Any]) -> None:
    if len(parts) != 1:
        raise InputError(f"Statics.{kind}: expected one, got {', '.join(map(repr, parts)) or 'none'}; choose by name")
