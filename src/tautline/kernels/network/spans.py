"""A span: a string to which rope comes at its start and at its stop (docs/theory.md, "Sheaves and pins").

Rope moves through the mesh with A_i = (1 - i/N) c_0' + (i/N) c_1' at node i, c_0 and c_1 being the feeds at the start
and at the stop. Equations of the nodes, their derivatives by both feeds, and the equations of the feeds.
"""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.along import (
    load,
    nodes_from,
    places_from,
    previous_nodes,
    put_nodes,
    spread,
    store,
    total,
    width,
)
from tautline.kernels.compensated import accumulate_nodes
from tautline.kernels.data import Array, Parameters, Scratch, clear_nodes, node, put_node
from tautline.kernels.jit import kernel
from tautline.kernels.lanes import select, zero_like
from tautline.kernels.network import data as net
from tautline.kernels.network.data import Strand
from tautline.kernels.reeling import evaluate_forces
from tautline.kernels.so3 import add, add_scaled, dot, scale, sub
from tautline.kernels.step_equations import GROWTH
from tautline.kernels.tridiagonal import fused_vector

# Rows of the scratch for the feed at the stop: derivatives of velocities by it, and its border. Loads use them too.
BY_STOP, BORDER_STOP, RIGHT_STOP = data.PUSHED, data.DIRECTION, data.DIRECTIONS
SIXTH, THIRD = 1.0 / 6.0, 1.0 / 3.0


class Feeds(NamedTuple):
    """Speeds of both feeds, and lengths of the elements at the start and at the end of a step."""

    start: float
    stop: float
    l: float
    l_1: float


class Square(NamedTuple):
    """A symmetric matrix of both feeds."""

    start: float
    across: float
    stop: float


@kernel
def retracted(strand: Strand) -> float:
    """Length of the string that is not between its ends: s of element_length and its like."""
    return strand.reel[data.S] - strand.reel[net.FED]  # type: ignore[no-any-return]


@kernel
def evaluate_pulls(strand: Strand) -> None:
    """Forces of the elements of a string at its present configuration; a drum alone has none."""
    if not strand.reeving.idle:
        evaluate_forces(strand.par, retracted(strand), strand.nodes[data.POSITION], strand.scratch.nodes[data.PULL])


@kernel
def feeds_of(par: Parameters, h: float, l: float, start: float, stop: float) -> Feeds:
    return Feeds(start, stop, l, l - h * ((start - stop) / par.N))


@kernel
def integrals(A: float, B: float) -> tuple[float, float, float]:
    """Integrals over an element of (1 - xi) times, xi times, and the square of a linear function from A to B."""
    return SIXTH * (2.0 * A + B), SIXTH * (A + 2.0 * B), THIRD * (A * A + A * B + B * B)


@kernel
def elements_from(x: Array, N: int, e: int) -> tuple[float, float, float]:
    """Places of the elements from e on along the span, of their starts and stops, and 1; 0 behind the last element."""
    place = places_from(x, e)
    is_element = select(place < N - 0.5, spread(x, 1.0), spread(x, 0.0))
    part = is_element * (1.0 / N)  # a division of vectors takes as long as twenty other operations
    return is_element, part * place, part * (place + 1.0)


@kernel
def transport_from(x: Array, N: int, e: int, start: float, stop: float) -> tuple[float, float, float, float]:
    """Integrals of the transport speed over elements from e on; 1 for elements."""
    is_element, near, far = elements_from(x, N, e)
    a, b, g = integrals(start * is_element + (stop - start) * near, start * is_element + (stop - start) * far)
    return a, b, g, is_element


@kernel
def span_equations(par: Parameters, h: float, feeds: Feeds, q: Array, p: Array, kick: float, scratch: Scratch) -> float:
    """Coefficients of the node equations, and right-hand sides p - kick dV/dq into RIGHT, times what is returned."""
    N = par.N
    pull, out = scratch.nodes[data.PULL], scratch.nodes[data.RIGHT]
    above, below = scratch.factor[data.ABOVE], scratch.factor[data.BELOW]
    product, diagonal = scratch.factor[data.PRODUCT], scratch.factor[data.DIAGONAL]
    unit = 12.0 / (GROWTH * par.mu * (feeds.l + feeds.l_1))
    off = 1.0 / GROWTH
    flow = par.mu * unit
    half = 0.5 * h * flow
    push = kick * unit
    nothing = spread(q, zero_like(feeds.l))
    carried = (nothing, nothing, nothing)
    for j in range(0, N + 1, width(q)):
        a, b, g, _ = transport_from(q, N, j, feeds.start, feeds.stop)
        skew = half * (a + b)
        up, down = off - skew, off + skew
        store(above, j, up)
        store(below, j, down)
        store(product, j, up * down)
        store(diagonal, j, spread(q, 4.0 * off))
        w = sub(nodes_from(q, j), nodes_from(q, j + 1))
        given = half / feeds.l * g - push * load(pull, j)
        right = scale(flow * b + given, w)
        r = add_scaled(scale(unit, nodes_from(p, j)), given - flow * a, w)
        put_nodes(out, j, sub(r, previous_nodes(q, carried, right)))
        carried = right
    return unit


class SpanSums(NamedTuple):
    """Sums over the elements that the equations of both feeds need, over mu."""

    along_start: float  # of D_0.w, D_f the integral of the velocity with the feed's share of the transport
    along_stop: float
    stretch: Square  # of |w|^2 with the shares of both feeds, at the start of the step
    stretch_1: Square  # and at its end
    speeds: float  # of |v_e|^2 + v_e.v_{e+1} + |v_{e+1}|^2


@kernel
def shares(near: float, far: float, is_element: float) -> tuple[float, float, float]:
    """Integrals over an element of (1 - zeta)^2, (1 - zeta) zeta and zeta^2."""
    x, y = is_element - near, is_element - far
    return (
        THIRD * (x * x + x * y + y * y),
        SIXTH * (2.0 * (x * near + y * far) + x * far + y * near),
        THIRD * (near * near + near * far + far * far),
    )


@kernel
def span_derivatives(par: Parameters, h: float, feeds: Feeds, q: Array, scratch: Scratch) -> SpanSums:
    """Derivatives of the node equations by both feeds, negative and times the minors, and of the feeds' by the nodes.

    All over mu.
    """
    N = par.N
    half = 0.5 * h
    v, minor = scratch.nodes[data.AT_SIGMA], scratch.factor[data.MINOR]
    out = scratch.nodes[data.RIGHT], scratch.nodes[RIGHT_STOP]
    border = scratch.nodes[data.BORDER], scratch.nodes[BORDER_STOP]
    nothing = spread(q, zero_like(feeds.l))
    zeros = (nothing, nothing, nothing)
    along_0, along_1, speeds = nothing, nothing, nothing
    k00, k01, k11, n00, n01, n11 = nothing, nothing, nothing, nothing, nothing, nothing
    carried_0, carried_1, border_0, border_1 = zeros, zeros, zeros, zeros
    mass = half / (6.0 * N)
    for j in range(0, N + 1, width(q)):
        is_element, near, far = elements_from(q, N, j)
        a0, b0, _ = integrals(is_element - near, is_element - far)
        a1, b1, _ = integrals(near, far)
        g00, g01, g11 = shares(near, far, is_element)
        g0, g1 = g00 * feeds.start + g01 * feeds.stop, g01 * feeds.start + g11 * feeds.stop
        v0, v1 = nodes_from(v, j), nodes_from(v, j + 1)
        w = sub(nodes_from(q, j), nodes_from(q, j + 1))
        dv = sub(v0, v1)
        w_t, w_1 = add_scaled(w, half, dv), add_scaled(w, h, dv)
        m0 = scale(is_element * mass, add_scaled(v1, 2.0, v0))
        m1 = scale(is_element * mass, add_scaled(v0, 2.0, v1))
        D0 = scale(half, add_scaled(scale(a0, v0), b0, v1))
        D1 = scale(half, add_scaled(scale(a1, v0), b1, v1))
        x0, x1 = add_scaled(D0, h / feeds.l * g0, w), add_scaled(D1, h / feeds.l * g1, w)
        z0, z1 = add_scaled(D0, h / feeds.l_1 * g0, w_1), add_scaled(D1, h / feeds.l_1 * g1, w_1)
        left_0, right_0 = add_scaled(add(x0, m0), -a0, w_t), add_scaled(sub(m1, x0), -b0, w_t)
        left_1, right_1 = add_scaled(sub(x1, m0), -a1, w_t), sub(scale(-b1, w_t), add(m1, x1))
        by_left_0, by_right_0 = add_scaled(add(z0, m0), a0, w_t), add_scaled(sub(m1, z0), b0, w_t)
        by_left_1, by_right_1 = add_scaled(sub(z1, m0), a1, w_t), sub(scale(b1, w_t), add(m1, z1))
        theta = load(minor, j)
        put_nodes(out[0], j, scale(theta, add(left_0, previous_nodes(q, carried_0, right_0))))
        put_nodes(out[1], j, scale(theta, add(left_1, previous_nodes(q, carried_1, right_1))))
        put_nodes(border[0], j, add(by_left_0, previous_nodes(q, border_0, by_right_0)))
        put_nodes(border[1], j, add(by_left_1, previous_nodes(q, border_1, by_right_1)))
        carried_0, carried_1, border_0, border_1 = right_0, right_1, by_right_0, by_right_1
        along_0 += dot(w_t, add_scaled(scale(a0, v0), b0, v1))
        along_1 += dot(w_t, add_scaled(scale(a1, v0), b1, v1))
        ww, ww_1 = dot(w, w), dot(w_1, w_1)
        k00 += g00 * ww
        k01 += g01 * ww
        k11 += g11 * ww
        n00 += g00 * ww_1
        n01 += g01 * ww_1
        n11 += g11 * ww_1
        speeds += is_element * (dot(v0, add(v0, v1)) + dot(v1, v1))
    return SpanSums(
        total(q, along_0),
        total(q, along_1),
        Square(total(q, k00), total(q, k01), total(q, k11)),
        Square(total(q, n00), total(q, n01), total(q, n11)),
        total(q, speeds),
    )


class FeedRows(NamedTuple):
    """Equations of both feeds of a span: derivatives by both, and what is left of their left-hand sides."""

    start_by_start: float
    start_by_stop: float
    stop_by_start: float
    stop_by_stop: float
    left_start: float
    left_stop: float


@kernel
def feed_rows(par: Parameters, h: float, feeds: Feeds, sums: SpanSums, by_nodes: FeedRows, along: float) -> FeedRows:
    """The string's part of the equations of both feeds, its nodes eliminated; these add `along` times `by_nodes`."""
    K, K_1, l, l_1 = sums.stretch, sums.stretch_1, feeds.l, feeds.l_1
    c_0, c_1 = feeds.start, feeds.stop
    step = 0.5 * h / par.N
    first, last = K.start * c_0 + K.across * c_1, K.across * c_0 + K.stop * c_1
    first_1, last_1 = K_1.start * c_0 + K_1.across * c_1, K_1.across * c_0 + K_1.stop * c_1
    # the start shortens the elements, the stop lengthens them
    bent, bent_1 = step / (l * l), step / (l_1 * l_1)
    by_length = sums.speeds / 6.0 - 0.5 * (c_0 * first + c_1 * last) / (l * l)
    mean = 0.5 / l, 0.5 / l_1
    masses = Square(
        mean[0] * K.start + mean[1] * K_1.start,
        mean[0] * K.across + mean[1] * K_1.across,
        mean[0] * K.stop + mean[1] * K_1.stop,
    )
    return FeedRows(
        par.mu * (masses.start + bent_1 * first_1 - bent * first + along * by_nodes.start_by_start),
        par.mu * (masses.across - bent_1 * first_1 - bent * last + along * by_nodes.start_by_stop),
        par.mu * (masses.across + bent_1 * last_1 + bent * first + along * by_nodes.stop_by_start),
        par.mu * (masses.stop - bent_1 * last_1 + bent * last + along * by_nodes.stop_by_stop),
        -par.mu * (sums.along_start + mean[0] * first + mean[1] * first_1 + step * by_length),
        -par.mu * (sums.along_stop + mean[0] * last + mean[1] * last_1 - step * by_length),
    )


@kernel
def follow_feeds(N: int, scratch: Scratch) -> FeedRows:
    """Derivatives of the velocities by both feeds, and their products with the borders.

    Forward and backward pass of the right-hand sides in RIGHT and RIGHT_STOP, which are times the minors already.
    """
    y, z = scratch.nodes[data.RIGHT], scratch.nodes[RIGHT_STOP]
    first, last = scratch.nodes[data.BORDER], scratch.nodes[BORDER_STOP]
    out, out_stop = scratch.nodes[data.BY_SIGMA], scratch.nodes[BY_STOP]
    below, inverse, ratio = scratch.factor[data.BELOW], scratch.factor[data.INVERSE_MINOR], scratch.factor[data.RATIO]
    nothing = (zero_like(y[0]), zero_like(y[0]), zero_like(y[0]))
    Y, Z = nothing, nothing
    for i in range(1, N):
        Y = fused_vector(-below[i - 1], Y, node(y, i))
        Z = fused_vector(-below[i - 1], Z, node(z, i))
        put_node(y, i, scale(inverse[i], Y))
        put_node(z, i, scale(inverse[i], Z))
    put_node(out, N, nothing)
    put_node(out_stop, N, nothing)
    v, u = nothing, nothing
    start_start, start_stop, stop_start, stop_stop = nothing[0], nothing[0], nothing[0], nothing[0]
    for i in range(N - 1, 0, -1):
        v = fused_vector(-ratio[i], v, node(y, i))
        u = fused_vector(-ratio[i], u, node(z, i))
        put_node(out, i, v)
        put_node(out_stop, i, u)
        b, c = node(first, i), node(last, i)
        start_start += dot(b, v)
        start_stop += dot(b, u)
        stop_start += dot(c, v)
        stop_stop += dot(c, u)
    put_node(out, 0, nothing)
    put_node(out_stop, 0, nothing)
    return FeedRows(start_start, start_stop, stop_start, stop_stop, nothing[0], nothing[0])


@kernel
def drift_span(
    par: Parameters, h: float, feeds: Feeds, q: Array, q_err: Array, v: Array, pull: Array, out: Array
) -> float:
    """q += h v; what the elements give to their nodes on the way into `out`, and dT/dc_0 by their length."""
    N = par.N
    flow = h * par.mu
    nothing = spread(q, zero_like(feeds.l))
    stretch, stretch_1, speeds = nothing, nothing, nothing
    for i in range(0, N + 1, width(q)):
        a, b, g, is_element = transport_from(q, N, i, feeds.start, feeds.stop)
        v0, v1 = nodes_from(v, i), nodes_from(v, i + 1)
        w = sub(nodes_from(q, i), nodes_from(q, i + 1))
        w_1 = add_scaled(w, h, sub(v0, v1))
        x = scale(flow, add_scaled(scale(a, v0), b, v1))
        x = add_scaled(add_scaled(x, 0.5 * flow / feeds.l * g, w), 0.5 * flow / feeds.l_1 * g, w_1)
        put_nodes(out, i, add_scaled(x, -0.5 * h * load(pull, i), w))
        stretch += g * dot(w, w)
        stretch_1 += g * dot(w_1, w_1)
        speeds += is_element * (dot(v0, add(v0, v1)) + dot(v1, v1))
        accumulate_nodes(q, q_err, i, scale(h, v0), par.compensated)
    stretched = total(q, stretch) / (feeds.l * feeds.l) + total(q, stretch_1) / (feeds.l_1 * feeds.l_1)
    return par.mu * (1.5 * stretched - total(q, speeds)) / (6.0 * N)  # type: ignore[no-any-return]


class SpanMomenta(NamedTuple):
    """Kinetic energy of a span, and momenta of its feeds."""

    kinetic: float
    start: float
    stop: float


@kernel
def span_momenta(par: Parameters, feeds: Feeds, q: Array, v: Array, out_p: Array) -> SpanMomenta:
    """dT/dv of the nodes, both ends with them, into out_p; kinetic energy, and dT/dc' of both feeds."""
    N, l = par.N, feeds.l
    clear_nodes(out_p)
    kinetic, start, stop = 0.0, 0.0, 0.0
    for e in range(N):
        near, far = e / N, (e + 1.0) / N
        a0, b0, _ = integrals(1.0 - near, 1.0 - far)
        a1, b1, _ = integrals(near, far)
        a, b = a0 * feeds.start + a1 * feeds.stop, b0 * feeds.start + b1 * feeds.stop
        g00, g01, g11 = shares(near, far, 1.0)
        w = sub(node(q, e), node(q, e + 1))
        v0, v1 = node(v, e), node(v, e + 1)
        ww = dot(w, w) / l
        p0 = add_scaled(scale(l / 6.0, add_scaled(v1, 2.0, v0)), a, w)
        p1 = add_scaled(scale(l / 6.0, add_scaled(v0, 2.0, v1)), b, w)
        put_node(out_p, e, add_scaled(node(out_p, e), par.mu, p0))
        put_node(out_p, e + 1, scale(par.mu, p1))
        first, last = g00 * feeds.start + g01 * feeds.stop, g01 * feeds.start + g11 * feeds.stop
        start += par.mu * (dot(w, add_scaled(scale(a0, v0), b0, v1)) + first * ww)
        stop += par.mu * (dot(w, add_scaled(scale(a1, v0), b1, v1)) + last * ww)
        speeds = dot(v0, v0) + dot(v0, v1) + dot(v1, v1)
        transport = dot(w, add_scaled(scale(a, v0), b, v1))
        kinetic += par.mu * (l / 6.0 * speeds + transport + 0.5 * ww * (feeds.start * first + feeds.stop * last))
    return SpanMomenta(kinetic, start, stop)


@kernel
def by_length_of(par: Parameters, feeds: Feeds, q: Array, v: Array) -> float:
    """dT/dc_0 of a span by the length of its elements alone, at one configuration."""
    total_speeds, stretch = 0.0, 0.0
    for e in range(par.N):
        near, far = e / par.N, (e + 1.0) / par.N
        A, B = (1.0 - near) * feeds.start + near * feeds.stop, (1.0 - far) * feeds.start + far * feeds.stop
        w = sub(node(q, e), node(q, e + 1))
        v0, v1 = node(v, e), node(v, e + 1)
        stretch += integrals(A, B)[2] * dot(w, w)
        total_speeds += dot(v0, v0) + dot(v0, v1) + dot(v1, v1)
    return par.mu * (3.0 * stretch / (feeds.l * feeds.l) - total_speeds) / (6.0 * par.N)
