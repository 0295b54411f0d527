"""How verdicts on the paper's claims are made and put in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

from tautline.paper import claims, tumbling

NOTHING = xr.Dataset()


@pytest.mark.parametrize(
    ("printed", "value", "holds"),
    [
        ("0.01", 0.013, True),
        ("0.01", 0.0149, True),
        ("0.01", 0.0151, False),
        ("0.01", 0.0099, True),
        ("3e-8", 3.4e-8, True),
        ("3e-8", 3.6e-8, False),
        ("0.0003", 3.6e-4, False),
        ("1e-13", 1.3e-13, True),
        ("1e-13", 1.0, False),
        ("0.01", np.inf, False),
        ("0.01", np.nan, False),
    ],
)
def test_a_printed_figure_has_the_digits_that_it_has(printed: str, value: float, holds: bool) -> None:
    measured = claims.below(printed, lambda result: value, "%")(NOTHING)
    assert measured.holds is holds
    assert ("to the digit printed" in measured.value) == (holds and value >= float(printed))


def row(example: int, statement: str, **measured: tuple[str, bool]) -> dict[str, Any]:
    found = {name: {"value": value, "number": 0.0, "holds": holds} for name, (value, holds) in measured.items()}
    return {"example": example, "statement": statement, "paper": "7", "criterion": "", "measured": found}


def test_words_name_what_does_not_hold_and_what_just_holds() -> None:
    rows = [
        row(1, "first", a=("1", True), b=("8, 7 to the digit printed", True)),
        row(2, "second", a=("5", False), b=("7", True)),
        row(3, "third", a=("7", True), b=("7", True)),
    ]
    first, failed, near = claims.verdicts_in_words(rows, {(2, "second"): "Because.", (3, "third"): "Unused."})
    assert first == "5 of 6 verdicts hold."
    assert failed == "Example 2, second (paper: 7), does not hold: 5 by a. Because."
    assert near.startswith("Example 1, first") and near.endswith("8 by b.")


def group(*starts: float) -> tumbling.Group:
    return tumbling.Group("some", [tumbling.Onset(t, t + 0.5) for t in starts])


def test_the_spread_says_whether_the_papers_time_lies_in_it() -> None:
    assert "7 s lies within" in tumbling.sentence([group(6.0, 6.5), group(7.2)])
    outside = tumbling.sentence([group(5.5, np.nan), group(6.7)])
    assert "between 5.50 and 6.70 s, and 7 s does not lie within" in outside
    assert "(1 of 2 not by 10 s)" in outside
    assert "None of 2 runs" in tumbling.sentence([group(np.nan, np.nan)])


def test_the_onset_is_the_first_second_with_a_third_upside_down() -> None:
    """A body that hangs, turns over at 4 s for 0.2 s and from 6 s on."""
    time = np.arange(0.0, 10.005, 0.01)
    rho = np.array([0.3, 0.2, 0.4])
    upside_down = ((time > 3.999) & (time < 4.199)) | (time > 5.999)
    position = np.zeros((len(time), 3, 3))
    position[:, 2] = np.where(upside_down, -1.0, 1.0)[:, None] * rho
    result = xr.Dataset(
        {
            "position": (("time", "node", "axis"), position),
            "attitude": (("time", "row", "column"), np.tile(np.eye(3), (len(time), 1, 1))),
        },
        {"time": time},
    )
    start, turn = tumbling.onset(result)
    assert start == pytest.approx(6.0 - 1.0 + 1.0 / 3.0, abs=0.02)
    assert turn == pytest.approx(6.0, abs=0.011)
