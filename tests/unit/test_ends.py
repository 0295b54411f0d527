"""Tension at the ends of strings: what is made of rough tensions, slack strings, and derivatives both ways."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.gradients.chain import reverse
from tautline.gradients.run import prepared_run, run_with_derivatives
from tautline.model.string_loads import StringLoads
from tautline.results.ends import at_ends
from tests.support import chains
from tests.support.hoist import hoist

STRING = tl.String(10.0, 0.1, 100.0, law="linear")


def straight(tension: Any, weight: float = 0.0, string: tl.String = STRING) -> tuple[np.ndarray, np.ndarray]:
    """Tensions at the ends of a string that hangs straight, with elements of 1 m."""
    T = np.atleast_2d(np.asarray(tension, dtype=float))
    nodes = np.zeros((len(T), T.shape[1] + 1, 3))
    nodes[:, :, 2] = np.arange(T.shape[1] + 1.0)
    still, ones = np.zeros(len(T)), np.ones(len(T))
    moves = (nodes, 0.0 * nodes, still, still)
    return at_ends(string, StringLoads(weight), moves, T, np.ones_like(T), ones, 0.0 * ones)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_neither_a_sawtooth_is_doubled_nor_a_front_overshot(sign: float) -> None:
    e = np.arange(8.0)
    rough = np.stack([(-1.0) ** e, np.where(e < 1.0, 1.0, 0.0), 3.0 - e])
    for k, found in enumerate((straight(sign * rough)[0], straight(sign * rough[:, ::-1])[1])):
        np.testing.assert_allclose(found, sign * np.array([1.0, 1.0, 3.5]), rtol=1e-5, err_msg=str(k))


def test_waves_below_the_weight_of_an_element_are_not_cut() -> None:
    """At rest with 2 N a node, and a wave on it: a line from its first two elements, of which the end has a sixth."""
    e = np.arange(12.0)
    wave = 0.01 * np.cos(0.2 * (e + 0.5))
    found, _ = straight(30.0 - 2.0 * (e + 0.5) + wave, 2.0)
    np.testing.assert_allclose(found, 30.01, rtol=1e-5)


@pytest.mark.parametrize("rate", [0.0, 1.0, -1.0])
def test_smooth_tension_at_the_ends_is_of_second_order(rate: float) -> None:
    """exp(rate x) + x/2, by its means over elements."""
    errors = []
    for elements in (20, 40, 80):
        edges = np.linspace(0.0, 1.0, elements + 1)
        area = (np.exp(rate * edges) / rate if rate else edges) + 0.25 * edges**2
        first, last = straight(np.diff(area) * elements)
        errors.append([abs(float(first[0]) - 1.0), abs(float(last[0]) - np.exp(rate) - 0.5)])
    for coarse, fine in itertools.pairwise(errors):
        assert all(b < a / 3.5 + 1e-12 for a, b in zip(coarse, fine, strict=True))


def test_a_slack_end_has_no_tension() -> None:
    rope = dataclasses.replace(STRING, law="tension_only")
    slack = np.zeros(6)
    assert not np.any(straight(slack, 2.0, rope))
    # with more tension in the next elements than the line to the end can bear
    assert not np.any(straight([0.1, 5.0, 9.0, 12.0, 14.0, 0.0], 0.0, rope))
    table = tl.String.from_table(10.0, 0.1, (-0.1, 0.0, 0.1), (-1.0, 0.0, 50.0))
    assert straight([-0.5, 1.0, 2.0], 0.0, table)[0] == -0.5


def test_a_dropped_rope_is_never_pressed() -> None:
    rope = dataclasses.replace(STRING, law="tension_only")
    system = chains.Chain(rope, tl.Reel(0.1, 0.5, 1.0), tl.RigidBody.point(0.3))
    state = chains.straight(system, 6.0, 12, (1.0, 0.0, 0.0))
    nodes = 0.9 * np.array(state.nodes)
    run = chains.simulate(
        system, chains.ChainState(state.reeled_length, 0.0, nodes, 0.0 * nodes), duration=1.5, sample=0.01
    )
    for name in ("start_tension", "end_tension"):
        assert float(run[name].min()) == 0.0 < float(run[name].max())
        assert not run[name].values[:15].any()  # as long as all falls freely


def test_derivatives_both_ways_agree() -> None:
    """In a current, whose adjoint goes through the loads at the ends."""
    wet = {"string.diameter": 0.01, "fluid": {"density": 1000.0, "flow": [0.4, 0.1, 0.0], "drag_area": 0.01}}
    case = hoist(wet | {"run.elements": 7})
    by = ["string.density", "string.normal_drag", "fluid.flow[0]", "body.mass", "gravity", "string.stiffness"]

    def objective(run: Any) -> Any:
        return np.sum(run["start_tension"] ** 2) + np.sum(run["end_tension"])

    names = ["start_tension", "end_tension"]
    back = reverse.gradient_back(prepared_run(case, by), objective, names)
    assert back is not None
    along = objective(run_with_derivatives(case, names, by).values)
    assert back.value == pytest.approx(float(along.value), rel=1e-12)
    np.testing.assert_allclose(back.gradient, along.tangent, rtol=1e-8)


def test_derivatives_exist_at_rest() -> None:
    """Where nothing is accelerated nothing is compared: weight and drag alone move the tension."""
    sea = tl.Fluid(1000.0, flow=(0.5, 0.0, 0.0), drag_area=0.01)
    string, reel = tl.String(30.0, 0.6, 4e4, diameter=0.01, law="linear"), tl.Reel(0.1, 0.5, 1.0)

    def hung(mass: float) -> tl.System:
        return tl.pendulum(string, reel, tl.RigidBody.point(mass), fluid=sea, elements=9)

    start = tl.AtEquilibrium(20.0)
    case = tl.Case(hung(8.0), start, {"line": tl.Locked()}, tl.Run(duration=0.01, sample=0.005, step=1e-4))
    found = tl.jacobian(case, ["start_tension", "end_tension"], ["body.mass", "gravity"])
    e = 1e-3
    more, less = (tl.statics(hung(8.0 + d), start).lines["line"] for d in (e, -e))
    for name in ("start_tension", "end_tension"):
        expected = (getattr(more, name) - getattr(less, name)) / (2.0 * e)
        assert found[name].values[0, 0, 0] == pytest.approx(expected, rel=1e-6)
