"""Cases from what `simulate` takes, and simulations at their start."""

from __future__ import annotations

from typing import Any, NamedTuple

from tautline.engine.network.backend import NetworkBackend
from tautline.engine.runner import Runner
from tautline.engine.simulation import runner_of
from tautline.model.system.case import Case


class Begun(NamedTuple):
    """A simulation at the start of its run."""

    simulation: Runner[Any]
    samples: int  # after the first
    interval: float  # between them (s)


def begin(case: Case, *, loads: Any = (), general: bool = False) -> Begun:
    """A case on its backend, its commands taken; errors name file and line of the key where these are known.

    `general` asks for the network kernels.
    """
    with case.naming_keys():
        interval = case.run.interval()
        runner = Runner(NetworkBackend.at_start(case)) if general else runner_of(case, loads)
        return Begun(runner, runner.begin(case.commands, case.run.duration, interval), interval)
