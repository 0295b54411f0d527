"""Result of a search for an optimum: a case to run, how the search went, and whether the result holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.engine.simulate import run_of, simulate
from tautline.model.expressions import TIME
from tautline.model.system.case import Case
from tautline.optimal.interval import Wanted, of_run, plain, rows_of
from tautline.optimal.terms import Bound
from tautline.results.warnings import RunWarning, warnings_of

if TYPE_CHECKING:
    import xarray as xr

# Of a bound's scale: by so much a plain run of the result may be beyond it.
HOLDS = 1e-4
COMPLETED, INFEASIBLE, ITERATIONS, INTERRUPTED, FAILED, NOT_REPRODUCED = (
    "completed",
    "infeasible",
    "iterations",
    "interrupted",
    "failed",
    "not_reproduced",
)
# IPOPT's word for a search that was asked to stop.
STOPPED = "User_Requested_Stop"
# IPOPT's words, and ours.
_STATUS = {
    "Solve_Succeeded": COMPLETED,
    "Solved_To_Acceptable_Level": COMPLETED,
    "Infeasible_Problem_Detected": INFEASIBLE,
    "Maximum_Iterations_Exceeded": ITERATIONS,
    STOPPED: INTERRUPTED,
}


class Progress(NamedTuple):
    """An iteration of the search."""

    iteration: int
    objective: float
    violation: float  # of the worst constraint, as a part of its scale
    seconds: float  # since the search began


@dataclass(frozen=True)
class Optimized:
    """The result of `optimize`.

    Attributes
    ----------
    case : Case
        To run, look at and save, with the values that were found.
    status : str
        "completed" if the search converged and a plain run of the case keeps all bounds; else "infeasible",
        "iterations" (too few), "interrupted", "not_reproduced" or "failed".
    message : str
        The same in a sentence.
    objective : float
        What was made least, in a plain run of the case; after Ctrl-C, in the search.
    violation : float
        By how much that run is beyond the worst of its bounds, as a part of the bound's scale; after Ctrl-C, by
        how much the search is.
    values : dict
        Found values by key.
    history : tuple of Progress
        Iterations of the search.
    seconds : float
        That the search took.
    states : array
        States at the ends of the intervals, for a search that begins here.
    warnings : tuple of RunWarning
        Warnings on the plain run, and on derivatives in the intervals.
    """

    case: Any
    status: str
    message: str
    objective: float
    violation: float
    values: dict[str, float]
    history: tuple[Progress, ...]
    seconds: float
    states: Array
    warnings: tuple[RunWarning, ...] = ()

    def run(self) -> xr.Dataset:
        """A plain run of the case."""
        return simulate(self.case)

    def to_toml(self) -> str:
        """Text of a scenario file with the values that were found."""
        return str(self.case.to_toml())


class SearchInterrupted(KeyboardInterrupt):
    """Ctrl-C ended a search; `result` holds the values of its latest iteration."""

    def __init__(self, result: Optimized) -> None:
        super().__init__(result.message)
        self.result = result


class Checked(NamedTuple):
    """Check by a plain run of a case: its objective, and the bound that it keeps least."""

    objective: float
    violation: float
    worst: Bound | None
    message: str  # of a run that ended early
    warnings: tuple[RunWarning, ...] = ()


def checked(case: Case, wanted: Wanted, scales: Array) -> Checked:
    """Objective and violation of a plain run; bounds are looked at in every sample."""
    run = run_of(case)
    warnings = tuple(warnings_of(run))
    if run.attrs["status"] != "completed":
        return Checked(np.nan, np.inf, None, str(run.attrs["message"]), warnings)
    outputs = {name: plain(np.asarray(run[name].values, float)) for name in (TIME, *wanted.outputs)}
    worst: Bound | None = None
    violation = 0.0
    for bound, start, scale in zip(wanted.bounds, wanted.starts, scales, strict=True):
        values = rows_of(bound, outputs, start).value
        beyond = float(np.max(np.maximum(bound.least - values, values - bound.most), initial=0.0)) / scale
        if beyond > violation:
            violation, worst = beyond, bound
    return Checked(of_run(wanted, outputs), violation, worst, "", warnings)


def verdict(word: str, iterations: int, violation: float, checked: Checked, trouble: str) -> tuple[str, str]:
    """Status and sentence from IPOPT's word, the violation that it left, and a plain run of the result."""
    status = _STATUS.get(word, FAILED)
    if status == COMPLETED and checked.violation > HOLDS:
        why = checked.message or f"{checked.worst}, and is beyond by {100 * checked.violation:.2g} % of its scale"
        return NOT_REPRODUCED, (
            f"converged after {iterations} iterations, but a plain run of the result differs: {why}; "
            "try a smaller step or more intervals"
        )
    return status, {
        COMPLETED: f"converged after {iterations} iterations; a plain run of the result keeps all bounds",
        INFEASIBLE: (
            f"no values were found that keep all bounds; the nearest is beyond by {100 * violation:.2g} % of a scale"
            + (f" ({checked.worst})" if checked.worst else "")
            + "; loosen some of them, or begin elsewhere"
        ),
        ITERATIONS: (
            f"not converged after {iterations} iterations, bounds are kept to {100 * violation:.2g} % of their scales; "
            "allow more iterations, or begin from this result"
        ),
        INTERRUPTED: (
            f"interrupted after {iterations} iterations, bounds are kept to {100 * violation:.2g} % of their scales"
        ),
        FAILED: f"the search failed after {iterations} iterations ({word}{'; ' if trouble else ''}{trouble})",
    }[status]
