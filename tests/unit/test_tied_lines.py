"""A line without a reel: tied to a point, in Python and in short files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError
from tautline.files.scenario import parse

FILE = """
[string]
length = "10 m"
density = "0.1 kg/m"
stiffness = "100 kN"
law = "tension_only"
[body]
shape = "point"
mass = "5 kg"
[initial]
kind = "straight"
deployed = "10 m"
inclination = "5 deg"
[run]
duration = "7 s"
elements = 4
sample = "10 ms"
"""


def tied() -> tl.System:
    string = tl.String(length=10.0, density=0.1, stiffness=1e5, law="tension_only")
    return tl.pendulum(string, None, tl.RigidBody.point(mass=5.0), elements=4)


@pytest.mark.filterwarnings("ignore::tautline.errors.TautlineWarning")
def test_a_pendulum_without_a_reel_swings_as_a_rod_with_a_weight(tmp_path: Path) -> None:
    file = tmp_path / "tied.toml"
    file.write_text(FILE)
    case = tl.load(file)
    assert parse(case.to_toml(), "again") == case
    run = tl.simulate(case)
    again = tl.simulate(tied(), tl.Straight(10.0, inclination=math.radians(5.0)), duration=7.0, sample=0.01)
    assert np.array_equal(again.position.values, run.position.values)
    x, t = run.body_position.values[:, 0, 0], run.time.values
    k = np.flatnonzero(np.diff(np.sign(x)))
    zeros = t[k] - x[k] * (t[k + 1] - t[k]) / (x[k + 1] - x[k])
    # a rod of 1 kg with 5 kg at its end; amplitude 5 degrees, stretched by 0.05 % on average
    by_hand = 2.0 * math.pi * math.sqrt(10.0 / 9.81 * (5.0 + 1.0 / 3.0) / 5.5)
    by_hand *= (1.0 + math.radians(5.0) ** 2 / 16.0) * (1.0 + 0.5 * 5.5 * 9.81 / 1e5)
    # the weight bounces by as much as it is stretched, which moves the zeros by a thousandth at most
    assert 2.0 * float(np.mean(np.diff(zeros))) == pytest.approx(by_hand, rel=1e-3)


@pytest.mark.parametrize("start", [tl.Hanging(10.0), tl.AtEquilibrium(10.0), tl.Hanging()])
def test_rest_carries_the_weight(start: Any) -> None:
    run = tl.simulate(tied(), start, duration=0.1)
    # the body's weight at the end, that of the line as well at the start; rest is found to 1e-9
    assert run.end_tension.values == pytest.approx(5.0 * 9.81, rel=1e-8)
    assert run.start_tension.values == pytest.approx(6.0 * 9.81, rel=1e-8)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: tl.simulate(tied(), tl.Hanging(9.0), duration=0.1), "all of the line (10 m), which has no reel"),
        (lambda: tl.simulate(tied(), tl.Straight(8.0), duration=0.1), "all of the line (10 m), which has no reel"),
        (lambda: tl.simulate(tied(), tl.Hanging(10.0), tl.Torque(3.0), duration=0.1), "none, as there is no reel"),
        (lambda: parse(f'{FILE}\n[command]\nkind = "locked"', "x.toml"), "x.toml: reel: missing"),
    ],
)
def test_what_only_a_reel_can_do_is_refused(make: Any, words: str) -> None:
    with pytest.raises(InputError) as error:
        make()
    assert words in str(error.value)
