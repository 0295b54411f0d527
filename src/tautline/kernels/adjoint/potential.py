"""Adjoint of the impulses of the potential: its second derivatives along a direction (docs/theory.md, (B3))."""

from __future__ import annotations

import math

from tautline.kernels.adjoint import data as adjoint
from tautline.kernels.adjoint.data import Adjoint, add_length
from tautline.kernels.along import nodes_from, places_from, previous_nodes, put_nodes, spread, total, width
from tautline.kernels.data import Array, Parameters, node_stride
from tautline.kernels.elastic import elastic_partials
from tautline.kernels.energy import element_length, weights_of_nodes
from tautline.kernels.fixed import hold_first_node
from tautline.kernels.jit import kernel, separate
from tautline.kernels.lanes import select
from tautline.kernels.so3 import Vector, add, add_scaled, dot, scale, sub


@kernel
def add_to_nodes(x: Array, i: int, values: Vector) -> None:
    """x += values, for a vector of nodes from i on."""
    put_nodes(x, i, add(nodes_from(x, i), values))


@kernel
def impulse_back(par: Parameters, c: float, s: float, q: Array, x: Array, x_s: float, out: Adjoint) -> float:
    """Adjoint of impulses -c dV/dq and -c dV/ds whose adjoints are x and x_s: adds derivatives by q, s and parameters.

    The derivative by c is returned. Strings whose law has `partials`; the drum's radius is constant.
    """
    N = par.N
    l = element_length(par, s)
    dl = -x_s / N
    z = 2 * node_stride(q)
    q_bar = out.nodes[adjoint.POSITION_BAR]
    inverse_l = 1.0 / l
    nothing, one = spread(q, 0.0), spread(q, 1.0)
    elastics, by_l, rises, depths = nothing, nothing, nothing, nothing
    before = (nothing, nothing, nothing)
    k = c * par.EA
    weight = c * par.mu_g * dl
    for e in range(0, N + 1, width(q)):
        is_element = places_from(q, e) < N - 0.5
        at, following = nodes_from(q, e), nodes_from(q, e + 1)
        x0, x1 = nodes_from(x, e), nodes_from(x, e + 1)
        w, dw = sub(following, at), sub(x1, x0)
        length2 = select(is_element, dot(w, w), one)
        inverse = 1.0 / math.sqrt(length2)
        stretch = length2 * inverse * inverse_l
        energy, tension, slope = elastic_partials(par, stretch - 1.0)
        pull = select(is_element, tension * inverse, nothing)
        along = inverse * dot(w, dw)
        bent = select(is_element, slope * inverse_l * (along - dl * stretch), nothing)
        force = add_scaled(scale(pull, dw), inverse * (bent - pull * along), w)
        gives = sub(force, previous_nodes(q, before, force))
        before = force
        weights = weights_of_nodes(q, N, e, weight, 0.5 * weight)
        add_to_nodes(q_bar, e, (k * gives[0], k * gives[1], k * gives[2] + weights))
        elastics += select(is_element, tension * along + dl * (energy - tension * stretch), nothing)
        by_l += stretch * bent
        rises += select(is_element, x0[2] + x1[2], nothing)
        depths += select(is_element, at[2] + following[2], nothing)
    hold_first_node(q_bar)
    elastic = total(q, elastics)
    rise, depth = total(q, rises), 2.0 * N * par.r_p[2] + total(q, depths)
    heavy = 0.5 * (l * rise + dl * depth)
    numbers = out.numbers
    l_bar = par.EA * total(q, by_l) + 0.5 * par.mu_g * rise
    numbers[adjoint.BY_EA] -= c * elastic
    numbers[adjoint.BY_WEIGHT] += c * x[z + N]
    on_drum = 0.0
    if x_s != 0.0:
        angle = (s - par.b) / par.d
        sine, cosine = math.sin(angle), math.cos(angle)
        on_drum = x_s * (par.d * sine - (par.r_p[2] - par.b))
        numbers[adjoint.BY_B] -= c * par.mu_g * x_s * (1.0 - cosine)
        numbers[adjoint.BY_D] -= c * par.mu_g * x_s * (sine - angle * cosine)
        out.reel[adjoint.S_BAR] -= c * par.mu_g * x_s * cosine
    numbers[adjoint.BY_MU_G] += c * (heavy - on_drum)
    add_length(par, c * l_bar, out)
    return -par.EA * elastic + par.mu_g * (heavy - on_drum) + par.weight * x[z + N]  # type: ignore[no-any-return]


@separate
def impulse_back_apart(par: Parameters, c: float, s: float, q: Array, x: Array, x_s: float, out: Adjoint) -> float:
    """`impulse_back`, compiled once for all but steps at constant length."""
    return impulse_back(par, c, s, q, x, x_s, out)
