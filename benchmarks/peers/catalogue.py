"""Who is compared, in which environments, and with which of their methods."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.peers.protocol import Problem
from tautline.files.scenario import load
from tautline.model.body import RigidBody

OURS, PACKAGED, BY_HAND = "ours", "packaged simulator", "equations by hand"


class Tried(NamedTuple):
    """A method of a peer."""

    name: str
    order: int
    model: str = "lumped"  # as in physics.invariants, or "own": the tool reports its invariants
    adaptive: bool = False
    finer: int = 1  # how much finer than the others' its step must be to be stable


class Peer(NamedTuple):
    name: str
    title: str
    kind: str
    requirements: tuple[str, ...]  # as pip takes them
    imports: str
    methods: tuple[Tried, ...]
    remark: str  # what a reader of the table should know


PEERS = (
    Peer(
        "tautline",
        "tautline",
        OURS,
        (".",),
        "tautline",
        tuple(Tried(f"order {n}", n, "consistent") for n in (2, 4, 6)),
        "consistent mass, Lie group variational integrator; compensated sums",
    ),
    Peer(
        "mujoco",
        "MuJoCo",
        PACKAGED,
        ("mujoco==4.0.0",),
        "mujoco",
        (Tried("Euler", 1), Tried("implicitfast", 1), Tried("RK4", 4)),
        "lumped mass, edges of a one-dimensional flex; all steps in one call of mj_step",
    ),
    Peer(
        "exudyn",
        "Exudyn",
        PACKAGED,
        ("exudyn==1.13.6",),
        "exudyn",
        (Tried("VelocityVerlet", 2), Tried("generalized alpha", 2), Tried("RK44", 4), Tried("RK67", 6)),
        "lumped mass, spring-dampers, Lie group node; all steps in one call; it calls its Verlet method experimental",
    ),
    Peer(
        "moordyn",
        "MoorDyn",
        PACKAGED,
        ("moordyn==2.7.2",),
        "moordyn",
        (Tried("RK2", 2, "slack"), Tried("RK4", 4, "slack")),
        "lumped mass, no compression, so another motion from about 1 s on; pi_3 drifts at every step",
    ),
    Peer(
        "pyelastica",
        "PyElastica",
        PACKAGED,
        ("pyelastica==1.0.0",),
        "elastica",
        (Tried("PositionVerlet", 2, "own"), Tried("PositionVerlet, thin", 2, "own", finer=10)),
        "Cosserat rod without bending, penalty joint; the loop over steps is in Python, the library has no other",
    ),
    Peer(
        "drake",
        "Drake",
        PACKAGED,
        ("drake==1.51.1",),
        "pydrake.all",
        (Tried("discrete", 1), Tried("RK3", 3), Tried("RK5", 5)),
        "lumped mass, free bodies, spring-dampers; all steps in one call of AdvanceTo",
    ),
    Peer(
        "scipy",
        "SciPy",
        BY_HAND,
        ("scipy==1.17.1",),
        "scipy.integrate",
        (Tried("DOP853 lumped", 8, adaptive=True), Tried("DOP853 consistent", 8, "consistent", adaptive=True)),
        "NumPy right-hand side, called from Python at every stage; SciPy offers no other way",
    ),
    Peer(
        "jax",
        "JAX and diffrax",
        BY_HAND,
        ("jax==0.10.2", "diffrax==0.7.2"),
        "jax, diffrax",
        (
            Tried("RK4 lumped", 4),
            Tried("RK4 consistent", 4, "consistent"),
            Tried("Dopri8 lumped", 8, adaptive=True),
            Tried("Dopri8 consistent", 8, "consistent", adaptive=True),
        ),
        "compiled by XLA in double precision, all steps in one call; RK4 is a loop of ours, Dopri8 is diffrax's",
    ),
)

# Routed tendons only: no string with mass that carries a body off its center of mass.
NEWTON = Peer("newton", "Newton", PACKAGED, ("newton==1.8.0",), "newton", (), "routed tendons, without mass")


def problem() -> Problem:
    """The numbers of example 1, from its scenario."""
    built = load("fixed-length")
    string, body, state = built.system.lines["line"].string, built.system.bodies["body"], built.state().lines["line"]
    assert isinstance(body, RigidBody)
    length = string.length - state.reeled_length
    spread = np.linspace(0.0, length, len(state.nodes))
    if not np.allclose(state.nodes, np.outer(spread, (1.0, 0.0, 0.0))):
        raise ValueError("the peers start from a straight string along the first axis; the scenario does not")
    return Problem(
        length=length,
        density=string.density,
        stiffness=string.stiffness,
        gravity=built.system.gravity,
        mass=body.mass,
        center_of_mass=list(body.center_of_mass),
        inertia=[list(row) for row in body.inertia],
        end_velocity=state.node_velocities[-1].tolist(),
    )
