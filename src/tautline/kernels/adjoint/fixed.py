"""Adjoint of a stage at constant length (docs/theory.md, (B7))."""

from __future__ import annotations

from tautline.kernels import data
from tautline.kernels.adjoint import data as adjoint
from tautline.kernels.adjoint.body import body_before, body_solve
from tautline.kernels.adjoint.data import Adjoint, add_length, take_velocities
from tautline.kernels.adjoint.potential import impulse_back
from tautline.kernels.adjoint.reeling import body_start_back, stage_of
from tautline.kernels.along import nodes_from, places_from, put_nodes, spread, total, width
from tautline.kernels.data import Array, Parameters, Scratch, node, triple
from tautline.kernels.energy import element_length
from tautline.kernels.jit import inlined, kernel
from tautline.kernels.lanes import select
from tautline.kernels.so3 import ZERO, add, add_scaled, dot, scale
from tautline.kernels.tridiagonal import eliminate, substitute


@kernel
def add_multipliers(
    par: Parameters, l: float, h: float, x: Array, v: Array, p_bar: Array, q_bar: Array, out: Adjoint
) -> float:
    """p_bar += h x; derivatives of the mass matrix by its parameters are added; q_bar.v is returned."""
    N = par.N
    nothing = spread(x, 0.0)
    mixed, moved = nothing, nothing
    for e in range(0, N + 1, width(x)):
        is_element = places_from(x, e) < N - 0.5
        x0, x1, v0, v1 = nodes_from(x, e), nodes_from(x, e + 1), nodes_from(v, e), nodes_from(v, e + 1)
        both = dot(x0, add_scaled(v1, 2.0, v0)) + dot(x1, add_scaled(v0, 2.0, v1))
        mixed += select(is_element, both, nothing)
        moved += dot(nodes_from(q_bar, e), v0)
        put_nodes(p_bar, e, add_scaled(nodes_from(p_bar, e), h, x0))
    sixth = h * total(x, mixed) / 6.0
    out.numbers[adjoint.BY_MU] -= l * sixth
    add_length(par, -par.mu * sixth, out)
    return total(x, moved)  # type: ignore[no-any-return]


@inlined
def fixed_stage_back(
    par: Parameters, remembered: bool, numbers: Array, nodes: Array, scratch: Scratch, out: Adjoint
) -> tuple[float, float]:
    """Take the adjoint of a motion back over a stage; the derivatives by its length and by that of the kick before.

    `remembered` says whether loads look at its mean velocities afterwards.
    """
    N = par.N
    at = stage_of(numbers, nodes)
    h, l = at.h, element_length(par, at.s)
    p_bar, q_bar = out.nodes[adjoint.MOMENTUM_BAR], out.nodes[adjoint.POSITION_BAR]
    y, lower, inverse = scratch.nodes[data.RIGHT], scratch.factor[data.LOWER], scratch.factor[data.INVERSE]
    multipliers = scratch.nodes[adjoint.LAMBDA]
    rates_bar, spun_bar = q_bar, ZERO
    if remembered:
        rates_bar = scratch.nodes[adjoint.RATES_BAR]
        for j in range(0, N + 1, width(q_bar)):
            x = nodes_from(out.nodes[adjoint.VELOCITY_BAR], j)
            put_nodes(rates_bar, j, add_scaled(nodes_from(q_bar, j), 1.0 / h, x))
        spun_bar = take_velocities(out)[1]
    lambda_N, mu = scale(h, eliminate(N, rates_bar, lower, inverse, y)), ZERO
    if par.rotates:
        t = inverse[N]
        turned_bar, spin_bar = triple(out.body, adjoint.ATTITUDE_BAR), triple(out.body, adjoint.SPIN_BAR)
        v_bar, omega_bar = body_before(par, h, at.R, node(at.v, N), at.omega, turned_bar, spin_bar)
        omega_bar = add(omega_bar, spun_bar)
        lambda_N, mu = body_solve(par, h, t, at.R, at.omega, add_scaled(lambda_N, t, v_bar), omega_bar)
    substitute(N, y, lower, scale(1.0 / h, lambda_N), multipliers)
    h_bar = add_multipliers(par, l, h, multipliers, at.v, p_bar, q_bar, out)
    kick = numbers[adjoint.AT_KICK]
    by_kick = impulse_back(par, kick, at.s, at.q, p_bar, 0.0, out)
    by_h, by_moment = body_start_back(par, at, kick, lambda_N, mu, out)
    return h_bar + by_h, by_kick + by_moment
