"""Tables of the keys of scenario files, written from the descriptions of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tautline.model.description import default_text
from tautline.model.file_keys import keys_of
from tautline.model.kinds import MISSING, Kind
from tautline.model.parts import Part
from tautline.model.system import sections
from tautline.model.system.sheaves import SHEAVE

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HEAD = ["| key | unit | default | meaning |", "|---|---|---|---|"]
# Sections of the short form, what they are called in the full one, and their keys.
BOTH: dict[str, tuple[str, Part]] = {
    "string": ("lines.NAME", sections.STRING),
    "reel": ("lines.NAME.reel", sections.REEL),
    "command": ("lines.NAME.command", sections.COMMAND),
    "body": ("bodies.NAME", sections.BODY),
    "applied_force": ("bodies.NAME.applied_force", sections.BODY_LOADS["applied_force"]),
    "guide": ("bodies.NAME.path", sections.PATH),
    "fluid": ("fluid", sections.FLUID),
    "fluid.unsteady": ("fluid.unsteady", sections.UNSTEADY),
    "initial": ("initial", sections.START),
    "run": ("run", sections.RUN),
}
# Sections of the full form only, and keys that it has besides.
FULL: dict[str, tuple[str, Part]] = {
    "lines.NAME": ("besides the keys of `[string]`", sections.LINE),
    "lines.NAME.over.NAME": ("a sheave or pin that the line runs over, in order", SHEAVE),
    "bodies.NAME": (f'with `kind = "{sections.KINEMATIC}"`', sections.KINEMATIC_BODY),
    "bodies.NAME.turning": (f'with `kind = "{sections.KINEMATIC}"`', sections.TURNING),
    "bodies.NAME.fluid": ("these keys of `[fluid]`", sections.BODY_LOADS["fluid"]),
    "orbit": ("in place of gravity", sections.ORBIT),
    "initial.bodies.NAME": (f'with `kind = "{sections.PLACED}"` or `"{sections.STATE}"`', sections.BODY_START),
    "initial.lines.NAME": (f'with `kind = "{sections.PLACED}"`', sections.LINE_START),
    "initial.lines.NAME, of a state": (f'with `kind = "{sections.STATE}"`', sections.LINE_STATE),
}


def row(name: str, kind: Kind) -> str:
    """A line of a table."""
    default = kind.default
    shown = "" if default is MISSING or default is None else f"`{default_text(default)}`"
    words = f"{kind.words()}. " if kind.words().startswith("{") else ""
    meaning = (words + kind.sentence).replace("|", r"\|")
    return f"| `{name}` | {kind.unit.replace('*', ' ')} | {shown} | {meaning} |"


def keys(part: Part) -> list[str]:
    """The keys of a section, of each of its kinds."""
    lines = [part.sentence, ""]
    for tag, cls in part.options.items():
        if tag:
            first = (cls.__doc__ or "").partition("\n")[0]
            lines += [f'`{part.word} = "{tag}"`: {first}', ""]
        found = keys_of(cls).kinds
        if found:
            lines += [*HEAD, *(row(key, kind) for key, kind in found.items()), ""]
    return lines


def tables() -> str:
    """All sections, and all kinds of sections, with their keys."""
    lines = ["Above the first section:", "", *HEAD, *(row(name, kind) for name, kind in sections.TOP.items()), ""]
    for name, (full, part) in BOTH.items():
        optional = "" if part.default is MISSING else " (optional)"
        lines += [f"### `[{name}]`" + (f", in full `[{full}]`" if full != name else "") + optional, "", *keys(part)]
        if name == "initial":
            lines += [f'`kind = "{sections.PLACED}"`: Bodies at given places, with straight lines between them.', ""]
            lines += [*HEAD, *(row(name, kind) for name, kind in sections.OF_PLACES.items()), ""]
            lines += [f'`kind = "{sections.STATE}"`: Every body and every node of every line.', ""]
    for name, (when, part) in FULL.items():
        lines += [f"### `[{name.partition(',')[0]}]`, {when}", "", *keys(part)]
    return "\n".join(lines)


def write(app: Sphinx) -> None:
    """Put the tables where docs/scenarios.md includes them."""
    from generated_pages import write_generated  # found by Sphinx; a test reads this file without it

    write_generated(app, "keys.md", tables())


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "version": "1"}
