"""Sketches of systems and tables of inputs: everything with a name is there, where it is, and on nothing else."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from importlib.resources import files

import numpy as np
import pytest

import tautline as tl
from tautline.model.body import RigidBody
from tautline.model.picture import labels
from tautline.model.picture.inputs import in_words, inputs_of
from tautline.model.picture.sketch import sketch_of_state, sketch_of_system

SCENARIOS = sorted(
    path.name.removesuffix(".toml") for path in (files("tautline") / "scenarios").iterdir() if path.name[-5:] == ".toml"
)


def reeved() -> tl.System:
    rope = tl.String("80 m", "2 kg/m", "20 MN", law="tension_only")
    sheave = tl.Sheave((0, 0, 0), "0.25 m", (0, 1, 0), on="block", inertia="0.4 kg*m^2")
    hoist = tl.Line(
        rope,
        start_point=(-0.25, 0, 0),
        reel=tl.Reel("0.3 m", "0.5 m", inertia="9 kg*m^2"),
        over={"lower": sheave},
        end_point=(0.25, 0, 0),
    )
    return tl.System({"block": tl.RigidBody.box("2 t", (0.6, 0.4, 0.8), (0, 0, 0.4))}, {"hoist": hoist})


def texts(svg: str) -> list[str]:
    return [x.text or "" for x in ET.fromstring(svg).iter("text")]


@pytest.mark.parametrize("name", SCENARIOS)
def test_everything_with_a_name_is_in_the_picture(name: str) -> None:
    case = tl.load(name)
    svg = sketch_of_state(case.system, case.state())
    root, words = ET.fromstring(svg), texts(svg)
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    for thing in (*case.system.lines, *case.system.bodies):
        assert any(word == thing or word.startswith(f"{thing} (") for word in words), (thing, words)
    bodies = sum(isinstance(body, RigidBody) for body in case.system.bodies.values())
    assert len([x for x in root.iter("polygon") if x.get("fill")]) == bodies
    points = [
        tuple(map(float, pair.split(",")))
        for x in itertools.chain(root.iter("polyline"), root.iter("polygon"))
        for pair in x.attrib["points"].split()
    ]
    assert all(-1.0 <= x <= width + 1.0 and -1.0 <= y <= height + 1.0 for x, y in points)


def test_lines_are_to_scale_and_down_is_down() -> None:
    """The bar of a round length measures the line; the body is below the guide."""
    case = tl.load("crane-hoist")
    root = ET.fromstring(sketch_of_state(case.system, case.state()))
    rope = next(x for x in root.iter("polyline") if x.get("stroke-width") == "2")
    ends = [np.array(pair.split(","), float) for pair in rope.attrib["points"].split()]
    bar = next(x.attrib["d"] for x in root.iter("path") if "v4h" in x.attrib["d"])
    pixels = float(bar.split("h")[1].split("v")[0])
    length = next(float(x.split()[0]) for x in texts(ET.tostring(root, encoding="unicode")) if x.endswith(" m"))
    # stretched by 0.1 %; coordinates have a decimal
    assert np.linalg.norm(ends[-1] - ends[0]) * length / pixels == pytest.approx(20.02, abs=0.03)
    assert ends[-1][1] > ends[0][1]


def test_sheaves_and_systems_without_a_state() -> None:
    svg = sketch_of_system(reeved())
    assert {"hoist", "block", "lower", "reel"} <= set(texts(svg))
    floats = tl.System({"a": tl.RigidBody.point(1.0), "b": tl.RigidBody.point(1.0)}, {"cord": cord()})
    assert sketch_of_system(floats) == ""  # nothing says where they are


def cord() -> tl.Line:
    return tl.Line(tl.String(1.0, 0.1, 1e3), start="a", end="b")


def test_labels_do_not_lie_on_each_other() -> None:
    wanted = [labels.Wanted("north-east", (100.0 + 3.0 * k, 80.0), (4.0, 4.0)) for k in range(6)]
    placed = labels.place(wanted, np.zeros((0, 2)), 640.0, 300.0)
    assert not any(a.box.meets(b.box) for a, b in itertools.combinations(placed, 2))
    wall = np.array([[x, y] for x in np.arange(100.0, 200.0, 4.0) for y in np.arange(60.0, 100.0, 4.0)])
    (moved,) = labels.place([labels.Wanted("load", (98.0, 80.0), (2.0, 2.0))], wall, 640.0, 300.0)
    assert moved.box.right < 100.0


def test_inputs_have_units_and_no_defaults() -> None:
    case = tl.load("crane-hoist", {"string.breaking_load": "60 kN"})
    found = {section.title: dict(section.rows) for section in inputs_of(case.stated_keys())}
    assert found["line"]["stiffness"] == ["8.5 MN"] and found["line"]["breaking load"] == ["60 kN"]
    assert found["line"]["law"] == ["tension only"]  # a default that decides how peaks are to be read
    assert found["line, reel"]["inertia"] == ["12 kg m²"]
    assert found["line, command"]["times"] == ["0, 1, 4, 5, 8 s"]
    assert "diameter" not in found["line"] and "guide law" not in found["line, reel"]
    robot = {section.title: section for section in inputs_of(tl.load("cable-robot").stated_keys())}
    assert robot["lines"].names == list(tl.load("cable-robot").system.lines)
    assert dict(robot["lines"].rows)["stiffness"] == ["200 kN"] * 4


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_input_that_was_given_is_listed(name: str) -> None:
    case = tl.load(name)
    shown = {key for section in inputs_of(case.stated_keys()) for key, _ in section.rows}
    for section in (*case.stated_keys()["lines"].values(), *case.stated_keys()["bodies"].values()):
        plain = [key for key, x in section.items() if not isinstance(x, dict)]
        assert {key.replace("_", " ") for key in plain} <= shown


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (12345.0, "N", "12.345 kN"),
        (True, "", "yes"),
        ([0.0, 0.5, 1.0], "m", "(0, 0.5, 1) m"),
        ([[0.0, 1.0]] * 10, "N m", "10 x 2 values, 0 to 1 N m"),
        ({"hoist": 20.0}, "m", "hoist 20 m"),
        (["tension_only", "x"], "", "tension only; x"),
        (None, "m", ""),
    ],
)
def test_values_in_words(value: object, unit: str, words: str) -> None:
    assert in_words(value, unit) == words
