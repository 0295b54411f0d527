"""Tables of the deployed length with velocities at their ends, and the shortest length that a command asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tautline as tl
from tautline.errors import InputError
from tautline.files import scenario
from tautline.model import profile
from tautline.results.conservation import balance_error
from tests.support import chains
from tests.support.checking import check_below, check_close
from tests.support.reeled import TEXT, pendulum

TIMES = [0.0, 0.3, 1.0, 1.6, 2.0]


def rates(command: tl.Length, times: Any) -> tuple[Any, Any]:
    curve = command.curve(0.0, 4.0)
    found = np.array([profile.values_at(curve, t) for t in times])
    return found[:, 0], found[:, 1]


@given(
    st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3),
    st.lists(st.floats(0.05, 1.0), min_size=1, max_size=6),
)
def test_a_cubic_is_met_exactly(coefficients: list[float], steps: list[float]) -> None:
    """A spline that has the slopes of a cubic at its ends is that cubic, between all entries."""
    cubic = np.polynomial.Polynomial([400.0, *coefficients])
    times = np.concatenate([[0.0], np.cumsum(steps)])
    ends = (float(cubic.deriv()(0.0)), float(cubic.deriv()(times[-1])))
    command = tl.Length((times, cubic(times)), velocities=ends)
    between = np.linspace(0.0, times[-1], 41)[:-1]
    lengths, speeds = rates(command, between)
    check_below("length", float(np.abs(lengths - cubic(between)).max()), 1e-9)
    check_below("speed", float(np.abs(speeds - cubic.deriv()(between)).max()), 1e-9)


def test_at_the_ends_and_beyond() -> None:
    """With the given velocities within the table, and at a stand outside of it, as the guide on its `Path`."""
    command = tl.Length((TIMES, [4.0, 4.5, 5.0, 4.2, 4.1]), velocities=(1.5, -0.25))
    lengths, speeds = rates(command, [-1.0, 0.0, 2.0 - 1e-9, 2.0, 7.0])
    check_close("lengths", lengths, [4.0, 4.0, 4.1, 4.1, 4.1], 1e-8)
    check_close("speeds", speeds, [0.0, 1.5, -0.25, 0.0, 0.0], 1e-7)
    path = tl.motions.GuidePath(
        tuple(TIMES), tuple((0.0, 0.0, x) for x in (4.0, 4.5, 5.0, 4.2, 4.1)), ((0, 0, 1.5), (0, 0, -0.25))
    )
    for t in (-1.0, 0.0, 0.2, 0.9, 1.7, 2.0, 7.0):
        where, velocity = path.at(t)
        check_close("place", rates(command, [t])[0], where[0, 2:], 1e-12)
        check_close("velocity", rates(command, [t])[1], velocity[0, 2:], 1e-12)


def test_a_monotone_table_with_velocities() -> None:
    command = tl.Length((TIMES, [4.0, 4.5, 5.0, 5.0, 5.5]), monotone=True, velocities=(2.0, 3.0))
    lengths, speeds = rates(command, np.linspace(0.0, 2.0, 501)[:-1])
    assert (speeds >= -1e-12).all() and speeds[0] == pytest.approx(2.0)
    assert (np.diff(lengths) >= -1e-12).all()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"velocities": 1.0}, "Length.velocities: expected two numbers (m/s)"),
        ({"velocities": (1.0,)}, "Length.velocities: expected two numbers (m/s)"),
        (
            {"velocities": ("fast", 0.0)},
            "Length.velocities[0] (start_velocity): expected 'natural' or a speed such as 3",
        ),
        (
            {"velocities": (0.0, float("nan"))},
            "Length.velocities[1] (end_velocity): expected 'natural' or a finite number, got nan",
        ),
        (
            {"table": ([0.0], [4.0]), "velocities": (0.0, 1.0)},
            "Length.velocities[1] (end_velocity): expected 0 with a table of a single",
        ),
        (
            {"monotone": True, "velocities": (-1.0, 0.0)},
            "Length.velocities[0] (start_velocity): expected 0 to 3 m/s, so",
        ),
        (
            {"monotone": True, "velocities": (0.0, 3.1)},
            "Length.velocities[1] (end_velocity): expected 0 to 3 m/s, so",
        ),
    ],
)
def test_velocities_that_are_refused(arguments: dict[str, Any], expected: str) -> None:
    with pytest.raises(InputError) as caught:
        tl.Length(**{"table": ([0.0, 1.0], [4.0, 5.0]), **arguments})
    assert expected in str(caught.value)


def test_a_reel_that_moves_so_already_gets_no_blow() -> None:
    """Heave: the table begins with the speed that the reel has, and the torque stays that of a smooth motion."""
    system = pendulum()
    t = np.linspace(0.0, 2.0, 41)
    lengths, speed = 4.0 + 0.1 * np.sin(3.0 * t), 0.3
    command = tl.Length((t, lengths), velocities=(speed, speed * np.cos(6.0)))
    start = chains.straight(system, 4.0, 4, reel_speed=-speed)
    run = chains.simulate(system, start, command, duration=1.5, step=1e-3, sample=0.05)
    assert run.attrs["status"] == "completed"
    deployed = 4.0 + 0.1 * np.sin(3.0 * run.time.values)
    check_below("length", float(np.abs(run.unstretched_length.values - deployed).max()), 2e-6)
    check_below("speed", float(np.abs(run.reel_speed.values + 0.3 * np.cos(3.0 * run.time.values)).max()), 1e-4)
    check_below("balance", float(np.abs(balance_error(run)).max()), 1e-3)
    jerked = chains.simulate(system, chains.straight(system, 4.0, 4), command, duration=0.05, step=1e-3, sample=0.05)
    assert abs(float(jerked.motor_work[0])) > 1e-3 > abs(float(run.motor_work[0]))


@pytest.mark.parametrize("kind", ["length", "impedance"])
def test_velocities_in_files(kind: str, tmp_path: Path) -> None:
    table = 'times = [0, "1 s"]\nlengths = [4, "500 cm"]\nstart_velocity = "50 cm/s"\nend_velocity = -0.25\n'
    text = f'kind = "{kind}"\n{table}' + ("stiffness = 10\n" if kind == "impedance" else "")
    built = scenario.parse(TEXT.format(reel="", command=text, at_end="stop"))
    curve = tl.Length(([0.0, 1.0], [4.0, 5.0]), velocities=(0.5, -0.25))
    assert built.commands["line"] == (tl.Impedance(curve, 10.0) if kind == "impedance" else curve)
    simulation = tl.Simulation(built.system, built.start, step=1e-3)
    simulation.advance(0.01, dict(built.commands))
    simulation.save(tmp_path / "begun.npz")
    again = tl.Simulation.load(tmp_path / "begun.npz")
    assert tl.case_of(again.dataset()).commands == tl.case_of(simulation.dataset()).commands == built.commands


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "target = 5\nspeed = 1\nacceleration = 1\nstart_velocity = 1",
            "command.start_velocity: expected it together",
        ),
        ("times = [0, 1]\nlengths = [4, 5]\njerk = 3", "command.jerk: expected it together with target"),
        (
            "times = [0, 1]\nlengths = [4, 5]\nmonotone = true\nend_velocity = 4",
            "command.end_velocity: expected 0 to 3 m/s",
        ),
        (
            "times = [0]\nlengths = [4]\nstart_velocity = 4",
            "command.start_velocity: expected 0 with a table of a single",
        ),
        (
            "times = [0, 1]\nlengths = [4, 5]\nend_velocity = [1]",
            "command.end_velocity: expected 'natural' or a speed such as 3 or",
        ),
    ],
)
def test_keys_that_would_be_ignored_are_refused(text: str, expected: str) -> None:
    with pytest.raises(scenario.ScenarioError) as caught:
        scenario.parse(TEXT.format(reel="", command=f'kind = "length"\n{text}', at_end="stop"))
    assert expected in str(caught.value)


# -- the shortest length -------------------------------------------------------------------------------------

MOVE = {"speed": 1.0, "acceleration": 1.0}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (tl.Locked(), None),
        (tl.Free(), None),
        (tl.Torque(1.0), None),
        (tl.Brake(1.0), None),
        (tl.Length.to(10.0, **MOVE), 10.0),
        (tl.Length.to(10.0, **MOVE, jerk=3.0), 10.0),
        (tl.Length.to(2000.0, **MOVE), 1000.0),
        (tl.Length(([0.0, 5.0, 9.0], [1000.0, 3.0, 20.0]), monotone=True), 3.0),
        (tl.Length(([1.0], [7.0])), 7.0),
        (tl.Speed(retrieval=1.0), None),
        (tl.Speed(payout=1.0), 1000.0),
        (tl.Speed(payout=-1.0), None),
        (tl.Speed(retrieval=([0.0, 10.0, 20.0], [90.0, 90.0, 0.0])), None),
        (tl.Speed(retrieval=([0.0, 10.0, 20.0], [60.0, 60.0, 0.0])), 100.0),
        (tl.Speed(retrieval=([0.0, 10.0, 20.0], [60.0, 60.0, -60.0])), 250.0),
        (tl.Speed(payout=([0.0, 10.0], [1.0, -1.0])), None),
        (tl.Impedance(5.0, 10.0), 5.0),
        (tl.Impedance(tl.Length.to(8.0, **MOVE), 10.0), 8.0),
        (tl.Impedance(([0.0, 1.0], [1000.0, 900.0]), 10.0), 900.0),
        (tl.Length(pieces=([0.0, 4.0], [[1000.0, -100.0, 0.0], [600.0, 0.0, 0.0]])), 600.0),
        (tl.Length(pieces=([0.0], [[1000.0, -100.0, 10.0]])), 750.0),
        (tl.Length(pieces=([0.0], [[1000.0, 0.0, -1.0]])), None),
    ],
)
def test_the_shortest_length_that_is_commanded(command: tl.Command, expected: float | None) -> None:
    found = command.shortest(1000.0)
    assert found == (None if expected is None else pytest.approx(expected, rel=1e-12))


def test_a_spline_swings_below_its_entries() -> None:
    command = tl.Length(([0.0, 1.0, 1.1, 3.0], [10.0, 2.0, 2.0, 10.0]))
    curve = command.curve(0.0, 10.0)
    lowest = min(profile.values_at(curve, t)[0] for t in np.linspace(0.0, 3.0, 30_001))
    assert lowest < 2.0
    assert command.shortest(10.0) == pytest.approx(lowest, abs=1e-6)


def test_only_what_is_still_to_come_counts() -> None:
    command = tl.Length(([0.0, 1.0, 2.0], [10.0, 3.0, 8.0]), monotone=True)
    assert command.shortest(8.0, time=2.0) == pytest.approx(8.0)
    assert command.shortest(3.0, time=1.0) == pytest.approx(3.0)
    later = command.shortest(profile.values_at(command.curve(0.0, 10.0), 1.5)[0], time=1.5)
    assert later == pytest.approx(profile.values_at(command.curve(0.0, 10.0), 1.5)[0])
