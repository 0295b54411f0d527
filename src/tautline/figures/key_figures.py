"""Tables of a report: what rope engineers read off, of each line; motions of bodies; times of slack."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import xarray as xr

from tautline.analysis import loads
from tautline.analysis.fatigue import Damage
from tautline.analysis.loads import MotorEnergy, Utilization
from tautline.arrays import Array
from tautline.figures import page as pages
from tautline.figures.series import place_in_words
from tautline.quantities import between, number, value
from tautline.results.inputs import system_of
from tautline.results.one_line import line_of
from tautline.results.sampling import STILL

# Events without tension that are listed.
LISTED = 20
# Part of the largest coordinate of a body, and speeds (m/s, rad/s), that count as nothing.
ROUNDING = 1e-12


class Rope(NamedTuple):
    """All that the page says of a line."""

    name: str
    label: str  # its name, empty where there is one only
    values: xr.Dataset  # of the line
    tension: Array  # at its start, over time (N)
    motors: dict[str, MotorEnergy]  # of the drum at its start (""), and of the sheaves that were driven
    use: Utilization | None  # None without a breaking load
    damage: Damage | None  # None if it was not asked for
    cycles: xr.Dataset
    spectrum: xr.Dataset
    slack: xr.Dataset
    bending: xr.Dataset | None = None  # None for a line over no sheaves

    @property
    def called(self) -> str:
        return f"Line {self.label!r}" if self.label else "The rope"


def key_figures(ropes: list[Rope]) -> str:
    """Key figures, with a column for each line."""
    columns = [_figures(rope) for rope in ropes]
    titles = list(dict.fromkeys(title for column in columns for title, _ in column))
    rows = [(title, *(dict(column).get(title, "") for column in columns)) for title in titles]
    return pages.table(("", *(rope.name for rope in ropes)) if len(ropes) > 1 else (), rows)


def _figures(found: Rope) -> list[tuple[str, str]]:
    """Names and values of the table."""
    run, use, damage = found.values, found.use, found.damage
    tension, spectrum = found.tension, found.spectrum.attrs
    peak = loads.peak_of_line(run)
    where = place_in_words(run, peak.place)
    limit = "unknown" if use is None else f"{percent(use.utilization)} of {value(use.breaking_load, 'N')}"
    own = line_of(run).string.breaking_load
    if use is not None and own is not None and own != use.breaking_load:
        limit += f", given for this report in place of the {value(own, 'N')} of the inputs"
    life = "not computed; give the kind of rope (rope, or --rope), or exponent and constant of its curve"
    if damage is not None:
        life = (
            f"{damage.damage:.3g} in this run, {_time(damage.life)} to failure if it goes on like this (N R^m = K with "
            f"m = {damage.exponent:g}, K = {damage.constant:.4g} at a mean load of {percent(damage.mean_load)})"
        )
    frequencies = "none, the tension does not vary"
    if math.isfinite(spectrum["peak_frequency"]):
        frequencies = (
            f"peak of the spectrum at {value(spectrum['peak_frequency'], 'Hz', 3)}, with "
            f"{value(spectrum['peak_share'], '%', 2)} of the variance"
        )
    elif spectrum["standard_deviation"] > STILL * abs(spectrum["mean"]):
        frequencies = "no peak stands out in the spectrum"
    return [
        ("simulated", f"{value(float(run.time[-1] - run.time[0]), 's')}, {run.sizes['time']} samples"),
        ("largest tension", f"{value(peak.tension, 'N')} {where}, at {float(run.time[peak.row]):.4g} s"),
        ("utilization", limit),
        (
            f"tension {place_in_words(run, 0.0)}" if not found.label else "tension at its start",
            f"{between(float(tension.min()), float(tension.max()), 'N')}, mean {value(spectrum['mean'], 'N')}, "
            f"standard deviation {value(spectrum['standard_deviation'], 'N')}",
        ),
        ("frequencies", frequencies),
        (
            "cycles",
            f"{float(found.cycles['count'].sum()):g}, the largest of {value(float(found.cycles.range.max()), 'N')}"
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
        *(row for wheel, motor in found.motors.items() for row in _motor(wheel, motor)),
    ]


def _motor(wheel: str, found: MotorEnergy) -> list[tuple[str, str]]:
    """Work and peak power of the motor of a drum, or of a sheave with a name."""
    of, least = f" of {wheel}" if wheel else "", ROUNDING * max(found.peak_power, found.peak_braking_power)
    return [
        (f"motor{of}, driving", _work(found.driving_energy, found.peak_power, found.peak_time, least)),
        (f"motor{of}, braking", _work(found.braking_energy, found.peak_braking_power, found.peak_braking_time, least)),
    ]


def _bending(found: Rope) -> list[tuple[str, str]]:
    """Cycles of bending over sheaves and drums, of a line that runs over some."""
    if found.bending is None:
        return []
    wheels = found.bending.wheel.values
    by_wheel = ", ".join(f"{int(x.max())} over {name}" for name, x in zip(wheels, found.bending.cycles, strict=True))
    alone = f"; of each wheel alone at most, also at other sections: {by_wheel}" if len(wheels) > 1 else ""
    about = found.bending.attrs
    count = f"{about['most']} cycle{'' if about['most'] == 1 else 's'}"
    words = f"{count} at most, of the section {about['worst']:.4g} m from the start of the rope{alone}"
    return [("bending", words if about["most"] else "no section was bent anew")]


def motion_table(run: xr.Dataset) -> str:
    """How far and how fast the free bodies go and turn."""
    rows = []
    for name in system_of(run.attrs).free_bodies:
        one = run.sel(body=name)
        least = ROUNDING * float(np.nanmax(np.abs(one.body_position)))
        places = one.body_position.where(np.abs(one.body_position) > least, 0.0).transpose("axis", "time")
        ways = [between(float(x.min()), float(x.max())) for x in places]
        speed, rate = (
            np.where(x > ROUNDING, x, 0.0)
            for x in (np.linalg.norm(one[x].values, axis=1) for x in ("body_velocity", "angular_velocity"))
        )
        fastest = [(x[k], float(run.time[k])) for x in (speed, rate) for k in [int(np.nanargmax(x))]]
        rows.append((name, *ways, *(f"{number(x)} at {number(t)} s" for x, t in fastest)))
    head = ("body", "x (m)", "y (m)", "z, down (m)", "fastest (m/s)", "turns at most by (rad/s)")
    return pages.table(head, rows) if rows else "<p>There is no free body.</p>"


def slack_table(ropes: list[Rope]) -> str:
    """Table of the first events without tension."""
    rows = []
    for rope in ropes:
        for e in (rope.slack.isel(event=k) for k in range(rope.slack.sizes["event"])):
            row = (
                f"{float(e.begin):.4g}",
                f"{float(e.end):.4g}",
                f"{float(e.duration):.3g}",
                f"{float(e.nearest):.2f} to {float(e.farthest):.2f}",
                percent(float(e.largest_part)),
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


def _work(energy: float, power: float, time: float, least: float) -> str:
    return f"{value(energy, 'J')}, at most {value(power, 'W')} at {time:.4g} s" if power > least else "no work"


def percent(x: float) -> str:
    """A share of one."""
    return value(x, "%", 3)


def _time(seconds: float) -> str:
    """In the unit that a reader would take."""
    if not math.isfinite(seconds):
        return "no end"
    for unit, size in (("years", 365.25 * 86400.0), ("days", 86400.0), ("hours", 3600.0)):
        if seconds >= 2.0 * size:
            return f"{number(seconds / size, 3)} {unit}"
    return f"{number(seconds, 3)} s"
