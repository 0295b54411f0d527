"""One line and one body at rest: straight down, or straight up where the fluid lifts it, and under all loads."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.model import checks
from tautline.model.chain.chain import Chain
from tautline.model.chain.state import ChainState, straight
from tautline.model.chain.systems import chain_state, guide_at_start, placed_system
from tautline.model.checks import ZERO
from tautline.model.rest.states import rest
from tautline.model.rotations import E3, least_rotation


def hanging(
    pendulum: Chain,
    deployed: float,
    elements: int | None = None,
    *,
    end_velocity: Any = ZERO,
    angular_velocity: Any = ZERO,
) -> ChainState:
    """The string hangs at rest under its own weight and the body's, the center of mass below the attachment.

    Where buoyancy is more than the weight, the string stands straight up; where a float cannot lift all of its string,
    and at a free surface, it is as `at_rest` finds it. Linear elements meet the continuous solution at their nodes, for
    any number of elements. Flow and applied force are left out.

    Parameters
    ----------
    pendulum : Chain
    deployed : float
        Unstretched length outside the guide (m).
    elements : int, optional
        N; by default as many as `tautline.model.elements.default_elements` takes for the case.
    end_velocity, angular_velocity : three floats
        A push to start with, of the last node (m/s) and of the body (rad/s).
    """
    state = straight(pendulum, deployed, elements, end_velocity=end_velocity, angular_velocity=angular_velocity)
    net, x = pendulum.weights(), state.nodes[:, 2]
    if not hangs_straight(pendulum, float(x[-1])):
        found = at_rest(_without_flow(pendulum), float(x[-1]), state.elements)
        return replace(found, node_velocities=state.node_velocities, angular_velocity=state.angular_velocity)
    way = -1.0 if min(net.body, guide_pull(pendulum, float(x[-1]))) < 0.0 else 1.0  # down, or up
    nodes = np.zeros_like(state.nodes)
    nodes[:, 2] = hung_depths(pendulum, x, way)
    if not np.isfinite(nodes).all():
        checks.refuse("deployed", "a length at which the elongation is finite", deployed)
    return ChainState(
        state.reeled_length, 0.0, nodes, state.node_velocities, resting_attitude(pendulum, way), state.angular_velocity
    )


def hung_depths(pendulum: Chain, x: Any, way: float) -> Any:
    """Depths of the nodes of a string that hangs straight down (way 1) or stands up (way -1), from unstretched ones."""
    string, net = pendulum.string, pendulum.weights()
    body, line = way * net.body, way * net.string
    if string.law == "linear":
        return way * (x + ((body + line * x[-1]) * x - 0.5 * line * x**2) / string.stiffness)
    tension = np.maximum(body + line * (x[-1] - 0.5 * (x[1:] + x[:-1])), 0.0)  # in the middle of the elements
    return way * np.concatenate([0.0 * x[:1], np.cumsum(np.diff(x) * (1.0 + string.strain(tension)))])


def at_rest(pendulum: Chain, deployed: float, elements: int | None = None) -> ChainState:
    """State of rest under all loads at time 0: weight, buoyancy, flow past the guide and applied force."""
    near = near_rest(pendulum, pendulum.checked_length(deployed), elements)
    system, near_by = placed_system(pendulum, near)
    return chain_state(system, rest(system, near_by))


def near_rest(pendulum: Chain, deployed: float, elements: int | None = None) -> ChainState:
    """Where the search for rest begins: hanging in the fluid of the guide; straight down where the string will fold."""
    fluid = pendulum.fluid
    if fluid is not None and fluid.surface is not None:
        everywhere = replace(fluid, surface=None, density_above=0.0, body_height=None)
        pendulum = replace(pendulum, fluid=everywhere if pendulum.reel.guide_position[2] > fluid.surface else None)
    if hangs_straight(pendulum, deployed):
        return hanging(pendulum, deployed, elements)
    return straight(pendulum, deployed, elements, attitude=resting_attitude(pendulum, 1.0))


def hangs_straight(pendulum: Chain, deployed: float) -> bool:
    """Whether all is in one fluid, and weight or lift pull the deployed string one way."""
    if pendulum.fluid is not None and pendulum.fluid.surface is not None:
        return False
    return pendulum.weights().body * guide_pull(pendulum, deployed) >= 0.0


def _without_flow(pendulum: Chain) -> Chain:
    """The chain in a still fluid, on a guide that stands where it is at time 0."""
    fluid = None if pendulum.fluid is None else replace(pendulum.fluid, flow=ZERO, unsteady=None)
    place, _ = guide_at_start(pendulum)
    reel = replace(pendulum.reel, guide_position=tuple(place.tolist()), guide_path=None)
    return replace(pendulum, reel=reel, fluid=fluid, applied_force=None)


def guide_pull(pendulum: Chain, deployed: float) -> float:
    """Downward pull of string and body at the guide entrance, buoyancy taken off (N)."""
    net = pendulum.weights()
    return net.body + net.string * deployed


def resting_attitude(pendulum: Chain, way: float) -> Array:
    """The body with its heavier end down; where weight does not turn it, along the string."""
    moment = np.array(pendulum.weights().moment)
    if moment.any():
        return least_rotation(moment, E3)
    return least_rotation(np.array(pendulum.body.center_of_mass), way * E3)
