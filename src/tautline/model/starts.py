"""Where a run starts: described without a pendulum, and turned into its state."""

from __future__ import annotations

from typing import Any

import numpy as np

from tautline.errors import InputError
from tautline.model import checks
from tautline.model.chain.chain import Chain
from tautline.model.chain.hanging import at_rest, hanging
from tautline.model.chain.state import ANGULAR_VELOCITY, ATTITUDE, IDENTITY, ChainState, checked_rotation, straight
from tautline.model.checks import ZERO, finite, positive, vector
from tautline.model.description import (
    Lengths,
    Number,
    OptionalNumber,
    OptionalVector3,
    Vector3,
    declared,
    described,
    quantity,
)
from tautline.model.kinds import MATRIX, VECTOR, OrByName, Quantity

_DEPLOYED = "Unstretched length outside the guide."
_BY_NAME = f"{_DEPLOYED} With several reels, of each by the name of its line."
_END_VELOCITY = "Velocity of the last node."


@described(name="")
class Straight:
    """Straight and unstretched, at rest but for its end; straight down if no direction is given."""

    deployed: Number = quantity("m", positive, _DEPLOYED)
    direction: OptionalVector3 = quantity(
        "", vector, "Direction from the guide entrance; need not be of unit length.", default=None, form=VECTOR
    )
    inclination: OptionalNumber = quantity(
        "rad", finite, "Angle from the vertical, in place of `direction`.", default=None
    )
    azimuth: Number = quantity(
        "rad", finite, "Angle in the horizontal plane towards which the string is inclined; 0 is x.", default=0.0
    )
    end_velocity: Vector3 = quantity("m/s", vector, _END_VELOCITY, default=ZERO, form=VECTOR)
    reel_speed: Number = quantity("m/s", finite, "Rate of the reeled length; positive in retrieval.", default=0.0)
    attitude: Any = quantity("", checked_rotation, ATTITUDE, default=IDENTITY, form=MATRIX)
    angular_velocity: Vector3 = quantity("rad/s", vector, ANGULAR_VELOCITY, default=ZERO, form=VECTOR)

    def _check_together(self) -> None:
        object.__setattr__(self, "attitude", tuple(map(tuple, self.attitude.tolist())))  # compares as a whole
        if self.direction is not None and not any(self.direction):
            checks.refuse("direction", "a vector that is not zero", self.direction)
        if self.direction is not None and self.inclination is not None:
            raise InputError("initial: expected either direction or inclination (with azimuth), got both")
        if self.inclination is None and self.azimuth != 0.0:
            raise InputError("initial: expected azimuth together with inclination, got it alone")

    def along(self) -> Any:
        """Direction from the guide entrance, of any length."""
        if self.direction is not None:
            return self.direction
        tilt, turn = 0.0 if self.inclination is None else self.inclination, self.azimuth
        return (np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn), np.cos(tilt))

    def state(self, pendulum: Chain, elements: int | None = None) -> ChainState:
        """The state of a pendulum."""
        return straight(
            pendulum,
            self.deployed,
            elements,
            self.along(),
            end_velocity=self.end_velocity,
            reel_speed=self.reel_speed,
            attitude=self.attitude,
            angular_velocity=self.angular_velocity,
        )


@described(name="")
class Hanging:
    """At rest under gravity and buoyancy, every body below what carries it, lines stretched by the weights."""

    deployed: Lengths = declared(OrByName(Quantity("m", positive, _BY_NAME)))
    end_velocity: Vector3 = quantity("m/s", vector, _END_VELOCITY, default=ZERO, form=VECTOR)
    angular_velocity: Vector3 = quantity("rad/s", vector, ANGULAR_VELOCITY, default=ZERO, form=VECTOR)

    def state(self, pendulum: Chain, elements: int | None = None) -> ChainState:
        """The state of a pendulum."""
        return hanging(
            pendulum,
            self.deployed,
            elements,
            end_velocity=self.end_velocity,
            angular_velocity=self.angular_velocity,
        )


@described(name="")
class AtEquilibrium:
    """At rest under all loads at time 0: weight, buoyancy, flow and applied force."""

    deployed: Lengths = declared(OrByName(Quantity("m", positive, _BY_NAME)))

    def state(self, pendulum: Chain, elements: int | None = None) -> ChainState:
        """The state of a pendulum."""
        return at_rest(pendulum, self.deployed, elements)


Start = Straight | Hanging | AtEquilibrium | ChainState
STARTS: dict[str, type] = {
    "straight": Straight,
    "hanging": Hanging,
    "equilibrium": AtEquilibrium,
    "nodes": ChainState,
}


def state_of(start: Start, pendulum: Chain, elements: int | None) -> ChainState:
    """The state in which a pendulum starts, checked against it."""
    if isinstance(start, ChainState):
        if elements is not None and start.elements != elements:
            expected = f"run.elements + 1 = {elements + 1} nodes"
            raise InputError(f"State.nodes: expected {expected}, got {start.elements + 1}")
        state = start
    else:
        state = start.state(pendulum, elements)
    state.check_against(pendulum)
    return state


def depends_on_loads(start: Start) -> bool:
    """Whether the state follows from more of the pendulum than its lengths."""
    return isinstance(start, Hanging | AtEquilibrium)
