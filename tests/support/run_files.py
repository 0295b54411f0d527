"""Short runs of the paper's examples, to be written to files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tautline as tl
from tautline.files import runs
from tautline.paper.examples import EXAMPLES, start, system

# Long enough to be killed in the middle: half a second of work in a few hundred chunks.
CASES: dict[str, dict[str, Any]] = {
    "locked": {"number": 1, "duration": 500.0, "step": 5e-4, "sample": 0.25},
    "reeling": {"number": 3, "duration": 8.0, "step": 4e-5, "sample": 0.01},
    "auto": {"number": 3, "duration": 12.0, "step": "auto", "sample": 0.005, "order": 4},
}


def arguments(case: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    options = dict(CASES[case])
    example = EXAMPLES[options.pop("number") - 1]
    return (system(), start(example), example.command), options


def short(path: Path, **changes: Any) -> tl.Simulation:
    parts, _ = arguments("locked")
    simulation: tl.Simulation = runs.run_to_file(
        path, *parts, **({"duration": 0.1, "step": 5e-4, "sample": 0.01} | changes)
    )
    return simulation
