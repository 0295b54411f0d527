"""Derivatives of runs of systems: against differences of runs, by states, and where there are none."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import tautline as tl
from tautline.errors import InputError
from tautline.gradients.keys import key_value
from tautline.gradients.segments import Segments
from tests.support.crane import ELEMENTS, crane
from tests.support.known_systems import check_fit_finds
from tests.support.leaning_ball import leaning_ball

OUTPUTS = ["body_position", "angular_velocity", "tension", "start_tension", "reeled_length", "torque", "energy"]
BY = ["bodies.hook.mass", "lines.stay.stiffness", "lines.hoist.command.torque", "bodies.jib.path.amplitude[2]"]


def linear_crane(**changes: Any) -> tl.Case:
    """A crane whose ropes are not at a kink where they start, for some steps."""
    laws = {f"lines.{name}.law": "linear" for name in ELEMENTS}
    return crane().with_({**laws, "run.duration": 0.04, "run.sample": 0.02, "run.step": 5e-4, **changes})


def test_derivatives_are_those_of_runs() -> None:
    case = linear_crane()
    found = tl.jacobian(case, OUTPUTS, BY)
    assert found.status == "completed" and all(np.isfinite(x).all() for x in found.data_vars.values())
    for k, key in enumerate(BY):
        value = key_value(case, key)
        up, down = (tl.simulate(case.with_({key: value + sign * 1e-5 * value})) for sign in (1.0, -1.0))
        for name in OUTPUTS:
            expected = (up[name].values - down[name].values) / (2e-5 * value)
            error = np.abs(found[name].values[..., k] - expected).max()
            assert error <= 1e-6 * np.abs(expected).max() + 1e-9 * np.abs(up[name].values).max() / value, (key, name)


def test_a_number_and_its_gradient_by_many_keys() -> None:
    case = linear_crane(**{"lines.hoist.command": {"kind": "locked"}})
    by = [*BY[:2], *(f"initial.bodies.{name}.velocity[{i}]" for name in ("hook", "load") for i in range(3)), "gravity"]
    found = tl.value_and_gradient(case, tl.objectives.Final("body_position[1, 2]") ** 2, by)
    run = tl.jacobian(case, ["body_position"], by)
    depth, slopes = (run[name].values[-1, 1, 2] for name in ("body_position_value", "body_position"))
    assert len(by) > 8 and found.value == depth**2
    np.testing.assert_allclose(found.gradient, 2.0 * depth * slopes, rtol=1e-12)


@pytest.mark.parametrize("other", [None, 0.03])
def test_starts_at_rest_move_along_with_what_holds_them(other: float | None) -> None:
    """What one body leads is carried along; what hangs between two that do not move alike starts still."""
    rope = tl.String(2.0, density=0.1, stiffness=5e3)
    reaches = {"left": 0.05} | ({} if other is None else {"right": other})
    path = {name: tl.motions.Sine(amplitude=(0.0, 0.0, x), period=0.4) for name, x in reaches.items()}
    places = dict(zip(path, (-1.0, 1.0), strict=False))
    bodies = {name: tl.Kinematic(position=(x, 0.0, 0.0), path=path[name]) for name, x in places.items()}
    lines = {f"{name}-rope": tl.Line(rope, start=name, end="load", elements=3) for name in path}
    system = tl.System({"load": tl.RigidBody.point(2.0), **bodies}, lines)
    start = tl.Placed({"load": (0.0, 0.0, 1.8)}, settle=True)
    case = tl.Case(system, start, run=tl.Run(duration=0.02, sample=0.01, step=5e-4))
    by = ["bodies.left.path.amplitude[2]", "bodies.left.path.period"]
    found = tl.jacobian(case, ["body_velocity", "end_tension"], by)
    for k, key in enumerate(by):
        value = key_value(case, key)
        up, down = (tl.simulate(case.with_({key: value * (1.0 + x)})) for x in (1e-4, -1e-4))
        for name in ("body_velocity", "end_tension"):
            expected = (up[name].values - down[name].values) / (2e-4 * value)
            np.testing.assert_allclose(found[name].values[..., k], expected, atol=1e-6 * np.abs(expected).max())


def test_bodies_spin_no_farther_than_they_have_to_where_nothing_holds_them() -> None:
    """Turns have no part about the tether, nor does that part change, also by keys that move the axis in the body."""
    case = leaning_ball()

    def attitude(key: str, value: float) -> Any:
        return np.array(case.with_({key: value}).state().bodies["ball"].attitude)

    for across in (0.0, 2.0):
        R = attitude("fluid.flow[1]", across)
        axial = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        assert np.linalg.norm(axial) > 0.5 and abs(axial @ R[:, 2]) < 1e-12
    keys = ["fluid.flow[1]", "bodies.ball.center_of_mass[0]", "bodies.ball.center_of_mass[1]"]
    found = tl.jacobian(case, ["attitude"], keys)["attitude"].values[0, 0]
    for k, key in enumerate(keys):
        expected = (attitude(key, 1e-4) - attitude(key, -1e-4)) / 2e-4
        np.testing.assert_allclose(found[..., k], expected, atol=1e-5 * np.abs(expected).max(), err_msg=key)


def test_what_hangs_on_a_body_turns_along_where_nothing_holds_it() -> None:
    """A hook that holds a weight aside and a box, from whose corner a weight hangs, in still air."""
    hook = tl.RigidBody.box(1.0, (0.1, 0.1, 0.2), (0.0, 0.0, 0.0))
    box = tl.RigidBody.box(2.0, (0.2, 0.3, 0.4), (0.02, 0.03, 0.2))
    points = {"weight": tl.RigidBody.point(0.3), "tail": tl.RigidBody.point(0.2)}
    string = tl.String(1.0, density=0.01, stiffness=2e3)
    lines = {
        "rope": tl.Line(string, end="hook", end_point=(0.01, 0.0, -0.1), elements=2),
        "aside": tl.Line(string, start="hook", start_point=(-0.07, 0.03, 0.1), end="weight", elements=2),
        "down": tl.Line(
            string, start="hook", start_point=(0.03, 0.02, 0.1), end="box", end_point=(0.03, -0.02, -0.1), elements=2
        ),
        "last": tl.Line(string, start="box", start_point=(0.1, 0.1, 0.1), end="tail", elements=2),
    }
    angles = {"hook": (0.1, 0.3, 0.2), "box": (0.2, 0.3, 0.5)}
    places = {"hook": (0.1, 0.1, 1.1), "box": (0.2, 0.3, 2.2), "weight": (0.0, 0.2, 2.1), "tail": (0.3, 0.3, 3.3)}
    bodies = {
        name: tl.BodyState(place, attitude=Rotation.from_rotvec(angles.get(name, np.zeros(3))).as_matrix())
        for name, place in places.items()
    }
    system = tl.System({"hook": hook, "box": box, **points}, lines)
    case = tl.Case(system, tl.Placed(bodies, settle=True), run=tl.Run(duration=0.01, sample=0.01, step=1e-4))

    def attitudes(changes: dict[str, float]) -> Any:
        state = case.with_(changes).state()
        return np.array([state.bodies[name].attitude for name in angles])

    for R, name in zip(attitudes({}), angles, strict=True):
        turn = Rotation.from_matrix(R @ np.array(bodies[name].attitude).T).as_rotvec()
        assert np.linalg.norm(turn) > 0.1 and abs(turn[2]) < 1e-9
    keys = [
        "bodies.hook.center_of_mass[1]",
        "bodies.box.mass",
        "lines.aside.start_point[0]",
        "lines.last.start_point[1]",
    ]
    found = tl.jacobian(case, ["attitude"], keys)["attitude"].values[0, :2]
    for k, key in enumerate(keys):
        value = key_value(case, key)
        expected = (attitudes({key: value + 1e-4}) - attitudes({key: value - 1e-4})) / 2e-4
        np.testing.assert_allclose(found[..., k], expected, atol=1e-5 * np.abs(expected).max(), err_msg=key)


HOLDING = [f"lines.{point}[{i}]" for point in ("rope.end_point", "tail.start_point") for i in (0, 1)]


@pytest.mark.parametrize("key", [*HOLDING, "bodies.ball.applied_force.moments[0][2]"])
def test_keys_that_take_hold_of_a_free_spin_have_no_derivatives(key: str) -> None:
    """A tail beside the tether turns the ball into the plane of the wind, and a moment turns it forever."""
    case = leaning_ball(
        applied_forces={"ball": tl.AppliedForce(moment=([0.0, 1.0], [(0.0, 0.0, 0.0), (0.0, 0.0, 0.1)]))}
    )
    with pytest.raises(InputError, match=rf"{re.escape(key)}: expected a key that leaves 'ball' as free to spin"):
        tl.jacobian(case, ["attitude"], ["fluid.flow[1]", key])


def test_keys_that_leave_a_spin_held_have_derivatives() -> None:
    """The tail stands beside the tether already."""
    case, key = leaning_ball().with_({"lines.tail.start_point[0]": 0.02}), "lines.tail.start_point[1]"
    up, down = (np.array(case.with_({key: x}).state().bodies["ball"].attitude) for x in (1e-4, -1e-4))
    found = tl.jacobian(case, ["attitude"], [key])["attitude"].values[0, 0, ..., 0]
    np.testing.assert_allclose(found, (up - down) / 2e-4, atol=1e-4 * np.abs(found).max())


@pytest.mark.parametrize("command", [{"kind": "locked"}, {"kind": "speed", "times": [0, 0.06], "payouts": [0.0, 0.3]}])
def test_torques_that_hold_a_drum_have_derivatives(command: dict[str, Any]) -> None:
    """They follow from strain, weight and drum, all of which change."""
    case = linear_crane(**{"lines.hoist.command": command, "fluid": {"density": 1.2}})
    by = ["lines.hoist.density", "gravity", "fluid.density", "initial.bodies.load.velocity[2]"]
    found = tl.jacobian(case, ["torque", "power"], by)
    for k, key in enumerate(by):
        value = key_value(case, key)
        size = abs(value) or 1.0
        e = 1e-4 * size
        runs = [tl.simulate(case.with_({key: value + step * e})) for step in (-2.0, -1.0, 1.0, 2.0)]
        for name in ("torque", "power"):
            values = [run[name].values for run in runs]
            expected = (values[0] - 8.0 * values[1] + 8.0 * values[2] - values[3]) / (12.0 * e)
            error = np.abs(found[name].values[..., k] - expected).max()
            assert error <= 1e-8 * (np.abs(expected).max() + np.abs(values[0]).max() / size), (key, name)


def test_torques_that_turn_a_drum_along_with_its_body_have_derivatives() -> None:
    """Of a drum on the hook, which spins up, from the first sample on; also from `Segments`."""
    spinning = {"initial.bodies.hook.angular_velocity": [0.3, 1.0, -0.4], "lines.sling.command": {"kind": "locked"}}
    case = linear_crane(**spinning)
    by = ["lines.sling.reel.inertia_mass", "bodies.hook.mass", "initial.bodies.hook.angular_velocity[1]"]
    found = tl.jacobian(case, ["torque"], by)
    first = Segments(case, [0.0, 0.02], by, ["torque"]).first_outputs([key_value(case, key) for key in by])
    np.testing.assert_allclose(first["torque"].tangent, found["torque"].values[:1], rtol=1e-9, atol=1e-9)
    for k, key in enumerate(by):
        value = key_value(case, key)
        e = 1e-3 * abs(value)
        values = [tl.simulate(case.with_({key: value + step * e})).torque.values for step in (-2.0, -1.0, 1.0, 2.0)]
        expected = (values[0] - 8.0 * values[1] + 8.0 * values[2] - values[3]) / (12.0 * e)
        assert np.abs(expected[:, 1]).min() > 1e-4
        error = np.abs(found["torque"].values[..., k] - expected).max()
        assert error <= 1e-7 * (np.abs(expected).max() + np.abs(values[0]).max() / abs(value)), key


def test_segments_join_to_the_run_and_follow_states() -> None:
    case = linear_crane()
    segments = Segments(case, [0.0, 0.02, 0.04], [], ["body_position"])
    first = segments.march(0, segments.start, derivatives=False)
    second = segments.march(1, first.end)
    run = tl.simulate(case)
    ends = [first.outputs["body_position"][-1], second.outputs["body_position"][-1]]
    np.testing.assert_allclose(ends, run.body_position.values[1:], atol=1e-11)
    x, e = first.end, 1e-5
    dx = np.random.default_rng(3).normal(size=len(x)) * segments.coordinates.sizes(x)
    up, down = (segments.march(1, x + sign * e * dx, derivatives=False).end for sign in (1.0, -1.0))
    expected = (up - down) / (2.0 * e)
    assert np.abs(second.by_state @ dx - expected).max() <= 1e-6 * np.abs(expected).max()


def test_coordinates_and_states_give_each_other() -> None:
    found = Segments(linear_crane(), [0.0, 0.04], []).coordinates
    # two bodies that turn, inner nodes of three strings, and two reels
    assert found.size == len(found.names) == len(set(found.names)) == 2 * 12 + 6 * (4 + 1 + 2) + 2 * 2
    x = np.random.default_rng(1).normal(size=found.size) * 0.5
    np.testing.assert_allclose(found.of(found.state(x)), x, atol=1e-13)
    with pytest.raises(InputError, match="expected 70 coordinates"):
        found.state(x[:5])


@pytest.mark.long
def test_a_fit_finds_masses_and_stiffnesses_again() -> None:
    case = linear_crane(**{"run.duration": 0.1, "run.sample": 0.005})
    truth = {"bodies.load.mass": 55.0, "lines.stay.stiffness": 3.8e4}
    check_fit_finds(truth, case, "load", "stay")


@pytest.mark.long
def test_an_optimum_of_a_system_is_kept_by_a_plain_run() -> None:
    pytest.importorskip("casadi")
    table = {"kind": "torque", "times": [0.0, 0.1, 0.2], "torques": [150.0, 150.0, 150.0]}
    case = linear_crane(**{"lines.hoist.command": table, "run.duration": 0.2})
    found = tl.optimize(
        case,
        vary={"lines.hoist.command.torques": (0.0, 400.0)},
        minimize={"integral": "torque[0]^2"},
        subject_to=[tl.objectives.AtEnd("reel_speed[0]", 0.0, within=1e-6)],
        intervals=2,
    )
    run = tl.simulate(found.case.with_({"run.order": 4}))
    assert found.status == "completed" and abs(float(run.reel_speed[-1, 0])) < 1e-3
