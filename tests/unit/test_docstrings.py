"""Docstrings begin with a noun or a verb."""

from __future__ import annotations

import ast
import re
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "src"
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
