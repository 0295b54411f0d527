"""Strands of a system, as the kernels take them: each span of a line, with the drum or wheel at its start, and alone
the drum at the end of a line and each wheel on which a rope may slip."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from tautline.engine import lowering
from tautline.kernels import data
from tautline.kernels.network import data as kernels
from tautline.kernels.network.friction import LAWS
from tautline.model.body import RigidBody
from tautline.model.checks import ZERO, Vector
from tautline.model.description import changed
from tautline.model.reel import Reel
from tautline.model.short_keys import names_of
from tautline.model.system.parts import Line
from tautline.model.system.sheaves import Wheel
from tautline.model.system.system import System

# What stands for the reel of a string that has none.
NO_REEL = Reel(1.0, 0.0, 1.0, guide_law="none")
NO_SPAN = -1
NO_FRICTION = kernels.Friction(0, 0.0, 0.0, 1.0)


class StrandOf(NamedTuple):
    """Place of a strand in the system."""

    line: str
    span: int  # number of the span, or NO_SPAN for the drum at the end of a line alone; below it one of a wheel alone
    drive: str  # name by which the reel or sheave at its start is commanded; "" where there is none
    reel: Reel | None  # the drum at its start
    wheel: Wheel | None  # the sheave or pin at its start


def strands_of(system: System) -> tuple[StrandOf, ...]:
    """Strands of a system in the order of the kernels: lines, their spans, and the drums at their ends.

    Behind all of them wheels on which a rope may slip, which then are what is commanded.
    """
    found, alone = [], []
    for name, line in system.lines.items():
        found.append(StrandOf(name, 0, name if line.reel is not None else "", line.reel, None))
        for k, wheel in enumerate(system.wheels(name), 1):
            found.append(StrandOf(name, k, "" if wheel.slips else wheel.command, None, wheel))
            if wheel.slips:
                alone.append(StrandOf(name, NO_SPAN - k, wheel.command, None, wheel))
        if line.end_reel is not None:
            found.append(StrandOf(name, NO_SPAN, f"{name}.end_reel", line.end_reel, None))
    return (*found, *alone)


def elements_of(system: System, strand: StrandOf) -> int:
    """Number of elements; a drum or wheel alone has one that nothing looks at."""
    return 1 if strand.span < 0 else system.lines[strand.line].count


def is_reeved(system: System, strand: StrandOf) -> bool:
    """Whether its length changes otherwise than by a reel of its own at its start."""
    line = system.lines[strand.line]
    return line.is_reeved or _shaft_of(system, strand) is not None


def _shaft_of(system: System, strand: StrandOf) -> list[tuple[str, str]] | None:
    """Reels on the shaft of the drum of a string, if there are several."""
    key = "end_reel" if strand.span == NO_SPAN else "reel"
    for places in system.shafts().values():
        if len(places) > 1 and strand.reel is not None and (strand.line, key) in places:
            return places
    return None


class Holder(NamedTuple):
    """Bodies that hold both ends of a string, and where, in the frames of the bodies."""

    ends: tuple[str, str]
    points: tuple[Vector, Vector]


def holder_of(system: System, strand: StrandOf) -> Holder:
    """Ends of a string; those of a drum alone are both at the end of its line."""
    line = system.lines[strand.line]
    if strand.span == NO_SPAN:
        return Holder((line.end, line.end), (line.end_point, line.end_point))
    if strand.span < 0 and strand.wheel is not None:
        return Holder((strand.wheel.on, strand.wheel.on), (strand.wheel.center, strand.wheel.center))
    span = system.spans(strand.line)[strand.span]
    return Holder(span.ends, span.points)


def parameters(line: Line, strand: StrandOf, elements: int, turns: bool, compensated: bool) -> data.Parameters:
    """Kernel parameters of a string and its reel; `turns` says whether the body at its end can turn."""
    reel = strand.reel
    par = lowering.line_parameters(line.string, reel or NO_REEL, elements, "symmetric", compensated)
    if strand.span == NO_SPAN and reel is not None:  # whose span has more elements
        par = par._replace(extrapolated=reel.guide_strain == "extrapolated" and line.count > 1)
    return par._replace(rotates=turns, kappa=0.0 if reel is None else par.kappa)


def axis_of(system: System, strand: StrandOf) -> Vector:
    """Axis of the drum or wheel times its radius where its body can turn, else 0."""
    line = system.lines[strand.line]
    on = holder_of(system, strand).ends[0]
    body = system.bodies.get(on)
    if body is None or (isinstance(body, RigidBody) and body.is_point):
        return ZERO
    if strand.wheel is not None:
        return _scaled(strand.wheel.radius, strand.wheel.axis)
    axis = line.drum_axis if strand.span != NO_SPAN else line.end_drum_axis
    if strand.reel is None or axis is None:
        return ZERO
    return _scaled(strand.reel.drum_radius, axis)


def _scaled(size: float, axis: Vector) -> Vector:
    return (size * axis[0], size * axis[1], size * axis[2])


def friction_of(wheel: Wheel) -> kernels.Friction:
    """Numbers of the friction of a wheel."""
    law = LAWS.index(wheel.law)
    coefficient = {
        "none": 0.0,
        "efficiency": 1.0 - wheel.efficiency,
        "bearing": wheel.friction * wheel.bearing_ratio,
        "pin": wheel.friction,
    }[wheel.law]
    return kernels.Friction(law, coefficient, 2.0 * math.pi * wheel.turns, wheel.smoothing_speed)


def groove_of(wheel: Wheel) -> kernels.Friction:
    """Numbers of the friction between a rope and the groove of its wheel."""
    return kernels.Friction(LAWS.index("pin"), wheel.groove_friction, 2.0 * math.pi * wheel.turns, 0.0)


def reeving_of(
    system: System, all_strands: tuple[StrandOf, ...], k: int, par: data.Parameters, center: Vector
) -> kernels.Reeving:
    """Feeds of string k, and the wheel at its start; `center` is that of the wheel from the center of mass."""
    strand = all_strands[k]
    lead, factor = shaft_leader(system, all_strands, k)
    stop, stop_factor = -1, 1.0
    behind = all_strands[k + 1] if k + 1 < len(all_strands) else strand
    if strand.span >= 0 and behind.line == strand.line and behind.span in (strand.span + 1, NO_SPAN):
        stop, stop_factor = shaft_leader(system, all_strands, k + 1)
        if behind.span == NO_SPAN:
            stop_factor = -stop_factor
    wheel, wrap, friction, groove, span, under = par, 0.0, NO_FRICTION, NO_FRICTION, k, -1
    if strand.span == NO_SPAN:  # the drum at the end of a line: the last span runs onto it
        span = max(i for i, x in enumerate(all_strands) if x.line == strand.line and x.span >= 0)
    if strand.wheel is not None:
        wrap, inertia = par.mu * strand.wheel.wrap, strand.wheel.inertia_mass
        friction = friction_of(strand.wheel)
        if strand.span < 0:  # the wheel alone; the rope on it belongs to the span behind it
            span = _place_of(all_strands, strand.line, NO_SPAN - strand.span)
            wrap = 0.0 * wrap
        elif strand.wheel.slips:
            under = _place_of(all_strands, strand.line, NO_SPAN - strand.span)
            groove = groove_of(strand.wheel)
            friction, inertia = NO_FRICTION, 0.0 * inertia
        wheel = par._replace(mu=0.0, kappa=inertia + wrap, d=0.5 * strand.wheel.height)
    if lead != k and strand.reel is not None:  # the inertia of a shaft counts once
        wheel = par._replace(kappa=0.0)
    return kernels.Reeving(
        (lead, stop),
        (factor, stop_factor),
        strand.span < 0,
        strand.wheel is not None,
        wheel,
        wrap,
        center,
        friction,
        span,
        under,
        lead == k and _shaft_of(system, strand) is not None,
        groove,
    )


def _place_of(all_strands: tuple[StrandOf, ...], line: str, span: int) -> int:
    """Place of a span of a line, or of what has a number below 0, among all strings."""
    return next(k for k, x in enumerate(all_strands) if x.line == line and x.span == span)


def shaft_leader(system: System, all_strands: tuple[StrandOf, ...], k: int) -> tuple[int, float]:
    """String whose reel turns the drum or wheel at the start of string k, and its speed there over that reel's."""
    strand = all_strands[k]
    if strand.reel is None and strand.wheel is None:
        return -1, 1.0
    places = _shaft_of(system, strand)
    if places is None or strand.reel is None:
        return k, 1.0
    name, key = places[0]
    span = NO_SPAN if key == "end_reel" else 0
    lead = next(i for i, x in enumerate(all_strands) if x.line == name and x.span == span)
    first = all_strands[lead].reel
    assert first is not None
    factor = strand.reel.sense / first.sense * strand.reel.drum_radius / first.drum_radius
    return lead, factor


def words_for(system: System, strand: StrandOf) -> str:
    """Words for a span: its line, and what it runs between."""
    wheels = [x.name for x in system.wheels(strand.line)]
    start, end = ["start", *wheels][strand.span], [*wheels, "end"][strand.span]
    return f"span {strand.span} of line {strand.line!r}, from {start!r} to {end!r}"


def wheel_reel(strand: StrandOf) -> Reel:
    """The drum at the start of a string, or one with the radius of the sheave there."""
    if strand.reel is not None or strand.wheel is None:
        return strand.reel or NO_REEL
    return changed(NO_REEL, drum_radius=strand.wheel.radius)


def meshes_of(system: System) -> Iterator[tuple[int, str, slice, str]]:
    """Meshes of a system: number of the string, key, nodes among those of all, and line; one for each span."""
    node = 0
    for k, strand in enumerate(strands_of(system)):
        if strand.span >= 0:
            line = system.lines[strand.line]
            key = strand.line if line.spans == 1 else f"{strand.line}.{strand.span}"
            yield k, key, slice(node, node + line.count + 1), strand.line
            node += line.count + 1


def key_in_files(system: System, name: str) -> str:
    """Key of a line in files; empty where short keys stand for it."""
    return f"lines.{name}" if names_of(system) is None else ""
