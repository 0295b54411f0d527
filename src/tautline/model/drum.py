"""Geometry and inertia of a drum on which string lies in layers (docs/theory.md, equations 50 to 53).

Letters of the theory: d_0 is the bare drum's radius, k the growth of its square with the length spooled, w that length.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tautline.model.reel import Reel


class Spooled(NamedTuple):
    """The spooled string's moment of weight about the drum axis over its line weight, and its first two derivatives."""

    height: Any  # A of (52) (m^2)
    lever: Any  # dA/ds of (53) (m)
    slope: Any  # of the lever by s


def mass(reel: Reel, density: float, s: float) -> float:
    """Inertia m(s) of drum, motor, spooled string and guide's string, as a mass at the string (kg): (51)."""
    d2, k, w = reel.drum_radius**2, reel.layer_growth, s - reel.guide_length
    turning = reel.turning_mass * d2 + density * w * (d2 + 0.5 * k * w)
    return turning / (d2 + k * w) + density * reel.guide_length


def spooled(reel: Reel, s: Any) -> Spooled:
    """Where the weight of the spooled string is, with s meters, a number or an array, on the reel side of the guide."""
    d_0, d, k = reel.drum_radius, reel.radius(s), reel.layer_growth
    w = s - reel.guide_length
    angle = 2.0 * w / (d_0 + d)
    sine, cosine = np.sin(angle), np.cos(angle)
    a = d_0 * d_0 - 0.5 * k * k
    moment = a * sine + k * (d - d_0 * cosine)
    return Spooled(
        a * (1.0 - cosine) + k * (w - d_0 * sine),
        moment / d,
        (a * cosine + 0.5 * k * k + k * d_0 * sine) / d**2 - 0.5 * k * moment / d**3,
    )
