"""Pictures and page of a fit: measured and fitted series, residuals, values with standard errors, correlations."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from tautline.figures import cover
from tautline.figures import page as pages
from tautline.figures.cover import Cover
from tautline.figures.printing import write_page
from tautline.figures.style import BLUE, ORANGE, new_figure, styled
from tautline.fitting.result import COMPLETED, Compared, Fit, rounded
from tautline.model import checks
from tautline.model.picture.inputs import unit_in_words
from tautline.model.system.case import Case
from tautline.quantities import between, prefixed, unit_text, value
from tautline.results.inputs import CASE


@styled
def fitted(fit: Fit, column: str) -> Figure:
    """Measured and fitted values of one column over time, and what is left between them.

    Parameters
    ----------
    fit : Fit
    column : str
        Name of a column of the data.
    """
    checks.choice("column", column, fit.columns)
    x = fit.columns[column]
    figure, (above, below) = new_figure(rows=2)
    above.plot(x.time, x.measured, ".", color=ORANGE, markersize=3, label="measured")
    above.plot(x.time, x.fitted, color=BLUE, label="fitted")
    above.set_ylabel(_axis(column, x))
    above.legend(loc="best")
    below.axhspan(-2.0 * x.sigma, 2.0 * x.sigma, color=BLUE, alpha=0.12, linewidth=0.0)
    below.plot(x.time, x.residuals, ".", color=ORANGE, markersize=3)
    below.set_ylabel(_axis("measured less fitted", x))
    below.set_xlabel("time of the data (s)")
    return figure


def _axis(name: str, x: Compared) -> str:
    return name if x.unit == "1" else f"{name} ({unit_text(x.unit)})"


def fit_report(
    fit: Fit,
    path: str | os.PathLike[str],
    *,
    title: str = "",
    project: str = "",
    data: str = "",
    pdf: str | os.PathLike[str] | None = None,
) -> Path:
    """Write one page on a fit: values, standard errors, correlations, residuals; it needs no other file and no network.

    Parameters
    ----------
    fit : Fit
    path : path
        Of the page; a file that is there is replaced.
    title : str
        Of the page; the title of the case by default.
    project : str
        What the fit is for, in the head of the page.
    data : str
        Name of the file with the measured series, in the head of the page.
    pdf : path, optional
        Also print the page to this file, by Chromium or Chrome.

    Returns
    -------
    Path
        Of the page.
    """
    checks.instance("fit", fit, Fit)
    target = checks.path("path", path)
    for name, text in (("title", title), ("project", project), ("data", data)):
        checks.text(name, text)
    head = Cover("Report of a fit", title or fit.case.title or "Fit", fit.case.description, project, data)
    return write_page(target, lambda: cover.page(head, _render(fit)), pdf)


def _render(fit: Fit) -> str:
    done = f"{fit.message[0].upper()}{fit.message[1:]}"
    count = f"{len(fit.values)} value{'s' if len(fit.values) > 1 else ''}"
    kind, sentence = "yes", f"{count} found. {done}."
    if fit.status != COMPLETED:
        kind, sentence = "no", f"{done}."
    elif fit.warnings:
        kind, sentence = "unsure", f"{count} found, with warnings. {done}."
    body = cover.verdict(kind, sentence) + cover.notes("Warnings:", (w.text for w in fit.warnings))
    body += f"<h2>Values</h2>{value_table(fit)}"
    if len(fit.values) > 1:
        body += f"<h2>Correlations</h2>{correlation_table(fit)}"
    body += f"<h2>Residuals</h2>{residual_table(fit)}"
    captions = {
        name: f"{name}: measured and fitted; below what is left, and the band of two standard deviations of the noise."
        for name in fit.columns
    }
    drawn = "".join(pages.figure(fitted(fit, name), caption) for name, caption in captions.items())
    accuracy = cover.accuracy(fit.attrs, Case.from_dict(json.loads(fit.attrs[CASE])))
    body += f'<div class="panels">{drawn}</div>{cover.system(fit.case)}'
    return f"{body}<h2>Model and accuracy, with the values that were found</h2>{accuracy}"


def value_table(fit: Fit) -> str:
    """Values with standard errors, intervals of 95 %, and where the search began and ended."""
    rows = []
    for key, x in fit.values.items():
        unit, error, (low, high) = unit_in_words(fit.units[key]), fit.standard_errors[key], fit.intervals()[key]
        size, name = prefixed(x, unit)
        found, doubt = rounded(x / size, error / size)
        interval = "unknown" if math.isnan(error) else between(low, high, unit, 6)
        least, most = fit.bounds[key]
        bounds = f"{'none' if math.isinf(least) else value(least, unit)} to {value(most, unit)}"
        rows.append((key, f"{found} {name}", f"{doubt} {name}", interval, value(fit.starts[key], unit), bounds))
    return pages.table(("", "value", "standard error", "95 % interval", "start", "bounds"), rows)


def correlation_table(fit: Fit) -> str:
    """How far the values can be exchanged for each other."""
    names = list(fit.values)
    rows = [
        (name, *("unknown" if math.isnan(x) else f"{x + 0.0:.3f}".replace("-0.000", "0.000") for x in row))
        for name, row in zip(names, fit.correlations, strict=True)
    ]
    return pages.table(("", *names), rows)


def residual_table(fit: Fit) -> str:
    """Residuals of each column, and chi-square where the noise was given."""
    rows = []
    for name, x in fit.columns.items():
        unit = unit_text(x.unit)
        rms, largest, noise = (value(y, unit, 3) for y in (x.rms, float(np.max(np.abs(x.residuals))), x.sigma))
        rows.append((name, str(len(x.time)), rms, largest, noise + (" (given)" if fit.sigma_given else " (estimated)")))
    table = pages.table(("column", "samples", "rms", "largest", "noise"), rows)
    if not fit.sigma_given:
        return table
    return f"{table}<p>chi-square {fit.chi_square:.5g} with {fit.degrees_of_freedom} degrees of freedom</p>"
