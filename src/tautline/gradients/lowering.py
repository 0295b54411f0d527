"""How what a march takes follows from the keys of a case: its derivatives by keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.gradients.differences import Changed, derivatives
from tautline.gradients.keys import key_size, key_value, number_keys
from tautline.gradients.runs import check_case, runs_of
from tautline.gradients.scales import scales_of
from tautline.model.system.case import Case
from tautline.results.warnings import RunWarning

if TYPE_CHECKING:
    from tautline.gradients.chain.given_starts import GivenStart

# Nested tuples of numbers of a case in which values of some keys are others.
Numbers = Callable[[Mapping[str, float]], tuple[Any, ...]]


def differentiable_keys(case: Case) -> list[str]:
    """Keys of a case by which its runs can be differentiated, found by trying: some milliseconds a key."""
    steps = runs_of(check_case(case), []).steps

    def is_one(name: str) -> bool:
        try:
            runs = runs_of(case, [name], steps)
            tangents_by_keys(case, [name], lambda changes: runs.beside(changes).numbers())
        except InputError:
            return False
        return True

    return [name for name in number_keys(case) if is_one(name)]


def tangents_by_keys(
    case: Case, by: Sequence[str], numbers: Numbers, start: GivenStart | None = None
) -> tuple[Array, list[RunWarning]]:
    """Derivatives by keys of what follows from a case.

    Parameters
    ----------
    case : Case
    by : sequence of str
        Keys.
    numbers : callable
        Nested tuples of numbers, from other values by key.
    start : GivenStart, optional
        Finds the derivatives by keys that it knows, where `numbers` are those of a run; of the first sample none.

    Returns
    -------
    array
        (numbers in the order of `flat`, keys), NaN where a derivative is not known.
    list of RunWarning
        On these.
    """
    here = numbers({})
    changed = Changed.of(here)
    scales = scales_of(here)
    columns, warnings = np.zeros((len(changed.values), len(by))), []
    for k, name in enumerate(by):
        value = key_value(case, name)

        def at(distance: float, name: str = name, value: float = value) -> Changed:
            return Changed.of(numbers({name: value + distance}))

        if start is not None and start.knows(name):
            columns[:, k] = start.column(name)
        else:
            columns[:, k] = derivatives(at, key_size(case, name), scales, changed, name).values
        if np.isnan(columns[:, k]).any():
            text = f"{name}: what the run starts from has a kink there, and derivatives are not known"
            warnings.append(RunWarning("derivative_unknown", text))
    return columns, warnings
