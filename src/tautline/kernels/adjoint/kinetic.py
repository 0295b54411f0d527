"""Adjoint of the kinetic terms of a step: second derivatives of the energy of string and reel (docs/theory.md, (B4)).

With multipliers lambda of the equations (19) and the adjoints P of the momenta at the start and P' at the end of the
step, all kinetic terms of string and reel are the derivative of

    (1 - theta) T(q, s, v, sigma) + theta T(q + h v, s + h sigma, v, sigma)

along dv = -lambda, dsigma = -lambda_s and along dq = h P at the start of the step, h P' at its end.
"""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels.adjoint import data as adjoint
from tautline.kernels.adjoint.data import Adjoint, add_length
from tautline.kernels.adjoint.potential import add_to_nodes
from tautline.kernels.along import nodes_from, previous_nodes, put_nodes, spread, total, width
from tautline.kernels.data import Array, Parameters
from tautline.kernels.energy import element_length
from tautline.kernels.fixed import hold_first_node
from tautline.kernels.jit import inlined, separate
from tautline.kernels.so3 import add, add_scaled, dot, scale, sub
from tautline.kernels.step_equations import weights_from


class Direction(NamedTuple):
    """Where to differentiate along: multipliers, and momenta's adjoints at the start and at the end of the step."""

    dv: Array
    dsigma: float
    P: Array
    P_s: float
    P_end: Array
    P_s_end: float


@inlined
def rates_back(
    par: Parameters,
    h: float,
    s: float,
    q: Array,
    v: Array,
    sigma: float,
    x: Array,
    x_s: float,
    q_bar: Array,
    out: Array,
) -> float:
    """Derivatives by v into `out` and by sigma, where lambda = 0 and P = P' = (x, x_s); adds h q_bar to those by v."""
    N = par.N
    l = element_length(par, s)
    l_1 = l - h * sigma / N
    dl = -h * x_s / N
    mass = par.mu * dl / 6.0
    at_end = par.mu * par.theta * sigma * sigma / l_1
    nothing = spread(q, 0.0)
    before = (nothing, nothing, nothing)
    slide, works, works_1, squares, squares_1 = nothing, nothing, nothing, nothing, nothing
    for e in range(0, N + 1, width(q)):
        alpha, beta, gamma, is_element = weights_from(q, N, e)
        v0, v1 = nodes_from(v, e), nodes_from(v, e + 1)
        w = sub(nodes_from(q, e), nodes_from(q, e + 1))
        w_1 = add_scaled(w, h, sub(v0, v1))
        dw = scale(h, sub(nodes_from(x, e), nodes_from(x, e + 1)))
        end = scale(h * at_end * gamma, add_scaled(dw, -dl / l_1, w_1))
        heavy = mass * is_element
        left = add_scaled(add_scaled(end, par.mu * sigma * alpha, dw), heavy, add_scaled(v1, 2.0, v0))
        right = add_scaled(sub(scale(par.mu * sigma * beta, dw), end), heavy, add_scaled(v0, 2.0, v1))
        y = add(left, previous_nodes(q, before, right))
        before = right
        put_nodes(out, e, add_scaled(y, h, nodes_from(q_bar, e)))
        slide += dot(dw, add_scaled(scale(alpha, v0), beta, v1))
        works += gamma * dot(w, dw)
        works_1 += gamma * dot(w_1, dw)
        squares += gamma * dot(w, w)
        squares_1 += gamma * dot(w_1, w_1)
    hold_first_node(out)
    A, A_1, B, B_1 = total(q, works), total(q, works_1), total(q, squares), total(q, squares_1)
    start, end_ = (1.0 - par.theta) * sigma / l, par.theta * sigma / l_1
    sigma_bar = total(q, slide) + start * (2.0 * A - B * dl / l) + end_ * (2.0 * A_1 - B_1 * dl / l_1)
    sigma_bar += h / N * end_ * sigma / l_1 * (A_1 - B_1 * dl / l_1) + sigma * h * x_s
    return par.mu * sigma_bar  # type: ignore[no-any-return]


@separate
def kinetic_back(
    par: Parameters, h: float, s: float, q: Array, v: Array, sigma: float, along: Direction, out: Adjoint
) -> float:
    """Derivatives of the kinetic terms by q, s and parameters, added; that by h is returned."""
    N = par.N
    theta = par.theta
    l, s_1 = element_length(par, s), s + h * sigma
    l_1 = l - h * sigma / N
    dsigma = along.dsigma
    dl, dl_1 = -h * along.P_s / N, -h * along.P_s_end / N
    start, end = (1.0 - theta) * par.mu, theta * par.mu
    tau, tau_1 = sigma / l, sigma / l_1
    bend = tau * (2.0 * dsigma - tau * dl)
    bend_1 = tau_1 * (2.0 * dsigma - tau_1 * dl_1)
    q_bar = out.nodes[adjoint.POSITION_BAR]
    nothing = spread(q, 0.0)
    before = (nothing, nothing, nothing)
    speeds, mixed, ends_h = nothing, nothing, nothing
    D_w, D_w_1, dD_w, dD_w_1, D_dw, D_dw_1 = nothing, nothing, nothing, nothing, nothing, nothing
    works, works_1, squares, squares_1 = nothing, nothing, nothing, nothing
    for e in range(0, N + 1, width(q)):
        alpha, beta, gamma, is_element = weights_from(q, N, e)
        v0, v1 = nodes_from(v, e), nodes_from(v, e + 1)
        dv0, dv1 = nodes_from(along.dv, e), nodes_from(along.dv, e + 1)
        w = sub(nodes_from(q, e), nodes_from(q, e + 1))
        apart = sub(v0, v1)
        w_1 = add_scaled(w, h, apart)
        dw = scale(h, sub(nodes_from(along.P, e), nodes_from(along.P, e + 1)))
        dw_1 = scale(h, sub(nodes_from(along.P_end, e), nodes_from(along.P_end, e + 1)))
        D = add_scaled(scale(alpha, v0), beta, v1)
        dD = add_scaled(scale(alpha, dv0), beta, dv1)
        common = add_scaled(scale(dsigma, D), sigma, dD)
        at_start = add_scaled(add_scaled(common, gamma * sigma * tau, dw), gamma * bend, w)
        at_end = add_scaled(add_scaled(common, gamma * sigma * tau_1, dw_1), gamma * bend_1, w_1)
        w_bar = add_scaled(scale(start, at_start), end, at_end)
        add_to_nodes(q_bar, e, sub(w_bar, previous_nodes(q, before, w_bar)))
        before = w_bar
        ends_h += dot(at_end, apart)
        m0, m1 = add_scaled(v1, 2.0, v0), add_scaled(v0, 2.0, v1)
        speeds += is_element * (dot(v0, m0) + dot(v1, m1))
        mixed += is_element * (dot(dv0, m0) + dot(dv1, m1))
        D_w += dot(D, w)
        D_w_1 += dot(D, w_1)
        dD_w += dot(dD, w)
        dD_w_1 += dot(dD, w_1)
        D_dw += dot(D, dw)
        D_dw_1 += dot(D, dw_1)
        works += gamma * dot(w, dw)
        works_1 += gamma * dot(w_1, dw_1)
        squares += gamma * dot(w, w)
        squares_1 += gamma * dot(w_1, w_1)
    hold_first_node(q_bar)
    S, X = total(q, speeds) / 12.0, total(q, mixed) / 6.0
    A, B, A_1, B_1 = total(q, works), total(q, squares), total(q, works_1), total(q, squares_1)
    moved = sigma * total(q, D_dw) + sigma * tau * A + dl * (S - 0.5 * tau * tau * B)
    moved_1 = sigma * total(q, D_dw_1) + sigma * tau_1 * A_1 + dl_1 * (S - 0.5 * tau_1 * tau_1 * B_1)
    value = moved + l * X + dsigma * (total(q, D_w) + tau * B) + sigma * total(q, dD_w)
    value_1 = moved_1 + l_1 * X + dsigma * (total(q, D_w_1) + tau_1 * B_1) + sigma * total(q, dD_w_1)
    l_bar = X - tau * tau * A + tau * B / l * (tau * dl - dsigma)
    l_bar_1 = X - tau_1 * tau_1 * A_1 + tau_1 * B_1 / l_1 * (tau_1 * dl_1 - dsigma)
    add_length(par, start * l_bar + end * l_bar_1, out)

    # the reel: (mu s + kappa) sigma^2/2
    half2 = 0.5 * sigma * sigma
    reel, reel_1 = half2 * along.P_s, half2 * along.P_s_end
    out.reel[adjoint.S_BAR] += par.mu * sigma * dsigma
    out.numbers[adjoint.BY_KAPPA] += sigma * dsigma
    value += h * reel + s * sigma * dsigma
    value_1 += h * reel_1 + s_1 * sigma * dsigma
    out.numbers[adjoint.BY_MU] += (1.0 - theta) * value + theta * value_1
    h_bar = end * (total(q, ends_h) - l_bar_1 * sigma / N + sigma * sigma * dsigma)
    h_bar += start * reel + end * reel_1
    if h != 0.0:
        h_bar += (start * moved + end * moved_1) / h
    return h_bar  # type: ignore[no-any-return]
