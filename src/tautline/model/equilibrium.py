"""States of rest under loads that are given: flow, applied force, and any other load."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tautline.errors import EquilibriumError
from tautline.model import checks, statics
from tautline.model.assembly.rest import network_of
from tautline.model.balance import Solver
from tautline.model.chain import placed_system
from tautline.model.hanging import hanging, resting_attitude
from tautline.model.loads import all_of, own_loads, refuse_twice
from tautline.model.network_rest import find_rest
from tautline.model.pendulum import Chain
from tautline.model.state import ChainState, straight
from tautline.model.statics import E3, Array, Configuration, Load


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A state of rest and what holds it.

    Attributes
    ----------
    state : State
        To start a run from, or to linearise about.
    tension : N floats
        Of the elements (N).
    strain : N floats
        Of the elements.
    guide_tension : float
        At the guide entrance (N).
    body_tension : float
        At the body (N); what a given load puts on the last node counts as the body's.
    holding_torque : float
        Of the drum with its layers, against string and spooled string's weight (N m).
    energy : float
        Potential energy of string, reel and body (J), as a run that starts here has it; the load's is not in it.
    residual : float
        Largest unbalanced force on a node (N).
    residual_moment : float
        Unbalanced moment on the body (N m).
    iterations : int
        Newton corrections, those of parts of the load included.
    load_forces : (N + 1) x 3 floats
        Of all that is neither weight nor buoyancy, at the nodes (N); buoyancy below a surface is in it.
    load_moment : three floats
        Likewise, about the attachment point, in the body frame (N m).
    load : function or None
        What gave them: the loads of the pendulum and the given one.
    given : function or None
        The given load alone.
    time : float
        When (s).
    acceleration : bool
        Whether the guide's acceleration was balanced.
    counted : dict of name to three floats
        Sums of the forces that were counted, on string and body together (N): "weight", "buoyancy", "drag",
        "applied_force", "acceleration" and "load", as far as they are there. The guide holds against all of them.
    message : str
        The outcome in a sentence.
    """

    state: ChainState
    tension: Array
    strain: Array
    guide_tension: float
    body_tension: float
    holding_torque: float
    energy: float
    residual: float
    residual_moment: float
    iterations: int
    load_forces: Array
    load_moment: Array
    load: Load | None
    counted: dict[str, Array]
    message: str
    given: Load | None = None
    time: float = 0.0
    acceleration: bool = False


def equilibrium(
    pendulum: Chain,
    deployed: float,
    elements: int | None = None,
    *,
    load: Load | None = None,
    time: float = 0.0,
    acceleration: bool = False,
) -> Equilibrium:
    """Where the pendulum stays at rest with the reel locked.

    Weight, buoyancy, the drag of `Pendulum.fluid` and `Pendulum.applied_force` are counted by themselves. At rest means
    relative to the guide: where that moves, drag is that of the flow past it. Without any load the state is `hanging`.
    With one, Newton's method is applied to the pulls in the elements and to the
    attitude; where it does not get there at once, the load is raised from zero in parts, smaller ones where needed.
    Where that fails too, steps that lower the energy are taken, as `rest` takes them. The work is bounded.

    Parameters
    ----------
    pendulum : Chain
    deployed : float
        Unstretched length outside the guide (m).
    elements : int, optional
        N; by default as many as `tautline.model.elements.default_elements` takes for the case.
    load : function, optional
        A further load, beside those of the pendulum; one that is the pendulum's own once more is refused.
        `load(nodes, attitude)` takes (N + 1) x 3 positions relative to the guide entrance (m) and the rotation matrix
        of the body, and returns (N + 1) x 3 forces on the nodes (N, inertial frame) and the moment on the body about
        the attachment point (N m, body frame). What it puts on a node may depend on that node, its neighbours and the
        attitude.
    time : float
        When (s): a push that changes has its value of then, and a guide on a path its place and velocity, as if both
        lasted.
    acceleration : bool
        Balance also the inertial force of the guide's acceleration at that time, as if it lasted. Without it the
        guide is taken to go on at its velocity, which is how a run should begin.

    Raises
    ------
    EquilibriumError
        When none is found; the message says how much of the load could be balanced.
    """
    now = checks.number("time", time)
    checks.instance("acceleration", acceleration, bool)
    checks.instance("pendulum", pendulum, Chain, hint="; tl.rest finds how an assembly hangs")
    checks.function("load", load)
    deployed = pendulum.checked_length(deployed)
    reeled = straight(pendulum, deployed, elements).reeled_length
    own = own_loads(pendulum, reeled, now, acceleration)
    everything = own if load is None else {**own, "load": load}
    state = start_of(pendulum, deployed, elements)
    start = Configuration(reeled, np.array(state.nodes), np.array(state.attitude))
    if load is not None:
        refuse_twice(pendulum, load, own, start)
    total = all_of(everything)
    solver = Solver(pendulum, state, total)
    try:
        found, iterations = solver.solve()
    except EquilibriumError:
        if load is not None or acceleration:
            raise
        try:
            nodes, attitude, iterations = _by_energy(pendulum, state, now)
        except EquilibriumError:
            nodes = None
        if nodes is None:
            raise
        found = solver.placed(nodes, attitude)
    x = Configuration(reeled, found.q, found.R)
    at_nodes, moment = statics.forces(pendulum, x)
    residual = float(np.linalg.norm(at_nodes + found.load_forces[1:], axis=1).max())
    residual_moment = 0.0 if pendulum.body.is_point else float(np.linalg.norm(moment + found.load_moment))
    tension = np.linalg.norm(found.f, axis=1)
    counted = _counted(pendulum, x, everything)
    guide_tension = float(np.linalg.norm(np.sum(list(counted.values()), axis=0)))
    guide_strain = float(pendulum.string.strain(guide_tension))
    others = [name for name in counted if name != "load"]
    beside = f"; the given load is counted beside {', '.join(others)}" if load is not None else ""
    return Equilibrium(
        state=ChainState(reeled, 0.0, found.q, np.zeros_like(found.q), found.R),
        tension=tension,
        strain=pendulum.string.strain(tension),
        guide_tension=guide_tension,
        body_tension=_body_tension(pendulum, x, now, acceleration, load),
        holding_torque=statics.holding_torque(pendulum, reeled, guide_strain),
        energy=statics.potential(pendulum, x),
        residual=residual,
        residual_moment=residual_moment,
        iterations=iterations,
        load_forces=found.load_forces,
        load_moment=found.load_moment,
        load=total,
        counted=counted,
        message=f"in balance, Newton iterations: {iterations}; largest unbalanced force {residual:.2g} N{beside}",
        given=load,
        time=now,
        acceleration=acceleration,
    )


def start_of(pendulum: Chain, deployed: float, elements: int | None) -> ChainState:
    """Hanging; straight down where string and body pull opposite ways and the string will fold."""
    fluid = pendulum.fluid
    if fluid is not None and fluid.surface is not None:  # all in the fluid of the guide
        everywhere = replace(fluid, surface=None, density_above=0.0, body_height=None)
        pendulum = replace(pendulum, fluid=everywhere if pendulum.reel.guide_position[2] > fluid.surface else None)
    if pendulum.weights().body * statics.guide_pull(pendulum, deployed) < 0.0:
        return straight(pendulum, deployed, elements, attitude=resting_attitude(pendulum, 1.0))
    return hanging(pendulum, deployed, elements)


def pulled(pendulum: Chain, start: ChainState, time: float, acceleration: bool) -> ChainState:
    """State that balances the pendulum's own loads, by Newton's method for the pulls; EquilibriumError if none."""
    load = all_of(own_loads(pendulum, start.reeled_length, time, acceleration))
    deployed = pendulum.string.length - start.reeled_length
    found, _ = Solver(pendulum, start_of(pendulum, deployed, start.elements), load).solve()
    return ChainState(start.reeled_length, 0.0, found.q, np.zeros_like(found.q), found.R)


def _by_energy(pendulum: Chain, start: ChainState, time: float) -> tuple[Array, Array, int]:
    """Nodes and attitude of the pendulum at rest as a network of one line, and the number of corrections.

    It finds its way where loads change much with the configuration, as for a body that floats on a slack string.
    """
    network, places = network_of(*placed_system(pendulum, start), time)
    found = find_rest(network, places)
    return found.places.nodes - found.places.nodes[0], found.places.attitudes[0], found.corrections


def _body_tension(pendulum: Chain, x: Configuration, time: float, acceleration: bool, given: Load | None) -> float:
    """Size of all forces on the body but the string's."""
    # the loads of a string without drag and, at length zero, without mass
    bare = replace(pendulum, string=replace(pendulum.string, normal_drag=0.0, tangential_drag=0.0))
    loads = list(own_loads(bare, pendulum.string.length, time, acceleration).values())
    loads += [] if given is None else [given]
    pull = pendulum.weights().body * E3
    for load in loads:
        pull = pull + statics.evaluate(load, x.q, x.R)[0][-1]
    return float(np.linalg.norm(pull))


def _counted(pendulum: Chain, x: Configuration, loads: dict[str, Load]) -> dict[str, Array]:
    """Sum of each force on string and body (N)."""
    X = pendulum.string.length - x.s
    weight = pendulum.gravity * (pendulum.body.mass + pendulum.string.density * X)
    counted: dict[str, Array] = {"weight": weight * E3}
    if pendulum.fluid is not None:
        counted["buoyancy"] = (statics.guide_pull(pendulum, X) - weight) * E3
    for name, load in loads.items():
        counted[name] = counted.get(name, np.zeros(3)) + statics.evaluate(load, x.q, x.R)[0].sum(axis=0)
    return counted
