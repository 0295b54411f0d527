"""Drum on which string lies in layers: geometry, inertia (docs/theory.md, equations 50 to 53), pull of a line at rest.

Letters of the theory: d_0 is the bare drum's radius, k the growth of its square with the length spooled, w that length.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tautline import registry
from tautline.model.reel import Reel
from tautline.model.string import String


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


def guide_force_at_rest(string: String, reel: Reel, strain: Any) -> Any:
    """Force of a guide law on the reeled length of a drum at rest (N): Q of (16), (60) and (63) at standstill."""
    law = registry.GUIDE_LAWS[reel.guide_law]
    if law.remembers:
        return -string.energy_density(reel.spooled_strain)
    return law.force_at_rest * (string.energy_density(strain) - string.tension(0.0) * strain)


def pull_at_guide(string: String, reel: Reel, strain: Any) -> Any:
    """Pull of a string at this strain on the drum of a reel, less the energy that entering string brings in (N)."""
    inwards = string.tension(strain) * (1.0 + strain) - string.energy_density(strain)
    return inwards - guide_force_at_rest(string, reel, strain)


def pull_at_rim(string: String, tension: float) -> float:
    """Pull of a string at this tension on the rim of a wheel that it runs over, less the energy that it brings (N)."""
    strain = float(string.strain(max(tension, 0.0)))
    return tension * (1.0 + strain) - float(string.energy_density(strain))


def spooled_lever(reel: Reel, s: Any) -> Any:
    """Pull of the spooled string at the drum over its weight per length (m)."""
    return reel.guide_length + spooled(reel, s).lever
