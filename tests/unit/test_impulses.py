"""Kicks of the body and a drum that is stopped at once."""

from __future__ import annotations

import numpy as np
import pytest

import tautline as tl
from tautline.ledger import kept_energy
from tautline.model.chain.systems import chain_state
from tautline.model.command import Command
from tautline.paper.examples import EXAMPLES
from tests.support import chains
from tests.support.paper import initial_state, pendulum

COMMANDS: tuple[Command, ...] = (tl.Locked(), tl.Free(), tl.Torque(2.0), tl.Brake(0.5))


def moving(command: Command) -> tl.Simulation:
    sim = chains.simulation(pendulum(), initial_state(EXAMPLES[2]), step=5e-4)
    sim.advance(1.0, command, sample=0.1)
    return sim


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: type(c).__name__)
def test_a_kick_moves_velocities_and_not_positions(command: Command) -> None:
    sim = moving(command)
    before = chain_state(sim.system, sim.state)
    sim.body.strike((0.3, -0.2, 0.1))
    after = chain_state(sim.system, sim.state)
    assert np.array_equal(before.nodes, after.nodes)
    assert np.array_equal(before.attitude, after.attitude)
    assert np.abs(after.node_velocities[-1] - before.node_velocities[-1]).max() > 0.1


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: type(c).__name__)
def test_the_balance_counts_what_a_kick_brings(command: Command) -> None:
    sim = moving(command)
    sim.body.strike((0.3, -0.2, 0.1), moment=(0.0, 0.05, 0.0))
    sim.advance(1.0, sample=0.1)
    run = chains.of_one(sim.dataset())
    kept = kept_energy(run).values
    assert abs(float(run.energy[11] - run.energy[10])) > 0.05
    assert np.abs(kept - kept[0]).max() < 2e-4 * float(run.kinetic_energy.max())


def test_a_kick_on_a_point_is_an_exact_jump() -> None:
    """One element without mass to speak of: the end's velocity jumps by J/M."""
    system = chains.Chain(tl.String(20.0, 1e-9, 1e3, law="linear"), tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(2.0))
    sim = chains.simulation(system, chains.straight(system, 10.0, 1, (0, 0, 1)))
    sim.body.strike((1.0, 0.0, -3.0))
    assert np.allclose(sim.line.node_velocities[-1], [0.5, 0.0, -1.5], rtol=1e-8)
    assert sim.energy - sim.dataset().external_work[-1] == pytest.approx(
        chains.simulation(system, chains.straight(system, 10.0, 1, (0, 0, 1))).energy, rel=1e-12
    )


def test_a_kick_at_the_center_of_mass_of_a_free_body_does_not_turn_it() -> None:
    """A string without mass to speak of, slack in the sense that it is unstrained: only the body is there."""
    body = tl.RigidBody.box(mass=1.0, sides=(0.2, 0.3, 0.4), center_of_mass=(0.1, 0.2, 0.3))
    system = chains.Chain(tl.String(20.0, 1e-9, 1e3, law="linear"), tl.Reel(0.1, 0.1, 1.0), body, gravity=0.0)
    sim = chains.simulation(system, chains.straight(system, 10.0, 2, (0, 0, 1)))
    sim.body.strike((0.0, 0.0, 2.0))
    assert np.abs(sim.body.angular_velocity).max() < 1e-6
    assert np.allclose(sim.line.node_velocities[-1], [0.0, 0.0, 2.0], atol=1e-6)


def test_stopping_the_drum_keeps_momenta_and_takes_energy() -> None:
    sim = moving(tl.Free())
    assert abs(sim.line.speed) > 0.1
    before, vertical = sim.energy, float(sim.dataset().angular_momentum[-1, 2])
    sim.line.stop()
    assert sim.line.speed == 0.0
    assert sim.energy < before
    sim.advance(1.0, sample=0.1)
    run = chains.of_one(sim.dataset())
    assert float(run.reeled_length[-1]) == float(run.reeled_length[10])
    assert float(run.angular_momentum[-1, 2]) == pytest.approx(vertical, rel=1e-13)
    kept = kept_energy(run).values
    assert np.abs(kept - kept[0]).max() < 2e-4 * float(run.kinetic_energy.max())


def test_a_stopped_drum_can_be_freed_again() -> None:
    sim = moving(tl.Free())
    sim.line.stop()
    sim.advance(0.5)
    assert sim.advance(0.5, tl.Free()) == "completed"
    assert sim.line.speed != 0.0


def test_blows_before_the_first_step() -> None:
    sim = chains.simulation(pendulum(), initial_state(EXAMPLES[0]))
    energy = sim.energy
    sim.body.strike((0.0, 0.1, 0.0))
    assert sim.energy != energy
    assert sim.advance(0.5) == "completed"


@pytest.mark.parametrize("impulse", [(1.0, 2.0), "x", (1.0, np.nan, 0.0), None])
def test_a_wrong_impulse_is_refused_and_changes_nothing(impulse: object) -> None:
    sim = moving(tl.Free())
    energy = sim.energy
    with pytest.raises(tl.errors.InputError, match="impulse"):
        sim.body.strike(impulse)
    assert sim.energy == energy


def test_a_point_cannot_be_turned() -> None:
    system = chains.Chain(tl.String(20.0, 0.1, 1e3, law="linear"), tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(2.0))
    sim = chains.simulation(system, chains.straight(system, 10.0, 4, (0, 0, 1)))
    with pytest.raises(tl.errors.InputError, match="moment"):
        sim.body.strike((0, 0, 1), moment=(0, 0, 1))
