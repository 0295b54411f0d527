"""Lines over sheaves and pins: an independent implementation, orders, invariants, exact results (docs/theory.md)."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.model.description import changed
from tests.conftest import Report
from tests.support.reeving import CASES, case_of, largest_error

BY_NAME = {x["name"]: x for x in CASES}
STEP = {"atwood-3": 2.5e-4}  # the rope slows down on its pin within its smoothing speed


def marched(case: tl.Case, duration: float) -> tl.Simulation:
    """A simulation of a case after so many seconds."""
    sim = tl.Simulation.from_case(case)
    assert sim.advance(duration, case.commands) == "completed", sim.message
    return sim


@pytest.mark.parametrize("name", BY_NAME)
def test_motions_are_those_of_an_independent_implementation(name: str, report: Report) -> None:
    reference = BY_NAME[name]
    case = case_of(reference, duration=reference["times"][-1], step=STEP.get(name, 5e-4), order=6)
    sim = tl.Simulation.from_case(case)
    for before, state in zip([0.0, *reference["times"]], reference["states"][1:], strict=False):
        assert sim.advance(state["time"] - before, case.commands) == "completed", sim.message
        # the reference is good to about 1e-2 of its own estimate, a few 1e-10
        error = largest_error(reference, sim.state, state)
        report(f"{name} to {state['time']:g} s: largest error of nodes, lengths and attitudes", error, "< 1e-8")
        assert error < 1e-8


# Steps of each order, where it shows and neither rounding nor the uncertainty of the reference does.
STEPS = {2: 1.25e-4, 4: 1e-3, 6: 2e-3}
OTHER_STEPS = {("atwood-3", 4): 1.25e-4, ("three-falls-6", 6): 4e-3}
ORDERS = [(name, order) for name in BY_NAME for order in STEPS if (name, order) != ("atwood-3", 6)]


@pytest.mark.parametrize(("name", "order"), ORDERS)
def test_order(name: str, order: int, report: Report) -> None:
    """But for order 6 where the rope slows down on its pin within its smoothing speed, which shows at rounding only."""
    reference, errors = BY_NAME[name], []
    step = OTHER_STEPS.get((name, order), STEPS[order])
    for h in (step, 0.5 * step):
        sim = marched(case_of(reference, duration=reference["times"][0], step=h, order=order), reference["times"][0])
        errors.append(largest_error(reference, sim.state, reference["states"][1]))
    found, within = math.log2(errors[0] / errors[1]), {2: 0.02, 4: 0.01, 6: 0.06}[order]
    report(f"{name}: order of the step", found, f"{order} +- {within:g}")
    assert found == pytest.approx(order, abs=within)


def test_momenta_of_a_free_system_are_kept_to_rounding(report: Report) -> None:
    case = case_of(BY_NAME["floating-5"], duration=1.0, step=1e-3, order=2)
    sim = tl.Simulation.from_case(case)
    sim.advance(1.0, case.commands, sample=0.1)
    run = sim.dataset()
    for name in ("linear_momentum", "angular_momentum"):
        x = run[name].values
        change = np.abs(x - x[0]).max() / max(1.0, np.abs(x).max())
        report(f"floating-5: change of the {name.replace('_', ' ')}", change, "< 1e-13")
        assert change < 1e-13


def energies(case: tl.Case, duration: float, sample: float) -> tuple[np.ndarray, Any]:
    sim = tl.Simulation.from_case(case)
    assert sim.advance(duration, case.commands, sample=sample) == "completed", sim.message
    run = sim.dataset()
    return run["energy"].values - run["motor_work"].values.sum(axis=1), run


@pytest.mark.parametrize("name", ["atwood-1", "tackle-4"])
def test_energy_is_kept_without_friction(name: str) -> None:
    errors = []
    for step in (1e-3, 5e-4):
        kept, run = energies(case_of(BY_NAME[name], duration=0.8, step=step, order=2), 0.8, 0.05)
        errors.append(np.abs(kept - kept[0]).max() / np.ptp(run["kinetic_energy"].values))
    assert errors[1] < 2e-3
    assert errors[1] < 0.4 * errors[0]  # order 2


@pytest.mark.parametrize("name", ["atwood-2", "atwood-3", "three-falls-6"])
def test_friction_takes_energy_and_its_loss_is_booked(name: str) -> None:
    duration = BY_NAME[name]["times"][-1]
    errors = []
    for step in (1e-3, 5e-4):
        kept, run = energies(case_of(BY_NAME[name], duration=duration, step=step, order=2), duration, duration / 10)
        loss = run["friction_loss"].values
        assert (np.diff(loss) >= 0.0).all() and loss[-1] > 0.0
        errors.append(np.abs(kept + loss - kept[0]).max())
    assert errors[1] < 0.4 * errors[0]


def atwood(stiffness: float, elements: int = 4) -> tl.Case:
    """10 and 12 kg on a rope of 0.5 kg/m, 20 m on each side of a heavy sheave, in the strains of the rigid machine."""
    m_1, m_2, mu, l, r, kappa, g = 10.0, 12.0, 0.5, 20.0, 0.5, 5.0, 9.81
    wrap = math.pi * r
    total = m_1 + m_2 + mu * (2.0 * l + wrap) + kappa
    a = g * (m_2 - m_1) / total
    # tension at the distance x from the body, of the rope that is lifted, and of the one that sinks
    middles = (np.arange(elements) + 0.5) * l / elements
    lifted, sinking = (m_1 + mu * middles) * (g + a), (m_2 + mu * middles) * (g - a)
    up = np.concatenate([[0.0], np.cumsum(l / elements * (1.0 + lifted / stiffness))])
    down = np.concatenate([[0.0], np.cumsum(l / elements * (1.0 + sinking / stiffness))])
    first = np.stack([np.full(elements + 1, -r), np.zeros(elements + 1), up[-1] - up], axis=1)
    second = np.stack([np.full(elements + 1, r), np.zeros(elements + 1), (down[-1] - down)[::-1]], axis=1)
    line = tl.Line(
        tl.String(length=2.0 * l + wrap, stiffness=stiffness, density=mu, law="linear"),
        "light",
        end="heavy",
        elements=elements,
        over={"top": tl.Sheave(center=(0.0, 0.0, 0.0), radius=r, axis=(0.0, 1.0, 0.0), inertia_mass=kappa)},
    )
    system = tl.System({"light": tl.RigidBody.point(m_1), "heavy": tl.RigidBody.point(m_2)}, {"rope": line}, gravity=g)
    nodes = np.concatenate([first, second])
    bodies = {"light": tl.BodyState(tuple(nodes[0])), "heavy": tl.BodyState(tuple(nodes[-1]))}
    state = tl.State(bodies, {"rope": tl.LineState(nodes, span_lengths=np.array([l, l]))})
    return tl.Case(system, state, {}, tl.Run(duration=3.0, step=1e-3 if stiffness <= 1e5 else 2.5e-4))


def test_heavy_atwood_machine_approaches_the_exact_one(report: Report) -> None:
    """x'' = g (m_2 - m_1 + 2 mu x)/M for an inextensible rope: the error falls as 1/EA, and extrapolates to none."""
    exact = 2.150225893
    passed = [-float(marched(atwood(EA), 3.0).state.lines["rope"].passed[0]) for EA in (1e4, 1e5)]
    assert passed == pytest.approx([2.12376, 2.14755], abs=1e-5)  # of an independent implementation
    error = abs((10.0 * passed[1] - passed[0]) / 9.0 - exact)
    report("Atwood machine with a heavy rope: passed in 3 s without stretch (m)", error, "< 1e-4")
    assert error < 1e-4


def test_locked_sheave_makes_two_strings() -> None:
    """Masses on both sides of a locked sheave move as on strings that are fastened where the rope meets it."""
    case = atwood(1e4)
    state, system = case.state(), case.system
    held = tl.Simulation.from_case(case)
    held.advance(0.5, {"rope.top": tl.Locked()})
    own = state.lines["rope"]
    string = tl.String(length=20.0, stiffness=1e4, density=0.5, law="linear")
    lines = {
        "a": tl.Line(string, "light", end_point=(-0.5, 0.0, 0.0), elements=4),
        "b": tl.Line(string, start_point=(0.5, 0.0, 0.0), end="heavy", elements=4),
    }
    apart = tl.System(system.bodies, lines, gravity=9.81)
    states = {name: tl.LineState(own.nodes[own.span_rows(k)]) for k, name in enumerate("ab")}
    other = tl.Simulation(apart, tl.State(state.bodies, states), step=1e-3)
    other.advance(0.5)
    for k, name in enumerate("ab"):
        moved = held.state.lines["rope"].nodes[own.span_rows(k)]
        assert np.abs(moved - other.state.lines[name].nodes).max() < 1e-12  # rounding of 20 m


def test_driven_sheave_lifts_as_prescribed() -> None:
    case = atwood(1e4)
    sim = tl.Simulation.from_case(case)
    sim.advance(1.0, {"rope.top": tl.Length.to(20.2, speed=1.0, acceleration=1.0)})
    assert -sim.state.lines["rope"].passed[0] == pytest.approx(0.2, abs=1e-9)
    kept = sim.dataset()
    balance = kept["energy"].values + kept["friction_loss"].values - kept["control_work"].values
    assert np.ptp(balance) < 1e-3 * np.ptp(kept["kinetic_energy"].values + 1.0)


MASS, G, SPEED, MU = 10.0, 9.81, 0.5, 1e-3


def drawn(over: Any, ratio: float, level: bool = False, stiffness: float = 1e5, elements: int = 4) -> tl.Case:
    """A weight that is drawn up at a constant speed by a rope over something, in the tensions of that motion.

    From below, or from a point at the same level as the wheel.
    """
    low = 4.0
    line = tl.Line(
        tl.String(length=30.0, stiffness=stiffness, density=MU, law="linear"),
        start_point=(low, 0.0, 0.0) if level else (0.0, 0.0, low),
        end="load",
        reel=tl.Reel(drum_radius=0.2, inertia_mass=1.0, guide_length=0.5, guide_law="none"),
        elements=elements,
        over={"top": over},
    )
    system = tl.System({"load": tl.RigidBody.point(MASS)}, {"rope": line}, gravity=G)
    pulls = np.array([ratio * MASS * G, MASS * G])
    lengths = low / (1.0 + pulls / stiffness)
    z = np.linspace(0.0, low, elements + 1)
    nodes = np.zeros((2 * (elements + 1), 3))
    nodes[: elements + 1, 0 if level else 2] = z[::-1]
    nodes[elements + 1 :, 2] = z
    velocities = np.zeros_like(nodes)
    rising = SPEED * (1.0 + MASS * G / stiffness)
    velocities[elements + 1 :, 2] = -rising * z / low
    reeled = 30.0 - system.wraps("rope") - lengths.sum()
    state = tl.LineState(nodes, velocities, reeled, SPEED, lengths, passing=np.array([SPEED]))
    bodies = {"load": tl.BodyState((0.0, 0.0, low), (0.0, 0.0, -rising))}
    commands = {"rope": tl.Speed(retrieval=SPEED)}
    return tl.Case(system, tl.State(bodies, {"rope": state}), commands, tl.Run(duration=1.0))


def wheel(**friction: Any) -> tl.Sheave:
    place = (0.0, 0.0, 0.0)
    return tl.Sheave(place, 0.25, (0, 1, 0), entrance=place, exit=place, wrap=0.1, inertia_mass=1e-3, **friction)


RATIOS = {  # closed forms: tension ahead of the wheel over that behind it
    "pin 0.1": (tl.Pin((0.0, 0.0, 0.0), friction=0.1, smoothing_speed=1e-3), math.exp(0.1 * math.pi)),
    "pin 0.2": (tl.Pin((0.0, 0.0, 0.0), friction=0.2, smoothing_speed=1e-3), math.exp(0.2 * math.pi)),
    "turn": (tl.Pin((0.0, 0.0, 0.0), friction=0.1, turns=1, smoothing_speed=1e-3), math.exp(0.3 * math.pi)),
    "efficiency": (wheel(efficiency=0.96, smoothing_speed=1e-3), 1.0 / 0.96),
    # T_1 - T_2 = f (T_1 + T_2)
    "bearing": (wheel(bearing_friction=0.1, bearing_radius=0.04, smoothing_speed=1e-3), 1.016 / 0.984),
    # T_1 - T_2 = f sqrt(T_1^2 + T_2^2)
    "bearing level": (wheel(bearing_friction=0.1, bearing_radius=0.04, smoothing_speed=1e-3), 1.022888),
}


@pytest.mark.parametrize("name", RATIOS)
def test_ratio_of_tensions_over_a_wheel(name: str, report: Report) -> None:
    over, ratio = RATIOS[name]
    case = drawn(over, ratio, level=name.endswith("level"))
    sim = tl.Simulation.from_case(case)
    assert sim.advance(0.2, case.commands, sample=0.002) == "completed", sim.message
    tension = sim.dataset()["tension"].values
    found = tension[:, :4].mean() / tension[:, 4:].mean()
    # strains of 1e-3 enter the balance with their square over two, rope and wheel with 1e-4 of the weight
    report(f"ratio of tensions, {name}: relative error", abs(found / ratio - 1.0), "< 1.5e-3")
    assert found == pytest.approx(ratio, rel=1.5e-3)


def reversed_case(case: tl.Case, name: str) -> tl.Case:
    """System with a line described from its end to its start: the drum is at its end then."""
    line, own = case.system.lines[name], case.state().lines[name]
    over = {}
    for key, x in reversed(list(line.over.items())):
        assert isinstance(x, tl.Sheave)
        axis = tuple(-a for a in x.axis)
        over[key] = changed(x, entrance=x.exit, exit=x.entrance, axis=axis)  # unchecked, as those of the cases are
    turned = dataclasses.replace(
        line,
        start=line.end,
        start_point=line.end_point,
        end=line.start,
        end_point=line.start_point,
        over=over,
        reel=None,
        end_reel=line.reel,
        drum_axis=None,
        end_drum_axis=line.drum_axis,
    )
    state = tl.LineState(
        own.nodes[::-1],
        own.node_velocities[::-1],
        span_lengths=own.span_lengths[::-1],
        passing=-own.passing[::-1],
        end_reeled_length=own.reeled_length,
        end_reel_speed=own.reel_speed,
    )
    system = dataclasses.replace(case.system, lines={**case.system.lines, name: turned})
    commands = {(f"{name}.end_reel" if key == name else key): x for key, x in case.commands.items()}
    return tl.Case(system, tl.State(case.state().bodies, {**case.state().lines, name: state}), commands, case.run)


@pytest.mark.parametrize("name", ["tackle-4", "floating-5", "three-falls-6"])
def test_drum_at_the_end_moves_as_one_at_the_start(name: str) -> None:
    """A line has no direction: described the other way round, with its drum at its end, it moves the same."""
    case = case_of(BY_NAME[name], duration=0.1, step=1e-3)
    if "line0.s0" in case.commands:
        case = case.with_(commands={"line0": case.commands["line0"]})
    first, second = marched(case, 0.1).state.lines["line0"], marched(reversed_case(case, "line0"), 0.1).state
    last = second.lines["line0"]
    assert np.abs(first.nodes - last.nodes[::-1]).max() < 1e-11  # rounding of other sums
    assert np.abs(first.passed + last.passed[::-1]).max() < 1e-11
    assert first.reeled_length == pytest.approx(last.end_reeled_length, abs=1e-11)


def test_momenta_of_bodies_with_two_drums_on_one_shaft(report: Report) -> None:
    """A winch on a free body, driven against two others on lines wound in opposite senses: all forces are inside."""
    radii, senses, sides = (0.2, 0.1), (1, -1), (-1.0, 1.0)
    bodies = {"ship": tl.RigidBody.box(5.0, (0.6, 0.5, 0.4), (0.0, 0.0, 0.0))}
    places = {"ship": tl.BodyState((0.0, 0.0, 0.0), angular_velocity=(0.1, 0.2, -0.1))}
    lines = {}
    for k, (r, sense, side) in enumerate(zip(radii, senses, sides, strict=True)):
        reel = tl.Reel(drum_radius=r, inertia=0.2, guide_length=0.1, guide_law="none", shaft="winch", sense=sense)
        bodies[f"b{k}"] = tl.RigidBody.box(2.0 + k, (0.3, 0.2, 0.2), (0.0, 0.0, 0.0))
        places[f"b{k}"] = tl.BodyState((5.3 * side, 0.0, 0.0), (0.0, 0.3 * side, 0.1))
        lines[f"l{k}"] = tl.Line(
            tl.String(20.0, 0.1, 500.0, law="linear"),
            start="ship",
            start_point=(0.3 * side, 0.0, 0.1),
            end=f"b{k}",
            reel=reel,
            drum_axis=(0.0, 1.0, 0.0),
            elements=3,
        )
    system = tl.System(bodies, lines, gravity=0.0)
    case = tl.Case(system, tl.Placed(places), {"l0": tl.Torque(0.3)}, tl.Run(duration=2.0, step=1e-3))
    sim = tl.Simulation.from_case(case)
    assert sim.advance(2.0, case.commands, sample=0.05) == "completed", sim.message
    run = sim.dataset()
    assert np.ptp(run["reeled_length"].values[:, 0]) > 0.1
    wound = run["reeled_length"].values - run["reeled_length"].values[0]
    np.testing.assert_allclose(wound[:, 1], -0.5 * wound[:, 0], atol=1e-13)
    for name in ("linear_momentum", "angular_momentum"):
        x = run[name].values
        change = np.abs(x - x[0]).max() / max(1.0, np.abs(x).max())
        report(f"two drums on one shaft: change of the {name.replace('_', ' ')}", change, "< 1e-13")
        assert change < 1e-13


def test_two_lines_on_a_shaft_take_in_what_the_other_pays_out() -> None:
    """Two weights on drums of one shaft, wound in opposite senses: an Atwood machine of light ropes."""
    m_1, m_2, inertia, g = 2.0, 3.0, 0.5, 9.81
    radii, senses = (0.2, 0.1), (1, -1)
    lines, bodies, starts, states = {}, {}, {}, {}
    a = g * (m_2 * radii[1] - m_1 * radii[0]) / (inertia + m_1 * radii[0] ** 2 + m_2 * radii[1] ** 2)
    for k, (mass, r, sense) in enumerate(zip((m_1, m_2), radii, senses, strict=True)):
        reel = tl.Reel(drum_radius=r, inertia=inertia, guide_length=0.1, guide_law="none", shaft="winch", sense=sense)
        string = tl.String(length=10.0, stiffness=1e5, density=1e-6, law="linear")
        lines[f"l{k}"] = tl.Line(string, start_point=(0.5 * k, 0.0, 0.0), end=f"b{k}", reel=reel, elements=1)
        bodies[f"b{k}"] = tl.RigidBody.point(mass)
        rising = a * r if k == 0 else -a * r
        place = 4.0 * (1.0 + mass * (g + rising) / 1e5)
        starts[f"b{k}"] = tl.BodyState((0.5 * k, 0.0, place))
        states[f"l{k}"] = tl.LineState(np.array([[0.5 * k, 0.0, 0.0], [0.5 * k, 0.0, place]]), reeled_length=6.0)
    system = tl.System(bodies, lines, gravity=g)
    case = tl.Case(system, tl.State(starts, states), {"l0": tl.Free()}, tl.Run(duration=0.5, step=2e-4))
    sim = marched(case, 0.5)
    found = sim.state.lines
    assert (found["l0"].reeled_length - 6.0) * -0.5 == pytest.approx(found["l1"].reeled_length - 6.0, abs=1e-12)
    # strings of stiffness 1e5 N/m stretch by 1e-4 of their length, and swing about that
    assert found["l0"].reeled_length - 6.0 == pytest.approx(0.5 * a * radii[0] * 0.5**2, rel=1e-3)


def test_span_that_becomes_too_short_ends_the_run_by_name() -> None:
    case = case_of(BY_NAME["tackle-4"], duration=10.0, step=5e-4, minimum_length=2.0)
    sim = tl.Simulation.from_case(case.with_(commands={"line0": tl.Torque(30.0)}))
    assert sim.advance(6.0, {"line0": tl.Torque(30.0)}) == "two_blocked"
    assert "span" in sim.message and "'line0'" in sim.message and "'s0'" in sim.message


LAWS = [("dissipative", "mean"), ("dissipative", "extrapolated"), ("published", "mean"), ("momentum", "extrapolated")]


@pytest.mark.parametrize(("law", "strain"), LAWS)
def test_guide_laws_act_on_drums_at_the_end_of_a_line(law: str, strain: str) -> None:
    """The same line, described from its end to its start, moves alike and loses as much at its guide."""
    case = drawn(wheel(efficiency=0.96), 1.0 / 0.96, stiffness=5e3)
    line = case.system.lines["rope"]
    reel = dataclasses.replace(line.reel, guide_law=law, guide_strain=strain)
    lines = {"rope": dataclasses.replace(line, reel=reel)}
    system = dataclasses.replace(case.system, lines=lines)
    forth = tl.Case(system, case.state(), {"rope": tl.Torque(15.0)}, tl.Run(duration=0.02, step=2e-4))
    back = reversed_case(forth, "rope")
    back = tl.Case(back.system, back.state(), {"rope.end_reel": tl.Torque(15.0)}, back.run)
    found = [marched(x, 0.02) for x in (forth, back)]
    nodes = [sim.state.lines["rope"].nodes for sim in found]
    assert np.abs(nodes[0] - nodes[1][::-1]).max() < 1e-12
    losses = [float(sim.dataset()["guide_loss"].values[-1].sum()) for sim in found]
    assert losses[0] == pytest.approx(losses[1], rel=1e-9)
    assert abs(losses[0]) > 1e-3


@pytest.mark.parametrize("speed", [0.0, -0.8])
def test_drum_with_layers_on_a_line_over_a_locked_sheave(speed: float) -> None:
    """It moves as on a line that ends there, from the start on: its inertia is that of its layers."""
    reel = tl.Reel(0.1, 0.3, inertia_mass=1.0, guide_law="none", layer_growth=4e-3)
    string = tl.String(30.0, 0.4, 2e3, law="linear")
    nodes = np.stack([np.zeros(4), 0.05 * np.sin(np.arange(4.0)) * [0, 1, 1, 0], np.linspace(0.0, 3.0, 4)], axis=1)
    over = {"eye": tl.Sheave((0, 0, 3.0), 0.1, (0, 1, 0), entrance=(0, 0, 3.0), exit=(0, 0, 3.0), wrap=0.1)}
    behind = np.stack([np.linspace(0.0, 2.0, 4), np.zeros(4), np.full(4, 3.0)], axis=1)
    spans, beside = np.array([2.9, 1.95]), np.array([1.0, 0.0, 0.0])
    states, lines = {}, {}
    common: dict[str, Any] = {"reel": reel, "elements": 3}
    lines["over"] = tl.Line(string, end_point=(2.0, 0.0, 3.0), over=over, **common)
    reeled = 30.0 - 0.1 - spans.sum()
    states["over"] = tl.LineState(np.concatenate([nodes, behind]), np.zeros((8, 3)), reeled, speed, spans)
    lines["alone"] = tl.Line(
        dataclasses.replace(string, length=reeled + 2.9), start_point=(1.0, 0, 0), end_point=(1.0, 0, 3.0), **common
    )
    states["alone"] = tl.LineState(nodes + beside, np.zeros((4, 3)), reeled, speed)
    sim = tl.Simulation(tl.System({}, lines), tl.State({}, states), step=5e-4)
    commands = {"over": tl.Torque(3.0), "alone": tl.Torque(3.0), "over.eye": tl.Locked()}
    assert sim.advance(0.02, commands) == "completed", sim.message
    found = [sim.state.lines[name] for name in ("over", "alone")]
    assert abs(found[0].reeled_length - found[1].reeled_length) < 1e-12
    assert np.abs(found[0].nodes[:4] + beside - found[1].nodes).max() < 1e-12
