"""What others do to an assembly: strike it, stop drums, lead bodies, save it; beside the pendulum where both can."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError
from tautline.model.assembly.state import LineState
from tests.support import chains
from tests.support.checking import check_below, check_close

ROPE = tl.String(10.0, 0.1, 2000.0)
REEL = tl.Reel(0.2, 0.5, 1.5)
BODY = tl.RigidBody.about_center(2.0, np.diag([0.05, 0.07, 0.06]), (0.05, 0.02, 0.3))
N = 6


def both() -> tuple[tl.Simulation, tl.Simulation]:
    """The same thing as a pendulum and as an assembly on a body that stands."""
    pendulum = chains.Chain(ROPE, REEL, BODY)
    start = chains.straight(pendulum, 5.0, N, (0.3, 0.0, 1.0))
    line = tl.Line(ROPE, start="ship", end="load", reel=REEL, elements=N)
    assembly = tl.System({"ship": tl.Kinematic(), "load": BODY}, {"rope": line})
    bodies = {
        "ship": tl.BodyState((0.0, 0.0, 0.0)),
        "load": tl.BodyState(start.nodes[-1] + np.array(BODY.center_of_mass)),
    }
    state = tl.State(bodies, {"rope": LineState(start.nodes, start.node_velocities, start.reeled_length, 0.0)})
    return tl.Simulation(pendulum, start, step=1e-3), tl.Simulation(assembly, state, step=1e-3)


def same(alone: tl.Simulation, other: tl.Simulation, tolerance: float = 1e-10) -> None:
    expected, found = alone.dataset().isel(time=-1), other.dataset().isel(time=-1)
    check_close("nodes", found.position, expected.position, tolerance)
    check_close("attitude", found.attitude.values[-1], expected.attitude, tolerance)
    check_close("reeled length", found.reeled_length.values[0], float(expected.reeled_length), tolerance)
    for name in ("friction_loss", "guide_loss", "energy"):
        check_close(name, float(found[name]), float(expected[name]), 1e-9)
    for name in ("external_work", "control_work"):  # the pendulum counts what holds a led reel's speed as of the blow
        check_close(name, float(found[name]), float(expected[name]), 1e-6)


@pytest.mark.parametrize("command", [tl.Locked(), tl.Torque(2.0), tl.Speed(retrieval=([0.0, 0.2], [0.0, 0.3]))])
def test_a_body_is_struck(command: tl.Command) -> None:
    alone, other = both()
    alone.advance(0.1, command)
    other.advance(0.1, {"rope": command})
    alone.apply_impulse((0.5, -0.2, 0.1), (0.01, 0.02, 0.0))
    other.apply_impulse("load", (0.5, -0.2, 0.1), (0.01, 0.02, 0.0))
    alone.advance(0.1)
    other.advance(0.1)
    same(alone, other)
    assert float(other.dataset().external_work[-1]) > 0.01


def test_a_drum_is_stopped() -> None:
    alone, other = both()
    alone.advance(0.1, tl.Torque(20.0))
    other.advance(0.1, {"rope": 20.0})
    alone.stop_reel()
    other.stop_reel("rope")
    alone.advance(0.1)
    other.advance(0.1)
    same(alone, other)
    assert float(other.dataset().friction_loss[-1]) > 0.01
    with pytest.raises(InputError, match="no such name"):
        other.stop_reel("rop")


def test_a_body_is_led_by_another_program() -> None:
    alone, other = both()
    command = tl.Locked()
    for k in range(10):
        velocity = (0.2 * k, 0.0, -0.1 * k)
        alone.advance(0.02, command if k == 0 else None, guide_velocity=velocity)
        other.move("ship", velocity)
        other.advance(0.02, {"rope": command} if k == 0 else None)
        check_close("force", other.force_on("ship"), alone.guide_force, 0.05)
    expected, found = alone.dataset().isel(time=-1), other.dataset().isel(time=-1)
    check_close("nodes", found.position, expected.position, 1e-5)
    check_close("work", float(found.guide_work), float(expected.guide_work), 1e-3)
    with pytest.raises(InputError, match="expected a body whose motion is given"):
        other.move("load", (0.0, 0.0, 0.0))


def test_the_torque_of_a_lock() -> None:
    alone, other = both()
    alone.advance(0.3, tl.Locked(), sample=0.01)
    other.advance(0.3, {"rope": tl.Locked()}, sample=0.01)
    expected, found = alone.dataset(), other.dataset()
    largest = float(np.abs(expected.torque).max())
    check_below("torque", float(np.abs(found.torque[:, 0] - expected.torque).max()), 0.05 * largest)
    assert (found.power == 0.0).all()


def test_a_simulation_goes_on_from_a_file(tmp_path: Path) -> None:
    _, other = both()
    other.advance(0.05, {"rope": 2.0})
    other.move("ship", (0.3, 0.0, 0.0))
    other.push("load", (1.0, 0.0, 0.0), frame="body")
    other.advance(0.05)
    other.save(tmp_path / "half.npz")
    again = tl.Simulation.load(tmp_path / "half.npz")
    for simulation in (other, again):
        simulation.advance(0.05)
    assert np.array_equal(other.string("rope")["nodes"], again.string("rope")["nodes"])
    state = other.state()
    check_close("state", state.lines["rope"].nodes, other.string("rope")["nodes"], 0.0)
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
    simulation = tl.Simulation(sea, chains.hang(sea, {"ball": (0.0, 0.0, 10.0)}), step=1e-3)
    simulation.advance(0.01)
    simulation.apply_impulse("ball", (50.0, 0.0, 0.0))
    check_close("velocity", simulation.body("ball")["velocity"], np.array([1.0, 0.0, 0.0]), 1e-3)
    simulation.advance(0.01)
    run = simulation.dataset()
    check_close("work", float(run.external_work[-1]), 25.0, 0.05)
    check_below("balance", float(run.attrs["balance_error"]), 1e-6)


def test_the_command_of_the_only_reel_needs_no_name() -> None:
    lengths = []
    for command in (0.0, tl.Free(), {"rope": 0.0}):
        _, other = both()
        other.advance(0.2, command)
        lengths.append(other.string("rope")["deployed"])
    assert lengths[0] == lengths[1] == lengths[2] > 5.0
    with pytest.raises(InputError, match=r"a drum that stands for Locked.*stop_reel"):
        other.advance(0.1, tl.Locked())
    two = tl.System({"load": BODY}, {name: tl.Line(ROPE, end="load", reel=REEL) for name in ("a", "b")})
    start = chains.hang(two, {"load": (0.0, 0.0, 5.0)})
    with pytest.raises(InputError, match=r"command: expected a dict by the names of lines \(a, b\), got 3"):
        tl.Simulation(two, start).advance(0.1, 3.0)
    with pytest.raises(InputError, match=r"state\.bodies: expected 'load', as the assembly has, got 'ship', 'load'"):
        tl.Simulation(two, both()[1].state())


def test_a_motor_that_is_asked_for_too_much() -> None:
    weak = tl.Reel(0.2, 0.5, 1.5, max_torque=1.0, max_power=0.01)
    assembly = tl.System({"load": BODY}, {"rope": tl.Line(ROPE, end="load", reel=weak, elements=N)})
    start = chains.rest(assembly, chains.hang(assembly, {"load": (0.0, 0.0, 5.3)}))
    run = tl.simulate(assembly, start, tl.Length.to(4.0, speed=1.0, acceleration=2.0), duration=0.5, sample=0.05)
    assert "string 'rope': the prescribed motion of the reel took" in run.attrs["remarks"]
    assert "more than max_torque (1 N m)" in run.attrs["remarks"]
    assert "more than max_power (0.01 W)" in run.attrs["remarks"]
    assert float(run.torque[0, 0]) > 0.5 * float(run.torque[1, 0])


@pytest.mark.parametrize(
    ("others", "sentence"),
    [
        ({"lines": {"s": tl.Line(ROPE, end="ball", end_point=(0.5, 0.0, 0.0))}}, "a point mass that has no lever"),
        ({"applied_forces": {"ball": tl.AppliedForce(moment=(0, 0, 1))}}, "expected no moment and no point"),
        (
            {"fluid": tl.Fluid(1.2), "body_fluid": {"ball": tl.BodyInFluid(spin_damping=1.0)}},
            "expected no centres and no spin damping",
        ),
    ],
)
def test_a_point_mass_has_no_levers(others: dict[str, Any], sentence: str) -> None:
    made: Any = {"lines": {"s": tl.Line(ROPE, end="ball")}} | others
    with pytest.raises(InputError, match=sentence):
        tl.System({"ball": tl.RigidBody.point(1.0)}, **made)
