"""Velocities at a joint of two steps, from momenta and from what resists them (docs/theory.md, equation 71).

With tau the time for which loads act, (L + tau D) v = p + tau F, where L is the matrix of the kinetic energy and D that
of the resistances. Both couple neighbouring nodes only (both_ends.py). The elimination of the body begins with its
rotation. The reel is a border of one row.
"""

from __future__ import annotations

from typing import NamedTuple

from tautline.arrays import Array2
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
from tautline.kernels.data import (
    ACROSS,
    ADDED,
    ALONG,
    BLOCK,
    BLOCK_OFF,
    BORDER,
    BY_REEL,
    BY_SIGMA,
    COUPLING,
    COUPLING_ALONG,
    DIRECTION,
    ELIMINATED,
    GUESS,
    LENGTH,
    MEAN_VELOCITY,
    OWN_ALONG,
    PASSING,
    TARGET,
    VISCOUS,
    Array,
    Parameters,
    Scratch,
    node,
    put_node,
)
from tautline.kernels.energy import element_length, reel_mass, weights_of_nodes
from tautline.kernels.fixed import IDENTITY
from tautline.kernels.jit import kernel, separate
from tautline.kernels.lanes import select, zero_like
from tautline.kernels.loads.both_ends import Equation, link, solve_again, solve_from_ends
from tautline.kernels.loads.drag import BodyResistance
from tautline.kernels.newton import ZERO, Rates
from tautline.kernels.so3 import (
    Matrix,
    Vector,
    add,
    add_scaled,
    apply,
    apply_transposed,
    cross,
    dot,
    hat,
    inverse3,
    matmul,
    matrix_add_scaled,
    outer,
    scale,
    sub,
)
from tautline.kernels.step_equations import weights_from
from tautline.kernels.symmetric import (
    Symmetric,
    product_with_transposed,
    symmetric_add,
)
from tautline.kernels.tangents import has_tangents, values_of


class Turning(NamedTuple):
    """The body at the end of the string, with its rotation eliminated: omega = free - by_node^T v_N."""

    inverse: Matrix  # of its inertia with what resists its rotation
    free: Vector  # omega of an attachment that stands still
    by_node: Matrix
    block: Symmetric  # what it adds to that of the last node
    force: Vector  # and to its right-hand side


@kernel
def turning_inertia(par: Parameters, tau: float, body: BodyResistance) -> Matrix:
    """Inertia of the body about its attachment, with what resists its rotation."""
    drag, inertia = tau * body.drag, tau * body.inertia
    turning = tau * body.spin + drag * dot(body.center, body.center) + inertia * dot(body.place, body.place)
    J = matrix_add_scaled(par.J, turning, IDENTITY)
    J = matrix_add_scaled(J, -drag, outer(body.center, body.center))
    return matrix_add_scaled(J, -inertia, outer(body.place, body.place))


@kernel
def levers(par: Parameters, tau: float, body: BodyResistance) -> Vector:
    """x of the part R (x cross omega) that the body's rotation has in the equation of the last node.

    x = -M rho - tau c center, c being the force over the speed there.
    """
    x = add_scaled(scale(-par.M, par.rho), -(tau * body.drag), body.center)
    return add_scaled(x, -(tau * body.inertia), body.place)


@kernel
def eliminate_rotation(par: Parameters, tau: float, body: BodyResistance, R: Matrix, Pi: Vector) -> Turning:
    """Take the body's rotation out of the equations of the last node."""
    own = tau * body.drag + tau * body.inertia
    block = (own, own, own, 0.0, 0.0, 0.0)
    if not par.rotates:
        return Turning((ZERO, ZERO, ZERO), ZERO, (ZERO, ZERO, ZERO), block, ZERO)
    inverse = inverse3(turning_inertia(par, tau, body))
    RX = matmul(R, hat(levers(par, tau, body)))
    by_node = matmul(RX, inverse)
    block = symmetric_add(block, -1.0, product_with_transposed(by_node, RX))
    return Turning(inverse, apply(inverse, Pi), by_node, block, scale(-1.0, apply(by_node, Pi)))


class Coupling(NamedTuple):
    """An element in the equations of its nodes: a I + (b + c) t t^T of either, (off + a) I + (b - c) t t^T between."""

    a: float
    b: float
    c: float


@kernel
def coupling(rows: Array2, tau: float, e: int) -> Coupling:
    """Of a vector of elements from e on."""
    a = 0.25 * tau * (load(rows[ACROSS], e) + load(rows[ADDED], e))
    return Coupling(a, 0.25 * tau * load(rows[ALONG], e) - a, tau * load(rows[VISCOUS], e))


@kernel
def couple_nodes(par: Parameters, off: float, tau: float, scratch: Scratch) -> None:
    """Numbers of all elements in the equations of their nodes, which both_ends.py solves."""
    rows = scratch.factor
    for e in range(0, par.N + 1, width(rows[COUPLING])):
        x = coupling(rows, tau, e)
        store(rows[COUPLING], e, off + x.a)
        store(rows[COUPLING_ALONG], e, x.b - x.c)
        store(rows[OWN_ALONG], e, x.b + x.c)


@kernel
def blocks_of_nodes(par: Parameters, l: float, tau: float, scratch: Scratch) -> None:
    """Blocks m I + x t t^T between nodes, m into COUPLING and x into COUPLING_ALONG; of the nodes into BLOCK."""
    directions, rows = scratch.nodes[DIRECTION], scratch.factor
    out, out_off = scratch.nodes[BLOCK], scratch.nodes[BLOCK_OFF]
    off = par.mu * l / 6.0
    nothing = spread(out, 0.0)
    before, before_off = (nothing, nothing, nothing), (nothing, nothing, nothing)
    for e in range(0, par.N + 1, width(out)):
        t = nodes_from(directions, e)
        a, b, c = coupling(rows, tau, e)
        store(rows[COUPLING], e, off + a)
        store(rows[COUPLING_ALONG], e, b - c)
        x = scale(b + c, t)
        own = (a + x[0] * t[0], a + x[1] * t[1], a + x[2] * t[2])
        own_off = (x[1] * t[2], x[0] * t[2], x[0] * t[1])
        mass = weights_of_nodes(out, par.N, e, 4.0 * off, 2.0 * off + par.M)
        both = add(own, previous_nodes(out, before, own))
        put_nodes(out, e, (mass + both[0], mass + both[1], mass + both[2]))
        put_nodes(out_off, e, add(own_off, previous_nodes(out, before_off, own_off)))
        before, before_off = own, own_off


@kernel
def put_block(scratch: Scratch, i: int, K: Symmetric) -> None:
    put_node(scratch.nodes[BLOCK], i, (K[0], K[1], K[2]))
    put_node(scratch.nodes[BLOCK_OFF], i, (K[3], K[4], K[5]))


@kernel
def block(scratch: Scratch, i: int) -> Symmetric:
    a, b = node(scratch.nodes[BLOCK], i), node(scratch.nodes[BLOCK_OFF], i)
    return (a[0], a[1], a[2], b[0], b[1], b[2])


@kernel
def coupled(scratch: Scratch, e: int, v: Vector) -> Vector:
    """(m I + x t t^T) v, with the block between the nodes of element e."""
    t = node(scratch.nodes[DIRECTION], e)
    return add_scaled(scale(scratch.factor[COUPLING][e], v), scratch.factor[COUPLING_ALONG][e] * dot(t, v), t)


class ReelTarget(NamedTuple):
    """The reel in the equations of velocities."""

    turns: bool  # or is locked
    held: bool  # its speed is given
    speed: float  # if it is
    momentum: float  # if it is not
    friction: float  # of the drum: impulse over speed, beside its mass


@kernel
def border_of_reel(par: Parameters, l: float, s: float, tau: float, scratch: Scratch) -> float:
    """Coefficients of the nodes in the reel's equation into BORDER, and its own one."""
    N = par.N
    out, directions = scratch.nodes[BORDER], scratch.nodes[DIRECTION]
    rows = scratch.factor
    nothing = spread(out, 0.0)
    before = (nothing, nothing, nothing)
    own = nothing
    for e in range(0, N + 1, width(out)):
        alpha, beta, gamma, _ = weights_from(out, N, e)
        t, length = nodes_from(directions, e), load(rows[LENGTH], e)
        c, by_reel = tau * load(rows[VISCOUS], e), load(rows[BY_REEL], e)
        a, passing = tau * load(rows[ALONG], e), load(rows[PASSING], e)
        carried = 0.5 * a * passing
        # the elements' vectors of theory.md point to the guide
        left = scale(carried - c * by_reel - par.mu * alpha * length, t)
        right = scale(carried + c * by_reel - par.mu * beta * length, t)
        put_nodes(out, e, add(left, previous_nodes(out, before, right)))
        before = right
        own += par.mu * gamma * length * length * (1.0 / l) + c * by_reel * by_reel + a * passing * passing
    return reel_mass(par, s)[0] + total(out, own)  # type: ignore[no-any-return]


@kernel
def product_of_nodes(N: int, x: Array, y: Array) -> float:
    """Sum over the nodes but the first of x.y."""
    nothing = spread(x, 0.0)
    products = nothing
    for i in range(0, N + 1, width(x)):
        place = places_from(x, i)
        counts = (place > 0.5) & (place < N + 0.5)
        products += select(counts, dot(nodes_from(x, i), nodes_from(y, i)), nothing)
    return total(x, products)  # type: ignore[no-any-return]


class Solved(NamedTuple):
    """Velocities that were found, and what is kept to solve the same equations again."""

    rates: Rates  # the nodes' velocities are in MEAN_VELOCITY
    turning: Turning
    reel: float  # coefficient of the reel, with the nodes eliminated


@kernel
def solve_values(
    par: Parameters,
    s: float,
    tau: float,
    body: BodyResistance,
    R: Matrix,
    reel: ReelTarget,
    Pi: Vector,
    scratch: Scratch,
) -> Solved:
    """`solve_velocities` for numbers without tangents."""
    l = element_length(par, s)
    off = par.mu * l / 6.0
    turning = eliminate_rotation(par, tau, body, R, Pi)
    couple_nodes(par, off, tau, scratch)
    v = scratch.nodes[MEAN_VELOCITY]
    last = Equation(turning.block, turning.force)
    solve_from_ends(par.N, off, par.M, last, scratch.nodes[TARGET], scratch, v)
    sigma = reel.speed
    own = zero_like(l) + 1.0
    if reel.turns:
        mass = border_of_reel(par, l, s, tau, scratch)
        slope, border = scratch.nodes[BY_SIGMA], scratch.nodes[BORDER]
        solve_again(par.N, border, scratch, scratch.nodes[ELIMINATED], slope)
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
def with_tangents(
    par: Parameters,
    s: float,
    tau: float,
    body: BodyResistance,
    R: Matrix,
    reel: ReelTarget,
    Pi: Vector,
    solved: Solved,
    scratch: Scratch,
) -> Rates:
    """Tangents of velocities whose values are found.

    What the equations with tangents leave at those values is the right-hand side of one more solution with the same
    matrix (implicit function theorem).
    """
    N = par.N
    plain = values_of((scratch,))[0]
    v, right = plain.nodes[MEAN_VELOCITY], scratch.nodes[TARGET]
    l = element_length(par, s)
    off = par.mu * l / 6.0
    couple_nodes(par, off, tau, scratch)
    sigma = solved.rates.sigma + (reel.speed - values_of(reel.speed))
    left_of_reel = zero_like(l)
    if reel.turns:
        mass = border_of_reel(par, l, s, tau, scratch) + reel.friction
        left_of_reel = reel.momentum - mass * sigma
        for i in range(1, N + 1):
            border = node(scratch.nodes[BORDER], i)
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

    found = scratch.nodes[GUESS]
    solve_again(N, right, plain, scratch.nodes[ELIMINATED], found)
    change = zero_like(l)
    if reel.turns and not reel.held:
        for i in range(1, N + 1):
            left_of_reel -= dot(node(plain.nodes[BORDER], i), node(found, i))
        change = left_of_reel / solved.reel
    for i in range(1, N + 1):
        x_i = add_scaled(node(found, i), -change, node(plain.nodes[BY_SIGMA], i))
        put_node(found, i, x_i)
        put_node(scratch.nodes[MEAN_VELOCITY], i, add(node(v, i), sub(x_i, values_of(x_i))))
    turned = apply(solved.turning.inverse, turned)
    turned = sub(turned, apply_transposed(solved.turning.by_node, node(found, N)))
    return Rates(sigma + (change - values_of(change)), add(omega, sub(turned, values_of(turned))), 0.0)


@kernel
def solve_velocities(
    par: Parameters,
    s: float,
    tau: float,
    body: BodyResistance,
    R: Matrix,
    reel: ReelTarget,
    Pi: Vector,
    scratch: Scratch,
) -> Rates:
    """Velocities of the nodes from the momenta in TARGET into MEAN_VELOCITY, and the rates of reel and body."""
    x = values_of((par, s, tau, body, R, reel, Pi, scratch))
    solved = solve_values(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7])
    if has_tangents(s):
        return with_tangents(par, s, tau, body, R, reel, Pi, solved, scratch)
    return solved.rates
