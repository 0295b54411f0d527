"""Runs of a case with frozen steps, at their starts: by the chain kernels where these can, else by the network's."""

from __future__ import annotations

from collections.abc import Sequence as Several
from typing import TYPE_CHECKING, TypeAlias

from tautline.engine.choose import BACKWARD
from tautline.gradients.network.runs import NetworkRuns
from tautline.gradients.steps import Steps
from tautline.model import checks, refusals
from tautline.model.sequence import Sequence
from tautline.model.system.case import Case
from tautline.model.system.starts import reel_speeds

if TYPE_CHECKING:
    from tautline.gradients.chain.runs import ChainRuns

Runs: TypeAlias = "ChainRuns | NetworkRuns"


def check_case(case: Case) -> Case:
    """Refuse cases whose derivatives are not known."""
    checks.instance("case", case, Case)
    if any(command.is_function for command in case.commands.values()):
        raise refusals.TORQUE_DERIVATIVE.error("a function")
    if reel_speeds(case.start, case.system):
        raise refusals.MOVING_REST_DERIVATIVE.error("it")
    return case


def has_sequence(case: Case) -> bool:
    """Whether a reel or sheave follows a sequence of commands."""
    return any(isinstance(command, Sequence) for command in case.commands.values())


def check_pieces(case: Case) -> Case:
    """Refuse cases whose pieces have no derivatives by their states."""
    if has_sequence(check_case(case)):
        raise refusals.SEQUENCE_PIECES.error("one")
    return case


def runs_of(case: Case, by: Several[str], steps: Steps | None = None) -> Runs:
    """Runs of a case in which values of some keys may be others; `steps` are the case's own if not given."""
    if BACKWARD.given(case) and not has_sequence(case):
        from tautline.gradients.chain.runs import ChainRuns, stays_chain

        if all(stays_chain(case, case.key(name)) for name in by):
            return ChainRuns(case, steps)
    return NetworkRuns(case, steps)
