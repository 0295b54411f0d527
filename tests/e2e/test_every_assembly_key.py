"""Every key of scenarios of assemblies, from a file to every output: run, info, CSV, VTK, HTML, --set and resume.

The files in `every_assembly_key/` together use each key of an assembly's own sections; keys of strings, reels, commands
and bodies are those of a pendulum, which `test_every_key.py` walks.
"""

from __future__ import annotations

import csv
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import tautline as tl
from tautline.cli.commands import app
from tautline.files import scenario
from tautline.model.assembly.parts import Held, Line, Orbit
from tautline.model.assembly.sections import BODY_LOADS, HELD, KINDS
from tautline.model.assembly.state import BodyState, LineStart
from tautline.model.file_keys import keys_of
from tautline.model.fluid import BodyInFluid

FOLDER = Path(__file__).parent / "every_assembly_key"
FILES = {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}
ENDINGS = {"ends-retrieved": "fully_retrieved", "sea": "condition_met"}


def call(*words: str, expect: int = 0) -> str:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == expect, f"{words}: {result.output}"
    assert "Traceback" not in result.output
    return result.output


def trees() -> list[dict[str, Any]]:
    return [tomllib.loads(path.read_text(encoding="utf-8")) for path in FILES.values()]


def test_every_key_of_an_assembly_is_reached() -> None:
    bodies = [body for tree in trees() for body in tree.get("bodies", {}).values()]
    lines = [line for tree in trees() for line in tree["strings"].values()]
    starts = [tree.get("initial", {}) for tree in trees()]
    wanted = {
        "strings": (set(keys_of(Line).kinds) | {"reel", "command"}, lines),
        "bodies": ({HELD, *BODY_LOADS, *Held.__kinds__}, bodies),  # type: ignore[attr-defined]
        "bodies.fluid": (set(keys_of(BodyInFluid).kinds), [body["fluid"] for body in bodies if "fluid" in body]),
        "orbit": (set(keys_of(Orbit).kinds), [tree["orbit"] for tree in trees() if "orbit" in tree]),
        "initial.bodies": (set(keys_of(BodyState).kinds), [x for s in starts for x in s.get("bodies", {}).values()]),
        "initial.strings": (set(keys_of(LineStart).kinds), [x for s in starts for x in s.get("strings", {}).values()]),
    }
    for section, (keys, used) in wanted.items():
        missing = keys - {key for one in used for key in one}
        assert not missing, f"{section}: no file uses {sorted(missing)}"
    assert {start.get("kind") for start in starts} >= set(KINDS)
    properties = scenario.assembly_schema()["properties"]
    assert set(properties) == {key for tree in trees() for key in tree}


@pytest.mark.parametrize("name", FILES)
def test_a_file_goes_all_ways(name: str, tmp_path: Path) -> None:
    source, run = FILES[name], tmp_path / "run.nc"
    assert "good" in call("check", str(source))
    call("run", str(source), "-o", str(run))
    read = tl.open_run(run)
    ending = ENDINGS.get(name, "completed")
    assert read.attrs["status"] == ending
    assert all(np.isfinite(read[variable]).all() for variable in read.data_vars)
    same = tl.simulate(tl.load(source))
    for variable in read.data_vars:
        assert np.array_equal(read[variable], same[variable]), variable
    assert ending in call("info", str(run)).replace("\n", " ")
    call("export", str(run), "--csv", str(tmp_path / "a.csv"), "--vtk", str(tmp_path / "frames"), "--html")
    with (tmp_path / "a.csv").open(encoding="utf-8") as file:
        names, units, *rows = csv.reader(file)
    assert len(names) == len(units) == len(rows[0])
    assert len(rows) == read.sizes["time"]
    for part in tmp_path.glob("frames/*.pvd"):
        assert len(ElementTree.parse(part).getroot().findall(".//DataSet")) == read.sizes["time"]
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert str(read.attrs["title"]) in page

    cut = tmp_path / "cut.nc"
    tl.run_to_file(cut, tl.load(source), watch=lambda progress: progress.rows > 5)
    assert tl.open_run(cut).attrs["status"] == "unfinished"
    call("resume", str(cut))
    resumed = tl.open_run(cut)
    for variable in read.data_vars:
        assert np.array_equal(read[variable], resumed[variable]), variable


@pytest.mark.parametrize("name", FILES)
def test_keys_are_set_from_the_command_line(name: str, tmp_path: Path) -> None:
    case = tl.load(FILES[name])
    first = next(iter(case.assembly.strings))
    run = tmp_path / "run.nc"
    settings = ("--set", f"strings.{first}.elements=2", "--set", f"run.duration={2 * case.run.sample}")
    call("run", str(FILES[name]), "-o", str(run), *settings)
    assert int((tl.open_run(run).node_string == first).sum()) == 3
    assert "no such key" in call("run", str(FILES[name]), "-o", str(run), "--set", "strings.x.y=3", expect=2)
