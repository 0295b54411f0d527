"""Energies of the semi-discrete model and their derivatives (docs/theory.md, equations 3 to 12).

Element e = 0..N-1 joins nodes e and e + 1; w = q_e - q_{e+1}; l = (L - s)/N.
"""

from __future__ import annotations

import math

from tautline.kernels import data
from tautline.kernels.along import nodes_from, places_from, spread, total, width
from tautline.kernels.data import Array, Parameters, add_to_node, clear_nodes, node, node_stride, put_node
from tautline.kernels.elastic import elastic_energy, law_sums
from tautline.kernels.jit import inlined, kernel
from tautline.kernels.lanes import select, zero_like
from tautline.kernels.so3 import (
    Matrix,
    Vector,
    add,
    add_scaled,
    apply,
    apply_transposed,
    cross,
    dot,
    scale,
    sub,
)


@kernel
def element_length(par: Parameters, s: float) -> float:
    return (par.L - s) / par.N


@kernel
def transport_weights(N: int, e: float) -> tuple[float, float, float]:
    """alpha_e, beta_e, gamma_e: the integrals of the transport velocity over an element."""
    k = N - e
    sixth = 1.0 / (6.0 * N)
    alpha = (3.0 * k - 1.0) * sixth
    beta = (3.0 * k - 2.0) * sixth
    gamma = (3.0 * k * (k - 1.0) + 1.0) * (2.0 * sixth / N)
    return alpha, beta, gamma


@kernel
def kinetic_string(par: Parameters, s: float, sigma: float, q: Array, v: Array) -> float:
    l = element_length(par, s)
    T = 0.0
    for e in range(par.N):
        alpha, beta, gamma = transport_weights(par.N, e)
        w = sub(node(q, e), node(q, e + 1))
        v0 = node(v, e)
        v1 = node(v, e + 1)
        D = add_scaled(scale(alpha, v0), beta, v1)
        T += l / 6.0 * (dot(v0, v0) + dot(v0, v1) + dot(v1, v1))
        T += sigma * dot(w, D) + gamma * dot(w, w) / (2.0 * l) * sigma * sigma
    return par.mu * T


@kernel
def radius(par: Parameters, s: float) -> float:
    """d(s) of the drum with what is spooled on it (equation 50)."""
    if par.growth == 0.0:
        return par.d
    return math.sqrt(par.d * par.d + par.growth * (s - par.b))


@kernel
def reel_mass(par: Parameters, s: float) -> tuple[float, float]:
    """m and dm/ds: inertia of the drum, of what is spooled on it and of the guide's string (equation 51)."""
    if par.growth == 0.0:
        return par.mu * s + par.kappa, par.mu
    d2 = par.d * par.d
    spooled = s - par.b
    square = d2 + par.growth * spooled
    m = (par.kappa * d2 + par.mu * spooled * (d2 + 0.5 * par.growth * spooled)) / square
    return m + par.mu * par.b, par.mu - par.growth * m / square


@kernel
def kinetic_reel(par: Parameters, s: float, sigma: float) -> float:
    return 0.5 * reel_mass(par, s)[0] * sigma * sigma


@kernel
def spooled_angle(par: Parameters, s: float) -> float:
    """Angle of the drum from the fastened end to the point where the string leaves it."""
    return 2.0 * (s - par.b) / (par.d + radius(par, s))


@kernel
def kinetic_rotation(par: Parameters, omega: Vector) -> float:
    return 0.5 * dot(omega, apply(par.J, omega))


@kernel
def kinetic_body(par: Parameters, v_N: Vector, R: Matrix, omega: Vector) -> float:
    swing = apply(R, cross(omega, par.rho))
    return par.M * (0.5 * dot(v_N, v_N) + dot(v_N, swing)) + kinetic_rotation(par, omega)


@kernel
def spooled_above(par: Parameters, s: float) -> float:
    """Moment of the string on the drum, per mass and length, that a string hanging straight would not have (m^2)."""
    spooled = s - par.b
    angle = spooled_angle(par, s)
    k = par.growth
    # the last two terms are those of a growing drum (equation 52)
    above = par.d * par.d * (1.0 - math.cos(angle)) + k * (spooled - par.d * math.sin(angle))
    return above - 0.5 * k * k * (1.0 - math.cos(angle))


@kernel
def gravity_reel(par: Parameters, s: float) -> float:
    """Potential energy of the string on the drum (equations 6 and 52), with r_d.e3 = r_p.e3 - b.

    That of the string in the guide is constant and left out.
    """
    return -par.mu_g * ((s - par.b) * (par.r_p[2] - par.b) - spooled_above(par, s))


@kernel
def spooled_lever(par: Parameters, s: float) -> float:
    """Rate by s of the spooled string's moment of weight about the drum axis, over its line weight (equation 53)."""
    angle = spooled_angle(par, s)
    if par.growth == 0.0:
        return par.d * math.sin(angle)
    k = par.growth
    d = radius(par, s)
    return ((par.d * par.d - 0.5 * k * k) * math.sin(angle) + k * (d - par.d * math.cos(angle))) / d


@kernel
def gravity_deployed(par: Parameters, s: float, q: Array, R: Matrix) -> float:
    l = element_length(par, s)
    z = 2 * node_stride(q)  # where the vertical components begin
    depth = 0.0
    for e in range(par.N):
        depth += 2.0 * par.r_p[2] + q[z + e] + q[z + e + 1]
    body: float = par.weight * (par.r_p[2] + q[z + par.N]) + dot(R[2], par.weight_rho)
    return -0.5 * par.mu_g * l * depth - body


@kernel
def elastic(par: Parameters, s: float, q: Array) -> float:
    """V_el of the deployed string."""
    return elastic_energy(par, element_length(par, s), q)


@kernel
def strain_at_guide(par: Parameters, q: Array, l: float) -> float:
    """The first element's mean, or on the line through the means of the first two (equation 61)."""
    w = sub(node(q, 1), node(q, 0))
    strain = math.sqrt(dot(w, w)) / l - 1.0
    if par.extrapolated:
        w = sub(node(q, 2), node(q, 1))
        strain += 0.5 * (strain + 1.0 - math.sqrt(dot(w, w)) / l)
    return strain


@kernel
def strain_at_stop(par: Parameters, q: Array, l: float, drum: Parameters) -> float:
    """Strain at the drum at the end of a line: `strain_at_guide` at the last element of its last span."""
    N = par.N
    w = sub(node(q, N), node(q, N - 1))
    strain = math.sqrt(dot(w, w)) / l - 1.0
    if drum.extrapolated and N > 1:
        w = sub(node(q, N - 1), node(q, N - 2))
        strain += 0.5 * (strain + 1.0 - math.sqrt(dot(w, w)) / l)
    return strain


@kernel
def node_force(par: Parameters, l: float, pull: Array, q: Array, i: int) -> Vector:
    """-dV/dq_i for i >= 1, from the pulls of the elements."""
    x = scale(-pull[i - 1], sub(node(q, i), node(q, i - 1)))
    if i == par.N:
        return (x[0], x[1], x[2] + 0.5 * par.mu_g * l + par.weight)
    x = add_scaled(x, pull[i], sub(node(q, i + 1), node(q, i)))
    return (x[0], x[1], x[2] + par.mu_g * l)


@kernel
def weights_of_nodes(x: Array, N: int, i: int, inner: float, last: float) -> float:
    """`inner` for the nodes from i on, `last` for the last of all, and 0 behind it."""
    place = places_from(x, i)
    at_end = select(place < N + 0.5, spread(x, last), spread(x, 0.0))
    return select(place < N - 0.5, spread(x, inner), at_end)  # type: ignore[no-any-return]


@inlined
def body_moment(par: Parameters, R: Matrix) -> Vector:
    """-dV/dR in the body frame: M g rho x R^T e3."""
    return cross(par.weight_rho, R[2])


@kernel
def reel_force(par: Parameters, s: float, q: Array) -> float:
    """-dV/ds."""
    l = element_length(par, s)
    nothing = spread(q, zero_like(l))
    depths = nothing
    squares = nothing
    for e in range(0, par.N, width(q)):
        x, y = nodes_from(q, e), nodes_from(q, e + 1)
        w = sub(x, y)
        is_element = places_from(q, e) < par.N - 0.5
        depths += select(is_element, x[2] + y[2], nothing)
        squares += select(is_element, dot(w, w) - l * l, nothing)
    depth = 2.0 * par.N * par.r_p[2] + total(q, depths)
    pull = par.EA / (l * l) * total(q, squares) if par.elastic_law == data.LINEAR else 2.0 * law_sums(par, l, q)[1]
    drum = spooled_lever(par, s) - (par.r_p[2] - par.b)
    deployed = (par.mu_g * depth + pull) / (2.0 * par.N)
    return -par.mu_g * drum - deployed  # type: ignore[no-any-return]


@kernel
def momenta(par: Parameters, s: float, sigma: float, q: Array, v: Array, out_p: Array) -> float:
    """P = dT_s/dv of string and reel: nodes into out_p, P_s returned."""
    l = element_length(par, s)
    P_s = reel_mass(par, s)[0] * sigma
    clear_nodes(out_p)
    for e in range(par.N):
        alpha, beta, gamma = transport_weights(par.N, e)
        w = sub(node(q, e), node(q, e + 1))
        v0 = node(v, e)
        v1 = node(v, e + 1)
        D = add_scaled(scale(alpha, v0), beta, v1)
        p0 = add_scaled(scale(l / 6.0, add_scaled(v1, 2.0, v0)), alpha * sigma, w)
        p1 = add_scaled(scale(l / 6.0, add_scaled(v0, 2.0, v1)), beta * sigma, w)
        put_node(out_p, e, add_scaled(node(out_p, e), par.mu, p0))
        put_node(out_p, e + 1, scale(par.mu, p1))
        P_s += par.mu * (dot(w, D) + gamma * dot(w, w) * sigma / l)
    # node 0 stands still at the guide entrance and carries no momentum of its own
    put_node(out_p, 0, (0.0, 0.0, 0.0))
    return P_s


@kernel
def body_momenta(par: Parameters, v_N: Vector, R: Matrix, omega: Vector) -> tuple[Vector, Vector]:
    """Momentum that the body adds to p_N, and Pi."""
    linear = scale(par.M, add(v_N, apply(R, cross(omega, par.rho))))
    lever = cross(par.rho, apply_transposed(R, v_N))
    return linear, add_scaled(apply(par.J, omega), par.M, lever)


@kernel
def all_momenta(
    par: Parameters, s: float, sigma: float, q: Array, v: Array, R: Matrix, omega: Vector, out_p: Array
) -> tuple[float, Vector]:
    """Momenta of string, reel and body: nodes into out_p, P_s and Pi returned."""
    P_s = momenta(par, s, sigma, q, v, out_p)
    linear, Pi = body_momenta(par, node(v, par.N), R, omega)
    add_to_node(out_p, par.N, linear)
    return P_s, Pi


@kernel
def transport_force(gamma: float, l: float, sigma: float, w: Vector, D: Vector) -> Vector:
    """x_e/mu = sigma D_e + gamma_e sigma^2 w_e/l: element e's part of dT_s/dq, + at e, - at e + 1."""
    return scale(sigma, add_scaled(D, gamma * (sigma / l), w))


@kernel
def kinetic_gradient_s(par: Parameters, s: float, sigma: float, q: Array, v: Array) -> float:
    """G_s = dT_s/ds."""
    l = element_length(par, s)
    G = 0.0
    for e in range(par.N):
        gamma = transport_weights(par.N, e)[2]
        w = sub(node(q, e), node(q, e + 1))
        v0 = node(v, e)
        v1 = node(v, e + 1)
        G -= (dot(v0, v0) + dot(v0, v1) + dot(v1, v1)) / (6.0 * par.N)
        G += gamma * dot(w, w) * sigma * sigma / (2.0 * par.N * l * l)
    return par.mu * G + 0.5 * reel_mass(par, s)[1] * sigma * sigma
