"""Figures over time."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from tautline import ledger
from tautline.analysis.loads import slack_events
from tautline.figures.source import of_run
from tautline.figures.style import BLACK, BLUE, GREEN, ORANGE, RED, SKY, STRAIN_MAP, new_figure, widen
from tautline.files.runs.given import known
from tautline.model import checks
from tautline.results.conservation import balance_error
from tautline.results.inputs import CASE, pendulum_of

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
        _energies(axes, run, ("kinetic_energy", "rotational_energy", "elastic_energy"))
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
        axes.plot(run.time, run[name], line, color=colour, label=label)


def _accounts(axes: Any, run: xr.Dataset, booked: list[str]) -> None:
    """Works and losses, and the change of energy that they explain."""
    losses = ledger.names(ledger.LOSS)
    for name, colour in zip(booked, itertools.cycle((BLUE, ORANGE, GREEN, RED, SKY)), strict=False):
        line = "--" if name in losses else "-"
        axes.plot(run.time, run[name], line, color=colour, label=name.replace("_", " "))
    axes.plot(run.time, run.energy - run.energy[0], ":", color=BLACK, label="change of $E$")
    axes.set_ylabel("work and loss since\nthe start (J)")
    axes.legend(loc="best", ncols=2)


@of_run("stretched_length", "unstretched_length", "angular_velocity")
def lengths(run: xr.Dataset) -> Figure:
    """Stretched and unstretched length of the deployed string, and the second component of Omega."""
    figure, (above, below) = new_figure(2)
    above.plot(run.time, run.stretched_length, color=BLUE, label="stretched")
    above.plot(run.time, run.unstretched_length, "--", color=BLACK, label="unstretched")
    above.set_ylabel("length (m)")
    above.legend(loc="best", ncols=2)
    below.plot(run.time, run.angular_velocity[:, 1], color=ORANGE)
    below.set_ylabel(r"$\Omega_2$ (rad/s)")
    below.set_xlabel(TIME_LABEL)
    widen(below)
    return figure


@of_run("energy", "control_work", "angular_momentum", "orthogonality_error", "reeled_length")
def conservation(run: xr.Dataset, *quantities: str) -> Figure:
    """Deviations of what should be kept.

    Parameters
    ----------
    run : Dataset, or path of a run file
    *quantities : {"energy", "momentum", "orthogonality"}
        One panel each; all three by default.
    """
    wanted = quantities or ("energy", "momentum", "orthogonality")
    moving = float(run.reeled_length.max() - run.reeled_length.min()) > 0.0
    energy_label = "energy balance error (J)" if moving else "energy error (J)"
    series = {
        "energy": (balance_error(run), energy_label, BLUE),
        "momentum": (run.angular_momentum - run.angular_momentum[0], r"$\Delta\pi_3$ (kg m$^2$/s)", GREEN),
        "orthogonality": (run.orthogonality_error, r"$\|I-R^TR\|$", RED),
    }
    for name in wanted:
        checks.choice("quantities", name, series)
    figure, axes = new_figure(len(wanted))
    for ax, name in zip(axes, wanted, strict=True):
        values, label, colour = series[name]
        ax.plot(run.time, values, color=colour, linewidth=0.8)
        ax.set_ylabel(label)
        ax.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3))
        if name == "orthogonality":
            ax.set_ylim(bottom=0.0)
    axes[-1].set_xlabel(TIME_LABEL)
    return figure


@of_run("strain")
def strain_map(run: xr.Dataset) -> Figure:
    """Waves in the string: strain over time and place, from the guide (0) to the body (1)."""
    figure, (axes,) = new_figure()
    axes.grid(False)
    N = run.sizes["element"]
    picture = axes.pcolormesh(
        run.time, (np.arange(N) + 0.5) / N, run.strain.T, cmap=STRAIN_MAP, shading="nearest", rasterized=True
    )
    figure.colorbar(picture, ax=axes, label="strain")
    axes.set_xlabel(TIME_LABEL)
    axes.set_ylabel("place along the string")
    return figure


@of_run("tension")
def tension(run: xr.Dataset) -> Figure:
    """Tension at the guide entrance, in the middle and at the body.

    Files of older formats do not have those at the ends: the first and the last element are shown instead.

    The largest of them is marked, times in which some part of the string is slack are shaded, and a breaking load that
    is less than twice the largest tension is a line.
    """
    figure, (axes,) = new_figure()
    last = run.sizes["element"] - 1
    at_guide, at_body = known(run, "guide_tension"), known(run, "body_tension")
    curves = {
        "at the guide" if at_guide else "in the first element": (
            run.guide_tension if at_guide else run.tension[:, 0],
            BLUE,
        ),
        "in the middle": (run.tension[:, last // 2], ORANGE),
        "at the body" if at_body else "in the last element": (
            run.body_tension if at_body else run.tension[:, -1],
            GREEN,
        ),
    }
    for label, (values, colour) in curves.items():
        axes.plot(run.time, values, color=colour, label=label, linewidth=0.9)
    _loads(axes, run, [values for values, _ in curves.values()])
    axes.set_xlabel(TIME_LABEL)
    axes.set_ylabel("tension (N)")
    figure.legend(loc="outside upper center", ncols=3)
    return figure


def _loads(axes: Any, run: xr.Dataset, curves: list[xr.DataArray]) -> None:
    """Mark the largest tension of the curves, times of slack, and the breaking load."""
    highest = max(curves, key=lambda x: float(x.max()))
    if CASE not in run.attrs or not np.isfinite(highest).any():
        return
    row = int(np.nanargmax(highest.values))
    time, peak = float(run.time[row]), float(highest[row])
    axes.plot(time, peak, "v", color=RED, markersize=5, label=f"largest, {peak:.5g} N")
    for k, (begin, end) in enumerate(zip(*(slack_events(run)[x].values for x in ("begin", "end")), strict=True)):
        axes.axvspan(begin, end, color=BLACK, alpha=0.1, linewidth=0, label=None if k else "some of it slack")
    limit = pendulum_of(run.attrs).string.breaking_load
    if limit is not None and limit < 2.0 * peak:
        axes.axhline(limit, color=RED, linestyle="--", linewidth=0.9, label="breaking load")


@of_run("reel_speed")
def drive(run: xr.Dataset) -> Figure:
    """What the motor does: speed of the reel and, where the run has them, torque on the drum and power."""
    panels = {
        "reel_speed": ("reel speed (m/s)\nretrieval positive", BLUE),
        "torque": ("torque on the\ndrum (N m)", ORANGE),
        "power": ("power of the\nmotor (W)", RED),
    }
    shown = [name for name in panels if name == "reel_speed" or known(run, name)]
    figure, axes = new_figure(len(shown))
    for ax, name in zip(axes, shown, strict=True):
        label, colour = panels[name]
        ax.plot(run.time, run[name], color=colour, linewidth=0.9)
        ax.set_ylabel(label)
    axes[-1].set_xlabel(TIME_LABEL)
    return figure
