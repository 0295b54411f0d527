"""How large batches are if nobody says it."""

from __future__ import annotations

from typing import Any

import pytest

from tautline.studies.definition import definition
from tautline.studies.execution import run


def members_a_batch(members: int, seconds: float, workers: int, outputs: Any = ("final energy",)) -> int:
    sides = {"gravity": members // 50, "body.mass": 50}
    vary = {key: {"from": 1.0, "to": 2.0, "points": points} for key, points in sides.items()}
    wanted = definition.read({"scenario": "fixed-length", "vary": vary, "outputs": list(outputs)})
    assert wanted.members == members
    return run._members_a_batch(wanted, seconds, workers)


def test_every_worker_gets_several() -> None:
    assert members_a_batch(10_000, 1e-3, 2) == 10_000 // (2 * run.BATCHES_A_WORKER)


@pytest.mark.parametrize(("members", "seconds", "expected"), [(100, 1e-3, 200), (10**6, 1e-3, 2000), (100, 60.0, 1)])
def test_a_batch_is_neither_too_short_nor_too_long(members: int, seconds: float, expected: int) -> None:
    assert members_a_batch(members, seconds, 2) == expected


def test_many_workers_get_batches_that_leave_time_for_the_scheduler() -> None:
    """A thousand of them would ask for 500 batches of 2 s a second."""
    assert members_a_batch(10**7, 1e-2, 1000) == 1000 * run.SECONDS_FOR_A_WORKER / 1e-2


def test_a_short_study_still_goes_to_all_workers() -> None:
    assert members_a_batch(10**6, 1e-3, 1000) == 1000


def test_large_results_make_small_batches() -> None:
    size = members_a_batch(10**5, 1e-5, 2, ["position"])  # 1001 samples of 21 nodes
    assert size == int(run.BYTES_A_BATCH / (8 * (1001 * 21 * 3 + 3)))
