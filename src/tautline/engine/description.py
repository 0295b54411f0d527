"""The input of a run as keys of a case: what results and checkpoints say of where they come from."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tautline.engine.conditions import StopWhen
from tautline.model import sections
from tautline.model.case import Case
from tautline.model.command import Locked
from tautline.model.run import METHOD
from tautline.model.sections import Tree

if TYPE_CHECKING:
    from tautline.engine.simulation import Simulation


def keys_of(simulation: Simulation) -> Tree:
    """All keys of a simulation's case, with the command that it follows.

    Of a simulation that was not made from a case the start is given by its nodes, and there is no duration.
    """
    stepper = simulation._stepper
    command = sections.of_part("command", stepper.command or Locked())
    if simulation.case is not None:
        return simulation.case.to_dict() | {"command": command}
    run = {"elements": simulation.elements} | {name: simulation.settings[name] for name in METHOD}
    return sections.of_system(simulation.pendulum) | {
        "initial": sections.of_part("initial", stepper.initial),
        "command": command,
        "run": {name: value for name, value in run.items() if value is not None},
    }


def simulation_from(kind: type[Simulation], tree: Tree, stop: Iterable[StopWhen]) -> Simulation:
    """A simulation at its start, from what `keys_of` gave."""
    if "duration" in tree["run"]:
        return kind.from_case(Case.from_dict(tree), stop=tuple(stop))
    method = {name: tree["run"][name] for name in METHOD if name in tree["run"]}
    return kind(sections.system(tree), sections.part("initial", tree), stop=tuple(stop), **method)


def condition_descriptions(conditions: Iterable[StopWhen]) -> list[dict[str, Any]]:
    """Conditions that end a run as plain values; a function by its name."""
    return [
        {"variable": condition.sentence()} if condition.is_function else dataclasses.asdict(condition)
        for condition in conditions
    ]
