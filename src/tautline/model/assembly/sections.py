"""Sections of keys that describe an assembly, both ways: [bodies.NAME], [lines.NAME], [orbit], [initial], [run]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tautline.errors import InputError
from tautline.model import file_keys, kinds, sections
from tautline.model.assembly.assembly import System
from tautline.model.assembly.parts import Kinematic, Line, Orbit
from tautline.model.assembly.starts import Placed, Start
from tautline.model.assembly.state import BodyState, LineStart, LineState, State
from tautline.model.command import Command
from tautline.model.description import fields_of
from tautline.model.file_keys import Problem, ProblemsError, keys_of
from tautline.model.fluid import BodyInFluid
from tautline.model.kinds import Flag, WrongValueError
from tautline.model.parts import Part
from tautline.model.run import Run
from tautline.model.sections import SectionError, Tree
from tautline.model.starts import AtEquilibrium, Hanging, Straight
from tautline.model.wording import near
from tautline.units import shown

BODY = sections.SYSTEM["body"]
REEL = sections.SYSTEM["reel"]
STRING = sections.SYSTEM["string"]
_PATH = fields_of(Kinematic)["path"]
assert isinstance(_PATH, Part)
PATH: Part = _PATH
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
SETTLE = Flag("Start at rest near these places.", default=False)
TOP = {name: sections.TOP[name] for name in ("title", "description", "gravity")}
FLUID = sections.SYSTEM["fluid"]
# Sections of a body besides its own.
BODY_LOADS = {
    "fluid": Part({"": BodyInFluid}, "How the body feels the fluid around it."),
    "applied_force": sections.SYSTEM["applied_force"],
}
SECTIONS = ("bodies", "lines", "orbit", "fluid", "initial", "run")
# A body whose motion is given says so by `kind = "kinematic"`, and may have a path and a position.
KIND = "kind"
KINEMATIC = "kinematic"
NO_ELEMENTS = Problem(("run", "elements"), "expected none: every string has its own elements")


class Described(NamedTuple):
    """What the sections of an assembly say."""

    system: System
    start: Start
    commands: dict[str, Command]
    run: Run
    title: str
    description: str


def is_assembly(tree: Mapping[str, Any]) -> bool:
    """Whether a tree of keys describes an assembly."""
    return "lines" in tree or "bodies" in tree


class Reading:
    """Reads sections, and gathers all that is wrong with them."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def values(self, part: Part, value: Any, *path: str) -> Tree | None:
        """Values of a section in SI."""
        try:
            return sections.read_part(part, value)
        except ProblemsError as error:
            self.problems += [Problem((*path, *problem.path), problem.sentence) for problem in error.problems]
            return None

    def made(self, part: Part, value: Any, *path: str, **others: Any) -> Any:
        """The object of a section."""
        values = self.values(part, value, *path)
        if values is None:
            return None
        try:
            cls = part.options[values[part.word] if part.word else ""]
            own = {key: x for key, x in values.items() if key != part.word}
            return part.make(file_keys.assemble(cls, own, **others))
        except InputError as error:
            self.refuse(error, *path)
            return None

    def refuse(self, error: InputError, *path: str) -> None:
        """Note what an object refused, at the key that its error names."""
        self.problems.append(problem_at(error, path))

    def named(self, tree: Mapping[str, Any], *path: str) -> dict[str, Any]:
        """Sections by name below a path."""
        for name in path:
            tree = tree.get(name, {})
            try:
                tree = kinds.section(tree)
            except WrongValueError as error:
                self.problems.append(Problem(path, str(error)))
                return {}
        return dict(tree)


def problem_at(error: Exception, path: tuple[str, ...]) -> Problem:
    """What is wrong with which key, from an error that names an argument of what the path leads to."""
    name, colon, sentence = str(error).partition(": ")
    if not colon or " " in name:
        return Problem(path, str(error))
    if name.startswith(("lines.", "bodies.", "fluid.")):
        return Problem(tuple(name.split(".")), sentence)
    if name == "assembly" and path:  # of what finds a start
        return Problem((*path, "kind"), sentence)
    if name.startswith("StopWhen."):
        return Problem((*path, "stop", name.partition(".")[2]), sentence)
    key = name.rpartition(".")[2].partition("[")[0]
    return Problem((*path, key) if key.islower() else path, sentence)


def problem_of(error: Exception, tree: Mapping[str, Any], section: str | tuple[str, ...]) -> Problem:
    """What is wrong with which key, from an error of whatever uses a section.

    Keys of the start are told from those of the assembly.
    """
    path = section if isinstance(section, tuple) else (section,)
    found = problem_at(error, tuple(name for name in path if name))
    kind, *rest = found.path or ("",)
    inside: Any = tree.get("initial", {}).get(kind, {}) if isinstance(tree.get("initial"), Mapping) else {}
    states = {"bodies": (BodyState,), "lines": (LineStart, LineState)}.get(kind, ())
    known = {key for cls in states for key in keys_of(cls).kinds}
    if len(rest) == 2 and rest[1] in known and rest[0] in inside:
        return found._replace(path=("initial", *found.path))
    return found


def read(tree: Mapping[str, Any]) -> Described:
    """Objects from a tree of keys; SectionError with all that is wrong."""
    reading = Reading()
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
        lines[name], command = _line(reading, name, x)
        if command is not None:
            commands[name] = command
    orbit = reading.made(ORBIT, tree["orbit"], "orbit") if "orbit" in tree else None
    fluid = reading.made(FLUID, tree["fluid"], "fluid") if "fluid" in tree else None
    start = _start(reading, reading.named(tree, "initial"))
    if "run" not in tree:
        reading.problems.append(Problem(("run",), "missing"))
    run = reading.made(sections.RUN, tree.get("run", {}), "run") if "run" in tree else None
    if run is not None and run.number_of_elements() is not None:
        reading.problems.append(NO_ELEMENTS)
    assembly = None
    if not reading.problems:
        try:
            assembly = System(bodies, lines, top.get("gravity"), orbit, fluid, *loads.values())
        except InputError as error:
            reading.refuse(error)
    if reading.problems or assembly is None or run is None:
        raise SectionError(reading.problems)
    words = (top.get("title", ""), top.get("description", ""))
    return Described(assembly, start, commands, run, *words)


def _start(reading: Reading, initial: dict[str, Any]) -> Any:
    """Where the run starts, from the section [initial]."""
    kind = initial.get("kind", PLACED)
    if kind not in KINDS:
        sentence = f"expected one of {', '.join(map(repr, KINDS))}, got {shown(kind)}{near(kind, KINDS)}"
        reading.problems.append(Problem(("initial", "kind"), sentence))
        return None
    if kind in START.options:
        return reading.made(START, initial, "initial")
    known = ("kind", "bodies", "lines", *(["settle"] if kind == PLACED else []))
    for name in initial:
        if name not in known:
            reading.problems.append(Problem(("initial", name), f"no such key{near(name, known)}"))
    bodies, lines = (
        {name: reading.made(part, x, "initial", key, name) for name, x in reading.named(initial, key).items()}
        for key, part in (("bodies", BODY_START), ("lines", LINE_START if kind == PLACED else LINE_STATE))
    )
    if reading.problems:
        return None
    if kind == STATE:
        return State(bodies, lines)
    try:
        return Placed(bodies, lines, SETTLE.read(initial.get("settle", False)))
    except WrongValueError as error:
        reading.problems.append(Problem(("initial", "settle"), str(error)))
        return None


def start_keys(start: Start, defaults: bool = True) -> Tree:
    """Keys of the section [initial]."""
    if not isinstance(start, Placed | State):
        return tagged(START, start, defaults)
    kind: Tree = {"kind": STATE}
    if isinstance(start, Placed):
        kind = ({"kind": PLACED} if defaults else {}) | ({"settle": start.settle} if defaults or start.settle else {})
    return kind | {
        "bodies": {name: file_keys.to_keys(x, defaults) for name, x in start.bodies.items()},
        "lines": {name: file_keys.to_keys(x, defaults) for name, x in start.lines.items()},
    }


def _top(tree: Mapping[str, Any], reading: Reading) -> Tree:
    given: Tree = {}
    for name, value in tree.items():
        if name in TOP:
            try:
                given[name] = TOP[name].read(value)
            except WrongValueError as error:
                reading.problems.append(Problem((name, *error.place), str(error)))
        elif name not in SECTIONS:
            reading.problems.append(Problem((str(name),), f"no such key{near(name, [*TOP, *SECTIONS])}"))
    return given


def _body(reading: Reading, name: str, value: Any) -> Any:
    section = dict(value) if isinstance(value, Mapping) else {}
    if KIND in section:
        if section.pop(KIND) != KINEMATIC:
            reading.problems.append(Problem(("bodies", name, KIND), f"expected {KINEMATIC!r}, or no such key"))
        path = reading.made(PATH, section.pop("path"), "bodies", name, "path") if "path" in section else None
        return reading.made(KINEMATIC_BODY, section, "bodies", name, path=path)
    return reading.made(BODY, value, "bodies", name)


def with_string(section: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of a line, those of its string among them, which may stand in a section of their own."""
    found = dict(section)
    if isinstance(found.get("string"), Mapping):
        found |= dict(found.pop("string"))
    return found


def _line(reading: Reading, name: str, value: Any) -> tuple[Any, Any]:
    """A line, and the command of its reel."""
    path = ("lines", name)
    section = dict(value) if isinstance(value, Mapping) else {}
    section = with_string(section)
    reel = reading.made(REEL, section.pop("reel"), *path, "reel") if "reel" in section else None
    command = None
    if "command" in section:
        command = reading.made(sections.COMMAND, section.pop("command"), *path, "command")
        if "reel" not in value:
            reading.problems.append(Problem((*path, "command"), "expected none for a string without a reel"))
    own = {key: section.pop(key) for key in list(section) if key in keys_of(Line).kinds}
    string = reading.made(STRING, section, *path)
    if string is None:
        return None, command
    return reading.made(LINE, own, *path, string=string, reel=reel), command


def complete(described: Described, defaults: bool = True) -> Tree:
    """Keys of what sections say, in plain SI numbers."""
    assembly = described.system
    tree: Tree = {name: x for name, x in (("title", described.title), ("description", described.description)) if x}
    if assembly.orbit is None:
        tree["gravity"] = assembly.gravity
    else:
        tree["orbit"] = file_keys.to_keys(assembly.orbit, defaults)
    if assembly.fluid is not None:
        medium = file_keys.to_keys(assembly.fluid, defaults)
        tree["fluid"] = {key: x for key, x in medium.items() if key not in fields_of(BodyInFluid)}
    tree["bodies"] = {name: _body_keys(body, defaults) for name, body in assembly.bodies.items()}
    for key, loads in (("fluid", assembly.body_fluid), ("applied_force", assembly.applied_forces)):
        for name, load in loads.items():
            tree["bodies"][name][key] = file_keys.to_keys(load, defaults)
    tree["lines"] = {
        name: _line_keys(line, described.commands.get(name), defaults) for name, line in assembly.lines.items()
    }
    tree["initial"] = start_keys(described.start, defaults)
    run = file_keys.to_keys(described.run, defaults)
    run.pop("elements", None)
    tree["run"] = run
    return tree


def tagged(part: Part, thing: Any, defaults: bool = True) -> Tree:
    """Keys of the object of a section, with the word that tells its kind."""
    described = part.unmake(thing)
    tag = next((tag for tag, cls in part.options.items() if type(described) is cls), "")
    return ({part.word: tag} if part.word else {}) | file_keys.to_keys(described, defaults)


def _body_keys(body: Any, defaults: bool) -> Tree:
    if isinstance(body, Kinematic):
        path = {} if body.path is None else {"path": tagged(PATH, body.path, defaults)}
        return {KIND: KINEMATIC} | file_keys.to_keys(body, defaults) | path
    return tagged(BODY, body, defaults)


def _line_keys(line: Line, command: Command | None, defaults: bool) -> Tree:
    keys = file_keys.to_keys(line.string, defaults) | file_keys.to_keys(line, defaults)
    if line.reel is not None:
        keys["reel"] = file_keys.to_keys(line.reel, defaults)
    if command is not None:
        keys["command"] = tagged(sections.COMMAND, command, defaults)
    return keys


def command(section: Mapping[str, Any]) -> Command:
    """A command from its keys."""
    found: Command = Reading().made(sections.COMMAND, section, "command")
    return found
