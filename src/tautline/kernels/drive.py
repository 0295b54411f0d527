"""Drive of the drum by a command, and torques given by tables."""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels.data import Command, Parameters
from tautline.kernels.jit import kernel
from tautline.kernels.tables import linear_at, weighted_mean


class Drive(NamedTuple):
    """A command at the near end of a step."""

    held: bool  # sigma is given
    motor: float  # force of the motor on s at the target speed, before its limits (N)
    brake: float  # torque of dry friction that the brake adds (N m)
    damping: float  # of the controller (N s/m)
    target: float  # speed (m/s)


@kernel
def torque_at(command: Command, t: float) -> float:
    """Moment of the motor or of the brake at a time."""
    return linear_at(command.times, command.torques, t)


@kernel
def mean_torque(par: Parameters, command: Command, near: float, far: float) -> float:
    """Moment that acts at the near end of a step for its part of the step (equation 80)."""
    if command.pointwise:
        return torque_at(command, near)
    mean = weighted_mean(command.times, command.torques, near, far)
    if par.theta == 0.0 and len(command.times) > 1:  # the paper's scheme gives all of it at the start
        mean = 0.5 * (mean + weighted_mean(command.times, command.torques, far, near))
    return mean
