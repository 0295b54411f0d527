"""Trajectories against an implementation that shares nothing with this one (README.md beside this file)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline.model.command import Command
from tests.checking import check_close
from tests.conftest import Report

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


def system(entry: dict[str, Any]) -> tuple[tl.Pendulum, tl.State, Command]:
    pendulum = tl.Pendulum(
        string=tl.String(**entry["string"]),
        reel=tl.Reel(**entry["reel"], guide_law=entry["guide_law"]),
        body=tl.RigidBody(**entry["body"]),
        gravity=entry["gravity"],
    )
    command: Command = tl.Locked() if entry["reel_mode"] == "locked" else tl.Torque(entry["torque"])
    return pendulum, tl.State(**entry["initial"]), command


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
            scale = max(1.0, abs(state[name]))
            check_close(name, row[name].values / scale, state[name] / scale, 1e-8)
    return place, speed


@pytest.mark.parametrize(("order", "velocity_bound"), [(4, 1e-6), (6, 1e-7)])
@pytest.mark.parametrize("name", ENTRIES)
def test_trajectory(name: str, order: int, velocity_bound: float, report: Report) -> None:
    entry = ENTRIES[name]
    pendulum, state, command = system(entry)
    run = tl.simulate(pendulum, state, command, duration=entry["times"][-1], step=1e-4, sample=0.05, order=order)
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
    run = tl.reference.integrate(pendulum, state, command, duration=entry["times"][-1], sample=0.05)
    place, speed = deviations(run, entry)
    report(f"{name}, DOP853 in acceleration form: q, s, R", place, "1e-8")
    assert place <= 1e-8
    assert speed <= 1e-7
