"""Speeds over time by which a drum is driven: ramps of a limited acceleration, and ways that end at rest."""

from __future__ import annotations

import math

LEAST = 1e-9  # s, between two entries of a table
NEGLIGIBLE = 1e-6  # m
HARDEST = 0.02  # s in which a drum stops that is at the end of its rope already
Table = tuple[tuple[float, ...], tuple[float, ...]]


def ramp(now: float, before: float, after: float, acceleration: float) -> Table:
    """From one speed to another, which is kept (s, m/s)."""
    within = abs(after - before) / acceleration
    return ((now, now + within), (before, after)) if within > LEAST else ((now,), (after,))


def journey(now: float, before: float, distance: float, cruise: float, acceleration: float) -> Table:
    """From a present speed to rest after a distance (m, signed as the speed), no faster than a speed on the way.

    The distance may be infinite. One that is shorter than it takes to stop is passed, and come back to.
    """
    stop = before * abs(before) / (2.0 * acceleration)
    way = 1.0 if distance > stop else -1.0
    if math.isinf(distance):
        return ramp(now, before, way * cruise, acceleration)
    u, d = way * before, way * distance
    peak = min(cruise, math.sqrt(max(0.0, acceleration * d + 0.5 * u * u)))
    if peak <= 0.0:
        return ramp(now, before, 0.0, acceleration)
    rise, fall = abs(peak - u) / acceleration, peak / acceleration
    along = max(0.0, d - 0.5 * (u + peak) * rise - 0.5 * peak * fall)
    entries = [(now, u)]
    for duration, speed in ((rise, peak), (along / peak, peak), (fall, 0.0)):
        time = entries[-1][0] + duration
        if duration > LEAST:
            entries.append((time, speed))
        else:
            entries[-1] = (entries[-1][0], speed)
    times, speeds = zip(*entries, strict=True)
    return times, tuple(way * x + 0.0 for x in speeds)


def journey_in_room(
    now: float, before: float, ahead: float, distance: float, cruise: float, acceleration: float
) -> Table:
    """Journey where there is so much room ahead in the present direction (m): braked as hard as that takes."""
    if before == 0.0 or braking_distance(before, acceleration) <= ahead:
        return journey(now, before, distance, cruise, acceleration)
    way = math.copysign(1.0, before)
    within = max(2.0 * ahead / abs(before), HARDEST)
    left = distance - 0.5 * before * within
    if left * way >= 0.0 or abs(left) < NEGLIGIBLE:
        return (now, now + within), (before, 0.0)
    times, speeds = journey(now + within, 0.0, left, cruise, acceleration)
    return (now, *times), (before, *speeds)


def braking_distance(speed: float, acceleration: float) -> float:
    """Distance in which a speed is braked away (m)."""
    return speed * speed / (2.0 * acceleration)
