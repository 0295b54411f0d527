"""Keys of a case by which its runs are differentiated: their values and sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import checks, keys
from tautline.model.kinds import Kind
from tautline.model.system import keys as system_keys
from tautline.model.system.case import Case

# Keys that say how a run is made and not what it is of.
METHOD = ("run.step", "run.sample", "run.elements", "run.order")
ELEMENTS = "elements"
# Components smaller than this part of the largest of their key are zeros that were rounded.
ROUNDED = 1e-9


def checked_keys(case: Case, by: str | Iterable[str]) -> list[str]:
    """Names of keys that are numbers of a case."""
    names = checks.names("by", by)
    for name in names:
        key_value(case, name)
    if len({case.key(name)[1:] for name in names}) < len(names):
        raise InputError(f"by: expected every key once, got {', '.join(names)}")
    return names


def key_value(case: Case, name: str) -> float:
    """The present value of a key; InputError if it is not a number."""
    key = case.key(name)
    if key.whole in METHOD or key.name == ELEMENTS:
        raise InputError(f"{name}: expected a key of the model, got one of the method, which is held")
    try:
        value = keys.get(case.all_keys(), key)
    except (KeyError, IndexError, TypeError):
        kind_of(case, name)
        raise InputError(f"{name}: expected a key with a number in the case, got none; give it there") from None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"{name}: expected a number, got {value!r}")
    return float(value)


def kind_of(case: Case, name: str) -> Kind:
    """Kind of a key of a case; InputError if there is none."""
    try:
        return system_keys.kind_of(case.all_keys(), case.key(name))
    except InputError:
        raise InputError(f"{keys.parse(name).whole}: no such key") from None


def key_size(case: Case, name: str) -> float:
    """How large a change of a key is, over which it may be expected to make a difference.

    That is its own size. A component that is zero, or as good as zero beside others of its key, has the size of the
    smallest of its vector that is not.
    """
    return float(key_sizes(case, [name])[0])


def key_sizes(case: Case, names: Sequence[str]) -> Array:
    """`key_size` of several keys."""
    known: dict[str, dict[tuple[int, ...], float]] = {}
    found = []
    for name in names:
        key = case.key(name)
        if key.whole not in known:
            known[key.whole] = sizes_of(keys.get(case.all_keys(), key._replace(components=())))
        found.append(known[key.whole][key.components])
    return np.array(found)


def sizes_of(value: Any) -> dict[tuple[int, ...], float]:
    """Sizes of the numbers of a key, which may be nested lists, by components."""
    sizes = {place: abs(x) for place, x in numbers_of(value)}
    least = 0.0 if () in sizes else ROUNDED * max(sizes.values(), default=0.0)
    usual: dict[tuple[int, ...], float] = {}
    for place, x in sizes.items():
        if x > least:
            usual[place[:-1]] = min(x, usual.get(place[:-1], x))
    return {place: x if x > least else usual.get(place[:-1], 1.0) for place, x in sizes.items()}


def numbers_of(value: Any, place: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], float]]:
    """Numbers of nested lists, which may be of several lengths, with their components."""
    if isinstance(value, (list, tuple)):
        for k, inner in enumerate(value):
            yield from numbers_of(inner, (*place, k))
    elif isinstance(value, (int, float)):
        yield place, float(value)


def number_keys(case: Case) -> list[str]:
    """Keys of a case that are plain real numbers, components of vectors and entries of tables among them."""

    def is_one(name: str) -> bool:
        whole = keys.parse(name).whole
        return whole not in METHOD and whole == case.key(name).whole  # no short key of another

    return [name for name in _numbers(case.all_keys()) if is_one(name)]


def _numbers(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, f"{name}.{key}" if name else key)
    elif isinstance(value, (list, tuple)):
        for k, inner in enumerate(value):
            if not isinstance(inner, dict):  # tables of a list have no names
                yield from _numbers(inner, f"{name}[{k}]")
    elif isinstance(value, float):
        yield name
