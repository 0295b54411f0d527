"""Spooled string on a kinematic body that goes up and down: its inertia about the drum (docs/theory.md, 139)."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
import sympy
from scipy.integrate import quad

import tautline as tl
from tautline.engine.lowering import line_parameters
from tautline.kernels.loads.guide_motion import spooled_by_s
from tautline.ledger import kept_energy
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, check_close, check_order

pytestmark = pytest.mark.network

G = 9.81
STEPS = [1e-3, 5e-4, 2.5e-4]
ROPE = tl.String(60.0, 0.8, 4e4, diameter=0.03, normal_drag=1.2, tangential_drag=0.02)
REEL = tl.Reel(0.3, 0.6, 4.0)
BODY = tl.RigidBody.box(60.0, (0.4, 0.3, 0.5), (0.05, 0.0, 0.3))


def test_the_force_on_the_drum_follows_from_the_motion_of_every_piece() -> None:
    """Lagrange's equation of all that is on the drum and in the guide, summed piece by piece."""
    s, b, d, mu, zeta = sympy.symbols("s b d mu zeta", positive=True)
    sigma, rate, U, a = sympy.symbols("sigma rate U a", real=True)
    angle = (s - b - zeta) / d  # of a piece on the drum above the point where the string leaves it
    on_drum = (d * (1 - sympy.cos(angle)), -b - d * sympy.sin(angle))  # from the guide entrance, down
    in_guide = (sympy.Integer(0), zeta - s)

    def kinetic(place: tuple[Any, Any]) -> Any:
        across, down = (x.diff(s) * sigma for x in place)
        return sympy.simplify(mu / 2 * (across**2 + (down + U) ** 2))

    T = sympy.integrate(kinetic(on_drum), (zeta, 0, s - b)) + sympy.integrate(kinetic(in_guide), (zeta, s - b, s))
    momentum = T.diff(sigma)
    force = momentum.diff(s) * sigma + momentum.diff(sigma) * rate + momentum.diff(U) * a - T.diff(s)
    slope = -mu * (b + d * sympy.sin((s - b) / d))
    at_rest = mu * s * rate + mu * sigma**2 / 2 - mu * U**2 / 2  # the last is that of the mass at the entrance
    assert sympy.simplify(force - at_rest - slope * a) == 0
    numbers = {s: 7.3, b: REEL.guide_length, d: REEL.drum_radius, mu: ROPE.density}
    par = line_parameters(ROPE, REEL, 2, "symmetric", True)
    assert spooled_by_s(par, 7.3)[2] == pytest.approx(float(slope.subs(numbers)), rel=1e-12)


@pytest.mark.parametrize("growth", [0.0, 0.02])
def test_the_slope_of_the_first_moment_is_that_of_its_integral(growth: float) -> None:
    """Also on a drum that grows: pieces stay on their radius and turn with the drum."""
    reel = dataclasses.replace(REEL, layer_growth=growth)
    par = line_parameters(ROPE, reel, 2, "symmetric", True)

    def moment(s: float) -> float:
        w = s - par.b

        def turned(x: float) -> float:
            """Angle through which the drum turns while the length x is spooled."""
            return 2.0 * x / (par.d + math.sqrt(par.d**2 + growth * x))

        on_drum = quad(lambda x: -par.b - math.sqrt(par.d**2 + growth * x) * math.sin(turned(w) - turned(x)), 0.0, w)
        return float(on_drum[0]) - 0.5 * par.b**2

    s, h = 7.3, 1e-4
    slope = (moment(s + h) - moment(s - h)) / (2.0 * h)
    assert spooled_by_s(par, s)[2] == pytest.approx(par.mu * slope, rel=1e-6)


def heaving(command: Any, fluid: Any = None, path: Any = None, **reel: Any) -> tuple[tl.System, Any, Any]:
    """A load on a reel that a kinematic body carries up and down."""
    path = path or tl.motions.Sine((0.3, 0.0, 0.8), 3.0, phase=0.4)
    jib = tl.Kinematic(position=(0.0, 0.0, -2.0), path=path)
    line = tl.Line(ROPE, "jib", (0.2, 0.0, 0.1), "load", reel=dataclasses.replace(REEL, **reel), elements=6)
    around = {"load": tl.BodyInFluid(drag_area=0.1, volume=0.02, added_mass=10.0)} if fluid else {}
    system = tl.System({"jib": jib, "load": BODY}, {"line": line}, fluid=fluid, body_fluid=around)
    return system, tl.Hanging(20.0), {"line": command}


HOLD = 0.3 * (60.0 + 0.8 * 20.0) * G
COMMANDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "free": (tl.Free(), {}),
    "torque": (tl.Torque(1.1 * HOLD), {"viscous_friction": 5.0}),
    "impedance": (tl.Impedance(20.0, 2e3, 300.0), {"guide_law": "none"}),
    "length": (tl.Length.to(17.0, speed=2.0, acceleration=4.0), {}),
    "brake": (tl.Brake(0.5 * HOLD), {}),
    "layers": (tl.Torque(0.7 * HOLD), {"layer_growth": 0.01, "coulomb_friction": 5.0}),
    "locked": (tl.Locked(), {}),
}
SEA = tl.Fluid(1025.0, (0.4, 0.0, 0.0), surface=3.0)


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("fluid", [None, SEA], ids=["vacuum", "surface"])
def test_chain_and_network_heave_alike(name: str, fluid: Any, report: Report) -> None:
    """Each with errors of its own, of order 2: so is their difference, and that of all that they report."""
    command, reel = COMMANDS[name]
    case = heaving(command, fluid, **reel)
    names = [
        *("position", "velocity", "attitude", "reeled_length", "reel_speed"),
        *("kinetic_energy", "guide_work", "control_work", "torque", "tension"),
    ]
    differences: dict[str, list[float]] = {x: [] for x in names}
    for step in STEPS:
        runs = []
        for backend in (chains.CHAIN, chains.NETWORK):
            with chains.on(backend):
                runs.append(tl.simulate(*case, duration=0.8, sample=0.1, step=step))
        for x in names:
            size = max(1.0, float(np.abs(runs[0][x].values).max()))
            differences[x].append(float(np.abs(runs[1][x].values - runs[0][x].values)[1:].max()) / size)
    for x in names:
        if differences[x][0] > 1e-8:
            assert differences[x][-1] < 0.12 * differences[x][0], (x, differences[x])
        check_below(x, differences[x][-1], 1e-4)
    report(f"heaving jib, {name}: chain and network, reel speed (m/s)", differences["reel_speed"][-1], "< 1e-6")


@pytest.mark.parametrize("fluid", [None, SEA], ids=["vacuum", "surface"])
def test_order_two_against_an_independent_integration(fluid: Any, report: Report) -> None:
    """DOP853 on Lagrange's equations of the whole."""
    system, start, commands = heaving(tl.Torque(1.1 * HOLD), fluid, guide_law="none")
    exact = tl.reference.integrate(system, start, commands, duration=0.3, sample=0.1)
    errors = []
    for step in STEPS:
        with chains.on(chains.NETWORK):
            run = tl.simulate(system, start, commands, duration=0.3, sample=0.1, step=step)
        errors.append(float(np.abs(run.reel_speed.values - exact.reel_speed.values).max()))
    report("reel on a heaving jib: order of its speed", check_order(STEPS, errors, 2.0), "2 +- 0.3")
    check_below("reel speed (m/s)", errors[-1], 1e-5)


def drums(gravity: float, fall: float) -> tuple[tl.System, Any, dict[str, Any]]:
    """Drums of all kinds on bodies that fall with an acceleration or stand, and what hangs on them."""
    T = 2.0
    path = tl.motions.GuidePath(
        (0.0, T), ((0, 0, 0), (0, 0, 0.5 * fall * T * T)), velocities=((0, 0, 0), (0, 0, fall * T))
    )
    crab, post = (tl.Kinematic(position=place, path=path) for place in ((0.0, 0.0, 0.0), (3.0, 0.0, 0.0)))
    rope = tl.String(30.0, 0.5, 4e4, viscosity=20.0)
    shaft = tl.Reel(0.3, 0.6, 4.0, shaft="winch")
    single = tl.Reel(0.25, 0.2, 4.0, viscous_friction=2.0)
    eye = tl.Sheave((-1.0, 0.0, 0.0), 0.2, (0, 1, 0), on="post", inertia_mass=2.0, groove_friction=0.3)
    lines = {
        "left": tl.Line(rope, "crab", (-0.5, 0.0, 0.0), "beam", (-0.5, 0.0, 0.0), reel=shaft, elements=2),
        "right": tl.Line(rope, "crab", (0.5, 0.0, 0.0), "beam", (0.5, 0.0, 0.0), reel=shaft, elements=2),
        "up": tl.Line(rope, "load", (0, 0, 0), "post", (0.0, 0.0, 0.0), end_reel=single, elements=2),
        "over": tl.Line(rope, "crab", (0, 0, 0), "hook", (0, 0, 0), over={"eye": eye}, reel=single, elements=2),
        "driven": tl.Line(rope, "post", (1.0, 0, 0), "weight", (0, 0, 0), reel=single, elements=2),
        "locked": tl.Line(rope, "post", (2.0, 0, 0), "bob", (0, 0, 0), reel=single, elements=2),
    }
    masses = {"load": 20.0, "hook": 25.0, "weight": 10.0, "bob": 10.0}
    beam = tl.RigidBody.box(40.0, (1.2, 0.2, 0.2), (0.0, 0.0, 0.1))
    bodies = {"beam": beam} | {name: tl.RigidBody.point(mass) for name, mass in masses.items()}
    places = {
        "beam": (0.0, 0.0, 10.0),
        "load": (3.1, 0.0, 8.0),
        "hook": (2.2, 0.0, 9.0),
        "weight": (4.2, 0.1, 8.0),
        "bob": (5.1, 0.0, 6.0),
    }
    commands = {
        "left": tl.Torque(100.0),
        "up.end_reel": tl.Free(),
        "over": tl.Torque(40.0),
        "driven": tl.Speed(retrieval=([0.0, 0.5], [0.0, 0.7])),
        "locked": tl.Locked(),
    }
    return tl.System({"crab": crab, "post": post, **bodies}, lines, gravity), tl.Placed(places), commands


def test_drums_that_fall_are_drums_in_weaker_gravity(report: Report) -> None:
    """Einstein, in the discrete equations and so to rounding: ends, shafts, sheaves, torques of locks and motions."""
    fall = 4.0
    run: dict[str, Any] = {"duration": 0.5, "sample": 0.1, "step": 5e-4}
    moved, lighter = (tl.simulate(*drums(g, a), **run) for g, a in ((G, fall), (G - fall, 0.0)))
    way = 0.5 * fall * moved.time.values**2
    for name in ("position", "body_position"):
        relative = moved[name].values[..., 2] - way[:, None] - lighter[name].values[..., 2]
        error = check_below(name, float(np.abs(relative).max()), 1e-10)
        report(f"drums that fall: {name} against weaker gravity (m)", error, "< 1e-10")
    limits = {"reeled_length": 1e-11, "reel_speed": 1e-10, "passed": 1e-11, "tension": 1e-7, "torque": 1e-5}
    for name, limit in limits.items():
        check_close(name, moved[name], lighter[name], limit)
    assert float(np.abs(np.diff(lighter.reeled_length.values[-1] - lighter.reeled_length.values[0])).max()) > 0.1


def test_work_of_a_carrier_closes_the_balance(report: Report) -> None:
    """The carrier bears what goes up and down around its drum: impulses and work of order 2, with loads."""
    for fluid in (None, SEA):
        errors = []
        for step in STEPS:
            with chains.on(chains.NETWORK):
                run = tl.simulate(*heaving(tl.Torque(1.3 * HOLD), fluid), duration=0.8, sample=0.1, step=step)
            kept = kept_energy(run).values
            errors.append(float(np.abs(kept - kept[0]).max()))
        report("reel on a heaving jib: order of the balance", check_order(STEPS, errors, 2.0, 0.5), "2")


def test_carriers_feel_the_same_force_on_both_backends() -> None:
    """Of a drum in prescribed motion, over ticks: the momentum of what is spooled changes with its speed."""
    motion = tl.Speed(retrieval=([0.0, 0.4, 0.8], [0.0, 2.0, -1.0]))
    forces = []
    for backend in (chains.CHAIN, chains.NETWORK):
        with chains.on(backend):
            system, start, _ = heaving(motion)
            simulation = tl.Simulation(system, start, step=2.5e-4)
            found = []
            for _ in range(10):
                simulation.advance(0.05, {"line": motion})
                found.append(simulation.bodies["jib"].force)
            forces.append(found)
    check_close("force on the jib (N)", forces[1], forces[0], 0.05)


def test_a_drum_at_rest_on_a_carrier_that_accelerates_holds_its_torque() -> None:
    """Statics with `acceleration` and a run from there: nothing moves, and locks find the same torque."""
    path = tl.motions.GuidePath((0.0, 1.0), ((0, 0, 0), (0, 0, -1.5)), velocities=((0, 0, 0), (0, 0, -3.0)))
    system, _, _ = heaving(tl.Free(), path=path, guide_law="none")
    found = tl.statics(system, tl.Hanging(20.0), acceleration=True)
    torque = float(tl.modes(system, found, reel="free").balancing_torque[0])
    assert found.lines["line"].holding_torque == pytest.approx(torque, rel=1e-12)
    run = tl.simulate(system, found.state, {"line": tl.Torque(torque)}, duration=0.5, sample=0.1, step=5e-4)
    assert float(np.abs(run.reel_speed.values).max()) < 1e-10
    held = tl.simulate(system, found.state, {"line": tl.Locked()}, duration=0.5, sample=0.1, step=5e-4)
    np.testing.assert_allclose(held.torque.values, torque, rtol=1e-9)


def test_modes_with_a_free_drum_on_a_carrier_that_falls_are_those_of_weaker_gravity() -> None:
    fall = 3.0
    path = tl.motions.GuidePath((0.0, 1.0), ((0, 0, 0), (0, 0, 0.5 * fall)), velocities=((0, 0, 0), (0, 0, fall)))
    found = []
    for gravity, own, accelerates in ((G, path, True), (G - fall, None, False)):
        system = heaving(tl.Free(), path=path)[0]
        jib = dataclasses.replace(system.bodies["jib"], path=own)
        system = dataclasses.replace(system, gravity=gravity, bodies={**system.bodies, "jib": jib})
        rest = tl.statics(system, tl.Hanging(20.0), acceleration=accelerates)
        found.append(tl.modes(system, rest, reel="free"))
    for name in ("frequency", "balancing_torque"):
        np.testing.assert_allclose(found[0][name].values, found[1][name].values, rtol=1e-6, err_msg=name)
