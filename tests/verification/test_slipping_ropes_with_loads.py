"""Ropes that may slip on their wheel beside damping, fluids and force laws (docs/theory.md, "Slip")."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.ledger import kept_energy
from tests.conftest import Report
from tests.support.capstan import STICKS, Capstan
from tests.support.checking import check_below, check_close, check_order

G, RADIUS, HEIGHT = 9.81, 0.5, 20.0
ROPE = tl.String(
    2.0 * HEIGHT + math.pi * RADIUS, 0.3, 2e5, viscosity=1.5e3, diameter=0.02, normal_drag=1.2, tangential_drag=0.02,
    law="linear",
)  # fmt: skip
AIR = tl.Fluid(1.2, (3.0, 1.0, 0.0))
WATER = tl.Fluid(1025.0, (0.3, 0.0, 0.0), surface=12.0)


def lift(
    command: Any = None,
    friction: float | None = 0.2,
    fluid: Any = None,
    masses: tuple[float, float] = (20.0, 25.0),
    elements: int = 2,
    rope: tl.String = ROPE,
    wheel: dict[str, Any] | None = None,
    kinematic: tl.Kinematic | None = None,
    **run: Any,
) -> tl.Case:
    """Two masses on a traction sheave, at rest while it holds the rope."""
    settings: dict[str, Any] = {"inertia_mass": 6.0, "groove_friction": friction} | (wheel or {})
    on = {} if kinematic is None else {"on": "house"}
    sheave = tl.Sheave((0, 0, 0), RADIUS, (0, 1, 0), **settings, **on)
    line = tl.Line(rope, "car", (0, 0, 0), "weight", (0, 0, 0), over={"wheel": sheave}, elements=elements)
    bodies: dict[str, Any] = {"car": tl.RigidBody.point(masses[0]), "weight": tl.RigidBody.point(masses[1])}
    own = tl.BodyInFluid(drag_area=0.4, volume=4e-3, added_mass=2.0)
    around = dict.fromkeys(bodies, own) if fluid else {}
    house = {} if kinematic is None else {"house": kinematic}
    system = tl.System(house | bodies, {"rope": line}, fluid=fluid, body_fluid=around)
    near = tl.Placed({"car": (-RADIUS, 0.0, HEIGHT), "weight": (RADIUS, 0.0, HEIGHT)})
    dry = dataclasses.replace(system, fluid=None, body_fluid={})
    rest = tl.statics(dry, near, locked=["rope.wheel"])
    commands = {} if command is None else {"rope.wheel": command}
    return tl.Case(system, rest.state, commands, tl.Run(**{"duration": 0.5, "sample": 0.05, "step": 5e-4} | run))


TIMES = np.array([0.0, 0.1, 0.25, 0.4, 1.0])
TORQUES = {
    "sticks": (9.0, np.array([0.0, 100.0, 100.0, -50.0, -50.0])),
    "slips": (0.2, np.array([400.0, 400.0, 400.0, 300.0, 300.0])),
    "both": (0.2, np.array([0.0, 400.0, -400.0, 0.0, 0.0])),
}


@pytest.mark.parametrize("name", TORQUES)
def test_a_damped_rope_is_that_of_an_independent_integration(name: str, report: Report) -> None:
    """One element on each side: Lagrange's equations by SymPy, DOP853, and changes between sticking and slipping found
    as events."""
    friction, torques = TORQUES[name]
    steps, errors = [2e-3, 1e-3, 5e-4, 2.5e-4], []
    cases = [lift(tl.Torque((TIMES, torques)), friction, elements=1, step=h) for h in steps]
    runs = [tl.simulate(case) for case in cases]
    depths, out = runs[0].body_position.values[0, :, 2], runs[0].span_length.values[0]
    model = Capstan(
        *(ROPE.density, ROPE.stiffness, ROPE.viscosity, 20.0, 25.0, (float(out[0]), float(out[1])), RADIUS, 6.0),
        *(friction, lambda t: float(np.interp(t, TIMES, torques))),
    )
    exact, phases = model.integrate([*depths, *6 * (0.0,)], runs[0].time.values[1:])
    assert len({side for _, side in phases}) == (3 if name == "both" else 1)
    assert (phases[0][1] == STICKS) == (name != "slips")
    for run in runs:
        found = [*run.body_position.values[:, :, 2].T, run.passed.values[:, 0], run.rim_travel.values[:, 0]]
        errors.append(float(np.abs(np.stack(found, axis=1) - exact[:, :4]).max()))
    if name == "both":  # slips one way, sticks, slips the other way: when, within a step, is different for every step
        assert all(error < 100.0 * h**2 for error, h in zip(errors, steps, strict=True)), errors
    else:
        report(f"damped rope on a wheel, {name}: order", check_order(steps, errors, 2.0), "2 +- 0.3")
    report(f"damped rope on a wheel, {name}: error of places (m)", errors[-1], "< 4e-6")
    check_below("places", errors[-1], 4e-6)


@pytest.mark.parametrize("fluid", [None, AIR, WATER], ids=["damping", "air", "water"])
def test_a_rope_that_never_slips_is_one_on_a_plain_sheave(fluid: Any) -> None:
    """Rope and wheel are then one unknown, where loads act too: up to rounding."""
    torque = tl.Torque((np.array([0.0, 0.2, 0.4]), np.array([0.0, 150.0, -50.0])))
    house = tl.Kinematic(path=tl.motions.Sine((0.05, 0.0, 0.1), 1.3))
    wheel = {"efficiency": 0.95}
    first, second = (
        tl.simulate(lift(torque, friction, fluid, wheel=wheel, kinematic=house)) for friction in (9.0, None)
    )
    names = ("body_position", "passed", "rim_speed", "sheave_loss", "control_work", "damping_loss", "fluid_work")
    for name in (*names, "guide_work", "energy"):
        np.testing.assert_allclose(first[name], second[name], rtol=1e-9, atol=1e-9, err_msg=name)
    np.testing.assert_allclose(first.sheave_torque, second.sheave_torque, atol=1e-8)
    assert not [w for w in tl.warnings_of(first) if w.kind == "slip"] and float(np.abs(first.passed).max()) > 0.05
    assert float(first.damping_loss[-1]) > 0.1 and (fluid is None or float(np.abs(first.fluid_work[-1])) > 1e-3)


@pytest.mark.parametrize("seed", range(8))
def test_slip_and_loads_never_give_energy(seed: int) -> None:
    """Whatever masses, friction, damping and torques: losses grow, and the balance closes to the order of the step."""
    random = np.random.default_rng(100 + seed)
    times = np.linspace(0.0, 0.4, 9)
    rope = dataclasses.replace(ROPE, viscosity=float(10.0 ** random.uniform(1.0, 4.5)))
    command: Any = tl.Torque((times, random.normal(size=9) * 300.0))
    if seed % 4 == 3:
        command = tl.Brake(float(random.uniform(20.0, 400.0)))
    masses = tuple(random.uniform(5.0, 40.0, 2))
    fluid = tl.Fluid(float(random.uniform(1.0, 1000.0))) if seed % 2 else None  # at rest, so it only takes
    wheel = {"efficiency": 0.9} if seed % 3 == 0 else {}
    friction = float(random.uniform(0.03, 0.4))
    errors = []
    for step in (1e-3, 2.5e-4):  # the coefficient of the error varies with where in a step a slip ends
        case = lift(command, friction, fluid, masses, rope=rope, wheel=wheel, duration=0.4, sample=0.01, step=step)
        run = tl.simulate(case)
        for name in ("friction_loss", "damping_loss"):
            account = run[name].values
            assert (np.diff(account) >= -1e-9 * max(1.0, float(account[-1]))).all(), name
        mechanical = (run.energy - run.control_work).values
        lost = float(run.friction_loss[-1] + run.damping_loss[-1])
        kept = kept_energy(run).values
        size = float(np.ptp(run.kinetic_energy.values)) + lost
        errors.append(float(np.abs(kept - kept[0]).max()) / size)
        assert float(np.diff(mechanical).max()) < 1e-3 * size
    assert errors[0] < 2e-3 and errors[1] < 0.2 * errors[0], errors


def test_stiff_damping_limits_no_step() -> None:
    """A rope whose damping would stop its waves within a step, on a wheel that brakes and lets it slip."""
    rope = dataclasses.replace(ROPE, viscosity=1e5)
    run = tl.simulate(lift(tl.Brake(2000.0), 0.05, rope=rope, masses=(10.0, 30.0), elements=8, duration=0.5, step=1e-3))
    assert [w for w in tl.warnings_of(run) if w.kind == "slip"]
    kept = kept_energy(run).values
    assert np.abs(kept - kept[0]).max() < 1e-2 * float(run.friction_loss[-1])
    assert (np.diff(run.damping_loss.values) >= 0.0).all()


@pytest.mark.parametrize("viscosity", [0.0, 1.5e3])
def test_many_turns_that_are_pulled_tight_while_they_slip(viscosity: float) -> None:
    """Three turns hold 12,000 times the smaller tension: where that is none and then some, the groove grips at once."""
    length = ROPE.length + 6.0 * math.pi * RADIUS
    rope = dataclasses.replace(ROPE, viscosity=viscosity, law="tension_only", length=length)
    torque = tl.Torque((np.array([0.0, 0.2, 0.4]), np.array([0.0, 300.0, -200.0])))
    wheel = {"turns": 3, "efficiency": 0.95}
    run = tl.simulate(lift(torque, 3.0 / 7.0, WATER if viscosity else None, rope=rope, wheel=wheel))
    assert run.attrs["status"] == "completed" and [w for w in tl.warnings_of(run) if w.kind == "slip"]
    kept = kept_energy(run).values
    # 0.07 and 0.10 if a grip that turns the slip round were given; steps are too long for what is slack for an instant
    assert np.abs(kept - kept[0]).max() < 0.02 * (np.ptp(run.kinetic_energy.values) + float(run.friction_loss[-1]))


def test_a_block_with_a_slipping_wheel_keeps_its_momentum() -> None:
    """In free space a wheel on a free body, whose rope slips and is damped, moves nothing from outside."""
    sheave = tl.Sheave((0, 0, 0), 0.2, (0, 1, 0), on="block", inertia_mass=1.0, groove_friction=0.1)
    rope = tl.String(8.0 + 0.2 * math.pi, 0.5, 1e4, viscosity=50.0, law="linear")
    line = tl.Line(rope, "a", (0, 0, 0), "b", (0, 0, 0), over={"wheel": sheave}, elements=3)
    block = tl.RigidBody.box(6.0, (0.4, 0.2, 0.4), (0.02, 0.0, 0.03))
    bodies = {"a": tl.RigidBody.point(2.0), "b": tl.RigidBody.point(5.0), "block": block}
    system = tl.System(bodies, {"rope": line}, gravity=0.0)
    state = tl.Placed({"a": (-0.2, 0.0, 4.2), "b": (0.2, 0.1, 4.2), "block": (0.0, 0.0, 0.0)})
    torque = tl.Torque((np.array([0.0, 0.3, 1.0]), np.array([0.0, 80.0, -80.0])))
    run = tl.simulate(system, state, {"rope.wheel": torque}, duration=1.0, sample=0.05, step=2e-4)
    assert [w for w in tl.warnings_of(run) if w.kind == "slip"]
    size = float((np.linalg.norm(run.body_velocity.values[-1], axis=1) * [2.0, 5.0, 6.0]).sum())
    assert size > 1.0
    for name in ("linear_momentum", "angular_momentum"):
        check_below(name, float(np.abs(run[name].values - run[name].values[0]).max()) / size, 1e-12)
    kept = kept_energy(run).values
    assert np.abs(kept - kept[0]).max() < 1e-4 * float(run.friction_loss[-1])


def breeze(t: float, state: Any, parameters: Any, force: Any, moment: Any) -> None:
    force[-1] = -5.0 * (state.velocity[-1] - parameters)


def with_tail(friction: float | None, torques: Any, step: float) -> Any:
    """A weight on a rope below the car, in a breeze that a force law makes."""
    base = lift(friction=friction)
    cord = tl.Line(tl.String(5.0, 0.2, 1e4), "car", (0, 0, 0), "tail", (0, 0, 0), elements=2)
    bodies, lines = {**base.system.bodies, "tail": tl.RigidBody.point(1.0)}, {**base.system.lines, "cord": cord}
    system = dataclasses.replace(base.system, bodies=bodies, lines=lines)
    near = tl.Placed({"car": (-RADIUS, 0, HEIGHT), "weight": (RADIUS, 0, HEIGHT), "tail": (-RADIUS, 0, 25.0)})
    state = tl.statics(system, near, locked=["rope.wheel"]).state
    law = tl.ForceLaw(breeze, (2.0, 0.0, 0.0))
    run: dict[str, Any] = {"duration": 0.3, "sample": 0.05, "step": step}
    return tl.simulate(system, state, {"rope.wheel": tl.Torque((TIMES, torques))}, loads={"cord": law}, **run)


def test_a_force_law_beside_a_rope_that_may_slip(report: Report) -> None:
    """On a line of one span: without slip as on a plain sheave, with it as its work says, of order 2."""
    first, second = (with_tail(friction, TORQUES["sticks"][1], 1e-3) for friction in (9.0, None))
    for name in ("body_position", "passed", "rim_speed", "force_law_work"):
        np.testing.assert_allclose(first[name], second[name], rtol=1e-9, atol=1e-10, err_msg=name)
    errors, steps = [], [1e-3, 5e-4, 2.5e-4]
    for step in steps:
        run = with_tail(0.2, TORQUES["slips"][1], step)
        kept = kept_energy(run).values
        errors.append(float(np.abs(kept - kept[0]).max()))
    assert [w for w in tl.warnings_of(run) if w.kind == "slip"] and abs(float(run.force_law_work[-1])) > 1e-2
    report("force law beside a rope that slips: order of the balance", check_order(steps, errors, 2.0, 0.5), "2")


def test_derivatives_of_a_damped_rope_that_slips() -> None:
    case = lift(tl.Torque((TIMES, TORQUES["slips"][1])), fluid=AIR, duration=0.1)
    keys = ["lines.rope.over.wheel.groove_friction", "lines.rope.viscosity"]
    names = ("passed", "rim_travel", "tension", "damping_loss", "fluid_work")
    found = tl.jacobian(case, names, keys)
    for k, (key, width) in enumerate(zip(keys, (1e-4, 1.0), strict=True)):
        weights = {-2: 1.0, -1: -8.0, 1: 8.0, 2: -1.0}
        value = {"groove_friction": 0.2, "viscosity": ROPE.viscosity}[key.rsplit(".", 1)[1]]
        runs = {i: tl.simulate(case.with_({key: value + width * i})) for i in weights}
        for name in names:
            expected = sum(w * runs[i][name].values for i, w in weights.items()) / (12.0 * width)
            error = np.abs(found[name].values[..., k] - expected)[1:].max()
            assert error <= 1e-5 * np.abs(expected).max() + 1e-9, (key, name)


def test_a_control_loop_that_is_cut_goes_on_as_the_whole(tmp_path: Path) -> None:
    """Saved and copied while the rope sticks and while it slips, with loads that act where steps join."""
    case = lift(tl.Torque((TIMES, TORQUES["both"][1])), fluid=AIR)
    ends = []
    for cut in (0.0, 0.03, 0.2):
        simulation = tl.Simulation.from_case(case)
        if cut:
            simulation.advance(cut, case.commands)
            simulation.save(tmp_path / "half.npz")
            simulation = tl.Simulation.load(tmp_path / "half.npz")
        simulation.advance(0.5 - cut, case.commands)
        ends.append(simulation.dataset().isel(time=-1))
    for end in ends[1:]:
        for name in ("body_position", "passed", "rim_speed", "damping_loss", "friction_loss"):
            check_close(name, end[name], ends[0][name], 1e-12)
