"""Numbers of scenarios by the keys under which studies vary them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

# What numbers are multiplied with, so that a motion differs and stays possible.
LARGER = 1.0 + 1e-3


def leaves(value: Any, held: set[str], key: str = "") -> Iterator[tuple[str, float]]:
    """Numbers of a tree of keys; not those of keys that are held."""
    if key in held:
        return
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, held, f"{key}.{name}" if key else name)
    elif isinstance(value, list):
        for k, inner in enumerate(value):
            yield from leaves(inner, held, f"{key}[{k}]")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield key, float(value)
