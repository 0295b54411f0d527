"""Actions on a system: strike it, stop drums, lead bodies, save it; the same on both backends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.engine.chain.backend import ChainBackend
from tautline.engine.network.backend import NetworkBackend
from tautline.errors import InputError
from tautline.ledger import kept_energy
from tests.support import chains
from tests.support.checking import check_below, check_close

pytestmark = pytest.mark.network

ROPE = tl.String(10.0, 0.1, 2000.0, law="linear")
REEL = tl.Reel(0.2, 0.5, 1.5)
BODY = tl.RigidBody.about_center(2.0, np.diag([0.05, 0.07, 0.06]), (0.05, 0.02, 0.3))
N = 6


def both(step: Any = 1e-3) -> tuple[tl.Simulation, tl.Simulation]:
    """Simulations of one system, on a body that stands, on the chain kernels and on those of networks."""
    line = tl.Line(ROPE, start="ship", end="load", reel=REEL, elements=N)
    system = tl.System({"ship": tl.Kinematic(), "load": BODY}, {"rope": line})
    found = []
    for backend in (chains.CHAIN, chains.NETWORK):
        with chains.on(backend):
            found.append(tl.Simulation(system, tl.Straight(5.0, direction=(0.3, 0.0, 1.0)), step=step))
    assert isinstance(found[0].backend, ChainBackend) and isinstance(found[1].backend, NetworkBackend)
    return found[0], found[1]


def same(one: tl.Simulation, other: tl.Simulation, tolerance: float = 1e-10) -> None:
    expected, found = one.dataset().isel(time=-1), other.dataset().isel(time=-1)
    check_close("nodes", found.position, expected.position, tolerance)
    check_close("attitude", found.attitude, expected.attitude, tolerance)
    check_close("reeled length", found.reeled_length, expected.reeled_length, tolerance)
    for name in ("friction_loss", "guide_loss", "energy"):
        check_close(name, float(found[name]), float(expected[name]), 1e-9)
    check_close("external_work", float(found.external_work), float(expected.external_work), 1e-6)
    # the chain counts what holds a prescribed reel's speed as of the blow
    check_close("motor_work", found.motor_work, expected.motor_work, 1e-6)


@pytest.mark.parametrize("command", [tl.Locked(), tl.Torque(2.0), tl.Speed(retrieval=([0.0, 0.2], [0.0, 0.3]))])
def test_a_body_is_struck(command: tl.Command) -> None:
    pair = both()
    for simulation in pair:
        simulation.advance(0.1, command)
        simulation.body.strike((0.5, -0.2, 0.1), (0.01, 0.02, 0.0))
        simulation.advance(0.1)
        assert float(simulation.dataset().external_work[-1]) > 0.01
        with pytest.raises(InputError, match="expected a body that is free"):
            simulation.bodies["ship"].strike((1.0, 0.0, 0.0))
    same(*pair)


def test_a_drum_is_stopped() -> None:
    pair = both()
    for simulation in pair:
        simulation.advance(0.1, {"rope": 20.0})
        simulation.line.stop()
        assert simulation.line.speed == 0.0
        simulation.advance(0.1)
        assert float(simulation.dataset().friction_loss[-1]) > 0.01
    same(*pair)


def test_a_body_is_led_by_another_program() -> None:
    pair = both()
    for k in range(10):
        for simulation in pair:
            simulation.bodies["ship"].move((0.2 * k, 0.0, -0.1 * k))
            simulation.advance(0.02, tl.Locked() if k == 0 else None)
        check_close("force", pair[1].bodies["ship"].force, pair[0].bodies["ship"].force, 0.05)
        check_close("place", pair[1].bodies["ship"].position, pair[0].bodies["ship"].position, 1e-12)
    expected, found = (simulation.dataset().isel(time=-1) for simulation in pair)
    check_close("nodes", found.position, expected.position, 1e-5)
    check_close("work", float(found.guide_work), float(expected.guide_work), 1e-3)
    for simulation in pair:
        with pytest.raises(InputError, match="expected a body whose motion is given"):
            simulation.body.move((0.0, 0.0, 0.0))


def test_the_work_of_a_carrier_that_jumps_is_that_of_its_mean_velocity() -> None:
    """Also where the command changes in the same moment, or the body is struck."""
    for simulation in both():
        energy, ship = simulation.energy, simulation.bodies["ship"]
        ship.move((0.3, 0.1, 0.0))
        simulation.advance(0.001, tl.Torque(2.0), sample=0.001)
        first = simulation.dataset().isel(time=0)
        check_close("work", float(first.guide_work), float(first.energy) - energy, 1e-12)
        simulation.advance(0.099, sample=0.001)
        ship.move((0.1, 0.0, 0.0))
        ship.move((0.0, -0.2, 0.0))
        simulation.advance(0.1, tl.Brake(1.0), sample=0.001)
        ship.move((0.2, 0.0, 0.0))
        simulation.body.strike((0.5, 0.0, 0.0))
        simulation.advance(0.1, tl.Free(), sample=0.001)
        run = simulation.dataset()
        kept = kept_energy(run).values
        check_below("balance", float(np.abs(kept - kept[0]).max()), 2e-3 * float(run.kinetic_energy.max()))


def test_a_simulation_goes_on_from_a_file(tmp_path: Path) -> None:
    for simulation in both():
        simulation.advance(0.05, {"rope": 2.0})
        simulation.bodies["ship"].move((0.3, 0.0, 0.0))
        simulation.advance(0.05)
        simulation.body.push((1.0, 0.0, 0.0), frame="body")
        simulation.advance(0.05)
        simulation.save(tmp_path / "half.npz")
        again = tl.Simulation.load(tmp_path / "half.npz")
        for each in (simulation, again):
            each.advance(0.05)
        assert np.array_equal(simulation.line.nodes, again.line.nodes)
        check_close("state", simulation.state.lines["rope"].nodes, simulation.line.nodes, 0.0)
    (tmp_path / "half.npz").write_bytes(b"nothing")
    with pytest.raises(InputError, match="expected a checkpoint"):
        tl.Simulation.load(tmp_path / "half.npz")


@pytest.mark.parametrize("surface", [None, -100.0])
def test_fluid_that_moves_along_takes_its_part_of_a_blow(surface: float | None) -> None:
    slack = tl.Line(tl.String(20.0, 1e-3, 10.0, law="tension_only"), end="ball", elements=4)
    water = tl.Fluid(1000.0, surface=surface)
    sea = tl.System(
        {"ball": tl.RigidBody.point(10.0)},
        {"line": slack},
        gravity=0.0,
        fluid=water,
        body_fluid={"ball": tl.BodyInFluid(added_mass=40.0)},
    )
    simulation = tl.Simulation(sea, tl.Placed({"ball": (0.0, 0.0, 10.0)}), step=1e-3)
    simulation.advance(0.01)
    simulation.body.strike((50.0, 0.0, 0.0))
    check_close("velocity", simulation.body.velocity, np.array([1.0, 0.0, 0.0]), 1e-3)
    simulation.advance(0.01)
    run = simulation.dataset()
    check_close("work", float(run.external_work[-1]), 25.0, 0.05)
    check_below("balance", float(run.attrs["balance_error"]), 1e-6)


def test_the_command_of_the_only_reel_needs_no_name() -> None:
    for k in range(2):
        lengths = []
        for command in (0.0, tl.Free(), {"rope": 0.0}):
            simulation = both()[k]
            simulation.advance(0.2, command)
            lengths.append(simulation.line.deployed)
        assert lengths[0] == lengths[1] == lengths[2] > 5.0
        with pytest.raises(InputError, match=r"locked reel|a drum that stands for Locked"):
            simulation.advance(0.1, tl.Locked())
    two = tl.System({"load": BODY}, {name: tl.Line(ROPE, end="load", reel=REEL) for name in ("a", "b")})
    with pytest.raises(InputError, match=r"command: expected a dict by the names of lines \(a, b\), got 3"):
        tl.Simulation(two, tl.Placed({"load": (0.0, 0.0, 5.0)})).advance(0.1, 3.0)
    with pytest.raises(InputError, match=r"state\.bodies: expected 'load', as the system has, got 'ship', 'load'"):
        tl.Simulation(two, both()[1].state)


def test_a_motor_that_is_asked_for_too_much() -> None:
    weak = tl.Reel(0.2, 0.5, 1.5, max_torque=1.0, max_power=0.01)
    system = tl.System({"load": BODY}, {"rope": tl.Line(ROPE, end="load", reel=weak, elements=N)})
    for backend in (chains.CHAIN, chains.NETWORK):
        with chains.on(backend):
            command = tl.Length.to(4.0, speed=1.0, acceleration=2.0)
            run = tl.simulate(system, tl.Hanging(5.0), command, duration=0.5, sample=0.05)
        found = {w.kind: w for w in tl.warnings_of(run)}
        for kind, limit in (("motor_torque", 1.0), ("motor_power", 0.01)):
            assert (found[kind].value or 0.0) > limit == found[kind].limit and found[kind].where == "rope"
        assert float(run.torque[0, 0]) > 0.5 * float(run.torque[1, 0])


@pytest.mark.parametrize(
    ("others", "sentence"),
    [
        ({"lines": {"s": tl.Line(ROPE, end="ball", end_point=(0.5, 0.0, 0.0))}}, "a point mass that has no lever"),
        ({"applied_forces": {"ball": tl.AppliedForce(moment=(0, 0, 1))}}, "expected no moment and no point"),
        (
            {"fluid": tl.Fluid(1.2), "body_fluid": {"ball": tl.BodyInFluid(spin_damping=1.0)}},
            "expected no centers and no spin damping",
        ),
    ],
)
def test_a_point_mass_has_no_levers(others: dict[str, Any], sentence: str) -> None:
    made: Any = {"lines": {"s": tl.Line(ROPE, end="ball")}} | others
    with pytest.raises(InputError, match=sentence):
        tl.System({"ball": tl.RigidBody.point(1.0)}, **made)
