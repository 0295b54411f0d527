"""Start and command of the only line of a case, as the chain backend takes them beside its chain (systems.py)."""

from __future__ import annotations

import numpy as np

from tautline.model.chain.hanging import hanging
from tautline.model.chain.state import ChainState
from tautline.model.chain.systems import chain_of, chain_state
from tautline.model.command import Command, Locked
from tautline.model.description import changed
from tautline.model.system.case import Case
from tautline.model.system.starts import Hanging, Straight, deployed_lengths
from tautline.model.system.straight_lines import straight_nodes


def chain_start(case: Case) -> ChainState:
    """The state in which the chain of a case starts, checked with the case; relative to a guide anywhere as exactly."""
    state, start = case.state(), case.start
    name = next(iter(case.system.lines))
    if not isinstance(start, Straight | Hanging) or (isinstance(start, Hanging) and start.reel_speed != 0.0):
        return chain_state(case.system, state)
    elements = state.elements()[name]
    if isinstance(start, Straight):
        nodes = straight_nodes(start.deployed, elements, np.array(start.along()))
        velocities = np.zeros_like(nodes)
        velocities[-1] = start.end_velocity
        return changed(chain_state(case.system, state), nodes=nodes, node_velocities=velocities)
    deployed = deployed_lengths(case.system, start.deployed)[name]
    motion = {"end_velocity": start.end_velocity, "angular_velocity": start.angular_velocity}
    return hanging(chain_of(case.system), deployed, elements, **motion)


def chain_command(case: Case) -> Command:
    """The command of the only reel."""
    found: Command = case.commands.get(next(iter(case.system.lines)), Locked())
    return found
