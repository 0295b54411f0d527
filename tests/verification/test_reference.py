"""Trajectories against an implementation that shares nothing with this one (README.md beside this file)."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline.model.command import Command
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, check_close
from tests.verification import make_reference

ENTRIES = {e["name"]: e for e in json.loads((Path(__file__).parent / "reference.json").read_text())}
# name in the entry -> (variable, is a velocity)
COMPARED = {
    "reeled_length": ("reeled_length", False),
    "nodes": ("position", False),
    "attitude": ("attitude", False),
    "reel_speed": ("reel_speed", True),
    "node_velocities": ("velocity", True),
    "angular_velocity": ("angular_velocity", True),
}
FIGURES = ("kinetic_energy", "elastic_energy", "gravity_energy", "angular_momentum")


def system(entry: dict[str, Any]) -> tuple[chains.Chain, chains.ChainState, Command]:
    pendulum = chains.Chain(
        string=tl.String(**{"law": "linear", **entry["string"]}),
        reel=tl.Reel(**entry["reel"], guide_law=entry["guide_law"]),
        body=tl.RigidBody(**entry["body"]),
        gravity=entry["gravity"],
    )
    command: Command = tl.Locked() if entry["reel_mode"] == "locked" else tl.Torque(entry["torque"])
    return pendulum, chains.ChainState(**entry["initial"]), command


def about_guide(row: xr.Dataset, entry: dict[str, Any]) -> Any:
    """Angular momentum about the vertical through the guide."""
    moved = np.cross(entry["reel"]["guide_position"], row.linear_momentum.values)
    return (row.angular_momentum.values - moved)[2]


def deviations(run: xr.Dataset, entry: dict[str, Any]) -> tuple[float, float]:
    """Largest deviation of positions and of velocities over all reference times."""
    place = speed = 0.0
    for state in entry["states"]:
        row = run.sel(time=state["time"], method="nearest", tolerance=1e-9)
        for name, (variable, is_velocity) in COMPARED.items():
            ours = row[variable].values
            if name == "nodes":
                ours = ours - np.array(entry["reel"]["guide_position"])
            error = check_close(name, ours, state[name], np.inf)
            place, speed = (place, max(speed, error)) if is_velocity else (max(place, error), speed)
        for name in FIGURES:
            found = row[name].values if name != "angular_momentum" else about_guide(row, entry)
            scale = max(1.0, abs(state[name]))
            check_close(name, found / scale, state[name] / scale, 1e-8)
    return place, speed


@pytest.mark.parametrize(("order", "velocity_bound"), [(4, 1e-6), (6, 1e-7)])
@pytest.mark.parametrize("name", ENTRIES)
def test_trajectory(name: str, order: int, velocity_bound: float, report: Report) -> None:
    entry = ENTRIES[name]
    pendulum, state, command = system(entry)
    run = chains.simulate(pendulum, state, command, duration=entry["times"][-1], step=1e-4, sample=0.05, order=order)
    place, speed = deviations(run, entry)
    report(f"{name}, order {order}: q, s, R", place, "1e-8")
    report(f"{name}, order {order}: velocities", speed, f"{velocity_bound:g}")
    assert place <= 1e-8
    assert speed <= velocity_bound


@pytest.mark.parametrize("name", ["paper-example-3-N6-none", "random-1", "random-2"])
def test_continuous_time_model(name: str, report: Report) -> None:
    """The acceleration form of `reference.py`, integrated by DOP853."""
    entry = ENTRIES[name]
    pendulum, state, command = system(entry)
    run = chains.integrate(pendulum, state, command, duration=entry["times"][-1], sample=0.05)
    place, speed = deviations(run, entry)
    report(f"{name}, DOP853 in acceleration form: q, s, R", place, "1e-8")
    assert place <= 1e-8
    assert speed <= 1e-7


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Numbers and words of a tree by their paths."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else None
    if pairs is None:
        yield path, value
    for key, inner in pairs or ():
        yield from _leaves(inner, f"{path}/{key}")


def regenerated(name: str, report: Report) -> None:
    """Inputs are those of the file, and states as near as two integrations of one problem with one tolerance come.

    Both take the same steps of DOP853, so they differ by the rounding of two ways to evaluate the same equations, which
    waves of the string carry on: 1e-10 m and 1e-8 m/s are what the file is good for, and leave a factor of a hundred.
    """
    entry, made = ENTRIES[name], make_reference.entries()[name]
    given, drawn = dict(_leaves({key: x for key, x in entry.items() if key != "states"})), dict(_leaves(made))
    assert given.keys() == drawn.keys()
    for path, value in given.items():
        # random attitudes are products of matrices, whose last digit is that of the machine's routines
        same = math.isclose(value, drawn[path], rel_tol=4e-15) if isinstance(value, float) else value == drawn[path]
        assert same, f"{path}: {value}, made again {drawn[path]}"
    place = speed = 0.0
    for ours, theirs in zip(make_reference.states(made), entry["states"], strict=True):
        assert ours.keys() == theirs.keys()
        for key, (_, is_velocity) in COMPARED.items():
            error = check_close(key, ours[key], theirs[key], np.inf)
            place, speed = (place, max(speed, error)) if is_velocity else (max(place, error), speed)
        for key in FIGURES:
            scale = max(1.0, abs(theirs[key]))
            check_close(key, ours[key] / scale, theirs[key] / scale, 1e-10)
    report(f"{name}, made again: q, s, R", place, "1e-10")
    report(f"{name}, made again: velocities", speed, "1e-8")
    check_below("positions", place, 1e-10)
    check_below("velocities", speed, 1e-8)


SMALL = [name for name, entry in ENTRIES.items() if entry["elements"] < 10]


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.long
def test_the_generator_gives_the_file(name: str, report: Report) -> None:
    regenerated(name, report)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in ENTRIES if name not in SMALL])
def test_the_generator_gives_the_whole_file(name: str, report: Report) -> None:
    regenerated(name, report)


@pytest.mark.long
def test_the_generator_shares_nothing_with_the_package() -> None:
    """It runs in a process in which tautline cannot be imported."""
    code = "import sys; sys.modules['tautline'] = None; import tests.verification.make_reference as m; m.Model"
    subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=True)


def test_another_start_is_another_trajectory() -> None:
    """The comparison would see a hundredth of a millimeter."""
    entry = json.loads(json.dumps(make_reference.entries()["random-1"]))
    entry["initial"]["nodes"][2][0] += 1e-5
    end = make_reference.states({**entry, "times": [0.2]})[-1]
    assert check_close("nodes", end["nodes"], ENTRIES["random-1"]["states"][1]["nodes"], np.inf) > 1e-6
