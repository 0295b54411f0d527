"""Velocities of a network at a joint of two steps, from momenta and from what loads have still to give.

The inner nodes of each string are eliminated by 3x3 blocks from its start to its end; what is left of it is a block for
both ends and the reel, which goes into the equations of the bodies.
"""

from __future__ import annotations

from tautline.kernels.data import (
    LOAD_ROWS,
    P_S,
    P_S_ERR,
    Loads,
    S,
    put_triple,
    triple,
)
from tautline.kernels.energy import reel_mass
from tautline.kernels.jit import kernel, separate
from tautline.kernels.loads.acting import Instant, Push, instant_at
from tautline.kernels.loads.drag import NO_BODY_RESISTANCE
from tautline.kernels.loads.joint import Joint, reel_target
from tautline.kernels.loads.pushing import ACCOUNTS, acts, pushes
from tautline.kernels.network.data import (
    ANGULAR,
    END_VELOCITY,
    LINEAR,
    OMEGA_NOW,
    SIGMA_NOW,
    TURNED,
    V_NOW,
    Body,
    Network,
    Strand,
    body_at,
    loads_at,
    strand_at,
)
from tautline.kernels.network.ends import matrix_in, put_matrix
from tautline.kernels.network.equations import drum_mass
from tautline.kernels.network.linear import (
    IDENTITY,
    ZEROS,
    add_block,
    add_column,
    add_row,
    add_vector,
    clear,
    eliminate,
    substitute,
)
from tautline.kernels.network.reduced import (
    Reduced,
    prepare,
    reduce_strand,
    restore_inner,
)
from tautline.kernels.network.step import ZERO
from tautline.kernels.network.wet import fluid_into
from tautline.kernels.newton import Rates
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import (
    Matrix,
    Vector,
    add,
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


@kernel
def swing_of(body: Body, point: Vector) -> Matrix:
    """Velocity of a point of a body by its angular velocity: -R hat(rho)."""
    return matmul(matrix_in(body.work, TURNED), hat(scale(-1.0, point)))


@kernel
def add_pair(network: Network, strand: Strand, e: int, f: int, K: Matrix) -> None:
    """A block between the velocities of two ends, in the unknowns of their bodies."""
    a, b = body_at(network.bodies, strand.ends[e]), body_at(network.bodies, strand.ends[f])
    if not (a.free and b.free):
        return
    matrix = network.matrix
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
def add_end(network: Network, strand: Strand, e: int, reduced: Reduced) -> None:
    """Right-hand sides of the body at an end, and its block with the reel."""
    body = body_at(network.bodies, strand.ends[e])
    if not body.free:
        return
    matrix, right = network.matrix, network.right[0]
    first, last = body_at(network.bodies, strand.ends[0]), body_at(network.bodies, strand.ends[1])
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
        add_column(matrix, body.row, strand.row, b)
        add_row(matrix, strand.row, body.row, b)
        if body.turns:
            add_column(matrix, body.row + 3, strand.row, moment)
            add_row(matrix, strand.row, body.row + 3, moment)


@kernel
def add_reel(network: Network, strand: Strand, reduced: Reduced) -> None:
    """The drum: its inertia, which a body that carries it shares, and the equation of its speed."""
    matrix, right = network.matrix, network.right[0]
    body = body_at(network.bodies, strand.ends[0])
    row, axis = strand.row, strand.axis
    mass = drum_mass(strand, 0.0, 0.0) if strand.on_body else reel_mass(strand.par, strand.reel[S])[0]
    spins = body.free and body.turns
    if spins:
        add_block(matrix, body.row + 3, body.row + 3, matrix_add_scaled(ZEROS, mass, outer(axis, axis)))
    if row < 0:
        return
    known = dot(reduced.reel_first, given_velocity(body))
    known += dot(reduced.reel_last, given_velocity(body_at(network.bodies, strand.ends[1])))
    matrix[row, row] += mass + reduced.reel
    right[row] += strand.reel[P_S] - strand.reel[P_S_ERR] + reduced.right_reel - known
    if spins:
        add_row(matrix, row, body.row + 3, scale(mass, axis))
        add_column(matrix, body.row + 3, row, scale(mass, axis))


@separate
def strand_into(network: Network, k: int, tau: float, at: Instant, ahead: float) -> None:
    """Reduce a string and put it into the equations of bodies and reels."""
    strand = strand_at(network.strands, k)
    reduced = reduce_strand(strand, prepare(strand, network, tau, at, ahead))
    add_pair(network, strand, 0, 0, reduced.first)
    add_pair(network, strand, 0, 1, reduced.across)
    add_pair(network, strand, 1, 0, transpose(reduced.across))
    add_pair(network, strand, 1, 1, reduced.last)
    add_end(network, strand, 0, reduced)
    add_end(network, strand, 1, reduced)
    if strand.wound:
        add_reel(network, strand, reduced)
    last = body_at(network.bodies, strand.ends[1])
    loads = loads_at(network.acting, k)
    if last.free and last.turns and pushes(loads):
        add_vector(network.right[0], last.row + 3, scale(tau, push_of(strand, loads).moment))


@kernel
def hold_reel(network: Network, strand: Strand) -> None:
    """Let the equation of a reel that is held give its speed; friction of a drum that glides is solved for."""
    if strand.row < 0:
        return
    matrix, right = network.matrix, network.right[0]
    row, reel = strand.row, strand.reel
    target = reel_target(strand.par, reel, False, reel[P_S], 0.0)
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


@kernel
def push_of(strand: Strand, loads: Loads) -> Push:
    """What loads that do not resist do to the reel and to the body at the end, as they were looked at last."""
    reel, moment = 0.0, ZERO
    for k in range(len(ACCOUNTS)):
        if acts(k, loads.own):
            rest = strand.scratch.nodes[LOAD_ROWS + 2 * k + 1]
            reel += rest[0]
            moment = add(moment, triple(rest, 1))
    return Push(reel, moment)


@kernel
def joint_of(network: Network, strand: Strand, loads: Loads, at: Instant) -> Joint:
    """A joint as the pendulum's loads have it, at the velocities that were found."""
    body = body_at(network.bodies, strand.ends[1])
    rates = Rates(strand.work[SIGMA_NOW], triple(body.work, OMEGA_NOW), 0.0)
    push = push_of(strand, loads) if pushes(loads) else Push(0.0, ZERO)
    return Joint(instant_at(at, matrix_in(body.work, TURNED), rates), NO_BODY_RESISTANCE, push, rates, 0.0)


@separate
def velocities_at_joint(network: Network, tau: float, at: Instant, ahead: float) -> None:
    """Velocities of all bodies, reels and nodes at a joint, from momenta that loads have still to act on for tau.

    Velocities of bodies whose motion is given are in their work already.
    """
    matrix, right = network.matrix, network.right[0]
    n = len(right)
    clear(matrix, right)
    for b in range(len(network.bodies)):
        body = body_at(network.bodies, b)
        if body.free:
            R = attitude(body.state)
            put_matrix(body.work, TURNED, R)
            add_block(matrix, body.row, body.row, matrix_add_scaled(ZEROS, body.mass, IDENTITY))
            add_vector(right, body.row, triple(body.state, LINEAR))
            add_block(matrix, body.row + 3, body.row + 3, body.J if body.turns else IDENTITY)
            if body.turns:
                add_vector(right, body.row + 3, apply_transposed(R, triple(body.state, ANGULAR)))
            if network.in_fluid:
                fluid_into(network, body, tau, at, ahead)
    for k in range(len(network.strands)):
        strand_into(network, k, tau, at, ahead)
    for k in range(len(network.strands)):
        hold_reel(network, strand_at(network.strands, k))
    eliminate(matrix, right, n)
    substitute(matrix, right, n, network.right[1])
    for b in range(len(network.bodies)):
        body = body_at(network.bodies, b)
        if body.free:
            put_triple(body.work, V_NOW, triple(network.right[1], body.row))
            put_triple(body.work, OMEGA_NOW, triple(network.right[1], body.row + 3))
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        for e in range(2):
            body = body_at(network.bodies, strand.ends[e])
            swing = apply(matrix_in(body.work, TURNED), cross(triple(body.work, OMEGA_NOW), strand.points[e]))
            put_triple(strand.work, END_VELOCITY + 3 * e, add(triple(body.work, V_NOW), swing))
        strand.work[SIGMA_NOW] = network.right[1][strand.row] if strand.row >= 0 else 0.0
        ends = (triple(strand.work, END_VELOCITY), triple(strand.work, END_VELOCITY + 3))
        restore_inner(strand, ends[0], ends[1], strand.work[SIGMA_NOW])
