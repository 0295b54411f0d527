"""A march with tangents: what a run does to small changes of everything that it starts from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import FULLY_DEPLOYED, FULLY_RETRIEVED
from tautline.gradients.leaves import leaves, with_leaves
from tautline.kernels import data
from tautline.kernels.march import march

# Directions that the kernels take at once.
WIDTH = 8
# Part by which the stand-in changes what it marches from.
PART = 1e-6


class Setting(NamedTuple):
    """All that a march depends on; its steps are of one length."""

    par: data.Parameters
    plan: data.Plan
    command: data.Command
    motion: data.Motion
    loads: data.Loads | None


class Marched(NamedTuple):
    """Samples of a march, and their derivatives as arrays with one more, last, dimension."""

    samples: data.Samples
    tangents: data.Samples
    status: int
    filled: int


def march_with_tangents(setting: Setting, tangents: list[Array], rows: int) -> Marched:
    """March, and carry at most `WIDTH` directions along.

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
    base = leaves(setting)
    count = len(leaves(setting.motion))
    first = len(leaves(setting[:3]))  # the motion's first leaf
    out = data.empty_samples(rows, N)
    out_tangents = data.Samples(np.full((*out.scalars.shape, k), np.nan), np.full((*out.nodes.shape, k), np.nan))
    ends: list[list[Array]] = []
    for j in range(k):
        scale = max(
            float(np.abs(t[..., j]).max(initial=0.0)) / (float(np.abs(x[np.isfinite(x)]).max(initial=0.0)) or 1.0)
            for x, t in ((np.asarray(x), t) for x, t in zip(base, tangents, strict=True))
        )
        if not np.isfinite(scale):
            ends.append([np.full_like(x, np.nan) for x in leaves(setting.motion)])
            continue
        e = PART / (scale or 1.0)
        sides = []
        for sign in (1.0, -1.0):
            moved = [
                np.ascontiguousarray(x + sign * e * t[..., j])
                if isinstance(x, np.ndarray)
                else float(x + sign * e * t[j])
                for x, t in zip(base, tangents, strict=True)
            ]
            other = with_leaves(setting, moved)
            other = other._replace(motion=other.motion._replace(clock=setting.motion.clock.copy()))
            found = data.empty_samples(rows, N)
            _march(other, found)
            sides.append((found, leaves(other.motion)))
        (up, up_motion), (down, down_motion) = sides
        for to, a, b in zip(out_tangents, up, down, strict=True):
            to[..., j] = (a - b) / (2.0 * e)
        ends.append([(a - b) / (2.0 * e) for a, b in zip(up_motion, down_motion, strict=True)])
    status, filled = _march(setting, out)
    for i in range(count):
        for j in range(k):
            tangents[first + i][..., j] = ends[j][i]
    return Marched(out, out_tangents, status, filled)


def _march(setting: Setting, out: data.Samples) -> tuple[int, int]:
    par, plan, command, motion, loads = setting
    scratch, backups = data.empty_scratch(par.N), data.empty_backups(motion)
    status, filled = march(par, plan, command, motion, scratch, backups, out, loads)
    return int(status), int(filled)


def march_along(setting: Setting, tangents: list[Array], rows: int) -> Marched:
    """`march_with_tangents` along any number of directions, some after others."""
    k = tangents[0].shape[-1]
    if k <= WIDTH:
        marched = march_with_tangents(setting, tangents, rows)
        return _ended(setting, marched)
    begun, found = data.copy_of(setting.motion), []
    for first in range(0, k, WIDTH):
        for array, start in zip(setting.motion, begun, strict=True):
            array[:] = start
        some = [np.ascontiguousarray(t[..., first : first + WIDTH]) for t in tangents]
        found.append(march_with_tangents(setting, some, rows))
        for t, part in zip(tangents, some, strict=True):
            t[..., first : first + WIDTH] = part
    together = data.Samples(*(np.concatenate(x, axis=-1) for x in zip(*(m.tangents for m in found), strict=True)))
    return _ended(setting, found[0]._replace(tangents=together))


def _ended(setting: Setting, marched: Marched) -> Marched:
    """Note when a march met the end of the string: at the end of a step."""
    if marched.status in (FULLY_RETRIEVED, FULLY_DEPLOYED):
        reel, step = setting.motion.reel, setting.motion.clock[data.STEP] + 1
        reel[data.STOP_TIME] = reel[data.T_START] + step * setting.plan.h
    return marched
