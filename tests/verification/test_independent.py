"""The kernels against `reference.integrate`, which shares no formula with them: each feature alone, and all of them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline.errors import InputError
from tautline.model.command import Command
from tautline.reference import ACCOUNTS, Equations
from tautline.results.conservation import balance_error
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, check_close, check_order

BODY = tl.RigidBody.box(1.0, (0.2, 0.2, 0.2), (0.0, 0.05, 0.1))
STEPS = [2e-3, 1e-3, 5e-4]
TIGHT: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-11}
DURATION = 0.1


STRAINS = np.linspace(-0.2, 0.4, 13)
STIFFENING = (STRAINS, 300.0 * np.maximum(STRAINS, 0.0) + 2000.0 * np.maximum(STRAINS, 0.0) ** 3)
# One that is under tension at its natural length.
PRELOADED = (STRAINS, 2.0 + 300.0 * STRAINS + 300.0 * np.abs(STRAINS) * STRAINS)
WIND = tl.Fluid(
    1.2, flow=((0.0, 4.0), ((3.0, 0.0, 0.0), (1.0, 1.0, 0.2))), drag_area=0.3, drag_center=(0.05, 0.02, 0.1)
)
WATER = tl.Fluid(
    1000.0, drag_area=0.002, volume=5e-4, added_mass=0.3, buoyancy_center=(0.03, 0.02, 0.0), spin_damping=1e-3
)
# The string crosses the surface, and the body is partly wet.
SEA = tl.Fluid(
    1000.0,
    flow=(0.3, 0.0, 0.1),
    drag_area=0.002,
    volume=5e-4,
    added_mass=0.3,
    spin_damping=1e-3,
    surface=2.5,
    density_above=1.2,
    body_height=4.0,
)
# A table with a kink while the reference goes on, in depth as well; and a gust in water that moves along.
GUSTY = dataclasses.replace(
    WIND,
    unsteady=tl.flows.FlowTable(
        (0.0, 0.06, 0.2), (((0, 0, 0), (9, 0, 0)), ((4, 9, 3), (0, 3, 0)), ((-8, 0, 1), (0, 0, 9))), depths=(0.5, 3.0)
    ),
)
SURGE = dataclasses.replace(SEA, unsteady=tl.flows.Gust(0.8, "pulse", -0.02, 0.2))
PUSH = tl.AppliedForce(
    force=((0.0, 0.05, 0.08), ((0, 0, 0), (0, 5, 1), (3, 0, 0))), moment=(0.0, 0.1, 0.1), point=(0.1, 0.0, 0.0)
)
PATH = tl.motions.GuidePath.of(chains.wavy, 1.0, 0.1)
ROPE = {"diameter": 0.01, "normal_added_mass": 1.0}


def pendulum(
    string: dict[str, Any] | None = None,
    table: Any = None,
    fluid: Any = None,
    applied_force: Any = None,
    body: tl.RigidBody = BODY,
    **reel: Any,
) -> chains.Chain:
    given: dict[str, Any] = string or {}
    made = (
        tl.String(10.0, 0.05, 300.0, **{"law": "linear", **given})
        if table is None
        else tl.String.from_table(10.0, 0.05, *table, **given)
    )
    drum: dict[str, Any] = {"drum_radius": 0.2, "guide_length": 0.5, "inertia_mass": 0.5} | reel
    return chains.Chain(made, tl.Reel(**drum), body, fluid=fluid, applied_force=applied_force)


LOADS = {
    "tension only": pendulum({"law": "tension_only"}),
    "table": pendulum(table=STIFFENING),
    "viscosity": pendulum({"viscosity": 1.0}),
    "viscosity, tension only": pendulum({"law": "tension_only", "viscosity": 0.5}),
    "wind": pendulum({"diameter": 0.01}, fluid=WIND),
    "water": pendulum({"diameter": 0.004}, fluid=WATER),
    "added mass": pendulum(ROPE, fluid=WATER),
    "added mass, body that does not turn": pendulum(ROPE, fluid=WATER, body=tl.RigidBody.point(1.0)),
    "surface": pendulum(ROPE, fluid=SEA),
    "surface, moving guide": pendulum(ROPE, fluid=SEA, guide_path=PATH),
    "flow over time": pendulum({"diameter": 0.01}, fluid=GUSTY),
    "gust in the sea": pendulum(ROPE, fluid=SURGE, guide_path=PATH),
    "applied_force": pendulum(applied_force=PUSH),
    "moving guide": pendulum(guide_path=PATH),
    "all": pendulum(
        {"diameter": 0.01, "viscosity": 0.5},
        STIFFENING,
        WIND,
        PUSH,
        guide_path=PATH,
        layer_growth=0.02,
        viscous_friction=0.2,
        motor_inertia=1e-3,
        gear_ratio=5.0,
    ),
}
PRESCRIBED = tl.Length(pieces=([0.0], [[4.0, 0.0, 1.0, 0.5, -0.3, 0.1]]))


def swinging(system: chains.Chain, reel_speed: float = 0.0, stretch: float = 1.02) -> chains.ChainState:
    """Straight, stretched, pushed at its end; three elements."""
    start = chains.straight(system, 4.0, 3, (1.0, 0.0, 2.0), end_velocity=(0.0, 1.0, 0.0), reel_speed=reel_speed)
    return chains.ChainState(start.reeled_length, reel_speed, stretch * start.nodes, start.node_velocities)


def distance(run: xr.Dataset, exact: xr.Dataset) -> float:
    """Distance in place, attitude and energy at the end; accounts are told apart from each other."""
    names = ("position", "reeled_length", "attitude", "kinetic_energy", "elastic_energy", "gravity_energy", *ACCOUNTS)
    return max(float(np.abs(run[name][-1] - exact[name][-1]).max()) for name in names)


def compare(
    system: chains.Chain, start: chains.ChainState, command: Command, steps: list[float], name: str, report: Report
) -> xr.Dataset:
    """Order two against the reference, whose own balance of energy closes."""
    exact = chains.integrate(system, start, command, duration=DURATION, sample=DURATION / 2, **TIGHT)
    assert exact.attrs["status"] == "completed"
    scale = float(exact.kinetic_energy.max())
    check_below("balance of the reference", float(np.abs(balance_error(exact)).max()), 1e-7 * scale)
    runs = [chains.simulate(system, start, command, duration=DURATION, sample=DURATION / 2, step=h) for h in steps]
    order = check_order(steps, [distance(run, exact) for run in runs], 2.0, tolerance=0.1)
    report(f"{name}: order against the reference", order, "2 +- 0.1")
    return exact


@pytest.mark.parametrize("command", [tl.Locked(), PRESCRIBED], ids=["locked", "driven"])
@pytest.mark.parametrize("name", LOADS)
def test_each_load(name: str, command: Command, report: Report) -> None:
    kind = type(command).__name__
    exact = compare(LOADS[name], swinging(LOADS[name]), command, STEPS, f"{name}, {kind}", report)
    acts = {
        "viscosity": "damping_loss",
        "wind": "fluid_work",
        "water": "fluid_work",
        "added mass": "fluid_work",
        "surface": "fluid_work",
        "applied_force": "external_work",
        "moving guide": "guide_work",
    }
    if name in acts:
        assert abs(float(exact[acts[name]][-1])) > 1e-4


@pytest.mark.parametrize("speed", [1.5, -1.5], ids=["retrieval", "deployment"])
@pytest.mark.parametrize("name", LOADS)
def test_each_load_on_a_reel_that_turns(name: str, speed: float, report: Report) -> None:
    command = tl.Torque(([0.0, 0.06], [1.0, 4.0]) if speed > 0.0 else 0.0)
    compare(LOADS[name], swinging(LOADS[name], speed), command, STEPS, f"{name}, {speed:+g} m/s", report)


@pytest.mark.parametrize("law", ["dissipative", "published", "none"])
@pytest.mark.parametrize("speed", [1.5, -1.5], ids=["retrieval", "deployment"])
@pytest.mark.parametrize("table", [STIFFENING, PRELOADED], ids=["stiffening", "preloaded"])
def test_guide_laws_with_a_tension_table(table: Any, speed: float, law: str, report: Report) -> None:
    """Stretched by a fifth, where W and F eps - W differ."""
    system = pendulum(table=table, guide_law=law)
    command = tl.Torque(20.0 if speed > 0.0 else 3.0)
    exact = compare(system, swinging(system, speed, 1.2), command, STEPS, f"{law}, {speed:+g} m/s", report)
    assert np.sign(exact.reel_speed.values).tolist() == [np.sign(speed)] * 3
    lost = float(exact.guide_loss[-1])
    assert lost == 0.0 if law == "none" else (lost > 0.1 if law == "dissipative" or speed > 0.0 else lost < -0.1)


DRUMS: dict[str, tuple[dict[str, Any], Command, float]] = {
    "dry friction": ({"coulomb_friction": 0.3, "viscous_friction": 0.1}, tl.Torque(6.0), 1.5),
    "dry friction, from rest": ({"coulomb_friction": 0.3}, tl.Torque(6.0), 0.0),
    "brake": ({"coulomb_friction": 0.1}, tl.Brake(([0.0, 0.06], [0.2, 1.0])), -1.5),
    "torque limit": ({"max_torque": 4.0}, tl.Torque(6.0), 1.5),
    "power limit": ({"max_power": 10.0}, tl.Torque(6.0), 1.5),
    "spring": ({}, tl.Impedance(tl.Length(([0.0, 0.5], [4.0, 4.5])), stiffness=200.0, damping=20.0), 1.5),
    "driven with friction": ({"coulomb_friction": 0.3, "viscous_friction": 0.1, "layer_growth": 0.02}, PRESCRIBED, 0.0),
}


@pytest.mark.parametrize("name", DRUMS)
def test_each_drum(name: str, report: Report) -> None:
    reel, command, speed = DRUMS[name]
    system = pendulum(guide_law="none", **reel)
    compare(system, swinging(system, speed), command, STEPS, name, report)


def test_the_held_moment_holds(report: Report) -> None:
    """What the reference reports under Locked, given as a torque, leaves a free drum without acceleration."""
    system = LOADS["all"]
    start = swinging(system)
    held = chains.integrate(system, start, tl.Locked(), duration=0.1, sample=0.05)
    assert abs(held.torque.values).min() > 0.1
    locked = Equations(system, 3, tl.Locked())
    y = locked.pack(start)
    for t in (0.0, 0.05, 0.1):
        free = Equations(system, 3, tl.Torque(locked.torque(t, y)))
        assert abs(float(free(t, y)[10 + 9])) < 1e-10
        free = Equations(system, 3, tl.Free())
        assert abs(float(free(t, y)[10 + 9])) > 0.1
    check_close("torque at the start", held.torque[0], locked.torque(0.0, y), 1e-12)


def test_the_held_moment_of_a_weight() -> None:
    """A light string: EA (eps + eps^2/2) on the arm d, of the potential alone."""
    mass, EA, d = 2.0, 500.0, 0.1
    system = chains.Chain(tl.String(20.0, 1e-9, EA, law="linear"), tl.Reel(d, 0.1, 1.0), tl.RigidBody.point(mass))
    locked = Equations(system, 3, tl.Locked())
    strain = mass * 9.81 / EA
    found = locked.torque(0.0, locked.pack(chains.hanging(system, 5.0, 3)))
    check_close("torque", found, EA * (strain + 0.5 * strain**2) * d, 1e-6)


def test_torque_of_a_given_motion_with_loads_is_its_power() -> None:
    """The work account is the integral of torque times the drum's angular velocity."""
    system = LOADS["all"]
    run = chains.integrate(system, swinging(system), PRESCRIBED, duration=DURATION, sample=DURATION / 400)
    radius = np.array([system.reel.radius(s) for s in run.reeled_length.values])
    power = run.torque.values * run.reel_speed.values / radius
    from scipy.integrate import simpson

    check_close("work", simpson(power, run.time.values), run.control_work[-1], 1e-5)


def test_what_the_reference_cannot_do_is_said() -> None:
    stuck = pendulum(coulomb_friction=50.0)
    settings: dict[str, Any] = {"duration": 0.2, "sample": 0.1}
    with pytest.raises(InputError, match="dry friction of 250 N holds"):
        chains.integrate(stuck, swinging(stuck), tl.Free(), **settings)
    with pytest.raises(InputError, match=r"State\.reel_speed: expected the speed of the command"):
        chains.integrate(pendulum(), swinging(pendulum()), tl.Speed(payout=1.0), **settings)
    jumps = tl.Length(pieces=([0.0, 0.1], [[4.0, 0.0], [4.0, 1.0]]))
    with pytest.raises(InputError, match=r"jump of its speed at t = 0\.1 s"):
        chains.integrate(pendulum(), swinging(pendulum()), jumps, **settings)
    path = tl.motions.GuidePath((0.0, 0.1), ((0, 0, 0), (0.1, 0, 0)), velocities=((1, 0, 0), (1, 0, 0)))
    moved = pendulum(guide_path=path)
    with pytest.raises(InputError, match="guide_path to move without an impulse"):
        chains.integrate(moved, swinging(moved), tl.Locked(), **settings)


def test_a_drum_that_stops_slipping_ends_the_run() -> None:
    system = pendulum(guide_law="none", coulomb_friction=4.0)
    run = chains.integrate(system, swinging(system, -0.5), tl.Free(), duration=1.0, sample=0.01)
    assert run.attrs["status"] == "standstill" and "dry friction" in run.attrs["message"]
    kernels = chains.simulate(system, swinging(system, -0.5), tl.Free(), duration=1.0, sample=0.01, step=1e-4)
    stopped = float(kernels.time[np.argmax(kernels.reel_speed.values == 0.0)])
    assert abs(float(run.time[-1]) - stopped) < 0.03
