"""Scenario files: units, messages, overrides, the built-in ones, the JSON Schema, and the state at rest."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from typer.testing import CliRunner

import tautline as tl
from tautline.cli.commands import app
from tautline.errors import InputError
from tautline.files import scenario
from tautline.files.scenario import ScenarioError
from tautline.files.scenario.origin import Origin
from tautline.files.scenario.reading import from_tree
from tautline.model.chain.hanging import hanging
from tautline.model.short_keys import Names, full
from tests.support import chains
from tests.support.checking import check_below, check_close, check_rotation

RETRIEVAL = re.sub(
    "law = .*\n|(elements = 20\n)",
    lambda found: f'{found[1]}step = "0.5 ms"\n' if found[1] else "",
    (scenario.BUILT_IN / "retrieval.toml").read_text(encoding="utf-8"),
)
START = 'kind = "straight"\ndeployed = "10 m"\ninclination = "15 deg"\nend_velocity = [0, 0.5, 0]'
# Words of Python and pint that say nothing to the writer of a file.
JARGON = ("function-before", "input should", "instance of", "Section", "dictionary", "True", "False", "None", "shape (")


def state(line: str) -> str:
    """A start with its nodes."""
    reeled = "" if "reeled_length" in line else "reeled_length = 90\n"
    body = "[initial.bodies.body]\nposition = [0.3, 0.2, 1.4]"
    return f'kind = "state"\n{body}\n[initial.lines.line]\n{reeled}{line}'


def changed(old: str, new: str) -> str:
    assert RETRIEVAL.count(old) >= 1, f"{old!r} is not in the scenario"
    return RETRIEVAL.replace(old, new, 1)


def from_dict(tree: dict[str, Any], source: str = "scenario") -> tl.Case:
    case: tl.Case = from_tree(tree, Origin(source, "", ()))
    return case


def value_of(case: tl.Case, key: str) -> Any:
    """Value of a case at a short key."""
    tree: Any = case.to_dict()
    for name in full(tuple(key.split(".")), Names()):
        tree = tree[name]
    return tree


def refusal(text: str, overrides: dict[str, str] | None = None) -> str:
    """The message, which must be readable."""
    with pytest.raises(ScenarioError) as caught:
        scenario.parse(text, "my.toml", scenario.Options(overrides or {})).state()
    message = str(caught.value)
    assert not any(word in message for word in JARGON), message
    assert all(len(line) < 250 for line in message.splitlines()), message
    return message


# -- units ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("", "a study and not a scenario; `tautline study "),
        ("minimize = 'time'", "an optimization and not a scenario;"),
    ],
)
def test_files_about_a_scenario_are_called_by_what_they_are(words: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "about.toml"
    path.write_text(f"scenario = 'retrieval'\n{words}\n[vary]\nbody.mass = [1, 2]\n", encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        tl.load(path)
    assert str(caught.value).startswith(f"{path}: {what}")


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("string.length", "2 km", 2000.0),
        ("string.length", "+90 meter", 90.0),
        ("string.length", "300 ft", 91.44),
        ("string.density", "25g*m**-1", 0.025),
        ("string.stiffness", "40 kg*m/s^2", 40.0),
        ("reel.drum_radius", "5e3 µm", 0.005),
        ("reel.smoothing_speed", "3.6 km/h", 1.0),
        ("reel.guide_position", ["1 m", "2 cm", 3], [1.0, 0.02, 3.0]),
        ("body.mass", " .5 kg ", 0.5),
        ("body.mass", "3", 3.0),
        ("gravity", "1 standard gravity", None),
        ("gravity", 0, 0.0),
        ("initial.inclination", "15°", np.pi / 12),
        ("initial.inclination", "0.5 turn", np.pi),
        ("initial.angular_velocity", ["60 rpm", "180 deg/s", 1], [2 * np.pi, np.pi, 1.0]),
        ("initial.end_velocity", ["1 m/s", "36 km/hour", 0], [1.0, 10.0, 0.0]),
        ("command.torque", "-20 N cm", -0.2),
        ("run.duration", "1 min", 60.0),
        ("run.step", "0.5 ms", 5e-4),
        ("run.step", "auto", "auto"),
        ("run.sample", "1/s", None),
    ],
)
def test_units(key: str, text: Any, value: Any) -> None:
    *section, name = key.split(".")
    tree = tomllib.loads(RETRIEVAL)
    (tree[section[0]] if section else tree)[name] = text
    if value is None:
        with pytest.raises(ScenarioError, match=f"{key}: expected .*, got"):
            from_dict(tree)
        return
    got = value_of(from_dict(tree), key)
    assert got == (value if isinstance(value, str) else pytest.approx(value, rel=1e-14))


def test_units_of_a_matrix_and_of_a_table() -> None:
    tree = tomllib.loads(RETRIEVAL)
    rows = [["2 kg*m^2", 0, 0], [0, "2e4 kg*cm^2", 0], [0, 0, 2]]
    tree["body"] = {"shape": "custom", "mass": 1, "inertia": rows, "center_of_mass": [0, 0, "10 cm"]}
    tree["command"] = {"kind": "torque", "times": [0, "500 ms"], "torques": [1, "200 N*cm"]}
    built = from_dict(tree)
    check_close("inertia", built.system.bodies["body"].inertia, 2.0 * np.eye(3), 1e-14)
    assert built.commands["line"] == tl.Torque(((0.0, 0.5), (1.0, 2.0)))


@pytest.mark.parametrize(
    ("value", "came"),
    [
        ("true", "true"),
        ('"heavy"', "'heavy'"),
        ('"3 m"', "'3 m', which is a length"),
        ('"3 kg^2"', "'3 kg^2', which is measured in kg**2"),
        ('"3 degC"', "'3 degC', which is measured in K"),
        ('"3 kgg"', "the unknown unit 'kgg'"),
        ("[1]", "[1]"),
        ("{a = 1}", "a section"),
        ("nan", "nan, which is not a finite number"),
        ("1e400", "inf, which is not a finite number"),
        ('"1e400 kg"', "'1e400 kg', which is not a finite number"),
        ("1" + 400 * "0", "1000"),
        ("2000-01-01", "2000-01-01"),
        ('""', "''"),
        ('"9**9**9 kg"', "'9**9**9 kg'"),
        ('"٣ kg"', "'٣ kg'"),
        ("\"__import__('os')\"", "\"__import__('os')\""),
        ('"3 kg' + 100_000 * " " + '!"', "'3 kg  "),
        ('"' + "1" * 4000 + ' kg"', "'1111"),
    ],
    ids=lambda text: text[:20],
)
def test_a_value_that_is_no_mass(value: str, came: str) -> None:
    message = refusal(changed('mass = "100 g"', f"mass = {value}"))
    assert message.startswith(f"my.toml:16: body.mass: expected a mass such as 3 or '3 kg', got {came}")


@pytest.mark.parametrize(
    ("key", "wanted"),
    [
        ("string.length", "a length such as 3 or '3 m'"),
        ("string.density", "a mass per length such as 3 or '3 kg/m'"),
        ("string.stiffness", "a force such as 3 or '3 N'"),
        ("reel.inertia", "a moment of inertia such as 3 or '3 kg*m^2'"),
        ("reel.smoothing_speed", "a speed such as 3 or '3 m/s'"),
        ("gravity", "an acceleration such as 3 or '3 m/s^2'"),
        ("initial.inclination", "an angle such as 3 or '3 rad'"),
        ("command.torque", "a torque such as 3 or '3 N*m'"),
        ("run.duration", "a time such as 3 or '3 s'"),
        ("run.step", "'auto' or a time such as 3 or '3 s'"),
    ],
)
def test_the_wrong_dimension_of_every_kind(key: str, wanted: str) -> None:
    came = refusal(RETRIEVAL, {key: "3 kelvin"})
    assert came == f"--set {key}: expected {wanted}, got '3 kelvin', which is measured in K"


@pytest.mark.parametrize("text", ["3 Hz", "3 %", "3 dB", "3 count", "3 m/m", "3 1/s"])
@pytest.mark.parametrize("key", ["initial.inclination", "initial.angular_velocity"])
def test_angles_are_not_any_number_without_dimension(key: str, text: str) -> None:
    """A hertz is no radian per second: by dimension alone it would pass, and be wrong by 2 pi."""
    value = text if key.endswith("inclination") else f'["{text}", 0, 0]'
    assert "an ang" in refusal(RETRIEVAL, {key: value})


def test_an_overflow_inside_a_unit() -> None:
    assert "expected a length" in refusal(RETRIEVAL, {"string.length": "1 Ym^4*Ym^4*Ym^4*Ym^4/ym^4"})


def test_an_item_of_a_list_is_named() -> None:
    message = refusal(changed("[0.3, 0.2, 0.4]", '[0.3, "0.2 s", 0.4]'))
    assert message.startswith("my.toml:19: body.center_of_mass.1: expected a length")


@pytest.mark.parametrize(
    "key", ["body.mass", "body.shape", "run.order", "run.elements", "command.kind", "nothing", "title"]
)
def test_a_number_that_python_declines_to_print(key: str) -> None:
    message = refusal(RETRIEVAL, {key: "0x" + 5000 * "f"})
    assert message == f"--set {key}: expected a number of fewer digits, got thousands"


# -- keys and sections ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("drum_radius", "drum_raduis", "my.toml:10: reel.drum_raduis: no such key; did you mean 'drum_radius'?"),
        ("drum_radius", "drum_raduis", "my.toml:9: reel.drum_radius: missing"),
        ("drum_radius", "'drum raduis'", "my.toml:10: reel.'drum raduis': no such key; did you mean 'drum_radius'?"),
        ("[reel]", "[real]", "my.toml:9: real: no such key; did you mean 'reel'?"),
        ("[reel]", "[real]", "my.toml: reel: missing"),
        ("[reel]", "[[reel]]", "my.toml:9: reel: expected a section, got [{"),
        ('title = "Retrieval"', "graivty = 1", "my.toml:1: graivty: no such key; did you mean 'gravity'?"),
        ('title = "Retrieval"', "title = 3", "my.toml:1: title: expected text, got 3"),
        ('title = "Retrieval"', "a.b = 3", "my.toml:1: a: no such key"),
        ('title = "Retrieval"', '"" = 3', "my.toml:1: '': no such key"),
        ('title = "Retrieval"', '"\\u0007\\n" = 3', "my.toml:1: '\\x07\\n': no such key"),
        ('stiffness = "40 N"', 'stiffness = "40 N"\ncommand = "3 N"', "string.command: no such key"),
        (
            'shape = "elliptic_cylinder"',
            'shape = "elliptic_cylinder"\nfluid = 3',
            "body.fluid: no such key",
        ),
        ('kind = "torque"', 'kind = "torq"', "my.toml:28: command.kind: expected one of 'brake', 'locked', 'free', "),
        ('kind = "torque"', 'kind = "torq"', "got 'torq'; did you mean 'torque'?"),
        (
            'kind = "torque"',
            "kind = 3",
            "my.toml:28: command.kind: expected one of 'brake', 'locked', 'free', "
            "'length', 'speed', 'impedance', 'torque', got 3",
        ),
        ('kind = "torque"\n', "", "my.toml:27: command.kind: missing; expected one of 'brake', 'locked', 'free'"),
        ("shape", "shap", "my.toml:14: body.shape: missing; expected one of 'elliptic_cylinder', 'box', 'sphere', "),
        ("elements = 20", "elements = 2.5", "my.toml:33: run.elements: expected 'auto' or a whole number, got 2.5"),
        ("elements = 20", 'elements = "20"', "my.toml:33: run.elements: expected 'auto' or a whole number, got '20'"),
        ("elements = 20", "elements = 0", "my.toml:33: run.elements: expected 'auto' or a whole number from 1 to 100"),
        ('duration = "10 s"\n', "", "my.toml:31: run.duration: missing"),
        ("elements = 20", "elements = 20\norder = 3", "my.toml:34: run.order: expected 2, 4 or 6, got 3"),
        ("elements = 20", "elements = 20\ncompensated = 1", "run.compensated: expected true or false, got 1"),
        ("elements = 20", 'elements = 20\nscheme = "pape"', "got 'pape'; did you mean 'paper'?"),
        ('step = "0.5 ms"', "step = true", "my.toml:34: run.step: expected 'auto' or a time such as 3 or '3 s', got"),
        ("[0.3, 0.2, 0.4]", "3", "my.toml:19: body.center_of_mass: expected a list of three, each a length, such as"),
        ("[0.3, 0.2, 0.4]", "[0.3, 0.4]", "each a length, such as [3, 0, 0] or ['3 m', 0, 0], got [0.3, 0.4]"),
        ('kind = "straight"', 'kind = "hanging"', "my.toml:24: initial.inclination: no such key with kind = 'hanging"),
        ('kind = "straight"', 'kind = "hanging"', "only with 'straight'"),
    ],
)
def test_message(old: str, new: str, expected: str) -> None:
    assert expected in refusal(changed(old, new))


@pytest.mark.parametrize("section", ["string", "reel", "body", "initial", "run"])
def test_a_section_that_is_missing_or_is_none(section: str) -> None:
    tree = tomllib.loads(RETRIEVAL)
    with pytest.raises(ScenarioError, match=f"^my.toml: {section}: expected a section, got 3$"):
        from_dict({**tree, section: 3}, "my.toml")
    del tree[section]
    with pytest.raises(ScenarioError, match=f"^my.toml: {section}: missing$"):
        from_dict(tree, "my.toml")


def test_all_problems_are_told_at_once() -> None:
    text = changed("length", "lenght").replace("density", "densty").replace("[run]", "[runn]")
    assert len(refusal(text).splitlines()) == 6  # three unknown, three missing


SEVERAL = """gravity = -3
[string]
length = "-60 m"
density = "0.98 kg/m"
stiffness = 0
[reel]
drum_radius = "16 cm"
inertia = "-12 kg*m^2"
guide_length = -1
[run]
duration = "8 s"
elements = 0
[body]
shape = "box"
mass = "1 t"
sides = [1.2, -1, 0.9]
[initial]
kind = "hanging"
deployed = "20 m"
[command]
kind = "torque"
times = [0, 4, 1]
torques = [1, 2, 3]
"""
WRONG = ["1: gravity", "3: string.length", "5: string.stiffness", "8: reel.inertia", "9: reel.guide_length"]
WRONG += ["12: run.elements", "16: body.sides", "22: command.times"]


@pytest.mark.parametrize(
    ("old", "new", "more"),
    [("", "", []), ("0.98 kg/m", "0.98 kg", ["4: string.density"]), ("[run]", "[run]\nstep = true", ["11: run.step"])],
    ids=["values", "a unit too", "a type too"],
)
def test_values_out_of_range_are_told_at_once(old: str, new: str, more: list[str]) -> None:
    """In the order of the lines; with values that cannot be read as well."""
    lines = refusal(SEVERAL.replace(old, new, 1)).splitlines()
    heads = [line.split(": expected")[0].removeprefix("my.toml:") for line in lines]
    numbers = [int(head.partition(":")[0]) for head in heads]
    assert numbers == sorted(numbers) and len(lines) == len(WRONG) + len(more)
    assert set(more) <= set(heads)
    assert [head.partition(": ")[2] for head in heads if head not in more] == [x.partition(": ")[2] for x in WRONG]


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("# [body]\n", 17),
        ('description2 = """\n[a]\nb = 1\n"""\n', 20),
        ("# \u2028 is no new line\n", 17),
        ("\r\n", 17),
    ],
)
def test_the_line_is_right_where_the_text_is_unusual(before: str, line: int) -> None:
    assert f"my.toml:{line}: body.mass: expected" in refusal(before + changed('mass = "100 g"', "mass = true"))


def test_lines_of_quoted_and_dotted_keys_and_inline_tables() -> None:
    assert "my.toml:16: body.mass:" in refusal(changed('mass = "100 g"', '"mass" = true'))
    assert "my.toml:1: gravity:" in refusal(changed('title = "Retrieval"', "gravity . a = true"))
    inline = changed('[command]\nkind = "torque"\ntorque = "2.09 N*m"\n', "").replace(
        'title = "Retrieval"', 'command = {kind = "torque", torque = true}'
    )
    assert "my.toml:1: command.torque:" in refusal(inline)


# -- values that contradict each other, or that the model refuses ---------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('inertia_mass = "1 kg"', "inertia_mass = 1\ninertia = 1", "my.toml:9: reel: expected either inertia_mass, o"),
        ('inertia_mass = "1 kg"', "inertia_mass = 1\ninertia = 1", "got inertia_mass and inertia"),
        ('inertia_mass = "1 kg"', "", "got neither"),
        ("inclination", "direction = [1, 0, 0]\ninclination", "my.toml:21: initial: expected either direction or incl"),
        ('inclination = "15 deg"', "azimuth = 1", "initial: expected azimuth together with inclination, got it alone"),
        ('torque = "2.09 N*m"', "", "my.toml:27: command: expected either torque, or times and torques, got neither"),
        ('torque = "2.09 N*m"', "torque = 1\ntimes = [0]\ntorques = [1]", "got torque and times and torques"),
        ('torque = "2.09 N*m"', "times = [0]", "expected either torque, or times and torques, got times"),
        ('torque = "2.09 N*m"', "times = [0, 1]\ntorques = [1]", "my.toml:30: command.torques: expected 2 finite num"),
        ('torque = "2.09 N*m"', "times = [1, 0]\ntorques = [1, 2]", "my.toml:29: command.times: expected increasing"),
        ('torque = "2.09 N*m"', "times = []\ntorques = []", "my.toml:29: command.times: expected at least 1 number"),
        ('length = "100 m"', "length = -1", "my.toml:5: string.length: expected a positive finite number (m), got -1"),
        ('length = "100 m"', "length = 1e60", "my.toml:5: string.length: expected a positive finite number (m) of at"),
        ('inertia_mass = "1 kg"', "inertia = -2", "my.toml:12: reel.inertia: expected a positive"),
        ('guide_length = "0.5 m"', "guide_length = 100", "my.toml:11: reel.guide_length: expected a guide shorter"),
        ('semi_axes = ["0.5 m", "0.4 m"]', "semi_axes = [1]", "my.toml:17: body.semi_axes: expected a list of two, "),
        ('title = "Retrieval"', "gravity = -1", "my.toml:1: gravity: expected a finite number of at least 0"),
        ('deployed = "10 m"', "deployed = 200", "my.toml:23: initial.deployed: expected at most 99.5 m"),
        ('inclination = "15 deg"', "direction = []", "my.toml:24: initial.direction: expected a list of three, "),
        ('inclination = "15 deg"', "direction = [0, 0, 0]", "my.toml:24: initial.direction: expected a vector that i"),
        ('inclination = "15 deg"', "attitude = [[2]]", "my.toml:24: initial.attitude: expected three rows"),
        ('step = "0.5 ms"', "step = -1", "my.toml:34: run.step: expected 'auto' or a positive finite number (s), got"),
        (START, state("nodes = [[0, 0, 0], [0, 0, 1]]"), "initial.lines.line.nodes: expected elements + 1 = 21"),
        (
            START,
            state('nodes = [[0, 0, 0], ["x", 0, 0]]'),
            "my.toml:27: initial.lines.line.nodes.1.0: expected a",
        ),
        (START, 'kind = "hanging"\ndeployed = -1', "my.toml:23: initial.deployed: expected a positive finite number"),
    ],
)
def test_values_that_do_not_go_together(old: str, new: str, expected: str) -> None:
    assert expected in refusal(changed(old, new))


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ("nodes = [[0, 0, 0], [0, 0, 1]]", None),
        ("nodes = [[0, 0, 0], [0, 0, 1]]\nnode_velocities = []", "node_velocities: expected 2 x 3 finite"),
        ("nodes = [[0, 0, 1], [0, 0, 1]]", "nodes: expected (0, 0, 0) at the start of the line"),
        ("nodes = [[0, 0, 0], [0, 0, 2]]", "nodes: expected (0, 0, 1) at the end of the line, as 'body' has it, got"),
        ("nodes = [[0, 0, 0], [0, 0]]", "nodes.1: expected a list of three, each a length"),
        ("nodes = [[0, 0, 0], [0, 0, 1]]\nreeled_length = 100", "reeled_length: expected at least guide_leng"),
        ("nodes = [[0, 0, 0], [0, 0, 1]]\nreel_speed = 1", "reel_speed: expected 0 with a locked reel, got 1"),
    ],
)
def test_explicit_nodes(extra: str, expected: str | None) -> None:
    text = changed(START, state(extra)).replace("elements = 20", "elements = 1")
    text = text.replace('kind = "torque"\ntorque = "2.09 N*m"', 'kind = "locked"')
    if expected is None:
        found = scenario.parse(text).state()
        assert found.elements() == {"line": 1} and not found.lines["line"].node_velocities.any()
    else:
        assert f"initial.lines.line.{expected}" in refusal(text)


# -- overrides ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("run.elements", "x", "--set run.elements: expected 'auto' or a whole number, got 'x'"),
        ("run.elements.x", "3", "--set run.elements.x: elements is not a section"),
        ("", "3", "--set '': expected section.key=value"),
        ("a..b", "3", "--set 'a..b': expected section.key=value"),
        ("body.mas", "3", "--set body.mas: no such key; did you mean 'mass'?"),
        ("string", "3", "--set string: expected a section, got 3"),
        ("body.mass", "", "--set body.mass: expected a mass such as 3 or '3 kg', got ''"),
        ("body.mass", "-2", "--set body.mass: expected a positive finite number (kg), got -2.0"),
        ("body.mass", "3\ny = 4", "--set body.mass: expected a mass such as 3 or '3 kg', got '3\\ny = 4'"),
        ("body.mass", "[" * 3000, "--set body.mass: expected a mass such as 3 or '3 kg', got '[[["),
        ("body.mass", "9" * 5000, "--set body.mass: expected a mass such as 3 or '3 kg', got '999"),
        ("gravity" + 3000 * ".a", "3", "--set gravity: expected an acceleration such as 3 or '3 m/s^2', got a section"),
        ("x" * 3000, "3", "--set xxx"),
    ],
)
def test_bad_overrides(key: str, value: str, expected: str) -> None:
    assert refusal(RETRIEVAL, {key: value}).startswith(expected)


def test_values_from_a_program_are_named_as_they_were_given() -> None:
    for name in ("crane-hoist", "hook-block-2"):  # the short form and the full one
        for option, changes in (("", dict), ("--set ", scenario.Options)):
            with pytest.raises(ScenarioError) as caught:
                scenario.load(name, changes({"body.mass": "3 s"}))
            assert str(caught.value).startswith(f"{option}body.mass: expected a mass such as"), name


def test_components_of_lists_are_set() -> None:
    key = "lines.hoist.over.lower.center"
    changes = {"body.center_of_mass[2]": "70 cm", f"{key}[0]": "0.1", "body.center_of_mass": "[0.1, 0, 0.6]"}
    found = tl.load("hook-block-2", changes)
    assert found == tl.load("hook-block-2").with_({"body.center_of_mass": [0.1, 0.0, 0.7], f"{key}": [0.1, 0.0, 0.0]})
    assert tl.load("retrieval", {"initial.end_velocity[1]": 3.0}).start.end_velocity == (0.0, 3.0, 0.0)  # by default 0
    for given, words in {
        (f"{key}[0]", "3 s"): f"--set {key}.0: expected a length",
        (f"{key}[3]", "3 m"): f"--set {key}[3]: expected a component from 0 to 2",
        (f"{key}.0", "3 m"): f"--set {key}.0: center is not a section; did you mean '{key}[0]'?",
        (
            "lines.hoist.over.lower.centre[0]",
            "3 m",
        ): "--set lines.hoist.over.lower.centre: no such key; did you mean 'center'?",
        ("lines.hoist.over.lower.exit[0]", "3 m"): "--set lines.hoist.over.lower.exit[0]: expected",
    }.items():
        with pytest.raises(ScenarioError) as caught:
            tl.load("hook-block-2", scenario.Options([given]))
        assert str(caught.value).startswith(words)
    result = CliRunner().invoke(app, ["check", "hook-block-2", "--set", f"{key}[0]=0.1"])
    assert result.exit_code == 0, result.output


def test_overrides() -> None:
    changes = {
        "body.mass": "2 kg",
        "reel.drum_radius": '"10 cm"',
        "run.order": "4",
        "reel.guide_position": '[1, "20 cm", 3]',
        "gravity": "0",
        "run.scheme": "symmetric",
    }
    read = scenario.parse(RETRIEVAL, changes=changes)
    line, body = read.system.lines["line"], read.system.bodies["body"]
    assert (body.mass, line.reel.drum_radius, read.run.order, read.system.gravity) == (2.0, 0.1, 4, 0.0)
    assert line.start_point == (1.0, 0.2, 3.0)
    plain = scenario.parse(RETRIEVAL, changes={"body.mass": 2.5, "reel.guide_position": [1, "20 cm", 3]}).system
    assert (plain.bodies["body"].mass, plain.lines["line"].start_point) == (2.5, (1.0, 0.2, 3.0))


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("mass = 5 kg", 'values with units need quotes: "5 kg"'),
        ("force = [\n5e3 N,\n0]", 'values with units need quotes: "5 kg"'),
        ("angle = 15°", 'values with units need quotes: "5 kg"'),
        ("[body]\n[reel]\n[body]", "sections and keys may each be there once"),
        ("mass = 1\nmass = 2", "sections and keys may each be there once"),
        ("mass = 5,0", None),
        ('mass = "5 kg', None),
        ("[body", None),
    ],
)
def test_text_that_is_not_toml_has_the_hint_that_fits(text: str, hint: str | None) -> None:
    with pytest.raises(scenario.ScenarioError, match="not valid TOML") as caught:
        scenario.parse(text)
    assert str(caught.value).endswith(hint if hint else ")")


# -- files -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "string: missing"),
        (b"\xff\xfe\x00", "not a text file in UTF-8"),
        (bytes(range(256)), "not a text file in UTF-8"),
        (b"\x00\x01\x02", "not valid TOML: Invalid statement (at line 1, column 1)"),
        (b"a = " + 20_000 * b"[", "not valid TOML here: nested too deeply"),
        (b"a = " + 20_000 * b"{a = ", "not valid TOML here: nested too deeply"),
        (b"gravity" + 40 * b".a" + b" = 1", "gravity: expected an acceleration such as 3 or '3 m/s^2', got a section"),
        (b"\ngravity" + 20_000 * b".a" + b" = 1", "my.toml:2: expected keys of at most 64 parts, got more"),
        (b"[a" + 20_000 * b" . a" + b"]", "my.toml:1: expected keys of at most 64 parts, got more"),
        (b"a = 1" + 5_000 * b"0", "not valid TOML here: a number of thousands of digits"),
        (b"title = 0x" + 5_000 * b"f", "my.toml:1: title: expected a number of fewer digits, got thousands"),
        (b"a = 1\na = 2\nb = 3", "not valid TOML: Cannot overwrite a value (at line 2"),
    ],
    ids=[
        "empty",
        "utf-16",
        "bytes",
        "zeros",
        "lists",
        "tables",
        "dots",
        "many dots",
        "long header",
        "digits",
        "hexadecimal",
        "twice",
    ],
)
def test_files_that_are_no_scenarios(tmp_path: Path, content: bytes, expected: str) -> None:
    """The same by the function and by the command: exit code 2, no traceback, nothing written."""
    path = tmp_path / "my.toml"
    path.write_bytes(content)
    with pytest.raises(ScenarioError) as caught:
        scenario.load(str(path))
    assert str(path) in str(caught.value) and expected in str(caught.value)
    target = tmp_path / "out.nc"
    result = CliRunner().invoke(app, ["run", str(path), "-o", str(target)])
    assert result.exit_code == 2
    lines = str(caught.value).splitlines()
    assert result.output == "".join(f"error: {line}\n" for line in lines)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("retreival", "no such file or built-in scenario; did you mean 'retrieval'?"),
        ("zzz", "no such file or built-in scenario; built in are aerostat, atwood, bungee"),
        (".", "expected a scenario file, got a folder"),
        ("a" * 300, "cannot be read: File name too long"),
        ("a\0b", "expected a path"),
        ("", "expected a path"),
    ],
)
def test_names_that_are_no_files(name: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        scenario.load(name)
    assert expected in str(caught.value)


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_bytes(b"\xef\xbb\xbf" + RETRIEVAL.replace("\n", "\r\n").encode())
    assert tl.load(path) == tl.load("retrieval", {"string.law": "tension_only", "run.step": "0.5 ms"})


# -- the built-in scenarios and the schema -----------------------------------------------------------------


@pytest.mark.parametrize("name", scenario.built_in_names())
def test_built_in_scenarios_run(name: str) -> None:
    read = scenario.load(name)
    assert read.title and read.description
    assert read.run.sample is not None
    run = chains.simulate(read, duration=3 * read.run.sample)
    assert run.attrs["status"] == "completed"
    assert len(run.time) == 4 and np.isfinite(run.position).all()
    # and what is written into a run file reads back as the same case
    again = type(read).from_dict(json.loads(run.attrs["case"]))
    assert run.attrs["end_time"] == pytest.approx(3 * read.run.sample, rel=1e-14)
    assert again == read.with_({"run.duration": 3 * read.run.sample}).meshed()


# The paper's own examples, with its law and its mesh, and the one whose subject is slip.
WARNED = {
    "deployment": {"attitude", "mesh_noise", "compression"},
    "fixed-length": {"attitude", "mesh_noise", "fold", "slack"},
    "retrieval": {"attitude", "mesh_noise", "compression"},
    "traction-lift": {"slip"},
}


@pytest.mark.long
@pytest.mark.parametrize("name", scenario.built_in_names())
def test_built_in_scenarios_run_without_warnings(name: str) -> None:
    run = tl.simulate(tl.load(name))
    assert run.attrs["status"] == "completed"
    assert {warning.kind for warning in tl.warnings_of(run)} == WARNED.get(name, set())


def test_the_schema_is_one_and_admits_the_built_in_scenarios() -> None:
    schema = scenario.json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for name in scenario.built_in_names():
        validator.validate(tomllib.loads(scenario.find(name).read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("section", "key", "value", "good"),
    [
        ("body", "mass", "2 kg", True),
        ("body", "mass", 2, True),
        ("body", "mass", True, False),
        ("body", "mass", [2], False),
        ("body", "mas", 2, False),
        ("body", "center_of_mass", ["1 m", 0, 0.5], True),
        ("body", "shape", "cube", False),
        ("run", "step", "auto", True),
        ("run", "step", "1 ms", True),
        ("run", "step", 0.001, True),
        ("run", "step", [], False),
        ("run", "order", 3, False),
        ("run", "sample", "1 ms", True),
        ("run", "minimum_length", "1 mm", True),
        ("reel", "inertia_mass", "1 kg", True),
        ("command", "torque", "1 N*m", True),
        ("command", "kind", "torq", False),
    ],
)
def test_the_schema_and_the_program_agree(section: str, key: str, value: Any, good: bool) -> None:
    tree = tomllib.loads(RETRIEVAL)
    tree[section][key] = value
    assert jsonschema.Draft202012Validator(scenario.json_schema()).is_valid(tree) == good
    if good:
        from_dict(tree)
    else:
        with pytest.raises(ScenarioError):
            from_dict(tree)


# -- hanging at rest ---------------------------------------------------------------------------------------

STRING, REEL = tl.String(20.0, 0.1, 800.0, law="linear"), tl.Reel(0.5, 0.5, 1.0, (1.0, 2.0, 3.0))


@pytest.mark.parametrize(
    "rho",
    [
        (0.3, 0.2, 0.4),
        (0.0, 0.0, -0.3),
        (0.0, 0.0, 0.3),
        (0.0, 0.0, 0.0),
        (0.3, 0.0, 0.0),
        (6e-7, 0.0, -0.3),
        (1e-9, -1e-9, -0.3),
        (1e-30, 0.0, -0.3),
        (1e-170, 1e-170, 0.0),
    ],
)
def test_hanging_stays_at_rest(rho: tuple[float, float, float]) -> None:
    """Wherever the center of mass is: nothing moves by more than rounding for a dozen bounces."""
    pendulum = chains.Chain(STRING, REEL, tl.RigidBody.box(2.0, (0.2, 0.3, 0.4), rho))
    state = hanging(pendulum, 10.0, 5)
    check_rotation(state.attitude, 2e-15)
    check_close("horizontal offset", (np.asarray(state.attitude) @ np.array(rho))[:2], [0.0, 0.0], 1e-15)
    run = chains.simulate(pendulum, state, tl.Locked(), duration=5.0, sample=0.1)
    assert run.attrs["status"] == "completed"
    moved = float(np.abs(run.position - run.position[0]).max())
    check_below("displacement", moved, 1e-12)
    check_below("turning", float(np.abs(run.attitude - run.attitude[0]).max()), 1e-12)


@pytest.mark.parametrize(("deployed", "elements"), [(-1.0, 4), (30.0, 4), (10.0, 0), (10.0, 2.5), ("10 s", 4)])
def test_hanging_refuses(deployed: Any, elements: Any) -> None:
    with pytest.raises(InputError, match=r"^(deployed|Line\.elements): expected"):
        system = tl.pendulum(STRING, REEL, tl.RigidBody.point(1.0), elements=elements)
        tl.Case(system, tl.Hanging(deployed), {}, tl.Run(duration=1.0)).state()
