"""Resistance to the motion of string and body: coefficients that are constant at a step boundary.

Forces that grow with a velocity are taken with the velocity that they lead to (velocities.py), so they limit no step
(docs/theory.md, equations 71 to 73). For that each element has a coefficient against the lengthening of its material,
VISCOUS, and two at its middle against the fluid, ACROSS and ALONG its unit vector DIRECTION. While the reel turns,
material moves through the mesh: PASSING is its velocity along DIRECTION at the middle over sigma, and BY_REEL the
lengthening over sigma, both at nodes that stand still.
"""

from __future__ import annotations

import math

from tautline import registry
from tautline.arrays import TINY_LENGTH
from tautline.kernels import data
from tautline.kernels.along import load, nodes_from, places_from, previous_nodes, put_nodes, spread, store, width
from tautline.kernels.data import Array, Loads, Motion, Parameters, Scratch, code, node, triple
from tautline.kernels.elastic import law_pulls
from tautline.kernels.energy import element_length, weights_of_nodes
from tautline.kernels.fixed import hold_first_node
from tautline.kernels.jit import inlined, kernel
from tautline.kernels.lanes import select
from tautline.kernels.loads.acting import Instant, Trend, frame_change
from tautline.kernels.loads.damping import lengthening_by_reel, viscous_coefficients
from tautline.kernels.loads.drag import (
    NO_BODY_RESISTANCE,
    BodyResistance,
    Latest,
    body_resistance,
    string_coefficients,
)
from tautline.kernels.so3 import Vector, add_scaled, dot, scale, sub

DAMPING = code(registry.LOADS, "damping")
DRAG = code(registry.LOADS, "drag")


@kernel
def elements_at_boundary(par: Parameters, l: float, kick: float, motion: Motion, scratch: Scratch) -> None:
    """Unit vectors and lengths of the elements, 0 behind the last, and momenta with a kick paid into TARGET.

    Pulls are found on the way where the string is linear.
    """
    q, p, owed = motion.nodes[data.POSITION], motion.nodes[data.MOMENTUM], motion.nodes[data.MOMENTUM_ERR]
    out, target, pull = scratch.nodes[data.DIRECTION], scratch.nodes[data.TARGET], scratch.nodes[data.PULL]
    lengths, passing = scratch.factor[data.LENGTH], scratch.factor[data.PASSING]
    linear = par.elastic_law == data.LINEAR
    if not linear:
        law_pulls(par, l, q, pull)
    k = par.EA / l
    flow = 1.0 / (par.N * l)
    weight = kick * par.mu_g * l
    nothing = spread(q, 0.0)
    before = (nothing, nothing, nothing)
    for e in range(0, par.N + 1, width(q)):
        place = places_from(q, e)
        is_element = place < par.N - 0.5
        w = sub(nodes_from(q, e + 1), nodes_from(q, e))
        length = max(math.sqrt(dot(w, w)), TINY_LENGTH)
        inverse = select(is_element, 1.0 / length, nothing)
        length = select(is_element, length, nothing)
        put_nodes(out, e, scale(inverse, w))
        store(lengths, e, length)
        store(passing, e, (place + 0.5 - par.N) * flow * length)
        if linear:
            store(pull, e, select(is_element, k - k * l * inverse, nothing))
        f = scale(kick * load(pull, e), w)
        x = sub(f, previous_nodes(q, before, f))
        before = f
        at = sub(nodes_from(p, e), nodes_from(owed, e))
        z = x[2] + weights_of_nodes(q, par.N, e, weight, 0.5 * weight + kick * par.weight)
        put_nodes(target, e, (at[0] + x[0], at[1] + x[1], at[2] + z))
    hold_first_node(target)


@kernel
def expect_velocities(par: Parameters, ahead: float, motion: Motion, out: Array) -> None:
    """Velocities at the step boundary, extrapolated from the means over the two latest steps."""
    v, before = motion.nodes[data.VELOCITY], motion.nodes[data.VELOCITY_BEFORE]
    for i in range(0, par.N + 1, width(v)):
        x = nodes_from(v, i)
        put_nodes(out, i, add_scaled(x, ahead, sub(x, nodes_from(before, i))))


@kernel
def clear_along(N: int, out: Array) -> None:
    """Zeros for all elements."""
    nothing = spread(out, 0.0)
    for e in range(0, N + 1, width(out)):
        store(out, e, nothing)


@inlined
def resistances(
    par: Parameters,
    loads: Loads,
    at: Instant,
    turns: bool,
    trend: Trend,
    spins: tuple[Vector, Vector],
    motion: Motion,
    scratch: Scratch,
) -> BodyResistance:
    """Fill the rows of all elements, and give what resists the body.

    `elements_at_boundary` must be current, and of a span the rows of its stop. `turns` says whether rope comes or goes,
    `spins` are angular velocities of the body in the two latest steps.
    """
    l = element_length(par, motion.reel[data.S])
    if turns:
        lengthening_by_reel(par, l, scratch)
    else:
        clear_along(par.N, scratch.factor[data.BY_REEL])
    if loads.own[DAMPING].acts:
        viscous_coefficients(par, loads.own[DAMPING], l, at, trend, motion, scratch)
    else:
        clear_along(par.N, scratch.factor[data.VISCOUS])
    if not loads.own[DRAG].acts:
        for row in (data.ACROSS, data.ALONG, data.ADDED):
            clear_along(par.N, scratch.factor[row])
        return NO_BODY_RESISTANCE
    string_coefficients(par, loads.own[DRAG], l, at, trend, motion, scratch)
    latest = Latest(node(motion.nodes[data.VELOCITY], par.N), spins[0])
    preceding = Latest(node(motion.nodes[data.VELOCITY_BEFORE], par.N), spins[1])
    fluid = sub(triple(motion.body, data.FLUID_AT_BODY), frame_change(at, motion.reel))
    height = node(motion.nodes[data.POSITION], par.N)[2]
    return body_resistance(loads.own[DRAG], at, height, latest, preceding, trend.ahead, fluid)
