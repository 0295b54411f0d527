"""The whole system."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tautline import registry
from tautline.errors import InputError
from tautline.model import checks
from tautline.model.body import RigidBody, steiner
from tautline.model.fluid import AppliedForce, Fluid
from tautline.model.reel import Reel
from tautline.model.string import String


class Weights(NamedTuple):
    """What gravity and buoyancy leave."""

    string: float  # per unstretched length (N/m)
    body: float  # (N)
    moment: tuple[float, float, float]  # of the body's about the attachment point, body frame (N m)


@dataclass(frozen=True)
class Pendulum:
    """A string on a reel with a rigid body at its end.

    Parameters
    ----------
    string, reel, body
        The parts.
    gravity : float
        Along the third axis, which points down (m/s^2); 0 is allowed.
    fluid : Fluid, optional
        Air or water around string and body.
    applied_force : AppliedForce, optional
        A force and a moment on the body over time.
    """

    string: String
    reel: Reel
    body: RigidBody
    gravity: float = 9.81
    fluid: Fluid | None = None
    applied_force: AppliedForce | None = None

    def __post_init__(self) -> None:
        checks.instance("Pendulum.string", self.string, String)
        checks.instance("Pendulum.reel", self.reel, Reel)
        checks.instance("Pendulum.body", self.body, RigidBody)
        if self.fluid is not None:
            checks.instance("Pendulum.fluid", self.fluid, Fluid)
        if self.applied_force is not None:
            checks.instance("Pendulum.applied_force", self.applied_force, AppliedForce)
        gravity = checks.non_negative("Pendulum.gravity", self.gravity, "m/s^2")
        object.__setattr__(self, "gravity", gravity)
        strings = registry.GUIDE_LAWS[self.reel.guide_law].strings
        if strings and self.string.law not in strings:
            raise InputError(
                f"Reel.guide_law: expected another law with String.law = {self.string.law!r}, got "
                f"{self.reel.guide_law!r}, which is for strings that are {' or '.join(strings)}"
            )
        if self.reel.guide_length >= self.string.length:
            raise InputError(
                f"Reel.guide_length: expected a guide shorter than the string ({self.string.length:g} m), "
                f"got reel.guide_length = {self.reel.guide_length:g} m"
            )

    def weights(self) -> Weights:
        """Of string and body, buoyancy taken off."""
        g, fluid, body = self.gravity, self.fluid, self.body
        density, volume = (0.0, 0.0) if fluid is None else (fluid.density, fluid.volume)
        place = body.center_of_mass if fluid is None or fluid.buoyancy_center is None else fluid.buoyancy_center
        moment = g * (body.mass * np.array(body.center_of_mass) - density * volume * np.array(place))
        x, y, z = moment.tolist()
        string = g * (self.string.density - density * self.string.area)
        return Weights(string, g * (body.mass - density * volume), (x, y, z))

    def moving_body(self) -> RigidBody:
        """The body as it resists acceleration, the fluid that it moves along included."""
        body, fluid = self.body, self.fluid
        if fluid is None or fluid.added_mass == 0.0:
            return body
        if body.is_point:
            return RigidBody.point(body.mass + fluid.added_mass)
        place = np.array(fluid.buoyancy_center or body.center_of_mass)
        mass = body.mass + fluid.added_mass
        center = (body.mass * np.array(body.center_of_mass) + fluid.added_mass * place) / mass
        inertia = np.array(body.inertia) + steiner(fluid.added_mass, place)
        return RigidBody(mass, inertia, center, body.shape)  # type: ignore[arg-type]
