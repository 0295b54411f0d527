"""Solution of the equations of velocities at a step boundary (velocities.py), and its tangents."""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.along import nodes_from, put_nodes, width
from tautline.kernels.data import Parameters, Scratch, node, put_node
from tautline.kernels.energy import element_length
from tautline.kernels.jit import kernel, separate
from tautline.kernels.lanes import zero_like
from tautline.kernels.loads.both_ends import Equation, link, solve_again, solve_from_ends
from tautline.kernels.loads.drag import BodyResistance
from tautline.kernels.loads.velocities import (
    ReelTarget,
    Turning,
    border_of_reel,
    couple_nodes,
    eliminate_rotation,
    levers,
    product_of_nodes,
    turning_inertia,
)
from tautline.kernels.newton import Rates
from tautline.kernels.so3 import ZERO, Matrix, Vector, add, add_scaled, apply, apply_transposed, cross, dot, scale, sub
from tautline.kernels.tangents import has_tangents, values_of


class BoundaryEquations(NamedTuple):
    """Knowns of the velocities at a step boundary, beside the momenta of the nodes in TARGET."""

    s: float
    tau: float  # time for which loads act
    body: BodyResistance
    R: Matrix
    reel: ReelTarget
    Pi: Vector  # with what loads give


class Solved(NamedTuple):
    """Velocities that were found, and what is kept to solve the same equations again."""

    rates: Rates  # the nodes' velocities are in MEAN_VELOCITY
    turning: Turning
    reel: float  # coefficient of the reel, with the nodes eliminated


@kernel
def solve_values(par: Parameters, x: BoundaryEquations, scratch: Scratch) -> Solved:
    """`solve_velocities` for numbers without tangents."""
    tau, reel = x.tau, x.reel
    l = element_length(par, x.s)
    off = par.mu * l / 6.0
    turning = eliminate_rotation(par, tau, x.body, x.R, x.Pi)
    couple_nodes(par, off, tau, scratch)
    v = scratch.nodes[data.MEAN_VELOCITY]
    last = Equation(turning.block, turning.force)
    solve_from_ends(par.N, off, par.M, last, scratch.nodes[data.TARGET], scratch, v)
    sigma = reel.speed
    own = zero_like(l) + 1.0
    if reel.turns:
        mass = border_of_reel(par, l, x.s, tau, scratch)
        slope, border = scratch.nodes[data.BY_SIGMA], scratch.nodes[data.BORDER]
        solve_again(par.N, border, scratch, scratch.nodes[data.ELIMINATED], slope)
        if not reel.held:
            own = mass + reel.friction - product_of_nodes(par.N, border, slope)
            sigma = (reel.momentum - product_of_nodes(par.N, border, v)) / own
        for i in range(0, par.N + 1, width(v)):
            put_nodes(v, i, add_scaled(nodes_from(v, i), -sigma, nodes_from(slope, i)))
    omega = ZERO
    if par.rotates:
        omega = sub(turning.free, apply_transposed(turning.by_node, node(v, par.N)))
    return Solved(Rates(sigma, omega, 0.0), turning, own)


@separate
def with_tangents(par: Parameters, equations: BoundaryEquations, solved: Solved, scratch: Scratch) -> Rates:
    """Tangents of velocities whose values are found.

    What the equations with tangents leave at those values is the right-hand side of one more solution with the same
    matrix (implicit function theorem).
    """
    s, tau, body, R, reel, Pi = equations
    N = par.N
    plain = values_of((scratch,))[0]
    v, right = plain.nodes[data.MEAN_VELOCITY], scratch.nodes[data.TARGET]
    l = element_length(par, s)
    off = par.mu * l / 6.0
    couple_nodes(par, off, tau, scratch)
    sigma = solved.rates.sigma + (reel.speed - values_of(reel.speed))
    left_of_reel = zero_like(l)
    if reel.turns:
        mass = border_of_reel(par, l, s, tau, scratch) + reel.friction
        left_of_reel = reel.momentum - mass * sigma
        for i in range(1, N + 1):
            border = node(scratch.nodes[data.BORDER], i)
            left_of_reel -= dot(border, node(v, i))
            put_node(right, i, add_scaled(node(right, i), -sigma, border))
    for e in range(N):
        t, m, x, y = link(scratch, e)
        v0, v1 = node(v, e), node(v, e + 1)
        a0, a1 = dot(t, v0), dot(t, v1)
        mass_1 = 4.0 * off if e + 1 < N else 2.0 * off + par.M
        on_0 = add_scaled(add_scaled(scale(m - off, v0), m, v1), y * a0 + x * a1, t)
        on_1 = add_scaled(add_scaled(scale(m - off + mass_1, v1), m, v0), y * a1 + x * a0, t)
        put_node(right, e, sub(node(right, e), on_0))
        put_node(right, e + 1, sub(node(right, e + 1), on_1))
    at_end = scale(tau * body.drag + tau * body.inertia, node(v, N))
    omega = solved.rates.omega
    turned = (zero_like(l), zero_like(l), zero_like(l))
    if par.rotates:
        x_lever = levers(par, tau, body)
        at_end = add(at_end, apply(R, cross(x_lever, omega)))
        turned = sub(Pi, apply(turning_inertia(par, tau, body), omega))
        turned = add(turned, cross(x_lever, apply_transposed(R, node(v, N))))
    at_end = add(at_end, apply(solved.turning.by_node, turned))
    put_node(right, N, sub(node(right, N), at_end))

    found = scratch.nodes[data.GUESS]
    solve_again(N, right, plain, scratch.nodes[data.ELIMINATED], found)
    change = zero_like(l)
    if reel.turns and not reel.held:
        for i in range(1, N + 1):
            left_of_reel -= dot(node(plain.nodes[data.BORDER], i), node(found, i))
        change = left_of_reel / solved.reel
    for i in range(1, N + 1):
        x_i = add_scaled(node(found, i), -change, node(plain.nodes[data.BY_SIGMA], i))
        put_node(found, i, x_i)
        put_node(scratch.nodes[data.MEAN_VELOCITY], i, add(node(v, i), sub(x_i, values_of(x_i))))
    turned = apply(solved.turning.inverse, turned)
    turned = sub(turned, apply_transposed(solved.turning.by_node, node(found, N)))
    return Rates(sigma + (change - values_of(change)), add(omega, sub(turned, values_of(turned))), 0.0)


@kernel
def solve_velocities(par: Parameters, equations: BoundaryEquations, scratch: Scratch) -> Rates:
    """Velocities of the nodes from the momenta in TARGET into MEAN_VELOCITY, and the rates of reel and body."""
    x = values_of((par, equations, scratch))
    solved = solve_values(x[0], x[1], x[2])
    if has_tangents(equations.s):
        return with_tangents(par, equations, solved, scratch)
    return solved.rates
