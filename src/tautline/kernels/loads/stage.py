"""Half a step of all loads: momenta jump, positions stand still (docs/theory.md, equation 71).

Half a step of loads, a step of the conservative method, half a step of loads. Only runs that have loads are compiled
with this.
"""

from __future__ import annotations

from typing import Any

from tautline import registry
from tautline.kernels.balance import SIGNS, book
from tautline.kernels.compensated import accumulate, accumulate_node
from tautline.kernels.data import (
    FRAME_VELOCITY,
    LOAD_ROWS,
    MEAN_VELOCITY,
    MOMENTUM,
    MOMENTUM_ERR,
    P_S,
    P_S_ERR,
    PUSHED,
    STARTED_WITH,
    TARGET,
    Array,
    Loads,
    Motion,
    Parameters,
    Scratch,
    account,
    add_to_node,
    clear_nodes,
    copy_nodes,
    node,
    put_triple,
    triple,
)
from tautline.kernels.dispatch import dispatch, functions
from tautline.kernels.fixed import complete_kick, momenta_with_kick
from tautline.kernels.jit import inlined, kernel, separate
from tautline.kernels.legendre import rates_of, velocities
from tautline.kernels.loads.acting import Instant, Push
from tautline.kernels.loads.guide_motion import book_guide, momentum_of
from tautline.kernels.newton import ZERO, Rates
from tautline.kernels.rotation import add_spin, attitude
from tautline.kernels.so3 import Vector, add, add_scaled, dot, scale, sub
from tautline.kernels.tables import vector_at

LOADS = registry.LOADS
# Accounts of the loads.
ACCOUNTS = tuple(account(load.account) for load in LOADS.values())


@kernel
def _acts_at_all(own: Any) -> bool:
    return own.acts  # type: ignore[no-any-return]


@kernel
def _no_rate(par: Parameters, own: tuple[float, ...], at: Instant, motion: Motion, v: Array) -> float:
    return 0.0


_acts = kernel(dispatch([_acts_at_all] * len(LOADS), "code", own="own"))
_act = separate(dispatch(functions(LOADS, "act"), "code", own="own"))
_rate = kernel(dispatch(functions(LOADS, "rate", _no_rate), "code", own="own"))


@kernel
def instant(par: Parameters, loads: Loads, t: float, far: float, motion: Motion, rates: Rates) -> Instant:
    """Time and place at which loads act, at given rates."""
    place = add(par.r_p, vector_at(loads.path, t)[0])
    return Instant(t, far, place, triple(motion.reel, FRAME_VELOCITY), attitude(motion.body), rates)


@separate
def act(par: Parameters, loads: Loads, at: Instant, motion: Motion, v: Array, scratch: Scratch) -> Push:
    """Let all loads act: their forces on the nodes into PUSHED, and each one's into its own rows.

    Of each load the row behind that of its forces holds its force on s and its moment on the body.
    """
    pushed = scratch.nodes[PUSHED]
    clear_nodes(pushed)
    reel = 0.0
    moment = ZERO
    for k in range(len(ACCOUNTS)):
        if _acts(k, loads.own):
            out = scratch.nodes[LOAD_ROWS + 2 * k]
            rest = scratch.nodes[LOAD_ROWS + 2 * k + 1]
            clear_nodes(out)
            push = _act(k, par, loads.own, at, motion, v, scratch, out)
            rest[0] = push.reel
            put_triple(rest, 1, push.moment if par.rotates else ZERO)
            reel += rest[0]
            moment = add(moment, triple(rest, 1))
            for i in range(par.N + 1):
                add_to_node(pushed, i, node(out, i))
    return Push(reel, moment)


@separate
def decay_rate(par: Parameters, loads: Loads, locked: bool, t: float, motion: Motion, scratch: Scratch) -> float:
    """Bound on the rate at which loads slow any small motion down, at the present velocities (1/s)."""
    at = instant(par, loads, t, t, motion, velocities(par, locked, motion, scratch))
    largest = 0.0
    for k in range(len(ACCOUNTS)):
        if _acts(k, loads.own):
            largest = max(largest, _rate(k, par, loads.own, at, motion, scratch.nodes[MEAN_VELOCITY]))
    return largest


@kernel
def total_force(force: Array, N: int) -> Vector:
    """Sum over the nodes, with what the guide takes at node 0."""
    total = ZERO
    for i in range(N + 1):
        total = add(total, node(force, i))
    return total


@inlined
def book_loads(
    par: Parameters, loads: Loads, h: float, motion: Motion, mean: Rates, frame: Vector, scratch: Scratch
) -> None:
    """Book each load's work in time h at the mean of the velocities before (STARTED_WITH) and after (MEAN_VELOCITY)."""
    before = scratch.nodes[STARTED_WITH]
    after = scratch.nodes[MEAN_VELOCITY]
    for k in range(len(ACCOUNTS)):
        if _acts(k, loads.own):
            force = scratch.nodes[LOAD_ROWS + 2 * k]
            rest = scratch.nodes[LOAD_ROWS + 2 * k + 1]
            power = rest[0] * mean.sigma + dot(triple(rest, 1), mean.omega) + dot(total_force(force, par.N), frame)
            for i in range(1, par.N + 1):
                power += dot(node(force, i), scale(0.5, add(node(before, i), node(after, i))))
            # a loss is booked as what it takes: the signs of work and loss in the balance are opposite
            book(par, motion.reel, ACCOUNTS[k], -SIGNS[ACCOUNTS[k]] * h * power)


@separate
def load_stage(
    par: Parameters, loads: Loads, locked: bool, t: float, far: float, motion: Motion, scratch: Scratch
) -> None:
    """Loads act for half of a step between t and `far`: explicit midpoint rule for the momenta, booked exactly.

    T is quadratic in the momenta, so jumps dp change it by dp.(v before + v after)/2.
    """
    reel = motion.reel
    v = scratch.nodes[MEAN_VELOCITY]
    before = scratch.nodes[STARTED_WITH]
    pushed = scratch.nodes[PUSHED]
    p = motion.nodes[MOMENTUM]
    h = 0.5 * abs(far - t)
    complete_kick(par, motion, scratch)
    Pi = momenta_with_kick(par, motion, scratch)
    first = velocities(par, locked, motion, scratch)
    copy_nodes(v, before)
    push = act(par, loads, instant(par, loads, t, far, motion, first), motion, v, scratch)

    target = scratch.nodes[TARGET]
    copy_nodes(p, target)
    for i in range(1, par.N + 1):
        add_to_node(target, i, scale(0.5 * h, node(pushed, i)))
    middle_Pi = add_scaled(Pi, 0.5 * h, push.moment)
    middle = rates_of(par, locked, motion, reel[P_S] + 0.5 * h * push.reel, middle_Pi, scratch)
    push = act(par, loads, instant(par, loads, t, far, motion, middle), motion, v, scratch)

    for i in range(1, par.N + 1):
        accumulate_node(p, motion.nodes[MOMENTUM_ERR], i, scale(h, node(pushed, i)), par.compensated)
    if par.rotates:
        add_spin(par, motion.body, scale(h, push.moment))
    if not locked:
        accumulate(reel, P_S, P_S_ERR, h * push.reel, par.compensated)
    after = velocities(par, locked, motion, scratch)

    frame = triple(reel, FRAME_VELOCITY)
    mean = Rates(0.5 * (first.sigma + after.sigma), scale(0.5, add(first.omega, after.omega)), 0.0)
    book_loads(par, loads, h, motion, mean, frame, scratch)
    # what the guide has to give so that its motion stays as prescribed while these forces act
    if loads.moves:
        gained = sub(momentum_of(par, motion, after, v), momentum_of(par, motion, first, before))
        book_guide(par, reel, add_scaled(gained, -h, total_force(pushed, par.N)), frame)
