"""The report of a run: what rope engineers read off, on one HTML page that opens offline."""

from __future__ import annotations

import html
import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xarray as xr

from tautline.analysis import fatigue, loads, spectra
from tautline.analysis.bending import bending_cycles
from tautline.analysis.expressions import evaluate
from tautline.analysis.fatigue import Damage
from tautline.analysis.loads import MotorEnergy, Utilization
from tautline.analysis.series import series_of
from tautline.arrays import Array
from tautline.durable import explained, replacing
from tautline.figures import OF_A_RUN
from tautline.figures import page as pages
from tautline.figures.series import expressions as draw_expressions
from tautline.figures.series import place_in_words
from tautline.figures.source import lines_of
from tautline.figures.style import si
from tautline.files.runs.given import Run, run_from
from tautline.model import checks
from tautline.results.inputs import CASE, system_of
from tautline.results.one_line import free_bodies, label_of, line_of
from tautline.results.warnings import warnings_of

NEEDED = ("tension", "start_tension", "end_tension", "strain", "power", "motor_work")
# Events without tension that are listed.
LISTED = 20
# Part of the largest coordinate of a body, and speeds (m/s, rad/s), that count as nothing.
ROUNDING = 1e-12
# Pictures of each line.
OF_EACH_LINE = {
    "tension": "Tension over time; the largest is marked, times in which some part of the line is slack are shaded.",
    "spectrum": "Spectrum of the tension at the start of the line.",
    "exceedance": "How much of the time the tension at the start is above a level, and how often it rises through it.",
    "rainflow": "Cycles of the tension at the start, counted by rainflow (ASTM E1049), by their range.",
}
# Pictures of a system with one line, beside those of the line, and of one with several.
OF_ONE = {"drive": "Speed of the reel, torque on the drum and power of the motor."}
OF_SEVERAL = {
    "tension": "Largest tension along each line.",
    "drive": "Speeds of the reels, torques on the drums and powers of the motors.",
    "path": "Paths of the bodies; dots are where they start.",
}
# Pictures of unequal height, below each other in two columns where there is room.
_STYLE = """
.panels { display: block; columns: 2 430px; } figure { break-inside: avoid; margin-bottom: 1rem; }
"""


class _Rope(NamedTuple):
    """All that the page says of a line."""

    name: str
    label: str  # its name, empty where there is one only
    values: xr.Dataset  # of the line
    tension: Array  # at its start, over time (N)
    motor: MotorEnergy
    use: Utilization | None  # None without a breaking load
    damage: Damage | None  # None if it was not asked for
    cycles: xr.Dataset
    spectrum: xr.Dataset
    slack: xr.Dataset
    bending: xr.Dataset | None = None  # None for a line over no sheaves

    @property
    def called(self) -> str:
        return f"Line {self.label!r}" if self.label else "The rope"


class _Found(NamedTuple):
    """All that the page says of a run."""

    run: xr.Dataset
    ropes: list[_Rope]
    warnings: list[str]  # their sentences


def report(
    run: Run,
    path: str | os.PathLike[str],
    *,
    title: str = "",
    rope: str | None = None,
    exponent: float | None = None,
    constant: float | None = None,
    breaking_load: float | str | None = None,
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
    rope, exponent, constant
        For the damage, as `tl.analysis.damage` takes them; without them the page has the cycles alone.
    breaking_load : float or str, optional
        (N) In the place of that of every line.
    expressions : list of str
        Whose extremes are among the key figures, and which are drawn: "norm(body_velocity[load])".

    Returns
    -------
    Path
        Of the page.
    """
    target = checks.path("path", path)
    checks.text("title", title)
    found = _read(run_from(run, NEEDED), rope, exponent, constant, breaking_load)
    wanted = checks.names("expressions", expressions)
    text = _render(found, title or str(found.run.attrs.get("title", "")) or "Loads of a run", wanted)
    with explained(target), replacing(target, encoding="utf-8") as file:
        file.write(text)
    return target


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
        motor, slack = loads.motor_energy(run, line=name), loads.slack_events(run, line=name)
        bent = bending_cycles(run, line=name) if line_of(one).is_reeved else None
        ropes.append(_Rope(name, label, one, tension, motor, use, damage, cycles, spectrum, slack, bent))
    return _Found(run, ropes, list(dict.fromkeys(texts)))


def _render(found: _Found, title: str, expressions: list[str]) -> str:
    run, ropes = found.run, found.ropes
    body = f"<h1>{html.escape(title)}</h1>{_verdict(found)}<h2>Key figures</h2>{_table(ropes)}"
    body += _expressions(run, expressions)
    body += f"<h2>Motion</h2>{motion_table(run)}<h2>Pictures</h2>"
    drawn = {rope.name: _pictures(run, OF_EACH_LINE, line=rope.name) for rope in ropes}
    if len(ropes) == 1:
        body += _panels(drawn[ropes[0].name] + _pictures(run, OF_ONE))
    else:
        body += _panels(_pictures(run, OF_SEVERAL))
        body += "".join(f"<h2>{html.escape(rope.called)}</h2>{_panels(drawn[rope.name])}" for rope in ropes)
    body += _slack(ropes)
    case = html.escape(json.dumps(json.loads(run.attrs[CASE]), indent=2))
    body += f"<details><summary>The whole input, in SI units</summary><pre>{case}</pre></details>"
    body += f'<p class="small">Computed by tautline {html.escape(str(run.attrs["version"]))}.</p>'
    return pages.page(title, body, _STYLE)


def _expressions(run: xr.Dataset, texts: list[str]) -> str:
    """Extremes of expressions, and their curves."""
    if not texts:
        return ""
    rows = []
    for text in texts:
        x = evaluate(run, text)
        flat, unit = x.values.astype(float).reshape(len(x), -1), x.attrs.get("units", "")
        rows.append((text, unit, *(f"{y:.6g}" for y in (flat.min(), flat.max(), flat[-1].max()))))
    head = ("expression", "unit", "least", "greatest", "at the end")
    return f"<h2>Expressions</h2>{pages.table(head, rows)}{_panels(pages.figure(draw_expressions(run, texts), ''))}"


def _pictures(run: xr.Dataset, captions: Mapping[str, str], **which: str) -> str:
    return "".join(pages.figure(OF_A_RUN[name](run, **which), caption) for name, caption in captions.items())


def _panels(pictures: str) -> str:
    return f'<div class="panels">{pictures}</div>'


def _table(ropes: list[_Rope]) -> str:
    """Key figures, with a column for each line."""
    columns = [_figures(rope) for rope in ropes]
    titles = list(dict.fromkeys(title for column in columns for title, _ in column))
    rows = [(title, *(dict(column).get(title, "") for column in columns)) for title in titles]
    return pages.table(("", *(rope.name for rope in ropes)) if len(ropes) > 1 else (), rows)


def _verdict(found: _Found) -> str:
    """Whether the ropes hold, how the run ended, and what there is to say about its numbers."""
    run = found.run
    known = [rope for rope in found.ropes if rope.use is not None]
    worst = max(known, key=lambda rope: rope.use.utilization if rope.use else 0.0, default=None)
    if worst is None or worst.use is None:
        text, kind = (
            "Whether the rope holds is not known: the run has no breaking load. Give it to the string as "
            "breaking_load, or to the report.",
            "",
        )
    elif worst.use.utilization < 1.0:
        several, doubts = len(known) > 1, _doubts(found)
        share = (
            f"{_percent(worst.use.utilization)} of "
            f"{f'the breaking load of line {worst.name!r}' if several else 'its breaking load'} at most, "
            f"a safety factor of {1.0 / worst.use.utilization:.3g}"
            if worst.use.utilization > 0.0
            else "no tension at any time"
        )
        holds = "all ropes hold" if several else f"{worst.called[0].lower()}{worst.called[1:]} holds"
        if doubts:
            text, kind = f"Not proven that {holds}: {share}, but {doubts}.", "unsure"
        else:
            text, kind = f"{holds[0].upper()}{holds[1:]}: {share}.", "yes"
    else:
        text = f"{worst.called} would break: {_percent(worst.use.utilization)} of its breaking load is reached."
        kind = "no"
    missing = [rope.name for rope in found.ropes if rope.use is None]
    if known and missing:
        text += f" Not known of {' and '.join(map(repr, missing))}, without a breaking load."
    lines = [f'<p class="{kind}"><b>{html.escape(text)}</b></p>']
    lines.append(f"<p>The run: {html.escape(str(run.attrs['message']))}.</p>")
    if found.warnings:
        items = "".join(f"<li>{html.escape(text)}</li>" for text in found.warnings)
        lines.append(f'<div class="note">Warnings about the numbers:<ul>{items}</ul></div>')
    return "".join(lines)


def _doubts(found: _Found) -> str:
    """Reasons not to trust a verdict that ropes hold; empty where there are none."""
    status = str(found.run.attrs["status"])
    reasons = [] if status == "completed" else [f"the run ended early ({status.replace('_', ' ')})"]
    if warnings_of(found.run) or any(rope.use.warnings for rope in found.ropes if rope.use):
        reasons.append("there are warnings about its numbers")
    return " and ".join(reasons)


def _figures(found: _Rope) -> list[tuple[str, str]]:
    """Names and values of the table."""
    run, use, damage = found.values, found.use, found.damage
    tension, motor, spectrum = found.tension, found.motor, found.spectrum.attrs
    peak = loads.peak_of_line(run)
    where = place_in_words(run, peak.place)
    limit = "unknown" if use is None else f"{_percent(use.utilization)} of {si(use.breaking_load, 'N')}"
    life = "not computed; give the kind of rope (rope, or --rope), or exponent and constant of its curve"
    if damage is not None:
        life = (
            f"{damage.damage:.3g} in this run, {_time(damage.life)} to failure if it goes on like this (N R^m = K with "
            f"m = {damage.exponent:g}, K = {damage.constant:.4g} at a mean load of {_percent(damage.mean_load)})"
        )
    frequencies = "none, the tension does not vary"
    if math.isfinite(spectrum["peak_frequency"]):
        frequencies = (
            f"peak of the spectrum at {spectrum['peak_frequency']:.3g} Hz, "
            f"{spectrum['zero_crossing_frequency']:.3g} Hz by zero crossings"
        )
    return [
        ("simulated", f"{float(run.time[-1] - run.time[0]):.6g} s, {run.sizes['time']} samples"),
        ("largest tension", f"{si(peak.tension, 'N')} {where}, at {float(run.time[peak.row]):.4g} s"),
        ("utilization", limit),
        (
            f"tension {place_in_words(run, 0.0)}" if not found.label else "tension at its start",
            f"{si(float(tension.min()), 'N')} to {si(float(tension.max()), 'N')}, mean {si(spectrum['mean'], 'N')}, "
            f"standard deviation {si(spectrum['standard_deviation'], 'N')}",
        ),
        ("frequencies", frequencies),
        (
            "cycles",
            f"{float(found.cycles['count'].sum()):g}, the largest of {si(float(found.cycles.range.max()), 'N')}"
            if found.cycles.sizes["cycle"]
            else "no cycles",
        ),
        ("fatigue damage", life),
        *_bending(found),
        (
            "slack",
            f"{found.slack.sizes['event']} events, {found.slack.attrs['slack_time']:.3g} s together, the longest "
            f"{float(found.slack.duration.max()):.3g} s"
            if found.slack.sizes["event"]
            else "never",
        ),
        ("motor, driving", _work(motor.driving_energy, motor.peak_power, motor.peak_time)),
        ("motor, braking", _work(motor.braking_energy, motor.peak_braking_power, motor.peak_braking_time)),
    ]


def _bending(found: _Rope) -> list[tuple[str, str]]:
    """Cycles of bending over sheaves and drums, of a line that runs over some."""
    if found.bending is None:
        return []
    by_wheel = ", ".join(
        f"{int(x.max())} over {name}" for name, x in zip(found.bending.wheel.values, found.bending.cycles, strict=True)
    )
    about = found.bending.attrs
    words = f"{about['most']} cycles at most, {about['worst']:.4g} m from the start of the rope ({by_wheel})"
    return [("bending", words if about["most"] else "no section was bent anew")]


def motion_table(run: xr.Dataset) -> str:
    """How far and how fast the free bodies go and turn."""
    rows = []
    for name in free_bodies(system_of(run.attrs)):
        one = run.sel(body=name)
        least = ROUNDING * float(np.nanmax(np.abs(one.body_position)))
        places = one.body_position.where(np.abs(one.body_position) > least, 0.0).transpose("axis", "time")
        ways = [f"{float(x.min()):.4g} to {float(x.max()):.4g}" for x in places]
        speed, rate = (
            np.where(x > ROUNDING, x, 0.0)
            for x in (np.linalg.norm(one[x].values, axis=1) for x in ("body_velocity", "angular_velocity"))
        )
        fastest = [(x[k], float(run.time[k])) for x in (speed, rate) for k in [int(np.nanargmax(x))]]
        rows.append((name, *ways, *(f"{x:.4g} at {t:.4g} s" for x, t in fastest)))
    head = ("body", "x (m)", "y (m)", "z, down (m)", "fastest (m/s)", "turns at most by (rad/s)")
    return pages.table(head, rows) if rows else "<p>There is no free body.</p>"


def _slack(ropes: list[_Rope]) -> str:
    """Table of the first events without tension."""
    rows = []
    for rope in ropes:
        for e in (rope.slack.isel(event=k) for k in range(rope.slack.sizes["event"])):
            row = (
                f"{float(e.begin):.4g}",
                f"{float(e.end):.4g}",
                f"{float(e.duration):.3g}",
                f"{float(e.nearest):.2f} to {float(e.farthest):.2f}",
                _percent(float(e.largest_part)),
            )
            rows.append((rope.label, *row) if rope.label else row)
            if len(rows) == LISTED:
                break
    if not rows:
        return ""
    count = sum(rope.slack.sizes["event"] for rope in ropes)
    head = ("begin (s)", "end (s)", "duration (s)", "where (0 start, 1 end)", "slack at one time")
    more = f'<p class="small">{count - LISTED} more are not listed.</p>' if count > LISTED else ""
    return f"<h2>Slack</h2>{pages.table(('line', *head) if ropes[0].label else head, rows[:LISTED])}{more}"


def _work(energy: float, power: float, time: float) -> str:
    return f"{si(energy, 'J')}, at most {si(power, 'W')} at {time:.4g} s" if energy or power else "no work"


def _percent(x: float) -> str:
    return f"{100.0 * x:.3g} %"


def _time(seconds: float) -> str:
    """In the unit that a reader would take."""
    if not math.isfinite(seconds):
        return "no end"
    for unit, size in (("years", 365.25 * 86400.0), ("days", 86400.0), ("hours", 3600.0)):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"
