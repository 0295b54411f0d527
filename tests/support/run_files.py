"""Short runs of the paper's examples and of systems, to be written to files."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import tautline as tl
from tautline.files import runs
from tautline.paper.examples import EXAMPLES, start, system


def example(number: int) -> tuple[Any, ...]:
    """An example of the paper."""
    chosen = EXAMPLES[number - 1]
    return system(), start(chosen), chosen.command


def scenario(name: str) -> tuple[Any, ...]:
    return (tl.load(name),)


def bent() -> tuple[Any, ...]:
    """The first example from a state at the end of a motion: a string that is bent, and moves."""
    whole, begun, command = example(1)
    before = tl.Simulation(whole, begun)
    before.advance(2.0, command)
    return whole, before.state, command


# Long enough to be killed in the middle: half a second of work in a few hundred chunks.
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "locked": (partial(example, 1), {"duration": 500.0, "step": 5e-4, "sample": 0.25}),
    "reeling": (partial(example, 3), {"duration": 8.0, "step": 4e-5, "sample": 0.01}),
    "auto": (partial(example, 3), {"duration": 12.0, "step": "auto", "sample": 0.005, "order": 4}),
    "bent": (bent, {"duration": 250.0, "step": 5e-4, "sample": 0.25}),
    "hook-and-load": (partial(scenario, "hook-and-load"), {"duration": 6.0, "sample": 0.02}),
    "hook-block-2": (partial(scenario, "hook-block-2"), {"duration": 4.0, "sample": 0.01}),
    "traction-lift": (partial(scenario, "traction-lift"), {"duration": 6.0, "sample": 0.005}),
}


def arguments(case: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    parts, options = CASES[case]
    return parts(), dict(options)


def short(path: Path, **changes: Any) -> tl.Simulation:
    parts, _ = arguments("locked")
    simulation: tl.Simulation = runs.run_to_file(
        path, *parts, **({"duration": 0.1, "step": 5e-4, "sample": 0.01} | changes)
    )
    return simulation
