"""Every key of the full form of scenarios, from a file to every output, with --set, resume and a study.

The files in `every_full_key/`, and those of the short form that `test_every_key.py` walks, together use every section
that files may have, every kind of each, and every key.
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
from tautline.model import checks
from tautline.model.description import Number, described, quantity
from tautline.model.file_keys import keys_of
from tautline.model.fluid import BodyInFluid, Fluid
from tautline.model.reel import Reel
from tautline.model.run import Run
from tautline.model.short_keys import expanded
from tautline.model.system import keys
from tautline.model.system.sections import COMMAND, KINDS, SECTIONS, class_of, matches, parts_of, staged
from tautline.model.system.sheaves import Sheave
from tautline.model.table_files import FILE
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


Used = set[tuple[Any, ...]]


def used_in(tree: dict[str, Any], path: tuple[str, ...] = ()) -> Used:
    """Sections of a full tree, by their patterns, and what they use: kinds, and their keys."""
    found: Used = set()
    for pattern in (x for x in SECTIONS if path and len(x) == len(path) and matches(path, x)):
        kinds = [class_of(part, tree) for part in parts_of(path, tree)]
        found |= {pattern, *((kind, key) for kind in kinds for key in ("", *tree) if key in ("", *keys_of(kind).kinds))}
    return found.union(*(used_in(x, (*path, name)) for name, x in tree.items() if isinstance(x, dict)))


def wanted() -> Used:
    """All patterns of sections, all kinds that a section may be, and all of their keys."""
    kinds = {kind for parts in SECTIONS.values() for part in parts for kind in part.options.values()}
    keys = {(kind, key) for kind in kinds for key in ("", *keys_of(kind).kinds)}
    # of bodies and lines in full files, which have no place of their own there
    moved = {(Fluid, key) for key in keys_of(BodyInFluid).kinds} | {(Reel, "guide_position"), (Run, "elements")}
    return {*SECTIONS, *keys} - moved


def used() -> Used:
    """What files of this folder use, and those of test_every_key.py, written out in full."""
    short = [tomllib.loads(path.read_text(encoding="utf-8")) for path in (FOLDER.parent / "every_key").glob("*.toml")]
    return set().union(*map(used_in, [*map(staged, trees()), *(expanded(staged(tree)) for tree in short)]))


def test_every_section_kind_and_key_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    """If this fails, a section, a kind or a key was added: use it in one of the files."""
    found = used()
    assert len(found) > 350 and not wanted() - found
    starts = [tree.get("initial", {}) for tree in trees()]
    assert {start.get("kind") for start in starts} >= set(KINDS)
    properties = scenario.full_schema()["properties"]
    assert set(properties) == {key for tree in trees() for key in tree}
    # and what is added is missed: a key, a kind of command, a section
    monkeypatch.setitem(keys_of(Sheave).kinds, "color", keys_of(Sheave).kinds["radius"])
    monkeypatch.setitem(COMMAND.options, "jog", Jog)
    monkeypatch.setitem(SECTIONS, ("lines", "*", "over", "*", "brake"), ())
    assert wanted() - found == {(Sheave, "color"), (Jog, ""), (Jog, "pace"), ("lines", "*", "over", "*", "brake")}


@described
class Jog:
    """A kind of command that no file uses."""

    pace: Number = quantity("m/s", checks.positive, "How fast.")


LONG = {"sea", "ends-retrieved", "satellites"}
DRAWN = {"reeved", *LONG}  # drawing takes seconds


@pytest.mark.parametrize("name", [pytest.param(x, marks=[pytest.mark.long] * (x in LONG)) for x in FILES])
def test_a_file_goes_all_ways(name: str, tmp_path: Path) -> None:
    source, run = FILES[name], tmp_path / "run.nc"
    assert call("check", str(source)).startswith(f"{source}: {'valid, ends early' if name in ENDINGS else 'good'}\n")
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


# Whose studies take seconds.
LONG_STUDIES = {"sea", "ship", "wind", "turning", "hanging"}


@pytest.mark.parametrize("name", [pytest.param(x, marks=[pytest.mark.long] * (x in LONG_STUDIES)) for x in FILES])
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
