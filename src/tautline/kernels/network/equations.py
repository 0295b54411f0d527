"""Equations of a step for the bodies and reels of a network.

Unknown are the mean velocity and angular velocity of every free body and the speed of every reel that moves; strings
are reduced to their ends (condense.py). docs/theory.md, (99) to (103).
"""

from __future__ import annotations

from tautline.arrays import Array2
from tautline.kernels import data
from tautline.kernels.data import Array, add_triple, triple
from tautline.kernels.jit import kernel, separate
from tautline.kernels.network import data as net
from tautline.kernels.network.condense import condense
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
from tautline.kernels.network.feeds import feed_row, feed_speed
from tautline.kernels.network.linear import add_block, add_column, add_row
from tautline.kernels.network.reeving import add_drum, add_feeds, add_wheel, condense_drum, condense_span
from tautline.kernels.rotation import shrinking
from tautline.kernels.so3 import (
    IDENTITY,
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
    matrix_scale,
    outer,
    scale,
    sub,
    transpose,
)


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
    add_block(matrix, i, i, matrix_scale(body.mass, IDENTITY))
    if not body.turns:
        add_block(matrix, i + 3, i + 3, IDENTITY)
        return
    J_omega = apply(body.J, omega)
    k = shrinking(h, omega)
    momentum = scale(k, add_scaled(J_omega, 0.5 * h, cross(omega, J_omega)))
    add_triple(right, i + 3, sub(apply_transposed(R, H), momentum))
    D = matrix_add_scaled(body.J, 0.5 * h, matmul(hat(omega), body.J))
    D = matrix_add_scaled(D, -0.5 * h, hat(J_omega))
    D = matrix_add_scaled(matrix_scale(k, D), -0.5 * h * h * k, outer(momentum, omega))
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
            turned = matrix_scale(m, by_omega[f])
            for j in range(3):
                matrix[i + j, other.row + j] += m
            if other.turns:
                add_block(matrix, i, other.row + 3, turned)
            if body.turns:
                add_block(matrix, i + 3, other.row, matrix_scale(m, lever))
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
    D = matrix_scale(mean, outer(direction, axis))
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
