"""Rounding in a plot: values far below the scale of the system they are of."""

from __future__ import annotations

import math
import sys

from tautline.model.body import RigidBody
from tautline.viewer.subject import Subject

# Of a plot's scale: sums over many steps err by more than one rounding.
PART = 1e-11
# The error of a balance is itself near rounding, and is to be seen down to it.
EPSILON = sys.float_info.epsilon


def floors(subject: Subject) -> list[float]:
    """For each plot, the size below which its values are rounding, from mass, length and gravity of the system."""
    length = max(line.string.length for line in subject.lines)
    bodies = sum(body.mass for body in subject.bodies.values() if isinstance(body, RigidBody))
    mass = bodies + sum(line.string.density * line.string.length for line in subject.lines)
    weight = mass * max(subject.gravity, 1e-3)
    speed = math.sqrt(weight * length / mass)
    radius = max((x.reel.drum_radius for x in subject.mounts), default=0.0) or length
    scales = {
        "energies": weight * length,
        "lengths": length,
        "tension": weight,
        "end_tension": weight,
        "reel": speed,
        "speed": speed,
        "torque": weight * radius,
        "power": weight * speed,
        "spin": speed / length,
        "linear": mass * speed,
        "momentum": mass * speed * length,
    }
    exact = {"energy_error": EPSILON * scales["energies"], "orthogonality": EPSILON}
    return [exact.get(plot.name, PART * scales.get(plot.name, 0.0)) for plot in subject.plots]
