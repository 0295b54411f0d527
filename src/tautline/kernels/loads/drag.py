"""Load `drag`: a fluid around string and body, their drag, inertia and free surface (docs/theory.md, 73, 77, 96)."""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.arrays import TINY_LENGTH, Array2
from tautline.kernels import data
from tautline.kernels.along import load, nodes_from, places_from, put_nodes, spread, store, width
from tautline.kernels.data import Array, Motion, Parameters, Scratch, add_to_node, node, node_stride, put_node
from tautline.kernels.energy import element_length
from tautline.kernels.jit import kernel
from tautline.kernels.lanes import select
from tautline.kernels.loads.acting import Instant, Push, Trend, by_speeds, time_of_change
from tautline.kernels.so3 import ZERO, Matrix, Vector, add, add_scaled, apply, apply_transposed, cross, dot, scale, sub
from tautline.kernels.tables import last_knot, linear_vector

# Of the decay that drag causes in a step: beyond, an extrapolated speed would let the drag swing from step to step.
STEADY = 0.7
TINY = 1e-300
FLAT = 1e-12  # difference of depths of an element's ends that counts as none (m)


class Drag(NamedTuple):
    """A fluid, as string and body feel it."""

    acts: bool
    normal: float  # across the string: force/(length speed^2)
    tangential: float
    body: float  # force/speed^2
    center: Vector
    spin: float  # moment/angular velocity
    flow: Array2  # depth, then velocity of the fluid, at one time after the other
    times: Array  # of these
    string_rate: float = 0.0  # of a motion's decay, per speed in the fluid: string (1/m)
    body_rate: float = 0.0  # and body
    added: float = 0.0  # mass of fluid that moves with the string, across it (kg/m)
    has_surface: bool = False  # the fluid ends at a free surface, and another one is above
    surface: float = 0.0  # where (third axis)
    above: float = 1.0  # density above over density below
    lift: float = 0.0  # of the string below the surface, more than above it (N/m of unstretched length)
    body_lift: float = 0.0  # of the body (N)
    body_added: float = 0.0  # mass of fluid that moves with the body, where there is a surface (kg)
    buoyancy_center: Vector = (0.0, 0.0, 0.0)
    body_height: float = 1.0  # over which the body gets wet as it sinks
    displaced: float = 0.0  # mass of the fluid that the string displaces (kg/m)
    body_displaced: float = 0.0  # mass that the fluid's acceleration pushes: displaced, and what moves along (kg)


class BodyResistance(NamedTuple):
    """Resistance to the body's motion: drag at one point of it, inertia of the fluid at another, and spin damping."""

    drag: float  # force over speed at the centre of drag
    center: Vector
    flow: Vector  # of the fluid there, relative to the guide
    spin: float  # moment over angular velocity
    inertia: float  # force over change of speed at the centre of buoyancy
    place: Vector  # of that
    last: Vector  # velocity that it is a change from, relative to the guide


NO_BODY_RESISTANCE = BodyResistance(0.0, ZERO, ZERO, 0.0, 0.0, ZERO, ZERO)


@kernel
def velocity_of_fluid(own: Drag, t: float, depth: float) -> Vector:
    """Velocity of the fluid at a time and a depth: linear between those of the table, held outside."""
    last = len(own.times) - 1
    if last == 0:
        return linear_vector(own.flow, 1, depth)
    i = last_knot(own.times, t)
    now = linear_vector(own.flow, 3 * i + 1, depth)
    if i == last or t < own.times[0]:
        return now
    y = (t - own.times[i]) / (own.times[i + 1] - own.times[i])
    return add_scaled(scale(1.0 - y, now), y, linear_vector(own.flow, 3 * i + 4, depth))


@kernel
def accelerates(own: Drag) -> bool:
    """Whether the fluid's velocity changes with time."""
    return own.acts and len(own.times) > 1


@kernel
def acceleration_of_fluid(own: Drag, at: Instant, depth: float) -> Vector:
    """Mean acceleration of the fluid at a depth, over the time for which loads act at a step boundary."""
    begin, end = at.t - at.back, at.t + at.ahead
    if begin == end:
        i = last_knot(own.times, at.t)
        begin, end = own.times[i], own.times[min(i + 1, len(own.times) - 1)]
        if begin == end or at.t < begin:
            return ZERO
    return scale(1.0 / (end - begin), sub(velocity_of_fluid(own, end, depth), velocity_of_fluid(own, begin, depth)))


@kernel
def flow_at(own: Drag, at: Instant, height: float) -> Vector:
    """Velocity of the fluid relative to the guide, at a height from the guide entrance (positive down)."""
    return sub(velocity_of_fluid(own, at.t, at.place[2] + height), at.frame)


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
def wet_part(below: float, height: float) -> float:
    """Part of something of this height that is wet, from the depth of its middle below the surface."""
    return min(max(0.5 + below / height, 0.0), 1.0)


@kernel
def wet_depth(below: float, height: float) -> float:
    """Integral of `wet_part` over the depth."""
    part = wet_part(below, height)
    return 0.5 * height * part * part + max(below - 0.5 * height, 0.0)


@kernel
def density_of_body(own: Drag, depth: float) -> float:
    """Density of the fluid around the body, over that below the surface."""
    if not own.has_surface:
        return 1.0
    return own.above + (1.0 - own.above) * wet_part(depth - own.surface, own.body_height)


@kernel
def densities(own: Drag, x: Array, upper: float, lower: float) -> float:
    """Density of the fluid around elements, over that below the surface, from the depths of their ends."""
    a, b = upper - own.surface, lower - own.surface
    bottom, top = max(a, b), min(a, b)
    wet = max(bottom, spread(x, 0.0)) - max(top, spread(x, 0.0))
    wet = wet / max(bottom - top, spread(x, TINY))
    level = bottom - top < FLAT
    wet = select(level, select(bottom > 0.0, spread(x, 1.0), spread(x, 0.0)), wet)
    return own.above + (1.0 - own.above) * wet  # type: ignore[no-any-return]


@kernel
def density_between(own: Drag, upper: float, lower: float) -> float:
    """Density of the fluid around an element over that below the surface, from the depths of its ends."""
    bottom, top = max(upper, lower) - own.surface, min(upper, lower) - own.surface
    if bottom - top < FLAT:
        return 1.0 if bottom > 0.0 else own.above
    return own.above + (1.0 - own.above) * (max(bottom, 0.0) - max(top, 0.0)) / (bottom - top)


@kernel
def reach(ahead: float, decay: float) -> float:
    """How far to extrapolate a speed, where drag slows it by `decay` in a step (equation 77)."""
    return min(ahead, STEADY / max(decay, TINY) - 0.5)


@kernel
def string_coefficients(
    par: Parameters, own: Drag, l: float, at: Instant, trend: Trend, motion: Motion, scratch: Scratch
) -> None:
    """Force over speed across and along every element, at the speeds that are expected, and the flow beside it."""
    v, v_before = motion.nodes[data.VELOCITY], motion.nodes[data.VELOCITY_BEFORE]
    directions, flows = scratch.nodes[data.DIRECTION], scratch.nodes[data.FLOW]
    rows, lengths = scratch.factor, scratch.factor[data.LENGTH]
    out_across, out_along, out_added = rows[data.ACROSS], rows[data.ALONG], rows[data.ADDED]
    flow_along(par, own, at, motion.nodes[data.POSITION], flows)
    q = motion.nodes[data.POSITION]
    depths = q[2 * node_stride(q) :]
    decay = 0.5 * own.string_rate * (at.back + at.ahead) / l
    changed_in = time_of_change(at)
    added = own.added / changed_in if changed_in > 0.0 else 0.0
    nothing = spread(lengths, 0.0)
    for e in range(0, par.N + 1, width(lengths)):
        is_element = places_from(lengths, e) < par.N - 0.5
        t, length = nodes_from(directions, e), load(lengths, e)
        passing = by_speeds(rows, data.PASSING, data.PASSING_FAR, trend.last, e)
        change = passing - by_speeds(rows, data.PASSING, data.PASSING_FAR, trend.before, e)
        u = scale(0.5, add(nodes_from(v, e), nodes_from(v, e + 1)))
        du = sub(u, scale(0.5, add(nodes_from(v_before, e), nodes_from(v_before, e + 1))))
        u = sub(add_scaled(u, passing, t), nodes_from(flows, e))
        du = add_scaled(du, change, t)
        if own.has_surface:
            length = length * densities(own, depths, at.place[2] + load(depths, e), at.place[2] + load(depths, e + 1))
        slowed = decay * length * math.sqrt(dot(u, u))
        u = add_scaled(u, min(spread(lengths, trend.ahead), STEADY / max(slowed, spread(lengths, TINY)) - 0.5), du)
        along = dot(u, t)
        across = add_scaled(u, -along, t)
        store(out_across, e, select(is_element, own.normal * length * math.sqrt(dot(across, across)), nothing))
        store(out_along, e, select(is_element, own.tangential * length * math.sqrt(along * along), nothing))
        store(out_added, e, select(is_element, added * length, nothing))


@kernel
def velocity_at_body(own: Drag, R: Matrix, time: float, v_N: Vector, omega: Vector) -> Vector:
    """Velocity of the centre of buoyancy, at the attitude that the body had some time ago."""
    spun = cross(omega, own.buoyancy_center)
    return add(v_N, apply(R, add_scaled(spun, -time, cross(omega, spun))))


class Latest(NamedTuple):
    """Mean velocities over a step: of the point of the body that its frame is at, and its angular velocity."""

    v: Vector
    omega: Vector


@kernel
def body_resistance(
    own: Drag, at: Instant, height: float, last: Latest, before: Latest, ahead: float, fluid: Vector
) -> BodyResistance:
    """Drag, spin damping and inertia of the fluid around a body, at the speed that is expected.

    `height` is how far the body's point is below the guide, `last` and `before` its motion in the two latest steps, and
    `fluid` the velocity of what moves along with it.
    """
    flow = flow_at(own, at, height + apply(at.R, own.center)[2])
    density = density_of_body(own, at.place[2] + height + apply(at.R, own.buoyancy_center)[2])
    u = add(last.v, apply(at.R, cross(last.omega, own.center)))
    du = sub(u, add(before.v, apply(at.R, cross(before.omega, own.center))))
    u = sub(u, flow)
    decay = 0.5 * density * own.body_rate * (at.back + at.ahead) * math.sqrt(dot(u, u))
    u = add_scaled(u, reach(ahead, decay), du)
    changed_in = time_of_change(at)
    added = density * own.body_added / changed_in if changed_in > 0.0 else 0.0
    drag = density * own.body * math.sqrt(dot(u, u))
    return BodyResistance(drag, own.center, flow, density * own.spin, added, own.buoyancy_center, fluid)


@kernel
def lift_of_body(own: Drag, R: Matrix, depth: float) -> tuple[Vector, Vector]:
    """Force and moment (body frame) of the buoyancy below a free surface, more than above it.

    `depth` is that of the body's point.
    """
    wet = wet_part(depth + apply(R, own.buoyancy_center)[2] - own.surface, own.body_height)
    lift = (0.0, 0.0, -own.body_lift * wet)
    return lift, cross(own.buoyancy_center, apply_transposed(R, lift))


@kernel
def wet_mean(a: float, b: float) -> tuple[float, float, float]:
    """Mean of max(depth, 0) between depths a and b below the surface, and its slopes by a and b."""
    if a >= 0.0 and b >= 0.0:
        return 0.5 * (a + b), 0.5, 0.5
    if a <= 0.0 and b <= 0.0:
        return 0.0, 0.0, 0.0
    top, bottom = min(a, b), max(a, b)
    k = bottom / (bottom - top)
    by_bottom = 0.5 * k * (bottom - 2.0 * top) / (bottom - top)
    by_top = 0.5 * k * k
    mean = 0.5 * k * bottom
    return (mean, by_top, by_bottom) if a < b else (mean, by_bottom, by_top)


@kernel
def pushed_body(own: Drag, at: Instant, R: Matrix, depth: float) -> tuple[Vector, Vector]:
    """Force and moment (body frame) of the fluid's acceleration on a body whose point is at a depth (equation 111)."""
    depth += apply(R, own.buoyancy_center)[2]
    mass = density_of_body(own, depth) * own.body_displaced
    push = scale(mass, acceleration_of_fluid(own, at, depth))
    return push, cross(own.buoyancy_center, apply_transposed(R, push))


@kernel
def pushed_string(par: Parameters, own: Drag, at: Instant, motion: Motion, out: Array) -> tuple[float, float]:
    """Add the forces of the fluid's acceleration on the elements to their nodes; those on the feeds (equation 111)."""
    q = motion.nodes[data.POSITION]
    l = element_length(par, motion.reel[data.S])
    reel, far = 0.0, 0.0
    for e in range(par.N):
        w = sub(node(q, e + 1), node(q, e))
        length = max(math.sqrt(dot(w, w)), TINY_LENGTH)
        upper, lower = at.place[2] + node(q, e)[2], at.place[2] + node(q, e + 1)[2]
        mass = length
        if own.has_surface:
            mass *= density_between(own, upper, lower)
        a = scale(mass, acceleration_of_fluid(own, at, 0.5 * (upper + lower)))
        along = dot(a, w) / (length * length)
        force = add_scaled(scale(own.displaced + own.added, a), -own.added * along, w)
        add_to_node(out, e, scale(0.5, force))
        add_to_node(out, e + 1, scale(0.5, force))
        reel += own.displaced * along * length * length * (e + 0.5 - par.N) / (par.N * l)
        if len(at.speeds) > 1:
            far -= own.displaced * along * length * length * (e + 0.5) / (par.N * l)
    return reel, far


@kernel
def act(par: Parameters, own: Drag, at: Instant, motion: Motion, v: Array, scratch: Scratch, out: Array) -> Push:
    """Buoyancy of what is below a free surface, more than that above it (96), and push of a fluid's acceleration (111).

    What is spooled is lifted at node 0, and gets wet over the height of the drum; beside spans others see to that.
    """
    reel, far, moment = 0.0, 0.0, ZERO
    q, s = motion.nodes[data.POSITION], motion.reel[data.S]
    below = at.place[2] + node(q, par.N)[2]
    if accelerates(own):
        push, turn = pushed_body(own, at, at.R, below)
        add_to_node(out, par.N, push)
        moment = turn
        reel, far = pushed_string(par, own, at, motion, out)
    if not own.has_surface:
        return Push(reel, far, moment)
    l = element_length(par, s)
    guide = at.place[2] - own.surface
    means = 0.0
    for e in range(par.N):
        mean, by_first, by_second = wet_mean(guide + node(q, e)[2], guide + node(q, e + 1)[2])
        means += mean
        add_to_node(out, e, (0.0, 0.0, -own.lift * l * by_first))
        add_to_node(out, e + 1, (0.0, 0.0, -own.lift * l * by_second))
    lift, lifted = lift_of_body(own, at.R, below)
    add_to_node(out, par.N, lift)
    reel, moment = reel + own.lift * means / par.N, add(moment, lifted)
    if len(at.speeds) > 1:
        return Push(reel, far - own.lift * means / par.N, moment)
    entrance, drum = guide + node(q, 0)[2], 2.0 * par.d
    add_to_node(out, 0, (0.0, 0.0, -own.lift * s * wet_part(entrance, drum)))
    return Push(reel - own.lift * wet_depth(entrance, drum), far, moment)
