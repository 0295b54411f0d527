"""Command `torque`: torque of the motor over time; zero for a free drum (docs/theory.md, equation 46)."""

from __future__ import annotations

from tautline.kernels.data import Command, Parameters
from tautline.kernels.drive import Drive, mean_torque, torque_at
from tautline.kernels.energy import radius
from tautline.kernels.jit import inlined


@inlined
def drive(par: Parameters, command: Command, near: float, far: float, s: float) -> Drive:
    """u/d, u being the mean over the step that acts at this end."""
    return Drive(False, mean_torque(par, command, near, far) / radius(par, s), 0.0, 0.0, 0.0)


@inlined
def motor_force(par: Parameters, command: Command, t: float, s: float) -> float:
    """u(t)/d."""
    return torque_at(command, t) / radius(par, s)
