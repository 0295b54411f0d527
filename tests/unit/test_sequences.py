"""Sequences of commands: switching times and motions in closed form, on both backends, and every use of runs."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline.engine.sequencing import smooth
from tautline.errors import InputError
from tautline.files.runs import writing
from tautline.model.system.problems import ScenarioError
from tautline.viewer.session import Session
from tests.support.checking import check_below, check_close

DRUM = tl.Reel(0.2, 0.5, inertia_mass=50.0)
ROPE = tl.String(30.0, 0.1, 1e5, damping_ratio=0.1)
CRANE = tl.pendulum(ROPE, DRUM, tl.RigidBody.point(20.0), elements=4)
LIFT = tl.Length.to("8 m", speed=1.0, acceleration=0.5)


def case(*stages: Any, start: float = 10.0, duration: float = 6.0, system: tl.System = CRANE, **run: Any) -> tl.Case:
    return tl.load("crane-hoist").with_(
        system=system,
        start=tl.Hanging(start),
        commands=tl.Sequence(*stages),
        run=tl.Run(duration=duration, sample=run.pop("sample", 0.05), **run),
    )


def stages_of(run: xr.Dataset) -> list[tuple[float, str]]:
    return [(time, stage) for time, _, stage in json.loads(run.attrs["stages"])]


@pytest.fixture(params=["chain", "network"])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TAUTLINE_BACKEND", request.param)
    return str(request.param)


def test_a_length_ends_a_stage_when_it_is_reached(backend: str) -> None:
    """Paid out at 0.7 m/s from 10 m, 11.3 m are there after 1.3/0.7 s, which is within a step; then 0.2 m/s."""
    out = tl.Stage(tl.Speed(payout=0.7), until="unstretched_length > '11.3 m'", name="out")
    run = tl.simulate(case(out, tl.Speed(payout=0.2)))
    assert run.attrs["status"] == "completed"
    (_, first), (time, second) = stages_of(run)
    assert (first, second) == ("out", "1")
    check_close("time", time, 1.3 / 0.7, 1e-11)  # of brentq in a step: 1e-12
    t = run.time.values
    exact = np.where(t < time, 10.0 + 0.7 * t, 11.3 + 0.2 * (t - time))
    check_close("length", run.unstretched_length.values[:, 0], exact, 1e-12)


def test_times_and_durations_end_stages_wherever_steps_are(backend: str) -> None:
    stages = (
        tl.Stage(tl.Speed(payout=0.5), until=0.731),
        tl.Stage(tl.Speed(retrieval=0.3), duration="1.1 s"),
        tl.Stage(tl.Speed(payout=0.1), until=1.0),  # which is past already
        tl.Stage(tl.Speed(payout=0.4), until="time > 3"),
        tl.Locked(),
    )
    run = tl.simulate(case(*stages))
    times = [0.0, 0.731, 1.831, 1.831, 3.0]
    check_close("times", [t for t, _ in stages_of(run)], times, 1e-11)
    knots, speeds = [0.0, 0.731, 1.831, 3.0, 6.0], [0.5, -0.3, 0.4, 0.0]
    lengths = 10.0 + np.concatenate([[0.0], np.cumsum(np.diff(knots) * speeds)])
    check_close("length", run.unstretched_length.values[:, 0], np.interp(run.time, knots, lengths), 1e-12)


def test_a_speed_goes_over_smoothly(backend: str) -> None:
    """v = v0 + (v1 - v0) (3 x^2 - 2 x^3): the way in a transition is that of the mean speed."""
    stages = (
        tl.Stage(tl.Speed(payout=0.2), until=1.0),
        tl.Stage(tl.Speed(payout=0.8), duration=2.0, transition=0.6),
        tl.Stage(tl.Locked(), transition=0.4),
    )
    run = tl.simulate(case(*stages))
    t = run.time.values
    after = 0.2 + 0.5 * 0.6 + 0.8 * 1.4  # at t = 3
    check_close("at 1.6 s", run.unstretched_length.values[32, 0], 10.2 + 0.3, 1e-12)
    check_close("end", run.unstretched_length.values[-1, 0], 10.0 + after + 0.5 * 0.8 * 0.4, 1e-12)
    speed = np.select(
        [t < 1.0, t < 3.0], [0.2, 0.2 + 0.6 * smooth((t - 1.0) / 0.6)], 0.8 - 0.8 * smooth((t - 3.0) / 0.4)
    )
    check_close("speed", -run.reel_speed.values[:, 0], speed, 1e-12)


def _crossings(values: np.ndarray) -> int:
    """How often values that are not zero change their sign."""
    signs = np.sign(values[np.abs(values) > 1e-9])
    return int((np.diff(signs) != 0.0).sum())


@pytest.mark.parametrize("jerk", [None, 0.5])
@pytest.mark.parametrize("transition", [0.02, 0.5, 2.0])
@pytest.mark.parametrize(("target", "turns"), [(7.0, 0), (9.1, 0), (9.6, 1), (14.0, 1)])
def test_a_move_takes_over_a_turning_drum(
    backend: str, target: float, turns: int, transition: float, jerk: float | None
) -> None:
    """Without a jolt: no faster than either speed, turning round once only if the target is behind, and to its target.

    From 10 m the drum winds at 0.5 m/s for 1 s, to 9.5 m; it needs 0.5 m at 0.25 m/s^2 to stop.
    """
    move = tl.Length.to(target, speed=0.5, acceleration=0.25, jerk=jerk)
    stages = tl.Stage(tl.Speed(retrieval=0.5), duration=1.0), tl.Stage(move, transition=transition)
    run = tl.simulate(case(*stages, duration=16.0, sample=0.01))
    speed = run.reel_speed.values[100:, 0]  # before the first step the drum stands still
    check_below("speed", np.abs(speed).max(), 0.5 + 1e-9)
    if target != 9.1 or transition < 1.0:  # in the time of 2 s it can go beyond a target so near
        assert _crossings(speed) == turns
    check_close("end", run.unstretched_length.values[-1, 0], target, 1e-11)
    changes = np.abs(np.diff(speed)) / 0.01
    check_below("acceleration", changes.max(), 0.25 + 1.5 * 1.0 / max(transition, 0.01))
    if target == 7.0:  # goes on at its speed, and slows down as a move does
        check_close("on its way", speed[:300], np.full(300, 0.5), 1e-9)
        check_below("slowing down", changes.max(), 0.25 + 1e-9)


def test_a_soft_move_takes_over_a_turning_drum() -> None:
    """A spring follows the same curve as a move that is prescribed."""
    move = tl.Length.to(7.0, speed=0.5, acceleration=0.25)
    wind = tl.Stage(tl.Speed(retrieval=0.5), duration=1.0)
    stiff, soft = (
        tl.simulate(case(wind, tl.Stage(command, transition=0.5), duration=9.0))
        for command in (move, tl.Impedance(move, 1e5, 5e3))
    )
    # the weight of 21 kg stretches the spring by 2 mm, its own step when it takes over by as much again
    check_close("length", soft.unstretched_length.values, stiff.unstretched_length.values, 0.006)


def test_a_torque_takes_over_from_what_held_the_drum(backend: str) -> None:
    """The lock holds with the weight; a transition from there to a torque begins with what the lock took."""
    weight = (20.0 + 0.1 * 10.0) * 9.81 * 0.2
    run = tl.simulate(case(tl.Stage(tl.Locked(), until=1.0), tl.Stage(tl.Torque(50.0), transition=1.0), duration=3.0))
    torque = run.torque.values[:, 0]
    weight, about = torque[0], weight
    check_close("about", weight, about, 0.01 * about)  # the rope is stretched, and the guide is as long as it is
    t = run.time.values
    chosen = (t > 1.001) & (t < 2.0)
    exact = weight + (50.0 - weight) * smooth(t[chosen] - 1.0)
    # lines between 32 points of a cubic: at most 6/8 (50 - weight)/32^2
    check_close(
        "torque", torque[chosen], exact, 0.75 * (50.0 - weight) / 32**2 + 0.1
    )  # the load swings by 0.2 % on its rope
    check_close("after", torque[t > 2.001], np.full((t > 2.001).sum(), 50.0), 1e-12)


def test_times_of_tables_and_moves_count_from_the_stage() -> None:
    stages = (
        tl.Stage(tl.Locked(), duration=0.77),
        tl.Stage(tl.Torque(([0.0, 0.4, 0.8], [41.0, 45.0, 41.0])), until="done"),
        tl.Stage(tl.Speed(payout=([0.0, 1.0], [0.0, 0.0])), duration=0.1),
        tl.Stage(tl.Length.to("9 m", speed=1.0, acceleration=1.0, start=0.5), until="done"),
        tl.Locked(),
    )
    run = tl.simulate(case(*stages))
    times = [t for t, _ in stages_of(run)]
    check_close("torque", times[2] - times[1], 0.8, 1e-12)
    way = abs(float(run.unstretched_length.sel(time=times[3], method="nearest")[0]) - 9.0)
    check_close("move", times[4] - times[3], 0.5 + 2.0 * np.sqrt(way), 5e-3)  # the way is that of the nearest sample
    check_close("length", run.unstretched_length.values[-1, 0], 9.0, 1e-12)


@pytest.mark.parametrize("transition", [0.0, 0.3])
def test_all_kinds_of_commands_follow_each_other(backend: str, transition: float) -> None:
    """Also where the reel moves: moves and locks stop it at once, or in the time of the transition."""
    kinds = [
        tl.Locked(),
        tl.Free(),
        tl.Torque(30.0),
        tl.Brake(60.0),
        tl.Speed(retrieval=0.5),
        LIFT,
        tl.Impedance(9.0, 300.0, 60.0),
    ]
    for one, other in itertools.product(kinds, kinds):
        stages = (
            tl.Stage(tl.Speed(payout=0.4), duration=0.21),
            tl.Stage(one, duration=0.41, transition=transition),
            tl.Stage(other, transition=transition),
        )
        run = tl.simulate(case(*stages, duration=1.2))
        name = f"{one} then {other}"
        assert run.attrs["status"] == "completed", name
        # energy is booked at every switch: 1 % of what is in play, as for any run
        check_below(name, run.attrs["balance_error"], 0.01)


def test_both_backends_switch_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    stages = (
        tl.Stage(tl.Torque(45.0), until="reel_speed > '0.1 m/s'"),
        tl.Stage(tl.Brake(30.0), until="abs(reel_speed) < '1 cm/s'"),
        tl.Stage(tl.Impedance(9.9, 500.0, 800.0), transition=0.2),
    )
    runs = []
    for name in ("chain", "network"):
        monkeypatch.setenv("TAUTLINE_BACKEND", name)
        runs.append(tl.simulate(case(*stages, step=1e-3, duration=2.0)))
    times = [[t for t, _ in stages_of(run)] for run in runs]
    assert len(times[0]) == 3
    check_close("times", times[0], times[1], 1e-9)
    check_close("nodes", runs[0].position, runs[1].position, 1e-8)


def test_switching_within_steps_keeps_the_order() -> None:
    """Torques that jump where no step ends: errors fall as h^2, as they would with steps that end there."""
    stages = (
        tl.Stage(tl.Torque(60.0), until=0.3333),
        tl.Stage(tl.Torque(35.0), until="reel_speed < '6 cm/s'"),
        tl.Torque(45.0),
    )
    ends = [
        tl.simulate(case(*stages, duration=1.2, sample=0.1, step=h)).position.values[-1, -1, 2]
        for h in (1e-3, 5e-4, 2.5e-4, 3.125e-5)
    ]
    errors = np.abs(np.array(ends[:-1]) - ends[-1])
    slope = np.polyfit(np.log([1e-3, 5e-4, 2.5e-4]), np.log(errors), 1)[0]
    check_close("order", slope, 2.0, 0.3)


LONG = (
    tl.Stage(LIFT, until="done", name="lift"),
    tl.Stage(tl.Torque(38.0), until="reel_speed < '-0.1 m/s'", transition=0.5),
    tl.Stage(tl.Brake(70.0), duration=0.777),
    tl.Speed(payout=0.2),
)


def test_pieces_and_checkpoints_change_nothing(backend: str, tmp_path: Path) -> None:
    """Saved at any sample, in any stage, and loaded: the same bits."""
    whole = tl.simulate(case(*LONG))
    sim = tl.Simulation.from_case(case(*LONG))
    for _ in range(12):
        sim.advance(0.5, dict(case(*LONG).commands), sample=0.05)
        sim.save(tmp_path / "now.npz")
        record = sim.runner.recorder
        sim = tl.Simulation.load(tmp_path / "now.npz")
        sim.runner.recorder = record
        assert sim.backend.commands.keys() == {"line"}
    found = sim.dataset()
    for name in ("position", "velocity", "torque", "reel_speed", "energy"):
        np.testing.assert_array_equal(found[name].values, whole[name].values)
    assert found.attrs["stages"] == whole.attrs["stages"]
    assert tl.case_of(found).commands == case(*LONG).commands
    copies = [tl.Simulation.from_case(case(*LONG)) for _ in range(2)]
    copies[0].advance(2.5, dict(case(*LONG).commands), sample=0.05)
    other = copies[0].__copy__()
    for sim in (copies[0], other):
        sim.advance(3.5, sample=0.05)
        np.testing.assert_array_equal(sim.dataset().position.values, whole.position.values)


def reached(rows: int, progress: Any) -> bool:
    return bool(progress.rows >= rows)


def test_a_killed_run_is_resumed_in_its_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `tautline resume` does: from the file of a run that stopped between two chunks."""
    path, whole = tmp_path / "run.nc", tl.simulate(case(*LONG))
    monkeypatch.setattr(writing, "SECONDS_A_CHUNK", 0.0)  # one sample each
    tl.run_to_file(path, case(*LONG), watch=partial(reached, 20))
    for rows in (60, 61, 75, 110):
        tl.resume(path, partial(reached, rows))
    tl.resume(path)
    found = tl.open_run(path)
    for name in ("position", "torque", "reel_speed"):
        np.testing.assert_array_equal(found[name].values, whole[name].values)
    assert found.attrs["stages"] == whole.attrs["stages"]


TEXT = """
[lines.rope]
end = "load"
string = {length = "30 m", density = "0.1 kg/m", stiffness = "100 kN", damping_ratio = 0.1}
reel = {drum_radius = "0.2 m", guide_length = "0.5 m", inertia_mass = "50 kg"}
elements = 4

[bodies.load]
shape = "point"
mass = "20 kg"

[initial]
kind = "hanging"
deployed = "10 m"

[run]
duration = "6 s"
sample = "50 ms"
"""
ARRAY = """
[[lines.rope.command]]
kind = "length"
target = "8 m"
speed = "1 m/s"
acceleration = "0.5 m/s^2"
until = "done"

[[lines.rope.command]]
kind = "torque"
torque = "38 N*m"
until = "reel_speed < '-0.1 m/s'"
transition = "500 ms"

[[lines.rope.command]]
kind = "brake"
torque = "70 N*m"
duration = "777 ms"

[[lines.rope.command]]
kind = "speed"
payout = "0.2 m/s"
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "case.toml"
    path.write_text(text)
    return path


def test_sequences_in_files(tmp_path: Path) -> None:
    read = tl.load(written(tmp_path, TEXT + ARRAY))
    named = tuple(dataclasses.replace(x, name="") if isinstance(x, tl.Stage) else x for x in LONG)
    expected = case(*named).commands["line"]
    assert [(x.command, x.until, x.duration, x.transition) for x in read.commands["rope"].stages] == [
        (x.command, x.until, x.duration, x.transition) for x in expected.stages
    ]
    assert tl.load(written(tmp_path, read.to_toml())) == read
    assert tl.Case.from_dict(json.loads(json.dumps(read.to_dict()))) == read
    changed = read.with_({"lines.rope.command.1.torque": "39 N*m", "command.2.duration": "0.5 s"})
    assert changed.commands["rope"].stages[1].command == tl.Torque(39.0)
    assert changed.commands["rope"].stages[2].duration == 0.5
    assert changed != read and read.unit("command.1.transition") == "s"
    sections = ARRAY.replace("[[lines.rope.command]]", "[lines.rope.command.{}]").format(
        "lift", "lower", "brake", "out"
    )
    by_name = tl.load(written(tmp_path, TEXT + sections))
    assert by_name.commands["rope"].names == ("lift", "lower", "brake", "out")
    one, other = tl.simulate(read), tl.simulate(by_name)
    np.testing.assert_array_equal(one.position.values, other.position.values)
    np.testing.assert_array_equal(one.position.values, tl.simulate(case(*LONG)).position.values)


def test_short_files(tmp_path: Path) -> None:
    text = (
        TEXT.replace('[lines.rope]\nend = "load"\n', "")
        .replace("elements = 4\n", "")
        .replace("[bodies.load]", "[body]")
    )
    text = text.replace("string =", "[string]\n#").replace("reel =", "[reel]\n#")
    string = 'length = "30 m"\ndensity = "0.1 kg/m"\nstiffness = "100 kN"\ndamping_ratio = 0.1\n'
    reel = 'drum_radius = "0.2 m"\nguide_length = "0.5 m"\ninertia_mass = "50 kg"\n'
    text = text.replace("[string]\n", "[string]\n" + string).replace("[reel]\n", "[reel]\n" + reel)
    text = text.replace("[run]\n", "[run]\nelements = 4\n")
    read = tl.load(written(tmp_path, text + ARRAY.replace("lines.rope.", "")))
    np.testing.assert_array_equal(tl.simulate(read).position.values, tl.simulate(case(*LONG)).position.values)
    assert tl.load(written(tmp_path, text + ARRAY.replace("lines.rope.", "")), {"command.1.torque": "39 N*m"}) != read
    assert tl.load(written(tmp_path, read.to_toml())) == read


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('until = "done"', 'until = "5 m"', "lines.rope.command.0.until: expected a time such as '4 s', a condition"),
        ('until = "done"', 'until = "tension"', "lines.rope.command.0.until: expected a time such as"),
        ('until = "done"', "until = -1.0", "lines.rope.command.0.until: expected a time of at least 0, got -1.0"),
        ('until = "done"', 'until = "tensoin > 3"', "lines.rope.command.0.until: "),
        ('until = "done"\n', "", "lines.rope.command.0: expected what ends it (until or duration)"),
        ('duration = "777 ms"', 'duration = "-1 s"', "lines.rope.command.2.duration: expected a positive"),
        (
            'duration = "777 ms"',
            'until = "done"',
            "lines.rope.command.2.until: expected a time or a condition, got 'done'",
        ),
        (
            'payout = "0.2 m/s"',
            'payout = "0.2 m/s"\nuntil = 4',
            "lines.rope.command.3.until: expected none for the last",
        ),
        ('torque = "70 N*m"', 'torqe = "70 N*m"', "lines.rope.command.2.torqe: no such key; did you mean 'torque'?"),
        ('duration = "777 ms"', "duraton = 1", "lines.rope.command.2.duraton: no such key; did you mean 'duration'?"),
        ('kind = "brake"', 'kind = "break"', "lines.rope.command.2.kind: expected one of"),
    ],
)
def test_mistakes_in_files_name_key_and_line(old: str, new: str, words: str, tmp_path: Path) -> None:
    path = written(tmp_path, TEXT + ARRAY.replace(old, new))
    with pytest.raises(ScenarioError) as caught:
        tl.load(path)
    assert words in str(caught.value) and "case.toml:" in str(caught.value), str(caught.value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: tl.Sequence(), "Sequence: expected at least one stage"),
        (lambda: tl.Sequence(tl.Locked(), tl.Free()), "Sequence.0: expected what ends it"),
        (lambda: tl.Sequence(tl.Stage(tl.Locked(), 3.0)), "Sequence.0.until: expected none for the last stage"),
        (lambda: tl.Stage(tl.Sequence(tl.Free())), "Stage.command: expected a command that is no sequence"),
        (lambda: tl.Stage("fast"), "command: expected "),
        (lambda: tl.Stage(tl.Free(), duration="3 m"), "duration: expected a time such as 3 or '3 s', got '3 m'"),
        (
            lambda: tl.Stage(tl.Speed(payout=0.0, motion=tl.motions.Sine(0.1, 3.0)), transition=1.0),
            "Stage.transition: expected none",
        ),
        (
            lambda: tl.Sequence(tl.Stage(tl.Free(), 1.0, name="1"), tl.Stage(tl.Free())),
            "Sequence: expected stages of different names, got 1, 1",
        ),
    ],
)
def test_wrong_sequences(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert words in str(caught.value)


def test_a_sequence_is_among_what_a_command_may_be() -> None:
    with pytest.raises(InputError, match=r"command: expected Brake\(...\), .* or Sequence\(...\), got 'up'"):
        tl.load("crane-hoist").with_(commands="up")
    with pytest.raises(InputError, match=r"command: expected Brake\(...\), .* or Torque\(...\), got 'up'"):
        tl.Stage("up")


def test_conditions_of_stages_are_checked_at_the_start() -> None:
    with pytest.raises(InputError, match=r"command.1.until: .*nosuch"):
        tl.simulate(case(tl.Stage(tl.Free(), 1.0), tl.Stage(tl.Free(), "end_tension[nosuch] > 3"), tl.Free()))


def test_what_cannot_be_done_with_sequences(tmp_path: Path) -> None:
    given = case(*LONG)
    with pytest.raises(InputError, match="expected one command for each reel, no sequence, got one"):
        tl.gradients.linearize(given)
    with pytest.raises(InputError, match="expected one command for each reel, or an input in its place"):
        tl.export_fmu(given, tmp_path / "x.fmu", commands={"line": "case"})


def test_a_stop_ends_a_run_within_a_stage() -> None:
    stages = (tl.Stage(tl.Speed(payout=0.5), duration=1.0), tl.Speed(payout=1.0))
    stop = tl.StopWhen("unstretched_length", above=11.3)
    run = tl.simulate(case(*stages, stop=stop))
    assert run.attrs["status"] == "condition_met"
    check_close("time", run.attrs["end_time"], 1.8, 1e-11)


def test_another_command_takes_the_place_of_a_sequence() -> None:
    sim = tl.Simulation.from_case(case(*LONG))
    sim.advance(1.0, dict(case(*LONG).commands))
    assert sim.line.stage == "lift"
    sim.advance(1.0, tl.Torque(40.0))
    assert sim.line.stage is None and sim.backend.commands["line"] == tl.Torque(40.0)
    sim.advance(1.0, tl.Sequence(tl.Stage(tl.Torque(41.0), duration=0.5), tl.Torque(42.0)))
    assert sim.line.stage == "1" and sim.backend.commands["line"] == tl.Torque(42.0)


@pytest.mark.parametrize("name", ["haul.drive", "haul.end_reel"])
def test_torques_of_sheaves_and_of_reels_at_the_end_go_over_smoothly(name: str) -> None:
    """As by a table with the cubic's values, between which a transition is straight too."""
    base = tl.load("tests/e2e/every_full_key/stages.toml", {"run.duration": 0.2})
    knots = np.linspace(0.0, 0.05, 33)
    times, torques = (0.0, *(0.1 + knots).tolist()), (9.0, *(9.0 - 6.0 * smooth(knots / 0.05)).tolist())
    staged = tl.Sequence(tl.Stage(tl.Torque(9.0), until=0.1), tl.Stage(tl.Torque(3.0), transition=0.05))
    given = (staged, tl.Torque((times, torques)))
    runs = [tl.simulate(base.with_(commands={**base.commands, name: x})) for x in given]
    assert np.ptp(runs[0].motor_work.values + runs[0].energy.values) > 0.1
    for variable in ("position", "sheave_torque", "energy"):
        np.testing.assert_allclose(runs[0][variable], runs[1][variable], rtol=1e-9, atol=1e-9, err_msg=variable)


@pytest.mark.parametrize("key", ["command", "lines.line.command"])
def test_a_sequence_is_set_by_key_and_another_command_in_its_place(key: str) -> None:
    case, sequence = tl.load("retrieval"), tl.Sequence(tl.Stage(tl.Free(), until="2 s"), tl.Stage(tl.Locked()))
    found = case.with_({key: sequence})
    assert found.commands["line"] == sequence == case.with_(command=sequence).commands["line"]
    assert case.with_({key: [{"kind": "free", "until": "2 s"}, {"kind": "locked"}]}) == found
    for value in (tl.Torque(2.0), {"kind": "torque", "torque": 2.0}):
        assert found.with_({key: value}).commands["line"] == tl.Torque(2.0)


def test_members_of_a_study_switch_each_at_its_own_time(tmp_path: Path) -> None:
    """Paid out to 11 m at any speed, then held: the lengths at 1 s are those of the speeds."""
    given = case(tl.Stage(tl.Speed(payout=0.5), until="unstretched_length > '11 m'"), tl.Locked(), duration=4.0)
    study = {
        "scenario": given,
        "vary": {"command.0.payout": ["0.4 m/s", "0.5 m/s", "0.8 m/s"]},
        "outputs": ["final unstretched_length", "max reel_speed"],
    }
    found = tl.study(study, tmp_path / "s.zarr", workers=1)
    check_close("lengths", found.final_unstretched_length.values.ravel(), [11.0] * 3, 1e-11)


def test_the_lift_brakes_as_by_hand() -> None:
    """Half of the cabin's weight beyond what holds it decelerates cabin, rope and drum; the program waits live."""
    case = tl.load("lift-brake")
    run = tl.simulate(case)
    begun = stages_of(run)[2]
    assert begun[1] == "brake" and begun[0] == pytest.approx(5.5, abs=1e-9)  # 0.5 m in the transition, and then 3.5 m
    speed = -run.reel_speed.values[:, 0]
    time = run.time.values
    stopped = float(time[int(np.argmax((time > begun[0]) & (np.abs(speed) < 1e-9)))])
    inertia = (20.0 + 0.5 * 19.0**2) / 0.3**2 + 1.4 * 24.0
    mass = 1000.0 + 1.4 * 16.0
    by_hand = (mass + inertia) / (4500.0 / 0.3 - mass * 9.81)
    check_close("time", stopped - begun[0], by_hand, 0.015)  # the cabin bounces on its rope; samples are 10 ms apart
    session = Session(case, "lift")
    assert session.waiting and session.status()["reels"]["line"]["program"]
    assert not Session(tl.load("fixed-length"), "held").waiting
