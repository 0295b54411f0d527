"""Impulses of loads that resist motion, at given velocities (docs/theory.md, equations 71 to 73)."""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.along import load, nodes_from, previous_nodes, put_nodes, spread, total, width
from tautline.kernels.compensated import accumulate_node, accumulate_nodes
from tautline.kernels.data import Array, Parameters, Scratch, node
from tautline.kernels.fixed import hold_first_node
from tautline.kernels.jit import kernel
from tautline.kernels.loads.acting import Instant, Speeds, by_speeds
from tautline.kernels.loads.drag import BodyResistance
from tautline.kernels.so3 import ZERO, Matrix, Vector, add, add_scaled, apply, apply_transposed, cross, dot, scale, sub


class Given(NamedTuple):
    """Impulses of loads at a step boundary, over the time for which they act."""

    force: Vector  # all of them together, with what the guide takes at node 0
    reel: float  # on s
    far: float  # on the feed at the stop of a span
    moment: Vector
    lost: float  # power that goes into the string
    from_fluid: float
    first: Vector  # impulse of what resists on node 0, which the guide takes


class OfFlow(NamedTuple):
    """Impulses of a fluid on what stands still."""

    first: Vector  # on node 0, which the guide takes
    reel: float


@kernel
def drag_of_flow(par: Parameters, tau: float, frame: Vector, v: Array, scratch: Scratch, out: Array) -> OfFlow:
    """Add to momenta what the fluid would give to nodes that stand still; what it would give to node 0 and reel.

    By its flow, and by what of it moved with the string in the step before, at velocities v relative to a guide that
    is faster by `frame` now.
    """
    directions, flows, rows = scratch.nodes[data.DIRECTION], scratch.nodes[data.FLOW], scratch.factor
    nothing = spread(out, 0.0)
    shift = (spread(out, frame[0]), spread(out, frame[1]), spread(out, frame[2]))
    before = (nothing, nothing, nothing)
    reel = nothing
    for e in range(0, par.N + 1, width(out)):
        t, flow = nodes_from(directions, e), nodes_from(flows, e)
        across, along, added = load(rows[data.ACROSS], e), load(rows[data.ALONG], e), load(rows[data.ADDED], e)
        flow_along = dot(t, flow)
        last = sub(scale(0.5, add(nodes_from(v, e), nodes_from(v, e + 1))), shift)
        towards = add_scaled(scale(across, flow), added, last)
        half = scale(0.5 * tau, add_scaled(towards, along * flow_along - dot(t, towards), t))
        reel += along * flow_along * load(rows[data.PASSING], e)
        put_nodes(out, e, add(nodes_from(out, e), add(half, previous_nodes(out, before, half))))
        before = half
    first = node(out, 0)
    hold_first_node(out)
    return OfFlow(first, tau * total(out, reel))


@kernel
def pull_of_damping(par: Parameters, sigma: float, scratch: Scratch) -> float:
    """Tension that damping adds to that of the last element, at the velocities in MEAN_VELOCITY."""
    v, rows, e = scratch.nodes[data.MEAN_VELOCITY], scratch.factor, par.N - 1
    apart = dot(node(scratch.nodes[data.DIRECTION], e), sub(node(v, par.N), node(v, e)))
    return rows[data.VISCOUS][e] * (apart + sigma * rows[data.BY_REEL][e])  # type: ignore[no-any-return]


@kernel
def drag_on_body(par: Parameters, body: BodyResistance, scratch: Scratch) -> float:
    """Size of the drag on a body that moves as its attachment does, at the velocities in MEAN_VELOCITY."""
    u = sub(node(scratch.nodes[data.MEAN_VELOCITY], par.N), body.flow)
    return body.drag * math.sqrt(dot(u, u))


class GivenToBody(NamedTuple):
    """Force, moment and power of a fluid on a body."""

    force: Vector
    moment: Vector  # about the point of the body that its frame is at, body frame
    power: float


@kernel
def resist_body(body: BodyResistance, R: Matrix, v: Vector, omega: Vector) -> GivenToBody:
    """Resistance to a body that moves with v and turns with omega."""
    swing = add(v, apply(R, cross(omega, body.center)))
    dragged = scale(-body.drag, sub(swing, body.flow))
    moved = add(v, apply(R, cross(omega, body.place)))
    held_back = scale(-body.inertia, sub(moved, body.last))
    moment = add_scaled(cross(body.center, apply_transposed(R, dragged)), -body.spin, omega)
    moment = add(moment, cross(body.place, apply_transposed(R, held_back)))
    power = dot(dragged, swing) + dot(held_back, moved) - body.spin * dot(omega, omega)
    return GivenToBody(add(dragged, held_back), moment, power)


@kernel
def resist(
    par: Parameters,
    tau: float,
    fluid: bool,
    speeds: Speeds,
    omega: Vector,
    body: BodyResistance,
    at: Instant,
    frame: Vector,
    last: Array,
    scratch: Scratch,
    p: Array,
    err: Array,
) -> Given:
    """Add to momenta p what resistances give in the time tau at the velocities in MEAN_VELOCITY.

    `speeds` are those of the feeds, `last` the velocities of the step before, relative to a guide that is faster by
    `frame` now.
    """
    v, directions, flows = scratch.nodes[data.MEAN_VELOCITY], scratch.nodes[data.DIRECTION], scratch.nodes[data.FLOW]
    rows = scratch.factor
    nothing = spread(p, 0.0)
    before = (nothing, nothing, nothing)
    drag = before
    force = before
    shift = (spread(p, frame[0]), spread(p, frame[1]), spread(p, frame[2]))
    lost, gained, reel, far = nothing, nothing, nothing, nothing
    for e in range(0, par.N + 1, width(p)):
        t, v0, v1 = nodes_from(directions, e), nodes_from(v, e), nodes_from(v, e + 1)
        apart = dot(t, sub(v1, v0)) + by_speeds(rows, data.BY_REEL, data.BY_FAR, speeds, e)
        pull = load(rows[data.VISCOUS], e) * apart
        lost += pull * apart
        reel -= pull * load(rows[data.BY_REEL], e)
        if len(speeds) > 1:
            far -= pull * load(rows[data.BY_FAR], e)
        if fluid:
            across, along = load(rows[data.ACROSS], e), load(rows[data.ALONG], e)
            middle = scale(0.5, add(v0, v1))
            material = add_scaled(middle, by_speeds(rows, data.PASSING, data.PASSING_FAR, speeds, e), t)
            u = sub(material, nodes_from(flows, e))
            u_along = dot(t, u)
            change = add(sub(middle, scale(0.5, add(nodes_from(last, e), nodes_from(last, e + 1)))), shift)
            slowed = add_scaled(scale(across, u), load(rows[data.ADDED], e), change)
            drag = sub(scale(dot(t, slowed) - along * u_along, t), slowed)
            force = add(force, drag)
            gained += dot(drag, material)
            reel -= along * u_along * load(rows[data.PASSING], e)
            if len(speeds) > 1:
                far -= along * u_along * load(rows[data.PASSING_FAR], e)
        left = add_scaled(scale(0.5, drag), pull, t)
        right = add_scaled(scale(0.5, drag), -pull, t)
        accumulate_nodes(p, err, e, scale(tau, add(left, previous_nodes(p, before, right))), par.compensated)
        before = right
    first = node(p, 0)
    hold_first_node(p)
    hold_first_node(err)
    if not fluid:
        return Given(ZERO, total(p, reel), total(p, far), ZERO, total(p, lost), 0.0, first)
    on_string = (total(p, force[0]), total(p, force[1]), total(p, force[2]))
    on_body = resist_body(body, at.R, node(v, par.N), omega)
    accumulate_node(p, err, par.N, scale(tau, on_body.force), par.compensated)
    all_force = add(on_string, on_body.force)
    work = total(p, gained) + on_body.power + dot(all_force, at.frame)
    return Given(all_force, total(p, reel), total(p, far), on_body.moment, total(p, lost), work, first)
