"""Sections of keys that describe a system: which there are, by their paths, and the parts whose keys they have."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from tautline.errors import InputError
from tautline.model import bodies, checks
from tautline.model.body import RigidBody
from tautline.model.command import COMMANDS, Command
from tautline.model.description import fields_of
from tautline.model.file_keys import keys_of
from tautline.model.fluid import AppliedForce, BodyInFluid, Fluid
from tautline.model.kinds import Choice, Flag, Kind, Quantity, Text
from tautline.model.parts import Part
from tautline.model.reel import Reel
from tautline.model.run import Run
from tautline.model.sequence import StageKeys
from tautline.model.string import String
from tautline.model.system.parts import Kinematic, Line, Orbit
from tautline.model.system.sheaves import SHEAVE, over_part
from tautline.model.system.starts import FRAMES, INERTIAL, AtEquilibrium, Hanging, Straight
from tautline.model.system.state import BodyState, LineStart, LineState

STRING = Part({"": String}, "The string, all of it, spooled and deployed.")
REEL = Part({"": Reel}, "The drum and its guide.")
BODY = Part(bodies.SHAPES, "The body.", word="shape", wanted=RigidBody, make=bodies.made, unmake=bodies.unmade)
COMMAND = Part(COMMANDS, "What the drum does.", word="kind", wanted=Command)
STAGE = Part({"": StageKeys}, "What ends a stage of a sequence, and how it begins.")
RUN = Part({"": Run}, "How long, in how many elements, and by which method.")
FLUID = Part({"": Fluid}, "Air or water around string and body.", default=None)


def _part(cls: type, name: str) -> Part:
    """Part that a field of a class is."""
    found = fields_of(cls)[name]
    assert isinstance(found, Part)
    return found


PATH, TURNING, UNSTEADY = _part(Kinematic, "path"), _part(Kinematic, "turning"), _part(Fluid, "unsteady")
KINEMATIC_BODY = Part({"": Kinematic}, "A body whose motion is given.")
ORBIT = Part({"": Orbit}, "The orbit that the frame falls along.")
BODY_START = Part({"": BodyState}, "Place and motion of a body at the start.")
LINE = Part({"": Line}, "Ends, mesh and reel of a string.")
LINE_START = Part({"": LineStart}, "Where a line starts.")
LINE_STATE = Part({"": LineState}, "Nodes of a line and its reel at the start.")
# Kinds of starts. Those that are described by keys of their own:
START = Part(
    {"straight": Straight, "hanging": Hanging, "equilibrium": AtEquilibrium}, "Where the run starts.", word="kind"
)
# Bodies at given places, and a state: sections by the names of bodies and lines.
PLACED, STATE = "placed", "state"
KINDS = (PLACED, *START.options, STATE)
# Keys of a start of bodies at given places, besides the sections of these.
OF_PLACES: dict[str, Kind] = {
    "settle": Flag("Start at rest near these places.", default=False),
    "frame": Choice(
        FRAMES,
        'Frame that places and motions of free bodies are in. "orbital", in an orbit: third axis as ever, first from '
        "the center of attraction through the origin; it turns with the orbit, so that bodies without a velocity stay "
        "along the local vertical.",
        default=INERTIAL,
    ),
}
# Keys without a section.
TOP: dict[str, Kind] = {
    "title": Text("A few words, for reports.", ""),
    "description": Text("What the case is about.", ""),
    "gravity": Quantity(
        "m/s^2", checks.non_negative, "Gravity along the third axis, which points down; 0 is allowed.", default=9.81
    ),
}
# Sections of a body besides its own.
BODY_LOADS = {
    "fluid": Part({"": BodyInFluid}, "How the body feels the fluid around it."),
    "applied_force": Part({"": AppliedForce}, "A force and a moment on the body over time.", default=None),
}
# Sections of the short form (short_keys.py), and those that both forms have.
SHORT_PARTS: dict[str, Part] = {
    "string": STRING,
    "reel": REEL,
    "body": BODY,
    "fluid": FLUID,
    "applied_force": BODY_LOADS["applied_force"],
    "guide": PATH,
    "command": COMMAND,
    "run": RUN,
}
# A body whose motion is given says so by `kind = "kinematic"`; sections of how it moves and turns, by their names.
KIND = "kind"
KINEMATIC = "kinematic"
LEADING = {"path": PATH, "turning": TURNING}
# Sections by their paths, in which a star is a name, and the parts whose keys they have.
SECTIONS: dict[tuple[str, ...], tuple[Part, ...]] = {
    ("bodies", "*"): (BODY,),
    ("bodies", "*", "path"): (PATH,),
    ("bodies", "*", "turning"): (TURNING,),
    **{("bodies", "*", key): (part,) for key, part in BODY_LOADS.items()},
    ("lines", "*"): (STRING, LINE),
    ("lines", "*", "reel"): (REEL,),
    ("lines", "*", "command"): (COMMAND,),
    ("lines", "*", "command", "*"): (COMMAND, STAGE),
    ("lines", "*", "over", "*"): (SHEAVE,),
    ("lines", "*", "over", "*", "command"): (COMMAND,),
    ("lines", "*", "over", "*", "command", "*"): (COMMAND, STAGE),
    ("lines", "*", "end_reel"): (REEL,),
    ("lines", "*", "end_command"): (COMMAND,),
    ("lines", "*", "end_command", "*"): (COMMAND, STAGE),
    ("orbit",): (ORBIT,),
    ("fluid",): (FLUID,),
    ("fluid", "unsteady"): (UNSTEADY,),
    ("initial", "bodies", "*"): (BODY_START,),
    ("initial", "lines", "*"): (LINE_START,),
    ("initial",): (),
    ("run",): (RUN,),
}
# The first names of those.
HEADS = tuple(dict.fromkeys(path[0] for path in SECTIONS))


def matches(path: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Whether a path is one of those of a pattern, in which a star is a name."""
    return all(star in ("*", name) for name, star in zip(path, pattern, strict=True))


@lru_cache(maxsize=1024)
def parts_at(path: tuple[str, ...]) -> tuple[Part, ...]:
    """Parts whose keys a section has; none for one that only holds others, or that there is not."""
    found = (parts for pattern, parts in SECTIONS.items() if len(pattern) == len(path) and matches(path, pattern))
    return next(found, ())


# Sections of commands, which may be sequences.
COMMANDS_OF_LINES = ("command", "end_command")


@lru_cache(maxsize=1)
def command_words() -> frozenset[str]:
    """Keys that commands have, which no stage of a sequence can be called."""
    return frozenset({COMMAND.word}.union(*(keys_of(cls).kinds for cls in COMMANDS.values())))


def is_sequence(section: Any) -> bool:
    """Whether the section of a command has a section for each stage of a sequence."""
    return isinstance(section, Mapping) and bool(section) and all(isinstance(x, Mapping) for x in section.values())


def staged(tree: Mapping[str, Any]) -> dict[str, Any]:
    """A tree of keys in which arrays of commands, `[[command]]`, are sections that are named by their numbers."""
    found = dict(tree)
    for name, x in tree.items():
        if name in COMMANDS_OF_LINES and isinstance(x, list | tuple) and all(isinstance(y, Mapping) for y in x):
            found[name] = {str(k): y for k, y in enumerate(x)}
        elif (name == "lines" and isinstance(x, Mapping)) or (name == "over" and isinstance(x, Mapping)):
            found[name] = {key: staged(y) if isinstance(y, Mapping) else y for key, y in x.items()}
    return found


def parts_of(path: tuple[str, ...], section: Mapping[str, Any]) -> tuple[Part, ...]:
    """Parts whose keys a section has, which depend on the kind of a body."""
    if path[-1:] in (("command",), ("end_command",)) and is_sequence(section):
        return ()
    if len(path) == 2 and path[0] == "bodies" and KIND in section:
        return (KINEMATIC_BODY,)
    if path == ("initial",) and section.get("kind") in START.options:
        return (START,)
    if len(path) == 4 and path[2] == "over":
        return (over_part(section),)
    if path[:2] == ("initial", "lines") and "nodes" in section:
        return (LINE_STATE,)
    return parts_at(path)


def class_of(part: Part, section: Mapping[str, Any]) -> type:
    """Class that has the keys of a section."""
    tag = section.get(part.word, "") if part.word else ""
    if tag not in part.options:
        raise InputError(f"{part.word}: no such kind")
    return part.options[tag]
