"""Damage to files, at random but repeatable: what disks, people and programs do to them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


def flip(path: Path, rng: random.Random) -> str:
    """One bit."""
    raw = bytearray(path.read_bytes())
    place = rng.randrange(8 * len(raw))
    raw[place // 8] ^= 1 << place % 8
    path.write_bytes(raw)
    return f"bit {place} flipped"


def cut(path: Path, rng: random.Random) -> str:
    """The end, or all of it."""
    raw = path.read_bytes()
    size = rng.randrange(len(raw))
    path.write_bytes(raw[:size])
    return f"cut to {size} of {len(raw)} bytes"


def zero(path: Path, rng: random.Random) -> str:
    """A block of zeros, where there were none."""
    raw = bytearray(path.read_bytes())
    start = rng.choice([place for place, byte in enumerate(raw) if byte])
    size = rng.randrange(1, 33)
    raw[start : start + size] = bytes(len(raw[start : start + size]))
    path.write_bytes(raw)
    return f"zeros from {start}, {size} bytes"


def noise(path: Path, rng: random.Random) -> str:
    """A block of other bytes."""
    raw = bytearray(path.read_bytes())
    start = rng.randrange(len(raw))
    size = min(rng.choice([8, 512, 4096]), len(raw) - start)
    raw[start : start + size] = rng.randbytes(size)
    path.write_bytes(raw)
    return f"noise from {start}, {size} bytes"


def append(path: Path, rng: random.Random) -> str:
    """Bytes behind the end."""
    with path.open("ab") as file:
        file.write(bytes(rng.choice([8, 512, 4096])))
    return "appended"


def delete(path: Path, rng: random.Random) -> str:
    path.unlink()
    return "deleted"


def edit(path: Path, rng: random.Random) -> str:
    """One value somewhere in a text of JSON."""
    tree = json.loads(path.read_text(encoding="utf-8"))
    holder, key = rng.choice(list(_leaves(tree)))
    old = holder[key]
    holder[key] = _another(old, rng)
    path.write_text(json.dumps(tree, indent=2), encoding="utf-8")
    return f"{key}: {old!r:.40} became {holder[key]!r:.40}"


def _leaves(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every place that holds a plain value."""
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        if isinstance(value, (dict, list)):
            yield from _leaves(value)
        else:
            yield tree, key


def _another(value: Any, rng: random.Random) -> Any:
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, (int, float)):
        return value + rng.choice([1, -1, 7])
    place = rng.randrange(len(value) + 1)
    return value[:place] + rng.choice("0123456789x") + value[place:]


KINDS: dict[str, Callable[[Path, random.Random], str]] = {
    "flips": flip,
    "cuts": cut,
    "zeroed blocks": zero,
    "deletions": delete,
    "edited attributes": edit,
}


def damage(folder: Path, kind: str, rng: random.Random) -> str:
    """Damage one file of a folder; what was done."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if kind == "edited attributes":
        files = [path for path in files if path.suffix == ".json"]
    chosen = rng.choice(files)
    return f"{chosen.relative_to(folder)}: {KINDS[kind](chosen, rng)}"
