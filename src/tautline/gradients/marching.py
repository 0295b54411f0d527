"""A march with tangents: what a run does to small changes of everything that it starts from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import FULLY_DEPLOYED, FULLY_RETRIEVED
from tautline.gradients.leaves import leaves
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


class Marched(NamedTuple):
    """Samples of a march, and their derivatives as arrays with one more, last, dimension."""

    samples: data.Samples
    tangents: data.Samples
    status: int
    filled: int


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
    wide = [np.concatenate([t, np.zeros((*t.shape[:-1], TANGENTS - k))], axis=-1) for t in tangents]
    ends = np.cumsum([len(leaves(part)) for part in setting])
    par, plan, command, motion, loads = (wide[a:b] for a, b in zip([0, *ends], ends, strict=False))
    beside = [[np.zeros((*np.shape(x), TANGENTS)) for x in leaves(part)] for part in (scratch, out)]
    status, filled = march(
        (setting.par, setting.plan, setting.command, setting.motion, scratch, out, setting.loads),
        (par, plan, command, motion, *beside, loads),
    )
    for t, found in zip(tangents[ends[2] : ends[3]], motion, strict=True):
        t[...] = found[..., :k]
    derivatives = data.Samples(*(x[..., :k] for x in beside[1]))
    for x in derivatives:
        x[filled:] = np.nan
    return Marched(out, derivatives, int(status), int(filled))


def march_along(setting: Setting, tangents: list[Array], rows: int) -> Marched:
    """`march_with_tangents` along any number of directions, some after others."""
    k = tangents[0].shape[-1]
    if k <= TANGENTS:
        marched = march_with_tangents(setting, tangents, rows)
        return _ended(setting, marched)
    begun, found = data.copy_of(setting.motion), []
    for first in range(0, k, TANGENTS):
        for array, start in zip(setting.motion, begun, strict=True):
            array[:] = start
        some = [np.ascontiguousarray(t[..., first : first + TANGENTS]) for t in tangents]
        found.append(march_with_tangents(setting, some, rows))
        for t, part in zip(tangents, some, strict=True):
            t[..., first : first + TANGENTS] = part
    together = data.Samples(*(np.concatenate(x, axis=-1) for x in zip(*(m.tangents for m in found), strict=True)))
    return _ended(setting, found[0]._replace(tangents=together))


def _ended(setting: Setting, marched: Marched) -> Marched:
    """Note when a march met the end of the string: at the end of a step."""
    if marched.status in (FULLY_RETRIEVED, FULLY_DEPLOYED):
        reel, step = setting.motion.reel, setting.motion.clock[data.STEP] + 1
        reel[data.STOP_TIME] = reel[data.T_START] + step * setting.plan.h
    return marched
