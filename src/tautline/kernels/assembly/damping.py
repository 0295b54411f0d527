"""Damping inside the strings of an assembly, where two steps join (docs/theory.md, (71) and (111)).

As for the pendulum, (L + tau D) v = p with tau the time for which damping acts: momenta jump, positions stand still,
and no step is limited by it. The inner nodes of each string are eliminated by 3x3 blocks from its start to its end;
what is left of it is a block for both ends and the reel, which goes into the equations of the bodies.
"""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels.assembly.data import (
    ANGULAR,
    END_VELOCITY,
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
from tautline.kernels.assembly.equations import (
    IDENTITY,
    ZEROS,
    add_block,
    add_vector,
    drum_mass,
    eliminate,
    substitute,
)
from tautline.kernels.assembly.step import COMPENSATED, ZERO, give
from tautline.kernels.balance import book
from tautline.kernels.compensated import accumulate, accumulate_node
from tautline.kernels.data import (
    ACROSS,
    ADDED,
    ALONG,
    BORDER,
    BY_REEL,
    BY_SIGMA,
    DIRECTION,
    GUESS,
    H_BEFORE,
    H_LAST,
    LOADS_PENDING,
    MEAN_VELOCITY,
    MOMENTUM,
    MOMENTUM_ERR,
    P_S,
    P_S_ERR,
    RIGHT,
    SIGMA,
    SIGMA_BEFORE,
    TARGET,
    VELOCITY,
    VELOCITY_BEFORE,
    VISCOUS,
    Motion,
    S,
    account,
    copy_nodes,
    node,
    put_node,
    put_triple,
    triple,
)
from tautline.kernels.energy import element_length, reel_mass
from tautline.kernels.fixed import extrapolation
from tautline.kernels.jit import kernel, separate
from tautline.kernels.loads.damping import Damping, lengthening_by_reel, viscous_coefficients
from tautline.kernels.loads.joint import reel_target
from tautline.kernels.loads.resistance import clear_along, elements_at_joint
from tautline.kernels.loads.velocities import block, blocks_of_nodes, border_of_reel, coupled, put_block
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import (
    Matrix,
    Vector,
    add,
    add_scaled,
    apply,
    apply_transposed,
    cross,
    dot,
    hat,
    matmul,
    matrix_add_scaled,
    outer,
    scale,
    sub,
    transpose,
)
from tautline.kernels.symmetric import Symmetric, adjugate, inverse_determinant, symmetric_apply, symmetric_scale
from tautline.kernels.tables import vector_at

DAMPING_LOSS = account("damping_loss")
# Part of the momentum of the mesh's fastest motion that damping may take at once.
STIFF = 0.5


class Reduced(NamedTuple):
    """A string reduced to its ends and its reel: symmetric blocks, and right-hand sides."""

    first: Matrix
    across: Matrix  # of the first end by the velocity of the last
    last: Matrix
    reel_first: Vector
    reel_last: Vector
    reel: float
    right_first: Vector
    right_last: Vector
    right_reel: float


@kernel
def full(K: Symmetric) -> Matrix:
    return ((K[0], K[5], K[4]), (K[5], K[1], K[3]), (K[4], K[3], K[2]))


@kernel
def between(strand: Strand, e: int) -> Matrix:
    """Block between the nodes of element e."""
    return (  # symmetric: columns are rows
        coupled(strand.scratch, e, (1.0, 0.0, 0.0)),
        coupled(strand.scratch, e, (0.0, 1.0, 0.0)),
        coupled(strand.scratch, e, (0.0, 0.0, 1.0)),
    )


@kernel
def prepare(strand: Strand, system: System, tau: float, time: float, ahead: float) -> float:
    """Coefficients of the elements, blocks of the nodes, and the border of the reel; the reel's own coefficient.

    `time` is how long damping acts in all.
    """
    par, scratch, reel = strand.par, strand.scratch, strand.reel
    s = reel[S]
    l = element_length(par, s)
    motion = Motion(strand.nodes, strand.work, reel, system.clock)
    elements_at_joint(par, l, 0.0, motion, scratch)
    if strand.row >= 0:
        lengthening_by_reel(par, l, scratch)
    else:
        clear_along(par.N, scratch.factor[BY_REEL])
    if par.viscosity > 0.0:
        own = Damping(True, par.viscosity)
        viscous_coefficients(par, own, l, time, reel[SIGMA], reel[SIGMA_BEFORE], ahead, motion, scratch)
    else:
        clear_along(par.N, scratch.factor[VISCOUS])
    for row in (ACROSS, ALONG, ADDED):
        clear_along(par.N, scratch.factor[row])
    blocks_of_nodes(par, l, tau, scratch)
    if strand.row < 0:
        return 0.0
    return border_of_reel(par, l, s, tau, scratch) - reel_mass(par, s)[0]


@kernel
def reduce_strand(strand: Strand, own: float) -> Reduced:
    """Eliminate the inner nodes from the start of the string to its end; what back substitution needs is left."""
    par, scratch = strand.par, strand.scratch
    N = par.N
    target, border = scratch.nodes[TARGET], scratch.nodes[BORDER]
    out, out_reel = scratch.nodes[MEAN_VELOCITY], scratch.nodes[BY_SIGMA]
    moving = strand.row >= 0
    sixth = par.mu * element_length(par, strand.reel[S]) / 6.0
    # the first node has half of an inner one's mass, and what is wound there
    carried_there = par.mu * strand.reel[S] if strand.wound else 0.0
    first = matrix_add_scaled(full(block(scratch, 0)), carried_there - 2.0 * sixth, IDENTITY)
    across = between(strand, 0)
    right_first = ZERO
    reel_first = node(border, 0) if moving else ZERO
    reel, right_reel = own, 0.0
    here = full(block(scratch, 1))
    right = node(target, 1) if N > 1 else ZERO
    b = node(border, 1) if moving else ZERO
    for i in range(1, N):
        K = (here[0][0], here[1][1], here[2][2], here[1][2], here[0][2], here[0][1])
        adj = adjugate(K)
        inverse = symmetric_scale(inverse_determinant(K, adj), adj)
        put_block(scratch, i, inverse)
        z, y = symmetric_apply(inverse, right), symmetric_apply(inverse, b)
        put_node(out, i, z)
        put_node(out_reel, i, y)
        full_inverse = full(inverse)
        kept = matmul(across, full_inverse)  # C B^-1
        E = between(strand, i)
        put_matrix_at(strand, i, kept)
        first = matrix_add_scaled(first, -1.0, matmul(kept, transpose(across)))
        right_first = sub(right_first, apply(kept, right))
        reel_first = sub(reel_first, apply(kept, b))
        across = matrix_add_scaled(ZEROS, -1.0, matmul(kept, E))
        carried = matmul(E, full_inverse)
        here = matrix_add_scaled(full(block(scratch, i + 1)), -1.0, matmul(carried, E))
        reel -= dot(b, y)
        right_reel -= dot(b, z)
        following = node(target, i + 1) if i + 1 < N else ZERO
        right = sub(following, apply(E, z))
        b = sub(node(border, i + 1), apply(E, y)) if moving else ZERO
    return Reduced(first, across, here, reel_first, b, reel, right_first, right, right_reel)


@kernel
def put_matrix_at(strand: Strand, i: int, A: Matrix) -> None:
    """Keep a matrix of node i, in three rows of the scratch that nothing else needs meanwhile."""
    put_node(strand.scratch.nodes[RIGHT], i, A[0])
    put_node(strand.scratch.nodes[GUESS], i, A[1])
    put_node(strand.scratch.nodes[KEPT_ROW], i, A[2])


@kernel
def matrix_at(strand: Strand, i: int) -> Matrix:
    nodes = strand.scratch.nodes
    return (node(nodes[RIGHT], i), node(nodes[GUESS], i), node(nodes[KEPT_ROW], i))


KEPT_ROW = 6  # of the scratch: impulses of elements, or velocities at a guess


@kernel
def restore_inner(strand: Strand, v_first: Vector, v_last: Vector, sigma: float) -> None:
    """Velocities of all nodes into MEAN_VELOCITY, from those of the ends and of the reel."""
    N, scratch = strand.par.N, strand.scratch
    v, by_reel = scratch.nodes[MEAN_VELOCITY], scratch.nodes[BY_SIGMA]
    put_node(v, N, v_last)
    following = v_last
    for i in range(N - 1, 0, -1):
        x = sub(node(v, i), symmetric_apply(block(scratch, i), coupled(scratch, i, following)))
        x = sub(x, apply_transposed(matrix_at(strand, i), v_first))
        following = add_scaled(x, -sigma, node(by_reel, i))
        put_node(v, i, following)
    put_node(v, 0, v_first)


@kernel
def swing_of(body: Body, point: Vector) -> Matrix:
    """Velocity of a point of a body by its angular velocity: -R hat(rho)."""
    return matmul(matrix_in(body.work, TURNED), hat(scale(-1.0, point)))


@kernel
def add_pair(system: System, strand: Strand, e: int, f: int, K: Matrix) -> None:
    """A block between the velocities of two ends, in the unknowns of their bodies."""
    a, b = body_at(system.bodies, strand.ends[e]), body_at(system.bodies, strand.ends[f])
    if not (a.free and b.free):
        return
    matrix = system.matrix
    A, B = swing_of(a, strand.points[e]), swing_of(b, strand.points[f])
    KB = matmul(K, B)
    add_block(matrix, a.row, b.row, K)
    if b.turns:
        add_block(matrix, a.row, b.row + 3, KB)
    if a.turns:
        add_block(matrix, a.row + 3, b.row, matmul(transpose(A), K))
        if b.turns:
            add_block(matrix, a.row + 3, b.row + 3, matmul(transpose(A), KB))


@kernel
def given_velocity(body: Body) -> Vector:
    """Velocity of a body whose motion is given; 0 of one that is free."""
    if body.free:
        return ZERO
    return triple(body.work, V_NOW)


@kernel
def add_end(system: System, strand: Strand, e: int, reduced: Reduced) -> None:
    """Right-hand sides of the body at an end, and its block with the reel."""
    body = body_at(system.bodies, strand.ends[e])
    if not body.free:
        return
    matrix, right = system.matrix, system.right[0]
    first, last = body_at(system.bodies, strand.ends[0]), body_at(system.bodies, strand.ends[1])
    known = (given_velocity(first), given_velocity(last))
    own = reduced.right_first if e == 0 else reduced.right_last
    by_first = reduced.first if e == 0 else transpose(reduced.across)
    by_last = reduced.across if e == 0 else reduced.last
    force = sub(sub(own, apply(by_first, known[0])), apply(by_last, known[1]))
    turned = transpose(swing_of(body, strand.points[e]))
    add_vector(right, body.row, force)
    if body.turns:
        add_vector(right, body.row + 3, apply(turned, force))
    if strand.row >= 0:
        b = reduced.reel_first if e == 0 else reduced.reel_last
        moment = apply(turned, b)
        for a in range(3):
            matrix[body.row + a, strand.row] += b[a]
            matrix[strand.row, body.row + a] += b[a]
            if body.turns:
                matrix[body.row + 3 + a, strand.row] += moment[a]
                matrix[strand.row, body.row + 3 + a] += moment[a]


@kernel
def add_reel(system: System, strand: Strand, reduced: Reduced) -> None:
    """The drum: its inertia, which a body that carries it shares, and the equation of its speed."""
    matrix, right = system.matrix, system.right[0]
    body = body_at(system.bodies, strand.ends[0])
    row, axis = strand.row, strand.axis
    mass = drum_mass(strand, 0.0, 0.0) if strand.on_body else reel_mass(strand.par, strand.reel[S])[0]
    spins = body.free and body.turns
    if spins:
        add_block(matrix, body.row + 3, body.row + 3, matrix_add_scaled(ZEROS, mass, outer(axis, axis)))
    if row < 0:
        return
    known = dot(reduced.reel_first, given_velocity(body))
    known += dot(reduced.reel_last, given_velocity(body_at(system.bodies, strand.ends[1])))
    matrix[row, row] += mass + reduced.reel
    right[row] += strand.reel[P_S] - strand.reel[P_S_ERR] + reduced.right_reel - known
    if spins:
        for a in range(3):
            matrix[row, body.row + 3 + a] += mass * axis[a]
            matrix[body.row + 3 + a, row] += mass * axis[a]


@separate
def strand_into(system: System, k: int, tau: float, time: float, ahead: float) -> None:
    """Reduce a string and put it into the equations of bodies and reels."""
    strand = strand_at(system.strands, k)
    own = prepare(strand, system, tau, time, ahead)
    reduced = reduce_strand(strand, own)
    add_pair(system, strand, 0, 0, reduced.first)
    add_pair(system, strand, 0, 1, reduced.across)
    add_pair(system, strand, 1, 0, transpose(reduced.across))
    add_pair(system, strand, 1, 1, reduced.last)
    add_end(system, strand, 0, reduced)
    add_end(system, strand, 1, reduced)
    if strand.wound:
        add_reel(system, strand, reduced)


@kernel
def hold_reel(system: System, strand: Strand) -> None:
    """Let the equation of a reel that is held give its speed; friction of a drum that glides is solved for."""
    if strand.row < 0:
        return
    matrix, right = system.matrix, system.right[0]
    row, reel = strand.row, strand.reel
    target = reel_target(strand.par, reel, False, reel[P_S])
    if not target.held:
        matrix[row, row] += target.friction
        right[row] += target.momentum - reel[P_S]
        return
    speed = target.speed
    for j in range(len(right)):
        right[j] -= matrix[j, row] * speed
        matrix[j, row] = 0.0
        matrix[row, j] = 0.0
    matrix[row, row] = 1.0
    right[row] = speed


@separate
def velocities_with_damping(system: System, tau: float, time: float, ahead: float) -> None:
    """Velocities of all bodies, reels and nodes at a joint, from momenta that damping has still to act on for tau.

    It acts for `time` in all. Velocities of bodies whose motion is given are in their work already.
    """
    matrix, right = system.matrix, system.right[0]
    n = len(right)
    for i in range(n):
        right[i] = 0.0
        for j in range(n):
            matrix[i, j] = 0.0
    for b in range(len(system.bodies)):
        body = body_at(system.bodies, b)
        if body.free:
            R = attitude(body.state)
            for a in range(3):
                put_triple(body.work, TURNED + 3 * a, R[a])
            add_block(matrix, body.row, body.row, matrix_add_scaled(ZEROS, body.mass, IDENTITY))
            add_vector(right, body.row, triple(body.state, LINEAR))
            add_block(matrix, body.row + 3, body.row + 3, body.J if body.turns else IDENTITY)
            if body.turns:
                add_vector(right, body.row + 3, apply_transposed(R, triple(body.state, ANGULAR)))
    for k in range(len(system.strands)):
        strand_into(system, k, tau, time, ahead)
    for k in range(len(system.strands)):
        hold_reel(system, strand_at(system.strands, k))
    eliminate(matrix, right, n)
    substitute(matrix, right, n, system.right[1])
    for b in range(len(system.bodies)):
        body = body_at(system.bodies, b)
        if body.free:
            put_triple(body.work, V_NOW, triple(system.right[1], body.row))
            put_triple(body.work, OMEGA_NOW, triple(system.right[1], body.row + 3))
    for k in range(len(system.strands)):
        strand = strand_at(system.strands, k)
        for e in range(2):
            body = body_at(system.bodies, strand.ends[e])
            swing = apply(matrix_in(body.work, TURNED), cross(triple(body.work, OMEGA_NOW), strand.points[e]))
            put_triple(strand.work, END_VELOCITY + 3 * e, add(triple(body.work, V_NOW), swing))
        strand.work[SIGMA_NOW] = system.right[1][strand.row] if strand.row >= 0 else 0.0
        ends = (triple(strand.work, END_VELOCITY), triple(strand.work, END_VELOCITY + 3))
        restore_inner(strand, ends[0], ends[1], strand.work[SIGMA_NOW])


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
