"""Simulations piece by piece, checkpoints, and control from a callback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline.errors import InputError
from tautline.model.command import Command
from tests.support import chains
from tests.support.checking import check_close
from tests.support.reeled import pendulum
from tests.support.same import check_same, check_same_state

PENDULUM = pendulum()
START = chains.straight(PENDULUM, 4.0, 4, (1.0, 0.0, 2.0), end_velocity=(0.0, 1.0, 0.0))
STEP, SAMPLE = 1e-3, 0.01
TABLE = tl.Torque(([0.0, 0.1, 0.3], [1.0, 3.0, -1.0]))
STEPS: list[float | str] = [STEP, "auto"]


def simulation(step: float | str = STEP, start: chains.ChainState = START, **options: Any) -> tl.Simulation:
    return chains.simulation(PENDULUM, start, step=step, **options)


def record_of(run: tl.Simulation) -> xr.Dataset:
    return chains.of_one(run.dataset())


# -- pieces ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "order"),
    [
        *((command, order) for command in (tl.Locked(), tl.Free(), TABLE) for order in (2, 4)),
        *((command, 2) for command in (tl.Brake(0.5), tl.Brake(8.0), tl.Impedance(4.0, 100.0, 10.0))),
        (tl.Length.to(4.2, speed=1.0, acceleration=4.0, jerk=40.0), 2),
    ],
)
@pytest.mark.parametrize("step", STEPS)
def test_pieces_are_the_whole(step: float | str, command: Command, order: int) -> None:
    whole = chains.simulate(PENDULUM, START, command, duration=0.4, step=step, sample=SAMPLE, order=order)
    pieces = simulation(step, order=order)
    for length in (0.01, 0.05, 0.04, 0.2, 0.1):
        assert pieces.advance(length, command, sample=SAMPLE) == "completed"
    check_same(record_of(pieces), whole)
    for name in ("status", "end_time", "steps", "newton_iterations", "largest_step_ratio"):
        assert record_of(pieces).attrs[name] == whole.attrs[name]


def test_the_command_is_kept_until_the_next() -> None:
    named, silent = simulation(), simulation()
    for _ in range(3):
        named.advance(0.05, TABLE, sample=SAMPLE)
    silent.advance(0.05, TABLE, sample=SAMPLE)
    silent.advance(0.05, sample=SAMPLE)
    silent.advance(0.05, sample=SAMPLE)
    check_same(record_of(named), record_of(silent))
    check_same_state(named.state, silent.state)


def test_what_is_not_recorded_is_advanced_all_the_same() -> None:
    quiet, kept = simulation(), simulation()
    quiet.advance(0.2, tl.Free(), sample=SAMPLE, record=False)
    kept.advance(0.2, tl.Free(), sample=SAMPLE)
    check_same_state(quiet.state, kept.state)
    assert len(record_of(kept).time) == 21
    assert len(record_of(quiet).time) == 1


def test_a_state_starts_another_simulation() -> None:
    """From the state in the middle, not from its momenta: the same motion to the order of the step."""
    first = simulation()
    first.advance(0.2, tl.Torque(2.0))
    second = tl.Simulation(first.system, first.state, step=STEP)
    for run in (first, second):
        run.advance(0.1, tl.Torque(2.0))
    check_close("nodes", second.line.nodes, first.line.nodes, 1e-4)
    check_close("attitude", second.body.attitude, first.body.attitude, 1e-4)


def test_a_dataset_before_any_advance() -> None:
    run = record_of(simulation())
    assert run.time.values.tolist() == [0.0]
    check_close("nodes", run.position[0], START.nodes, 0.0)
    moving = chains.straight(PENDULUM, 4.0, 4, reel_speed=0.5)
    assert float(record_of(simulation(start=moving)).reel_speed[0]) == pytest.approx(0.5, rel=1e-12)


def test_a_look_before_the_first_advance_changes_nothing() -> None:
    looked, direct = simulation(), simulation()
    record_of(looked)
    for run in (looked, direct):
        run.advance(0.1, tl.Free(), sample=SAMPLE)
    check_same(record_of(looked), record_of(direct))
    moving = simulation(start=chains.straight(PENDULUM, 4.0, 4, reel_speed=0.5))
    record_of(moving)
    with pytest.raises(InputError, match="expected 0 with a locked reel"):
        moving.advance(0.1)


def test_an_event_ends_all_that_follows() -> None:
    run = simulation()
    status = run.advance(20.0, tl.Free(), sample=SAMPLE)
    assert status == run.status == "fully_deployed"
    end, rows = run.time, len(record_of(run).time)
    assert run.advance(1.0, sample=SAMPLE) == "fully_deployed"
    assert (run.time, len(record_of(run).time)) == (end, rows)
    assert "fully deployed" in run.message


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"duration": 0.0}, "duration: expected a positive"),
        ({"duration": "1 s"}, "duration: expected a positive"),
        ({"duration": 0.0015}, "duration: expected a multiple of step"),
        ({"duration": 0.1, "sample": 0.0015}, "sample: expected a multiple of step"),
        ({"duration": 0.1, "sample": 0.03}, "duration: expected a multiple of sample"),
        ({"duration": 0.1, "command": "locked"}, "Torque.torque: expected a torque"),
        ({"duration": 0.1, "command": {"sling": tl.Free()}}, "lines.sling: no such name"),
    ],
)
def test_advance_refuses_and_stays_where_it_is(arguments: dict[str, Any], expected: str) -> None:
    run, other = simulation(), simulation()
    for each in (run, other):
        each.advance(0.05, tl.Free(), sample=SAMPLE)
    with pytest.raises(InputError) as caught:
        run.advance(**arguments)
    assert expected in str(caught.value)
    for each in (run, other):
        each.advance(0.05, sample=SAMPLE)
    check_same(record_of(run), record_of(other))


# -- switching ---------------------------------------------------------------------------------------------


def test_locking_a_moving_reel_is_refused() -> None:
    run, other = simulation(), simulation()
    for each in (run, other):
        each.advance(0.1, tl.Locked(), sample=SAMPLE)
        each.advance(0.1, tl.Torque(2.0), sample=SAMPLE)
    with pytest.raises(InputError) as caught:
        run.advance(0.1, tl.Locked(), sample=SAMPLE)
    assert "command: expected a drum that stands for Locked, got one that moves with " in str(caught.value)
    for each in (run, other):
        each.advance(0.1, sample=SAMPLE)
    check_same(record_of(run), record_of(other))


def test_torques_one_after_the_other() -> None:
    """A constant after a constant, after a table, and back: as if each were there alone."""
    run = simulation()
    for command in (tl.Torque(1.0), tl.Torque(3.0), TABLE, tl.Torque(0.0), tl.Free()):
        run.advance(0.05, command, sample=SAMPLE)
    free = simulation()
    free.advance(0.05, tl.Torque(1.0), sample=SAMPLE)
    free.advance(0.05, tl.Torque(([0.0], [3.0])), sample=SAMPLE)
    free.advance(0.05, TABLE, sample=SAMPLE)
    free.advance(0.1, tl.Free(), sample=SAMPLE)
    check_same(record_of(run), record_of(free))


# -- checkpoints -------------------------------------------------------------------------------------------


def test_a_checkpoint_remembers_that_the_motion_is_over(tmp_path: Path) -> None:
    run = simulation()
    run.advance(20.0, tl.Free(), sample=SAMPLE)
    run.save(tmp_path / "run.npz")
    again = tl.Simulation.load(tmp_path / "run.npz")
    assert (again.status, again.message) == (run.status, run.message)
    assert again.advance(1.0) == "fully_deployed"


# -- control -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("answer", [2, tl.Torque(2.0)], ids=repr)
def test_a_constant_controller_is_a_constant_torque(step: float | str, answer: Any) -> None:
    options: dict[str, Any] = {"duration": 0.4, "step": step, "sample": SAMPLE}
    controlled = chains.simulate(PENDULUM, START, control=lambda _: answer, period=0.02, **options)
    check_same(controlled, chains.simulate(PENDULUM, START, tl.Torque(2.0), **options))


def test_a_controller_is_called_once_a_period_at_its_beginning() -> None:
    times, speeds = [], []

    def control(run: tl.Simulation) -> float:
        times.append(run.time)
        speeds.append(run.line.speed)
        return 1.0

    record = chains.simulate(PENDULUM, START, duration=0.3, step=STEP, sample=SAMPLE, control=control, period=0.03)
    check_close("times", times, np.arange(10) * 0.03, 1e-15)
    assert len(record.time) == 31
    # what it sees is what is recorded
    check_close("first speed", speeds[0], 0.0, 1e-15)
    assert speeds[1:] == record.reel_speed.values[3:30:3].tolist()


def test_samples_are_periods_by_default() -> None:
    record = chains.simulate(PENDULUM, START, duration=0.3, step=STEP, control=lambda _: 1.0, period=0.03)
    check_close("times", record.time, np.linspace(0.0, 0.3, 11), 1e-15)


def test_periods_are_samples_by_default() -> None:
    times = []

    def control(run: tl.Simulation) -> float:
        times.append(run.time)
        return 1.0

    chains.simulate(PENDULUM, START, duration=0.3, step=STEP, sample=0.05, control=control)
    check_close("times", times, np.arange(6) * 0.05, 1e-15)


def test_a_controller_may_be_faster_than_the_samples() -> None:
    """The same motion as with all ticks stored: samples are every fourth of these, in all variables."""
    asked: list[float] = []

    def control(run: tl.Simulation) -> float:
        asked.append(run.time)
        return 1.2 + 0.1 * float(np.sin(50.0 * run.time))

    options: dict[str, Any] = {"duration": 0.1, "step": 5e-4, "control": control, "period": 0.005}
    slow = chains.simulate(PENDULUM, START, sample=0.02, **options)
    assert len(asked) == 20
    fine = chains.simulate(PENDULUM, START, sample=0.005, **options)
    check_close("times", slow.time, np.linspace(0.0, 0.1, 6), 1e-15)
    every_fourth = fine.isel(time=slice(None, None, 4))
    assert slow.data_vars.keys() == fine.data_vars.keys()
    for name in slow.variables:
        np.testing.assert_array_equal(slow[name], every_fourth[name], err_msg=str(name))


def test_a_run_that_ends_between_samples_of_a_faster_controller_has_that_state() -> None:
    """Samples every 0.5 s, ticks of 0.1 s: the last sample is the end, which comes in the middle of a tick."""
    options: dict[str, Any] = {"duration": 20.0, "step": STEP, "sample": 0.5, "control": lambda run: 0.0}
    slow, fine = (chains.simulate(PENDULUM, START, period=period, **options) for period in (0.1, 0.5))
    assert slow.attrs["status"] == fine.attrs["status"] == "fully_deployed"
    np.testing.assert_array_equal(slow.time, fine.time)
    assert float(slow.time[-1]) == slow.attrs["end_time"] and 0.0 < float(slow.time[-1] - slow.time[-2]) < 0.5
    np.testing.assert_array_equal(slow.position, fine.position)


def test_a_controller_may_return_commands() -> None:
    def control(run: tl.Simulation) -> Command:
        return tl.Locked() if run.time < 0.095 else tl.Free()

    record = chains.simulate(PENDULUM, START, duration=0.3, step=STEP, sample=SAMPLE, control=control, period=0.05)
    steps = simulation()
    steps.advance(0.1, tl.Locked(), sample=SAMPLE)
    steps.advance(0.2, tl.Free(), sample=SAMPLE)
    check_same(record, record_of(steps))


def test_a_controller_is_not_called_after_the_end() -> None:
    calls = [0]

    def control(run: tl.Simulation) -> float:
        assert run.status == "completed"
        calls[0] += 1
        return 0.0

    record = chains.simulate(PENDULUM, START, duration=20.0, step=STEP, sample=SAMPLE, control=control, period=0.1)
    assert record.attrs["status"] == "fully_deployed"
    assert calls[0] == int(np.ceil(record.attrs["end_time"] / 0.1))


def test_what_a_controller_raises_is_its_own() -> None:
    class TheirError(Exception):
        pass

    def control(run: tl.Simulation) -> float:
        raise TheirError("theirs")

    with pytest.raises(TheirError, match="theirs"):
        chains.simulate(PENDULUM, START, duration=0.1, step=STEP, control=control, period=0.01)


def test_times_of_samples_when_the_interval_changes() -> None:
    run = simulation()
    run.advance(10 * STEP, tl.Locked(), sample=10 * STEP)
    run.advance(8 * STEP, sample=4 * STEP)
    run.advance(3 * STEP, record=False)
    run.advance(2 * STEP)
    times = record_of(run).time.values / STEP
    np.testing.assert_allclose(times, [0, 10, 14, 18, 23], rtol=0.0, atol=1e-9)


HUNG = tl.pendulum(tl.String(10.0, 0.05, 2e4), tl.Reel(0.1, 0.2, inertia=0.05), tl.RigidBody.point(2.0), elements=4)


@pytest.mark.parametrize("first", [None, {}])
def test_a_controller_that_returns_none_leaves_the_reel_as_it_is(first: Any) -> None:
    hanging, lowered = tl.Hanging(1.2), tl.Speed(payout=0.1)
    held = tl.simulate(HUNG, hanging, control=lambda _: first, period=0.02, duration=0.1)
    assert np.ptp(held.unstretched_length.values) == 0.0
    case = tl.Case(HUNG, tl.Hanging(1.2, reel_speed=-0.1), lowered, tl.Run(duration=0.1))
    going = tl.simulate(case, control=lambda _: first, period=0.02)
    np.testing.assert_allclose(
        going.unstretched_length.values[-1] - going.unstretched_length.values[0], 0.01, rtol=1e-9
    )
    answers = iter([first, tl.Free()])
    let_go = tl.simulate(HUNG, hanging, control=lambda _: next(answers, None), period=0.02, duration=0.1)
    out = let_go.unstretched_length.values
    assert out[-1] > out[0]
    assert np.ptp(out[let_go.time.values <= 0.02]) == 0.0
