"""Derivatives of what a march takes by the keys of a case, and the differences that find them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError
from tautline.gradients.differences import Changed, derivatives
from tautline.gradients.given_starts import GivenStart
from tautline.gradients.leaves import flat, leaves, with_leaves
from tautline.gradients.lowering import checked_keys, differentiable_keys, key_size, number_keys, tangents_by_keys
from tautline.gradients.outputs import carried_setting
from tautline.gradients.scales import scales_of
from tautline.gradients.setting import FrozenRuns, begin_frozen, check_case, steps_of
from tests.support import chains
from tests.support.hoist import hoist


def slope(function: Callable[[float], Any], size: float = 1.0) -> float:
    """Derivative at 0 of a function of one number."""

    def at(x: float) -> Changed:
        values = (float(function(x)),)
        return Changed.of(values)

    return float(derivatives(at, size, scales_of((1.0,)), at(0.0), "key").values[0])


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (np.exp, 1.0),
        (lambda x: np.sin(3.0 * x + 0.4), 3.0 * np.cos(0.4)),
        (lambda x: 1.0 / (2.0 + x), -0.25),
        (lambda x: 5.0 + 0.0 * x, 0.0),
        (lambda x: (x - 3.0) ** 2, -6.0),
        (lambda x: np.inf, 0.0),
    ],
)
def test_differences_are_exact_to_rounding(function: Callable[[float], Any], expected: float) -> None:
    assert slope(function) == pytest.approx(expected, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("function", [abs, lambda x: max(x, 0.0) + 1.0, lambda x: x**2 * np.sign(x) + abs(x), np.floor])
def test_no_derivative_at_a_kink(function: Callable[[float], Any]) -> None:
    assert np.isnan(slope(function))


def test_a_kink_nearby_is_kept_away_from() -> None:
    assert slope(lambda x: np.exp(x) + max(x - 2e-3, 0.0)) == pytest.approx(1.0, rel=1e-9)


def test_one_side_will_do_at_the_edge_of_what_is_allowed() -> None:
    def root(x: float) -> float:
        if x < 0.0:
            raise InputError("key: expected no less")
        return float(np.exp(2.0 * x))

    assert slope(root) == pytest.approx(2.0, rel=1e-10)


def test_a_key_that_cannot_be_changed_says_why() -> None:
    def stubborn(x: float) -> float:
        if x != 0.0:
            raise InputError("key: expected 7")
        return 1.0

    with pytest.raises(InputError, match=r"changed by itself.*expected 7"):
        slope(stubborn)


def test_leaves_are_put_back_in_their_places() -> None:
    tree = begin_frozen(hoist(), steps_of(hoist())).setting
    numbers = leaves(tree)
    again = with_leaves(tree, numbers)
    assert again.par == tree.par and again.plan.h == tree.plan.h
    doubled = with_leaves(tree, [2.0 * x for x in numbers])
    assert doubled.par.EA == 2.0 * tree.par.EA and doubled.par.N == tree.par.N


def carried(case: tl.Case, by: list[str]) -> Any:
    """The setting of a case, with derivatives by keys."""
    from tautline.gradients.leaves import split

    steps = steps_of(case)
    columns, remarks = tangents_by_keys(case, by, lambda other: begin_frozen(other, steps).setting)
    assert not remarks
    setting = begin_frozen(case, steps).setting
    return carried_setting(setting, split(setting, columns))


def test_keys_become_numbers_of_the_kernels() -> None:
    case = hoist({"reel.motor_inertia": 0.02, "reel.gear_ratio": 3.0})
    reel = case.pendulum.reel
    setting = carried(case, ["reel.gear_ratio", "reel.drum_radius", "string.stiffness", "command.torques[1]"])
    by_gear = 2.0 * reel.motor_inertia * reel.gear_ratio / reel.drum_radius**2
    by_radius = -2.0 * reel.motor_inertia * reel.gear_ratio**2 / reel.drum_radius**3
    np.testing.assert_allclose(setting.par.kappa.tangent, [by_gear, by_radius, 0.0, 0.0], rtol=1e-11)
    np.testing.assert_allclose(setting.par.EA.tangent, [0.0, 0.0, 1.0, 0.0], rtol=1e-12)
    np.testing.assert_allclose(setting.command.torques.tangent[:, 3], [0.0, 1.0, 0.0], atol=1e-12)


def test_steps_are_a_part_of_the_duration_and_of_nothing_else() -> None:
    case = hoist({"run.step": "auto"})
    setting = carried(case, ["run.duration", "string.stiffness"])
    np.testing.assert_allclose(setting.plan.h.tangent, [setting.plan.h.value / case.run.duration, 0.0], rtol=1e-12)


def test_a_start_at_rest_moves_with_what_hangs() -> None:
    case = hoist({"initial": {"kind": "hanging", "deployed": 4.0}})
    setting = carried(case, ["string.stiffness", "body.mass"])
    nodes = setting.motion.nodes.value.reshape(len(setting.motion.nodes.value), 3, -1)[0, 2]
    by_mass = setting.motion.nodes.tangent.reshape(len(setting.motion.nodes.value), 3, -1, 2)[0, 2, :, 1]
    string = case.pendulum.string
    N = setting.par.N
    np.testing.assert_allclose(by_mass[N], 4.0 * case.pendulum.gravity / string.stiffness, rtol=1e-9)
    assert nodes[N] > 4.0


def test_all_numbers_of_a_case_are_named() -> None:
    names = number_keys(hoist())
    assert {"string.stiffness", "initial.end_velocity[1]", "command.torques[1]", "run.duration", "gravity"} <= {*names}
    assert not {"run.elements", "run.step", "string.law"} & {*names}
    assert checked_keys(hoist(), names) == names


def test_keys_that_are_listed_are_not_refused() -> None:
    """Those that are left out are refused, each with a sentence."""
    case = hoist()
    names, steps = differentiable_keys(case), steps_of(case)
    found, _ = tangents_by_keys(case, names, lambda other: begin_frozen(other, steps).numbers())
    assert found.shape[1] == len(names) and {"string.stiffness", "command.torques[1]", "run.duration"} <= {*names}
    left_out = [key for key in number_keys(case) if key not in names]
    assert {"string.viscosity", "reel.spooled_strain", "initial.angular_velocity[0]"} <= {*left_out}
    for key in left_out:
        with pytest.raises(InputError, match="expected"):
            tl.jacobian(case, ["tension"], [key])


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("string.stifness", "no such key"),
        ("string.law", "expected a number"),
        ("run.step", "of the method"),
        ("initial.end_velocity[7]", "expected a key with a number"),
        ("body.width", "no such key"),
        ("nonsense here", "expected a key of a scenario"),
    ],
)
def test_bad_keys_are_refused(key: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        tl.jacobian(hoist(), ["tension"], [key])


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("string.viscosity", "switched"),
        ("initial.angular_velocity[0]", r"\(0, 0, 0\) for a point"),
        ("reel.spooled_strain", "unless guide_law is 'stretched'"),
    ],
)
def test_keys_at_which_the_model_is_another_are_refused(key: str, sentence: str) -> None:
    with pytest.raises(InputError, match=f"{key.partition('[')[0]}.*{sentence}"):
        tl.jacobian(hoist(), ["tension"], [key])


def test_cases_without_derivatives_are_refused() -> None:
    with pytest.raises(InputError, match="table, got a function"):
        check_case(hoist().with_(command=tl.Torque(lambda t: 1.0)))
    with pytest.raises(InputError, match="expected a Case"):
        check_case("crane.toml")  # type: ignore[type-var]


@pytest.mark.parametrize("command", [{"kind": "locked"}, {"kind": "torque", "torque": 1.5}])
def test_a_start_of_nodes_is_differentiated_without_reading_the_case_again(command: dict[str, Any]) -> None:
    box = tl.RigidBody.box(0.5, (0.2, 0.3, 0.4), (0.0, 0.1, 0.2))
    case = hoist({"command": command}, box)
    case = case.with_(initial=dataclasses.replace(case.state(), angular_velocity=(0.1, 0.2, -0.3)))
    steps = steps_of(case)
    begun = begin_frozen(case, steps)
    assert isinstance(case.initial, chains.ChainState)
    start = GivenStart(case.initial, begun)
    by = ["initial.nodes[2][0]", "initial.nodes[4][1]", "initial.node_velocities[3][2]", "initial.angular_velocity[1]"]
    assert all(map(start.knows, by)) and not start.knows("initial.attitude[0][0]") and not start.knows("gravity")
    found = [tangents_by_keys(case, by, lambda x: begin_frozen(x, steps).numbers(), y)[0] for y in (start, None)]
    assert not found[0][start.sampled].any()
    found[0][start.sampled] = np.stack([start.sample_column(name) for name in by], axis=1)
    largest = np.abs(found[1]).max(axis=0)
    np.testing.assert_allclose(found[0] / largest, found[1] / largest, atol=1e-9)
    with pytest.raises(InputError, match=r"initial.nodes\[0\]\[1\]: expected a key that can be changed by itself"):
        tl.jacobian(case, ["tension"], ["initial.nodes[0][1]"])


@pytest.mark.parametrize(
    ("command", "key"),
    [
        ({"kind": "torque", "times": [0.0, 0.1], "torques": [1.0, 2.0]}, "command.torques[1]"),
        ({"kind": "length", "target": 3.95, "speed": 0.47, "acceleration": 10.0, "jerk": 410.0}, "command.speed"),
        ({"kind": "impedance", "length": 3.8, "stiffness": 30.0, "damping": 4.0}, "command.stiffness"),
    ],
)
def test_another_command_alone_takes_the_rest_over(command: dict[str, Any], key: str) -> None:
    case = hoist({"command": command})
    steps = steps_of(case)
    runs, other = FrozenRuns(case, steps), case.with_({key: 0.4})
    for _ in range(2):
        np.testing.assert_array_equal(flat(runs.begun(other).numbers()), flat(begin_frozen(other, steps).numbers()))
    assert other.state() is case.state()


def test_a_command_that_does_not_fit_the_start_is_refused_as_by_itself() -> None:
    case = hoist({"command": {"kind": "length", "times": [0.0, 0.3], "lengths": [4.0, 3.9]}})
    with pytest.raises(InputError, match=r"present deployed length"):
        FrozenRuns(case, steps_of(case)).begun(case.with_({"command.lengths[0]": 3.8}))


def test_a_component_that_is_zero_but_for_rounding_is_changed_as_a_zero() -> None:
    """States of a simulation have components of 1e-17; differences over such distances are all rounding."""
    start = hoist().state()
    velocities = start.node_velocities.copy()
    velocities[-1] = (0.0, 0.5, 0.0)
    clean = hoist().with_(initial=dataclasses.replace(start, node_velocities=velocities.copy()))
    velocities[-1, 0], velocities[1, 0] = 1.4e-17, -3e-18
    rounded = hoist().with_(initial=dataclasses.replace(start, node_velocities=velocities))
    last, steps = len(velocities) - 1, steps_of(clean)
    for key, size in ((f"initial.node_velocities[{last}][0]", 0.5), ("initial.node_velocities[1][0]", 1.0)):
        assert key_size(clean, key) == key_size(rounded, key) == size
        found = [tangents_by_keys(x, [key], lambda y: begin_frozen(y, steps).numbers())[0] for x in (clean, rounded)]
        assert found[0].any()
        np.testing.assert_allclose(found[1], found[0], rtol=1e-9, atol=1e-9)
