"""Warnings and notes of `tautline check`: starts and rests that no rope bears, drives that do not hold, stages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.cli import checking
from tautline.engine.simulation import runner_of
from tautline.files import scenario
from tautline.results.warnings import KINDS
from tests.support.hidden import ROOT

G = 9.81
# a parcel under a drone, 5.83 m below it on 2.9985 m of line
PARCEL = """
gravity = 9.81
[bodies.drone]
kind = "kinematic"
[bodies.parcel]
shape = "point"
mass = "2 kg"
[lines.tether]
start = "drone"
end = "parcel"
length = "20 m"
density = "0.01 kg/m"
{law}
breaking_load = "1 kN"
elements = 6
[lines.tether.reel]
drum_radius = "0.05 m"
guide_length = "0.1 m"
inertia = "0.001 kg*m^2"
[initial.bodies.parcel]
position = [0, 0, 5.83]
[initial.lines.tether]
deployed = "2.9985 m"
[run]
duration = "1 s"
"""
LINEAR = 'stiffness = "40 kN"'
RUBBER = 'law = "table"\nstrains = [0, 1, 3]\ntensions = [0, 100, 400]'
TORQUES = {"command": {"kind": "torque", "torque": "2 kN*m"}}


def told(found: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [warning for warning in found["warnings"] if warning["kind"] == kind]


@pytest.fixture(autouse=True)
def no_outlook(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of the run, which test_checking.py looks at, take most of the time of a check."""
    monkeypatch.setattr(checking, "outlook", lambda case: {"motions": {}, "expected_status": "completed"})
    monkeypatch.setattr(checking, "_step_warnings", lambda found: [])
    for name in ("_step_rows", "_end_rows"):
        monkeypatch.setattr(checking, name, lambda found: {})


@pytest.mark.parametrize("name", scenario.built_in_names())
def test_built_in_scenarios_are_good(name: str) -> None:
    found = checking.facts(tl.load(name))
    assert checking.verdict(found) == "good" and found["warnings"] == [] and found["skipped_stages"] == {}


def test_a_start_that_tears_the_line_is_told() -> None:
    found = checking.facts(scenario.parse(PARCEL.format(law=LINEAR)))
    line, strain = found["lines"]["tether"], 5.83 / 2.9985 - 1.0
    assert line["initial_strain"] == pytest.approx(strain)
    assert line["initial_tension"] == pytest.approx([40e3 * strain] * 2, rel=1e-3)
    assert line["initial_utilization"] == pytest.approx(40.0 * strain, rel=1e-3)
    assert line["tension"] == pytest.approx([2.0 * G, (2.0 + 0.01 * 2.9985) * G]) and line["utilization"] < 0.03
    assert checking.verdict(found) == "valid, with 2 warnings"
    (breaks,), (stretched,) = told(found, "breaking_load"), told(found, "strain")
    assert breaks["value"] == line["initial_utilization"] and breaks["where"] == stretched["where"] == "tether"
    assert stretched["value"] == line["initial_strain"] and stretched["limit"] == 0.5
    rows = checking.rows(found)
    assert "stretched by 94.4 % at the start, from 2.998 m to 5.83 m, with 37.77 kN" in rows["warning"]
    assert rows["line tether"].endswith("starts with 37.77 kN, strain 94.4 %")
    assert all(warning["kind"] in KINDS for warning in found["warnings"])


def test_a_law_that_goes_on_is_not_warned_of() -> None:
    found = checking.facts(scenario.parse(PARCEL.format(law=RUBBER)))
    assert found["lines"]["tether"]["initial_strain"] > 0.9 and checking.verdict(found) == "good"
    further = PARCEL.format(law=RUBBER).replace("[0, 0, 5.83]", "[0, 0, 13]")
    (stretched,) = told(checking.facts(scenario.parse(further)), "strain")
    assert stretched["limit"] == 3.0 and stretched["value"] == pytest.approx(13.0 / 2.9985 - 1.0)


def test_a_stiffness_in_other_units_is_told_once() -> None:
    """Of a start at rest as at rest."""
    found = checking.facts(tl.load("crane-hoist", {"string.stiffness": 5.5}))
    (stretched,) = found["warnings"]
    mean = (1000.0 + 0.5 * 0.98 * 20.0) * G / 5.5
    assert found["lines"]["line"]["stretch"] == pytest.approx(20.0 * mean, rel=1e-6)
    assert "at rest, from 20 m to 36.04 km" in stretched["text"] and "(5.5 N)" in stretched["text"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fixed-length", "starts without tension"),
        ("bungee", "starts with 0 to 4.928 N"),
        ("thrown-bodies", "starts with 30.17 N, strain 0.302 %"),
        ("crane-hoist", None),
        ("hook-block-4", None),
    ],
)
def test_starts_are_described_where_they_are_not_at_rest(name: str, words: str | None) -> None:
    row = next(text for title, text in checking.rows(checking.facts(tl.load(name))).items() if title.startswith("line"))
    assert row.endswith(f"; {words}") if words else "starts" not in row


def test_the_start_of_each_line_over_sheaves_has_its_own_spans() -> None:
    found = checking.facts(tl.load("mine-winder"))["lines"]
    for name, load in (("left", 9000.0), ("right", 6000.0)):
        low, high = found[name]["initial_tension"]
        assert low == pytest.approx(load * G) and high == pytest.approx(found[name]["start_tension"])
    rope = checking.facts(tl.load("gantry"))["lines"]["hoist"]
    assert rope["initial_tension"] == pytest.approx(rope["tension"], rel=1e-6)


@pytest.mark.parametrize(
    "name", ["mine-winder", "traction-lift", "gantry", "hook-and-load", "atwood", "aerostat", "cable-robot"]
)
def test_holding_torques_are_those_of_a_run_with_locked_drives_at_rest(name: str) -> None:
    """Reels in space, on a trolley and on one shaft, and sheaves."""
    case = tl.load(name)
    drives = checking.facts(case)["drives"]
    rest = tl.statics(case.system, case.start, locked=case.locked_sheaves())
    runner = runner_of(tl.Case(rest.system, rest.state, run=tl.Run(duration=1.0)))
    runner.begin({each: tl.Locked() for each in drives}, 1e-4, 1e-4)
    runner.march(1, runner.sampling(1e-4))
    assert drives
    for each, drive in drives.items():
        assert drive["holding_torque"] == pytest.approx(runner.backend.torque(each), rel=1e-4)


def test_reels_at_ends_of_lines_and_against_each_other_on_a_shaft_hold_what_statics_find() -> None:
    case = tl.load(ROOT / "tests/e2e/every_full_key/reeved.toml")
    drives, lines = checking.facts(case)["drives"], tl.statics(case.system, case.start).lines
    assert lines["guy"].holding_torque > 1.0
    expected = {"haul": lines["haul"].holding_torque, "haul.end_reel": lines["haul"].end_holding_torque}
    expected["hoist"] = lines["hoist"].holding_torque - lines["guy"].holding_torque  # it turns the other way
    assert {name: drive["holding_torque"] for name, drive in drives.items()} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "command", "sense"),
    [
        ("crane-hoist", {"kind": "brake", "torque": "1.6 kN*m"}, 1.0),
        ("crane-hoist", {"kind": "brake", "torque": "1.61 kN*m"}, 0.0),
        ("crane-hoist", {"kind": "torque", "torque": "1.59 kN*m"}, 1.0),
        ("crane-hoist", {"kind": "torque", "torque": "1.61 kN*m"}, -1.0),
        ("hook-block-2", {"kind": "brake", "torque": "3.3 kN*m"}, 1.0),
        ("hook-block-2", {"kind": "torque", "torque": "3.6 kN*m"}, -1.0),
    ],
)
def test_drums_do_what_the_notes_say(name: str, command: dict[str, Any], sense: float) -> None:
    case = tl.load(name, {"command": command, "run.duration": "2 s"})
    note = "".join(checking.facts(case)["notes"])
    deployed = tl.simulate(case).unstretched_length.values[:, 0]
    assert np.sign(deployed[-1] - deployed[0]) == sense
    assert ("pay out" in note, "haul in" in note) == (sense > 0.0, sense < 0.0)


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        (
            {"command": {"kind": "brake", "torque": "1 kN*m"}},
            "the brake (1 kN m) has less than the 1.603 kN m that hold the drum at rest: it slips, and the drum will "
            "pay out",
        ),
        (
            {"command": {"kind": "brake", "times": [0, 2], "torques": ["2 kN*m", 0]}},
            "the brake (0 to 2 kN m) slips while it has less than the 1.603 kN m that hold the drum at rest",
        ),
        ({"command": {"kind": "brake", "torque": "2 kN*m"}}, ""),
        ({"command": {"kind": "brake", "torque": "1.5 kN*m"}, "reel.coulomb_friction": "150 N*m"}, ""),
        (TORQUES, "the motor gives 2 kN m at the start, more than the 1.603 kN m that hold the drum at rest: the drum"),
        (TORQUES | {"reel.coulomb_friction": "500 N*m"}, ""),
        (
            TORQUES | {"reel.max_torque": "1 kN*m"},
            "the motor gives 1 kN m at the start, limited by max_torque, less than the 1.603 kN m that hold the drum "
            "at rest: the drum will pay out",
        ),
        ({}, "less than the 1.603 kN m that hold the drum at rest: the drum will begin to pay out"),
        (
            {"command": {"kind": "locked"}, "reel.max_torque": "1 kN*m"},
            "the drum is locked, as by a pawl or a brake; its motor (max_torque 1 kN m) could not hold the 1.603 kN m",
        ),
        ({"command": {"kind": "locked"}, "reel.max_torque": "2 kN*m"}, ""),
        ({"command": {"kind": "free"}}, ""),
    ],
)
def test_brakes_and_motors_that_do_not_hold_are_noted(changes: dict[str, Any], note: str) -> None:
    """They may be meant so: no warnings. A ton and 19.6 kg of rope hang on a drum of 0.16 m."""
    found = checking.facts(tl.load("crane-hoist", changes))
    assert found["drives"]["line"]["holding_torque"] == pytest.approx(1603.0, rel=1e-3)
    assert checking.verdict(found) == "good"
    assert len(found["notes"]) == bool(note) and note in "".join(found["notes"])
    assert ("note" in checking.rows(found)) == bool(note)


@pytest.mark.parametrize(
    ("command", "then"),
    [
        ({"kind": "speed", "retrieval": "0.1 m/s"}, "the run makes it nevertheless"),
        ({"kind": "length", "target": "18 m", "speed": "1 m/s", "acceleration": 1}, "the run makes it nevertheless"),
        ({"kind": "impedance", "length": "20 m", "stiffness": "1 MN/m"}, "the drum will pay out"),
    ],
)
def test_motors_too_weak_for_what_they_hold_are_warned_of(command: dict[str, Any], then: str) -> None:
    case = tl.load("crane-hoist", {"command": command, "reel.max_torque": "1 kN*m"})
    found = checking.facts(case)
    (weak,) = told(found, "motor_torque")
    assert weak["limit"] == 1000.0 < weak["value"] and then in weak["text"] and not found["notes"]
    stronger = checking.facts(case.with_({"reel.max_torque": "1.7 kN*m"}))
    assert not stronger["warnings"]


def test_drives_on_one_shaft_share_their_motor() -> None:
    """Two cages of which one balances the other: the motor has less to hold than each drum."""
    weak = {"lines.left.reel.max_torque": "70 kN*m"}
    (warning,) = told(checking.facts(tl.load("mine-winder", weak)), "motor_torque")
    assert warning["where"] == "left" and "74.23 kN m that hold the drum at rest" in warning["text"]
    assert not checking.facts(tl.load("mine-winder", {"lines.left.reel.max_torque": "80 kN*m"}))["warnings"]


def test_stages_are_told_by_name() -> None:
    found = checking.facts(tl.load("lift-brake", {"command.brake.torque": "2 kN*m", "reel.max_torque": "1 kN*m"}))
    assert [warning["kind"] for warning in found["warnings"]] == ["motor_torque"]
    (note,) = found["notes"]
    assert note.startswith("stage 'brake': the brake (2 kN m) has less than the 2.995 kN m")


def test_sheaves_are_told_which_way_their_rope_runs() -> None:
    brake = {"lines.rope.over.wheel.command": {"kind": "brake", "torque": "5 N*m"}}
    (note,) = checking.facts(tl.load("atwood", brake))["notes"]
    # 2 kg more behind the wheel of 0.5 m, on rope that is stretched by 0.07 %
    assert "9.817 N m that hold the sheave 'rope.wheel'" in note
    assert note.endswith("it slips, and the sheave 'rope.wheel' will let rope run towards the end of the line")


def test_stages_that_end_at_once_are_warned_of() -> None:
    stages = [
        {"kind": "torque", "torque": "2.09 N*m", "until": "unstretched_length < '30 m'"},
        {"kind": "locked", "until": "time < 5"},
        {"kind": "torque", "torque": "2.09 N*m", "until": "unstretched_length < '8 m'"},
        {"kind": "free"},
    ]
    found = checking.facts(tl.load("retrieval", {"command": stages}))
    assert found["skipped_stages"] == {"line": ["0", "1"]}
    first, second = told(found, "stage")
    assert "stage '0' of 'line' is skipped" in first["text"] and "unstretched_length < '30 m'" in first["text"]
    assert "'time < 5'" in second["text"] and checking.verdict(found) == "valid, with 2 warnings"
    assert found["notes"][0].startswith("stage '2': the motor gives 2.09 N m")


def test_an_orbit_has_no_rest_in_plain_words() -> None:
    found = checking.facts(tl.load("tethered-satellites"))
    assert found["rest"] == "not looked for: in an orbit nothing stays at rest" and found["drives"] == {}
