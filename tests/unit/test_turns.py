"""A simulation that is used twice at once refuses, and is none the worse for it."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import ForceLawError, InUseError, TautlineError
from tests.support import chains

CASE = tl.load("retrieval", {"run.elements": 8})


def fresh(kind: str, loads: Any = None) -> Any:
    if kind == "pendulum":
        return tl.Simulation.from_case(CASE, loads=[] if loads is None else [loads])
    case = tl.load("thrown-bodies")
    return tl.Simulation.from_case(case, loads=None if loads is None else {"cord": loads})


def bits(simulation: Any) -> list[bytes]:
    run = simulation.dataset()
    return [np.asarray(run[name]).tobytes() for name in sorted(run.data_vars)]


@pytest.mark.parametrize("kind", ["pendulum", "assembly"])
def test_another_thread_is_refused_while_a_simulation_moves_on(kind: str) -> None:
    """A force law holds the march until the other thread has tried everything."""
    inside, tried = threading.Event(), threading.Event()

    def wait(t: float, state: Any, parameters: Any, force: Any, moment: Any) -> None:
        inside.set()
        tried.wait(20.0)

    expected = fresh(kind, tl.ForceLaw(lambda *_: None))
    expected.advance(0.002, sample=0.001)
    simulation = fresh(kind, tl.ForceLaw(wait))
    refused: list[bool] = []

    def try_everything() -> None:
        inside.wait(20.0)
        strike = (0.1, 0.0, 0.0) if kind == "pendulum" else ("left", (0.1, 0.0, 0.0))
        calls: list[Any] = [
            lambda: simulation.advance(0.001),
            lambda: simulation.first_sample(),
            lambda: simulation.dataset(),
            lambda: simulation.limits(),
            lambda: simulation.apply_impulse(*strike) if kind == "assembly" else simulation.apply_impulse(strike),
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


@pytest.mark.parametrize("kind", ["pendulum", "assembly"])
def test_a_force_law_that_uses_its_simulation(kind: str) -> None:
    simulation: Any = None

    def law(t: float, state: Any, parameters: Any, force: Any, moment: Any) -> None:
        simulation.advance(0.001)

    simulation = fresh(kind, tl.ForceLaw(law))
    with pytest.raises(ForceLawError, match="must not advance") as caught:
        simulation.advance(0.01, sample=0.005)
    assert isinstance(caught.value.__cause__, InUseError) and isinstance(caught.value, TautlineError)
    assert simulation.time == 0.0


@pytest.mark.parametrize("name", ["retrieval", "thrown-bodies"])
def test_a_controller_that_advances_its_simulation(name: str) -> None:
    def control(simulation: Any) -> Any:
        simulation.limits()  # looking is allowed
        simulation.advance(0.01)

    with pytest.raises(InUseError, match="controller"):
        chains.simulate(tl.load(name), control=control, period=0.025, duration=0.05, sample=0.025)


def test_a_law_that_fails_leaves_the_motion_as_it_was() -> None:
    """It can go on, with the bits of a run in which nothing failed."""
    failing = [False]

    def law(t: float, state: Any, parameters: Any, force: Any, moment: Any) -> None:
        if failing[0]:
            raise ValueError("no wind")

    for kind in ("pendulum", "assembly"):
        plain, tried = (fresh(kind, tl.ForceLaw(law)) for _ in range(2))
        for _ in range(2):
            plain.advance(0.01, sample=0.005)
        tried.advance(0.01, sample=0.005)
        failing[0] = True
        with pytest.raises(ForceLawError, match="no wind"):
            tried.advance(0.01, sample=0.005)
        failing[0] = False
        tried.advance(0.01, sample=0.005)
        assert bits(tried) == bits(plain)
