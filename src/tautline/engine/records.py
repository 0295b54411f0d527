"""Warnings on records, such as measured wind, that end before the run does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.model.flows import FlowTable
from tautline.model.path import GuidePath
from tautline.model.short_keys import names_of
from tautline.model.system.parts import Kinematic
from tautline.model.system.system import System
from tautline.model.turning import AttitudePath
from tautline.results.warnings import RunWarning

# Turns, up to down or down to up, of a table that is a record and not a ramp, a pulse or a move; and the part of the
# time that it covers at least.
RECORD, COVERED = 8, 0.99


def record_warnings(system: System, time: float) -> list[RunWarning]:
    """Warnings on records that hold their last value, or stand still, at a time (s)."""
    found = []
    for key, times, values in _tables(system):
        if times[-1] < COVERED * time and _is_record(values):
            text = (
                f"the table of {key} ends at t = {times[-1]:.6g} s, and what it gives stays as it is from there on; "
                "give a longer one, or end the run there"
            )
            found.append(RunWarning("record_end", text, float(times[-1]), None))
    return found


def _tables(system: System) -> Iterator[tuple[str, Array, Array]]:
    """Tables over time by their keys: times, and values (time, ...)."""
    short = names_of(system) is not None
    if system.fluid is not None and isinstance(system.fluid.unsteady, FlowTable):
        yield "fluid.unsteady", np.array(system.fluid.unsteady.times), np.array(system.fluid.unsteady.flows)
    for name, applied in system.applied_forces.items():
        for part in ("force", "moment"):
            table: Any = getattr(applied, part)
            if isinstance(table[0], tuple):
                key = f"applied_force.{part}s" if short else f"bodies.{name}.applied_force.{part}s"
                yield key, np.array(table[0]), np.array(table[1])
    for name, body in system.bodies.items():
        if not isinstance(body, Kinematic):
            continue
        if isinstance(body.path, GuidePath):
            yield (
                "guide" if short else f"bodies.{name}.path",
                np.array(body.path.times),
                np.array(body.path.displacements),
            )
        if isinstance(body.turning, AttitudePath):
            yield f"bodies.{name}.turning", np.array(body.turning.times), np.array(body.turning.angles)


def _is_record(values: Array) -> bool:
    """Whether a value of a table goes to and fro, and has not come to rest at its end."""
    if len(values) < RECORD + 2:
        return False
    columns = values.reshape(len(values), -1)
    steps = np.diff(columns, axis=0)
    turns = (np.sign(steps[1:]) * np.sign(steps[:-1]) < 0.0).sum(axis=0)
    return bool(((turns >= RECORD) & (steps[-1] != 0.0) & (columns[-1] != 0.0)).any())
