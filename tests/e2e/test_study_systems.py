"""Studies of several lines and bodies: every member as the same run alone, kills, early ends, mistakes by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline.errors import InputError
from tautline.studies.definition import definition

CRANE = Path(__file__).parent / "every_full_key" / "crane.toml"
HAULED = CRANE.with_name("ends-retrieved.toml")
STUDY = f"""
title = "Hook and load"
scenario = "{CRANE}"
outputs = [
  "max tension", "final body_position", "final energy", "max motor_work", "slack_time", "driving_energy", "peak_power",
  "utilization[hoist]", "final tension[sling]", "final strain", "max strain / 1000",
  {{ name = "hook_height", variable = "position[hoist, -1].z" }},
  {{ variable = "body_position[load]", at = ["0.1 s", "0.2 s"] }},
]

[set]
run.duration = "0.2 s"
lines.hoist.command = {{ kind = "torque", torque = "9 N*m" }}

[vary]
bodies.load.mass = ["4 kg", "5 kg", "6 kg", "-1 kg"]
lines.sling.stiffness = {{ from = "4 kN", to = "6 kN", points = 3 }}
"initial.bodies.load.velocity[0]" = [0, "0.5 m/s"]
"""


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
    """Run of a member alone."""
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
        strain = run.strain.sel(element=run.element_line == "sling")
        assert float(one.max_strain_1000.sel(line="sling")) == float(strain.max()) / 1000.0
        assert float(one.final_energy) == float(run.energy[-1])
        hoist = run.position.sel(node=run.node_line == "hoist", axis="z")
        assert np.array_equal(one.hook_height, hoist[:, -1]) and one.hook_height.dims == ("time",)
        assert np.array_equal(one.body_position_load_at, run.body_position.sel(body="load")[[10, 20]])
        assert np.array_equal(one.final_tension_sling, run.tension.sel(element=run.element_line == "sling")[-1])
        assert np.array_equal(one.final_strain, run.strain[-1])
        ends = [run[name].sel(line="hoist").max() for name in ("start_tension", "end_tension")]
        largest = max(float(one.max_tension.sel(line="hoist")), *map(float, ends))
        assert float(one.utilization_hoist) == largest / 1000.0
        assert float(one.balance_error) == run.attrs["balance_error"]
        assert tl.warnings_of(one) == tl.warnings_of(run)
        assert int(one.steps) == run.attrs["steps"]
        assert float(one.mesh_error) == run.attrs["mesh_error"]


def test_the_motor_of_each_reel(found: xr.Dataset) -> None:
    run, one = member(5.0, 5e3, 0.0), found.isel(dict(zip(found.status.dims, (1, 1, 0), strict=True)))
    work = np.diff(run.motor_work.sel(line="hoist").values)
    assert (work > 0.0).any() and (work < 0.0).any()  # the jib heaves
    np.testing.assert_allclose(one.driving_energy.sel(line="hoist"), work[work > 0.0].sum(), rtol=1e-14)
    assert float(one.driving_energy.sel(line="sling")) == 0.0
    assert float(one.peak_power.sel(line="hoist")) == float(run.power.sel(line="hoist").max())


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
    ({"vary": {"lines.rope.stiffness": [1.0]}}, "lines.rope.length: missing"),
    ({"vary": {"string.stiffness": [1.0]}}, "string.stiffness: no such key; expected one of a line or a body"),
    (
        {"vary": {"run.elements": [4]}},
        "run.elements: no such key; expected one of a line or a body, such as lines.NAME.elements",
    ),
    ({"outputs": ["tension[rope]"]}, "expected a whole number for the element or one of hoist, sling, got 'rope'"),
    ({"outputs": ["utilization[rope]"]}, "outputs[0].variable: expected one of 'hoist', 'sling'"),
    ({"outputs": ["energy[hoist]"]}, "outputs[0].variable: expected fewer components in the brackets"),
    (
        {"outputs": ["utilization[sling]"]},
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
    outputs = ["max tension", "final position[hoist].z"]
    made = definition.read(
        {
            "scenario": str(CRANE),
            "set": {"lines": {"hoist": {"command": {"kind": "locked"}}}, "initial": {"settle": False}},
            "vary": {"lines.sling.elements": [1, 3]},
            "outputs": outputs,
        }
    )
    assert made.work.scenario["lines"]["hoist"]["command"] == {"kind": "locked"}
    assert made.work.scenario["initial"]["settle"] is False and "hook" in made.work.scenario["initial"]["bodies"]
    assert made.work.outputs[1].dims == ("hoist_node",) and made.work.outputs[1].sizes == (4,)
