"""The guide law `stretched`: a drum that remembers how strained the string came in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tautline.model.chain.chain import Chain
from tautline.model.chain.state import ChainState
from tautline.model.command import Command
from tautline.model.force_law import ForceLaw
from tautline.reference.curves import Array
from tautline.reference.equations import ACCOUNTS, Equations
from tautline.reference.loads import Fields


class WithSpooledString(Equations):
    """y is followed by the energy of the string on the drum.

    What came in is remembered as a curve, strain over material coordinate, with a point for every step; the kernels
    keep means of cells.
    """

    remembers = True

    def __init__(self, pendulum: Chain, elements: int, command: Command, laws: Sequence[ForceLaw] = ()) -> None:
        super().__init__(pendulum, elements, command, laws)
        self.coordinate: list[float] = []
        self.strain: list[float] = []
        self.turned = True  # the reel, since something was spooled

    def pack(self, state: ChainState) -> Array:
        spooled = self.pendulum.reel.spooled_strain
        self.coordinate, self.strain = [0.0, state.reeled_length], [spooled, spooled]
        return np.append(super().pack(state), self.density(spooled) * state.reeled_length)

    def density(self, strain: float) -> float:
        """Elastic energy of a unit of unstretched length."""
        return float(self.law.energy(strain))

    def guide_strain(self, x: Fields) -> float:
        return self.guide.strain(x.q, self.element_length(x))

    def brought_in(self, x: Fields) -> float:
        """Elastic energy that comes in with a unit of unstretched length, smoothed at standstill."""
        spooled = float(np.interp(x.s, self.coordinate, self.strain))
        share = self.guide.share(x.sigma)
        return (1.0 - share) * self.density(spooled) + share * self.density(self.guide_strain(x))

    def lost_and_stored(self, x: Fields) -> tuple[float, float]:
        """Energy that a unit of unstretched length loses at the guide, and that it has on the drum."""
        if x.sigma >= 0.0:
            return 0.0, self.brought_in(x)
        spooled = float(np.interp(x.s, self.coordinate, self.strain))
        jump = self.guide_strain(x) - spooled
        impact = 0.5 * self.pendulum.string.density * (jump * x.sigma) ** 2 + self.density(jump)
        return abs(self.guide.share(x.sigma)) * impact, self.density(spooled)

    def guide_force(self, x: Fields) -> float:
        lost, stored = self.lost_and_stored(x)
        return -stored - float(np.sign(x.sigma)) * lost

    def __call__(self, t: float, y: Array) -> Array:
        rates = super().__call__(t, y[:-1])
        x = self.unpack(y)
        stored = self.lost_and_stored(x)[1] * x.sigma
        rates[self.accounts.start + ACCOUNTS.index("guide_loss")] -= stored
        return np.append(rates, stored)

    def remember(self, y: Array) -> None:
        x = self.unpack(y)
        if x.s > self.coordinate[-1]:
            density = self.brought_in(x)
            entered = float(np.copysign(np.sqrt(2.0 * density / self.pendulum.string.stiffness), self.guide_strain(x)))
            if self.turned:  # what comes in after a time of deployment need not fit what is there
                self.coordinate.append(self.coordinate[-1])
                self.strain.append(entered)
            self.coordinate.append(x.s)
            self.strain.append(entered)
            self.turned = False
        elif x.s < self.coordinate[-1]:
            top = float(np.interp(x.s, self.coordinate, self.strain))
            while self.coordinate[-1] >= x.s:
                del self.coordinate[-1], self.strain[-1]
            self.coordinate.append(x.s)
            self.strain.append(top)
            self.turned = True

    def figures(self, t: float, y: Array) -> dict[str, Any]:
        figures = super().figures(t, y[:-1])
        figures["elastic_energy"] += y[-1]
        return figures
