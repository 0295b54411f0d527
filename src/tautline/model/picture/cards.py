"""Cards of notebooks: HTML of systems, cases, their parts and states of rest, with a sketch and units."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tautline.errors import TautlineError
from tautline.model import file_keys
from tautline.model.body import RigidBody
from tautline.model.description import fields_of
from tautline.model.picture.inputs import Section, in_words, inputs_of, unit_in_words
from tautline.model.picture.sketch import sketch_of_state, sketch_of_system
from tautline.model.reel import Reel
from tautline.model.sequence import Sequence
from tautline.model.string import String
from tautline.model.system.parts import BODY, LINE, Kinematic, Line
from tautline.model.system.sheaves import Sheave
from tautline.model.system.starts import near_rest
from tautline.model.system.system import System
from tautline.model.system.to_keys import body_keys, command_keys, line_keys, system_keys
from tautline.quantities import number, value

if TYPE_CHECKING:
    from tautline.model.rest.at_rest import Statics
    from tautline.model.system.case import Case

CELL = "text-align: left; vertical-align: top; padding: 1px 12px 1px 0"


def table(head: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    """Table of plain text; an empty head is left out."""
    titles = "".join(f'<th style="{CELL}">{html.escape(x)}</th>' for x in head)
    body = "".join(
        "<tr>" + "".join(f'<td style="{CELL}">{html.escape(cell)}</td>' for cell in row) + "</tr>" for row in rows
    )
    first = f"<tr>{titles}</tr>" if titles else ""
    return f'<table style="border-collapse: collapse; font-size: inherit">{first}{body}</table>'


def card(title: str, *parts: str) -> str:
    """A card with a title, in the colors of the page that it is on."""
    return f'<div style="max-width: 640px; font-size: 13px"><b>{html.escape(title)}</b>{"".join(parts)}</div>'


def card_of_part(thing: Any) -> str:
    """Card of a string, reel, body, line, command or another part that is described by its fields."""
    tree = _tree_of(thing)
    if tree is not None:
        sections = inputs_of(tree)
        return card(type(thing).__name__, _inputs(sections, titles=len(sections) > 1))
    kinds = fields_of(type(thing))
    units = {name: kind.unit for name, kind in kinds.items()}
    units |= {name: key.unit for kind in kinds.values() for way in kind.ways for name, key in way.keys.items()}
    given = file_keys.to_keys(thing, defaults=False)
    return card(type(thing).__name__, table((), [(x.replace("_", " "), _with_unit(given[x], units[x])) for x in given]))


def _with_unit(x: Any, unit: str) -> str:
    return in_words(x, unit_in_words(unit))


def _tree_of(thing: Any) -> dict[str, Any] | None:
    """Keys of a part in the place where files have it; None of one that is itself a section."""
    if isinstance(thing, (RigidBody, Kinematic)):
        return {"bodies": {BODY: body_keys(thing, False)}}
    if isinstance(thing, Line):
        return {"lines": {LINE: line_keys(thing, False)}}
    if isinstance(thing, Sequence):
        return {"lines": {LINE: {"command": command_keys(thing, False)}}}
    keys = {String: (), Reel: ("reel",), Sheave: ("over", "sheave")}.get(type(thing))
    if keys is None:
        return None
    found = file_keys.to_keys(thing, defaults=False)
    for key in reversed(keys):
        found = {key: found}
    return {"lines": {LINE: found}}


def card_of_system(system: System) -> str:
    """Card of a system: sketch and inputs."""
    return card("System", sketch_of_system(system), _inputs(inputs_of(system_keys(system, defaults=False))))


def card_of_case(case: Case) -> str:
    """Card of a case: title, sketch at the start and inputs."""
    try:
        drawn = sketch_of_state(case.system, near_rest(case.system, case.start))
    except TautlineError:  # a start that goes not with the system, as running it says
        drawn = sketch_of_system(case.system)
    about = f"<div>{html.escape(case.description)}</div>" if case.description else ""
    return card(case.title or "Case", about, drawn, _inputs(inputs_of(case.stated_keys())))


def _inputs(sections: Iterable[Section], titles: bool = True) -> str:
    rows: list[tuple[str, ...]] = []
    for section in sections:
        for k, (key, values) in enumerate(section.rows):
            shown = values[0]
            if section.names:
                same = len(set(values)) == 1
                pairs = zip(section.names, values, strict=True)
                shown = f"{values[0]} each" if same else "; ".join(f"{name} {x}" for name, x in pairs if x)
            title = (section.title if k == 0 else "",) if titles else ()
            rows.append((*title, key, shown))
    return table((), rows)


def card_of_statics(found: Statics) -> str:
    """Card of a state of rest: sketch, tensions, holding torques and places."""
    lines = [
        (
            name,
            value(x.deployed, "m"),
            value(x.start_tension, "N"),
            value(x.end_tension, "N"),
            value(x.holding_torque, "N m"),
            value(x.utilization, "%", 3),
        )
        for name, x in found.lines.items()
    ]
    bodies = [
        (name, f"({', '.join(number(round(y, 9) + 0.0) for y in x.position.tolist())}) m", value(x.weight, "N"))
        for name, x in found.bodies.items()
    ]
    head = ("line", "deployed", "tension at start", "at end", "torque that holds it", "of breaking load")
    return card(
        "State of rest",
        sketch_of_state(found.system, found.state),
        table(head, lines),
        table(("body", "position", "weight less buoyancy"), bodies),
        f"<div>{html.escape(found.message)}</div>",
    )
