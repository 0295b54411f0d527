"""How many elements to begin with, where none are asked for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tautline.model.string import String

if TYPE_CHECKING:
    from tautline.model.chain.chain import Chain

# Memory for one sample of so many elements is half a gigabyte.
MOST_ELEMENTS = 10**7
FEWEST, MOST = 4, 40
BASE = 6  # for a stiff, light string
FOR_MASS = 10  # more for a string that is much heavier than its body
FOR_STRETCH = 14  # more for a string that its load stretches by SOFT or more
FOR_FLUID = 4  # more where drag bends the string
SOFT = 0.05


def default_elements(pendulum: Chain, deployed: float) -> int:
    """Elements of the string of a pendulum with so much deployed (m)."""
    fluid = pendulum.fluid is not None
    return elements_for(pendulum.string, deployed, pendulum.body.mass, pendulum.gravity, fluid)


def elements_for(string: String, deployed: float, mass: float, gravity: float, fluid: bool) -> int:
    """Number of elements that leaves an error of about 1 % of the deployed length in ordinary motions.

    A light stiff string needs few, one that bends under its own weight or is stretched by what it carries needs more:

        6 + 10 sqrt(m/(m + M)) + 14 sqrt(min(1, F/(0.05 EA)))  (+ 4 with drag on the string),  4 to 40

    where m is the mass of the deployed string, M that of the bodies it carries and F the weight of both. The constants
    were fitted to runs against finer meshes (docs/howto/elements.md). The reel's command is not known here: for a long
    payout, give the length that will be out.

    Parameters
    ----------
    string : String
    deployed : float
        Unstretched length outside the guide (m).
    mass : float
        Mass that it carries (kg).
    gravity : float
        (m/s^2)
    fluid : bool
        Whether there is a fluid around it.
    """
    m = string.density * deployed
    stretch = gravity * (m + mass) / string.stiffness
    count = BASE + FOR_MASS * math.sqrt(m / (m + mass)) + FOR_STRETCH * math.sqrt(min(1.0, stretch / SOFT))
    if fluid and string.diameter > 0.0:
        count += FOR_FLUID
    return max(FEWEST, min(MOST, math.ceil(count)))
