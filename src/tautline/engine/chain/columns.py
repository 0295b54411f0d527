"""Cases whose plain numbers are columns: arrays with one entry a member, in the fields of the model's own objects.

The formulas of the model and of the lowering take numbers and arrays alike. Code that decides by a number cannot: NumPy
refuses the truth of an array, and such members are set up one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import keys
from tautline.model.chain.cases import chain_command, chain_start
from tautline.model.chain.chain import Chain
from tautline.model.chain.state import ChainState, reeled_beside
from tautline.model.description import changed, fields_of
from tautline.model.keys import Key
from tautline.model.places import Place, value_at, with_value
from tautline.model.system.case import Case
from tautline.model.system.keys import is_section
from tautline.model.system.parts import Kinematic, Line
from tautline.model.system.sections import KIND, TOP
from tautline.model.system.starts import AtEquilibrium, Hanging, Straight
from tautline.model.system.straight_lines import straight_nodes

T = TypeVar("T")
Truths = NDArray[np.bool_]


class Varied:
    """Keys of a case that are plain numbers, or components of vectors; TypeError if one is not.

    Parameters
    ----------
    case : Case
        Of a system that is a chain; has numbers at these keys.
    names : iterable of str
        The keys, none of them a short one.
    """

    def __init__(self, case: Case, names: Iterable[str]) -> None:
        self._case = case
        self._keys = {name: keys.parse(name) for name in names}
        self._places = {name: _place(case, key) for name, key in self._keys.items()}

    def alike(self, count: int) -> dict[str, Array]:
        """Columns of so many members that are all as the case."""
        return {name: np.full(count, value_at(self._case, place)) for name, place in self._places.items()}

    def put(self, values: Mapping[str, Array]) -> Case:
        """The case with columns in place of these numbers."""
        case = self._case
        for name, place in self._places.items():
            case = with_value(case, place, values[name])
        return case

    def allowed(self, values: Mapping[str, Array]) -> Truths:
        """Members all of whose values pass the checks of their fields."""
        allowed: Truths = np.all([self._allowed(name, values[name]) for name in self._keys], axis=0)
        return allowed

    def _allowed(self, name: str, column: Array) -> Truths:
        """Members whose value of a key passes the check of its field, which allows an interval."""
        key, place = self._keys[name], self._places[name]
        components = place[len(place) - len(key.components) :]
        *way, field = place[: len(place) - len(components)]
        kind = fields_of(type(value_at(self._case, tuple(way))))[field] if key.path else TOP[key.name]
        before = value_at(self._case, (*way, field))

        def passes(x: float) -> bool:
            try:
                kind.check(name, with_value(before, components, x))
            except InputError:
                return False
            return True

        if passes(float(column.min())) and passes(float(column.max())):
            return np.ones(len(column), dtype=bool)
        return np.array([passes(x) for x in column.tolist()])


def _place(case: Case, key: Key) -> Place:
    """Where a number is that an object of a case keeps as it is given; TypeError if it is none."""
    place = _way(case, key)
    if place:
        value = value_at(case, (*place, key.name))
        if isinstance(value, tuple) and len(key.components) == 1 if key.components else isinstance(value, float):
            return (*place, key.name, *key.components)
    raise TypeError(f"{key.text} is not a plain number")


def _way(base: Case, key: Key) -> Place:
    """The way to the object that has a key among its fields; empty where it has none."""
    is_free = isinstance(base.start, Straight)  # other starts say where the guide is
    way: Place
    match (*key.path, key.name):
        case ("gravity",):
            return ("system",)
        case ("lines", name, "start_point") if is_free:
            return ("system", "lines", name)
        case ("bodies", name, "position") if is_free and isinstance(base.system.bodies[name], Kinematic):
            return ("system", "bodies", name)
        case ("lines", name, _):
            way = ("system", "lines", name, "string")
        case ("lines", name, "reel", _):
            way = ("system", "lines", name, "reel")
        case ("lines", name, "command", _) if name in base.commands:
            way = ("commands", name)
        case ("initial", _):
            way = ("start",)
        case _:
            return ()
    own = fields_of(type(value_at(base, way))) if hasattr(value_at(base, way), "__kinds__") else {}
    given = {name for name in value_at(base.given_keys(), key.path) if not is_section((*key.path, name))}
    # a field may be made of several keys
    return way if key.name in own and given <= {*own, *fields_of(Line), KIND} else ()


def states(base: Case, case: Case, chain: Chain, count: int) -> tuple[ChainState, Truths]:
    """States at the start, with members as the last dimension of arrays, and whether each can be.

    Who is doubtful is set up alone, where the sentence comes from. TypeError for starts that are not known in arrays.

    Parameters
    ----------
    base : Case
        One of the members.
    case, chain
        The same with columns.
    count : int
        Number of members.
    """
    known, start, name = chain_start(base), case.start, next(iter(case.system.lines))
    length, guide = chain.string.length, chain.reel.guide_length
    ones, fine = np.ones(count), np.ones(count, dtype=bool)
    if isinstance(start, Hanging) and (isinstance(start.reel_speed, Mapping) or np.any(start.reel_speed)):
        raise TypeError("a start at rest with a reel that turns")
    if isinstance(start, Straight):
        X = start.deployed * ones
        elements = case.system.elements_of(name, start.deployed)
        along, velocity, spin = (_rows(x, ones) for x in (start.along(), start.end_velocity, start.angular_velocity))
        v = np.zeros((elements + 1, 3, count))
        v[-1] = velocity
        nodes = straight_nodes(X, elements, along)
        fine &= (length - guide >= X) & along.any(axis=0)
        if start.inclination is None:
            fine &= start.azimuth == 0.0
        reeled, speed = reeled_beside(chain, X), start.reel_speed * ones
    elif start is not base.start or (isinstance(start, Hanging | AtEquilibrium) and case.system is not base.system):
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
    if chain_command(case).holds:
        fine &= speed == 0.0
    if chain.reel.guide_law != "stretched":
        fine &= chain.reel.spooled_strain == 0.0
    fields = {"reeled_length": reeled, "reel_speed": speed, "nodes": nodes, "node_velocities": v}
    return changed(known, **fields, angular_velocity=spin), fine


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
