"""Vectors and tables of scenario files, in every section: from TOML, by `--set`, in studies, and in what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import tautline as tl
from tautline.cli.commands import app
from tautline.errors import InputError
from tautline.files import scenario
from tautline.files.scenario import ScenarioError
from tautline.model.chain.systems import chain_of
from tautline.studies.definition import definition
from tautline.studies.execution.compute import compute
from tests.support import chains

BASE = """
[string]
length = "20 m"
density = "0.1 kg/m"
stiffness = "1 kN"
diameter = "5 mm"
[reel]
drum_radius = "0.1 m"
guide_length = "0.1 m"
inertia_mass = "1 kg"
[body]
shape = "sphere"
mass = "1 kg"
radius = "0.1 m"
[initial]
kind = "straight"
deployed = "10 m"
[command]
kind = "locked"
[run]
duration = "20 ms"
sample = "10 ms"
elements = 3
"""
FLUID = """[fluid]
density = 1025
flow = ["3 m/s", 0, "-36 km/h"]
drag_center = ["1 cm", 0, 0]
buoyancy_center = [0, 0, 0.1]
"""
CURRENT = '[fluid]\ndensity = 1025\ndepths = [0, "20 m"]\nflows = [\n  [1, 0, 0],\n  ["20 cm/s", 0, 0]\n]\n'
PUSH = '[applied_force]\nforce = ["10 N", 0, 0]\nmoment = [0, "1 N*m", 0]\npoint = [0, 0, "10 cm"]\n'
PULSE = """[applied_force]
times = [0, "0.1 s"]
forces = [[0, 0, 0], ["1 kN", 0, 0]]
moments = [[0, 0, 0], [0, 0, "2 N*m"]]
"""
GUIDE = """[guide]
kind = "points"
times = [0, "1 s", 2]
displacements = [[0, 0, 0], ["10 cm", 0, 0], [0.2, 0, 0]]
start_velocity = [0, 0, "1 m/s"]
end_velocity = ["2 m/s", 0, 0]
"""


def built(text: str, overrides: dict[str, str] | None = None) -> chains.Chain:
    return chain_of(scenario.parse(text, "my.toml", overrides).system)


def refusal(text: str, overrides: dict[str, str] | None = None) -> str:
    with pytest.raises(ScenarioError) as caught:
        scenario.parse(text, "my.toml", scenario.Options(overrides or {})).state()
    return str(caught.value)


def test_sections_with_vectors_and_tables() -> None:
    sea = built(BASE + FLUID).fluid
    assert sea == tl.Fluid(1025.0, (3.0, 0.0, -10.0), drag_center=(0.01, 0.0, 0.0), buoyancy_center=(0.0, 0.0, 0.1))
    current = built(BASE + CURRENT).fluid
    assert current == tl.Fluid(1025.0, ((0.0, 20.0), ((1.0, 0.0, 0.0), (0.2, 0.0, 0.0))))
    push = built(BASE + PUSH).applied_force
    assert push == tl.AppliedForce((10.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 0.1))
    pulse = built(BASE + PULSE).applied_force
    assert pulse == tl.AppliedForce(
        ((0.0, 0.1), ((0.0, 0.0, 0.0), (1000.0, 0.0, 0.0))), ((0.0, 0.1), ((0.0, 0.0, 0.0), (0.0, 0.0, 2.0)))
    )
    path = built(BASE + GUIDE).reel.guide_path
    assert path == tl.motions.GuidePath(
        (0.0, 1.0, 2.0),
        ((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.2, 0.0, 0.0)),
        ((0.0, 0.0, 1.0), (2.0, 0.0, 0.0)),
    )


# -- --set ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "[3, 0, 0]",
        '["3 m/s", 0, 0]',
        "['3 m/s', '0 m/s', 0]",
        "[3 m/s, 0, 0]",
        "[3 m/s, 0 m/s, 0 m/s]",
        "[ 300 cm/s ,0,0]",
    ],
)
def test_a_vector_by_an_option(text: str) -> None:
    changes = {"fluid.density": "1.2 kg/m^3", "fluid.flow": text}
    assert built(BASE, changes).fluid == tl.Fluid(1.2, (3.0, 0.0, 0.0))


def test_tables_by_options() -> None:
    changes = {"applied_force.times": "[0, 100 ms]", "applied_force.forces": "[[0, 0, 0], [10 N, 0.01 kN, '10 N']]"}
    assert built(BASE, changes).applied_force == tl.AppliedForce(((0.0, 0.1), ((0.0, 0.0, 0.0), (10.0, 10.0, 10.0))))
    whole = {"applied_force": '{force = ["10 N", 0, 0]}'}
    assert built(BASE, whole).applied_force == tl.AppliedForce((10.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("fluid.flow", "3", "each a speed, such as [3, 0, 0] or ['3 m/s', 0, 0], got 3"),
        ("fluid.flow", "[3, 0]", "fluid.flow: expected a list of three, each a speed, such as"),
        ("fluid.flow", "[3 kg, 0, 0]", "fluid.flow.0: expected a speed such as 3 or '3 m/s', got '3 kg', which is"),
        ("fluid.flow", "[3, 0, 0", "such as [3, 0, 0] or ['3 m/s', 0, 0], got '[3, 0, 0'"),
        ("fluid.flow", "[[0, 5], [[1, 0, 0], [2, 0, 0]]]", "; a table is given by depths and flows"),
        ("fluid.flows", "[3, 0, 0]", "fluid.flows.0: expected a list of three, each a speed"),
        ("fluid.flows", "3 m/s", "fluid.flows: expected a list of vectors, each a speed, such as [[0, 0, 0], [3"),
        ("fluid.depths", "3", "expected a list, each a length, such as [0, 3] or ['0 m', '3 m'], got 3"),
        ("initial.attitude", "[1, 0, 0]", "initial.attitude.0: expected a list of three, each a number, such as"),
        ("initial.attitude", "1", "initial.attitude: expected three rows of three, each a number, such as"),
        ("applied_force", "[1, 0, 0]", "applied_force: expected a section, got [1, 0, 0]"),
        ("applied_force", "{force = [1 N, 0, 0]}", "applied_force: expected a section such as {key = 3, "),
    ],
)
def test_a_wrong_form_is_told_the_right_one(key: str, value: str, expected: str) -> None:
    message = refusal(BASE, {"fluid.density": "1", key: value})
    assert expected in message
    assert message.startswith("--set ")


# -- lines ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("section", "key", "value", "line"),
    [
        (FLUID, 'flow = ["3 m/s"', 'flow = ["3 kg"', "my.toml:26: fluid.flow.0: expected a speed"),
        (FLUID, "buoyancy_center = [0, 0, 0.1]", "volume = -1", "my.toml:28: fluid.volume: expected a finite number"),
        (CURRENT, 'depths = [0, "20 m"]', "depths = [1, 0]", "my.toml:26: fluid.depths: expected increasing"),
        (CURRENT, '["20 cm/s", 0, 0]', "[1, 2, 3],\n  [1, 2, 3]", "my.toml:27: fluid.flows: expected 2 x 3 finite"),
        (CURRENT, '["20 cm/s", 0, 0]\n]', "[0, 0, 0]\n]\nvolume = -1", "my.toml:31: fluid.volume: expected a finite"),
        (PULSE, 'times = [0, "0.1 s"]', "times = [0, 0]", "my.toml:25: applied_force.times: expected increasing"),
        (PULSE, "moments = [[0, 0, 0], ", "moments = [", "my.toml:27: applied_force.moments: expected 2 x 3 finite"),
        (PUSH, 'point = [0, 0, "10 cm"]', "point = [1e60, 0, 0]", "my.toml:27: applied_force.point: expected 3 finit"),
        (GUIDE, "times = [0, ", "times = [0.5, 0.2, ", "my.toml:26: guide.times: expected increasing numbers"),
        (GUIDE, "[0.2, 0, 0]]", "[0, 0, 0], [0, 0, 0]]", "my.toml:27: guide.displacements: expected 3 x 3 finite"),
        (GUIDE, 'end_velocity = ["2 m/s"', "end_velocity = [1e60", "my.toml:29: guide.end_velocity: expected 'natura"),
    ],
)
def test_the_line_of_what_is_wrong(section: str, key: str, value: str, line: str) -> None:
    assert key in section
    assert line in refusal(BASE + section.replace(key, value, 1))


@pytest.mark.parametrize(
    ("section", "keys", "expected"),
    [
        ("fluid", "flow = [1, 0, 0]\ndepths = [0]\nflows = [[1, 0, 0]]", "expected either flow, or depths and flows"),
        ("fluid", "depths = [0]", "expected either flow, or depths and flows, got depths"),
        (
            "applied_force",
            "force = [1, 0, 0]\ntimes = [0]\nforces = [[1, 0, 0]]",
            "expected either force, or times and",
        ),
        ("applied_force", "moment = [1, 0, 0]\ntimes = [0]\nmoments = [[1, 0, 0]]", "expected either moment, or times"),
        ("applied_force", "times = [0]", "expected times together with forces or moments"),
        ("applied_force", "forces = [[1, 0, 0]]", "expected either force, or times and forces, got forces"),
    ],
)
def test_what_is_given_twice_or_by_half(section: str, keys: str, expected: str) -> None:
    density = "density = 1\n" if section == "fluid" else ""
    assert f"{section}: {expected}" in refusal(f"{BASE}[{section}]\n{density}{keys}\n")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('sample = "10 ms"', 'sample = "7 ms"', "my.toml:21: run.duration: expected a multiple of sample (0.007 s)"),
        ('duration = "20 ms"', 'duration = "25 ms"', "my.toml:21: run.duration: expected a multiple of sample"),
        ("elements = 3", "elements = 3\nstep = 1", "my.toml:24: run.step: expected at most"),
        ("elements = 3", 'elements = 3\nstep = "3 ms"', "my.toml:22: run.sample: expected a multiple of step"),
        ("elements = 3", "elements = 3\nminimum_length = 10", "my.toml:24: run.minimum_length: expected less"),
        ("elements = 3", "elements = 3\norder = 4\nat_end = 'hold'", "my.toml:24: run.order: expected 2 with at_end"),
        ('kind = "locked"', 'kind = "length"\ntimes = [0]\nlengths = [9]', "my.toml:18: command: expected the present"),
        ('kind = "locked"', 'kind = "locked"\n[fluid]\ndensity = 1\n', None),
    ],
)
@pytest.mark.parametrize("command", ["check", "run"])
def test_what_is_found_late_has_file_and_line(
    command: str, old: str, new: str, expected: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only when everything is put together, but told like the rest."""
    monkeypatch.chdir(tmp_path)
    assert old in BASE
    Path("my.toml").write_text(BASE.replace(old, new, 1), encoding="utf-8")
    result = CliRunner().invoke(app, [command, "my.toml"])
    if expected is None:
        assert result.exit_code == 0, result.output
        return
    assert result.exit_code == 2
    assert result.output.startswith(f"error: {expected}"), result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["my.toml"]


# -- studies -------------------------------------------------------------------------------------------


def end_of(study: dict[str, Any]) -> Any:
    """Place of the body at the end, for every member."""
    read = definition.read({**study, "outputs": ["final position"]})
    found = compute(read.work, read.table)
    assert found.message == [""] * len(found.message)
    return found.outputs["final_position"][:, -1]


def test_a_component_of_what_the_scenario_does_not_give() -> None:
    """The default takes the place of the list; the section may come from [set]."""
    study = {
        "scenario": scenario.parse(BASE).to_dict(),
        "set": {"fluid.density": "1.2 kg/m^3", "fluid.drag_area": "1 m^2"},
        "vary": {"fluid.flow[0]": ["0 m/s", "30 m/s"]},
    }
    places = end_of(study)
    assert places[1, 0] > places[0, 0] + 1e-4


@pytest.mark.parametrize(
    ("vary", "expected"),
    [
        ({"fluid.flow[3]": [0, 1]}, "fluid.flow[3]: expected a component from 0 to 2, got 3"),
        ({"fluid.flow": [[0, 0, 0], [1, 0, 0]]}, "expected single values; vary components, such as fluid.flow[0]"),
        ({"fluid.volume[0]": [0, 1]}, "fluid.volume[0]: expected fluid.volume to be a list in the scenario, got 0.0"),
        ({"fluid.flows[0][0]": [0, 1]}, "expected fluid.flows to be a list in the scenario, got none; give"),
        ({"fluid.flow[0]": ["1 kg", 1]}, "fluid.flow.0: expected a speed such as 3 or '3 m/s', got '1 kg'"),
    ],
)
def test_components_that_are_refused(vary: dict[str, Any], expected: str) -> None:
    tree = scenario.parse(BASE + FLUID).to_dict()
    with pytest.raises(InputError) as caught:
        definition.read({"scenario": tree, "vary": vary, "outputs": ["final position"]})
    assert expected in str(caught.value)
