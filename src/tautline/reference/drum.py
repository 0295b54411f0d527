"""The drum: what is spooled on it, its motor, its friction, and the motion that it may be given."""

from __future__ import annotations

from typing import Any

import numpy as np

from tautline.model.chain.chain import Chain
from tautline.model.command import Command
from tautline.model.command import Drum as Turning
from tautline.model.commands.base import BY_TORQUE
from tautline.reference.curves import Curve, of_length, through_table

# Points along the spooled string; its angle on the drum is some hundred radians at most.
_SPOOLED, _SPOOLED_WEIGHTS = np.polynomial.legendre.leggauss(400)


class Drum:
    """A drum under a command. `inside` of a method is a time in the piece of the tables that holds."""

    def __init__(self, pendulum: Chain, command: Command) -> None:
        self.reel = pendulum.reel
        self.command = command
        self.density = pendulum.string.density
        self.length = pendulum.string.length
        limits = (self.reel.max_torque, self.reel.max_power)
        self.max_torque, self.max_power = (np.inf if x is None else x for x in limits)
        self.torque_curve: Curve | None = None  # of the motor or the brake
        if command.kernel in BY_TORQUE and not command.is_function:
            self.torque_curve = through_table(*command.torques())
        self.curve: Curve | None = None  # of the deployed length
        self.direction = 0.0  # of the slip, where dry friction acts
        self.origin = (0.0, 0.0)  # time and deployed length when the command was given

    def begin(self, reeled_length: float) -> None:
        """Where a curve in time starts from is known only now."""
        self.origin = (0.0, self.length - reeled_length)
        if self.command.has_curve:
            self.curve = of_length(self.command, self.length - reeled_length)

    @property
    def knots(self) -> list[float]:
        """Times at which a force or a motion may have a kink or a jump."""
        return [t for curve in (self.torque_curve, self.curve) if curve is not None for t in curve.knots]

    def planned(self, t: float, inside: float | None = None) -> tuple[float, float, float]:
        """Reeled length, speed and acceleration of the curve."""
        assert self.curve is not None
        x, v, a = (float(self.curve.at(t, inside, k)[0]) for k in range(3))
        return self.length - x, -v, -a

    def radius(self, s: float) -> float:
        """With what is spooled on it (m)."""
        return float(np.sqrt(self.reel.drum_radius**2 + self.reel.layer_growth * (s - self.reel.guide_length)))

    def motor(self, t: float, s: float, sigma: float, inside: float | None = None) -> float:
        """Torque of the motor, within the limits (N m)."""
        command, d = self.command, self.radius(s)
        if command.kernel == "torque" and self.torque_curve is not None:
            u = float(self.torque_curve.at(t, inside)[0])
        elif command.kernel == "impedance":
            rest, speed, _ = self.planned(t, inside)
            u = d * (command.stiffness * (rest - s) + command.damping * (speed - sigma))
        else:  # as the command itself says, in words
            u = command.motor_torque(Turning(t, self.length - s, -sigma, d), self.origin)
        most = self.max_torque if sigma == 0.0 else min(self.max_torque, self.max_power * d / abs(sigma))
        return float(np.clip(u, -most, most))

    def dry(self, t: float, inside: float | None = None) -> float:
        """Torque of dry friction, of the drum and of a brake (N m)."""
        brake = float(self.torque_curve.at(t, inside)[0]) if self.command.sticks and self.torque_curve else 0.0
        return self.reel.coulomb_friction + brake

    @property
    def may_stick(self) -> bool:
        """Whether dry friction can hold the drum; it cannot under prescribed motion."""
        slips = self.command.sticks or self.reel.coulomb_friction > 0.0
        return slips and not self.command.prescribes

    def friction(self, t: float, s: float, sigma: float, inside: float | None = None) -> float:
        """Force on s of viscous friction, and of the dry friction of a drum that slips (N)."""
        d = self.radius(s)
        sign = self.direction if self.may_stick else float(np.sign(sigma))
        return -self.reel.viscous_friction * sigma / d**2 - sign * self.dry(t, inside) / d

    def spooled(self, s: float) -> tuple[float, float, float, float]:
        """Inertia as a mass, and its rate by s; height of the spooled string times its length, and its rate.

        By quadrature along the string; what is spooled first lies on a smaller radius where the drum grows.
        """
        reel, mu = self.reel, self.density
        w, k = s - reel.guide_length, reel.layer_growth
        points = 0.5 * w * (_SPOOLED + 1.0)
        weights = 0.5 * w * _SPOOLED_WEIGHTS
        radii = np.sqrt(reel.drum_radius**2 + k * points)
        d = self.radius(s)
        motor = reel.motor_inertia * reel.gear_ratio**2
        inertia: Any = reel.inertia_mass * reel.drum_radius**2 + motor + mu * weights @ radii**2
        behind = 2.0 * (w - points) / (d + radii)  # the integral of dw/d between two places
        mass = inertia / d**2 + mu * reel.guide_length
        above, lever = weights @ (radii * np.sin(behind)), weights @ (radii * np.cos(behind)) / d
        return float(mass), float(mu - k * inertia / d**4), float(above), float(lever)
