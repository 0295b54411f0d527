"""Water under waves: linear kinematics with Wheeler's stretching (docs/theory.md, "Water under waves")."""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model.checks import finite, positive
from tautline.model.description import Number, OptionalNumber, declared, described, quantity
from tautline.model.harmonics import ramp_at
from tautline.model.motions import MotionOfALength
from tautline.model.unsteady import Unsteady, end_of_block, in_blocks, steps_of_block

# Values of the table in a mean period of the velocity: lines between them miss 5e-4 of a sine of that period.
VALUES_A_PERIOD = 100
# Levels between the highest crest and the lowest trough, and below down to still water.
LEVELS_IN_WAVES, LEVELS_BELOW = 24, 40
# Depth of still water, times the wave number of the longest wave: a thousandth of its motion is left.
STILL = 7.0
ITERATIONS = 50


class Wavenumbers(NamedTuple):
    """Waves of a sea: angular frequencies (rad/s), wave numbers (rad/m), amplitudes (m) and phases (rad)."""

    omega: Array
    k: Array
    amplitudes: Array
    phases: Array


@described
class WaveFlow:
    """Water that moves under waves, up and down and along their direction, as at one place of the sea.

    Linear waves; Wheeler's stretching takes their motion up to the surface where it is. The elevation at that place is
    that of the sea, so a ship that follows the same sea there (`ShipMotion`) is in step. At other places the water
    moves as there: things should be within a small part of a wavelength, horizontally.
    """

    sea: Any = declared(MotionOfALength("Elevation of the sea, up: waves of a spectrum, or sines."))
    direction: Number = quantity(
        "rad", finite, "Where waves run to: angle from the first axis towards the second.", default=0.0
    )
    level: Number = quantity("m", finite, "Still water level on the third axis, which points down.", default=0.0)
    water_depth: OptionalNumber = quantity(
        "m", positive, "Depth of the water, from still water to the bottom; deep if not given.", default=None
    )
    gravity: Number = quantity("m/s^2", positive, "Gravity of the waves.", default=9.81)

    def _check_together(self) -> None:
        if self.sea is None:
            raise InputError("WaveFlow.sea: expected a Sine, Sines or Waves, got none")
        reach = self.sea.harmonics().reach
        if self.water_depth is not None and not reach < self.water_depth:
            raise InputError(
                f"WaveFlow.water_depth: expected more than a trough ({reach:.3g} m), got {self.water_depth:g} m"
            )

    def waves(self) -> Wavenumbers:
        """Waves with their wave numbers, by the dispersion relation omega^2 = g k tanh(k d)."""
        return _waves(self)

    def elevation(self, times: Any) -> Array:
        """Elevation of the surface above still water at times (m)."""
        omega, _, a, phases = self.waves()
        t = np.atleast_1d(np.asarray(times, dtype=np.float64))
        found: Array = ramp_at(t, self.sea.ramp) * (a * np.sin(np.multiply.outer(t, omega) + phases)).sum(axis=1)
        return found

    def velocities(self, times: Any, depths: Any) -> Array:
        """Velocities of the water (time, depth, axis) at times and at depths on the third axis (m/s).

        Above the surface those at it, below the bottom those at the bottom.
        """
        omega, k, a, phases = self.waves()
        t, z = (np.atleast_1d(np.asarray(x, dtype=np.float64)) for x in (times, depths))
        angles = np.multiply.outer(t, omega) + phases
        grown = ramp_at(t, self.sea.ramp)
        # a sum by itself for every time: those of products of matrices depend on how many there are
        surface = grown * (a * np.sin(angles)).sum(axis=1)
        stretched = self._stretched(self.level - z, surface[:, None])
        along, up = np.zeros(stretched.shape), np.zeros(stretched.shape)
        sines, cosines = a * omega * np.sin(angles), a * omega * np.cos(angles)
        for j in range(len(omega)):
            kx = k[j] * stretched
            rising, falling = np.exp(kx), np.zeros_like(kx)
            if self.water_depth is not None:
                deep = 2.0 * k[j] * self.water_depth
                over = -1.0 / math.expm1(-deep)
                rising, falling = over * rising, over * np.exp(-kx - deep)
            along += sines[:, j, None] * (rising + falling)
            up += cosines[:, j, None] * (rising - falling)
        heading = (math.cos(self.direction), math.sin(self.direction))
        found = np.stack([heading[0] * along, heading[1] * along, -up], axis=-1)
        return np.asarray(grown[:, None, None] * found)

    def _stretched(self, height: Array, surface: Array) -> Array:
        """Height above still water at which linear theory is evaluated, of heights under a surface (Wheeler)."""
        found = np.minimum(height, surface) - surface
        if self.water_depth is None:
            return np.asarray(found)
        return np.maximum(found * (self.water_depth / (self.water_depth + surface)), -self.water_depth)

    @property
    def interval(self) -> float:
        """Time between two values of the table (s)."""
        omega, _, a, _ = self.waves()
        second, fourth = ((a**2 * omega**power).sum() for power in (2, 4))
        mean = math.sqrt(fourth / second) if second > 0.0 else float(omega.max())
        return 2.0 * math.pi / (VALUES_A_PERIOD * mean)

    def levels(self) -> Array:
        """Depths of the table: even where the surface moves, wider below, down to still water or the bottom."""
        _, k, a, _ = self.waves()
        reach = self.sea.harmonics().reach
        peak = float(k[np.argmax(a * a)]) if a.any() else float(k.min())
        first = max(reach, 0.25 / peak)
        last = max(STILL / float(k.min()), 2.0 * first)
        if self.water_depth is not None:
            last = min(last, self.water_depth)
            first = min(first, 0.5 * last)
        upper = np.linspace(-max(reach, 1e-3 * first), first, LEVELS_IN_WAVES + 1)
        return np.concatenate([self.level + upper[:-1], self.level + np.geomspace(first, last, LEVELS_BELOW)])

    def table(self, start: float, until: float, mean: Array) -> Unsteady:
        """Velocities between two times at least."""
        times, values = in_blocks(self.interval, start, until, partial(_block, self))
        return Unsteady(times, self.levels(), values)

    def covered(self, until: float) -> float:
        """Time up to which a table that was asked for until then holds (s)."""
        return end_of_block(self.interval, until)


@lru_cache(maxsize=64)
def _block(flow: WaveFlow, number: int) -> Array:
    return flow.velocities(flow.interval * steps_of_block(number), flow.levels())


@lru_cache(maxsize=16)
def _waves(flow: WaveFlow) -> Wavenumbers:
    omega, amplitudes, phases, _ = flow.sea._terms()
    omega = np.array(omega, dtype=np.float64)
    k = omega**2 / flow.gravity
    if flow.water_depth is not None:
        d = flow.water_depth
        k = k / np.sqrt(np.tanh(k * d))  # near the root in deep and in shallow water
        for _ in range(ITERATIONS):
            tanh = np.tanh(k * d)
            left = flow.gravity * k * tanh - omega**2
            change = left / (flow.gravity * (tanh + k * d * (1.0 - tanh**2)))
            k = k - change
            if (np.abs(change) <= 1e-15 * k).all():
                break
    return Wavenumbers(omega, k, np.array(amplitudes)[:, 2], np.array(phases)[:, 2])
