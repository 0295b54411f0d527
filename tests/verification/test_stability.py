"""The stability limit: steps below it stay bounded, and where it is sharp, steps above it do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.engine.chain.backend import ChainBackend
from tautline.engine.chain.lowering import initial_motion, kernel_parameters
from tautline.engine.choose import PUSH
from tautline.engine.network.backend import NetworkBackend
from tautline.engine.network.commands import take
from tautline.kernels import data
from tautline.kernels.compose import COMPOSITIONS
from tautline.kernels.limits import step_limits
from tautline.kernels.march import march
from tautline.kernels.observe import observe
from tautline.ledger import kept_energy
from tests.conftest import Report
from tests.support import chains

pytestmark = pytest.mark.network

STEPS = 20_000
# A light reel and a heavy body: with one element the reel's mass decides.
LIGHT_REEL = tl.Reel(drum_radius=0.5, guide_length=0.1, inertia_mass=0.05, guide_law="none")
BODIES = {
    "point": tl.RigidBody.point(1.0),
    "off center": tl.RigidBody.box(1.0, (0.1, 0.2, 0.3), (0.3, 0.2, 0.1)),
}


def growth(N: int, body: tl.RigidBody, locked: bool, order: int, part: float, gravity: float = 0.0) -> float:
    """Kinetic energy at the end over that of the small push at the start, at a part of the limit."""
    pendulum = chains.Chain(tl.String(1.0, 0.02, 400.0, law="linear"), LIGHT_REEL, body, gravity)
    rng = np.random.default_rng(7)
    start = chains.straight(pendulum, 0.5, N, (0.0, 0.0, 1.0))
    v = 1e-4 * rng.normal(size=start.nodes.shape)
    v[0] = 0.0
    par = kernel_parameters(pendulum, N, "symmetric", True)
    motion = initial_motion(par, chains.ChainState(start.reeled_length, 0.0, start.nodes, v))
    composition = COMPOSITIONS[order]
    plan = data.Plan(
        h=1.0,
        stages=composition.stages,
        limit_multiple=composition.limit_multiple,
        adaptive=False,
        allowed_ratio=10.0,
        resolution=0.05,
        minimum_length=1e-3,
        end_mass=body.least_effective_mass(),
        body_frequency2=body.swing_frequency2(gravity),
        steps_per_sample=1,
    )
    limit = step_limits(par, plan, start.reeled_length, locked).waves
    plan = plan._replace(h=part * limit, steps_per_sample=STEPS // 10)
    out, scratch = data.empty_samples(11, N), data.empty_scratch(N)
    observe(par, locked, motion, scratch, out, 0, 0.0, None)
    rest = data.Samples(out.scalars[1:], out.nodes[1:])
    command = data.Command(locked, np.zeros(1), np.zeros(1))
    status, _ = march(par, plan, command, motion, scratch, data.empty_backups(motion), rest, None)
    if status != 0:
        return np.inf
    return float(out.scalars[-1, data.KINETIC] / out.scalars[0, data.KINETIC])


@pytest.mark.parametrize("order", [2, 4, 6])
@pytest.mark.parametrize("locked", [True, False], ids=["locked", "free"])
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("N", [1, 2, 5])
def test_bounded_below_the_limit(N: int, body: str, locked: bool, order: int) -> None:
    """At the 0.9 of the limit that a fixed step may use, energy stays of the order of the push."""
    assert growth(N, BODIES[body], locked, order, 0.9) < 20.0


@pytest.mark.parametrize("order", [2, 4, 6])
@pytest.mark.parametrize(("N", "locked"), [(1, True), (1, False), (20, True)])
def test_the_limit_is_sharp_where_nothing_else_helps(N: int, locked: bool, order: int, report: Report) -> None:
    """One element between two masses, and the interior of a long string."""
    grown = growth(N, BODIES["point"], locked, order, 1.05)
    kind = "locked" if locked else "free"
    report(f"energy growth at 1.05 of the limit, N = {N}, {kind}, order {order}", grown, "> 1e3")
    assert grown > 1e3


CORD = tl.String(1.0, 0.02, 400.0, law="linear")
HUB = tl.RigidBody.box(1.0, (0.1, 0.2, 0.3), (0.0, 0.0, 0.0))
ENDS = dict(zip("abcde", np.vstack([np.eye(3), -np.eye(3)[:2]]), strict=True))
SMALL = tl.RigidBody.point(0.3)
WOUND: Any = {"reel": LIGHT_REEL, "drum_axis": (1.0, 0.0, 0.0)}
# Bodies with their places, and lines of one element: between two points; four around a hub that they share, with a
# fifth of more elements; off a drum on a body.
IN_SPACE: dict[str, Any] = {
    "two points": (
        {"a": (tl.RigidBody.point(1.0), (0.0, 0.0, 0.0)), "b": (SMALL, (0.0, 0.0, 1.0))},
        {"s": tl.Line(CORD, start="a", end="b", elements=1)},
    ),
    "star": (
        {"hub": (HUB, (0.0, 0.0, 0.0))} | {k: (SMALL, tuple(1.3 * x)) for k, x in ENDS.items()},
        {
            f"to-{k}": tl.Line(CORD, start="hub", start_point=tuple(0.3 * x), end=k, elements=2 if k == "e" else 1)
            for k, x in ENDS.items()
        },
    ),
    "drum": (
        {"hub": (HUB, (0.0, 0.0, 0.0)), "b": (SMALL, (0.0, 0.2, 0.6))},
        {"s": tl.Line(CORD, start="hub", start_point=(0.0, 0.2, 0.1), end="b", elements=1, **WOUND)},
    ),
}


def growth_in_space(name: str, part: float) -> float:
    """Kinetic energy at the end over that of small pushes at the start, at a part of the limit of a system."""
    bodies, lines = IN_SPACE[name]
    rng = np.random.default_rng(3)
    system = tl.System({k: body for k, (body, _) in bodies.items()}, lines, 0.0)
    pushed = {k: tl.BodyState(place, 1e-4 * rng.normal(size=3)) for k, (_, place) in bodies.items()}
    state = chains.hang(system, pushed, {"s": 0.5} if name == "drum" else {})
    commands = {"s": tl.Torque(0.0)} if name == "drum" else {}
    first = chains.simulation(system, state, step=1e-6)
    network = first.runner_with(PUSH)
    take(network.stepper, commands)
    h = part * network.stepper.limits().waves
    simulation = chains.simulation(system, state, step=h)
    network = simulation.runner_with(PUSH)
    network.stepper.plan = network.stepper.plan._replace(allowed_ratio=10.0)
    if simulation.advance(STEPS * h, commands) != "completed":
        return np.inf
    energy = simulation.dataset().kinetic_energy
    return float(energy[-1] / energy[0])


@pytest.mark.parametrize("name", IN_SPACE)
def test_single_elements_of_a_system_are_bounded_below_their_limit(name: str) -> None:
    assert growth_in_space(name, 0.9) < 20.0


def test_the_limit_of_one_element_between_two_bodies_is_sharp(report: Report) -> None:
    grown = growth_in_space("two points", 1.05)
    report("energy growth at 1.05 of the limit, one element between two points", grown, "> 1e3")
    assert grown > 1e3


@pytest.mark.parametrize("command", [tl.Locked(), tl.Torque(0.0)], ids=["locked", "free"])
@pytest.mark.parametrize("body", BODIES)
def test_one_element_has_the_limit_of_the_pendulum(body: str, command: tl.Command) -> None:
    """Between a reel in space and a body, in free space: equation (26), far above the limit (25) of waves."""
    pendulum = chains.Chain(CORD, LIGHT_REEL, BODIES[body], 0.0)
    alone = ChainBackend(pendulum, chains.straight(pendulum, 0.5, 1))
    line = tl.Line(CORD, end="body", reel=LIGHT_REEL, elements=1)
    system = tl.System({"body": BODIES[body]}, {"s": line}, 0.0)
    center = np.array([0.0, 0.0, 0.5]) + np.array(BODIES[body].center_of_mass)
    other = NetworkBackend(system, chains.hang(system, {"body": tuple(center)}, {"s": 0.5}))
    take(other.stepper, {"s": command})
    par = kernel_parameters(pendulum, 1, "symmetric", True)
    plan = alone.stepper.plan._replace(end_mass=BODIES[body].least_effective_mass(), body_frequency2=0.0)
    expected, found = step_limits(par, plan, 0.5, isinstance(command, tl.Locked)), other.stepper.limits()
    assert found.waves == pytest.approx(expected.waves, rel=1e-12)
    assert found.stretching == pytest.approx(expected.stretching, rel=1e-12)
    assert found.waves > 2.0 * 0.5 / np.sqrt(3.0 * CORD.stiffness / CORD.density)


# The step over the limit that an explicit half step of damping would have, 4 EA/(eta omega^2).
BEYOND = [1.0, 1e2, 1e4]


@pytest.mark.parametrize(
    "command", [tl.Locked(), tl.Free(), tl.Speed(retrieval=0.05)], ids=["locked", "free", "driven"]
)
@pytest.mark.parametrize("beyond", BEYOND)
def test_damping_limits_no_step(beyond: float, command: tl.Command, report: Report) -> None:
    """At 0.6 of the limit of waves, however stiff the damping: the energy that is lost never comes back."""
    N, X, EA, mu = 10, 0.5, 400.0, 0.02
    frequency2 = 12.0 * EA / (mu * (X / N) ** 2)
    step = 0.6 * 2.0 / np.sqrt(frequency2)
    string = tl.String(1.0, mu, EA, viscosity=beyond * 4.0 * EA / (frequency2 * step), law="linear")
    pendulum = chains.Chain(string, LIGHT_REEL, BODIES["off center"], gravity=0.0)
    start = chains.straight(pendulum, X, N, (0.5, 0.0, 1.0), reel_speed=0.05 if isinstance(command, tl.Speed) else 0.0)
    velocities = np.random.default_rng(7).normal(size=start.nodes.shape)
    velocities[0] = 0.0
    state = chains.ChainState(start.reeled_length, start.reel_speed, start.nodes, velocities)
    run = chains.simulate(pendulum, state, command, step=step, duration=400 * step, sample=4 * step)
    assert run.attrs["status"] == "completed"
    assert (np.diff(run.damping_loss.values) >= -1e-12).all()
    kept = kept_energy(run).values
    in_play = float(run.attrs["energy_in_play"])
    report(
        f"damping at {beyond:g} times the explicit limit: balance, of the energy in play", np.ptp(kept) / in_play, ""
    )
    assert np.ptp(kept) < 0.05 * in_play


@pytest.mark.parametrize("speed", [1.0, 30.0, 1000.0])
def test_drag_limits_no_step(speed: float) -> None:
    """A light string and a light body in a fast current, with "auto": nothing gets faster than the current."""
    string = tl.String(1.0, 0.002, 400.0, diameter=0.02, law="linear")
    body = tl.RigidBody.box(0.05, (0.1, 0.2, 0.3), (0.3, 0.2, 0.1))
    water = tl.Fluid(1000.0, (speed, 0.0, 0.0), drag_area=0.05, spin_damping=1e-3)
    pendulum = chains.Chain(string, LIGHT_REEL, body, fluid=water)
    state = chains.straight(pendulum, 0.5, 10, (0.0, 0.0, 1.0))
    run = chains.simulate(pendulum, state, duration=0.5, sample=0.01)
    assert run.attrs["status"] == "completed"
    # but for what the string gives back that the current has stretched
    assert float(np.linalg.norm(run.velocity.values, axis=2).max()) < 1.5 * speed + 3.0
    unexplained = np.ptp(kept_energy(run).values)
    assert unexplained < 2e-3 * float(run.attrs["energy_in_play"])


@pytest.mark.parametrize("added", [0.0, 1.0])
def test_a_fast_start_in_water_limits_no_step(added: float, report: Report) -> None:
    """A light body on a long arm that spins, and is stopped by the water within a step."""
    string = tl.String(1.0, 0.002, 400.0, diameter=0.002, normal_added_mass=added, law="linear")
    water = tl.Fluid(1000.0, drag_area=0.05, spin_damping=1.0)
    pendulum = chains.Chain(string, LIGHT_REEL, tl.RigidBody.box(0.05, (0.1, 0.2, 0.3), (0.3, 0.2, 0.1)), fluid=water)
    state = chains.straight(pendulum, 0.5, 4, (0.0, 0.0, 1.0), angular_velocity=(1000.0, 0.0, 500.0))
    run = chains.simulate(pendulum, state, duration=0.05, sample=1e-3, step=5e-5)
    assert run.attrs["status"] == "completed"
    name = f"fast start in water, added mass {added:g}: balance, of the energy in play"
    report(name, float(run.attrs["balance_error"]), "< 2e-3")
    assert run.attrs["balance_error"] < 2e-3


@pytest.mark.parametrize("friction", [100.0, 1e4])
@pytest.mark.parametrize("viscosity", [1.0, 100.0])
def test_friction_of_the_drum_and_damping_limit_no_step(viscosity: float, friction: float, report: Report) -> None:
    """A drum that friction stops within a part of a step follows the pull, and does not swing from step to step."""
    string = tl.String(10.0, 0.05, 300.0, viscosity=viscosity, diameter=0.02, law="linear")
    reel = tl.Reel(0.2, 0.5, 0.05, viscous_friction=friction, guide_law="none")
    pendulum = chains.Chain(string, reel, tl.RigidBody.point(0.01), fluid=tl.Fluid(1000.0, (3.0, 0.0, 0.0)))
    step = 2e-3
    state = chains.straight(pendulum, 4.0, 8, (0.6, 0.0, 0.8))
    run = chains.simulate(pendulum, state, tl.Free(), step=step, duration=0.4, sample=step)
    assert run.attrs["status"] == "completed" and run.attrs["balance_error"] < 2e-3
    speeds = np.diff(run.reeled_length.values)[-20:] / step
    swing = float(np.abs(np.diff(speeds)).max() / np.abs(speeds).mean())
    name = f"friction {friction:g} N m s, viscosity {viscosity:g} N s: change of the drum's speed in a step"
    report(name, swing, "< 2 %")
    assert swing < 0.02
    assert abs(run.reel_speed.values[-1] / speeds[-1] - 1.0) < 0.02


def test_stiff_damping_of_a_taut_string_is_that_of_the_linear_law(report: Report) -> None:
    """A reel that retrieves at the start: what bounds damping in a slack string must not act in a taut one."""
    ends = []
    for law in ("linear", "tension_only"):
        string = tl.String(10.0, 0.05, 300.0, law=law, viscosity=40.0)
        pendulum = chains.Chain(
            string, tl.Reel(0.2, 0.5, 3.0), tl.RigidBody.box(4.0, (0.2, 0.2, 0.2), (0.0, 0.05, 0.1))
        )
        state = chains.straight(pendulum, 5.0, 11, (0.6, 0.0, 0.8), reel_speed=2.0)
        run = chains.simulate(pendulum, state, tl.Free(), duration=0.4, sample=0.01)
        assert run.strain.values[1:].min() > 0.0
        ends.append(run.position.values[-1])
    apart = float(np.abs(ends[0] - ends[1]).max())
    report("stiff damping of a taut string: tension only against linear", apart, "< 1e-3 m")
    assert apart < 1e-3
