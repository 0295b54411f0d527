"""Measurements that a run with known values might have given, with noise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import tautline as tl
from tests.support import chains

TRUTH = {"string.stiffness": 200.0, "string.viscosity": 2.0, "body.mass": 1.0, "fluid.drag_area": 0.5}
START = {"string.stiffness": 150.0, "string.viscosity": 3.0, "body.mass": 1.2, "fluid.drag_area": 0.3}
NOISE = {"start_tension": 0.3, "position[-1,x]": 0.01}
UNITS = {"time": "s", "start_tension": "N", "position[-1,x]": "m"}


def small_case(**run: Any) -> tl.Case:
    """A ball on a soft string that swings and bounces in air; it has the values of `TRUTH`."""
    return tl.Case.from_dict(
        {
            "title": "Ball",
            # by the linear law: a start that is exactly unstretched is on the edge of being slack
            "string": {"length": 5.0, "density": 0.05, "stiffness": 200.0, "viscosity": 2.0, "law": "linear"},
            "reel": {"drum_radius": 0.2, "guide_length": 0.5, "inertia_mass": 1.0},
            "body": {"shape": "point", "mass": 1.0},
            "fluid": {"density": 1.2, "drag_area": 0.5},
            "initial": {"kind": "straight", "deployed": 2.0, "direction": [1.0, 0.0, 1.0]},
            "command": {"kind": "locked"},
            "run": {"duration": 3.0, "elements": 4, "sample": 0.03} | run,
        }
    )


def measured(case: tl.Case, seed: int | None = 1, delay: float = 0.0) -> dict[str, Any]:
    """Series of `UNITS` from a run; noise as in `NOISE` unless `seed` is None; the clock is late by `delay`."""
    run = chains.simulate(case)
    columns = {"start_tension": run.start_tension.values, "position[-1,x]": run.position.values[:, -1, 0]}
    if seed is not None:
        chance = np.random.default_rng(seed)
        columns = {name: x + chance.normal(0.0, NOISE[name], len(x)) for name, x in columns.items()}
    return {"time": run.time.values - delay, **columns}


def write_csv(data: dict[str, Any], path: Path, units: dict[str, str] | None = None, digits: int = 9) -> Path:
    """A file of measurements; NaN as empty cells. Names of components have commas, and so quotes."""
    units = UNITS if units is None else units
    rows = [[f'"{name}"' for name in data], [units[name] for name in data]]
    for values in zip(*data.values(), strict=True):
        rows.append(["" if np.isnan(x) else f"{x:.{digits}g}" for x in values])
    path.write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
    return path
