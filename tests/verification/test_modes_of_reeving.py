"""`tl.modes` of lines over sheaves and pins: formulas by hand, and runs that keep to a mode."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.analysis.modes import displaced
from tautline.errors import InputError
from tautline.model.rest.at_rest import Statics
from tests.conftest import Report

G = 9.81
WHEEL = tl.Sheave((0.0, 0.0, 0.0), 0.5, (0, 1, 0), inertia_mass=5.0)


def atwood(density: float, stiffness: float, elements: int = 8) -> tuple[tl.System, Statics]:
    """Two equal masses on a rope over a wheel, at rest by symmetry."""
    masses = {"a": tl.RigidBody.point(10.0), "b": tl.RigidBody.point(10.0)}
    rope = tl.String(40.0 + math.pi * 0.5, density, stiffness, law="linear")
    line = tl.Line(rope, "a", (0, 0, 0), "b", (0, 0, 0), over={"wheel": WHEEL}, elements=elements)
    system = tl.System(masses, {"rope": line})
    near = tl.Placed({"a": (-0.5, 0.0, 20.0), "b": (0.5, 0.0, 20.0)})
    return system, tl.statics(system, near, locked=["rope.wheel"])


def test_a_heavy_rope_runs_off_its_wheel(report: Report) -> None:
    """x'' = 2 mu g x/M with all that moves in M; the rope's stretch makes a difference of 1/EA."""
    errors = []
    for stiffness in (2e5, 2e6):
        system, rest = atwood(0.5, stiffness)
        found = tl.modes(system, rest)
        M = 20.0 + 5.0 + 0.5 * system.lines["rope"].string.length
        errors.append(abs(float(found.growth_rate[0]) / math.sqrt(2.0 * 0.5 * G / M) - 1.0))
        assert not found.growth_rate[1:].any() and abs(float(found.passed[0, 0])) > 0.99
        assert not tl.modes(system, rest, locked=["rope.wheel"]).growth_rate.any()
    report("heavy rope on a wheel: growth rate, relative error at EA = 2e6 N", errors[1], "5e-5")
    assert errors[1] < 5e-5 and errors[0] / errors[1] == pytest.approx(10.0, rel=0.05)


def test_two_masses_on_a_light_rope() -> None:
    """Together they bounce on their springs; against each other the wheel turns: omega^2 = 2 k (1/kappa + 1/(2 m)).

    Rope that passes is stretched, which counts as a larger pull on the wheel.
    """
    system, rest = atwood(1e-6, 2e5, elements=2)
    springs = 2e5 / float(rest.lines["rope"].span_lengths[0])
    found = tl.modes(system, rest)
    along = found.sel(mode=(found.kind == "longitudinal").values).frequency.values * 2.0 * math.pi
    stretched = 1.0 + 10.0 * G / 2e5
    for square in (springs / 10.0, 2.0 * springs * (stretched**2 / 5.0 + 1.0 / 20.0)):
        assert np.abs(along / math.sqrt(square) - 1.0).min() < 1e-5


@pytest.mark.parametrize("locked", [[], ["rope.lower"]])
def test_a_block_on_two_falls(locked: list[str]) -> None:
    """f = sqrt(k/m)/(2 pi): rope that passes stretches as a whole, k = 4 EA/(l1 + l2), else each fall by itself."""
    line = tl.Line(
        tl.String(50.0, 1e-4, 1e6, law="linear"),
        "anchor",
        (0.0, 0.0, 0.0),
        "anchor",
        (0.0, 0.0, 10.0),
        over={"lower": tl.Sheave((0, 0, 0), 0.2, (0, 1, 0), on="block", wrap=0.01)},
        elements=2,
    )
    system = tl.System({"block": tl.RigidBody.point(500.0)}, {"rope": line})
    rest = tl.statics(system, tl.Placed({"block": (0.0, 0.0, 30.0)}))
    found = tl.modes(system, rest, locked=locked)
    first, second = rest.lines["rope"].span_lengths
    k = 1e6 / first + 1e6 / second if locked else 4e6 / (first + second)
    longest = found.sel(mode=(found.kind == "longitudinal").values).isel(mode=0)
    assert float(longest.frequency) == pytest.approx(math.sqrt(k / 500.0) / (2.0 * math.pi), rel=1e-5)
    assert bool(longest.passed[0]) != bool(locked)


def hoist() -> tl.System:
    """A free drum, a sheave on a body that turns, and a pin, none with friction."""
    line = tl.Line(
        tl.String(60.0, 0.8, 3e4, law="linear"),
        start_point=(-0.4, 0.0, 0.0),
        end_point=(2.0, 0.0, 6.0),
        reel=tl.Reel(0.3, 0.5, 6.0, guide_law="none"),
        over={
            "lower": tl.Sheave((0.1, 0.0, 0.0), 0.25, (0, 1, 0), on="block", inertia_mass=4.0),
            "eye": tl.Pin((0.6, 0.0, 0.5), inertia_mass=1.0),
        },
        elements=3,
    )
    return tl.System({"block": tl.RigidBody.box(60.0, (0.6, 0.4, 0.8), (0.0, 0.0, 0.4))}, {"hoist": line})


@pytest.mark.parametrize("reel", ["locked", "free"])
def test_a_run_keeps_to_a_mode(reel: str, report: Report) -> None:
    """Half a period later everything is on the other side, up to the square of the amplitude and of the step."""
    system = hoist()
    rest = tl.statics(system, tl.Hanging("20 m"))
    found = tl.modes(system, rest, reel=reel)
    torque: Any = tl.Torque(float(found.balancing_torque[0])) if reel == "free" else tl.Locked()
    chosen = [k for k in range(1, 25) if found.frequency[k - 1] > 0.3 and abs(found.passed[k - 1]).max() > 0.1][:4]
    assert len(chosen) == 4
    worst, size = 0.0, 1e-4
    for number in chosen:
        half = 0.5 / float(found.frequency[number - 1])
        start = displaced(found, number, size)
        run = tl.simulate(system, start, torque, duration=half, sample=half, step=half / 2000.0)
        end, shape = run.isel(time=-1), found.sel(mode=number)
        moved = [
            (end.position.values - found.position.values, shape["shape"].values),
            (end.passed.values - 0.0, shape.passed.values),
            (end.reeled_length.values - found.reeled_length.values, shape.reel.values),
        ]
        worst = max(worst, *(float(np.abs(x / size + y).max()) for x, y in moved))
    report(f"modes of a reeved hoist, {reel} drum: departure of runs after half a period", worst, "2e-3")
    assert worst < 2e-3  # of the amplitude: the motion is not linear, and the step errs by its square


def test_drums_on_one_shaft_are_not_free() -> None:
    reel = tl.Reel(0.2, 0.5, 0.5, shaft="winch")
    string = tl.String(10.0, 0.05, 300.0, law="linear")
    lines = {
        "a": tl.Line(string, end="body", reel=reel, elements=2),
        "b": tl.Line(string, start_point=(0.5, 0, 0), end="body", reel=reel, elements=2),
    }
    system = tl.System({"body": tl.RigidBody.box(1.0, (0.2, 0.2, 0.2), (0.0, 0.0, 0.1))}, lines)
    near = tl.Placed({"body": (0.0, 0.0, 3.0)})
    assert tl.modes(system, near).frequency[0] >= 0.0
    with pytest.raises(InputError, match="reel: expected drums that are alone on their shaft"):
        tl.modes(system, near, reel=["a"])


def test_a_locked_sheave_has_a_name() -> None:
    with pytest.raises(InputError, match="locked: expected"):
        tl.modes(hoist(), tl.Hanging("20 m"), locked=["hoist.eye"])
