"""Flow over time from files and keys, its refusals, copies, checkpoints and derivatives."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.engine.choose import VARIABLE
from tautline.errors import InputError
from tautline.model.system.problems import ScenarioError
from tests.support import chains

SHORT = {"run.duration": 0.4, "run.sample": 0.1, "run.elements": 3, "fluid.unsteady.ramp": 0.05}


def aerostat(**changes: object) -> tl.Case:
    case: tl.Case = tl.load("aerostat", SHORT | {key.replace("__", "."): x for key, x in changes.items()})
    return case


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("fluid.unsteady.intensity", -1.0, "fluid.unsteady.intensity: expected a positive"),
        ("fluid.unsteady.depths", [0.0, -5.0], "fluid.unsteady.depths: expected increasing numbers"),
        ("fluid.unsteady.kind", "storm", "fluid.unsteady.kind: expected one of 'table', 'gust', 'turbulence'"),
        ("fluid.unsteady.sigma", 1.0, "fluid.unsteady.sigma: no such key"),
        ("fluid.flow", [0, 0, 0], "fluid.unsteady.mean: expected a velocity here, or as fluid.flow, got none"),
    ],
)
def test_bad_keys_are_named(key: str, value: object, said: str) -> None:
    with pytest.raises((ScenarioError, InputError), match=said):
        tl.load("aerostat", {key: value}).state()


def test_tables_must_fit() -> None:
    with pytest.raises(InputError, match=r"FlowTable.flows: expected 2 for the 2 times, got 1"):
        tl.flows.FlowTable((0.0, 1.0), ((1, 0, 0),))
    with pytest.raises(InputError, match=r"FlowTable.flows: expected 2 for the 2 depths, got 1"):
        tl.flows.FlowTable((0.0, 1.0), ((1, 0, 0), (1, 0, 0)), (0.0, 1.0))


def test_a_function_is_refused_with_what_takes_it() -> None:
    with pytest.raises(InputError, match=r"Fluid.flow: expected a velocity .*a function; .*FlowTable.of\(function"):
        tl.Fluid(1.2, flow=lambda t, z: (1.0, 0.0, 0.0))


def test_a_saved_case_is_the_same(tmp_path: Path) -> None:
    case = aerostat()
    (tmp_path / "again.toml").write_text(case.to_toml())
    again = tl.load(tmp_path / "again.toml")
    assert again.system.fluid == case.system.fluid


def test_turbulence_goes_on_after_a_copy_and_in_another_window() -> None:
    """Where tables are made anew, the numbers are the same: one march and many give the same bits."""
    case = aerostat(fluid__unsteady__interval=0.002, run__duration=0.6)
    whole = tl.simulate(case)
    simulation = tl.Simulation.from_case(case)
    for k in range(6):
        simulation.advance(0.1)
        if k == 2:
            simulation = copy.copy(simulation)
    assert np.array_equal(simulation.bodies["body"].position, whole.body_position.values[-1, 0])


def test_turbulence_moves_a_pendulum_as_in_the_reference() -> None:
    """Against `tl.reference`, which adds up the waves itself; in levels of depth, rising, with a mean of its own.

    Runs take straight lines between the times of a table, which cut a twentieth off the quickest waves; these hardly
    move the body: differences are 3e-4 of what the turbulence does at all.
    """
    flow = tl.flows.Turbulence(
        0.3, 20.0, "von_karman", mean=(6.0, 3.0, 0.0), depths=(0.0, 3.0, 6.0), interval=0.005, ramp=0.1, seed=5
    )
    fluid = tl.Fluid(1.2, flow=(4.0, 1.0, 0.0), drag_area=0.3, volume=0.2, unsteady=flow)
    string = tl.String(8.0, 0.05, 500.0, diameter=0.02, law="linear")
    body = tl.RigidBody.sphere(1.0, 0.3, (0.0, 0.0, 0.3))
    system = tl.pendulum(string, tl.Reel(0.2, 0.3, 2.0), body, fluid=fluid, elements=2)
    assert system.fluid is not None
    calm = replace(system, fluid=replace(system.fluid, unsteady=None))
    exact = tl.reference.integrate(system, tl.Hanging(6.0), duration=0.3, sample=0.1)
    for backend in (chains.CHAIN, chains.NETWORK):
        with chains.on(backend):
            run, still = (tl.simulate(x, tl.Hanging(6.0), duration=0.3, sample=0.1, step=5e-4) for x in (system, calm))
        for name in ("body_position", "body_velocity"):
            effect = float(np.abs(still[name] - exact[name]).max())
            assert effect > 0.01 and float(np.abs(run[name] - exact[name]).max()) < 1e-3 * effect


@pytest.mark.parametrize("backend", [chains.CHAIN, chains.NETWORK])
def test_derivatives_by_keys_of_the_flow(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forward derivatives of place and tension against differences."""
    monkeypatch.setenv(VARIABLE, backend)
    keys = ["fluid.unsteady.intensity", "fluid.unsteady.length_scale", "fluid.flow[0]"]
    case = aerostat()
    names = ("body_position", "end_tension")
    found = tl.jacobian(case, list(names), by=keys)
    for k, key in enumerate(keys):
        value = {"fluid.unsteady.intensity": 0.12, "fluid.unsteady.length_scale": 150.0, "fluid.flow[0]": 10.0}[key]
        beside = [tl.simulate(case.with_({key: (1.0 + d) * value})) for d in (1e-4, -1e-4)]
        for name in names:
            ends = [run[name].values[-1] for run in beside]
            wanted = (ends[0] - ends[1]) / (2e-4 * value)
            got = found[name].values[-1, ..., k]
            # differences of a motion of meters, with starts at rest found to 1e-10
            assert np.abs(got - wanted).max() < 1e-4 * np.abs(wanted).max() + 1e-9


def test_members_of_a_study_have_their_own_wind(tmp_path: Path) -> None:
    case, seeds = aerostat(), [1, 2, 1]
    (tmp_path / "wind.toml").write_text(case.to_toml())
    found = tl.study(
        {
            "scenario": str(tmp_path / "wind.toml"),
            "table": {"fluid.unsteady.seed": seeds},
            "outputs": ["final end_tension", "max end_tension"],
        },
        tmp_path / "winds.zarr",
        workers=1,
    ).load()
    runs = [tl.simulate(case.with_({"fluid.unsteady.seed": seed})).end_tension.values[:, 0] for seed in seeds]
    assert found.final_end_tension.values.tolist() == [x[-1] for x in runs]
    assert found.max_end_tension.values.tolist() == [x.max() for x in runs]
    assert runs[0][-1] == runs[2][-1] != runs[1][-1]


def test_a_frozen_flow_stays() -> None:
    fluid = aerostat().system.fluid
    assert fluid is not None
    assert fluid.frozen(0.0).flow[1][0] == (10.0, 0.0, 0.0)
    assert replace(fluid, unsteady=None).frozen(3.0).flow == fluid.flow


@pytest.mark.parametrize("pushed", [False, True], ids=["as it is", "network"])
@pytest.mark.parametrize(
    "flow",
    [
        tl.flows.Turbulence(intensity=0.3, length_scale=30.0, mean=(8.0, 0.0, 0.0), interval=0.05, seed=3),
        tl.flows.WaveFlow(tl.motions.Sine(1.0, 4.0)),
    ],
    ids=["turbulence", "waves"],
)
def test_calls_that_begin_where_a_table_does_change_nothing(flow: Any, pushed: bool) -> None:
    """Acceleration of the fluid is that of both sides there: a run does not depend on where its calls begin."""
    fluid = tl.Fluid(1000.0, drag_area=0.2, volume=0.02, added_mass=30.0, unsteady=flow)
    system = tl.pendulum(tl.String(5.0, 0.1, 5e4, diameter=0.01), None, tl.RigidBody.point(60.0), fluid=fluid)
    block = flow.covered(0.0)  # of the table (s)
    ends = []
    for calls in ((2.0 * block,), (block, block)):
        sim = tl.Simulation(system.with_elements({"line": 1}), tl.Hanging(), step=block / 2048.0)
        if pushed:
            sim.body.push((1.0, 0.0, 0.0))
        for duration in calls:
            sim.advance(duration)
        ends.append(sim.body.position)
    assert np.array_equal(ends[0], ends[1])
