"""The report of the reproduction: one HTML file that needs nothing but itself."""

from __future__ import annotations

import html
import platform
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tautline._version import __version__
from tautline.content_policy import script_hashes
from tautline.figures import cover
from tautline.figures.cover import Cover
from tautline.figures.page import figure, image, table, table_of_html
from tautline.paper import claims
from tautline.paper.examples import EXAMPLES
from tautline.results.conservation import conservation
from tautline.results.inputs import case_of
from tautline.viewer import view
from tautline.viewer.page import template

CAPTIONS = {
    "snapshots": "Snapshots of the maneuver; the string is shaded by its relative elastic energy.",
    "energy": "Energy exchange: total and kinetic solid, gravity dash-dotted, elastic dotted.",
    "lengths": "Length of the deployed string, stretched and unstretched, and the second component of Omega.",
    "conservation": "Deviation of what should be conserved.",
}
COMPARED = {
    "long-run": "Largest deviation so far over a million steps of example 1.",
    "work-precision": "Error of the positions at 2 s against computing time: further left and lower is better.",
}
TUMBLING = (
    "When the body of example 1 starts to tumble, in runs that differ by rounding, by step (half to twice the paper's) "
    "and by order."
)
# Scheme and order of the figures.
SHOWN = ("symmetric", 2)


class Found(NamedTuple):
    """Contents of the report."""

    runs: dict[tuple[str, int], claims.Runs]
    claims: list[dict[str, Any]]
    verdicts: list[str]  # in words: how many hold, which do not and why
    animations: bool
    comparison: dict[str, Any] | None  # rows and verdicts against general integrators


def _mark(holds: bool, text: str = "") -> str:
    """Text with the sign of a verdict behind it."""
    return f'<span class="{"yes" if holds else "no"}">{html.escape(text)} {"✓" if holds else "✗"}</span>'


def _claims_table(rows: list[dict[str, Any]], verdicts: list[str]) -> str:
    """The verdicts in words on its first line, then every claim."""
    first, *others = (html.escape(sentence) for sentence in verdicts)
    cells = [
        (
            str(row["example"]),
            f"{html.escape(row['statement'])}<br><span class='small'>{html.escape(row['criterion'])}</span>",
            html.escape(row["paper"]),
            *(_mark(m["holds"], m["value"]) for m in row["measured"].values()),
        )
        for row in rows
    ]
    head = ("", "statement", "paper", *map(html.escape, rows[0]["measured"]))
    words = f'<tr><td colspan="{len(head)}"><b>{first}</b> {"<br>".join(others)}</td></tr>'
    return table_of_html(head, cells).replace("</thead>", f"</thead>{words}", 1)


def _conservation_table(runs: dict[tuple[str, int], claims.Runs]) -> str:
    rows = []
    for (scheme, order), found in runs.items():
        for number, run in found.items():
            kept = conservation(run)
            figures = (
                f"{100 * kept.energy:.2e} %",
                f"{100 * kept.angular_momentum:.1e} %",
                f"{kept.orthogonality:.1e}",
            )
            rows.append((str(number), f"{scheme}, order {order}", *figures))
    return table(("example", "method", "energy balance", "angular momentum", "|I - RᵀR|"), rows)


def _comparison(folder: Path, comparison: dict[str, Any] | None) -> str:
    if comparison is None:
        return '<p class="small">Not in this report: <code>tautline reproduce --full</code> adds it.</p>'
    verdicts = [
        (html.escape(v["statement"]), f"{v['ours']:.1e}", f"{v['general']:.1e}", _mark(v["holds"]))
        for v in comparison["verdicts"]
    ]
    quantities = ("energy_drift", "energy", "angular_momentum", "orthogonality")
    rows = [
        (
            *(str(row[name]) for name in ("example", "method", "setting")),
            f"{row['simulated_seconds']:g} s",
            f"{row['seconds']:.2g} s",
            *(f"{row[name]:.1e}" for name in quantities),
        )
        for row in comparison["trials"]
    ]
    pictures = "".join(figure(folder / f"{name}.png", caption) for name, caption in COMPARED.items())
    head = ("", "method", "setting", "simulated", "took", "energy drift", "energy", "momentum", "|I - RᵀR|")
    return (
        "<p>Example 1 goes on for a million steps; examples 2 and 3 end by themselves. Runge-Kutta and SciPy solve the "
        "same equations for accelerations, with the rotation matrix as nine numbers. Drift: mean energy of the last "
        "tenth less that of the first, as a part of the largest kinetic energy.</p>"
        f"{table_of_html(('statement', 'ours, order 2', 'Runge-Kutta 4, same step', ''), verdicts)}"
        f'<div class="panels">{pictures}</div>{table(head, rows)}'
        '<p class="small">The right-hand side of example 1 is compiled for the general methods too; that of examples '
        "2 and 3 is NumPy, so compare their times with care.</p>"
    )


def render(folder: Path, found: Found, project: str = "") -> str:
    """The page; the pictures are taken from the folder."""
    runs, rows = found.runs, found.claims
    sections = ""
    for example in EXAMPLES:
        n = example.number
        pictures = "".join(figure(folder / f"example-{n}-{name}.png", caption) for name, caption in CAPTIONS.items())
        moving = ""
        if found.animations:
            animated = image((folder / f"example-{n}.gif").read_bytes(), "gif")
            moving = f'<img class="moving" src="{animated}" alt="animation">'
        replay = view(runs[SHOWN][n], height=540)._repr_html_()
        sections += (
            f'<h2>Example {n}: {example.title}</h2>{moving}<div class="panels">{pictures}</div>'
            f'<details class="screen"{" open" if n == 1 else ""}><summary>Replay it: turn it, stop it, read it off'
            f"</summary>{replay}</details>"
        )
    body = _BODY.format(
        verdict=cover.verdict("yes" if all(_hold(row) for row in rows) else "unsure", found.verdicts[0]),
        claims=_claims_table(rows, found.verdicts),
        tumbling=figure(folder / "tumbling.png", TUMBLING),
        conservation=_conservation_table(runs),
        comparison=_comparison(folder, found.comparison),
        sections=sections,
        system=cover.system(case_of(runs[SHOWN][1]), runs[SHOWN][1]),
        accuracy=cover.accuracy(runs[SHOWN][1].attrs, case_of(runs[SHOWN][1])),
    )
    version = f"{__version__}, Python {platform.python_version()}, numpy {np.__version__}"
    return cover.page(
        Cover("Reproduction of a paper", _TITLE, project=project, version=version),
        body,
        _STYLE,
        script_hashes(template()),
    )


def _hold(row: dict[str, Any]) -> bool:
    """Whether a claim holds by every method."""
    return all(m["holds"] for m in row["measured"].values())


_STYLE = ".narrow { max-width: 640px; margin-top: 1rem; }"
_TITLE = "A 3D elastic string pendulum with a rigid body and a reel: the paper's numerical section, reproduced"
_BODY = """{verdict}
<p>T. Lee, M. Leok and N. H. McClamroch describe three examples: a string of constant length, deployment by gravity,
and retrieval by a constant torque; N = 20 elements, step 0.0005 s. Everything below was computed by one command.
Figures show the symmetric scheme of order 2; the loss at the guide follows the dissipative law.</p>
<h2>What the paper states, and what we find</h2>
{claims}
<div class="narrow">{tumbling}</div>
<p class="small">The motion of example 1 is chaotic once the body tumbles: from about 6 s on, runs by different methods
or steps part. Rounding takes longer to be felt.</p>
<h2>Conservation</h2>
<p class="small">Largest deviations: energy balance relative to the largest kinetic energy, angular momentum about
gravity relative to its first value.</p>
{conservation}
<h2>Against general integrators</h2>
{comparison}
{sections}
{system}
<h2>Model and accuracy, example 1</h2>{accuracy}"""
