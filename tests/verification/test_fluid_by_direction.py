"""Drag along axes, added-mass matrices and wings: against an integration that shares nothing, by laws and by hand."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import tautline as tl
from tautline.arrays import Array
from tautline.engine.choose import NETWORK, backend_for
from tautline.gradients.keys import key_value
from tautline.model.system.state import LineState
from tests.conftest import Report
from tests.support.checking import check_below, check_close, check_order

pytestmark = pytest.mark.network

G, WATER = 9.81, 1000.0
CENTER, HOLD = np.array([0.0, 0.05, 0.2]), np.array([0.1, 0.0, 0.0])
J, MASS = np.diag([0.3, 0.4, 0.5]), 8.0
LENGTH, DENSITY, STIFFNESS = 3.0, 0.05, 2000.0
ATTITUDE = Rotation.from_rotvec([0.3, -0.2, 0.4]).as_matrix()
PLACE, VELOCITY, OMEGA = np.array([0.5, 0.2, 3.4]), np.array([0.3, -0.6, 0.2]), np.array([0.8, -1.1, 0.6])
FLOW = np.array([0.8, 0.3, -0.2])
_A = np.random.default_rng(2).normal(size=(6, 6))
SIZES = np.repeat([1.4, 0.25], 3)
FULL = _A @ _A.T * np.outer(SIZES, SIZES)  # of some body without symmetries
ANGLES, LIFT, DRAG = np.radians([-180.0, -15.0, 15.0, 180.0]), np.array([0.0, -1.0, 1.4, 0.0]), 0.1
DRAGGED: dict[str, Any] = {"drag_area": (0.01, 0.03, 0.02), "drag_center": (0.05, 0.02, 0.25)}
CARRIED: dict[str, Any] = {"added_mass": FULL.tolist(), "added_mass_center": (0.1, -0.05, 0.15)}
WINGED: dict[str, Any] = {
    "wing_area": 0.02,
    "wing_lift": (ANGLES, LIFT),
    "wing_drag": DRAG,
    "wing_center": (0.1, 0.0, 0.3),
    "wing_chord": (0.8, 0.0, 0.6),
    "wing_span": (0.0, 2.0, 0.0),
}
STEPS = (4e-3, 2e-3, 1e-3)
DURATION = 0.4


def hat(a: Array) -> Array:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def fish(flow: Any = FLOW, gravity: float = G, **own: Any) -> tl.System:
    """A body in water on a string of one element."""
    body = tl.RigidBody.about_center(MASS, J, CENTER)
    string = tl.String(LENGTH, DENSITY, STIFFNESS, law="linear")
    line = tl.Line(string, end="fish", end_point=HOLD, elements=1)
    return tl.System(
        {"fish": body}, {"rope": line}, gravity, fluid=tl.Fluid(WATER, flow), body_fluid={"fish": tl.BodyInFluid(**own)}
    )


def moving(velocity: Any = VELOCITY, omega: Any = OMEGA, attitude: Array = ATTITUDE) -> tl.State:
    """The fish off balance, in motion."""
    arm = attitude @ (HOLD - CENTER)
    nodes = np.array([np.zeros(3), PLACE + arm])
    velocities = np.array([np.zeros(3), velocity + attitude @ np.cross(omega, HOLD - CENTER)])
    return tl.State(
        {"fish": tl.BodyState(PLACE, velocity, attitude, omega)}, {"rope": LineState(nodes, velocities, 0, 0)}
    )


def point_matrix(place: Array) -> Array:
    """Velocity of a point by those of the center of mass and the angular velocity, in the body's frame."""
    return np.hstack([np.eye(3), -hat(place)])


def wing_force(u: Array) -> Array:
    """Force of the wing at its velocity in the water, body frame: by angle of attack, lift across and drag along."""
    chord, span = np.array([0.8, 0.0, 0.6]), np.array([0.0, 1.0, 0.0])
    u = u - (u @ span) * span
    speed = float(np.linalg.norm(u))
    angle = np.arctan2(u @ np.cross(chord, span), u @ chord)
    pressure = 0.5 * WATER * speed**2 * 0.02
    return np.asarray(pressure * (np.interp(angle, ANGLES, LIFT) * np.cross(span, u) - DRAG * u) / speed)


def integrated(own: dict[str, Any]) -> tuple[Array, Array, Array]:
    """Place, attitude and velocity of the fish by equations of Kirchhoff, Newton and Euler in the body's frame."""
    added = np.zeros((6, 6))
    if "added_mass" in own:
        shift = np.eye(6)
        shift[:3, 3:] = -hat(np.array(own["added_mass_center"]) - CENTER)
        added = shift.T @ np.array(own["added_mass"]) @ shift
    body = np.zeros((6, 6))
    body[:3, :3], body[3:, 3:] = MASS * np.eye(3), J
    arm = HOLD - CENTER
    end, end_mass = point_matrix(arm), DENSITY * LENGTH / 3.0

    def rates(t: float, y: Array) -> Array:
        x, R, u, w = y[:3], y[3:12].reshape(3, 3), y[12:15], y[15:]
        flow = R.T @ FLOW
        v = u - flow
        P = added @ np.r_[v, w]
        force = -np.r_[np.cross(w, P[:3]), np.cross(w, P[3:]) + np.cross(v, P[:3])]
        force -= added @ np.r_[np.cross(w, flow), np.zeros(3)]  # the flow turns in the body's frame
        force -= np.r_[MASS * np.cross(w, u), np.cross(w, J @ w)]
        force -= end.T @ (end_mass * np.cross(w, u + np.cross(w, arm)))
        down = R.T @ np.array([0.0, 0.0, G])
        force += np.r_[MASS * down, np.zeros(3)] + end.T @ (0.5 * DENSITY * LENGTH * down)
        w_end = x + R @ arm
        distance = np.linalg.norm(w_end)
        force += end.T @ (R.T @ (-STIFFNESS * (distance / LENGTH - 1.0) * w_end / distance))
        if "drag_area" in own:
            at = point_matrix(np.array(own["drag_center"]) - CENTER)
            there = at @ np.r_[v, w]
            force -= at.T @ (0.5 * WATER * np.array(own["drag_area"]) * np.linalg.norm(there) * there)
        if "wing_area" in own:
            at = point_matrix(np.array(own["wing_center"]) - CENTER)
            force += at.T @ wing_force(at @ np.r_[v, w])
        acceleration = np.linalg.solve(body + added + end_mass * end.T @ end, force)
        return np.concatenate([R @ u, (R @ hat(w)).ravel(), acceleration])

    start = np.concatenate([PLACE, ATTITUDE.ravel(), ATTITUDE.T @ VELOCITY, OMEGA])
    y = solve_ivp(rates, (0.0, DURATION), start, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    R = y[3:12].reshape(3, 3)
    return y[:3], R, R @ y[12:15]


@pytest.mark.parametrize(
    "own",
    [DRAGGED, CARRIED, WINGED, DRAGGED | CARRIED | WINGED],
    ids=["drag", "added mass", "wing", "all"],
)
def test_motion_is_that_of_an_independent_integration(own: dict[str, Any], report: Report) -> None:
    place, attitude, velocity = integrated(own)
    errors, balances = [], []
    for step in STEPS:
        run = tl.simulate(fish(**own), moving(), duration=DURATION, sample=DURATION / 4, step=step)
        errors.append(
            float(np.linalg.norm(run.body_position[-1, 0] - place))
            + float(np.linalg.norm(run.attitude.values[-1].reshape(3, 3) - attitude))
            + float(np.linalg.norm(run.body_velocity[-1, 0] - velocity))
        )
        kept = tl.analysis.kept_energy(run)
        balances.append(float(abs(kept - kept[0]).max()))
    report("order against Kirchhoff's equations", check_order(STEPS, errors, 2.0, 0.15), "2.0 +- 0.15")
    check_below("error", errors[-1], 2e-4)
    check_order(STEPS, balances, 2.0, 0.35)


def test_three_equal_coefficients_are_one() -> None:
    """Of drag to rounding; of added mass to the error of the method, as it is summed in another order."""
    runs = [
        tl.simulate(fish(drag_area=area, drag_center=(0.05, 0.0, 0.2)), moving(), duration=0.2, sample=0.1, step=1e-3)
        for area in (0.02, (0.02, 0.02, 0.02))
    ]
    check_close("drag", runs[0].body_position, runs[1].body_position, 1e-10)
    differences = []
    for step in STEPS:
        masses: tuple[Any, Any] = (20.0, (20.0, 20.0, 20.0))
        one, three = (
            tl.simulate(
                fish(added_mass=m, buoyancy_center=(0.1, 0.0, 0.1)), moving(), duration=0.2, sample=0.2, step=step
            )
            for m in masses
        )
        differences.append(float(abs(one.body_velocity - three.body_velocity).max()))
    check_order(STEPS, differences, 2.0, 0.3)
    check_below("difference", differences[-1], 1e-3)


def test_a_current_is_a_frame_that_moves() -> None:
    """Whether the water moves or the fish, whose string moves along, to the error of the method."""
    own, differences = DRAGGED | CARRIED | WINGED, []
    for step in STEPS:
        places = []
        for flow, velocity in ((FLOW, np.zeros(3)), (0.0 * FLOW, -FLOW)):
            system = fish(flow, **own)
            way: Any = np.stack([np.zeros(3), velocity])
            ends: Any = (velocity, velocity)
            carrier = tl.Kinematic(path=tl.motions.GuidePath((0.0, 1.0), way, velocities=ends))
            line = dataclasses.replace(system.lines["rope"], start="carrier")
            along = dataclasses.replace(system, bodies={"carrier": carrier, **system.bodies}, lines={"rope": line})
            state = moving(VELOCITY + velocity)
            rope = state.lines["rope"]
            rope = LineState(rope.nodes, np.array([velocity, rope.node_velocities[1]]), 0, 0)
            bodies = {"carrier": tl.BodyState((0.0, 0.0, 0.0), velocity), **state.bodies}
            run = tl.simulate(along, tl.State(bodies, {"rope": rope}), duration=0.2, sample=0.2, step=step)
            places.append(run.body_position.sel(body="fish").values[-1] - 0.2 * velocity)
        differences.append(float(np.linalg.norm(places[0] - places[1])))
    check_below("difference", differences[-1], 1e-5)
    assert differences[-1] < 0.3 * differences[-2] or differences[-1] < 1e-10


def test_drag_and_wings_only_take_energy_in_still_water() -> None:
    own = DRAGGED | WINGED | {"drag_area": (0.002, 0.4, 0.05)}
    run = tl.simulate(
        fish((0.0, 0.0, 0.0), **own), moving(omega=np.array([4.0, -3.0, 5.0])), duration=2.0, sample=0.005
    )
    taken = np.diff(run.fluid_work)
    assert (taken < 0.0).all()
    assert float(run.fluid_work[-1]) < -10.0


def test_a_body_in_a_perfect_fluid_keeps_energy_and_impulse(report: Report) -> None:
    """Kirchhoff: what body and fluid have together stays, while the body tumbles; the string hardly pulls."""
    added, m = np.diag([0.2, 3.0, 15.0, 0.05, 0.1, 0.0]), 1.0
    inertia = np.diag([0.02, 0.03, 0.04])
    string = tl.String(50.0, 1e-6, 1e-6, law="linear")
    system = tl.System(
        {"fish": tl.RigidBody.about_center(m, inertia, (0.0, 0.0, 0.0))},
        {"rope": tl.Line(string, end="fish", elements=1)},
        0.0,
        fluid=tl.Fluid(WATER),
        body_fluid={"fish": tl.BodyInFluid(added_mass=added.tolist())},
    )
    place, velocity = np.array([0.0, 0.0, 50.0]), np.array([1.0, 0.4, -0.2])
    state = tl.State(
        {"fish": tl.BodyState(place, velocity, np.eye(3), (0.5, 1.0, 2.0))},
        {"rope": LineState(np.array([0.0 * place, place]), np.array([0.0 * place, velocity]), 0, 0)},
    )
    whole = added + np.diag([m, m, m, *np.diag(inertia)])
    errors: list[list[float]] = [[], []]
    for step in (4e-3, 2e-3, 1e-3):
        run = tl.simulate(system, state, duration=4.0, sample=0.04, step=step)
        R = run.attitude.values.reshape(-1, 3, 3)
        u = np.einsum("tji,tj->ti", R, run.body_velocity.values[:, 0])
        twist = np.hstack([u, run.angular_velocity.values[:, 0]])
        energy = 0.5 * np.einsum("ti,ij,tj->t", twist, whole, twist)
        impulse = np.einsum("tij,tj->ti", R, (twist @ whole)[:, :3])
        errors[0].append(float(np.abs(energy / energy[0] - 1.0).max()))
        errors[1].append(float(np.abs(impulse - impulse[0]).max()))
    report("order of the energy of body and fluid", check_order((4, 2, 1), errors[0], 2.0, 0.3), "2.0 +- 0.3")
    check_order((4, 2, 1), errors[1], 2.0, 0.3)
    check_below("energy", errors[0][-1], 1e-3)


# -- a towed wing ------------------------------------------------------------------------------------------------------

SPEED, VOLUME = 2.0, 0.03
TOWED = tl.RigidBody.box(60.0, (1.2, 0.9, 0.2), (0.0, 0.0, 0.1))
SET = np.radians(6.0)  # of the wing, nose down
POLAR = (np.radians([-90, -16, -12, 12, 16, 90]), np.array([0.0, -0.7, -0.8, 0.8, 0.7, 0.0]))
RESISTANCE = (np.radians([-90, -12, -6, 0, 6, 12, 90]), np.array([1.2, 0.08, 0.035, 0.02, 0.035, 0.08, 1.2]))
DEPRESSOR: dict[str, Any] = {
    "drag_area": (0.03, 0.4, 0.8),
    "drag_center": (-0.5, 0.0, 0.1),
    "volume": VOLUME,
    "added_mass": (5.0, 10.0, 40.0),
    "wing_area": 0.25,
    "wing_lift": POLAR,
    "wing_drag": RESISTANCE,
    "wing_center": (-0.05, 0.0, 0.1),
    "wing_chord": (np.cos(SET), 0.0, np.sin(SET)),
}


def towed(diameter: float = 0.0) -> tl.System:
    """A depressor on a cable, seen from the ship."""
    cable = tl.String(60.0, 0.262, 2.6e6, viscosity=2e3, diameter=diameter)
    return tl.pendulum(
        cable, tl.Reel(0.4, 1.0, 200.0), TOWED, fluid=tl.Fluid(1025.0, (-SPEED, 0, 0), **DEPRESSOR), elements=4
    )


def by_hand(pitch: float) -> tuple[Array, float]:
    """Force on the body (forward, down) without the cable's, and its moment about the tow point, nose up."""
    pressure, angle = 0.5 * 1025.0 * SPEED**2, pitch - SET
    lift, drag = (0.25 * pressure * np.interp(angle, *table) for table in (POLAR, RESISTANCE))
    turn = np.array([[np.cos(pitch), np.sin(pitch)], [-np.sin(pitch), np.cos(pitch)]])  # body to space
    parts = [
        (np.array([-drag, -lift]), (-0.05, 0.1)),
        (turn @ (-pressure * np.array([0.03, 0.8]) * (turn.T @ [1.0, 0.0])), (-0.5, 0.1)),
        (np.array([0.0, G * (60.0 - 1025.0 * VOLUME)]), (0.0, 0.1)),
    ]
    moment = 0.0
    for force, place in parts:
        x, z = turn @ np.array(place)
        moment += z * force[0] - x * force[1]
    u = turn.T @ np.array([SPEED, 0.0])
    moment += -(u[1] * 5.0 * u[0] - u[0] * 40.0 * u[1])  # of the water that moves along: -u x M u about y
    return np.sum([force for force, _ in parts], axis=0), moment


def test_a_towed_wing_balances_by_hand() -> None:
    """Its pitch, lift, drag, and the pull and direction of the cable there."""
    rest = tl.statics(towed(), tl.AtEquilibrium(40.0))
    pitch = brentq(lambda x: by_hand(x)[1], -0.2, 0.2, xtol=1e-14)
    R = np.array(rest.body.attitude)
    check_close("pitch", np.arcsin(-R[2, 0]), pitch, 1e-8)
    pull, _ = by_hand(pitch)
    assert pull[1] > 450.0  # of which 290 are its weight in water
    check_close("pull", rest.line.end_tension, np.linalg.norm(pull), 1e-6 * float(np.linalg.norm(pull)))
    nodes = rest.state.lines["line"].nodes
    last = (nodes[-1] - nodes[-2])[[0, 2]]
    share = 0.5 * 0.262 * G * 40.0 / 4  # of the last element's weight, at its end
    along = pull + np.array([0.0, share])
    check_close("direction", last / np.linalg.norm(last), along / np.linalg.norm(along), 1e-8)


def test_a_towed_wing_stays_in_its_balance_and_comes_back_to_it() -> None:
    system = towed(8.2e-3)
    rest = tl.statics(system, tl.AtEquilibrium(40.0))
    stays = tl.simulate(system, rest.state, duration=5.0, sample=1.0)
    check_below("motion", float(abs(stays.body_position - stays.body_position[0]).max()), 1e-5)
    own = rest.state.bodies["body"]
    tilted = Rotation.from_euler("y", 5.0, degrees=True).as_matrix() @ np.array(own.attitude)
    place = rest.state.lines["line"].nodes[-1] + tilted @ np.array(TOWED.center_of_mass)
    bodies = {"body": tl.BodyState(place, own.velocity, tilted, own.angular_velocity)}
    back = tl.simulate(system, tl.State(bodies, dict(rest.state.lines)), duration=20.0, sample=1.0)
    check_close("attitude", back.attitude[-1].values.reshape(3, 3), np.array(own.attitude), 2e-3)


def test_only_the_network_knows_directions() -> None:
    assert backend_for(tl.Case(towed(), tl.AtEquilibrium(40.0), {}, tl.Run(duration=1.0))) == NETWORK


# -- derivatives -------------------------------------------------------------------------------------------------------


def test_derivatives_are_those_of_runs_nearby() -> None:
    case = tl.Case(
        fish(**(DRAGGED | CARRIED | WINGED)),
        moving(),
        {},
        tl.Run(duration=0.05, sample=0.05, step=1e-3),
    )
    keys = ("drag_area[1]", "drag_center[0]", "added_mass[0][0]", "added_mass_center[0]")
    wing = ("wing_area", "lift_coefficients[2]", "wing_drag", "wing_center[2]", "wing_chord[0]")
    by = [*(f"bodies.fish.fluid.{key}" for key in keys + wing), "fluid.density", "fluid.flow[0]"]
    outputs = ["body_position", "angular_velocity", "fluid_work"]
    found = tl.jacobian(case, outputs, by)
    for k, key in enumerate(by):
        value = key_value(case, key)
        h = 1e-4 * abs(value)
        after, before = (tl.simulate(case.with_({key: value + step})) for step in (h, -h))
        for output in outputs:
            expected = (after[output].values - before[output].values) / (2.0 * h)
            size = float(np.abs(expected).max())
            assert size > 0.0, key
            check_close(f"{output} by {key}", found[output].values[..., k], expected, 1e-5 * size)
