"""Time of a member, measured before a study begins; in a second or two, however long members are."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from tautline.errors import TautlineError
from tautline.kernels.lanes import LANES
from tautline.studies.definition.definition import Study
from tautline.studies.definition.parameters import Values
from tautline.studies.definition.work import Work
from tautline.studies.execution import compute
from tautline.studies.execution.compute import Members, Started

MEMBERS_MEASURED, SECONDS_MEASURED = 8, 1.0
# Between two looks at the clock, at first; some milliseconds for all elements together.
STEPS_OF_AN_ELEMENT = 20_000


class Pace(NamedTuple):
    """Seconds of a member."""

    mean: float  # for the whole study
    typical: float  # the median: a few long members do not make all batches short


def seconds_a_member(wanted: Study) -> Pace:
    """Measured on some that lie far apart.

    Short ones together, as batches are: alone a short member takes three times as long. Long ones are left when the
    time is up; the rest is taken to go on at that pace.
    """
    some = np.unique(np.linspace(0, wanted.members - 1, MEMBERS_MEASURED).astype(np.int64))
    values, most = _values(wanted, some), SECONDS_MEASURED / len(some)
    _seconds(wanted.work, values, 0, most)  # not counted: it may compile the kernels
    alone = [_seconds(wanted.work, values, k, most) for k in range(len(some))]
    if sum(alone) > SECONDS_MEASURED:
        return Pace(max(1e-6, float(np.mean(alone))), max(1e-6, float(np.median(alone))))
    before = time.perf_counter()
    compute.compute(wanted.work, values)
    together = max(1e-6, (time.perf_counter() - before) / len(some))
    return Pace(together, together)


def _values(wanted: Study, members: np.ndarray[Any, np.dtype[np.int64]]) -> dict[str, Values]:
    """Values of the parameters of some members."""
    if wanted.design.kind == "grid":
        places = np.unravel_index(members, wanted.shape)
        return {key: column[place] for (key, column), place in zip(wanted.given.items(), places, strict=True)}
    rows = [wanted.part(k, k + 1) for k in members.tolist()]
    return {key: np.concatenate([row[key] for row in rows]) for key in wanted.keys}


def _seconds(work: Work, values: dict[str, Values], place: int, most: float) -> float:
    """Wall time of one member, extrapolated from its first part if that takes longer than `most` (s)."""
    before = time.perf_counter()
    part = 1.0
    with suppress(TautlineError):  # refused, and soon
        part = _part(Members(work, values).start(place), before + most)
    return (time.perf_counter() - before) / part


def _part(one: Started, deadline: float) -> float:
    """March a member until the time is up, without keeping anything; how much of it was done."""
    simulation, total = one.simulation, float(one.rows)
    plan, layout = simulation.sampling(one.case.run.interval()), simulation.layout
    elements = layout.lengths["element"]
    steps = max(1, STEPS_OF_AN_ELEMENT // (elements * len(plan.stages)))
    if plan.steps_per_sample > steps:  # not even one sample need come soon
        total *= plan.steps_per_sample / steps
        simulation.begin(one.case.commands, steps * plan.h, steps * plan.h)
        plan = simulation.sampling(steps * plan.h)
    most = max(1, int(compute.BYTES_TOGETHER / (8 * LANES * layout.row_length())))
    done, rows = 0, 1
    while done < total and simulation.status == "completed":
        compute.march(one, rows, plan)
        done += rows
        if time.perf_counter() > deadline:
            return min(1.0, done / total)
        rows = max(1, min(2 * rows, most, int(total - done)))
    return 1.0
