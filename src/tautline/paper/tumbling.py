"""When the body of example 1 starts to tumble: the spread over runs that differ by rounding, by step and by order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from tautline.engine.simulate import simulate
from tautline.figures.style import BLUE, GREEN, ORANGE, RED, SKY, new_figure, styled
from tautline.model.system.starts import state_of
from tautline.model.system.state import State
from tautline.paper.examples import EXAMPLES, SAMPLE, STEP, only, run, start, system

PAPER = 7.0  # s
WINDOW = 1.0  # s
SHARE = 1.0 / 3.0  # of the window
# Steps of a sample, from twice to half the paper's step.
DIVISIONS = tuple(range(10, 41, 2))
ROUNDED = 12  # runs of one method whose starts differ by rounding
LAST_BIT = 2.0**-52


class Onset(NamedTuple):
    """The start of the first second of which the body spends a third upside down (s); NaN where there is none."""

    start: float
    turn: float  # when it first goes to the wrong side in that second


class Group(NamedTuple):
    """Runs that differ in one respect."""

    name: str
    onsets: list[Onset]


def onset(result: xr.Dataset) -> Onset:
    """From which time on the center of mass is on the wrong side of the string's end for a third of a second."""
    position = result.position.values
    along = position[:, -1] - position[:, -2]
    center = result.body_position.values - position[:, -1]
    wrong = np.sum(along * center, axis=1) < 0.0
    steps = round(WINDOW / float(result.time[1] - result.time[0]))
    share = np.convolve(wrong, np.ones(steps) / steps)[steps - 1 :][: len(wrong)]
    found = np.flatnonzero(share > SHARE)
    if len(found) == 0:
        return Onset(np.nan, np.nan)
    first = int(found[0])
    turn = first + int(np.argmax(wrong[first:]))
    return Onset(float(result.time[first]), float(result.time[turn]))


def _rounded(order: int, seed: int) -> xr.Dataset:
    """Example 1 from nodes that are moved by about their last bit."""
    example = EXAMPLES[0]
    state = state_of(start(example), system())
    line = state.lines["line"]
    nodes = line.nodes * (1.0 + LAST_BIT * np.random.default_rng(seed).choice([-1.0, 0.0, 1.0], line.nodes.shape))
    moved = State(state.bodies, {"line": replace(line, nodes=nodes)})
    options: dict[str, Any] = {"duration": example.duration, "step": STEP, "sample": SAMPLE, "order": order}
    return simulate(system(), moved, example.command, **options)


def spread() -> list[Group]:
    """Some seventy runs of example 1: rounding at the paper's step, and steps from half to twice of it, by order."""
    groups = []
    for order in (2, 4):
        found = [onset(only(_rounded(order, seed))) for seed in range(ROUNDED)]
        groups.append(Group(f"order {order}, starts that differ by rounding", found))
    for order in (2, 4, 6):
        found = [onset(only(run(1, order=order, step=SAMPLE / n))) for n in DIVISIONS]
        groups.append(Group(f"order {order}, half to twice the step", found))
    return groups


def _range(times: list[float]) -> str:
    low, high = min(times), max(times)
    return f"at {low:.2f} s" if high - low < 0.5 * SAMPLE else f"between {low:.2f} and {high:.2f} s"


def sentence(groups: list[Group]) -> str:
    """Sentence on what the spread says about the paper's 7 s."""
    onsets = [x for group in groups for x in group.onsets]
    starts = [x.start for x in onsets if np.isfinite(x.start)]
    turns = [x.turn for x in onsets if np.isfinite(x.turn)]
    if not starts:
        return f"None of {len(onsets)} runs of example 1 that differ by rounding, step or order tumbles by 10 s."
    inside = "lies" if min(starts) <= PAPER <= max(starts) else "does not lie"
    parts = []
    for group in groups:
        own = [x.start for x in group.onsets if np.isfinite(x.start)]
        missing = len(group.onsets) - len(own)
        never = f" ({missing} of {len(group.onsets)} not by 10 s)" if missing else ""
        parts.append(f"{group.name} {_range(own) if own else 'never'}{never}")
    return (
        f"Over {len(onsets)} runs that differ by rounding, step or order it starts {_range(starts)}, and {PAPER:g} s "
        f"{inside} within: {'; '.join(parts)}. That is when the second begins in which the body is upside down for a "
        f"third of the time; in it the body first turns over {_range(turns)}."
    )


@styled
def figure(groups: list[Group]) -> Figure:
    """Start of tumbling of each run, a line for each group, and the paper's time."""
    result, (axes,) = new_figure(height=2.8)
    axes.axvspan(PAPER - WINDOW, PAPER + WINDOW, color="#EEEEEE", label="within 1 s of it")
    axes.axvline(PAPER, color=RED, label="paper")
    for row, (group, color) in enumerate(zip(groups, (BLUE, GREEN, BLUE, GREEN, SKY), strict=True)):
        height = -row + np.linspace(-0.25, 0.25, len(group.onsets))
        labels = ("start of the second", "first turn in it") if row == 0 else (None, None)
        axes.plot([x.start for x in group.onsets], height, "o", color=color, markersize=3.5, label=labels[0])
        axes.plot([x.turn for x in group.onsets], height, "|", color=ORANGE, markersize=6.0, label=labels[1])
    axes.set_yticks(-np.arange(len(groups)), [group.name for group in groups])
    axes.set_xlabel("start of tumbling, example 1 (s)")
    result.legend(loc="outside upper center", ncols=4)
    return result
