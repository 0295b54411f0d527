"""Runs of one line and one body, which tests describe as the chain backend does, without the names of line and body."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline.engine.choose import CHAIN, NETWORK, VARIABLE
from tautline.model.chain.chain import Chain
from tautline.model.chain.hanging import hanging, near_rest
from tautline.model.chain.state import ChainState, straight
from tautline.model.chain.systems import chain_state, guide_at, placed_system, system_of, system_state
from tautline.model.rest.at_rest import Statics
from tautline.model.rest.states import rest
from tautline.model.system.parts import GUIDE
from tautline.model.system.starts import near_rest as nearly_at_rest
from tautline.results.inputs import CASE
from tests.support.chain_statics import AtRest, at_rest

__all__ = [
    "CHAIN",
    "NETWORK",
    "AtRest",
    "Chain",
    "ChainState",
    "Equilibrium",
    "at_rest",
    "equilibrium",
    "hanging",
    "rest",
    "straight",
]


def as_system(what: Any, state: Any = None) -> tuple[Any, Any]:
    """A chain and its state as a system and its start; others as they are."""
    if isinstance(what, Chain):
        if isinstance(state, ChainState):
            return placed_system(what, state)
        return system_of(what, *state.elements().values()) if isinstance(state, tl.State) else system_of(what), state
    return what, state


def hang(system: tl.System, bodies: Mapping[str, Any], lines: Mapping[str, Any] | None = None) -> tl.State:
    """A start with straight lines between bodies at given places."""
    return nearly_at_rest(system, tl.Placed(bodies, lines or {}))


@contextmanager
def on(backend: str) -> Iterator[None]:
    """Runs that begin in here are on a backend."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, backend)
        yield


@contextmanager
def _own(what: Any) -> Iterator[None]:
    """Chains are run by the chain kernels, systems by those that the test asks for."""
    if isinstance(what, Chain):
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


@dataclass(frozen=True)
class Equilibrium:
    """Rest of one line and one body, with the forces of `tl.statics`."""

    state: ChainState
    tension: np.ndarray
    strain: np.ndarray
    start_tension: float
    end_tension: float
    holding_torque: float
    counted: Mapping[str, np.ndarray]
    residual: float
    corrections: int
    statics: Statics


def statics(what: Any, start: Any, elements: int | None = None, **at: Any) -> Statics:
    """`tl.statics`, of a chain near the start that it looks for by itself."""
    if isinstance(what, Chain) and not isinstance(start, ChainState):
        start = near_rest(what, what.checked_length(start), elements)
    return tl.statics(*as_system(what, start), **at)


def equilibrium(pendulum: Chain, deployed: float, elements: int | None = None, **at: Any) -> Equilibrium:
    """Where a chain stays at rest with the reel locked."""
    found = statics(pendulum, deployed, elements, **at)
    line = found.line
    assert line.holding_torque is not None
    still = chain_state(found.system, found.state, guide_at(pendulum, at.get("time", 0.0)))
    return Equilibrium(
        ChainState(still.reeled_length, 0.0, still.nodes, np.zeros_like(still.nodes), still.attitude),
        line.tension,
        line.strain,
        line.start_tension,
        line.end_tension,
        line.holding_torque,
        found.counted,
        found.residual,
        found.corrections,
        found,
    )


def modes(
    what: Any, at: Any = None, *, deployed: float | None = None, elements: int = 20, **options: Any
) -> xr.Dataset:
    """`tl.modes`, of a chain at rest or with a length deployed."""
    if isinstance(what, Chain):
        if at is None:
            assert deployed is not None
            at = equilibrium(what, deployed, elements)
        if isinstance(at, Equilibrium):
            return tl.modes(at.statics.system, at.statics, **options)
        what, at = as_system(what, at)
    return tl.modes(what, at, **options)


def lyapunov(what: Any, state: Any, *rest: Any, **options: Any) -> xr.Dataset:
    """`tl.analysis.lyapunov`."""
    return tl.analysis.lyapunov(*as_system(what, state), *rest, **options)


def integrate(what: Any, state: Any, command: Any, **options: Any) -> xr.Dataset:
    """`tl.reference.integrate`, of one line and one body without their dimensions."""
    return of_one(tl.reference.integrate(*as_system(what, state), command, **options))


def end_distance(a: xr.Dataset, b: xr.Dataset) -> float:
    """Largest difference of two runs over the whole configuration at the end."""
    parts = ("position", "reeled_length", "attitude")
    return max(float(np.abs(a[name][-1] - b[name][-1]).max()) for name in parts)


def wavy(t: float) -> tuple[float, float, float]:
    """Path of a guide that moves along all axes (m)."""
    return 0.5 * np.sin(2.0 * t), 0.2 * np.cos(3.0 * t), 0.3 * np.sin(t)
