"""A guide that another program moves, interval by interval: against a given path, and its accounts."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError
from tautline.ledger import kept_energy
from tautline.model.command import Command
from tautline.paper.examples import EXAMPLES
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, check_close, check_order
from tests.support.paper import initial_state, pendulum

replace = dataclasses.replace
STEP = 5e-4
DURATION = 1.0
COMMANDS: dict[str, Command] = {
    "locked": tl.Locked(),
    "torque": tl.Torque(2.09),
    "length": tl.Length.to(8.0, speed=1.0, acceleration=2.0),
}


def shaken(t: float) -> tuple[float, float, float]:
    """From rest."""
    return 0.5 - 0.5 * np.cos(2.0 * t), 0.2 * np.cos(3.0 * t) - 0.2, 0.3 * np.sin(t) ** 2


PATH = tl.motions.GuidePath.of(shaken, 2.0, 0.01)


def windy() -> chains.Chain:
    base = pendulum()
    string = replace(base.string, diameter=0.01, viscosity=0.3)
    wind = tl.Fluid(1.2, flow=((0.0, 20.0), ((3.0, 0.0, 0.0), (1.0, 1.0, 0.0))), drag_area=0.3)
    return replace(base, string=string, fluid=wind, applied_force=tl.AppliedForce(force=(0.0, 0.2, 0.0)))


def carried(interval: float, command: Command, system: chains.Chain | None = None) -> tl.Simulation:
    """With the mean velocity of the path in every interval."""
    sim = chains.carried(system or pendulum(), initial_state(EXAMPLES[2]), step=STEP)
    count = round(DURATION / interval)
    places = PATH.at(interval * np.arange(count + 1))[0]
    for i, velocity in enumerate(np.diff(places, axis=0) / interval):
        sim.bodies["guide"].move(velocity)
        assert sim.advance(interval, command if i == 0 else None) == "completed"
    return sim


def along_path(command: Command, duration: float = DURATION) -> tl.Simulation:
    base = pendulum()
    led = replace(base, reel=replace(base.reel, guide_path=PATH))
    sim = chains.simulation(led, initial_state(EXAMPLES[2]), step=STEP)
    assert sim.advance(duration, command) == "completed"
    return sim


@pytest.mark.parametrize("name", COMMANDS)
def test_a_guide_moved_in_every_step_takes_the_path(name: str, report: Report) -> None:
    """The path enters the discrete equations only by where the guide is at the grid times."""
    moved, led = (sim.dataset() for sim in (carried(STEP, COMMANDS[name]), along_path(COMMANDS[name])))
    error = check_close("position", moved.position[-1], led.position[-1], 1e-10)
    report(f"guide moved in every step, {name}: distance from the path (m)", error, "< 1e-10")
    check_close("velocity", moved.velocity[-1, 1:], led.velocity[-1, 1:], 0.02)  # the path's last half step is to come
    kept = kept_energy(moved).values
    unexplained = check_below("balance", float(np.ptp(kept) / moved.kinetic_energy.max()), 2e-5)
    report(f"guide moved in every step, {name}: balance error, of max T", unexplained, "< 2e-5")


@pytest.mark.parametrize("name", ["locked", "torque"])
def test_longer_intervals_are_second_order(name: str, report: Report) -> None:
    exact = along_path(COMMANDS[name]).dataset().position[-1]
    intervals = [0.04, 0.02, 0.01]
    errors = [float(np.abs(carried(H, COMMANDS[name]).dataset().position[-1] - exact).max()) for H in intervals]
    report(f"guide moved in intervals, {name}: order", check_order(intervals, errors, 2.0), "2 +- 0.3")


def test_accounts_close_with_wind_damping_and_push(report: Report) -> None:
    run = carried(0.02, tl.Torque(2.09), windy()).dataset()
    kept = kept_energy(run).values
    error = check_below("balance", float(np.ptp(kept) / run.kinetic_energy.max()), 2e-5)
    report("moved guide, wind, damping and push: balance error, of max T", error, "< 2e-5")
    assert abs(float(run.guide_work[-1])) > 0.1


def total_momentum(sim: tl.Simulation) -> np.ndarray:
    """Momentum of all string and the body with a locked reel, from the inertial velocities of a sample."""
    run, string, body = sim.dataset().isel(time=-1), sim.system.lines["line"].string, sim.system.bodies["body"]
    assert isinstance(body, tl.RigidBody)
    v = run.velocity.values
    l = sim.line.deployed / (len(v) - 1)
    line = string.density * (l * 0.5 * (v[:-1] + v[1:]).sum(axis=0) + sim.line.reeled_length * v[0])
    return np.asarray(line + body.mass * run.body_velocity.sel(body="body").values)


def test_the_impulse_is_what_momentum_and_weight_leave(report: Report) -> None:
    system = pendulum()
    sim = chains.carried(system, initial_state(EXAMPLES[0]), step=STEP)
    before, impulse = total_momentum(sim), np.zeros(3)
    for velocity in ((0.4, -0.2, 0.1), (0.0, 0.3, -0.3)):
        sim.bodies["guide"].move(velocity)
        sim.advance(0.5)
        impulse += 0.5 * sim.bodies["guide"].force
    mass = system.string.density * system.string.length + system.body.mass
    expected = mass * 9.81 * np.array([0.0, 0.0, 1.0]) - (total_momentum(sim) - before)
    error = check_close("impulse", impulse, expected, 1e-12)
    report("moved guide: impulse against momentum and weight (N s)", error, "< 1e-12")


def test_a_load_at_rest_weighs_on_its_carrier() -> None:
    system = windy()
    calm = replace(system, applied_force=None, fluid=None)
    sim = chains.carried(calm, chains.hanging(calm, deployed=10.0, elements=8))
    sim.advance(0.1)
    weight = (calm.string.density * calm.string.length + calm.body.mass) * calm.gravity
    check_close("force", sim.bodies["guide"].force, [0.0, 0.0, weight], 1e-9)


def test_a_push_and_drag_are_borne_by_the_carrier() -> None:
    """Damped to rest in a wind: the carrier feels weight, push and all of the drag."""
    system = windy()
    start = chains.equilibrium(system, deployed=10.0, elements=8).state
    sim = chains.carried(system, start)
    sim.advance(0.1)
    force = sim.bodies["guide"].force
    tension = sim.dataset().tension[-1, 0].item()
    along = start.nodes[1] / np.linalg.norm(start.nodes[1])
    # beside what hangs on the first element: its upper half, and the string on the drum
    l = 10.0 / 8
    own = system.weights().string * (start.reeled_length + 0.5 * l)
    rest = force - tension * along - [0.0, 0.0, own]
    wind = np.array([3.0, 0.0, 0.0]) + 0.5 * start.nodes[1, 2] / 20.0 * np.array([-2.0, 1.0, 0.0])
    tangent = (wind @ along) * along
    normal = wind - tangent
    string = system.string
    drag = string.normal_drag * np.linalg.norm(normal) * normal
    drag += np.pi * string.tangential_drag * np.linalg.norm(tangent) * tangent
    half = 0.25 * 1.2 * string.diameter * np.linalg.norm(start.nodes[1])
    check_close("drag at the guide", rest, half * drag, 1e-5)  # loads act in half steps: rest to second order


def test_a_checkpoint_remembers_the_guide(tmp_path: FilePath) -> None:
    sim = carried(0.1, tl.Torque(2.09))
    sim.save(tmp_path / "moved.npz")
    again = tl.Simulation.load(tmp_path / "moved.npz")
    for one in (sim, again):
        one.advance(0.2)
    assert np.array_equal(sim.line.nodes, again.line.nodes)
    assert np.array_equal(sim.bodies["guide"].force, again.bodies["guide"].force)
    check_close("position", again.dataset().position[-1], sim.dataset().position[-1], 1e-14)


@pytest.mark.parametrize("name", ["locked", "length"])
def test_a_guide_that_leaves_its_path_is_moved_as_any(name: str, report: Report) -> None:
    """Led along the path for the first half, moved along it in every step of the second.

    With a reel that no command leads, the two backends are known to differ (docs/howto/systems.md).
    """
    sim = along_path(COMMANDS[name], duration=0.5 * DURATION)
    places = PATH.at(np.arange(0.5 * DURATION, DURATION + 0.5 * STEP, STEP))[0]
    for velocity in np.diff(places, axis=0) / STEP:
        sim.bodies["guide"].move(velocity)
        assert sim.advance(STEP, record=False) == "completed"
    led = along_path(COMMANDS[name])
    error = check_close("position", sim.line.nodes, led.line.nodes, 1e-10)
    report(f"guide that leaves its path, {name}: distance from the path (m)", error, "< 1e-10")


def test_a_push_does_not_stop_the_guide() -> None:
    """Only the network pushes: it goes on with the guide's place and velocity, and with the force on it."""
    sims = [chains.carried(pendulum(), initial_state(EXAMPLES[0]), step=STEP) for _ in range(2)]
    for sim in sims:
        sim.bodies["guide"].move((0.4, -0.2, 0.0))
        sim.advance(0.25, tl.Length.to(9.0, speed=1.0, acceleration=2.0))
        sim.bodies["guide"].move((0.1, 0.3, 0.0))
    sims[1].bodies["body"].push((0.0, 0.0, 0.0))
    for sim in sims:
        assert sim.advance(0.25) == "completed"
    one, other = (sim.dataset().isel(time=-1) for sim in sims)
    for name in ("position", "velocity", "attitude"):
        check_close(name, other[name], one[name], 1e-10)
    for name in ("control_work", "guide_work"):  # each to second order in the step
        check_close(name, other[name], one[name], 1e-5)
    # the network leaves out the inertia of string between drum and guide, which moves along the vertical
    check_close("force", sims[1].bodies["guide"].force[:2], sims[0].bodies["guide"].force[:2], 1e-9)


def test_wrong_uses_are_refused() -> None:
    start = initial_state(EXAMPLES[0])
    with pytest.raises(InputError, match="velocity: expected"):
        chains.carried(pendulum(), start).bodies["guide"].move((0.0, 1.0))
    with pytest.raises(InputError, match="order"):
        chains.carried(pendulum(), start, order=4).bodies["guide"].move((0.0, 0.0, 1.0))
    with pytest.raises(InputError, match="free"):
        chains.carried(pendulum(), start).bodies["body"].move((0.0, 0.0, 1.0))
    with pytest.raises(InputError, match="advance"):
        _ = chains.carried(pendulum(), start).bodies["guide"].force
    with pytest.raises(InputError, match="free"):
        _ = chains.carried(pendulum(), start).bodies["body"].force


def coupled(interval: float, scheme: str, ratio: float, duration: float) -> float:
    """A carrier on a spring that moves exactly under a constant force; the largest energy that nothing explains (J)."""
    system = chains.Chain(tl.String(40.0, 0.5, 2e4, law="linear"), tl.Reel(0.2, 0.5, 100.0), tl.RigidBody.point(20.0))
    sim = chains.carried(system, chains.hanging(system, deployed=10.0, elements=4, end_velocity=(1.0, 0.0, 0.0)))
    guide = sim.bodies["guide"]
    spooled = 0.5 * 30.0
    shared = spooled if scheme == "shared" else 0.0
    mass, stiffness = spooled / ratio + shared, 200.0
    w = np.sqrt(stiffness / mass)
    x = v = U = force = given = 0.0
    start, worst = sim.energy, 0.0
    for _ in range(round(duration / interval)):
        rest = given / stiffness
        c, s = np.cos(w * interval), np.sin(w * interval)
        x_new, v = rest + (x - rest) * c + v / w * s, v * c - (x - rest) * w * s
        before, U, x = U, (x_new - x) / interval, x_new
        guide.move((before if scheme == "parallel" else U, 0.0, 0.0))
        sim.advance(interval, record=False)
        last, force = force, guide.force[0] + shared * (U - before) / interval
        given = 2.0 * force - last if scheme in ("extrapolated", "shared") else force
        energy = 0.5 * mass * v * v + 0.5 * stiffness * x * x + sim.energy - 0.5 * shared * U * U
        worst = max(worst, abs(energy - start))
        if not worst < 1e3:
            return np.inf
    return worst


@pytest.mark.parametrize(("scheme", "order"), [("parallel", 1.0), ("serial", 1.0), ("shared", 2.0)])
def test_energy_of_an_exchange(scheme: str, order: float, report: Report) -> None:
    """What docs/howto/mujoco.md says of the schemes, with a carrier that needs no other program."""
    intervals = [0.02, 0.01, 0.005]
    errors = [coupled(H, scheme, 0.25, 2.0) for H in intervals]
    found = check_order(intervals, errors, order)
    report(f"exchange with a carrier, {scheme}: order of the energy error", found, f"{order:g} +- 0.3")


@pytest.mark.parametrize(
    ("scheme", "polynomial"),
    [
        ("parallel", lambda r: [1.0, 0.0, r / 2, r / 2]),
        ("serial", lambda r: [1.0, r / 2, r / 2]),
        ("extrapolated", lambda r: [1.0, r, r / 2, -r / 2]),
    ],
)
def test_added_mass_runs_away_where_it_is_said_to(scheme: str, polynomial: Any, report: Report) -> None:
    """Bisection for the mass ratio at which the largest root has the size one; ten per cent to either side of it."""
    low, high = 0.0, 4.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if np.abs(np.roots(polynomial(middle))).max() > 1.0 else (middle, high)
    report(f"exchange with a carrier, {scheme}: mass ratio from which it runs away", low, "within 10 %")
    assert coupled(0.005, scheme, 0.9 * low, 2.0) < 5.0
    assert coupled(0.005, scheme, 1.1 * low, 2.0) == np.inf


def test_a_shared_mass_does_not_run_away() -> None:
    assert coupled(0.005, "shared", 20.0, 2.0) < 1.0
