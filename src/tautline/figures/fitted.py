"""Pictures and page of a fit: measured and fitted series, residuals, values with standard errors, correlations."""

from __future__ import annotations

import html
import math
import os
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from tautline._version import __version__
from tautline.durable import explained, replacing
from tautline.figures import page as pages
from tautline.figures.style import BLUE, ORANGE, new_figure, styled
from tautline.fitting.result import COMPLETED, Compared, Fit, with_unit
from tautline.model import checks


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
    return name if x.unit == "1" else f"{name} ({x.unit})"


def fit_report(fit: Fit, path: str | os.PathLike[str], *, title: str = "") -> Path:
    """Write one page on a fit: values, standard errors, correlations, residuals; it needs no other file and no network.

    Parameters
    ----------
    fit : Fit
    path : path
        Of the page; a file that is there is replaced.
    title : str
        Of the page; the title of the case by default.

    Returns
    -------
    Path
        Of the page.
    """
    checks.instance("fit", fit, Fit)
    target = checks.path("path", path)
    checks.text("title", title)
    text = _render(fit, title or fit.case.title or "Fit")
    with explained(target), replacing(target, encoding="utf-8") as file:
        file.write(text)
    return target


def _render(fit: Fit, title: str) -> str:
    kind = "yes" if fit.status == COMPLETED else "no"
    body = f'<h1>{html.escape(title)}</h1><p class="{kind}"><b>{html.escape(fit.message)}</b></p>'
    if fit.warnings:
        items = "".join(f"<li>{html.escape(w.text)}</li>" for w in fit.warnings)
        body += f'<div class="note">Warnings:<ul>{items}</ul></div>'
    body += f"<h2>Values</h2>{pages.table(('', 'value', 'standard error', 'unit'), fit.rows())}"
    if len(fit.values) > 1:
        body += f"<h2>Correlations</h2>{correlation_table(fit)}"
    body += f"<h2>Residuals</h2>{residual_table(fit)}"
    captions = {
        name: f"{name}: measured and fitted; below what is left, and the band of two standard deviations of the noise."
        for name in fit.columns
    }
    drawn = "".join(pages.figure(fitted(fit, name), caption) for name, caption in captions.items())
    body += f'<div class="panels">{drawn}</div>'
    case = html.escape(fit.case.to_toml())
    body += f"<details><summary>The case with these values, in SI units</summary><pre>{case}</pre></details>"
    body += f'<p class="small">Computed by tautline {html.escape(__version__)}.</p>'
    return pages.page(title, body)


def correlation_table(fit: Fit) -> str:
    """How far the values can be exchanged for each other."""
    names = list(fit.values)
    rows = [
        (name, *("unknown" if math.isnan(x) else f"{x:.3f}" for x in row))
        for name, row in zip(names, fit.correlations, strict=True)
    ]
    return pages.table(("", *names), rows)


def residual_table(fit: Fit) -> str:
    """Residuals of each column, and chi-square where the noise was given."""
    rows = [
        (
            name,
            str(len(x.time)),
            with_unit(x.rms, x.unit),
            with_unit(float(np.max(np.abs(x.residuals))), x.unit),
            with_unit(x.sigma, x.unit) + (" (given)" if fit.sigma_given else " (estimated)"),
        )
        for name, x in fit.columns.items()
    ]
    table = pages.table(("column", "samples", "rms", "largest", "noise"), rows)
    if not fit.sigma_given:
        return table
    return f"{table}<p>chi-square {fit.chi_square:.5g} with {fit.degrees_of_freedom} degrees of freedom</p>"
