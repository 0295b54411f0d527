"""Tethers in orbit: exact results for dumbbells, and gravity without cancellation."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal, getcontext
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import tautline as tl
from tautline.errors import InputError
from tautline.kernels.network.data import Field
from tautline.kernels.network.gravity import pull_at, reference_at
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, check_close

ORBIT = tl.Orbit(6.9e6)
RATE = ORBIT.rate
LENGTH = 1000.0
DENSITY = 0.01


def dumbbell(masses: tuple[float, float] = (1000.0, 1000.0), reel: tl.Reel | None = None, spooled: float = 0.0) -> Any:
    """Two points on a stiff string; elements enough to let it move."""
    string = tl.String(LENGTH + spooled, DENSITY, 1e7, law="linear")
    line = tl.Line(string, start="upper", end="lower", reel=reel, elements=2)
    bodies = {"upper": tl.RigidBody.point(masses[0]), "lower": tl.RigidBody.point(masses[1])}
    return tl.System(bodies, {"tether": line}, orbit=ORBIT)


def start(system: tl.System, along: Any, rates: Any, deployed: float, strain: float, speed: float = 0.0) -> Any:
    """Bodies on a line through the origin, turning with the given angular velocity and parting at a speed."""
    unit = np.array(along) / np.linalg.norm(along)
    masses = [body.mass for body in system.bodies.values()]
    length = deployed * (1.0 + strain)
    parts = np.array([masses[1], -masses[0]]) / sum(masses)
    bodies = {}
    for name, part in zip(system.bodies, parts, strict=True):
        place = part * length * unit
        velocity = np.cross(rates, place) + part * speed * unit
        bodies[name] = tl.BodyState(tuple(place), tuple(velocity))
    lines = {"tether": tl.LineStart(deployed, -speed)} if speed else {"tether": tl.LineStart(deployed)}
    return chains.hang(system, bodies, lines)


def static_strain(system: tl.System) -> float:
    upper, lower = (body.mass for body in system.bodies.values())
    strain: float = 3.0 * RATE**2 * upper * lower / (upper + lower) * LENGTH / 1e7
    return strain


def angles(run: Any) -> tuple[Any, Any]:
    """Angles of the line between the bodies to the local vertical, in the plane of the orbit and out of it."""
    line = run.body_position.values[:, 0] - run.body_position.values[:, 1]
    turned = RATE * run.time.values
    # the vertical through the middle, which drifts away from the frame
    middle = run.body_position.values.mean(axis=1)
    turned += (np.cos(turned) * middle[:, 1] - np.sin(turned) * middle[:, 0]) / ORBIT.semi_major_axis
    up = np.stack([np.cos(turned), np.sin(turned), 0 * turned], axis=1)
    ahead = np.stack([-np.sin(turned), np.cos(turned), 0 * turned], axis=1)
    radial, forward = np.sum(line * up, axis=1), np.sum(line * ahead, axis=1)
    return np.arctan2(forward, radial), np.arctan2(line[:, 2], np.hypot(radial, forward))


def frequency(times: Any, values: Any, near: float) -> float:
    """Angular frequency of a harmonic motion, by least squares about a guess."""
    from scipy.optimize import least_squares

    scaled = values / np.abs(values).max()

    def misfit(x: Any) -> Any:
        return x[1] * np.cos(x[0] * near * times) + x[2] * np.sin(x[0] * near * times) + x[3] - scaled

    found = least_squares(misfit, (1.0, scaled[0], 0.0, 0.0), xtol=1e-15, ftol=1e-15, gtol=1e-15)
    return near * float(found.x[0])


def excess_of_gravity(elements: int) -> float:
    """Second moment of mass as gravity sees it, half of each element at its ends, over that of the inertia.

    It goes to 1 with the square of the number of elements, and with the mass of the string.
    """
    points = DENSITY * LENGTH * (1.0 / 12.0 + 1.0 / (6.0 * elements**2))
    return (500.0 * LENGTH**2 + points * LENGTH**2) / (500.0 * LENGTH**2 + DENSITY * LENGTH**3 / 12.0)


@pytest.mark.parametrize(
    ("tilt", "which"),
    [
        pytest.param((1.0, 1e-3, 0.0), 0, id="in the plane"),
        pytest.param((1.0, 0.0, 1e-3), 1, id="across"),
    ],
)
@pytest.mark.long
def test_librations_of_a_dumbbell(tilt: Any, which: int, report: Report) -> None:
    """sqrt(3) n and 2 n, with what the mesh's gravity adds to 3 n^2."""
    system = dumbbell()
    state = start(system, tilt, (0.0, 0.0, RATE), LENGTH, static_strain(system))
    run = tl.simulate(system, state, duration=20_000.0, sample=20.0, step=0.008)
    expected = RATE * math.sqrt(3.0 * excess_of_gravity(2) + which)
    found = frequency(run.time.values, angles(run)[which], expected)
    error = abs(found / expected - 1.0)
    report(f"libration {'in' if which == 0 else 'across'} the plane of the orbit, relative error", error, "< 1e-6")
    check_below("frequency", error, 1e-6)


def test_static_pull_along_the_vertical(report: Report) -> None:
    system = dumbbell()
    state = start(system, (1.0, 0.0, 0.0), (0.0, 0.0, RATE), LENGTH, static_strain(system))
    run = tl.simulate(system, state, duration=100.0, sample=1.0, step=0.008)
    reduced = 500.0 + DENSITY * LENGTH / 8.0  # with what a uniform string adds at its middle
    expected = 3.0 * RATE**2 * reduced * LENGTH
    error = abs(float(run.tension.mean()) / expected - 1.0)
    report("pull of a dumbbell along the local vertical, relative error", error, "< 2e-3")
    check_below("tension", error, 2e-3)


@pytest.mark.parametrize(("eccentricity", "anomaly"), [(0.0, 0.0), (0.0, 2.0), (0.3, 0.0), (0.3, 4.0), (0.9, 0.2)])
def test_the_orbital_frame_turns_with_the_reference_orbit(eccentricity: float, anomaly: float) -> None:
    """Its angle and rate are those of the kernels' reference, whose rate is found by differences."""
    orbit = tl.Orbit(1e8, eccentricity, anomaly)
    field = Field(
        0.0, True, orbit.gravitational_parameter, 1e8, eccentricity, anomaly, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    )
    angle, rate = orbit.at_start()
    x, y, _ = reference_at(field, 0.0).place
    check_close("angle", (math.cos(angle), math.sin(angle)), np.array([x, y]) / math.hypot(x, y), 1e-14)
    d = 1e-4 / rate
    (a, b, _), (c, e, _) = (reference_at(field, t).place for t in (-d, d))
    check_close("rate", math.atan2(a * e - b * c, a * c + b * e) / (2.0 * d) / rate, 1.0, 1e-7)


def test_bodies_without_a_velocity_start_along_the_vertical_and_stay(report: Report) -> None:
    """In a circular orbit, from any place on it: the tether is along the vertical, and taut by 3 n^2 m l."""
    half = 0.5 * LENGTH * (1.0 + static_strain(dumbbell()))
    for anomaly in (0.0, 2.0):
        system = replace(dumbbell(), orbit=replace(ORBIT, mean_anomaly=anomaly))
        start = tl.Placed({"upper": (half, 0.0, 0.0), "lower": (-half, 0.0, 0.0)}, frame="orbital")
        run = tl.simulate(system, start, duration=400.0, sample=10.0, step=0.008)
        line = run.body_position.values[:, 0] - run.body_position.values[:, 1]
        turned = np.arctan2(line[:, 1], line[:, 0]) - RATE * run.time.values
        leans = float(np.abs(np.angle(np.exp(1j * (turned - anomaly)))).max())
        report(f"start in the orbital frame at {anomaly:g} rad: angle to the vertical in 400 s (rad)", leans, "< 1e-4")
        check_below("angle", leans, 1e-4)  # of the order of the length over the radius
        expected = 3.0 * RATE**2 * (500.0 + DENSITY * LENGTH / 8.0) * LENGTH
        check_below("tension", abs(float(run.tension.mean()) / expected - 1.0), 2e-3)


def test_places_motions_and_attitudes_are_in_the_orbital_frame() -> None:
    """All of it moves as a rigid body that turns with the orbit, and as given relative to that."""
    case = tl.load("tests/e2e/every_full_key/orbital.toml")
    orbit, start = case.system.orbit, case.start
    assert orbit is not None and isinstance(start, tl.Placed) and start.frame == "orbital"
    angle, rate = orbit.at_start()
    axes, turning = Rotation.from_euler("z", angle).as_matrix(), np.array([0.0, 0.0, rate])
    state = case.state()
    for name, given in start.bodies.items():
        own = state.bodies[name]
        check_close("place", np.array(own.position), axes @ given.position, 1e-13)
        moving = np.cross(turning, own.position) + axes @ given.velocity
        check_close("velocity", np.array(own.velocity), moving, 1e-15)
        check_close("attitude", np.array(own.attitude), axes, 1e-15)
        check_close(
            "spin", np.array(own.attitude) @ own.angular_velocity, turning + axes @ given.angular_velocity, 1e-15
        )
    still = tl.Placed({"mother": (2.0, 0.0, 0.1), "probe": (-19.0, 0.5, 0.0)}, start.lines, frame="orbital")
    tether = tl.Case(case.system, still, run=case.run).state().lines["tether"]
    check_close("nodes", tether.node_velocities, np.cross(turning, tether.nodes), 1e-15)


def test_the_orbital_frame_needs_an_orbit() -> None:
    apart = tl.Placed({"upper": (1000.0, 0.0, 0.0), "lower": (0.0, 0.0, 0.0)}, frame="orbital")
    with pytest.raises(InputError, match=r"^initial.frame: expected 'inertial' in a system without an orbit"):
        tl.simulate(replace(dumbbell(), orbit=None, gravity=0.0), apart, duration=1.0)
    with pytest.raises(InputError, match=r"Placed.frame: expected one of 'inertial', 'orbital', got 'orbit'; did you"):
        tl.Placed({}, frame="orbit")
    with pytest.raises(InputError, match=r'frame="orbital"'):
        tl.statics(dumbbell(), apart)


def test_deployment_at_a_constant_angle(report: Report) -> None:
    """With ldot/l = -(3/4) n sin 2 theta the angle stays as it is."""
    theta = math.radians(-20.0)
    growth = -0.75 * RATE * math.sin(2.0 * theta)
    spooled = 4.0 * LENGTH
    reel = tl.Reel(0.1, 0.0, 1e-6, guide_law="none")
    string = tl.String(LENGTH + spooled, 1e-3, 1e5, law="linear")
    line = tl.Line(string, start="upper", end="lower", reel=reel, elements=2)
    bodies = {"upper": tl.RigidBody.point(1000.0), "lower": tl.RigidBody.point(1000.0)}
    system = tl.System(bodies, {"tether": line}, orbit=ORBIT)
    strain = 3.0 * RATE**2 * 500.0 * LENGTH / 1e5
    along = (math.cos(theta), math.sin(theta), 0.0)
    state = start(system, along, (0.0, 0.0, RATE), LENGTH, strain, growth * LENGTH)
    times = np.linspace(0.0, 1500.0, 151)
    ends = (growth * LENGTH, growth * LENGTH * math.exp(1500 * growth))
    length = tl.Length((times, LENGTH * np.exp(growth * times)), velocities=ends)
    run = tl.simulate(system, state, {"tether": length}, duration=1500.0, sample=10.0, step=0.02)
    assert run.attrs["status"] == "completed", run.attrs["message"]
    apart = float(np.abs(angles(run)[0] - theta).max())
    report("deployment at a constant angle: largest change of the angle (rad)", apart, "< 5e-3")
    check_below("angle", apart, 5e-3)
    assert float(run.unstretched_length[-1, 0]) > 1.5 * LENGTH


def test_angular_momentum_about_the_center_of_attraction_is_kept_to_second_order() -> None:
    """Of the whole, in the inertial frame about the center of attraction."""
    system = dumbbell((400.0, 1000.0))
    changes = []
    for step in (0.008, 0.004):
        state = start(system, (1.0, 0.3, 0.1), (0.0, 0.0, 0.5 * RATE), LENGTH, 1e-5)
        run = tl.simulate(system, state, duration=400.0, sample=400.0, step=step)
        moments = []
        for k in (0, -1):
            field = Field(0.0, True, ORBIT.gravitational_parameter, 6.9e6, 0.0, 0.0, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
            place, velocity = (np.array(x) for x in reference_at(field, float(run.time[k])))
            total = np.zeros(3)
            for i, mass in enumerate((400.0, 1000.0)):
                x, v = run.body_position.values[k, i], run.body_velocity.values[k, i]
                total += mass * np.cross(place + x, velocity + v)
            q, v = run.position.values[k], run.velocity.values[k]
            l = LENGTH / 2
            for e in range(2):  # consistent mass of the string
                for a, b, m in ((0, 0, 2.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 2.0)):
                    total += DENSITY * l / 6.0 * m * np.cross(place + q[e + a], velocity + v[e + b])
            moments.append(total)
        changes.append(float(np.linalg.norm(moments[1] - moments[0]) / np.linalg.norm(moments[0])))
    check_below("angular momentum", changes[0], 1e-12)


@pytest.mark.parametrize("distance", [1e-3, 1.0, 1e3, 1e5, 1e6])
def test_gravity_differences_keep_their_digits(distance: float, report: Report) -> None:
    getcontext().prec = 60
    field = Field(0.0, True, 3.986004418e14, 7e6, 0.01, 0.3, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    at = reference_at(field, 100.0)
    x = distance * np.array([0.36, -0.48, 0.8])
    found = pull_at(field, at, tuple(x.tolist()))
    GM, X = Decimal(field.gm), [Decimal(c) for c in at.place]
    p = [Decimal(c) for c in x.tolist()]
    whole = [a + b for a, b in zip(X, p, strict=True)]
    r, rc = (sum((c * c for c in v), Decimal(0)).sqrt() for v in (whole, X))
    exact = [-GM * a / r**3 + GM * b / rc**3 for a, b in zip(whole, X, strict=True)]
    size = max(abs(float(c)) for c in exact)
    dot = sum((a * b for a, b in zip(X, p, strict=True)), Decimal(0))
    potential = -GM / r + GM / rc - GM * dot / rc**3
    error = max(abs(a - float(b)) for a, b in zip(found.acceleration, exact, strict=True)) / size
    report(f"gravity at {distance:g} m from the frame, relative error", error, "< 1e-14")
    check_below("acceleration", error, 1e-14)
    check_close("potential", found.potential / float(potential), 1.0, 1e-13)
