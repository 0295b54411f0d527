"""Members of a case that the chain kernels run: by the keys of a chain, so that no system is built for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tautline.engine.cases import Begun, begin_chain
from tautline.engine.choose import CHAIN, backend_for
from tautline.model import keys
from tautline.model.chain.case import ChainCase
from tautline.model.chain.cases import chain_key, chain_tree
from tautline.model.chain.sections import Tree
from tautline.model.keys import Key
from tautline.model.system.case import Case
from tautline.model.system.system import System


class ChainMembers:
    """Members of a case of a chain.

    Attributes
    ----------
    system : System
        Has the names of its line and bodies, and the numbers of one member.
    base : ChainCase
        One of the members.
    keys : dict
        Keys of the chain that members differ in, by those of the system.
    """

    def __init__(self, system: System, base: ChainCase, names: Mapping[str, Key]) -> None:
        self.system, self.base = system, base
        self.keys = {name: key.text for name, key in names.items()}
        self._places = dict(names)

    def begin(self, values: Mapping[str, Any]) -> tuple[ChainCase, Begun]:
        """A member at its start, from its values by the keys of the system; sections that are not varied are shared."""
        tree = dict(self.base.keys())
        for name, value in values.items():
            keys.put(tree, self._places[name], value)
        case = ChainCase.from_dict(tree, like=self.base)
        return case, begin_chain(case)


def chain_members(case: Case, tree: Tree, names: list[str]) -> ChainMembers | None:
    """Members of a case, with its keys as given, that differ in some keys; None where the chain kernels cannot."""
    if backend_for(case) != CHAIN or case.run.stop:
        return None
    own = chain_tree(case, tree)
    if own is None:
        return None
    places = {name: chain_key(keys.parse(name), case, tree, own) for name in names}
    known = {name: key for name, key in places.items() if key is not None}
    if len(known) < len(places):
        return None
    base = ChainCase.from_dict(own)
    base.state()
    return ChainMembers(case.system, base, known)
