"""Wrong arguments of public functions: errors of tautline's own kind that name the argument."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tests.support.valid import PENDULUM, START


class Odd:
    """An object that cannot even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError


WRONG: list[Any] = [
    *(None, True, -1, 1.5, math.nan, math.inf, 10**400, "", "a\0b", b"x", [], {}, {1: 2}, object(), Odd()),
    *(np.zeros(3), np.array("x"), {1}, PENDULUM),
]
SYSTEM = tl.System(
    {"load": tl.RigidBody.box("2 t", (2.4, 1.2, 1.2), (0, 0, 0.6))},
    {"rope": tl.Line(tl.String("20 m", "2 kg/m", "10 MN", law="linear"), end="load", elements=2)},
)
BODIES = {"load": (0.0, 0.0, 20.62)}


def called(path: Path) -> dict[str, tuple[Callable[..., Any], dict[str, Any], tuple[str, ...]]]:
    """Functions, their right arguments, and which of them are made wrong."""
    run = tl.simulate(PENDULUM, START, duration=0.01)
    return {
        "load": (tl.load, {"name": "bungee", "changes": {}}, ("name", "changes")),
        "open_run": (tl.open_run, {"path": "x"}, ("path",)),
        "resume": (tl.resume, {"path": "x", "watch": None}, ("path", "watch")),
        "run_to_file": (
            tl.run_to_file,
            {"path": path / "x.nc", "system": PENDULUM, "start": START, "duration": 0.01, "overwrite": True},
            ("path", "title", "watch", "overwrite", "start", "system"),
        ),
        "statics": (tl.statics, {"system": PENDULUM, "start": tl.Hanging(1.0)}, ("system", "start")),
        "modes": (tl.modes, {"system": PENDULUM, "start": tl.Hanging(1.0)}, ("system", "start")),
        "Placed": (tl.Placed, {"bodies": BODIES}, ("bodies", "lines")),
        "Case": (
            tl.Case,
            {"system": PENDULUM, "start": START, "commands": {}, "run": tl.Run(duration=1.0)},
            ("system", "start", "commands", "run"),
        ),
        "report": (tl.report, {"run": run, "path": path / "x.html"}, ("path", "title")),
        "fit_report": (tl.figures.fit_report, {"fit": None, "path": path / "x.html"}, ("fit", "path", "title")),
        "open_study": (tl.open_study, {"path": "x"}, ("path",)),
        "resume_study": (tl.studies.resume_study, {"path": "x"}, ("path", "definition", "watch")),
        "GuidePath.of": (tl.motions.GuidePath.of, {"function": None, "duration": 1.0, "interval": 0.5}, ("function",)),
        "Simulation.load": (tl.Simulation.load, {"path": "x"}, ("path",)),
        "Simulation.save": (tl.Simulation(PENDULUM, START).save, {"path": "x"}, ("path",)),
        "Simulation": (tl.Simulation, {"system": SYSTEM, "start": tl.Placed(BODIES)}, ("system", "start", "loads")),
        "view": (tl.view, {"run": run}, ("height", "full")),
    }


@pytest.mark.parametrize(
    "name",
    [
        *("load", "open_run", "resume", "run_to_file", "statics", "modes", "Placed", "Case", "report"),
        *("fit_report", "open_study", "resume_study", "GuidePath.of", "Simulation.load", "Simulation.save"),
        *("Simulation", "view"),
    ],
)
def test_wrong_arguments_are_named(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or they are accepted: None and {} are right for some."""
    monkeypatch.chdir(tmp_path)
    function, right, arguments = called(tmp_path)[name]
    for argument in arguments:
        refused = 0
        for wrong in WRONG:
            try:
                function(**{**right, argument: wrong})
            except tl.errors.TautlineError:
                refused += 1
            except FileNotFoundError:  # of Simulation.load, whose path is a right one
                assert name == "Simulation.load"
        assert refused > len(WRONG) // 3, argument


def test_lengths_have_units_and_limits() -> None:
    def torque(deployed: Any) -> float:
        found: float = tl.statics(PENDULUM, tl.Hanging(deployed)).line.holding_torque
        return found

    assert torque("1 m") == torque(1.0)
    for wrong in (math.nan, math.inf, 1e6, 0.0, "1 kg"):
        with pytest.raises(tl.errors.InputError, match="deployed: expected"):
            torque(wrong)


def test_typos_in_keywords_are_named() -> None:
    with pytest.raises(tl.errors.InputError, match="sampel: no such argument; did you mean 'sample'"):
        tl.simulate(PENDULUM, START, duration=1.0, sampel=0.1)
    with pytest.raises(tl.errors.InputError, match="ordr: no such argument; did you mean 'order'"):
        tl.Simulation(PENDULUM, START, ordr=2)
    with pytest.raises(tl.errors.InputError, match="duration: missing"):
        tl.simulate(PENDULUM, START)
    with pytest.raises(tl.errors.InputError, match="durtion: no such argument"):
        tl.simulate(tl.load("bungee"), durtion=2.0)


def test_parts_of_a_simulation_are_named() -> None:
    simulation = tl.Simulation(SYSTEM, tl.Hanging())
    with pytest.raises(tl.errors.InputError, match=r"^lines: expected one of rope, got 'rop'; did you mean 'rope'\?$"):
        simulation.lines["rop"]
    with pytest.raises(tl.errors.InputError, match=r"^bodies: expected one of load, got 'guide'$"):
        simulation.bodies["guide"]


def test_words_of_numpy_are_words() -> None:
    words = np.array(["none", "tension_only"])
    assert tl.Reel(0.5, 0.5, inertia_mass=1.0, guide_law=words[0]).guide_law == "none"
    assert tl.String(1.0, 1.0, 1.0, law=words[1]).law == "tension_only"


def test_names_have_a_bounded_length() -> None:
    lines = {"rope": SYSTEM.lines["rope"]}
    tl.System({**SYSTEM.bodies, "ü" * 50: tl.RigidBody.point(1.0)}, lines)
    with pytest.raises(tl.errors.InputError, match="names of at most 50 characters"):
        tl.System({**SYSTEM.bodies, "a" * 51: tl.RigidBody.point(1.0)}, lines)
