"""Commands, friction, limits, layers and stops of the reel, against solutions by other means (theory, (40) to (53))."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline.model.command import Command
from tautline.results.conservation import balance_error
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, check_bounded_without_drift, check_close, check_order
from tests.support.systems import largest_difference, state_at

BODY = tl.RigidBody.box(1.0, (0.2, 0.2, 0.2), (0.0, 0.05, 0.1))


def pendulum(guide_law: str = "none", **reel: Any) -> chains.Chain:
    return chains.Chain(
        string=tl.String(length=10.0, density=0.05, stiffness=300.0, law="linear"),
        reel=tl.Reel(drum_radius=0.2, guide_length=0.5, inertia_mass=0.5, guide_law=guide_law, **reel),
        body=BODY,
    )


def swinging(system: chains.Chain) -> chains.ChainState:
    """Bent by its own start, with a tumbling body."""
    return chains.straight(system, 4.0, 3, (1.0, 0.0, 2.0), end_velocity=(0.0, 1.0, 0.0))


MOVE = tl.Length.to(4.6, speed=1.0, acceleration=4.0, jerk=40.0)
POLYNOMIAL = tl.Length(pieces=([0.0], [[4.0, 0.0, 1.0, 0.5, -0.3, 0.1]]))
SPEEDS = tl.Speed(payout=([0.0, 0.2, 0.5], [0.0, 0.5, -0.5]))
FOLLOWER = tl.Impedance(tl.Length(([0.0, 0.5], [4.0, 4.5])), stiffness=200.0, damping=20.0)
SMOOTH: dict[str, tuple[chains.Chain, Command]] = {
    "Length, S-curve": (pendulum("published"), MOVE),
    "Length, polynomial": (pendulum(), POLYNOMIAL),
    "Length, growing drum with friction": (pendulum(layer_growth=0.02, viscous_friction=0.3), POLYNOMIAL),
    "Speed": (pendulum(), SPEEDS),
    "Length, sine": (pendulum(), tl.Length(motion=tl.motions.Sine(0.1, 0.5, 0.5 * np.pi))),
    "Speed, waves": (pendulum(), tl.Speed(retrieval=0.0, motion=tl.motions.Waves("jonswap", 0.3, 0.6, ramp=0.2))),
    "Impedance, sines": (
        pendulum(),
        tl.Impedance(tl.Length(mean=4.1, motion=tl.motions.Sines((0.1, 0.02), (0.5, 0.3), ramp=0.2)), 200.0, 20.0),
    ),
    "viscous friction": (pendulum(viscous_friction=0.5), tl.Free()),
    "Impedance": (pendulum(), FOLLOWER),
    "growing drum": (pendulum(layer_growth=0.02), tl.Torque(3.0)),
    "motor and gear": (pendulum(motor_inertia=1e-3, gear_ratio=5.0), tl.Torque(6.0)),
    "function of time": (pendulum(), tl.Torque(lambda t: 3.0 * np.cos(10.0 * t))),
}


@pytest.mark.parametrize(("order", "steps"), [(2, [2e-3, 1e-3, 5e-4]), (4, [8e-3, 4e-3, 2e-3])])
@pytest.mark.parametrize("name", SMOOTH)
def test_order_against_the_differential_equations(name: str, order: int, steps: list[float], report: Report) -> None:
    """With a fixed step, where a kink of a profile falls on a step's end."""
    system, command = SMOOTH[name]
    exact = chains.integrate(system, swinging(system), command, duration=0.4, sample=0.4)
    runs = [
        chains.simulate(system, swinging(system), command, duration=0.4, sample=0.4, step=h, order=order) for h in steps
    ]
    measured = check_order(steps, [chains.end_distance(run, exact) for run in runs], order)
    report(f"{name}, order {order}: slope against DOP853", measured, f"{order} +- 0.3")
    for account in ("control_work", "friction_loss"):
        largest = float(np.abs(runs[-1][account] - exact[account]).max())
        # measured: 5e-5 at most, of 10 J and more
        check_below(account, largest, 2e-4)


@pytest.mark.parametrize("name", ["Length, S-curve", "viscous friction", "Impedance", "growing drum"])
def test_the_papers_scheme_is_of_first_order(name: str, report: Report) -> None:
    system, command = SMOOTH[name]
    steps = [2e-3, 1e-3, 5e-4]
    exact = chains.integrate(system, swinging(system), command, duration=0.4, sample=0.4)
    runs = [
        chains.simulate(system, swinging(system), command, duration=0.4, sample=0.4, step=h, scheme="paper")
        for h in steps
    ]
    measured = check_order(steps, [chains.end_distance(run, exact) for run in runs], 1)
    report(f"{name}, scheme paper: slope against DOP853", measured, "1 +- 0.3")


@pytest.mark.parametrize("name", [name for name in SMOOTH if name.startswith(("Length", "Speed", "Impedance"))])
def test_the_torque_that_a_motion_takes(name: str, report: Report) -> None:
    """Of second order at every sample, the first included."""
    system, command = SMOOTH[name]
    exact = chains.integrate(system, swinging(system), command, duration=0.4, sample=0.04)
    steps = [4e-3, 2e-3, 1e-3]
    errors = []
    for h in steps:
        run = chains.simulate(system, swinging(system), command, duration=0.4, sample=0.04, step=h)
        errors.append(float(np.sqrt(np.mean((run.torque - exact.torque) ** 2))))
        check_close("torque at the start", run.torque[0], exact.torque[0], 1e-6)
    measured = check_order(steps, errors, 2, tolerance=0.5)
    report(f"{name}: slope of the torque's error", measured, "2 +- 0.5")


def test_the_needed_torque_makes_the_motion(report: Report) -> None:
    """What Length reports, given back as a Torque, leads the reel along the same way."""
    system = pendulum("dissipative")
    steps, errors = [2e-3, 1e-3, 5e-4], []
    for h in steps:
        led = chains.simulate(system, swinging(system), MOVE, duration=0.4, step=h, sample=h)
        table = tl.Torque((led.time.values, led.torque.values))
        driven = chains.simulate(system, swinging(system), table, duration=0.4, step=h, sample=h)
        errors.append(float(np.abs(driven.reeled_length - led.reeled_length).max()))
    measured = check_order(steps, errors, 2)
    report("needed torque given back: largest difference of the length (m)", errors[-1], "")
    report("needed torque given back: slope", measured, "2 +- 0.3")


@pytest.mark.parametrize("order", [2, 4, 6])
def test_a_given_length_is_kept_to_rounding(order: int) -> None:
    system = pendulum()
    run = chains.simulate(system, swinging(system), POLYNOMIAL, duration=0.4, step=4e-3, sample=4e-3, order=order)
    t = run.time.values
    check_close("length", run.unstretched_length, 4.0 + t**2 * (1.0 + t * (0.5 + t * (-0.3 + 0.1 * t))), 1e-13)
    check_close("speed", run.reel_speed, -t * (2.0 + t * (1.5 + t * (-1.2 + 0.5 * t))), 1e-13)


LOSSES: dict[str, tuple[chains.Chain, Command]] = {
    "brake that slips": (pendulum("dissipative"), tl.Brake(1.0)),
    "brake that slips, then holds": (pendulum("dissipative"), tl.Brake(([0.0, 0.5, 0.6], [1.0, 1.0, 6.0]))),
    "dry and viscous friction": (pendulum(coulomb_friction=0.3, viscous_friction=0.1), tl.Torque(4.0)),
    "torque and power limits": (pendulum(max_torque=4.0, max_power=3.0), tl.Torque(6.0)),
    "driven with friction": (pendulum("dissipative", coulomb_friction=0.3, viscous_friction=0.1), MOVE),
    "spring": (pendulum("dissipative"), tl.Impedance(5.0, 100.0, 10.0)),
    "growing drum": (pendulum(layer_growth=0.02), tl.Torque(2.0)),
}


@pytest.mark.parametrize("name", LOSSES)
def test_energy_balance(name: str, report: Report) -> None:
    """All accounts together; the error is bounded, and a sixteenth at a fourth of the step, where nothing sticks."""
    system, command = LOSSES[name]
    errors = []
    for h in (2e-3, 5e-4):
        run = chains.simulate(system, swinging(system), command, duration=1.5, step=h, sample=0.01)
        assert run.attrs["status"] == "completed"
        errors.append(float(np.abs(balance_error(run)).max() / run.kinetic_energy.max()))
        assert (np.diff(run.friction_loss) >= -1e-12).all()
    report(f"{name}: balance error / max kinetic energy", errors[-1], "5e-5")
    # measured: 2.5e-5 at most, with the spring
    check_below("energy balance", errors[-1], 5e-5)
    check_below("energy balance at a fourth of the step", errors[1], 0.2 * errors[0])


# -- exact cases: one element that hardly stretches or weighs, a point mass, a drum ---------------------------

M, KAPPA, D = 2.0, 3.0, 0.25
LIGHT, STIFF = 1e-7, 1e5


def atwood(inertia_mass: float = KAPPA, **reel: Any) -> chains.Chain:
    """A drum with a hanging mass: one degree of freedom, s, of inertia M + kappa, pulled by M g."""
    return chains.Chain(
        string=tl.String(length=100.0, density=LIGHT, stiffness=STIFF, law="linear"),
        reel=tl.Reel(drum_radius=D, guide_length=0.5, inertia_mass=inertia_mass, guide_law="none", **reel),
        body=tl.RigidBody.point(M),
    )


def fall(
    system: chains.Chain, command: Command, duration: float, reel_speed: float = 0.0, **options: Any
) -> xr.Dataset:
    start = chains.hanging(system, 20.0, 1)
    velocities = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -reel_speed]])
    start = chains.ChainState(start.reeled_length, reel_speed, start.nodes, velocities)
    settings: dict[str, Any] = {"step": 1e-3, "sample": 0.01} | options
    return chains.simulate(system, start, command, duration=duration, **settings)


# Of the force in the string, by stretch and bounce: strain M g/EA = 2e-4 of 20 m, so 4 mm in the length.
STRETCH = 5e-3


@pytest.mark.parametrize(("torque", "friction"), [(1.0, 0.0), (12.0, 0.0), (1.0, 0.7), (12.0, 0.7)])
def test_constant_torque_and_friction_accelerate_the_drum(torque: float, friction: float, report: Report) -> None:
    """s'' = (u/d - M g -+ C/d)/(M + kappa)."""
    run = fall(atwood(coulomb_friction=friction), tl.Torque(torque), 1.0)
    drive = torque / D - M * 9.81
    acceleration = (drive - np.sign(drive) * friction / D) / (M + KAPPA)
    check_close("s", run.reeled_length - run.reeled_length[0], 0.5 * acceleration * run.time**2, STRETCH)
    report(f"drum and mass, u = {torque:g}, C = {friction:g}: speed after 1 s", float(run.reel_speed[-1]), "")


@pytest.mark.parametrize("retrieves", [True, False])
def test_stopping_distance_of_a_brake(retrieves: bool, report: Report) -> None:
    """v^2 (M + kappa)/2 / (C/d +- M g), then it stands still exactly and for ever.

    The drum is heavy, so that the mass, which bounces when the drum stops, does not pull it loose again.
    """
    brake, speed, kappa = 10.0, 1.0 if retrieves else -1.0, 30.0
    run = fall(atwood(kappa), tl.Brake(brake), 4.0, reel_speed=speed)
    distance = 0.5 * speed**2 * (M + kappa) / (brake / D + np.sign(speed) * M * 9.81)
    way = abs(float(run.reeled_length[-1] - run.reeled_length[0]))
    check_close("stopping distance", way, distance, STRETCH)
    report(f"brake, {'retrieval' if retrieves else 'payout'}: error of the stopping distance (m)", way - distance, "")
    standing = run.reel_speed.values == 0.0
    first = int(np.argmax(standing))
    assert standing[first:].all() and 0 < first < len(standing) - 100
    check_close("length", run.reeled_length[first:], np.full(len(standing) - first, run.reeled_length[-1]), 0.0)


def test_a_brake_holds_up_to_its_capacity_and_slips_beyond() -> None:
    """A weight at rest takes M g d; the brake holds a thousandth more and not a thousandth less."""
    # the mass hangs at rest, so the string pulls at the drum with its strain's first and second order
    strain = M * 9.81 / STIFF
    needed = STIFF * (strain + 0.5 * strain**2) * D
    held = fall(atwood(), tl.Brake(1.001 * needed), 2.0)
    assert (held.reel_speed == 0.0).all() and (held.reeled_length == held.reeled_length[0]).all()
    assert float(held.friction_loss[-1]) == 0.0
    slipping = fall(atwood(), tl.Brake(0.999 * needed), 2.0)
    assert float(slipping.reel_speed[-1]) < 0.0 and float(slipping.friction_loss[-1]) > 0.0
    check_close("s''", slipping.reel_speed[-1] / 2.0, -1e-3 * needed / D / (M + KAPPA), 2e-4)


def test_friction_sticks_to_a_torque_until_it_is_overcome() -> None:
    """A torque that grows: the drum stands still until it passes weight and friction."""
    friction, rate = 1.0, 2.0
    system = atwood(coulomb_friction=friction)
    weight = M * 9.81 * D
    run = fall(system, tl.Torque(([0.0, 2.0], [weight, weight + 2.0 * rate])), 1.0)
    begins = friction / rate
    t = run.time.values
    assert (run.reel_speed.values[t < begins - 1e-3] == 0.0).all()
    # then s'' = rate (t - begins)/d/(M + kappa)
    after = np.clip(t - begins, 0.0, None)
    check_close("speed", run.reel_speed, 0.5 * rate * after**2 / D / (M + KAPPA), STRETCH)


def test_a_gear_is_an_inertia() -> None:
    """n^2 I_m/d^2 more mass, and nothing else."""
    geared = fall(atwood(motor_inertia=2e-3, gear_ratio=8.0), tl.Torque(1.0), 0.5)
    heavy = fall(atwood(KAPPA + 2e-3 * 64.0 / D**2), tl.Torque(1.0), 0.5)
    check_close("s", geared.reeled_length, heavy.reeled_length, 1e-12)
    assert chains.end_distance(geared, fall(atwood(), tl.Torque(1.0), 0.5)) > 0.1


def test_limits_of_the_motor(report: Report) -> None:
    """The torque is never above its limit nor its power above that; at the limit of power the speed follows from it."""
    power = 30.0
    run = fall(atwood(max_torque=8.0, max_power=power), tl.Torque(20.0), 30.0, step=2e-3, sample=0.1)
    assert float(abs(run.torque).max()) == 8.0
    taken = run.torque * run.reel_speed / D
    check_below("power", float(taken.max()), power * (1.0 + 1e-3))
    # the speed at which the weight takes all of the power
    check_close("speed", run.reel_speed[-1], power / (M * 9.81), 2e-2)
    report(
        "motor at its power limit: relative error of the final speed",
        float(run.reel_speed[-1] / (power / (M * 9.81)) - 1.0),
        "2e-2",
    )
    assert float(run.torque[0]) == 8.0


def test_a_spring_on_the_length_swings_with_its_frequency(report: Report) -> None:
    """omega^2 = k/(M + kappa), undamped; the weight only moves its rest."""
    k = 50.0
    omega = np.sqrt(k / (M + KAPPA))
    run = fall(atwood(), tl.Impedance(20.0, k), 10.0)
    expected = -M * 9.81 / k * (1.0 - np.cos(omega * run.time))
    # in phase with the mass's slow motion the string's stretch changes by a part in a thousand
    check_close("s", run.reeled_length - run.reeled_length[0], expected, 3.0 * STRETCH)
    check_bounded_without_drift("balance", balance_error(run), 1e-4 * float(run.kinetic_energy.max()), 1e-5)
    report("spring on the length, 5 periods: balance error (J)", float(np.abs(balance_error(run)).max()), "1e-4 of T")


# -- the growing drum ---------------------------------------------------------------------------------------


def test_a_growing_drum_turns_by_the_integral_of_its_radius(report: Report) -> None:
    """A constant torque does the work u phi, phi being the drum's angle (2/k)(d(s) - d(0))."""
    system, torque = pendulum(layer_growth=0.02), 2.0
    run = chains.simulate(system, swinging(system), tl.Torque(torque), duration=1.5, step=5e-4, sample=0.01)
    radius = np.array([system.reel.radius(s) for s in run.reeled_length.values])
    angle = 2.0 / 0.02 * (radius - radius[0])
    assert abs(angle[-1]) > 1.0
    error = check_close("work", run.control_work, torque * angle, 2e-5)
    report("growing drum: error of the work u phi (J)", error, "2e-5")


def test_a_growing_drum_keeps_its_energy() -> None:
    """Freely, without loss: bounded and without drift, over many swings on a spring."""
    system = pendulum(layer_growth=0.02)
    start = chains.hanging(system, 4.0, 3, end_velocity=(0.3, 0.0, 0.0))
    run = chains.simulate(system, start, tl.Impedance(4.0, 100.0), duration=60.0, step=1e-3, sample=0.02)
    T = float(run.kinetic_energy.max())
    # measured: 1.5e-4 and 2.8e-5; the motion is chaotic
    check_bounded_without_drift("balance", balance_error(run), 3e-4 * T, 1e-4 * T)


def test_no_growth_is_the_limit_of_little_growth() -> None:
    runs = [
        chains.simulate(s, swinging(s), tl.Torque(2.0), duration=0.5, step=1e-3, sample=0.5)
        for s in (pendulum(), pendulum(layer_growth=1e-9), pendulum(layer_growth=1e-5))
    ]
    check_close("position", runs[1].position, runs[0].position, 1e-7)
    assert chains.end_distance(runs[2], runs[0]) > 1e-6


# -- end stops ----------------------------------------------------------------------------------------------


def test_a_stop_takes_the_energy_of_the_drum() -> None:
    """Retrieved against the stop: the drum stops at once and loses kappa v^2/2; the mass flies on."""
    run = fall(atwood(), tl.Torque(9.0), 1.0, reel_speed=1.0, minimum_length=19.0, at_end="hold", sample=1e-3)
    assert run.attrs["status"] == "completed"
    v = np.sqrt(1.0 + 2.0 * (9.0 / D - M * 9.81) / (M + KAPPA))
    struck = int(np.argmax(run.unstretched_length.values <= 19.0))
    assert float(run.friction_loss[struck - 1]) == 0.0 and float(run.reel_speed[struck]) == 0.0
    # 3 % for the bounce of the string before
    check_close("loss", run.friction_loss[struck], 0.5 * KAPPA * v**2, 0.03 * KAPPA * v**2)
    check_below("balance", float(np.abs(balance_error(run)).max()), 1e-3 * float(run.kinetic_energy.max()))


@pytest.mark.parametrize("step", [1e-3, "auto"])
def test_a_reel_leaves_its_stop_when_it_is_pulled_away(step: float | str) -> None:
    """Deployed to the end, held there, then retrieved by a torque that grows beyond the weight.

    It arrives so slowly that the bounce of the mass stays below its weight.
    """
    viscous = 8.0
    system = atwood(viscous_friction=viscous)
    start = chains.hanging(system, 99.2, 1)
    weight = M * 9.81 * D
    table = tl.Torque(([0.0, 4.0, 5.0, 20.0], [0.0, 0.0, 2.0 * weight, 2.0 * weight]))
    held = chains.simulate(system, start, table, duration=4.0, step=step, sample=0.01, at_end="hold")
    assert any(w.kind == "end_stop" and "held at the deployed end since t = " in w.text for w in tl.warnings_of(held))
    run = chains.simulate(system, start, table, duration=8.0, step=step, sample=0.01, at_end="hold")
    assert run.attrs["message"] == "completed at t = 8 s"
    t, s = run.time.values, run.reeled_length.values
    waiting = (t > 3.0) & (t < 4.0)
    assert (run.reel_speed.values[waiting] == 0.0).all()
    assert np.ptp(s[waiting]) == 0.0 and 0.5 - 1e-3 < s.min() <= 0.5
    assert (run.reel_speed.values[t > 5.0] > 0.0).all()
    # 2 weight - weight - viscous v/d = 0
    check_close("final speed", run.reel_speed[-1], weight * D / viscous, 0.02)
    check_below("balance", float(np.abs(balance_error(run)).max()), 2e-3 * float(run.kinetic_energy.max()))


def test_a_run_stops_at_the_end_unless_it_is_held() -> None:
    run = fall(atwood(), tl.Torque(9.0), 1.0, reel_speed=1.0, minimum_length=19.0)
    assert run.attrs["status"] == "fully_retrieved"


# -- the start of a payout ------------------------------------------------------------------------------------


def test_payout_starts_without_a_spike(report: Report) -> None:
    """From rest by an S-curve: the tension leaves its value at rest as smoothly as the acceleration does."""
    system = chains.Chain(
        string=tl.String(length=100.0, density=0.05, stiffness=2000.0, law="linear"),
        reel=tl.Reel(drum_radius=0.2, guide_length=0.5, inertia_mass=2.0),
        body=tl.RigidBody.point(3.0),
    )
    start = chains.hanging(system, 10.0, 20)
    run = chains.simulate(
        system, start, tl.Length.to(20.0, speed=1.0, acceleration=0.5, jerk=0.5), duration=3.0, step=5e-4, sample=5e-4
    )
    top = run.tension[:, 0].values
    # quasi-static: weight less what accelerates downwards, 0.5 m/s^2 at most
    weight = (3.0 + 0.05 * 10.0) * 9.81
    dip = 0.5 * (3.0 + 0.05 * 10.5)
    check_below("rise of the tension at the guide", float(top.max() / weight), 1.05)
    check_below("fall of the tension at the guide", float(weight - top.min()), 2.0 * dip)
    jump = float(np.abs(np.diff(top)).max())
    report("payout by an S-curve: largest change of the tension in a step over the weight", jump / weight, "2e-3")
    check_below("change in a step", jump / weight, 2e-3)


def test_the_same_motion_from_pieces_and_from_a_table() -> None:
    """A cubic spline through points of a cubic with its own end slopes is that cubic."""
    system = pendulum()
    # at rest at 0 and at 1 s: X = 4 + 3 t^2 - 2 t^3
    t = np.linspace(0.0, 1.0, 7)
    table = tl.Length((t, 4.0 + 3.0 * t**2 - 2.0 * t**3))
    pieces = tl.Length(pieces=([0.0, 1.0], [[4.0, 0.0, 3.0, -2.0], [5.0, 0.0, 0.0, 0.0]]))
    runs = [chains.simulate(system, swinging(system), c, duration=0.5, step=1e-3, sample=0.5) for c in (table, pieces)]
    check_below("difference", largest_difference(*(state_at(r, system) for r in runs)), 1e-10)
