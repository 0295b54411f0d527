"""Starts at rest beside that of a case, by their derivatives: the search for rest is not repeated for each key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import EquilibriumError, InputError
from tautline.gradients.differences import STEPS, Changed, derivatives
from tautline.gradients.directions import Directions
from tautline.gradients.keys import key_size, key_value
from tautline.gradients.scales import Scales
from tautline.model import refusals
from tautline.model.rest.forces import forces_of
from tautline.model.rest.network import Network, Places
from tautline.model.rest.search import by_stiffness, find_rest
from tautline.model.rest.spin import Spin, free_spins
from tautline.model.rest.states import frame_of, network_of, state_of
from tautline.model.system.case import Case
from tautline.model.system.starts import is_searched, reel_speeds, searched
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
        self._held: dict[str, str] = {}  # bodies that are free to spin, by keys that take hold of them
        self._near: dict[tuple[str, float], _Searched] = {}  # searches beside, while derivatives by keys are found

    @cached_property
    def _rest(self) -> _Searched:
        """This case at rest."""
        found = _searched(self._case)
        assert found is not None
        network, places = network_of(found.system, self._case.state(), locked=self._case.locked_sheaves())
        passed = np.cumsum(network.deployed - found.network.deployed)[found.network.passes]
        return found._replace(places=places._replace(passed=passed))

    @cached_property
    def _spins(self) -> list[Spin]:
        """Spins of bodies that nothing holds at rest."""
        return free_spins(self._rest.network, self._rest.given, self._rest.places)

    def case_with(self, changes: Mapping[str, float]) -> Case:
        """The case with other values by key."""
        other = self._case.with_(changes) if changes else self._case
        # where a change makes a system that has to be searched, there is no search here to move along
        is_known = other.is_placed() or not is_searched(self._case.start, self._case.system)
        found = None if is_known else self._beside(other)
        if found is None or reel_speeds(other.start, other.system):  # velocities follow from searches
            return other
        steps = [value - key_value(self._case, name) for name, value in changes.items()]
        moved = self._slopes_by([*changes])[: found.network.count] @ np.array(steps)
        self.check_spins(changes)
        if not np.isfinite(moved).all():
            return other
        places = found.network.moved(found.places, moved)
        return other.starting_from(state_of(found.system, found.near, found.network, places, frame_of(found.system)))

    def check_spins(self, names: Iterable[str]) -> None:
        """Refuse keys, by which cases were changed, that take hold of a body which is free to spin."""
        for name in names:
            if name in self._held:
                raise refusals.HELD_SPIN_DERIVATIVE.error("one that takes hold of it", at=name, body=self._held[name])

    def search(self, along: Directions, first: int = 0) -> tuple[Network, Places, Array]:
        """The search for rest, and derivatives along directions, behind so many others.

        These are the derivatives of its unknowns, then those of lengths of each of its lines: deployed where the search
        begins, on the reel at the start, on that at the end.
        """
        slopes = self._slopes_by(along.keys) @ along.by
        found = np.concatenate([np.zeros((len(slopes), first)), slopes], axis=1)
        return self._rest.network, self._rest.places, found

    def _slopes_by(self, names: Sequence[str]) -> Array:
        """Derivatives by keys, in the order of `search`: one solution with the stiffness for all of them."""
        network, places = self._rest.network, self._rest.places
        new = [name for name in dict.fromkeys(names) if name not in self._slopes]
        if new:
            ends = np.cumsum([network.count, 3 * len(network.inner)])
            forces, along, lengths = np.split(np.stack([self._forces(name) for name in new], axis=1), ends)
            moved = -by_stiffness(network, places, forces)
            moved[network.first_of_line[0] : network.first_passing] += along
            for name, x, more in zip(new, moved.T, lengths.T, strict=True):
                found = self._spun(name, x) if self._spins and x.any() and np.isfinite(x).all() else x
                self._slopes[name] = np.append(found, more)
            self._near.clear()
        size = network.count + 3 * len(network.lines)
        return np.array([self._slopes[name] for name in names]).T.reshape(size, len(names))

    def _spun(self, name: str, moved: Array) -> Array:
        """Derivatives of the unknowns by a key, with spins as the search leaves them, equation (A12).

        NaN where a key takes hold of a body that is free to spin.
        """
        found, spins = moved.copy(), self._spins
        for spin in spins:
            found -= spin.axis @ found[spin.turns] * spin.motion

        def at(distance: float) -> Changed:
            beside = self._moved(name, distance, found)
            left = free_spins(beside.network, beside.given, beside.places)
            return Changed(np.array([spin.angle * spin.axis for spin in left]).ravel(), [spin.bodies for spin in left])

        held = self._held_by(name, found)
        if held is not None:
            self._held[name] = held
            return np.full(len(moved), np.nan)
        none = Changed(np.zeros(3 * len(spins)), [spin.bodies for spin in spins])
        scales = Scales(np.zeros(len(none.values), dtype=int), np.ones(len(none.values)), np.ones(len(none.values)))
        for k, spin in enumerate(spins):  # those farther out turn along
            if k == 0 or len(spins[k - 1].bodies) > 1:
                turned = derivatives(at, key_size(self._case, name), scales, none, name).values.reshape(-1, 3)
            found -= spin.axis @ turned[k] * spin.motion
        return found

    def _held_by(self, name: str, moved: Array) -> str | None:
        """A body that is free to spin and no longer so at rest beside; None if there is none."""
        size = key_size(self._case, name)
        for distance in (sign * part * size for part in STEPS for sign in (1.0, -1.0)):
            with suppress(InputError):
                free, beside = set[int](), self._moved(name, distance, moved)
                with suppress(EquilibriumError):
                    places = find_rest(beside.network, beside.places).places
                    free = {spin.turns.start for spin in free_spins(beside.network, beside.given, places)}
                held = (spin.bodies[0] for spin in self._spins if spin.turns.start not in free)
                return next((self._rest.network.body_names[b] for b in held), None)
        return None

    def _moved(self, name: str, distance: float, slopes: Array) -> _Searched:
        """The search beside, everything moved along with a key by its derivatives."""
        found = self._searched_with(name, distance)
        return found._replace(places=found.network.moved(found.places, distance * slopes))

    def _searched_with(self, name: str, distance: float) -> _Searched:
        """The search beside with a key at a distance from its value; forces and spins ask for the same ones."""
        if (name, distance) not in self._near:
            found = self._beside(self._case.with_({name: key_value(self._case, name) + distance}))
            assert found is not None
            self._near[name, distance] = found
        return self._near[name, distance]

    def _forces(self, name: str) -> Array:
        """Derivatives by a key of the forces on what is free, of places of inner nodes, and of lengths of lines.

        Bodies that are free stay where they are, and nodes between the ends of a line go along with these.
        """
        case, network, places = self._case, self._rest.network, self._rest.places
        path = case.key(name).path
        inner = {*path[2:3], *path[4:]}
        if path[:1] == ("run",) or inner & {"command", "end_command"}:  # rest is that of the system alone
            return np.zeros(network.count + 3 * len(network.inner) + 3 * len(network.lines))
        forces = forces_of(network, places)
        here = _changed(self._rest)
        groups, more = np.where(network.turning, 1, 0), np.ones(len(here.values) - network.count)
        scales = Scales(
            np.append(groups, np.full(len(more), 2)),
            np.append(1.0 / network.lengths, more),
            np.append(forces.scale * network.lengths, more),
        )

        def at(distance: float) -> Changed:
            found = self._searched_with(name, distance)
            return _changed(found._replace(places=_along(found.network, places, found.places)))

        return derivatives(at, key_size(case, name), scales, here, name).values

    def _beside(self, case: Case) -> _Searched | None:
        """The search of another case, everything that is free at the places of this one."""
        found = _searched(case)
        if found is None:
            return None
        nodes, here = found.places.nodes.copy(), self._rest.places
        if nodes.shape == here.nodes.shape:
            nodes[found.network.inner] = here.nodes[found.network.inner]
        return found._replace(places=found.network.on_bodies(here._replace(nodes=nodes)))


class _Searched(NamedTuple):
    """A search for rest."""

    system: System
    near: State  # where it begins
    network: Network
    places: Places

    @property
    def given(self) -> Array:
        """Attitudes in which bodies are placed (bodies, 3, 3)."""
        return np.array([self.near.bodies[name].attitude for name in self.network.body_names]).reshape(-1, 3, 3)


def _searched(case: Case) -> _Searched | None:
    """The search for the start of a case; None where it is not searched for."""
    with case.naming_keys("initial"):
        found = searched(case.start, case.system)
    return None if found is None else _Searched(*found, *network_of(*found, locked=case.locked_sheaves()))


def _along(network: Network, here: Places, there: Places) -> Places:
    """Places whose inner nodes have gone along with the ends of their lines."""
    if there.nodes.shape != here.nodes.shape:
        return there
    nodes = there.nodes.copy()
    for first, line in zip(network.first_node, network.lines, strict=True):
        own = slice(first, first + line.elements + 1)
        a, b = (there.nodes - here.nodes)[[own.start, own.stop - 1]]
        nodes[own][1:-1] += np.linspace(a, b, line.elements + 1)[1:-1]
    return there._replace(nodes=nodes)


def _changed(search: _Searched) -> Changed:
    network, places = search.network, search.places
    lengths = [x for line in network.lines for x in (line.deployed, line.spooled, line.end_spooled)]
    values = np.concatenate([forces_of(network, places).gradient, places.nodes[network.inner].ravel(), lengths])
    return Changed(values, (network.count, network.node_count))
