"""The report of a run: what rope engineers read off, on one HTML page that opens offline."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray as xr

from tautline.analysis import fatigue, loads, spectra
from tautline.analysis.bending import bending_cycles
from tautline.analysis.expressions import evaluate
from tautline.analysis.series import series_of
from tautline.durable import check_writable
from tautline.figures import OF_A_RUN, cover
from tautline.figures import page as pages
from tautline.figures.cover import Cover
from tautline.figures.holding import holding
from tautline.figures.key_figures import Rope, key_figures, motion_table, slack_table
from tautline.figures.printing import write_page
from tautline.figures.series import expressions as draw_expressions
from tautline.figures.source import lines_of
from tautline.files.runs.given import Run, run_from
from tautline.model import checks
from tautline.quantities import number
from tautline.results.inputs import case_of
from tautline.results.one_line import label_of, line_of
from tautline.results.warnings import warnings_of

NEEDED = ("tension", "start_tension", "end_tension", "strain", "power", "motor_work")
# Pictures of each line.
OF_EACH_LINE = {
    "tension": "Tension over time; the largest is marked, times in which some part of the line is slack are shaded.",
    "spectrum": "Spectrum of the tension at the start of the line.",
    "exceedance": "How much of the time the tension at the start is above a level, and how often it rises through it.",
    "rainflow": "Cycles of the tension at the start, counted by rainflow (ASTM E1049), by their range.",
}
# Of each that runs over sheaves.
OVER_SHEAVES = {
    "bending": "How often each section of the rope was bent over each sheave and drum, and straightened again."
}
# Pictures of a system with one line, beside those of the line, and of one with several.
OF_ONE = {"drive": "Speed of the reel, torque on the drum and power of the motor, without those that are always zero."}
OF_SEVERAL = {
    "tension": "Largest tension along each line.",
    "drive": "Speeds of reels, torques on drums and powers of motors, without those that are always zero.",
    "path": "Paths of the bodies; dots are where they start.",
}
# Bodies that go less far from their verticals (m) have no picture of their paths.
SIDEWAYS = 1e-3
# Pictures of unequal height, below each other in two columns where there is room.
_STYLE = """
@media screen { .panels { display: block; columns: 2 430px; }
  .panels figure { break-inside: avoid; margin-bottom: 1rem; } }
"""


class _Found(NamedTuple):
    """All that the page says of a run."""

    run: xr.Dataset
    ropes: list[Rope]
    warnings: list[str]  # their sentences


def report(
    run: Run,
    path: str | os.PathLike[str],
    *,
    title: str = "",
    project: str = "",
    file: str = "",
    pdf: str | os.PathLike[str] | None = None,
    rope: str | None = None,
    exponent: float | None = None,
    constant: float | None = None,
    breaking_load: float | str | None = None,
    safety_factor: float | None = None,
    expressions: Sequence[str] = (),
) -> Path:
    """Write one page on the loads of a run: verdict, key figures and pictures; it needs no other file and no network.

    Parameters
    ----------
    run : Dataset, or path of a run file
    path : path
        Of the page; a file that is there is replaced.
    title : str
        Of the page; the title of the run by default.
    project : str
        What the run is for, in the head of the page.
    file : str
        Name of the run's file, in the head of the page; that of `run` if it is a path.
    pdf : path, optional
        Also print the page to this file, by Chromium or Chrome.
    rope, exponent, constant
        For the damage, as `tl.analysis.damage` takes them; without them the page has the cycles alone.
    breaking_load : float or str, optional
        (N) In the place of that of every line.
    safety_factor : float, optional
        That the breaking load must have over the largest tension, for the verdict.
    expressions : list of str
        Whose extremes are among the key figures, and which are drawn: "norm(body_velocity[load])".

    Returns
    -------
    Path
        Of the page.
    """
    target = checks.path("path", path)
    check_writable(target)
    for name, text in (("title", title), ("project", project), ("file", file)):
        checks.text(name, text)
    if safety_factor is not None:
        safety_factor = checks.positive("safety_factor", safety_factor, "")
    wanted = checks.names("expressions", expressions)

    def made() -> str:
        found = _read(run_from(run, NEEDED), rope, exponent, constant, breaking_load)
        attrs = found.run.attrs
        head = Cover(
            "Report of a run",
            title or str(attrs.get("title", "")) or "Loads of a run",
            case_of(found.run).description,
            project,
            file or (Path(run).name if isinstance(run, (str, os.PathLike)) else ""),
            str(attrs["version"]),
        )
        return cover.page(head, _render(found, safety_factor, wanted), _STYLE)

    return write_page(target, made, pdf)


def _read(
    run: xr.Dataset,
    rope: str | None,
    exponent: float | None,
    constant: float | None,
    breaking_load: float | str | None,
) -> _Found:
    """Everything that is read off the run."""
    ropes, texts = [], [w.text for w in warnings_of(run)]
    parts = {str(one["line"].item()): one for one in lines_of(run, None)}
    limits = {
        name: line_of(one).string.breaking_load if breaking_load is None else breaking_load
        for name, one in parts.items()
    }
    for name, one in parts.items():
        limit, label = limits[name], label_of(one)
        use = None if limit is None else loads.utilization(run, breaking_load=limit, line=name)
        damage = None
        wanted = rope is not None or exponent is not None or constant is not None
        if wanted and (limit is not None or not any(limits.values())):  # refused where no line has one
            damage = fatigue.damage(run, rope, exponent=exponent, constant=constant, breaking_load=limit, line=name)
        cycles, spectrum = fatigue.rainflow(run, line=name), spectra.spectrum(run, line=name)
        own = [*(use.warnings if use else ()), *warnings_of(cycles), *warnings_of(spectrum)]
        texts += [f"line {label!r}: {w.text}" if label else w.text for w in own]
        tension = series_of(run, "start_tension", {"line": name}).values
        slack = loads.slack_events(run, line=name)
        bent = bending_cycles(run, line=name) if line_of(one).is_reeved else None
        ropes.append(Rope(name, label, one, tension, _motors(run, one), use, damage, cycles, spectrum, slack, bent))
    return _Found(run, ropes, list(dict.fromkeys(texts)))


def _motors(run: xr.Dataset, one: xr.Dataset) -> dict[str, loads.MotorEnergy]:
    """Motors of a line: that of its drum, and those of sheaves that had a torque."""
    line, name = line_of(one), str(one["line"].item())
    driven = [wheel for wheel in line.over if run.sheave_torque.sel(sheave=f"{name}.{wheel}").values.any()]
    found = {wheel: loads.motor_energy(run, line=f"{name}.{wheel}") for wheel in driven}
    return found if found and line.reel is None else {"": loads.motor_energy(run, line=name)} | found


def _render(found: _Found, required: float | None, expressions: list[str]) -> str:
    run, ropes = found.run, found.ropes
    verdict = holding(ropes, str(run.attrs["status"]), found.warnings, required)
    body = cover.verdict(verdict.kind, verdict.text) + cover.ending(run.attrs)
    body += f"{cover.notes('Warnings about the numbers:', found.warnings)}<h2>Key figures</h2>{key_figures(ropes)}"
    body += _expressions(run, expressions)
    case = case_of(run)
    body += cover.system(case, run)
    body += f"<h2>Model and accuracy</h2>{cover.accuracy(run.attrs, case)}"
    body += f"<h2>Motion</h2>{motion_table(run)}<h2>Pictures</h2>"
    drawn = {
        rope.name: _pictures(run, OF_EACH_LINE | ({} if rope.bending is None else OVER_SHEAVES), line=rope.name)
        for rope in ropes
    }
    if len(ropes) == 1:
        body += _panels(drawn[ropes[0].name] + _pictures(run, OF_ONE))
    else:
        sideways = float(np.ptp(run.body_position.values, axis=0)[:, :2].max(initial=0.0)) > SIDEWAYS
        body += _panels(_pictures(run, {name: x for name, x in OF_SEVERAL.items() if name != "path" or sideways}))
        body += "".join(f"<h2>{html.escape(rope.called)}</h2>{_panels(drawn[rope.name])}" for rope in ropes)
    return body + slack_table(ropes)


def _expressions(run: xr.Dataset, texts: list[str]) -> str:
    """Extremes of expressions, and their curves."""
    if not texts:
        return ""
    rows = []
    for text in texts:
        x = evaluate(run, text)
        flat, unit = x.values.astype(float).reshape(len(x), -1), x.attrs.get("units", "")
        rows.append((text, unit, *(number(y, 6) for y in (flat.min(), flat.max(), flat[-1].max()))))
    head = ("expression", "unit", "least", "greatest", "at the end")
    return f"<h2>Expressions</h2>{pages.table(head, rows)}{_panels(pages.figure(draw_expressions(run, texts), ''))}"


def _pictures(run: xr.Dataset, captions: Mapping[str, str], **which: str) -> str:
    return "".join(pages.figure(OF_A_RUN[name](run, **which), caption) for name, caption in captions.items())


def _panels(pictures: str) -> str:
    return f'<div class="panels">{pictures}</div>'
