"""Input of an optimization: keys and bounds, objectives and limits, and the sentences where they are wrong."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError
from tautline.model.expressions import parts_of_system
from tautline.optimal import reading, terms, unknowns


def case() -> tl.Case:
    """A load on a short rope that is pulled up by a table of torques."""
    system = tl.pendulum(
        tl.String(length=10.0, density=0.1, stiffness=1e4, law="linear"),
        tl.Reel(drum_radius=0.1, guide_length=0.1, inertia_mass=1.0),
        tl.RigidBody.point(mass=5.0),
        elements=1,
    )
    torque = tl.Torque(((0.0, 1.0, 2.0), (5.0, 6.0, 5.0)))
    return tl.Case(system, tl.Hanging(deployed=4.0), {"line": torque}, tl.Run(duration=2.0, step=0.01, sample=0.1))


PARTS = parts_of_system(case().meshed().system)


def test_keys_name_parts_of_tables() -> None:
    found = unknowns.read(case(), {"command.torques[1:]": (-8, "9 N*m"), "string.stiffness": {"least": "5 kN"}})
    assert [x.key for x in found.sought] == ["command.torques[1]", "command.torques[2]", "string.stiffness"]
    assert [x.value for x in found.sought] == [6.0, 5.0, 1e4]
    assert found.sought[0].most == 9.0 and found.sought[2].least == 5000.0 and math.isinf(found.sought[2].most)
    assert not found.free_time


def test_tables_stretch_with_the_duration() -> None:
    found = unknowns.read(case(), {"command.torques": (-8, 9), "run.duration": (1, 4)})
    changes = found.changes(np.array([1.0, 2.0, 3.0, 4.0]))
    assert [changes[f"command.times[{k}]"] for k in (1, 2)] == [2.0, 4.0]
    assert changes["run.duration"] == 4.0 and changes["command.torques[2]"] == 3.0


@pytest.mark.parametrize(
    ("vary", "words"),
    [
        ({}, "vary: expected keys of the case"),
        ({"command.torque": (0, 1)}, "no such key; did you mean 'command.torques'?"),
        ({"command.torques[7]": (0, 1)}, "expected entries from 0 to 2"),
        ({"command.torques[5:]": (0, 1)}, "names no entry"),
        ({"body.shape": (0, 1)}, "to be a number"),
        ({"body.mass": (5, 1)}, "expected least below most"),
        ({"body.mass": 5}, "a pair (least, most)"),
        ({"body.mass": {"lest": 5}}, "did you mean 'least'?"),
        ({"body.mass": ("3 m", None)}, "expected a mass"),
        ({"command.torques": (0, 1), "command.torques[1]": (0, 1)}, "expected once, got twice"),
    ],
)
def test_wrong_keys_are_refused(vary: Any, words: str) -> None:
    with pytest.raises(InputError) as error:
        unknowns.read(case(), vary)
    assert words in str(error.value) and "\n" not in str(error.value)


def test_bounds_in_python_and_in_files_are_the_same() -> None:
    python = terms.read_bounds(
        [tl.objectives.Limit("start_tension", least=0.0), tl.objectives.AtEnd("reeled_length", "6 m", within="1 cm")],
        PARTS,
    )
    tables = [{"limit": "start_tension", "least": "0 N"}, {"at_end": "reeled_length", "value": 6, "within": 0.01}]
    assert [(x.least, x.most, x.at_end) for x in python] == [(0.0, math.inf, False), (5.99, 6.01, True)]
    assert [(x.least, x.most, x.at_end) for x in terms.read_bounds(tables, PARTS)] == [
        (0.0, math.inf, False),
        (5.99, 6.01, True),
    ]
    assert str(python[1]) == "reeled_length should be within 5.99 and 6.01 at the end"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (tl.objectives.Limit("torque", least=0.0), "a list of limits"),
        ([tl.objectives.Limit("torque")], "subject_to[0]: expected least or most"),
        ([tl.objectives.AtEnd("torque")], "a value, least or most"),
        ([tl.objectives.AtEnd("torque", 3.0, least=1.0)], "got both"),
        ([tl.objectives.AtEnd("torque", 3.0, within=-1.0)], "subject_to[0].within"),
        ([tl.objectives.Limit("torque", 5.0, 1.0)], "least below most"),
        ([tl.objectives.Limit("torque^2", most="3 N*m")], "expected a value in kg^2*m^4*s^-4"),
        ([tl.objectives.Limit("torque", most="3 kg")], "expected a torque"),
        ([{"limt": "torque"}], "expected one of limit and at_end"),
        ([{"limit": "torque", "lest": 3}], "did you mean 'least'?"),
        ([5], "a Limit or an AtEnd"),
    ],
)
def test_wrong_bounds_are_refused(given: Any, words: str) -> None:
    with pytest.raises(InputError) as error:
        terms.read_bounds(given, PARTS)
    assert words in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("energy", "'time', or a table"),
        ([], "'time', or a table"),
        ({"integral": "torque", "final": "torque"}, "got final and integral"),
        ({"integrl": "torque"}, "did you mean 'integral'?"),
        ({"integral": "torque", "weight": -1}, "minimize.weight"),
        ([{"peak": "torque"}, {"final": "tork"}], "minimize[1].final"),
    ],
)
def test_wrong_objectives_are_refused(given: Any, words: str) -> None:
    with pytest.raises(InputError) as error:
        terms.read_objective(given, PARTS)
    assert words in str(error.value)


FILE = """
scenario = "lift.toml"
minimize = "time"
intervals = 4
[set]
body.mass = "6 kg"
[vary]
"command.torques[1:]" = ["-8 N*m", 9]
run.duration = { least = "1 s", most = "4 s" }
[[subject_to]]
limit = "start_tension"
least = "0 N"
"""


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('minimize = "time"', "", "minimize: missing"),
        ("intervals", "interval", "did you mean 'intervals'?"),
        ('"lift.toml"', '"lft.toml"', "no such file"),
        ("[vary]", "[vary", "not valid TOML"),
        ('"lift.toml"', "5", "scenario: expected the name"),
    ],
)
def test_wrong_files_are_refused(before: str, after: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "lift.toml").write_text(case().to_toml())
    (tmp_path / "best.toml").write_text(FILE.replace(before, after))
    with pytest.raises(InputError) as error:
        reading.read(tmp_path / "best.toml")
    assert words in str(error.value) and "\n" not in str(error.value)
