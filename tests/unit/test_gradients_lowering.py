"""Derivatives of what a march takes by the keys of a case, and the differences that find them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError
from tautline.gradients.arrays import UnknownTangentsError
from tautline.gradients.chain.runs import ChainRuns
from tautline.gradients.differences import Changed, derivatives
from tautline.gradients.directions import Directions
from tautline.gradients.dual_runs import tangents_of_numbers
from tautline.gradients.keys import checked_keys, key_size, key_value, number_keys
from tautline.gradients.leaves import flat
from tautline.gradients.lowering import by_duals, differentiable_keys, tangents_along
from tautline.gradients.network.runs import NetworkRuns
from tautline.gradients.runs import check_case, runs_of
from tautline.gradients.scales import scales_of
from tautline.model.system.state import State
from tests.support.duals import far_apart
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


def test_all_numbers_of_a_case_are_named() -> None:
    names = number_keys(hoist())
    of_line = {"lines.line.stiffness", "lines.line.command.torques[1]"}
    assert of_line | {"initial.end_velocity[1]", "run.duration", "gravity"} <= {*names}
    assert not {"lines.line.elements", "run.step", "lines.line.law"} & {*names}
    assert checked_keys(hoist(), names) == names


def test_keys_that_are_listed_are_not_refused() -> None:
    """Those that are left out are refused, each with a sentence."""
    case = hoist()
    names = differentiable_keys(case)
    runs = runs_of(case, names)
    found, _ = tangents_along(Directions.single(case, names), case, lambda changes: runs.begun(changes).numbers())
    assert found.shape[1] == len(names)
    assert {"lines.line.stiffness", "lines.line.command.torques[1]", "run.duration"} <= {*names}
    left_out = [key for key in number_keys(case) if key not in names]
    assert {"lines.line.viscosity", "lines.line.reel.spooled_strain", "initial.angular_velocity[0]"} <= {*left_out}
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


SWINGS = {"command.mean": 4.0, "command.amplitude": 0.01, "command.period": 0.1, "command.ramp": 0.02}
TABULATED = {"command.times": [0.0, 0.1, 0.2], "command.lengths": [4.0, 4.01, 4.0]}
POLYNOMIAL = {"command.knots": [0.0], "command.coefficients": [[4.0, 0.1]]}


@pytest.mark.parametrize(
    ("command", "key"),
    [
        (SWINGS, "command.mean"),
        (SWINGS, "initial.deployed"),
        (TABULATED, "command.lengths[0]"),
        (POLYNOMIAL, "command.coefficients[0][0]"),
    ],
)
@pytest.mark.parametrize("start", ["straight", "hanging", "equilibrium"])
def test_keys_that_another_part_refuses_alone_are_refused(command: dict[str, Any], key: str, start: str) -> None:
    """A length that is given begins at the one that is deployed; beside keys that may change, too."""
    own = {name.partition(".")[2]: x for name, x in command.items()}
    case = hoist({"command": {"kind": "length"} | own, "initial": {"kind": start, "deployed": 4.0}})
    for by in ([key], [key, "string.stiffness"], [key, "initial.deployed"]):
        with pytest.raises(InputError, match=r"changed by itself.*present deployed length"):
            tl.jacobian(case, ["body_position"], list(dict.fromkeys(by)))


def test_entries_of_one_table_are_refused_one_by_one() -> None:
    """The first length of a table is the one that is deployed; the others change by themselves."""
    own = {name.partition(".")[2]: x for name, x in TABULATED.items()}
    case = hoist({"command": {"kind": "length"} | own})
    assert np.isfinite(tl.jacobian(case, ["body_position"], ["command.lengths[1]"]).body_position).all()


def test_cases_without_derivatives_are_refused() -> None:
    with pytest.raises(InputError, match="table, got a function"):
        check_case(hoist().with_(command=tl.Torque(lambda t: 1.0)))
    with pytest.raises(InputError, match="expected a Case"):
        check_case("crane.toml")  # type: ignore[arg-type]


BOX = tl.RigidBody.box(0.5, (0.2, 0.3, 0.4), (0.0, 0.1, 0.2))
OF_CHAIN = [
    *("gravity", "body.mass", "string.density", "string.stiffness", "string.length", "run.duration"),
    *("reel.inertia_mass", "reel.drum_radius", "reel.guide_length"),
]
OF_START = ["initial.deployed", "initial.end_velocity[0]", "initial.angular_velocity[1]"]
OF_STATE = [f"initial.lines.line.{key}" for key in ("nodes[2][0]", "node_velocities[3][2]", "reeled_length")]
HANGING = {"initial": {"kind": "hanging", "deployed": 4.0, "end_velocity": [0.3, 0.0, 0.0]}}


@pytest.mark.parametrize(
    ("command", "own"),
    [
        ({"kind": "locked"}, []),
        ({"kind": "torque", "torque": 1.5}, ["command.torque"]),
        ({"kind": "torque", "times": [-1.0, 2.0], "torques": [1.0, 2.0]}, ["command.torques[1]", "command.times[1]"]),
        ({"kind": "impedance", "length": 3.8, "stiffness": 30.0, "damping": 4.0}, ["command.damping"]),
    ],
    ids=["locked", "torque", "table", "impedance"],
)
@pytest.mark.parametrize("start", ["straight", "hanging", "state"])
def test_dual_numbers_are_what_differences_find(command: dict[str, Any], own: list[str], start: str) -> None:
    """From keys to the kernels' numbers and the first sample: every key here is known to dual numbers."""
    case = hoist({"command": command} | (HANGING if start == "hanging" else {}), BOX)
    keys = [*OF_CHAIN, *own, *([] if start == "state" else OF_START)]
    if start == "state":  # whose ends do not move with keys of the body and of the reel
        case, keys = case.with_(start=case.state()), [key for key in [*keys, *OF_STATE] if key != "body.mass"]
    runs = runs_of(case, keys)
    assert isinstance(runs, ChainRuns)
    begun = runs.begun({})
    numbers = begun.numbers()
    scales = scales_of(numbers)
    found = tangents_of_numbers(runs, begun, Directions.single(runs.case, keys), scales)
    expected, _ = tangents_along(Directions.single(case, keys), case, lambda changes: runs.beside(changes).numbers())
    for k, key in enumerate(keys):
        assert far_apart(found[:, k], expected[:, k], numbers, scales) < 1e-8, key


OF_ROBOT = [
    *("bodies.platform.mass", "bodies.platform.center_of_mass[0]", "lines.north-east.stiffness"),
    *("lines.north-west.density", "lines.south-east.start_point[1]", "lines.north-east.reel.drum_radius", "gravity"),
    *("lines.north-east.command.speed", "initial.bodies.platform.velocity[1]", "run.duration"),
]
OF_CRANE = [
    *("bodies.hook.mass", "bodies.load.center_of_mass[1]", "lines.hoist.length", "lines.hoist.damping_ratio"),
    *("initial.bodies.load.position[2]", "initial.lines.hoist.deployed", "lines.sling.start_point[2]"),
    *("lines.hoist.reel.inertia", "lines.hoist.command.speed", "bodies.hook.sides[0]", "gravity"),
]
OF_THROW = [
    *("bodies.ball.mass", "bodies.box.sides[1]", "lines.cord.stiffness", "lines.cord.density"),
    *("initial.bodies.ball.velocity[0]", "initial.bodies.ball.position[1]"),
]
AT_REST = {"initial": {"kind": "equilibrium", "deployed": 4.0}, "command": {"kind": "locked"}}


@pytest.mark.parametrize(
    ("name", "keys"), [("cable-robot", OF_ROBOT), ("hook-and-load", OF_CRANE), ("thrown-bodies", OF_THROW)]
)
def test_dual_numbers_of_networks_are_what_differences_find(name: str, keys: list[str]) -> None:
    case = tl.load(name)
    runs = NetworkRuns(case.with_({"run.duration": 4.0 * case.run.interval()}))
    keys = [key for key in keys if key in number_keys(case)]
    assert len(keys) > 4
    _compare(runs, keys)


@pytest.mark.parametrize("on_chain", [False, True])
def test_dual_numbers_of_a_line_at_rest_are_what_differences_find(on_chain: bool) -> None:
    """The state of rest moves as its stiffness has it; so do momenta of what moves."""
    fluid = {"fluid": {"density": 1000.0, "drag_area": 0.01, "flow": [0.1, 0.4, 0.0], "volume": 1e-4}}
    case = hoist(AT_REST | fluid | {"string.diameter": 0.01, "string.viscosity": 0.05}, BOX)
    keys = ["body.mass", "string.density", "string.stiffness", "fluid.density", "fluid.drag_area", "initial.deployed"]
    _compare(ChainRuns(case) if on_chain else NetworkRuns(case), [case.key(key).text for key in keys])


OF_SHIP = [
    *("bodies.ship.position[1]", "bodies.load.mass", "lines.hoist.start_point[2]", "lines.hoist.stiffness"),
    *("lines.hoist.reel.drum_radius", "initial.deployed", "gravity", "run.duration"),
    *("initial.bodies.ship.position[0]", "initial.bodies.load.velocity[1]"),
]
OF_ITS_MOTION = ["angles[1]", "path.heading", "path.height", "path.translations[3][2]", "path.rotations[4][0]"]


@pytest.mark.parametrize("start", ["hanging", "state"])
def test_dual_numbers_of_bodies_that_turn_are_what_differences_find(start: str) -> None:
    """Of a ship, whose place and attitude are prescribed; keys by which it moves otherwise are left to differences."""
    case = tl.load("ship-crane", {"run.duration": 0.2, "bodies.ship.angles": [0.02, 0.01, 0.3]})
    if start == "state":
        case = case.with_(start=case.state())
    runs = NetworkRuns(case)
    numbers = runs.begun({}).numbers()
    for key in (f"bodies.ship.{key}" for key in OF_ITS_MOTION):
        with pytest.raises(UnknownTangentsError):
            tangents_of_numbers(runs, runs.begun({}), Directions.single(runs.case, [key]), scales_of(numbers))
        found, warnings = tangents_along(
            Directions.single(case, [key]), case, lambda changes: runs.beside(changes).numbers()
        )
        assert np.isfinite(found).all() and not warnings, key
        # a state says how the ship is turned, and angles do not matter then
        assert found.any() == (start == "hanging" or "angles" not in key), key
    _compare(runs, [key for key in OF_SHIP if key in number_keys(case)])


@pytest.mark.parametrize("turning", [None, tl.motions.Spin((0.1, 0.2, 1.0), phase=0.3)])
def test_dual_numbers_do_not_know_how_a_body_is_turned(turning: tl.motions.Spin | None) -> None:
    """By itself, or where its turning begins."""
    mast = tl.Kinematic(turning=turning, angles=(0.02, 0.01, 0.3))
    line = tl.Line(tl.String(12.0, 0.3, 4e3), "mast", (2.0, 0.5, -3.0), "load", reel=tl.Reel(0.2, 0.5, 2.0), elements=2)
    system = tl.System({"mast": mast, "load": tl.RigidBody.point(3.0)}, {"rope": line})
    case = tl.Case(system, tl.Hanging({"rope": 6.0}), {}, tl.Run(duration=0.1, sample=0.02, step=4e-3))
    runs = NetworkRuns(case)
    begun = runs.begun({})
    with pytest.raises(UnknownTangentsError):
        tangents_of_numbers(
            runs, begun, Directions.single(runs.case, ["bodies.mast.angles[1]"]), scales_of(begun.numbers())
        )
    _compare(runs, ["bodies.load.mass", "lines.rope.stiffness", "bodies.mast.position[0]", "lines.rope.start_point[0]"])


def _compare(runs: Any, keys: list[str]) -> None:
    begun = runs.begun({})
    numbers = begun.numbers()
    scales = scales_of(numbers)
    found = tangents_of_numbers(runs, begun, Directions.single(runs.case, keys), scales)
    expected, _ = tangents_along(
        Directions.single(runs.case, keys), runs.case, lambda changes: runs.beside(changes).numbers()
    )
    for k, key in enumerate(keys):
        assert far_apart(found[:, k], expected[:, k], numbers, scales) < 1e-8, key


@pytest.mark.parametrize(
    "key", ["string.viscosity", "reel.coulomb_friction", "initial.reel_speed", "body.center_of_mass[0]"]
)
def test_dual_numbers_know_where_they_do_not_know(key: str) -> None:
    """Where a part of the model is switched on, and where a body hangs otherwise, differences are taken or refuse."""
    case = (
        hoist({"command": {"kind": "locked"}} | HANGING, BOX)
        if "center" in key
        else hoist({"command": {"kind": "locked"}})
    )
    runs: Any = runs_of(case, [key])
    begun = runs.begun({})
    with pytest.raises(UnknownTangentsError):
        tangents_of_numbers(runs, begun, Directions.single(runs.case, [key]), scales_of(begun.numbers()))


def test_a_key_that_is_a_switch_leaves_others_of_its_section_to_dual_numbers() -> None:
    case, keys = hoist(), ["string.stiffness", "string.viscosity", "string.density"]
    runs: Any = runs_of(case, keys)
    begun = runs.begun({})
    scales, tangents = scales_of(begun.numbers()), partial(tangents_of_numbers, runs, begun)
    columns, unknown = by_duals(Directions.single(case, keys), case, tangents, scales)
    assert unknown == [1] and key_value(case, keys[1]) == 0.0
    np.testing.assert_array_equal(columns[:, [0, 2]], tangents(Directions.single(case, keys[::2]), scales))


def test_a_refused_key_leaves_others_of_its_section_to_dual_numbers() -> None:
    """What they do not know is found key by key where a section is refused."""
    case, keys = hoist(), ["string.stiffness", "string.density", "body.mass"]
    scales, tried = scales_of(runs_of(case, keys).begun({}).numbers()), []

    def tangents(along: Directions, scales: Any) -> np.ndarray:
        tried.append(along.names)
        if keys[1] in along.names:
            raise UnknownTangentsError(keys[1])
        return np.full((len(scales.groups), len(along.names)), float(len(along.names)))

    columns, unknown = by_duals(Directions.single(case, keys), case, tangents, scales)
    assert unknown == [1] and set(tried) == {tuple(keys), tuple(keys[:2]), *((key,) for key in keys)}
    np.testing.assert_array_equal(columns[0], [1.0, 0.0, 1.0])


def test_by_a_key_that_makes_a_start_one_that_is_searched_for() -> None:
    """A line that is no longer tied to the origin of the frame of its body makes a network of a chain that hangs."""
    case = hoist({"initial": {"kind": "hanging", "deployed": 4.0}, "run.duration": 0.04}, BOX)
    key, far = "lines.line.end_point[2]", 1e-4
    found = tl.jacobian(case, ["body_position"], [key]).body_position.values[..., 0]
    up, down = (tl.simulate(case.with_({key: x})).body_position.values for x in (far, -far))
    expected = (up - down) / (2.0 * far)
    assert np.abs(expected).max() > 0.5
    # curvature over the change, and rounding of the search over it
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=0.0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("start", ["hanging", "equilibrium"])
def test_a_reel_that_begins_to_turn_takes_a_line_at_rest_with_it(start: str) -> None:
    case = hoist({"initial": {"kind": start, "deployed": 4.0, "reel_speed": 0.0}}).with_({"run.duration": 0.04})
    found = tl.jacobian(case, ["body_position"], ["initial.reel_speed"]).body_position.values[..., 0]
    up, down = (tl.simulate(case.with_({"initial.reel_speed": x})).body_position.values for x in (1e-4, -1e-4))
    expected = (up - down) / 2e-4
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=0.0, atol=1e-5 * np.abs(expected).max())


def test_keys_that_a_chain_does_not_have_are_those_of_the_network() -> None:
    """Of another point of the body; those of its state are keys of a chain."""
    case = hoist({}, tl.RigidBody.box(0.5, (0.2, 0.3, 0.4), (0.0, 0.1, 0.2)))
    case = case.with_(start=case.state())
    for key, on_chain in (
        ("initial.lines.line.nodes[2][0]", True),
        ("initial.bodies.body.velocity[0]", True),
        ("initial.bodies.body.angular_velocity[1]", True),
        ("lines.line.end_point[1]", False),
    ):
        assert isinstance(runs_of(case, ["string.stiffness", key]), ChainRuns) == on_chain
        found = tl.jacobian(case, ["body_position"], [key]).body_position.values[..., 0]
        value, e = key_value(case, key), 1e-5
        up, down = (tl.simulate(case.with_({key: value + x})).body_position.values for x in (e, -e))
        slope = (up - down) / (2.0 * e)
        assert np.abs(found - slope).max() <= 1e-6 * np.abs(slope).max()


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
    runs, other = runs_of(case, [key]), case.with_({key: 0.4})
    for _ in range(2):
        alone = runs_of(other, [], runs.steps).begun({})
        np.testing.assert_array_equal(flat(runs.begun({key: 0.4}).numbers()), flat(alone.numbers()))


def test_a_command_that_does_not_fit_the_start_is_refused_as_by_itself() -> None:
    case = hoist({"command": {"kind": "length", "times": [0.0, 0.3], "lengths": [4.0, 3.9]}})
    with pytest.raises(InputError, match=r"present deployed length"):
        runs_of(case, ["command.lengths[0]"]).begun({"command.lengths[0]": 3.8})


def test_a_component_that_is_zero_but_for_rounding_is_changed_as_a_zero() -> None:
    """States of a simulation have components of 1e-17; differences over such distances are all rounding."""
    start = hoist().state()
    line = start.lines["line"]
    velocities = line.node_velocities.copy()
    velocities[2] = (0.0, 0.5, 0.0)

    def with_velocities() -> tl.Case:
        own = dataclasses.replace(line, node_velocities=velocities.copy())
        return hoist().with_(start=State(start.bodies, {"line": own}))

    clean = with_velocities()
    velocities[2, 0], velocities[1, 0] = 1.4e-17, -3e-18
    rounded = with_velocities()
    for node, size in ((2, 0.5), (1, 1.0)):
        key = f"initial.lines.line.node_velocities[{node}][0]"
        assert key_size(clean, key) == key_size(rounded, key) == size
        runs = [runs_of(x, [key]) for x in (clean, rounded)]
        found = [
            tangents_along(Directions.single(x, [key]), x, lambda changes, run=run: run.begun(changes).numbers())[0]  # type: ignore[misc]
            for x, run in zip((clean, rounded), runs, strict=True)
        ]
        assert found[0].any()
        np.testing.assert_allclose(found[1], found[0], rtol=1e-9, atol=1e-9)
