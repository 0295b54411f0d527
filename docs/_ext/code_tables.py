"""Tables that pages include, written from the tables of the package: backends, refusals, laws, commands, names."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import tautline
from tautline import registry
from tautline.engine.choose import ABILITIES, CHAIN, NETWORK
from tautline.model.command import COMMANDS, Command
from tautline.model.description import fields_of
from tautline.model.refusals import REFUSALS

if TYPE_CHECKING:
    from sphinx.application import Sphinx

KINDS: dict[str, Mapping[str, registry.Entry]] = {
    "guide law": registry.GUIDE_LAWS,
    "elastic law": registry.ELASTIC_LAWS,
    "reel command": registry.COMMANDS,
    "load": registry.LOADS,
}


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Lines of a table."""
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def backends() -> str:
    """Tables of what runs on which backend, and of what cannot be had."""
    rows = [[x.what, *("yes" if x.by == name else x.otherwise for name in (CHAIN, NETWORK))] for x in ABILITIES]
    lines = table(["what only one of them can do", "chain", "network"], rows)
    lines += ["", "What cannot be had is refused with its reason:", ""]
    lines += table(["refused", "because"], [[x.what, x.reason] for x in REFUSALS])
    return "\n".join(lines) + "\n"


def laws() -> str:
    """Laws, commands and loads of the registry."""
    rows = [
        [kind, f"`{name}`", entry.sentence, f"`{entry.module.removeprefix('tautline.').replace('.', '/')}.py`"]
        for kind, entries in KINDS.items()
        for name, entry in entries.items()
    ]
    return "\n".join(table(["kind", "name", "what it does", "file"], rows)) + "\n"


def commands() -> str:
    """The classes of commands, for the reference."""
    lines = ["```{eval-rst}", ".. currentmodule:: tautline", ""]
    for cls in COMMANDS.values():
        lines.append(f".. autoclass:: {cls.__name__}")
        own = [name for name in vars(cls) if name[0] != "_" and name not in (*vars(Command), *fields_of(cls))]
        lines += [f"   :members: {', '.join(own)}"] if own else []
    return "\n".join([*lines, "```"]) + "\n"


def names() -> str:
    """Public names, each with its first sentence."""
    rows = []
    for name in sorted(set(dir(tautline)) - {"__version__"}, key=str.lower):
        found = getattr(tautline, name)
        inside = sorted(getattr(found, "__all__", [])) if inspect.ismodule(found) else []
        for dotted, thing in [(name, found), *((f"{name}.{x}", getattr(found, x)) for x in inside)]:
            if inspect.isclass(thing) or inspect.isroutine(thing) or inspect.ismodule(thing):
                sentence = (inspect.getdoc(thing) or "").partition("\n")[0]
                rows.append([f"`tl.{dotted}`", sentence.replace("|", r"\|")])
    return "\n".join(table(["name", "what it is"], rows)) + "\n"


PAGES = {"backends.md": backends, "laws.md": laws, "commands.md": commands, "names.md": names}


def write(app: Sphinx) -> None:
    """Put the tables where pages include them."""
    from generated_pages import write_generated  # found by Sphinx; a test reads this file without it

    for name, text in PAGES.items():
        write_generated(app, name, text())


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "version": "1"}
