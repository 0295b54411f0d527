"""JSON Schema of scenario files, for editors that complete and check TOML."""

from __future__ import annotations

from typing import Any

from tautline.model import kinds
from tautline.model.description import fields_of, full_sentence
from tautline.model.file_keys import file_of, keys_of
from tautline.model.fluid import BodyInFluid, Fluid
from tautline.model.kinds import MISSING, Kind
from tautline.model.parts import Part
from tautline.model.sequence import StageKeys
from tautline.model.short_keys import NEEDED
from tautline.model.string import String
from tautline.model.system import sections
from tautline.model.system.parts import Kinematic, Line
from tautline.model.system.sheaves import OVER


def json_schema() -> dict[str, Any]:
    """The schema of a scenario file: of the full form where it has lines with names, else of the short one."""
    short, full = short_schema(), full_schema()
    definitions = short.pop("$defs") | full.pop("$defs")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A scenario of tautline",
        "type": "object",
        "if": {"required": ["lines"]},
        "then": full,
        "else": short,
        "$defs": definitions,
    }


def short_schema() -> dict[str, Any]:
    """The schema of the short form, of one line and one body."""
    definitions: dict[str, Any] = {}
    parts = {name: _reference(part, definitions) for name, part in sections.SHORT_PARTS.items()}
    definitions[Fluid.__name__]["properties"]["unsteady"] = _reference(sections.UNSTEADY, definitions)
    parts["command"] = _command(definitions)
    parts["initial"] = _initial(definitions)
    return _object(_top() | parts, list(NEEDED)) | {"$defs": definitions}


def _top() -> dict[str, Any]:
    return {name: _key(kind) for name, kind in sections.TOP.items()}


def _reference(part: Part, definitions: dict[str, Any]) -> dict[str, Any]:
    """Schema of a section, by reference to definitions that are added where they are missing."""
    definitions |= {cls.__name__: _section(part.word, tag, cls) for tag, cls in part.options.items()}
    references = [{"$ref": f"#/$defs/{cls.__name__}"} for cls in part.options.values()]
    return {"oneOf": references} if part.word else references[0]


def _command(definitions: dict[str, Any]) -> dict[str, Any]:
    """Schema of a command, or of those of the stages of a sequence, as an array or by names."""
    plain = _reference(sections.COMMAND, definitions)
    own = {key: _key(kind) for key, kind in keys_of(StageKeys).kinds.items()}
    stages = [_section(sections.COMMAND.word, tag, cls) for tag, cls in sections.COMMAND.options.items()]
    stage = {"oneOf": [x | {"properties": x["properties"] | own} for x in stages]}
    return {"anyOf": [plain, {"type": "array", "items": stage}, _named(stage)]}


def _object(properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required or [], "additionalProperties": False}


def _named(schema: dict[str, Any]) -> dict[str, Any]:
    """Sections of the same kind, by names."""
    return {"type": "object", "additionalProperties": schema}


def _initial(definitions: dict[str, Any]) -> dict[str, Any]:
    """Schema of a start, of any kind."""
    bodies = _named(_reference(sections.BODY_START, definitions))
    placed = {
        "kind": {"const": sections.PLACED},
        **{name: word.schema() for name, word in sections.OF_PLACES.items()},
        "bodies": bodies,
        "lines": _named(_reference(sections.LINE_START, definitions)),
    }
    state = {
        "kind": {"const": sections.STATE},
        "bodies": bodies,
        "lines": _named(_reference(sections.LINE_STATE, definitions)),
    }
    others = _reference(sections.START, definitions)["oneOf"]
    return {"anyOf": [_object(placed), _object(state, ["kind"]), *others]}


def full_schema() -> dict[str, Any]:
    """The schema of the full form, of any system."""
    definitions: dict[str, Any] = {}
    own: dict[str, Any] = {sections.KIND: {"const": sections.KINEMATIC}}
    own |= {key: _reference(part, definitions) for key, part in sections.LEADING.items()}
    kinematic = _object(_section("", "", Kinematic)["properties"] | own, [sections.KIND])
    loads = {key: _reference(part, definitions) for key, part in sections.BODY_LOADS.items()}
    shapes = [_section(sections.BODY.word, tag, cls) for tag, cls in sections.BODY.options.items()]
    free = {"oneOf": [shape | {"properties": shape["properties"] | loads} for shape in shapes]}
    body = {"if": {"required": [sections.KIND]}, "then": kinematic, "else": free}
    fluid = _section("", "", Fluid)
    for key in keys_of(BodyInFluid).kinds:
        fluid["properties"].pop(key)
    fluid["properties"]["unsteady"] = _reference(sections.UNSTEADY, definitions)
    string, line = (_section("", "", cls) for cls in (String, Line))
    reel, command = _reference(sections.REEL, definitions), _command(definitions)
    over = [_section("", "", cls) for part in OVER.values() for cls in part.options.values()]
    for section in over[:1]:  # pins are not driven
        section["properties"]["command"] = command
    parts = {
        "reel": reel,
        "command": command,
        "end_reel": reel,
        "end_command": command,
        "over": _named({"if": {"required": ["point"]}, "then": over[1], "else": over[0]}),
        "string": _reference(sections.STRING, definitions),
    }
    lines = _object(string["properties"] | line["properties"] | parts)
    lines["anyOf"] = [{"required": ["string"]}, {"required": string["required"]}]
    properties = {
        "bodies": _named(body),
        "lines": _named(lines),
        "orbit": _reference(sections.ORBIT, definitions),
        "fluid": fluid,
        "initial": _initial(definitions),
        "run": _reference(sections.RUN, definitions),
    }
    return _object(_top() | properties, ["lines", "run"]) | {"$defs": definitions}


def _section(word: str, tag: str, cls: type) -> dict[str, Any]:
    """Schema of a section of one kind."""
    known = keys_of(cls)
    tags: dict[str, Any] = {word: {"const": tag}} if word else {}
    fields, file = fields_of(cls), file_of(cls)
    required = [
        name
        for name, kind in fields.items()
        if kind.own_key and not kind.ways and kind.default is MISSING
        if file is None or name not in file.stands_for
    ]
    return {
        "description": (cls.__doc__ or "").partition("\n")[0],
        "type": "object",
        "properties": tags | {key: _key(kind) for key, kind in known.kinds.items()},
        "required": [*tags, *required],
        "additionalProperties": False,
    }


def _key(kind: Kind) -> dict[str, Any]:
    """Schema of a key, with what people should know of it."""
    if isinstance(kind, Part):
        raise TypeError("a part is a section and not a key")
    found = {"description": full_sentence(kind), **kind.schema()}
    return found if kind.default in (MISSING, None) else {**found, "default": kinds.plain(kind.default)}
