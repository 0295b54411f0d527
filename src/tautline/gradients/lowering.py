"""How what a march takes follows from the keys of a case: its derivatives by keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.gradients.differences import Changed, derivatives
from tautline.gradients.given_starts import GivenStart
from tautline.gradients.scales import scales_of
from tautline.gradients.setting import begin_frozen, check_case, steps_of
from tautline.model import checks, keys, sections
from tautline.model.assembly import keys as assembly_keys
from tautline.model.assembly.case import Case
from tautline.model.case import ChainCase
from tautline.model.kinds import Kind

# Keys that say how a run is made and not what it is of.
METHOD = ("run.step", "run.sample", "run.elements", "run.order")
# Components smaller than this part of the largest of their key are zeros that were rounded.
ROUNDED = 1e-9


def checked_keys(case: ChainCase | Case, by: str | Iterable[str]) -> list[str]:
    """Names of keys that are numbers of a case."""
    names = checks.names("by", by)
    for name in names:
        key_value(case, name)
    if len(set(names)) < len(names):
        raise InputError(f"by: expected every key once, got {', '.join(names)}")
    return names


def key_value(case: ChainCase | Case, name: str) -> float:
    """The present value of a key; InputError if it is not a number."""
    key = keys.parse(name)
    if key.whole in METHOD:
        raise InputError(f"{name}: expected a key of the model, got one of the method, which is held")
    tree = _tree_with(case, key)
    try:
        value = keys.get(tree, key)
    except (KeyError, IndexError, TypeError):
        kind_of(case, key)
        raise InputError(f"{name}: expected a key with a number in the case, got none; give it there") from None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"{name}: expected a number, got {value!r}")
    return float(value)


def _tree_with(case: ChainCase | Case, key: keys.Key) -> sections.Tree:
    """Tree of the keys of a case in which one is looked for: those that were given, or all."""
    if isinstance(case, Case):
        return case.to_dict()
    return case.keys() if keys.has(case.keys(), key) else case.to_dict()


def kind_of(case: ChainCase | Case, key: keys.Key) -> Kind:
    """Kind of a key of a case; InputError if there is none."""
    if isinstance(case, Case):
        return assembly_keys.kind_of(case.to_dict(), key)
    return sections.kind_of(_tree_with(case, key), key)


def key_size(case: ChainCase | Case, name: str) -> float:
    """How large a change of a key is, over which it may be expected to make a difference.

    That is its own size. A component that is zero, or as good as zero beside others of its key, has the size of the
    smallest of its vector that is not.
    """
    value, key = abs(key_value(case, name)), keys.parse(name)
    tree = _tree_with(case, key)

    def sizes(components: tuple[int, ...]) -> Iterator[float]:
        return _sizes(keys.get(tree, key._replace(components=components)))

    least = ROUNDED * max(sizes(())) if key.components else 0.0
    if value > least:
        return value
    return min((x for x in sizes(key.components[:-1]) if x > least), default=1.0)


def _sizes(value: Any) -> Iterator[float]:
    """Sizes of the numbers of nested lists, which may be of several lengths."""
    if isinstance(value, (list, tuple, np.ndarray)):
        for inner in value:
            yield from _sizes(inner)
    else:
        yield abs(float(value))


def differentiable_keys(case: ChainCase | Case) -> list[str]:
    """Keys of a case by which its runs can be differentiated, found by trying: some milliseconds a key."""
    steps = steps_of(check_case(case))

    def is_one(name: str) -> bool:
        try:
            tangents_by_keys(case, [name], lambda other: begin_frozen(other, steps).numbers())
        except InputError:
            return False
        return True

    return [name for name in number_keys(case) if is_one(name)]


def number_keys(case: ChainCase | Case) -> list[str]:
    """Keys of a case that are plain real numbers, components of vectors and entries of tables among them."""
    return [name for name in _numbers(case.to_dict()) if keys.parse(name).whole not in METHOD]


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


def tangents_by_keys(
    case: ChainCase | Case,
    by: Sequence[str],
    numbers: Callable[[Any], tuple[Any, ...]],
    start: GivenStart | None = None,
) -> tuple[Array, list[str]]:
    """Derivatives by keys of what follows from a case.

    Parameters
    ----------
    case : Case
    by : sequence of str
        Keys.
    numbers : callable
        Nested tuples of numbers from a case.
    start : GivenStart, optional
        Finds the derivatives by keys that it knows, where `numbers` are those of a run; of the first sample none.

    Returns
    -------
    array
        (numbers in the order of `flat`, keys), NaN where a derivative is not known.
    list of str
        Sentences on these.
    """
    here = numbers(case)
    changed = Changed.of(here)
    scales = scales_of(here)
    columns, remarks = np.zeros((len(changed.values), len(by))), []
    for k, name in enumerate(by):
        value = key_value(case, name)

        def at(distance: float, name: str = name, value: float = value) -> Changed:
            there = numbers(case.with_({name: value + distance}))
            return Changed.of(there)

        if start is not None and start.knows(name):
            columns[:, k] = start.column(name)
        else:
            columns[:, k] = derivatives(at, key_size(case, name), scales, changed, name).values
        if np.isnan(columns[:, k]).any():
            remarks.append(f"{name}: what the run starts from has a kink there, and derivatives are not known")
    return columns, remarks
