"""Figures over time."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from tautline import ledger
from tautline.analysis.expressions import evaluate
from tautline.analysis.loads import peak_of_line, slack_events
from tautline.arrays import Array
from tautline.figures.source import lines_of, of_run
from tautline.figures.style import (
    BLACK,
    BLUE,
    COLORS,
    DIVERGING,
    GREEN,
    LOOKS,
    ORANGE,
    RED,
    SKY,
    STRAIN_MAP,
    curve,
    new_figure,
    widen,
)
from tautline.files.runs.given import known
from tautline.model import checks
from tautline.quantities import value
from tautline.results.conservation import balance_error, kept_momentum
from tautline.results.inputs import CASE, system_of
from tautline.results.one_line import ends_of, label_of, line_of
from tautline.units import OF_RESULTS

TIME_LABEL = "time (s)"


# Curves of the energy figure, in the paper's line styles.
ENERGIES = {
    "energy": ("total $E$", "-", BLACK),
    "kinetic_energy": ("kinetic $T$", "-", BLUE),
    "gravity_energy": (r"gravity $V_{\rm gravity}$", "-.", GREEN),
    "elastic_energy": (r"elastic $V_{\rm elastic}$", ":", RED),
}
# Where gravity moves by more than so many times what kinetic and elastic energy do, these get a panel of their own.
ALL_GRAVITY = 10.0


@of_run()
def expressions(run: xr.Dataset, texts: str | Sequence[str]) -> Figure:
    """Expressions over time, one panel for each unit.

    Parameters
    ----------
    run : Dataset, or path of a run file
    texts : list of str
        Such as "norm(body_velocity[load])" (docs/howto/expressions.md).
    """
    found = [evaluate(run, text) for text in checks.names("texts", texts)]
    units = list(dict.fromkeys(x.attrs.get("units", "") for x in found))
    figure, axes = new_figure(len(units))
    for ax, unit in zip(axes, units, strict=True):
        own = [x for x in found if x.attrs.get("units", "") == unit]
        columns = [(x.name, x.values.reshape(len(x), -1).T) for x in own]
        curves = [(name, k, len(rows), y) for name, rows in columns for k, y in enumerate(rows)]
        for (name, k, count, y), look in zip(curves, itertools.cycle(LOOKS), strict=False):
            curve(ax, run.time, y, **look, linewidth=0.9, label=f"{name} [{k}]" if count > 1 else name)
        ax.set_ylabel({"1": "ratio", "": "holds"}.get(unit, OF_RESULTS.get(unit, unit)))
        ax.legend(fontsize=7, frameon=False)
    axes[-1].set_xlabel(TIME_LABEL)
    return figure


@of_run(*ENERGIES)
def energy(run: xr.Dataset) -> Figure:
    """Energy exchange in the paper's line styles: E and T solid, gravity dash-dotted, elastic dotted.

    Where all else would be lost beside the work of lifting, as in a hoist, there are two panels: the change of total
    and gravity energy since the start, and the other energies on a scale of their own. Works (solid) and losses
    (dashed) since the start have a panel below, with the change of the total energy, which is works less losses.
    """
    booked = [name for name in ledger.booked() if known(run, name) and run[name].any()]
    spans = {name: float(np.ptp(run[name].values)) for name in ENERGIES}
    small = max(spans["kinetic_energy"], spans["elastic_energy"])
    if spans["gravity_energy"] <= ALL_GRAVITY * small:
        figure, (axes, *below) = new_figure(1 + bool(booked))
        _energies(axes, run, tuple(ENERGIES))
        axes.set_ylabel("energy (J)")
    else:
        figure, (above, axes, *below) = new_figure(2 + bool(booked))
        lifted = run[["energy", "gravity_energy"]]
        _energies(above, lifted - lifted.isel(time=0), ("energy", "gravity_energy"))
        above.set_ylabel("change since\nthe start (J)")
        _energies(axes, run, tuple(name for name in ENERGIES if name not in lifted))
        axes.set_ylabel("energy (J)")
    figure.legend(loc="outside upper center", ncols=5, columnspacing=1.2, handlelength=1.8)
    if booked:
        (axes,) = below
        _accounts(axes, run, booked)
    axes.set_xlabel(TIME_LABEL)
    return figure


def _energies(axes: Any, run: xr.Dataset, names: tuple[str, ...]) -> None:
    for name in names:
        label, line, color = ENERGIES[name]
        curve(axes, run.time, run[name], line, color=color, label=label)


def _accounts(axes: Any, run: xr.Dataset, booked: list[str]) -> None:
    """Works and losses, and the change of energy that they explain."""
    losses = ledger.names(ledger.LOSS)
    for name, color in zip(booked, itertools.cycle((BLUE, ORANGE, GREEN, RED, SKY)), strict=False):
        line = "--" if name in losses else "-"
        curve(axes, run.time, run[name], line, color=color, label=name.replace("_", " "))
    axes.plot(run.time, run.energy - run.energy[0], ":", color=BLACK, label="change of $E$")
    axes.set_ylabel("work and loss since\nthe start (J)")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.3), ncols=3)  # below: curves fill the panel


@of_run("stretched_length", "unstretched_length")
def lengths(run: xr.Dataset, line: str | None = None) -> Figure:
    """Stretched and unstretched length of what is deployed of lines, and how the bodies turn.

    Of all lines or of one by its name. A single body shows the second component of Omega, several its size.
    """
    figure, (above, below) = new_figure(2)
    parts = lines_of(run, line)
    for one, color in zip(parts, COLORS, strict=False):
        name = label_of(one)
        curve(above, one.time, one.stretched_length, color=color, label=name or "stretched")
        plain = "" if name else "unstretched"
        above.plot(one.time, one.unstretched_length, "--", color=color if name else BLACK, label=plain)
    above.set_ylabel("length (m)\ndashed: unstretched" if label_of(parts[0]) else "length (m)")
    if "angular_velocity" in run:
        _turning(below, run)
    above.legend(loc="best", ncols=2)
    below.set_xlabel(TIME_LABEL)
    widen(below)
    return figure


def _turning(axes: Any, run: xr.Dataset) -> None:
    """How fast the free bodies turn."""
    free = [name for name in system_of(run.attrs).free_bodies if name in run["body"].values]
    if len(free) == 1:
        curve(axes, run.time, run.angular_velocity.sel(body=free[0], axis="y"), color=ORANGE)
        axes.set_ylabel(r"$\Omega_2$ (rad/s)")
        return
    for name, look in zip(free, LOOKS, strict=False):
        rate = np.sqrt((run.angular_velocity.sel(body=name) ** 2).sum("axis"))
        curve(axes, run.time, rate, **look, label=name)
    axes.set_ylabel(r"$|\Omega|$ (rad/s)")
    if free:
        axes.legend(loc="best", ncols=2)


@of_run("energy", "control_work", "angular_momentum", "linear_momentum")
def conservation(run: xr.Dataset, *quantities: str) -> Figure:
    """Deviations of what should be kept.

    Parameters
    ----------
    run : Dataset, or path of a run file
    *quantities : {"energy", "momentum", "orthogonality"}
        One panel each; all by default. The momentum is the whole vector of the angular momentum where nothing acts from
        outside, and the component about the vertical through the fixed ends of lines where they lie on one and nothing
        but gravity acts. Else it is not kept, and left out by default.
    """
    momenta = run.angular_momentum.values, run.linear_momentum.values
    kept = kept_momentum(system_of(run.attrs), *momenta)
    series = {"energy": (balance_error(run), "energy balance error (J)", BLUE)}
    if kept is not None and kept.shape[1] == 1:
        series["momentum"] = (_over_time(run, kept[:, 0] - kept[0, 0]), r"$\Delta\pi_3$ (kg m$^2$/s)", GREEN)
    else:
        size = np.linalg.norm(momenta[0] - momenta[0][0], axis=1)
        series["momentum"] = (_over_time(run, size), r"$|\Delta\pi|$ (kg m$^2$/s)", GREEN)
    if "orthogonality_error" in run:
        series["orthogonality"] = (run.orthogonality_error.max("body"), r"$\|I-R^TR\|$", RED)
    wanted = quantities or tuple(name for name in series if kept is not None or name != "momentum")
    for name in wanted:
        checks.choice("quantities", name, series)
    figure, axes = new_figure(len(wanted))
    for ax, name in zip(axes, wanted, strict=True):
        values, label, color = series[name]
        curve(ax, run.time, values, color=color, linewidth=0.8)
        ax.set_ylabel(label)
        ax.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))
        if name == "orthogonality":
            ax.set_ylim(bottom=0.0)
    axes[-1].set_xlabel(TIME_LABEL)
    return figure


def _over_time(run: xr.Dataset, values: Array) -> xr.DataArray:
    return xr.DataArray(values, {"time": run.time}, "time")


# Strains that are no larger are rounding, and must not fill a map.
UNSTRAINED = 1e-12
# Percentage of the strains that the colors of a map reach over where they part at zero; a few may be far beyond.
MOST = 98.0


@of_run("strain")
def strain_map(run: xr.Dataset, line: str | None = None) -> Figure:
    """Waves in lines: strain over time and place, of all lines or of one by its name.

    Colors part at zero where some strain is negative: blue is pressed together or slack, red is stretched. Else the
    map begins at the least strain, so that waves on a stretched string are seen.
    """
    parts = lines_of(run, line)
    figure, panels = new_figure(len(parts))
    for axes, one in zip(panels, parts, strict=True):
        axes.grid(False)
        N = one.sizes["element"]
        strain = one.strain.values
        there = strain[np.isfinite(strain)]
        pressed = len(there) > 0 and float(there.min()) < -UNSTRAINED
        reach = max(float(np.percentile(np.abs(there), MOST)), UNSTRAINED) if pressed else 0.0
        beyond = "both" if pressed and float(np.abs(there).max()) > reach else "neither"
        colors: Any = {"vmin": -reach, "vmax": reach, "cmap": DIVERGING} if pressed else {"cmap": STRAIN_MAP}
        places = (np.arange(N) + 0.5) / N
        picture = axes.pcolormesh(one.time, places, strain.T, shading="nearest", rasterized=True, **colors)
        figure.colorbar(picture, ax=axes, label="strain, 0 in the middle" if pressed else "strain", extend=beyond)
        start, end = ends_of(one)
        axes.set_yticks([0.0, 0.5, 1.0], [_end(x) for x in (start, "the middle", end)])
        axes.set_ylim(1.0, 0.0)
        axes.set_ylabel(f"line {label_of(one)}" if label_of(one) else "along the line")
    panels[-1].set_xlabel(TIME_LABEL)
    return figure


def _end(words: str) -> str:
    """In as few words as an axis has room for."""
    return words.removeprefix("the ").replace(" (", "\n(")


@of_run("tension", "start_tension", "end_tension")
def tension(run: xr.Dataset, line: str | None = None) -> Figure:
    """Tension of a line at its start, in its middle and at its end.

    The largest along the line is marked, times in which some part of it is slack are shaded, and a breaking load that
    is less than twice that is drawn. Of a system with several lines, the largest tension along each of them, or one
    line by its name.
    """
    figure, (axes,) = new_figure()
    parts = lines_of(run, line)
    if len(parts) > 1:
        for one, look in zip(parts, LOOKS, strict=False):
            highest = np.maximum(one.tension.max("element"), np.maximum(one.start_tension, one.end_tension))
            curve(axes, one.time, highest, **look, label=label_of(one), linewidth=0.9)
        axes.set_ylabel("largest tension along\neach line (N)")
    else:
        (one,) = parts
        _tensions(axes, one, run)
        axes.set_ylabel("tension (N)")
    axes.set_xlabel(TIME_LABEL)
    figure.legend(loc="outside upper center", ncols=3)
    return figure


def _tensions(axes: Any, one: xr.Dataset, run: xr.Dataset) -> None:
    """Tensions of one line of a run at both ends and in the middle."""
    last = one.sizes["element"] - 1
    start, end = ends_of(one)
    curves = {
        f"at {start}": (one.start_tension, BLUE),
        "in the middle": (one.tension[:, last // 2], ORANGE),
        f"at {end}": (one.end_tension, GREEN),
    }
    for label, (values, color) in curves.items():
        curve(axes, one.time, values, color=color, label=label, linewidth=0.9)
    _loads(axes, one, run)


def place_in_words(one: xr.Dataset, place: float) -> str:
    """Where on a line something is: at one of its ends, or in an element."""
    start, end = ends_of(one)
    count = one.sizes["element"]
    return {0.0: f"at {start}", 1.0: f"at {end}"}.get(place, f"in element {int(place * count)} of {count}")


def _loads(axes: Any, one: xr.Dataset, run: xr.Dataset) -> None:
    """Mark the largest tension along a line, times of slack, and the breaking load."""
    peak = peak_of_line(one)
    if CASE not in one.attrs or not np.isfinite(peak.tension):
        return
    label = f"largest, {value(peak.tension, 'N')} {place_in_words(one, peak.place)}"
    axes.plot(float(one.time[peak.row]), peak.tension, "v", color=RED, markersize=5, label=label)
    events = slack_events(run, line=one["line"].item())
    for k, (begin, end) in enumerate(zip(events.begin.values, events.end.values, strict=True)):
        axes.axvspan(begin, end, color=BLACK, alpha=0.1, linewidth=0, label=None if k else "some of it slack")
    limit = line_of(one).string.breaking_load
    if limit is not None and limit < 2.0 * peak.tension:
        axes.axhline(limit, color=RED, linestyle="--", linewidth=0.9, label="breaking load")


@of_run("reel_speed")
def drive(run: xr.Dataset, line: str | None = None) -> Figure:
    """Motion and effort of the motors: speed of the reel and, where the run has them, torque on the drum and power.

    Of all reels, or of the one of a line by its name.
    """
    panels = {
        "reel_speed": ("reel speed (m/s)\nretrieval positive", BLUE),
        "torque": ("torque on the\ndrum (N m)", ORANGE),
        "power": ("power of the\nmotor (W)", RED),
    }
    parts = lines_of(run, line)
    if line is None:
        parts = [one for one in parts if CASE not in one.attrs or line_of(one).reel is not None] or parts
    shown = [name for name in panels if name == "reel_speed" or any(known(one, name) for one in parts)]
    shown = [name for name in shown if any(one[name].any() for one in parts)] or shown[:1]  # without what never acts
    figure, axes = new_figure(len(shown))
    for ax, name in zip(axes, shown, strict=True):
        label, own = panels[name]
        for one, look in zip(parts, LOOKS if len(parts) > 1 else [{"color": own}], strict=False):
            said = label_of(one) if name == shown[0] else None
            curve(ax, one.time, one[name], **look, linewidth=0.9, label=said)
        ax.set_ylabel(label)
    if len(parts) > 1:
        figure.legend(loc="outside upper center", ncols=4)
    axes[-1].set_xlabel(TIME_LABEL)
    return figure
