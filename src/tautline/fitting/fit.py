"""fit(): values of a case that explain measured series, by least squares."""

from __future__ import annotations

import warnings as issued
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.engine.cases import begin
from tautline.engine.simulate import simulate
from tautline.errors import InputError, TautlineWarning
from tautline.fitting import data as measured_data
from tautline.fitting import judging, unknowns
from tautline.fitting.data import Measured
from tautline.fitting.losses import LOSSES
from tautline.fitting.prediction import Model, sampling_for
from tautline.fitting.result import COMPLETED, NOT_CONVERGED, Compared, Fit
from tautline.fitting.search import Progress, Search
from tautline.fitting.unknowns import OFFSET, Unknown
from tautline.gradients.runs import check_case
from tautline.model import checks
from tautline.model.forms import in_si
from tautline.model.system.case import Case
from tautline.results.warnings import RunWarning
from tautline.units import OF_RESULTS


def fit(
    case: Case,
    data: Any,
    vary: Sequence[str] | Mapping[str, Any],
    *,
    units: Mapping[str, str] | str | None = None,
    columns: Sequence[str] | Mapping[str, str] | None = None,
    offset: Any = None,
    sigma: Mapping[str, Any] | None = None,
    loss: str = "linear",
    most_runs: int = 200,
    watch: Callable[[Progress], Any] | None = None,
) -> Fit:
    """Find the values of a case that explain measured series, by least squares.

    Parameters
    ----------
    case : Case
        Its values are the start of the search.
    data : path of a CSV file, pandas.DataFrame, or dict of arrays
        A column `time` and columns named as in the CSV files of runs: start_tension, position[20,x], position[-1,x].
        A CSV file has units in its second line. Empty cells and NaN are missing samples.
    vary : list or dict
        Keys whose values are looked for. A dict gives bounds (low, high) for each, or None, or a dict with some of
        `start`, `from`, `to` and `scale` ("linear" or "log"; "log" by default where a key takes positive numbers only).
    units : dict or "SI", optional
        Units by the names of columns, for data that do not have them.
    columns : list or dict, optional
        Columns to be used, all by default; a dict gives the variable of a run for each name in the data.
    offset : bool or (low, high), optional
        Whether the clock of the data has an unknown offset: time of the run = time of the data + offset. True looks
        within a tenth of the time that the data take.
    sigma : dict, optional
        Standard deviation of the noise by column, numbers in SI or text with units; estimated from the residuals if not
        given.
    loss : str
        "linear" for least squares; "soft_l1", "huber", "cauchy" and "arctan" give less weight to outliers.
    most_runs : int
        The search ends after so many runs.
    watch : callable, optional
        Called with a `Progress` after every run.

    Returns
    -------
    Fit
        `status` is "completed" where the search has converged; `warnings` say what there is to doubt.
    """
    check_case(case)
    checks.choice("loss", loss, LOSSES)
    most_runs = checks.whole("most_runs", most_runs, 1, 10**6)
    looked_for = unknowns.read(case, vary)
    series = measured_data.read(data, begin(case).simulation.dataset(), units, columns)
    series, moved, warnings = _overlap(case, series, offset)
    if moved is not None:
        looked_for.append(moved)
    samples = sum(len(x.values) for x in series)
    if samples <= len(looked_for):
        raise InputError(f"data: expected more samples than the {len(looked_for)} unknowns, got {samples}")
    latest = max(float(x.time[-1]) for x in series) + (moved.high if moved else 0.0)
    sampling = sampling_for(series, latest, case.run.step, moved is not None)
    fixed = case.meshed()
    model = Model(fixed, tuple(series), tuple(looked_for), sampling)
    search = Search(model, _given_sigma(series, sigma), loss, most_runs, watch)
    search.find()
    return _result(fixed, search, warnings)


def _overlap(
    case: Case, series: list[Measured], offset: Any
) -> tuple[list[Measured], Unknown | None, list[RunWarning]]:
    """Series within the time of the run for every offset in question, the offset, and a warning on what is left out."""
    first, last = min(x.time[0] for x in series), max(x.time[-1] for x in series)
    interval = float(last - first) / max(len(x.time) for x in series)
    moved = unknowns.offset(offset, float(last - first), interval)
    low, high = (moved.low, moved.high) if moved else (0.0, 0.0)
    rounding = checks.WHOLE * case.run.duration
    kept = [x.within(-low - rounding, case.run.duration - high + rounding) for x in series]
    shift = f" with an offset from {low:.4g} to {high:.4g} s" if moved else ""
    for before, after in zip(series, kept, strict=True):
        if not len(after.time):
            raise InputError(
                f"data: expected times of {before.name} within the run, 0 to {case.run.duration:g} s{shift}, got "
                f"{before.time[0]:g} to {before.time[-1]:g} s; change run.duration, the times, or the bounds of offset"
            )
    lost = sum(len(x.time) for x in series) - sum(len(x.time) for x in kept)
    left_out = RunWarning("fit_left_out", f"{lost} samples lie outside of the run{shift}, and were left out", lost)
    return kept, moved, [left_out] if lost else []


def _given_sigma(series: Sequence[Measured], sigma: Any) -> Array | None:
    """Noise of the columns in SI; None if it has to be estimated."""
    if sigma is None:
        return None
    if not isinstance(sigma, Mapping):
        checks.refuse("sigma", "a dict by the names of columns", sigma)
    names = [x.name for x in series]
    if set(names) != set(sigma):
        got = ", ".join(map(str, sigma)) or "none"
        raise InputError(f"sigma: expected one for each column ({', '.join(names)}), got {got}")
    found = []
    for x in series:
        unit = "" if x.column.units == "1" else OF_RESULTS.get(x.column.units, x.column.units)
        found.append(checks.positive(f"sigma {x.name}", in_si(f"sigma {x.name}", sigma[x.name], unit), x.column.units))
    return np.array(found)


def _result(case: Case, search: Search, warnings: list[RunWarning]) -> Fit:
    """The result at the end of a search."""
    verdict = judging.judge(search)
    model, found = search.model, search.predicted(search.x)
    values = dict(zip((u.key for u in model.unknowns), search.values(search.x), strict=True))
    errors = np.sqrt(np.diag(verdict.covariance))
    columns = {
        m.name: Compared(m.time, m.values, p.values, float(s), m.column.units)
        for p, m, s in zip(found, model.series, search.sigma, strict=True)
    }
    samples = sum(len(m.values) for m in model.series)
    count = f"{len(columns)} column{'s' if len(columns) > 1 else ''}"
    done = f"{samples} samples in {count}, {search.runs} runs"
    return Fit(
        case=case.with_({key: value for key, value in values.items() if key != OFFSET}),
        values=values,
        standard_errors=dict(zip(values, errors.tolist(), strict=True)),
        units={u.key: u.unit for u in model.unknowns},
        covariance=verdict.covariance,
        columns=columns,
        chi_square=float(np.sum(search.residuals(search.x) ** 2)),
        degrees_of_freedom=samples - len(values),
        sigma_given=search.sigma_given,
        status=COMPLETED if verdict.converged else NOT_CONVERGED,
        message=f"completed: {done}" if verdict.converged else f"not converged: {done}; start nearer, or allow more",
        warnings=(*warnings, *verdict.warnings, *search.run_warnings()),
        runs=search.runs,
        starts={u.key: u.start for u in model.unknowns},
        bounds={u.key: (u.low, u.high) for u in model.unknowns},
        attrs=_attrs(model.with_values(search.values(search.x))),
    )


def _attrs(case: Case) -> dict[str, Any]:
    """Attributes of a run, whose warnings the search has noted."""
    with issued.catch_warnings():
        issued.simplefilter("ignore", TautlineWarning)
        return {str(name): x for name, x in simulate(case).attrs.items()}
