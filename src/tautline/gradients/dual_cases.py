"""Cases whose numbers carry derivatives by keys: dual numbers in the fields of the model's own objects.

The formulas of the model and of the lowering take numbers, columns and dual numbers alike. Code that would lose
derivatives raises TypeError, and such keys are differentiated otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.gradients.arrays import Carried
from tautline.gradients.differences import Changed, derivatives
from tautline.gradients.keys import key_of, key_sizes, key_value, sizes_of
from tautline.gradients.leaves import laid_out
from tautline.gradients.scales import scales_of
from tautline.model import keys
from tautline.model.places import Place, value_at, with_value
from tautline.model.string import String
from tautline.model.system.case import Case
from tautline.model.system.reading import assembled

if TYPE_CHECKING:
    from tautline.gradients.rest_starts import CasesBeside

# Over the size of a key, for a look at which fields of its section it changes, and whether others allow it.
LOOK = 1e-3
# Parts of a case by the beginning of a key's path.
ROOTS: dict[str, Place] = {"initial": ("start",), "run": ("run",), "fluid": ("system", "fluid")}

# Keys that may pass through zero, where others switch parts of a model on.
PLACES = ("start_point", "end_point", "position", "center_of_mass")
STATES = ("direction", "end_velocity", "position", "velocity", "angular_velocity", "nodes", "node_velocities")


class UnknownTangentsError(TypeError):
    """Derivatives that dual numbers do not give."""


def way_of(key: keys.Key, thing: Any) -> Place:
    """The way from a case to the object of the section of a key."""
    match key.path:
        case ("lines", name):
            return ("system", "lines", name, *(("string",) if isinstance(thing, String) else ()))
        case ("lines", name, "reel"):
            return ("system", "lines", name, "reel")
        case ("lines", name, "command"):
            return ("commands", name)
        case ("bodies", name):
            return ("system", "bodies", name)
        case ("bodies", name, "fluid"):
            return ("system", "body_fluid", name)
        case ("bodies", name, "applied_force"):
            return ("system", "applied_forces", name)
        case (root, *rest) if root in ROOTS:
            return (*ROOTS[root], *rest)
    raise UnknownTangentsError(key.text)


def dual_case(case: Case, names: Sequence[str], first: int = 0) -> Case:
    """The case with dual numbers that carry derivatives by keys, whose number among all directions begins at `first`.

    UnknownTangentsError where one has no section.
    """
    tangents: dict[Place, Array] = {}
    sections: dict[tuple[str, ...], _Section] = {}
    count = first + len(names)
    for k, name in enumerate(names, first):
        key = key_of(case, name)
        if key.whole == "gravity":
            tangents["system", "gravity"] = np.eye(count)[k : k + 1]
            continue
        own = sections.get((*key.path, key.name))
        if own is None:
            own = _Section(case, key, count)
            sections |= {(*key.path, other): own for other in own.keys}
        own.put(case, key, k)
    for own in dict.fromkeys(sections.values()):
        tangents |= own.tangents()
    dual = case
    for place, tangent in tangents.items():
        dual = with_value(dual, place, _dual(value_at(case, place), tangent))
    return dual


def check_changes(beside: CasesBeside, case: Case, names: Sequence[str]) -> None:
    """UnknownTangentsError where parts of a case refuse another value of a key by itself.

    All keys are changed together at first, each by a distance of its own, so that no two make up for each other.
    """
    steps = LOOK * key_sizes(case, names) * _apart(len(names))
    values = [key_value(case, name) for name in names]

    def passes(some: Sequence[int]) -> bool:
        for sign in (1.0, -1.0):
            with suppress(InputError):
                beside.case_with({names[k]: values[k] + sign * float(steps[k]) for k in some}).state()
                return True
        return False

    if not passes(range(len(names))):
        for k, name in enumerate(names):
            if not passes([k]):
                raise UnknownTangentsError(name)


def _apart(count: int) -> Array:
    """Factors that are all different."""
    return 1.0 + 0.5 * np.arange(count) / count


class Field(NamedTuple):
    """The value of a field."""

    value: Any


def _fields(thing: Any) -> tuple[Field, ...]:
    """Values of the fields of an object."""
    return tuple(map(Field, vars(thing).values()))


class _Section:
    """The section that has a key; UnknownTangentsError where the case has another object than it gives.

    Parameters
    ----------
    case : Case
    key : Key
    count : int
        How many directions there are in all.

    Attributes
    ----------
    keys : set of str
        Names of the keys that it may have.
    """

    def __init__(self, case: Case, key: keys.Key, count: int) -> None:
        sections = case.sections()
        made = None if sections is None else sections.section(key)
        if made is None:
            raise UnknownTangentsError(key.text)
        self._made, self._way = made, way_of(key, made.thing)
        self._here, thing = Changed.of(_fields(made.thing)), value_at(case, self._way)
        if thing is not made.thing:
            own = Changed.of(_fields(thing))
            if own.structure != self._here.structure or not np.array_equal(own.values, self._here.values):
                raise UnknownTangentsError(key.text)
        self.keys = {*made.allowed()}
        self._columns = np.zeros((len(self._here.values), count))
        self._own: dict[str, dict[tuple[int, ...], int]] = {}  # places among the numbers of fields

    def put(self, case: Case, key: keys.Key, k: int) -> None:
        """Let the numbers of fields have their derivatives by a key, the kth."""
        whole = keys.get(case.all_keys(), key._replace(components=()))
        if key.name not in self._own:
            self._own[key.name] = self._places(key.name, whole)
        place = self._own[key.name].get(key.components)
        value = keys.get({key.name: whole}, key._replace(section=""))
        if value == 0.0 and key.name not in (STATES if key.path[0] == "initial" else PLACES):
            raise UnknownTangentsError(key.text)
        if place is not None:
            self._columns[place, k] = 1.0
            return

        def at(distance: float) -> Changed:
            values = {key.name: whole}
            keys.put(values, key._replace(section=""), value + distance)
            return self._with(values)

        size, scales = sizes_of(whole)[key.components], scales_of(_fields(self._made.thing))
        self._columns[:, k] = derivatives(at, size, scales, self._here, key.text).values
        if not np.isfinite(self._columns[:, k]).all():
            raise UnknownTangentsError(key.text)

    def _with(self, values: dict[str, Any]) -> Changed:
        """Fields of the object with other values of keys."""
        return Changed.of(_fields(assembled(self._made.part, {**self._made.values, **values}, self._made.others)))

    def _places(self, name: str, whole: Any) -> dict[tuple[int, ...], int]:
        """Where the numbers of a key are numbers of fields, on which no others depend; empty where they are not."""
        sizes = sizes_of(whole)
        steps, known = LOOK * np.array([*sizes.values()]) * _apart(len(sizes)), False
        for sign in (1.0, -1.0):
            try:
                there = self._with({name: _moved(whole, iter((sign * steps).tolist()))})
            except InputError:
                continue
            if there.structure != self._here.structure:
                return {}
            (moved,) = np.nonzero(there.values != self._here.values)
            changes = there.values[moved] - self._here.values[moved]
            if len(moved) != len(steps) or (np.abs(changes - sign * steps) > 1e-9 * steps).any():
                return {}
            known = True
        return dict(zip(sizes, moved.tolist(), strict=True)) if known else {}

    def tangents(self) -> dict[Place, Array]:
        """Derivatives of the numbers in fields, by the places of those that change."""
        ends = np.cumsum([len(laid_out(x)[0]) for x in _fields(self._made.thing)])
        parts = zip(vars(self._made.thing), np.split(self._columns, ends[:-1]), strict=True)
        return {(*self._way, field): part for field, part in parts if part.any()}


def _moved(value: Any, steps: Iterator[float]) -> Any:
    """Nested lists of numbers, each changed by a step."""
    if isinstance(value, (list, tuple)):
        return [_moved(x, steps) for x in value]
    return value + next(steps) if isinstance(value, (int, float)) else value


def _dual(value: Any, tangent: Array) -> Any:
    """Numbers of a field that carry derivatives, from those of all of its numbers in order."""
    if isinstance(value, float):
        return Carried(value, tangent[0])
    if isinstance(value, np.ndarray):
        return Carried(value, tangent.reshape(*value.shape, -1))
    if isinstance(value, tuple):
        sizes = np.cumsum([len(laid_out((x,))[0]) for x in value])
        parts = zip(value, np.split(tangent, sizes[:-1]), strict=True)
        items = [_dual(x, t) if t.any() else x for x, t in parts]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    raise UnknownTangentsError(f"a field of type {type(value).__name__}")


def carries(tree: Any) -> bool:
    """Whether a number of nested tuples, mappings or objects carries derivatives."""
    if isinstance(tree, Carried):
        return True
    if isinstance(tree, tuple):
        return any(map(carries, tree))
    if isinstance(tree, Mapping):
        return any(map(carries, tree.values()))
    return hasattr(tree, "__dict__") and not isinstance(tree, type) and any(map(carries, vars(tree).values()))
