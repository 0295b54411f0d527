"""Loads of a fluid at the start of a motion.

Their velocities there are those that half of a step leads to with all forces: velocities of a start may be far from
what a fluid allows, and the force of fluid that moves along follows from a change of velocity, which no step before
tells.
"""

from __future__ import annotations

from tautline.errors import RUNNING
from tautline.kernels.assembly.backup import copy_motion, put_motion
from tautline.kernels.assembly.data import (
    ANGULAR,
    FLUID,
    LINEAR,
    OMEGA,
    OMEGA_NOW,
    SIGMA_NOW,
    V_NOW,
    Body,
    Strand,
    System,
    V,
    body_at,
    drag_at,
    strand_at,
)
from tautline.kernels.assembly.joint import velocities_at_joint
from tautline.kernels.assembly.loads import act_at_joint, instant_of, load_all, place_given
from tautline.kernels.assembly.observe import refresh_assembly, velocities_now
from tautline.kernels.assembly.step import book_whole, stage
from tautline.kernels.assembly.wet import fluid_now
from tautline.kernels.balance import SIGNS
from tautline.kernels.data import (
    FLUID_VELOCITY,
    MEAN_VELOCITY,
    MOMENTUM,
    P_S,
    SIGMA,
    VELOCITY,
    VELOCITY_BEFORE,
    Array,
    copy_nodes,
    node,
    put_triple,
    triple,
)
from tautline.kernels.jit import inlined, kernel, separate
from tautline.kernels.lanes import zero_like
from tautline.kernels.loads.jump import given_by_loads
from tautline.kernels.loads.pushing import ACCOUNTS
from tautline.kernels.loads.resistance import DRAG
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import Vector, apply, dot


@separate
def along_now(system: System) -> float:
    """Momenta times the velocities that are found, of all that moves freely."""
    total = 0.0
    for k in range(len(system.strands)):
        strand = strand_at(system.strands, k)
        total += of_strand(strand, strand.work[SIGMA_NOW], strand.scratch.nodes[MEAN_VELOCITY])
    for b in range(len(system.bodies)):
        body = body_at(system.bodies, b)
        total += of_body(body, triple(body.work, V_NOW), triple(body.work, OMEGA_NOW))
    return total


@separate
def along_start(system: System) -> float:
    """Momenta times the velocities of the start, which `begin_fluid` has kept."""
    total = 0.0
    for k in range(len(system.strands)):
        strand = strand_at(system.strands, k)
        total += of_strand(strand, strand.reel[SIGMA], strand.nodes[VELOCITY])
    for b in range(len(system.bodies)):
        body = body_at(system.bodies, b)
        total += of_body(body, triple(body.state, V), triple(body.state, OMEGA))
    return total


@kernel
def of_strand(strand: Strand, sigma: float, v: Array) -> float:
    """Momenta of a string's inner nodes and of its reel times velocities."""
    p = strand.nodes[MOMENTUM]
    total = strand.reel[P_S] * sigma if strand.row >= 0 else 0.0
    for i in range(1, strand.par.N):
        total += dot(node(p, i), node(v, i))
    return float(total)


@kernel
def of_body(body: Body, velocity: Vector, omega: Vector) -> float:
    """Momenta of a free body times its velocities."""
    if not body.free:
        return 0.0
    turning = apply(attitude(body.state), omega)
    return dot(triple(body.state, LINEAR), velocity) + dot(triple(body.state, ANGULAR), turning)


@kernel
def booked_energy(system: System) -> float:
    """Energy that loads have given to what moves freely, less what they have taken."""
    energy = given_by_loads(system.totals)
    for k in range(len(system.strands)):
        energy += given_by_loads(strand_at(system.strands, k).reel)
    for b in range(len(system.bodies)):
        body = body_at(system.bodies, b)
        if not body.free:
            energy -= dot(triple(body.state, LINEAR), triple(body.work, V_NOW))
    return energy


@kernel
def begin_fluid(system: System) -> None:
    """Let velocities of earlier steps, and those of fluid that moves along, be the present ones."""
    for k in range(len(system.strands)):
        strand = strand_at(system.strands, k)
        for row in (VELOCITY, VELOCITY_BEFORE, FLUID_VELOCITY):
            copy_nodes(strand.scratch.nodes[MEAN_VELOCITY], strand.nodes[row])
    for b in range(len(system.bodies)):
        body = body_at(system.bodies, b)
        own = drag_at(system.around, b)
        put_triple(body.state, FLUID, fluid_now(body, own, 0.0, triple(body.work, V_NOW), triple(body.work, OMEGA_NOW)))


@inlined
def start_in_fluid(system: System, backup: Array, t: float, ahead: float) -> None:
    """Let loads act at the start of a motion, for half of a step.

    Their work is that at the mean of the velocities before and after that half: what was booked at the latter beyond
    it, the fluid has taken.
    """
    velocities_now(system, t)
    begin_fluid(system)
    copy_motion(system, backup)
    tried = stage(system, ahead, t, t + ahead)
    at = instant_of(t + ahead, zero_like(ahead), ahead)
    place_given(system, t + ahead)
    velocities_at_joint(system, ahead, at, zero_like(ahead))
    put_motion(system, backup)
    refresh_assembly(system, t)
    if tried != RUNNING:
        act_at_joint(system, t, ahead)
        return
    booked = -booked_energy(system)
    gained = -0.5 * (along_now(system) + along_start(system))
    load_all(system, at, ahead)
    booked += booked_energy(system)
    gained += 0.5 * (along_now(system) + along_start(system))
    book_whole(system, ACCOUNTS[DRAG], SIGNS[ACCOUNTS[DRAG]] * (booked - gained))
