"""Velocities where two steps join (theory, equation 71): the kernels' elimination against dense linear algebra."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.engine.chain.backend import ChainBackend
from tautline.engine.chain.stepper import Stepper
from tautline.kernels import data, energy
from tautline.kernels.fixed import momenta_with_kick
from tautline.kernels.loads.boundary import StepBoundary, look
from tautline.kernels.loads.damping import lengthening_by_reel
from tautline.kernels.loads.jump import forces_at
from tautline.kernels.loads.resisting import resist
from tautline.kernels.newton import Rates
from tautline.kernels.rotation import attitude
from tests.support import chains

replace = dataclasses.replace
BODY = tl.RigidBody(0.7, ((0.02, 0.001, 0.0), (0.001, 0.03, 0.002), (0.0, 0.002, 0.025)), (0.05, 0.02, 0.1))
AIR = tl.Fluid(1.2, (3.0, 1.0, 0.5), 0.3, drag_center=(0.1, 0.0, 0.2), spin_damping=0.01)
BACK = 0.01


def stepper(elements: int, command: Any, body: tl.RigidBody = BODY, fluid: tl.Fluid | None = AIR) -> Stepper:
    """A motion after some steps, with damping and drag."""
    string = tl.String(10.0, 0.05, 300.0, viscosity=20.0, diameter=0.02, law="linear")
    system = chains.Chain(string, tl.Reel(0.2, 0.5, 0.5), body, fluid=fluid)
    state = chains.straight(system, 4.0, elements, (1.0, 0.3, 2.0), end_velocity=(0.5, 1.0, 0.0))
    simulation = chains.simulation(system, state, step=1e-3)
    simulation.advance(0.02, command)
    assert isinstance(simulation.backend, ChainBackend)
    return simulation.backend.stepper


def rates_of(s: Stepper, z: np.ndarray) -> tuple[np.ndarray, Rates]:
    """Node velocities and rates of a vector of all velocities: sigma, nodes 1 to N, omega."""
    N = s.par.N
    v = np.zeros((N + 1, 3))
    v[1:] = z[1 : 1 + 3 * N].reshape(N, 3)
    return v, Rates(float(z[0]), tuple(z[1 + 3 * N :]), 0.0)


def resisting(s: Stepper, seen: StepBoundary, z: np.ndarray) -> np.ndarray:
    """Forces of all loads at velocities z, in the order of z, with the speeds beside the drag frozen as they are."""
    N = s.par.N
    v, rates = rates_of(s, z)
    data.nodes_of(s.scratch.nodes[data.MEAN_VELOCITY], N)[:] = v
    p = np.zeros(3 * data.row_length(N))
    still = (0.0, 0.0, 0.0)
    speeds, omega, last = (rates.sigma,), rates.omega, p.copy()
    given = resist(s.par, 1.0, True, speeds, omega, seen.body, seen.at, still, last, s.scratch, p, p.copy())
    return np.concatenate([[given.reel], data.nodes_of(p, N)[1:].ravel(), given.moment])


def momenta(s: Stepper, z: np.ndarray) -> np.ndarray:
    """L z."""
    N = s.par.N
    v, rates = rates_of(s, z)
    row, out = np.zeros(3 * data.row_length(N)), np.zeros(3 * data.row_length(N))
    data.nodes_of(row, N)[:] = v
    q = s.motion.nodes[data.POSITION]
    p_s = energy.momenta(s.par, s.motion.reel[data.S], rates.sigma, q, row, out)
    linear, Pi = energy.body_momenta(s.par, tuple(v[N]), attitude(s.motion.body), rates.omega)
    nodes = data.nodes_of(out, N)
    nodes[N] += linear
    return np.concatenate([[p_s], nodes[1:].ravel(), Pi])


@pytest.mark.parametrize("command", [tl.Locked(), tl.Torque(0.5)], ids=["locked", "turning"])
@pytest.mark.parametrize("elements", [1, 2, 3, 4, 9, 20])
@pytest.mark.parametrize("body", [BODY, tl.RigidBody.point(0.7)], ids=["body", "point"])
def test_elimination_solves_the_linear_equations(elements: int, command: Any, body: tl.RigidBody) -> None:
    s = stepper(elements, command, body)
    locked = isinstance(command, tl.Locked)
    seen = look(s.par, s.loads, locked, s.time, BACK, 0.0, 0.0, s.motion, s.scratch)
    N = s.par.N
    v = data.nodes_of(s.scratch.nodes[data.MEAN_VELOCITY], N).copy()
    found = np.concatenate([[seen.rates.sigma], v[1:].ravel(), seen.rates.omega])
    free = np.array([not locked] + [True] * (3 * N) + [not body.is_point] * 3)
    arrives = momenta_that_arrive(s)
    left = momenta(s, found) - BACK * resisting(s, seen, found) - arrives
    assert np.abs(left[free]).max() < 1e-12 * np.abs(arrives).max()
    assert np.abs(found[1 : 1 + 3 * N]).max() > 0.1


def momenta_that_arrive(s: Stepper) -> np.ndarray:
    """p^-, with the pending kick of the constant-length step paid."""
    kept = [row.copy() for row in s.scratch.nodes]
    Pi = momenta_with_kick(s.par, s.motion, s.scratch)
    nodes = data.nodes_of(s.scratch.nodes[data.TARGET], s.par.N)[1:].ravel().copy()
    s.scratch.nodes[:] = kept
    return np.concatenate([[s.motion.reel[data.P_S]], nodes, Pi])


@pytest.mark.parametrize("command", [tl.Locked(), tl.Torque(0.5)], ids=["locked", "turning"])
def test_resistances_are_symmetric_and_take_energy(command: Any) -> None:
    s = stepper(6, command, fluid=replace(AIR, flow=(0.0, 0.0, 0.0)))
    locked = isinstance(command, tl.Locked)
    seen = look(s.par, s.loads, locked, s.time, BACK, 0.0, 0.0, s.motion, s.scratch)
    lengthening_by_reel(s.par, (s.par.L - s.motion.reel[data.S]) / s.par.N, s.scratch)
    D = -np.array([resisting(s, seen, unit) for unit in np.eye(1 + 3 * s.par.N + 3)])
    assert np.abs(D - D.T).max() < 1e-13 * np.abs(D).max()
    assert np.linalg.eigvalsh(0.5 * (D + D.T)).min() > -1e-13 * np.abs(D).max()
    assert np.linalg.matrix_rank(D) >= 3 * s.par.N


def test_forces_of_a_state_do_not_change_it() -> None:
    s = stepper(5, tl.Torque(0.5))
    before = [array.copy() for array in s.motion]
    rates = Rates(0.3, (0.1, 0.2, 0.3), 0.0)
    velocity = s.motion.nodes[data.VELOCITY].copy()
    push = forces_at(s.par, s.loads, False, s.time, 1e-4, s.motion, rates, s.scratch)
    assert np.array_equal(s.motion.nodes[data.VELOCITY], velocity)
    assert np.array_equal(s.motion.nodes[data.MOMENTUM], before[0][data.MOMENTUM])
    assert push.reel != 0.0
