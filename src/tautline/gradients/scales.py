"""Which of the numbers that a march takes are of one kind, so that the largest of them says what is small."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline import ledger
from tautline.arrays import Array
from tautline.gradients.leaves import NESTED
from tautline.kernels import data
from tautline.kernels.loads.applied_force import AppliedForce
from tautline.kernels.loads.drag import Drag
from tautline.kernels.network import data as network

# Places of a group that does not matter: numbers of limits, and rounding that sums still owe.
IGNORED = -1
# Coefficients of polynomials are rounded less often than other numbers (differences.ROUNDINGS): those of a hundred
# waves were seen to be off by 300 roundings of the places that they follow from. Of a sine with a thousand knots in a
# period this is 1.4e-9 of its speed over a change by a hundredth, and no more of the motion.
FEW_ROUNDINGS = 0.2
# Kinds of numbers in a motion and in samples; numbers that are in none have no other of their kind.
BODY = ((data.ATTITUDE, 4), (data.SPIN, 3), (data.OMEGA, 9), (data.FLUID_AT_BODY, 3))
REEL = ((data.FRAME_VELOCITY, 3), (data.GUIDE_IMPULSE, 3), (data.STEP_MOMENTUM, 3))
SPEEDS = (data.SIGMA, data.SIGMA_BEFORE, data.SIGMA_EARLIER, data.HELD_SPEED)
LIMITS = (
    data.KEPT,
    data.POTENTIAL,
    data.IN_PLAY,
    data.GUARDED,
    data.GUARDED_STEP,
    data.VISCOUS_PULL,
    data.DRAG_ON_BODY,
    *range(data.RATIOS, data.RATIOS + 5),
)
OWED = (data.POSITION_ERR, data.MOMENTUM_ERR)
OWED_BY_BODY = (*range(data.ATTITUDE_ERR, data.ATTITUDE_ERR + 4), *range(data.SPIN_ERR, data.SPIN_ERR + 3))
SCALARS = (
    (0, len(ledger.ACCOUNTS)),
    (data.ANGULAR_VELOCITY, 3),
    (data.ROTATION, 9),
    (data.GUIDE_PLACE, 3),
    (data.GUIDE_VELOCITY, 3),
    (data.GIVEN_BY_GUIDE, 3),
)
# Of a network: of a body, and in its samples.
NETWORK_BODY = (
    (data.ATTITUDE, 4),
    *((place, 3) for place in (network.PLACE, network.LINEAR, network.ANGULAR, network.FLUID)),
    *((place, 3) for place in (network.GIVEN, network.GIVEN_MOMENT)),
    *((place, 9) for place in (network.V, network.OMEGA)),
)
OWED_BY_NETWORK_BODY = [
    *range(data.ATTITUDE_ERR, data.ATTITUDE_ERR + 4),
    *(p + i for p in (network.PLACE_ERR, network.LINEAR_ERR, network.ANGULAR_ERR) for i in range(3)),
]
# Of steps so long ago that no more than a search begins there.
OLDER = [p + i for p in (network.V_OLDER, network.OMEGA_OLDER) for i in range(6)]
WHOLE = ((0, len(ledger.ACCOUNTS)), (network.LINEAR_MOMENTUM, 3), (network.ANGULAR_MOMENTUM, 3))
BODY_SAMPLES = (
    *((place, 3) for place in (network.BODY_PLACE, network.BODY_VELOCITY, network.BODY_OMEGA)),
    (network.BODY_ATTITUDE, 9),
    (network.BODY_GIVEN, 3),
    (network.BODY_GIVEN + 3, 3),
)
# What holds states and samples.
STATES = (data.Motion, data.Samples, network.Body, network.Strand, network.Network, network.WholeSamples)
# Fields that only limit steps.
LIMITING: dict[type, tuple[str, ...]] = {
    data.Plan: (
        *("minimum_length", "limit_multiple", "allowed_ratio", "resolution", "end_mass", "body_frequency2"),
        *("drum_stiffness", "swing", "drum_damping"),
    ),
    Drag: ("string_rate", "body_rate"),
    network.Body: ("pull_lever", "heave2"),
    network.Strand: ("inverse_end_mass", "turned", "shortest"),
}


class Scales(NamedTuple):
    """Groups of numbers, in the order of `flat`."""

    groups: Any  # (n,) of whole numbers; IGNORED for those that do not matter
    weights: Array  # (n,) by which numbers of a group are made comparable
    usual: Array  # (n,) size of numbers at which rounding may be expected, even where all of a group are zero

    def largest(self, x: Array) -> Array:
        """For every number the largest size among those of its group, in its own measure."""
        sizes = np.where(np.isfinite(x), np.abs(x), 0.0) * self.weights
        found = np.zeros(len(x) + 1)
        np.maximum.at(found, self.groups, sizes)
        return np.asarray(found[self.groups] / self.weights)

    def part(self, places: slice | NDArray[np.int64]) -> Scales:
        """Scales of some of the numbers."""
        kinds, groups = np.unique(self.groups[places], return_inverse=True)
        groups = np.where(kinds[groups] == IGNORED, IGNORED, groups)
        return Scales(groups, self.weights[places], self.usual[places])


def scales_of(tree: Any) -> Scales:
    """Groups of the numbers of nested tuples."""
    groups, weights, usual, count = [], [], [], 0
    for ids, measure, size in _parts(tree):
        groups.append(np.where(ids < 0, IGNORED, ids + count).ravel())
        weights.append(_everywhere(measure, ids.shape))
        usual.append(_everywhere(size, ids.shape))
        count += int(ids.max(initial=-1)) + 1
    return Scales(np.concatenate(groups), np.concatenate(weights), np.concatenate(usual))


def _everywhere(x: Any, shape: tuple[int, ...]) -> Array:
    """A row of a number, or of an array that has so many when it is broadcast."""
    return np.full(math.prod(shape), x) if isinstance(x, float) else np.broadcast_to(x, shape).ravel()


def _parts(tree: Any, ignored: bool = False, loaded: bool = True) -> Iterator[tuple[Any, Any, Any]]:
    """Groups within each leaf or each vector, weights, and the usual size: SI units for states.

    Where no loads act, velocities of earlier steps of free bodies are where a search begins, and no more.
    """
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        loaded = loaded and getattr(tree, "loaded", True)
        for name, item in zip(tree._fields, tree, strict=True):
            special = SPECIAL.get((type(tree), name))
            if special is not None:
                if special is FREE_BODY and not loaded and tree.free:  # type: ignore[attr-defined]
                    special = GUESSED_BODY
                ids, measure, *rounded = special(item)
                usual = rounded[0] if rounded else 1.0 if isinstance(tree, STATES) else 0.0
                yield ids, measure, usual
            else:
                yield from _parts(item, ignored or name in LIMITING.get(type(tree), ()), loaded)
    elif isinstance(tree, tuple) and tree and all(isinstance(x, float) for x in tree):
        yield np.full(len(tree), IGNORED if ignored else 0), 1.0, 0.0
    elif isinstance(tree, tuple) and tree and all(isinstance(x, tuple) and len(x) == 3 for x in tree):
        yield np.zeros(3 * len(tree), dtype=int), 1.0, 0.0  # a matrix
    elif isinstance(tree, NESTED):
        for item in tree:
            yield from _parts(item, ignored, loaded)
    elif isinstance(tree, float):
        yield np.full(1, IGNORED if ignored else 0), 1.0, 0.0
    elif isinstance(tree, np.ndarray) and tree.dtype == np.float64:
        rows = np.arange(len(tree)) if tree.ndim > 1 else np.zeros(1, dtype=int)
        yield np.broadcast_to(rows.reshape(-1, *(1,) * (tree.ndim - 1)), tree.shape), 1.0, 0.0


def _placed(size: int, together: Any, ignored: Any = ()) -> Any:
    """Groups of places that are each alone but for some runs of them."""
    ids = np.arange(size)
    for first, count in together:
        ids[first : first + count] = first
    ids[list(ignored)] = IGNORED
    return ids


def _nodes(array: Array) -> tuple[Any, Any]:
    ids = np.arange(len(array))
    ids[data.VELOCITY_BEFORE] = data.VELOCITY
    ids[list(OWED)] = IGNORED
    return np.broadcast_to(ids[:, None], array.shape), 1.0


def _reel(array: Array) -> tuple[Any, Any]:
    places = range(data.BOOKS, data.REEL_SIZE)
    owed = (*places[1::2], data.S_ERR, data.P_S_ERR, *range(data.GUIDE_IMPULSE_ERR, data.GUIDE_IMPULSE_ERR + 3))
    ids = _placed(len(array), (*REEL, (data.REEL_SIZE, len(array) - data.REEL_SIZE)), (*LIMITS, *owed))
    ids[list(SPEEDS)] = data.SIGMA
    ids[list(places[::2])] = data.BOOKS
    return ids, 1.0


def _scalars(array: Array) -> tuple[Any, Any]:
    ids = _placed(array.shape[1], SCALARS, (data.ORTHOGONALITY, data.STEP_LENGTH))
    ids[data.ROTATIONAL] = 0
    return np.broadcast_to(ids, array.shape), 1.0


def _sample_nodes(array: Array) -> tuple[Any, Any]:
    return np.broadcast_to(np.arange(array.shape[1])[:, None, None], array.shape), 1.0


def _polynomials(knots: Array, values: Array, powers: Any) -> tuple[Any, Array, Array]:
    """Groups, weights and usual sizes of knots and of coefficients of powers of the distance from them; -1 of knots.

    Slopes are a group of their own. They are rounded as differences of values are, over the distance of knots.
    """
    apart = np.diff(knots)
    width = float(np.median(apart)) if len(apart) else 1.0
    weights = np.where(powers < 0, 1.0, np.where(powers == 0, 1.0, width ** np.maximum(powers - 1.0, 0.0)))
    rounded = FEW_ROUNDINGS * float(np.abs(values).max(initial=0.0)) / width
    return np.minimum(powers + 1, 2), weights, np.where(powers > 0, rounded, 0.0) / weights


def _profile(array: Array) -> tuple[Any, Any, Any]:
    ids, weights, usual = _polynomials(array[:, 0], array[:, 1], np.arange(-1, array.shape[1] - 1))
    return np.broadcast_to(ids, array.shape), weights, usual


def _rows_of_powers(array: Array, count: int) -> tuple[Any, Any, Any]:
    """Rows of knots, then so many of powers for each component."""
    powers = np.array([-1, *(k % count for k in range(len(array) - 1))])
    ids, weights, usual = _polynomials(array[0], array[1::count], powers)
    return np.broadcast_to(ids[:, None], array.shape), weights[:, None], usual[:, None]


def _path(array: Array) -> tuple[Any, Any, Any]:
    return _rows_of_powers(array, 4)


def _tension(array: Array) -> tuple[Any, Any, Any]:
    return _rows_of_powers(array, len(array) - 1)


def _vectors(array: Array) -> tuple[Any, Any, Any]:
    """Places, then vectors."""
    ids = (np.arange(len(array)) + 2) // 3
    return np.broadcast_to(ids[:, None], array.shape), 1.0, 0.0


def _columns(together: Any, ignored: Any = ()) -> Callable[[Array], tuple[Any, Any]]:
    """Groups along the last index."""
    return lambda array: (np.broadcast_to(_placed(array.shape[-1], together, ignored), array.shape), 1.0)


FREE_BODY = _columns(NETWORK_BODY, [*OWED_BY_NETWORK_BODY, *OLDER])
GUESSED_BODY = _columns(NETWORK_BODY, [*OWED_BY_NETWORK_BODY, *OLDER, *range(network.V, network.V + 18)])
SPECIAL: dict[tuple[type, str], Callable[[Any], tuple[Any, ...]]] = {
    (data.Motion, "nodes"): _nodes,
    (data.Motion, "body"): lambda array: (_placed(len(array), BODY, OWED_BY_BODY), 1.0),
    (data.Motion, "reel"): _reel,
    (data.Samples, "scalars"): _scalars,
    (data.Samples, "nodes"): _sample_nodes,
    (data.Command, "profile"): _profile,
    (data.Loads, "path"): _path,
    (data.Parameters, "tension_table"): _tension,
    (AppliedForce, "table"): _vectors,
    (Drag, "flow"): _vectors,
    (network.Body, "state"): FREE_BODY,
    (network.Body, "path"): _path,
    (network.Body, "angles"): _path,
    (network.Body, "applied"): _vectors,
    (network.Strand, "nodes"): _nodes,
    (network.Strand, "reel"): _reel,
    (network.Network, "totals"): _reel,
    (network.WholeSamples, "whole"): _columns(WHOLE, (network.STEP_LENGTH,)),
    (network.WholeSamples, "bodies"): _columns(BODY_SAMPLES),
    (network.WholeSamples, "strands"): _columns(((0, len(ledger.ACCOUNTS)),)),
    (network.WholeSamples, "nodes"): _columns(((0, 3), (3, 3))),
}
