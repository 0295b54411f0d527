"""The schema of results: names, dimensions, units."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tautline import ledger


class Variable(NamedTuple):
    dims: tuple[str, ...]
    units: str
    long_name: str


TIME = ("time",)
AXES = ["x", "y", "z"]
MODE = ("mode",)
MODES_SCHEMA = {
    "frequency": Variable(MODE, "Hz", "natural frequency; 0 for a rigid or a growing motion"),
    "angular_frequency": Variable(MODE, "rad s-1", "2 pi times the frequency"),
    "growth_rate": Variable(MODE, "s-1", "of a motion that grows away from rest; 0 where the rest is stable"),
    "kind": Variable(MODE, "", "longitudinal, swing, transverse, body, rigid"),
    "shape": Variable((*MODE, "node", "axis"), "1", "displacements of the nodes, per amplitude"),
    "body_shape": Variable((*MODE, "body", "axis"), "1", "displacements of the centers of mass, per amplitude"),
    "rotation": Variable((*MODE, "body", "axis"), "rad m-1", "small rotations, each in the body frame, per amplitude"),
    "reel": Variable((*MODE, "line"), "1", "change of reeled_length, per amplitude"),
    "modal_mass": Variable(MODE, "kg", "twice the kinetic energy at a rate of amplitude of 1 m/s"),
    "longitudinal_share": Variable(MODE, "1", "part of the kinetic energy that is motion along the lines"),
    "rotation_share": Variable(MODE, "1", "part of the kinetic energy that is rotation about centers of mass"),
    "position": Variable(("node", "axis"), "m", "positions of the nodes at rest; third axis down"),
    "body_position": Variable(("body", "axis"), "m", "positions of the centers of mass at rest"),
    "attitude": Variable(("body", "row", "column"), "1", "rotation matrices at rest, body to inertial frame"),
    "reeled_length": Variable(("line",), "m", "unstretched length on the reel side of the guide entrance"),
    "balancing_torque": Variable(("line",), "N m", "constant torque that holds the drum in modes with a free reel"),
}
# Of systems with lines over sheaves and pins, or with reels at their ends.
MODES_OF_SHEAVES = {
    "passed": Variable((*MODE, "sheave"), "1", "change of the length that has passed, per amplitude"),
    "span_length": Variable(("span",), "m", "unstretched lengths of the spans at rest, where lines have several"),
    "end_reeled_length": Variable(("line",), "m", "unstretched length on the reel at the end of a line"),
}


LYAPUNOV_SCHEMA = {
    "growth_rate": Variable(TIME, "s-1", "of the distance to a neighboring motion, in the interval that ends here"),
    "exponent": Variable(TIME, "s-1", "largest Lyapunov exponent, as estimated up to here"),
}


# Of a variable that is chosen, whose unit stands in the place of {unit}, its square in that of {square}.
CYCLE = ("cycle",)
RAINFLOW_SCHEMA = {
    "range": Variable(CYCLE, "{unit}", "range of the cycle, from valley to peak"),
    "mean": Variable(CYCLE, "{unit}", "mean of valley and peak"),
    "count": Variable(CYCLE, "1", "1 for a full cycle, 0.5 for a half cycle"),
    "begin": Variable(CYCLE, "s", "time of the earlier turning point"),
    "end": Variable(CYCLE, "s", "time of the later turning point"),
}
SPECTRUM_SCHEMA = {
    "frequency": Variable(("frequency",), "Hz", "frequency"),
    "density": Variable(
        ("frequency",), "{square} s", "power spectral density, one-sided; its integral is the variance"
    ),
}
LEVEL = ("level",)
EXCEEDANCE_SCHEMA = {
    "level": Variable(LEVEL, "{unit}", "level"),
    "time_above": Variable(LEVEL, "1", "part of the time spent above the level"),
    "upcrossings": Variable(LEVEL, "1", "how many times the level is crossed upwards"),
}


EVENT = ("event",)
# Cycles of bending of the sections of a rope, by what bends them.
BENDING_SCHEMA: dict[str, Variable] = {
    "wheel": Variable(("wheel",), "", "sheave or drum"),
    "section": Variable(("section",), "m", "place of the section along the unstretched rope, from its start"),
    "cycles": Variable(("wheel", "section"), "1", "cycles of bending"),
}
SLACK_SCHEMA = {
    "begin": Variable(EVENT, "s", "when the first part of the line goes slack"),
    "end": Variable(EVENT, "s", "when the last part of the line is taut again, or the run ends"),
    "duration": Variable(EVENT, "s", "from begin to end"),
    "nearest": Variable(EVENT, "1", "slack place nearest to the start of the line, 0; its end is 1"),
    "farthest": Variable(EVENT, "1", "slack place farthest from the start of the line, 0; its end is 1"),
    "largest_part": Variable(EVENT, "1", "largest part of the line that is slack at one time"),
}


class Output(NamedTuple):
    """A variable of every run that follows from others.

    Attributes
    ----------
    variable : Variable
    needs : tuple of str
        Names of those that it follows from.
    formula : callable
        From these by name to its values. They have the dimensions of the schema, may carry derivatives, and may have
        one dimension more, the last, of the members of a study.
    """

    variable: Variable
    needs: tuple[str, ...]
    formula: Callable[[Mapping[str, Any]], Any]


DERIVED = {
    "energy": Output(
        Variable(TIME, "J", "total energy"),
        tuple(ledger.names(ledger.STORED)),
        lambda x: sum(x[name] for name in ledger.names(ledger.STORED)),
    ),
}


# Of every run. Nodes and elements are those of all lines, one line after the other.
_BODY, _LINE = (*TIME, "body"), (*TIME, "line")
_MOVED = {"guide_work": "work done by prescribed motion, of bodies and of the frame of an orbit, since the start"}
_MOVED |= {"external_work": "work done by forces and moments on the bodies since the start"}
SCHEMA = {
    "body_position": Variable((*_BODY, "axis"), "m", "positions of the centers of mass; third axis down"),
    "body_velocity": Variable((*_BODY, "axis"), "m s-1", "velocities of the centers of mass"),
    "attitude": Variable((*_BODY, "row", "column"), "1", "rotation matrices, body to inertial frame"),
    "angular_velocity": Variable((*_BODY, "axis"), "rad s-1", "of the bodies, each in its own frame"),
    "orthogonality_error": Variable(_BODY, "1", "Frobenius norm of I - R^T R"),
    "position": Variable((*TIME, "node", "axis"), "m", "positions of the nodes; third axis down"),
    "velocity": Variable((*TIME, "node", "axis"), "m s-1", "velocities of the mesh nodes"),
    "strain": Variable((*TIME, "element"), "1", "strain of the elements"),
    "tension": Variable((*TIME, "element"), "N", "tension in the elements; negative in compression"),
    "reeled_length": Variable(_LINE, "m", "unstretched length on the reel side of the guide entrance"),
    "reel_speed": Variable(_LINE, "m s-1", "rate of reeled_length; positive in retrieval"),
    "unstretched_length": Variable(_LINE, "m", "unstretched length of the deployed string"),
    "stretched_length": Variable(_LINE, "m", "stretched length of the deployed string"),
    "start_tension": Variable(_LINE, "N", "tension at the start of the string, by the balance of its node"),
    "end_tension": Variable(_LINE, "N", "tension at the end of the string, by the balance of its node"),
    "torque": Variable(_LINE, "N m", "torque of the motor on the drum; positive retrieves"),
    "power": Variable(_LINE, "W", "power of the motor; positive where it drives the drum"),
    "motor_work": Variable(_LINE, "J", "work done by the motor of the drum since the start"),
    **{x.name: Variable(TIME, x.unit, _MOVED.get(x.name, x.sentence)) for x in ledger.ACCOUNTS},
    **{name: output.variable for name, output in DERIVED.items()},
    "linear_momentum": Variable((*TIME, "axis"), "kg m s-1", "of bodies and lines; ends that are held not included"),
    "angular_momentum": Variable((*TIME, "axis"), "kg m2 s-1", "of bodies and lines about the origin"),
}
# Of runs in which a line runs over sheaves or pins, in the order of the lines.
_SHEAVE = (*TIME, "sheave")
OF_SHEAVES = {
    "span_length": Variable((*TIME, "span"), "m", "unstretched lengths of the spans of all lines"),
    "span_start_tension": Variable((*TIME, "span"), "N", "tension at the start of the span"),
    "span_end_tension": Variable((*TIME, "span"), "N", "tension at the end of the span"),
    "passed": Variable(_SHEAVE, "m", "unstretched length that has passed towards the start of the line"),
    "passing_speed": Variable(_SHEAVE, "m s-1", "rate of passed"),
    "rim_speed": Variable(_SHEAVE, "m s-1", "speed of the rim of the wheel; passing_speed unless rope slips"),
    "rim_travel": Variable(_SHEAVE, "m", "length that the rim has turned by since the start; passed unless rope slips"),
    "sheave_torque": Variable(_SHEAVE, "N m", "torque of motor or lock on the wheel; positive moves rope to the start"),
    "sheave_power": Variable(_SHEAVE, "W", "power of the motor of the wheel; positive where it drives the wheel"),
    "sheave_work": Variable(_SHEAVE, "J", "work done by the motor of the wheel since the start"),
    "sheave_loss": Variable(_SHEAVE, "J", "energy lost by friction of bearing, groove or pin since the start"),
}
SCHEMA |= OF_SHEAVES


TIME_VARIABLE = Variable(TIME, "s", "time")


def register(name: str, output: Output) -> None:
    """Add a variable to the results of every run, at the beginning of a program."""
    if name in SCHEMA or not set(output.needs) <= SCHEMA.keys():
        raise ValueError(f"output {name!r}: expected a new name, and variables of results that it follows from")
    DERIVED[name], SCHEMA[name] = output, output.variable


def needed_for(names: Iterable[str]) -> set[str]:
    """The variables themselves, and for those that follow from others these."""
    return {own for name in names for own in (name, *(DERIVED[name].needs if name in DERIVED else ()))}


class Layout(NamedTuple):
    """Variables of a kind of results, and the lengths of their dimensions."""

    variables: dict[str, Variable]
    lengths: dict[str, int]  # of all dimensions but time
    names: dict[str, list[str]] = {}  # noqa: RUF012 - never changed; labels of dimensions that have names
    spans: dict[str, dict[str, slice]] = {}  # noqa: RUF012 - never changed; nodes and elements of each string
    free: tuple[str, ...] = ()  # bodies that are not kinematic

    def sizes(self, rows: int) -> dict[str, int]:
        """Length of every dimension."""
        return {"time": rows, **self.lengths}

    def shape(self, name: str, rows: int) -> tuple[int, ...]:
        """Shape of a variable, or of the time."""
        size = self.sizes(rows)
        return tuple(size[d] for d in self.all_variables()[name].dims)

    def all_variables(self) -> dict[str, Variable]:
        """The variables, and the time before them."""
        return {"time": TIME_VARIABLE, **self.variables}

    def row_length(self) -> int:
        """Numbers in one sample."""
        return sum(math.prod(self.shape(name, 1)) for name in self.all_variables())


def of_system(bodies: list[str], lines: Mapping[str, int], over: Mapping[str, Sequence[str]] | None = None) -> Layout:
    """Results of a system, from the names of its bodies, the elements of its spans, and what each line runs over."""
    over = {} if over is None else over
    spans = {name: len(over.get(name, ())) + 1 for name in lines}
    elements = sum(spans[name] * count for name, count in lines.items())
    lengths = {
        "body": len(bodies),
        "line": len(lines),
        "node": elements + sum(spans.values()),
        "element": elements,
    }
    names = {"body": bodies, "line": list(lines)}
    sheaves = sheave_names(over)
    if sheaves:
        names |= {"span": span_names(spans), "sheave": sheaves}
        lengths |= {"span": sum(spans.values()), "sheave": len(sheaves)}
    absent = {dim for dim, there in (("body", bodies), ("sheave", sheaves), ("span", sheaves)) if not there}
    known = {name: v for name, v in SCHEMA.items() if absent.isdisjoint(v.dims)}
    return Layout(known, lengths | {"axis": 3, "row": 3, "column": 3}, names)


def sheave_names(over: Mapping[str, Sequence[str]]) -> list[str]:
    """Names of sheaves and pins of all lines, from those by lines."""
    return [f"{line}.{name}" for line, names in over.items() for name in names]


def by_line(sheaves: Iterable[str]) -> dict[str, list[str]]:
    """Names of sheaves and pins by lines, from those of all lines."""
    found: dict[str, list[str]] = {}
    for line, _, name in (sheave.partition(".") for sheave in sheaves):
        found.setdefault(line, []).append(name)
    return found


def span_names(spans: Mapping[str, int]) -> list[str]:
    """Names of the spans of all lines, from their numbers by line."""
    return [f"{line}.{k}" for line, count in spans.items() for k in range(count)]
