"""Damping inside the strings of an assembly, where two steps join (docs/theory.md, equation 71).

As for the pendulum, (L + tau D) v = p with tau the time for which damping acts: momenta jump, positions stand still,
and no step is limited by it. The inner nodes of each string are eliminated by 3x3 blocks from its start to its end;
what is left of it is a block for both ends and the reel, which goes into the equations of the bodies.
"""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels.assembly.data import (
    LINEAR,
    OMEGA_NOW,
    SIGMA_NOW,
    TURNED,
    V_NOW,
    Body,
    Strand,
    System,
    body_at,
    strand_at,
)
from tautline.kernels.assembly.ends import matrix_in
from tautline.kernels.assembly.joint import (
    velocities_with_damping,
)
from tautline.kernels.assembly.step import COMPENSATED, ZERO, give
from tautline.kernels.balance import book
from tautline.kernels.compensated import accumulate, accumulate_node
from tautline.kernels.data import (
    BY_REEL,
    DIRECTION,
    H_BEFORE,
    H_LAST,
    LOADS_PENDING,
    MEAN_VELOCITY,
    MOMENTUM,
    MOMENTUM_ERR,
    P_S,
    P_S_ERR,
    VELOCITY,
    VELOCITY_BEFORE,
    VISCOUS,
    S,
    account,
    copy_nodes,
    node,
    put_triple,
    triple,
)
from tautline.kernels.energy import element_length
from tautline.kernels.fixed import extrapolation
from tautline.kernels.jit import kernel, separate
from tautline.kernels.so3 import (
    Vector,
    add,
    apply,
    cross,
    dot,
    scale,
    sub,
)
from tautline.kernels.tables import vector_at

DAMPING_LOSS = account("damping_loss")
# Part of the momentum of the mesh's fastest motion that damping may take at once.
STIFF = 0.5


@kernel
def viscous_rate(strand: Strand, e: int) -> float:
    """Speed at which the material of element e lengthens."""
    v = strand.scratch.nodes[MEAN_VELOCITY]
    t = node(strand.scratch.nodes[DIRECTION], e)
    apart = dot(t, sub(node(v, e + 1), node(v, e)))
    return float(apart + strand.work[SIGMA_NOW] * strand.scratch.factor[BY_REEL][e])


class Taken(NamedTuple):
    """What damping takes from a string in some time."""

    energy: float
    on_s: float  # impulse on the reel
    first: Vector  # and on both ends
    last: Vector


@kernel
def viscous_impulse(strand: Strand, e: int, tau: float) -> Vector:
    """Impulse of element e on its first node."""
    size = tau * strand.scratch.factor[VISCOUS][e] * viscous_rate(strand, e)
    return scale(size, node(strand.scratch.nodes[DIRECTION], e))


@kernel
def taken_from(strand: Strand, tau: float) -> Taken:
    """What damping takes in the time tau, at the velocities that were found."""
    c, by_reel = strand.scratch.factor[VISCOUS], strand.scratch.factor[BY_REEL]
    energy, on_s = 0.0, 0.0
    for e in range(strand.par.N):
        rate = viscous_rate(strand, e)
        energy += tau * c[e] * rate * rate
        on_s -= tau * c[e] * rate * by_reel[e]
    last = scale(-1.0, viscous_impulse(strand, strand.par.N - 1, tau))
    return Taken(energy, on_s, viscous_impulse(strand, 0, tau), last)


@kernel
def give_at_joint(body: Body, impulse: Vector, point: Vector) -> None:
    """An impulse at a point of a body; one whose motion is given passes it on to what moves it."""
    if body.free:
        give(body, impulse, cross(apply(matrix_in(body.work, TURNED), point), impulse))
    else:
        put_triple(body.state, LINEAR, add(triple(body.state, LINEAR), impulse))


@separate
def damp_strand(system: System, k: int, tau: float) -> None:
    """Give the impulses of damping to nodes, bodies and reel of a string, and book what is lost."""
    strand = strand_at(system.strands, k)
    par = strand.par
    if par.viscosity == 0.0:
        return
    N = par.N
    taken = taken_from(strand, tau)
    p, p_err = strand.nodes[MOMENTUM], strand.nodes[MOMENTUM_ERR]
    before = taken.first
    for i in range(1, N):
        impulse = viscous_impulse(strand, i, tau)
        accumulate_node(p, p_err, i, sub(impulse, before), COMPENSATED)
        before = impulse
    give_at_joint(body_at(system.bodies, strand.ends[0]), taken.first, strand.points[0])
    give_at_joint(body_at(system.bodies, strand.ends[1]), taken.last, strand.points[1])
    if strand.row >= 0:
        accumulate(strand.reel, P_S, P_S_ERR, taken.on_s, COMPENSATED)
    book(par, strand.reel, DAMPING_LOSS, taken.energy)


@kernel
def ahead_of(system: System) -> float:
    """How far the end of the latest step is ahead of its mean velocities, over their change from the step before."""
    totals = system.totals
    return extrapolation(0.0, totals[H_LAST], totals[H_BEFORE]) if totals[H_BEFORE] != 0.0 else 0.0


@kernel
def is_stiff(system: System, time: float) -> bool:
    """Whether damping would stop the fastest motion of a string's elements in less than this time."""
    stiff = False
    for k in range(len(system.strands)):
        par = strand_at(system.strands, k).par
        l = element_length(par, strand_at(system.strands, k).reel[S])
        stiff = stiff or time * 12.0 * par.viscosity > STIFF * par.mu * l * l
    return stiff


@separate
def damp(system: System, t: float, ahead_time: float) -> None:
    """Let damping act at time t for what is pending of the step before, and for some time of the next one.

    Its velocity is the one with what is pending: in the middle of the jump, so that the energy changes by exactly the
    impulse times that. At the start, where nothing is pending, damping that is stiff takes the one that it leads to.
    """
    pending = system.totals[LOADS_PENDING]
    place_given(system, t)
    stiff_start = pending == 0.0 and is_stiff(system, ahead_time)
    velocities_with_damping(system, ahead_time if stiff_start else pending, pending + ahead_time, ahead_of(system))
    for k in range(len(system.strands)):
        damp_strand(system, k, pending + ahead_time)
    system.totals[LOADS_PENDING] = 0.0


@kernel
def place_given(system: System, t: float) -> None:
    """Velocities of bodies whose motion is given, at time t."""
    for b in range(len(system.bodies)):
        body = body_at(system.bodies, b)
        if not body.free:
            velocity = ZERO
            if body.moves:
                velocity = vector_at(body.path, t)[1]
            put_triple(body.work, V_NOW, velocity)
            put_triple(body.work, OMEGA_NOW, ZERO)


@kernel
def keep_for_damping(system: System) -> None:
    """Remember the mean velocities of a step that was made, and what damping still owes for it."""
    system.totals[LOADS_PENDING] = 0.5 * system.totals[H_LAST]
    for k in range(len(system.strands)):
        strand = strand_at(system.strands, k)
        copy_nodes(strand.nodes[VELOCITY], strand.nodes[VELOCITY_BEFORE])
        copy_nodes(strand.scratch.nodes[MEAN_VELOCITY], strand.nodes[VELOCITY])
