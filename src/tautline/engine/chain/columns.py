"""Cases whose plain numbers are columns: arrays with one entry a member, in the fields of the model's own objects.

The formulas of the model and of the lowering take numbers and arrays alike. Code that decides by a number cannot: NumPy
refuses the truth of an array, and such members are set up one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import keys
from tautline.model.chain.case import ChainCase
from tautline.model.chain.chain import Chain
from tautline.model.chain.sections import PARTS
from tautline.model.chain.state import ChainState, reeled_beside, straight_nodes
from tautline.model.command import Command
from tautline.model.description import fields_of
from tautline.model.elements import default_elements
from tautline.model.keys import Key
from tautline.model.starts import Start, Straight, depends_on_loads

T = TypeVar("T")
# Parts of a case whose fields may be columns; those of the chain itself have no name.
SECTIONS = ("", "string", "reel", "initial", "command")
Truths = NDArray[np.bool_]


class Columns(NamedTuple):
    """What members differ in."""

    chain: Chain
    initial: Start
    command: Command


class Varied:
    """Keys of a case that are plain numbers, or components of vectors; TypeError if one is not.

    Parameters
    ----------
    case : ChainCase
        Has numbers at these keys.
    names : iterable of str
        The keys.
    """

    def __init__(self, case: ChainCase, names: Iterable[str]) -> None:
        self._case = case
        self._keys = {name: keys.parse(name) for name in names}
        for key in self._keys.values():
            if not _is_plain(case, key):
                raise TypeError(f"{key.text} is not a plain number")

    def alike(self, count: int) -> dict[str, Array]:
        """Columns of so many members that are all as the case."""
        found = {}
        for name, key in self._keys.items():
            value = getattr(_owner(self._case, key), key.name)
            found[name] = np.full(count, value[key.components[0]] if key.components else value)
        return found

    def put(self, values: Mapping[str, Array]) -> Columns:
        """The case with columns in place of these numbers."""
        case = self._case
        changed: dict[str, dict[str, Any]] = {name: {} for name in SECTIONS}
        for name, key in self._keys.items():
            fields = changed[key.section]
            before = fields.get(key.name, getattr(_owner(case, key), key.name))
            fields[key.name] = _with_component(before, key, values[name])
        for name in ("string", "reel"):
            if changed[name]:
                changed[""][name] = _changed(getattr(case.pendulum, name), changed[name])
        initial, command = (_changed(getattr(case, name), changed[name]) for name in ("initial", "command"))
        return Columns(_changed(case.pendulum, changed[""]), initial, command)

    def allowed(self, values: Mapping[str, Array]) -> Truths:
        """Members all of whose values pass the checks of their fields."""
        each = [_allowed(self._case, key, values[name]) for name, key in self._keys.items()]
        return np.all(each, axis=0)  # type: ignore[no-any-return]


def _changed(thing: T, fields: Mapping[str, Any]) -> T:
    """The thing itself, or a copy with other fields, which are not checked."""
    if not fields:
        return thing
    other = object.__new__(type(thing))
    vars(other).update(vars(thing), **fields)
    return other


def _owner(case: ChainCase, key: Key) -> Any:
    """The object that has a key among its fields."""
    if not key.section:
        return case.pendulum
    return getattr(case if key.section in ("initial", "command") else case.pendulum, key.section)


def _is_plain(case: ChainCase, key: Key) -> bool:
    """Whether a key is a number, or a component of a vector, that an object of the model keeps as it is given."""
    if key.section not in SECTIONS:
        return False
    owner = _owner(case, key)
    fields = fields_of(type(owner))
    if key.section:  # a field may be made of several keys
        known = {*fields, PARTS[key.section].word}
        fields = fields if known.issuperset(case.keys()[key.section]) else {}
    if key.name not in fields:
        return False
    value = getattr(owner, key.name)
    return isinstance(value, tuple) and len(key.components) == 1 if key.components else isinstance(value, float)


def _with_component(before: Any, key: Key, value: Any) -> Any:
    if not key.components:
        return value
    return tuple(value if i == key.components[0] else x for i, x in enumerate(before))


def _allowed(case: ChainCase, key: Key, column: Array) -> Truths:
    """Members whose value of a key passes the check of its field, which allows an interval."""
    owner = _owner(case, key)
    field, before = fields_of(type(owner))[key.name], getattr(owner, key.name)

    def passes(x: float) -> bool:
        try:
            field.check(key.text, _with_component(before, key, x))
        except InputError:
            return False
        return True

    if passes(float(column.min())) and passes(float(column.max())):
        return np.ones(len(column), dtype=bool)
    return np.array([passes(x) for x in column.tolist()])


def states(case: ChainCase, columns: Columns, count: int) -> tuple[ChainState, Truths]:
    """States at the start, with members as the last dimension of arrays, and whether each can be.

    Who is doubtful is set up alone, where the sentence comes from. TypeError for starts that are not known in arrays.
    """
    known, chain, start = case.state(), columns.chain, columns.initial
    length, guide = chain.string.length, chain.reel.guide_length
    ones, fine = np.ones(count), np.ones(count, dtype=bool)
    if isinstance(start, Straight):
        X = start.deployed * ones
        elements = case.run.number_of_elements() or default_elements(chain, start.deployed)
        along, velocity, spin = (_rows(x, ones) for x in (start.along(), start.end_velocity, start.angular_velocity))
        v = np.zeros((elements + 1, 3, count))
        v[-1] = velocity
        nodes = straight_nodes(X, elements, along)
        fine &= (length - guide >= X) & along.any(axis=0)
        if start.inclination is None:
            fine &= start.azimuth == 0.0
        reeled, speed = reeled_beside(chain, X), start.reel_speed * ones
    elif start is not case.initial or (depends_on_loads(start) and chain is not case.pendulum):
        raise TypeError(f"{type(start).__name__} is not known in arrays")
    else:
        nodes, v, spin = (x[..., None] * ones for x in (known.nodes, known.node_velocities, known.angular_velocity))
        reeled, speed = known.reeled_length * ones, known.reel_speed * ones
    fine &= (guide < length) & (guide <= reeled) & (reeled < length)
    least = case.run.minimum_length
    if least is not None:
        fine &= least < length - reeled
    if chain.body.is_point:
        fine &= ~spin.any(axis=0)
    if columns.command.holds:
        fine &= speed == 0.0
    if chain.reel.guide_law != "stretched":
        fine &= chain.reel.spooled_strain == 0.0
    fields = {"reeled_length": reeled, "reel_speed": speed, "nodes": nodes, "node_velocities": v}
    return _changed(known, fields | {"angular_velocity": spin}), fine


def _rows(vector: Any, ones: Array) -> Array:
    """A vector of numbers and columns as three rows."""
    return np.stack([x * ones for x in vector])


def some_of(value: T, places: Any) -> T:
    """A NamedTuple with the columns of some members; its arrays are not columns."""
    fields = zip(cast(tuple[Any, ...], value), type(value).__annotations__.values(), strict=True)
    return type(value)(*(x if "Array" in str(hint) else _taken(x, places) for x, hint in fields))


def _taken(x: Any, places: Any) -> Any:
    if isinstance(x, tuple):
        return tuple(_taken(item, places) for item in x)
    return x[places] if isinstance(x, np.ndarray) else x
