"""Starts at rest beside that of a case, by their derivatives: the search for rest is not repeated for each key."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from tautline.arrays import Array
from tautline.gradients.differences import Changed, derivatives
from tautline.gradients.keys import key_size, key_value
from tautline.gradients.scales import Scales
from tautline.model.rest.forces import forces_of
from tautline.model.rest.network import Network, Places
from tautline.model.rest.search import by_stiffness
from tautline.model.rest.states import frame_of, network_of, state_of
from tautline.model.system.case import Case
from tautline.model.system.starts import searched
from tautline.model.system.state import State
from tautline.model.system.system import System


class CasesBeside:
    """Cases with other values by key, for derivatives: right to first order in the changes.

    A start that is found by a search for rest moves with the keys as the stiffness has it, from the change of the
    forces; nothing is searched for.

    Parameters
    ----------
    case : Case
    """

    def __init__(self, case: Case) -> None:
        self._case = case
        self._slopes: dict[str, Array] = {}

    @cached_property
    def _rest(self) -> tuple[Network, Places]:
        """The network at rest, and its places."""
        return network_of(_searched(self._case)[0], self._case.state())

    def case_with(self, changes: Mapping[str, float]) -> Case:
        """The case with other values by key."""
        other = self._case.with_(changes) if changes else self._case
        if other.is_placed() or searched(other.start, other.system) is None:
            return other
        moved = np.zeros(self._rest[0].count)
        for name, value in changes.items():
            moved += self._slope(name) * (value - key_value(self._case, name))
        if not np.isfinite(moved).all():
            return other
        system, near = _searched(other)
        network, places = self._beside(other)
        found = network.moved(places, moved)
        return other.starting_from(state_of(system, near, network, found, frame_of(system)))

    def _slope(self, name: str) -> Array:
        """Derivatives of the unknowns of the search by a key."""
        if name not in self._slopes:
            (network, places), case, value = self._rest, self._case, key_value(self._case, name)
            here = _forces(network, places)
            groups = np.where(network.turning, 1, 0)
            scale = forces_of(network, places).scale
            scales = Scales(groups, 1.0 / network.lengths, scale * network.lengths)

            def at(distance: float) -> Changed:
                return _forces(*self._beside(case.with_({name: value + distance})))

            slopes = derivatives(at, key_size(case, name), scales, here, name).values
            self._slopes[name] = -by_stiffness(network, places, slopes)
        return self._slopes[name]

    def _beside(self, case: Case) -> tuple[Network, Places]:
        """The network of another case, everything that is free at the places of this one."""
        (network, near), (_, here) = network_of(*_searched(case)), self._rest
        nodes = near.nodes.copy()
        if nodes.shape == here.nodes.shape:
            nodes[network.inner] = here.nodes[network.inner]
        return network, network.on_bodies(here._replace(nodes=nodes))


def _forces(network: Network, places: Places) -> Changed:
    return Changed(forces_of(network, places).gradient, (network.count, network.node_count))


def _searched(case: Case) -> tuple[System, State]:
    with case.naming_keys("initial"):
        found = searched(case.start, case.system)
    assert found is not None
    return found
