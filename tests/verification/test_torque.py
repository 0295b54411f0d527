"""Torque, power and tension at the guide against the reference equations and hand calculation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tautline as tl
from tests.conftest import Report
from tests.support import chains

BODY = tl.RigidBody.box(2.0, (0.1, 0.2, 0.3), (0.01, 0.02, 0.15))
PATH = tl.motions.GuidePath(
    (0.0, 0.2, 0.5, 1.0), ((0.0, 0.0, 0.0), (0.05, 0.0, 0.02), (0.1, 0.05, 0.0), (0.0, 0.0, 0.0))
)
FLUID = tl.Fluid(density=50.0, flow=(3.0, 1.0, 0.0), drag_area=0.02, volume=0.001, added_mass=0.1, spin_damping=0.01)
PUSH = tl.AppliedForce(((0.0, 0.2, 0.5), ((0.0, 5.0, 0.0), (2.0, 0.0, 3.0), (0.0, 0.0, 0.0))), point=(0.0, 0.1, 0.0))


def system(string: dict[str, Any], reel: dict[str, Any], **others: Any) -> chains.Chain:
    return chains.Chain(
        tl.String(20.0, 0.2, 2000.0, **{"law": "linear", **string}), tl.Reel(0.3, 0.5, 1.0, **reel), BODY, **others
    )


SYSTEMS = {
    "plain": system({}, {}),
    "viscosity": system({"viscosity": 5.0}, {}),
    "fluid": system({"diameter": 0.01}, {}, fluid=FLUID),
    "applied_force": system({}, {}, applied_force=PUSH),
    "path": system({}, {"guide_path": PATH}),
    "all": system({"viscosity": 5.0, "diameter": 0.01}, {"guide_path": PATH}, fluid=FLUID, applied_force=PUSH),
    "published": system({}, {"guide_law": "published"}),
    "momentum": system({}, {"guide_law": "momentum"}),
    "stretched": system({}, {"guide_law": "stretched", "spooled_strain": 0.03}),
    "drum": system({}, {"layer_growth": 0.002, "motor_inertia": 0.01, "gear_ratio": 5.0, "viscous_friction": 0.5}),
}
COMMANDS: dict[str, tl.Command] = {
    "locked": tl.Locked(),
    "in": tl.Length.to(8.0, speed=2.0, acceleration=4.0, jerk=40.0),
    "out": tl.Speed(payout=((0.0, 0.5), (0.0, 2.0))),
}


# The reference finds torques after its integration: what has come in since the start changes those of such a drum.
PAIRS = [(name, command) for name in SYSTEMS for command in COMMANDS if (name, command) != ("stretched", "in")]


@pytest.mark.parametrize(("name", "command"), PAIRS)
def test_torque_is_right_from_the_start_and_of_second_order(name: str, command: str, report: Report) -> None:
    pendulum = SYSTEMS[name]
    start = chains.straight(pendulum, 10.0, 3, (0.3, 0.1, 1.0), angular_velocity=(0.5, -0.3, 0.2))
    exact = chains.integrate(pendulum, start, COMMANDS[command], duration=0.3, sample=0.1)
    errors = []
    for step in (2e-3, 1e-3, 5e-4):
        run = chains.simulate(pendulum, start, COMMANDS[command], duration=0.3, sample=0.1, step=step)
        # the start is the same state, so the error there is that of the short steps of the inverse dynamics alone
        assert float(run.torque[0]) == pytest.approx(float(exact.torque[0]), rel=1e-4, abs=1e-4)
        errors.append(float(np.abs(run.torque - exact.torque).max()))
    order = float(np.log2(errors[0] / errors[2]) / 2.0)
    report(f"order of the torque, {name}, {command}", order, "2.0 +- 0.3")
    assert abs(order - 2.0) < 0.3


@pytest.mark.parametrize("elements", [1, 2, 10])
def test_at_rest_torque_and_tension_are_the_weight(elements: int) -> None:
    """Kinematic by a lock, by a given length, and of a string whose own weight counts."""
    pendulum = chains.Chain(
        tl.String(60.0, 0.5, 1e5, law="linear"), tl.Reel(0.3, 0.5, 1.0), tl.RigidBody.sphere(20.0, 0.2, (0, 0, 0.2))
    )
    start = chains.hanging(pendulum, 40.0, elements)
    weight = (20.0 + 0.5 * 40.0) * 9.81
    for command in (tl.Locked(), tl.Speed(payout=0.0)):
        run = chains.simulate(pendulum, start, command, duration=0.5)
        np.testing.assert_allclose(run.start_tension, weight, rtol=1e-3)
        expected = chains.at_rest(pendulum, 40.0).holding_torque
        np.testing.assert_allclose(run.torque, expected, rtol=2e-3)
        np.testing.assert_allclose(run.power, 0.0, atol=1e-12)


def test_power_is_torque_times_speed_of_the_drum() -> None:
    """And its integral the work of the motor."""
    pendulum = SYSTEMS["drum"]
    start = chains.hanging(pendulum, 10.0, 4)
    run = chains.simulate(pendulum, start, COMMANDS["in"], duration=1.0, sample=1e-3)
    radius = np.sqrt(0.3**2 + 0.002 * (run.reeled_length - 0.5))
    np.testing.assert_allclose(run.power, run.torque * run.reel_speed / radius, rtol=1e-12)
    work = np.trapezoid(run.power, run.time)
    assert work == pytest.approx(float(run.control_work[-1]), rel=2e-3)


def test_a_torque_that_cannot_be_found_is_never_nan() -> None:
    """A light body spinning fast on a very long element, whose short steps were once too long for it."""
    reel = tl.Reel(0.1, 0.1, 1.0, max_torque=1.0)
    pendulum = chains.Chain(
        tl.String(1000.0, 1.0, 100.0, law="linear"), reel, tl.RigidBody.sphere(1.0, 0.1, (0.0, 0.0, 0.1))
    )
    start = chains.straight(pendulum, 800.0, 2, angular_velocity=(30.0, 0.0, 0.0))
    run = chains.simulate(pendulum, start, tl.Speed(retrieval=0.1), duration=1.0)
    assert np.isfinite(run.torque).all()
    assert any(w.kind == "motor_torque" and w.limit == 1.0 for w in tl.warnings_of(run))
