"""Numbers of scenarios by the keys under which studies vary them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import tautline as tl
from tautline.gradients.keys import number_keys
from tautline.model.keys import parse
from tautline.model.short_keys import names_of, short
from tautline.model.system.starts import reel_speeds

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


FILES = sorted((Path(__file__).parents[1] / "e2e" / "every_key").glob("*.toml"))


def short_name(case: tl.Case, key: str) -> str:
    """The short key without components."""
    names = names_of(case.system)
    found = parse(key)
    return ".".join(short((*found.path, found.name), names) if names else (*found.path, found.name))


def at_rest(case: tl.Case) -> tl.Case:
    """The case with reels that stand still at its start: derivatives of others that start at rest are refused."""
    return case.with_({"initial.reel_speed": 0.0}) if reel_speeds(case.start, case.system) else case


@cache
def chosen() -> dict[Path, list[str]]:
    """Keys by the first file that has them in a section of its kind; of lists the last component."""
    seen, found = set(), {}
    for path in FILES:
        case, own = tl.load(path), {}
        tree = case.to_dict()
        for key in (key for key in number_keys(case) if "reel.guide_position" not in key):  # start_point of the line
            name, section = short_name(case, key), tree
            for word in parse(key).path:
                section = section[word]
            kind = (section.get("kind"), section.get("shape")) if isinstance(section, dict) else None
            if (name, kind) not in seen or name in own:
                own[name] = key
                seen.add((name, kind))
        if own:
            found[path] = list(own.values())
    return found
