"""Numbers for people: the table that the viewer's own formatter is held against too (web/tests/format.test.ts)."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tautline.quantities import PREFIXED, SIZES, between, number, value

TABLE = json.loads((Path(__file__).parents[1] / "data" / "quantities.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("x", "unit", "text"), TABLE)
def test_table(x: float, unit: str, text: str) -> None:
    assert value(x, unit) == text


def test_what_is_no_number() -> None:
    assert [value(x, "N") for x in (None, math.nan)] == ["\u2013", "\u2013"]
    assert [number(x) for x in (math.inf, -math.inf)] == ["∞", "-∞"]


def test_a_range_has_one_unit() -> None:
    assert between(9656.3, 10623.9, "N") == "9.656 to 10.62 kN"
    assert between(-0.0665, 1.2e-4, "%") == "-6.65 to 0.012 %"
    assert between(500.0, 500.0, "m") == "500 m"


@given(st.floats(min_value=1e-10, max_value=1e11), st.sampled_from(PREFIXED), st.sampled_from((-1.0, 1.0)))
def test_what_is_written_is_the_number_to_four_digits(x: float, unit: str, sign: float) -> None:
    """Read back with its prefix; and no number with a prefix is longer than four digits, a point and a sign."""
    text = value(sign * x, unit)
    digits, name = text.split(" ", 1)
    prefix = name.removesuffix(unit)
    assert float(digits) * SIZES[prefix] == pytest.approx(sign * x, rel=0.5001e-3)
    assert 1e-2 <= abs(float(digits)) < 1e3 or x < 1e-8
