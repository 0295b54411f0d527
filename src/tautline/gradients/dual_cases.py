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
from tautline.gradients.tangents_beside import tangents_beside
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


def dual_case(case: Case, along: Directions, first: int = 0) -> Case:
    """The case with dual numbers that carry derivatives along directions, behind so many other directions.

    UnknownTangentsError where a key has no section.
    """
    dual, sections = case, dict[tuple[str, ...], list[_Section]]()
    rows = np.concatenate([np.zeros((len(along.keys), first)), along.by], axis=1)
    for name, row in zip(along.keys, rows, strict=True):
        key = case.key(name)
        if key.whole == "gravity":
            dual = with_value(dual, ("system", "gravity"), Dual(case.system.gravity, row))
            continue
        there = sections.setdefault(key.path, [])
        own = next((x for x in there if key.name in x.keys), None)
        if own is None:
            own = _Section(case, key)
            there.append(own)
        own.asked[key] = row
    for own in (x for there in sections.values() for x in there):
        dual = with_value(dual, own.way, changed(value_at(dual, own.way), **own.dual_fields()))
    return dual


def check_changes(beside: CasesBeside, case: Case, along: Directions) -> None:
    """UnknownTangentsError where parts of a case refuse a change along a direction, InputError where rest jumps by it.

    It is changed along all of them together at first, by a distance of its own each, so that no two make up for each
    other.
    """
    steps = LOOK * along.sizes * _apart(len(along.names))

    def passes(distances: Array) -> bool:
        for sign in (1.0, -1.0):
            with suppress(InputError):
                beside.case_with(along.changes(case, sign * distances)).state()
                return True
        return False

    passed = passes(steps)
    beside.check_spins(along.keys)
    if not passed:
        for name, distances in zip(along.names, np.diag(steps), strict=True):
            if not passes(distances):
                raise UnknownTangentsError(name)


def _apart(count: int) -> Array:
    """Factors that are all different."""
    return 1.0 + 0.5 * np.arange(count) / count


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
    case : Case
    key : Key

    Attributes
    ----------
    way : Place
        From the case to the object.
    keys : collection of str
        Names of the keys that it may have.
    asked : dict
        Keys that change, and by how much along each direction.
    """

    def __init__(self, case: Case, key: keys.Key) -> None:
        sections = case.sections()
        made = None if sections is None else sections.section(key)
        if made is None:
            raise UnknownTangentsError(key.text)
        self._made, self.way, self._case = made, way_of(key, made.thing), case
        self._here, thing = Changed.of(_fields(made.thing)), value_at(case, self.way)
        if thing is not made.thing:
            own = Changed.of(_fields(thing))
            if own.structure != self._here.structure or not np.array_equal(own.values, self._here.values):
                raise UnknownTangentsError(key.text)
        self.keys = made.allowed()
        self.asked: dict[keys.Key, Array] = {}

    def dual_fields(self) -> dict[str, Any]:
        """Fields that change, with dual numbers."""
        columns, fields, first = self._columns(), {}, 0
        changes: Any = columns.any(axis=1).tolist()
        for field, x in _named(self._made.thing).items():
            own = slice(first, first + _count(x))
            if any(changes[own]):
                fields[field] = _dual(x, iter(columns[own]))
            first = own.stop
        return fields

    def _columns(self) -> Array:
        """Derivatives of the numbers of fields along all directions."""
        tree, rows = self._case.all_keys(), np.stack([*self.asked.values()])
        wholes = {key.name: keys.get(tree, key._replace(components=())) for key in self.asked}
        values = {key: value_at(wholes, (key.name, *key.components)) for key in self.asked}
        for key, value in values.items():
            if _is_switch(key, value):
                raise UnknownTangentsError(key.text)
        if isinstance(self._made.thing, RigidBody):
            shape = described(self._made.part, self._made.values, self._made.others)
            if isinstance(shape, bodies.Homogeneous):
                return np.asarray(np.einsum("nm,md->nd", _by_inertia(self._made.thing, shape, values), rows))
        places = self._places(wholes)
        if places is None:
            each = {name: self._places({name: whole}) for name, whole in wholes.items()} if len(wholes) > 1 else {}
            places = {place: row for found in each.values() if found for place, row in found.items()}
        columns = np.zeros((len(self._here.values), rows.shape[1]))
        for key, along in self.asked.items():
            row = places.get((key.name, key.components))
            if row is None:
                columns += np.multiply.outer(self._slopes(key, wholes[key.name], values[key]), along)
            else:
                columns[row] += along
        return columns

    def _slopes(self, key: keys.Key, whole: Any, value: float) -> Array:
        """Derivatives of the numbers of fields by a key, by differences."""

        def at(distance: float) -> Changed:
            values = {key.name: whole}
            keys.put(values, key._replace(section=""), value + distance)
            return self._with(values)

        size, scales = sizes_of(whole)[key.components], scales_of(_fields(self._made.thing))
        found = derivatives(at, size, scales, self._here, key.text).values
        if not np.isfinite(found).all():
            raise UnknownTangentsError(key.text)
        return found

    def _with(self, values: dict[str, Any]) -> Changed:
        """Fields of the object with other values of keys."""
        return Changed.of(_fields(assembled(self._made.part, {**self._made.values, **values}, self._made.others)))

    def _places(self, wholes: dict[str, Any]) -> dict[tuple[str, tuple[int, ...]], int] | None:
        """Where the numbers of keys are numbers of fields, on which no others depend; None where they are not.

        All are changed together, each by a distance of its own.
        """
        sizes = {(name, place): size for name, whole in wholes.items() for place, size in sizes_of(whole).items()}
        steps, known = LOOK * np.array([*sizes.values()]) * _apart(len(sizes)), None
        by_size = np.argsort(steps)
        if (np.diff(steps[by_size]) <= ALIKE * steps[by_size][1:]).any():
            return None
        for sign in (1.0, -1.0):
            supply = iter((sign * steps).tolist())
            try:
                there = self._with({name: _moved(whole, supply) for name, whole in wholes.items()})
            except InputError:
                continue
            if there.structure != self._here.structure:
                return None
            (moved,) = np.nonzero(there.values != self._here.values)
            changes = sign * (there.values[moved] - self._here.values[moved])
            order = np.argsort(changes)
            wanted = steps[by_size]
            if len(moved) != len(wanted) or (np.abs(changes[order] - wanted) > ROUNDED * wanted).any():
                return None
            known = np.empty_like(moved)
            known[by_size] = moved[order]
        return None if known is None else dict(zip(sizes, known.tolist(), strict=True))


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


def _by_inertia(body: RigidBody, shape: bodies.Homogeneous, values: Mapping[keys.Key, float]) -> Array:
    """Derivatives of the numbers of a homogeneous body by keys of its shape, which have some values."""
    dual, directions = shape, np.eye(len(values))
    for (key, value), direction in zip(values.items(), directions, strict=True):
        dual = with_value(dual, (key.name, *key.components), Dual(value, direction))
    moments, drawn = dual.moments()
    inertia = dual.mass * (np.eye(3) * stacked(moments)) + steiner(dual.mass, dual.center_of_mass)
    rows = tuple(tuple(inertia[i, j] for j in range(3)) for i in range(3))
    fields = {"mass": dual.mass, "inertia": rows, "center_of_mass": dual.center_of_mass, "shape": drawn}
    return tangents_beside(_fields(body), _fields(changed(body, **fields)), len(values))


def _count(value: Any) -> int:
    """How many numbers there are in the value of a field."""
    if isinstance(value, tuple):
        return sum(map(_count, value))
    return value.size if isinstance(value, np.ndarray) else int(isinstance(value, float))


def _moved(value: Any, steps: Iterator[float]) -> Any:
    """Nested lists of numbers, each changed by a step."""
    if isinstance(value, (list, tuple)):
        return [_moved(x, steps) for x in value]
    return value + next(steps) if isinstance(value, (int, float)) else value


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
