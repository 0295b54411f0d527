"""Which backend runs a case: the chain kernels where they can, the network kernels otherwise.

This is the one place that asks. The chain kernels take one line from a fixed or moving point to one free body, and are
two to three times as fast; the network kernels take every system.
"""

from __future__ import annotations

import os

import numpy as np

from tautline.errors import InputError
from tautline.model.assembly.case import Case
from tautline.model.chain import chain_of, guide_at_start, why_no_chain

CHAIN, NETWORK = "chain", "network"
# Environment variable that asks for one of them, to compare the two.
VARIABLE = "TAUTLINE_BACKEND"


def backend_for(case: Case) -> str:
    """Name of the backend that runs a case; refuses what none can do."""
    reason = why_no_chain(case.system)
    if reason and case.run.scheme != "symmetric":
        raise InputError(f"scheme: expected 'symmetric' for a system with {reason}, got {case.run.scheme!r}")
    asked = os.environ.get(VARIABLE, "")
    if asked not in ("", CHAIN, NETWORK):
        raise InputError(f"{VARIABLE}: expected {CHAIN!r} or {NETWORK!r}, got {asked!r}")
    return NETWORK if reason or asked == NETWORK or not _starts_at_guide(case) else CHAIN


def _starts_at_guide(case: Case) -> bool:
    """Whether the kinematic body that carries the guide starts where its own position and path say."""
    line = next(iter(case.system.lines.values()))
    if line.start not in case.system.bodies:
        return True
    place, _ = guide_at_start(chain_of(case.system))
    return bool(np.array_equal(case.state().lines[next(iter(case.system.lines))].nodes[0], place))
