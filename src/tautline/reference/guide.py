"""The guide: what the jump of strain and speed at its entrance does to the reel."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tautline.model.chain.chain import Chain
from tautline.reference.curves import Array
from tautline.reference.strings import StringLaw


class Guide:
    """The laws that need no memory."""

    def __init__(self, pendulum: Chain) -> None:
        self.reel = pendulum.reel
        self.density = pendulum.string.density
        self.law = StringLaw(pendulum.string)

    def strain(self, q: Array, l: float) -> float:
        """Just outside: of the first element, or the value there of the line through the first two."""
        strains = np.linalg.norm(np.diff(q[:3], axis=0), axis=1) / l - 1.0
        if self.reel.guide_strain == "mean" or len(strains) == 1:
            return float(strains[0])
        return float(1.5 * strains[0] - 0.5 * strains[1])

    def share(self, sigma: float) -> float:
        """Smoothed sign of the reel speed."""
        return sigma / float(np.hypot(sigma, self.reel.smoothing_speed))

    def principle(self, strain: float, sigma: float) -> float:
        """Force on s of the variational principle alone: the pull, less what the string hands over to the drum."""
        handed = float(self.law.energy(strain)) + 0.5 * self.density * sigma**2 * ((1.0 + strain) ** 2 - 1.0)
        return handed - float(self.law.tension(strain)) * (1.0 + strain)

    def lost(self, strain: float, sigma: float, retrieves: bool) -> float:
        """Energy that a unit of unstretched length loses: the impact's, and what its new side does not take up.

        A piece that changes its strain at once does so under the tension of the side that it goes to; of its own
        energy and the work of that tension the piece keeps what its new strain holds.
        """
        before, after = (strain, 0.0) if retrieves else (0.0, strain)
        work = float(self.law.tension(after)) * (after - before)
        kept = float(self.law.energy(after) - self.law.energy(before))
        return work - kept + 0.5 * self.density * (strain * sigma) ** 2

    def force(self, strain: float, sigma: float) -> float:
        """Force on s (N), beside that of the principle."""
        return FORCES[self.reel.guide_law](self, strain, sigma)


def _momentum(guide: Guide, strain: float, sigma: float) -> float:
    """The pull and the momentum that enters, both from outside, less what the principle has of them."""
    flux = guide.density * sigma * (1.0 + strain) * sigma - guide.density * sigma**2
    return flux - float(guide.law.tension(strain)) - guide.principle(strain, sigma)


def _dissipative(guide: Guide, strain: float, sigma: float) -> float:
    return -guide.share(sigma) * guide.lost(strain, sigma, retrieves=sigma >= 0.0)


# Force on s by law, from strain and reel speed. A law whose drum remembers has equations of its own (spooled.py).
FORCES: dict[str, Callable[[Guide, float, float], float]] = {
    "dissipative": _dissipative,
    "published": lambda guide, strain, sigma: -guide.lost(strain, sigma, retrieves=True),
    "momentum": _momentum,
    "none": lambda guide, strain, sigma: 0.0,
}
