"""A march with tangents: what a run does to small changes of everything that it starts from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import FULLY_DEPLOYED, FULLY_RETRIEVED
from tautline.gradients.assembly.marching import AssemblySetting, march_assembly_with_tangents
from tautline.gradients.leaves import leaves
from tautline.gradients.marched import Marched, samples_with_tangents, widened
from tautline.kernels import data
from tautline.kernels.tangent_march import march_with_tangents as march
from tautline.kernels.tangents import TANGENTS


class Setting(NamedTuple):
    """All that a march depends on; its steps are of one length."""

    par: data.Parameters
    plan: data.Plan
    command: data.Command
    motion: data.Motion
    loads: data.Loads

    def moving(self) -> list[Any]:
        """The arrays that a march changes."""
        return list(self.motion)

    def without_workspace(self) -> Setting:
        """The same: there is none."""
        return self

    def reel(self) -> Array:
        """The array that holds times of the motion."""
        return self.motion.reel

    def clock(self) -> Any:
        """The array that counts steps."""
        return self.motion.clock


def march_with_tangents(setting: Setting, tangents: list[Array], rows: int) -> Marched:
    """March, and carry at most `TANGENTS` directions along.

    Parameters
    ----------
    setting : Setting
        Its motion is the one at the end afterwards.
    tangents : list of array
        Derivatives of the `leaves` of the setting, each with one more, last, dimension; those of the motion are the
        ones at the end afterwards.
    rows : int
        Samples to fill.
    """
    N, k = setting.par.N, tangents[0].shape[-1]
    out, scratch = data.empty_samples(rows, N), data.empty_scratch(N)
    wide = widened(tangents)
    ends = np.cumsum([len(leaves(part)) for part in setting])
    par, plan, command, motion, loads = (wide[a:b] for a, b in zip([0, *ends], ends, strict=False))
    beside = [[np.zeros((*np.shape(x), TANGENTS)) for x in leaves(part)] for part in (scratch, out)]
    status, filled = march(
        (setting.par, setting.plan, setting.command, setting.motion, scratch, out, setting.loads),
        (par, plan, command, motion, *beside, loads),
    )
    for t, found in zip(tangents[ends[2] : ends[3]], motion, strict=True):
        t[...] = found[..., :k]
    return Marched(out, samples_with_tangents(out, beside[1], k, int(filled)), int(status), int(filled))


def march_along(setting: Setting | AssemblySetting, tangents: list[Array], rows: int) -> Marched:
    """`march_with_tangents` of a pendulum or an assembly, along any number of directions, some after others."""

    def march(some: list[Array]) -> Marched:
        if isinstance(setting, AssemblySetting):
            return march_assembly_with_tangents(setting, some, rows)
        return march_with_tangents(setting, some, rows)

    k = tangents[0].shape[-1]
    if k <= TANGENTS:
        return _ended(setting, march(tangents))
    begun, found = [x.copy() for x in setting.moving()], []
    for first in range(0, k, TANGENTS):
        for array, start in zip(setting.moving(), begun, strict=True):
            array[:] = start
        some = [np.ascontiguousarray(t[..., first : first + TANGENTS]) for t in tangents]
        found.append(march(some))
        for t, part in zip(tangents, some, strict=True):
            t[..., first : first + TANGENTS] = part
    parts = zip(*(m.tangents for m in found), strict=True)
    together = type(found[0].tangents)(*(np.concatenate(x, axis=-1) for x in parts))
    return _ended(setting, found[0]._replace(tangents=together))


def _ended(setting: Setting | AssemblySetting, marched: Marched) -> Marched:
    """Note when a march met the end of the string: at the end of a step."""
    if marched.status in (FULLY_RETRIEVED, FULLY_DEPLOYED):
        reel, step = setting.reel(), setting.clock()[data.STEP] + 1
        reel[data.STOP_TIME] = reel[data.T_START] + step * setting.plan.h
    return marched
