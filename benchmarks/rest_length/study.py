"""All runs of the comparison: writes results.json and, from these, pictures and tables of docs/rest-length.md.

`make rest-length`. The runs of other programs come from peers.json, which `make rest-length-peers` writes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.rest_length import model, page, peers, sweep
from benchmarks.rest_length.cases import (
    CASES,
    FINEST,
    MESHES,
    SAMPLE,
    Case,
    Comparison,
    Track,
    compared,
    errors_of,
    length_of,
    rest_length,
    rest_length_step,
    simulated,
    smooth,
)
from benchmarks.rest_length.model import Array
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import tautline as tl
from tautline.figures.style import BLACK, BLUE, GREEN, ORANGE, RED, SKY, styled
from tautline.model.chain.chain import Chain
from tautline.model.chain.hanging import hanging
from tautline.model.chain.state import ChainState

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
IMAGES = ROOT / "docs" / "images"
COLORS = {"follows": ORANGE, "momentum": BLUE, "stays": GREEN}
LABELS = {
    "follows": "rest length, mass follows",
    "momentum": "rest length, momentum form",
    "stays": "rest length, mass stays",
}
TITLES = {"deployment": "example 2, deployment", "retrieval": "example 3, retrieval", "fast": "fast payout"}


Part = Callable[[Track], Array]  # a curve of a track


def grid(rows: int, columns: int, width: float, height: float, **options: Any) -> tuple[Figure, Any]:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def save(figure: Figure, name: str) -> None:
    figure.savefig(IMAGES / f"rest-length-{name}.png", dpi=110)


def tracks(comparison: Comparison) -> list[tuple[str, str, float, Track]]:
    """Label, color, line width and track: ours on top."""
    n = MESHES[-1]
    theirs = [(LABELS[v], COLORS[v], 1.4, comparison.theirs[v][n]) for v in reversed(model.VARIANTS)]
    return [*theirs, ("tautline", BLACK, 1.6, comparison.finest)]


@styled
def draw_over_time(found: dict[str, Comparison], name: str, height: float, parts: dict[str, Part]) -> None:
    """A row for each part, by its label, and a column for each motion."""
    figure, axes = grid(len(parts), 3, 10.0, height)
    for column, (case, comparison) in enumerate(found.items()):
        for label, color, width, track in tracks(comparison):
            for row, part in enumerate(parts.values()):
                axes[row, column].plot(track.time, part(track), color=color, linewidth=width, label=label)
        axes[0, column].set_title(TITLES[case])
        axes[-1, column].set_xlabel("time (s)")
    for row, label in enumerate(parts):
        axes[row, 0].set_ylabel(label)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    save(figure, name)


TENSIONS: dict[str, Part] = {
    "tension at the guide (N)": lambda track: smooth(track.guide_tension),
    "tension at the body (N)": lambda track: smooth(track.body_tension),
}
BALANCES: dict[str, Part] = {
    "spurious energy (J)\n(negative: lost)": lambda track: track.unexplained_energy,
    "angular momentum about\nthe vertical, of the first": lambda track: (
        track.angular_momentum / track.angular_momentum[0]
    ),
    "spurious momentum\n(N s)": lambda track: np.linalg.norm(track.unexplained_momentum, axis=1),
}


@styled
def draw_paths(found: dict[str, Comparison]) -> None:
    figure, axes = grid(2, 3, 10.0, 6.4, gridspec_kw={"height_ratios": [1.5, 1.0]})
    for column, (name, comparison) in enumerate(found.items()):
        finest = comparison.finest
        for label, color, width, track in tracks(comparison):
            axes[0, column].plot(track.end[:, 0], track.end[:, 2], color=color, linewidth=width, label=label)
            if track is not finest:
                away = np.linalg.norm(track.end - finest.end, axis=1)
                axes[1, column].semilogy(track.time[1:], away[1:], color=color, linewidth=width)
        mesh = np.linalg.norm(comparison.ours[MESHES[-1]].end - finest.end, axis=1)
        axes[1, column].semilogy(
            finest.time[1:], mesh[1:], color=BLACK, linestyle=":", label=f"tautline, {MESHES[-1]} elements"
        )
        axes[0, column].set(title=TITLES[name], xlabel="x (m)")
        axes[0, column].invert_yaxis()
        axes[1, column].set(xlabel="time (s)", ylim=(1e-6, 10.0))
    axes[0, 0].set_ylabel("z, down (m)")
    axes[1, 0].set_ylabel("distance from tautline,\n160 elements (m)")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    more = axes[1, 0].get_legend_handles_labels()
    figure.legend(handles + more[0], labels + more[1], loc="outside lower center", ncols=3)
    save(figure, "path")


@styled
def draw_meshes(results: dict[str, Any]) -> None:
    rows = results["cases"]["fast"]
    names = {
        "distance": "distance of the\nattachment point (m)",
        "guide_tension": "tension at the guide\n(of its mean)",
        "energy": "spurious energy\n(of max kinetic)",
        "angular_momentum": "spurious angular\nmomentum (of all)",
    }
    figure, axes = grid(1, 4, 10.0, 3.0)
    for axis, (key, label) in zip(axes[0], names.items(), strict=True):
        axis.loglog(MESHES, [rows["tautline"][str(n)][key] for n in MESHES], "o-", color=BLACK, label="tautline")
        for variant, color in COLORS.items():
            values = [rows[variant][str(n)][key] for n in MESHES]
            axis.loglog(MESHES, np.maximum(values, 1e-17), "s-", color=color, label=LABELS[variant], markersize=4)
        axis.set(title=label, xlabel="elements", xticks=MESHES, xticklabels=map(str, MESHES))
        axis.minorticks_off()
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    save(figure, "mesh")


@styled
def draw_sweep(points: list[dict[str, float]]) -> None:
    figure, axes = grid(1, 3, 10.0, 3.5)
    colors = (SKY, GREEN, ORANGE, RED)
    limits = ((1e-3, 1.0), (1e-5, 0.3))
    for speed, color in zip(sweep.SPEEDS, colors, strict=True):
        chosen = [p for p in points if p["speed"] == speed]
        for axis, x, y in ((axes[0, 0], "swing_predicted", "swing"), (axes[0, 1], "feed", "tension")):
            axis.loglog([p[x] for p in chosen], [abs(p[y]) for p in chosen], "o", color=color, label=f"{speed:g} m/s")
        axes[0, 2].loglog(
            [p["mass_ratio"] for p in chosen],
            [p["distance"] for p in chosen],
            "o-",
            color=color,
            label=f"{speed:g} m/s",
        )
    for axis, ends in zip(axes[0], limits, strict=False):
        axis.loglog(ends, ends, color="0.6", linewidth=1, zorder=0)
    axes[0, 0].set(
        title="energy of the swing", xlabel="predicted: $(M+\\mu L_1/3)/(M+\\mu L_0/3)-1$", ylabel="measured error"
    )
    axes[0, 1].set(
        title="tension at the guide, of the weight", xlabel="predicted: $\\mu L|\\ddot L|/2$ over the weight"
    )
    axes[0, 2].set(title="place of the load (of its swing)", xlabel="mass of string over load, $\\mu L_1/M$")
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, title="largest payout speed"
    )
    save(figure, "sweep")


def vertical() -> dict[str, Any]:
    """The payout of peers.py, by ours and by the three variants."""
    string = tl.String(length=40.0, density=peers.MU, stiffness=peers.EA, law="linear")
    system = Chain(string, tl.Reel(0.5, 0.5, 1.0), tl.RigidBody.point(peers.MASS))
    # coefficients of the polynomial of peers.length, then rest
    T, way = peers.PAYOUT, peers.LONG - peers.SHORT
    rise = (peers.SHORT, 0.0, 0.0, 10.0 * way / T**3, -15.0 * way / T**4, 6.0 * way / T**5)
    command = tl.Length(pieces=((0.0, T), (rise, (peers.LONG, 0.0, 0.0, 0.0, 0.0, 0.0))))

    def start(n: int) -> ChainState:
        return hanging(system, deployed=peers.SHORT, elements=n)

    case = Case("", system, start, command, peers.DURATION)
    tensions: dict[str, Array] = {}
    every = round(peers.EVERY / 0.005)
    for label, n in (("tautline", peers.SEGMENTS), ("tautline, fine", FINEST)):
        run = simulated(system, start(n), command, duration=peers.DURATION, sample=peers.EVERY)
        tensions[label] = run.tension.values[:, 0]
    for variant in model.VARIANTS:
        tensions[variant] = rest_length(case, peers.length, peers.SEGMENTS, variant).tension[::every, 0]
    return {name: [round(float(x), 5) for x in values] for name, values in tensions.items()}


@styled
def draw_peers(tensions: dict[str, Any], theirs: dict[str, Any]) -> None:
    figure, axes = grid(1, 2, 10.0, 3.8, gridspec_kw={"width_ratios": [1.0, 2.0]})
    L, rate, _ = peers.length(peers.TIMES)
    axes[0, 0].plot(peers.TIMES, L, color=BLACK, label="deployed length (m)")
    axes[0, 0].plot(peers.TIMES, rate, color=BLACK, linestyle="--", label="its rate (m/s)")
    axes[0, 0].set(title="prescribed payout", xlabel="time (s)")
    axes[0, 0].legend()
    axis = axes[0, 1]
    axis.plot(peers.TIMES, tensions["tautline, fine"], color=BLACK, linewidth=1.8, label="tautline")
    axis.plot(peers.TIMES, tensions["follows"], color=ORANGE, label=LABELS["follows"])
    marks = {"MoorDyn": (RED, "x"), "Exudyn": (SKY, "+"), "MuJoCo": (GREEN, ".")}
    for name, (color, mark) in marks.items():
        shown = slice(None, None, 8)
        axis.plot(
            peers.TIMES[shown], theirs[name]["tension"][shown], mark, color=color, markersize=6, label=page.PEERS[name]
        )
    axis.set(title="tension at the guide (N)", xlabel="time (s)")
    axis.legend()
    save(figure, "peers")


def half_step() -> float:
    """How far half the step moves the end of the string in the fast payout, at the finest mesh (m)."""
    case = CASES["fast"]
    free = simulated(case.system, case.start(40), case.command, duration=case.duration, sample=SAMPLE)
    curve, _ = length_of(free)
    step = rest_length_step(case, curve, MESHES[-1])
    whole, half = (rest_length(case, curve, MESHES[-1], "follows", h).position[:, -1] for h in (step, 0.5 * step))
    return float(np.abs(whole - half).max())


def rounded(value: float) -> float:
    return float(f"{value:.3g}")


def main() -> None:
    found = {name: compared(case) for name, case in CASES.items()}
    results: dict[str, Any] = {"cases": {}}
    for name, comparison in found.items():
        rows: dict[str, Any] = {}
        for label, meshes in (("tautline", comparison.ours), *comparison.theirs.items()):
            rows[label] = {
                str(n): {
                    key: rounded(value)
                    for key, value in errors_of(track, comparison.finest, comparison.kinetic)._asdict().items()
                }
                for n, track in meshes.items()
                if n in MESHES
            }
        rows["length"] = [rounded(x) for x in (comparison.length[0], comparison.length[-1])]
        rows["follows_energy_end"] = rounded(float(comparison.theirs["follows"][MESHES[-1]].unexplained_energy[-1]))
        results["cases"][name] = rows
    results["half_step"] = rounded(half_step())
    results["sweep"] = [{k: rounded(v) for k, v in p._asdict().items()} for p in sweep.sweep()]
    results["vertical"] = vertical()
    (HERE / "results.json").write_text(json.dumps(results) + "\n", encoding="utf-8")
    draw_over_time(found, "tension", 5.0, TENSIONS)
    draw_over_time(found, "balance", 7.0, BALANCES)
    draw_paths(found)
    draw_meshes(results)
    draw_sweep(results["sweep"])
    draw_peers(results["vertical"], page.read("peers"))
    page.write()


if __name__ == "__main__":
    main()
