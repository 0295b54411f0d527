"""Runs of one line and one body, which tests describe as the chain backend does, without the names of line and body."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import xarray as xr

import tautline as tl
from tautline.engine.choose import CHAIN, NETWORK, VARIABLE
from tautline.model.assembly.rest import rest
from tautline.model.assembly.state import hang
from tautline.model.case import ChainCase
from tautline.model.chain import GUIDE, placed_system, system_of, system_state
from tautline.model.chain_cases import system_case
from tautline.model.equilibrium import Equilibrium, equilibrium
from tautline.model.hanging import hanging
from tautline.model.pendulum import Chain
from tautline.model.state import ChainState, straight
from tautline.model.statics import AtRest, at_rest
from tautline.results.inputs import CASE

__all__ = [
    "CHAIN",
    "NETWORK",
    "AtRest",
    "Chain",
    "ChainCase",
    "ChainState",
    "Equilibrium",
    "at_rest",
    "equilibrium",
    "hang",
    "hanging",
    "rest",
    "straight",
]


def as_system(what: Any, state: Any = None) -> tuple[Any, Any]:
    """A chain and its state as a system and its start; others as they are."""
    if isinstance(what, Chain):
        return placed_system(what, state)
    return system_case(what) if isinstance(what, ChainCase) else what, state


@contextmanager
def on(backend: str) -> Iterator[None]:
    """Runs that begin in here are on a backend."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, backend)
        yield


@contextmanager
def _own(what: Any) -> Iterator[None]:
    """Chains are run by the chain kernels, systems by those that the test asks for."""
    if isinstance(what, Chain | ChainCase):
        with on(CHAIN):
            yield
    else:
        yield


def simulate(what: Any, state: Any = None, command: Any = None, **run: Any) -> xr.Dataset:
    """`tl.simulate`, of one line and one body without their dimensions."""
    with _own(what):
        return of_one(tl.simulate(*as_system(what, state), command, **run))


def simulation(what: Any, state: Any = None, **method: Any) -> tl.Simulation:
    """`tl.Simulation`."""
    with _own(what):
        return tl.Simulation(*as_system(what, state), **method)


def carried(chain: Chain, state: ChainState, **method: Any) -> tl.Simulation:
    """A chain whose reel is carried by a kinematic body, "guide", that has no path."""
    system = system_of(chain, state.elements)
    line = dataclasses.replace(system.lines["line"], start=GUIDE, start_point=(0.0, 0.0, 0.0))
    guide = tl.Kinematic(position=chain.reel.guide_position)
    system = dataclasses.replace(system, bodies={GUIDE: guide, **system.bodies}, lines={"line": line})
    with on(CHAIN):
        return tl.Simulation(system, system_state(system, state), **method)


def of_one(run: xr.Dataset) -> xr.Dataset:
    """The results of one line and one body without their dimensions; others as they are."""
    case = json.loads(run.attrs[CASE])
    free = [name for name, body in case["bodies"].items() if body.get("kind") != "kinematic"]
    return run.sel(line=run.line[0], body=free[0], drop=True) if run.sizes["line"] == len(free) == 1 else run
