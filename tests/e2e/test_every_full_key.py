"""Every key of the full form of scenarios, from a file to every output, with --set, resume and a study.

The files in `every_full_key/` together use each key of the sections that the short form does not have; keys of strings,
reels, commands and bodies are those of the short form, which `test_every_key.py` walks.
"""

from __future__ import annotations

import csv
import json
import re
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
from tautline.model.file_keys import keys_of
from tautline.model.flows import UNSTEADY
from tautline.model.fluid import BodyInFluid
from tautline.model.sequence import StageKeys
from tautline.model.system import keys
from tautline.model.system.parts import CARRIER_MOTIONS, Kinematic, Line, Orbit
from tautline.model.system.sections import BODY_LOADS, KIND, KINDS
from tautline.model.system.sheaves import Pin, Sheave
from tautline.model.system.state import BodyState, LineStart
from tautline.model.table_files import FILE
from tautline.model.turning import TURNINGS
from tests.support.leaves import LARGER, leaves

FOLDER = Path(__file__).parent / "every_full_key"
FILES = {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}
ENDINGS = {"ends-retrieved": "fully_retrieved", "sea": "condition_met"}


def call(*words: str, expect: int = 0) -> str:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == expect, f"{words}: {result.output}"
    assert "Traceback" not in result.output
    return result.output


def trees() -> list[dict[str, Any]]:
    return [tomllib.loads(path.read_text(encoding="utf-8")) for path in FILES.values()]


def test_every_full_key_is_reached() -> None:
    bodies = [body for tree in trees() for body in tree.get("bodies", {}).values()]
    lines = [line for tree in trees() for line in tree["lines"].values()]
    starts = [tree.get("initial", {}) for tree in trees()]
    over = {*keys_of(Sheave).kinds, *keys_of(Pin).kinds, "command"}
    wanted = {
        "lines": (set(keys_of(Line).kinds) | {"reel", "command"}, lines),
        "bodies": ({KIND, *BODY_LOADS, *Kinematic.__kinds__}, bodies),  # type: ignore[attr-defined]
        "bodies.fluid": (set(keys_of(BodyInFluid).kinds), [body["fluid"] for body in bodies if "fluid" in body]),
        "lines.over": (
            over,
            [x for line in lines for x in line.get("over", {}).values()],
        ),
        "orbit": (set(keys_of(Orbit).kinds), [tree["orbit"] for tree in trees() if "orbit" in tree]),
        "lines.command": (set(keys_of(StageKeys).kinds), [x for s in lines for x in s.get("command", {}).values()]),
        "initial.bodies": (set(keys_of(BodyState).kinds), [x for s in starts for x in s.get("bodies", {}).values()]),
        "initial.lines": (set(keys_of(LineStart).kinds), [x for s in starts for x in s.get("lines", {}).values()]),
    }
    for kind, cls in TURNINGS.items():
        turned = [body["turning"] for body in bodies if body.get("turning", {}).get("kind") == kind]
        known = set(keys_of(cls).kinds) - {FILE}  # in place of a table
        wanted[f"bodies.turning[{kind}]"] = (known, turned)
    paths = [body["path"] for body in bodies if "path" in body]
    flows = [tree["fluid"]["unsteady"] for tree in trees() if "unsteady" in tree.get("fluid", {})]
    for name, kinds, used in (("bodies.path", CARRIER_MOTIONS, paths), ("fluid.unsteady", UNSTEADY, flows)):
        assert {x["kind"] for x in used} == set(kinds), name
    for section, (known, used) in wanted.items():
        missing = known - {key for one in used if isinstance(one, dict) for key in one}
        assert not missing, f"{section}: no file uses {sorted(missing)}"
    assert {start.get("kind") for start in starts} >= set(KINDS)
    properties = scenario.full_schema()["properties"]
    assert set(properties) == {key for tree in trees() for key in tree}


LONG = {"sea", "ends-retrieved", "satellites"}
DRAWN = {"crane", "sequence", "reeved", *LONG}  # drawing takes seconds


@pytest.mark.parametrize("name", [pytest.param(x, marks=[pytest.mark.long] * (x in LONG)) for x in FILES])
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
    assert len(names) == len(units) == len(rows[0]) == len(set(names))
    lines = tl.case_of(read).system.lines
    for string, line in lines.items():  # nodes are counted along each line, by its name where there are several
        head = f"{string}." if len(lines) > 1 else ""
        places = [f"position[{head}{k},{axis}]" for k in range(line.spans * (line.count + 1)) for axis in "xyz"]
        first = names.index(places[0])
        assert names[first : first + len(places)] == places
        position = read.position.values[-1, (read.node_line == string).values]
        assert list(map(float, rows[-1][first : first + len(places)])) == position.ravel().tolist()
    assert len(rows) == read.sizes["time"]
    for part in tmp_path.glob("frames/*.pvd"):
        assert len(ElementTree.parse(part).getroot().findall(".//DataSet")) == read.sizes["time"]
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert str(read.attrs["title"]) in page

    if name in DRAWN:
        call("report", str(run), "-o", str(tmp_path / "report.html"))
        assert not re.search(r"\bnan\b", (tmp_path / "report.html").read_text(encoding="utf-8"))
        call("plot", str(run), "--figure", "all", "-o", str(tmp_path / "figures"))
        assert len(list((tmp_path / "figures").iterdir())) >= len(tl.figures.OF_A_RUN)

    cut = tmp_path / "cut.nc"
    tl.run_to_file(cut, tl.load(source), watch=lambda progress: progress.rows > 5)
    assert tl.open_run(cut).attrs["status"] == "unfinished"
    if name == "satellites":
        call("plot", str(cut), "-o", str(tmp_path / "cut"))
        call("report", str(cut), "-o", str(tmp_path / "cut.html"))
    call("resume", str(cut))
    resumed = tl.open_run(cut)
    for variable in read.data_vars:
        assert np.array_equal(read[variable], resumed[variable]), variable


@pytest.mark.parametrize("name", FILES)
def test_keys_are_set_from_the_command_line(name: str, tmp_path: Path) -> None:
    case = tl.load(FILES[name])
    first, line = next(iter(case.system.lines.items()))
    run = tmp_path / "run.nc"
    settings = ("--set", f"lines.{first}.elements=2", "--set", f"run.duration={2 * case.run.interval()}")
    call("run", str(FILES[name]), "-o", str(run), *settings)
    assert int((tl.open_run(run).node_line == first).sum()) == 3 * line.spans
    assert "no such key" in call("run", str(FILES[name]), "-o", str(run), "--set", "lines.x.y=3", expect=2)


# -- studies -------------------------------------------------------------------------------------------------

# Not varied: what must stay a multiple or a rotation; and with lengths and speeds alike larger, a shortest length that
# is larger by as much would be reached at the same sample.
RUN = {"run.duration", "run.sample", "run.step", "run.order", "run.minimum_length", "run.stop"}


def held(tree: dict[str, Any]) -> set[str]:
    bodies, strings = (tree.get(kind, {}) for kind in ("bodies", "lines"))
    elements = {f"lines.{name}.{key}" for name in strings for key in ("elements", "reel.sense")}
    moved = ("fluid.unsteady", *(f"bodies.{name}.path" for name in bodies))
    elements |= {f"{section}.{key}" for section in moved for key in ("seed", "components", "cutoff")}
    return RUN | elements | {f"initial.bodies.{name}.attitude" for name in bodies}


@pytest.mark.parametrize("name", FILES)
def test_a_study_in_which_every_number_is_varied(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two members: the scenario itself, and one with all numbers larger by a thousandth; each as a run alone."""
    given = tomllib.loads(FILES[name].read_text(encoding="utf-8"))
    monkeypatch.chdir(FOLDER)  # where files of tables are
    plain = keys.values(given)
    numbers = {key: x for key, x in leaves(plain, held(given)) if f".{FILE}." not in key}
    assert len(numbers) > 10
    table = {key: [value, value * LARGER] for key, value in numbers.items()}
    bodies = ["final body_position", "final attitude"]
    outputs = [*bodies, "max tension", "min start_tension", "final energy", "final position", "mean linear_momentum"]
    store = tmp_path / "study.zarr"
    found = tl.study({"scenario": str(FILES[name]), "table": table, "outputs": outputs}, store, workers=1).load()
    summary = json.loads(call("study", "info", str(store), "--json"))
    assert summary["endings"] == {ENDINGS.get(name, "completed"): 2}, summary["failures"]
    assert "line" not in found.dims if len(given["lines"]) == 1 else found.line.values.tolist() == list(given["lines"])
    for member, factor in enumerate((1.0, LARGER)):
        case = tl.Case.from_dict(plain).with_({key: value * factor for key, value in numbers.items()})
        run = tl.simulate(case)
        one = found.isel(member=member)
        for variable in ("body_position", "attitude", "energy", "position"):
            values = one[f"final_{variable}"].values  # the only body needs no name
            assert np.array_equal(values.reshape(run[variable][-1].shape), run[variable][-1]), variable
        for string in given["lines"]:
            tension = run.tension.sel(element=run.element_line == string)
            of_line = one.sel(line=string) if "line" in one.dims else one
            assert float(of_line.max_tension) == float(tension.max())
            assert float(of_line.min_start_tension) == float(run.start_tension.sel(line=string).min())
        last = float(run.time[-1] - run.time[-2])
        evenly = run.isel(time=slice(None, -1)) if last < 0.999 * case.run.interval() else run  # without the event
        np.testing.assert_allclose(one.mean_linear_momentum, evenly.linear_momentum.mean("time"), rtol=1e-12)
    assert not np.allclose(found.final_position[0], found.final_position[1], rtol=0.0, atol=1e-9)
