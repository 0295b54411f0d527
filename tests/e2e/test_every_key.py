"""Every key of scenario files, from a file to every output: run, info, CSV, VTK, HTML, figures, resume and a study.

The files in `every_key/` together use each key, each kind of section and each choice that the JSON Schema knows; a key
that none of them reaches fails `test_every_key_is_reached`.
"""

from __future__ import annotations

import copy
import csv
import json
import math
import os
import re
import shutil
import signal
import sys
import time
import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import tautline as tl
from tautline import registry
from tautline.arrays import Array
from tautline.cli.commands import app
from tautline.engine.runner import LOCATED
from tautline.files import runs, scenario
from tautline.model.short_keys import short
from tautline.schema import OF_SHEAVES, SCHEMA
from tautline.studies.definition import definition
from tautline.studies.definition.work import STATUS_NAMES
from tautline.studies.execution.compute import compute
from tautline.viewer.payload import frame_length
from tests.support.leaves import LARGER, leaves
from tests.support.packed import summed

FOLDER = Path(__file__).parent / "every_key"
FILES = {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}
# How runs end that do not complete; by exit code 3 where it is for a numerical reason.
ENDINGS = {
    "ends-condition": "condition_met",
    "ends-deployed": "fully_deployed",
    "ends-retrieved": "fully_retrieved",
    "ends-unstable": "unstable_step",
}
EXIT_CODES = {"unstable_step": 3}
# These carry what a kill may leave behind in another way: nothing beyond the model, all loads, a curve in time.
KILLED = ["free", "loads", "length-table"]
# Of these all figures are drawn, when they are finished and when they are not: one that ends early, a body that turns.
PLOTTED = ["ends-unstable", "loads"]
# Of these more is looked at when they are not finished.
MORE = {*KILLED, *PLOTTED, *ENDINGS}
# Frames show nodes and bodies, whatever moves them: of these, and of a body of every shape.
FRAMED = {*MORE, "length-frequency", "length-sine", "length-sines", "speed-sine", "table-of-tension", "tables-of-loads"}
WORD = re.compile(r"\b(?:nan|inf|infinity|none|traceback)\b", re.IGNORECASE)


# -- what there is, and what is reached ----------------------------------------------------------------------

DISCRIMINATORS = ("shape", "kind")
# Keys whose choices are laws of the registry: `test_every_law_runs_from_a_file` has each of them.
OF_REGISTRY: dict[str, Mapping[str, registry.Entry]] = {
    "reel.guide_law": registry.GUIDE_LAWS,
    "string.law": registry.ELASTIC_LAWS,
}


# A section inside of another one.
UNSTEADY = ("fluid", "unsteady")


def variants(schema: dict[str, Any], node: dict[str, Any]) -> list[dict[str, Any]]:
    """Objects that a section may be."""
    if "$ref" in node:
        return [schema["$defs"][node["$ref"].rpartition("/")[2]]]
    if "properties" in node:
        return [node]
    choices = node.get("oneOf", node.get("anyOf", []))
    return [found for choice in choices for found in variants(schema, choice)]


def keys_of_schema(schema: dict[str, Any]) -> dict[str, list[Any]]:
    """Every key as `section.key`, or `section[kind].key`, with its choices if it has some."""
    found: dict[str, list[Any]] = {}
    for name, node in schema["properties"].items():
        objects = variants(schema, node)
        if not objects:
            found[name] = []
        for one in objects:
            properties = one["properties"]
            tags = [properties[word]["const"] for word in DISCRIMINATORS if "const" in properties.get(word, {})]
            place = f"{name}[{tags[0]}]" if tags else name
            for key, described in properties.items():
                found[f"{place}.{key}"] = described.get("enum", [])
            inner = {key: x for key, x in properties.items() if (name, key) == UNSTEADY}
            found |= {f"{place}.{key}": x for key, x in keys_of_schema(schema | {"properties": inner}).items()}
    return found


def keys_of_text(text: str) -> dict[str, Any]:
    """Keys that a file uses, named as by `keys_of_schema`, with their values."""
    return keys_of_sections(tomllib.loads(text))


def keys_of_sections(sections: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, section in sections.items():
        if not isinstance(section, dict):
            found[name] = section
            continue
        tag = next((section[word] for word in DISCRIMINATORS if word in section), None)
        place = f"{name}[{tag}]" if tag else name
        found |= {f"{place}.{key}": value for key, value in section.items()}
        inner = {key: x for key, x in section.items() if (name, key) == UNSTEADY}
        found |= {f"{place}.{key}": x for key, x in keys_of_sections(inner).items()}
    return found


def not_reached(schema: dict[str, Any], texts: list[str]) -> list[str]:
    """Keys of a schema, and choices of keys, that no text uses."""
    known = keys_of_schema(schema)
    used = [keys_of_text(text) for text in texts]
    missing = set(known) - {key for keys in used for key in keys}
    for key, choices in known.items():
        if key in OF_REGISTRY:
            continue
        missing |= {f"{key} = {choice!r}" for choice in choices if choice not in [keys.get(key) for keys in used]}
    return sorted(missing)


# Orbits have no short form: test_every_full_key.py walks every_full_key/orbital.toml.
ORBITAL = "initial[placed].frame = 'orbital'"
TEXTS = [path.read_text(encoding="utf-8") for path in FILES.values()]


def test_every_key_is_reached() -> None:
    """If this fails, a key was added: use it in one of the files of `every_key/`."""
    schema = copy.deepcopy(scenario.short_schema())
    known = keys_of_schema(schema)
    assert len(known) > 100 and sum(map(len, known.values())) > 12, "the schema is not understood"
    nested = {"BodyState", "LineStart", "LineState"}  # by the names of bodies and lines: test_every_full_key.py
    defined = {key for name, one in schema["$defs"].items() if name not in nested for key in one["properties"]}
    assert {key.rpartition(".")[2] for key in known} >= defined - set(schema["properties"])
    assert not_reached(schema, TEXTS) == [ORBITAL]
    unknown = {key for text in TEXTS for key in keys_of_text(text)} - set(known)
    assert not unknown
    shapes = {name: tomllib.loads(path.read_text(encoding="utf-8"))["body"]["shape"] for name, path in FILES.items()}
    assert {shapes[name] for name in FRAMED} == set(shapes.values())
    # and what is added to the schema is missed
    schema["properties"]["author"] = {"type": "string"}
    schema["$defs"]["Box"]["properties"]["color"] = {"type": "string"}
    schema["$defs"]["Run"]["properties"]["at_end"] = {"enum": ["stop", "hold", "bounce"]}
    assert not_reached(schema, TEXTS) == ["author", "body[box].color", ORBITAL, "run.at_end = 'bounce'"]


@pytest.mark.parametrize(
    ("key", "law"), [(key, law) for key, laws in OF_REGISTRY.items() for law in laws if law != "table"]
)
def test_every_law_runs_from_a_file(key: str, law: str) -> None:
    """That of a table is in table-of-tension.toml."""
    one = {"reel.guide_law": "dissipative", "run.order": 2, "run.duration": "20 ms"}
    case = tl.load(FILES["free"], one | {key: law})
    assert tl.simulate(case).attrs["status"] == "completed"


# -- what comes out ------------------------------------------------------------------------------------------


def tautline(*arguments: str, expect: int = 0) -> str:
    """The command, in this process; what it prints holds no number that is none."""
    result = CliRunner().invoke(app, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == expect, f"{arguments}: exit code {result.exit_code}\n{result.output}"
    if "--json" not in arguments:
        assert not WORD.search(result.output), result.output
    return result.stdout


def check_numbers(value: Any, where: str) -> None:
    """Every number of a JSON tree is finite; figures that a run does not have are null."""
    if isinstance(value, dict):
        for name, inner in value.items():
            check_numbers(inner, f"{where}.{name}")
    elif isinstance(value, list):
        for k, inner in enumerate(value):
            check_numbers(inner, f"{where}[{k}]")
    else:
        assert not isinstance(value, float) or math.isfinite(value), f"{where} is {value}"


def check_summary(path: Path, status: str, rows: int, end: float) -> None:
    """`info` and `info --json` of a run file that holds `rows` samples up to `end`."""
    summary = json.loads(tautline("info", str(path), "--json"))
    check_numbers(summary, "summary")
    assert (summary["status"], summary["rows"]) == (status, rows)
    assert summary["time"] == pytest.approx(end, abs=1e-12)
    assert ("tautline resume" in summary["message"]) == (status == "unfinished")
    assert summary["final_reel_speed"] is not None and summary["largest_step_ratio"] is not None
    assert summary["balance_error"] is not None
    ranges = ("strain", "tension", "start_tension", "end_tension", "torque", "power", "reel_speed", "kinetic_energy")
    for name in (*ranges, "unstretched_length", "stretched_length"):
        low, high = summary[name]
        assert low <= high, f"{name}: {low} to {high}"
    assert 0.0 < summary["unstretched_length"][1] <= 20.0
    assert 0.0 < summary["stretched_length"][1] < 30.0
    assert abs(summary["tension"][0]) < 1e5 and abs(summary["tension"][1]) < 1e5
    assert abs(summary["strain"][0]) < 1.0 and abs(summary["strain"][1]) < 1.0
    # of two rows from rest, the largest kinetic energy is no measure yet
    assert status == "unfinished" or 0.0 <= summary["balance_error"] < 0.05
    printed = tautline("info", str(path), "--no-color")
    assert status in printed and f"{rows} samples" in printed


def check_csv(path: Path, times: Array) -> None:
    """A row for every sample that was written, all of them numbers."""
    rows = len(times)
    target = path.with_suffix(".csv")
    assert f"{rows} rows" in tautline("export", str(path), "--csv", str(target), "--overwrite")
    with target.open(newline="", encoding="utf-8") as file:
        names, units, *lines = csv.reader(file)
    values = np.array(lines, dtype=float)
    assert values.shape == (rows, len(names)) and len(units) == len(names)
    assert {name.partition("[")[0] for name in names} == {"time", *SCHEMA} - set(OF_SHEAVES)
    assert np.isfinite(values).all(), sorted({names[k] for k in np.argwhere(~np.isfinite(values))[:, 1]})
    np.testing.assert_allclose(values[:, 0], times, rtol=0.0, atol=1e-12)


def check_vtk(path: Path, times: Array) -> None:
    """A frame for every sample, numbers in it, and the times of the series."""
    folder = path.with_suffix("")
    assert f"{len(times)} frames" in tautline("export", str(path), "--vtk", str(folder), "--overwrite")
    for part in ("line", "body"):
        entries = ElementTree.parse(folder / f"{part}.pvd").findall("Collection/DataSet")
        shown = [float(entry.attrib["timestep"]) for entry in entries]
        np.testing.assert_allclose(shown, times, rtol=0.0, atol=1e-12)
        files = sorted(folder.glob(f"{part}_*.vtp"))
        assert [entry.attrib["file"] for entry in entries] == [file.name for file in files]
        for file in files:
            for array in ElementTree.parse(file).iter("DataArray"):
                assert np.isfinite(np.array((array.text or "").split(), dtype=float)).all(), file
    shutil.rmtree(folder)


def check_page(path: Path, status: str, rows: int, end: float) -> None:
    """One HTML file with all samples, and no number in it that is none."""
    target = path.with_suffix(".html")
    tautline("export", str(path), "--html", "--overwrite")
    text = target.read_text(encoding="utf-8")
    boot = json.loads(text.split('<script id="boot" type="application/json">')[1].split("</script>")[0])
    (run,) = boot["runs"]
    check_numbers({name: x for name, x in run.items() if x is not None}, "page")
    assert (run["status"], run["samples"], run["start"]) == (status, rows, 0.0)
    assert run["end"] == pytest.approx(end, abs=1e-12)
    series = {"frames": frame_length(run), "plots": 1 + len(run["series"])}
    for kind, bits, width in (("frames", "<u4", "<f4"), ("plots", "<u8", "<f8")):
        packed = text.split(f'<script id="{kind}-0" type="text/plain">')[1].split("</script>")[0]
        numbers = summed(packed, bits, series[kind]).view(width)
        assert numbers.shape[1] >= rows and np.isfinite(numbers).all(), kind


def check_figures(path: Path) -> None:
    """Every figure, each a picture with something in it."""
    folder = path.with_suffix("")
    printed = tautline("plot", str(path), "--figure", "all", "-o", str(folder), "--overwrite").split()
    assert [Path(name).name for name in printed] == [f"{path.stem}-{name}.png" for name in tl.figures.OF_A_RUN]
    for name in printed:
        pixels = np.asarray(Image.open(name).convert("L"))
        assert pixels.std() > 3.0, f"{name} is empty"  # a page with a frame and its labels has 15 and more
    shutil.rmtree(folder)


def check_report(path: Path) -> None:
    """The page of what rope engineers read off, with all its pictures and no number in it that is none."""
    target = path.with_suffix(".loads.html")
    tautline("report", str(path), "-o", str(target), "--breaking-load", "1 kN", "--rope", "six_strand", "--overwrite")
    text = re.sub('data:[^"]*', "", target.read_text(encoding="utf-8"))
    read = re.sub("<[^>]*>", " ", re.sub("<style>.*?</style>|<details.*?</details>", "", text, flags=re.DOTALL))
    assert "he rope " in text and text.count("<figure>") == 5 and not WORD.search(read)


def check_outputs(path: Path, name: str, status: str, times: Array) -> None:
    check_summary(path, status, len(times), times[-1])
    check_csv(path, times)
    if name in FRAMED:
        check_vtk(path, times)
    check_page(path, status, len(times), times[-1])


def written(path: Path) -> Array:
    """Times of a run file: every 5 ms, and when an event ended it that has a place in time."""
    run = tl.open_run(path)
    times = np.asarray(run.time.values)
    expected = 5e-3 * np.arange(len(times))
    if run.status in LOCATED:
        assert expected[-2] < run.end_time <= expected[-1] + 1e-12
        expected[-1] = run.end_time
    np.testing.assert_allclose(times, expected, rtol=0.0, atol=1e-12)
    return times


def status_of(name: str) -> str:
    return ENDINGS.get(name, "completed")


Finished = Callable[[str], Path]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """Runs of the files by the command, each made once."""
    folder = tmp_path_factory.mktemp("every_key")

    def run(name: str) -> Path:
        path = folder / f"{name}.nc"
        if not path.exists():
            tautline("run", str(FILES[name]), "-o", str(path), "--quiet", expect=exit_code(name))
        return path

    return run


def exit_code(name: str) -> int:
    return EXIT_CODES.get(status_of(name), 0)


@pytest.mark.parametrize("name", FILES)
def test_a_run_and_what_is_made_of_it(name: str, finished: Finished) -> None:
    path = finished(name)
    planned = tl.load(FILES[name]).run
    assert planned.sample == 5e-3
    times = written(path)
    most = round(planned.duration / 5e-3) + 1
    assert len(times) == most if name not in ENDINGS else 1 < len(times) < most
    check_outputs(path, name, status_of(name), times)
    if name in MORE:
        again = ["run", str(FILES[name]), "-o", str(path), "--overwrite"]
        assert status_of(name) in tautline(*again, expect=exit_code(name))
        check_numbers(json.loads(tautline(*again, "--json", expect=exit_code(name))), "summary")
    # a run that has ended is left as it is
    tautline("resume", str(path), expect=exit_code(name))
    np.testing.assert_array_equal(written(path), times)


@pytest.mark.parametrize("name", FILES)
def test_an_interrupted_run_and_what_is_made_of_it(name: str, finished: Finished, tmp_path: Path) -> None:
    """After its first chunk: what is there, all outputs of some; and then the end, bit for bit."""
    path = tmp_path / "run.nc"
    runs.run_to_file(path, tl.load(FILES[name]), watch=lambda progress: True)
    if name in MORE:
        check_outputs(path, name, "unfinished", np.array([0.0, 5e-3]))
    else:
        check_summary(path, "unfinished", 2, 5e-3)
    tautline("resume", str(path), expect=exit_code(name))
    assert tl.open_run(path).equals(tl.open_run(finished(name)))
    assert tl.open_run(path).attrs["status"] == status_of(name)


@pytest.mark.long
@pytest.mark.parametrize("name", PLOTTED)
def test_figures_of_a_run(name: str, finished: Finished, tmp_path: Path) -> None:
    """Of one that is finished, and of one that has two samples or only its first."""
    check_figures(finished(name))
    check_report(finished(name))
    path = tmp_path / "run.nc"
    runs.run_to_file(path, tl.load(FILES[name]), watch=lambda progress: True)
    check_figures(path)


def write_row_by_row() -> None:
    """Chunks of a run file of one row each, so that a kill finds it in the middle."""
    inside = [module for name, module in sys.modules.items() if name.partition("tautline.files.runs")[0] == ""]
    for module in (module for module in inside if hasattr(module, "SECONDS_A_CHUNK")):
        setattr(module, "SECONDS_A_CHUNK", 1e-9)  # noqa: B010 - wherever the store keeps it


@pytest.mark.parametrize("name", KILLED)
def test_a_killed_run_and_what_is_made_of_it(name: str, tmp_path: Path) -> None:
    """By SIGKILL, in the middle of its writing."""
    path, whole = tmp_path / "run.nc", tmp_path / "whole.nc"
    longer = ["--set", "run.duration=5 s", "--set", "run.elements=2"]
    if name == "length-table":
        longer += ["--set", "command.times=[0 s, 1 s, 10 s]", "--set", "command.lengths=[4 m, 5 m, 14 m]"]
    child = os.fork()
    if child == 0:
        write_row_by_row()
        CliRunner().invoke(app, ["run", str(FILES[name]), "-o", str(path), "--quiet", *longer])
        os._exit(0)
    deadline = time.monotonic() + 60.0
    while not path.exists() or tl.open_run(path).sizes["time"] < 4:
        assert time.monotonic() < deadline and os.waitpid(child, os.WNOHANG) == (0, 0), "the run did not begin"
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1]), "the kill came too late"
    times = written(path)
    assert 4 <= len(times) < 1001
    check_outputs(path, name, "unfinished", times)
    tautline("resume", str(path))
    tautline("run", str(FILES[name]), "-o", str(whole), *longer)
    assert tl.open_run(path).equals(tl.open_run(whole))


# -- studies -------------------------------------------------------------------------------------------------

# Kinematic: counts, what must stay a multiple or a rotation, and tables of CSV files, which are given as a whole.
HELD = {"run.stop", "run.elements", "run.order", "run.duration", "run.sample", "run.step", "initial.attitude"}
HELD |= {"initial.bodies.body.attitude", "reel.sense", "body.faces"}
HELD |= {
    f"{section}.{key}"
    for section in ("guide", "command", "fluid.unsteady")
    for key in ("seed", "components", "cutoff", "file")
}


def in_tree(tree: Any, path: tuple[str, ...]) -> bool:
    for name in path:
        if not isinstance(tree, dict) or name not in tree:
            return False
        tree = tree[name]
    return True


def in_a_store(study: dict[str, Any], path: Path, name: str) -> dict[str, Array]:
    """Outputs of a study from its store, and its summary."""
    found = tl.study(study, path, workers=1).load()
    summary = json.loads(tautline("study", "info", str(path), "--json"))
    assert summary["endings"] == {status_of(name): 2}, summary["failures"]
    check_numbers(summary["outputs"], "outputs")
    return {str(output): x.values for output, x in found.items()}


def computed(study: dict[str, Any], name: str) -> dict[str, Array]:
    """Outputs of a study that keeps nothing: a store has an array for each key, which takes most of the time."""
    read = definition.read(study)
    found = compute(read.work, read.table)
    assert [STATUS_NAMES[code] for code in found.status.tolist()] == [status_of(name)] * 2, found.message
    return dict(found.outputs)


@pytest.mark.parametrize("name", FILES)
def test_a_study_in_which_every_number_is_varied(name: str, finished: Finished, tmp_path: Path) -> None:
    """Two members: the scenario itself, and one with all numbers larger by a thousandth."""
    given = tomllib.loads(FILES[name].read_text(encoding="utf-8"))
    numbers: dict[str, float] = {}
    for key, value in leaves(tl.load(FILES[name]).to_dict(), set()):
        *path, last = key.split(".")
        spelled = short((*path, last.partition("[")[0]))
        if in_tree(given, spelled) and ".".join(spelled) not in HELD:
            numbers.setdefault(".".join(spelled) + last[len(last.partition("[")[0]) :], value)
    if given["command"].get("file") == "length.csv":
        del numbers["initial.deployed"]  # it is where the table of the file begins
    study = {
        "scenario": str(FILES[name]),
        "table": {key: [value, value * LARGER] for key, value in numbers.items()},
        "outputs": ["final position", "max tension", "min tension", "final energy", "max kinetic_energy"],
    }
    found = in_a_store(study, tmp_path / "study.zarr", name) if name in MORE else computed(study, name)
    run = tl.open_run(finished(name))
    for key, expected in (
        ("final_position", run.position[-1]),
        ("max_tension", run.tension.max()),
        ("min_tension", run.tension.min()),
        ("final_energy", run.energy[-1]),
    ):
        values = found[key]
        assert np.isfinite(values).all(), key
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(values[0], expected, rtol=0.0, atol=1e-9 * scale, err_msg=key)
    first, second = found["final_position"]
    assert not np.allclose(first, second, rtol=0.0, atol=1e-9)
