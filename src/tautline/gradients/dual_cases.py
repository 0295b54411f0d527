"""Cases whose numbers carry derivatives by keys: dual numbers in the fields of the model's own objects.

The formulas of the model and of the lowering take numbers, columns and dual numbers alike. Code that would lose
derivatives raises TypeError, and such keys are differentiated otherwise.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.gradients.arrays import Dual, UnknownTangentsError
from tautline.gradients.differences import Changed, derivatives
from tautline.gradients.directions import Directions
from tautline.gradients.keys import sizes_of
from tautline.gradients.scales import scales_of
from tautline.model import bodies, keys
from tautline.model.body import RigidBody, steiner
from tautline.model.description import changed
from tautline.model.places import Place, value_at, with_value
from tautline.model.stacking import stacked
from tautline.model.string import String
from tautline.model.system.case import Case
from tautline.model.system.commands import END_REEL
from tautline.model.system.section_reader import assembled, described

if TYPE_CHECKING:
    from tautline.gradients.rest_starts import CasesBeside

# Over the size of a key, for a look at which fields of its section it changes, and whether others allow it.
LOOK = 1e-3
# Changes of numbers that are one and the same but for rounding, and those that are not told apart, over their size.
ROUNDED, ALIKE = 1e-9, 1e-6
# Parts of a case by the beginning of a key's path.
ROOTS: dict[str, Place] = {"initial": ("start",), "run": ("run",), "fluid": ("system", "fluid")}

# A key that is not zero where it leaves friction out.
LOSSLESS = ("efficiency", 1.0)
# Keys that may pass through zero, where others switch parts of a model on.
PLACES = ("start_point", "end_point", "position", "center_of_mass", "center", "point", "entrance", "exit")
STATES = ("direction", "end_velocity", "position", "velocity", "angular_velocity", "nodes", "node_velocities")


def way_of(key: keys.Key, thing: Any) -> Place:
    """The way from a case to the object of the section of a key."""
    match key.path:
        case ("lines", name):
            return ("system", "lines", name, *(("string",) if isinstance(thing, String) else ()))
        case ("lines", _, "reel" | "end_reel") | ("lines", _, "over", _):
            return ("system", *key.path)
        case ("lines", name, "command"):
            return ("commands", name)
        case ("lines", name, "end_command"):
            return ("commands", f"{name}.{END_REEL}")
        case ("lines", name, "over", sheave, "command"):
            return ("commands", f"{name}.{sheave}")
        case ("bodies", name):
            return ("system", "bodies", name)
        case ("bodies", name, "path"):
            return ("system", "bodies", name, "path")
        case ("bodies", name, "fluid"):
            return ("system", "body_fluid", name)
        case ("bodies", name, "applied_force"):
            return ("system", "applied_forces", name)
        case (root, *rest) if root in ROOTS:
            return (*ROOTS[root], *rest)
    raise UnknownTangentsError(key.text)


class Beside(NamedTuple):
    """A case in which keys are changed a little, each by a distance of its own."""

    case: Case
    distances: Array  # of the keys


def dual_case(case: Case, beside: Beside, along: Directions, first: int = 0) -> Case:
    """The case with dual numbers that carry derivatives along directions, behind so many other directions.

    UnknownTangentsError where a key has no section.
    """
    dual, sections = case, dict[tuple[str, ...], list[_Section]]()
    rows = np.concatenate([np.zeros((len(along.keys), first)), along.by], axis=1)
    for name, row, distance in zip(along.keys, rows, beside.distances.tolist(), strict=True):
        key = case.key(name)
        if key.whole == "gravity":
            dual = with_value(dual, ("system", "gravity"), Dual(case.system.gravity, row))
            continue
        there = sections.setdefault(key.path, [])
        own = next((x for x in there if key.name in x.keys), None)
        if own is None:
            own = _Section(case, beside.case, key)
            there.append(own)
        own.ask(key, row, distance)
    for own in (x for there in sections.values() for x in there):
        dual = with_value(dual, own.way, changed(value_at(dual, own.way), **own.dual_fields()))
    return dual


def case_beside(cases: CasesBeside, case: Case, along: Directions) -> Beside:
    """A case changed along all directions together, by a distance of its own each, so that no two make up for others.

    UnknownTangentsError where parts of it refuse that, InputError where rest jumps by it.
    """

    def at(steps: Array) -> Beside | None:
        with suppress(InputError):
            found = cases.case_with(along.changes(case, steps))
            found.state()
            return Beside(found, along.by @ steps)
        return None

    steps = LOOK * along.sizes * (1.0 + 0.5 * np.arange(len(along.names)) / len(along.names))
    found = at(steps) or at(-steps)
    cases.check_spins(along.keys)
    if found is None:
        raise UnknownTangentsError(", ".join(along.names))
    return found


class Field(NamedTuple):
    """The value of a field."""

    value: Any


def _fields(thing: Any) -> tuple[Field, ...]:
    """Values of the fields of an object."""
    return tuple(map(Field, _named(thing).values()))


def _named(thing: Any) -> dict[str, Any]:
    """Fields of an object, and nothing that it keeps beside them."""
    return {x.name: getattr(thing, x.name) for x in dataclasses.fields(thing)}


class _Section:
    """The section that has a key; UnknownTangentsError where the case has another object than it gives.

    Parameters
    ----------
    case, beside : Case
        Keys have other values in the case beside.
    key : Key

    Attributes
    ----------
    way : Place
        From the case to the object.
    keys : collection of str
        Names of the keys that it may have.
    """

    def __init__(self, case: Case, beside: Case, key: keys.Key) -> None:
        sections = case.sections()
        made = None if sections is None else sections.section(key)
        if made is None:
            raise UnknownTangentsError(key.text)
        self._made, self.way, self._tree = made, way_of(key, made.thing), case.all_keys()
        self._here, thing = self._numbers(made.thing), value_at(case, self.way)
        if thing is not made.thing:
            own = self._numbers(thing)
            if own.structure != self._here.structure or not np.array_equal(own.values, self._here.values):
                raise UnknownTangentsError(key.text)
        self._beside, self.keys = self._numbers(value_at(beside, self.way)), made.allowed()
        self._values: dict[keys.Key, float] = {}
        self._rows: list[Array] = []
        self._distances: dict[keys.Key, float] = {}  # to the case beside

    def ask(self, key: keys.Key, row: Array, distance: float) -> None:
        """Note a key that changes: by how much along each direction, and in the case beside."""
        self._values[key] = keys.get(self._tree, key)
        if _is_switch(key, self._values[key]):
            raise UnknownTangentsError(key.text)
        self._rows.append(row)
        self._distances[key] = distance

    def dual_fields(self) -> dict[str, Any]:
        """Fields that change, with dual numbers."""
        if isinstance(self._made.thing, RigidBody):
            shape = described(self._made.part, self._made.values, self._made.others)
            if isinstance(shape, bodies.Homogeneous):
                return self._fields_of(shape)
        columns, fields, first = self._columns(), {}, 0
        changes: Any = columns.any(axis=1).tolist()
        for field, x in _named(self._made.thing).items():
            own = slice(first, first + _count(x))
            if any(changes[own]):
                fields[field] = _dual(x, iter(columns[own]))
            first = own.stop
        return fields

    def _fields_of(self, dual: bodies.Homogeneous) -> dict[str, Any]:
        """Fields of a homogeneous body of a shape."""
        for (key, value), row in zip(self._values.items(), self._rows, strict=True):
            dual = with_value(dual, (key.name, *key.components), Dual(value, row))
        moments, drawn = dual.moments()
        inertia = dual.mass * (np.eye(3) * stacked(moments)) + steiner(dual.mass, dual.center_of_mass)
        rows = tuple(tuple(inertia[i, j] for j in range(3)) for i in range(3))
        return {"mass": dual.mass, "inertia": rows, "center_of_mass": dual.center_of_mass, "shape": drawn}

    def _columns(self) -> Array:
        """Derivatives of the numbers of fields along all directions."""
        rows = np.stack(self._rows)
        places = self._places(self._beside, self._distances)
        for name in {key.name for key in self._values} if places is None else ():
            own = {key: x for key, x in self._distances.items() if key.name == name}
            with suppress(InputError):
                places = (places or {}) | (self._places(self._with(own), own) or {})
        columns = np.zeros((len(self._here.values), rows.shape[1]))
        for key, row in zip(self._values, rows, strict=True):
            if places and key in places:
                columns[places[key]] += row
            else:
                columns += np.multiply.outer(self._slopes(key), row)
        return columns

    def _places(self, there: Changed, distances: Mapping[keys.Key, float]) -> dict[keys.Key, int] | None:
        """Which numbers of fields are those of keys, on which no others depend, from fields with changed keys.

        None where they are not.
        """
        steps = np.array([*distances.values()])
        if there.structure != self._here.structure:
            return None
        (moved,) = np.nonzero(there.values != self._here.values)
        if len(moved) != len(steps):
            return None
        changes = there.values[moved] - self._here.values[moved]
        wanted, found = np.argsort(steps), np.argsort(changes)
        apart, off = np.diff(steps[wanted]), np.abs(changes[found] - steps[wanted])
        if (apart <= ALIKE * np.abs(steps[wanted][1:])).any() or (off > ROUNDED * np.abs(steps[wanted])).any():
            return None
        places, named = moved[found].tolist(), [*distances]
        return {named[k]: place for k, place in zip(wanted.tolist(), places, strict=True)}

    def _slopes(self, key: keys.Key) -> Array:
        """Derivatives of the numbers of fields by a key, by differences."""
        whole = keys.get(self._tree, key._replace(components=()))
        size, scales = sizes_of(whole)[key.components], scales_of(_fields(self._made.thing))
        found = derivatives(lambda x: self._with({key: x}), size, scales, self._here, key.text).values
        if not np.isfinite(found).all():
            raise UnknownTangentsError(key.text)
        return found

    def _with(self, distances: Mapping[keys.Key, float]) -> Changed:
        """Numbers of the object with keys changed by distances."""
        wholes = {key.name: keys.get(self._tree, key._replace(components=())) for key in distances}
        values = {**self._made.values, **wholes}
        for key, distance in distances.items():
            keys.put(values, key._replace(section=""), self._values[key] + distance)
        return self._numbers(assembled(self._made.part, values, self._made.others))

    def _numbers(self, thing: Any) -> Changed:
        """Numbers of the fields of an object, and what else they are, but other objects that it is made of."""
        return Changed.of(tuple(x for name, x in _named(thing).items() if name not in self._made.others))


def switching(case: Case, along: Directions) -> list[int]:
    """Numbers of the directions along which a key leaves a value at which it leaves a part of a model out."""
    switches = [_is_switch(key, keys.get(case.all_keys(), key)) for key in (case.key(name) for name in along.keys)]
    found: list[int] = np.flatnonzero(along.by[switches].any(axis=0)).tolist()
    return found


def _is_switch(key: keys.Key, value: float) -> bool:
    """Whether a key of some value leaves a part of a model out: 0, but of places, states and entries of tables."""
    if value != 0.0 or not key.path:
        return (key.name, value) == LOSSLESS
    is_entry = bool(key.components) and (key.path[-1] == "command" or key.name == "displacements")
    return not is_entry and key.name not in (STATES if key.path[0] == "initial" else PLACES)


def _count(value: Any) -> int:
    """How many numbers there are in the value of a field."""
    if isinstance(value, tuple):
        return sum(map(_count, value))
    return value.size if isinstance(value, np.ndarray) else int(isinstance(value, float))


def _dual(value: Any, rows: Iterator[Array]) -> Any:
    """Numbers of a field, those that change with their derivatives, which are the next of the rows."""
    if isinstance(value, float):
        row = next(rows)
        return Dual(value, row) if row.any() else value
    if isinstance(value, np.ndarray):
        own = np.array([next(rows) for _ in range(value.size)])
        return Dual(value, own.reshape(*value.shape, -1)) if own.any() else value
    if not isinstance(value, tuple):
        return value
    items = [_dual(x, rows) for x in value]
    return type(value)(*items) if hasattr(value, "_fields") else tuple(items)


def carries(tree: Any) -> bool:
    """Whether a number of nested tuples, mappings or objects carries derivatives."""
    if isinstance(tree, Dual):
        return True
    if isinstance(tree, tuple):
        return any(map(carries, tree))
    if isinstance(tree, Mapping):
        return any(map(carries, tree.values()))
    return hasattr(tree, "__dict__") and not isinstance(tree, type) and any(map(carries, vars(tree).values()))
