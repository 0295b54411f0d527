"""Derivatives of all that a run or a segment starts from, by dual numbers."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.gradients.arrays import UnknownTangentsError
from tautline.gradients.directions import Directions
from tautline.gradients.dual_cases import case_beside, dual_case
from tautline.gradients.dual_starts import Midway, Searched
from tautline.gradients.dual_tables import with_dual_motions
from tautline.gradients.scales import IGNORED, Scales
from tautline.model.system.case import Case


class DualRun(NamedTuple):
    """A case with dual numbers, and how its run starts."""

    case: Case
    sizes: Array  # how far a change along each direction is that may be expected to make a difference
    rest: Searched  # the search for rest at the start
    at: Midway | None  # a segment, whose coordinates are the first directions; None for the start of the run


def tangents_of_numbers(runs: Any, begun: Any, along: Directions, scales: Scales, at: Midway | None = None) -> Array:
    """Derivatives of the numbers of a run, in the order of `flat`; UnknownTangentsError where one is not known.

    Parameters
    ----------
    runs : Runs
        Of the case.
    begun : Begun or BegunNetwork
        The one with its own values.
    along : Directions
        Of the keys.
    scales : Scales
        Kinds of the numbers.
    at : Midway, optional
        A segment, whose coordinates are the first directions; the run by default.
    """
    beside = case_beside(runs.cases, runs.case, along)
    first = 0 if at is None else len(at.x)
    try:
        sizes = np.concatenate([np.ones(first), along.sizes])
        case = with_dual_motions(dual_case(runs.case, beside, along, first), sizes, runs.steps.until)
        found: Array = runs.columns(begun, DualRun(case, sizes, partial(runs.cases.search, along, first), at), scales)
    except (TypeError, ValueError, AttributeError) as error:  # InputError among them: a check of plain numbers
        raise UnknownTangentsError(str(error)) from error
    found[scales.groups == IGNORED] = 0.0
    if not np.isfinite(found).all():
        raise UnknownTangentsError("a derivative that is not finite")
    return found
