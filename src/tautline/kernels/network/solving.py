"""Newton's method on all unknowns of the bodies and reels of a network (docs/theory.md, (99) to (103))."""

from __future__ import annotations

import math

from tautline.arrays import Array2
from tautline.kernels.data import Array, add_triple, put_triple, triple
from tautline.kernels.energy import element_length
from tautline.kernels.jit import kernel, separate
from tautline.kernels.network import data as net
from tautline.kernels.network.condense import Fed, change_ends
from tautline.kernels.network.data import Body, Network, Strand, body_at, strand_at
from tautline.kernels.network.ends import end_of
from tautline.kernels.network.equations import body_rows, strand_rows
from tautline.kernels.network.feeds import is_fed
from tautline.kernels.network.grip import solve_feed, solve_gripped
from tautline.kernels.network.linear import clear, eliminate, substitute
from tautline.kernels.network.reeving import corrections_of_feeds
from tautline.kernels.network.spans import retracted
from tautline.kernels.newton import ERROR_LEFT, ROUNDING_FLOOR
from tautline.kernels.rotation import MAX_ITERATIONS
from tautline.kernels.so3 import dot, sub
from tautline.kernels.tangents import has_tangents, tangents_within

# Rounds over the reels until their speeds agree with each other.
MOST_ROUNDS = 200
LAST_ROUND = 1e-15
LAST_OF_TANGENTS = 1e-14


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
                found, impulse = solve_feed(network, strand, h_start, matrix[i, i], left)
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
