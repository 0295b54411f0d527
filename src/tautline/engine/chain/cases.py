"""Chains at the start of their case, for those who march them otherwise."""

from __future__ import annotations

from tautline.engine.cases import Begun
from tautline.engine.chain.backend import ChainBackend
from tautline.engine.runner import Runner
from tautline.model.chain.cases import chain_command
from tautline.model.system.case import Case


def begin_chain(case: Case) -> Begun:
    """A chain at the start of its case, its command taken."""
    with case.naming_keys():
        interval = case.run.interval()
        simulation = Runner(ChainBackend.from_case(case))
        return Begun(simulation, simulation.begin(chain_command(case), case.run.duration, interval), interval)
