"""Simulations that march together: the numbers of each are those it would have alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.engine.chain.backend import ChainBackend
from tautline.engine.chain.ensemble import march_ensemble
from tautline.engine.runner import Runner
from tautline.kernels import data
from tautline.model.chain.cases import chain_command, chain_start
from tautline.model.chain.systems import chain_of

Change = Callable[[int], dict[str, Any]]


def prepared(
    name: str,
    members: Sequence[int],
    *,
    duration: float,
    step: float | str,
    reel: Change = lambda i: {},
    string: Change = lambda i: {},
    command: Callable[[int], tl.Command] | None = None,
    **options: Any,
) -> tuple[list[Runner[ChainBackend]], int]:
    """Members of a family: each number stands for a chain a little different from the others."""
    case = tl.load(name)
    plain = chain_of(case.system)
    simulations = []
    rows = 0
    for i in members:
        chain = replace(
            plain,
            string=replace(plain.string, **string(i)),
            reel=replace(plain.reel, **reel(i)),
        )
        simulation = Runner(ChainBackend(chain, chain_start(case), step=step, **options))
        rows = simulation.begin(chain_command(case) if command is None else command(i), duration, duration / 4)
        simulations.append(simulation)
    return simulations, rows


def stiffness(i: int) -> dict[str, Any]:
    return {"stiffness": 40.0 - 0.7 * i}


def largest_difference(name: str, members: Sequence[int], **how: Any) -> float:
    """Largest difference of samples and of the motion that is left, between marching together and alone."""
    ours, rows = prepared(name, members, **how)
    theirs, _ = prepared(name, members, **how)
    worst = 0.0
    for simulation, alone, samples in zip(ours, theirs, march_ensemble(ours, rows), strict=True):
        expected = alone.march(rows, alone.stepper.plan)
        assert (simulation.status, simulation.message) == (alone.status, alone.message)
        assert (simulation.time, simulation.steps) == (alone.time, alone.steps)
        pairs = [
            *zip(samples, expected, strict=True),
            *zip(simulation.stepper.motion, alone.stepper.motion, strict=True),
        ]
        for found, wanted in pairs:
            assert found.shape == wanted.shape
            worst = max(worst, float(np.max(np.abs(found - wanted), initial=0.0)))
    return worst


def test_example_1_over_two_seconds() -> None:
    how = {"duration": 2.0, "step": 5e-4, "string": stiffness}
    assert largest_difference("fixed-length", range(11), **how) < 1e-10


@pytest.mark.parametrize("order", [4, 6])
def test_higher_orders(order: int) -> None:
    how = {"duration": 0.1, "step": 5e-4, "string": stiffness, "order": order}
    assert largest_difference("fixed-length", range(3), **how) < 1e-11


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"order": 4},
        {"scheme": "paper"},
        {"compensated": False},
        {"string": lambda i: {"law": "tension_only", "stiffness": 40.0 + i}},
        {"reel": lambda i: {"guide_law": "published"}},
        {"reel": lambda i: {"guide_law": "momentum"}},
        {"reel": lambda i: {"guide_law": "stretched"}},
        {"reel": lambda i: {"guide_law": "none", "guide_strain": "extrapolated"}},
        {"reel": lambda i: {"viscous_friction": 0.01 * i, "coulomb_friction": 0.05 * i, "max_torque": 1.5}},
        {"command": lambda i: tl.Torque(([0.0, 0.01 + 0.01 * i, 0.07], [0.0, 2.0, 1.0 + i]))},
        {"command": lambda i: tl.Torque(([0.0, 0.02], [0.0, 1.0])) if i % 2 else tl.Free()},
        {"command": lambda i: tl.Brake(0.2 + 0.1 * i)},
        {"command": lambda i: tl.Impedance(10.0, 5.0 + i, 1.0)},
        {"command": lambda i: tl.Length.to(10.0 + 0.01 * i, speed=1.0, acceleration=10.0, jerk=100.0)},
    ],
)
def test_moving_reels(how: dict[str, Any]) -> None:
    """Every kind of reel, with members that differ in it."""
    assert largest_difference("retrieval", range(5), duration=0.1, step=5e-4, **how) < 1e-11


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("fixed-length", {"step": "auto", "string": stiffness}),
        ("retrieval", {"step": "auto", "string": stiffness}),
        ("retrieval", {"step": 5e-4, "reel": lambda i: {"layer_growth": 1e-4}}),
        ("fixed-length", {"step": 5e-4, "string": lambda i: {"viscosity": 0.01}}),
        ("retrieval", {"step": 5e-4, "command": lambda i: tl.Torque(lambda t: 1.0 + t)}),
        ("retrieval", {"step": 5e-4, "at_end": "hold"}),
    ],
)
def test_those_that_do_not_fit_into_lanes(name: str, how: dict[str, Any]) -> None:
    assert largest_difference(name, range(3), duration=0.1, **how) < 1e-12


def test_groups_do_not_matter() -> None:
    """Bit for bit, whoever marches with whom."""
    how: dict[str, Any] = {"duration": 0.2, "step": 5e-4, "string": stiffness}
    for name in ("fixed-length", "retrieval"):
        together, rows = prepared(name, range(11), **how)
        march_ensemble(together, rows)
        found: dict[int, Runner[ChainBackend]] = {}
        for group in ([7], [3, 10, 0], [1, 2, 4, 5, 6, 8, 9]):
            simulations, _ = prepared(name, group, **how)
            march_ensemble(simulations, rows, threads=2)
            found.update(zip(group, simulations, strict=True))
        for i, simulation in enumerate(together):
            for ours, theirs in zip(simulation.stepper.motion, found[i].stepper.motion, strict=True):
                np.testing.assert_array_equal(ours, theirs)


def test_a_member_that_meets_an_event_stops_alone() -> None:
    def command(i: int) -> tl.Command:
        return tl.Torque(40.0 if i == 2 else 2.09)

    how: dict[str, Any] = {"duration": 1.0, "step": 5e-4, "command": command, "minimum_length": 8.0}
    simulations, rows = prepared("retrieval", range(4), **how)
    samples = march_ensemble(simulations, rows)
    assert [s.status for s in simulations] == ["completed", "completed", "fully_retrieved", "completed"]
    assert len(samples[2].scalars) < rows == len(samples[1].scalars)
    assert simulations[2].backend.deployed_length < 8.0
    assert largest_difference("retrieval", range(4), **how) < 1e-9


@pytest.mark.parametrize(("name", "kick"), [("fixed-length", 1e7), ("retrieval", 1e7), ("fixed-length", 1e200)])
def test_a_member_whose_step_fails_is_reported_as_alone(name: str, kick: float) -> None:
    """A blow that no step follows."""
    how: dict[str, Any] = {"duration": 0.2, "step": 5e-4}
    ours, rows = prepared(name, range(3), **how)
    theirs, _ = prepared(name, range(3), **how)
    undisturbed, _ = prepared(name, [0], **how)
    for simulations in (ours, theirs):
        simulations[1].stepper.motion.body[8:11] += kick
    march_ensemble(ours, rows)
    march_ensemble(undisturbed, rows)
    theirs[1].march(rows, theirs[1].stepper.plan)
    assert theirs[1].status in ("newton_failed", "non_finite")
    assert (ours[1].status, ours[1].message) == (theirs[1].status, theirs[1].message)
    for simulation in (ours[0], ours[2]):
        np.testing.assert_array_equal(simulation.stepper.motion.nodes, undisturbed[0].stepper.motion.nodes)


def test_a_member_that_leaves_in_its_first_interval_goes_on_as_alone() -> None:
    """A body that turns too fast for the common step; what the others do meanwhile leaves no trace in its motion."""
    how: dict[str, Any] = {"duration": 0.2, "step": "auto"}
    ours, rows = prepared("fixed-length", range(3), **how)
    theirs, _ = prepared("fixed-length", range(3), **how)
    for simulations in (ours, theirs):
        simulations[1].stepper.motion.body[data.OMEGA] += 200.0
    march_ensemble(ours, rows)
    theirs[1].march(rows, theirs[1].stepper.plan)
    assert ours[1].steps > ours[0].steps
    for found, expected in zip(ours[1].stepper.motion, theirs[1].stepper.motion, strict=True):
        np.testing.assert_array_equal(found, expected)
