"""A simulation that is used twice at once refuses, and is none the worse for it."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import ForceLawError, InUseError, TautlineError

# One for the chain kernels, one for the network's.
CASES = {"retrieval": tl.load("retrieval", {"run.elements": 8}), "thrown-bodies": tl.load("thrown-bodies")}


def fresh(name: str, law: tl.ForceLaw) -> tl.Simulation:
    return tl.Simulation.from_case(CASES[name], loads=law)


def bits(simulation: tl.Simulation) -> list[bytes]:
    run = simulation.dataset()
    return [np.asarray(run[name]).tobytes() for name in sorted(map(str, run.data_vars))]


@pytest.mark.parametrize("name", CASES)
def test_another_thread_is_refused_while_a_simulation_moves_on(name: str) -> None:
    """A force law holds the march until the other thread has tried everything."""
    inside, tried = threading.Event(), threading.Event()

    def wait(t: float, state: Any, parameters: Any, force: Any, moment: Any) -> None:
        inside.set()
        tried.wait(20.0)

    expected = fresh(name, tl.ForceLaw(lambda *_: None))
    expected.advance(0.002, sample=0.001)
    simulation = fresh(name, tl.ForceLaw(wait))
    refused: list[bool] = []

    def try_everything() -> None:
        inside.wait(20.0)
        body = next(iter(simulation.bodies.values()))
        calls: list[Any] = [
            lambda: simulation.advance(0.001),
            lambda: simulation.runner.first_sample(),
            lambda: simulation.dataset(),
            lambda: simulation.runner.stepper.limits(),
            lambda: body.strike((0.1, 0.0, 0.0)),
        ]
        try:
            for call in calls:
                with pytest.raises(InUseError, match="only one thread"):
                    call()
                refused.append(True)
        finally:
            tried.set()

    thread = threading.Thread(target=try_everything)
    thread.start()
    simulation.advance(0.002, sample=0.001)
    thread.join()
    assert len(refused) == 5
    assert bits(simulation) == bits(expected)


@pytest.mark.parametrize("name", CASES)
def test_a_force_law_that_uses_its_simulation(name: str) -> None:
    simulation: Any = None

    def law(t: float, state: Any, parameters: Any, force: Any, moment: Any) -> None:
        simulation.advance(0.001)

    simulation = fresh(name, tl.ForceLaw(law))
    with pytest.raises(ForceLawError, match="must not advance") as caught:
        simulation.advance(0.01, sample=0.005)
    assert isinstance(caught.value.__cause__, InUseError) and isinstance(caught.value, TautlineError)
    assert simulation.time == 0.0


@pytest.mark.parametrize("name", CASES)
def test_a_controller_that_advances_its_simulation(name: str) -> None:
    def control(simulation: Any) -> Any:
        simulation.runner.stepper.limits()  # looking is allowed
        simulation.advance(0.01)

    with pytest.raises(InUseError, match="controller"):
        tl.simulate(CASES[name], control=control, period=0.025, duration=0.05, sample=0.025)


def test_a_law_that_fails_leaves_the_motion_as_it_was() -> None:
    """It can go on, with the bits of a run in which nothing failed."""
    failing = [False]

    def law(t: float, state: Any, parameters: Any, force: Any, moment: Any) -> None:
        if failing[0]:
            raise ValueError("no wind")

    for name in CASES:
        plain, tried = (fresh(name, tl.ForceLaw(law)) for _ in range(2))
        for _ in range(2):
            plain.advance(0.01, sample=0.005)
        tried.advance(0.01, sample=0.005)
        failing[0] = True
        with pytest.raises(ForceLawError, match="no wind"):
            tried.advance(0.01, sample=0.005)
        failing[0] = False
        tried.advance(0.01, sample=0.005)
        assert bits(tried) == bits(plain)
