"""A march of a chain with tangents."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.gradients.leaves import leaves
from tautline.gradients.marched import Marched, samples_with_tangents
from tautline.kernels import data
from tautline.kernels.tangent_march import march_with_tangents
from tautline.kernels.tangents import TANGENTS
from tautline.results.chain import Inertia


class Setting(NamedTuple):
    """All that a march and its results depend on; its steps are of one length."""

    par: data.Parameters
    plan: data.Plan
    command: data.Command
    motion: data.Motion
    loads: data.Loads
    inertia: Inertia  # which momenta follow from

    def moving(self) -> list[Any]:
        """The arrays that a march changes."""
        return list(self.motion)

    def without_workspace(self) -> Setting:
        """This setting: there is none."""
        return self

    def reel(self) -> Array:
        """The array that holds times of the motion."""
        return self.motion.reel

    def clock(self) -> Any:
        """The array that counts steps."""
        return self.motion.clock

    def march(self, tangents: list[Array], directions: int, rows: int) -> Marched:
        """March with tangents as the kernels take them, which are those at the end afterwards, like its motion.

        They are derivatives of the `leaves` of the setting, each with one more, last, dimension of `TANGENTS`.
        """
        N = self.par.N
        out, scratch = data.empty_samples(rows, N), data.empty_scratch(N)
        ends = np.cumsum([len(leaves(part)) for part in self])
        par, plan, command, motion, loads, _ = (tangents[a:b] for a, b in zip([0, *ends], ends, strict=False))
        beside = [[np.zeros((*np.shape(x), TANGENTS)) for x in leaves(part)] for part in (scratch, out)]
        status, filled = march_with_tangents(
            (self.par, self.plan, self.command, self.motion, scratch, out, self.loads),
            (par, plan, command, motion, *beside, loads),
        )
        return Marched(out, samples_with_tangents(out, beside[1], directions, int(filled)), int(status), int(filled))
