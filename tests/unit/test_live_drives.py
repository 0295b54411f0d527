"""Drums, trolleys and alarms of live simulations: ramps by closed forms, soft stops, every scenario driven."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tautline as tl
from tautline.files.scenario import built_in_names
from tautline.viewer.drives import FIRM, GENTLE
from tautline.viewer.journeys import LEAST, journey, journey_in_room
from tautline.viewer.session import Session
from tests.support.crane import crane

G = 9.81
positive = st.floats(0.05, 20.0)
signed = st.floats(-20.0, 20.0)


def travelled(times: tuple[float, ...], speeds: tuple[float, ...]) -> float:
    """Exact: speeds are linear between entries."""
    return float(np.trapezoid(speeds, times))


@given(signed, signed, positive, positive)
def test_a_journey_ends_at_rest_where_it_should(before: float, distance: float, cruise: float, a: float) -> None:
    """No faster than it may be, or than it was; ramps of the acceleration; at rest in the end, at the place."""
    times, speeds = journey(3.0, before, distance, cruise, a)
    # two ramps at most are left out: those that are shorter than entries of a table may be apart
    assert times[0] == 3.0 and speeds[0] == pytest.approx(before, abs=2.0 * LEAST * a) and speeds[-1] == 0.0
    assert travelled(times, speeds) == pytest.approx(distance, abs=1e-6 * (1.0 + before * before / a))
    assert max(map(abs, speeds)) <= max(cruise, abs(before)) * (1.0 + 1e-12)
    slopes = np.abs(np.diff(speeds)) / np.diff(times)
    assert np.all((slopes < 1e-6 * a) | np.isclose(slopes, a, rtol=1e-3))


@given(signed, st.floats(1e-3, 20.0), st.floats(1e-3, 20.0), positive, positive)
def test_the_ends_of_the_rope_are_never_passed(before: float, up: float, down: float, cruise: float, a: float) -> None:
    """However fast the drum turns, and whichever way it is to go."""
    ahead = up if before > 0.0 else down
    # harder than this no drum brakes: one that fast has begun to earlier
    assume(2.0 * ahead > 0.02 * abs(before))
    for target in (up, -down, 0.3 * up):
        times, speeds = journey_in_room(0.0, before, ahead, target, cruise, a)
        fine = np.linspace(0.0, times[-1], 400)
        rates = np.interp(fine, times, speeds)
        place = np.concatenate([[0.0], np.cumsum(0.5 * (rates[1:] + rates[:-1]) * np.diff(fine))])
        slack = 1e-6 + np.abs(rates).max() * fine[1]  # of the sum
        assert place.max() <= up + slack and place.min() >= -down - slack
        assert speeds[-1] == 0.0 and travelled(times, speeds) == pytest.approx(target, abs=1e-5 * (1.0 + before**2 / a))


def ride(session: Session, seconds: float) -> dict[str, np.ndarray]:
    """Extremes of each state of the next seconds."""
    found: dict[str, list[float]] = {"time": [], "low": [], "high": [], "deployed": [], "speed": []}
    until = session.simulation.time + seconds - 1e-9
    while session.simulation.time < until:
        assert session.advance(), session.message
        x = session._values
        row = (
            x["time"][-1],
            x["tension"].min(),
            x["tension"].max(),
            x["unstretched_length"][-1, 0],
            x["reel_speed"][-1, 0],
        )
        for column, value in zip(found.values(), row, strict=True):
            column.append(float(value))
    return {name: np.array(column) for name, column in found.items()}


def test_a_crane_to_both_ends_and_the_end_of_its_program() -> None:
    """A step of a in acceleration loads a rope by no more than a load dropped on a spring: twice its mass times a."""
    short = {"run.elements": 4, "initial.deployed": 8, "string.length": 16, "run.duration": 2}
    session = Session(tl.load("crane-hoist", short), "crane")
    assert session.waiting and not session.advance(), "nobody has begun the program"
    session.obey({"type": "pause", "on": False})
    before = ride(session, 2.0)
    assert before["speed"][-1] > 0.5, "the program ends while the drum turns"
    after = ride(session, 4.0)
    drive = session.driven.drives["line"]
    mass, a = 1000.0 + 8.0 * 0.98, GENTLE * G
    assert drive.acceleration == pytest.approx(a)
    # the load had the acceleration of the torque before, and has -a of the ramp from then on
    swing = 2.0 * mass * (a + abs(before["speed"][-1] - before["speed"][-7]) / 0.1)
    weight = mass * G
    assert after["low"].min() > weight - swing > 0.0 and after["high"].max() < weight + swing
    assert np.abs(np.diff(after["speed"])).max() <= a * session.interval * 1.001, "no jump of the speed"
    assert drive.speed == 0.0 and drive.mode == "speed" and "The program has ended at 2 s" in session.message

    low, high = session.meta()["limits"]["reels"]["line"]["length"]
    for value, end, where in ((2.0, low, "in"), (-2.0, high, "out")):
        session.obey({"type": "speed", "value": value})
        found = ride(session, 14.0)
        assert found["deployed"][-1] == pytest.approx(end, abs=1e-6) and found["speed"][-1] == 0.0
        assert found["deployed"].min() >= low - 1e-9 and found["deployed"].max() <= high + 1e-9
        # a way has four steps of the acceleration, whose oscillations may add on a rope without damping
        assert found["low"].min() > weight - 4.0 * mass * a > 0.0, "never pressed together"
        assert drive.stopped_at == where and not session.ended
    # three turns stay on a drum
    assert 16.0 - 1.0 - high == pytest.approx(3.0 * 2.0 * math.pi * 0.16)
    session.obey({"type": "length", "value": 6.0, "speed": 1.0})
    found = ride(session, 8.0)
    assert found["deployed"][-1] == pytest.approx(6.0, abs=1e-6) and np.abs(found["speed"]).max() < 1.0 + 1e-9


def test_a_drum_that_runs_free_is_braked_before_the_rope_ends() -> None:
    short = {"run.elements": 4, "initial.deployed": 8, "string.length": 16}
    session = Session(tl.load("crane-hoist", short), "crane")
    session.obey({"type": "free"})
    found = ride(session, 10.0)
    drive = session.driven.drives["line"]
    assert not session.ended and drive.speed == 0.0 and drive.stopped_at == "out"
    assert found["deployed"].max() <= session.meta()["limits"]["reels"]["line"]["length"][1] + 1e-6
    fastest = found["speed"].argmin()
    braked, end = found["speed"][fastest:], session.meta()["limits"]["reels"]["line"]["length"][1]
    # a drum that falls gathers speed until it is seen: it brakes firmly, or as hard as the rope that is left takes
    needed = braked[0] ** 2 / (2.0 * (end - found["deployed"][fastest]))
    hardest = max(FIRM * GENTLE * G, needed)
    assert np.diff(braked).max() / session.interval == pytest.approx(hardest, rel=0.05)


def over_a_block() -> tl.Case:
    """A load in the bight of a rope with a winch at one end and a driven sheave at the other."""
    rope = tl.String("60 m", "2 kg/m", "2 MN", law="tension_only")
    sheaves = {
        "lower": tl.Sheave((0, 0, 0), "0.25 m", (0, 1, 0), on="block", inertia="0.4 kg*m^2"),
    }
    line = tl.Line(
        rope,
        start_point=(-0.25, 0, 0),
        reel=tl.Reel("0.3 m", "0.5 m", inertia="9 kg*m^2"),
        over=sheaves,
        end_point=(0.25, 0, 0),
        end_reel=tl.Reel("0.3 m", "0.5 m", inertia="9 kg*m^2"),
        elements=3,
    )
    block = tl.RigidBody.box("500 kg", (0.6, 0.4, 0.8), (0, 0, 0.4))
    system = tl.System(bodies={"block": block}, lines={"hoist": line})
    return tl.Case(system, tl.Hanging("16 m"), {}, tl.Run(duration=1.0, sample=0.01))


def test_blocks_that_meet_are_stopped_before() -> None:
    """Two winches of one rope: the spans beside the block are as short as they may be, and not shorter."""
    session = Session(over_a_block(), "tackle")
    drives = session.driven.drives
    assert list(drives) == ["hoist", "hoist.end_reel"]
    session.obey({"type": "speed", "line": "hoist", "value": session._limits["reels"]["hoist"]["speed"][1]})
    end = session._limits["reels"]["hoist.end_reel"]["speed"][1]
    session.obey({"type": "speed", "line": "hoist.end_reel", "value": end})
    shortest = math.inf
    for _ in range(8):
        ride(session, 1.0)
        shortest = min(shortest, float(session._values["span_length"][-1].min()))
    assert not session.ended and all(drive.speed == 0.0 for drive in drives.values())
    assert shortest >= 0.8 - 1e-3, "a tenth of the 8 m at the start"
    session.obey({"type": "speed", "line": "hoist", "value": -1.0})
    ride(session, 2.0)
    assert drives["hoist"].speed == pytest.approx(-1.0)


def test_a_jib_is_carried_within_limits() -> None:
    """With its acceleration, from the motion of its path, no farther than it may; and it rests when it is let go."""
    session = Session(crane(), "crane")
    home, reach = session.simulation.bodies["jib"].position, session.driven.deployed()["hoist"]
    carrier, velocities = session.driven.carriers["jib"], []
    for _ in range(5):
        session.obey({"type": "carry", "body": "jib", "to": [100.0, 0.0, 0.0]})
        for _ in range(40):
            session.advance()
            velocities.append(session.simulation.bodies["jib"].velocity)
    assert session.simulation.bodies["jib"].position[0] - home[0] > 0.5
    assert carrier._to is not None and carrier._to[0] - home[0] == pytest.approx(0.75 * reach)
    steps = np.linalg.norm(np.diff(velocities, axis=0), axis=1) / session.interval
    assert steps.max() <= carrier._acceleration * 1.001
    assert np.linalg.norm(velocities, axis=1).max() <= carrier.fastest * 1.001 + 0.7  # of the path, at first
    for _ in range(170):  # 60 in which it goes on by itself, and 1.6 s in which it slows down
        session.advance()
    assert not carrier.busy and not session.simulation.bodies["jib"].velocity.any()


@pytest.mark.parametrize("name", list(built_in_names()))
def test_every_scenario_is_driven(name: str) -> None:
    """All drums at once, in and out by their buttons; bodies are pulled, steered and carried; nothing breaks."""
    coarse: dict[str, Any] = {"run.sample": "0.1 s"}
    session = Session(tl.load(name, coarse), name)
    limits = session.meta()["limits"]
    session.obey({"type": "pause", "on": False})
    session.advance()
    for way, (reel, own) in itertools.product((1.0, -1.0), limits["reels"].items()):
        session.obey({"type": "speed", "line": reel, "value": way * own["cruise"], "held": True})
        for _ in range(6):
            assert session.advance(), session.message
        session.obey({"type": "speed", "line": reel, "value": 0.0, "held": True})
    for kind, greatest in (("pull", limits["impulses"]), ("carry", limits["carried"])):
        for body in greatest:
            session.obey({"type": kind, "body": body, "to": [0.1, 0.0, 0.0]})
            assert session.advance(), session.message
    status = session.status()
    assert set(status["reels"]) == set(limits["reels"]) and not status["ended"]
    assert np.isfinite(session._values["tension"]).all()


def test_a_drum_that_rests_at_an_end_says_so_in_the_same_state() -> None:
    """No state is shown in which it stands there and nothing is said of it, whichever piece it comes to rest in."""
    settings: dict[str, Any] = {"initial.deployed": 2, "string.length": 14, "run.minimum_length": 1}
    for rate in (1.0, 2.0):
        session = Session(tl.load("retrieval", settings), "retrieval")
        session.obey({"type": "rate", "value": rate})
        session.obey({"type": "speed", "value": session.meta()["limits"]["reels"]["line"]["speed"][1]})
        for _ in range(1000):
            session.advance()
            reel = session.status()["reels"]["line"]
            if reel["speed"] == 0.0:
                break
        assert reel["end"] == "in" and "upper end" in session.message
        session.obey({"type": "lock"})
        session.advance()
        assert session.status()["reels"]["line"]["mode"] == "locked"
