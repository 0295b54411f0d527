"""Energies and momenta of a recorded state, by one function for every tool. The reference parts of the comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.protocol import Problem, State

Array = NDArray[np.float64]
MARKS = (1.0, 2.0, 5.0)  # s; later the motion is chaotic and positions say nothing


class Invariants(NamedTuple):
    kinetic: float
    energy: float
    momentum: float  # angular momentum about the third axis through the upper end


class Quality(NamedTuple):
    """How good a trajectory is."""

    energy: float  # largest deviation, % of the largest kinetic energy
    momentum: float  # largest deviation of pi_3 over its first value
    marks: list[list[float]]  # attachment point at MARKS, as far as the trajectory goes


def invariants(problem: Problem, state: State, model: str) -> Invariants:
    """Of the string with the body; `model` is "consistent", "lumped", or "slack": lumped, and carries no compression.

    Lumped: half an element's mass at each of its nodes. Consistent: linear velocity along an element, as in tautline.
    The gravitational energy is the same for all.
    """
    q = np.vstack([np.zeros(3), state["nodes"]])
    v = np.vstack([np.zeros(3), state["velocities"]])
    R, Omega = np.array(state["rotation"]), np.array(state["angular_velocity"])
    rho, J = np.array(problem["center_of_mass"]), np.array(problem["inertia"])
    M, g = problem["mass"], problem["gravity"]
    l = problem["length"] / (len(q) - 1)
    m = problem["density"] * l
    near, far = (1.0 / 3.0, 1.0 / 6.0) if model == "consistent" else (0.5, 0.0)
    P = np.zeros_like(v)  # momenta of the nodes
    P[:-1] += m * (near * v[:-1] + far * v[1:])
    P[1:] += m * (near * v[1:] + far * v[:-1])
    swing = R @ np.cross(Omega, rho)
    kinetic = 0.5 * float((P * v).sum()) + M * float(v[-1] @ (0.5 * v[-1] + swing)) + 0.5 * float(Omega @ J @ Omega)
    stretch = np.linalg.norm(q[1:] - q[:-1], axis=1) - l
    if model == "slack":
        stretch = np.maximum(stretch, 0.0)
    elastic = 0.5 * problem["stiffness"] / l * float(stretch @ stretch)
    height = m * float(0.5 * (q[:-1, 2] + q[1:, 2]).sum()) + M * float((q[-1] + R @ rho)[2])
    spin = R @ (J @ Omega + M * np.cross(rho, R.T @ v[-1]))
    momentum = np.cross(q, P).sum(axis=0) + M * np.cross(q[-1], v[-1] + swing) + spin
    return Invariants(kinetic, kinetic + elastic - g * height, float(momentum[2]))


def quality(problem: Problem, states: Sequence[State], model: str) -> Quality:
    """Judge a trajectory by the invariants of the tool's own model: those of `model`, or what it reports itself."""
    found = [
        Invariants(x["kinetic"], x["energy"], x["momentum"]) if "energy" in x else invariants(problem, x, model)
        for x in states
    ]
    kinetic, energy, momentum = np.array(found).T
    times = np.array([x["time"] for x in states])
    marks = [states[int(np.argmin(abs(times - t)))]["nodes"][-1] for t in MARKS if t < times[-1] + 1e-6]
    return Quality(
        100.0 * float(abs(energy - energy[0]).max() / kinetic.max()),
        float(abs(momentum - momentum[0]).max() / abs(momentum[0])),
        marks,
    )
