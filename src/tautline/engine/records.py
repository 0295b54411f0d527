"""Warnings on records, such as measured wind, that end before the run does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.model.flows import FlowTable
from tautline.model.path import Curve, GuidePath
from tautline.model.short_keys import spelled
from tautline.model.system.parts import Kinematic
from tautline.model.system.system import System
from tautline.model.turning import AttitudePath
from tautline.results.warnings import RunWarning

# Part of the time of a run that a table covers at least.
COVERED = 0.99
# Turns, up to down or down to up, from which on a table goes to and fro: of flows and forces, and of motions, where
# fewer are a move through points, at whose last one the curve comes to rest by itself. A table that also holds values,
# which records rarely do, is one of set points, up to some more turns.
TURNS, TURNS_OF_MOTION, TURNS_WITH_HOLDS = 1, 4, 8
# Parts of the range: by which values at rest differ, and those that have returned to the first one or to 0. At rest
# they are for the last part of the time.
AT_REST, RETURNED, LAST = 0.01, 1e-3, 0.125
# Part of the largest value that a column must vary by to count.
ROUNDING = 1e-9


def record_warnings(system: System, time: float) -> list[RunWarning]:
    """Warnings on records that hold their last value, or stand still, at a time (s)."""
    found = []
    for key, times, values, curve in _tables(system):
        turns = TURNS if curve is None else TURNS_OF_MOTION
        if times[-1] < COVERED * time and (_is_record(times, values, turns) or (curve and _stops_at_once(curve))):
            text = (
                f"the table of {key} ends at t = {times[-1]:.6g} s, and what it gives stays as it is from there on; "
                "give a longer one, or end the run there"
            )
            found.append(RunWarning("record_end", text, float(times[-1]), None))
    return found


def _tables(system: System) -> Iterator[tuple[str, Array, Array, Curve | None]]:
    """Tables over time by their keys: times, values (time, ...), and the smooth curve through them, if there is one."""
    if system.fluid is not None and isinstance(system.fluid.unsteady, FlowTable):
        yield "fluid.unsteady", np.array(system.fluid.unsteady.times), np.array(system.fluid.unsteady.flows), None
    for name, applied in system.applied_forces.items():
        for part in ("force", "moment"):
            table: Any = getattr(applied, part)
            if isinstance(table[0], tuple):
                yield (
                    spelled(system, "bodies", name, "applied_force", f"{part}s"),
                    np.array(table[0]),
                    np.array(table[1]),
                    None,
                )
    for name, body in system.bodies.items():
        if not isinstance(body, Kinematic):
            continue
        path, turning = body.path, body.turning
        if isinstance(path, GuidePath):
            yield spelled(system, "bodies", name, "path"), np.array(path.times), np.array(path.displacements), path
        if isinstance(turning, AttitudePath):
            yield f"bodies.{name}.turning", np.array(turning.times), np.array(turning.angles), turning


def _is_record(times: Array, values: Array, turns: int) -> bool:
    """Whether a value of a table goes to and fro, and has neither come to rest at its end nor returned.

    What rises and stays is a ramp, what returns to its first value or to 0 a gust or a pulse.
    """
    columns = values.reshape(len(values), -1)
    steps, span, last = np.diff(columns, axis=0), np.ptp(columns, axis=0), columns[-1]
    turned = (np.sign(steps[1:]) * np.sign(steps[:-1]) < 0.0).sum(axis=0)
    restless = (turned >= TURNS_WITH_HOLDS) | ((turned >= turns) & (steps != 0.0).all(axis=0))
    since = times[-1] - LAST * (times[-1] - times[0])
    tail = np.array([np.interp(since, times, x) for x in columns.T])
    latest = np.maximum(np.abs(columns[times >= since] - last).max(axis=0), np.abs(tail - last))
    returned = np.minimum(np.abs(last - columns[0]), np.abs(last)) <= RETURNED * span
    counts = span > ROUNDING * np.abs(columns).max()
    return bool((restless & (latest > AT_REST * span) & ~returned & counts).any())


def _stops_at_once(curve: Curve) -> bool:
    """Whether a motion has a velocity at its end, where it stands still from then on."""
    knots, (_, *rates) = curve.pieces()
    lasted = knots[-1] - knots[-2]
    moved = sum(k * rate[-2] * lasted**k for k, rate in enumerate(rates, start=1))
    return bool(np.abs(moved).max() > AT_REST * np.ptp(curve.at(knots[1:])[0], axis=0).max())
