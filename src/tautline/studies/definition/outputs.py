"""Outputs that are kept of every member: a variable of the results or an expression, over time or reduced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tautline.analysis.predictability import KNOWN, LOST
from tautline.errors import InputError
from tautline.model.expressions import SENSORS, Bound, Parts, bind, described, read
from tautline.schema import SCHEMA, Variable, by_line
from tautline.studies.definition.readings import READINGS
from tautline.units import results_unit

# Of a motion as a whole, by watching neighboring motions.
OF_NEIGHBORS = {
    "lyapunov": Variable((), "s-1", "largest Lyapunov exponent: how fast neighboring motions part"),
    "predictability_time": Variable((), "s", "how far ahead a prediction holds, by the Lyapunov exponent"),
}
# Kept of every member in any case, to say how far its numbers can be trusted.
HEALTH = {
    "balance_error": "largest error of the energy balance, of the energy in play",
    "reel_speed_ratio": "largest speed of the reel over the wave speed of the string",
    "mesh_noise": "part of the energy in motions that the mesh cannot resolve",
    "mesh_error": "estimated error of the mesh",
    "largest_step_ratio": "largest step over the stability limit",
}
# Reduced together with the time: the line as a whole, each for itself. Components of vectors are not.
ALONG_THE_LINE = ("node", "element")
OVER_TIME_AND_LINE = ("max", "min", "mean")
# Without the sample at an event that ended a run, which comes sooner than the interval.
AT_INTERVAL = ("mean", "at", "series")
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Output:
    """A result of every member, and its dimensions beyond those of the members."""

    name: str
    variable: str
    reduce: str
    at: tuple[int, ...] = ()  # samples, of reduce = "at"
    times: tuple[float, ...] = ()  # the same in seconds
    window: tuple[int, ...] = ()  # first sample and the one after the last, of reductions over a part of the run
    limits: tuple[float | None, ...] = ()  # the same in seconds, as given
    dims: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    interval: float = 0.0  # between measurements of how far neighbors have parted (s)
    known: float = KNOWN
    lost: float = LOST
    curve: tuple[float, ...] = ()  # of the damage, as TensionCurve has it
    line: str | None = None  # of a reading; None for each line
    parts: tuple[Any, ...] = ()  # of an expression: names of bodies, of free ones, of lines and of sheaves

    @property
    def needs(self) -> tuple[str, ...]:
        """Variables of a run that it is made of."""
        if self.reduce == "reading":
            return (*READINGS[self.variable].needs, "time")
        return self.bound().needs if self.parts else (self.variable,)

    @property
    def described(self) -> Variable:
        """The variable of a run, or the quantity that is read off one."""
        if self.variable in OF_NEIGHBORS:
            return OF_NEIGHBORS[self.variable]
        if self.reduce == "reading":
            return READINGS[self.variable].variable
        if self.variable in (*SCHEMA, *SENSORS):
            return described(self.variable)
        return Variable((), results_unit(self.bound().expression.unit), self.variable)

    def bound(self, elements: Mapping[str, int] | None = None) -> Bound:
        """The expression for runs whose lines have so many elements; refuses nodes and elements that they lack."""
        return _bound(self.variable, self.parts, None if elements is None else tuple(elements.values()))

    def fits(self, elements: Mapping[str, int]) -> bool:
        """Whether lines with so many elements have the chosen node or element."""
        try:
            return not self.parts or bool(self.bound(elements))
        except InputError:
            return False

    @property
    def units(self) -> str:
        return self.described.units

    @property
    def long_name(self) -> str:
        """In words, with what was chosen."""
        chosen = [f"line {self.line}"] if self.line is not None else []
        how = {
            "series": "",
            "neighbors": "",
            "reading": "",
            "final": "at the end: ",
            "at": f"at {', '.join(f'{t:g}' for t in self.times)} s: ",
            "max": "largest ",
            "min": "smallest ",
            "mean": "mean ",
        }[self.reduce]
        ends = zip(("from", "to"), self.limits, strict=False)
        chosen += [f"{word} {time:g} s" for word, time in ends if time is not None]
        return how + self.described.long_name + (f" ({', '.join(chosen)})" if chosen else "")


@cache
def _bound(text: str, parts: tuple[Any, ...], counts: tuple[int, ...] | None) -> Bound:
    bodies, free, lines, sheaves = parts
    elements = dict.fromkeys(lines) if counts is None else dict(zip(lines, counts, strict=True))
    return bind(read("outputs", text), Parts(bodies, free, elements, by_line(sheaves)))
