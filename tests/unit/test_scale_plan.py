"""The simulation of studies on large clusters, where the answer is known."""

from __future__ import annotations

import pytest
from benchmarks.scale_plan import Costs, Machine, simulate
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize("slots", [1, 7, 100])
def test_without_overhead_scaling_is_perfect(slots: int) -> None:
    found = simulate([0.5] * 12 * slots, Costs(), Machine(slots))
    assert found.wall == pytest.approx(6.0)
    assert found.busy == pytest.approx(1.0)
    assert found.scheduler == found.client == 0.0


def test_a_slow_scheduler_takes_its_time_for_every_batch() -> None:
    found = simulate([1e-3] * 500, Costs(scheduler=0.01), Machine(100))
    # the last batch still has to be computed and to be heard of
    assert found.wall == pytest.approx(500 * 0.01, rel=0.01)
    assert found.scheduler == pytest.approx(1.0, abs=0.01)


def test_a_lost_slot_costs_its_batch() -> None:
    found = simulate([2.0] * 4, Costs(), Machine(2), losses=[(3.0, 1)])
    # slot 0 does batches until 2, 4, 6; slot 1 one until 2, and loses another
    assert found.wall == pytest.approx(6.0)
    assert found.finished.tolist() == [1, 1, 1, 1]


@given(
    seconds=st.lists(st.floats(1e-3, 2.0), min_size=1, max_size=60),
    costs=st.tuples(*[st.sampled_from([0.0, 1e-3, 0.05])] * 5).map(lambda c: Costs(*c)),
    slots=st.integers(2, 8),
    hosts=st.integers(0, 3),
    cores=st.integers(0, 2),
    losses=st.lists(st.tuples(st.floats(0.0, 5.0), st.just(0)), max_size=1),
)
def test_every_batch_is_done_exactly_once(
    seconds: list[float], costs: Costs, slots: int, hosts: int, cores: int, losses: list[tuple[float, int]]
) -> None:
    found = simulate(seconds, costs, Machine(slots, hosts, cores, start=0.1), losses)
    assert found.finished.tolist() == [1] * len(seconds)
    assert 0.0 < found.busy <= 1.0 + 1e-12
    # nobody can be faster than the work, shared by all, or than the longest batch
    assert found.wall >= max(max(seconds), sum(seconds) / slots) * (1 - 1e-12)
