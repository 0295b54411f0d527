"""Files that say what is to be optimized: TOML with a scenario, keys and bounds, an objective and limits."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tautline.errors import InputError
from tautline.files import scenario
from tautline.model import checks
from tautline.model.system.case import Case
from tautline.optimal.unknowns import BOUNDS

_NEEDED = ("scenario", "vary", "minimize")
_WORDS = ("title", "description", *_NEEDED, "set", "subject_to", "intervals", "iterations", "start")
# Arguments of `optimize` that a file gives as Python does.
_AS_THEY_ARE = ("minimize", "subject_to", "intervals", "iterations")


class OptimizeError(InputError):
    """A file cannot be used. The message says where and why."""


class Definition(NamedTuple):
    """A case, and the other arguments of `optimize`."""

    case: Any  # Case
    arguments: dict[str, Any]
    sources: list[Path]  # files of cases that it names


def read(path: str | os.PathLike[str]) -> Definition:
    """From a file; InputError names it, the key, what was expected and what came."""
    source = Path(path)
    text = scenario.read(source)
    tree = scenario.tree_of(text, str(source))
    with scenario.said_of(source, OptimizeError):
        if "vary" not in tree and ("string" in tree or "lines" in tree):
            raise InputError(
                "a scenario that says nothing of what to optimize; name it in a file with `scenario = ...`"
            )
        checks.known("", tree, _WORDS)
        for word in _NEEDED:
            if word not in tree:
                raise InputError(f"{word}: missing")
        case = _case(source, "scenario", tree["scenario"], _flat("set", tree.get("set", {}), ()))
        words = {word: x for word, x in tree.items() if word in ("title", "description")}
        arguments = {word: x for word, x in tree.items() if word in _AS_THEY_ARE}
        if "start" in tree:
            arguments["start"] = _case(source, "start", tree["start"], {})
        sources = [_beside(source, tree[word]) for word in ("scenario", "start") if word in tree]
        return Definition(case.with_(words), {"vary": _flat("vary", tree["vary"], BOUNDS), **arguments}, sources)


def _case(source: Path, word: str, name: Any, changes: dict[str, Any]) -> Case:
    """A case from the name of a built-in scenario, or from a file beside this one."""
    if not isinstance(name, str):
        checks.refuse(word, "the name of a built-in scenario, or a file", name)
    beside = _beside(source, name)
    found: Case = scenario.load(beside if beside.is_file() else name, changes)
    return found


def _beside(source: Path, name: str) -> Path:
    """File that a name in another file stands for, unless it is that of a built-in scenario."""
    return source.parent / name


def _flat(word: str, tree: Any, leaf: tuple[str, ...]) -> dict[str, Any]:
    """TOML reads `run.duration = 3` as a table in a table: dotted keys; a table with the words of a leaf is a value."""
    if not isinstance(tree, Mapping):
        checks.refuse(word, "a section of keys of the scenario", tree)
    flat: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, Mapping) and not any(x in value for x in leaf):
            flat |= {f"{name}.{key}": inner for key, inner in _flat(word, value, leaf).items()}
        else:
            flat[str(name)] = value
    return flat
