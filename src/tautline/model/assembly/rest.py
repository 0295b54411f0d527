"""States of rest of an assembly."""

from __future__ import annotations

import numpy as np

from tautline.errors import InputError
from tautline.model import checks
from tautline.model.assembly.assembly import System
from tautline.model.assembly.state import AssemblyState, BodyState, LineState
from tautline.model.body import RigidBody
from tautline.model.loads import interpolated
from tautline.model.network import Network, NetworkBody, NetworkLine, Places
from tautline.model.network_rest import find_rest


def rest(assembly: System, start: AssemblyState) -> AssemblyState:
    """State of rest near a start: all forces on bodies and lines balance, and drums are locked.

    Weight, buoyancy, also below a free surface, drag of a steady flow and applied forces are counted; a force that
    changes has its value of time 0. Bodies that are `Kinematic` stand still where they start.

    The largest force that is left is 1e-9 of the largest weight, load or tension. Rounding of the coordinates comes on
    top of it: about 2e-16 EA times their size over the length of an element.

    Parameters
    ----------
    assembly : System
        In uniform gravity.
    start : AssemblyState
        Where to look from, as `hang` makes it; its deployed lengths stay.

    Raises
    ------
    EquilibriumError
        When none is found; the message says which force is left.
    """
    network, places = network_of(assembly, start)
    found = find_rest(network, places).places
    return _state(assembly, start, network, found)


def network_of(assembly: System, state: AssemblyState) -> tuple[Network, Places]:
    """The assembly as a network with the deployed lengths of a state, and its places."""
    checks.instance("assembly", assembly, System, hint="; tl.equilibrium finds how a pendulum hangs")
    checks.instance("start", state, AssemblyState)
    if assembly.orbit is not None:
        raise InputError("assembly: expected one in uniform gravity, got one in an orbit, where rest is a motion")
    names = free_bodies(assembly)
    bodies = [_body(assembly, name) for name in names]
    lines = []
    for name, line in assembly.lines.items():
        reeled = state.lines[name].reeled_length
        numbers = [names.index(end) if end in names else -1 for end in line.ends]
        points = [
            np.array(point) if b < 0 else bodies[b].seen_from_center(point)
            for b, point in zip(numbers, line.points, strict=True)
        ]
        spooled = 0.0 if line.reel is None else reeled
        lines.append(
            NetworkLine(
                line.string,
                line.string.length - reeled,
                len(state.lines[name].nodes) - 1,
                (numbers[0], numbers[1]),
                (points[0], points[1]),
                spooled,
            )
        )
    places = Places(
        np.array([state.bodies[name].position for name in names], dtype=float).reshape(-1, 3),
        np.array([state.bodies[name].attitude for name in names], dtype=float).reshape(-1, 3, 3),
        np.concatenate([state.lines[name].nodes for name in assembly.lines]),
    )
    return Network(bodies, lines, float(assembly.gravity or 0.0), assembly.fluid), places


def free_bodies(assembly: System) -> list[str]:
    """Names of the bodies that move freely, in order."""
    return [name for name, body in assembly.bodies.items() if isinstance(body, RigidBody)]


def _body(assembly: System, name: str) -> NetworkBody:
    body = assembly.bodies[name]
    assert isinstance(body, RigidBody)
    own = NetworkBody(body, assembly.body_fluid.get(name))
    applied = assembly.applied_forces.get(name)
    if applied is None:
        return own
    force, moment = (interpolated(table, 0.0) for table in (applied.force, applied.moment))
    return own._replace(force=force, moment=moment, point=own.seen_from_center(applied.point))


def _state(assembly: System, start: AssemblyState, network: Network, places: Places) -> AssemblyState:
    bodies = {name: BodyState(x.position, attitude=x.attitude) for name, x in start.bodies.items()}
    for b, name in enumerate(free_bodies(assembly)):
        bodies[name] = BodyState(tuple(places.centers[b].tolist()), attitude=places.attitudes[b])
    nodes = np.split(places.nodes, network.first_node[1:])
    lines = {
        name: LineState(own, np.zeros_like(own), start.lines[name].reeled_length, 0.0)
        for name, own in zip(assembly.lines, nodes, strict=True)
    }
    return AssemblyState(bodies, lines)
