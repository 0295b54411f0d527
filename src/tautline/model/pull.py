"""Pull of a line at rest on its drum: weight below the guide, weight of what is spooled, and the torque that holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from tautline import registry
from tautline.model import drum
from tautline.model.chain.chain import Chain
from tautline.model.reel import Reel
from tautline.model.string import String

E3 = np.array([0.0, 0.0, 1.0])


def guide_pull(pendulum: Chain, deployed: float) -> float:
    """Downward pull of string and body at the guide entrance, buoyancy taken off (N)."""
    net = pendulum.weights()
    return net.body + net.string * deployed


def pull_on_drum(pendulum: Chain, strain: Any) -> Any:
    """Pull of the deployed string at this strain at the guide, less the energy that entering string brings in (N).

    The terms of (13) at the guide, at rest.
    """
    return pull_at_guide(pendulum.string, pendulum.reel, strain)


def pull_at_guide(string: String, reel: Reel, strain: Any) -> Any:
    """Pull of a string at this strain on the drum of a reel, less the energy that entering string brings in (N)."""
    kept = 1.0 + registry.GUIDE_LAWS[reel.guide_law].force_at_rest
    return string.tension(strain) * (1.0 + strain) - kept * string.energy_density(strain)


def holding_torque(pendulum: Chain, s: float, strain: float) -> float:
    """Torque that holds the drum against the string at this strain and the spooled string's weight (N m)."""
    return float(pendulum.reel.radius(s) * (pull_on_drum(pendulum, strain) + spooled_weight(pendulum, s)))


def spooled_weight(pendulum: Chain, s: Any) -> Any:
    """Pull at the drum of the weight of what is spooled and in the guide (N): the gravity terms of (13)."""
    return pendulum.weights().string * spooled_lever(pendulum.reel, s)


def spooled_lever(reel: Reel, s: Any) -> Any:
    """Pull of the spooled string at the drum over its weight per length (m)."""
    return reel.guide_length + drum.spooled(reel, s).lever
