"""The report of a run: what rope engineers read off, on one HTML page that opens offline."""

from __future__ import annotations

import html
import json
import math
import os
from pathlib import Path
from typing import NamedTuple

import xarray as xr

from tautline.analysis import fatigue, loads, spectra
from tautline.analysis.fatigue import Damage
from tautline.analysis.loads import Utilisation
from tautline.analysis.series import series_of
from tautline.durable import explained, replacing
from tautline.figures import OF_A_RUN
from tautline.figures import page as pages
from tautline.files.runs.given import Run, run_from
from tautline.results.inputs import CASE, pendulum_of

# Events without tension that are listed.
LISTED = 20
CAPTIONS = {
    "tension": "Tension over time; the largest is marked, times in which some part of the string is slack are shaded.",
    "spectrum": "Spectrum of the tension at the guide.",
    "exceedance": "How much of the time the tension at the guide is above a level, and how often it rises through it.",
    "rainflow": "Cycles of the tension at the guide, counted by rainflow (ASTM E1049), by their range.",
    "drive": "Speed of the reel, torque on the drum and power of the motor.",
}
# Pictures of unequal height, below each other in two columns where there is room.
_STYLE = """
.panels { display: block; columns: 2 430px; } figure { break-inside: avoid; margin-bottom: 1rem; }
"""


class _Found(NamedTuple):
    """All that the page says of a run."""

    run: xr.Dataset
    use: Utilisation | None  # None without a breaking load
    damage: Damage | None  # None if it was not asked for
    cycles: xr.Dataset
    spectrum: xr.Dataset
    slack: xr.Dataset
    remarks: list[str]


def report(
    run: Run,
    path: str | os.PathLike[str],
    *,
    title: str = "",
    rope: str | None = None,
    exponent: float | None = None,
    constant: float | None = None,
    breaking_load: float | str | None = None,
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
        For the damage, as `tl.damage` takes them; without them the page has the cycles alone.
    breaking_load : float or str, optional
        (N) In the place of that of the run's string.

    Returns
    -------
    Path
        Of the page.
    """
    found = _read(
        run_from(run, ("tension", "strain", "power", "control_work")), rope, exponent, constant, breaking_load
    )
    text = _render(found, title or str(found.run.attrs.get("title", "")) or "Loads of a run")
    with explained(Path(path)), replacing(Path(path), encoding="utf-8") as file:
        file.write(text)
    return Path(path)


def _read(
    run: xr.Dataset,
    rope: str | None,
    exponent: float | None,
    constant: float | None,
    breaking_load: float | str | None,
) -> _Found:
    """Everything that is read off the run."""
    limit = breaking_load if breaking_load is not None else pendulum_of(run.attrs).string.breaking_load
    use = None if limit is None else loads.utilisation(run, breaking_load=limit)
    damage = None
    if rope is not None or exponent is not None or constant is not None:
        damage = fatigue.damage(run, rope, exponent=exponent, constant=constant, breaking_load=limit)
    cycles, spectrum = fatigue.rainflow(run), spectra.spectrum(run)
    said = [*str(run.attrs.get("remarks", "")).splitlines(), *(use.remarks if use else ())]
    said += [*cycles.attrs["remarks"].splitlines(), *spectrum.attrs["remarks"].splitlines()]
    return _Found(run, use, damage, cycles, spectrum, loads.slack_events(run), list(dict.fromkeys(said)))


def _render(found: _Found, title: str) -> str:
    run = found.run
    pictures = "".join(pages.figure(OF_A_RUN[name](run), caption) for name, caption in CAPTIONS.items())
    body = f"<h1>{html.escape(title)}</h1>{_verdict(found)}<h2>Key figures</h2>{pages.table((), _figures(found))}"
    body += f'<h2>Pictures</h2><div class="panels">{pictures}</div>{_slack(found.slack)}'
    case = html.escape(json.dumps(json.loads(run.attrs[CASE]), indent=2))
    body += f"<details><summary>The whole input, in SI units</summary><pre>{case}</pre></details>"
    body += f'<p class="small">Computed by tautline {html.escape(str(run.attrs["version"]))}.</p>'
    return pages.page(title, body, _STYLE)


def _verdict(found: _Found) -> str:
    """Whether the rope holds, how the run ended, and what there is to say about its numbers."""
    run, use = found.run, found.use
    if use is None:
        text, kind = (
            "Whether the rope holds is not known: the run has no breaking load. Give it to the string as "
            "breaking_load, or to the report.",
            "",
        )
    elif use.utilisation < 1.0:
        text = (
            f"The rope holds: {_percent(use.utilisation)} of its breaking load at most, "
            f"a safety factor of {1.0 / use.utilisation:.3g}."
            if use.utilisation > 0.0
            else "The rope holds: it is never under tension."
        )
        kind = "yes"
    else:
        text, kind = f"The rope would break: {_percent(use.utilisation)} of its breaking load is reached.", "no"
    lines = [f'<p class="{kind}"><b>{html.escape(text)}</b></p>']
    ending = str(run.attrs["message"]).removesuffix("; " + "; ".join(str(run.attrs.get("remarks", "")).splitlines()))
    lines.append(f"<p>The run: {html.escape(ending)}.</p>")
    if found.remarks:
        items = "".join(f"<li>{html.escape(text)}</li>" for text in found.remarks)
        lines.append(f'<div class="note">Remarks on the numbers:<ul>{items}</ul></div>')
    return "".join(lines)


def _figures(found: _Found) -> list[tuple[str, str]]:
    """Names and values of the table."""
    run, use, damage = found.run, found.use, found.damage
    tension = series_of(run, "guide_tension", {}).values
    motor, spectrum = loads.motor_energy(run), found.spectrum.attrs
    peak = loads.peak_of_run(run)
    inside = f"in element {int(peak.place * run.sizes['element'])} of {run.sizes['element']}"
    where = {0.0: "at the guide", 1.0: "at the body"}.get(peak.place, inside)
    limit = "unknown" if use is None else f"{_percent(use.utilisation)} of {_si(use.breaking_load, 'N')}"
    life = "not computed; give the kind of rope (rope, or --rope), or exponent and constant of its curve"
    if damage is not None:
        life = (
            f"{damage.damage:.3g} in this run, {_time(damage.life)} to failure if it goes on like this (N R^m = K with "
            f"m = {damage.exponent:g}, K = {damage.constant:.4g} at a mean load of {_percent(damage.mean_load)})"
        )
    return [
        ("simulated", f"{float(run.time[-1] - run.time[0]):.6g} s, {run.sizes['time']} samples"),
        ("largest tension", f"{_si(peak.tension, 'N')} {where}, at {float(run.time[peak.row]):.4g} s"),
        ("utilisation", limit),
        (
            "tension at the guide",
            f"{_si(float(tension.min()), 'N')} to {_si(float(tension.max()), 'N')}, mean {_si(spectrum['mean'], 'N')}, "
            f"standard deviation {_si(spectrum['standard_deviation'], 'N')}",
        ),
        (
            "frequencies",
            f"peak of the spectrum at {spectrum['peak_frequency']:.3g} Hz, "
            f"{spectrum['zero_crossing_frequency']:.3g} Hz by zero crossings",
        ),
        (
            "cycles",
            f"{float(found.cycles['count'].sum()):g}, the largest of {_si(float(found.cycles.range.max()), 'N')}"
            if found.cycles.sizes["cycle"]
            else "no cycles",
        ),
        ("fatigue damage", life),
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


def _slack(events: xr.Dataset) -> str:
    """Table of the first events without tension."""
    count = events.sizes["event"]
    if not count:
        return ""
    rows = [
        (
            f"{float(e.begin):.4g}",
            f"{float(e.end):.4g}",
            f"{float(e.duration):.3g}",
            f"{float(e.nearest):.2f} to {float(e.farthest):.2f}",
            _percent(float(e.largest_part)),
        )
        for e in (events.isel(event=k) for k in range(min(count, LISTED)))
    ]
    head = ("begin (s)", "end (s)", "duration (s)", "where (0 guide, 1 body)", "slack at one time")
    more = f'<p class="small">{count - LISTED} more are not listed.</p>' if count > LISTED else ""
    return f"<h2>Slack</h2>{pages.table(head, rows)}{more}"


def _work(energy: float, power: float, time: float) -> str:
    return f"{_si(energy, 'J')}, at most {_si(power, 'W')} at {time:.4g} s" if energy or power else "no work"


def _si(x: float, unit: str) -> str:
    """Four digits, with a prefix from ten thousand on."""
    for prefix, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(x) >= 10.0 * size:
            return f"{x / size:.4g} {prefix}{unit}"
    return f"{x:.4g} {unit}"


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
