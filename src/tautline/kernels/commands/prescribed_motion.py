"""Command `prescribed_motion`: s is a given function of time (docs/theory.md, equations 40 to 42).

The torque that it takes comes from inverse dynamics (inverse.py).
"""

from __future__ import annotations

from tautline.kernels.data import Command, Parameters
from tautline.kernels.drive import Drive
from tautline.kernels.jit import inlined
from tautline.kernels.tables import curve_at


@inlined
def drive(par: Parameters, command: Command, near: float, far: float, s: float) -> Drive:
    """sigma is given, by the increment of the profile over the step."""
    return Drive(True, 0.0, 0.0, 0.0, curve_at(command.profile.T, near)[1])


@inlined
def motor_force(par: Parameters, command: Command, t: float, s: float) -> float:
    """0: the command does not say it, inverse dynamics does."""
    return 0.0
