"""Systems as chains, and back: one line from a fixed or moving point to one free body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tautline.model.body import RigidBody
from tautline.model.chain.chain import Chain
from tautline.model.chain.state import ChainState
from tautline.model.description import changed, unchecked
from tautline.model.directional import is_directional
from tautline.model.kinds import AUTO
from tautline.model.stacking import stacked
from tautline.model.system.parts import Kinematic, Line
from tautline.model.system.pendulum import pendulum
from tautline.model.system.state import BodyState, LineState, State
from tautline.model.system.straight_lines import floats
from tautline.model.system.system import System


def system_of(chain: Chain, elements: int | str = AUTO) -> System:
    """A chain as a system."""
    loads: Any = {"fluid": chain.fluid, "applied_force": chain.applied_force}
    return pendulum(chain.string, chain.reel, chain.body, gravity=chain.gravity, elements=elements, **loads)


def placed_system(chain: Chain, state: ChainState) -> tuple[System, State]:
    """The system of a chain with the mesh of a state, and its state in inertial coordinates."""
    system = system_of(chain, state.elements)
    return system, system_state(system, state)


def _line(system: System) -> Line:
    return next(iter(system.lines.values()))


# What the chain kernels have no place for, and how a system shows it; each is asked where none before it is so.
NOT_A_CHAIN: dict[str, Callable[[System], bool]] = {
    "more than one line or free body": lambda system: len(system.lines) != 1 or len(system.free_bodies) != 1,
    "a line that is not fastened by its end to the origin of the body's frame": lambda system: (
        not system.is_free(_line(system).end) or any(_line(system).end_point)
    ),
    "a kinematic body that carries nothing": lambda system: any(
        isinstance(body, Kinematic) and name != _line(system).start for name, body in system.bodies.items()
    ),
    "a kinematic body that turns, or is turned": lambda system: any(
        isinstance(body, Kinematic) and body.is_turned for body in system.bodies.values()
    ),
    "a line without a reel": lambda system: _line(system).reel is None,
    "an orbit": lambda system: system.orbit is not None,
    "a body whose drag, added mass or lift has a direction": lambda system: any(
        map(is_directional, system.body_fluid.values())
    ),
    "sheaves and pins, a reel at the end of a line, reels on a shaft": lambda system: system.is_reeved,
}


def why_no_chain(system: System) -> str:
    """Why the chain kernels cannot run a system; empty if they can."""
    return next((reason for reason, shows in NOT_A_CHAIN.items() if shows(system)), "")


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


def guide_at(chain: Chain, time: Any) -> tuple[Any, Any]:
    """Position and velocity of the guide at a time (m, m/s), inertial frame; numbers may carry derivatives."""
    place, path = stacked(chain.reel.guide_position), chain.reel.guide_path
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


def chain_state(system: System, state: State, guide: tuple[Any, Any] | None = None) -> ChainState:
    """State of a system that is a chain, relative to its guide, whose place and velocity are those at time 0 or given.

    The ends of the line are where guide and body are. Numbers may carry derivatives.
    """
    name, line = next(iter(system.lines.items()))
    own, moving, body = state.lines[name], state.bodies[line.end], system.bodies[line.end]
    assert isinstance(body, RigidBody)
    R, spin, c = stacked(moving.attitude), stacked(moving.angular_velocity), stacked(body.center_of_mass)
    ends = stacked(moving.position) - R @ c, stacked(moving.velocity) - R @ np.cross(spin, c)
    nodes, velocities = (
        np.concatenate([np.zeros((1, 3)), x[1:-1] - at, (end - at)[None]])
        for x, end, at in zip(
            (own.nodes, own.node_velocities), ends, guide or guide_at_start(chain_of(system)), strict=True
        )
    )
    return unchecked(
        ChainState,
        reeled_length=own.reeled_length,
        reel_speed=own.reel_speed,
        nodes=nodes,
        node_velocities=velocities,
        attitude=R,
        angular_velocity=spin,
    )
