"""Stepper: what a backend and a watch ask of the calls of the kernels, on the chain and on the network."""

from __future__ import annotations

from typing import Any, Protocol

from tautline.engine.turns import Turns
from tautline.kernels import data
from tautline.model.run import Method


class Stepper(Protocol):
    """A motion in the kernels' terms, and the calls that change it. Samples are tuples of arrays, one row a moment."""

    turns: Turns
    method: Method
    plan: data.Plan

    @property
    def time(self) -> float:
        """Simulated time (s), from the counter of base steps."""
        ...

    def counted_from(self) -> tuple[data.Array, data.Counters]:
        """The array with the time at which steps are counted from, and their counters."""
        ...

    def limits(self) -> Any:
        """Step limits of the present motion (s), by the fields of a tuple."""
        ...

    def step_limits(self, lengths: Any = None) -> dict[str, float]:
        """Largest steps of "auto" (s), by what limits them; with other lengths deployed, by the names of lines."""
        ...

    def allowed_step(self) -> float:
        """Smallest of these."""
        ...

    def samples_for(self, rows: int) -> Any:
        """Room for samples."""
        ...

    def march(self, out: Any, plan: data.Plan) -> tuple[int, int]:
        """Fill samples; the kernels' status, and how many."""
        ...

    def observe(self, out: Any, time: float) -> None:
        """Put the present state into a sample."""
        ...

    def saved(self) -> Any:
        """A copy of the motion."""
        ...

    def put_back(self, saved: Any) -> None:
        """Go back to a copy."""
        ...

    def following(self) -> dict[str, Any]:
        """Parts of the commands of reels, to be followed again."""
        ...

    def follow_again(self, kept: dict[str, Any]) -> None:
        """Follow commands as before; the motion is put back by itself."""
        ...
