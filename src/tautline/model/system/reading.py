"""Objects from the sections of keys that describe a system: [bodies.NAME], [lines.NAME], [initial], [run]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tautline.errors import InputError
from tautline.model.command import Command
from tautline.model.file_keys import Problem, ProblemsError, Tree, keys_of
from tautline.model.forms import WrongValueError
from tautline.model.run import Run
from tautline.model.sequence import Sequence, Stage, StageKeys
from tautline.model.system.parts import Line
from tautline.model.system.section_reader import Reading
from tautline.model.system.sections import (
    BODY,
    BODY_LOADS,
    BODY_START,
    COMMAND,
    FLUID,
    HEADS,
    KIND,
    KINDS,
    KINEMATIC,
    KINEMATIC_BODY,
    LEADING,
    LINE,
    LINE_START,
    LINE_STATE,
    OF_PLACES,
    ORBIT,
    PLACED,
    REEL,
    RUN,
    STAGE,
    START,
    STATE,
    STRING,
    TOP,
    UNSTEADY,
    is_sequence,
)
from tautline.model.system.sheaves import over_part
from tautline.model.system.starts import Placed, Start
from tautline.model.system.state import State
from tautline.model.system.system import System
from tautline.model.wording import near, no_such
from tautline.units import shown

NO_ELEMENTS = Problem(("run", "elements"), "expected none: every string has its own elements")


class Described(NamedTuple):
    """Objects that the sections of a system describe."""

    system: System
    start: Start
    commands: dict[str, Command]
    run: Run
    title: str
    description: str


def read(tree: Mapping[str, Any], reading: Reading | None = None) -> Described:
    """Objects from a tree of keys; ProblemsError with all that is wrong."""
    reading = reading or Reading()
    top = _top(tree, reading)
    bodies: dict[str, Any] = {}
    loads: dict[str, dict[str, Any]] = {key: {} for key in BODY_LOADS}
    for name, x in reading.named(tree, "bodies").items():
        own = dict(x) if isinstance(x, Mapping) else x
        for key, part in BODY_LOADS.items():
            if isinstance(own, dict) and key in own:
                loads[key][name] = reading.made(part, own.pop(key), "bodies", name, key)
        bodies[name] = _body(reading, name, own)
    lines: dict[str, Any] = {}
    commands: dict[str, Any] = {}
    for name, x in reading.named(tree, "lines").items():
        lines[name], own = _line(reading, name, x)
        commands |= own
    orbit = reading.made(ORBIT, tree["orbit"], "orbit") if "orbit" in tree else None
    fluid = _fluid(reading, tree["fluid"]) if "fluid" in tree else None
    start = _start(reading, reading.named(tree, "initial"))
    if "run" not in tree:
        reading.problems.append(Problem(("run",), "missing"))
    run = reading.made(RUN, tree.get("run", {}), "run") if "run" in tree else None
    if run is not None and run.number_of_elements() is not None:
        reading.problems.append(NO_ELEMENTS)
    system = None
    if not reading.problems:
        try:
            system = System(bodies, lines, top.get("gravity"), orbit, fluid, *loads.values())
        except InputError as error:
            reading.refuse(error)
    if reading.problems or system is None or run is None:
        raise ProblemsError(reading.problems)
    words = (top.get("title", ""), top.get("description", ""))
    return Described(system, start, commands, run, *words)


def _start(reading: Reading, initial: dict[str, Any]) -> Any:
    """Where the run starts, from the section [initial]."""
    kind = initial.get("kind", PLACED)
    if kind not in KINDS:
        sentence = f"expected one of {', '.join(map(repr, KINDS))}, got {shown(kind)}{near(kind, KINDS)}"
        reading.problems.append(Problem(("initial", "kind"), sentence))
        return None
    if kind in START.options:
        return reading.made(START, initial, "initial")
    known = ("kind", "bodies", "lines", *(OF_PLACES if kind == PLACED else ()))
    for name in initial:
        if name not in known:
            reading.problems.append(Problem(("initial", name), no_such("key", name, known)))
    bodies, lines = (
        {name: reading.made(part, x, "initial", key, name) for name, x in reading.named(initial, key).items()}
        for key, part in (("bodies", BODY_START), ("lines", LINE_START if kind == PLACED else LINE_STATE))
    )
    if reading.problems:
        return None
    reading.note({name: initial[name] for name in ("kind", *OF_PLACES) if name in initial}, "initial")
    if kind == STATE:
        return State(bodies, lines)
    others = {}
    for name, word in OF_PLACES.items():
        try:
            others[name] = word.read(initial.get(name, word.default))
        except WrongValueError as error:
            reading.problems.append(Problem(("initial", name), str(error)))
    return None if reading.problems else Placed(bodies, lines, **others)


def _top(tree: Mapping[str, Any], reading: Reading) -> Tree:
    given: Tree = {}
    for name, value in tree.items():
        if name in TOP:
            try:
                given[name] = TOP[name].read(value)
                TOP[name].check(name, given[name])
            except WrongValueError as error:
                reading.problems.append(Problem((name, *error.place), str(error)))
            except InputError as error:
                reading.refuse(error)
        elif name not in HEADS:
            reading.problems.append(Problem((str(name),), no_such("key", name, [*TOP, *HEADS])))
    reading.note(given)
    return given


def _body(reading: Reading, name: str, value: Any) -> Any:
    section = dict(value) if isinstance(value, Mapping) else {}
    if KIND not in section and (section.get("shape") == KINEMATIC or LEADING.keys() & section.keys()):
        missing = f"missing; expected {KIND} = {KINEMATIC!r} and no shape, for a body whose motion is given"
        reading.problems.append(Problem(("bodies", name, KIND), missing))
        return None
    if KIND in section:
        kind = section.pop(KIND)
        if kind != KINEMATIC:
            sentence = f"expected {KINEMATIC!r}, or no such key for a body that moves freely, got {shown(kind)}"
            reading.problems.append(Problem(("bodies", name, KIND), sentence))
        reading.note({KIND: KINEMATIC}, "bodies", name)
        parts = {
            key: reading.made(part, section.pop(key), "bodies", name, key) if key in section else None
            for key, part in LEADING.items()
        }
        return reading.made(KINEMATIC_BODY, section, "bodies", name, **parts)
    return reading.made(BODY, value, "bodies", name)


def _fluid(reading: Reading, value: Any) -> Any:
    section = dict(value) if isinstance(value, Mapping) else value
    if not isinstance(section, dict) or "unsteady" not in section:
        return reading.made(FLUID, section, "fluid")
    unsteady = reading.made(UNSTEADY, section.pop("unsteady"), "fluid", "unsteady")
    return reading.made(FLUID, section, "fluid", unsteady=unsteady)


def with_string(section: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of a line, those of its string among them, which may stand in a section of their own."""
    found = dict(section)
    if isinstance(found.get("string"), Mapping):
        found |= dict(found.pop("string"))
    return found


def _line(reading: Reading, name: str, value: Any) -> tuple[Any, dict[str, Any]]:
    """A line, and the commands of its reels and sheaves by their names."""
    path = ("lines", name)
    section = dict(value) if isinstance(value, Mapping) else {}
    section = with_string(section)
    parts: dict[str, Any] = {}
    commands: dict[str, Any] = {}

    def take(given: dict[str, Any], key: str, of: str, *at: str) -> None:
        """Take a command out of a section."""
        if key in given:
            commands[of] = _command(reading, given.pop(key), *path, *at, key)

    for key, command in (("reel", "command"), ("end_reel", "end_command")):
        if command in section and key not in section:
            reading.problems.append(Problem((*path, command), "expected none for a string without a reel"))
        parts[key] = reading.made(REEL, section.pop(key), *path, key) if key in section else None
        take(section, command, name if key == "reel" else f"{name}.{key}")
    wheels = reading.named(section, "over") if isinstance(section.get("over", {}), Mapping) else {}
    if section.pop("over", None) is not None and wheels == {}:
        reading.problems.append(Problem((*path, "over"), "expected sections of sheaves and pins by name"))
    over = {}
    for key, x in wheels.items():
        wheel = {part: value for part, value in x.items() if part != "command"} if isinstance(x, Mapping) else x
        over[key] = reading.made(over_part(wheel), wheel, *path, "over", key)
        take(dict(x) if isinstance(x, Mapping) else {}, "command", f"{name}.{key}", "over", key)
    if over:
        parts["over"] = over
    own = {key: section.pop(key) for key in list(section) if key in keys_of(Line).kinds}
    string = reading.made(STRING, section, *path)
    if string is None or None in over.values():
        reading.look(LINE, own, *path)
        return None, commands
    return reading.made(LINE, own, *path, string=string, **parts), commands


def _command(reading: Reading, value: Any, *path: str) -> Any:
    """A command, or a sequence of those of its stages."""
    if not is_sequence(value):
        return reading.made(COMMAND, value, *path)
    stages = []
    for name, x in value.items():
        own = {key: y for key, y in x.items() if _is_of_stage(key)}
        command = reading.made(COMMAND, {key: y for key, y in x.items() if key not in own}, *path, name)
        ends = reading.made(STAGE, own, *path, name)
        if command is None or ends is None:
            continue
        try:
            stages.append(Stage(command, ends.until, ends.duration, ends.transition, name))
        except InputError as error:
            reading.problems.append(_of_stage(error, *path, name))
    if len(stages) < len(value):
        return None
    try:
        return Sequence(*stages)
    except InputError as error:
        reading.problems.append(_of_stage(error, *path))
        return None


def _is_of_stage(key: str) -> bool:
    """Whether a key is one of a stage, well spelled or not, and none of a command."""
    known = keys_of(StageKeys).kinds
    return key in known or (
        bool(near(key, known)) and not any(key in keys_of(cls).kinds for cls in COMMAND.options.values())
    )


def _of_stage(error: InputError, *path: str) -> Problem:
    """Problem of a stage, at the key that an error names: "Stage.until: ..."."""
    key, _, sentence = str(error).partition(": ")
    return Problem((*path, *key.split(".")[1:]), sentence)


def command(section: Mapping[str, Any]) -> Command:
    """A command from its keys."""
    found: Command = Reading().made(COMMAND, section, "command")
    return found
