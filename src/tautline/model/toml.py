"""Trees of keys as TOML text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def text_of(tree: Mapping[str, Any]) -> str:
    """TOML text of keys and sections of plain values; sections may have sections."""
    return "\n".join(_lines(tree, ())).lstrip("\n") + "\n"


def _lines(tree: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    lines = [f"{key} = {_value(x)}" for key, x in tree.items() if not isinstance(x, Mapping)]
    sections = {key: x for key, x in tree.items() if isinstance(x, Mapping)}
    if path and (lines or not sections):
        lines = ["", f"[{'.'.join(path)}]", *lines]
    return lines + [line for key, x in sections.items() for line in _lines(x, (*path, key))]


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key} = {_value(x)}' for key, x in value.items())}}}"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # the one that JSON lets pass
    return str(value).lower() if isinstance(value, bool) else repr(value)
