"""Cases of chains as cases of systems, and back."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

from tautline.model.assembly.case import Case
from tautline.model.assembly.starts import deployed_lengths
from tautline.model.case import ChainCase
from tautline.model.chain import LINE, chain_of, chain_state, system_of, system_state
from tautline.model.command import Locked
from tautline.model.kinds import AUTO
from tautline.model.sections import Locate
from tautline.model.short_keys import Names, full, names_of
from tautline.model.starts import AtEquilibrium, Hanging, Straight
from tautline.model.state import ChainState


def chain_case(case: Case) -> ChainCase:
    """The case of a system that is a chain, as the chain backend takes it."""
    system, start = case.system, case.start
    name, line = next(iter(system.lines.items()))
    elements = line.elements
    initial: Any = start
    if isinstance(start, Hanging | AtEquilibrium):
        initial = dataclasses.replace(start, deployed=deployed_lengths(system, start.deployed)[name])
    elif not isinstance(start, Straight):
        initial, elements = chain_state(case.state(), line.end), case.state().elements()[name]
    run = dataclasses.replace(case.run, elements=elements)
    command = case.commands.get(name, Locked())
    found = ChainCase(chain_of(system), initial, command, run, case.title, case.description)
    names = names_of(system)
    if case._locate is not None and names is not None:
        object.__setattr__(found, "_locate", partial(_head, case._locate, names))
    if isinstance(start, AtEquilibrium):  # it is searched for once
        object.__setattr__(found, "_placed", chain_state(case.state(), line.end))
    return found


def _head(locate: Locate, names: Names, path: list[str]) -> str:
    """Head of an error about a short key."""
    return locate(list(full(tuple(path), names)))


def system_case(case: ChainCase) -> Case:
    """The case of a chain, as one of its system."""
    system = system_of(case.pendulum, case.run.elements)
    start: Any = case.initial
    if isinstance(start, ChainState):
        start = system_state(system, start)
    run = dataclasses.replace(case.run, elements=AUTO)
    return Case(system, start, {LINE: case.command}, run, case.title, case.description)
