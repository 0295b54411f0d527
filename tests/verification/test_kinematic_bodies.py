"""Kinematic bodies that turn: closed forms, independent integration, work and moments of what moves them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.arrays import Array
from tautline.engine.simulate import run_of
from tautline.gradients.keys import key_value
from tests.conftest import Report
from tests.support.checking import check_below, check_close, check_order

G = 9.81
STEPS = (1e-2, 5e-3, 2.5e-3)
# So light that its own momentum, a part of the load's of 1e-9, is below every tolerance here.
LIGHT = 1e-9

# A deck that rocks about all three axes, and heaves and surges.
PATH = tl.motions.Sines(((0.3, 0.1, 0.5), (0.2, -0.1, 0.1)), (4.0, 2.5), (0.0, 1.0))
ROCKING = tl.motions.Rocking(((0.2, 0.1, 0.05), (0.1, 0.05, 0.3)), (5.0, 3.0), ((0.0, 1.0, 0.5), (0.3, 0.2, 0.1)))
TIP = (4.0, 0.5, -6.0)
DECK = tl.Kinematic(PATH, (1.0, 2.0, 0.0), ROCKING, ("10 deg", 0.0, "40 deg"))


def rotation(angles: Any) -> Array:
    """Yaw, pitch and roll about the axes that they leave behind, by SciPy."""
    from scipy.spatial.transform import Rotation

    roll, pitch, yaw = angles
    return np.asarray(Rotation.from_euler("ZYX", (yaw, pitch, roll)).as_matrix())


def deck_at(t: float) -> tuple[Array, Array]:
    """Place of the origin of the deck and its attitude, from sums of sines by hand."""

    def summed(amplitudes: Any, periods: Any, phases: Any) -> Any:
        return np.sum(
            [
                np.array(a) * np.sin(2 * np.pi * t / T + np.array(p))
                for a, T, p in zip(amplitudes, periods, phases, strict=True)
            ],
            axis=0,
        )

    place = np.array(DECK.position) + summed(PATH.amplitudes, PATH.periods, PATH.phases)
    turned = rotation(summed(ROCKING.amplitudes, ROCKING.periods, ROCKING.phases))
    return place, rotation(DECK.angles) @ turned


def load_case(
    carrier: tl.Kinematic, line: tl.Line, start: tl.BodyState, step: float, duration: float, **others: Any
) -> tl.Case:
    """A point mass of 2 kg on a line from a kinematic body."""
    command = {"rope": others.pop("command")} if "command" in others else {}
    system = tl.System({"carrier": carrier, "load": tl.RigidBody.point(2.0)}, {"rope": line})
    lengths = {} if line.reel is None else {"rope": others.pop("deployed")}
    run = tl.Run(duration=duration, sample=0.1, step=step, **others)
    return tl.Case(system, tl.Placed({"load": start}, lengths), command, run)


def whirl(omega: float = 2.0, arm: float = 1.0, length: float = 1.5, stiffness: float = 1e4) -> tuple[float, float]:
    """Angle from the vertical and tension of a pendulum on an arm that whirls: tan a = omega^2 (R + l sin a)/g."""
    from scipy.optimize import brentq

    angle = brentq(lambda a: math.tan(a) - omega**2 * (arm + length * math.sin(a)) / G, 0.01, 1.5, xtol=1e-15)
    return float(angle), 2.0 * G / math.cos(angle)


def whirling(step: float, carrier: tl.Kinematic) -> tl.Case:
    """A pendulum that whirls steadily at the end of an arm of 1 m, with 2 rad/s."""
    angle, tension = whirl()
    string = tl.String(length=1.5 / (1.0 + tension / 1e4), density=LIGHT, stiffness=1e4)
    radius = 1.0 + 1.5 * math.sin(angle)
    start = tl.BodyState((radius, 0.0, 1.5 * math.cos(angle)), (0.0, 2.0 * radius, 0.0))
    line = tl.Line(string, "carrier", (1.0, 0.0, 0.0), "load", elements=1)
    return load_case(carrier, line, start, step, 2.0)


def test_a_pendulum_on_a_whirling_arm_stays_at_its_angle(report: Report) -> None:
    """Against the closed form, to the order of the method; force and moment on the arm by hand."""
    angle, tension = whirl()
    radius, errors = 1.0 + 1.5 * math.sin(angle), []
    for step in STEPS:
        case = whirling(step, tl.Kinematic(turning=tl.motions.Spin((0.0, 0.0, 2.0))))
        run = tl.simulate(case)
        turned = 2.0 * run.time.values
        exact = [radius * np.cos(turned), radius * np.sin(turned), np.full_like(turned, 1.5 * math.cos(angle))]
        errors.append(float(np.abs(run.body_position.sel(body="load").values - np.stack(exact, axis=1)).max()))
        check_close("attitude", run.attitude.sel(body="carrier").values[-1], rotation((0, 0, turned[-1])), 1e-14)
        check_close("angular velocity", run.angular_velocity.sel(body="carrier").values[-1], (0, 0, 2.0), 1e-13)
    report("whirling pendulum: order of the method", check_order(STEPS, errors, 2.0), "2")
    simulation = tl.Simulation.from_case(whirling(1e-3, tl.Kinematic(turning=tl.motions.Spin((0.0, 0.0, 2.0)))))
    simulation.advance(0.1, {})
    carrier = simulation.bodies["carrier"]
    # means over a turn of 0.2 rad: what turns along loses the factor sin(0.1)/0.1
    out, down = tension * math.sin(angle) * math.sin(0.1) / 0.1, tension * math.cos(angle)
    along = np.array([math.cos(0.1), math.sin(0.1), 0.0])
    # errs as the motion does, by the square of the step: 1e-6 of the size
    check_close("force", carrier.force, out * along + [0.0, 0.0, down], 2e-5 * tension)
    across = np.cross(along, [0.0, 0.0, 1.0])
    check_close("moment", carrier.moment, down * math.sin(0.1) / 0.1 * across, 2e-5 * tension)


def test_a_body_that_is_moved_whirls_as_one_that_is_given_its_turning() -> None:
    given = tl.Simulation.from_case(whirling(2e-3, tl.Kinematic(turning=tl.motions.Spin((0.0, 0.0, 2.0)))))
    moved = tl.Simulation.from_case(whirling(2e-3, tl.Kinematic()))
    moved.bodies["carrier"].move((0.0, 0.0, 0.0), (0.0, 0.0, 2.0))
    for simulation in (given, moved):
        for _ in range(3):
            simulation.advance(0.2, {}, sample=0.1)
    a, b = (x.dataset() for x in (given, moved))
    # the same numbers but for the rounding of the start, which grows little in 0.6 s
    for name in ("body_position", "body_velocity", "attitude", "end_tension"):
        check_close(name, b[name].values[1:], a[name].values[1:], 1e-9 * float(np.abs(a[name]).max()))
    force, moment = given.bodies["carrier"].force, given.bodies["carrier"].moment
    check_close("force", moved.bodies["carrier"].force, force, 1e-8 * float(np.abs(force).max()))
    check_close("moment", moved.bodies["carrier"].moment, moment, 1e-8 * float(np.abs(moment).max()))
    moved.bodies["carrier"].move((0.0, 0.0, 0.0))
    R = moved.bodies["carrier"].attitude
    moved.advance(0.2, {})
    assert np.array_equal(moved.bodies["carrier"].attitude, R)
    assert not moved.bodies["carrier"].angular_velocity.any()


@pytest.mark.parametrize("rate", [(0.3, -0.5, 0.7), (1.2, 0.0, 0.0), (0.0, 0.0, -0.4)])
def test_spin_turns_about_its_axis(rate: tuple[float, float, float]) -> None:
    from scipy.spatial.transform import Rotation

    carrier = tl.Kinematic(turning=tl.motions.Spin(rate, phase=0.2), angles=(0.1, 0.2, 0.3))
    run = tl.simulate(whirling(1e-2, carrier).with_({"run.duration": 0.5}))
    unit = np.array(rate) / np.linalg.norm(rate)
    for t, R in zip(run.time.values, run.attitude.sel(body="carrier").values, strict=True):
        exact = rotation((0.1, 0.2, 0.3)) @ Rotation.from_rotvec(np.array(rate) * t + 0.2 * unit).as_matrix()
        check_close("attitude", R, exact, 1e-14)
    for omega in run.angular_velocity.sel(body="carrier").values:
        check_close("angular velocity", omega, rate, 1e-13)


def integrated(length: Callable[[float], float], stiffness: float, start: tl.BodyState, times: Array) -> Array:
    """Places of a point mass on an elastic thread of a length over time from the tip of the deck, by SciPy."""
    from scipy.integrate import solve_ivp

    def rate(t: float, y: Array) -> Array:
        place, R = deck_at(t)
        between = place + R @ np.array(TIP) - y[:3]
        distance = float(np.linalg.norm(between))
        tension = stiffness * max(distance / length(t) - 1.0, 0.0)
        return np.concatenate([y[3:], tension / 2.0 * between / distance + [0.0, 0.0, G]])

    y0 = [*start.position, *start.velocity]
    return np.asarray(solve_ivp(rate, (0.0, times[-1]), y0, "DOP853", times, rtol=1e-11, atol=1e-12).y[:3].T)


@pytest.mark.parametrize("winds", [False, True], ids=["rope", "reel"])
def test_a_load_below_a_deck_that_rocks_is_that_of_an_independent_integration(winds: bool, report: Report) -> None:
    """Path, angles, lever and reel together; the motion of the deck is summed by hand there."""
    stiffness, speed = 2e3, 0.5 if winds else 0.0
    string = tl.String(length=20.0 if winds else 5.0, density=LIGHT, stiffness=stiffness, law="tension_only")
    reel = tl.Reel(0.3, 1.0, 5.0, guide_law="none") if winds else None
    line = tl.Line(string, "carrier", TIP, "load", reel=reel, drum_axis=(0.0, 1.0, 0.0) if winds else None, elements=1)
    place, R = deck_at(0.0)
    start = tl.BodyState(place + R @ np.array(TIP) + (0.3, 0.0, 5.0 * (1.0 + 2.0 * G / stiffness)))
    others = (
        {"deployed": 5.0, "command": tl.Length(((0.0, 10.0), (5.0, 10.0)), velocities=(speed, speed))} if winds else {}
    )
    errors, energies = [], []
    for step in STEPS:
        case = load_case(DECK, line, start, step, 3.0, **others)
        run = tl.simulate(case)
        assert run.status == "completed" if hasattr(run, "status") else run.attrs["status"] == "completed"
        times = run.time.values
        exact = integrated(lambda t: 5.0 + speed * t, stiffness, start, times)
        errors.append(float(np.abs(run.body_position.sel(body="load").values - exact).max()))
        energies.append(float(run.attrs["balance_error"]))
    report(f"load below a rocking deck ({winds=}): order", check_order(STEPS, errors, 2.0), "2")
    report(f"load below a rocking deck ({winds=}): order of the balance", check_order(STEPS, energies, 2.0, 0.5), "2")
    for t, A in zip(run.time.values, run.attitude.sel(body="carrier").values, strict=True):
        check_close("attitude", A, deck_at(t)[1], 1e-11)  # cubics of the sines are off by 4e-12


def test_work_of_what_leads_a_deck_is_that_of_force_and_moment() -> None:
    """A rope with mass; guide work between two ticks is that of mean force and moment at mean velocities."""
    string = tl.String(length=8.0, density=0.2, stiffness=2e4, viscosity=50.0)
    line = tl.Line(string, "carrier", TIP, "load", elements=6)
    place, R = deck_at(0.0)
    start = tl.BodyState(place + R @ np.array(TIP) + (0.0, 0.0, 8.0))
    simulation = tl.Simulation.from_case(load_case(DECK, line, start, 2e-4, 2.0))
    simulation.advance(2e-4, {})
    tick, total, before = 2e-3, 0.0, float(simulation.dataset().guide_work[-1])
    for _ in range(500):
        simulation.advance(tick, {})
        t, body = simulation.time, simulation.bodies["carrier"]
        middle = t - 0.5 * tick
        velocity = (deck_at(middle + 1e-5)[0] - deck_at(middle - 1e-5)[0]) / 2e-5
        swing = (deck_at(middle + 1e-5)[1] - deck_at(middle - 1e-5)[1]) / 2e-5 @ deck_at(middle)[1].T
        omega = np.array([swing[2, 1], swing[0, 2], swing[1, 0]])
        total -= tick * float(body.force @ velocity + body.moment @ omega)
    done = float(simulation.dataset().guide_work[-1]) - before
    # forces change within a tick, by waves in the rope of 0.05 s: 1e-3 of the work
    check_below("work of force and moment", abs(total / done - 1.0), 2e-3)
    assert abs(done) > 10.0


def test_a_drum_that_turns_with_its_deck_resists_by_its_inertia() -> None:
    """Torque and moment that a locked drum takes beside those without an axis: inertia times angular acceleration."""
    turning = tl.motions.AttitudePath((0.0, 2.0), ((0.0, 0.0, 0.0), (0.0, 0.4, 0.0)))
    reel = tl.Reel(0.5, 1.0, 80.0, guide_law="none")  # 20 kg m^2
    found = []
    for axis in ((0.0, 1.0, 0.0), None):
        line = tl.Line(tl.String(20.0, LIGHT, 2e3), "carrier", (0, 0, 0), "load", reel=reel, drum_axis=axis, elements=1)
        case = load_case(
            tl.Kinematic(turning=turning),
            line,
            tl.BodyState((0, 0, 5.0 * (1.0 + 2.0 * G / 2e3))),
            2e-3,
            0.5,
            deployed=5.0,
            command=tl.Locked(),
        )
        simulation = tl.Simulation.from_case(case)
        simulation.advance(0.4, {})
        simulation.advance(0.02, case.commands)
        found.append((simulation.dataset().torque.values[-1, 0], simulation.bodies["carrier"].moment))
    # second derivative of 0.4 (3 x^2 - 2 x^3), x = t/2
    late, middle = (0.6 * (1.0 - t) for t in (0.42, 0.41))
    assert found[0][0] - found[1][0] == pytest.approx(20.0 * late, rel=1e-6)
    # on the deck, which drives the drum: against its acceleration, mean over the tick
    check_close("moment", found[0][1] - found[1][1], (0.0, -20.0 * middle, 0.0), 1e-6 * 20.0)


KEYS = (
    *("bodies.ship.path.height", "bodies.ship.path.heading", "bodies.ship.path.translations[1][2]"),
    *("bodies.ship.path.rotations[1][0]", "bodies.ship.path.rotation_phases[1][1]", "bodies.ship.angles[1]"),
    *("bodies.arm.turning.rate[2]", "bodies.arm.turning.rate[0]", "bodies.arm.turning.phase"),
    *("bodies.deck.turning.amplitudes[0][0]", "bodies.deck.turning.periods[0]", "lines.deck-rope.start_point[0]"),
    "bodies.tower.turning.angles[1][0]",
)


def test_derivatives_by_keys_of_the_motion_are_those_of_differences() -> None:
    """Ship, arm, deck and tower beside each other, each with a load."""
    sea = tl.motions.Waves("jonswap", 2.0, 7.0, components=20, seed=2, ramp=0.5)
    sizes = ((0.1, 0.05, 0.4), (0.3, 0.1, 0.7)), ((0.01, 0.02, 0.001), (0.03, 0.03, 0.002))
    leads = ((1.0, 2.0, 3.0), (1.1, 2.1, 2.9)), ((0.0, 1.0, 0.0), (0.3, 1.1, 0.1))
    bodies: dict[str, Any] = {
        "ship": tl.Kinematic(
            tl.motions.ShipMotion(sea, (5.0, 8.0), *sizes, *leads, heading=0.6), angles=(0.02, 0.01, 0.3)
        ),
        "arm": tl.Kinematic(turning=tl.motions.Spin((0.1, 0.2, 1.0), phase=0.3), position=(30.0, 0.0, 0.0)),
        "deck": tl.Kinematic(turning=ROCKING, position=(60.0, 0.0, 0.0)),
        "tower": tl.Kinematic(
            turning=tl.motions.AttitudePath((0.0, 2.0), ((0, 0, 0), (0.2, 0.1, 0))), position=(90, 0, 0)
        ),
    }
    lines = {}
    for name in list(bodies):
        bodies[f"{name}-load"] = tl.RigidBody.point(3.0)
        rope, reel = tl.String(12.0, 0.3, 4e3), tl.Reel(0.2, 0.5, 2.0)
        line = tl.Line(rope, name, (2.0, 0.5, -3.0), f"{name}-load", reel=reel, drum_axis=(0, 1, 0), elements=2)
        lines[f"{name}-rope"] = line
    start = tl.Hanging(dict.fromkeys(lines, 6.0))
    case = tl.Case(tl.System(bodies, lines), start, {}, tl.Run(duration=1.0, sample=0.1, step=4e-3))
    names = ["body_position", "guide_work"]
    found = tl.jacobian(case, names, by=list(KEYS))
    for k, key in enumerate(KEYS):
        value = key_value(case, key)
        size = 1e-5 * max(abs(value), 0.1)
        runs = [run_of(case.with_({key: value + sign * size})) for sign in (1.0, -1.0)]
        for name in names:
            differences = (runs[0][name].values - runs[1][name].values) / (2.0 * size)
            error = float(np.abs(found[name].values[..., k] - differences).max())
            # differences err by 1e-10 of derivatives, and by rounding over the change, as of work by the heading: 1e-9
            check_below(f"{name} by {key}", error, 1e-6 * float(np.abs(differences).max()) + 1e-8)
