"""Trees of keys as TOML text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def text_of(tree: Mapping[str, Any]) -> str:
    """TOML text of keys and sections of plain values."""
    lines = [f"{key} = {_value(x)}" for key, x in tree.items() if not isinstance(x, Mapping)]
    for name, section in tree.items():
        if isinstance(section, Mapping):
            lines += ["", f"[{name}]", *(f"{key} = {_value(x)}" for key, x in section.items())]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key} = {_value(x)}' for key, x in value.items())}}}"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # the one that JSON lets pass
    return str(value).lower() if isinstance(value, bool) else repr(value)
