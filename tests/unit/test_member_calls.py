"""Entries that are called for one member after the other, against calls of the same entries."""

from __future__ import annotations

import numpy as np
import pytest

import tautline as tl
from tautline.engine import columns
from tautline.engine.cases import begin
from tautline.engine.member_calls import MemberCalls
from tautline.kernels import data, observe
from tautline.kernels.limits import step_limits

COUNT = 3


@pytest.fixture
def task() -> tuple[data.Parameters, data.Plan, data.Motion]:
    """A pendulum whose stiffness is a column, and motions of members."""
    found = begin(tl.load("retrieval", {"run.elements": 4})).simulation.task()
    motions = data.Motion._make(np.stack([x] * COUNT) for x in found.motion)
    motions.nodes[:, data.VELOCITY, 4] = [0.1, 0.2, 0.3]
    return found.par._replace(EA=np.array([40.0, 41.0, 42.0])), found.plan, motions


def test_every_member_as_if_it_were_called_alone(task: tuple[data.Parameters, data.Plan, data.Motion]) -> None:
    par, _, motions = task
    alone = data.Motion._make(x.copy() for x in motions)
    together = MemberCalls(observe.begin, COUNT, par, motions)
    for k in range(COUNT):
        together(k)
        observe.begin(columns.some_of(par, k), data.Motion._make(x[k] for x in alone))
    assert all((ours == theirs).all() for ours, theirs in zip(motions, alone, strict=True))
    assert len(set(motions.nodes[:, data.MOMENTUM, 4])) == COUNT


def test_what_an_entry_returns(task: tuple[data.Parameters, data.Plan, data.Motion]) -> None:
    par, plan, _ = task
    reeled = np.array([1.0, 2.0, 3.0])
    together = MemberCalls(step_limits, COUNT, par, plan, reeled, True)
    for k in range(COUNT):
        assert together(k) == step_limits(columns.some_of(par, k), plan, float(reeled[k]), True)


def test_arrays_with_fewer_rows_are_used_in_turn(task: tuple[data.Parameters, data.Plan, data.Motion]) -> None:
    par, _, motions = task
    out = data.Samples(*(np.stack([x] * 2) for x in data.empty_samples(1, par.N)))
    scratch = data.empty_scratch(par.N)
    sample = MemberCalls(observe.observe, COUNT, par, True, motions, scratch, out, 0, 0.0, None)
    sample(0)
    first = out.scalars[0, 0].copy()
    sample(1)
    sample(2)
    assert (out.scalars[:, 0, data.ELASTIC] != first[data.ELASTIC]).all()
    assert not (out.scalars[0] == out.scalars[1]).all()


def test_arrays_that_machine_code_cannot_take(task: tuple[data.Parameters, data.Plan, data.Motion]) -> None:
    par, _, motions = task
    with pytest.raises(TypeError, match="of 3 indices, got 4"):
        MemberCalls(observe.begin, COUNT, par, motions._replace(nodes=motions.nodes[None]))
    with pytest.raises(TypeError, match="one behind the other"):
        MemberCalls(observe.begin, COUNT, par, motions._replace(nodes=motions.nodes[..., ::2]))
