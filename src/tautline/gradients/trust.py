"""Warnings on derivatives of a run: those that grew beyond use, and those at the boundary between slack and taut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.gradients.keys import key_value
from tautline.kernels.data import Plan
from tautline.model.command import Speed
from tautline.model.string import String
from tautline.model.system.case import Case
from tautline.results.values import lengths_of
from tautline.results.warnings import RunWarning

# Displacement over the length of the string, by relative change of a key: with more, a change by a millionth of it
# moves everything. Measured: up to 2e5 in predictable motions.
BEYOND_USE = 1e6
# Strain over the largest strain, by relative change of a key, in a string that gets slack: elements get slack and taut
# at other times then. Measured: derivatives are right below 1e2, and wrong above 1e4 even for changes by 1e-6.
BEYOND_USE_SLACK = 1e3
# Strain, times the number of elements, that is rounding.
ROUNDING = 1e-14
# Strain by relative change of a key, at once or over the run: with less, an element stays where it is. As a part of the
# change of its rate, a rate of strain with less than this is zero.
STAYS = 1e-9
# Relative change of a key over which differences are made, the part by which these depart from derivatives at a kink,
# and rounding in runs, relative to lengths and rates. The mean of the differences to both sides is free of curvature.
CHANGE = 1e-5
DEPARTS = 3e-3
NOISE = 1e-12
# Of a step: times that are nearer to the end of one are at it.
ON_STEP = 1e-6
# Keys that a sentence names.
NAMED = 4


class Line(NamedTuple):
    """A string in samples that carry derivatives."""

    name: str  # of the line
    string: String
    nodes: Any  # (n, N + 1, 3)
    velocity: Any
    length: Any  # (n,), unstretched
    reel_speed: Any  # (n,)

    @property
    def can_push(self) -> bool:
        """Whether elements resist when they are shorter than unstretched."""
        return self.string.law == "linear"

    @property
    def is_damped(self) -> bool:
        """Whether elements are damped, while they are taut."""
        return bool(self.string.viscosity or self.string.damping_ratio)

    def gets_slack(self) -> bool:
        """Whether an element is slack in one of the samples, rounding aside."""
        return not self.can_push and bool((self.strain().value < -ROUNDING * (self.nodes.shape[1] - 1)).any())

    def strain(self) -> Any:
        """Strain (n, N) of the elements."""
        return lengths_of(self.nodes) / self._unstretched() - 1.0

    def strain_rate(self) -> Any:
        """Rate of the strain (n, N), which a reel changes too."""
        lengths, l = lengths_of(self.nodes), self._unstretched()
        stretching = np.sum(np.diff(self.nodes, axis=1) * np.diff(self.velocity, axis=1), axis=2) / lengths
        return (stretching + lengths * (self.reel_speed / self.length)[:, None]) / l

    def tense(self) -> tuple[Any, Any]:
        """Strain, and positive rate of strain (n, N), of taut elements; zero of others. Tension follows from both."""
        strain, rate = self.strain(), self.strain_rate()
        taut = getattr(strain, "value", strain) > 0.0
        return strain * taut, rate * (taut & (getattr(rate, "value", rate) > 0.0))

    def _unstretched(self) -> Any:
        """Unstretched length (n, 1) of an element."""
        return (self.length / (self.nodes.shape[1] - 1))[:, None]

    def rows(self, rows: Array) -> Line:
        """The string in some of the samples."""
        arrays = (x[rows] for x in self[2:])
        return Line(self.name, self.string, *arrays)


def joined_lines(found: Sequence[Sequence[Line]]) -> list[Line]:
    """Strings in spans of samples, one after the other."""
    if len(found) == 1:
        return list(found[0])
    strings = zip(*found, strict=True)
    return [Line(*parts[0][:2], *map(np.concatenate, zip(*(x[2:] for x in parts), strict=True))) for parts in strings]


def derivative_warnings(
    lines: Sequence[Line],
    times: Array,
    by: Sequence[str],
    sizes: Array,
    departs: Callable[[int], bool] = lambda key: True,
) -> list[RunWarning]:
    """Warnings on the derivatives of strings by keys, whose changes are compared with their sizes.

    `departs` tells of a key, by its number, whether differences depart from the derivatives.
    """
    if not len(times) or not len(by):
        return []
    departs = cache(departs)
    kinks = (w for line in lines for w in _kinks(line, times, by, sizes, departs))
    return [*_growth(lines, by, sizes), *kinks]


def departs_from(lines: Sequence[Line], others: Sequence[tuple[float, Sequence[Line]]], key: int) -> bool:
    """Whether the mean of the differences to runs with other values of a key departs from the derivatives by it.

    Parameters
    ----------
    lines : sequence of Line
        Carry derivatives.
    others : sequence of tuple
        Changes of the key, and the same strings after them, without derivatives.
    key : int
        Number of the key.
    """
    least = NOISE / min(abs(change) for change, _ in others)
    for i, line in enumerate(lines):
        for x, scale, made in _compared(line):
            there = [(change, made(found[i])) for change, found in others]
            rows = min(len(x), *(len(y) for _, y in there))
            slope = x.tangent[:rows, ..., key]
            with np.errstate(all="ignore"):
                mean = sum((y[:rows] - x.value[:rows]) / change for change, y in there) / len(there)
                error = np.abs(mean - slope).max()
                if not error <= DEPARTS * np.abs(slope).max() + least * scale:
                    return True
    return False


def _compared(line: Line) -> list[tuple[Any, float, Callable[[Line], Any]]]:
    """Nodes, strain and rate of strain, what their rounding is relative to, and how they follow from a string."""
    strain, rate = line.tense()
    found: list[tuple[Any, float, Callable[[Line], Any]]] = [
        (line.nodes, float(line.length.value.max()), lambda x: x.nodes),
        (strain, 1.0, lambda x: x.tense()[0]),
    ]
    if line.is_damped:
        found.append((rate, float(np.abs(line.strain_rate().value).max()), lambda x: x.tense()[1]))
    return found


def at_kink(strain: Array) -> Array:
    """Whether elements are neither slack nor taut, to rounding."""
    return np.asarray(np.abs(strain) <= ROUNDING * strain.shape[1])


def growth(line: Line, sizes: Array) -> Array:
    """Displacement of nodes over the length, by relative change of each key; in a string that goes slack, also strain.

    The largest of all samples that are numbers.
    """
    with np.errstate(all="ignore"):
        moved = np.sqrt(np.sum(line.nodes.tangent**2, axis=2)) / float(line.length.value.max())
        found = np.fmax.reduce(moved, axis=(0, 1), initial=0.0)
        if line.gets_slack():
            strain = line.strain()
            slopes = np.fmax.reduce(np.abs(strain.tangent), axis=(0, 1), initial=0.0)
            found = np.fmax(found, slopes / float(np.abs(strain.value).max()))
        return np.asarray(found * sizes)


def entries_at_steps(case: Case, by: Sequence[str], plan: Plan) -> list[RunWarning]:
    """Warnings on entries of tables of speeds that fall on the ends of stages of steps: their rates jump there."""
    ends, found = np.array([0.0, *np.cumsum(plan.stages)]), []
    for name in by:
        key = case.key(name)
        if not key.whole.endswith(".command.times") or not isinstance(case.commands.get(key.path[1]), Speed):
            continue
        t = key_value(case, name)
        if 0.0 < t <= case.run.duration and np.abs(t / plan.h % 1.0 - ends).min() <= ON_STEP:
            text = (
                f"{name}: the entry at {t:g} s falls on the end of a step: derivatives of speeds and tensions "
                "there are those of moving it later, and others of moving it earlier"
            )
            found.append(RunWarning("derivative_side", text, t, where=name))
    return found


def starts_at_kink(lines: Sequence[Line]) -> list[RunWarning]:
    """Warnings on derivatives by a state, given by samples that carry none."""
    return [
        RunWarning(
            "derivative_kink",
            f"derivatives by the state are not to be trusted, since line {line.name!r} is exactly unstretched in it: "
            "rounding decides whether it is slack or taut; start a little stretched",
            where=line.name,
        )
        for line in lines
        if not line.can_push and at_kink(line.strain()).any()
    ]


def _growth(lines: Sequence[Line], by: Sequence[str], sizes: Array) -> list[RunWarning]:
    slack = [line.gets_slack() for line in lines]
    grew = np.array([growth(line, sizes) for line in lines])
    limits = np.where(slack, BEYOND_USE_SLACK, BEYOND_USE)
    beyond = np.any(grew > limits[:, None], axis=0).tolist()
    keys = [name for name, is_beyond in zip(by, beyond, strict=True) if is_beyond]
    if not keys:
        return []
    why = "nodes of a slack string move chaotically" if any(slack) else "the motion is chaotic"
    worst = int(np.argmax((grew / limits[:, None]).max(axis=1)))
    text = (
        f"derivatives by {_named(keys)} grew beyond use, since {why}: they hold for changes below "
        f"{1.0 / float(grew.max()):.0e} of a key; shorten the run, or compare runs with other values"
    )
    return [RunWarning("derivative_growth", text, grew[worst].max(), limits[worst], where=lines[worst].name)]


def _kinks(
    line: Line, times: Array, by: Sequence[str], sizes: Array, departs: Callable[[int], bool]
) -> list[RunWarning]:
    """Warnings on elements that are neither slack nor taut, which a key may make the one or the other.

    Damping acts on taut elements only, and sets in with a jump: rounding may then decide by any key.
    """
    rows = np.array([], dtype=int)
    if not line.can_push:
        rows = np.flatnonzero(at_kink(line.strain().value).any(axis=1))
    if not len(rows):
        return []
    some = line.rows(rows)
    strain, rate = some.strain(), some.strain_rate()
    moves, turns = np.abs(strain.tangent) * sizes, np.abs(rate.tangent) * sizes
    with np.errstate(invalid="ignore"):
        stands = np.abs(rate.value)[..., None] <= STAYS * turns
        leaves = (moves > STAYS) | (stands & (turns * (times[-1] - times[0]) > STAYS))
    found = at_kink(strain.value)[..., None] & (leaves | line.is_damped)
    for k in range(len(by)):
        found[..., k] &= found[..., k].any() and departs(k)
    keys = [name for name, there in zip(by, found.any(axis=(0, 1)), strict=True) if there]
    if not keys:
        return []
    first = times[rows[found.any(axis=(1, 2)).argmax()]]
    text = (
        f"derivatives by {_named(keys)} are not to be trusted, since line {line.name!r} is exactly unstretched at "
        f"t = {first:g} s: rounding decides whether it is slack or taut; start a little stretched"
    )
    return [RunWarning("derivative_kink", text, first, where=line.name)]


def _named(keys: Sequence[str]) -> str:
    """Some keys, and how many there are beside these."""
    more = len(keys) - NAMED
    return ", ".join(keys[:NAMED]) + (f" and {more} more" if more > 0 else "")
