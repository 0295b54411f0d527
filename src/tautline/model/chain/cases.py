"""Cases of chains as cases of systems, and back: objects, trees of keys, and keys."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from tautline.errors import InputError
from tautline.model import keys
from tautline.model.chain.case import ChainCase
from tautline.model.chain.sections import Locate, Tree
from tautline.model.chain.state import ChainState
from tautline.model.chain.systems import chain_of, chain_state, system_of, system_state
from tautline.model.command import Locked
from tautline.model.keys import Key
from tautline.model.kinds import AUTO
from tautline.model.short_keys import Names, full, names_of, short
from tautline.model.starts import AtEquilibrium, Hanging, Straight
from tautline.model.system.case import Case
from tautline.model.system.keys import is_section
from tautline.model.system.parts import LINE
from tautline.model.system.starts import deployed_lengths


def chain_case(case: Case) -> ChainCase:
    """The case of a system that is a chain, as the chain backend takes it."""
    system, start = case.system, case.start
    name, line = next(iter(system.lines.items()))
    elements = line.elements
    initial: Any = start
    if isinstance(start, Hanging | AtEquilibrium):
        initial = dataclasses.replace(start, deployed=deployed_lengths(system, start.deployed)[name])
    elif not isinstance(start, Straight):
        initial, elements = chain_state(case.state(), line.end), case.state().elements()[name]
    run = dataclasses.replace(case.run, elements=elements)
    command = case.commands.get(name, Locked())
    found = ChainCase(chain_of(system), initial, command, run, case.title, case.description)
    names = names_of(system)
    if case._locate is not None and names is not None:
        object.__setattr__(found, "_locate", partial(_head, case._locate, names))
    if isinstance(start, AtEquilibrium):  # it is searched for once
        object.__setattr__(found, "_placed", chain_state(case.state(), line.end))
    return found


def _head(locate: Locate, names: Names, path: list[str]) -> str:
    """Head of an error about a short key."""
    return locate(list(full(tuple(path), names)))


def system_case(case: ChainCase) -> Case:
    """The case of a chain, as one of its system."""
    system = system_of(case.pendulum, case.run.elements)
    start: Any = case.initial
    if isinstance(start, ChainState):
        start = system_state(system, start)
    run = dataclasses.replace(case.run, elements=AUTO)
    return Case(system, start, {LINE: case.command}, run, case.title, case.description)


Path = tuple[str, ...]
# Keys of a line that a chain does not have.
_ENDS = ("start", "end", "end_point")


def chain_tree(case: Case, tree: Tree) -> Tree | None:
    """Keys of a system that is a chain, as those of the chain; None where a chain has no such keys.

    `tree` has the keys of the case as they were given: a body whose mass changes keeps its shape.
    """
    names = names_of(case.system)
    assert names is not None
    found: Tree = {}
    for path, value in _leaves(tree):
        own = _chain_path(path, names)
        if own is None:
            continue
        if own == ("initial", "deployed") and isinstance(value, Mapping):
            value = value[names.line]
        if path[0] != "fluid" or own[1] not in found.get("fluid", {}):  # those of the body go first
            keys.put(found, Key("", ".".join(own[:-1]), own[-1], ()), value)
    try:
        read, wanted = ChainCase.from_dict(found), chain_case(case)
    except InputError:
        return None
    parts = ("pendulum", "initial", "command", "run")
    return found if all(getattr(read, part) == getattr(wanted, part) for part in parts) else None


def chain_key(key: Key, case: Case, tree: Tree, own: Tree) -> Key | None:
    """A key of a system as one of its chain; None where it is no such key, or means something else.

    `tree` and `own` have the keys of the case and of its chain.
    """
    names = names_of(case.system)
    assert names is not None
    path = _chain_path((*key.path, key.name), names)
    if path is None:
        return None
    found = keys.parse(".".join(path) + "".join(f"[{k}]" for k in key.components))
    return found if _value(own, found) == _value(tree, key) else None


def _value(tree: Tree, key: Key) -> Any:
    """What a tree has at a key, None if nothing."""
    try:
        return keys.get(tree, key)
    except (KeyError, IndexError, TypeError):
        return None


def _chain_path(path: Path, names: Names) -> Path | None:
    """The path of a chain's key; None if it has none."""
    section, name, rest = path[0], path[1:2], path[2:]
    if section == "lines" and (rest[0] in _ENDS or rest == ("reel", "guide_position")):
        return None
    if section == "lines" and rest == ("start_point",) and names.guide:
        return None
    if section == "bodies" and name == (names.guide,) and rest == ("kind",):
        return None
    if path == ("run", "elements"):
        return None
    if path == ("initial", "deployed", names.line):
        return path[:2]
    return short(path, names)


def _leaves(tree: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Paths of keys with their values; those of bodies before those of the fluid around them."""
    for name, value in sorted(tree.items(), key=lambda item: item[0] == "fluid"):
        here = (*path, name)
        if isinstance(value, Mapping) and is_section(here):
            yield from _leaves(value, here)
        else:
            yield here, value
