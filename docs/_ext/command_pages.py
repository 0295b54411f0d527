"""The page of the command line, written from the commands themselves: what --help says, as a page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from sphinx.application import Sphinx

from generated_pages import write_generated

HEAD = """# Command line

What `tautline --help` and `tautline COMMAND --help` say. How the commands work together is in
[Scenario files](../scenarios.md) and [Run files](../runs.md).
"""
HIDDEN = ("help", "install_completion", "show_completion")


def plain(text: str) -> str:
    """Help text as Markdown: no colors, command lines as code."""
    text = re.sub(r"\[/?bold\]", "**", re.sub(r"^ +", "", text, flags=re.MULTILINE)).strip()
    text = re.sub(r"^Example: (.*)$", r"Example: `\1`", text, flags=re.MULTILINE)
    return re.sub(r"^(tautline .*)$", r"`\1`", text, flags=re.MULTILINE)


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def rows(command: Any) -> list[str]:
    """A table of arguments and options."""
    lines = []
    for x in command.params:
        if x.name in HIDDEN:
            continue
        if x.param_type_name == "argument":
            name, text = f"`{x.name.upper()}`", getattr(x, "help", "") or ""
        else:
            spelled = ", ".join(f"`{o}`" for o in (*x.opts, *x.secondary_opts))
            value = "" if x.is_flag else " VALUE"
            again = " May be given several times." if x.multiple else ""
            shown = not x.is_flag and not x.multiple and isinstance(x.default, (str, int, float, Path))
            default = f" Default: `{x.default}`." if shown else ""
            name, text = f"{spelled}{value}", f"{x.help or ''}{again}{default}"
        lines.append(f"| {cell(name)} | {cell(text)} |")
    return ["| argument or option | what it is |", "|---|---|", *lines] if lines else []


def commands_of(group: Any, before: str) -> Iterator[tuple[str, Any]]:
    """All commands with their full names; those of a group follow it."""
    for name, command in group.commands.items():
        yield f"{before} {name}", command
        if hasattr(command, "commands"):
            yield from commands_of(command, f"{before} {name}")


def page() -> str:
    from tautline.cli.commands import app as commands

    group: Any = typer.main.get_command(commands)
    text = [HEAD, plain(group.help or ""), "", *rows(group), ""]
    for name, command in commands_of(group, "tautline"):
        arguments = " ".join(x.name.upper() for x in command.params if x.param_type_name == "argument")
        optional = (
            " [OPTIONS]" if any(x.param_type_name == "option" and x.name != "help" for x in command.params) else ""
        )
        text += [f"## {name}", "", "```text", f"{name}{optional} {arguments}".rstrip(), "```", ""]
        text += [plain(command.help or ""), "", *rows(command), ""]
    return "\n".join(text)


def write(app: Sphinx) -> None:
    write_generated(app, "command-line.md", page())


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "version": "1"}
