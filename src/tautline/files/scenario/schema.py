"""JSON Schema of scenario files, for editors that complete and check TOML."""

from __future__ import annotations

from typing import Any

from tautline.model import kinds
from tautline.model.description import fields_of, full_sentence
from tautline.model.file_keys import file_of, keys_of
from tautline.model.kinds import MISSING, Kind
from tautline.model.parts import Part
from tautline.model.sections import PARTS, TOP


def json_schema() -> dict[str, Any]:
    """The schema of a scenario file."""
    definitions: dict[str, Any] = {}
    properties = {name: _key(kind) for name, kind in TOP.items()}
    for name, part in PARTS.items():
        definitions |= {cls.__name__: _section(part.word, tag, cls) for tag, cls in part.options.items()}
        references = [{"$ref": f"#/$defs/{cls.__name__}"} for cls in part.options.values()]
        properties[name] = {"oneOf": references} if part.word else references[0]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A scenario of tautline",
        "type": "object",
        "properties": properties,
        "required": [name for name, part in PARTS.items() if part.default is MISSING],
        "additionalProperties": False,
        "$defs": definitions,
    }


def _section(word: str, tag: str, cls: type) -> dict[str, Any]:
    """Schema of a section of one kind."""
    known = keys_of(cls)
    tags: dict[str, Any] = {word: {"const": tag}} if word else {}
    fields, file = fields_of(cls), file_of(cls)
    required = [
        name
        for name, kind in fields.items()
        if kind.own_key and not kind.ways and kind.default is MISSING and kind.file_default is MISSING
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
