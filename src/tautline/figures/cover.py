"""Beginning of every report: cover, sketch, inputs, model and accuracy."""

from __future__ import annotations

import html
import os
import time
from collections.abc import Iterable, Mapping
from textwrap import shorten
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from tautline._version import __version__
from tautline.figures import page as pages
from tautline.model import keys
from tautline.model.picture.inputs import inputs_of
from tautline.model.picture.sketch import sketch_of_state
from tautline.model.system.case import Case
from tautline.quantities import DIGITS, between, value
from tautline.results.picture import sketch_of_sample

# Letters of a title at the foot of a printed page.
TITLE = 60
# In the place of a value that a study varies.
VARIED = "varied"


class Cover(NamedTuple):
    """Texts in the head of a report."""

    kind: str  # such as "Report of a run"
    title: str
    description: str = ""
    project: str = ""
    file: str = ""  # that it is about
    version: str = __version__  # of tautline, which computed it


def date() -> str:
    """The day of the report; that of SOURCE_DATE_EPOCH where it is set, so that builds can be repeated."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    return time.strftime("%Y-%m-%d", time.gmtime(int(given)) if given.isdecimal() else time.localtime())


def head(cover: Cover) -> str:
    """Head of a report: kind, title, project, file, date and version."""
    facts = {"project": cover.project, "file": cover.file, "date": date(), "computed by": f"tautline {cover.version}"}
    items = "".join(f"<div><dt>{name}</dt><dd>{html.escape(text)}</dd></div>" for name, text in facts.items() if text)
    about = f'<p class="small">{html.escape(cover.description)}</p>' if cover.description else ""
    return (
        f'<header><p class="kind">{html.escape(cover.kind)}</p><h1>{html.escape(cover.title)}</h1>{about}'
        f'<dl class="facts">{items}</dl></header>'
    )


def page(cover: Cover, body: str, style: str = "", scripts: Iterable[str] = ()) -> str:
    """The whole file: head, body, and on paper the title at the foot of every page."""
    words = " · ".join(filter(None, (shorten(cover.title, TITLE, placeholder=" …"), cover.project, date())))
    return pages.page(cover.title, head(cover) + body, f"{style}{pages.feet(words)}", scripts)


def verdict(kind: str, sentence: str) -> str:
    """The result in a sentence: "yes", "unsure", "no", or "" for neither."""
    return f'<p class="verdict {kind}"><b>{html.escape(sentence)}</b></p>'


def ending(attrs: Mapping[Any, Any]) -> str:
    """How a run ended."""
    return f"<p>The run: {html.escape(str(attrs['message']))}.</p>"


def notes(title: str, texts: Iterable[str]) -> str:
    """A list of warnings; empty without any."""
    items = "".join(f"<li>{html.escape(text)}</li>" for text in texts)
    return f'<div class="note">{html.escape(title)}<ul>{items}</ul></div>' if items else ""


def system(case: Case, run: xr.Dataset | None = None, varied: Iterable[str] = ()) -> str:
    """The system at the start, from its run if there is one, and the inputs of a case; varied keys have no value."""
    drawn = sketch_of_state(case.system, case.state()) if run is None else sketch_of_sample(run)
    caption = "The system at the start, with its names. What is too small to see is drawn larger."
    picture = f'<figure class="drawn">{drawn}<figcaption>{caption}</figcaption></figure>' if drawn else ""
    return f"<h2>The system</h2>{picture}<h2>Inputs</h2>{inputs(case, varied)}"


def inputs(case: Case, varied: Iterable[str] = ()) -> str:
    """Tables of the inputs; defaults are left out."""
    parts: list[str] = []
    wide: list[str] = []
    tree = case.stated_keys()
    for key in varied:
        keys.put(tree, keys.parse(keys.parse(key).whole), VARIED)
    for section in inputs_of(tree):
        rows = [(key, *values) for key, values in section.rows]
        one = f"<h3>{html.escape(section.title)}</h3>{pages.table(('', *section.names) if section.names else (), rows)}"
        (wide if len(section.names) > 2 else parts).append(f"<section>{one}</section>")
    text = html.escape(case.to_toml())
    return (
        f'<div class="inputs">{"".join(parts)}</div>{"".join(wide)}<p class="small">Defaults are left out.</p>'
        f'<details class="screen"><summary>The whole input as a scenario file, in SI units</summary>'
        f"<pre>{text}</pre></details>"
    )


def accuracy(attrs: Mapping[Any, Any], case: Case) -> str:
    """Model, mesh, step, scheme and the estimates of errors of a run, or with arrays in place of numbers of many."""
    mesh = ", ".join(
        f"{_counted(line.elements)} elements{f' in each of {line.spans} spans' if line.spans > 1 else ''}"
        + (f" of {name}" if len(case.system.lines) > 1 else "")
        for name, line in case.system.lines.items()
    )
    step = case.run.step
    how = "chosen and adapted by the program" if isinstance(step, str) else "given"
    rows = [
        ("model", "elastic lines of distributed mass (no bending, no contact), rigid bodies"),
        ("mesh", mesh),
        ("scheme", f"{attrs.get('scheme', 'symmetric')}, order {attrs['order']}, variational"),
        ("time step", f"{_step(attrs.get('step', step))}{how}, {_steps(attrs['steps'])} steps"),
    ]
    for name, words, unit in ESTIMATES:
        if name in attrs and attrs[name] is not None:
            sizes = np.abs(np.ravel(attrs[name]))
            sizes = sizes[np.isfinite(sizes)]
            rows.append((words, "negligible" if len(sizes) and sizes.max() < NEGLIGIBLE else _range(sizes, unit, 2)))
    return pages.table((), rows)


def _counted(elements: int | str) -> str:
    return "a number chosen by the program of" if isinstance(elements, str) else str(elements)


def _step(step: float | str) -> str:
    return "" if isinstance(step, str) else f"{value(float(step), 's')}, "


def _steps(counts: Any) -> str:
    ends = dict.fromkeys((int(np.min(counts)), int(np.max(counts)))) if np.size(counts) else ("no",)
    return " to ".join(map(str, ends))


def _range(sizes: Any, unit: str = "", digits: int = DIGITS) -> str:
    """A number, or the least and the greatest of several that are known."""
    known = np.ravel(sizes)
    return between(float(known.min()), float(known.max()), unit, digits) if len(known) else "not known"


# Estimates that are smaller are rounding.
NEGLIGIBLE = 1e-9
# Attributes of a run that say how accurate it is, in words, with their units.
ESTIMATES = (
    ("largest_step_ratio", "time step over the stability limit", ""),
    ("balance_error", "energy balance error, of the energy in play", "%"),
    ("mesh_error", "mesh error of positions, of the deployed length", "%"),
    ("mesh_noise", "mesh noise of tensions, of the largest tension", "%"),
    ("turning_error", "step error of attitudes", "rad"),
    ("attitude_error", "mesh error of attitudes", "rad"),
)
