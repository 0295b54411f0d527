"""How many elements to begin with, where none are asked for."""

from __future__ import annotations

import math

from tautline.model.pendulum import Pendulum

FEWEST, MOST = 4, 40
BASE = 6  # for a stiff, light string
FOR_MASS = 10  # more for a string that is much heavier than its body
FOR_STRETCH = 14  # more for a string that its load stretches by SOFT or more
FOR_FLUID = 4  # more where drag bends the string
SOFT = 0.05


def default_elements(pendulum: Pendulum, deployed: float) -> int:
    """Number of elements that leaves an error of about 1 % of the deployed length in ordinary motions.

    A light stiff string needs few, one that bends under its own weight or is stretched by what it carries needs more:

        6 + 10 sqrt(m/(m + M)) + 14 sqrt(min(1, F/(0.05 EA)))  (+ 4 with drag on the string),  4 to 40

    where m is the mass of the deployed string, M the body's and F the weight of both. The constants were fitted to runs
    against finer meshes (docs/howto/elements.md). The reel's command is not known here: for a long payout, give the
    length that will be out.

    Parameters
    ----------
    pendulum : Pendulum
    deployed : float
        Unstretched length outside the guide (m).
    """
    string, body = pendulum.string, pendulum.body
    m = string.density * deployed
    stretch = pendulum.gravity * (m + body.mass) / string.stiffness
    count = BASE + FOR_MASS * math.sqrt(m / (m + body.mass)) + FOR_STRETCH * math.sqrt(min(1.0, stretch / SOFT))
    if pendulum.fluid is not None and string.diameter > 0.0:
        count += FOR_FLUID
    return max(FEWEST, min(MOST, math.ceil(count)))
