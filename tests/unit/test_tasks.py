"""The tasks that a rope engineer comes with: each has a page that asserts its numbers against figures by hand."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "examples" / "gallery"
TASKS = {
    "a crane: peak tension, power, sway": "crane_ride",
    "a package lowered to 300 m: snap, use of the breaking load": "lowering",
    "an aerostat in gusty wind": "aerostat",
    "a lift with an emergency brake": "lift_brake",
    "a drone that lowers a parcel": "drone_parcel",
    "two satellites on a tether": "tethered_satellites",
    "a platform on eight ropes": "eight_ropes",
    "a study with Sobol' indices": "study_sobol",
    "a fit to measurements": "identification",
    "an optimal trolley": "crane_trolley",
    "the paper's third example at 3 N m": "retrieval_torque",
    "a control loop with sensors": "control_loop",
    "a crane on a ship that rolls and pitches": "ship_crane",
    "a gust on a line": "gust_on_a_line",
}


@pytest.mark.parametrize(("task", "page"), TASKS.items(), ids=TASKS.values())
def test_a_task_has_a_page_that_asserts_its_numbers(task: str, page: str) -> None:
    text = (GALLERY / f"{page}.py").read_text(encoding="utf-8")
    asserted = [ast.unparse(x.test) for x in ast.walk(ast.parse(text)) if isinstance(x, ast.Assert)]
    assert any(re.search(r"(<|<=) ", x) for x in asserted), f"{task}: {page} compares no number"
    assert f":doc:`{page}`" in (GALLERY / "GALLERY_HEADER.rst").read_text(encoding="utf-8"), f"{page} is in no group"


def test_the_program_in_c_is_on_its_page_and_compared_with_python() -> None:
    """The thirteenth task: `test_the_example_in_c_finds_what_python_finds` has its numbers."""
    assert "examples/c/hoist.c" in (ROOT / "docs" / "howto" / "c.md").read_text(encoding="utf-8")
    compared = (ROOT / "tests" / "unit" / "test_library.py").read_text(encoding="utf-8")
    assert "def test_the_example_in_c_finds_what_python_finds(" in compared
