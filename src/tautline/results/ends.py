"""Tension at the ends of a string, from the balance of its end nodes (docs/theory.md, "Tension at the ends")."""

from __future__ import annotations

from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.model.string import String
from tautline.model.string_loads import TINY, Elements, StringLoads, on_nodes

# Nodes next to an end whose accelerations are compared; fewer in the third of a coarse mesh.
COMPARED = 4
# Part of the acceleration of the first of them that the others may have before they count as not alike.
ALIKE = 2.0 / 3.0
# Of the tension: forces below this are not compared, so that derivatives exist at rest.
AT_REST = 1e-6
# Of the squared load on an end node: squared inertia below which the node counts as at rest.
FOLDED = 0.01


def at_ends(
    string: String,
    loads: StringLoads,
    moves: tuple[Array, Array, Array, Array],
    tension: Array,
    lengths: Array,
    l: Array,
    times: Array,
) -> tuple[Array, Array]:
    """Tension at the first and at the last node (N): exact at rest, of second order in l in motion.

    Parameters
    ----------
    string : String
    loads : StringLoads
    moves : nodes, their velocities, and speeds of what feeds start and stop
        In space, where there is a fluid; relative to the guide will do otherwise.
    tension, lengths : arrays (n, N[, members])
        Of the elements.
    l : array (n[, members])
        Unstretched length of an element.
    times : array (n,)
        Times of the samples (s).
    """
    n, N = tension.shape[:2]
    compared = min(COMPARED, max(1, N // 3))
    count = min(N, 1 + max(2, compared))

    def inward(x: Any, some: int = count) -> Any:
        """Numbers from either end inward, those of the last end behind those of the first."""
        return np.concatenate([x[:, :some], x[:, ::-1][:, :some]])

    def components(x: Any) -> Any:
        """Vectors at nodes likewise, their components first: what is worked on lies together in memory."""
        return np.stack([inward(x[:, :, axis], count + 1) for axis in range(3)])

    T, length, l = inward(tension), inward(lengths), np.concatenate([l, l])
    q = components(moves[0])
    along = (q[:, :, 1:] - q[:, :, :-1]) / np.maximum(length, TINY)
    velocity: Any = None
    if loads.flow is not None:
        v = components(moves[1])
        through = 1.0 - (np.arange(N) + 0.5) / N  # middles of elements, of what the reel takes in
        carried = length / l[:, None] * _inward(through, count, n, moves[2])
        carried += length / l[:, None] * _inward(1.0 - through, count, n, moves[3])
        velocity = 0.5 * (v[:, :, :-1] + v[:, :, 1:]) - carried * along
    pulls = T * along
    load, between = on_nodes(loads, Elements(q, velocity, along, length, l, np.concatenate([times, times])))
    end, inertia, t = pulls[:, :, 0] + load, 0.0 * load, along[:, :, 0]
    if count > 1:
        forces = pulls[:, :, 1:] - pulls[:, :, :-1] + between  # mass times acceleration
        lengthwise = (forces * along[:, :, :1]).sum(axis=0) * along[:, :, :1]
        least = AT_REST**2 * (end * end).sum(axis=0) + TINY
        large = (between[:, :, 0] * between[:, :, 0]).sum(axis=0)
        parts = (_inertia(x, compared, least, large) for x in (lengthwise, forces - lengthwise))
        inertia = sum(parts, start=inertia)
        end = end - inertia
    pull = (end * t).sum(axis=0)
    across = end - pull * t
    aside = (across * across).sum(axis=0)
    size = np.sqrt(pull * pull + aside + TINY)
    found: Any = pull + aside / (size + np.sqrt(pull * pull + TINY))
    # an element that pulls, with a load that turns the string back within its half: at rest that is a fold, no push
    at_rest = (inertia * inertia).sum(axis=0) < (FOLDED * load * load).sum(axis=0)
    found = np.where((T[:, 0] > 0.0) & (pull < 0.0) & at_rest, size, found)
    if string.law != "linear":
        found = np.where(T[:, 0] > 0.0, np.maximum(found, 0.0), T[:, 0])
    return found[:n], found[n:]


def _inward(parts: Array, count: int, n: int, speed: Array) -> Any:
    """Speeds of what a feed lets through at parts of a string, away from either end, as `at_ends` has elements."""
    both = np.repeat([parts[:count], -parts[::-1][:count]], n, axis=0)
    return both.reshape(*both.shape, *(1,) * (speed.ndim - 1)) * np.concatenate([speed, speed])[:, None]


def _inertia(forces: Any, compared: int, least: Any, large: Any) -> Any:
    """Inertia m (a_0/3 + a_1/6) of the end node, from mass times acceleration of the nodes next to it.

    The end's own acceleration a_0 is on the line through a_1 and a_2, from nothing to 4/3 of a_1. Where accelerations
    are larger than what the load on a node would give, there is less inertia if one of the compared nodes has less than
    two thirds of what the first has, and none if one is accelerated the other way: else the mesh's shortest waves would
    be doubled, and a front in the first element overshot by half. `large` is the square of that load.
    """
    own = forces[:, :, :1]
    alike, size2 = (forces * own).sum(axis=0), (own * own).sum(axis=0)[:, 0] + least
    share = (alike[:, :compared].min(axis=1) + least + large) / (ALIKE * (size2 + large))
    share = np.minimum(np.maximum(share, 0.0), 1.0)
    if forces.shape[2] == 1:
        return 0.5 * share * own[:, :, 0]
    at_end = np.minimum(np.maximum(2.0 - (alike[:, 1] + least) / size2, 0.0), 2.0 - ALIKE)
    return share * (1.0 + 2.0 * at_end) / 6.0 * own[:, :, 0]
