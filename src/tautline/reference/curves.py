"""Curves in time and over depth that the user has given: polynomials between knots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tautline.model.command import Command
from tautline.model.flows import FlowTable, Gust, Turbulence, fluctuations_of
from tautline.model.fluid import Fluid
from tautline.model.motions import Endless
from tautline.model.path import GuideMotion, GuidePath
from tautline.model.tables import spline_ends

Array = NDArray[np.float64]

_RAMP = np.polynomial.Polynomial([0.0, 0.0, 0.0, 10.0, -15.0, 6.0])
_RAMP_DERIVATIVES = tuple(_RAMP.deriv(k) for k in range(3))


class Curve:
    """Vectors over time: polynomials of the time since their knots; the first one holds also before its knot.

    Parameters
    ----------
    knots : increasing floats
    pieces : one matrix a knot
        Coefficients, lowest power first, a row for each power and a column for each component.
    """

    def __init__(self, knots: Sequence[float], pieces: Sequence[Array]) -> None:
        self.knots = [float(t) for t in knots]
        self.pieces = [np.atleast_2d(piece) for piece in pieces]

    def at(self, t: float, inside: float | None = None, derivative: int = 0) -> Array:
        """Value or derivative at a time; of the piece that holds at the time `inside`, where that is given."""
        i = max(0, int(np.searchsorted(self.knots, t if inside is None else inside, side="right")) - 1)
        powers = self.pieces[i]
        x = t - self.knots[i]
        value = np.zeros(powers.shape[1])
        for k in range(derivative, len(powers)):
            value += math.perm(k, derivative) * x ** (k - derivative) * powers[k]
        return value


def through_table(times: Any, values: Any) -> Curve:
    """Straight lines through the entries of a table, which is held before its first and after its last one."""
    t = np.asarray(times, dtype=np.float64)
    x = np.asarray(values, dtype=np.float64).reshape(len(t), -1)
    pieces = [x[:1]]
    for i in range(len(t) - 1):
        pieces.append(np.array([x[i], (x[i + 1] - x[i]) / (t[i + 1] - t[i])]))
    if len(t) == 1:
        return Curve(t.tolist(), pieces)
    return Curve([t[0] - 1.0, *t], [*pieces, x[-1:]])


def of_polynomials(rows: Array) -> Curve:
    """Rows (knot, coefficients) of a scalar, as commands give them."""
    return Curve(rows[:, 0].tolist(), [row[1:, None] for row in rows])


class Swaying(Curve):
    """A motion without end, term by term; its only kinks are those of the ramp, which begins at time 0."""

    def __init__(self, motion: Endless) -> None:
        self.terms = [np.asarray(x, dtype=np.float64) for x in motion._terms()]
        super().__init__([], [])
        if self.terms[3] > 0.0:
            self.knots = [-1.0, 0.0, float(self.terms[3])]

    def at(self, t: float, inside: float | None = None, derivative: int = 0) -> Array:
        """Value or derivative at a time, by Leibniz' rule for the ramp times the sum."""
        (omega, amplitudes, phases), ramp = self.terms[:3], float(self.terms[3])
        within = t if inside is None else inside
        rising = ramp > 0.0 and 0.0 <= within < ramp
        total = np.zeros(3)
        for k in range(derivative + 1):
            factor = float(k == 0 and (ramp == 0.0 or within >= 0.0))
            if rising:
                factor = float(_RAMP_DERIVATIVES[k](t / ramp)) / ramp**k
            turned = phases + omega[:, None] * t + 0.5 * np.pi * (derivative - k)
            sines = (omega[:, None] ** (derivative - k) * amplitudes * np.sin(turned)).sum(axis=0)
            total += math.comb(derivative, k) * factor * sines
        return total


class Paid(Curve):
    """Deployed length that sways about one that grows at a constant rate from time 0 on."""

    def __init__(self, motion: Endless, start: float, rate: float) -> None:
        self.swaying, self.line = Swaying(motion), (start, rate, 0.0)
        super().__init__(self.swaying.knots, [])

    def at(self, t: float, inside: float | None = None, derivative: int = 0) -> Array:
        """Value or derivative at a time."""
        start, rate = self.line[derivative : derivative + 2] if derivative < 2 else (0.0, 0.0)
        return self.swaying.at(t, inside, derivative)[2:] + start + (rate * t if derivative == 0 else 0.0)


def of_length(command: Command, length: float) -> Curve:
    """Deployed length that a command gives from time 0 on, at which this much is deployed."""
    if command.motion is None:
        return of_polynomials(command.curve(0.0, length))
    own: Any = command
    given = own.length if command.kernel == "impedance" else own
    at_start = length - float(Swaying(command.motion).at(0.0)[2])
    if not given.relative:
        return Paid(command.motion, at_start if given.mean is None else given.mean, 0.0)
    return Paid(command.motion, at_start, float(given.given) * (1.0 if given.retrieval is None else -1.0))


def of_path(path: GuideMotion) -> Curve:
    """A motion without end, or the cubic spline of a path, at rest before and after."""
    from scipy.interpolate import CubicSpline

    if not isinstance(path, GuidePath):
        return Swaying(path)
    ends = spline_ends(path.velocities, np.array(path.displacements))
    spline = CubicSpline(path.times, np.array(path.displacements), bc_type=ends)
    inner = [spline.c[::-1, i] for i in range(len(path.times) - 1)]
    first, last = (np.array([path.displacements[i]]) for i in (0, -1))
    return Curve([path.times[0] - 1.0, *path.times], [first, *inner, last])


def _lines(depth: Array, depths: Any, velocities: Any) -> Array:
    columns = [np.interp(depth, depths, column) for column in zip(*velocities, strict=True)]
    return np.stack(columns, axis=-1)


class Flow:
    """Velocity of a fluid over time and depth: straight lines through tables, formulas of gusts and turbulence."""

    def __init__(self, fluid: Fluid) -> None:
        self._steady, self._more = fluid.flow, fluid.unsteady
        self._mean = np.mean(np.array(fluid.flow[1]), axis=0)

    @property
    def knots(self) -> list[float]:
        """Times at which it may have a kink."""
        if isinstance(self._more, FlowTable):
            return list(self._more.times)
        return [self._more.start, self._more.start + self._more.duration] if isinstance(self._more, Gust) else []

    def at(self, t: float, depth: Array) -> Array:
        """Velocities at depths, a row for each."""
        steady, more = _lines(depth, *self._steady), self._more
        if isinstance(more, FlowTable):
            columns = np.array(more.flows).reshape(len(more.times), -1).T
            now = [np.interp(t, more.times, column) for column in columns]
            steady = steady + _lines(depth, more.depths, np.reshape(now, (-1, 3)))
        elif isinstance(more, Gust):
            mean = self._mean if more.mean is None else np.array(more.mean)
            steady = steady + gust_speed(more, t) * mean / np.linalg.norm(mean)
        elif isinstance(more, Turbulence):
            steady = steady + self._turbulent(more, t, depth)
        return steady

    def _turbulent(self, more: Turbulence, t: float, depth: Array) -> Array:
        mean = self._mean if more.mean is None else np.array(more.mean)
        speed = float(np.linalg.norm(mean))
        waves = fluctuations_of(more, speed)
        angles = waves.omega * t
        sums = np.einsum("at,atl->la", np.cos(angles), waves.cosines)
        sums += np.einsum("at,atl->la", np.sin(angles), waves.sines)
        along = mean / speed
        across = np.array([-along[1], along[0], 0.0]) / np.hypot(along[0], along[1])
        frame = np.array([along, across, np.cross(along, across)])
        x = min(t / more.ramp, 1.0) if more.ramp else 1.0
        return _lines(depth, more.depths, (10.0 * x**3 - 15.0 * x**4 + 6.0 * x**5) * (sums @ frame))

    def acceleration(self, t: float, inside: float | None, depth: Array) -> Array:
        """Rate of the velocities at depths, on the side of a kink that `inside` is on."""
        if self._more is None:
            return np.zeros((*np.shape(depth), 3))
        if isinstance(self._more, FlowTable):
            pieces = np.array([-np.inf, *self._more.times, np.inf])
            k = int(np.searchsorted(pieces, t if inside is None else inside)) - 1
            if not 0 < k < len(pieces) - 2:
                return np.zeros((*np.shape(depth), 3))
            a, b = pieces[k], pieces[k + 1]
            slope: Array = (self.at(b, depth) - self.at(a, depth)) / (b - a)
            return slope
        step = 1e-5
        rate: Array = (self.at(t + step, depth) - self.at(t - step, depth)) / (2.0 * step)
        return rate


def gust_speed(gust: Gust, t: float) -> float:
    """Change of speed in a gust, by the formulas of IEC 61400-1."""
    since, T, V = t - gust.start, gust.duration, gust.amplitude
    if gust.profile == "ramp":
        return 0.0 if since < 0.0 else V if since > T else 0.5 * V * (1.0 - float(np.cos(np.pi * since / T)))
    if not 0.0 <= since <= T:
        return 0.0
    rise = 1.0 - float(np.cos(2.0 * np.pi * since / T))
    return 0.5 * V * rise if gust.profile == "pulse" else -0.37 * V * float(np.sin(3.0 * np.pi * since / T)) * rise
