"""How what a march takes follows from the keys of a case: its derivatives by keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.gradients.arrays import UnknownTangentsError
from tautline.gradients.differences import Changed, derivatives
from tautline.gradients.keys import key_of, key_size, key_value, number_keys
from tautline.gradients.runs import check_case, runs_of
from tautline.gradients.scales import Scales, scales_of
from tautline.model.system.case import Case
from tautline.results.warnings import RunWarning

# Nested tuples of numbers of a case in which values of some keys are others.
Numbers = Callable[[Mapping[str, float]], tuple[Any, ...]]
# Derivatives of such numbers by keys; UnknownTangentsError where one is not known.
Tangents = Callable[[Sequence[str], Scales], Array]


def differentiable_keys(case: Case) -> list[str]:
    """Keys of a case by which its runs can be differentiated, found by trying: some milliseconds a key."""
    steps = runs_of(check_case(case), []).steps

    def is_one(name: str) -> bool:
        try:
            runs = runs_of(case, [name], steps)
            tangents_of_run(case, [name], runs, runs.begun({}))
        except InputError:
            return False
        return True

    return [name for name in number_keys(case) if is_one(name)]


def tangents_of_run(case: Case, by: Sequence[str], runs: Any, begun: Any) -> tuple[Array, list[RunWarning]]:
    """Derivatives by keys of all that a run starts from, as `tangents_by_keys` gives them.

    Parameters
    ----------
    case : Case
    by : sequence of str
        Keys.
    runs : Runs
        Of the case.
    begun : Begun or BegunNetwork
        The one with its own values.
    """

    def numbers(changes: Mapping[str, float]) -> tuple[Any, ...]:
        found: tuple[Any, ...] = (runs.beside(changes) if changes else begun).numbers()
        return found

    return tangents_by_keys(case, by, numbers, partial(runs.tangents, begun))


def tangents_by_keys(
    case: Case, by: Sequence[str], numbers: Numbers, tangents: Tangents | None = None
) -> tuple[Array, list[RunWarning]]:
    """Derivatives by keys of what follows from a case.

    Parameters
    ----------
    case : Case
    by : sequence of str
        Keys.
    numbers : callable
        Nested tuples of numbers, from other values by key.
    tangents : callable, optional
        Finds derivatives by dual numbers; keys that it does not know are differentiated by differences.

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
    columns, unknown = np.zeros((len(changed.values), len(by))), [*range(len(by))]
    if tangents is not None:
        columns, unknown = by_duals(case, by, tangents, scales)
    warnings = []
    for k in unknown:
        name = by[k]
        value = key_value(case, name)

        def at(distance: float, name: str = name, value: float = value) -> Changed:
            return Changed.of(numbers({name: value + distance}))

        columns[:, k] = derivatives(at, key_size(case, name), scales, changed, name).values
        if np.isnan(columns[:, k]).any():
            text = f"{name}: what the run starts from has a kink there, and derivatives are not known"
            warnings.append(RunWarning("derivative_unknown", text))
    return columns, warnings


def by_duals(case: Case, by: Sequence[str], tangents: Tangents, scales: Scales) -> tuple[Array, list[int]]:
    """Derivatives by keys from dual numbers, of all keys together or else section by section, and which are unknown."""
    with suppress(UnknownTangentsError):
        return tangents(by, scales), []
    sections: dict[tuple[str, ...], list[int]] = {}
    for k, name in enumerate(by):
        sections.setdefault(key_of(case, name).path, []).append(k)
    columns, unknown = np.zeros((len(scales.groups), len(by))), list[int]()
    for places in sections.values():
        if len(places) < len(by):
            with suppress(UnknownTangentsError):
                columns[:, places] = tangents([by[k] for k in places], scales)
                continue
        unknown += places
    return columns, unknown
