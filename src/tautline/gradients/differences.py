"""Derivatives of smooth functions by differences of high order, with an estimate of their error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.gradients.leaves import laid_out
from tautline.gradients.scales import IGNORED, Scales

# Steps over the size of what is changed, the largest first: rounding is least with it, and smaller ones avoid what
# stands near.
STEPS = (1e-2, 1e-3, 1e-4, 1e-5)
# A derivative is taken where its error is estimated at less than this part of the largest of its group, and beyond
# the other one is not known.
GOOD, WORST = 1e-10, 1e-7
# Roundings of the function that its differences may show.
ROUNDINGS = 2e3 * np.finfo(float).eps
# By places from 1 on: central differences of two orders over the same places.
CENTRAL_4 = np.array([4.0 / 3.0, -1.0 / 6.0])
CENTRAL_2 = np.array([1.0, 0.0])
CENTRAL_8 = np.array([8.0 / 5.0, -2.0 / 5.0, 8.0 / 105.0, -1.0 / 140.0])
CENTRAL_6 = np.array([3.0 / 2.0, -3.0 / 10.0, 1.0 / 30.0, 0.0])
# What is left of the even part of a smooth function, by places from 1 on.
EVEN_4 = np.array([-4.0, 1.0])
EVEN_8 = np.array([-56.0, 28.0, -8.0, 1.0])
ONE_SIDED = 9


class Changed(NamedTuple):
    """A function at some place."""

    values: Array
    structure: object  # what has to be the same for differences to mean anything

    @classmethod
    def of(cls, tree: Any) -> Changed:
        """Numbers of nested tuples."""
        return cls(*laid_out(tree))


class Slopes(NamedTuple):
    """Derivatives, NaN where they are not known."""

    values: Array
    error: Array  # estimated


def _one_sided(points: int) -> Array:
    """Weights of the first derivative at 0 from values at 0, 1, 2, ..."""
    places = np.arange(points, dtype=np.float64)
    right = np.zeros(points)
    right[1] = 1.0
    return np.asarray(np.linalg.solve(np.vander(places, increasing=True).T, right), dtype=np.float64)


FORWARD = _one_sided(ONE_SIDED)
FORWARD_BEFORE = np.append(_one_sided(ONE_SIDED - 1), 0.0)


class _RefusedError(Exception):
    """A place at which the function does not exist, or is another one."""


def derivatives(function: Callable[[float], Changed], size: float, scales: Scales, here: Changed, name: str) -> Slopes:
    """Derivatives at 0 of a function of one number.

    Parameters
    ----------
    function : callable
        Of the distance from the present place; raises InputError where it cannot be.
    size : float
        Over which the function may be expected to change.
    scales : Scales
        Groups of values of one kind; the largest of a group says what counts as small.
    here : Changed
        The function at 0.
    name : str
        Of what is changed, for errors.
    """
    best = Slopes(np.full_like(here.values, np.nan), np.full_like(here.values, np.inf))
    ignored = scales.groups == IGNORED
    settled = ignored.copy()
    said: list[str] = []
    largest = np.abs(here.values)  # of what was seen: zeros are rounded as what is near them
    for part in STEPS:
        h = part * size

        def at(place: int, h: float = h) -> Array:
            try:
                found = function(place * h)
            except InputError as error:
                raise _RefusedError(str(error)) from None
            if found.structure != here.structure:
                raise _RefusedError("")
            np.maximum(largest, np.abs(found.values), out=largest)
            return found.values

        for stencil in (_central, _forward, _backward):
            try:
                slopes = stencil(at, here.values, h, scales)
                break
            except _RefusedError as refused:
                said.append(str(refused))
        else:
            continue
        # a smaller step for a whole group only: an error that is small by chance says nothing of rounding
        better = ~settled & (slopes.error < best.error) & (_worst(slopes, scales) < _worst(best, scales))
        best = Slopes(np.where(better, slopes.values, best.values), np.where(better, slopes.error, best.error))
        allowed = _allowed(best.values, largest, h, scales)
        settled |= best.error <= GOOD * allowed[0] + allowed[1]
        if settled.all():
            break
    if np.isinf(best.error).all():
        *_, ahead, _ = said  # of the smallest step, to larger values
        if "" in said[-3:]:
            raise InputError(
                f"{name}: expected a value near which the model stays the same, got one at which a part of it is "
                "switched on or off, or tables change their entries; change it a little"
            )
        raise InputError(f"{name}: expected a key that can be changed by itself, got one that cannot: {ahead}")
    allowed = _allowed(best.values, largest, STEPS[-1] * size, scales)
    known = settled | (best.error <= WORST * allowed[0] + allowed[1])
    return Slopes(np.where(ignored, 0.0, np.where(known, best.values, np.nan)), best.error)


def _worst(slopes: Slopes, scales: Scales) -> Array:
    """The largest error of each group."""
    return np.where(np.isfinite(slopes.error), scales.largest(slopes.error), np.inf)


def _allowed(slopes: Array, values: Array, h: float, scales: Scales) -> tuple[Array, Array]:
    """Size of the derivatives and rounding of the differences, the largest of each group."""
    return scales.largest(slopes), ROUNDINGS * np.maximum(scales.largest(values), scales.usual) / h


def difference(up: Array, down: Array) -> Array:
    """up - down; 0 where both are the same infinite limit, or both are not there."""
    with np.errstate(invalid="ignore"):
        same = (up == down) | (np.isnan(up) & np.isnan(down))
        return np.where(same, 0.0, up - down)


def _central(at: Callable[[int], Array], here: Array, h: float, scales: Scales) -> Slopes:
    """Four places, which will do for a quadratic function, or eight."""
    odd, even = [], []

    def fetch(place: int) -> None:
        up, down = at(place), at(-place)
        odd.append(0.5 * difference(up, down) / h)
        even.append(0.5 * (difference(up, here) + difference(down, here)) / h)

    fetch(1)
    fetch(2)
    slopes = _combined(odd, even, CENTRAL_4, CENTRAL_2, EVEN_4)
    size, rounding = _allowed(slopes.values, here, h, scales)
    if ((slopes.error <= 1e-13 * size + rounding) | (scales.groups == IGNORED)).all():
        return slopes
    fetch(3)
    fetch(4)
    return _combined(odd, even, CENTRAL_8, CENTRAL_6, EVEN_8)


def _combined(odd: list[Array], even: list[Array], weights: Array, before: Array, left: Array) -> Slopes:
    slope = np.tensordot(weights, np.array(odd), 1)
    error = np.abs(slope - np.tensordot(before, np.array(odd), 1)) + np.abs(np.tensordot(left, np.array(even), 1))
    return Slopes(slope, error)


def _forward(at: Callable[[int], Array], here: Array, h: float, scales: Scales, sign: int = 1) -> Slopes:
    changes = np.array([difference(at(sign * place), here) for place in range(1, ONE_SIDED)]) / (sign * h)
    slope = np.tensordot(FORWARD[1:], changes, 1)
    return Slopes(slope, np.abs(slope - np.tensordot(FORWARD_BEFORE[1:], changes, 1)))


def _backward(at: Callable[[int], Array], here: Array, h: float, scales: Scales) -> Slopes:
    return _forward(at, here, h, scales, -1)
