"""Outputs of a study that rope engineers read off a whole run, one number each: the functions of `analysis`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline.analysis import fatigue, loads
from tautline.analysis.fatigue import TensionCurve
from tautline.arrays import Array
from tautline.model.string import String
from tautline.schema import Variable


class Rope(NamedTuple):
    """Figures of a member's string that a reading needs."""

    breaking_load: float  # N, NaN if unknown
    slack_strain: float  # at which the tension vanishes
    curve: TensionCurve | None  # of the damage


class Reading(NamedTuple):
    """A number that is read off a run: what it is, from which variables, and how."""

    variable: Variable
    needs: tuple[str, ...]
    read: Callable[[Mapping[str, Array], Rope], float]
    of_breaking_load: bool = False


def _motor(field: str) -> Callable[[Mapping[str, Array], Rope], float]:
    return lambda x, rope: float(getattr(loads.motor_of(x["time"], x["motor_work"], x["power"]), field))


def _slack(x: Mapping[str, Array], rope: Rope) -> Array:
    """Durations of slack events."""
    begin, end = loads.slack_times(x["time"], x["strain"], rope.slack_strain)
    return np.asarray(end - begin)


def _damage(x: Mapping[str, Array], rope: Rope) -> float:
    assert rope.curve is not None
    tension = x["start_tension"]
    found = fatigue.cycles_of(tension, "a study of damage")
    return fatigue.damage_of(x["time"], tension, rope.breaking_load, rope.curve, found)[0]


def _utilization(x: Mapping[str, Array], rope: Rope) -> float:
    return loads.peak_of(*(x[name] for name in TENSIONS)).tension / rope.breaking_load


TENSIONS = ("tension", "start_tension", "end_tension")
MOTOR = ("motor_work", "power")
READINGS = {
    "utilization": Reading(Variable((), "1", "largest tension over the breaking load"), TENSIONS, _utilization, True),
    "damage": Reading(
        Variable((), "1", "fatigue damage by the tension at the start of the line; 1 is failure"),
        ("start_tension",),
        _damage,
        True,
    ),
    "slack_events": Reading(
        Variable((), "1", "how many times some part of the line goes slack"),
        ("strain",),
        lambda x, rope: float(len(_slack(x, rope))),
    ),
    "slack_time": Reading(
        Variable((), "s", "time in which some part of the line is slack"),
        ("strain",),
        lambda x, rope: float(_slack(x, rope).sum()),
    ),
    "driving_energy": Reading(Variable((), "J", "work of the motor while it drives"), MOTOR, _motor("driving_energy")),
    "braking_energy": Reading(Variable((), "J", "work that the motor takes up"), MOTOR, _motor("braking_energy")),
    "peak_power": Reading(Variable((), "W", "largest power of the motor, driving"), MOTOR, _motor("peak_power")),
    "peak_braking_power": Reading(
        Variable((), "W", "largest power of the motor, braking"), MOTOR, _motor("peak_braking_power")
    ),
}


def read_off(
    name: str, curve: TensionCurve | None, values: Mapping[str, Array], rows: NDArray[np.int64], string: String
) -> Array:
    """A reading of every member, from arrays (member, time, ...); numbers of the string may be columns.

    `rows` says how many samples each member has. One with fewer than two, or with values that are not finite, has none.
    """
    reading, count = READINGS[name], len(rows)
    arrays = {variable: values[variable] for variable in reading.needs}
    arrays["time"] = np.broadcast_to(values["time"], (count, values["time"].shape[-1]))
    load: Any = np.nan if string.breaking_load is None else string.breaking_load
    loads_, strains = (np.broadcast_to(x, count).tolist() for x in (load, string.strain(0.0)))
    found = np.full(count, np.nan)
    for k, n in enumerate(rows.tolist()):
        own = {variable: x[k, :n] for variable, x in arrays.items()}
        if n > 1 and all(np.isfinite(x).all() for x in own.values()):
            found[k] = reading.read(own, Rope(loads_[k], strains[k], curve))
    return found
