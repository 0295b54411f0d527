"""Cases whose numbers carry derivatives by keys: dual numbers in the fields of the model's own objects.

The formulas of the model and of the lowering take numbers, columns and dual numbers alike. Code that would lose
derivatives raises TypeError, and such keys are differentiated otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.gradients.arrays import Carried
from tautline.gradients.differences import Changed, derivatives
from tautline.gradients.keys import key_of, key_size, key_value
from tautline.gradients.leaves import laid_out
from tautline.gradients.scales import scales_of
from tautline.model import keys
from tautline.model.places import Place, value_at, with_value
from tautline.model.string import String
from tautline.model.system.case import Case
from tautline.model.system.reading import assembled

# Over the size of a key, for a look at which fields of its section it changes.
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


def dual_case(case: Case, names: Sequence[str]) -> Case:
    """The case with dual numbers that carry derivatives by keys; UnknownTangentsError where one has no section."""
    slopes: dict[Place, Array] = {}
    sections: dict[tuple[str, ...], _Section] = {}
    for k, name in enumerate(names):
        key = key_of(case, name)
        if key.whole == "gravity":
            found = {("system", "gravity"): np.ones(1)}
        else:
            own = sections.get((*key.path, key.name)) or _Section(case, key)
            sections |= {(*key.path, other): own for other in own.keys}
            found = own.slopes(case, name, key)
        for place, slope in found.items():
            total = slopes.setdefault(place, np.zeros((len(slope), len(names))))
            total[:, k] += slope
    dual = case
    for place, tangent in slopes.items():
        dual = with_value(dual, place, _dual(value_at(case, place), tangent))
    return dual


class Field(NamedTuple):
    """The value of a field."""

    value: Any


def _fields(thing: Any) -> tuple[Field, ...]:
    """Values of the fields of an object."""
    return tuple(map(Field, vars(thing).values()))


class _Section:
    """The section that has a key; UnknownTangentsError where the case has another object than it gives.

    Attributes
    ----------
    keys : set of str
        Names of the keys that it may have.
    """

    def __init__(self, case: Case, key: keys.Key) -> None:
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
        self._ends = np.cumsum([len(laid_out(x)[0]) for x in _fields(made.thing)])
        self.keys = {*made.allowed()}
        self._passed: set[str] = set()  # keys that may pass through zero

    def slopes(self, case: Case, name: str, key: keys.Key) -> dict[Place, Array]:
        """Derivatives by a key of the numbers in fields of the object, by the places of those that it changes."""
        value, size = key_value(case, name), key_size(case, name)
        if value == 0.0 and key.whole not in self._passed:
            if key.name not in (STATES if key.path[0] == "initial" else PLACES):
                raise UnknownTangentsError(name)
            case.with_({name: LOOK * size})  # InputError where another part refuses it, such as a point mass a lever
            self._passed.add(key.whole)
        whole = {key.name: keys.get(case.all_keys(), key._replace(components=()))}
        inside = key._replace(section="")

        def at(distance: float) -> Changed:
            values = dict(whole)
            keys.put(values, inside, value + distance)
            return Changed.of(_fields(assembled(self._made.part, {**self._made.values, **values}, self._made.others)))

        row = _one_field(self._here, at, LOOK * size)
        if row is None:
            row = derivatives(at, size, scales_of(_fields(self._made.thing)), self._here, name).values
        if not np.isfinite(row).all():
            raise UnknownTangentsError(name)
        parts = zip(vars(self._made.thing), np.split(row, self._ends[:-1]), strict=True)
        return {(*self._way, field): part for field, part in parts if part.any()}


def _one_field(here: Changed, at: Callable[[float], Changed], far: float) -> Array | None:
    """Derivatives of fields of which one number is the key itself, and no other depends on it; else None."""
    moved = []
    for distance in (far, -far):
        try:
            there = at(distance)
        except InputError:
            return None
        if there.structure != here.structure:
            return None
        (places,) = np.nonzero(there.values != here.values)
        if len(places) != 1 or abs(there.values[places[0]] - here.values[places[0]] - distance) > 1e-9 * far:
            return None
        moved.append(places[0])
    if moved[0] != moved[1]:
        return None
    row = np.zeros_like(here.values)
    row[moved[0]] = 1.0
    return row


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
