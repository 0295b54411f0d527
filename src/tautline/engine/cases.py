"""Cases from what `simulate` takes, and simulations at their start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tautline.engine.chain import ChainSimulation
from tautline.engine.network import NetworkSimulation
from tautline.engine.simulation import backend_of
from tautline.model import checks
from tautline.model.assembly.assembly import System
from tautline.model.assembly.case import Case
from tautline.model.assembly.starts import Placed
from tautline.model.assembly.state import State
from tautline.model.case import ChainCase
from tautline.model.run import Run, known
from tautline.model.starts import AtEquilibrium, Hanging, Straight


class Begun(NamedTuple):
    """A simulation at the start of its run."""

    simulation: Any  # a Backend
    samples: int  # after the first
    interval: float  # between them (s)


def case_of(system: Any, start: Any, command: Any, run: Mapping[str, Any], title: str = "") -> Case:
    """A case from what `simulate` takes: a case and changes of its run, or plain objects."""
    checks.instance("system", system, System, Case)
    known(run, Run, () if isinstance(system, Case) else ("duration",))
    checks.text("title", title)
    if isinstance(system, Case):
        if start is not None or command is not None:
            came = command if start is None else start
            checks.refuse("start", "no start and command beside a case; use case.with_", came)
        return system.with_run(**run) if run else system
    checks.instance("start", start, Placed, Straight, Hanging, AtEquilibrium, State)
    return Case(system, start, {} if command is None else command, Run(**run), title)


def begin(case: Case, *, loads: Any = (), general: bool = False) -> Begun:
    """A case on its backend, its commands taken; errors name file and line of the key where these are known.

    `general` asks for the network kernels.
    """
    with case.naming_keys():
        interval = case.run.interval()
        backend = NetworkSimulation.from_case(case) if general else backend_of(case, loads)
        return Begun(backend, backend.begin(case.commands, case.run.duration, interval), interval)


def begin_chain(case: ChainCase) -> Begun:
    """A chain at the start of its case, its command taken: for those who march chains otherwise."""
    with case.naming_keys():
        interval = case.run.interval()
        simulation = ChainSimulation.from_case(case)
        return Begun(simulation, simulation.begin(case.command, case.run.duration, interval), interval)
