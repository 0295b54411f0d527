"""A share of `make trial`: other random pendulums than those that it begins with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.trial.__main__ import read, summary, trial
from tests.trial.judge import in_vain, silent, stopped_in_vain, wrong

FIRST = 100_000
# Steps times elements of a run: the quick ones.
BUDGET = 4e4
# Wrong without a warning; whoever mends one takes it out of here.
KNOWN: set[int] = set()


@pytest.mark.parametrize("count", [15, pytest.param(300, marks=pytest.mark.long)])
def test_random_pendulums_are_right_or_say_so(count: int) -> None:
    """None is wrong against a quarter of its step and twice its mesh without a warning, and none holds NaN."""
    verdicts: list[dict[str, Any]] = []
    number = FIRST
    while len(verdicts) < count:
        verdict = trial("pendulums", number, BUDGET)
        number += 1
        if verdict is not None and "warnings" in verdict:
            verdicts.append(verdict)
    found = summary(verdicts)
    print(json.dumps(found))
    bad = [v for v in verdicts if silent(v) or stopped_in_vain(v) or not v["finite"]]
    assert {v["number"] for v in bad} == KNOWN & {v["number"] for v in verdicts}, bad
    assert found["wrong (positions, attitude or peak tension)"] > 0  # the finer mesh shows errors that a step does not
    assert sum(in_vain(v) for v in verdicts) <= max(1, 0.03 * count)  # cheap ones have few elements, and most warnings


def test_systems_are_tried_too() -> None:
    """One that is cheap is judged, and one beyond the budget is left out and counted."""
    verdict = trial("systems", 4, 1e5)
    assert verdict is not None and verdict["status"] == "completed" and verdict["moved"] < 1e-4
    left_out = trial("systems", 4, 1.0)
    assert left_out is not None
    assert summary([verdict, left_out])["left out, too expensive"] == 1


@pytest.mark.parametrize("number", [0, 1])
def test_lines_over_sheaves_are_tried_too(number: int) -> None:
    """A hook block and a lift, against a quarter of the step and twice the mesh."""
    verdict = trial("reeved", number, 1e7)
    assert verdict is not None and verdict["status"] == "completed" and verdict["finite"] and not silent(verdict)


def test_a_trial_goes_on_behind_a_line_that_was_cut_off(tmp_path: Path) -> None:
    file = tmp_path / "trial.jsonl"
    file.write_text('{"number": 1, "status": "left out"}\n{"number": 2, "sta')
    assert [v["number"] for v in read(file)] == [1]


def test_warnings_are_judged_by_their_kinds() -> None:
    calm = {"status": "completed", "growth": 1.0, "moved": 0.0, "turned": 0.0, "peak": 0.0}
    assert in_vain(calm | {"warnings": ["mesh_noise"]})
    for true in ("slack", "compression"):
        assert not in_vain(calm | {"warnings": [true]})
    moved = calm | {"peak": 0.1}
    assert silent(moved | {"warnings": ["motor_torque"]}) and not silent(moved | {"warnings": ["mesh_noise"]})


@pytest.mark.parametrize(
    ("kind", "number", "what"),
    [
        ("pendulums", 154, "peak"),  # a current takes hold of a light string at once
        ("pendulums", 434, "turned"),  # a body off its center of mass, on a brake that slips and holds
        ("systems", 206, "peak"),  # noise in mooring lines of 12 elements
        ("pendulums", 808, "peak"),  # a string that rings faster than its bends can follow
        ("systems", 237, "peak"),  # a cable robot, likewise
        ("systems", 386, "peak"),  # curved mooring lines, whose elements are shorter than their arcs
    ],
)
def test_systems_that_were_wrong_without_a_warning_have_one(kind: str, number: int, what: str) -> None:
    verdict = trial(kind, number, 4e5)
    assert verdict is not None and what in wrong(verdict) and not silent(verdict)


@pytest.mark.parametrize(
    ("kind", "number", "warning"),
    [
        ("systems", 344, "mesh_noise"),  # of a mooring line while its tension is far from the largest
        ("pendulums", 1383, "front"),  # that leaves 2 % of the largest tension uncertain
    ],
)
def test_systems_that_were_warned_of_in_vain_are_no_more(kind: str, number: int, warning: str) -> None:
    verdict = trial(kind, number, 1e5)
    assert verdict is not None and verdict["status"] == "completed" and warning not in verdict["warnings"]
    assert max(verdict["moved"], verdict["turned"], abs(verdict["peak"]), verdict["strung"]) < 0.01
