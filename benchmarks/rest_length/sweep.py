"""When rest-length scaling is good enough: a swinging load is lowered from 5 m to 10 m, on light and heavy strings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from benchmarks.rest_length.cases import SAMPLE, Case, leaning, length_of, rest_length, simulated, smooth
from benchmarks.rest_length.model import Array

import tautline as tl
from tautline.model.chain.chain import Chain

MASS = 1.0  # kg
SHORT, LONG = 5.0, 10.0  # m
STRAIN = 0.01  # of the string under all the weight: stiff enough that its own stretching is no matter
ELEMENTS = 20
SWING = 0.05  # rad
MASS_RATIOS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # string over load, at the long end
SPEEDS = (0.5, 1.0, 2.0, 4.0)  # m/s
ACCELERATION_WAY = 2.0  # m, over which the speed is reached


class Point(NamedTuple):
    mass_ratio: float
    speed: float
    transport: float  # largest mu speed^2 / tension
    feed: float  # largest mu X acceleration / (2 tension)
    swing_predicted: float  # error of the swing's energy
    swing: float
    tension: float  # largest error at the guide; all tensions in parts of the weight at the long end
    distance: float  # largest, of the swing's half width


def system_of(mass_ratio: float) -> Chain:
    mu = mass_ratio * MASS / LONG
    stiffness = (MASS + mu * LONG) * 9.81 / STRAIN
    return Chain(
        tl.String(length=40.0, density=mu, stiffness=stiffness, law="linear"),
        tl.Reel(0.2, 0.5, 5.0),
        tl.RigidBody.point(MASS),
    )


def swing_energy(end: Array) -> float:
    """Square of the largest angle, by a parabola through the three samples around it."""
    angle = np.abs(np.arctan2(end[:, 0], end[:, 2]))
    i = int(np.clip(angle.argmax(), 1, len(angle) - 2))
    a, b, c = angle[i - 1 : i + 2]
    return float((b - 0.125 * (c - a) ** 2 / (a - 2.0 * b + c)) ** 2)


def point(mass_ratio: float, speed: float, elements: int = ELEMENTS) -> Point:
    system = system_of(mass_ratio)
    mu = system.string.density
    acceleration = speed**2 / (2.0 * ACCELERATION_WAY)
    move = tl.Length.to(LONG, speed=speed, acceleration=acceleration, jerk=4.0 * acceleration**2 / speed)
    period = 2.0 * np.pi * np.sqrt(LONG / 9.81)
    lowering = (LONG - SHORT) / speed + 2.0 * speed / acceleration
    duration = SAMPLE * round((lowering + 1.5 * period) / SAMPLE)
    case = Case("", system, lambda n: leaning(system, SHORT, n, np.degrees(SWING)), move, duration)
    run = simulated(system, case.start(elements), move, duration=duration, sample=SAMPLE)
    curve, _ = length_of(run)
    other = rest_length(case, curve, elements, "follows")

    mine, theirs = run.position.values[:, -1], other.position[:, -1]
    stopped = run.time.values > lowering
    hangs = (MASS + mu * LONG) * 9.81
    tension = np.abs(smooth(other.tension[:, 0]) - smooth(run.tension.values[:, 0])) / hangs
    length, rate, change = curve(run.time.values)
    return Point(
        mass_ratio,
        speed,
        mu * float(rate.max()) ** 2 / hangs,
        0.5 * mu * float(np.abs(length * change).max()) / hangs,
        (MASS + mu * LONG / 3.0) / (MASS + mu * SHORT / 3.0) - 1.0,
        swing_energy(theirs[stopped]) / swing_energy(mine[stopped]) - 1.0,
        float(tension.max()),
        float(np.abs(theirs - mine)[:, 0].max() / (SWING * LONG)),
    )


def sweep() -> list[Point]:
    return [point(ratio, speed) for ratio in MASS_RATIOS for speed in SPEEDS]
