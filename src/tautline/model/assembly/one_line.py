"""The pendulum as an assembly of one line and one body, and its states."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tautline.model.assembly.assembly import Assembly
from tautline.model.assembly.parts import ANCHOR, Held, Line
from tautline.model.assembly.state import AssemblyState, BodyState, LineState
from tautline.model.body import RigidBody
from tautline.model.checks import ZERO
from tautline.model.description import fields_of
from tautline.model.fluid import AppliedForce, BodyInFluid, Fluid
from tautline.model.pendulum import Pendulum
from tautline.model.state import State

# Names of the parts.
LINE, BODY, GUIDE = "line", "body", "guide"


def as_assembly(pendulum: Pendulum, elements: int) -> Assembly:
    """The assembly of a pendulum: its guide is an anchor, or a body on the guide's path."""
    path = pendulum.reel.guide_path
    line = Line(
        pendulum.string,
        start=ANCHOR if path is None else GUIDE,
        start_point=pendulum.reel.guide_position if path is None else ZERO,
        end=BODY,
        reel=replace(pendulum.reel, guide_position=ZERO, guide_path=None),
        elements=elements,
    )
    bodies: dict[str, RigidBody | Held] = {} if path is None else {GUIDE: Held(path)}
    bodies[BODY] = pendulum.body
    fluid, own = fluids_of(pendulum)
    push = pendulum.applied_force
    if push is not None and pendulum.body.is_point:
        push = AppliedForce(push.force)
    return Assembly(
        bodies,
        {LINE: line},
        gravity=pendulum.gravity,
        fluid=fluid,
        in_fluid={} if own is None else {BODY: own},
        applied_forces={} if push is None else {BODY: push},
    )


def fluids_of(pendulum: Pendulum) -> tuple[Fluid | None, BodyInFluid | None]:
    """The fluid around a pendulum, and how its body feels it."""
    fluid = pendulum.fluid
    if fluid is None:
        return None, None
    names = fields_of(BodyInFluid)
    own = BodyInFluid(**{name: getattr(fluid, name) for name in names})
    if pendulum.body.is_point:
        own = replace(own, drag_center=None, buoyancy_center=None, spin_damping=0.0)
    plain = fields_of(Fluid)
    return replace(fluid, **{name: plain[name].default for name in names}), own


def as_assembly_state(pendulum: Pendulum, state: State) -> AssemblyState:
    """A state of a pendulum in inertial coordinates, at time 0."""
    place, along = np.array(pendulum.reel.guide_position, dtype=float), np.zeros(3)
    if pendulum.reel.guide_path is not None:
        (displacement,), (along,) = pendulum.reel.guide_path.at(0.0)
        place = place + displacement
    R, rho = np.array(state.attitude), np.array(pendulum.body.center_of_mass)
    nodes, velocities = state.nodes + place, state.node_velocities + along
    swing = R @ np.cross(state.angular_velocity, rho)
    body = BodyState(
        tuple((nodes[-1] + R @ rho).tolist()), tuple((velocities[-1] + swing).tolist()), R, state.angular_velocity
    )
    bodies = {BODY: body}
    if pendulum.reel.guide_path is not None:
        bodies = {GUIDE: BodyState(tuple(place.tolist()), tuple(along.tolist())), BODY: body}
    return AssemblyState(bodies, {LINE: LineState(nodes, velocities, state.reeled_length, state.reel_speed)})


def as_pendulum_state(state: AssemblyState) -> State:
    """A state of a pendulum from that of its assembly."""
    line, body = state.lines[LINE], state.bodies[BODY]
    return State(
        line.reeled_length,
        line.reel_speed,
        line.nodes - line.nodes[0],
        line.node_velocities - line.node_velocities[0],
        body.attitude,
        body.angular_velocity,
    )
