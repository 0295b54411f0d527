"""Docstrings begin with a noun or a verb, and the prose of pages is wrapped."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src"
# Pages, and parts of them, that programs write.
WRITTEN = ("verification.md",)
WRONG = re.compile(r"(What|Of|The same|That|Those|Whose|As)\b")


def test_docstrings_begin_with_a_noun_or_a_verb() -> None:
    found = []
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                continue
            if WRONG.match(ast.get_docstring(node) or ""):
                found.append(f"{path.relative_to(SOURCES)}:{getattr(node, 'lineno', 1)}")
    assert not found


def wide_lines(text: str) -> list[int]:
    """Numbers of lines of prose wider than 120 characters: not of tables, code and formulas."""
    inside, found = False, []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```") or line.count("$$") == 1:
            inside = not inside
        elif not inside and len(line) > 120 and not re.match(r" {4}| *[|<]| *\$\$", line):
            found.append(number)
    return found


def test_prose_is_wrapped() -> None:
    pages = [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("docs/howto/*.md"),
        *ROOT.glob("docs/reference/*.md"),
    ]
    wide = {page.name: wide_lines(page.read_text(encoding="utf-8")) for page in pages if page.name not in WRITTEN}
    assert {name: lines for name, lines in wide.items() if lines} == {}
    assert wide_lines("word " * 30 + "\n```\n" + "code " * 30 + "\n```\n| " + "cell " * 30) == [1]
