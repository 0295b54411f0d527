"""Conditions that end a run: looked at after every step, located in time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError
from tautline.files import runs
from tautline.model.chain.chain import Chain
from tautline.model.chain.systems import placed_system
from tests.support import chains

G = 9.81


def falling() -> tuple[Chain, chains.ChainState]:
    """A point mass on a reel without inertia to speak of, let go: it falls by g t^2/2."""
    string = tl.String(length=100.0, density=1e-6, stiffness=1e3, law="linear")
    reel = tl.Reel(drum_radius=0.1, guide_length=0.0, inertia_mass=1e-9, guide_law="none")
    pendulum = Chain(string, reel, tl.RigidBody.point(2.0), gravity=G)
    return pendulum, chains.straight(pendulum, 10.0, 2)


def swinging() -> tuple[Chain, chains.ChainState]:
    string = tl.String(length=6.0, density=0.1, stiffness=2e3, law="linear")
    reel = tl.Reel(drum_radius=0.1, guide_length=0.0, inertia_mass=1.0)
    pendulum = Chain(string, reel, tl.RigidBody.box(3.0, (0.2, 0.3, 0.4), (0.0, 0.0, 0.2)))
    return pendulum, chains.straight(pendulum, 5.0, 6, [0.5, 0.0, 1.0])


@pytest.mark.parametrize("sample", [0.05, 0.3])
@pytest.mark.parametrize("step", ["auto", 5e-5])
def test_a_fall_ends_where_and_when_it_must(step: Any, sample: float) -> None:
    run = chains.simulate(
        *falling(),
        tl.Free(),
        duration=1.5,
        sample=sample,
        step=step,
        stop=tl.StopWhen("position[-1].z", above=13.0),
    )
    assert run.attrs["status"] == "condition_met"
    assert "position[-1].z is above 13 m" in run.attrs["message"]
    # 3 m of free fall; the drum's 1e-9 kg and the string's 1e-4 kg change the time by 3e-5 of it
    assert run.attrs["end_time"] == pytest.approx((2.0 * 3.0 / G) ** 0.5, rel=1e-4)
    times = [*np.arange(0.0, run.attrs["end_time"], sample).tolist(), run.attrs["end_time"]]
    assert run.time.values.tolist() == pytest.approx(times)
    # the state at the end is the last sample: on the limit, at the speed of the fall
    assert float(run.position[-1, -1, 2]) == pytest.approx(13.0, abs=1e-10)
    assert float(run.velocity[-1, -1, 2]) == pytest.approx((2.0 * 3.0 * G) ** 0.5, rel=1e-4)


def test_the_end_is_located_to_rounding_whatever_the_samples_are() -> None:
    """The state at the end is on the limit, and samples change nothing of it."""
    ends = []
    for sample in (0.01, 0.05):
        simulation = chains.simulation(*swinging(), step=1e-3, stop=tl.StopWhen("velocity[-1].x", below=-3.0))
        assert simulation.advance(2.0, sample=sample) == "condition_met"
        line = simulation.line
        # brentq stops at 1e-12 of a step of 1e-3 s; the velocity changes by some 10 m/s^2
        assert line.node_velocities[-1, 0] == pytest.approx(-3.0, abs=1e-11)
        ends.append((simulation.time, line.nodes))
    assert ends[0][0] == ends[1][0]
    np.testing.assert_array_equal(ends[0][1], ends[1][1])


def test_a_condition_that_is_never_met_changes_no_bit() -> None:
    plain = chains.simulate(*swinging(), duration=1.0, sample=0.01, step=1e-3)
    watched = chains.simulate(
        *swinging(), duration=1.0, sample=0.01, step=1e-3, stop=tl.StopWhen("start_tension", above=1e6)
    )
    assert watched.attrs["status"] == "completed"
    for name in plain.data_vars:
        np.testing.assert_array_equal(plain[name].values, watched[name].values, err_msg=str(name))


def test_a_function_of_the_users() -> None:
    """True or positive ends the run; the same place as the condition on the variable."""

    def deep(now: Any) -> float:
        return float(now["position"][-1, 2]) - 13.0

    named = tl.StopWhen("position[-1].z", above=13.0)
    ends = [
        chains.simulate(*falling(), tl.Free(), duration=1.5, sample=0.3, stop=stop).attrs["end_time"]
        for stop in (named, tl.StopWhen(deep), tl.StopWhen(lambda now: deep(now) > 0.0))
    ]
    assert ends == pytest.approx([ends[0]] * 3, abs=1e-12)


def test_a_run_file_keeps_its_condition_through_an_interruption(tmp_path: Path) -> None:
    condition = tl.StopWhen("position[-1].z", above=13.0)
    settings: Any = {"duration": 1.5, "sample": 0.01, "stop": condition}
    tl.run_to_file(tmp_path / "whole.nc", *placed_system(*falling()), tl.Free(), **settings)
    system, start = placed_system(*falling())
    tl.run_to_file(
        tmp_path / "cut.nc", system, start, tl.Free(), **settings, watch=lambda progress: progress.time > 0.2
    )
    assert tl.open_run(tmp_path / "cut.nc").attrs["status"] != "condition_met"
    runs.resume(tmp_path / "cut.nc")
    whole, cut = (tl.open_run(tmp_path / name) for name in ("whole.nc", "cut.nc"))
    assert whole.attrs["status"] == cut.attrs["status"] == "condition_met"
    assert whole.attrs["end_time"] == cut.attrs["end_time"]
    np.testing.assert_array_equal(whole.position.values, cut.position.values)


def test_saving_needs_a_condition_without_functions(tmp_path: Path) -> None:
    simulation = chains.simulation(*swinging(), stop=tl.StopWhen(lambda now: False))
    simulation.advance(0.1)
    with pytest.raises(InputError, match="stop: expected conditions on variables in a run that is saved"):
        simulation.save(tmp_path / "checkpoint.npz")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"variable": "hight", "above": 1.0}, "StopWhen.variable: expected a variable of a run, got 'hight'"),
        ({"variable": "energy"}, "StopWhen: expected either above or below, got neither"),
        ({"variable": "energy", "above": 1.0, "below": 2.0}, "StopWhen: expected either above or below, got both"),
        ({"variable": "energy", "above": 0.0, "below": 2.0}, "StopWhen: expected either above or below, got both"),
        ({"variable": "position.down", "above": 1.0}, "StopWhen.variable: expected a component .x, .y or .z"),
        ({"variable": "position", "above": float("nan")}, "StopWhen.above: expected a length such as 3 or .*, got nan"),
        ({"variable": lambda now: True, "above": 1.0}, "StopWhen.above: expected with the name of a variable"),
    ],
)
def test_wrong_conditions_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        tl.StopWhen(**arguments)


def test_a_condition_that_fits_neither_the_mesh_nor_the_start() -> None:
    with pytest.raises(InputError, match=r"StopWhen\.variable: expected node -7 to 6, got 7"):
        chains.simulate(*swinging(), duration=1.0, stop=tl.StopWhen("position[7]", above=1.0))
    with pytest.raises(InputError, match=r"StopWhen\.variable: .*got 'rope'"):
        chains.simulate(*swinging(), duration=1.0, stop=tl.StopWhen("position[rope]", above=1.0))
    with pytest.raises(InputError, match=r"StopWhen\.variable: .*got 'load'"):
        chains.simulate(*swinging(), duration=1.0, stop=tl.StopWhen("body_position[load]", above=1.0))
    with pytest.raises(InputError, match="expected a condition that is not met at the start, but position"):
        chains.simulate(*swinging(), duration=1.0, stop=tl.StopWhen("position[-1].z", above=1.0))


def test_conditions_of_a_case() -> None:
    """From a mapping, from an object, or in place of those of the case; a function only where nothing is kept."""
    case = tl.load("fixed-length", {"run.duration": 1})
    deep = tl.StopWhen("position[-1].z", above="10 cm")
    changed = case.with_({"run.stop": {"variable": "position[-1].z", "above": "100 mm"}})
    assert changed.run.stop == case.with_({"run.stop": deep}).run.stop == (deep,)
    assert tl.Case.from_dict(changed.to_dict()) == changed
    ends = [chains.simulate(changed).attrs["end_time"], chains.simulate(case, stop=deep).attrs["end_time"]]
    assert ends[0] == ends[1] < 1.0
    late = chains.simulate(case, stop=tl.StopWhen(lambda now: now["time"] > 0.5))
    assert late.attrs["end_time"] == pytest.approx(0.5, abs=1e-9)
    with pytest.raises(InputError, match=r"run\.stop: expected a condition on a variable, got a function"):
        case.with_({"run.stop": tl.StopWhen(lambda now: True)})


def test_a_limit_on_the_torque_of_a_locked_drum() -> None:
    """Found by inverse dynamics in every step, as the condition asks for it."""
    plain = chains.simulate(*swinging(), duration=1.0, sample=1e-3, step=1e-3)
    limit = 0.5 * float(plain.torque[0] + plain.torque.max())
    ended = chains.simulate(*swinging(), duration=1.0, sample=0.1, step=1e-3, stop=tl.StopWhen("torque", above=limit))
    first = float(plain.time[int(np.argmax(plain.torque.values > limit))])
    assert ended.attrs["status"] == "condition_met"
    assert first - 1e-3 <= ended.attrs["end_time"] <= first


@pytest.mark.parametrize("name", ["fixed-length", "cable-robot"])
def test_a_function_ends_the_run_of_a_case(name: str) -> None:
    """Beside a case, whose own file has no functions; it is looked at after every step."""
    stop = tl.StopWhen(lambda now: now["time"] > 0.1 and np.isfinite(now["energy"]))
    run = chains.simulate(tl.load(name), duration=1.0, stop=stop)
    assert run.attrs["status"] == "condition_met"
    assert run.attrs["end_time"] == pytest.approx(0.1, abs=2e-3)
