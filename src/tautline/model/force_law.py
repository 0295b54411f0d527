"""A force law of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.model import checks, refusals


class ForceState(NamedTuple):
    """State on which a force law may depend beside time and parameters; inertial frame, third axis down."""

    position: Array  # (N + 1, 3): of the nodes, from the guide entrance to the body (m)
    velocity: Array  # (N + 1, 3): of the string's material at the nodes (m/s)
    attitude: Array  # (3, 3): rotation matrix, body to inertial frame
    angular_velocity: Array  # (3,): of the body, in the body frame (rad/s)
    deployed_length: float  # unstretched (m)
    reel_speed: float  # positive in retrieval (m/s)


@dataclass(frozen=True)
class ForceLaw:
    """Forces on the string and a moment on the body, by a function of time and state.

    Parameters
    ----------
    function : callable
        Called as ``function(t, state, parameters, force, moment)``: with the time (s), a `ForceState` and the
        parameters as an array. It writes the forces on the nodes into ``force`` (N; shape (N + 1, 3), inertial frame)
        and a moment on the body about its attachment point into ``moment`` (N m; three numbers, inertial frame); both
        are zero before. All arrays are there for the time of the call only. A function compiled with ``numba.njit``
        runs as fast as the loads that are built in; a plain Python function costs some tens of microseconds a call, and
        there are four calls in a step.
    parameters : floats
        Numbers of its own.
    name : str, optional
        For messages; that of the function by default.
    rate : float
        If the law resists motion: a bound on how fast it slows any small motion (1/s), such as damping over mass. Steps
        keep to what is stable for it. 0 by default.
    """

    function: Callable[[float, ForceState, Array, Array, Array], None]
    parameters: Sequence[float] = ()
    name: str = ""
    rate: float = 0.0

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        if not callable(self.function):
            checks.refuse("ForceLaw.function", "something that can be called", self.function)
        set_(self, "parameters", tuple(checks.array("ForceLaw.parameters", self.parameters, (None,), "SI").tolist()))
        checks.instance("ForceLaw.name", self.name, str)
        set_(self, "name", self.name or getattr(self.function, "__name__", type(self.function).__name__))
        set_(self, "rate", checks.non_negative("ForceLaw.rate", self.rate, "1/s"))

    def forces(self, t: float, state: ForceState) -> tuple[Array, Array]:
        """Forces on the nodes and moment on the body, by a call from Python."""
        force, moment = np.zeros_like(state.position), np.zeros(3)
        self.function(t, state, np.array(self.parameters), force, moment)
        return force, moment


def check_laws(loads: Any) -> tuple[ForceLaw, ...]:
    """Force laws that were given for a run, as a tuple."""
    if isinstance(loads, ForceLaw):
        return (loads,)
    if not isinstance(loads, (tuple, list)):
        checks.refuse("loads", "a ForceLaw(...) or a list of them", loads)
    for k, law in enumerate(loads):
        checks.instance(f"loads[{k}]", law, ForceLaw)
    return tuple(loads)


def refuse_saving(laws: Sequence[ForceLaw]) -> None:
    """Refuse to save a run with force laws."""
    if laws:
        raise refusals.SAVED_FORCE_LAW.error(repr(laws[0].name))
