"""The examples and the code of the docs, as a reader runs them; and the pages that must keep up with the package."""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import re
import shlex
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import tautline as tl
from tautline.files.scenario import built_in_names
from tautline.schema import (
    BENDING_SCHEMA,
    EXCEEDANCE_SCHEMA,
    MODES_OF_SHEAVES,
    MODES_SCHEMA,
    RAINFLOW_SCHEMA,
    SCHEMA,
    SLACK_SCHEMA,
    SPECTRUM_SCHEMA,
    Variable,
)
from tautline.studies.definition.work import STATUS_NAMES
from tests.support import forked
from tests.support.browser import print_by_browser
from tests.support.code_tables import code_tables
from tests.support.commands import tautline

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EXAMPLES = sorted((ROOT / "examples").glob("*/*.py"))
# Their ```python and ```sh blocks run in turn, in one folder. Blocks marked otherwise (```py, ```text) are only shown.
PAGES = [DOCS / "quickstart.md", *sorted((DOCS / "howto").glob("*.md"))]
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SMALLEST_PICTURE = 5_000  # bytes; an empty figure has less


# Those that take longest; `make verify` runs them.
SLOW = {
    "fit",
    "chaos",
    "modes",
    "studies",
    "check-a-result",
    "jax_hoist",
    "tethered_satellites",
    "mujoco_crane",
    "trained_hoist",
    "optimal_crane",
    "optimal_deployment",
    "optimal_stop",
    "optimal_satellites",
    "identification",
    "feedback_crane",
    "optimal-control",
    "systems",
    "loads",
    "heave",
    "optimal_retrieval",
    "hook_and_load",
    "moving_picture",
    "cable_robot",
    "drone_parcel",
    "crane",
    "crane_trolley",
    "lowering",
    "study_sobol",
    "vibration",
    "drone",
    "kite",
    "towed",
    "sensitivity",
    "sea-cable",
    "ropes",
    "figures",
    "hook_block",
    "gantry",
    "control_loop",
    "casadi_throw",
    "sheaves",
    "python-control",
    "expressions",
    "tackle",
    "ship_crane",
    "gust_on_a_line",
    "crane_ride",
    "eight_ropes",
    "aerostat",
}


# No extra installs JAX.
without_jax = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")


def each(paths: list[Path]) -> list[Any]:
    """Parameters of a test that runs each of some files."""
    marks = {x.stem: [pytest.mark.long] * (x.stem in SLOW) + [without_jax] * (x.stem == "jax_hoist") for x in paths}
    return [pytest.param(x, id=x.stem, marks=marks[x.stem]) for x in paths]


def succeeded(done: subprocess.CompletedProcess[str]) -> str:
    """Output of a program, which must have come to a good end without a warning, but for those on its runs."""
    assert done.returncode == 0, f"{done.args}\n{done.stdout}\n{done.stderr}"
    assert not re.search("(?<!Tautline)Warning", done.stderr), f"{done.args}\n{done.stderr}"
    return done.stdout


def python(arguments: list[str], folder: Path) -> str:
    return succeeded(forked.python(arguments, folder))


def shell(text: str, folder: Path) -> None:
    """Lines of a shell in turn; those that only call tautline need none."""
    for calls, lines in itertools.groupby(text.splitlines(), lambda line: line.startswith("tautline ")):
        if calls:
            for line in lines:
                tautline(*shlex.split(line)[1:], cwd=folder)
        else:
            code = "\n".join(lines)
            succeeded(subprocess.run(["sh", "-e", "-c", code], cwd=folder, capture_output=True, text=True, check=False))


@pytest.mark.parametrize("script", each(EXAMPLES))
def test_an_example_runs_and_draws(script: Path, tmp_path: Path) -> None:
    printed = python([str(script)], tmp_path)
    assert printed
    assert "nan" not in printed
    pictures = list(tmp_path.iterdir())
    assert pictures
    for picture in pictures:
        assert picture.suffix in (".png", ".gif", ".html")
        assert picture.stat().st_size > SMALLEST_PICTURE


def pieces(page: Path) -> list[tuple[str, str]]:
    """Blocks in turn; Python blocks of a page share their names, so each is preceded by those before it."""
    found: list[tuple[str, str]] = []
    for kind, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "python" and found and found[-1][0] == "python":
            found[-1] = (kind, found[-1][1] + text)
        else:
            found.append((kind, text))
    return found


@pytest.mark.parametrize("page", each([page for page in PAGES if pieces(page)]))
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    imports = ""
    for kind, text in pieces(page):
        if "--pdf" in text:
            print_by_browser(monkeypatch)
        if kind == "sh":
            shell(text, tmp_path)
            continue
        python(["-c", imports + text], tmp_path)
        imports += "".join(line + "\n" for line in text.splitlines() if line.startswith(("import ", "from ")))


LOADS_SCHEMA = {
    name: v._replace(units=v.units.format(unit="N", square="N2"))
    for schema in (RAINFLOW_SCHEMA, SPECTRUM_SCHEMA, EXCEEDANCE_SCHEMA, SLACK_SCHEMA, BENDING_SCHEMA)
    for name, v in schema.items()
}


@pytest.mark.parametrize(
    ("title", "schema"),
    [("What you get", SCHEMA), ("Modes", MODES_SCHEMA | MODES_OF_SHEAVES), ("Loads and fatigue", LOADS_SCHEMA)],
)
def test_the_glossary_has_every_variable_with_its_unit(title: str, schema: dict[str, Variable]) -> None:
    glossary = (DOCS / "glossary.md").read_text(encoding="utf-8")
    results = glossary.split(f"## {title}")[1].split("\n## ")[0]
    rows = {cells[2].strip(): cells[3].strip() for line in results.splitlines() if len(cells := line.split("|")) > 5}
    for name, variable in schema.items():
        assert f"`{name}`" in rows, f"docs/glossary.md: {name} is missing"
        # "kg m2 s-1" in files, "kg m²/s" on the page
        plain = (
            variable.units.replace(" s-1", "/s")
            .replace("s-1", "1/s")
            .replace(" m-1", "/m")
            .replace("m2", "m²")
            .replace("N2", "N²")
        )
        assert rows[f"`{name}`"] == plain, f"docs/glossary.md: {name} has the unit {plain}"


def test_the_glossary_has_every_status_and_attribute() -> None:
    glossary = (DOCS / "glossary.md").read_text(encoding="utf-8").split("## Status")[1]
    run = tl.simulate(tl.load("fixed-length", {"run.duration": "10 ms"}))
    for name in (*STATUS_NAMES.values(), *run.attrs):
        assert f"`{name}`" in glossary, f"docs/glossary.md: {name} is missing"


def test_the_glossary_has_every_input() -> None:
    glossary = (DOCS / "glossary.md").read_text(encoding="utf-8")
    for kind in (
        tl.String,
        tl.Reel,
        tl.RigidBody,
        tl.Line,
        tl.Kinematic,
        tl.System,
        tl.BodyInFluid,
        tl.Torque,
        tl.Brake,
        tl.Length,
        tl.Speed,
        tl.Impedance,
    ):
        for field in kind.__dataclass_fields__:
            if field not in (
                "shape",
                "string",
                "reel",
                "bodies",
                "lines",
            ):  # parts, and what has no influence on the motion
                assert f"`{kind.__name__}.{field}`" in glossary, f"docs/glossary.md: {kind.__name__}.{field} is missing"


def test_the_reference_has_every_public_name() -> None:
    pages = "".join(p.read_text(encoding="utf-8") for p in sorted((DOCS / "reference").glob("*.md")))
    assert "```{include} ../generated/commands.md" in pages
    pages += code_tables().commands()
    for name in dir(tl):
        assert re.search(rf"\b{name}\b", pages), f"docs/reference: {name} is missing"
    for module in ("analysis", "control", "figures", "flows", "gradients", "motions", "objectives", "studies"):
        for name in getattr(tl, module).__all__:
            assert re.search(rf":: (tautline\.{module}\.)?{name}\n", pages), (
                f"docs/reference: {module}.{name} is missing"
            )


def test_the_glossary_is_the_index() -> None:
    """Every public name is there, with a sentence."""
    glossary = (DOCS / "glossary.md").read_text(encoding="utf-8")
    assert "```{include} generated/names.md" in glossary
    rows = dict(re.findall(r"^\| `tl\.([\w.]+)` \| (.+) \|$", code_tables().names(), re.MULTILINE))
    modules = {name: getattr(tl, name) for name in dir(tl) if isinstance(getattr(tl, name), ModuleType)}
    assert set(dir(tl)) - {"__version__"} <= rows.keys()
    for name, module in modules.items():
        callables = {x for x in getattr(module, "__all__", []) if inspect.isroutine(getattr(module, x))}
        assert {f"{name}.{x}" for x in callables} <= rows.keys()


def test_every_group_of_the_verification_is_explained() -> None:
    measured = (DOCS / "verification.md").read_text(encoding="utf-8")
    explained = (DOCS / "trust.md").read_text(encoding="utf-8")
    for group in re.findall(r"^## (.*)$", measured, re.MULTILINE):
        assert f"| {group} |" in explained, f"docs/trust.md: {group} is missing"


def test_the_number_of_scenarios_on_the_first_page() -> None:
    assert len(built_in_names()) == 22  # "Twenty-two scenarios are built in" in docs/quickstart.md


def test_no_line_begins_with_a_percent_sign() -> None:
    """Sphinx would take it for a comment and leave it out."""
    for page in (*DOCS.glob("*.md"), *DOCS.glob("howto/*.md"), *DOCS.glob("reference/*.md")):
        prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.search(r"^\s*%", prose, re.MULTILINE), page


def test_equations_that_the_pages_mention_exist() -> None:
    theory = (DOCS / "theory.md").read_text(encoding="utf-8")
    numbers = re.findall(r"\\tag\{(\w+)\}", theory)
    assert len(numbers) == len(set(numbers))
    glossary = (DOCS / "glossary.md").read_text(encoding="utf-8")
    prose = re.sub(r"\$.*?\$", "", re.sub(r"\$\$.*?\$\$", "", theory + glossary, flags=re.DOTALL), flags=re.DOTALL)
    for mention in re.findall(r"\((A?\d{1,2})\)", prose):
        assert mention in numbers, f"there is no equation ({mention})"
