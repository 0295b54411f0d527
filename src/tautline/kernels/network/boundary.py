"""Velocities of a network at a step boundary, from momenta and from what loads have still to give.

The inner nodes of each string are eliminated by 3x3 blocks from its start to its end; what is left of it is a block for
both ends and its reel or feeds, which goes into the equations of the bodies.
"""

from __future__ import annotations

from tautline.kernels import data
from tautline.kernels.data import Loads, add_triple, node, put_triple, triple
from tautline.kernels.energy import reel_mass
from tautline.kernels.jit import kernel, separate
from tautline.kernels.loads.acting import NO_PUSH, Instant, Push, Speeds, instant_at
from tautline.kernels.loads.boundary import StepBoundary, reel_target
from tautline.kernels.loads.drag import NO_BODY_RESISTANCE
from tautline.kernels.loads.pushing import ACCOUNTS, ON_BODY, ON_FAR, ON_REEL, acts, pushes
from tautline.kernels.loads.velocities import ReelTarget
from tautline.kernels.network import data as net
from tautline.kernels.network.data import Body, Network, Strand, body_at, loads_at, strand_at
from tautline.kernels.network.ends import matrix_in, put_matrix, spooled_slope
from tautline.kernels.network.equations import drum_mass
from tautline.kernels.network.friction import NO_FRICTION, rub_force, rub_of
from tautline.kernels.network.linear import add_block, add_column, add_row, clear, eliminate, substitute
from tautline.kernels.network.reduced import (
    Reduced,
    prepare,
    push_strand,
    reduce_strand,
    restore_inner,
)
from tautline.kernels.network.span_loads import rows_of, speeds_of
from tautline.kernels.network.wet import fluid_into
from tautline.kernels.newton import Rates
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import (
    IDENTITY,
    ZERO,
    Matrix,
    Vector,
    add,
    apply,
    apply_transposed,
    cross,
    dot,
    hat,
    matmul,
    matrix_scale,
    outer,
    scale,
    sub,
    transpose,
)


@kernel
def swing_of(body: Body, point: Vector) -> Matrix:
    """Velocity of a point of a body by its angular velocity: -R hat(rho)."""
    return matmul(matrix_in(body.work, net.TURNED), hat(scale(-1.0, point)))


@kernel
def add_pair(network: Network, ends: tuple[Body, Body], points: tuple[Vector, Vector], K: Matrix) -> None:
    """A block between the velocities of two points, in the unknowns of their bodies."""
    a, b = ends
    if not (a.free and b.free):
        return
    matrix = network.matrix
    A, B = swing_of(a, points[0]), swing_of(b, points[1])
    KB = matmul(K, B)
    add_block(matrix, a.row, b.row, K)
    if b.turns:
        add_block(matrix, a.row, b.row + 3, KB)
    if a.turns:
        add_block(matrix, a.row + 3, b.row, matmul(transpose(A), K))
        if b.turns:
            add_block(matrix, a.row + 3, b.row + 3, matmul(transpose(A), KB))


@kernel
def given_velocity(body: Body, point: Vector) -> Vector:
    """Velocity of a point of a body whose motion is given; 0 of one that is free."""
    if body.free:
        return ZERO
    swing = apply(matrix_in(body.work, net.TURNED), cross(triple(body.work, net.OMEGA_NOW), point))
    return add(triple(body.work, net.V_NOW), swing)


@kernel
def given_velocities(network: Network, strand: Strand) -> tuple[Vector, Vector]:
    """Velocities of what holds both ends of a string."""
    first, last = body_at(network.bodies, strand.ends[0]), body_at(network.bodies, strand.ends[1])
    return given_velocity(first, strand.points[0]), given_velocity(last, strand.points[1])


@kernel
def push_point(network: Network, body: Body, point: Vector, force: Vector) -> None:
    """Right-hand sides of a free body by a force at a point of it."""
    if body.free:
        add_triple(network.right[0], body.row, force)
        if body.turns:
            add_triple(network.right[0], body.row + 3, apply(transpose(swing_of(body, point)), force))


@kernel
def add_end(network: Network, strand: Strand, e: int, reduced: Reduced) -> None:
    """Right-hand sides of the body at an end, and its blocks with the feeds."""
    body = body_at(network.bodies, strand.ends[e])
    if not body.free:
        return
    known = given_velocities(network, strand)
    own = reduced.right_first if e == 0 else reduced.right_last
    by_first = reduced.first if e == 0 else transpose(reduced.across)
    by_last = reduced.across if e == 0 else reduced.last
    force = sub(sub(own, apply(by_first, known[0])), apply(by_last, known[1]))
    push_point(network, body, strand.points[e], force)
    rows = rows_of(network, strand)
    couple_feed(network, body, strand.points[e], rows[0], of_feed(strand, 0, reduced.reel_first, reduced.reel_last, e))
    couple_feed(network, body, strand.points[e], rows[1], of_feed(strand, 1, reduced.far_first, reduced.far_last, e))


@kernel
def of_feed(strand: Strand, f: int, first: Vector, last: Vector, e: int) -> Vector:
    """Coefficients of a feed by the velocity of end e, for its reel."""
    return scale(strand.reeving.factors[f], first if e == 0 else last)


@kernel
def couple_feed(network: Network, body: Body, point: Vector, row: int, b: Vector) -> None:
    """Coefficients between the velocity of a point of a body and the speed of a reel."""
    if row < 0:
        return
    matrix = network.matrix
    moment = apply(transpose(swing_of(body, point)), b)
    add_column(matrix, body.row, row, b)
    add_row(matrix, row, body.row, b)
    if body.turns:
        add_column(matrix, body.row + 3, row, moment)
        add_row(matrix, row, body.row + 3, moment)


@kernel
def add_feeds(network: Network, strand: Strand, reduced: Reduced) -> None:
    """A string's part of the equations of its reel, or of both feeds."""
    matrix, right = network.matrix, network.right[0]
    rows, factors, v = rows_of(network, strand), strand.reeving.factors, given_velocities(network, strand)
    if rows[0] >= 0:
        known = dot(reduced.reel_first, v[0]) + dot(reduced.reel_last, v[1])
        matrix[rows[0], rows[0]] += factors[0] * factors[0] * reduced.reel
        right[rows[0]] += factors[0] * (reduced.right_reel - known)
    if rows[1] >= 0:
        known = dot(reduced.far_first, v[0]) + dot(reduced.far_last, v[1])
        matrix[rows[1], rows[1]] += factors[1] * factors[1] * reduced.far
        right[rows[1]] += factors[1] * (reduced.right_far - known)
        if rows[0] >= 0:
            across = factors[0] * factors[1] * reduced.across_feeds
            matrix[rows[0], rows[1]] += across
            matrix[rows[1], rows[0]] += across


@kernel
def add_reel(network: Network, strand: Strand) -> None:
    """The drum or wheel at the start of a string: its inertia, which a body that carries it shares."""
    matrix = network.matrix
    body = body_at(network.bodies, strand.ends[0])
    row, factor, axis = rows_of(network, strand)[0], strand.reeving.factors[0], strand.axis
    mass = reel_mass(strand.reeving.par, strand.reel[data.S])[0]
    if strand.on_body:
        mass = drum_mass(strand, 0.0, 0.0)
    spins = body.free and body.turns
    if spins:
        add_block(matrix, body.row + 3, body.row + 3, matrix_scale(mass, outer(axis, axis)))
    if row < 0:
        return
    matrix[row, row] += factor * factor * mass
    if not body.free:
        lifted = dot(spooled_slope(strand, strand.reel[data.S]), given_velocity(body, strand.points[0]))
        network.right[0][row] -= factor * (mass * dot(axis, triple(body.work, net.OMEGA_NOW)) + lifted)
    if spins:
        add_row(matrix, row, body.row + 3, scale(factor * mass, axis))
        add_column(matrix, body.row + 3, row, scale(factor * mass, axis))


@kernel
def add_wheel(network: Network, strand: Strand) -> None:
    """Rope that is on the wheel at the start of a span: a mass at its center."""
    body, center = body_at(network.bodies, strand.ends[0]), strand.reeving.center
    K = matrix_scale(strand.reeving.wrap, IDENTITY)
    add_pair(network, (body, body), (center, center), K)


@kernel
def add_drum(network: Network, strand: Strand, tau: float, at: Instant, ahead: float) -> None:
    """A drum at the end of a line: the rope on it, and what loads give to that. A wheel alone has no rope."""
    body, point = body_at(network.bodies, strand.ends[0]), strand.points[0]
    if strand.has_reel:
        K = matrix_scale(strand.par.mu * strand.reel[data.S], IDENTITY)
        add_pair(network, (body, body), (point, point), K)
    if pushes(loads_at(network.acting, strand.number)):
        push = push_strand(network, strand, at, ahead)
        push_point(network, body, point, scale(tau, node(strand.scratch.nodes[data.PUSHED], 0)))
        row = rows_of(network, strand)[0]
        if row >= 0:
            network.right[0][row] += tau * strand.reeving.factors[0] * push.reel


@separate
def strand_into(network: Network, k: int, tau: float, at: Instant, ahead: float) -> None:
    """Reduce a string and put it into the equations of bodies and reels."""
    strand = strand_at(network.strands, k)
    if strand.row >= 0:
        network.right[0][strand.row] += strand.reel[data.P_S] - strand.reel[data.P_S_ERR]
    if strand.has_reel or strand.reeving.sheave:
        add_reel(network, strand)
    if strand.reeving.sheave:
        add_wheel(network, strand)
    if strand.reeving.idle:
        add_drum(network, strand, tau, at, ahead)
        return
    reduced = reduce_strand(network, strand, prepare(strand, network, tau, at, ahead))
    first, last, points = (
        body_at(network.bodies, strand.ends[0]),
        body_at(network.bodies, strand.ends[1]),
        strand.points,
    )
    add_pair(network, (first, first), (points[0], points[0]), reduced.first)
    add_pair(network, (first, last), points, reduced.across)
    add_pair(network, (last, first), (points[1], points[0]), transpose(reduced.across))
    add_pair(network, (last, last), (points[1], points[1]), reduced.last)
    add_end(network, strand, 0, reduced)
    add_end(network, strand, 1, reduced)
    add_feeds(network, strand, reduced)
    loads = loads_at(network.acting, k)
    if last.free and last.turns and pushes(loads):
        add_triple(network.right[0], last.row + 3, scale(tau, push_of(strand, loads).moment))


@kernel
def target_of(network: Network, strand: Strand) -> ReelTarget:
    """A reel in the equations of velocities, from its momentum.

    Friction of a wheel that is stiff acts for half of the latest step at the speed that is solved for.
    """
    reel, friction = strand.reel, strand.reeving.friction
    if reel[data.HELD] == data.GLIDING and friction.law != NO_FRICTION:
        slope = rub_force(rub_of(network, strand.number), friction.alpha_0, reel[data.SIGMA])[1]
        drag = -0.5 * reel[data.H_LAST] * slope
        return ReelTarget(True, False, 0.0, reel[data.P_S] + drag * reel[data.SIGMA], drag)
    return reel_target(strand.reeving.par, reel, False, reel[data.P_S], 0.0)


@kernel
def stick_rope(network: Network, strand: Strand) -> None:
    """Let a rope that sticks to its wheel have the wheel's speed: their momenta are known together only."""
    if strand.reeving.wheel < 0 or strand.reel[net.GRIPS] == 0.0:
        return
    matrix, right = network.matrix, network.right[0]
    i, j = strand.row, strand_at(network.strands, strand.reeving.wheel).row
    n = len(right)
    if j >= 0:
        for k in range(n):
            matrix[k, j] += matrix[k, i]
        for k in range(n):
            matrix[j, k] += matrix[i, k]
        right[j] += right[i]
    for k in range(n):
        matrix[k, i] = 0.0
        matrix[i, k] = 0.0
    matrix[i, i] = 1.0
    right[i] = 0.0
    if j >= 0:
        matrix[i, j] = -1.0


@kernel
def hold_reel(network: Network, strand: Strand) -> None:
    """Let the equation of a reel that is held give its speed; friction of a drum that glides is solved for."""
    if strand.row < 0:
        return
    matrix, right = network.matrix, network.right[0]
    row, reel = strand.row, strand.reel
    target = target_of(network, strand)
    if not target.held:
        matrix[row, row] += target.friction
        right[row] += target.momentum - reel[data.P_S]
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
    """Push of loads that do not resist on the feeds and to the body at the end, as they were looked at last."""
    reel, far, moment = 0.0, 0.0, ZERO
    for k in range(len(ACCOUNTS)):
        if acts(k, loads.own):
            rest = strand.scratch.nodes[data.LOAD_ROWS + 2 * k + 1]
            reel += rest[ON_REEL]
            far += rest[ON_FAR]
            moment = add(moment, triple(rest, ON_BODY))
    return Push(reel, far, moment)


@kernel
def boundary_of(network: Network, strand: Strand, loads: Loads, at: Instant, speeds: Speeds) -> StepBoundary:
    """A step boundary as the pendulum's loads have it, at the velocities that were found."""
    body = body_at(network.bodies, strand.ends[1])
    rates = Rates(speeds[0], triple(body.work, net.OMEGA_NOW), 0.0)
    push = push_of(strand, loads) if pushes(loads) else NO_PUSH
    here = instant_at(at, matrix_in(body.work, net.TURNED), rates, speeds)
    return StepBoundary(here, NO_BODY_RESISTANCE, push, rates, 0.0, speeds)


@separate
def velocities_at_boundary(network: Network, tau: float, at: Instant, ahead: float) -> None:
    """Velocities of all bodies, reels and nodes at a step boundary, from momenta on which loads act for tau yet.

    Velocities of bodies whose motion is given are in their work already.
    """
    matrix, right = network.matrix, network.right[0]
    n = len(right)
    clear(matrix, right)
    for b in range(len(network.bodies)):
        body = body_at(network.bodies, b)
        if body.free:
            R = attitude(body.state)
            put_matrix(body.work, net.TURNED, R)
            add_block(matrix, body.row, body.row, matrix_scale(body.mass, IDENTITY))
            add_triple(right, body.row, triple(body.state, net.LINEAR))
            add_block(matrix, body.row + 3, body.row + 3, body.J if body.turns else IDENTITY)
            if body.turns:
                add_triple(right, body.row + 3, apply_transposed(R, triple(body.state, net.ANGULAR)))
            if network.in_fluid:
                fluid_into(network, body, tau, at, ahead)
    for k in range(len(network.strands)):
        strand_into(network, k, tau, at, ahead)
    for k in range(len(network.strands)):
        stick_rope(network, strand_at(network.strands, k))
    for k in range(len(network.strands)):
        hold_reel(network, strand_at(network.strands, k))
    eliminate(matrix, right, n)
    substitute(matrix, right, n, network.right[1])
    for b in range(len(network.bodies)):
        body = body_at(network.bodies, b)
        if body.free:
            put_triple(body.work, net.V_NOW, triple(network.right[1], body.row))
            put_triple(body.work, net.OMEGA_NOW, triple(network.right[1], body.row + 3))
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        for e in range(2):
            body = body_at(network.bodies, strand.ends[e])
            swing = apply(matrix_in(body.work, net.TURNED), cross(triple(body.work, net.OMEGA_NOW), strand.points[e]))
            put_triple(strand.work, net.END_VELOCITY + 3 * e, add(triple(body.work, net.V_NOW), swing))
        strand.work[net.SIGMA_NOW] = network.right[1][strand.row] if strand.row >= 0 else 0.0
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        ends = (triple(strand.work, net.END_VELOCITY), triple(strand.work, net.END_VELOCITY + 3))
        if not strand.reeving.idle:
            restore_inner(network, strand, ends[0], ends[1], speeds_of(network, strand))
