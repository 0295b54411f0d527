"""Derivatives of torques that are found after a run: those that hold a locked reel, or lead one whose motion is given.

Such a torque is a smooth function of a sample, of the parameters, the motion that is commanded and the loads, which all
carry derivatives. It is found once more at places along these, and differences of high order give its derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.gradients.arrays import Carried
from tautline.gradients.chain.marching import Setting
from tautline.gradients.chain.moved_samples import MovedSamples
from tautline.gradients.differences import EVEN_8, ROUNDINGS, STEPS, Changed, derivatives
from tautline.gradients.leaves import flat, from_flat
from tautline.gradients.scales import IGNORED, Scales, scales_of
from tautline.kernels import data
from tautline.kernels.inverse import holding_torques, prescribed_torques
from tautline.model.command import Command

# Numbers of samples that are moved at once.
AT_ONCE = 1 << 21
# Of the largest derivative along a direction, and of the largest torque over a change that makes a difference: a larger
# error leaves the derivative unknown.
GOOD = 1e-8
# Distances, on one side, over which nothing but rounding makes fourth differences; a jump by 1 makes them 3.
NEAR = 1e-6 * np.arange(1.0, 8.0)
OF_A_JUMP = 3.0
# Of the rows: what they show may by chance be missed in one of them.
MOST_ROWS = 0.9
# By so much more than the derivative the estimate of its error shows rounding: the sum of the weights in it.
AMPLIFIED = float(np.abs(EVEN_8).sum())
# Of the same: estimates of errors that are rounding, as of stiff strings, may be so large. Derivatives are then good to
# some 1e-7.
ROUNDED = 1e-5
# In the place of a torque that was not found: far from all others, so that differences do not settle.
NOT_FOUND = 1e150
# Of the latest time: samples that are nearer to a knot of the commanded motion stand on it.
ON_KNOT = 1e-9
# Of how fast a sample moves: knots that move as fast stay at it.
ALIKE = 1e-8


class Given(NamedTuple):
    """What torques follow from beside the states in samples."""

    par: data.Parameters
    command: data.Command
    loads: data.Loads
    times: Array  # of the samples
    reeled: Array  # their reeled lengths, which are one on a locked reel; none where they belong to the states

    def torques(self, samples: data.Samples) -> Array:
        """Torques of samples (N m)."""
        out = data.Samples(samples.scalars.copy(), samples.nodes)
        out.scalars[:, data.DRUM_TORQUE] = NOT_FOUND
        work, scratch = data.empty_motion(self.par.N), data.empty_scratch(self.par.N)
        loads = self.loads if self.loads.acts or self.loads.moves else None
        if self.command.locked:
            out.scalars[:, data.REELED_LENGTH] = self.reeled
            holding_torques(self.par, self.times, work, scratch, out, loads)
        else:
            prescribed_torques(self.par, self.command.profile, self.times, work, scratch, out, loads)
        return np.nan_to_num(out.scalars[:, data.DRUM_TORQUE], nan=NOT_FOUND)

    def part(self, rows: slice, each: int) -> Given:
        """For some of the samples, each of them so many times."""
        return self._replace(times=np.repeat(self.times[rows], each), reeled=np.repeat(self.reeled[rows], each))


class Slopes(NamedTuple):
    """Derivatives (rows, directions), and their estimated errors."""

    values: Array
    errors: Array
    rounding: Array  # as an estimate shows it
    usual: Array  # the largest torque over a change that makes a difference


def found_afterwards(par: data.Parameters, command: Command) -> bool:
    """Whether torques are found from samples; the paper's scheme has its own of a prescribed motion, from its steps."""
    return command.holds or (command.prescribes and par.theta > 0.0)


def held_torques(setting: Setting, carried: Any, times: Carried, samples: Any) -> Carried:
    """Torques of samples, with derivatives; NaN where these are not known.

    Parameters
    ----------
    setting : Setting
    carried : Setting
        The same, carrying derivatives.
    times : Carried
        Of the samples (s).
    samples : Samples
        Carry derivatives.
    """
    torques: Array = samples.scalars.value[:, data.DRUM_TORQUE]
    if not len(torques) or not times.directions:
        return Carried(torques, np.zeros((len(torques), times.directions)))
    locked = bool(setting.command.locked)
    reeled = samples.scalars[:, data.REELED_LENGTH] if locked else times[:0]
    given = Given(setting.par, setting.command, setting.loads, times.value, reeled.value)
    along = _tangents((carried.par, carried.command, carried.loads, times, reeled))
    moved = MovedSamples.of(given.par, samples, locked)
    first = _by_states(given, moved)
    scales = scales_of(given)
    found = [_along(given, scales, moved.samples, t) for t in np.moveaxis(along, -1, 0)]
    second = Slopes(*(np.stack(x, axis=1) for x in zip(*found, strict=True)))
    values, errors, rounding, usual = (a + b for a, b in zip(first, second, strict=True))
    size = np.abs(np.nan_to_num(values)).max(axis=0) + usual
    with np.errstate(invalid="ignore"):
        known = errors <= GOOD * size + np.minimum(rounding, ROUNDED * size)
    return Carried(torques, np.where(known, values, np.nan))


def _tangents(tree: Any) -> Array:
    """Derivatives of all numbers of nested tuples, in the order of `flat`."""

    def gather(item: Any) -> Iterator[Array]:
        if isinstance(item, Carried):
            yield item.tangent.reshape(-1, item.directions)
        elif isinstance(item, tuple):
            for inner in item:
                yield from gather(inner)

    return np.concatenate(list(gather(tree)))


def _by_states(given: Given, moved: MovedSamples) -> Slopes:
    """Derivatives along the states, all directions at once."""
    rows, directions = moved.pace.shape
    at_once = max(1, AT_ONCE // (directions * moved.samples.nodes[0].size))
    found = []
    for begin in range(0, rows, at_once):
        some = slice(begin, begin + at_once)
        states, others = moved.part(some), given.part(some, directions)

        def at(distance: float, states: MovedSamples = states, others: Given = others) -> Array:
            return others.torques(states.at(distance))

        found.append([x.reshape(-1, directions) * states.pace for x in _slopes(at)])
    return Slopes(*(np.concatenate(x) for x in zip(*found, strict=True)))


def _along(given: Given, scales: Scales, samples: data.Samples, t: Array) -> Slopes:
    """Derivatives along a direction of all but the states."""
    x, rows = flat(given), len(given.times)
    if not np.isfinite(t[scales.groups != IGNORED]).all():
        return Slopes(*np.full((4, rows), np.nan))
    changes = (t != 0.0) & (scales.groups != IGNORED)
    if not changes.any():
        return Slopes(*np.zeros((4, rows)))
    with np.errstate(divide="ignore"):
        rates = np.abs(t[changes]) / scales.largest(x)[changes]
    # of what is zero as yet, such as a friction, any change is small
    pace = float(rates[np.isfinite(rates)].max(initial=0.0) or np.abs(t[changes]).max())
    beside = _beside_knots(given, from_flat(given, t))

    def at(distance: float) -> Array:
        other = from_flat(given, x + distance / pace * np.where(changes, t, 0.0))
        return other._replace(times=other.times + beside).torques(samples)

    return Slopes(*(pace * found for found in _slopes(at)))


def _beside_knots(given: Given, change: Given) -> Array:
    """How samples on knots of the motion are kept on the side where they are, while both move alike (s)."""
    knots, clock = given.command.profile[:, 0], change.times
    nearest = np.abs(given.times[:, None] - knots).argmin(axis=1)
    after, slack = given.times - knots[nearest], ON_KNOT * float(given.times.max())
    alike = np.abs(clock - change.command.profile[nearest, 0]) <= ALIKE * np.abs(clock)
    return np.where((np.abs(after) <= slack) & alike & (clock != 0.0), np.copysign(slack, after), 0.0)


def _slopes(at: Callable[[float], Array]) -> Slopes:
    """Derivatives of torques by a distance, at 0."""
    here = at(0.0)
    bent = np.abs(np.diff([at(distance) for distance in NEAR], 4, axis=0)).max(axis=0)
    noise = AMPLIFIED / OF_A_JUMP * np.maximum(bent, np.quantile(bent, MOST_ROWS))
    largest = float(np.abs(here[here < NOT_FOUND]).max(initial=0.0))
    scales = Scales(np.arange(here.size), np.ones(here.size), np.maximum(largest, noise / ROUNDINGS))
    found = derivatives(lambda distance: Changed(at(distance), None), 1.0, scales, Changed(here, None), "torque")
    values = np.where(here < NOT_FOUND, found.values, np.nan)
    return Slopes(values, found.error, noise / STEPS[1], np.full(here.size, largest))
