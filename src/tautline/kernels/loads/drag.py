"""Load `drag`: of a fluid on string and body, and damping of the body's spin (docs/theory.md, equations 73 and 77)."""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.arrays import Array2
from tautline.kernels.along import load, nodes_from, places_from, put_nodes, spread, store, width
from tautline.kernels.data import (
    ACROSS,
    ADDED,
    ALONG,
    DIRECTION,
    FLOW,
    LENGTH,
    PASSING,
    POSITION,
    VELOCITY,
    VELOCITY_BEFORE,
    Array,
    Motion,
    Parameters,
    Scratch,
    node,
    put_node,
)
from tautline.kernels.jit import kernel
from tautline.kernels.lanes import select
from tautline.kernels.loads.acting import Instant
from tautline.kernels.so3 import Vector, add, add_scaled, apply, cross, dot, scale, sub
from tautline.kernels.tables import linear_vector

# Of the decay that drag causes in a step: beyond, an extrapolated speed would let the drag swing from step to step.
STEADY = 0.7
TINY = 1e-300


class Drag(NamedTuple):
    """A fluid, as string and body feel it."""

    acts: bool
    normal: float  # across the string: force/(length speed^2)
    tangential: float
    body: float  # force/speed^2
    center: Vector
    spin: float  # moment/angular velocity
    flow: Array2  # depth, then velocity of the fluid
    string_rate: float = 0.0  # of a motion's decay, per speed in the fluid: string (1/m)
    body_rate: float = 0.0  # and body


class BodyResistance(NamedTuple):
    """What resists the body's motion."""

    drag: float  # force over speed at the centre of drag
    center: Vector
    flow: Vector  # of the fluid there, relative to the guide
    spin: float  # moment over angular velocity


NO_BODY_RESISTANCE = BodyResistance(0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0)


@kernel
def flow_at(own: Drag, at: Instant, height: float) -> Vector:
    """Velocity of the fluid relative to the guide, at a height from the guide entrance (positive down)."""
    return sub(linear_vector(own.flow, 1, at.place[2] + height), at.frame)


@kernel
def flow_along(par: Parameters, own: Drag, at: Instant, q: Array, out: Array) -> None:
    """Velocity of the fluid relative to the guide at the middle of every element."""
    if own.flow.shape[1] == 1:
        flow = flow_at(own, at, 0.0)
        everywhere = (spread(out, flow[0]), spread(out, flow[1]), spread(out, flow[2]))
        for e in range(0, par.N + 1, width(out)):
            put_nodes(out, e, everywhere)
    else:
        for e in range(par.N):
            put_node(out, e, flow_at(own, at, 0.5 * (node(q, e)[2] + node(q, e + 1)[2])))


@kernel
def reach(ahead: float, decay: float) -> float:
    """How far to extrapolate a speed, where drag slows it by `decay` in a step (equation 77)."""
    return min(ahead, STEADY / max(decay, TINY) - 0.5)


@kernel
def string_coefficients(
    par: Parameters,
    own: Drag,
    l: float,
    at: Instant,
    sigma: float,
    change: float,
    ahead: float,
    motion: Motion,
    scratch: Scratch,
) -> None:
    """Force over speed across and along every element, at the speeds that are expected, and the flow beside it.

    `change` is that of sigma between the two latest steps.
    """
    v, v_before = motion.nodes[VELOCITY], motion.nodes[VELOCITY_BEFORE]
    directions, flows = scratch.nodes[DIRECTION], scratch.nodes[FLOW]
    lengths, passing = scratch.factor[LENGTH], scratch.factor[PASSING]
    out_across, out_along, out_added = scratch.factor[ACROSS], scratch.factor[ALONG], scratch.factor[ADDED]
    flow_along(par, own, at, motion.nodes[POSITION], flows)
    decay = 0.5 * own.string_rate * (at.back + at.ahead) / l
    nothing = spread(lengths, 0.0)
    for e in range(0, par.N + 1, width(lengths)):
        is_element = places_from(lengths, e) < par.N - 0.5
        t, length, by_sigma = nodes_from(directions, e), load(lengths, e), load(passing, e)
        u = scale(0.5, add(nodes_from(v, e), nodes_from(v, e + 1)))
        du = sub(u, scale(0.5, add(nodes_from(v_before, e), nodes_from(v_before, e + 1))))
        u = sub(add_scaled(u, sigma * by_sigma, t), nodes_from(flows, e))
        du = add_scaled(du, change * by_sigma, t)
        slowed = decay * length * math.sqrt(dot(u, u))
        u = add_scaled(u, min(spread(lengths, ahead), STEADY / max(slowed, spread(lengths, TINY)) - 0.5), du)
        along = dot(u, t)
        across = add_scaled(u, -along, t)
        store(out_across, e, select(is_element, own.normal * length * math.sqrt(dot(across, across)), nothing))
        store(out_along, e, select(is_element, own.tangential * length * math.sqrt(along * along), nothing))
        store(out_added, e, nothing)


@kernel
def body_resistance(
    par: Parameters, own: Drag, at: Instant, omega: Vector, omega_before: Vector, ahead: float, motion: Motion
) -> BodyResistance:
    """Drag and spin damping of the body, at the speed that is expected."""
    arm = apply(at.R, own.center)
    flow = flow_at(own, at, node(motion.nodes[POSITION], par.N)[2] + arm[2])
    u = add(node(motion.nodes[VELOCITY], par.N), apply(at.R, cross(omega, own.center)))
    before = add(node(motion.nodes[VELOCITY_BEFORE], par.N), apply(at.R, cross(omega_before, own.center)))
    du = sub(u, before)
    u = sub(u, flow)
    decay = 0.5 * own.body_rate * (at.back + at.ahead) * math.sqrt(dot(u, u))
    u = add_scaled(u, reach(ahead, decay), du)
    return BodyResistance(own.body * math.sqrt(dot(u, u)), own.center, flow, own.spin)
