"""Load `drag`: of a fluid on string and body, and damping of the body's spin (docs/theory.md, equations 73 and 77)."""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.arrays import TINY_LENGTH, Array2
from tautline.kernels.data import POSITION, Array, Motion, Parameters, S, Scratch, add_to_node, node
from tautline.kernels.energy import element_length
from tautline.kernels.jit import kernel
from tautline.kernels.loads.acting import Instant, Push, middle_flow
from tautline.kernels.so3 import Vector, add, add_scaled, apply, apply_transposed, cross, dot, scale, sub
from tautline.kernels.tables import linear_vector


class Drag(NamedTuple):
    """A fluid, as string and body feel it."""

    acts: bool
    normal: float  # across the string: force/(length speed^2)
    tangential: float
    body: float  # force/speed^2
    center: Vector
    spin: float  # moment/angular velocity
    flow: Array2  # depth, then velocity of the fluid
    string_rate: float = 0.0  # of a small motion's decay, per speed of the fluid: string (1/m)
    body_rate: float = 0.0  # and body
    spin_rate: float = 0.0  # of the decay of the body's spin (1/s)


@kernel
def speed_in_fluid(par: Parameters, own: Drag, at: Instant, l: float, q: Array, v: Array, e: int) -> Vector:
    """Velocity of the string at the middle of element e relative to the fluid there."""
    u = scale(0.5, add(node(v, e), node(v, e + 1)))
    u = add(add_scaled(u, at.rates.sigma, middle_flow(par, l, q, e)), at.frame)
    middle = at.place[2] + 0.5 * (node(q, e)[2] + node(q, e + 1)[2])
    return sub(u, linear_vector(own.flow, 1, middle))


@kernel
def body_in_fluid(par: Parameters, own: Drag, at: Instant, q: Array, v: Array) -> Vector:
    """Velocity of the body's drag centre relative to the fluid there."""
    arm = apply(at.R, own.center)
    u = add(add(node(v, par.N), apply(at.R, cross(at.rates.omega, own.center))), at.frame)
    return sub(u, linear_vector(own.flow, 1, at.place[2] + node(q, par.N)[2] + arm[2]))


@kernel
def act(par: Parameters, own: Drag, at: Instant, motion: Motion, v: Array, scratch: Scratch, out: Array) -> Push:
    """Drag on each element at its middle, along and across it, and on the body at its centre of drag."""
    q = motion.nodes[POSITION]
    l = element_length(par, motion.reel[S])
    reel = 0.0
    for e in range(par.N):
        w = sub(node(q, e), node(q, e + 1))
        length = max(math.sqrt(dot(w, w)), TINY_LENGTH)
        u = speed_in_fluid(par, own, at, l, q, v, e)
        along = scale(dot(u, w) / (length * length), w)
        across = sub(u, along)
        force = add_scaled(
            scale(-own.normal * length * math.sqrt(dot(across, across)), across),
            -own.tangential * length * math.sqrt(dot(along, along)),
            along,
        )
        add_to_node(out, e, scale(0.5, force))
        add_to_node(out, e + 1, scale(0.5, force))
        reel += dot(force, middle_flow(par, l, q, e))
    u = body_in_fluid(par, own, at, q, v)
    force = scale(-own.body * math.sqrt(dot(u, u)), u)
    add_to_node(out, par.N, force)
    moment = add_scaled(cross(own.center, apply_transposed(at.R, force)), -own.spin, at.rates.omega)
    return Push(reel, moment)


@kernel
def rate(par: Parameters, own: Drag, at: Instant, motion: Motion, v: Array) -> float:
    """Equation 77, at the present velocities."""
    q = motion.nodes[POSITION]
    l = element_length(par, motion.reel[S])
    string2 = 0.0
    if own.string_rate > 0.0:
        for e in range(par.N):
            w = sub(node(q, e), node(q, e + 1))
            u = speed_in_fluid(par, own, at, l, q, v, e)
            string2 = max(string2, dot(u, u) * dot(w, w) / (l * l))
    u = body_in_fluid(par, own, at, q, v)
    body = own.body_rate * math.sqrt(dot(u, u)) + own.spin_rate
    return max(own.string_rate * math.sqrt(string2), body)
