"""Outputs of members: against the same taken from labeled runs, and independent of how members are grouped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline import errors
from tautline.model.expressions import described
from tautline.studies.definition import definition
from tautline.studies.definition.evaluation import Parts, evaluate
from tautline.studies.definition.outputs import Output
from tautline.studies.definition.work import REFUSED, STATUS_NAMES
from tautline.studies.execution.compute import compute
from tests.support import chains
from tests.support.checking import check_close

# Lengths to 10 m and energies to 10 J, after 400 steps whose sums are made in another order.
ROUNDING = 1e-11

PARTS = Parts({"line": tl.String(10.0, 0.1, 1000.0, law="linear")}, {"line": 8}, {"line": 1})
NAMES: Any = ("body",), ("body",), ("line",), ()
OUTPUTS: list[Any] = [
    "max tension",
    "min strain",
    "mean energy",
    "final reel_speed",
    "stretched_length",
    "final position",
    {"variable": "tension", "reduce": "mean", "name": "mean_tension_all"},
    {"variable": "tension[0]", "reduce": "max", "name": "at_the_guide"},
    {"variable": "position[-1].z", "reduce": "max", "name": "lowest"},
    {"variable": "position", "reduce": "max"},
    "max norm(velocity)",
    {"variable": "attitude[2, 1]", "reduce": "final", "name": "tilt"},
    {"variable": "angular_velocity", "reduce": "mean"},
    {"variable": "energy", "at": "50 ms"},
    {"variable": "position[3]", "at": [0, "0.1 s"], "name": "node_3"},
    "strain[2]",
    {"variable": "tension", "reduce": "max", "start": "50 ms", "end": 0.1, "name": "in_between"},
    {"variable": "angular_velocity", "reduce": "mean", "start": 0.115, "name": "later"},
    {"variable": "rate(kinetic_energy) / '1 W'", "reduce": "max", "name": "rate"},
    "min tension - tension[0]",
]
VARY = {
    "string.stiffness": {"from": "20 N", "to": "80 N"},
    "body.mass": {"from": "80 g", "to": "120 g"},
    "initial.end_velocity[1]": {"from": -1, "to": 1},
}


def a_study(name: str = "fixed-length", **changes: Any) -> definition.Study:
    tree = {
        "scenario": name,
        "set": {"run.duration": 0.2, "run.sample": 0.01, "run.elements": 8},
        "design": {"kind": "latin-hypercube", "members": 12, "seed": 1},
        "vary": VARY,
        "outputs": OUTPUTS,
    }
    return definition.read({**tree, **changes})


def labeled(study: definition.Study, member: int) -> xr.Dataset:
    """The run of a member as anyone would make it."""
    changes = {key: repr(column[member].item()) for key, column in study.table.items() if "[" not in key}
    chosen = {"run.duration": "0.2", "run.sample": "0.01", "run.elements": "8", **changes}
    if "initial.end_velocity[1]" in study.table:
        chosen["initial.end_velocity"] = f"[0, {study.table['initial.end_velocity[1]'][member].item()!r}, 0]"
    name = "retrieval" if study.work.scenario["lines"]["line"]["command"]["kind"] == "torque" else "fixed-length"
    built = tl.load(name, chosen)
    return chains.simulate(built)


@pytest.mark.parametrize("name", ["fixed-length", "retrieval"])
def test_the_same_numbers_as_simulate(name: str) -> None:
    """What studies leave out are labels, not arithmetic; members in lanes add in another order."""
    study = a_study(name)
    found = compute(study.work, study.table)
    assert (found.status == errors.RUNNING).all() and not any(found.message)
    for k in range(study.members):
        run = labeled(study, k)
        got = {name: x[k] for name, x in found.outputs.items()}
        assert found.steps[k] == run.attrs["steps"]
        expected = {
            "max_tension": run.tension.max(),
            "min_strain": run.strain.min(),
            "mean_energy": run.energy.mean(),
            "final_reel_speed": run.reel_speed[-1],
            "stretched_length": run.stretched_length,
            "final_position": run.position[-1],
            "at_the_guide": run.tension[:, 0].max(),
            "lowest": run.position[:, -1, 2].max(),
            "max_position": run.position.max(("time", "node")),
            "tilt": run.attitude[-1, 2, 1],
            "energy_at": run.energy[5],
            "node_3": run.position[[0, 10], 3],
            "strain_2": run.strain[:, 2],
            "in_between": run.tension[5:11].max(),
            "rate": (np.diff(run.kinetic_energy) / np.diff(run.time)).max(),
            "min_tension_tension_0": (run.tension - run.tension[:, 0]).min(),
            "later": run.angular_velocity[12:].mean("time"),
        }
        for output, value in expected.items():
            check_close(output, got[output], np.asarray(value), ROUNDING)
        check_close("mean of all", got["mean_tension_all"], float(run.tension.mean()), ROUNDING)
        speed = np.linalg.norm(run.velocity.values, axis=2).max()
        check_close("speed", got["max_norm_velocity"], speed, ROUNDING)


READ_OFF: list[Any] = [
    "utilization",
    "slack_events",
    "slack_time",
    "driving_energy",
    "braking_energy",
    "peak_power",
    "peak_braking_power",
    {"variable": "damage", "rope": "six_strand"},
    {"name": "chain", "variable": "damage", "exponent": 3.0, "constant": 316.0},
]


@pytest.mark.parametrize(
    ("name", "vary"),
    [
        ("retrieval", {"string.stiffness": {"from": "20 N", "to": "80 N"}}),  # in arrays
        ("retrieval", {"body.mass": {"from": "80 g", "to": "120 g"}}),  # one by one, in lanes
        ("retrieval", {"string.viscosity": {"from": "1e-4 N*s", "to": "2e-4 N*s"}}),  # alone
    ],
)
def test_what_rope_engineers_read_off(name: str, vary: dict[str, Any]) -> None:
    """As the functions say of each run; the breaking load is varied too."""
    load = {"string.breaking_load": {"from": "10 N", "to": "30 N"}}
    study = definition.read(
        {
            "scenario": name,
            "set": {"run.duration": 0.5, "run.sample": 0.005, "run.elements": 8},
            "design": {"kind": "latin-hypercube", "members": 5, "seed": 1},
            "vary": vary | load,
            "outputs": READ_OFF,
        }
    )
    found = compute(study.work, study.table)
    assert (found.status == errors.RUNNING).all() and not any(found.message)
    for k in range(study.members):
        changes = {key: repr(column[k].item()) for key, column in study.table.items()}
        run = tl.simulate(tl.load(name, {"run.duration": "0.5", "run.sample": "0.005", "run.elements": "8", **changes}))
        motor, slack = tl.analysis.motor_energy(run), tl.analysis.slack_events(run)
        expected = {
            "utilization": tl.analysis.utilization(run).utilization,
            "slack_events": slack.sizes["event"],
            "slack_time": slack.attrs["slack_time"],
            "driving_energy": motor.driving_energy,
            "braking_energy": motor.braking_energy,
            "peak_power": motor.peak_power,
            "peak_braking_power": motor.peak_braking_power,
            "damage": tl.analysis.damage(run, "six_strand").damage,
            "chain": tl.analysis.damage(run, exponent=3.0, constant=316.0).damage,
        }
        for output, value in expected.items():
            check_close(output, found.outputs[output][k], value, 1e-9 * max(1.0, abs(value)))


def test_readings_of_members_that_end_early() -> None:
    """Of what there is, as of the run itself."""
    study = definition.read(
        {
            "scenario": "retrieval",
            "set": {"run.duration": "2 s", "run.sample": "0.1 s", "string.breaking_load": "20 N"},
            "vary": {"run.minimum_length": ["9.9 m", "9.99999 m"]},
            "outputs": ["utilization", "driving_energy", "slack_events"],
        }
    )
    found = compute(study.work, study.table)
    assert [STATUS_NAMES[code] for code in found.status] == ["fully_retrieved"] * 2
    changes = {"run.duration": "2 s", "run.sample": "0.1 s", "string.breaking_load": "20 N"}
    run = tl.simulate(tl.load("retrieval", changes | {"run.minimum_length": "9.9 m"}))
    check_close("utilization", found.outputs["utilization"][0], tl.analysis.utilization(run).utilization, ROUNDING)
    check_close("energy", found.outputs["driving_energy"][0], tl.analysis.motor_energy(run).driving_energy, ROUNDING)


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("utilization", "utilization needs a breaking load; give string.breaking_load in `set` or `vary`"),
        ({"variable": "damage", "rope": "six_strand"}, "damage needs a breaking load"),
        ("max slack_time", r"outputs\[0\].reduce: no such key; expected one of name, variable"),
        ({"variable": "peak_power", "rope": "six_strand"}, r"outputs\[0\].rope: no such key"),
    ],
)
def test_readings_that_are_refused(output: Any, words: str) -> None:
    with pytest.raises(errors.InputError, match=words):
        a_study(outputs=[output])
    load = {"string.breaking_load": ["1 N", "2 N"]}
    with pytest.raises(errors.InputError, match=r"outputs\[0\].rope: expected one of 'six_strand'"):
        a_study(vary=load, design={"kind": "grid"}, outputs=["damage"])


def test_how_fast_neighbors_part() -> None:
    """As tl.analysis.lyapunov says of each member, and NaN where the motion ended at once."""
    spec = {
        "scenario": "retrieval",
        "set": {"run.duration": "0.4 s", "run.step": "0.5 ms", "run.sample": "0.1 s", "run.minimum_length": "9.5 m"},
        "vary": {"command.torque": ["1 N*m", "2 N*m", "1 kN*m"]},
        "outputs": [
            "lyapunov",
            {"name": "sooner", "variable": "lyapunov", "interval": "50 ms"},
            {"variable": "predictability_time", "lost": 0.01},
        ],
    }
    study = definition.read(spec)
    found = compute(study.work, study.table)
    for k, torque in enumerate((1.0, 2.0)):
        case = tl.load("retrieval")
        for name, interval in (("lyapunov", 0.1), ("sooner", 0.05)):
            alone = tl.analysis.lyapunov(
                case.system, case.start, tl.Torque(torque), 0.4, interval=interval, step=5e-4, minimum_length=9.5
            )
            check_close(name, found.outputs[name][k], alone.attrs["exponent"], 1e-6)
        exponent = found.outputs["lyapunov"][k]
        assert found.outputs["predictability_time"][k] == (np.log(10.0) / exponent if exponent > 0.0 else np.inf)
    assert np.isnan(found.outputs["lyapunov"][2])
    assert np.isnan(found.outputs["predictability_time"][2])
    assert STATUS_NAMES[found.status[2]] == "fully_retrieved"


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ({"variable": "lyapunov", "interval": "0.3 s"}, "run.duration: expected a multiple of outputs"),
        ({"variable": "lyapunov", "interval": "1 s"}, "interval: expected at most half of run.duration"),
        ({"variable": "predictability_time", "known": 2.0}, "known: expected less than lost"),
        (
            {"variable": "predictability_time", "reduce": "max"},
            "reduce: no such key; expected one of name, variable, interval",
        ),
        ("max lyapunov", "reduce: no such key"),
        ("lyapunov[line]", "lyapunov is of the motion as a whole, leave out \\[line\\]"),
    ],
)
def test_refused_outputs_of_neighbors(output: Any, message: str) -> None:
    spec = {
        "scenario": "fixed-length",
        "set": {"run.duration": "1 s"},
        "vary": {"string.stiffness": ["40 N", "41 N"]},
        "outputs": [output],
    }
    with pytest.raises(errors.InputError, match=message):
        definition.read(spec)


def test_members_do_not_depend_on_their_company() -> None:
    study = a_study()
    together = compute(study.work, study.table)
    order = np.random.default_rng(1).permutation(study.members)
    for some in (order[:1], order[1:4], order[4:]):
        apart = compute(study.work, {key: column[some] for key, column in study.table.items()})
        for name, x in together.outputs.items():
            assert np.array_equal(apart.outputs[name], x[some]), name


def test_many_members_at_once_and_one_by_one() -> None:
    """Arrays of members of different lengths, as a batch kernel has them, against each of them alone."""
    study = a_study()
    rng = np.random.default_rng(2)
    full = {"time": 21, "body": 1, "line": 1, "node": 9, "element": 8, "axis": 3, "row": 3, "column": 3}
    rows = np.array([21, 1, 13, 21, 6])
    for output in study.work.outputs:
        shapes = {name: [full[dim] for dim in described(name).dims] for name in output.needs}
        values = {name: rng.normal(size=(5, *shape)) for name, shape in shapes.items()}
        for k, n in enumerate(rows):
            for x in values.values():
                x[k, n:] = np.nan
        together = evaluate(output, values, rows, PARTS)
        assert together.shape == (5, *output.sizes)
        for k, n in enumerate(rows):
            own = {name: x[k : k + 1, :n] for name, x in values.items()}
            alone = evaluate(output, own, rows[k : k + 1], PARTS)
            assert np.array_equal(together[k], alone[0], equal_nan=True), output


def test_a_run_that_ends_before_a_window_has_no_number_there() -> None:
    x = np.arange(10.0)[None].repeat(3, axis=0)
    rows = np.array([10, 5, 4])
    for reduce, expected in (("max", [7.0, 4.0, np.nan]), ("min", [4.0, 4.0, np.nan]), ("mean", [5.5, 4.0, np.nan])):
        output = Output("x", "energy", reduce, window=(4, 8), limits=(0.4, 0.7), parts=NAMES)
        found = evaluate(output, {"energy": x}, rows, PARTS)
        assert np.array_equal(found, expected, equal_nan=True)
        alone = evaluate(output, {"energy": x[2:, :4]}, rows[2:], PARTS)
        assert np.isnan(alone).all()
        assert output.long_name.endswith("(from 0.4 s, to 0.7 s)")


def test_a_run_that_overflows_is_not_hidden() -> None:
    x = np.array([[1.0, np.nan, 2.0]])
    for reduce in ("max", "min", "mean"):
        found = evaluate(Output("x", "energy", reduce, parts=NAMES), {"energy": x}, np.array([3]), PARTS)
        assert np.isnan(found).all()


def test_a_bad_member_is_reported_and_the_others_go_on() -> None:
    study = a_study(
        vary={"initial.deployed": ["10 m", "200 m", "12 m"], "body.mass": ["0.1 kg"]}, design={"kind": "grid"}
    )
    values = {"initial.deployed": np.array([10.0, 200.0, 12.0]), "body.mass": np.array([0.1, 0.1, -1.0])}
    found = compute(study.work, values)
    assert found.status.tolist() == [errors.RUNNING, REFUSED, REFUSED]
    assert found.message[0] == ""
    assert found.message[1].startswith("initial.deployed: expected at most 99.5 m")
    assert found.message[2].startswith("body.mass: expected a positive finite number")
    assert np.isnan(found.outputs["max_tension"]).tolist() == [False, True, True]
    assert np.isnan(found.outputs["stretched_length"][1:]).all()


def test_a_first_member_that_is_refused() -> None:
    key = "bodies.load.mass"
    made = definition.read(
        {
            "scenario": "hook-and-load",
            "set": {"run.duration": 0.1, "run.sample": 0.1},
            "vary": {key: [-1.0, 1.0]},
            "outputs": ["final energy"],
        }
    )
    found = compute(made.work, made.table)
    assert found.status.tolist() == [REFUSED, errors.RUNNING]
    assert found.message[0].startswith(f"{key}: expected a positive finite number")


def test_events_are_kept_with_their_messages() -> None:
    """A retrieval that runs out of string, and a step that is too large from the start."""
    study = a_study(
        "retrieval",
        set={"run.duration": "12 s", "run.sample": "10 ms", "run.elements": 8, "run.minimum_length": "4 m"},
        vary={"run.step": ["auto", "4 ms"]},
        design={"kind": "grid"},
        outputs=["final unstretched_length", "stretched_length", {"variable": "energy", "at": ["1 s", "12 s"]}],
    )
    found = compute(study.work, study.table)
    assert [STATUS_NAMES[code] for code in found.status] == ["fully_retrieved", "refused"]
    assert "fully retrieved" in found.message[0]
    assert found.outputs["final_unstretched_length"][0] == pytest.approx(4.0, abs=0.1)
    series = found.outputs["stretched_length"][0]
    last = int(np.flatnonzero(np.isfinite(series))[-1])
    assert 100 < last < 1200 and np.isnan(series[last + 1 :]).all() and np.isfinite(series[: last + 1]).all()
    assert np.isfinite(found.outputs["energy_at"][0]).tolist() == [True, False]


def test_nodes_that_only_some_members_have() -> None:
    study = a_study(
        vary={"run.elements": [3, 9]},
        set={"run.duration": 0.1},
        design={"kind": "grid"},
        outputs=[
            "max tension[5]",
            "final strain[-1]",
        ],
    )
    found = compute(study.work, study.table)
    assert found.status.tolist() == [REFUSED, errors.RUNNING]
    assert "expected element -3 to 2, got 5, in 'tension[5]'" in found.message[0]
    assert np.isnan(found.outputs["final_strain_1"][0])
