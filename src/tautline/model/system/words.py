"""Systems and cases in few words, for those who print them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tautline.model.body import RigidBody

if TYPE_CHECKING:
    from tautline.model.system.case import Case
    from tautline.model.system.parts import Line
    from tautline.model.system.system import System

MOST = 6  # bodies and lines that are named


def words_for_system(system: System) -> str:
    """Bodies, lines and what acts on all of them."""
    around = ["in an orbit" if system.orbit is not None else f"gravity {system.gravity:g} m/s^2"]
    around += ["in a fluid"] if system.fluid is not None else []
    rows = [
        _row("bodies", (f"{name} ({_body(body)})" for name, body in system.bodies.items())),
        _row("lines", (f"{name} ({_line(line)})" for name, line in system.lines.items())),
    ]
    return "\n".join([f"System: {', '.join(around)}", *rows])


def words_for_case(case: Case) -> str:
    """The system, where it starts, what its reels do, and for how long."""
    commands = (f"{name} ({type(x).__name__})" for name, x in case.commands.items())
    run = f"{case.run.duration:g} s, step {case.run.step if isinstance(case.run.step, str) else f'{case.run.step:g} s'}"
    head, *parts = words_for_system(case.system).splitlines()
    title = f"Case {case.title!r}: " if case.title else "Case: "
    rows = [f"  start: {type(case.start).__name__}", _row("commands", commands), f"  run: {run}"]
    return "\n".join([title + head.partition(": ")[2], *parts, *rows])


def _row(what: str, parts: Iterable[str]) -> str:
    found = list(parts)
    more = [f"and {len(found) - MOST} more"] if len(found) > MOST else []
    return f"  {what}: {', '.join([*found[:MOST], *more]) or 'none'}"


def _body(body: Any) -> str:
    if isinstance(body, RigidBody):
        return f"{body.mass:g} kg"
    return "fixed" if body.path is None and body.turning is None else "its motion is given"


def _line(line: Line) -> str:
    over = f" over {', '.join(line.over)}" if line.over else ""
    reel = ", reel" if line.reel is not None else ""
    return f"{line.string.length:g} m, {line.start} to {line.end}{over}{reel}"
