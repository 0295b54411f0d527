"""How what a march takes follows from the keys of a case: its derivatives by keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.gradients.arrays import UnknownTangentsError
from tautline.gradients.differences import Changed, derivatives
from tautline.gradients.directions import Directions
from tautline.gradients.dual_cases import switching
from tautline.gradients.dual_runs import tangents_of_numbers
from tautline.gradients.keys import number_keys
from tautline.gradients.runs import check_case, runs_of
from tautline.gradients.scales import Scales, scales_of
from tautline.model.system.case import Case
from tautline.results.warnings import RunWarning

# Nested tuples of numbers of a case in which values of some keys are others.
Numbers = Callable[[Mapping[str, float]], tuple[Any, ...]]
# Derivatives of such numbers along directions; UnknownTangentsError where one is not known.
Tangents = Callable[[Directions, Scales], Array]


def differentiable_keys(case: Case) -> list[str]:
    """Keys of a case by which its runs can be differentiated, found by trying: some milliseconds a key."""
    steps = runs_of(check_case(case), []).steps

    def is_one(name: str) -> bool:
        try:
            runs = runs_of(case, [name], steps)
            tangents_of_run(Directions.single(case, [name]), runs, runs.begun({}))
        except InputError:
            return False
        return True

    return [name for name in number_keys(case) if is_one(name)]


def tangents_of_run(along: Directions, runs: Any, begun: Any) -> tuple[Array, list[RunWarning]]:
    """Derivatives of all that a run starts from, as `tangents_along` gives them.

    Parameters
    ----------
    along : Directions
    runs : Runs
        Of the case.
    begun : Begun or BegunNetwork
        The one with its own values.
    """

    def numbers(changes: Mapping[str, float]) -> tuple[Any, ...]:
        found: tuple[Any, ...] = (runs.beside(changes) if changes else begun).numbers()
        return found

    return tangents_along(along, runs.case, numbers, partial(tangents_of_numbers, runs, begun))


def tangents_along(
    along: Directions, case: Case, numbers: Numbers, tangents: Tangents | None = None
) -> tuple[Array, list[RunWarning]]:
    """Derivatives along directions of what follows from a case.

    Parameters
    ----------
    along : Directions
    case : Case
    numbers : callable
        Nested tuples of numbers, from other values by key.
    tangents : callable, optional
        Finds derivatives by dual numbers; differences are taken along directions that it does not know.

    Returns
    -------
    array
        (numbers in the order of `flat`, directions), NaN where a derivative is not known.
    list of RunWarning
        On these.
    """
    here = numbers({})
    changed, scales = Changed.of(here), scales_of(here)
    columns, unknown = np.zeros((len(changed.values), len(along.names))), [*range(len(along.names))]
    if tangents is not None:
        columns, unknown = by_duals(along, case, tangents, scales)
    warnings = []
    for j in unknown:

        def at(distance: float, j: int = j) -> Changed:
            return Changed.of(numbers(along.some([j]).changes(case, np.array([distance]))))

        columns[:, j] = derivatives(at, float(along.sizes[j]), scales, changed, along.names[j]).values
        if np.isnan(columns[:, j]).any():
            text = f"{along.names[j]}: what the run starts from has a kink there, and derivatives are not known"
            warnings.append(RunWarning("derivative_unknown", text))
    return columns, warnings


def by_duals(along: Directions, case: Case, tangents: Tangents, scales: Scales) -> tuple[Array, list[int]]:
    """Derivatives along directions by dual numbers, as many together as can be, and which are unknown.

    Those along which a key leaves zero and switches a part of the model on are not tried. The others are tried all
    together, else section by section, else one by one.
    """
    columns, unknown = np.zeros((len(scales.groups), len(along.names))), switching(case, along)
    tried = [[j for j in range(len(along.names)) if j not in unknown]]
    while tried:
        places = tried.pop()
        some = along.some(places)
        try:
            columns[:, places] = tangents(some, scales)
        except UnknownTangentsError:
            if len(places) < 2:
                unknown += places
                continue
            parts = some.by_section(case)
            tried += [[places[j] for j in part] for part in parts] if len(parts) > 1 else [[j] for j in places]
    return columns, sorted(unknown)
