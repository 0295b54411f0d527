"""Equilibrium and modes: what they take, what they refuse, what they say."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tautline as tl
from tautline.analysis.modes import displaced
from tautline.errors import InputError
from tautline.schema import MODES_SCHEMA
from tests.support import chains
from tests.support.at_rest import BODY, in_current
from tests.support.checking import check_rotation
from tests.support.hanging import system
from tests.support.systems import random_body


def test_without_a_load_it_hangs() -> None:
    pendulum = system(length=10.0, body=BODY)
    found = chains.equilibrium(pendulum, deployed=10.0, elements=7)
    rest = chains.hanging(pendulum, 10.0, 7)
    # but for the way over the body's center of mass
    np.testing.assert_allclose(found.state.nodes, rest.nodes, rtol=0.0, atol=1e-15)
    np.testing.assert_array_equal(found.state.attitude, rest.attitude)
    assert found.corrections == 0
    assert found.residual < 1e-12
    assert found.tension[0] == pytest.approx((0.1 + 0.025 * 10.0 * (1.0 - 0.5 / 7)) * 9.81)
    assert "in balance" in found.statics.message


def test_nothing_pulls_without_gravity() -> None:
    pendulum = system(length=10.0, gravity=0.0)
    found = chains.equilibrium(pendulum, 10.0, 4)
    assert not found.tension.any() and found.residual == 0.0
    np.testing.assert_allclose(found.state.nodes[:, 2], np.linspace(0.0, 10.0, 5))


def test_more_lift_than_weight_floats() -> None:
    """Up goes the string, and the body is turned over with it."""
    lift = tl.AppliedForce((0.0, 0.0, -8.0), point=BODY.center_of_mass)
    pendulum = dataclasses.replace(system(length=10.0, body=BODY), applied_force=lift)
    found = chains.equilibrium(pendulum, 10.0, 6)
    assert found.state.nodes[-1, 2] < -10.0
    assert (np.asarray(found.state.attitude) @ BODY.center_of_mass)[2] < -0.5
    assert (chains.modes(pendulum, found).growth_rate < 1e-4).all()


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1))
def test_any_horizontal_current_has_an_equilibrium(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, N = 10.0 ** rng.uniform(-1.0, 1.5), int(rng.integers(1, 30))
    string = {"density": 10.0 ** rng.uniform(-2.0, 1.0), "stiffness": 10.0 ** rng.uniform(2.0, 7.0)}
    pendulum = system(length=X, body=random_body(rng), **string)
    flow = np.array([*rng.normal(size=2), 0.0]) * 10.0 ** rng.uniform(-1.0, 1.0)
    found = chains.equilibrium(in_current(pendulum, flow, 10.0 ** rng.uniform(-3.0, 0.0)), X, N)
    size = float(np.abs(found.counted["drag"]).sum()) + (pendulum.body.mass + string["density"] * X) * 9.81
    reach = 1.0 + float(np.abs(found.state.nodes).max()) / X
    assert found.residual < 1e-8 * size + 1e-14 * reach * string["stiffness"] * N
    check_rotation(found.state.attitude, 1e-12)
    assert (found.tension >= 0.0).all()


def test_modes_about_a_state_count_the_loads_of_the_pendulum() -> None:
    """A string that hangs in a wind is not at rest; in still air it is, and its modes are those of the equilibrium."""
    still = dataclasses.replace(system(length=10.0), fluid=tl.Fluid(1.2, drag_area=0.1))
    hanging = chains.hanging(still, 10.0, 4)
    rest = chains.equilibrium(still, 10.0, 4)
    np.testing.assert_allclose(chains.modes(still, hanging).frequency, chains.modes(still, rest).frequency, rtol=1e-9)
    windy = dataclasses.replace(still, fluid=tl.Fluid(1.2, (3.0, 0.0, 0.0), drag_area=0.1))
    with pytest.raises(InputError, match=r"unbalanced force of 0\.54 N"):
        chains.modes(windy, hanging)


def test_arguments_of_modes_are_checked() -> None:
    pendulum = system(length=10.0)
    placed, rest = chains.as_system(pendulum, chains.hanging(pendulum, 10.0, 4))
    modes: Any = tl.modes
    for start, options, says in (
        ("rest", {}, "start: expected Straight, Hanging, AtEquilibrium, Placed or a state"),
        (rest, {"count": 0}, "count: expected a whole number"),
        (rest, {"reel": "loose"}, "reel: expected one of"),
        (chains.as_system(pendulum, chains.straight(pendulum, 10.0, 4))[1], {}, "unbalanced force"),
        (tl.Hanging(10.0, end_velocity=(1, 0, 0)), {"count": -1}, "count: expected a whole number"),
        (chains.as_system(pendulum, chains.hanging(pendulum, 10.0, 4, end_velocity=(1, 0, 0)))[1], {}, "that moves"),
    ):
        with pytest.raises(InputError, match=says):
            modes(placed, start, **options)
    with pytest.raises(InputError, match="system: expected a System"):
        modes(pendulum, rest)
    with pytest.raises(InputError, match="elements: expected a whole number from 1 to 1000"):
        chains.modes(pendulum, deployed=10.0, elements=1001)
    with pytest.raises(InputError, match="mode: expected a whole number from 1 to 12"):
        displaced(modes(placed, rest), 13, 0.1)


def test_modes_look_for_rest_near_a_start() -> None:
    """A start that is not at rest yet, and one that is: the same modes."""
    pendulum = tl.pendulum(
        tl.String(30.0, 0.1, 1e4, law="linear"), tl.Reel(0.2, 0.5, 1.0), tl.RigidBody.point(2.0), elements=6
    )
    rest = tl.modes(pendulum, tl.statics(pendulum, tl.Hanging(10.0)))
    for start in (tl.Hanging(10.0), tl.AtEquilibrium(10.0), tl.Straight(10.0, inclination=0.1)):
        np.testing.assert_allclose(tl.modes(pendulum, start).frequency, rest.frequency, rtol=1e-7)


def test_result_has_the_schema_and_the_counted_modes() -> None:
    result = chains.modes(system(length=10.0, body=BODY), deployed=10.0, elements=5)
    assert set(result.data_vars) == set(MODES_SCHEMA)
    assert result.sizes["mode"] == 18 and list(result.mode.values[:2]) == [1, 2]
    for name, variable in MODES_SCHEMA.items():
        assert result[name].dims == variable.dims and result[name].attrs["units"] == variable.units
    few = chains.modes(system(length=10.0, body=BODY), deployed=10.0, elements=5, count=4)
    np.testing.assert_allclose(few.frequency, result.frequency[:4], rtol=1e-10)
    np.testing.assert_allclose(few["shape"], result["shape"][:4], atol=1e-7)
    assert (np.diff(result.frequency) >= 0.0).all()
    for value in result.data_vars.values():
        assert value.dtype.kind == "U" or np.isfinite(value).all()


@pytest.mark.parametrize(("center", "rigid"), [((0.0, 0.0, 0.0), 3), ((0.1, 0.2, 0.3), 1)])
def test_turns_without_resistance_are_rigid(center: Any, rigid: int) -> None:
    body = tl.RigidBody.box(1.0, (0.2, 0.3, 0.4), center)
    result = chains.modes(system(length=5.0, body=body, stiffness=1e8), deployed=5.0, elements=30)
    kinds = list(result.kind.values)
    assert kinds[:rigid] == ["rigid"] * rigid and "rigid" not in kinds[rigid:]
    assert (result.frequency[:rigid] == 0.0).all() and (result.growth_rate == 0.0).all()
    np.testing.assert_allclose(np.linalg.norm(result.rotation[:rigid, 0], axis=1), 1.0)


def test_a_body_on_its_head_grows_away() -> None:
    """omega^2 = -M g rho/J with the attachment point held by a stiff and short string."""
    body = tl.RigidBody.box(1.0, (0.2, 0.2, 0.4), (0.0, 0.0, 0.3))
    pendulum = system(length=1e-5, body=body, stiffness=1e5)
    rest = chains.hanging(pendulum, 1e-5, 2)
    over = dataclasses.replace(rest, attitude=np.diag([1.0, -1.0, -1.0]))
    result = chains.modes(pendulum, over, count=3)
    assert result.growth_rate.values[0] == pytest.approx(np.sqrt(9.81 * 0.3 / body.inertia[0][0]), rel=1e-3)
    assert result.frequency.values[0] == 0.0


def test_kinds_of_a_heavy_body_on_a_light_string() -> None:
    body = tl.RigidBody.box(2.0, (0.5, 0.3, 1.0), (0.0, 0.0, 0.6))
    result = chains.modes(system(length=3.0, body=body, stiffness=2000.0), deployed=3.0, elements=20, count=8)
    expected = ["rigid", "swing", "swing", "body", "body", "longitudinal", "transverse", "transverse"]
    assert list(result.kind.values) == expected


def test_printed_states_of_rest_have_no_rounding_and_the_spans() -> None:
    """Coordinates that are rounding are 0, and each span of a line over sheaves has its tensions."""
    crane = tl.load("crane-hoist")
    rest = tl.statics(crane.system, crane.start)
    tilted = dataclasses.replace(rest.body, position=np.array([-9.911e-18, 3e-7, 25.66]))
    assert "body: at (0, 0, 25.66) m" in repr(dataclasses.replace(rest, bodies={"body": tilted}))
    gantry = tl.load("gantry")
    found = tl.statics(gantry.system, gantry.start)
    first, last = found.line.span_tensions[1]
    rows = repr(found).splitlines()
    assert f"  left to lower: {found.line.span_lengths[1]:.4g} m, {first / 1e3:.4g} to {last / 1e3:.4g} kN" in rows
    assert sum(row.startswith("  ") for row in rows) == len(found.line.span_lengths) == 4
