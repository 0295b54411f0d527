"""Outputs that are kept of every member: a variable of the results or an expression, over time or reduced."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tautline.analysis.predictability import KNOWN, LOST
from tautline.model.expressions import Bound, Parts, bind
from tautline.model.expressions import read as read_expression
from tautline.schema import OF_SHEAVES, SCHEMA, Variable, by_line
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
# A reading is of one line.
VARIABLES = (
    {name: x for name, x in SCHEMA.items() if name not in OF_SHEAVES}  # of one sheave: an expression
    | OF_NEIGHBORS
    | {name: reading.variable._replace(dims=("time", "line")) for name, reading in READINGS.items()}
)
# Reduced together with the time: the line as a whole, each for itself. Components of vectors are not.
ALONG_THE_LINE = ("node", "element")
OVER_TIME_AND_LINE = ("max", "min", "mean")
# Without the sample at an event that ended a run, which comes sooner than the interval.
AT_INTERVAL = ("mean", "at", "series")
NORM = "norm"
PLACES = ("body", "line", "node", "element", "axis", "row", "column")
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Output:
    """A result of every member, and its dimensions beyond those of the members."""

    name: str
    variable: str
    reduce: str
    node: int | None = None
    element: int | None = None
    axis: str | None = None
    row: int | None = None
    column: int | None = None
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
    body: str | None = None
    line: str | None = None
    implied: tuple[str, ...] = ()  # body or line, where it is the only one and was not named
    parts: tuple[Any, ...] = ()  # of an expression: names of bodies, of free ones, of lines and of sheaves

    @property
    def expression(self) -> Bound | None:
        """Expression that is kept, if it is no plain variable."""
        return _bound(self.variable, tuple(map(tuple, self.parts))) if self.parts else None

    @property
    def described(self) -> Variable:
        """The variable of a run."""
        bound = self.expression
        if bound is not None:
            return Variable(("time",), results_unit(bound.expression.unit), self.variable)
        return VARIABLES[self.variable]

    @property
    def of_each_line(self) -> bool:
        """Whether it is made of the values of one line, or of each of them for itself."""
        along = any(dim in ALONG_THE_LINE for dim in self.described.dims)
        reduced = self.reduce == "reading" or (along and self.reduce in OVER_TIME_AND_LINE)
        return self.line is not None or reduced

    @property
    def sides(self) -> tuple[str, ...]:
        """Dimensions but the time, of the values of the body or line that it is made of."""
        gone = ("line",) * self.of_each_line + ("body",) * (self.body is not None)
        return tuple(dim for dim in self.described.dims[1:] if dim not in gone)

    @property
    def needs(self) -> tuple[str, ...]:
        """Variables of a run that it is made of."""
        if self.expression is not None:
            return tuple(dict.fromkeys((*self.expression.needs, "time")))
        return (*READINGS[self.variable].needs, "time") if self.variable in READINGS else (self.variable,)

    def fits(self, elements: int) -> bool:
        """Whether a mesh of so many elements has the chosen node or element."""
        chosen = ((self.node, elements + 1), (self.element, elements))
        return all(k is None or -size <= k < size for k, size in chosen)

    @property
    def units(self) -> str:
        return self.described.units

    @property
    def long_name(self) -> str:
        """In words, with what was chosen."""
        said = [dim for dim in PLACES if dim not in self.implied and getattr(self, dim) is not None]
        chosen = [f"{dim} {getattr(self, dim)}" for dim in said]
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
def _bound(text: str, parts: tuple[Any, ...]) -> Bound:
    bodies, free, lines, sheaves = parts
    return bind(read_expression("outputs", text), Parts(bodies, free, dict.fromkeys(lines), by_line(sheaves)))
