"""Energies and momenta of a recorded state, by one function for every tool. The reference parts of the comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.protocol import Body, Pair, Problem, State, Turning

Array = NDArray[np.float64]
MARKS = (1.0, 2.0, 5.0)  # s; later the motion is chaotic and positions say nothing


class Invariants(NamedTuple):
    kinetic: float
    energy: float
    momentum: float  # angular momentum about the third axis through the upper end


class Motion(NamedTuple):
    """Kinetic energy, linear momentum, and angular momentum about the origin."""

    kinetic: float
    linear: Array
    angular: Array


class Quality(NamedTuple):
    """How good a trajectory is."""

    energy: float  # largest deviation, % of the largest kinetic energy
    momentum: float  # largest deviation of pi_3 over its first value
    marks: list[list[float]]  # attachment point at MARKS, as far as the trajectory goes


def motion_of_string(q: Array, v: Array, m: float, model: str) -> Motion:
    """Motion of elements of mass m between nodes. Lumped: half at each node; consistent: velocity linear along it."""
    near, far = (1.0 / 3.0, 1.0 / 6.0) if model == "consistent" else (0.5, 0.0)
    P = np.zeros_like(v)  # momenta of the nodes
    P[:-1] += m * (near * v[:-1] + far * v[1:])
    P[1:] += m * (near * v[1:] + far * v[:-1])
    return Motion(0.5 * float((P * v).sum()), P.sum(axis=0), np.cross(q, P).sum(axis=0))


def motion_of_body(body: Body | Problem, q: Array, v: Array, turning: Turning | State) -> Motion:
    """Motion of a body that is attached at q, where it has the velocity v."""
    R, Omega = np.array(turning["rotation"]), np.array(turning["angular_velocity"])
    rho, J, M = np.array(body["center_of_mass"]), np.array(body["inertia"]), body["mass"]
    swing = R @ np.cross(Omega, rho)
    kinetic = M * float(v @ (0.5 * v + swing)) + 0.5 * float(Omega @ J @ Omega)
    spin = R @ (J @ Omega + M * np.cross(rho, R.T @ v))
    return Motion(kinetic, M * (v + swing), M * np.cross(q, v + swing) + spin)


def elastic_energy(problem: Problem | Pair, q: Array, slack: bool = False) -> float:
    l = problem["length"] / (len(q) - 1)
    stretch = np.linalg.norm(q[1:] - q[:-1], axis=1) - l
    if slack:
        stretch = np.maximum(stretch, 0.0)
    return 0.5 * problem["stiffness"] / l * float(stretch @ stretch)


def invariants(problem: Problem, state: State, model: str) -> Invariants:
    """Invariants of string and body; `model` is "consistent", "lumped", or "slack": lumped without compression.

    The gravitational energy is the same for all.
    """
    q = np.vstack([np.zeros(3), state["nodes"]])
    v = np.vstack([np.zeros(3), state["velocities"]])
    m = problem["density"] * problem["length"] / (len(q) - 1)
    parts = motion_of_string(q, v, m, model), motion_of_body(problem, q[-1], v[-1], state)
    kinetic = sum(part.kinetic for part in parts)
    center = q[-1] + np.array(state["rotation"]) @ problem["center_of_mass"]
    height = m * float(0.5 * (q[:-1, 2] + q[1:, 2]).sum()) + problem["mass"] * float(center[2])
    potential = elastic_energy(problem, q, slack=model == "slack") - problem["gravity"] * height
    return Invariants(kinetic, kinetic + potential, float(sum(part.angular[2] for part in parts)))


def pair_invariants(problem: Pair, state: State, model: str) -> tuple[float, float, Array]:
    """Kinetic and total energy of two free bodies on a string, and its linear and angular momentum."""
    q, v = np.array(state["nodes"]), np.array(state["velocities"])
    m = problem["density"] * problem["length"] / (len(q) - 1)
    parts = [motion_of_string(q, v, m, model)]
    for body, turning, end in zip(problem["bodies"], state["bodies"], (0, -1), strict=True):
        parts.append(motion_of_body(body, q[end], v[end], turning))
    kinetic = sum(part.kinetic for part in parts)
    momenta = np.concatenate([sum(part.linear for part in parts), sum(part.angular for part in parts)])
    return kinetic, kinetic + elastic_energy(problem, q), momenta


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


class PairQuality(NamedTuple):
    """How good a trajectory of a pair is: largest deviations."""

    energy: float  # % of the largest kinetic energy
    linear: float  # over the largest momentum of a body; that of the whole is zero
    angular: float  # over its first value


def pair_quality(problem: Pair, states: Sequence[State], model: str) -> PairQuality:
    """Judge a trajectory by the invariants of the tool's own model."""
    found = [pair_invariants(problem, x, model) for x in states]
    kinetic, energy = (np.array([x[k] for x in found]) for k in (0, 1))
    momenta = np.array([x[2] for x in found])
    off = abs(momenta - momenta[0])
    size = max(body["mass"] * float(np.linalg.norm(body["velocity"])) for body in problem["bodies"])
    return PairQuality(
        100.0 * float(abs(energy - energy[0]).max() / kinetic.max()),
        float(off[:, :3].max() / size),
        float(off[:, 3:].max() / np.linalg.norm(momenta[0, 3:])),
    )
