"""What others do to an assembly: strike it, stop drums, lead bodies, save it; beside the pendulum where both can."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError
from tautline.model.assembly.state import LineState
from tests.support.checking import check_below, check_close

ROPE = tl.String(10.0, 0.1, 2000.0)
REEL = tl.Reel(0.2, 0.5, 1.5)
BODY = tl.RigidBody.about_center(2.0, np.diag([0.05, 0.07, 0.06]), (0.05, 0.02, 0.3))
N = 6


def both() -> tuple[tl.Simulation, tl.AssemblySimulation]:
    """The same thing as a pendulum and as an assembly on a body that stands."""
    pendulum = tl.Pendulum(ROPE, REEL, BODY)
    start = tl.straight(pendulum, 5.0, N, (0.3, 0.0, 1.0))
    line = tl.Line(ROPE, start="ship", end="load", reel=REEL, elements=N)
    assembly = tl.Assembly({"ship": tl.Held(), "load": BODY}, {"rope": line})
    bodies = {
        "ship": tl.BodyState((0.0, 0.0, 0.0)),
        "load": tl.BodyState(start.nodes[-1] + np.array(BODY.center_of_mass)),
    }
    state = tl.AssemblyState(bodies, {"rope": LineState(start.nodes, start.node_velocities, start.reeled_length, 0.0)})
    return tl.Simulation(pendulum, start, step=1e-3), tl.AssemblySimulation(assembly, state, step=1e-3)


def same(alone: tl.Simulation, other: tl.AssemblySimulation, tolerance: float = 1e-10) -> None:
    expected, found = alone.dataset().isel(time=-1), other.dataset().isel(time=-1)
    check_close("nodes", found.position, expected.position, tolerance)
    check_close("attitude", found.attitude.values[-1], expected.attitude, tolerance)
    check_close("reeled length", found.reeled_length.values[0], float(expected.reeled_length), tolerance)
    for name in ("external_work", "friction_loss", "control_work", "guide_loss", "energy"):
        check_close(name, float(found[name]), float(expected[name]), 1e-9)


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


@pytest.mark.parametrize("command", [tl.Locked(), tl.Torque(2.0)])
def test_a_body_is_led_by_another_program(command: tl.Command) -> None:
    alone, other = both()
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
    again = tl.AssemblySimulation.load(tmp_path / "half.npz")
    for simulation in (other, again):
        simulation.advance(0.05)
    assert np.array_equal(other.string("rope")["nodes"], again.string("rope")["nodes"])
    state = other.state()
    check_close("state", state.strings["rope"].nodes, other.string("rope")["nodes"], 0.0)
    (tmp_path / "half.npz").write_bytes(b"nothing")
    with pytest.raises(InputError, match="expected a checkpoint"):
        tl.AssemblySimulation.load(tmp_path / "half.npz")
