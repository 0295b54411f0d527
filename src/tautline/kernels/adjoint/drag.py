"""Adjoint of the drag of a fluid on the string at a step boundary (docs/theory.md, (B14))."""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.adjoint import data as adjoint
from tautline.kernels.adjoint.data import Adjoint
from tautline.kernels.adjoint.elements import BY_DIRECTION, BY_LENGTH, Virtual
from tautline.kernels.adjoint.guide import table_back, table_slope
from tautline.kernels.adjoint.potential import add_to_nodes
from tautline.kernels.along import load, nodes_from, places_from, previous_nodes, put_nodes, spread, store, total, width
from tautline.kernels.data import Array, Motion, Parameters, Scratch, node, node_stride
from tautline.kernels.fixed import hold_first_node
from tautline.kernels.jit import kernel, separate
from tautline.kernels.lanes import select
from tautline.kernels.loads.acting import Instant
from tautline.kernels.loads.drag import STEADY, TINY, Drag
from tautline.kernels.so3 import Vector, add, add_scaled, dot, scale, sub
from tautline.kernels.tables import last_knot


class Expectation(NamedTuple):
    """Numbers from which drag expects velocities at a step boundary, beside those of nodes and body."""

    ahead: float  # how far they are extrapolated from the latest step
    time: float  # for which loads act
    base: float  # the base step
    last: float  # speed of the reel in the latest step
    before: float  # and in the one before


@kernel
def middle(x: Array, e: int) -> Vector:
    """Mean of the ends of elements."""
    return scale(0.5, add(nodes_from(x, e), nodes_from(x, e + 1)))


@kernel
def resisted(t: Vector, across: float, along: float, u: Vector) -> Vector:
    """Drag of elements that move with u through the fluid."""
    u_along = dot(t, u)
    return sub(scale((across - along) * u_along, t), scale(across, u))


@kernel
def inverse_or_zero(x: Array, size: float) -> float:
    """1/size of vectors, 0 where it is 0."""
    one, nothing = spread(x, 1.0), spread(x, 0.0)
    return select(size > 0.0, one / select(size > 0.0, size, one), nothing)  # type: ignore[no-any-return]


@kernel
def flow_back(own: Drag, at: Instant, height: float, bar: Vector, out: Adjoint) -> float:
    """Adjoint of the flow at a height below the guide: adds those by its table and the guide's place; by the height."""
    knots, depth = own.flow[0], at.place[2] + height
    by_depth = 0.0
    for k in range(3):
        table_back(knots, depth, bar[k], out.flow[k + 1])
        by_depth += bar[k] * table_slope(knots, own.flow[k + 1], depth)
    i = last_knot(knots, depth)
    if by_depth != 0.0:
        y = (depth - knots[i]) / (knots[i + 1] - knots[i])
        out.flow[0, i] -= (1.0 - y) * by_depth
        out.flow[0, i + 1] -= y * by_depth
    out.numbers[adjoint.BY_HEIGHT] += by_depth
    return by_depth


@separate
def flow_along_back(par: Parameters, own: Drag, at: Instant, q: Array, bars: Array, out: Adjoint) -> None:
    """Adjoint of the flow at the middles of elements."""
    q_bar = out.nodes[adjoint.POSITION_BAR]
    z = 2 * node_stride(q)
    for e in range(par.N):
        height = 0.5 * (node(q, e)[2] + node(q, e + 1)[2])
        by_height = flow_back(own, at, height, node(bars, e), out)
        q_bar[z + e] += 0.5 * by_height
        q_bar[z + e + 1] += 0.5 * by_height
    hold_first_node(q_bar)


@separate
def drag_back(
    par: Parameters,
    own: Drag,
    l: float,
    at: Instant,
    expected: Expectation,
    virtual: Virtual,
    motion: Motion,
    scratch: Scratch,
    out: Adjoint,
) -> tuple[float, float]:
    """Adjoint of the drag of elements times a virtual velocity: adds derivatives by parameters and expectations.

    Those by elements are added to their rows; the product itself and its derivative by l are returned.
    """
    N = par.N
    w, k, v, sigma = virtual.w, virtual.k, virtual.v, virtual.sigma
    rows, directions, flows = scratch.factor, scratch.nodes[data.DIRECTION], scratch.nodes[data.FLOW]
    by_direction, by_flow = scratch.nodes[BY_DIRECTION], scratch.nodes[data.GUESS]
    last, before = motion.nodes[data.VELOCITY], motion.nodes[data.VELOCITY_BEFORE]
    change = expected.last - expected.before
    decay = 0.5 * own.string_rate * expected.time / l
    w_s = virtual.w_s + k * sigma
    nothing = spread(directions, 0.0)
    values, by_normal, by_tangential, by_decay, by_passing = nothing, nothing, nothing, nothing, nothing
    by_last, by_before = nothing, nothing
    flowing = (nothing, nothing, nothing)
    after_last, after_before = (nothing, nothing, nothing), (nothing, nothing, nothing)
    for e in range(0, N + 1, width(directions)):
        is_element = places_from(directions, e) < N - 0.5
        t, flow, length = nodes_from(directions, e), nodes_from(flows, e), load(rows[data.LENGTH], e)
        across, along, passing = load(rows[data.ACROSS], e), load(rows[data.ALONG], e), load(rows[data.PASSING], e)
        mean = middle(v, e)
        u = sub(add_scaled(mean, sigma * passing, t), flow)
        m = add_scaled(add_scaled(middle(w, e), k, mean), w_s * passing, t)
        u_t, m_t = dot(t, u), dot(t, m)
        both = u_t * m_t
        normal_bar, tangential_bar = select(is_element, both - dot(u, m), nothing), -both
        values += across * normal_bar + along * tangential_bar
        u_bar, m_bar = resisted(t, across, along, m), resisted(t, across, along, u)
        t_bar = scale(across - along, add_scaled(scale(u_t, m), m_t, u))
        t_bar = add_scaled(add_scaled(t_bar, sigma * passing, u_bar), w_s * passing, m_bar)
        passing_bar = dot(t, add_scaled(scale(sigma, u_bar), w_s, m_bar))

        # the speeds that are expected, as drag.string_coefficients has them
        u_last = middle(last, e)
        du = sub(u_last, middle(before, e))
        u_last = sub(add_scaled(u_last, expected.last * passing, t), flow)
        du = add_scaled(du, change * passing, t)
        size = math.sqrt(dot(u_last, u_last))
        slowed = decay * length * size
        part = min(spread(directions, expected.ahead), STEADY / max(slowed, spread(directions, TINY)) - 0.5)
        y = add_scaled(u_last, part, du)
        y_t = dot(y, t)
        y_n = add_scaled(y, -y_t, t)
        speed, slip = math.sqrt(dot(y_n, y_n)), math.sqrt(y_t * y_t)
        by_normal += normal_bar * length * speed
        by_tangential += tangential_bar * length * slip
        length_bar = own.normal * normal_bar * speed + own.tangential * tangential_bar * slip
        x_n = own.normal * normal_bar * length * inverse_or_zero(directions, speed)
        x_t = own.tangential * tangential_bar * length * inverse_or_zero(directions, slip)
        y_bar = add_scaled(scale(x_n, y_n), x_t * y_t, t)
        t_bar = add_scaled(t_bar, (x_t - x_n) * y_t, y)
        is_less = part < expected.ahead
        slowed_bar = select(is_less, -dot(y_bar, du) * (part + 0.5), nothing)  # times what is slowed
        by_decay += slowed_bar
        length_bar += slowed_bar * inverse_or_zero(directions, length)
        faster = inverse_or_zero(directions, size)
        last_bar = add_scaled(y_bar, slowed_bar * faster * faster, u_last)
        du_bar = scale(part, y_bar)
        turned = add_scaled(scale(expected.last, last_bar), change, du_bar)
        t_bar = add_scaled(t_bar, passing, turned)
        passing_bar += dot(t, turned)
        both_bar = add(last_bar, du_bar)
        by_last += passing * dot(t, both_bar)
        by_before -= passing * dot(t, du_bar)
        flow_bar = scale(-1.0, add(u_bar, last_bar))
        put_nodes(by_flow, e, flow_bar)
        flowing = add(flowing, flow_bar)
        half = scale(0.5, both_bar)
        add_to_nodes(out.nodes[adjoint.VELOCITY_BAR], e, add(half, previous_nodes(directions, after_last, half)))
        after_last = half
        half = scale(-0.5, du_bar)
        add_to_nodes(
            out.nodes[adjoint.VELOCITY_BEFORE_BAR], e, add(half, previous_nodes(directions, after_before, half))
        )
        after_before = half

        by_passing += passing_bar * passing
        length_bar += passing_bar * passing * inverse_or_zero(directions, length)
        put_nodes(by_direction, e, add(nodes_from(by_direction, e), t_bar))
        store(rows[BY_LENGTH], e, load(rows[BY_LENGTH], e) + length_bar)
    hold_first_node(out.nodes[adjoint.VELOCITY_BAR])
    hold_first_node(out.nodes[adjoint.VELOCITY_BEFORE_BAR])
    out.reel[adjoint.SIGMA_BAR] += total(directions, by_last)
    out.reel[adjoint.SIGMA_BEFORE_BAR] += total(directions, by_before)
    decayed = total(directions, by_decay)
    numbers = out.numbers
    numbers[adjoint.BY_NORMAL] += total(directions, by_normal)
    numbers[adjoint.BY_TANGENTIAL] += total(directions, by_tangential)
    if decayed != 0.0:
        numbers[adjoint.BY_STRING_RATE] += decayed / own.string_rate
        out.numbers[adjoint.BY_H] += decayed / expected.base
    if own.flow.shape[1] == 1:
        for i in range(3):
            out.flow[i + 1, 0] += total(directions, flowing[i])
    else:
        flow_along_back(par, own, at, motion.nodes[data.POSITION], by_flow, out)
    return total(directions, values), -(decayed + total(directions, by_passing)) / l
