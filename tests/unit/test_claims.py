"""How verdicts on the paper's claims are made and put in words."""

from __future__ import annotations

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
            "body_position": (("time", "axis"), position[:, 2] + rho),
        },
        {"time": time},
    )
    start, turn = tumbling.onset(result)
    assert start == pytest.approx(6.0 - 1.0 + 1.0 / 3.0, abs=0.02)
    assert turn == pytest.approx(6.0, abs=0.011)
