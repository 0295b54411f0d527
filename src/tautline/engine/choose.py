"""Which backend runs a case: the chain kernels where they can, the network kernels otherwise.

This is the one place that asks. The chain kernels take one line from a fixed or moving point to one free body, and are
two to three times as fast; the network kernels take every system.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from tautline.errors import InputError
from tautline.model.assembly.case import AssemblyCase
from tautline.model.case import Case
from tautline.model.chain import chain_of, chain_state, guide_at_start, why_no_chain
from tautline.model.command import Locked

CHAIN, NETWORK = "chain", "network"


def backend_for(case: AssemblyCase) -> str:
    """Name of the backend that runs a case; refuses what none can do."""
    reason = why_no_chain(case.system)
    if reason and case.run.scheme != "symmetric":
        raise InputError(f"scheme: expected 'symmetric' for a system with {reason}, got {case.run.scheme!r}")
    return NETWORK if reason or not _starts_at_guide(case) else CHAIN


def _starts_at_guide(case: AssemblyCase) -> bool:
    """Whether the kinematic body that carries the guide starts where its own position and path say."""
    line = next(iter(case.system.lines.values()))
    if line.start not in case.system.bodies:
        return True
    place, _ = guide_at_start(chain_of(case.system))
    return bool(np.array_equal(case.state().lines[next(iter(case.system.lines))].nodes[0], place))


def chain_case(case: AssemblyCase) -> Case:
    """The case of a system that is a chain, as the chain backend takes it."""
    system = case.system
    name = next(iter(system.lines))
    state = case.state()
    run = dataclasses.replace(case.run, elements=state.elements()[name])
    command = case.commands.get(name, Locked())
    return Case(chain_of(system), chain_state(system, state), command, run, case.title, case.description)
