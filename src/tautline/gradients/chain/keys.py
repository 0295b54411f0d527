"""Keys of a system as those of the chain that it is."""

from __future__ import annotations

from collections.abc import Sequence

from tautline.engine.choose import CHAIN, backend_for
from tautline.model import keys
from tautline.model.chain.cases import chain_case
from tautline.model.short_keys import Names, full_key, names_of, short
from tautline.model.system.case import Case
from tautline.model.system.state import State

# Keys of the start of a line in a state, which the chain has too; of nodes, those between its ends.
OF_NODES = ("nodes", "node_velocities")
OF_REEL = ("reeled_length", "reel_speed")


def chain_keys(case: Case, by: Sequence[str]) -> dict[str, str] | None:
    """Keys of the chain by those that were given; None where the chain kernels cannot run the case, or lack a key."""
    if backend_for(case) != CHAIN:
        return None
    tree, own = case.to_dict(), chain_case(case).to_dict()
    names = names_of(case.system)
    assert names is not None
    found = {}
    for text in by:
        key = full_key(keys.parse(text), case.system)
        other = _key_of_chain(case, key, names)
        try:
            same = other is not None and keys.get(own, other) == keys.get(tree, key)
        except (KeyError, IndexError, TypeError):
            same = False
        if other is None or not same:
            return None
        found[text] = other.whole + "".join(f"[{k}]" for k in other.components)
    return found


def _key_of_chain(case: Case, key: keys.Key, names: Names) -> keys.Key | None:
    path = (*key.path, key.name)
    line = ("lines", names.line)
    if path == (*line, "reel", "guide_position") or (names.guide and path == (*line, "start_point")):
        return None  # the chain has one place of the guide, which is the sum of others
    if path[:1] != ("initial",):
        return _at(key, short(path, names))
    if path == ("initial", "deployed", names.line):
        return _at(key, ("initial", "deployed"))
    if path[1:2] == ("bodies",):
        return None
    if path[1:2] == ("lines",):
        between = key.name in OF_NODES and 0 < key.components[0] < case.state().elements()[names.line]
        known = isinstance(case.start, State) and (between or key.name in OF_REEL)
        return _at(key, ("initial", key.name)) if known else None
    return key


def _at(key: keys.Key, path: tuple[str, ...]) -> keys.Key:
    return key._replace(section=".".join(path[:-1]), name=path[-1])
