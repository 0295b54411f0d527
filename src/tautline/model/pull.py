"""Pull of a line at rest on drums and wheels: of what is out, and of what is spooled (terms of (13) at the guide)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tautline import registry
from tautline.model import drum
from tautline.model.reel import Reel
from tautline.model.string import String

E3 = np.array([0.0, 0.0, 1.0])


def pull_at_guide(string: String, reel: Reel, strain: Any) -> Any:
    """Pull of a string at this strain on the drum of a reel, less the energy that entering string brings in (N)."""
    kept = 1.0 + registry.GUIDE_LAWS[reel.guide_law].force_at_rest
    return string.tension(strain) * (1.0 + strain) - kept * string.energy_density(strain)


def pull_at_rim(string: String, tension: float) -> float:
    """Pull of a string at this tension on the rim of a wheel that it runs over, less the energy that it brings (N)."""
    strain = float(string.strain(max(tension, 0.0)))
    return tension * (1.0 + strain) - float(string.energy_density(strain))


def spooled_lever(reel: Reel, s: Any) -> Any:
    """Pull of the spooled string at the drum over its weight per length (m)."""
    return reel.guide_length + drum.spooled(reel, s).lever
