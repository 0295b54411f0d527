"""The code in the README and the docs runs as it stands."""

from __future__ import annotations

import importlib.util
import re
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command

import tautline as tl
from tautline.cli.commands import app
from tautline.files.scenario import full_schema, short_schema
from tautline.kernels.limits import STABLE, Limits

ROOT = Path(__file__).parents[2]


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)
    assert found, f"{page} has no code"
    return found


@pytest.mark.parametrize("page", ["README.md", "docs/runs.md"])
def test_python_runs(
    page: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for code in blocks(page, "python"):
        with warnings.catch_warnings(action="error", category=tl.errors.TautlineWarning):
            exec(compile(code, page, "exec"), {})
        assert "completed" in capsys.readouterr().out


SCENARIOS = blocks("docs/scenarios.md", "toml")


@pytest.mark.parametrize("text", SCENARIOS, ids=lambda text: text[:30].replace("\n", " "))
def test_the_scenario_of_the_page_and_its_variants_run(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks after the first show sections to put in the place of those of the first."""
    (table,) = blocks("docs/scenarios.md", "text")
    (tmp_path / "heave.csv").write_text(table, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    given = tomllib.loads(text)
    tree = given if "lines" in given else {**tomllib.loads(SCENARIOS[0]), **given}
    tree["run"] = {**tree["run"], "duration": "20 ms"}
    run = tl.simulate(tl.Case.from_dict(tree))
    assert run.attrs["status"] == "completed"
    assert np.isfinite(run.position).all() and np.isfinite(run.tension).all()


def test_the_short_form_of_the_page_stands_for_the_full_one() -> None:
    (full,) = (text for text in SCENARIOS if "[lines.line]" in text and "[bodies.body]" in text.splitlines())
    short = tl.Case.from_dict(tomllib.loads(SCENARIOS[0]))
    assert tl.Case.from_dict(tomllib.loads(full)) == short.with_(title="", description="")


def key_tables() -> str:
    """The tables of keys as the extension of the docs makes them."""
    spec = importlib.util.spec_from_file_location("key_tables", ROOT / "docs/_ext/key_tables.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return str(module.tables())


def test_the_page_of_scenarios_has_every_key_and_every_command() -> None:
    page = (ROOT / "docs/scenarios.md").read_text(encoding="utf-8")
    assert "```{include} generated/keys.md" in page
    tables = key_tables()
    for schema in (short_schema(), full_schema()):
        for one in (schema, *schema["$defs"].values()):
            for key, described in one["properties"].items():
                if "const" in described:
                    assert f'`{key} = "{described["const"]}"`: {one["description"]}' in tables
                elif not {"$ref", "oneOf", "anyOf"} & described.keys() and described.get("type") != "object":
                    assert re.search(rf"^\| `{key}` \| ", tables, re.MULTILINE), f"the tables of keys: {key} is missing"
                elif schema["properties"].get(key) is described:
                    assert re.search(rf"^### `\[{key}(\.NAME)?\]`", tables, re.MULTILINE), f"[{key}] is missing"
    commands = page.split("## Commands")[1]
    for command in get_command(app).commands:  # type: ignore[attr-defined]
        assert re.search(rf"`(tautline )?{command}\b", commands), f"docs/scenarios.md: {command} is missing"
    for option in ("--csv", "--vtk", "--html", "--set", "--overwrite", "--resume"):
        assert option in commands, f"docs/scenarios.md: {option} is missing"


def test_the_page_on_trust_has_the_diagnostics_of_a_run() -> None:
    """Every row is an attribute, and the limits of the step are those that the kernels know."""
    page = (ROOT / "docs/trust.md").read_text(encoding="utf-8")
    table = page.split("| diagnostic | meaning |")[1].split("\n\n")[0]
    named = re.findall(r"^\| (`.+?`) \|", table, re.MULTILINE)
    attrs = tl.simulate(tl.load("fixed-length", {"run.duration": "20 ms"})).attrs
    wanted = {name for names in named for name in re.findall(r"`(\w+)`", names)} - {"step_over_"}
    assert len(wanted) > 6 and wanted <= attrs.keys()
    (row,) = re.findall(r"^\| `step_over_\.\.\.` \| (.+?) \|", table, re.MULTILINE)
    stable, resolving = (re.findall(r"`(\w+)`", part) for part in row.split("(stability)"))
    assert (*stable, *resolving) == Limits._fields and len(stable) == STABLE == 2
    assert "| `largest_step_ratio` | the larger of the first two |" in table
