"""Results that are not to be trusted say so, and "auto" resolves what acts: the cases of trials from outside."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import tautline as tl
from tautline.engine.chain.backend import ChainBackend
from tests.conftest import Report
from tests.support import chains
from tests.support.warned import kinds

POINT = tl.RigidBody.point(1.0)
REEL = tl.Reel(0.5, 0.1, 1.0)


def test_a_reel_that_outruns_the_waves_ends_the_run() -> None:
    """The string's waves run at 10 m/s."""
    pendulum = chains.Chain(tl.String(100.0, 1.0, 100.0, law="linear"), REEL, POINT)
    start = chains.straight(pendulum, 80.0, 20)
    for speed, status in ((15.0, "reel_outruns_waves"), (10.0, "reel_outruns_waves"), (6.0, "completed")):
        run = chains.simulate(pendulum, start, tl.Speed(retrieval=speed), duration=1.0)
        assert run.attrs["status"] == status
        assert run.attrs["reel_speed_ratio"] == pytest.approx(speed / 10.0)
        if status == "completed":
            assert "reel_speed" in kinds(run)
        else:
            assert "10 m/s" in run.attrs["message"]


def _pulse(width: float, impulse: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """A triangle of this width and area."""
    begin = 0.0123
    return (begin, begin + 0.5 * width, begin + width), (0.0, 2.0 * impulse / width, 0.0)


@pytest.mark.parametrize("width", [1e-6, 1e-4, 1e-3, 3e-3])
def test_a_pulse_shorter_than_a_step_gives_its_whole_impulse(width: float, report: Report) -> None:
    """On a body that the string hardly holds: 1 N s across it."""
    times, forces = _pulse(width, 1.0)
    push = tl.AppliedForce((times, [(0.0, force, 0.0) for force in forces]))
    pendulum = chains.Chain(tl.String(100.0, 1e-4, 1.0, law="linear"), REEL, POINT, gravity=0.0, applied_force=push)
    run = chains.simulate(pendulum, chains.straight(pendulum, 10.0, 3), duration=0.05, step=1e-3)
    momentum = float(run.velocity[-1, -1, 1]) * (1.0 + 1e-4 * 10.0 / 9.0)
    report(f"impulse of a pulse of {width:g} s, at steps of 1 ms", abs(momentum - 1.0), "1e-3")
    assert momentum == pytest.approx(1.0, abs=1e-3)  # the string takes a little
    assert float(run.external_work[-1]) == pytest.approx(0.5, abs=2e-3)


@pytest.mark.parametrize("command", ["torque", "brake"])
def test_pulses_of_the_drum_give_their_whole_impulse(command: str) -> None:
    """A drum that carries next to nothing: J = I omega, and a brake that takes as much from one that turns."""
    times, torques = _pulse(2e-4, 0.25)  # N m s on 0.5^2 kg m^2: 1 rad/s, 0.5 m/s
    pendulum = chains.Chain(tl.String(100.0, 1e-6, 1e-2, law="linear"), REEL, tl.RigidBody.point(1e-6), gravity=0.0)
    drum: tl.Command
    if command == "torque":
        start, drum = chains.straight(pendulum, 50.0, 2), tl.Torque((times, torques))
        wanted = 0.5
    else:
        start, drum = chains.straight(pendulum, 50.0, 2, reel_speed=2.0), tl.Brake((times, torques))
        wanted = 1.5
    run = chains.simulate(pendulum, start, drum, duration=0.05, step=1e-3)
    assert float(run.reel_speed[-1]) == pytest.approx(wanted, rel=1e-3)


def test_auto_is_safe_in_a_current(report: Report) -> None:
    """Drag that an undivided step would not survive, against a fifth of the step."""
    fluid = tl.Fluid(density=1025.0, flow=(5.0, 0.0, 0.0), drag_area=0.05, volume=0.0008)
    string = tl.String(50.0, 0.05, 40.0, diameter=0.01, law="linear")
    pendulum = chains.Chain(string, tl.Reel(0.3, 0.5, 1.0), POINT, fluid=fluid)
    start = chains.straight(pendulum, 10.0, 10, (0.3, 0.0, 1.0))
    run = chains.simulate(pendulum, start, duration=1.0, sample=0.01)
    fine = chains.simulate(pendulum, start, duration=1.0, sample=0.01, step=5e-5)
    assert run.attrs["status"] == "completed"
    error = float(np.abs(run.tension - fine.tension).max() / fine.tension.max())
    report("peak tension in a current, auto against steps of 50 us", error, "0.02")
    assert error < 0.02
    assert np.abs(run.position - fine.position).max() < 0.01 * 10.0


def test_spin_damping_is_resolved() -> None:
    """The spin dies within milliseconds: exp(-d t/J)."""
    body = tl.RigidBody.sphere(0.1, 0.065, (0.0, 0.0, 0.0))
    J = 0.4 * 0.1 * 0.065**2
    pendulum = chains.Chain(
        tl.String(50.0, 0.05, 40.0, law="linear"), REEL, body, fluid=tl.Fluid(1.2, spin_damping=0.02)
    )
    start = chains.hanging(pendulum, 10.0, 3, angular_velocity=(0.0, 0.0, 5.0))
    run = chains.simulate(pendulum, start, duration=0.05, sample=0.005)
    exact = 5.0 * np.exp(-0.02 / J * run.time.values)
    np.testing.assert_allclose(run.angular_velocity.values[:, 2], exact, atol=0.02)


def test_a_fast_spin_is_resolved() -> None:
    """Ten turns a second: the angle about the string is known."""
    body = tl.RigidBody.box(0.5, (0.1, 0.2, 0.3), (0.0, 0.0, 0.15))
    pendulum = chains.Chain(tl.String(20.0, 0.05, 50.0, law="linear"), tl.Reel(0.3, 0.5, 1.0), body)
    start = chains.hanging(pendulum, 5.0, 3, angular_velocity=(0.0, 0.0, 60.0))
    run = chains.simulate(pendulum, start, duration=1.0)
    angle = np.arctan2(float(run.attitude[-1, 1, 0]), float(run.attitude[-1, 0, 0]))
    off = (angle - 60.0 + np.pi) % (2.0 * np.pi) - np.pi
    assert abs(off) < 0.02
    assert run.attrs["turning_error"] == pytest.approx(abs(off), rel=0.2)
    coarse = chains.simulate(pendulum, start, duration=1.0, step=2.5e-3)
    assert "turning" in kinds(coarse)


def test_a_drum_on_a_stiff_spring_is_resolved() -> None:
    """A small amplitude, so that the reel stays slower than the waves."""
    pendulum = chains.Chain(tl.String(20.0, 0.1, 1000.0, law="linear"), tl.Reel(0.1, 0.1, 0.01), POINT)
    run = chains.simulate(pendulum, chains.hanging(pendulum, 5.0, 3), tl.Impedance(4.99, 1e5), duration=0.2)
    assert run.attrs["status"] == "completed"
    assert run.attrs["balance_error"] < 0.01


def test_stiff_friction_reports_the_speed_of_the_string() -> None:
    """The drum creeps: its speed is the rate of the length, however stiff the friction."""
    for friction in (1e2, 1e5):
        reel = tl.Reel(0.1, 0.1, 1.0, viscous_friction=friction)
        pendulum = chains.Chain(tl.String(20.0, 0.1, 1000.0, law="linear"), reel, POINT)
        run = chains.simulate(pendulum, chains.hanging(pendulum, 5.0, 3), tl.Free(), duration=1.0)
        rate = np.gradient(run.reeled_length.values, run.time.values)
        np.testing.assert_allclose(run.reel_speed.values[5:-1], rate[5:-1], rtol=0.01)


@pytest.mark.parametrize("law", ["dissipative", "stretched"])
def test_the_end_of_the_string_is_located(law: str, report: Report) -> None:
    """A free reel that runs out at 3 m/s: overshoot below 1e-6 m at any step, and order two beyond the stop."""
    reel = tl.Reel(0.5, 0.2, 1.0, guide_law=law)
    pendulum = chains.Chain(tl.String(12.0, 0.1, 4000.0, law="linear"), reel, tl.RigidBody.point(3.0))
    start = chains.straight(pendulum, 10.0, 4, reel_speed=-3.0, end_velocity=(0.0, 0.0, 3.0))
    ends = []
    for step in (4e-3, 2e-3, 1e-3, 2.5e-4):
        run = chains.simulate(pendulum, start, tl.Free(), duration=1.0, sample=0.02, step=step, at_end="hold")
        assert run.attrs["status"] == "completed"
        assert float(run.friction_loss[-1]) > 1.0  # the blow on the stop
        assert float(run.reeled_length.min()) > 0.2 - 1e-6
        ends.append(float(run.position[-1, -1, 2]))
    errors = np.abs(np.array(ends[:-1]) - ends[-1])
    order = float(np.log2(errors[0] / errors[2]) / 2.0)
    report(f"order of the motion behind an end stop, law {law}", order, "> 1.5")
    assert order > 1.5


def test_the_time_of_full_retrieval_is_located() -> None:
    """At a constant speed the end is known."""
    pendulum = chains.Chain(tl.String(12.0, 0.1, 4000.0, law="linear"), REEL, POINT)
    start = chains.straight(pendulum, 10.0, 4)
    run = chains.simulate(pendulum, start, tl.Speed(retrieval=2.0), duration=10.0, minimum_length=1.0)
    assert run.attrs["status"] == "fully_retrieved"
    assert run.attrs["end_time"] == pytest.approx(4.5, abs=1e-8)


def test_a_commanded_length_is_reached() -> None:
    """To a hundredth of the length, where a retrieval ends by default."""
    pendulum = chains.Chain(tl.String(110.0, 0.1, 4000.0, law="linear"), REEL, POINT)
    start = chains.hanging(pendulum, 100.0, 4)
    run = chains.simulate(pendulum, start, tl.Length.to(1.0, speed=20.0, acceleration=20.0), duration=8.0)
    assert run.attrs["status"] == "completed"
    assert float(run.unstretched_length[-1]) == pytest.approx(1.0, abs=1e-9)


def test_impacts_of_a_slack_string_keep_the_balance_or_say_so() -> None:
    """A straight, shortened start: the whole string becomes taut at once."""
    string = tl.String(30.0, 0.1, 4e4, law="tension_only")
    pendulum = chains.Chain(string, tl.Reel(0.3, 0.5, 1.0), tl.RigidBody.point(3.0))
    for elements in (12, 48):
        start = chains.straight(pendulum, 10.0, elements)
        start = dataclasses.replace(start, nodes=0.8 * np.array(start.nodes))
        run = chains.simulate(pendulum, start, duration=2.0)
        assert run.attrs["balance_error"] < 0.02
        assert run.attrs["balance_error"] < 0.01 or "energy_balance" in kinds(run)


def test_a_coarse_fixed_step_is_warned_of() -> None:
    """One element: stable at nine tenths of the limit, and far from resolving the stretching."""
    pendulum = chains.Chain(tl.String(20.0, 0.05, 4000.0, law="linear"), REEL, POINT)
    start = chains.straight(pendulum, 10.0, 1)
    limit = ChainBackend(pendulum, start).stepper.limits().waves
    run = chains.simulate(pendulum, start, duration=100 * 0.8 * limit, step=0.8 * limit)
    assert any(w.kind == "step" and "resolves the stretching" in w.text for w in tl.warnings_of(run))
    assert run.attrs["step_over_waves"] == pytest.approx(0.8)


def test_a_stiff_damper_on_the_reel_is_resolved() -> None:
    """Steps that are long against the damper's time leave a speed that alternates, and a power of the wrong sign."""
    pendulum = chains.Chain(
        tl.String(60.0, 0.08, 300.0, viscosity=0.5, law="linear"), tl.Reel(0.2, 0.3, 2.0), tl.RigidBody.point(1.3)
    )
    start, command = chains.hanging(pendulum, 12.0, 3), tl.Impedance(tl.Speed(payout=1.0), 100.0, 3e4)
    run = chains.simulate(pendulum, start, command, duration=0.25, sample=0.03125)
    true = chains.integrate(pendulum, start, command, duration=0.25, sample=0.03125, method="LSODA")
    for name in ("reel_speed", "torque", "power", "start_tension"):
        np.testing.assert_allclose(run[name][1:], true[name][1:], rtol=2e-3)
    coarse = chains.simulate(pendulum, start, command, duration=0.25, sample=0.03125, step=0.03125 / 4.0)
    assert any(w.kind == "step" and "the spring and damper of its command" in w.text for w in tl.warnings_of(coarse))


FINE = np.arange(0.0, 2.0, 2e-4)
TO_AND_FRO = 0.02 * (1.0 - np.cos(2.0 * np.pi * 280.6 * FINE))  # close to once a step
SLOW = 0.02 * (1.0 - np.cos(2.0 * np.pi * FINE))


@pytest.mark.parametrize("backend", [chains.CHAIN, chains.NETWORK])
@pytest.mark.parametrize("what", ["guide", "Length", "Impedance"])
def test_motions_within_a_step_are_noticed(what: str, backend: str) -> None:
    """A table that is only finely divided is not."""
    for motion in (TO_AND_FRO, SLOW):
        points = tuple((0.0, 0.0, float(x)) for x in motion)
        path = tl.motions.GuidePath(tuple(FINE.tolist()), points) if what == "guide" else None
        reel = tl.Reel(0.2, 0.3, 2.0, guide_path=path)
        pendulum = chains.Chain(tl.String(60.0, 0.02, 200.0, law="linear"), reel, tl.RigidBody.point(2.0))
        table = (FINE, 4.0 + motion)
        commands: dict[str, tl.Command] = {
            "guide": tl.Locked(),
            "Length": tl.Length(table),
            "Impedance": tl.Impedance(table, 50.0, 5.0),
        }
        start = chains.hanging(pendulum, 4.0, 3)
        with chains.on(backend):
            run = chains.simulate(pendulum, start, commands[what], duration=0.5, sample=0.05, step=0.05 / 14.0)
        found = [w for w in tl.warnings_of(run) if w.kind == "prescribed_motion"]
        assert len(found) == (motion is TO_AND_FRO) and all(f"the motion of {what} goes" in w.text for w in found)


def test_functions_are_judged_by_what_their_steps_miss() -> None:
    """Neither a smooth function nor one that switches once is warned of; one that turns within a step is."""
    pendulum = chains.Chain(tl.String(60.0, 0.02, 200.0, law="linear"), tl.Reel(0.2, 0.3, 2.0), tl.RigidBody.point(2.0))
    start = chains.hanging(pendulum, 4.0, 3)
    found = [
        kinds(chains.simulate(pendulum, start, tl.Torque(torque), duration=1.0, sample=0.05, step=0.05 / 14.0))
        for torque in (
            lambda t: 4.0 + 0.1 * np.sin(t),
            lambda t: 4.0 if t < 0.5013 else 3.8,
            lambda t: 4.0 + 3.0 * np.cos(2.0 * np.pi * 280.6 * t),
        )
    ]
    assert ["torque_function" in x for x in found] == [False, False, True]
