"""The whole system."""

from __future__ import annotations

from dataclasses import dataclass

from tautline.errors import InputError
from tautline.model import checks
from tautline.model.body import RigidBody
from tautline.model.fluid import Fluid, Push
from tautline.model.reel import Reel
from tautline.model.string import String


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
    push : Push, optional
        A force and a moment on the body over time.
    """

    string: String
    reel: Reel
    body: RigidBody
    gravity: float = 9.81
    fluid: Fluid | None = None
    push: Push | None = None

    def __post_init__(self) -> None:
        checks.instance("Pendulum.string", self.string, String)
        checks.instance("Pendulum.reel", self.reel, Reel)
        checks.instance("Pendulum.body", self.body, RigidBody)
        if self.fluid is not None:
            checks.instance("Pendulum.fluid", self.fluid, Fluid)
        if self.push is not None:
            checks.instance("Pendulum.push", self.push, Push)
        gravity = checks.non_negative("Pendulum.gravity", self.gravity, "m/s^2")
        object.__setattr__(self, "gravity", gravity)
        if self.string.law != "linear" and self.reel.guide_law in ("momentum", "stretched"):
            raise InputError(
                f"Pendulum: expected a linear string with the guide law {self.reel.guide_law!r}, got String.law = "
                f"{self.string.law!r}; use 'dissipative', 'published' or 'none'"
            )
        if self.reel.guide_length >= self.string.length:
            raise InputError(
                f"Pendulum: expected a guide way shorter than the string ({self.string.length:g} m), "
                f"got reel.guide_length = {self.reel.guide_length:g} m"
            )
