"""Equations of nodes and reel at a given speed of the reel, and their derivatives by it (docs/theory.md, (A1) to (A4)).

One formula serves both schemes: with w_t = w + theta h (v_e - v_{e+1}) and l_t = l - theta h sigma/N the
two evaluations of the kinetic quadrature merge into one pass over the elements.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.along import (
    load,
    nodes_from,
    places_from,
    previous,
    previous_nodes,
    put_nodes,
    spread,
    store,
    total,
    width,
)
from tautline.kernels.data import Array, Parameters, Scratch
from tautline.kernels.energy import reel_mass, transport_weights, weights_of_nodes
from tautline.kernels.jit import kernel
from tautline.kernels.lanes import select, zero_like
from tautline.kernels.so3 import add, add_scaled, dot, scale, sub

# Of the leading minors of the mass matrix, over (mu l/6) each: 4 - 1/(4 - 1/...).
GROWTH = 2.0 + math.sqrt(3.0)


class Ends(NamedTuple):
    """Both ends of a step at given sigma, and how it is divided between them."""

    h_start: float
    h_end: float
    l: float  # length of the elements at the start
    l_1: float  # and at the end
    sigma: float


@kernel
def ends_of(par: Parameters, h: float, l: float, sigma: float) -> Ends:
    h_end = par.theta * h
    return Ends(h - h_end, h_end, l, l - h * (sigma / par.N), sigma)


@kernel
def weights_from(x: Array, N: int, e: int) -> tuple[float, float, float, float]:
    """Transport weights of the elements from e on, and 1; all zero behind the last element."""
    place = places_from(x, e)
    is_element = select(place < N - 0.5, spread(x, 1.0), spread(x, 0.0))
    alpha, beta, gamma = transport_weights(N, place)
    return is_element * alpha, is_element * beta, is_element * gamma, is_element


class Coefficients(NamedTuple):
    """Numbers of the node equations, times a `unit` that makes neighbouring minors about equal."""

    unit: float
    off: float
    flow: float
    to_start: float
    to_end: float
    skew: float
    last: float  # diagonal of the last node


@kernel
def coefficients_of(par: Parameters, h: float, ends: Ends) -> Coefficients:
    N = par.N
    unit = 1.0 / (GROWTH * (par.mu * (ends.l - ends.h_end * (ends.sigma / N)) / 6.0))
    off = 1.0 / GROWTH
    flow = par.mu * ends.sigma * unit
    skew = h * (2.0 * par.theta - 1.0) * flow
    last = 2.0 * off - skew * transport_weights(N, N - 1.0)[1] + par.M * unit
    return Coefficients(unit, off, flow, flow * ends.h_start, flow * ends.h_end, skew, last)


@kernel
def off_diagonals(x: Coefficients, alpha: float, beta: float) -> tuple[float, float]:
    """Coefficients of nodes above and below the diagonal."""
    return x.off - (x.to_end * alpha + x.to_start * beta), x.off + (x.to_end * beta + x.to_start * alpha)


@kernel
def node_equations(
    par: Parameters, h: float, ends: Ends, q: Array, p: Array, kick: float, scratch: Scratch
) -> tuple[float, float]:
    """Coefficients of the node equations at given sigma, and right-hand sides p - kick dV/dq into RIGHT.

    All are multiplied by the unit of `Coefficients`, which is returned with the last diagonal.
    """
    N = par.N
    x = coefficients_of(par, h, ends)
    unit, flow = x.unit, x.flow
    pull, out = scratch.nodes[data.PULL], scratch.nodes[data.RIGHT]
    above, below = scratch.factor[data.ABOVE], scratch.factor[data.BELOW]
    product, diagonal = scratch.factor[data.PRODUCT], scratch.factor[data.DIAGONAL]
    quadratic = x.to_start * ends.sigma / ends.l
    push = kick * unit
    weight = push * par.mu_g * ends.l
    last_weight = 0.5 * weight + push * par.weight
    nothing = spread(q, zero_like(ends.sigma))
    beta_before = nothing
    carried = (nothing, nothing, nothing)
    for j in range(0, N + 1, width(q)):
        alpha, beta, gamma, _ = weights_from(q, N, j)
        up, down = off_diagonals(x, alpha, beta)
        store(above, j, up)
        store(below, j, down)
        store(product, j, up * down)
        store(diagonal, j, 4.0 * x.off + x.skew * (alpha - previous(q, beta_before, beta)))
        beta_before = beta
        w = sub(nodes_from(q, j), nodes_from(q, j + 1))
        elastic = push * load(pull, j)
        right = scale(flow * beta + quadratic * gamma - elastic, w)
        r = add_scaled(scale(unit, nodes_from(p, j)), quadratic * gamma - flow * alpha - elastic, w)
        r = sub(r, previous_nodes(q, carried, right))
        put_nodes(out, j, (r[0], r[1], r[2] + weights_of_nodes(q, N, j, weight, last_weight)))
        carried = right
    return unit, x.last


class Sums(NamedTuple):
    """Sums over the elements that the reel's equation needs, over mu."""

    transport: float  # of w_t.D
    stretch: float  # of gamma |w|^2 at the start
    stretch_1: float  # and at the end
    speeds: float  # of |v_e|^2 + v_e.v_{e+1} + |v_{e+1}|^2, times 2


@kernel
def derivatives_by_sigma(par: Parameters, h: float, ends: Ends, q: Array, scratch: Scratch) -> Sums:
    """Derivatives of the node equations by sigma, negative and times the minors, into RIGHT; of the reel's into BORDER.

    Both over mu.
    """
    N = par.N
    v = scratch.nodes[data.AT_SIGMA]
    out, border, minor = scratch.nodes[data.RIGHT], scratch.nodes[data.BORDER], scratch.factor[data.MINOR]
    h_start, h_end, sigma = ends.h_start, ends.h_end, ends.sigma
    flow_start = 2.0 * h_start * sigma / ends.l
    flow_end = 2.0 * h_end * sigma / ends.l_1
    mass_end = h_end / (6.0 * N)
    mass_start = h_start / (6.0 * N)
    nothing = spread(q, zero_like(sigma))
    transport, stretch, stretch_1, speeds = nothing, nothing, nothing, nothing
    carried = (nothing, nothing, nothing)
    carried_border = (nothing, nothing, nothing)
    for j in range(0, N + 1, width(q)):
        alpha, beta, gamma, is_element = weights_from(q, N, j)
        v0, v1 = nodes_from(v, j), nodes_from(v, j + 1)
        w = sub(nodes_from(q, j), nodes_from(q, j + 1))
        dv = sub(v0, v1)
        w_t = add_scaled(w, h_end, dv)
        w_1 = add_scaled(w, h, dv)
        D = add_scaled(scale(alpha, v0), beta, v1)
        gamma_w, gamma_w_1 = scale(gamma, w), scale(gamma, w_1)
        x = add_scaled(scale(h_start, D), flow_start, gamma_w)
        z = add_scaled(scale(h_end, D), flow_end, gamma_w_1)
        m0 = scale(is_element, add_scaled(v1, 2.0, v0))
        m1 = scale(is_element, add_scaled(v0, 2.0, v1))
        left = add_scaled(add_scaled(x, mass_end, m0), -alpha, w_t)
        right = add_scaled(sub(scale(mass_end, m1), x), -beta, w_t)
        reel_by_left = add_scaled(add_scaled(z, alpha, w_t), mass_start, m0)
        reel_by_right = add_scaled(sub(scale(beta, w_t), z), mass_start, m1)
        put_nodes(out, j, scale(load(minor, j), add(left, previous_nodes(q, carried, right))))
        put_nodes(border, j, add(reel_by_left, previous_nodes(q, carried_border, reel_by_right)))
        carried = right
        carried_border = reel_by_right
        transport += dot(w_t, D)
        stretch += dot(gamma_w, w)
        stretch_1 += dot(gamma_w_1, w_1)
        speeds += dot(v0, m0) + dot(v1, m1)
    return Sums(total(q, transport), total(q, stretch), total(q, stretch_1), total(q, speeds))


@kernel
def sums_over_elements(par: Parameters, h: float, ends: Ends, q: Array, scratch: Scratch) -> Sums:
    """The sums of `derivatives_by_sigma` alone."""
    N = par.N
    v = scratch.nodes[data.AT_SIGMA]
    nothing = spread(q, zero_like(par.mu))
    transport, stretch, stretch_1, speeds = nothing, nothing, nothing, nothing
    for j in range(0, N + 1, width(q)):
        alpha, beta, gamma, is_element = weights_from(q, N, j)
        v0, v1 = nodes_from(v, j), nodes_from(v, j + 1)
        w = sub(nodes_from(q, j), nodes_from(q, j + 1))
        dv = sub(v0, v1)
        w_1 = add_scaled(w, h, dv)
        transport += dot(add_scaled(w, ends.h_end, dv), add_scaled(scale(alpha, v0), beta, v1))
        stretch += gamma * dot(w, w)
        stretch_1 += gamma * dot(w_1, w_1)
        speeds += 2.0 * is_element * (dot(v0, add(v0, v1)) + dot(v1, v1))
    return Sums(total(q, transport), total(q, stretch), total(q, stretch_1), total(q, speeds))


@kernel
def reel_row(
    par: Parameters, h: float, s: float, ends: Ends, sums: Sums, p_s: float, by_nodes: float
) -> tuple[float, float]:
    """Slope of the reel's equation with the nodes eliminated, and what is left of its left-hand side."""
    N = par.N
    theta = par.theta
    sigma = ends.sigma
    mass, slope = reel_mass(par, s)
    mass_1, slope_1 = reel_mass(par, s + h * sigma)
    start = sums.stretch / ends.l
    end = sums.stretch_1 / ends.l_1
    stretch = (1.0 - theta) * start + theta * end
    bent = sigma / N * (ends.h_end * end / ends.l_1 - ends.h_start * start / ends.l)
    pivot = (1.0 - theta) * (mass - h * slope * sigma) + theta * (mass_1 + h * slope_1 * sigma)
    pivot += par.mu * (stretch + bent + by_nodes)
    kinetic = sums.speeds / 6.0 - start / ends.l * sigma * sigma
    string = sums.transport + sigma * stretch + 0.5 * ends.h_start / N * kinetic
    drum = ((1.0 - theta) * (mass - 0.5 * h * slope * sigma) + theta * mass_1) * sigma
    return pivot, p_s - drum - par.mu * string
