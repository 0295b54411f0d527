"""Loads of a fluid at the start of a motion.

Their velocities there are those that half of a step leads to with all forces: velocities of a start may be far from
what a fluid allows, and the force of fluid that moves along follows from a change of velocity, which no step before
tells.
"""

from __future__ import annotations

from tautline.errors import RUNNING
from tautline.kernels import data
from tautline.kernels.balance import SIGNS
from tautline.kernels.data import Array, copy_nodes, node, triple
from tautline.kernels.jit import inlined, kernel, separate
from tautline.kernels.lanes import zero_like
from tautline.kernels.loads.pushing import ACCOUNTS, given_by_loads
from tautline.kernels.loads.resistance import DRAG
from tautline.kernels.network import data as net
from tautline.kernels.network.backup import copy_motion, put_motion
from tautline.kernels.network.bodies import book_whole
from tautline.kernels.network.boundary import velocities_at_boundary
from tautline.kernels.network.data import Body, Network, Strand, body_at, strand_at
from tautline.kernels.network.loads import act_at_boundary, instant_of, load_all, place_given
from tautline.kernels.network.observe import refresh_network, velocities_now
from tautline.kernels.network.step import stage
from tautline.kernels.network.wet import let_move_along
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import Vector, apply, dot


@separate
def along_now(network: Network) -> float:
    """Momenta times the velocities that are found, of all that moves freely."""
    total = 0.0
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        total += of_strand(strand, strand.work[net.SIGMA_NOW], strand.scratch.nodes[data.MEAN_VELOCITY])
    for b in range(len(network.bodies)):
        body = body_at(network.bodies, b)
        total += of_body(body, triple(body.work, net.V_NOW), triple(body.work, net.OMEGA_NOW))
    return total


@separate
def along_start(network: Network) -> float:
    """Momenta times the velocities of the start, which `begin_fluid` has kept."""
    total = 0.0
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        total += of_strand(strand, strand.reel[data.SIGMA], strand.nodes[data.VELOCITY])
    for b in range(len(network.bodies)):
        body = body_at(network.bodies, b)
        total += of_body(body, triple(body.state, net.V), triple(body.state, net.OMEGA))
    return total


@kernel
def of_strand(strand: Strand, sigma: float, v: Array) -> float:
    """Momenta of a string's inner nodes and of its reel times velocities."""
    p = strand.nodes[data.MOMENTUM]
    total = strand.reel[data.P_S] * sigma if strand.row >= 0 else 0.0
    for i in range(1, strand.par.N):
        total += dot(node(p, i), node(v, i))
    return float(total)


@kernel
def of_body(body: Body, velocity: Vector, omega: Vector) -> float:
    """Momenta of a free body times its velocities."""
    if not body.free:
        return 0.0
    turning = apply(attitude(body.state), omega)
    return dot(triple(body.state, net.LINEAR), velocity) + dot(triple(body.state, net.ANGULAR), turning)


@kernel
def booked_energy(network: Network) -> float:
    """Energy that loads have given to what moves freely, less what they have taken."""
    energy = given_by_loads(network.totals)
    for k in range(len(network.strands)):
        energy += given_by_loads(strand_at(network.strands, k).reel)
    for b in range(len(network.bodies)):
        body = body_at(network.bodies, b)
        if not body.free:
            energy -= dot(triple(body.state, net.LINEAR), triple(body.work, net.V_NOW))
            energy -= dot(
                triple(body.state, net.ANGULAR), apply(attitude(body.state), triple(body.work, net.OMEGA_NOW))
            )
    return energy


@kernel
def begin_fluid(network: Network) -> None:
    """Let velocities of earlier steps, and those of fluid that moves along, be the present ones."""
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        for row in (data.VELOCITY, data.VELOCITY_BEFORE, data.FLUID_VELOCITY):
            copy_nodes(strand.scratch.nodes[data.MEAN_VELOCITY], strand.nodes[row])
    for b in range(len(network.bodies)):
        body = body_at(network.bodies, b)
        let_move_along(network, body)


@inlined
def start_in_fluid(network: Network, backup: Array, t: float, ahead: float) -> None:
    """Let loads act at the start of a motion, for half of a step.

    Their work is that at the mean of the velocities before and after that half: what was booked at the latter beyond
    it, the fluid has taken.
    """
    velocities_now(network, t)
    begin_fluid(network)
    copy_motion(network, backup)
    tried = stage(network, ahead, t, t + ahead)
    at = instant_of(t + ahead, zero_like(ahead), ahead)
    place_given(network, t + ahead)
    velocities_at_boundary(network, ahead, at, zero_like(ahead))
    put_motion(network, backup)
    refresh_network(network, t)
    if tried != RUNNING:
        act_at_boundary(network, t, ahead)
        return
    booked = -booked_energy(network)
    gained = -0.5 * (along_now(network) + along_start(network))
    load_all(network, at, ahead)
    booked += booked_energy(network)
    gained += 0.5 * (along_now(network) + along_start(network))
    book_whole(network, ACCOUNTS[DRAG], SIGNS[ACCOUNTS[DRAG]] * (booked - gained))
