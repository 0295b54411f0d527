"""Programs as users write them: a crane in ten lines, the paper, hook and load, the same as a file."""

from __future__ import annotations

import copy
import math
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError

HOOK_AND_LOAD = """
title = "Hook and load"

[bodies.jib]
kind = "kinematic"
path = {kind = "sine", amplitude = [0, 0, "0.5 m"], period = "8 s"}

[bodies.hook]
shape = "box"
mass = "300 kg"
sides = ["0.5 m", "0.5 m", "0.8 m"]
center_of_mass = [0, 0, "0.4 m"]

[bodies.load]
shape = "box"
mass = "2 t"
sides = ["2.4 m", "1.2 m", "1.2 m"]
center_of_mass = [0, 0, "0.6 m"]

[lines.hoist]
start = "jib"
end = "hook"
elements = 10
string = {length = "60 m", density = "2 kg/m", stiffness = "20 MN"}
reel = {drum_radius = "0.3 m", guide_length = "0.5 m", inertia = "9 kg*m^2"}
command = {kind = "length", target = "12 m", speed = "0.8 m/s", acceleration = "0.2 m/s^2", start = "1 s"}

[lines.sling]
start = "hook"
start_point = [0, 0, "0.8 m"]
end = "load"
elements = 4
string = {length = "4 m", density = "2 kg/m", stiffness = "10 MN"}

[initial]
kind = "hanging"
deployed = {hoist = "20 m"}

[run]
duration = "3 s"
"""


def crane() -> tl.System:
    return tl.System(
        bodies={
            "jib": tl.Kinematic(tl.motions.Sine((0, 0, "0.5 m"), "8 s")),
            "hook": tl.RigidBody.box("300 kg", ("0.5 m", "0.5 m", "0.8 m"), (0, 0, 0.4)),
            "load": tl.RigidBody.box("2 t", ("2.4 m", "1.2 m", "1.2 m"), (0, 0, 0.6)),
        },
        lines={
            "hoist": tl.Line(
                tl.String("60 m", "2 kg/m", "20 MN"),
                start="jib",
                end="hook",
                reel=tl.Reel("0.3 m", "0.5 m", inertia="9 kg*m^2"),
                elements=10,
            ),
            "sling": tl.Line(
                tl.String("4 m", "2 kg/m", "10 MN"), start="hook", start_point=(0, 0, 0.8), end="load", elements=4
            ),
        },
    )


def peaks(run: Any) -> dict[str, float]:
    """One program for one line and for many."""
    return {str(name): float(run.end_tension.sel(line=name).max()) for name in run.line.values}


def test_a_crane_in_ten_lines(tmp_path: Path) -> None:
    hoist = tl.pendulum(
        string=tl.String("60 m", "0.98 kg/m", "8.5 MN", damping_ratio=0.05),
        reel=tl.Reel("0.16 m", "1 m", inertia="12 kg*m^2"),
        body=tl.RigidBody.box("1 t", ("1.2 m", "1 m", "0.9 m"), (0.05, 0.02, 0.8)),
    )
    command = tl.Length.to("8 m", speed="1 m/s", acceleration="0.5 m/s^2")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = tl.simulate(hoist, tl.Hanging("20 m"), command, duration="15 s")
    assert tl.warnings_of(run) == [] and run.attrs["status"] == "completed"
    assert float(run.unstretched_length[-1, 0]) == pytest.approx(8.0, abs=1e-9)
    words = tl.summary(run).splitlines()
    assert words[0].split() == ["status", "completed"] and words[-1] == "completed at t = 15 s"
    for end in ("start", "end"):
        assert any(f"tension at {end}" in line and "N" in line for line in words)
    weight = 1000.0 * 9.81
    assert peaks(run)["line"] > weight and peaks(run) == {"line": float(run.end_tension.max())}
    page = tl.view(run).save(tmp_path / "crane.html")
    assert page.read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html")
    words = repr(tl.case_of(run)).splitlines()
    assert words[1:3] == ["  bodies: body (1000 kg)", "  lines: line (60 m, anchor to body, reel)"]
    assert words[4:] == ["  commands: line (Length)", "  run: 15 s, step auto"]
    assert repr(hoist) == "\n".join(["System: gravity 9.81 m/s^2", *words[1:3]])


def test_the_paper_in_the_form_of_every_system() -> None:
    pendulum = tl.pendulum(
        string=tl.String(100.0, 0.025, 40.0, law="linear"),
        reel=tl.Reel(drum_radius=0.5, guide_length=0.5, inertia_mass=1.0),
        body=tl.RigidBody.elliptic_cylinder(mass=0.1, semi_axes=(0.5, 0.4), height=0.8, center_of_mass=(0.3, 0.2, 0.4)),
        elements=20,
    )
    aside = math.radians(15)
    start = tl.Straight(10.0, direction=(math.sin(aside), 0, math.cos(aside)), end_velocity=(0, 0.5, 0))
    run = tl.simulate(pendulum, start, tl.Torque(2.09), duration=1.0, step=5e-4, sample=1e-3)
    assert run.tension.dims == ("time", "element") and run.attitude.dims == ("time", "body", "row", "column")
    assert run.squeeze(["line", "body"]).attitude.dims == ("time", "row", "column")
    before = tl.simulate(tl.load("retrieval"), duration=1.0, step=5e-4, sample=1e-3)
    assert np.array_equal(run.position, before.position)


def test_hook_and_load_on_a_heaving_jib_in_python_and_as_a_file(tmp_path: Path) -> None:
    command = tl.Length.to("12 m", speed=0.8, acceleration=0.2, start=1.0)
    run = tl.simulate(crane(), tl.Hanging({"hoist": "20 m"}), {"hoist": command}, duration=3.0)
    file = tmp_path / "crane.toml"
    file.write_text(HOOK_AND_LOAD, encoding="utf-8")
    case = tl.load(file)
    again = tl.simulate(case)
    assert np.array_equal(again.position, run.position)
    assert set(peaks(run)) == {"hoist", "sling"} and peaks(run)["sling"] > 2000.0 * 9.81
    file.write_text(case.to_toml(), encoding="utf-8")
    assert tl.load(file) == case


def test_a_control_loop_is_the_same_for_every_system() -> None:
    sim = tl.Simulation(crane(), tl.Hanging({"hoist": "20 m"}))
    while sim.time < 0.1 - 1e-9:
        hoist = sim.lines["hoist"]
        sim.bodies["load"].push(force=(100.0 * sim.time, 0, 0))
        sim.advance(0.01, {"hoist": tl.Torque(2000 * (1.0 - hoist.speed))})
    run = sim.dataset()
    assert run.sizes["time"] == 11 and float(run.reel_speed.sel(line="hoist")[-1]) < 0.0
    pendulum = tl.pendulum(
        tl.String("60 m", "2 kg/m", "20 MN"), tl.Reel("0.3 m", "0.5 m", inertia="9 kg*m^2"), tl.RigidBody.point("1 t")
    )
    alone = tl.Simulation(pendulum, tl.Hanging("20 m"))
    alone.advance(0.01, tl.Torque(1.0))
    other = copy.deepcopy(alone)
    for each in (alone, other):
        each.body.push(force=(10.0, 0, 0))
        each.advance(0.01)
    assert alone.line.speed < 0.0 < alone.body.velocity[0]
    assert pickle.loads(pickle.dumps(other)).body.position.tolist() == alone.body.position.tolist()
    law = tl.simulate(pendulum, tl.Hanging("20 m"), control=lambda now: 3000.0, period=0.01, duration=0.1)
    assert law.attrs["status"] == "completed"


def test_a_result_says_what_it_was() -> None:
    run = tl.simulate(crane(), tl.Hanging(20.0), duration=0.5)
    case = tl.case_of(run)
    assert list(case.system.lines) == ["hoist", "sling"]
    found = tl.jacobian(case, ["end_tension"], by=["lines.sling.stiffness", "bodies.load.mass"])
    assert found.end_tension.dims == (*run.end_tension.dims, "key")
    stiffer, heavier = (found.end_tension.sel(line="sling", key=key) for key in found.key.values)
    assert float(heavier[0]) == pytest.approx(9.81, rel=1e-3) and abs(float(stiffer[0])) < 1e-3
    assert all(w.kind and w.text for w in (*tl.warnings_of(run), *tl.warnings_of(found)))
    for wrong in (3, run.drop_attrs()):
        with pytest.raises(InputError, match="run: expected a run of simulate"):
            tl.summary(wrong)  # type: ignore[arg-type]


def test_the_best_torques_bring_a_drum_to_rest() -> None:
    pytest.importorskip("casadi")
    winch = tl.pendulum(
        tl.String(20.0, 0.1, 2e4, law="linear"), tl.Reel(0.1, 0.1, 20.0), tl.RigidBody.point(5.0), elements=1
    )
    torques = tl.Torque(([0.0, 0.25, 0.5], [5.0, 5.0, 5.0]))
    case = tl.Case(winch, tl.Hanging(10.0), torques, tl.Run(duration=0.5, sample=0.05))
    best = tl.optimize(
        case,
        vary={"command.torques": (0.0, 10.0)},
        minimize={"integral": "torque^2"},
        subject_to=[tl.objectives.AtEnd("reel_speed", 0.0, within=1e-6)],
        intervals=2,
    )
    assert best.status == "completed", best.message
    assert abs(float(best.run().reel_speed[-1, 0])) < 1e-5


def reeved() -> tl.System:
    rope = tl.String("80 m", "2 kg/m", "20 MN", damping_ratio=0.02)
    return tl.System(
        bodies={
            "block": tl.RigidBody.box("250 kg", (0.6, 0.4, 0.8), (0, 0, 0.4)),
            "load": tl.RigidBody.box("2 t", (2.4, 1.2, 1.2), (0, 0, 0.6)),
        },
        lines={
            "hoist": tl.Line(
                rope,
                start="anchor",
                start_point=(-0.4, 0, 0),
                reel=tl.Reel("0.3 m", "0.5 m", inertia="9 kg*m^2"),
                over={
                    "lower": tl.Sheave(
                        on="block",
                        center=(0, 0, 0),
                        radius="0.25 m",
                        axis=(0, 1, 0),
                        inertia="0.4 kg*m^2",
                        efficiency=0.98,
                    )
                },
                end="anchor",
                end_point=(0.4, 0, 0),
                elements=4,  # each span
            ),
            "sling": tl.Line(
                tl.String("4 m", "2 kg/m", "10 MN", damping_ratio=0.05),
                start="block",
                start_point=(0, 0, 0.8),
                end="load",
                elements=2,
            ),
        },
    )


def test_a_reeved_crane_and_a_driven_sheave() -> None:
    """Where the winch is locked, a driven sheave that lets rope past tilts nothing: falls exchange rope."""
    rest = tl.statics(reeved(), tl.Hanging({"hoist": "40 m"}))
    weight = 9.81 * (2250.0 + 4.0 * 2.0)
    by_hand = 0.5 * weight / np.cos(np.arcsin(0.15 / 20.0)) + 9.81 * 2.0 * 20.0
    assert rest.lines["hoist"].start_tension == pytest.approx(by_hand, rel=2e-3)  # wrap and stretch of the rope
    commands = {"hoist": tl.Locked(), "hoist.lower": tl.Speed(retrieval=((0.0, 0.5, 1.0), (0.0, 0.1, 0.1)))}
    run = tl.simulate(reeved(), tl.Hanging({"hoist": "40 m"}), commands, duration=1.0)
    assert run.attrs["status"] == "completed"
    assert float(run.passed.sel(sheave="hoist.lower")[-1]) == pytest.approx(0.5 * 0.5 * 0.1 + 0.5 * 0.1, abs=1e-12)
    assert float(np.ptp(run.unstretched_length.sel(line="hoist").values)) < 1e-12  # rounding of 40 m
