"""Ship motion against a sum by hand, water under waves against the closed formulas, and both in step."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.arrays import Array
from tests.conftest import Report
from tests.support.checking import check_below, check_close
from tests.verification.test_kinematic_bodies import rotation

G = 9.81
SEA = tl.motions.Waves(
    "jonswap", height=3.0, peak_period=9.0, peakedness=2.0, components=60, seed=4, ramp=10.0, cutoff=5
)
PERIODS = (12.0, 9.0, 6.0, 4.0)  # in any order
TRANSLATIONS = ((0.6, 0.1, 0.9), (0.4, 0.1, 0.7), (0.2, 0.05, 0.3), (0.0, 0.0, 0.05))
ROTATIONS = ((0.03, 0.02, 0.001), (0.02, 0.03, 0.002), (0.01, 0.02, 0.001), (0.0, 0.005, 0.0))
LEADS = ((1.5, -1.5, 3.0), (1.6, -1.4, 2.9), (1.7, -1.2, 2.5), (1.5, -1.0, 2.0))
TURNS = ((-1.5, 1.4, 0.0), (-2.0, 1.5, 0.1), (-2.9, 1.6, 0.2), (2.9, 1.7, 0.3))  # the last goes round the circle


def ship(**changes: Any) -> tl.motions.ShipMotion:
    given: dict[str, Any] = {
        "translations": TRANSLATIONS,
        "rotations": ROTATIONS,
        "translation_phases": LEADS,
        "rotation_phases": TURNS,
    }
    return tl.motions.ShipMotion(SEA, PERIODS, **(given | changes))


def by_hand(time: float) -> Array:
    """Six responses to every wave of the sea, one after the other, between those that are given."""
    terms = SEA._terms()
    total = np.zeros(6)
    for omega, amplitude, phase in zip(terms[0], terms[1], terms[2], strict=True):
        given = sorted((2.0 * math.pi / T, k) for k, T in enumerate(PERIODS))
        w = min(max(omega, given[0][0]), given[-1][0])
        (a, i), (b, j) = next(pair for pair in pairwise(given) if w <= pair[1][0])
        part = (w - a) / (b - a)
        for axis in range(6):
            sizes, leads = (TRANSLATIONS, LEADS) if axis < 3 else (ROTATIONS, TURNS)
            size = (1.0 - part) * sizes[i][axis % 3] + part * sizes[j][axis % 3]
            first, second = leads[i][axis % 3], leads[j][axis % 3]
            second -= 2.0 * math.pi * round((second - first) / (2.0 * math.pi))  # the shorter way
            lead = (1.0 - part) * first + part * second
            total[axis] += amplitude[2] * size * math.sin(omega * time + phase[2] + lead)
    x = min(time / 10.0, 1.0)
    return total * (10.0 * x**3 - 15.0 * x**4 + 6.0 * x**5)


def test_motion_is_a_sum_of_responses() -> None:
    motion = ship()
    times = np.array([0.5, 7.0, 33.3, 100.0])
    places, angles = motion.at(times)[0], motion.turning.at(times)[0]
    for time, place, own in zip(times, places, angles, strict=True):
        check_close("motion", np.concatenate([place, own]), by_hand(float(time)), 1e-12)


def test_axes_up_and_heading_turn_the_motion() -> None:
    """Sway, heave, pitch and yaw change their signs; surge and sway go along the ship."""
    times = np.array([20.0, 47.0])
    own, up = ship(), ship(axes="up")
    check_close("up", up.at(times)[0], own.at(times)[0] * (1.0, -1.0, -1.0), 1e-13)
    check_close("turned", up.turning.at(times)[0], own.turning.at(times)[0] * (1.0, -1.0, -1.0), 1e-13)
    turned = ship(heading="30 deg")
    check_close("heading", turned.at(times)[0], own.at(times)[0] @ rotation((0.0, 0.0, math.pi / 6.0)).T, 1e-13)
    assert np.array_equal(turned.turning.at(times)[0], own.turning.at(times)[0])


def test_a_run_follows_the_ship() -> None:
    """Place, attitude and velocities of the ship, and the tip of its crane, from the sum by hand."""
    tip = (-10.0, 5.0, -20.0)
    carrier = tl.Kinematic(ship(heading="30 deg"), (3.0, 4.0, 0.0), angles=(0.0, "1 deg", 0.0))
    line = tl.Line(tl.String(20.0, 1.0, 1e6, law="tension_only"), "ship", tip, "load", elements=2)
    system = tl.System({"ship": carrier, "load": tl.RigidBody.point(500.0)}, {"rope": line})
    simulation = tl.Simulation.from_case(tl.Case(system, tl.Hanging({}), {}, tl.Run(duration=30.0, sample=1.0)))
    simulation.advance(30.0, {}, sample=1.0)
    run = simulation.dataset()
    heading = rotation((0.0, 0.0, math.pi / 6.0)) @ rotation((0.0, math.pi / 180.0, 0.0))
    for t in (0.0, 7.0, 30.0):
        x = by_hand(t)
        there = run.sel(time=t, body="ship")
        place = np.array((3.0, 4.0, 0.0)) + rotation((0.0, 0.0, math.pi / 6.0)) @ x[:3]
        # pieces of the tables are off by 4e-12 of amplitudes, and steps of the place add up to rounding
        check_close("place", there.body_position, place, 1e-10)
        check_close("attitude", there.attitude, heading @ rotation(x[3:]), 1e-10)
        check_close("tip", run.position.sel(time=t).values[0], place + heading @ rotation(x[3:]) @ tip, 1e-9)
    check_close("tip", simulation.bodies["ship"].position_of(tip), run.position.values[-1, 0], 1e-12)
    step = 1e-4  # differences err by its square, and by rounding over it
    now, before, after = (by_hand(30.0 + d) for d in (0.0, -step, step))
    turning = heading @ (rotation(after[3:]) - rotation(before[3:])) / (2.0 * step)
    swing = (heading @ rotation(now[3:])).T @ turning
    found = run.angular_velocity.sel(time=30.0, body="ship")
    check_close("angular velocity", found, (swing[2, 1], swing[0, 2], swing[1, 0]), 1e-8)


@pytest.mark.parametrize("depth", [None, 12.0], ids=["deep", "finite"])
def test_water_moves_as_linear_theory_says(depth: float | None, report: Report) -> None:
    """A regular wave: Airy's formulas at the height to which Wheeler stretches, dispersion included."""
    a, T, phase = 1.2, 7.0, 0.4
    flow = tl.flows.WaveFlow(tl.motions.Sine(a, T, phase), direction="30 deg", level=2.0, water_depth=depth)
    w = 2.0 * math.pi / T
    k = float(flow.waves().k[0])
    check_close("dispersion", w * w, G * k * (1.0 if depth is None else math.tanh(k * depth)), 1e-14)
    for t in (0.0, 1.3, 4.4):
        surface = a * math.sin(w * t + phase)
        assert flow.elevation(t)[0] == pytest.approx(surface, rel=1e-13)
        for below in (0.0, 0.7, 3.0, 9.0):
            z = -below if depth is None else -below * depth / (depth + surface)
            along, up = (math.exp(k * z),) * 2
            if depth is not None:
                along = math.cosh(k * (z + depth)) / math.sinh(k * depth)
                up = math.sinh(k * (z + depth)) / math.sinh(k * depth)
            u, v = a * w * along * math.sin(w * t + phase), a * w * up * math.cos(w * t + phase)
            wanted = (u * math.cos(math.pi / 6.0), u * math.sin(math.pi / 6.0), -v)
            check_close("velocity", flow.velocities(t, 2.0 - surface + below)[0, 0], wanted, 1e-13)
    assert np.array_equal(flow.velocities(1.0, -5.0), flow.velocities(1.0, 2.0 - flow.elevation(1.0)))
    if depth is not None:
        check_close("bottom", flow.velocities(1.0, 2.0 + depth)[0, 0, 2], 0.0, 1e-14)


def test_tables_hold_the_velocities_of_a_sea(report: Report) -> None:
    """Linear over time and depth: to 1 % of the mean velocity in the water, where the steepest waves are."""
    from scipy.interpolate import RegularGridInterpolator

    for depth in (None, 20.0):
        flow = tl.flows.WaveFlow(SEA, water_depth=depth)
        table = tl.Fluid(1025.0, unsteady=flow).flow_between(30.0, 60.0)
        chance = np.random.default_rng(3)
        times, levels = chance.uniform(30.0, 60.0, 400), chance.uniform(-1.5, 18.0, 400)
        exact = np.array([flow.velocities(t, z)[0, 0] for t, z in zip(times, levels, strict=True)])
        wet = levels > -np.array([flow.elevation(t)[0] for t in times])
        points = np.stack([times, levels], axis=1)
        found = RegularGridInterpolator((table.times, table.depths), table.velocities)(points)
        error = math.sqrt(((found - exact)[wet] ** 2).mean() / (exact[wet] ** 2).mean())
        report(f"waves in a table, depth {depth}: error over mean velocity", error, "1 %")
        check_below("error of the table", error, 0.01)
    parts = [flow.table(a, b, np.zeros((1, 3))) for a, b in ((30.0, 60.0), (40.0, 44.0))]
    k = int(np.searchsorted(parts[0].times, parts[1].times[0]))
    assert np.array_equal(parts[0].velocities[k : k + len(parts[1].times)], parts[1].velocities)


def test_a_float_that_the_water_drags_goes_around_with_it(report: Report) -> None:
    """A body without weight in water and with much drag moves on the circle of the water, of radius a e^(-k z)."""
    a, T, depth = 0.05, 6.0, 10.0
    k = (2.0 * math.pi / T) ** 2 / G
    fluid = tl.Fluid(1025.0, unsteady=tl.flows.WaveFlow(tl.motions.Sine(a, T, ramp=12.0)))
    body = tl.RigidBody.point(10.25)
    line = tl.Line(tl.String(200.0, 1e-10, 1e-3, law="tension_only"), end="float", elements=1)
    own = tl.BodyInFluid(volume="10 L", drag_area=5.0, added_mass=5.0)
    system = tl.System({"float": body}, {"thread": line}, fluid=fluid, body_fluid={"float": own})
    start = tl.Placed({"float": (0.0, 0.0, depth)})
    run = tl.simulate(tl.Case(system, start, {}, tl.Run(duration=36.0, sample=0.1, step=0.01)))
    late = run.sel(time=slice(30.0, 36.0), body="float").body_position.values
    turns = np.exp(-2j * math.pi * np.arange(60) / 60)
    radius = a * math.exp(-k * depth)
    for axis in (0, 2):
        drift = np.arange(60) * (late[60, axis] - late[0, axis]) / 60
        size = 2.0 * abs(complex(((late[:60, axis] - drift) * turns).mean()))
        report(f"float in waves, axis {axis}: radius over that of the water", size / radius, "1")
        # the waves have a slope of 0.0056, by which formulas of the second order differ
        check_close("radius", size / radius, 1.0, 0.0056)


def test_ship_and_water_are_in_step() -> None:
    """A ship that follows the waves is where the surface is."""
    buoy = tl.motions.ShipMotion(SEA, (10.0,), ((0.0, 0.0, 1.0),), axes="up")
    times = np.linspace(0.0, 50.0, 101)
    check_close("elevation", -buoy.at(times)[0][:, 2], tl.flows.WaveFlow(SEA).elevation(times), 1e-12)
