"""Runs of one line and one body, which tests describe as the chain backend does, without the names of line and body."""

from __future__ import annotations

from typing import Any

import xarray as xr

import tautline as tl
from tautline.model.assembly.rest import rest
from tautline.model.assembly.state import hang
from tautline.model.case import ChainCase
from tautline.model.chain import placed_system
from tautline.model.chain_cases import system_case
from tautline.model.equilibrium import Equilibrium, equilibrium
from tautline.model.hanging import hanging
from tautline.model.pendulum import Chain
from tautline.model.short_keys import names_of
from tautline.model.state import ChainState, straight
from tautline.model.statics import AtRest, at_rest

__all__ = [
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


def simulate(what: Any, state: Any = None, command: Any = None, **run: Any) -> xr.Dataset:
    """`tl.simulate`, of one line and one body without their dimensions."""
    return of_one(tl.simulate(*as_system(what, state), command, **run))


def simulation(what: Any, state: Any = None, **method: Any) -> tl.Simulation:
    """`tl.Simulation`."""
    return tl.Simulation(*as_system(what, state), **method)


def of_one(run: xr.Dataset) -> xr.Dataset:
    """The results of one line and one body without their dimensions; others as they are."""
    names = names_of(tl.case_of(run).system)
    return run if names is None else run.sel(line=names.line, body=names.body, drop=True)
