"""Sums of sines in time, exactly and as piecewise cubics (docs/theory.md, equations 90 to 92)."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError

# Knots in a period of the mean frequency of the motion's bends. A cubic that has places and velocities of a sine at its
# ends is then off by 4e-12 of the amplitude, 2e-9 of the speed and 3e-6 of the acceleration.
KNOTS_A_PERIOD = 1000
# At least, of a ramp that is shorter than a period.
KNOTS_A_RAMP = 107
# Numbers of knots in a ramp are so far apart. They jump where a number is passed: nowhere near round values, and seldom
# enough for tables to have derivatives by periods and ramps.
KNOTS_GROW = 1.2
# Pieces that are made together: from the same place on they are the same numbers, whoever asks for them.
PIECES_A_BLOCK = 128
# Terms that are summed in one product of matrices. So few are not divided among threads: that takes longer, and the
# sums would depend on how many there are.
TERMS_AT_ONCE = 200
# Coefficients of powers of the part of a piece, from derivatives at its beginning, its way, and derivatives at its end.
HERMITE = {
    3: np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, -2, 3, -1], [0, 1, -2, 1]]),
    5: np.array(
        [
            [1.0, 0, 0, 0, 0, 0],
            [0, 1, 0, 0, 0, 0],
            [0, 0, 0.5, 0, 0, 0],
            [0, -6, -1.5, 10, -4, 0.5],
            [0, 8, 1.5, -15, 7, -1],
            [0, -3, -0.5, 6, -3, 0.5],
        ]
    ),
}
# In one table, of 13 numbers each.
MOST_PIECES = 4_000_000


def ramp_at(since: Array, duration: float) -> Array:
    """Ramp 10 x^3 - 15 x^4 + 6 x^5, whose first two derivatives vanish at both ends (equation 91); 1 for none."""
    if duration == 0.0:
        return np.ones_like(since)
    x = np.clip(since / duration, 0.0, 1.0)
    found: Array = x**3 * (10.0 - 15.0 * x + 6.0 * x**2)
    return found


class Harmonics:
    """A ramp times a sum of sines (equation 90), three components.

    Parameters
    ----------
    omega : array (terms,)
        Angular frequencies (rad/s).
    amplitudes, phases : array (terms, 3)
        Of each component.
    ramp : float
        Time in which the motion grows to its full size (s); 0 for a motion that is there at once.
    """

    def __init__(self, omega: Array, amplitudes: Array, phases: Array, ramp: float) -> None:
        self.omega, self.ramp = omega, ramp
        self._sines, self._cosines = amplitudes * np.cos(phases), amplitudes * np.sin(phases)
        self._squares = (amplitudes**2).sum(axis=1)
        self.spacing = 2.0 * math.pi / (KNOTS_A_PERIOD * self.bending)
        if ramp > 0.0:  # its end, where the third derivative jumps, is a knot
            grown = math.ceil(math.log(ramp / (KNOTS_A_RAMP * self.spacing)) / math.log(KNOTS_GROW))
            self.spacing = ramp / math.ceil(KNOTS_A_RAMP * KNOTS_GROW ** max(grown, 0))
        self.block = PIECES_A_BLOCK * self.spacing  # time of a block (s)

    @property
    def bending(self) -> float:
        """Mean angular frequency: the root of the fourth derivative over the second, both in the mean square."""
        second, fourth = ((self._squares * self.omega**power).sum() for power in (4, 8))
        return float((fourth / second) ** 0.25) if second > 0.0 else float(self.omega.max())

    @property
    def variance(self) -> float:
        """Mean square of the displacement, without the ramp (m^2)."""
        return 0.5 * float(self._squares.sum())

    @property
    def reach(self) -> float:
        """How far it goes: the sum of all amplitudes, or five standard deviations of many (m)."""
        return min(float(np.sqrt(self._squares).sum()), 5.0 * math.sqrt(self.variance))

    def values(self, times: Array, origin: float) -> Array:
        """Displacements, velocities and accelerations (3, time, axis); the ramp begins at `origin`."""
        angles = np.multiply.outer(times, self.omega)
        return self._ramped(self._sums(np.cos(angles), np.sin(angles), self._cosines, self._sines), times - origin)

    def pieces(self, origin: float, start: float, until: float, degree: int = 3) -> tuple[Array, Array]:
        """Knots, and coefficients (power, piece, axis) from a time to another one at least (equation 92).

        Pieces of degree 3 have places and velocities of the motion at their ends, those of degree 5 also accelerations.
        """
        first, last = (math.floor((t - origin) / self.block) for t in (start, until))
        if (last + 1 - first) * PIECES_A_BLOCK > MOST_PIECES:
            raise InputError(
                f"period: expected at most {MOST_PIECES // KNOTS_A_PERIOD} periods over a step or between two samples, "
                f"got a mean period of {KNOTS_A_PERIOD * self.spacing:.3g} s in {until - start:.3g} s; "
                "use a shorter step or sample interval"
            )
        blocks = [self._block(origin, number, HERMITE[degree]) for number in range(first, last + 1)]
        knots, coefficients = (np.concatenate(parts, axis=k) for k, parts in enumerate(zip(*blocks, strict=True)))
        return knots, coefficients

    def _block(self, origin: float, number: int, hermite: Array) -> tuple[Array, Array]:
        begun, h = number * self.block, self.spacing
        angles = self.omega * (origin + begun)
        sines, cosines = np.sin(angles)[:, None], np.cos(angles)[:, None]
        # of the time since the block began: sums of few sines of large angles, and products with matrices that stay
        near = self._cosines * cosines + self._sines * sines, self._sines * cosines - self._cosines * sines
        since = begun + h * np.arange(PIECES_A_BLOCK + 1, dtype=np.float64)
        derivatives = self._ramped(self._sums(*self._turns, *near), since)[: len(hermite) // 2]
        scaled = derivatives * (h ** np.arange(len(derivatives)))[:, None, None]
        # the way of a piece in place of its end: places are large beside it
        given = np.concatenate([scaled[:, :-1], np.diff(scaled[:1], axis=1), scaled[1:, 1:]])
        powers = np.tensordot(hermite, given, axes=1)
        return origin + since[:-1], powers / (h ** np.arange(len(powers)))[:, None, None]

    @cached_property
    def _turns(self) -> tuple[Array, Array]:
        """Cosines and sines (knot, term) of the angles since the beginning of a block."""
        angles = np.multiply.outer(self.spacing * np.arange(PIECES_A_BLOCK + 1), self.omega)
        return np.cos(angles), np.sin(angles)

    def _sums(self, cos: Array, sin: Array, of_cos: Array, of_sin: Array) -> Array:
        """Sum and its first two derivatives (3, time, axis)."""
        w = self.omega[:, None]
        even = np.hstack([of_cos, w * of_sin, -w * w * of_cos])
        odd = np.hstack([of_sin, -w * of_cos, -w * w * of_sin])
        sums: Array = np.zeros((len(cos), 9))
        for first in range(0, len(w), TERMS_AT_ONCE):
            some = slice(first, first + TERMS_AT_ONCE)
            sums += cos[:, some] @ even[some] + sin[:, some] @ odd[some]
        return sums.reshape(-1, 3, 3).transpose(1, 0, 2)

    def _ramped(self, sums: Array, since: Array) -> Array:
        """Times the ramp (equation 91)."""
        if self.ramp == 0.0:
            return sums
        x = np.clip(since / self.ramp, 0.0, 1.0)[:, None]
        r = ramp_at(since, self.ramp)[:, None]
        dr = 30.0 * (x * (1.0 - x)) ** 2 / self.ramp
        ddr = 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / self.ramp**2
        f, df, ddf = sums
        return np.stack([r * f, dr * f + r * df, ddr * f + 2.0 * dr * df + r * ddf])
