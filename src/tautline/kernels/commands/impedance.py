"""Command `impedance`: a spring and a damper on the length (docs/theory.md, equations 46 and 47)."""

from __future__ import annotations

from tautline.kernels.data import Command, Parameters
from tautline.kernels.drive import Drive
from tautline.kernels.jit import inlined
from tautline.kernels.tables import curve_at


@inlined
def drive(par: Parameters, command: Command, near: float, far: float, s: float) -> Drive:
    """k (s* - s) - c (sigma - ds*/dt); the damper is implicit."""
    rest, rate, _ = curve_at(command.profile.T, near)
    return Drive(False, command.stiffness * (rest - s), 0.0, command.damping, rate)


@inlined
def motor_force(par: Parameters, command: Command, t: float, s: float) -> float:
    """k (s* - s), without the damper."""
    return command.stiffness * (curve_at(command.profile.T, t)[0] - s)
