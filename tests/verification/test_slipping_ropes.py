"""Ropes that may slip in the groove of a wheel (`groove_friction`): Euler's ratio, lifts and brakes, what is lost."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tests.conftest import Report

G, RADIUS = 9.81, 0.5
DENSITY, STIFFNESS = 0.2, 4e5
K = math.exp(0.2 * math.pi)  # of half a turn with a friction coefficient of 0.2


def lift(
    car: float, counterweight: float, command: Any = None, friction: float | None = 0.2, **changes: Any
) -> tl.Case:
    """Two masses on a traction sheave, at rest while it holds the rope."""
    given: dict[str, Any] = {"density": DENSITY, "stiffness": STIFFNESS, "elements": 2, "inertia": 5.0, "law": "linear"}
    given |= {key: changes.pop(key) for key in tuple(changes) if key in given}
    wheel = tl.Sheave(
        (0, 0, 0),
        RADIUS,
        (0, 1, 0),
        inertia_mass=given["inertia"],
        groove_friction=friction,
        **changes.pop("wheel", {}),
    )
    rope = tl.String(40.0 + math.pi * RADIUS, given["density"], given["stiffness"], law=given["law"])
    line = tl.Line(rope, "car", (0, 0, 0), "weight", (0, 0, 0), over={"wheel": wheel}, elements=given["elements"])
    bodies = {"car": tl.RigidBody.point(car), "weight": tl.RigidBody.point(counterweight)}
    system = tl.System(bodies, {"rope": line})
    near = tl.Placed({"car": (-RADIUS, 0.0, 20.0), "weight": (RADIUS, 0.0, 20.0)})
    rest = tl.statics(system, near, locked=["rope.wheel"])
    commands = {} if command is None else {"rope.wheel": command}
    run = {"duration": 0.5, "sample": 0.05, "step": 2e-4} | changes
    return tl.Case(system, rest.state, commands, tl.Run(**run))


def slips(run: Any) -> list[Any]:
    return [w for w in tl.warnings_of(run) if w.kind == "slip"]


def test_a_rope_sticks_within_the_cone() -> None:
    """34/24 < exp(mu theta): nothing moves, nothing is lost, and the lock holds what pulls on the rope's length."""
    run = tl.simulate(lift(20.0, 30.0, tl.Locked()))
    assert np.abs(run.passed.values).max() < 1e-12 and not run.rim_speed.values.any()
    assert float(run.sheave_loss[-1, 0]) < 1e-12 and not slips(run)
    near, far = 24.0 * G, 34.0 * G
    force = far - near + (far**2 - near**2) / (2.0 * STIFFNESS)  # rope that passes is stretched
    np.testing.assert_allclose(run.sheave_torque.values, force * RADIUS, rtol=1e-9)


def test_a_rope_slips_by_eulers_ratio(report: Report) -> None:
    """30/10 > exp(mu theta): the masses fall as the ratio leaves it, with rope that comes from the one to the other."""
    from scipy.integrate import solve_ivp

    def rates(t: float, x: Any) -> list[float]:
        light, heavy = 10.0 - DENSITY * x[0], 30.0 + DENSITY * x[0]
        pull = heavy * G - K * light * G + (K - 1.0) * DENSITY * x[1] ** 2  # rope on the wheel presses less
        return [x[1], pull / (heavy + K * light + DENSITY * math.pi * RADIUS)]

    run = tl.simulate(
        lift(6.0, 26.0, tl.Locked(), duration=1.0, stiffness=10.0 * STIFFNESS, step=1e-4)
    )  # and 4 kg of rope on each side
    fallen, loss = -float(run.passed[-1, 0]), float(run.sheave_loss[-1, 0])
    expected = float(solve_ivp(rates, (0.0, 1.0), [0.0, 0.0], rtol=1e-9).y[0, -1])
    report("rope on a locked wheel: way that it slipped in 1 s", fallen, f"{expected:.4f} m")
    assert fallen == pytest.approx(expected, rel=3e-3)  # the masses bounce on their ropes, which the wheel feels
    assert not run.rim_speed.values.any() and slips(run)[0].value == pytest.approx(fallen, rel=1e-9)
    kept = (run.energy + run.friction_loss - run.control_work).values
    assert np.abs(kept - kept[0]).max() < 1e-5 * loss


def test_a_rope_that_never_slips_is_one_on_a_plain_sheave() -> None:
    """Rope and wheel are then one unknown, up to rounding."""
    torque = tl.Torque((np.array([0.0, 0.2, 0.4]), np.array([0.0, 30.0, -20.0])))
    first, second = (
        tl.simulate(lift(20.0, 25.0, torque, friction, wheel={"efficiency": 0.95})) for friction in (9.0, None)
    )
    for name in ("body_position", "passed", "rim_speed", "sheave_loss", "control_work"):
        np.testing.assert_allclose(first[name], second[name], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(first.sheave_torque, second.sheave_torque, atol=1e-9)
    assert not slips(first) and float(np.abs(first.passed).max()) > 0.01


def test_too_strong_a_motor_spins_its_wheel() -> None:
    """Rope and wheel part: the rope is given what the ratio allows, the wheel the rest."""
    torque, inertia = 600.0, 5.0
    run = tl.simulate(lift(20.0, 20.0, tl.Torque(torque), inertia=inertia, duration=0.4))
    a = G * (K - 1.0) / (K + 1.0)  # the counterweight goes up: its tension is K times the car's
    t = float(run.time[-1])
    assert float(run.rim_speed[-1, 0]) == pytest.approx((torque / RADIUS - 48.0 * a) / inertia * t, rel=2e-2)
    assert float(run.passed[-1, 0]) == pytest.approx(0.5 * a * t * t, rel=3e-2)
    assert run.rim_speed.values[-1, 0] > 5.0 * run.passing_speed.values[-1, 0] > 0.0


def test_an_emergency_brake_slides_to_rest() -> None:
    """The brake stops the wheel at once; the rope slides on, decelerated by the ratio of tensions, and then sticks."""
    speed = 1.5
    simulation = tl.Simulation.from_case(lift(20.0, 24.0))
    simulation.advance(1.5, {"rope.wheel": tl.Speed(retrieval=([0.0, 1.5], [0.0, speed]))}, sample=0.01)
    assert not [w for w in simulation.runner.warnings() if w.kind == "slip"]
    simulation.advance(1.0, {"rope.wheel": tl.Brake(5000.0)}, sample=0.01)
    run = simulation.dataset()
    rim, rope = run.rim_speed.values[:, 0], run.passing_speed.values[:, 0]
    after = run.time.values > 1.55
    assert np.abs(rim[after]).max() < 1e-9
    # the car goes down: its tension is K times the counterweight's
    car, weight = 24.0 + DENSITY * 1.3, 28.0 - DENSITY * 1.3
    a = G * (K * weight - car) / (K * weight + car)
    sinking = run.body_velocity.sel(body="car", axis="z").values
    sliding = after & (sinking > 0.2 * speed) & (run.time.values < 1.9)
    slope = np.polyfit(run.time.values[sliding], sinking[sliding], 1)[0]
    assert slope == pytest.approx(-a, rel=0.05)  # masses bounce on their ropes meanwhile
    assert np.abs(rope[-20:]).max() < 1e-9 and slips(run)
    balance = (run.energy + run.friction_loss - run.control_work).values
    assert np.abs(balance - balance[0]).max() < 1e-3 * float(run.friction_loss[-1])


def test_order_two_while_it_slips(report: Report) -> None:
    ends = [
        tl.simulate(lift(10.0, 30.0, tl.Locked(), duration=0.2, sample=0.2, step=h)).passed.values[-1, 0]
        for h in (4e-4, 2e-4, 1e-4)
    ]
    order = math.log2(abs((ends[0] - ends[1]) / (ends[1] - ends[2])))
    report("rope that slips: order of the step", order, "2")
    assert order == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("seed", range(6))
def test_the_groove_never_gives_energy(seed: int) -> None:
    """Whatever masses, friction and torques: losses grow, and energy is accounted for to the order of the step."""
    random = np.random.default_rng(seed)
    car, weight = random.uniform(5.0, 40.0, 2)
    times = np.linspace(0.0, 0.4, 9)
    torque = tl.Torque((times, random.normal(size=9) * 150.0))
    case = lift(
        car, weight, torque, float(random.uniform(0.05, 0.4)), duration=0.4, sample=0.01, density=0.5, elements=4
    )
    run = tl.simulate(case)
    loss = run.sheave_loss.values[:, 0]
    assert (np.diff(loss) >= -1e-9 * max(1.0, loss[-1])).all()
    kept = (run.energy + run.friction_loss - run.control_work).values
    size = float(np.ptp(run.kinetic_energy.values)) + loss[-1]
    assert np.abs(kept - kept[0]).max() < 1e-3 * size


def test_derivatives_by_the_friction_of_a_groove() -> None:
    case, key = lift(10.0, 30.0, tl.Locked(), duration=0.1), "lines.rope.over.wheel.groove_friction"
    found = tl.jacobian(case, ["passed", "tension", "sheave_torque"], [key])
    weights = {-2: 1.0, -1: -8.0, 1: 8.0, 2: -1.0}
    runs = {i: tl.simulate(case.with_({key: 0.2 + 1e-4 * i})) for i in weights}
    for name in ("passed", "tension", "sheave_torque"):
        expected = sum(w * runs[i][name].values for i, w in weights.items()) / 12e-4
        error = np.abs(found[name].values[..., 0] - expected)[1:].max()
        assert error <= 1e-6 * np.abs(expected).max(), name
