"""Derivatives of torques that are found after a run: those that hold a locked reel, or lead one whose motion is given.

Such a torque follows from a sample, the parameters, the motion that is commanded and the loads, which all carry
derivatives: the kernel that finds it is compiled with tangents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tautline import registry
from tautline.arrays import Array
from tautline.gradients.arrays import Dual
from tautline.gradients.chain.marching import Setting
from tautline.gradients.leaves import leaves
from tautline.gradients.marched import in_parts
from tautline.gradients.outputs import ON_KNOT, on_moved_knots
from tautline.kernels import data
from tautline.kernels.tangent_march import torques_with_tangents
from tautline.kernels.tangents import TANGENTS
from tautline.model.command import Command

# Of the largest derivative along a direction: where both sides of a knot differ by more, there is none.
SAME = 1e-8


def found_afterwards(par: data.Parameters, command: Command) -> bool:
    """Whether torques are found from samples; the paper's scheme has its own of a prescribed motion, from its steps."""
    return command.holds or (command.prescribes and par.theta > 0.0)


def held_torques(setting: Setting, dual: Any, times: Dual, samples: Any) -> Dual:
    """Torques of samples, with derivatives; NaN where these are not known.

    Parameters
    ----------
    setting : Setting
    dual : Setting
        The same, carrying derivatives.
    times : Dual
        Of the samples (s).
    samples : Samples
        Carry derivatives.
    """
    torques: Array = samples.scalars.value[:, data.DRUM_TORQUE]
    if not len(torques) or not times.directions:
        return Dual(torques, np.zeros((len(torques), times.directions)))
    slopes = _torques(setting, dual, times, samples).tangent
    speed = samples.scalars[:, data.REEL_SPEED]
    begins = (speed.value == 0.0) & (setting.par.coulomb > 0.0) & (not setting.command.locked)
    slopes[begins[:, None] & (speed.tangent != 0.0)] = np.nan
    rows = _on_moved_knots(dual, times)
    some = rows.any(axis=1)
    if some.any():
        slack = ON_KNOT * float(times.value.max())
        x = type(samples)(*(part[some] for part in samples))
        before, after = (_torques(setting, dual, times[some] + side, x) for side in (-slack, slack))
        size = np.abs(np.nan_to_num(slopes)).max(axis=0)
        largest = float(np.abs(np.nan_to_num(torques)).max())
        apart = ~(np.abs(after.tangent - before.tangent) <= SAME * size)
        apart |= ~(np.abs(after.value - before.value) <= SAME * largest)[:, None]
        slopes[some] = np.where(rows[some] & apart, np.nan, slopes[some])
    return Dual(torques, slopes)


def _torques(setting: Setting, dual: Any, times: Dual, samples: Any) -> Dual:
    """Torques of samples, and their derivatives along all directions; NaN where none is found."""
    par, command, loads = setting.par, setting.command, setting.loads
    memory = setting.motion.reel[data.REEL_SIZE :]  # of the drum; while that is locked it stays as it is
    parts = (dual.par, dual.command, times, dual.motion.reel[data.REEL_SIZE :], samples, dual.loads)
    given = [[x.tangent for x in leaves_of(part)] for part in parts]
    ends = np.cumsum([len(part) for part in given]).tolist()

    def find(some: list[Array], directions: int) -> tuple[Array, Array]:
        wide = [some[a:b] for a, b in zip([0, *ends], ends, strict=False)]
        out = data.Samples(*(np.ascontiguousarray(x.value).copy() for x in samples))
        out.scalars[:, data.DRUM_TORQUE] = np.nan
        workspace, scratch = data.empty_motion(par.N, len(memory)), data.empty_scratch(par.N)
        workspace.reel[data.REEL_SIZE :] = memory
        beside = [[np.zeros((*x.shape, TANGENTS)) for x in leaves(part)] for part in (workspace, scratch)]
        beside[0][data.Motion._fields.index("reel")][data.REEL_SIZE :] = wide[3][0]
        along = wide[4]
        along[0][:, data.DRUM_TORQUE] = np.nan
        arguments = (par, command, np.ascontiguousarray(times.value), workspace, scratch, out, loads)
        torques_with_tangents(arguments, (*wide[:3], *beside, along, wide[5]))
        return out.scalars[:, data.DRUM_TORQUE], along[0][:, data.DRUM_TORQUE, :directions]

    values, slopes = zip(*in_parts([t for part in given for t in part], find, ()), strict=True)
    return Dual(values[-1], np.concatenate(slopes, axis=-1))


def leaves_of(tree: Any) -> list[Dual]:
    """Numbers of nested tuples that all carry derivatives, in the order of `leaves`."""
    if isinstance(tree, Dual):
        return [tree]
    return [x for item in tree for x in leaves_of(item)] if isinstance(tree, tuple) else []


def _on_moved_knots(dual: Any, times: Dual) -> Any:
    """Samples that stand on a knot of a table, and directions along which the knot moves otherwise than they do."""
    loads = dual.loads
    drag, force = (loads.own[data.code(registry.LOADS, name)] for name in ("drag", "applied_force"))
    tables = (dual.command.profile[:, 0], loads.path[0], drag.times, force.table[0])
    return np.logical_or.reduce([on_moved_knots(knots, times) for knots in tables])
