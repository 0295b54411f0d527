"""Derivatives of what a run gives, by keys of its case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tautline.errors import InputError
from tautline.gradients.arrays import Dual
from tautline.gradients.keys import checked_keys
from tautline.gradients.objectives import Objective
from tautline.gradients.outputs import check_names
from tautline.gradients.run import Prepared, dual_run, ended, prepared_run, run_with_derivatives
from tautline.gradients.runs import check_case
from tautline.kernels.tangents import TANGENTS
from tautline.model import checks
from tautline.model.expressions import parts_of_system
from tautline.model.system.case import Case
from tautline.results.dataset import by_key
from tautline.results.network import build_jacobian, variables_of
from tautline.results.warnings import WARNINGS, RunWarning, encoded

if TYPE_CHECKING:
    import xarray as xr


class ValueAndGradient(NamedTuple):
    """A number from a run, and its derivatives by keys.

    Attributes
    ----------
    value : float
    gradient : DataArray
        On `key`; NaN where a derivative is not known.
    status, message : str
        How the run ended.
    warnings : list of RunWarning
        On the run, on derivatives that are not known, and on those that are not to be trusted.
    """

    value: float
    gradient: xr.DataArray
    status: str
    message: str
    warnings: list[RunWarning]


def jacobian(case: Case, outputs: str | Sequence[str], by: str | Iterable[str]) -> xr.Dataset:
    """Derivatives of variables of a run by keys of its case, at all samples.

    The run is made with steps of one length, which does not depend on the keys: that of the case, or the smallest that
    step="auto" makes. Derivatives are exact ones of what this run computes.

    Parameters
    ----------
    case : Case
    outputs : list of str
        Names of variables of results.
    by : list of str
        Keys of the case that are numbers: "lines.hoist.stiffness", "initial.bodies.load.velocity[1]", "run.duration";
        short ones such as "string.stiffness" where there is one line and one body.

    Returns
    -------
    Dataset
        Derivatives of each output, with its dimensions and `key`, which is labeled by the keys; NaN where one is not
        known. The values are coordinates: `tension_value` of `tension`. `attrs` hold `status`, `message`,
        the length of its steps as `step` (s), and warnings on the run and on its derivatives, for `tl.warnings_of`.
    """
    names, wanted = _keys(case, by), check_names(outputs, case.system)
    run = run_with_derivatives(case, wanted, names)
    values = {name: run.values[name].value for name in ("time", *wanted)}
    derivatives = {name: run.values[name].tangent for name in wanted}
    attrs = {"status": run.status, "message": run.message, "step": run.step, WARNINGS: encoded(run.warnings())}
    return build_jacobian(run.system, values, derivatives, names, attrs)


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
    wanted = list(variables_of(case.system))
    if isinstance(objective, Objective):
        objective, wanted = objective.of(parts_of_system(case.meshed().system)), sorted(objective.names)
    prepared = prepared_run(case, names)
    if len(names) > TANGENTS and prepared.begun.has_adjoint():
        found = prepared.begun.gradient_back(prepared, objective, wanted)
        if found is not None:
            gradient = found.gradient.copy()
            missing = [name for name, x in zip(names, gradient, strict=True) if np.isnan(x)]
            warnings = [*prepared.warnings, *prepared.begun.simulation.warnings()]
            if missing:
                forward = _by_duals(prepared_run(case, missing), objective, wanted)
                gradient[np.isnan(gradient)] = forward.gradient.values
                warnings = list(dict.fromkeys([*prepared.warnings, *forward.warnings]))
            status, message = ended(case, prepared.runs.steps, found.status, found.message)
            return ValueAndGradient(found.value, by_key(names, gradient), status, message, warnings)
        prepared = prepared_run(case, names)
    return _by_duals(prepared, objective, wanted)


def _keys(case: Case, by: str | Iterable[str]) -> list[str]:
    """Names of one key or more of a case."""
    names = checked_keys(check_case(case), by)
    if not names:
        raise InputError("by: expected keys such as 'string.stiffness', got none")
    return names


def _by_duals(prepared: Prepared, objective: Callable[..., Any], wanted: list[str]) -> ValueAndGradient:
    """A number from a run, and its derivatives by keys, by forward mode."""
    run, names = dual_run(prepared, wanted), list(prepared.by)
    number = objective(run.values)
    if not isinstance(number, Dual):
        number = Dual(checks.number("objective", number), np.zeros(len(names)))
    if number.shape != ():
        raise InputError("objective: expected a single number, got an array")
    value, gradient = float(number.value), number.tangent
    # a function is given more than it asks for
    unknown = isinstance(objective, Objective) or not np.isfinite(gradient).all()
    return ValueAndGradient(value, by_key(names, gradient), run.status, run.message, run.warnings(unknown))
