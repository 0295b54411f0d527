"""Which backend runs a case: the chain kernels where they can, the network kernels otherwise.

This is the one place that asks. The chain kernels take one line from a fixed or moving point to one free body, and are
two to three times as fast; the network kernels take every system.
"""

from __future__ import annotations

import os

import numpy as np

from tautline.errors import InputError
from tautline.model.chain.systems import chain_of, guide_at_start, why_no_chain
from tautline.model.system.case import Case
from tautline.model.system.starts import Hanging, Straight
from tautline.model.system.state import ends_of

CHAIN, NETWORK = "chain", "network"
# Environment variable that asks for one of them, to compare the two.
VARIABLE = "TAUTLINE_BACKEND"
# Of the largest place (m) or speed (m/s) of a line: what is nearer is the same.
ROUNDING = 1e-12


def backend_for(case: Case) -> str:
    """Name of the backend that runs a case; refuses what none can do."""
    reason = why_no_chain(case.system)
    if reason and case.run.scheme != "symmetric":
        raise InputError(f"scheme: expected 'symmetric' for a system with {reason}, got {case.run.scheme!r}")
    asked = os.environ.get(VARIABLE, "")
    if asked not in ("", CHAIN, NETWORK):
        raise InputError(f"{VARIABLE}: expected {CHAIN!r} or {NETWORK!r}, got {asked!r}")
    return NETWORK if reason or asked == NETWORK or not _ends_agree(case) else CHAIN


def _ends_agree(case: Case) -> bool:
    """Whether the line starts where the guide's own position and path say, and ends at its body, both as it moves."""
    if isinstance(case.start, Straight | Hanging):  # from there to there
        return True
    name, line = next(iter(case.system.lines.items()))
    state = case.state()
    own = state.lines[name]
    if line.start in case.system.bodies:
        place, _ = guide_at_start(chain_of(case.system))
        if not np.array_equal(own.nodes[0], place):
            return False
    ends = ends_of(case.system, state, name, -1)
    return all(np.abs(x - end).max() <= ROUNDING * max(size, np.abs(end).max()) for _, x, end, size in ends)
