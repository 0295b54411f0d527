"""Names of runs that are compared: by what differs between their cases."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tautline.errors import InputError
from tautline.model import keys
from tautline.model.short_keys import names_in, short
from tautline.model.system import keys as system_keys
from tautline.model.wording import both
from tautline.quantities import number, value
from tautline.results.inputs import CASE

Path = tuple[str, ...]
MOST = 2  # keys in a name
LONGEST = 40  # letters of a value that is no number
WORDS = ("title", "description")


def name_by_difference(metas: Sequence[dict[str, Any]], attributes: Sequence[Mapping[Any, Any]]) -> str:
    """Give descriptions of runs a label each, of the keys that differ; a title for all of them."""
    titles = [about["title"] for about in metas]
    if len(metas) < 2:
        return str(titles[0])
    trees = [json.loads(str(attrs[CASE])) for attrs in attributes]
    found = differing(trees)
    if not 1 <= len(found) <= MOST:
        return " and ".join(titles)
    for about, tree in zip(metas, trees, strict=True):
        about["label"] = ", ".join(f"{name} {_text(tree, path)}" for path, name in found.items())
    common = {str(tree.get("title", "")) for tree in trees}
    what = both(list(found.values()))
    return f"{common.pop()}: {what}" if len(common) == 1 and "" not in common else what[:1].upper() + what[1:]


def differing(trees: Sequence[Mapping[str, Any]]) -> dict[Path, str]:
    """Keys whose values are not the same in all trees: their paths, and how they are called."""
    flat = [dict(_leaves(tree)) for tree in trees]
    paths = dict.fromkeys(path for each in flat for path in each if path[0] not in WORDS)
    names = names_in(trees[0]) if all(names_in(tree) == names_in(trees[0]) for tree in trees) else None
    return {
        path: ".".join(path if names is None else short(path, names))
        for path in paths
        if any(path not in each or each[path] != flat[0].get(path) for each in flat)
    }


def _leaves(tree: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    for name, inner in tree.items():
        if isinstance(inner, Mapping):
            yield from _leaves(inner, (*path, name))
        else:
            yield (*path, name), inner


def _text(tree: Mapping[str, Any], path: Path) -> str:
    """Value of a key with its unit."""
    key = keys.parse(".".join(path))
    if not keys.has(dict(tree), key):
        return "not given"
    found = keys.get(dict(tree), key)
    try:
        unit = system_keys.kind_of(dict(tree), key).unit.replace("*", " ")
    except (InputError, AttributeError):
        unit = ""
    if isinstance(found, (int, float)) and not isinstance(found, bool):
        return value(float(found), unit)
    if isinstance(found, list) and found and all(isinstance(x, (int, float)) for x in found):
        text = f"({', '.join(number(float(x)) for x in found)}) {unit}".rstrip()
        return text if len(text) <= LONGEST else f"{len(found)} values"
    text = str(found)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
