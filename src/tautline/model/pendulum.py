"""The whole system."""

from __future__ import annotations

from dataclasses import dataclass

from tautline.errors import InputError
from tautline.model import checks
from tautline.model.body import RigidBody
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
    """

    string: String
    reel: Reel
    body: RigidBody
    gravity: float = 9.81

    def __post_init__(self) -> None:
        checks.instance("Pendulum.string", self.string, String)
        checks.instance("Pendulum.reel", self.reel, Reel)
        checks.instance("Pendulum.body", self.body, RigidBody)
        gravity = checks.non_negative("Pendulum.gravity", self.gravity, "m/s^2")
        object.__setattr__(self, "gravity", gravity)
        if self.reel.guide_length >= self.string.length:
            raise InputError(
                f"Pendulum: expected a guide way shorter than the string ({self.string.length:g} m), "
                f"got reel.guide_length = {self.reel.guide_length:g} m"
            )
