"""The paper's numerical section from nothing: figures, animations, claims, and a report in one HTML file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import xarray as xr

from tautline import figures
from tautline.durable import json_text
from tautline.extras import need
from tautline.figures.animation import require_video
from tautline.figures.printing import find_browser, write_page
from tautline.paper import claims, tumbling
from tautline.paper.examples import EXAMPLES
from tautline.paper.report import SHOWN, Found, render

# Interval and end of the snapshots, and what each conservation panel of the paper shows.
SNAPSHOTS = {1: (0.2, 5.0), 2: (0.4, 8.0), 3: (0.5, 10.0)}
CONSERVED = {1: ("energy", "momentum"), 2: ("energy", "orthogonality"), 3: ("orthogonality",)}
Say = Callable[[str], None]


def panels(number: int, run: xr.Dataset) -> dict[str, Any]:
    """The four panels of one of the paper's figure groups."""
    every, until = SNAPSHOTS[number]
    return {
        "snapshots": figures.snapshots(run, every, until),
        "energy": figures.energy(run),
        "lengths": figures.lengths(run),
        "conservation": figures.conservation(run, *CONSERVED[number]),
    }


def reproduce(
    folder: Path,
    *,
    animations: bool = True,
    full: bool = False,
    project: str = "",
    pdf: Path | None = None,
    say: Say = print,
) -> Path:
    """Write everything into a folder; the path of the report.

    `full` adds the comparison with general integrators over a million steps, the work-precision diagram, and MP4
    animations; it takes some minutes and needs the extra [numba], and [video] for animations. `project` stands in the
    head of the report; `pdf` is a file that it is also printed to, by Chromium or Chrome.
    """
    if pdf is not None:
        find_browser()  # what is missing is reported now
    if full:
        # what is missing is reported now, not after minutes
        need("tautline.paper.comparison", "tautline reproduce --full")
        if animations:
            require_video()
    folder.mkdir(parents=True, exist_ok=True)
    say("running the three examples by three methods")
    runs = claims.all_runs()
    rows = claims.table(runs)
    say("example 1 by other steps and orders, and from starts that differ by rounding")
    groups = tumbling.spread()
    verdicts = claims.verdicts_in_words(rows, {claims.TUMBLING: tumbling.sentence(groups)})
    starts = {group.name: [x.start for x in group.onsets] for group in groups}
    found = {"verdicts": verdicts, "claims": rows, "start_of_tumbling": starts}
    (folder / "claims.json").write_text(json_text(found), encoding="utf-8")
    figures.save(tumbling.figure(groups), folder / "tumbling")
    for example in EXAMPLES:
        run = runs[SHOWN][example.number]
        say(f"example {example.number}: figures" + (" and animation" if animations else ""))
        for name, figure in panels(example.number, run).items():
            figures.save(figure, folder / f"example-{example.number}-{name}")
        if animations:
            figures.animate(run, folder / f"example-{example.number}.gif", frames=70)
            if full:
                # in real time
                film = folder / f"example-{example.number}.mp4"
                figures.animate(run, film, frames=int(25 * example.duration), rate=25.0, size=(9.6, 5.4), dpi=100.0)
    compared = _compare(folder, say) if full else None
    report = folder / "report.html"
    write_page(report, lambda: render(folder, Found(runs, rows, verdicts, animations, compared), project), pdf)
    for sentence in verdicts:
        say(sentence)
    say(str(report))
    return report


def _compare(folder: Path, say: Say) -> dict[str, Any]:
    """General integrators against ours: two figures, and the numbers as comparison.json."""
    from tautline.paper import comparison  # needs Numba, which nothing else here does

    trials = []
    for source in (comparison.long_trials, comparison.reel_trials):
        for trial in source():
            say(f"example {trial.example}, {trial.method}, {trial.setting}: {trial.seconds:.1f} s")
            trials.append(trial)
    say("error against cost at 2 s of examples 1 and 3")
    points = list(comparison.precision())
    figures.save(comparison.long_figure(trials), folder / "long-run")
    figures.save(comparison.precision_figure(points), folder / "work-precision")
    found = {
        "trials": [trial.row() for trial in trials],
        "verdicts": [verdict._asdict() for verdict in comparison.verdicts(trials)],
        "precision": [point._asdict() for point in points],
    }
    (folder / "comparison.json").write_text(json_text(found), encoding="utf-8")
    return found
