"""Derivatives of what a run gives, by keys of its case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.gradients.arrays import Carried
from tautline.gradients.keys import checked_keys
from tautline.gradients.objectives import Objective
from tautline.gradients.outputs import check_names
from tautline.gradients.run import Prepared, carried_run, ended, prepared_run, run_with_derivatives
from tautline.gradients.runs import check_case
from tautline.kernels.tangents import TANGENTS
from tautline.model import checks
from tautline.model.system.case import Case
from tautline.schema import SCHEMA


class Jacobian(NamedTuple):
    """Variables of a run, and their derivatives by keys.

    Attributes
    ----------
    time : array (n,)
        Of the samples (s).
    values : dict of array (n, ...)
        By name.
    derivatives : dict of array (n, ..., k)
        By name; the last dimension is that of `by`. NaN where a derivative is not known.
    by : list of str
        The keys.
    status, message : str
        How the run ended.
    remarks : list of str
        Warnings on the run, on derivatives that are not known, and on those that are not to be trusted.
    """

    time: Array
    values: dict[str, Array]
    derivatives: dict[str, Array]
    by: list[str]
    status: str
    message: str
    remarks: list[str]


class ValueAndGradient(NamedTuple):
    """A number from a run, and its derivatives by keys; the other attributes as those of `Jacobian`."""

    value: float
    gradient: Array
    by: list[str]
    status: str
    message: str
    remarks: list[str]


def jacobian(case: Case, outputs: str | Sequence[str], by: str | Iterable[str]) -> Jacobian:
    """Derivatives of variables of a run by keys of its case, at all samples.

    The run is made with steps of one length, which does not depend on the keys: that of the case, or the smallest that
    step="auto" makes. `values` are those of this run, and `derivatives` are exact ones of what it computes.

    Parameters
    ----------
    case : Case
    outputs : list of str
        Names of variables of results.
    by : list of str
        Keys of the case that are numbers: "lines.hoist.stiffness", "initial.bodies.load.velocity[1]", "run.duration";
        short ones such as "string.stiffness" where there is one line and one body.
    """
    names, wanted = _keys(case, by), check_names(outputs)
    run = run_with_derivatives(case, wanted, names)
    return Jacobian(
        run.values["time"].value,
        {name: run.values[name].value for name in wanted},
        {name: run.values[name].tangent for name in wanted},
        names,
        run.status,
        run.message,
        run.remarks(),
    )


def value_and_gradient(
    case: Case, objective: Callable[[Mapping[str, Any]], Any], by: str | Iterable[str]
) -> ValueAndGradient:
    """A number from a run, and its derivatives by keys of the case.

    Parameters
    ----------
    case : Case
    objective : callable
        The number from the variables of the run by name, which behave like arrays of NumPy; or `Final`, `Peak`,
        `Integral`, and sums and products of them.
    by : list of str
        Keys of the case that are numbers.
    """
    names = _keys(case, by)
    if not callable(objective):
        raise InputError(f"objective: expected a function of the values of a run, got {objective!r}")
    wanted = check_names(sorted(objective.names)) if isinstance(objective, Objective) else list(SCHEMA)
    prepared = prepared_run(case, names)
    if len(names) > TANGENTS and prepared.begun.has_adjoint():
        found = prepared.begun.gradient_back(prepared, objective, wanted)
        if found is not None:
            gradient = found.gradient.copy()
            missing = [name for name, x in zip(names, gradient, strict=True) if np.isnan(x)]
            remarks = [*prepared.remarks, *prepared.begun.simulation.remarks()]
            if missing:
                forth = _carried(prepared_run(case, missing), objective, wanted)
                gradient[np.isnan(gradient)] = forth.gradient
                remarks = list(dict.fromkeys([*prepared.remarks, *forth.remarks]))
            status, message = ended(case, prepared.runs.steps, found.status, found.message)
            return ValueAndGradient(found.value, gradient, names, status, message, remarks)
        prepared = prepared_run(case, names)
    return _carried(prepared, objective, wanted)


def _keys(case: Case, by: str | Iterable[str]) -> list[str]:
    """Names of one key or more of a case."""
    names = checked_keys(check_case(case), by)
    if not names:
        raise InputError("by: expected keys such as 'string.stiffness', got none")
    return names


def _carried(prepared: Prepared, objective: Callable[..., Any], wanted: list[str]) -> ValueAndGradient:
    """A number from a run, and its derivatives by keys, which are carried along."""
    run, names = carried_run(prepared, wanted), list(prepared.by)
    number = objective(run.values)
    if not isinstance(number, Carried):
        number = Carried(checks.number("objective", number), np.zeros(len(names)))
    if number.shape != ():
        raise InputError("objective: expected a single number, got an array")
    value, gradient = float(number.value), number.tangent
    # a function is given more than it asks for
    unknown = isinstance(objective, Objective) or not np.isfinite(gradient).all()
    return ValueAndGradient(value, gradient, names, run.status, run.message, run.remarks(unknown))
