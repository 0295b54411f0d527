"""Result of a fit: the case, values with standard errors, residuals, and how far they can be trusted."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.results.warnings import RunWarning

COMPLETED, NOT_CONVERGED = "completed", "not_converged"


@dataclass(frozen=True)
class Compared:
    """A column of the data beside the run with the values that were found."""

    time: Array  # of the data (s)
    measured: Array
    fitted: Array
    sigma: float  # standard deviation of the noise, given or estimated from the residuals
    unit: str

    @property
    def residuals(self) -> Array:
        """Measured less fitted."""
        return self.measured - self.fitted

    @property
    def rms(self) -> float:
        """Root of the mean square of the residuals."""
        return float(np.sqrt(np.mean(self.residuals**2)))


@dataclass(frozen=True)
class Fit:
    """Result of `tautline.fit`; `print` shows it as a table.

    Parameters
    ----------
    case : Case
        With the values that were found, ready to run and to save.
    values, standard_errors : dict
        By key, in SI; "offset" is the offset of time. A standard error is NaN where there is none: at a bound, and
        where the data do not determine the value.
    units : dict
        By key.
    covariance : array
        Of the values, in the order of `values`; NaN as the standard errors.
    columns : dict
        `Compared` by the names of columns: measured, fitted, residuals.
    chi_square : float
        Sum of the squares of residuals over sigma; about `degrees_of_freedom` if sigma is right.
    degrees_of_freedom : int
        Samples less unknowns.
    sigma_given : bool
        Whether sigma was given; if not, it is estimated, and chi_square says nothing.
    status : str
        "completed" or "not_converged".
    message : str
        What happened, in a sentence.
    warnings : tuple of RunWarning
        What there is to doubt.
    runs : int
        Runs of the search; one more, with half the step, shows how far the step moves the values.
    starts : dict
        Where the search began, by key.
    bounds : dict
        Least and greatest value that it tried, by key; infinite where there is none.
    attrs : dict
        Attributes of a run with the values that were found, among them its estimates of errors.
    """

    case: Any
    values: dict[str, float]
    standard_errors: dict[str, float]
    units: dict[str, str]
    covariance: Array
    columns: dict[str, Compared]
    chi_square: float
    degrees_of_freedom: int
    sigma_given: bool
    status: str
    message: str
    warnings: tuple[RunWarning, ...]
    runs: int
    starts: dict[str, float]
    bounds: dict[str, tuple[float, float]]
    attrs: dict[str, Any]

    @property
    def correlations(self) -> Array:
        """Correlations of the values, in the order of `values`; 1 on the diagonal."""
        errors = np.sqrt(np.diag(self.covariance))
        return np.asarray(self.covariance / np.outer(errors, errors))

    def intervals(self) -> dict[str, tuple[float, float]]:
        """Intervals that hold the true values with 95 % confidence, by key; NaN where a standard error is."""
        from scipy.stats import t

        width = float(t.ppf(0.975, max(self.degrees_of_freedom, 1)))
        return {
            key: (x - width * self.standard_errors[key], x + width * self.standard_errors[key])
            for key, x in self.values.items()
        }

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Key, value, standard error and unit of each unknown, as text with the digits that mean something."""
        return [(key, *rounded(x, self.standard_errors[key]), self.units[key]) for key, x in self.values.items()]

    def _repr_html_(self) -> str:
        """Card of a notebook."""
        return f"<pre>{html.escape(str(self))}</pre>"

    def __str__(self) -> str:
        table = [("", "value", "standard error", ""), *self.rows()]
        widths = [max(len(row[k]) for row in table) for k in range(3)]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, (*widths, 0), strict=True)).rstrip() for row in table]
        lines += [f"{name}: residuals of {with_unit(x.rms, x.unit)} (rms)" for name, x in self.columns.items()]
        return "\n".join([*lines, self.message, *(f"warning: {w.text}" for w in self.warnings)])


def with_unit(x: float, unit: str) -> str:
    """A number in three digits and its unit; none for ratios."""
    return f"{x:.3g}" if unit in ("", "1") else f"{x:.3g} {unit}"


def rounded(value: float, error: float) -> tuple[str, str]:
    """A value to the digit to which its standard error has two digits, and that error."""
    if not np.isfinite(error) or error <= 0.0:
        return f"{value:.6g}", "unknown" if not np.isfinite(error) else "0"
    digits = 1 - int(np.floor(np.log10(error)))
    if value == 0.0 or (abs(np.log10(abs(value))) < 6.0 and -3 <= digits <= 9):
        places = max(0, digits)
        return f"{round(value, digits):.{places}f}", f"{round(error, digits):.{places}f}"
    figures = max(1, int(np.floor(np.log10(abs(value)))) + digits + 1)
    return f"{value:.{figures}g}", f"{error:.2g}"
