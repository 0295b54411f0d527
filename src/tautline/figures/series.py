"""Figures over time."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from tautline import ledger
from tautline.analysis.loads import peak_of_run, slack_events
from tautline.figures.source import of_run, strings_of
from tautline.figures.style import (
    BLACK,
    BLUE,
    COLOURS,
    DIVERGING,
    GREEN,
    LOOKS,
    ORANGE,
    RED,
    SKY,
    STRAIN_MAP,
    curve,
    new_figure,
    si,
    widen,
)
from tautline.files.runs.given import known
from tautline.model import checks
from tautline.model.body import RigidBody
from tautline.results.conservation import balance_error
from tautline.results.inputs import CASE
from tautline.results.one_string import assembly_of_run, ends_of, string_of

TIME_LABEL = "time (s)"


# Curves of the energy figure, in the paper's line styles.
ENERGIES = {
    "energy": ("total $E$", "-", BLACK),
    "kinetic_energy": ("kinetic $T$", "-", BLUE),
    "rotational_energy": (r"rotational $T_{\rm rot}$", "--", SKY),
    "gravity_energy": (r"gravity $V_{\rm gravity}$", "-.", GREEN),
    "elastic_energy": (r"elastic $V_{\rm elastic}$", ":", RED),
}
# Where gravity moves by more than so many times what kinetic and elastic energy do, these get a panel of their own.
ALL_GRAVITY = 10.0


@of_run(*ENERGIES)
def energy(run: xr.Dataset) -> Figure:
    """Energy exchange in the paper's line styles: E and T solid, T_rot dashed, gravity dash-dotted, elastic dotted.

    Where all else would be lost beside the work of lifting, as in a hoist, there are two panels: the change of total
    and gravity energy since the start, and the other energies on a scale of their own. Works (solid) and losses
    (dashed) since the start have a panel below, with the change of the total energy, which is works less losses.
    """
    booked = [name for name in ledger.booked() if known(run, name) and run[name].any()]
    drawn = tuple(name for name in ENERGIES if name in run)  # that of rotation is a pendulum's
    spans = {name: float(np.ptp(run[name].values)) for name in drawn}
    small = max(spans["kinetic_energy"], spans["elastic_energy"])
    if spans["gravity_energy"] <= ALL_GRAVITY * small:
        figure, (axes, *below) = new_figure(1 + bool(booked))
        _energies(axes, run, drawn)
        axes.set_ylabel("energy (J)")
    else:
        figure, (above, axes, *below) = new_figure(2 + bool(booked))
        lifted = run[["energy", "gravity_energy"]]
        _energies(above, lifted - lifted.isel(time=0), ("energy", "gravity_energy"))
        above.set_ylabel("change since\nthe start (J)")
        _energies(axes, run, tuple(name for name in drawn if name not in lifted))
        axes.set_ylabel("energy (J)")
    figure.legend(loc="outside upper center", ncols=5, columnspacing=1.2, handlelength=1.8)
    if booked:
        (axes,) = below
        _accounts(axes, run, booked)
    axes.set_xlabel(TIME_LABEL)
    return figure


def _energies(axes: Any, run: xr.Dataset, names: tuple[str, ...]) -> None:
    for name in names:
        label, line, colour = ENERGIES[name]
        curve(axes, run.time, run[name], line, color=colour, label=label)


def _accounts(axes: Any, run: xr.Dataset, booked: list[str]) -> None:
    """Works and losses, and the change of energy that they explain."""
    losses = ledger.names(ledger.LOSS)
    for name, colour in zip(booked, itertools.cycle((BLUE, ORANGE, GREEN, RED, SKY)), strict=False):
        line = "--" if name in losses else "-"
        curve(axes, run.time, run[name], line, color=colour, label=name.replace("_", " "))
    axes.plot(run.time, run.energy - run.energy[0], ":", color=BLACK, label="change of $E$")
    axes.set_ylabel("work and loss since\nthe start (J)")
    axes.legend(loc="best", ncols=2)


@of_run("stretched_length", "unstretched_length", "angular_velocity")
def lengths(run: xr.Dataset, line: str | None = None) -> Figure:
    """Stretched and unstretched length of the deployed string, and the second component of Omega.

    Of an assembly, all lines or one by its name, and how fast the bodies turn.
    """
    figure, (above, below) = new_figure(2)
    parts = strings_of(run, line)
    for (name, one), colour in zip(parts.items(), COLOURS, strict=False):
        curve(above, one.time, one.stretched_length, color=colour, label=name or "stretched")
        plain = "" if name else "unstretched"
        above.plot(one.time, one.unstretched_length, "--", color=colour if name else BLACK, label=plain)
    above.set_ylabel("length (m)\ndashed: unstretched" if "" not in parts else "length (m)")
    if "body" in run.dims:
        for (name, rate), look in zip(_turning(run).items(), LOOKS, strict=False):
            curve(below, run.time, rate, **look, label=name)
        below.set_ylabel(r"$|\Omega|$ (rad/s)")
        below.legend(loc="best", ncols=2)
    elif "angular_velocity" in run:
        curve(below, run.time, run.angular_velocity[:, 1], color=ORANGE)
        below.set_ylabel(r"$\Omega_2$ (rad/s)")
    above.legend(loc="best", ncols=2)
    below.set_xlabel(TIME_LABEL)
    widen(below)
    return figure


def _turning(run: xr.Dataset) -> dict[str, xr.DataArray]:
    """How fast the free bodies of an assembly turn (rad/s)."""
    assembly = assembly_of_run(run.attrs)
    assert assembly is not None
    free = [name for name, body in assembly.bodies.items() if isinstance(body, RigidBody)]
    return {name: np.sqrt((run.angular_velocity.sel(body=name) ** 2).sum("axis")) for name in free}


@of_run("energy", "control_work", "angular_momentum", "orthogonality_error", "reeled_length")
def conservation(run: xr.Dataset, *quantities: str) -> Figure:
    """Deviations of what should be kept.

    Parameters
    ----------
    run : Dataset, or path of a run file
    *quantities : {"energy", "momentum", "orthogonality"}
        One panel each; all by default. The momentum is that about the vertical axis; of an assembly, the whole vector,
        which is kept where nothing acts from outside, and left out by default where something does.
    """
    change = run.angular_momentum - run.angular_momentum[0]
    assembly = assembly_of_run(run.attrs)
    momentum = (change, r"$\Delta\pi_3$ (kg m$^2$/s)", GREEN)
    series = {"energy": (balance_error(run), "energy balance error (J)", BLUE)}
    if assembly is not None:
        momentum = (np.sqrt((change**2).sum("axis")), r"$|\Delta\pi|$ (kg m$^2$/s)", GREEN)
    series["momentum"] = momentum
    if assembly is None or "attitude" in run:
        series["orthogonality"] = (_orthogonality(run), r"$\|I-R^TR\|$", RED)
    kept = assembly is None or assembly.is_isolated
    wanted = quantities or tuple(name for name in series if kept or name != "momentum")
    for name in wanted:
        checks.choice("quantities", name, series)
    figure, axes = new_figure(len(wanted))
    for ax, name in zip(axes, wanted, strict=True):
        values, label, colour = series[name]
        curve(ax, run.time, values, color=colour, linewidth=0.8)
        ax.set_ylabel(label)
        ax.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))
        if name == "orthogonality":
            ax.set_ylim(bottom=0.0)
    axes[-1].set_xlabel(TIME_LABEL)
    return figure


def _orthogonality(run: xr.Dataset) -> xr.DataArray:
    """Norm of I - R^T R, of an assembly the largest of its bodies."""
    if "orthogonality_error" in run:
        own: xr.DataArray = run.orthogonality_error
        return own
    R = run.attitude.values
    error = np.linalg.norm(np.swapaxes(R, -1, -2) @ R - np.eye(3), axis=(-2, -1))
    return xr.DataArray(error.max(axis=1), dims="time")


# Strains that are no larger are rounding, and must not fill a map.
UNSTRAINED = 1e-12
# Percentage of the strains that the colours of a map reach over where they part at zero; a few may be far beyond.
MOST = 98.0


@of_run("strain")
def strain_map(run: xr.Dataset, line: str | None = None) -> Figure:
    """Waves in the string: strain over time and place; of an assembly, of all lines or of one by its name.

    Colours part at zero where some strain is negative: blue is pressed together or slack, red is stretched. Else the
    map begins at the least strain, so that waves on a stretched string are seen.
    """
    parts = strings_of(run, line)
    figure, panels = new_figure(len(parts))
    for axes, (name, one) in zip(panels, parts.items(), strict=True):
        axes.grid(False)
        N = one.sizes["element"]
        strain = one.strain.values
        there = strain[np.isfinite(strain)]
        pressed = len(there) > 0 and float(there.min()) < -UNSTRAINED
        reach = max(float(np.percentile(np.abs(there), MOST)), UNSTRAINED) if pressed else 0.0
        beyond = "both" if pressed and float(np.abs(there).max()) > reach else "neither"
        colours: Any = {"vmin": -reach, "vmax": reach, "cmap": DIVERGING} if pressed else {"cmap": STRAIN_MAP}
        places = (np.arange(N) + 0.5) / N
        picture = axes.pcolormesh(one.time, places, strain.T, shading="nearest", rasterized=True, **colours)
        figure.colorbar(picture, ax=axes, label="strain, 0 in the middle" if pressed else "strain", extend=beyond)
        axes.set_yticks(
            [0.0, 0.5, 1.0], [_end(x) for x in (ends_of(one.attrs)[0], "the middle", ends_of(one.attrs)[1])]
        )
        axes.set_ylim(1.0, 0.0)
        axes.set_ylabel(f"string {name}" if name else "along the string")
    panels[-1].set_xlabel(TIME_LABEL)
    return figure


def _end(words: str) -> str:
    """In as few words as an axis has room for."""
    return words.removeprefix("the ").replace(" (", "\n(")


@of_run("tension")
def tension(run: xr.Dataset, line: str | None = None) -> Figure:
    """Tension at the guide entrance, in the middle and at the body.

    The largest along the string is marked, times in which some part of the string is slack are shaded, and a breaking
    load that is less than twice that is a line. Of an assembly with several lines, the largest tension along each of
    them, or one string by its name.
    """
    figure, (axes,) = new_figure()
    parts = strings_of(run, line)
    if len(parts) > 1:
        for (name, one), look in zip(parts.items(), LOOKS, strict=False):
            highest = np.maximum(one.tension.max("element"), np.maximum(one.guide_tension, one.body_tension))
            curve(axes, one.time, highest, **look, label=name, linewidth=0.9)
        axes.set_ylabel("largest tension along\neach string (N)")
    else:
        ((_, one),) = parts.items()
        _tensions(axes, one)
        axes.set_ylabel("tension (N)")
    axes.set_xlabel(TIME_LABEL)
    figure.legend(loc="outside upper center", ncols=3)
    return figure


def _tensions(axes: Any, run: xr.Dataset) -> None:
    """Tensions of one string at both ends and in the middle."""
    last = run.sizes["element"] - 1
    start, end = ends_of(run.attrs)
    curves = {
        f"at {start}": (run.guide_tension, BLUE),
        "in the middle": (run.tension[:, last // 2], ORANGE),
        f"at {end}": (run.body_tension, GREEN),
    }
    for label, (values, colour) in curves.items():
        curve(axes, run.time, values, color=colour, label=label, linewidth=0.9)
    _loads(axes, run)


def place_in_words(run: xr.Dataset, place: float) -> str:
    """Where on a string something is: at one of its ends, or in an element."""
    start, end = ends_of(run.attrs)
    count = run.sizes["element"]
    return {0.0: f"at {start}", 1.0: f"at {end}"}.get(place, f"in element {int(place * count)} of {count}")


def _loads(axes: Any, run: xr.Dataset) -> None:
    """Mark the largest tension along the string, times of slack, and the breaking load."""
    peak = peak_of_run(run)
    if CASE not in run.attrs or not np.isfinite(peak.tension):
        return
    label = f"largest, {si(peak.tension, 'N')} {place_in_words(run, peak.place)}"
    axes.plot(float(run.time[peak.row]), peak.tension, "v", color=RED, markersize=5, label=label)
    for k, (begin, end) in enumerate(zip(*(slack_events(run)[x].values for x in ("begin", "end")), strict=True)):
        axes.axvspan(begin, end, color=BLACK, alpha=0.1, linewidth=0, label=None if k else "some of it slack")
    limit = string_of(run.attrs).breaking_load
    if limit is not None and limit < 2.0 * peak.tension:
        axes.axhline(limit, color=RED, linestyle="--", linewidth=0.9, label="breaking load")


@of_run("reel_speed")
def drive(run: xr.Dataset, line: str | None = None) -> Figure:
    """What the motor does: speed of the reel and, where the run has them, torque on the drum and power.

    Of an assembly, of all reels or of the one of a string by its name.
    """
    panels = {
        "reel_speed": ("reel speed (m/s)\nretrieval positive", BLUE),
        "torque": ("torque on the\ndrum (N m)", ORANGE),
        "power": ("power of the\nmotor (W)", RED),
    }
    assembly = assembly_of_run(run.attrs)
    parts = strings_of(run, line)
    if assembly is not None and line is None:
        reels = [name for name in parts if assembly.lines[name].reel is not None]
        parts = {name: parts[name] for name in reels} or parts
    shown = [name for name in panels if name == "reel_speed" or any(known(one, name) for one in parts.values())]
    figure, axes = new_figure(len(shown))
    for ax, name in zip(axes, shown, strict=True):
        label, own = panels[name]
        for (line, one), look in zip(parts.items(), LOOKS if len(parts) > 1 else [{"color": own}], strict=False):
            curve(ax, one.time, one[name], **look, linewidth=0.9, label=line if name == "reel_speed" else None)
        ax.set_ylabel(label)
    if len(parts) > 1:
        figure.legend(loc="outside upper center", ncols=4)
    axes[-1].set_xlabel(TIME_LABEL)
    return figure
