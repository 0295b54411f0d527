"""Whatever a scenario file holds: it is read and built, or refused by a ScenarioError, soon and without a warning."""

from __future__ import annotations

import contextlib
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tautline.files import scenario
from tautline.files.scenario import ScenarioError
from tautline.files.scenario.origin import Origin
from tautline.files.scenario.reading import from_tree
from tautline.model.kinds import AUTO
from tautline.model.system.sections import SHORT_PARTS, TOP

# More elements than this are valid, but take seconds to lay out.
MOST_ELEMENTS = 10**5
TEXTS = [scenario.find(name).read_text(encoding="utf-8") for name in scenario.built_in_names()]
NODES = """
[string]
length = "20 m"
density = 0.1
stiffness = 100
[reel]
drum_radius = "10 cm"
guide_length = 0.2
inertia = "1 kg*m^2"
[body]
shape = "custom"
mass = 1
inertia = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
[initial]
kind = "state"
[initial.bodies.body]
position = [0, 0, "5 m"]
velocity = ["1 m/s", 0, 0]
attitude = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
[initial.lines.line]
reeled_length = 15
nodes = [[0, 0, 0], [0, 0, "5 m"]]
node_velocities = [[0, 0, 0], ["1 m/s", 0, 0]]
[command]
kind = "free"
[run]
duration = 1
elements = 1
"""
# Every key there is.
FOLDER = Path(__file__).parents[1] / "e2e"
ALL = [path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("every_*key/*.toml"))]
many = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


def read(text: str, overrides: dict[str, str] | None = None) -> None:
    """Read and build; only our error is let through silently, and it must say something short about this file."""
    try:
        found = scenario.parse(text, "my.toml", scenario.Options(overrides or {}))
        if all(x.elements == AUTO or x.count <= MOST_ELEMENTS for x in found.system.lines.values()):
            found.state()
    except ScenarioError as error:
        lines = str(error).split("\n")
        assert all(line.startswith(("my.toml:", "--set ")) for line in lines), error
        assert all(len(line) < 500 and line.isprintable() for line in lines), error


@pytest.fixture(scope="module", autouse=True)
def _units_are_loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The first value with a unit takes most of a second. CSV files are those of the scenarios."""
    folder = tmp_path_factory.mktemp("files")
    for file in FOLDER.glob("every_*key/*.*"):
        if file.suffix != ".toml":
            shutil.copy(file, folder)
    with contextlib.chdir(folder):
        for text in (*TEXTS, NODES, *ALL):
            scenario.parse(text).state()
        yield


# -- text that is none of TOML's, and text that nearly is ---------------------------------------------------


@given(st.text(max_size=200))
@many
def test_any_text(text: str) -> None:
    read(text)


toml_like = st.lists(
    st.sampled_from(
        [*"[]{}=.,\"'#\n-+:", "\n[", "]\n", "body", "run", "mass", "kind", "shape", "box", "1", "0x", "1e"]
    ),
    max_size=40,
)


@given(toml_like.map("".join))
@many
def test_text_of_the_marks_of_toml(text: str) -> None:
    read(text)


garbage = st.one_of(
    st.sampled_from(
        [
            "true",
            "nan",
            "-inf",
            "-1",
            "0",
            "1e300",
            "1e-300",
            "-0.0",
            "1" + 400 * "0",
            "0x" + 5000 * "f",
            "2000-01-01",
            "12:00:00",
            "[]",
            "[[]]",
            "{}",
            "[1, 2, 3]",
            "[1, 'x', {}]",
            "{a = 1}",
            '"auto"',
            '"box"',
            '"hanging"',
            '"torque"',
            '"3 m"',
            '""',
            "'''\n[body]\nmass = 1\n'''",
            300 * "[" + 300 * "]",
        ]
    ),
    st.floats().map(repr),
    st.integers(-(10**6), 10**6).map(str),
    st.text(max_size=8).map(lambda text: f'"{text}"'),
)


@given(drawn=st.data())
@many
def test_a_scenario_with_letters_and_lines_changed(drawn: st.DataObject) -> None:
    text = drawn.draw(st.sampled_from([*TEXTS, NODES, *ALL]))
    for _ in range(drawn.draw(st.integers(1, 4))):
        lines = text.split("\n")
        i = drawn.draw(st.integers(0, len(lines) - 1))
        j = drawn.draw(st.integers(0, len(lines[i])))
        match drawn.draw(st.sampled_from(["delete", "insert", "cut", "copy", "move", "swap"])):
            case "delete":
                lines[i] = lines[i][:j] + lines[i][j + 1 :]
            case "insert":
                lines[i] = lines[i][:j] + drawn.draw(st.characters()) + lines[i][j:]
            case "cut":
                del lines[i]
            case "copy":
                lines.insert(i, lines[i])
            case "move":
                lines.insert(drawn.draw(st.integers(0, len(lines) - 1)), lines.pop(i))
            case "swap":
                k = drawn.draw(st.integers(0, len(lines) - 1))
                lines[i], lines[k] = lines[k], lines[i]
        text = "\n".join(lines) or " "
    read(text)


@given(drawn=st.data())
@many
def test_a_scenario_with_values_changed(drawn: st.DataObject) -> None:
    lines = drawn.draw(st.sampled_from([*TEXTS, NODES, *ALL])).split("\n")
    assignments = [i for i, line in enumerate(lines) if "=" in line and not line.startswith("#")]
    for i in drawn.draw(st.sets(st.sampled_from(assignments), min_size=1, max_size=4)):
        lines[i] = f"{lines[i].split('=')[0]}= {drawn.draw(garbage)}"
    read("\n".join(lines))


# -- trees -------------------------------------------------------------------------------------------------

NAMES = sorted(
    {
        *TOP,
        *SHORT_PARTS,
        "initial",
        *(
            name
            for text in (*TEXTS, *ALL)
            for part in tomllib.loads(text).values()
            if isinstance(part, dict)
            for name in part
        ),
    }
)
leaves: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**6), 10**6),
    st.integers(10**300, 10**301),
    st.floats(),
    st.text(max_size=8),
    st.dates(),
    st.times(),
    st.sampled_from(["3 kg", "2 m", "1 s", "auto", "box", "nodes", "locked", "straight", "torque"]),
)
keys = st.sampled_from(NAMES) | st.text(max_size=5)
trees = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=5), max_leaves=25
)


def take(tree: dict[str, Any]) -> None:
    try:
        found = from_tree(tree, Origin("scenario", "", ()))
        if all(x.elements == AUTO or x.count <= MOST_ELEMENTS for x in found.system.lines.values()):
            found.state()
    except ScenarioError as error:
        assert str(error).startswith("scenario")


@given(st.dictionaries(keys, trees, max_size=8))
@many
def test_any_tree(tree: dict[str, Any]) -> None:
    take(tree)


@given(drawn=st.data())
@many
def test_a_scenario_with_branches_changed(drawn: st.DataObject) -> None:
    tree = tomllib.loads(drawn.draw(st.sampled_from([*TEXTS, NODES, *ALL])))
    for _ in range(drawn.draw(st.integers(1, 3))):
        section = drawn.draw(st.sampled_from(sorted(tree)))
        if isinstance(tree[section], dict) and drawn.draw(st.integers(0, 4)):
            tree[section][drawn.draw(st.sampled_from([*sorted(tree[section]), "new"]) | keys)] = drawn.draw(trees)
        else:
            tree[section] = drawn.draw(trees)
    take(tree)


# -- quantities, and overrides -----------------------------------------------------------------------------

ATTEMPTS = [
    "9**9**9 m",
    "9^9^9 m",
    "3 m**9",
    "3 m**4**4",
    "1e999999999 m",
    "__import__('os').system('true') m",
    "3 __import__",
    "3 m if 1 else 2",
    "3 lambda",
    "exec m",
    "{0.__class__} m",
    "%s m",
    "$(true) m",
    "3 m\n",
    "3\u00a0m",
    "3 \u212b",
    "3 m" + 10_000 * " m",
    "3 m" + 10_000 * " ",
    10_000 * " " + "3 m",
    10_000 * "3",
    "3 " + 10_000 * "k" + "m",
    "3 m" + 50 * " " + "!",
    "3 nan*m",
    "3 inf*m",
    "3 per m",
    "3 m per per s",
    "3 squared",
    "3 square m",
    "3 °",
    "3 %",
    "3 °°",
    "3 1/m",
    "3 dBm*m",
    "3 degC/m",
    "3 delta",
    "3 Ym^4*Ym^4*Ym^4*Ym^4/ym^4/ym^4",
    "3 Ym^4*Ym^4/ym^4/ym^3",
    "3 ym^4*ym^4/Ym^4/Ym^3",
]
unit_names = st.sampled_from(["m", "km", "kg", "s", "N", "rad", "deg", "degC", "dB", "Hz", "%", "°", "µm", "pH", "in"])
units = st.lists(st.tuples(unit_names | st.text("abcmkgNs", max_size=4), st.integers(-5, 5)), max_size=7).map(
    lambda parts: " * ".join(f"{name}^{power}" for name, power in parts)
)
numbers = st.floats().map(repr) | st.integers().map(str) | st.text("0123456789.e+-", max_size=9)
quantities = st.one_of(
    st.sampled_from(ATTEMPTS),
    st.builds("{} {}".format, numbers, units),
    st.builds("{} {}".format, numbers, unit_names),
    st.builds("{} {}".format, numbers, st.text(max_size=10)),
    st.text(max_size=20),
)
QUANTITIES = ["string.length", "string.density", "gravity", "initial.inclination", "run.step", "command.torque"]


@pytest.mark.parametrize("key", QUANTITIES)
@given(value=quantities)
@many
def test_any_quantity(key: str, value: str) -> None:
    tree = tomllib.loads(scenario.find("retrieval").read_text(encoding="utf-8"))
    *section, name = key.split(".")
    (tree[section[0]] if section else tree)[name] = value
    take(tree)


@pytest.mark.parametrize("value", ATTEMPTS, ids=range(len(ATTEMPTS)))
def test_attempts(value: str) -> None:
    for key in QUANTITIES:
        read(TEXTS[0], {key: f"'''{value}'''"})


@given(st.dictionaries(st.sampled_from(QUANTITIES) | st.text(max_size=20), quantities | garbage, max_size=3))
@many
def test_any_override(overrides: dict[str, str]) -> None:
    read(TEXTS[-2], overrides)
