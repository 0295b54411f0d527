"""Paths of the guide that leave the load at rest: input shaping (docs/howto/suppress.md)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tautline.analysis.modes import modes
from tautline.kernels.data import Array
from tautline.model import checks
from tautline.model.path import GuidePath
from tautline.model.piecewise import rows
from tautline.model.rest.statics import statics
from tautline.model.system.starts import Hanging
from tautline.model.system.system import System

SHAPERS = {"none": (1.0,), "ZV": (0.5, 0.5), "ZVD": (0.25, 0.5, 0.25), "ZVDD": (0.125, 0.375, 0.375, 0.125)}
# Modes to choose from; those that answer to a push of the guide are among the slowest.
MODES = 24
# Of the ramp: breaks of a path that are closer than this are one.
SAME_TIME = 1e-9


def impulses(shaper: str, frequencies: Any) -> tuple[Array, Array]:
    """Times (s) and shares of the impulses that replace one impulse, and excite none of the frequencies.

    Parameters
    ----------
    shaper : {"ZV", "ZVD", "ZVDD", "none"}
        Impulses half a period apart. With each D another derivative by the frequency vanishes, and another half
        period is spent: a frequency that is not quite right does less harm.
    frequencies : floats
        (Hz), without damping.
    """
    checks.choice("shaper", shaper, SHAPERS)
    periods = 1.0 / _positive("frequencies", frequencies)
    shares = np.array(SHAPERS[shaper])
    times, weights = np.zeros(1), np.ones(1)
    for period in periods:
        delays = 0.5 * period * np.arange(len(shares))
        times = np.add.outer(times, delays).ravel()
        weights = np.outer(weights, shares).ravel()
    order = np.argsort(times, kind="stable")
    return times[order], weights[order]


def sway_frequencies(system: System, deployed: Any, direction: Any = (1.0, 0.0, 0.0), *, count: int = 1) -> Array:
    """Frequencies (Hz) of the modes that carry a body farthest when what holds the system accelerates, worst first.

    Parameters
    ----------
    system : System
        That hangs from points and kinematic bodies which move alike.
    deployed : float or dict
        Unstretched length outside the guide (m); with several reels, of each by the name of its line.
    direction : three floats
        Of the acceleration.
    count : int
        How many; 2 for a load that pitches about its hook as well.
    """
    checks.instance("system", system, System)
    d = _direction("direction", direction)
    count = checks.whole("count", count, 1, MODES)
    rest = statics(system, Hanging(deployed))
    system = rest.system
    free = system.free_bodies
    places = 3 * (len(free) + sum(line.count - 1 for line in system.lines.values()))
    found = modes(system, rest, count=min(MODES, places))
    weights = []
    for name, line in system.lines.items():
        own = np.full(line.count + 1, line.string.density * rest.lines[name].deployed / line.count)
        own[[0, -1]] *= 0.5
        weights.append(own)
    # how an acceleration of what holds the system pushes the modes, and how far bodies go with them: (74)
    push = np.einsum("n,mna,a->m", np.concatenate(weights), found["shape"].values, d)
    moved = found.body_shape.sel(body=list(free)).values @ d
    push += moved @ np.array([body.mass for body in free.values()])
    stiffness = found.modal_mass.values * found.angular_frequency.values**2
    farthest = np.abs(moved).max(axis=1)
    answer = np.divide(np.abs(push) * farthest, stiffness, out=np.zeros_like(push), where=stiffness > 0.0)
    worst = np.argsort(-answer, kind="stable")[:count]
    return np.asarray(found.frequency.values[worst[answer[worst] > 0.0]])


def shaped_path(
    system: System,
    deployed: Any,
    displacement: Any,
    *,
    speed: float,
    acceleration: float,
    ramp: float = 0.1,
    shaper: str = "ZVD",
    modes: int = 1,
    start: float = 0.0,
) -> GuidePath:
    """A path for the guide after which a load that hung at rest hangs at rest again.

    `tl.pendulum(..., guide=path)` and `tl.Kinematic(path)` take it. The guide would go straight, with an acceleration
    that rises, stays and falls, coast, and brake likewise. This motion is divided by the shaper into delayed parts
    whose sways cancel. The limits hold for the sum as well.

    Parameters
    ----------
    system : System
        As in `sway_frequencies`.
    deployed : float or dict
        Unstretched length outside the guide while it moves (m); with several reels, of each by the name of its line.
    displacement : three floats, or a float along x
        Of the guide, in all (m).
    speed, acceleration : float
        Limits (m/s, m/s^2).
    ramp : float
        Time in which the acceleration rises or falls (s).
    shaper : {"ZVD", "ZV", "ZVDD", "none"}
        See `impulses`.
    modes : int
        How many modes to keep at rest, see `sway_frequencies`.
    start : float
        When the motion begins (s).
    """
    way = displacement
    if np.ndim(displacement) == 0:
        way = (checks.number("displacement", displacement), 0.0, 0.0)
    direction = _direction("displacement", way)
    distance = math.hypot(*checks.vector("displacement", way, "m"))
    speed = checks.positive("speed", speed, "m/s")
    acceleration = checks.positive("acceleration", acceleration, "m/s^2")
    ramp = checks.positive("ramp", ramp, "s")
    start = checks.non_negative("start", start, "s")
    checks.choice("shaper", shaper, SHAPERS)
    delays, shares = np.zeros(1), np.ones(1)
    if shaper != "none":
        frequencies = sway_frequencies(system, deployed, direction, count=modes)
        delays, shares = impulses(shaper, frequencies)
    times, jerks = _plain_motion(distance, speed, acceleration, ramp)
    # a sum of delayed cubics: its breaks are all breaks of the parts, and a spline through them is the sum itself
    breaks = np.add.outer(delays, times).ravel()
    sizes = np.outer(shares, jerks).ravel()
    order = np.argsort(breaks, kind="stable")
    breaks, sizes = breaks[order], sizes[order]
    new = np.append(True, np.diff(breaks) > SAME_TIME * ramp)
    knots = breaks[new]
    later = np.maximum(np.subtract.outer(knots, breaks), 0.0)
    along = (sizes * later**3).sum(axis=1) / 6.0
    along *= distance / along[-1]  # but for rounding, they are the same
    return GuidePath(tuple((start + knots).tolist()), rows(np.outer(along, direction)))


def _plain_motion(distance: float, speed: float, acceleration: float, ramp: float) -> tuple[Array, Array]:
    """Times and jumps of the jerk of the unshaped motion."""
    a = acceleration
    # within a ramp up and a ramp down, a push lasts `hold` more at the full acceleration
    hold = speed / a - ramp
    if hold < 0.0:
        a, hold = speed / ramp, 0.0
    push = hold + 2.0 * ramp
    coast = distance / (a * (hold + ramp)) - push
    if coast < 0.0:  # too short a way for this speed: distance = a (hold + ramp) (hold + 2 ramp)
        coast = 0.0
        hold = -1.5 * ramp + math.sqrt(0.25 * ramp**2 + distance / a)
        if hold < 0.0:
            hold, a = 0.0, distance / (2.0 * ramp**2)
        push = hold + 2.0 * ramp
    corners = np.array([0.0, ramp, ramp + hold, push])
    jumps = a / ramp * np.array([1.0, -1.0, -1.0, 1.0])
    return np.concatenate([corners, push + coast + corners]), np.concatenate([jumps, -jumps])


def _direction(name: str, value: Any) -> Array:
    vector = np.array(checks.vector(name, value, "m"))
    size = float(np.linalg.norm(vector))
    if size == 0.0:
        checks.refuse(name, "a vector other than zero", value)
    return np.asarray(vector / size)


def _positive(name: str, values: Any) -> Array:
    found = checks.array(name, np.atleast_1d(np.asarray(values)), (None,), "Hz")
    if len(found) == 0 or (found <= 0.0).any():
        checks.refuse(name, "positive frequencies (Hz), one at least", values)
    return found
