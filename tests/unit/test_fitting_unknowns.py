"""Unknowns of a fit: start values, bounds and scales, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import pytest

import tautline as tl
from tautline.fitting import unknowns
from tests.support.measured import small_case


def one(key: str, spec: Any = None, **changes: Any) -> unknowns.Unknown:
    (found,) = unknowns.read(small_case().with_(changes), {key: spec})
    return found


def test_positive_numbers_are_looked_for_by_their_logarithm() -> None:
    found = one("string.stiffness")
    assert (found.scale, found.start, found.low, found.high, found.unit) == ("log", 200.0, 0.2, 2e5, "N")
    assert found.value(found.x(321.0)) == pytest.approx(321.0, rel=1e-14)
    step = 1e-6
    by_x = (found.value(0.7 + step) - found.value(0.7 - step)) / (2 * step)
    assert found.slope(found.value(0.7)) == pytest.approx(by_x, rel=1e-9)


def test_numbers_that_may_be_zero_have_a_bound_there() -> None:
    found = one("string.viscosity")
    assert (found.scale, found.low, found.high) == ("linear", 0.0, math.inf)
    assert found.value(found.x(0.5)) == 0.5 and found.value(-100.0) == 0.0
    assert one("string.viscosity", **{"string.viscosity": 0.0}).size == 1.0


def test_numbers_of_any_sign_have_none() -> None:
    found = one("initial.end_velocity[1]")
    assert (found.scale, found.start, found.low, found.high, found.size) == ("linear", 0.0, -math.inf, math.inf, 1.0)


def test_what_is_given_takes_the_place_of_defaults() -> None:
    assert one("string.stiffness", ("0.1 kN", 300)).low == 100.0
    assert one("string.stiffness", (None, 300)).low == 0.2
    found = one("string.stiffness", {"start": "250 N", "from": 100, "to": 400, "scale": "linear"})
    assert (found.start, found.low, found.high, found.scale) == (250.0, 100.0, 400.0, "linear")
    assert unknowns.offset(True, 20.0, 0.1) == unknowns.Unknown("offset", "s", 0.0, -2.0, 2.0, "linear", 0.1)
    moved = unknowns.offset(("100 ms", 0.3), 20.0, 0.1)
    assert moved is not None and (moved.start, moved.low, moved.high) == (0.1, 0.1, 0.3)
    assert unknowns.offset(None, 20.0, 0.1) is None and unknowns.offset(False, 20.0, 0.1) is None


@pytest.mark.parametrize(
    ("vary", "words"),
    [
        ([], "vary: expected keys of the case"),
        ("string.stiffness", "vary: expected keys of the case"),
        (["string.stifness"], "vary: string.stifness: no such key; did you mean 'stiffness'?"),
        (["rope.stiffness"], "vary: rope.stiffness: no such key"),
        (["string stiffness"], "expected a key of a scenario"),
        (["run.duration"], "vary run.duration: expected a key of the system"),
        (["string.law"], "vary string.law: expected a key with a number in the case, got 'linear'"),
        (["initial.direction"], "choose components such as initial.direction[0]"),
        (["initial.direction[7]"], "expected a key with a number in the case, got None"),
        (["string.breaking_load"], "got None; give it one to start from"),
        ({"string.stiffness": (300, 400)}, "expected bounds around the start value 200 N, got 300 to 400"),
        ({"string.stiffness": (400, 300)}, "expected a lower bound below the upper one"),
        ({"string.stiffness": (-1, 300)}, "expected positive bounds on a logarithmic scale"),
        ({"string.stiffness": ("1 m", 300)}, "vary string.stiffness from: expected a force"),
        ({"string.stiffness": 3.0}, "expected bounds (low, high)"),
        ({"string.stiffness": {"low": 3.0}}, "low: no such key; expected one of start, from, to, scale"),
        ({"string.stiffness": {"scale": "square"}}, "vary string.stiffness scale: expected one of 'linear', 'log'"),
        ({"initial.end_velocity[1]": {"scale": "log"}}, "expected a positive start value on a logarithmic scale"),
    ],
)
def test_what_is_refused(vary: Any, words: str) -> None:
    with pytest.raises(tl.errors.InputError) as caught:
        unknowns.read(small_case(), vary)
    assert words in str(caught.value) and "\n" not in str(caught.value)
