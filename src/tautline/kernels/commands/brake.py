"""Command `brake`: dry friction that holds the drum up to a torque, and rubs beyond (docs/theory.md, equation 44).

Order 2 only: stages that go back in time have no unique motion where something sticks.
"""

from __future__ import annotations

from tautline.kernels.data import Command, Parameters
from tautline.kernels.drive import Drive, mean_torque
from tautline.kernels.jit import inlined


@inlined
def drive(par: Parameters, command: Command, near: float, far: float, s: float) -> Drive:
    """No motor; the torque adds to that of the drum's own dry friction."""
    return Drive(False, 0.0, mean_torque(par, command, near, far), 0.0, 0.0)


@inlined
def motor_force(par: Parameters, command: Command, t: float, s: float) -> float:
    """0, there is no motor."""
    return 0.0
