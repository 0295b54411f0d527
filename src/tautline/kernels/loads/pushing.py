"""Loads that push, whatever the velocity: forces that their files give."""

from __future__ import annotations

from typing import Any

from tautline import registry
from tautline.kernels import data
from tautline.kernels.balance import SIGNS
from tautline.kernels.data import (
    Array,
    Loads,
    Motion,
    Parameters,
    Scratch,
    account,
    add_to_node,
    clear_nodes,
    node,
    put_triple,
    triple,
)
from tautline.kernels.dispatch import dispatch, functions
from tautline.kernels.jit import kernel, separate
from tautline.kernels.loads.acting import NO_PUSH, Instant, Push
from tautline.kernels.loads.drag import accelerates
from tautline.kernels.loads.resistance import DAMPING, DRAG
from tautline.kernels.so3 import ZERO, Vector, add

LOADS = registry.LOADS
# Accounts of the loads.
ACCOUNTS = tuple(account(load.account) for load in LOADS.values())
# Places in the second row of a load: its forces on the feeds, its moment on the body; what is owed at a sample.
ON_REEL, ON_BODY, OWED, ON_FAR = 0, 1, 4, 5


@kernel
def _acts_at_all(own: Any) -> bool:
    return own.acts  # type: ignore[no-any-return]


@kernel
def _resists_only(
    par: Parameters, own: Any, at: Instant, motion: Motion, v: Array, scratch: Scratch, out: Array
) -> Push:
    return NO_PUSH


@kernel
def _no_rate(own: Any) -> float:
    return 0.0


acts = kernel(dispatch([_acts_at_all] * len(LOADS), "code", own="own"))
_act = separate(dispatch(functions(LOADS, "act", _resists_only), "code", own="own"))
_rate = kernel(dispatch(functions(LOADS, "rate", _no_rate), "code", own="own"))


@kernel
def pushes(loads: Loads) -> bool:
    """Whether a load acts that does not resist, or not only."""
    found = loads.own[DRAG].has_surface or accelerates(loads.own[DRAG])
    for k in range(len(ACCOUNTS)):
        if k not in (DAMPING, DRAG) and acts(k, loads.own):
            found = True
    return found


@kernel
def given_by_loads(reel: Array) -> float:
    """Energy that loads have given, less what they have taken, as it is booked."""
    total = 0.0
    for k in range(len(ACCOUNTS)):
        total -= SIGNS[ACCOUNTS[k]] * reel[data.ACCOUNT_PLACES[ACCOUNTS[k]]]
    return float(total)


@kernel
def fastest_decay(loads: Loads) -> float:
    """Bound on the rate at which loads that do not resist slow any small motion down (1/s)."""
    largest = 0.0
    for k in range(len(ACCOUNTS)):
        if acts(k, loads.own):
            largest = max(largest, _rate(k, loads.own))
    return largest


@separate
def act(par: Parameters, loads: Loads, at: Instant, motion: Motion, v: Array, scratch: Scratch) -> Push:
    """Let loads act that do not resist: their forces on the nodes into PUSHED, and each one's into its own rows.

    Of each load the row behind that of its forces holds its force on the feeds and its moment on the body.
    """
    pushed = scratch.nodes[data.PUSHED]
    clear_nodes(pushed)
    reel, far = 0.0, 0.0
    moment = ZERO
    for k in range(len(ACCOUNTS)):
        if acts(k, loads.own):
            out = scratch.nodes[data.LOAD_ROWS + 2 * k]
            rest = scratch.nodes[data.LOAD_ROWS + 2 * k + 1]
            clear_nodes(out)
            push = _act(k, par, loads.own, at, motion, v, scratch, out)
            rest[ON_REEL] = push.reel
            rest[ON_FAR] = push.far
            put_triple(rest, ON_BODY, push.moment if par.rotates else ZERO)
            reel += rest[ON_REEL]
            far += rest[ON_FAR]
            moment = add(moment, triple(rest, ON_BODY))
            for i in range(par.N + 1):
                add_to_node(pushed, i, node(out, i))
    return Push(reel, far, moment)


@kernel
def total_force(force: Array, N: int) -> Vector:
    """Sum over the nodes, with what the guide takes at node 0."""
    total = ZERO
    for i in range(N + 1):
        total = add(total, node(force, i))
    return total
