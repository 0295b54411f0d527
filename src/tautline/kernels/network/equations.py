"""Equations of a step for the bodies and reels of a network, and their solution by Newton's method.

Unknown are the mean velocity and angular velocity of every free body and the speed of every reel that moves; strings
are reduced to their ends (condense.py). docs/theory.md, (99) to (103).
"""

from __future__ import annotations

import math

from tautline.arrays import Array2
from tautline.kernels import data
from tautline.kernels.data import Array, add_triple, put_triple, triple
from tautline.kernels.energy import element_length
from tautline.kernels.jit import kernel, separate
from tautline.kernels.network import data as net
from tautline.kernels.network.condense import Fed, change_ends, condense
from tautline.kernels.network.data import Body, Network, Strand, body_at, strand_at
from tautline.kernels.network.ends import (
    End,
    angular_velocity_about,
    end_of,
    matrix_in,
    moment_of,
    spin_direction,
    spooled_slope,
    swing_by_omega,
)
from tautline.kernels.network.grip import solve_feed, solve_gripped
from tautline.kernels.network.linear import add_block, add_column, add_row, clear, eliminate, substitute
from tautline.kernels.network.reeving import (
    add_drum,
    add_feeds,
    add_wheel,
    condense_drum,
    condense_span,
    corrections_of_feeds,
    feed_row,
    feed_speed,
    is_fed,
)
from tautline.kernels.network.spans import retracted
from tautline.kernels.newton import ERROR_LEFT, ROUNDING_FLOOR
from tautline.kernels.rotation import MAX_ITERATIONS, shrinking
from tautline.kernels.so3 import (
    IDENTITY,
    ZEROS,
    Matrix,
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
from tautline.kernels.tangents import has_tangents, tangents_within

# Rounds over the reels until their speeds agree with each other.
MOST_ROUNDS = 200
LAST_ROUND = 1e-15
LAST_OF_TANGENTS = 1e-14


@kernel
def body_rows(body: Body, h: float, kick: float, matrix: Array2, right: Array) -> None:
    """A body's own part of its equations: momenta at the start, less those of the guess, and their derivatives."""
    i = body.row
    R = matrix_in(body.work, net.TURNED)
    omega = triple(body.work, net.OMEGA_NOW)
    P = add_scaled(triple(body.state, net.LINEAR), kick, triple(body.work, net.PULLED))
    H = add_scaled(triple(body.state, net.ANGULAR), kick, triple(body.work, net.TWISTED))
    if body.pushed and h != 0.0:
        P = add(P, triple(body.work, net.PUSHED))
        H = add(H, triple(body.work, net.PUSHED + 3))
    add_triple(right, i, add_scaled(P, -body.mass, triple(body.work, net.V_NOW)))
    add_block(matrix, i, i, matrix_add_scaled(ZEROS, body.mass, IDENTITY))
    if not body.turns:
        add_block(matrix, i + 3, i + 3, IDENTITY)
        return
    J_omega = apply(body.J, omega)
    k = shrinking(h, omega)
    momentum = scale(k, add_scaled(J_omega, 0.5 * h, cross(omega, J_omega)))
    add_triple(right, i + 3, sub(apply_transposed(R, H), momentum))
    D = matrix_add_scaled(body.J, 0.5 * h, matmul(hat(omega), body.J))
    D = matrix_add_scaled(D, -0.5 * h, hat(J_omega))
    D = matrix_add_scaled(matrix_add_scaled(ZEROS, k, D), -0.5 * h * h * k, outer(momentum, omega))
    add_block(matrix, i + 3, i + 3, D)


@kernel
def lever_of(end: End) -> Matrix:
    """Moment about the centre of mass of a force at the end: hat(rho) R^T."""
    return transpose((cross(end.point, end.R[0]), cross(end.point, end.R[1]), cross(end.point, end.R[2])))


@kernel
def turning_of(end: End, h: float) -> Matrix:
    """Derivative of the end's mean velocity by the angular velocity of its body, if that turns freely."""
    if end.body.free and end.body.turns:
        return swing_by_omega(end, h)
    nothing = (0.0 * h, 0.0 * h, 0.0 * h)
    return (nothing, nothing, nothing)


@kernel
def add_end(network: Network, strand: Strand, e: int, end: End, by_omega: tuple[Matrix, Matrix]) -> None:
    """A string's part of the equations of the body at its end e."""
    body = end.body
    if not body.free:
        return
    matrix, right = network.matrix, network.right[0]
    i = body.row
    P = triple(strand.work, net.END_MOMENTUM + 3 * e)
    add_triple(right, i, scale(-1.0, P))
    lever = lever_of(end)
    if body.turns:
        add_triple(right, i + 3, scale(-1.0, apply(lever, P)))
    for f in range(2):
        other = body_at(network.bodies, strand.ends[f])
        if other.free:
            m = strand.work[net.SCHUR + 2 * e + f]
            turned = matrix_add_scaled(ZEROS, m, by_omega[f])
            for j in range(3):
                matrix[i + j, other.row + j] += m
            if other.turns:
                add_block(matrix, i, other.row + 3, turned)
            if body.turns:
                add_block(matrix, i + 3, other.row, matrix_add_scaled(ZEROS, m, lever))
                if other.turns:
                    add_block(matrix, i + 3, other.row + 3, matmul(lever, turned))
    if strand.row >= 0 and not strand.reeved:
        slope = triple(strand.work, net.END_BY_SIGMA + 3 * e)
        moment = moment_of(end, slope)
        add_column(matrix, i, strand.row, slope)
        if body.turns:
            add_column(matrix, i + 3, strand.row, moment)


@kernel
def drum_mass(strand: Strand, h: float, sigma: float) -> float:
    """Inertia of the drum with what is spooled on it, or of a sheave with its wrap, mean over the step."""
    par = strand.reeving.par
    return float(par.mu * (strand.reel[data.S] + 0.5 * h * sigma) + par.kappa)


@kernel
def add_spin_of_drum(network: Network, strand: Strand, h: float, end: End, row: int, sigma: float) -> None:
    """Add a drum that turns with its body to the body's and the reel's equation (equations 100 and 101).

    `row` is that of the reel or of the feed that turns the drum, sigma the speed of the rope there.
    """
    body = end.body
    axis = strand.axis
    if dot(axis, axis) == 0.0:
        return
    matrix, right = network.matrix, network.right[0]
    mu, factor = strand.reeving.par.mu, strand.reeving.factors[0]
    mean = drum_mass(strand, h, sigma)
    speed = sigma + angular_velocity_about(strand, end)
    if row >= 0:
        right[row] -= factor * (mean * (speed - sigma) - 0.25 * h * mu * (speed * speed - sigma * sigma))
    if not body.free:
        return
    i = body.row + 3
    direction = spin_direction(strand, end, h)
    c = scale(0.5 * h, triple(body.work, net.OMEGA_NOW))
    add_triple(right, i, scale(-mean * speed, direction))
    bent = matrix_add_scaled(outer(c, axis), dot(c, axis), IDENTITY)
    bent = matrix_add_scaled(bent, -1.0, hat(axis))
    D = matrix_add_scaled(ZEROS, mean, outer(direction, axis))
    add_block(matrix, i, i, matrix_add_scaled(D, 0.5 * h * mean * speed, bent))
    if row >= 0:
        by_sigma = scale(factor * (mean + 0.5 * h * mu * speed), direction)
        by_omega = scale(factor * (mean - 0.5 * h * mu * speed), axis)
        add_column(matrix, i, row, by_sigma)
        add_row(matrix, row, i, by_omega)


@kernel
def reel_equation(
    network: Network, strand: Strand, h: float, ends: tuple[End, End], by_omega: tuple[Matrix, Matrix]
) -> None:
    """The row of a reel that moves."""
    matrix, right, work = network.matrix, network.right[0], strand.work
    row = strand.row
    matrix[row, row] += work[net.PIVOT]
    v = ends[0].v
    carried = 0.25 * h * strand.par.mu * dot(v, v) - dot(spooled_slope(strand, strand.reel[data.S]), v)
    right[row] += work[net.LEFT] + (carried if strand.has_reel else 0.0)
    for e in range(2):
        body = body_at(network.bodies, strand.ends[e])
        if body.free:
            by_v = triple(work, net.REEL_BY_END + 3 * e)
            turned = apply_transposed(by_omega[e], by_v)
            add_row(matrix, row, body.row, by_v)
            if body.turns:
                add_row(matrix, row, body.row + 3, turned)


@separate
def strand_rows(network: Network, k: int, h: float, kick: float, anew: bool) -> None:
    """A string's part of all equations; strings of constant length are condensed once a step."""
    strand = strand_at(network.strands, k)
    ends = (end_of(network, strand, 0, h), end_of(network, strand, 1, h))
    free = (ends[0].body.free, ends[1].body.free)
    if strand.reeved:
        if strand.reeving.idle:
            condense_drum(network, strand, h, ends[0].v)
        else:
            condense_span(network, strand, h, kick, ends[0].v, ends[1].v, free)
    elif anew or strand.row >= 0:
        condense(strand, h, kick, ends[0].v, ends[1].v, strand.work[net.SIGMA_NOW], free)
    by_omega = (turning_of(ends[0], h), turning_of(ends[1], h))
    add_end(network, strand, 0, ends[0], by_omega)
    add_end(network, strand, 1, ends[1], by_omega)
    if strand.reeved:
        add_feeds(network, strand, ends, by_omega)
        add_drum(network, strand, h, ends[0].v)
        if strand.reeving.sheave:
            add_wheel(network, strand, h, kick)
        if strand.has_reel or strand.reeving.sheave:
            row, sigma = feed_row(network, strand, 0), feed_speed(network, strand, 0)
            add_spin_of_drum(network, strand, h, ends[0], row, sigma)
        return
    if strand.has_reel:
        add_spin_of_drum(network, strand, h, ends[0], strand.row, strand.work[net.SIGMA_NOW])
    if strand.row >= 0:
        reel_equation(network, strand, h, ends, by_omega)


@kernel
def is_gripped(strand: Strand) -> bool:
    """Whether it is a wheel on which a rope may slip: its speed is found with the rope's."""
    return bool(strand.reeving.idle and strand.reeving.sheave)


@kernel
def rest_of_row(matrix: Array2, right: Array, x: Array, first: int, i: int, other: int) -> float:
    """Right-hand side of row i, less what other unknowns than those two from the first on make of it."""
    left = right[i]
    for j in range(first, len(right)):
        if j != i and j != other:
            left -= matrix[i, j] * x[j]
    return left  # type: ignore[no-any-return]


@separate
def grip_feeds(network: Network, strand: Strand, h_start: float, bodies: int) -> tuple[float, float, bool]:
    """Speeds of a rope and of the wheel on which it may slip: how much they changed, their size, whether calmly."""
    matrix, right, x = network.matrix, network.right[0], network.right[1]
    wheel = strand_at(network.strands, strand.reeving.wheel)
    i, j = strand.row, wheel.row
    left = rest_of_row(matrix, right, x, bodies, i, j)
    own, other, left_wheel = (matrix[i, i], 0.0 * left), (0.0 * left, 0.0 * left), 0.0 * left
    if j >= 0:
        own, other = (matrix[i, i], matrix[i, j]), (matrix[j, i], matrix[j, j])
        left_wheel = rest_of_row(matrix, right, x, bodies, j, i)
    found, turn = solve_gripped(network, strand, h_start, own, other, left, left_wheel)
    change, size = abs(found - x[i]), abs(strand.work[net.SIGMA_NOW] + found)
    calm = tangents_within(found - x[i], found, strand.work[net.SIGMA_NOW], LAST_OF_TANGENTS)
    x[i] = found
    if j >= 0:
        change = max(change, abs(turn - x[j]))
        calm = calm and tangents_within(turn - x[j], turn, wheel.work[net.SIGMA_NOW], LAST_OF_TANGENTS)
        x[j] = turn
    return change, size, calm


@kernel
def solve_reels(network: Network, h_start: float, bodies: int) -> None:
    """Speeds of all reels, bodies eliminated: each by its own equation, in rounds until they agree.

    Motors, friction and stops make each equation a monotone one of its own speed; the matrix between them is that of
    masses, for which such rounds converge. One reel takes one round.
    """
    matrix, right, x = network.matrix, network.right[0], network.right[1]
    n = len(right)
    for i in range(bodies, n):
        x[i] = 0.0
    for _ in range(MOST_ROUNDS):
        largest, change, calm = 0.0, 0.0, True
        for k in range(len(network.strands)):
            strand = strand_at(network.strands, k)
            i = strand.row
            if strand.reeving.wheel >= 0:
                changed, size, at_rest = grip_feeds(network, strand, h_start, bodies)
                change, largest, calm = max(change, changed), max(largest, size), calm and at_rest
            elif i >= 0 and not is_gripped(strand):
                left = rest_of_row(matrix, right, x, bodies, i, i)
                sigma = strand.work[net.SIGMA_NOW]
                found, impulse = solve_feed(strand, h_start, matrix[i, i], left)
                change = max(change, abs(found - x[i]))
                largest = max(largest, abs(sigma + found))
                calm = calm and tangents_within(found - x[i], found, sigma, LAST_OF_TANGENTS)
                x[i] = found
                strand.work[net.IMPULSE_NOW] = impulse
        if n - bodies <= 1 or (calm and not change > LAST_ROUND * largest):
            break


@separate
def correct(network: Network, h: float) -> tuple[float, float]:
    """Solve for the corrections of all unknowns and add them; the error they leave, and the scale of velocities."""
    x = network.right[1]
    speed2, error = 0.0, 0.0
    for b in range(len(network.bodies)):
        body = body_at(network.bodies, b)
        if body.free:
            dV, domega = triple(x, body.row), triple(x, body.row + 3)
            add_triple(body.work, net.V_NOW, dV)
            add_triple(body.work, net.OMEGA_NOW, domega)
            error = max(error, 0.5 * abs(h) * dot(domega, domega) * reach_of(body))
            V = triple(body.work, net.V_NOW)
            speed2 = max(speed2, dot(V, V))
    return error, speed2


@kernel
def reach_of(body: Body) -> float:
    """A length by which rotations of a body are compared with velocities: its radius of gyration."""
    if not body.turns or body.mass <= 0.0:
        return 0.0
    return math.sqrt((body.J[0][0] + body.J[1][1] + body.J[2][2]) / body.mass)


@separate
def follow(network: Network, k: int, h: float) -> tuple[float, float, bool]:
    """Let a string follow the corrections of bodies and reel; the error they leave, its speed, whether it is small."""
    strand = strand_at(network.strands, k)
    par, work = strand.par, strand.work
    before = triple(work, net.END_VELOCITY), triple(work, net.END_VELOCITY + 3)
    dsigma = 0.0
    if strand.row >= 0:
        dsigma = network.right[1][strand.row]
        work[net.SIGMA_NOW] += dsigma
    first, last = end_of(network, strand, 0, h).v, end_of(network, strand, 1, h).v
    dfirst, dlast = sub(first, before[0]), sub(last, before[1])
    feeds, fed = (dsigma, 0.0 * dsigma), Fed(strand.row >= 0, False)
    if strand.reeved:
        feeds = corrections_of_feeds(network, strand)
        # a drum at the end of a line has none at its stop
        fed = Fed(is_fed(network, strand), is_fed(network, strand) and not strand.reeving.idle)
    change_ends(strand, dfirst, dlast, feeds, fed)
    dfeeds = abs(feeds[0]) + abs(feeds[1])
    put_triple(work, net.END_VELOCITY, first)
    put_triple(work, net.END_VELOCITY + 3, last)
    size = dfeeds * (dfeeds + math.sqrt(dot(dfirst, dfirst)) + math.sqrt(dot(dlast, dlast)))
    error = abs(h) / element_length(par, retracted(strand)) * size
    speed2 = work[net.SIGMA_NOW] * work[net.SIGMA_NOW] + dot(last, last) + dot(first, first)
    return error, speed2, dsigma * dsigma <= ROUNDING_FLOOR * ROUNDING_FLOOR * par.EA / par.mu


@separate
def solve_rates(network: Network, h: float, kick: float) -> tuple[bool, int]:
    """Newton's method on all unknowns, from the guesses in the work of bodies and strands.

    Returns whether it found them, and the number of iterations. At h = 0 it inverts the Legendre transform.
    Tangents settle one iteration after the values: the matrix is that of all derivatives.
    """
    once_more = has_tangents(h)
    matrix, right = network.matrix, network.right[0]
    n = len(right)
    bodies = n
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        if strand.row >= 0:
            bodies = min(bodies, strand.row)
        put_triple(strand.work, net.END_VELOCITY, end_of(network, strand, 0, h).v)
        put_triple(strand.work, net.END_VELOCITY + 3, end_of(network, strand, 1, h).v)
    for iteration in range(MAX_ITERATIONS):
        clear(matrix, right)
        for b in range(len(network.bodies)):
            body = body_at(network.bodies, b)
            if body.free:
                body_rows(body, h, kick, matrix, right)
        for k in range(len(network.strands)):
            strand_rows(network, k, h, kick, iteration == 0)
        eliminate(matrix, right, bodies)
        solve_reels(network, 0.5 * h, bodies)
        substitute(matrix, right, bodies, network.right[1])
        error, speed2 = correct(network, h)
        small, whole = True, 0.0 * error
        for k in range(len(network.strands)):
            left, speed, is_small = follow(network, k, h)
            error = max(error, left)
            speed2 = max(speed2, speed)
            whole += left + speed  # what is no number is the largest of nothing
            small = small and is_small
        if not (error >= 0.0 and math.isfinite(speed2 + whole)):
            return False, iteration + 1
        if error * error <= ERROR_LEFT * ERROR_LEFT * speed2 or (small and error <= 1e-15):
            if not once_more:
                return True, iteration + 1
            once_more = False
    return False, MAX_ITERATIONS
