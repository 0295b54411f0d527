"""Common units without the unit library: the same numbers as it gives, and nothing it would refuse."""

from __future__ import annotations

from typing import Any

import pint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tautline import units

REGISTRY: Any = pint.UnitRegistry(cache_folder=None)
names = st.sampled_from(sorted(units._COMMON))
powers = st.sampled_from(["", "^2", "**3", "^-1"])
joints = st.sampled_from(["*", "/", " ", " * ", " / "])


@given(names, powers, st.lists(st.tuples(joints, names, powers), max_size=3), st.sampled_from(["", "1/", "1 / "]))
def test_products_and_quotients(first: str, power: str, more: list[tuple[str, str, str]], front: str) -> None:
    text = front + first + power + "".join(joint + name + p for joint, name, p in more)
    found = units._common(text)
    assert found is not None
    expected = REGISTRY.Quantity(1.0, REGISTRY.parse_units(text)).to_base_units()
    m, kg, s, rad = found.powers
    assert expected.units == REGISTRY.parse_units(f"meter**{m} * kilogram**{kg} * second**{s} * radian**{rad}")
    assert found.over / found.under == pytest.approx(expected.magnitude, rel=1e-14)


@pytest.mark.parametrize("text", ["kHz", "lbf", "m*furlong", "kg/inch", "%", "N*°"])
def test_others_are_left_to_the_library(text: str) -> None:
    assert units._common(text) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3 kg", "got '3 kg', which is a mass"),
        ("3 furlongz", "unknown unit 'furlongz'"),
        ("3 rad", "got '3 rad', which is an angle"),
        ("3 J", "which is an energy"),
        ("3 N*m", "which is a torque"),
        ("3 kJ", "which is a torque or an energy"),
        ("3 %", "which is a ratio without a unit"),
        ("3 K/s", "which is measured in K/s"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        units.to_si(text, "m")


@pytest.mark.parametrize("text", ["2 ton", "2 tons", "2 ton/m", "3 kton"])
def test_tons_are_refused(text: str) -> None:
    for read in (lambda: units.to_si(text, "kg"), lambda: units.quantity(text)):
        with pytest.raises(ValueError, match=r"one of three .+ write t for 1000 kg"):
            read()
    assert units.to_si("2 t", "kg") == units.to_si("2 tonnes", "kg") == 2000.0
