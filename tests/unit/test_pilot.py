"""Controllers in live simulations: the same as in `simulate`, beside what people do from a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.engine.choose import CHAIN, NETWORK, VARIABLE
from tautline.errors import InputError
from tautline.viewer.pilot import Control, checked_control
from tautline.viewer.session import Session
from tests.support.crane import crane

TICK = 0.1  # s
STEP = 1e-3  # s
LENGTH = 20.0  # m
REEL = tl.Reel(drum_radius=0.16, guide_length=1.0, inertia_mass=470.0)
ROPE = tl.Line(
    tl.String(length=60.0, density=0.55, stiffness=5.5e5, viscosity=1400.0, law="linear"),
    start="trolley",
    end="load",
    reel=REEL,
    elements=2,
)
LOAD = tl.RigidBody.point(mass=2000.0)
RUN = tl.Run(duration=20.0, step=STEP, sample=TICK)


def crab(**forces: tl.AppliedForce) -> tl.System:
    """A load below a trolley."""
    return tl.System({"trolley": tl.Kinematic(), "load": LOAD}, {"rope": ROPE}, applied_forces=forces)


def hanging(**forces: tl.AppliedForce) -> tl.Case:
    """Case of the crab at rest."""
    start = tl.Simulation(crab(), tl.Hanging({"rope": LENGTH})).state
    return tl.Case(crab(**forces), start, {}, RUN)


def gain() -> np.ndarray:
    """A linear-quadratic regulator from the program's own linear model: the trolley's velocity from what sways."""
    linalg = pytest.importorskip("scipy.linalg")
    fixed = tl.pendulum(ROPE.string, REEL, LOAD, elements=2)
    linear = tl.gradients.linearize(tl.Case(fixed, tl.Hanging(LENGTH), {}, RUN).with_({"run.duration": TICK}))
    what = [f"{kind} of {part} x" for kind in ("position", "velocity") for part in ("node 1 of line", "body")]
    along = [linear.names.index(name) for name in what]
    inner, nodes = linear.A[0][np.ix_(along, along)], 2
    A, B = np.eye(2 * nodes + 2), np.zeros((2 * nodes + 2, 1))
    A[: 2 * nodes, : 2 * nodes] = inner
    B[: 2 * nodes, 0] = inner @ np.concatenate([np.zeros(nodes), -np.ones(nodes)])
    A[-2, -1], B[-2:, 0] = TICK, (TICK, 1.0)
    load = np.zeros(2 * nodes + 2)
    load[nodes - 1] = load[-2] = 1.0
    Q, R = np.outer(load, load) + np.diag([*np.zeros(2 * nodes + 1), 0.1]), np.array([[4.0]])
    P = linalg.solve_discrete_are(A, B, Q, R)
    K: np.ndarray = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)[0]
    return K


class Regulator:
    """Holds the load by moving the trolley."""

    def __init__(self, gain: np.ndarray) -> None:
        self.gain, self.velocity = gain, 0.0
        self.times: list[float] = []
        self.seen: list[list[float]] = []

    def __call__(self, sim: tl.Simulation) -> tl.Command:
        rope, trolley = sim.line, sim.bodies["trolley"]
        sway, rates = rope.nodes[1:, 0] - rope.nodes[0, 0], rope.node_velocities[1:, 0] - self.velocity
        x = [*sway, *rates, trolley.position[0], self.velocity]
        self.times.append(sim.time)
        self.seen.append(x)
        self.velocity -= float(self.gain @ np.array(x))
        trolley.move((self.velocity, 0.0, 0.0))
        return tl.Locked()


def ride(session: Session, seconds: float) -> np.ndarray:
    """Places of the load along the first axis while a session moves on (m)."""
    places = []
    while session.simulation.time < seconds:
        assert session.advance(), session.message
        places.append(session.simulation.body.position[0])
    return np.array(places)


@pytest.mark.parametrize("backend", [CHAIN, pytest.param(NETWORK, marks=pytest.mark.long)])
def test_a_regulator_holds_a_load_live_that_someone_pushes(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An impulse of 1 m/s makes the load sway by v/omega = 1.4 m; the regulator takes that away, and stops it."""
    monkeypatch.setenv(VARIABLE, backend)
    by_hand = np.sqrt(LENGTH / 9.81)  # of a point on a string without mass, for 1 m/s
    K = gain()
    for factor, seconds in ((0.0, 6.0), (1.0, 14.0)):
        regulator = Regulator(factor * K)
        session = Session(hanging(), "crane", control=Control(regulator, TICK))
        session.advance()
        session.obey({"type": "impulse", "impulse": [2000.0, 0.0, 0.0]})
        found = np.abs(ride(session, seconds))
        assert regulator.times == pytest.approx(TICK * np.arange(len(regulator.times)))
        if factor == 0.0:
            assert found.max() == pytest.approx(by_hand, rel=0.05)  # the string is stretched by 4 %
        else:
            assert found[len(found) * 3 // 4 :].max() < 0.05 * by_hand


def test_live_and_simulate_ask_a_controller_alike() -> None:
    """A gust pushes the load; both ways the controller sees the same, and the same commands act."""
    gust = tl.AppliedForce(force=([0.0, 0.5, 1.0], [[0.0, 0.0, 0.0], [900.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    case = hanging(load=gust)
    live, offline = Regulator(gain()), Regulator(gain())
    session = Session(case, "crane", control=Control(live, TICK))
    while len(live.seen) < 20:
        session.advance()
    tl.simulate(case, control=offline, period=TICK, duration=2.0)
    assert np.abs(live.seen)[:, -2].max() > 0.001  # m, of the trolley
    # samples of another interval let forces act in other parts: the same motion but for rounding
    assert np.abs(np.array(live.seen) - offline.seen).max() < 1e-9


def test_a_reel_that_someone_drives_is_left_alone_until_a_reset() -> None:
    case = hanging()
    session = Session(case, "crane", control=Control(lambda sim: 500.0, TICK))
    session.advance()
    assert session.driven.drives["rope"].mode == "torque" and session.driven.drives["rope"].torque == 500.0
    session.obey({"type": "lock"})
    for _ in range(30):
        session.advance()
    assert session.driven.drives["rope"].mode == "locked"
    session.obey({"type": "reset"})
    session.advance()
    assert session.driven.drives["rope"].torque == 500.0


def test_a_controller_that_pushes_goes_on_and_is_recorded(tmp_path: Path) -> None:
    """A steady push of 2 kN at 20 kN of weight leads the load aside; a recording holds both backends' samples."""

    def gust(sim: tl.Simulation) -> None:
        if sim.time > 0.45:
            sim.body.push((2000.0, 0.0, 0.0))

    session = Session(hanging(), "crane", tmp_path / "gust.nc", Control(gust, TICK))
    session.obey({"type": "record", "on": True})
    ride(session, 1.5)
    session.obey({"type": "record", "on": False})
    run = tl.open_run(tmp_path / "gust.nc")
    np.testing.assert_allclose(np.diff(run.time), session.interval, rtol=1e-6)
    x = run.body_position.sel(body="load", axis="x")
    assert run.time[0] == 0.0 and float(abs(x.sel(time=slice(None, 0.45))).max()) < 1e-9 and x[-1] > 0.3
    session.obey({"type": "speed", "value": 0.5})
    ride(session, 2.5)
    assert session.simulation.line.speed == pytest.approx(0.5)


def test_a_controller_drives_several_reels_by_name(tmp_path: Path) -> None:
    case = crane()
    session = Session(case, "crane", tmp_path / "x.nc", Control(lambda sim: {"hoist": tl.Torque(40.0)}, TICK))
    before = session.driven.drives["sling"].command
    session.advance()
    assert session.driven.drives["hoist"].torque == 40.0 and session.driven.drives["sling"].command is before
    wrong = Session(case, "crane", tmp_path / "x.nc", Control(lambda sim: {"crane": 1.0}, TICK))
    assert not wrong.advance() and wrong.paused
    assert "control: lines.crane: no such name" in wrong.message
    nameless = Session(case, "crane", tmp_path / "x.nc", Control(lambda sim: 1.0, TICK))
    assert not nameless.advance() and "control: command: expected a dict by the names of lines" in nameless.message


@pytest.mark.parametrize(
    ("control", "period", "sentence"),
    [
        (1.0, TICK, "control: expected something that can be called"),
        (lambda sim: 0.0, None, "period: expected together with control, got none"),
        (lambda sim: 0.0, -1.0, "period: expected"),
        (lambda sim: 0.0, 1.5 * STEP, "period: expected a multiple of the step"),
    ],
)
def test_a_controller_that_cannot_be_is_refused(control: Any, period: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Session(hanging(), "crane", control=checked_control(control, period))
    assert checked_control(None, None) is None
