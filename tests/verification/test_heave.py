"""A guide that heaves: against the differential equations with the motion term by term, and against figures by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.model import harmonics, motions
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, check_close, check_order
from tests.support.warned import kinds

MOTIONS: dict[str, Any] = {
    "ellipse": tl.motions.Sine((0.2, 0.0, 0.3), 0.8, (0.5 * math.pi, 0.0, 0.0)),
    "two lines": tl.motions.Sines((0.2, (0.1, 0.1, 0.0)), (0.7, 0.4), (0.0, 0.3), ramp=0.2),
    "waves": tl.motions.Waves(
        "jonswap", 0.6, 0.9, seed=5, rao=(0.3, 0.0, 1.0), rao_phase=(0.5 * math.pi, 0.0, 0.0), ramp=0.2
    ),
}


def swinging(motion: Any, **string: Any) -> tuple[chains.Chain, chains.ChainState]:
    pendulum = chains.Chain(
        tl.String(10.0, 0.05, 300.0, **{"law": "linear", **string}),
        tl.Reel(0.2, 0.5, 0.5, guide_law="none", guide_path=motion),
        tl.RigidBody.box(1.0, (0.2, 0.2, 0.2), (0.0, 0.05, 0.1)),
    )
    return pendulum, chains.straight(pendulum, 4.0, 3, (1.0, 0.0, 2.0), end_velocity=(0.0, 1.0, 0.0))


@pytest.mark.parametrize("command", [tl.Locked(), tl.Torque(2.0)], ids=["locked", "torque"])
@pytest.mark.parametrize("name", MOTIONS)
def test_second_order_against_the_sums_themselves(name: str, command: Any, report: Report) -> None:
    """The reference has no cubics: what they are off by would show as an error that no step lowers."""
    pendulum, state = swinging(MOTIONS[name])
    exact = chains.integrate(pendulum, state, command, duration=0.4, sample=0.4)
    steps = [2e-3, 1e-3, 5e-4]
    runs = [chains.simulate(pendulum, state, command, duration=0.4, sample=0.4, step=h) for h in steps]
    errors = [float(np.abs(run.position[-1] - exact.position[-1]).max()) for run in runs]
    report(f"{name}: slope against DOP853", check_order(steps, errors, 2.0), "2 +- 0.3")
    # with 3 elements, 5e-4 s is 1/500 of the fastest period
    report(f"{name}: work of the guide (J)", abs(float(runs[-1].guide_work[-1] - exact.guide_work[-1])), "< 2e-3")
    check_below("work of the guide", abs(float(runs[-1].guide_work[-1] - exact.guide_work[-1])), 2e-3)


@pytest.mark.parametrize("name", MOTIONS)
def test_cubics_are_far_below_the_error_of_a_step(name: str, report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four times as many knots change the result by a hundredth of what half the step does, and less."""
    pendulum, state = swinging(MOTIONS[name], viscosity=0.5)

    def run(step: float) -> Any:
        motions._harmonics.cache_clear()
        return chains.simulate(pendulum, state, tl.Locked(), duration=1.0, sample=0.01, step=step)

    coarse, half = run(1e-3), run(5e-4)
    monkeypatch.setattr(harmonics, "KNOTS_A_PERIOD", 4 * harmonics.KNOTS_A_PERIOD)
    monkeypatch.setattr(harmonics, "KNOTS_A_RAMP", 4 * harmonics.KNOTS_A_RAMP)
    finer = run(1e-3)
    motions._harmonics.cache_clear()
    for variable in ("position", "start_tension"):
        by_step, by_knots = (float(np.abs(coarse[variable] - other[variable]).max()) for other in (half, finer))
        report(f"{name}: {variable}, error of the cubics over that of the step", by_knots / by_step, "< 0.01")
        check_below(f"{variable}: cubics over step", by_knots / by_step, 0.01)


def crane(motion: Any, mass: float = 2000.0, command: Any = None, duration: float = 40.0) -> Any:
    """A stiff, damped rope: it follows the guide."""
    pendulum = chains.Chain(
        tl.String(60.0, 1.0, 8e6, viscosity=2e4, law="linear"),
        tl.Reel(0.3, 1.0, 200.0, guide_path=motion),
        tl.RigidBody.point(mass),
    )
    start = chains.hanging(pendulum, 30.0, 4)
    return chains.simulate(pendulum, start, command or tl.Locked(), duration=duration, sample=0.05)


def test_the_tension_swings_by_mass_times_acceleration(report: Report) -> None:
    """(M + mu X) (g +- a), with a amplified by 1/(1 - (omega/nu)^2), 1.005 here: the load stretches the rope."""
    amplitude, period = 1.0, 8.0
    run = crane(tl.motions.Sine(amplitude, period, ramp=2.0 * period))
    steady = run.start_tension.values[run.time.values > 3.0 * period]
    omega2, nu2 = (2.0 * math.pi / period) ** 2, 8e6 / 30.0 / 2010.0
    a = amplitude * omega2 / (1.0 - omega2 / nu2)
    by_hand = 2030.0 * (9.81 + a), 2030.0 * (9.81 - a)
    error = check_close("tension at the guide", (steady.max(), steady.min()), by_hand, 1e-3 * 2030.0 * a)
    report("heaving crane: swing of the tension against M a, of M a", error / (2030.0 * a), "< 1e-3")


@pytest.mark.parametrize("kind", ["Length", "Speed"])
def test_a_length_that_compensates_heave_keeps_the_load_still(kind: str, report: Report) -> None:
    """The guide goes down by z and the length by -z: the same motion, with the opposite sign."""
    sea = tl.motions.Waves("jonswap", 2.0, 8.0, ramp=8.0)
    motion = replace(sea, rao=-1.0)
    command = tl.Length(motion=motion) if kind == "Length" else tl.Speed(payout=0.0, motion=motion)
    free, held = crane(sea), crane(sea, command=command)
    moved, left = (float(np.ptp(run.position[:, -1, 2].values)) for run in (free, held))
    report(f"{kind}: motion of the load that is left, of that without", left / moved, "< 0.02")
    # what is left is the change of stretch with the length of the string that is out
    check_below("motion of the load", left / moved, 0.02)


def test_auto_takes_the_steps_of_a_guide_that_stands(report: Report) -> None:
    """Knots, hundreds in a period, limit no step."""
    standing, heaving = (int(crane(motion, duration=10.0).attrs["steps"]) for motion in (None, MOTIONS["waves"]))
    report("steps with a guide in waves over those without", heaving / standing, "1")
    assert heaving == standing


@pytest.mark.parametrize("what", ["guide", "length"])
def test_a_motion_that_steps_do_not_follow_is_warned_of(what: str) -> None:
    fast, slow = tl.motions.Sine(1e-4, 2e-3, ramp=1e-2), tl.motions.Sine(1e-4, 1.0, ramp=1e-2)
    for motion, warned in ((fast, True), (slow, False)):
        path, command = (motion, tl.Locked()) if what == "guide" else (None, tl.Length(motion=motion))
        pendulum = chains.Chain(
            tl.String(20.0, 0.1, 800.0, law="linear"), tl.Reel(0.2, 0.5, 2.0, guide_path=path), tl.RigidBody.point(2.0)
        )
        start = chains.hanging(pendulum, 5.0, 2)
        run = chains.simulate(pendulum, start, command, duration=0.1, sample=0.01, step=1e-3)
        assert ("prescribed_motion" in kinds(run)) == warned
