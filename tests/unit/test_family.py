"""Members that are set up as arrays: the same results as those of members that are set up one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.engine.chain import blocks
from tautline.engine.chain.family import Family
from tautline.errors import RUNNING
from tautline.model import keys
from tautline.model.short_keys import full_key
from tautline.studies.definition import definition
from tautline.studies.definition.work import REFUSED, Computed
from tautline.studies.execution import compute
from tests.support.checking import check_close

# Members in arrays add in another order.
ROUNDING = 1e-11
OUTPUTS = [
    "position",
    "velocity",
    "max tension",
    "min start_tension",
    "mean strain",
    "final energy",
    "final attitude",
    "torque",
    "max power",
    "final motor_work",
    "body_velocity",
    "final linear_momentum",
    "angular_momentum",
]
# Numbers of the built-in scenarios by key, with a value as well as those that the scenario has.
STRING = {"string.length": 80.0, "string.density": 0.08, "string.stiffness": 43.0, "string.normal_drag": 1.5}
REEL = {
    "reel.drum_radius": 0.6,
    "reel.guide_length": 0.4,
    "reel.inertia_mass": 1.3,
    "reel.guide_position[2]": -1.5,
    "reel.smoothing_speed": 2e-3,
    "reel.viscous_friction": 0.02,
    "reel.coulomb_friction": 0.03,
    "reel.max_torque": 1.5,
    "reel.max_power": 2.0,
    "reel.motor_inertia": 0.02,
    "reel.gear_ratio": 3.0,
}
START = {
    "initial.deployed": 9.0,
    "initial.end_velocity[1]": 0.7,
    "initial.angular_velocity[2]": 0.4,
}
ALONG = {"initial.direction[0]": 0.3, "initial.direction[1]": -0.1}
CASES: dict[str, dict[str, Any]] = {
    "locked": {"name": "fixed-length", "set": {"run.step": 5e-4}, "keys": {**STRING, **REEL, **START, **ALONG}},
    "auto": {"name": "fixed-length", "set": {"run.step": "auto"}, "keys": {**STRING, **START}},
    "torque": {
        "name": "retrieval",
        "set": {"run.step": 5e-4},
        "keys": {**STRING, **REEL, **START, "command.torque": 1.9},
    },
    "brake": {
        "name": "retrieval",
        "set": {
            "run.step": 5e-4,
            "command": {"kind": "brake", "torque": 0.1},
            "initial.reel_speed": -0.1,
        },
        "keys": {"command.torque": 0.2, "initial.reel_speed": -0.2, **START},
    },
    "inclined": {
        "name": "fixed-length",
        "set": {
            "initial": {"kind": "straight", "deployed": "10 m", "inclination": 0.4, "azimuth": 0.2},
            "run.order": 4,
        },
        "keys": {"initial.inclination": 0.5, "initial.azimuth": 0.7, "gravity": 9.7},
    },
    "stretched": {
        "name": "retrieval",
        "set": {"run.step": 5e-4, "reel.guide_law": "stretched", "reel.spooled_strain": 0.01},
        "keys": {"reel.spooled_strain": 0.02, **STRING},
    },
    "one element": {"name": "fixed-length", "set": {"run.elements": 1}, "keys": {"gravity": 9.0, **STRING}},
}


def a_study(case: dict[str, Any], members: int = 3) -> definition.Study:
    """Every number goes evenly from that of the scenario to the other one, over the members."""
    changed = {"run.duration": 0.1, "run.sample": 0.01, "run.elements": 6, **case["set"]}
    base = {k: v for k, v in changed.items() if not isinstance(v, dict)}
    sections = {k: v for k, v in changed.items() if isinstance(v, dict)}
    changed_case = tl.load(case["name"]).with_({**sections, **base})
    tree, table = changed_case.to_dict(), {}
    for name, other in case["keys"].items():
        try:
            first = keys.get(tree, full_key(keys.parse(name), changed_case.system))
        except KeyError:  # of numbers that are not given
            first = 0.9 * other
        table[name] = np.linspace(first, other, members)
    return definition.read({"scenario": tree, "table": table, "outputs": OUTPUTS})


def is_known(case: tl.Case, key: str) -> bool:
    """Whether members that differ in a key can be set up as arrays."""
    place = full_key(keys.parse(key), case.system)
    text = place.whole + "".join(f"[{k}]" for k in place.components)
    return Family(case, [text]).known


def one_by_one(study: definition.Study, monkeypatch: pytest.MonkeyPatch) -> Computed:
    with monkeypatch.context() as patched:
        patched.setattr(compute, "_run_family", lambda *arguments: None)
        return compute.compute(study.work, study.table)


@pytest.mark.parametrize("name", CASES)
def test_every_plain_number(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that a study keeps, of members that differ in all of these keys at once."""
    study = a_study(CASES[name])
    case = tl.Case.from_dict(study.work.scenario)
    for key in study.table:
        assert is_known(case, key), key
    found, expected = compute.compute(study.work, study.table), one_by_one(study, monkeypatch)
    assert found.status.tolist() == expected.status.tolist() == [RUNNING] * 3
    assert (found.steps == expected.steps).all() and found.warnings == expected.warnings
    for output, x in expected.outputs.items():
        check_close(output, found.outputs[output], x, ROUNDING)
    np.testing.assert_allclose(found.health, expected.health, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("fixed-length", "string.viscosity"),  # a load, which does not march in lanes
        ("fixed-length", "run.step"),
        ("fixed-length", "run.duration"),
        ("retrieval", "reel.layer_growth"),
        ("fixed-length", "initial.attitude[0][0]"),
    ],
)
def test_numbers_that_something_is_decided_by(name: str, key: str) -> None:
    case = tl.load(name, {"run.step": "0.5 ms"})
    assert not is_known(case, key)


def test_elements_that_follow_from_numbers() -> None:
    """Members may have other meshes."""
    assert not is_known(tl.load("fixed-length", {"run.elements": "auto"}), "string.stiffness")
    assert is_known(tl.load("fixed-length", {"run.elements": "auto"}), "initial.end_velocity[0]")


def test_members_that_are_refused_or_leave_their_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each with the sentence that it has alone."""
    values = {
        "string.stiffness": np.array([40.0, -1.0, 40.0, 4e9, np.nan, 41.0]),
        "initial.deployed": np.array([10.0, 10.0, 500.0, 10.0, 10.0, 9.0]),
    }
    study = a_study({**CASES["locked"], "keys": dict.fromkeys(values, 42.0)})
    found = compute.compute(study.work, values)
    with monkeypatch.context() as patched:
        patched.setattr(compute, "_run_family", lambda *arguments: None)
        expected = compute.compute(study.work, values)
    assert found.status.tolist() == expected.status.tolist() == [RUNNING, *[REFUSED] * 4, RUNNING]
    assert found.message == expected.message
    assert all("expected" in text for text in found.message[1:5])


@pytest.mark.parametrize("nodes", [1, 7 * 8 * 3, 7 * 8 * 11 * 2])
def test_samples_in_parts_and_blocks_in_groups_give_the_same_bits(nodes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Row by row, three rows at a time, and two blocks at a time; each against all at once."""
    study = a_study(CASES["locked"], members=37)
    expected = compute.compute(study.work, study.table)
    monkeypatch.setattr(blocks, "NODES_AT_ONCE", nodes)
    found = compute.compute(study.work, study.table)
    assert (found.health == expected.health).all() and found.warnings == expected.warnings
    for output, x in expected.outputs.items():
        assert (found.outputs[output] == x).all(), output


def test_an_element_that_the_mesh_does_not_have() -> None:
    """Members are not run together for it; each is refused with the sentence that it has alone."""
    study = a_study(CASES["locked"])
    missing = {"position": "position[7].z"}
    outputs = tuple(replace(x, variable=missing.get(x.name, x.variable)) for x in study.work.outputs)
    found = compute.compute(replace(study.work, outputs=outputs), study.table)
    assert found.status.tolist() == [REFUSED] * 3
    assert set(found.message) == {"outputs: expected node -7 to 6, got 7, in 'position[7].z' at character 10"}


def test_members_that_meet_events_go_on_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    torque = {"name": "retrieval", "set": {"run.duration": 0.4, "run.minimum_length": 9.0}, "keys": {}}
    study = a_study({**torque, "keys": {"command.torque": 60.0}}, members=5)
    found, expected = compute.compute(study.work, study.table), one_by_one(study, monkeypatch)
    assert len(set(found.status.tolist())) == 2
    assert found.status.tolist() == expected.status.tolist() and found.message == expected.message
    for output, x in expected.outputs.items():
        assert (np.isnan(found.outputs[output]) == np.isnan(x)).all()
        check_close(output, np.nan_to_num(found.outputs[output]), np.nan_to_num(x), 1e-9)
