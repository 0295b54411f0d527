"""Which backend runs a case: the chain kernels where they can, the network kernels otherwise.

This is the one place that asks. The chain kernels take one line from a fixed or moving point to one free body, and are
two to three times as fast; the network kernels take every system, and all of them where the package of the chain is
missing. `ABILITIES` is the table of what only one of them can
do; the docs print it ("What runs where" in docs/howto/systems.md).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tautline import registry
from tautline.errors import InputError
from tautline.model.chain.systems import NOT_A_CHAIN, chain_of, guide_at_start
from tautline.model.command import Command
from tautline.model.refusals import PAPER_SCHEME
from tautline.model.sequence import stages_of
from tautline.model.system.case import Case
from tautline.model.system.starts import Hanging, Straight
from tautline.model.system.state import ends_of
from tautline.model.system.system import System

if TYPE_CHECKING:
    from tautline.engine.backend import Backend
    from tautline.engine.runner import Runner

CHAIN, NETWORK = "chain", "network"
# What only makes runs faster; everything works without it.
ACCELERATOR = "tautline.engine.chain"
# Environment variable that asks for one of them, to compare the two.
VARIABLE = "TAUTLINE_BACKEND"
# Of the largest place (m) or speed (m/s) of a line: what is nearer is the same.
ROUNDING = 1e-12


class Ability(NamedTuple):
    """Ability that only one backend has.

    Attributes
    ----------
    what : str
        Words of the docs.
    by : str
        The backend that can.
    otherwise : str
        What happens on the other one.
    asks : callable, optional
        Whether a case asks for it; of what is asked for later there is none.
    """

    what: str
    by: str
    otherwise: str
    asks: Callable[[Case], bool] | None = None

    def of(self, backend: Backend) -> bool:
        """Whether a backend has it."""
        return self.by == backend.NAME

    def given(self, case: Case) -> bool:
        """Whether the backend that runs a case has it."""
        return backend_for(case) == self.by


def _ends_apart(case: Case) -> bool:
    """Whether the line starts elsewhere than the guide's own position and path say, or does not end at its body."""
    if isinstance(case.start, Straight | Hanging):  # from there to there
        return False
    name, line = next(iter(case.system.lines.items()))
    state = case.state()
    own = state.lines[name]
    if line.start in case.system.bodies:
        place, _ = guide_at_start(chain_of(case.system))
        if not np.array_equal(own.nodes[0], place):
            return True
    ends = ends_of(case.system, state, name, -1)
    return any(np.abs(x - end).max() > ROUNDING * max(size, np.abs(end).max()) for _, x, end, size in ends)


def has_memory(system: System) -> bool:
    """Whether a drum remembers. The torque of its given motion depends on that, which samples of a chain do not say."""
    reels = (reel for line in system.lines.values() for reel in line.reels.values())
    return any(registry.GUIDE_LAWS[reel.guide_law].remembers for reel in reels)


def gives_motion(commands: Iterable[Command]) -> bool:
    """Whether a command, or a stage of one, gives the motion of its reel."""
    return any(stage.prescribes for command in commands for stage in stages_of(command))


def _in_system(shows: Callable[[System], bool], case: Case) -> bool:
    return shows(case.system)


_RUNS, _GOES_OVER = "the network runs it", "the network goes on from there"
PUSH = Ability("`push` on a body", NETWORK, _GOES_OVER)
LEAVE_PATH = Ability("`move` of a kinematic body that has a path", NETWORK, _GOES_OVER)
TURN = Ability("`move` of a kinematic body with an angular velocity", NETWORK, _GOES_OVER)
GIVEN_MOTION = Ability(
    "a given motion of a reel whose guide law remembers (`stretched`)",
    NETWORK,
    _RUNS,
    lambda case: has_memory(case.system) and gives_motion(case.commands.values()),
)
PAPER = Ability('scheme `"paper"`', CHAIN, "refused", lambda case: case.run.scheme == "paper")
LANES = Ability("eight members of a study at once", CHAIN, "one after the other")
BACKWARD = Ability(
    "gradients by a reverse pass, at one cost for any number of keys", CHAIN, "forward, eight keys at a time"
)
# In this order: each of a system is asked for where none before it is.
ABILITIES = (
    *(Ability(reason, NETWORK, _RUNS, partial(_in_system, shows)) for reason, shows in NOT_A_CHAIN.items()),
    Ability("a state whose line ends beside its guide or body, by more than rounding", NETWORK, _RUNS, _ends_apart),
    GIVEN_MOTION,
    PUSH,
    LEAVE_PATH,
    TURN,
    PAPER,
    LANES,
    BACKWARD,
)


def backend_for(case: Case) -> str:
    """Name of the backend that runs a case; refuses what none can do."""
    asked = os.environ.get(VARIABLE, "")
    if asked not in ("", CHAIN, NETWORK):
        raise InputError(f"{VARIABLE}: expected {CHAIN!r} or {NETWORK!r}, got {asked!r}")
    wanted = (ability for ability in ABILITIES if ability.by == NETWORK and ability.asks and ability.asks(case))
    reason = next((ability.what for ability in wanted), f"{VARIABLE}={NETWORK}" if asked == NETWORK else "")
    if not reason and find_spec(ACCELERATOR) is None:
        reason = "a package without the chain kernels"
    if reason and PAPER.asks and PAPER.asks(case):
        raise PAPER_SCHEME.error(repr(case.run.scheme), what=reason)
    return NETWORK if reason else CHAIN


def backend_of(name: object) -> type[Any]:
    """Class of the backend of a name."""
    if name == NETWORK:
        from tautline.engine.network.backend import NetworkBackend

        return NetworkBackend
    from tautline.engine.chain.backend import ChainBackend

    return ChainBackend


def with_ability(runner: Runner[Any], ability: Ability) -> Runner[Any]:
    """A runner that can do something from now on; the network goes on where the chain cannot."""
    if ability.of(runner.backend):
        return runner
    from tautline.engine.chain.switching import going_on

    return going_on(runner)
