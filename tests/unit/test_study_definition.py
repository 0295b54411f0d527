"""Words of a study file, and how mistakes in it are told before anything runs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tautline as tl
from tautline import errors
from tautline.errors import InputError
from tautline.files import scenario
from tautline.files.scenario import built_in_names
from tautline.studies.definition import definition
from tautline.studies.definition.work import REFUSED
from tautline.studies.execution.compute import compute

FILE = """
title = "A study"
scenario = "fixed-length"
outputs = ["max tension"]

[set]
run.duration = "0.1 s"
"initial.end_velocity[2]" = "1 m/s"

[vary]
string.stiffness = ["20 N", "30 N"]
"body.mass" = ["100 g", "0.2 kg"]
"""


def test_a_file_and_a_mapping_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(FILE, encoding="utf-8")
    mapping = {
        "scenario": "fixed-length",
        "outputs": ["max tension"],
        "set": {"run.duration": 0.1, "initial.end_velocity[2]": 1.0},
        "vary": {"string.stiffness": [20, 30], "body.mass": [0.1, 0.2]},
    }
    one, two = definition.read(tmp_path / "study.toml"), definition.read(mapping)
    assert one.plan() == two.plan()
    assert one.title == "A study"
    scenario = one.work.scenario
    assert scenario["run"]["duration"] == 0.1 and scenario["initial"]["end_velocity"] == [0.0, 0.5, 1.0]
    assert one.table["body.mass"].tolist() == [0.1, 0.2]


def test_a_key_without_a_section_takes_a_range() -> None:
    vary = {"gravity": {"from": 9.0, "to": 10.0, "points": 3}}
    made = definition.read({"scenario": "fixed-length", "vary": vary, "outputs": ["max tension"]})
    assert made.table["gravity"].tolist() == [9.0, 9.5, 10.0]


def test_a_scenario_beside_the_study_file(tmp_path: Path) -> None:
    text = scenario.read(scenario.find("retrieval")).replace("title =", "title = 'mine' #")
    (tmp_path / "retrieval-of-mine.toml").write_text(text, encoding="utf-8")
    changed = FILE.replace("fixed-length", "retrieval-of-mine.toml")
    (tmp_path / "study.toml").write_text(changed, encoding="utf-8")
    assert definition.read(tmp_path / "study.toml").work.scenario["lines"]["line"]["command"]["kind"] == "torque"


@pytest.mark.parametrize("name", built_in_names())
def test_every_scenario_survives_the_way_into_the_store(name: str) -> None:
    """Plain values through JSON: the same system, start, commands and settings."""
    made = definition.read({"scenario": name, "vary": {"run.order": [2]}, "outputs": ["final energy"]})
    plain = json.loads(json.dumps(made.work.scenario))
    one, two = tl.load(name), tl.Case.from_dict(plain)
    assert one.with_(title="", description="") == two
    for line, x in one.state().lines.items():
        assert np.array_equal(x.nodes, two.state().lines[line].nodes)
    assert definition.work_of(json.loads(json.dumps(made.plan()))) == made.work


def test_keys_that_only_fit_together() -> None:
    """An azimuth needs an inclination; here both are varied."""
    base = {"kind": "straight", "deployed": 8}
    made = definition.read(
        {
            "scenario": "fixed-length",
            "set": {"initial": base, "run.duration": 0.01},
            "vary": {"initial.azimuth": [0.1, 0.2], "initial.inclination": [0.3]},
            "outputs": ["final energy"],
        }
    )
    assert made.work.scenario["initial"]["azimuth"] == 0.1
    values = {"initial.azimuth": np.array([0.1, 0.2]), "initial.inclination": np.array([0.3, 0.3])}
    assert compute(made.work, values).status.tolist() == [0, 0]


CHANGES: list[tuple[dict[str, Any], str]] = [
    ({"vary": {"string.stifness": [1]}}, r"string.stifness: no such key; did you mean 'stiffness'\?"),
    ({"vary": {"strin.stiffness": [1]}}, r"strin: no such key; did you mean 'string'\?"),
    ({"vary": {"string.stiffness": ["20 m"]}}, "string.stiffness: expected a force such as 3 or '3 N', got '20 m'"),
    ({"vary": {"string.stiffness": ["20 N", "20 m"]}}, "vary: string.stiffness: expected a force.*got '20 m'"),
    ({"vary": {"string.stiffness": {"from": "20 N", "to": "80 kg"}}}, "vary: string.stiffness: .*got '80 kg'"),
    ({"vary": {"reel.guide_law": ["none", "nothing"]}}, "vary: reel.guide_law: expected 'dissipative'.*got 'nothing'"),
    ({"vary": {"reel.guide_law": {"from": 1, "to": 2}}}, "reel.guide_law: expected 'dissipative'"),
    ({"vary": {"run.elements": [5, 5.5]}}, "vary: run.elements: expected 'auto' or a whole number, got 5.5"),
    ({"vary": {"run.elements": {"from": 5, "to": 9}}}, "vary.run.elements: expected a list.*count"),
    ({"vary": {"initial.end_velocity[3]": [1]}}, r"initial.end_velocity\[3\]: expected a component from 0 to 2, got 3"),
    ({"vary": {"body.mass[0]": [1]}}, r"body.mass\[0\]: expected body.mass to be a list"),
    ({"vary": {"a b": [1]}}, "a b: expected a key of a scenario such as string.stiffness"),
    (
        {"vary": {"command.torque": [1]}},
        "command.torque: no such key with kind = 'locked', only with 'brake', 'torque'",
    ),
    ({"vary": {}}, "vary: expected at least one key"),
    ({"vary": 3}, "vary: expected a section"),
    ({"vary": {"body.mass": [1], "body": {"mass": [1]}}}, "body.mass: expected once, got twice"),
    ({"vary": {"initial.end_velocity": [[0, 0, 0]]}}, r"vary.initial.end_velocity: expected single values; vary comp"),
    ({"vary": {"body.mass": 3}}, "vary.body.mass: expected a list of values, or a table with from and to"),
    ({"vary": {"body.mass": []}}, "vary.body.mass: expected a list"),
    ({"vary": {"body.mass": {"from": 3}}}, "vary.body.mass: expected from, to, or values; to is missing"),
    ({"vary": {"body.mass": {"from": 3, "to": 2}}}, "vary.body.mass: expected from to be less than to, got 3 and 2"),
    ({"vary": {"body.mass": {"from": 1, "to": 2, "step": 1}}}, "vary.body.mass.step: no such key; expected"),
    ({"vary": {"body.mass": {"from": -1, "to": 2, "scale": "log"}}}, "vary.body.mass.from: expected a positive"),
    ({"vary": {"body.mass": {"from": 1, "to": 2, "scale": "cubic"}}}, "vary.body.mass.scale: expected one of"),
    ({"vary": {"body.mass": {"distribution": "gauss", "mean": 1}}}, "vary.body.mass.distribution: expected one of"),
    ({"vary": {"outputs": ["max tension"]}}, r"vary.outputs: no key of a scenario; move `outputs = ...` above"),
    ({"set": {"body.mass": 1}, "vary": {"body.mass": [1]}}, "body.mass: expected to be set or to be varied, got both"),
    ({"set": {"body.mas": 1}}, r"body.mas: no such key; did you mean 'mass'\?"),
    ({"scenario": "fixed-lenght"}, None),  # type: ignore[list-item]
    ({"scenario": 3}, "scenario: expected the name of a built-in scenario, a file or a Case, got 3"),
    ({"output": []}, r"output: no such key in a study; did you mean 'outputs'\?"),
    ({"outputs": []}, "outputs: expected a list such as"),
    ({"outputs": ["max tention"]}, r"outputs\[0\].variable: expected a variable of a run.*did you mean 'tension'"),
    ({"outputs": ["largest tension"]}, r"outputs\[0\].reduce: expected one of"),
    ({"outputs": ["max tension", "max tension"]}, r"outputs\[1\]: expected another name than 'max_tension'"),
    ({"outputs": ["energy[1]"]}, r"outputs\[0\].variable: expected fewer components in the brackets"),
    ({"outputs": [{"variable": "tension", "node": 1}]}, r"outputs\[0\].node: no such key; expected one of name"),
    ({"outputs": ["tension[20]"]}, r"outputs\[0\].variable: expected element -20 to 19, got 20"),
    ({"outputs": ["position.w"]}, r"outputs\[0\].variable: expected a component .x, .y or .z, got .w"),
    ({"outputs": [{"variable": "energy", "at": "20 s"}]}, r"outputs\[0\].at: expected times from 0 to 10 s, got 20 s"),
    ({"outputs": [{"variable": "energy", "at": "15 ms"}]}, r"outputs\[0\].at: expected a multiple of run.sample"),
    ({"outputs": [{"variable": "energy", "at": "2 m"}]}, r"outputs\[0\].at: expected a time such as 3"),
    ({"outputs": [{"variable": "energy", "reduce": "max", "at": 1}]}, r"outputs\[0\].at: expected together with"),
    (
        {"outputs": [{"variable": "energy", "reduce": "final", "start": 1}]},
        r"outputs\[0\].start: expected only with reduce = 'max', 'min' or 'mean', got reduce = 'final'",
    ),
    (
        {"outputs": [{"variable": "energy^2", "reduce": "max", "end": "1 s", "start": "2 s"}]},
        r"outputs\[0\].start: expected a window with samples, which are every 0.01 s from 0 to 10 s, got 2 to 1 s",
    ),
    ({"outputs": [{"variable": "energy", "reduce": "max", "end": "2 m"}]}, r"outputs\[0\].end: expected a time such"),
    ({"outputs": [{"variable": "energy", "name": "status"}]}, r"outputs\[0\].name: expected letters"),
    ({"outputs": [{"reduce": "max"}]}, r"outputs\[0\].variable: missing"),
    ({"vary": {"run.duration": [1, 2]}, "outputs": ["energy"]}, r"outputs\[0\]: expected a reduction"),
    (
        {"vary": {"run.elements": [5, 9]}, "outputs": ["final strain"]},
        r"outputs\[0\]: expected one element to be chosen",
    ),
    ({"table": {"body.mass": [1]}}, "table: expected alone, without vary and design"),
]


@pytest.mark.parametrize(("change", "words"), CHANGES)
def test_mistakes_are_told_by_name(change: dict[str, Any], words: str | None) -> None:
    good = {"scenario": "fixed-length", "vary": {"string.density": [0.02]}, "outputs": ["max tension"]}
    definition.read(good)
    with pytest.raises(InputError) as caught:
        definition.read({**good, **change})
    pattern = "fixed-lenght: .*did you mean 'fixed-length'" if words is None else f"study: {words}"
    assert re.match(pattern, str(caught.value)), str(caught.value)


def test_files_that_are_no_studies(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a scenario and not a study; `tautline run"):
        definition.read(scenario.find("retrieval"))
    (tmp_path / "broken.toml").write_text("scenario = fixed", encoding="utf-8")
    with pytest.raises(InputError, match=r"broken\.toml: not valid TOML"):
        definition.read(tmp_path / "broken.toml")
    with pytest.raises(InputError, match=r"nowhere\.toml: cannot be read"):
        definition.read(tmp_path / "nowhere.toml")


def test_a_table_from_a_file(tmp_path: Path) -> None:
    text = "string.stiffness,body.mass,run.elements,reel.guide_law\n20 N,0.1,5,none\n0.03 kN,0.2,7,momentum\n"
    (tmp_path / "members.csv").write_text(text, encoding="utf-8")
    tree = 'scenario = "fixed-length"\noutputs = ["max tension"]\ntable = "members.csv"\n'
    (tmp_path / "study.toml").write_text(tree, encoding="utf-8")
    made = definition.read(tmp_path / "study.toml")
    assert made.shape == (2,) and made.design.kind == "table"
    assert made.table["string.stiffness"].tolist() == [20.0, 30.0]
    assert made.table["run.elements"].tolist() == [5, 7]
    assert made.table["reel.guide_law"].tolist() == ["none", "momentum"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("string.stiffness,body.mass\n20,0.1\n30\n", "members.csv:3: expected 2 values"),
        ("string.stiffness\n20 m\n", "string.stiffness: expected a force"),
        ("string.stiffness\n20 N\n20 m\n", "string.stiffness: expected a force"),
        ("string.stifness\n20\n", "string.stifness: no such key"),
        ("string.stiffness\n", "string.stiffness has none"),
        ("string.stiffness\n20\nnan\n", "string.stiffness: expected a force"),
        ("body.mass,body.mass\n1,1\n", "expected every key once"),
        ("body.mass,gravity\n1,1\n1,2,3\n", "members.csv: expected a table.* line 3"),
        ("body.mass,gravity\n1,2,3\n", "members.csv:2: expected 2 values, .* got more"),
        ("", "members.csv: expected a table with keys in its first row"),
    ],
)
def test_tables_that_are_refused(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "members.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        definition.read(
            {"scenario": "fixed-length", "outputs": ["max tension"], "table": str(tmp_path / "members.csv")}
        )


@pytest.mark.parametrize("kind", [dict, pd.DataFrame])
def test_a_table_from_python(kind: Any) -> None:
    stiffness = np.linspace(20.0, 30.0, 5)
    columns = {"string.stiffness": stiffness, "body.mass": ["100 g"] * 5}
    made = definition.read({"scenario": "fixed-length", "outputs": ["max tension"], "table": kind(columns)})
    assert made.table["string.stiffness"].tolist() == stiffness.tolist()
    assert made.table["body.mass"].tolist() == [0.1] * 5


def test_tables_with_what_is_no_number() -> None:
    for column, words in (
        ([1.0, np.inf], "expected finite numbers, got inf"),
        ([[1.0], [2.0]], "single values"),
        ([1], "study: table: expected columns of one length"),
    ):
        with pytest.raises(InputError, match=words):
            table = {"body.mass": column, "gravity": [9.0, 9.8]}
            definition.read({"scenario": "fixed-length", "outputs": ["max tension"], "table": table})


HAULED = Path(__file__).parents[1] / "e2e" / "every_full_key" / "ends-retrieved.toml"


def test_short_and_full_keys_say_the_same() -> None:
    """The label is the one that was given; the results do not depend on it."""
    full = {"lines.line.stiffness": [20.0, 30.0], "bodies.body.mass": [0.1, 0.2], "lines.line.elements": [5, 7]}
    spellings = {"lines.line.stiffness": "string.stiffness", "bodies.body.mass": "body.mass"}
    short = {spellings.get(key, "run.elements"): x for key, x in full.items()}
    studies = [
        definition.read(
            {"scenario": "fixed-length", "set": {"run.duration": 0.1}, "table": table, "outputs": ["max tension"]}
        )
        for table in (full, short)
    ]
    assert studies[1].keys == ("string.stiffness", "body.mass", "run.elements")
    one, two = (made.work for made in studies)
    assert two.places == dict(zip(short, full, strict=True)) and one.scenario == two.scenario
    first, second = (compute(made.work, made.table) for made in studies)
    assert first.status.tolist() == [0, 0] and (first.outputs["max_tension"] == second.outputs["max_tension"]).all()


def test_short_keys_of_a_system_with_names_of_its_own() -> None:
    """Members are refused by the keys of the study."""
    made = definition.read(
        {"scenario": str(HAULED), "vary": {"body.mass": ["1 kg", "2 kg"]}, "outputs": ["final body_position"]}
    )
    assert made.keys == ("body.mass",) and made.work.places == {"body.mass": "bodies.box.mass"}
    assert made.work.outputs[0].dims == ("axis",) and made.work.outputs[0].long_name.endswith("third axis down")
    found = compute(made.work, {"body.mass": np.array([1.0, -1.0])})
    assert found.status.tolist() == [errors.FULLY_RETRIEVED, REFUSED]
    assert found.message[1].startswith("body.mass: expected a positive")


def test_one_key_by_two_names() -> None:
    vary = {"string.stiffness": [20.0], "lines.line.stiffness": [20.0]}
    with pytest.raises(InputError, match=r"lines.line.stiffness: expected once, got it again as string.stiffness"):
        definition.read({"scenario": "fixed-length", "vary": vary, "outputs": ["max tension"]})


def test_a_case_as_the_scenario() -> None:
    case = tl.load("retrieval", {"run.duration": "0.1 s"})
    vary = {"string.stiffness": [20.0, 30.0]}
    made = definition.read({"scenario": case, "vary": vary, "outputs": ["max tension"]})
    same = definition.read(
        {"scenario": "retrieval", "set": {"run.duration": 0.1}, "vary": vary, "outputs": ["max tension"]}
    )
    one, two = (compute(x.work, x.table) for x in (made, same))
    assert (one.outputs["max_tension"] == two.outputs["max_tension"]).all()
