"""One line and one body as the chain kernels take them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tautline.model import checks
from tautline.model.body import RigidBody
from tautline.model.fluid import AppliedForce, Fluid, moving_body
from tautline.model.forms import in_si
from tautline.model.reel import Reel
from tautline.model.string import String


class Weights(NamedTuple):
    """Weights that buoyancy leaves."""

    string: float  # per unstretched length (N/m)
    body: float  # (N)
    moment: tuple[float, float, float]  # of the body's about the attachment point, body frame (N m)


@dataclass(frozen=True)
class Chain:
    """A string on a reel with a rigid body at its end, gravity along the third axis (m/s^2), and what acts on them."""

    string: String
    reel: Reel
    body: RigidBody
    gravity: float = 9.81
    fluid: Fluid | None = None
    applied_force: AppliedForce | None = None

    def __post_init__(self) -> None:
        self.reel.check_string(self.string)

    def checked_length(self, deployed: Any, rounding: float = 0.0) -> float:
        """A deployed length that the string has (m), but for this part, from a number or text with a unit."""
        X = checks.positive("deployed", in_si("deployed", deployed, "m"), "m")
        longest = self.string.length - self.reel.guide_length
        if longest * (1.0 + rounding) < X:
            checks.refuse("deployed", f"at most {longest:g} m (string.length - reel.guide_length)", deployed)
        return X

    def weights(self) -> Weights:
        """Weights of string and body, less buoyancy; less that above a surface, where there is one."""
        g, fluid, body = self.gravity, self.fluid, self.body
        density, volume = (0.0, 0.0) if fluid is None else (fluid.least_density, fluid.volume)
        place = body.center_of_mass if fluid is None or fluid.buoyancy_center is None else fluid.buoyancy_center
        x, y, z = (g * (body.mass * c - density * volume * b) for c, b in zip(body.center_of_mass, place, strict=True))
        return Weights(self.string.weight(g, fluid), g * (body.mass - density * volume), (x, y, z))

    def on_mesh(self, deployed: float, elements: int) -> Chain:
        """The pendulum with the string's damping ratio made a viscosity, for a run that starts on this mesh."""
        string = self.string.on_mesh(deployed / elements)
        return self if string is self.string else replace(self, string=string)

    def moving_body(self) -> RigidBody:
        """The body as it resists acceleration, with the fluid that it moves along everywhere."""
        return moving_body(self.body, self.fluid)
