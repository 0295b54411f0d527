"""What is wrong with a scenario file, in sentences: where, which key, what was expected, what came."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Any

from tautline.files.scenario.origin import Origin
from tautline.files.scenario.quantities import NO_LIST, unit_of_field
from tautline.files.scenario.system import DISCRIMINATORS, KINDS, SECTIONS, Scenario
from tautline.units import shown

# What pydantic finds, in words of a scenario file.
_EXPECTED = {
    "model_type": "a section",
    "model_attributes_type": "a section",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_type": "text",
}


def sentence(problem: Any, origin: Origin) -> str:
    """One line: where, which key, what was expected, what came, and the near miss."""
    path, context = [str(part) for part in problem["loc"]], problem.get("ctx", {})
    tag = None
    if len(path) > 1 and path[0] in KINDS:
        # pydantic puts the kind of a section into the path: not a key of the file
        tag = path.pop(1)
    kind = problem["type"]
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        path.append(context["discriminator"].strip("'"))
    head = origin.head(path)
    if kind == "extra_forbidden":
        return f"{head}: {_unknown(path, tag)}"
    if kind in ("missing", "union_tag_not_found"):
        options = list(KINDS[path[0]]) if kind != "missing" else []
        return f"{head}: missing" + (f"; expected one of {_listed(options)}" if options else "")
    if kind == NO_LIST:
        return f"{head}: expected {context['form'].expected(_unit(path, tag))}, got {shown(_plain(problem['input']))}"
    if kind == "value_error":
        return f"{head}: {context['error']}"
    if kind == "union_tag_invalid":
        came = problem["input"].get(path[-1])
        return f"{head}: expected one of {context['expected_tags']}, got {shown(came)}{_near(came, KINDS[path[0]])}"
    came = problem["input"]
    if kind == "literal_error":
        options = re.findall(r"'(\w+)'", context["expected"])
        return f"{head}: expected {context['expected']}, got {shown(came)}{_near(came, options)}"
    expected = _EXPECTED.get(kind, f"another value ({problem['msg']})")
    if expected == "a section" and isinstance(came, str):
        expected = 'a section such as {key = 3, other = "text"}'
    return f"{head}: expected {expected}, got {shown(came)}"


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _fields(path: list[str], tag: str | None) -> Mapping[str, Any]:
    """Keys of the section that a path leads into."""
    kinds = KINDS.get(path[0], {})
    return (kinds[tag] if tag in kinds else SECTIONS[path[0]]).model_fields


def _unit(path: list[str], tag: str | None) -> str:
    field = _fields(path, tag)[path[1]]
    return unit_of_field(field.annotation, field.metadata)


def _unknown(path: list[str], tag: str | None) -> str:
    """What to say of a key that does not exist: the near miss, or the kind of section that has it."""
    if len(path) == 1:
        return f"no such key{_near(path[0], Scenario.model_fields)}"
    elsewhere = [name for name, other in KINDS.get(path[0], {}).items() if path[-1] in other.model_fields]
    if elsewhere:
        return f"no such key with {DISCRIMINATORS[path[0]]} = {tag!r}, only with {_listed(elsewhere)}"
    return f"no such key{_near(path[-1], _fields(path, tag))}"


def _near(came: Any, options: Any) -> str:
    # get_close_matches takes time in proportion to the length
    near = difflib.get_close_matches(came, list(options), 1) if isinstance(came, str) and len(came) <= 100 else []
    return f"; did you mean {near[0]!r}?" if near else ""


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names))
