"""Studies of several lines and bodies: every member as the same run alone, kills, early ends, mistakes by name."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import xarray as xr
from typer.testing import CliRunner

import tautline as tl
from tautline.cli.commands import app
from tautline.errors import InputError
from tautline.studies.definition import definition
from tautline.studies.execution.run import Progress

CRANE = Path(__file__).parent / "every_full_key" / "crane.toml"
HAULED = CRANE.with_name("ends-retrieved.toml")
STUDY = f"""
title = "Hook and load"
scenario = "{CRANE}"
outputs = [
  "max tension", "final body_position", "final energy", "max motor_work", "slack_time", "driving_energy", "peak_power",
  {{ variable = "utilization", line = "hoist" }},
  {{ name = "hook_height", variable = "position", line = "hoist", node = -1, axis = "z" }},
  {{ variable = "body_position", body = "load", at = ["0.1 s", "0.2 s"] }},
  {{ variable = "tension", reduce = "final", line = "sling" }},
  {{ variable = "strain", reduce = "final" }},
]

[set]
run.duration = "0.2 s"
lines.hoist.command = {{ kind = "torque", torque = "9 N*m" }}

[vary]
bodies.load.mass = ["4 kg", "5 kg", "6 kg", "-1 kg"]
lines.sling.stiffness = {{ from = "4 kN", to = "6 kN", points = 3 }}
"initial.bodies.load.velocity[0]" = [0, "0.5 m/s"]
"""
MEMBERS, REFUSED = 24, 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the study as a file, and as a store that was computed undisturbed."""
    home = tmp_path_factory.mktemp("systems")
    (home / "study.toml").write_text(STUDY, encoding="utf-8")
    tl.study(home / "study.toml", home / "here.zarr", workers=1, batch=5)
    return home


@pytest.fixture
def found(folder: Path) -> xr.Dataset:
    return tl.open_study(folder / "here.zarr").load()


def member(mass: float, stiffness: float, speed: float) -> xr.Dataset:
    """The same run alone."""
    case = tl.load(CRANE, {"lines.hoist.command": {"kind": "torque", "torque": 9.0}, "run.duration": 0.2})
    changes = {"bodies.load.mass": mass, "lines.sling.stiffness": stiffness}
    return tl.simulate(case.with_({**changes, "initial.bodies.load.velocity[0]": speed}))


def test_members_are_runs_alone_bit_for_bit(found: xr.Dataset) -> None:
    assert found.status.sizes == {
        "bodies.load.mass": 4,
        "lines.sling.stiffness": 3,
        "initial.bodies.load.velocity[0]": 2,
    }
    assert found.max_tension.dims[3:] == ("line",) and found.line.values.tolist() == ["hoist", "sling"]
    assert found.final_body_position.dims[3:] == ("body", "axis")
    assert found.body.values.tolist() == ["jib", "hook", "load"]
    assert found.final_tension_sling.dims[3:] == ("sling_element",)
    assert found.element_line.values.tolist() == ["hoist"] * 3 + ["sling"] * 2
    for place, (mass, stiffness, speed) in {(0, 0, 0): (4.0, 4e3, 0.0), (2, 1, 1): (6.0, 5e3, 0.5)}.items():
        run, one = member(mass, stiffness, speed), found[dict(zip(found.status.dims, place, strict=True))]
        for string in ("hoist", "sling"):
            tension = run.tension.sel(element=run.element_line == string)
            assert float(one.max_tension.sel(line=string)) == float(tension.max())
            assert float(one.max_motor_work.sel(line=string)) == float(run.motor_work.sel(line=string).max())
        assert np.array_equal(one.final_body_position, run.body_position[-1])
        assert float(one.final_energy) == float(run.energy[-1])
        hoist = run.position.sel(node=run.node_line == "hoist", axis="z")
        assert np.array_equal(one.hook_height, hoist[:, -1]) and one.hook_height.dims == ("time",)
        assert np.array_equal(one.body_position_at_load, run.body_position.sel(body="load")[[10, 20]])
        assert np.array_equal(one.final_tension_sling, run.tension.sel(element=run.element_line == "sling")[-1])
        assert np.array_equal(one.final_strain, run.strain[-1])
        ends = [run[name].sel(line="hoist").max() for name in ("start_tension", "end_tension")]
        largest = max(float(one.max_tension.sel(line="hoist")), *map(float, ends))
        assert float(one.utilization_hoist) == largest / 1000.0
        assert float(one.balance_error) == run.attrs["balance_error"]
        assert str(one.remarks.item()) == run.attrs["remarks"]
        assert int(one.steps) == run.attrs["steps"]
        assert float(one.mesh_error) == run.attrs["mesh_error"]


def test_the_motor_of_each_reel(found: xr.Dataset) -> None:
    run, one = member(5.0, 5e3, 0.0), found.isel(dict(zip(found.status.dims, (1, 1, 0), strict=True)))
    work = np.diff(run.motor_work.sel(line="hoist").values)
    assert (work > 0.0).any() and (work < 0.0).any()  # the jib heaves
    np.testing.assert_allclose(one.driving_energy.sel(line="hoist"), work[work > 0.0].sum(), rtol=1e-14)
    assert float(one.driving_energy.sel(line="sling")) == 0.0
    assert float(one.peak_power.sel(line="hoist")) == float(run.power.sel(line="hoist").max())


def test_members_that_are_refused_do_not_end_the_others(found: xr.Dataset) -> None:
    flags = dict(zip(found.status.attrs["flag_meanings"].split(), found.status.attrs["flag_values"], strict=True))
    status = found.status.values
    assert (status == flags["refused"]).sum() == REFUSED and (status[3] == flags["refused"]).all()
    assert (status == flags["completed"]).sum() == MEMBERS - REFUSED
    assert "bodies.load.mass: expected a positive finite number" in str(found.message[3, 0, 0].item())
    assert np.isnan(found.max_tension[3]).all() and np.isfinite(found.max_tension[:3]).all()


def test_a_worker_killed_and_a_study_stopped_and_resumed(found: xr.Dataset, folder: Path) -> None:
    killed: list[int] = []

    def kill(progress: Progress) -> bool:
        if progress.done and not killed:  # all of them live
            worker = next(p for p in psutil.Process().children() if "studies.execution.worker" in " ".join(p.cmdline()))
            killed.append(worker.pid)
            worker.send_signal(signal.SIGKILL)
        return progress.done > MEMBERS // 2

    path = folder / "workers.zarr"
    tl.study(folder / "study.toml", path, workers=2, batch=2, watch=kill)
    assert killed and tl.open_study(path).attrs["status"] == "unfinished"
    result = CliRunner().invoke(app, ["study", "--resume", str(path), "--quiet", "--workers", "1"])
    assert result.exit_code == 0, result.output
    same = tl.open_study(path).load()
    for name in found.data_vars:
        assert np.array_equal(same[name].values, found[name].values, equal_nan=same[name].dtype.kind == "f"), name


def call(*words: str) -> str:
    result = CliRunner().invoke(app, ["study", *words])
    assert result.exit_code == 0, result.output
    return result.output


def test_the_command_line(found: xr.Dataset, folder: Path) -> None:
    store = str(folder / "here.zarr")
    summary = json.loads(call("info", store, "--json"))
    assert summary["endings"] == {"completed": MEMBERS - REFUSED, "refused": REFUSED}
    assert summary["outputs"]["max_tension"]["max"] == float(found.max_tension.max())


@pytest.mark.long
def test_the_report(found: xr.Dataset, folder: Path) -> None:
    page = folder / "report" / "report.html"
    call("report", str(folder / "here.zarr"), "-o", str(page.parent))
    text = page.read_text(encoding="utf-8")
    assert "max_tension[hoist]" in text and "final_body_position[load, z]" not in text  # six of a vector are shown
    assert (page.parent / "max_tension-sling-map.png").is_file()


def test_a_member_that_ends_early_keeps_its_results(tmp_path: Path) -> None:
    speeds = [0.1, 1.0]
    found = tl.study(
        {
            "scenario": tl.load(HAULED),
            "set": {"run.duration": "1 s"},
            "vary": {"lines.rope.command.retrieval": speeds},
            "outputs": ["final unstretched_length", {"variable": "energy"}],
        },
        tmp_path / "s.zarr",
    ).load()
    flags = found.status.attrs["flag_meanings"].split()
    names = dict(zip(found.status.attrs["flag_values"], flags, strict=True))
    assert [names[x] for x in found.status.values.tolist()] == ["completed", "fully_retrieved"]
    assert "fully retrieved, 0.3 m of string left" in str(found.message[1].item())
    slow, fast = found.final_unstretched_length.values
    assert slow == pytest.approx(0.9) and 0.3 <= fast < 0.3 + 0.0201  # of the last sample, one every 0.02 s
    assert np.isfinite(found.energy[0]).all() and np.isnan(found.energy[1, -1])


CHANGES: list[tuple[dict[str, Any], str]] = [
    ({"vary": {"lines.hoist.stifness": [1.0]}}, "lines.hoist.stifness: no such key; did you mean 'stiffness'?"),
    ({"vary": {"lines.rope.stiffness": [1.0]}}, "lines.rope.length: missing"),
    ({"vary": {"bodies.load.mass": ["3 m"]}}, "bodies.load.mass: expected a mass such as 3 or '3 kg', got '3 m'"),
    ({"vary": {"string.stiffness": [1.0]}}, "string.stiffness: no such key; expected one of a line or a body"),
    (
        {"vary": {"run.elements": [4]}},
        "run.elements: no such key; expected one of a line or a body, such as lines.NAME.elements",
    ),
    ({"outputs": ["max reel_tension"]}, "outputs[0].variable: expected a variable of a run, got 'reel_tension'"),
    (
        {"outputs": [{"variable": "tension", "element": 0, "reduce": "max"}]},
        "outputs[0].line: missing; expected one of 'hoist', 'sling', whose nodes and elements are counted",
    ),
    ({"outputs": [{"variable": "tension", "line": "rope"}]}, "outputs[0].line: expected one of 'hoist', 'sling'"),
    (
        {"outputs": [{"variable": "energy", "line": "hoist"}]},
        "outputs[0].line: energy has no such dimension; it has the time alone",
    ),
    (
        {"outputs": [{"variable": "utilization", "line": "sling"}]},
        "outputs[0]: utilization needs a breaking load; give lines.sling.breaking_load in `set` or `vary`",
    ),
    (
        {"vary": {"lines.sling.elements": [2, 3]}, "outputs": ["final tension"]},
        "outputs[0]: expected one element to be chosen, because members may have different numbers of elements",
    ),
]


@pytest.mark.parametrize(("change", "words"), CHANGES)
def test_mistakes_are_told_by_name(change: dict[str, Any], words: str) -> None:
    good = {"scenario": str(CRANE), "vary": {"bodies.load.mass": [5.0]}, "outputs": ["max tension"]}
    definition.read(good)
    with pytest.raises(InputError) as caught:
        definition.read({**good, **change})
    assert words in str(caught.value), str(caught.value)


def test_a_section_that_names_its_kind_is_replaced_and_strings_may_differ_in_elements(tmp_path: Path) -> None:
    outputs = ["max tension", {"variable": "position", "reduce": "final", "line": "hoist", "axis": "z"}]
    made = definition.read(
        {
            "scenario": str(CRANE),
            "set": {"lines": {"hoist": {"command": {"kind": "locked"}}}, "initial": {"settle": False}},
            "vary": {"lines.sling.elements": [1, 3]},
            "outputs": outputs,
        }
    )
    assert made.scenario["lines"]["hoist"]["command"] == {"kind": "locked"}
    assert made.scenario["initial"]["settle"] is False and "hook" in made.scenario["initial"]["bodies"]
    assert made.outputs[1].dims == ("hoist_node",) and made.outputs[1].sizes == (4,)
