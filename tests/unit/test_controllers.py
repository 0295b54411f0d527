"""Arguments of a controlled run: what is refused names them, and what need not be refused is not."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError
from tests.support import chains


@pytest.mark.parametrize("name", ["crane-hoist", "hook-and-load"])
@pytest.mark.parametrize("period", [0, -1.0, float("nan"), 0.0037])
def test_a_period_that_cannot_be_is_named(name: str, period: float) -> None:
    with pytest.raises(InputError, match=r"^period: expected") as caught:
        chains.simulate(tl.load(name), control=lambda _: None, period=period, duration=0.1, sample=0.01)
    assert "toml" not in str(caught.value)


def _answer(answer: Any, simulation: Any) -> Any:
    return answer


def test_what_a_controller_returned_is_named() -> None:
    for answer, words in (((1.0, (np.nan, 0.0, 0.0)), r"Torque.torque\[0\] \(times\)"), ("fast", "Torque.torque")):
        with pytest.raises(InputError, match=f"^control: {words}: expected"):
            chains.simulate(tl.load("retrieval"), control=partial(_answer, answer), duration=0.1)


def test_a_key_of_the_run_is_named_with_its_line() -> None:
    with pytest.raises(InputError, match=r"run\.step"):
        chains.simulate(tl.load("retrieval", {"run.step": 0.01}), control=lambda _: 1.0, period=0.01, duration=0.1)


def test_a_controller_may_be_faster_than_the_samples() -> None:
    """The same motion as with all ticks stored, at the samples."""
    asked: list[float] = []

    def control(simulation: Any) -> float:
        asked.append(simulation.time)
        return 1.2 + 0.1 * float(np.sin(50.0 * simulation.time))

    case = tl.load("retrieval", {"run.step": 5e-4})
    slow = chains.simulate(case, control=control, period=0.005, duration=0.1, sample=0.02)
    assert len(asked) == 20
    fine = chains.simulate(case, control=control, period=0.005, duration=0.1, sample=0.005)
    np.testing.assert_allclose(slow.time, np.linspace(0.0, 0.1, 6), rtol=1e-12)
    np.testing.assert_array_equal(slow.position, fine.position[::4])
