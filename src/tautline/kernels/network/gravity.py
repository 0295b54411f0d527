"""Gravity on bodies and strings: uniform, or in a frame that falls along an orbit (docs/theory.md, "Orbits")."""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.along import nodes_from, put_nodes, spread, total, width
from tautline.kernels.compensated import accumulate_nodes
from tautline.kernels.data import Array, add_to_node, node, put_node, put_triple, triple
from tautline.kernels.energy import element_length, spooled_above, spooled_lever, weights_of_nodes
from tautline.kernels.jit import kernel, separate
from tautline.kernels.lanes import zero_like
from tautline.kernels.listed import Listed
from tautline.kernels.network import data as net
from tautline.kernels.network.data import Body, Field, Network, Strand, body_at, strand_at
from tautline.kernels.network.spans import retracted
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import Vector, add, add_scaled, apply, apply_transposed, cross, dot, scale, sub

# Corrections of Kepler's equation.
MOST_CORRECTIONS = 50
LAST_CORRECTION = 1e-15


class Reference(NamedTuple):
    """Where the falling frame is: relative to the centre of attraction."""

    place: Vector
    velocity: Vector


@kernel
def reference_at(field: Field, t: float) -> Reference:
    """Place and velocity on the reference orbit, by Kepler's equation E - e sin E = M_0 + n t."""
    a, e = field.semi_major_axis, field.eccentricity
    rate = math.sqrt(field.gm / (a * a * a))
    mean = field.mean_anomaly + rate * t
    E = mean + e * math.sin(mean)
    for _ in range(MOST_CORRECTIONS):
        correction = (E - e * math.sin(E) - mean) / (1.0 - e * math.cos(E))
        E -= correction
        if abs(correction) <= LAST_CORRECTION * (1.0 + abs(E)):
            break
    flat = math.sqrt(1.0 - e * e)
    cosine, sine = math.cos(E), math.sin(E)
    speed = a * rate / (1.0 - e * cosine)
    place = add_scaled(scale(a * (cosine - e), field.towards), a * flat * sine, field.along)
    velocity = add_scaled(scale(-speed * sine, field.towards), speed * flat * cosine, field.along)
    return Reference(place, velocity)


class Pull(NamedTuple):
    """Gravity at a point, per unit of mass."""

    potential: float
    acceleration: Vector
    rate: float  # of the potential, at a fixed point


@kernel
def pull_at(field: Field, at: Reference, x: Vector) -> Pull:
    """Potential and acceleration at x.

    In an orbit both are differences of nearly equal numbers between x and the frame; these forms keep all digits of
    them from millimetres to thousands of kilometres.
    """
    if not field.orbit:
        return Pull(-field.g * x[2], (0.0, 0.0, field.g), 0.0)
    X = at.place
    r2 = dot(X, X)
    r = math.sqrt(r2)
    alpha = dot(X, x) / r2
    beta = dot(x, x) / r2
    q = 2.0 * alpha + beta
    w = math.sqrt(1.0 + q)
    f = q * (3.0 + 3.0 * q + q * q) / (1.0 + w * w * w)
    k = field.gm / (r2 * r)
    a = scale(k / (w * w * w), sub(scale(f, X), x))
    potential = -field.gm / r * (alpha * q * (2.0 + w) / (1.0 + w) - beta) / (w * (1.0 + w))
    linear = k * (dot(at.velocity, x) - 3.0 * alpha * dot(X, at.velocity))
    return Pull(potential, a, -dot(a, at.velocity) - linear)


class Gradient(NamedTuple):
    """Gradient of gravity on a body, beyond its mass."""

    potential: float
    force: Vector
    moment: Vector  # inertial


NO_GRADIENT = Gradient(0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@kernel
def gradient_on(field: Field, at: Reference, body: Body) -> Gradient:
    """Energy, force and moment of the potential -(GM/(2 r^3)) (tr J - 3 u.J u), u the direction from the centre."""
    if not field.orbit or not body.turns:
        return NO_GRADIENT
    R = attitude(body.state)
    X = add(at.place, triple(body.state, net.PLACE))
    r2 = dot(X, X)
    u = scale(1.0 / math.sqrt(r2), apply_transposed(R, X))
    Ju = apply(body.J, u)
    trace = body.J[0][0] + body.J[1][1] + body.J[2][2]
    k = field.gm / (r2 * math.sqrt(r2))
    across = dot(u, Ju)
    inward = scale(0.5 * trace - 2.5 * across, u)
    force = scale(-3.0 * k / math.sqrt(r2), apply(R, add(inward, Ju)))
    moment = scale(3.0 * k, apply(R, cross(u, Ju)))
    return Gradient(-0.5 * k * (trace - 3.0 * across), force, moment)


class SpooledWeight(NamedTuple):
    """Gravity of the string that is spooled on a reel."""

    energy: float
    force: Vector  # on the guide entrance
    on_s: float  # force on s
    rate: float  # of the energy, by the motion of the frame


@kernel
def spooled_weight(strand: Strand, field: Field, pull: Pull, height: float, with_energy: bool) -> SpooledWeight:
    """On a body a point mass at the guide entrance; at an anchor in the guide and around the drum (equation 6)."""
    par = strand.par
    s = strand.reel[data.S]
    carried = par.mu * s
    if strand.on_body:
        return SpooledWeight(
            carried * pull.potential, scale(carried, pull.acceleration), -par.mu * pull.potential, carried * pull.rate
        )
    weight = par.mu * field.g
    energy = 0.0 * weight
    if with_energy:  # a sine and a cosine, which no step needs
        energy = -weight * ((s - par.b) * (height - par.b) + par.b * height - spooled_above(par, s))
    on_s = weight * (height - par.b - spooled_lever(par, s))
    return SpooledWeight(energy, (0.0, 0.0, weight * s), on_s, 0.0)


@kernel
def weigh_wheel(strand: Strand, body: Body, field: Field, at: Reference) -> tuple[float, float]:
    """Gravity on the rope that is on a wheel into WHEEL_WEIGHT; energy, and its rate by the motion of the frame."""
    center = add(triple(body.state, net.PLACE), apply(attitude(body.state), strand.reeving.center))
    pull = pull_at(field, at, center)
    mass = strand.weight_fraction * strand.reeving.wrap
    put_triple(strand.work, net.WHEEL_WEIGHT + 3, scale(mass, pull.acceleration))
    return mass * pull.potential, mass * pull.rate


@kernel
def weigh_evenly(N: int, q: Array, g: float, mass: float, out: Array) -> float:
    """Uniform gravity on the nodes; their potentials in sum, half of those of the ends."""
    nothing = spread(q, zero_like(mass))
    potentials = nothing
    for i in range(0, N + 1, width(q)):
        share = weights_of_nodes(q, N, i, 1.0, 0.5)
        put_nodes(out, i, (nothing, nothing, mass * g * share))
        potentials += share * nodes_from(q, i)[2]
    put_node(out, 0, (0.0, 0.0, 0.5 * mass * g))
    return -g * (total(q, potentials) - 0.5 * node(q, 0)[2])  # type: ignore[no-any-return]


@kernel
def weigh_strand(
    bodies: Listed[Body], strand: Strand, field: Field, at: Reference, with_energy: bool
) -> tuple[float, float]:
    """Gravity on the nodes into WEIGHTS and on s into WEIGHT_S; energy, and its rate by the motion of the frame."""
    par = strand.par
    q = strand.nodes[data.POSITION]
    out = strand.scratch.nodes[net.WEIGHTS]
    mass = strand.weight_fraction * par.mu * element_length(par, retracted(strand))
    energy, rate = 0.0, 0.0
    if field.orbit:
        for i in range(par.N + 1):
            pull = pull_at(field, at, node(q, i))
            part = 0.5 if i in (0, par.N) else 1.0
            put_node(out, i, scale(part * mass, pull.acceleration))
            energy += part * pull.potential
            rate += part * pull.rate
    else:
        energy = weigh_evenly(par.N, q, field.g, mass, out)
    strand.work[net.WEIGHT_S] = strand.weight_fraction * par.mu * energy / par.N
    if strand.reeving.idle:
        energy, rate = 0.0, 0.0
        for i in range(par.N + 1):
            put_node(out, i, (0.0, 0.0, 0.0))
    energy *= mass
    rate *= mass
    strand.work[net.SPOOLED_WEIGHT_S] = 0.0
    if strand.reeving.sheave:
        wheel = weigh_wheel(strand, body_at(bodies, strand.ends[0]), field, at)
        energy += wheel[0]
        rate += wheel[1]
    if strand.has_reel:
        entrance = node(q, 0)
        spooled = spooled_weight(strand, field, pull_at(field, at, entrance), entrance[2], with_energy)
        add_to_node(out, 0, scale(strand.weight_fraction, spooled.force))
        if strand.reeved:
            strand.work[net.SPOOLED_WEIGHT_S] = strand.weight_fraction * spooled.on_s
        else:
            strand.work[net.WEIGHT_S] += strand.weight_fraction * spooled.on_s
        energy += strand.weight_fraction * spooled.energy
        rate += spooled.rate
    return energy, rate


@kernel
def weigh_body(body: Body, field: Field, at: Reference) -> tuple[float, float]:
    """Gravity on the body itself into PULLED and TWISTED; energy, and its rate by the motion of the frame."""
    pull = pull_at(field, at, triple(body.state, net.PLACE))
    gradient = gradient_on(field, at, body)
    arm = apply(attitude(body.state), body.buoyancy)
    lift = (0.0, 0.0, -body.lift)
    force = add(gradient.force, lift)
    put_triple(body.work, net.PULLED, add_scaled(force, body.mass, pull.acceleration))
    put_triple(body.work, net.TWISTED, add(gradient.moment, cross(arm, lift)))
    rate = body.mass * pull.rate - dot(gradient.force, at.velocity)
    floating = body.lift * (body.state[net.PLACE + 2] + arm[2])
    return body.mass * pull.potential + gradient.potential + floating, rate


@separate
def weigh(network: Network, t: float, with_energy: bool) -> tuple[float, float]:
    """Gravity on everything at time t; potential energy, if asked for, and its rate by the motion of the frame."""
    field = network.field
    at = reference_at(field, t) if field.orbit else Reference((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    energy, rate = 0.0, 0.0
    for b in range(len(network.bodies)):
        one = weigh_body(body_at(network.bodies, b), field, at)
        energy += one[0]
        rate += one[1]
    for k in range(len(network.strands)):
        one = weigh_strand(network.bodies, strand_at(network.strands, k), field, at, with_energy)
        energy += one[0]
        rate += one[1]
    return energy, rate


@kernel
def momenta_with_weight(strand: Strand, h: float) -> None:
    """Momenta of the nodes with half of gravity's impulse in a step h, into TARGET."""
    p, out, weights = strand.nodes[data.MOMENTUM], strand.scratch.nodes[data.TARGET], strand.scratch.nodes[net.WEIGHTS]
    for i in range(0, strand.par.N + 1, width(p)):
        put_nodes(out, i, add_scaled(nodes_from(p, i), 0.5 * h, nodes_from(weights, i)))


@kernel
def give_weight(strand: Strand, h: float) -> None:
    """Give the nodes half of gravity's impulse in a step h."""
    p, p_err, weights = strand.nodes[data.MOMENTUM], strand.nodes[data.MOMENTUM_ERR], strand.scratch.nodes[net.WEIGHTS]
    for i in range(0, strand.par.N + 1, width(p)):
        accumulate_nodes(p, p_err, i, scale(0.5 * h, nodes_from(weights, i)), strand.par.compensated)


@kernel
def weight_of(strand: Strand, i: int) -> Vector:
    """Gravity on node i, as it was looked at last."""
    weights: Array = strand.scratch.nodes[net.WEIGHTS]
    return node(weights, i)
