"""The input of a run as keys of a case: what results and checkpoints say of where they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tautline.model import sections
from tautline.model.assembly.case import Case
from tautline.model.assembly.sections import is_assembly
from tautline.model.case import ChainCase
from tautline.model.command import Locked
from tautline.model.description import fields_of
from tautline.model.file_keys import to_keys
from tautline.model.run import Method
from tautline.model.sections import Tree

if TYPE_CHECKING:
    from tautline.engine.recorded import RecordedChain
    from tautline.engine.simulation import ChainSimulation


def keys_of(simulation: RecordedChain) -> Tree:
    """All keys of a simulation's case, with the command that it follows.

    Of a simulation that was not made from a case the start is given by its nodes, and there is no duration.
    """
    stepper = simulation._stepper
    command = sections.of_part("command", stepper.command or Locked())
    if simulation.case is not None:
        return simulation.case.to_dict() | {"command": command}
    run = {"elements": simulation.elements} | to_keys(simulation.method)
    return sections.of_system(simulation.pendulum) | {
        "initial": sections.of_part("initial", stepper.initial),
        "command": command,
        "run": run,
    }


def simulation_from(kind: type[ChainSimulation], tree: Tree) -> ChainSimulation:
    """A simulation at its start, from what `keys_of` gave, or from the keys of a system that is a chain."""
    if is_assembly(tree):
        return kind.of_system(Case.from_dict(tree))
    if "duration" in tree["run"]:
        return kind.from_case(ChainCase.from_dict(tree))
    method = {name: tree["run"][name] for name in fields_of(Method) if name in tree["run"]}
    return kind(sections.system(tree), sections.part("initial", tree), **method)
