"""Chains: systems with one line from a fixed or moving point to one free body, and `pendulum`, which makes them.

A chain is described by a `Pendulum` (model/chain/chain.py), which the chain kernels take.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from tautline.model import checks
from tautline.model.body import RigidBody
from tautline.model.chain.chain import Chain
from tautline.model.chain.state import ChainState
from tautline.model.checks import ZERO
from tautline.model.description import changed, fields_of, unchecked
from tautline.model.fluid import AppliedForce, BodyInFluid, Fluid
from tautline.model.kinds import AUTO
from tautline.model.motions import Sine, Sines, Waves
from tautline.model.path import GuideMotion, GuidePath
from tautline.model.reel import Reel
from tautline.model.string import String
from tautline.model.system.parts import ANCHOR, BODY, GUIDE, LINE, Kinematic, Line
from tautline.model.system.state import BodyState, LineState, State, floats
from tautline.model.system.system import System


def pendulum(
    string: String,
    reel: Reel,
    body: RigidBody,
    *,
    gravity: Any = 9.81,
    fluid: Fluid | None = None,
    applied_force: AppliedForce | None = None,
    guide: GuideMotion | None = None,
    elements: int | str = AUTO,
) -> System:
    """System of one line, called "line", on a reel at the origin, with one body at its end, called "body".

    Parameters
    ----------
    string : String
        The string, all of it, spooled and deployed.
    reel : Reel
        Drum and guide; the guide is at `Reel.guide_position`.
    body : RigidBody
        The string is fastened to the origin of its frame.
    gravity : float
        Along the third axis, which points down (m/s^2).
    fluid : Fluid, optional
        Air or water around line and body, and how the body feels it.
    applied_force : AppliedForce, optional
        Force and moment on the body over time.
    guide : GuidePath, Sine, Sines or Waves, optional
        Path of a guide that moves: a kinematic body called "guide" carries the reel.
    elements : int or "auto"
        Elements of the line; "auto" takes as many as the case needs.
    """
    if guide is not None:
        checks.instance("guide", guide, GuidePath, Sine, Sines, Waves)
        reel = dataclasses.replace(reel, guide_path=guide)
    return system_of(Chain(string, reel, body, gravity, fluid, applied_force), elements)


def system_of(chain: Chain, elements: int | str = AUTO) -> System:
    """A chain as a system."""
    place, path = chain.reel.guide_position, chain.reel.guide_path
    reel = dataclasses.replace(chain.reel, guide_position=ZERO, guide_path=None)
    start = {"start": ANCHOR, "start_point": place} if path is None else {"start": GUIDE}
    line = Line(chain.string, **start, end=BODY, reel=reel, elements=elements)
    bodies: dict[str, RigidBody | Kinematic] = {} if path is None else {GUIDE: Kinematic(path, place)}
    fluid, body_fluid = _parted(chain)
    force = chain.applied_force
    if force is not None and chain.body.is_point:
        force = AppliedForce(force.force)
    forces = {} if force is None else {BODY: force}
    return System(bodies | {BODY: chain.body}, {LINE: line}, chain.gravity, None, fluid, body_fluid, forces)


def placed_system(chain: Chain, state: ChainState) -> tuple[System, State]:
    """The system of a chain with the mesh of a state, and its state in inertial coordinates."""
    system = system_of(chain, state.elements)
    return system, system_state(system, state)


def _parted(chain: Chain) -> tuple[Fluid | None, dict[str, BodyInFluid]]:
    """The fluid alone, and how the body feels it; a point mass has no levers."""
    fluid = chain.fluid
    if fluid is None:
        return None, {}
    names = fields_of(BodyInFluid)
    own = BodyInFluid(**{name: getattr(fluid, name) for name in names})
    if chain.body.is_point:
        own = dataclasses.replace(own, drag_center=None, buoyancy_center=None, spin_damping=0.0)
    return fluid.around(BodyInFluid()), {} if own == BodyInFluid() else {BODY: own}


def why_no_chain(system: System) -> str:
    """Why the chain kernels cannot run a system; empty if they can."""
    free = [name for name, body in system.bodies.items() if isinstance(body, RigidBody)]
    if len(system.lines) != 1 or len(free) != 1:
        return "more than one line or free body"
    line = next(iter(system.lines.values()))
    if line.end != free[0] or any(line.end_point):
        return "a line that is not fastened by its end to the origin of the body's frame"
    if any(name != line.start for name in system.bodies if name not in free):
        return "a kinematic body that carries nothing"
    if line.reel is None:
        return "a line without a reel"
    return "an orbit" if system.orbit is not None else ""


def chain_of(system: System) -> Chain:
    """A system as the chain that it is; `why_no_chain` must be empty. Numbers may be columns."""
    line = next(iter(system.lines.values()))
    body, carrier = system.bodies[line.end], system.bodies.get(line.start)
    place: tuple[Any, ...] = line.start_point
    path = None
    if isinstance(carrier, Kinematic):
        place, path = tuple(x + y for x, y in zip(place, carrier.position, strict=True)), carrier.path
    assert line.reel is not None and isinstance(body, RigidBody)
    fluid = system.fluid
    if fluid is not None and line.end in system.body_fluid:
        fluid = fluid.around(system.body_fluid[line.end])
    return unchecked(
        Chain,
        string=line.string,
        reel=changed(line.reel, guide_position=place, guide_path=path),
        body=body,
        gravity=system.gravity,
        fluid=fluid,
        applied_force=system.applied_forces.get(line.end),
    )


def guide_at(chain: Chain, time: float) -> tuple[Any, Any]:
    """Position and velocity of the guide at a time (m, m/s), inertial frame."""
    place, path = np.array(chain.reel.guide_position), chain.reel.guide_path
    if path is None:
        return place, np.zeros(3)
    displacement, velocity = (x[0] for x in path.at(time)[:2])
    return place + displacement, velocity


def guide_at_start(chain: Chain) -> tuple[Any, Any]:
    """Position and velocity of the guide at time 0 (m, m/s), inertial frame."""
    return guide_at(chain, 0.0)


def system_state(system: System, state: ChainState, guide: tuple[Any, Any] | None = None) -> State:
    """State of a chain as one of its system, in inertial coordinates; `guide`: its place and velocity, now."""
    place, velocity = guide_at_start(chain_of(system)) if guide is None else guide
    name, line = next(iter(system.lines.items()))
    body = system.bodies[line.end]
    assert isinstance(body, RigidBody)
    nodes, velocities = state.nodes + place, state.node_velocities + velocity
    R, c = np.array(state.attitude), np.array(body.center_of_mass)
    center, moving = nodes[-1] + R @ c, velocities[-1] + R @ np.cross(state.angular_velocity, c)
    bodies = {line.end: BodyState(floats(center), floats(moving), R, floats(state.angular_velocity))}
    if line.start in system.bodies:
        start = np.array(line.start_point)
        bodies = {line.start: BodyState(floats(place - start), floats(velocity))} | bodies
    found = LineState(nodes, velocities, float(state.reeled_length), float(state.reel_speed))
    return State({known: bodies[known] for known in system.bodies}, {name: found})


def chain_state(state: State, end: str = BODY) -> ChainState:
    """State of a system that is a chain, with nodes relative to its guide; `end` is the name of its body."""
    own, body = next(iter(state.lines.values())), state.bodies[end]
    return unchecked(
        ChainState,
        reeled_length=own.reeled_length,
        reel_speed=own.reel_speed,
        nodes=own.nodes - own.nodes[0],
        node_velocities=own.node_velocities - own.node_velocities[0],
        attitude=np.array(body.attitude),
        angular_velocity=np.array(body.angular_velocity),
    )
