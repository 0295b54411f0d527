"""Damping, fluids and force laws on lines over sheaves, with reels at both ends and on shafts (docs/theory.md)."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tests.conftest import Report
from tests.support.reeving import case_of, compared, expected_of

CASES = json.loads((Path(__file__).parent / "reeving_loads.json").read_text())
PLAIN = {x["name"]: x for x in json.loads((Path(__file__).parent / "reeving.json").read_text())}


def marched(case: tl.Case, duration: float, sample: float | None = None, loads: Any = ()) -> tl.Simulation:
    """A simulation of a case after so many seconds."""
    sim = tl.Simulation.from_case(case, loads=loads) if loads else tl.Simulation.from_case(case)
    assert sim.advance(duration, case.commands, sample=sample) == "completed", sim.message
    return sim


@pytest.mark.parametrize("reference", CASES, ids=lambda x: x["name"])
def test_motions_with_loads_are_those_of_an_independent_implementation(
    reference: dict[str, Any], report: Report
) -> None:
    """Of order 2, and the same where the step goes to zero."""
    sims = [tl.Simulation.from_case(case_of(reference, duration=9.0, step=step)) for step in (1e-3, 5e-4)]
    commands = case_of(reference, duration=9.0).commands
    for before, state in zip([0.0, *reference["times"]], reference["states"][1:], strict=False):
        found = []
        for sim in sims:
            assert sim.advance(state["time"] - before, commands) == "completed", sim.message
            found.append(compared(reference, sim.state))
        wanted = expected_of(reference, state)
        errors = [np.abs(x - wanted).max() for x in found]
        order, name = math.log2(errors[0] / errors[1]), f"{reference['name']} to {state['time']:g} s"
        report(f"{name}: order of the step", order, "2 +- 0.05")
        assert order == pytest.approx(2.0, abs=0.05)
        # what is left is of order 4: 1e-2 of the error at the smaller step
        left = np.abs((4.0 * found[1] - found[0]) / 3.0 - wanted).max() / errors[1]
        report(f"{name}: error that is left at no step, of that at a step", left, "< 2e-2")
        assert left < 2e-2


def damped(case: tl.Case, viscosity: float, **commands: Any) -> tl.Case:
    """Case with strings that are viscous (N s)."""
    lines = {
        name: dataclasses.replace(line, string=dataclasses.replace(line.string, viscosity=viscosity))
        for name, line in case.system.lines.items()
    }
    system = dataclasses.replace(case.system, lines=lines)
    return tl.Case(system, case.state(), {**case.commands, **commands}, case.run)


def balance_of(run: Any) -> np.ndarray:
    """Energy less all work plus all losses."""
    names = ("energy", "damping_loss", "friction_loss", "guide_loss")
    kept = sum(run[name].values for name in names if name in run)
    return np.asarray(kept - sum(run[name].values for name in ("control_work", "guide_work", "fluid_work")))


ALONG = [
    (name, driven) for name in PLAIN for driven in (False, True) if not (driven and name == "atwood-3")
]  # a pin has no motor


@pytest.mark.parametrize(("name", "driven"), ALONG)
def test_balance_closes_to_second_order_and_damping_takes_energy(name: str, driven: bool) -> None:
    """With friction, and with a sheave in prescribed motion."""
    errors, duration = [], 0.2
    for step in (1e-3, 5e-4):
        case = damped(case_of(PLAIN[name], duration=duration, step=step), 5.0)
        if driven:
            speed = float(case.state().lines["line0"].passing[0])
            case = case.with_(commands={**case.commands, "line0.s0": tl.Speed(retrieval=speed)})
        run = marched(case, duration, 0.02).dataset()
        kept = balance_of(run)
        errors.append(np.abs(kept - kept[0]).max())
        for loss in ("damping_loss", "friction_loss"):
            assert (np.diff(run[loss].values) >= 0.0).all()
        assert run["damping_loss"].values[-1] > 20.0 * errors[-1]
    assert errors[1] < 0.35 * errors[0]


def winches(fluid: tl.Fluid | None = None, **string: Any) -> tuple[tl.System, tl.State]:
    """A rope that two drums move at 2 m/s over a sheave, straight and evenly strained, without gravity."""
    own = {"length": 60.0, "density": 2.0, "stiffness": 1e6, "viscosity": 1e3, **string}
    reel = tl.Reel(0.3, 0.5, inertia=9.0, guide_law="none")
    wheel = tl.Sheave(
        (0.0, 0.0, 0.0), 0.25, (0, 1, 0), inertia_mass=3.0, entrance=(-0.25, 0.0, 0.0), exit=(0.25, 0.0, 0.0)
    )
    line = tl.Line(
        tl.String(**{"law": "linear", **own}),
        start_point=(-5.0, 0.0, 5.0),
        reel=reel,
        over={"top": wheel},
        end_point=(5.0, 0.0, 5.0),
        end_reel=reel,
        elements=3,
    )
    system = tl.System({}, {"rope": line}, gravity=0.0, fluid=fluid)
    t = np.linspace(0.0, 1.0, 4)[:, None]
    ends = [np.array(x) for x in ((-5.0, 0.0, 5.0), (-0.25, 0.0, 0.0), (0.25, 0.0, 0.0), (5.0, 0.0, 5.0))]
    nodes = np.concatenate([ends[0] + t * (ends[1] - ends[0]), ends[2] + t * (ends[3] - ends[2])])
    out = math.hypot(4.75, 5.0) / (1.0 + 1e-3)
    left = 60.0 - 20.0 - 2.0 * out - system.wraps("rope")
    state = tl.LineState(
        nodes,
        np.zeros_like(nodes),
        20.0,
        2.0,
        np.array([out, out]),
        passing=np.array([2.0]),
        end_reeled_length=left,
        end_reel_speed=-2.0,
    )
    return system, tl.State({}, {"rope": state})


RUNNING = {"rope": tl.Speed(retrieval=2.0), "rope.end_reel": tl.Speed(retrieval=-2.0)}


def test_rope_that_runs_steadily_loses_nothing_to_damping() -> None:
    """Damping acts on the strain rate of the material, which is none, and not on the nodes."""
    case = tl.Case(*winches(), RUNNING, tl.Run(duration=0.1, step=1e-3))
    run = marched(case, 0.1, 0.01).dataset()
    assert run["damping_loss"].values[-1] < 1e-20  # rounding of strains, squared; 1e3 N s and 2 m/s
    assert np.abs(run["tension"].values - 1e3).max() < 1e-6


def test_drag_along_a_running_rope_is_that_on_its_speed() -> None:
    """A fluid at rest takes tangential drag times the cube of the speed of the rope, nodes standing still."""
    water = tl.Fluid(1000.0)
    system, state = winches(water, diameter=0.02, tangential_drag=0.01)
    case = tl.Case(system, state, RUNNING, tl.Run(duration=0.02, step=2e-4))
    run = marched(case, 0.02, 0.001).dataset()
    out = 2.0 * math.hypot(4.75, 5.0)
    power = 0.5 * 1000.0 * math.pi * 0.01 * 0.02 * out * 2.0**3
    # the strain of 1e-3 is part of its speed; drag of 9 N slows it by 9 N/(mu c) = 3e-3 of that as it sets in
    assert -run["fluid_work"].values[-1] / 0.02 == pytest.approx(power * (1.0 + 1e-3) ** 3, rel=3e-3)


def test_locked_sheave_makes_two_strings_with_loads() -> None:
    """Spans of a rope whose sheave is locked move as two strings that are fastened there, in a current too."""
    case = damped(case_of(PLAIN["atwood-1"], duration=0.1, step=1e-3), 3.0)
    state, own = case.state(), case.state().lines["line0"]
    line = case.system.lines["line0"]
    water = tl.Fluid(50.0, flow=(0.4, 0.1, 0.0))
    wet = dataclasses.replace(line.string, diameter=0.02, normal_drag=1.2, normal_added_mass=0.5)
    wheel = case.system.wheels("line0")[0]
    still = dataclasses.replace(own, passing=np.zeros(1))
    reeved = dataclasses.replace(case.system, lines={"line0": dataclasses.replace(line, string=wet)}, fluid=water)
    held = tl.Simulation(reeved, tl.State(state.bodies, {"line0": still}), step=1e-3)
    assert held.advance(0.1, {"line0.s0": tl.Locked()}) == "completed", held.message
    lines, states = {}, {}
    for k, name in enumerate("ab"):
        string = dataclasses.replace(wet, length=float(own.span_lengths[k]))
        ends: dict[str, Any] = {"end": line.start, "end_point": line.start_point, "start_point": wheel.entrance}
        nodes, velocities = own.nodes[own.span_rows(0)][::-1], own.node_velocities[own.span_rows(0)][::-1]
        if k == 1:
            ends = {"end": line.end, "end_point": line.end_point, "start_point": wheel.exit}
            nodes, velocities = own.nodes[own.span_rows(1)], own.node_velocities[own.span_rows(1)]
        lines[name] = tl.Line(string, elements=line.elements, **ends)
        states[name] = tl.LineState(nodes, velocities)
    apart = tl.System(case.system.bodies, lines, gravity=case.system.gravity, fluid=water)
    other = tl.Simulation(apart, tl.State(state.bodies, states), step=1e-3)
    assert other.advance(0.1) == "completed", other.message
    moved = held.state.lines["line0"].nodes
    first = moved[own.span_rows(0)][::-1]
    assert np.abs(first - other.state.lines["a"].nodes).max() < 1e-12
    assert np.abs(moved[own.span_rows(1)] - other.state.lines["b"].nodes).max() < 1e-12


def hoist(surface: bool) -> tl.System:
    """A hook block on two falls between two drums, in a fluid."""
    string = tl.String(
        40.0,
        0.5,
        2e4,
        viscosity=50.0,
        diameter=0.02,
        normal_drag=1.2,
        tangential_drag=0.02,
        normal_added_mass=1.0,
        law="linear",
    )
    reel = tl.Reel(0.3, 0.5, inertia=9.0, guide_law="none")
    line = tl.Line(
        string,
        start_point=(-0.4, 0.0, -3.0),
        reel=reel,
        over={"lower": tl.Sheave((0.0, 0.0, 0.0), 0.25, (0, 1, 0), on="block", inertia_mass=4.0)},
        end_point=(0.4, 0.0, -3.0),
        end_reel=dataclasses.replace(reel, inertia_mass=50.0),
        elements=3,
    )
    fluid = tl.Fluid(1000.0, surface=0.0, density_above=1.2) if surface else tl.Fluid(1000.0, flow=(0.3, 0.0, 0.0))
    block = tl.RigidBody.box(60.0, (0.6, 0.4, 0.8), (0.0, 0.0, 0.4))
    wet = {"block": tl.BodyInFluid(drag_area=0.3, volume=0.02, added_mass=20.0)}
    return tl.System({"block": block}, {"hoist": line}, gravity=9.81, fluid=fluid, body_fluid=wet)


def test_hook_block_at_rest_below_a_surface_stays_there() -> None:
    """The kernels' buoyancy of spans, wraps and drums is that of statics, whose energies are its own."""
    case = tl.Case(hoist(True), tl.Hanging({"hoist": "9 m"}), {}, tl.Run(duration=0.05, step=1e-3))
    run = marched(case, 0.05, 0.01).dataset()
    # forces of the search for rest are found to 1e-9 of the weight, over 60 kg and 0.05 s
    assert np.abs(run["body_position"].values - run["body_position"].values[0]).max() < 1e-8


@pytest.mark.parametrize("surface", [True, False])
def test_balance_closes_to_second_order_in_a_fluid(surface: bool) -> None:
    """Drums at both ends, one driven and one driven, in a fluid with added mass."""
    commands = {"hoist": tl.Torque(20.0), "hoist.end_reel": tl.Length.to("9 m", speed=1.0, acceleration=0.8)}
    errors = []
    for step in (2e-3, 1e-3):
        case = tl.Case(hoist(surface), tl.Hanging({"hoist": "9 m"}), commands, tl.Run(duration=0.2, step=step))
        run = marched(case, 0.2, 0.02).dataset()
        kept = balance_of(run)
        errors.append(np.abs(kept - kept[0]).max())
    assert errors[1] < 0.35 * errors[0]
    assert errors[1] < 1e-3 * np.abs(run["fluid_work"].values).max()


def pulling(t: float, given: tl.ForceState, own: Any, force: Any, moment: Any) -> None:
    """A force on all nodes, and one against the speed of the material."""
    force[:, 0] += 0.5
    force -= 0.8 * given.velocity


def test_force_law_on_a_line_between_two_drums_does_the_work_that_it_is_booked() -> None:
    errors = []
    reel = tl.Reel(0.2, 0.3, inertia=0.4, guide_law="none")
    line = tl.Line(
        tl.String(20.0, 0.3, 2e3, law="linear"),
        end="load",
        elements=4,
        reel=reel,
        end_reel=reel,
        end_drum_axis=(0.0, 1.0, 0.0),
    )
    load = tl.RigidBody.box(8.0, (0.5, 0.5, 0.5), (0.0, 0.0, 0.1))
    system = tl.System({"load": load}, {"line": line}, gravity=9.81)
    commands = {"line": tl.Torque(12.0), "line.end_reel": tl.Torque(9.0)}
    for step in (2e-3, 1e-3):
        case = tl.Case(system, tl.Hanging({"line": "6 m"}), commands, tl.Run(duration=0.3, step=step))
        run = marched(case, 0.3, 0.03, {"line": tl.ForceLaw(pulling, rate=3.0)}).dataset()
        kept = run["energy"].values - run["control_work"].values - run["force_law_work"].values
        errors.append(np.abs(kept - kept[0]).max())
    assert errors[1] < 0.35 * errors[0]
    assert errors[1] < 1e-2 * np.abs(run["force_law_work"].values).max()


@pytest.mark.parametrize(("depth", "wet"), [(-0.01, 0.0), (0.01, 1.0)])
def test_rope_on_a_pin_gets_wet_where_the_pin_does(depth: float, wet: float) -> None:
    """A pin has no radius: what lies on it is lifted as soon as it is below the surface."""
    diameter, wrap, down = 0.1, 0.4, 3.0
    string = tl.String(2.0 * down + wrap, 30.0, 1e7, diameter=diameter)
    line = tl.Line(
        string,
        start_point=(-0.01, 0.0, depth - down),
        end_point=(0.01, 0.0, depth - down),
        over={"eye": tl.Pin((0.0, 0.0, 0.0), on="hook", wrap=wrap)},
        elements=2,
    )
    fluid = tl.Fluid(1000.0, surface=0.0)
    system = tl.System({"hook": tl.RigidBody.sphere(50.0, 0.1)}, {"rope": line}, fluid=fluid)
    rest = tl.statics(system, tl.Placed({"hook": (0.0, 0.0, depth)}))
    z = rest.state.bodies["hook"].position[2]
    assert (z > 0.0) == bool(wet)
    pulls = float(rest.lines["rope"].span_tensions[0, 1] + rest.lines["rope"].span_tensions[1, 0])
    hangs = 9.81 * (50.0 + wrap * (30.0 - 1000.0 * string.area * wet))
    assert pulls == pytest.approx(hangs, rel=1e-4)
    sim = tl.Simulation(system, rest.state)
    sim.advance(0.2)
    assert sim.bodies["hook"].position[2] == pytest.approx(z, abs=1e-9)


def test_rope_at_rest_in_a_flow_along_it_does_not_pass_its_wheel() -> None:
    """Drag along a rope is a force on what passes the wheel too: statics and runs agree on where it balances."""
    string = tl.String(16.5, 0.6, 1e6, law="linear", diameter=0.04, tangential_drag=0.3)
    wheel = tl.Sheave((0.0, 0.0, 0.0), 0.2, (0, 1, 0), inertia_mass=0.5)
    line = tl.Line(string, "a", end="b", over={"top": wheel}, elements=3)
    fluid = tl.Fluid(1000.0, flow=(0.6, 0.1, -1.2))
    feels = tl.BodyInFluid(drag_area=0.05)
    bodies = {"a": tl.RigidBody.point(60.0), "b": tl.RigidBody.point(75.0)}
    stay = tl.Line(tl.String(9.0, 0.4, 1e6, law="linear"), start_point=(0.2, 0.0, 16.0), end="a", elements=3)
    system = tl.System(bodies, {"rope": line, "stay": stay}, fluid=fluid, body_fluid={"a": feels, "b": feels})
    places = {"a": (-0.2, 0.0, 7.0), "b": (0.2, 0.0, 8.9)}
    rest = tl.statics(system, tl.Placed(places))
    sim = tl.Simulation(system, rest.state, step=2e-4)
    sim.advance(0.5)
    assert abs(float(sim.state.lines["rope"].passing[0])) < 1e-9
    for name, was in rest.state.bodies.items():
        assert np.abs(np.array(sim.state.bodies[name].position) - was.position).max() < 1e-8  # forces balance to 1e-9
