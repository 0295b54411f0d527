"""Pull of a line at rest on its drum: of what is deployed, and of what is spooled (the terms of (13) at the guide)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tautline import registry
from tautline.model import drum
from tautline.model.reel import Reel
from tautline.model.string import String

E3 = np.array([0.0, 0.0, 1.0])


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


def spooled_lever(reel: Reel, s: Any) -> Any:
    """Pull of the spooled string at the drum over its weight per length (m)."""
    return reel.guide_length + drum.spooled(reel, s).lever
