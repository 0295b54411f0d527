"""From a case to a simulation that is ready to march."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

from tautline.model.assembly.commands import commands_by_name
from tautline.engine.assembly.simulation import NetworkSimulation
from tautline.engine.choose import CHAIN, backend_for
from tautline.engine.simulation import ChainSimulation
from tautline.errors import InputError
from tautline.model import checks
from tautline.model.assembly.assembly import System
from tautline.model.assembly.case import Case
from tautline.model.assembly.starts import Placed
from tautline.model.assembly.state import State
from tautline.model.case import ChainCase
from tautline.model.command import Locked, check_command
from tautline.model.force_law import check_laws
from tautline.model.pendulum import Chain
from tautline.model.run import Run, known
from tautline.model.starts import AtEquilibrium, Hanging, Straight
from tautline.model.state import ChainState


class Begun(NamedTuple):
    """A simulation at the start of its run."""

    simulation: Any  # a Simulation, or an NetworkSimulation of an Case
    samples: int  # after the first
    interval: float  # between them (s)


# What marches and is written to files.
Marching = ChainSimulation | NetworkSimulation


def case_of(system: Any, state: Any, command: Any, run: Mapping[str, Any], title: str = "") -> Any:
    """A case from what `simulate` takes: a case and changes of its run, or plain objects."""
    checks.instance("system", system, Chain, ChainCase, System, Case)
    known(run, Run, () if isinstance(system, ChainCase | Case) else ("duration",))
    checks.text("title", title)
    if isinstance(system, System | Case):
        return assembly_case(system, state, command, run, title)
    if isinstance(system, ChainCase):
        if state is not None or command is not None:
            came = command if state is None else state
            checks.refuse("state", "no state and command beside a case; use case.with_", came)
        keys = {f"run.{name}": value for name, value in run.items() if name != "stop"}
        case = system.with_(keys) if keys else system
        # conditions may be functions, which keys cannot hold
        return case.with_(run=dataclasses.replace(case.run, stop=run["stop"])) if "stop" in run else case
    checks.instance("state", state, ChainState)
    command = Locked() if command is None else command
    check_command(command, 0.0)
    return ChainCase(system, state, command, Run(**run), title)


def assembly_case(
    system: System | Case, state: Any, commands: Any, run: Mapping[str, Any], title: str = ""
) -> Case:
    """A case from what `simulate` takes: a case and changes of its run, or plain objects."""
    if isinstance(system, Case):
        if state is not None or commands is not None:
            came = commands if state is None else state
            checks.refuse("state", "no state and command beside a case; use case.with_", came)
        if not run:
            return system
        changed = dataclasses.replace(system, run=dataclasses.replace(system.run, **run))
        object.__setattr__(changed, "_state", system.state())
        return changed
    checks.instance("start", state, Placed, Straight, Hanging, AtEquilibrium, State)
    return Case(system, state, commands_by_name(system, commands), Run(**run), title)


def simulation_of(case: Case, loads: Any = None, general: bool = False) -> tuple[Any, Any]:
    """A simulation of a system on the backend that is chosen for it, and the command or commands that it takes."""
    if backend_for(case) == CHAIN and not general:
        name = next(iter(case.system.lines))
        own = dict(loads or {}).get(name, ())
        return ChainSimulation.of_system(case, loads=check_laws(own)), case.commands.get(name, Locked())
    return NetworkSimulation.from_case(case, loads=loads), case.commands


def begin(case: ChainCase | Case, *, general: bool = False, **others: Any) -> Begun:
    """A simulation of a case, its command taken; errors name file and line of the key where these are known.

    `general` asks for the network backend. `others` are arguments of `Simulation` that a case does not have.
    """
    with case.naming_keys():
        interval = case.run.interval()
        if isinstance(case, Case):
            if others.get("loads"):
                raise InputError("loads: expected none for an assembly, got some")
            system, command = simulation_of(case, general=general)
            return Begun(system, system.begin(command, case.run.duration, interval), interval)
        simulation = ChainSimulation.from_case(case, **others)
        return Begun(simulation, simulation.begin(case.command, case.run.duration, interval), interval)
