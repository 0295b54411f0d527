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
from tautline.figures.page import figure, image
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


def _table(rows: str) -> str:
    """A table that scrolls where it is wider than the screen, by keys as well."""
    return f'<div class="table" tabindex="0"><table>{rows}</table></div>'


def _claims_table(rows: list[dict[str, Any]], verdicts: list[str]) -> str:
    """The verdicts in words on its first line, then every claim."""
    methods = list(rows[0]["measured"])
    names = ("", "statement", "paper", *methods)
    head = "".join(f"<th>{html.escape(name)}</th>" if name else "<td></td>" for name in names)
    first, *others = (html.escape(sentence) for sentence in verdicts)
    body = f'<tr><td colspan="{len(names)}"><b>{first}</b> {"<br>".join(others)}</td></tr>'
    for row in rows:
        cells = "".join(
            f'<td class="{"yes" if m["holds"] else "no"}">{html.escape(m["value"])} {"✓" if m["holds"] else "✗"}</td>'
            for m in row["measured"].values()
        )
        body += (
            f"<tr><td>{row['example']}</td><td>{html.escape(row['statement'])}<br>"
            f"<span class='small'>{html.escape(row['criterion'])}</span></td>"
            f"<td>{html.escape(row['paper'])}</td>{cells}</tr>"
        )
    return _table(f"<tr>{head}</tr>{body}")


def _conservation_table(runs: dict[tuple[str, int], claims.Runs]) -> str:
    body = ""
    for (scheme, order), found in runs.items():
        for number, run in found.items():
            kept = conservation(run)
            body += (
                f"<tr><td>{number}</td><td>{scheme}, order {order}</td><td>{100 * kept.energy:.2e} %</td>"
                f"<td>{100 * kept.angular_momentum:.1e} %</td><td>{kept.orthogonality:.1e}</td></tr>"
            )
    head = "<tr><th>example</th><th>method</th><th>energy balance</th><th>angular momentum</th><th>|I - RᵀR|</th></tr>"
    return _table(f"{head}{body}")


def _comparison(folder: Path, comparison: dict[str, Any] | None) -> str:
    if comparison is None:
        return '<p class="small">Not in this report: <code>tautline reproduce --full</code> adds it.</p>'
    verdicts = "".join(
        f"<tr><td>{html.escape(v['statement'])}</td><td>{v['ours']:.1e}</td><td>{v['general']:.1e}</td>"
        f'<td class="{"yes" if v["holds"] else "no"}">{"✓" if v["holds"] else "✗"}</td></tr>'
        for v in comparison["verdicts"]
    )
    rows = "".join(
        f"<tr><td>{row['example']}</td><td>{row['method']}</td><td>{row['setting']}</td>"
        f"<td>{row['simulated_seconds']:g} s</td><td>{row['seconds']:.2g} s</td><td>{row['energy_drift']:.1e}</td>"
        f"<td>{row['energy']:.1e}</td><td>{row['angular_momentum']:.1e}</td><td>{row['orthogonality']:.1e}</td></tr>"
        for row in comparison["trials"]
    )
    pictures = "".join(figure(folder / f"{name}.png", caption) for name, caption in COMPARED.items())
    return (
        "<p>Example 1 goes on for a million steps; examples 2 and 3 end by themselves. Runge-Kutta and SciPy solve the "
        "same equations for accelerations, with the rotation matrix as nine numbers. Drift: mean energy of the last "
        "tenth less that of the first, as a part of the largest kinetic energy.</p>"
        + _table(
            f"<tr><th>statement</th><th>ours, order 2</th><th>Runge-Kutta 4, same step</th><td></td></tr>{verdicts}"
        )
        + f'<div class="panels">{pictures}</div>'
        + _table(
            "<tr><td></td><th>method</th><th>setting</th><th>simulated</th><th>took</th><th>energy drift</th>"
            f"<th>energy</th><th>momentum</th><th>|I - RᵀR|</th></tr>{rows}"
        )
        + '<p class="small">The right-hand side of example 1 is compiled for the general methods too; that of examples '
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
