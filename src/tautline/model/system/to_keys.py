"""Keys of a system and of its case, as sections of files have them; reading.py goes the other way."""

from __future__ import annotations

from typing import Any

from tautline.model import file_keys
from tautline.model.command import Command, Free
from tautline.model.file_keys import Tree, keys_of
from tautline.model.fluid import BodyInFluid
from tautline.model.parts import Part
from tautline.model.run import Run
from tautline.model.sequence import Sequence, StageKeys
from tautline.model.system.commands import SHEAVE, drives, place_of
from tautline.model.system.parts import Kinematic, Line
from tautline.model.system.reading import Described
from tautline.model.system.sections import (
    BODY,
    COMMAND,
    KIND,
    KINEMATIC,
    LEADING,
    OF_PLACES,
    PLACED,
    START,
    STATE,
    UNSTEADY,
)
from tautline.model.system.starts import Placed, Start
from tautline.model.system.state import State
from tautline.model.system.system import System


def start_keys(start: Start, defaults: bool = True) -> Tree:
    """Keys of the section [initial]."""
    if not isinstance(start, Placed | State):
        return tagged(START, start, defaults)
    kind: Tree = {"kind": STATE}
    if isinstance(start, Placed):
        words = {name: getattr(start, name) for name in OF_PLACES}
        kind = {"kind": PLACED} | words if defaults else {k: x for k, x in words.items() if x != OF_PLACES[k].default}
    parts = {"bodies": start.bodies, "lines": start.lines}
    return kind | {
        key: {name: file_keys.to_keys(x, defaults) for name, x in things.items()}
        for key, things in parts.items()
        if things
    }


def command_keys(command: Command, defaults: bool = True) -> Tree:
    """Keys of a command; of a sequence a section for each stage."""
    if not isinstance(command, Sequence):
        return tagged(COMMAND, command, defaults)
    stages = zip(command.names, command.stages, strict=True)
    return {
        name: tagged(COMMAND, x.command, defaults)
        | file_keys.to_keys(StageKeys(x.until, x.duration, x.transition), defaults)
        for name, x in stages
    }


def complete(described: Described, defaults: bool = True) -> Tree:
    """Keys of what sections say, in plain SI numbers."""
    titles: Tree = {name: x for name, x in (("title", described.title), ("description", described.description)) if x}
    tree = titles | system_keys(described.system, defaults)
    for name, command in described.commands.items():
        if type(command) is Free and drives(described.system).get(name) == SHEAVE:
            continue  # what a sheave does without a command
        *path, key = place_of(name).path
        section = tree
        for step in path:
            section = section[step]
        section[key] = command_keys(command, defaults)
    tree["initial"] = start_keys(described.start, defaults)
    tree["run"] = run_keys(described.run, defaults)
    return tree


def system_keys(system: System, defaults: bool = True) -> Tree:
    """Keys of a system, in plain SI numbers."""
    tree: Tree = {"gravity": system.gravity} if system.orbit is None else {}
    if system.orbit is not None:
        tree["orbit"] = file_keys.to_keys(system.orbit, defaults)
    if system.fluid is not None:
        medium = file_keys.to_keys(system.fluid, defaults)
        tree["fluid"] = {key: x for key, x in medium.items() if key not in keys_of(BodyInFluid).kinds}
        if system.fluid.unsteady is not None:
            tree["fluid"]["unsteady"] = tagged(UNSTEADY, system.fluid.unsteady, defaults)
    tree["bodies"] = {name: body_keys(body, defaults) for name, body in system.bodies.items()}
    for key, loads in (("fluid", system.body_fluid), ("applied_force", system.applied_forces)):
        for name, load in loads.items():
            tree["bodies"][name][key] = file_keys.to_keys(load, defaults)
    tree["lines"] = {name: line_keys(line, defaults) for name, line in system.lines.items()}
    return tree


def run_keys(run: Run, defaults: bool = True) -> Tree:
    """Keys of the section [run]."""
    found = file_keys.to_keys(run, defaults)
    found.pop("elements", None)
    return found


def tagged(part: Part, thing: Any, defaults: bool = True) -> Tree:
    """Keys of the object of a section, with the word that tells its kind."""
    described = part.unmake(thing)
    tag = next((tag for tag, cls in part.options.items() if type(described) is cls), "")
    return ({part.word: tag} if part.word else {}) | file_keys.to_keys(described, defaults)


def body_keys(body: Any, defaults: bool) -> Tree:
    """Keys of the section of a body."""
    if isinstance(body, Kinematic):
        given = {key: (part, getattr(body, key)) for key, part in LEADING.items()}
        parts = {key: tagged(part, thing, defaults) for key, (part, thing) in given.items() if thing is not None}
        return {KIND: KINEMATIC} | file_keys.to_keys(body, defaults) | parts
    return tagged(BODY, body, defaults)


def line_keys(line: Line, defaults: bool) -> Tree:
    """Keys of the section of a line."""
    keys = file_keys.to_keys(line.string, defaults) | file_keys.to_keys(line, defaults)
    keys |= {key: file_keys.to_keys(reel, defaults) for key, reel in line.reels.items()}
    if line.over:
        keys["over"] = {name: file_keys.to_keys(thing, defaults) for name, thing in line.over.items()}
    return keys
