"""Starts at rest with reels that turn: the velocities of steady payout and retrieval."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError
from tests.support.checking import check_below, check_close

MU, EA, M, X, V = 0.5, 2e4, 20.0, 12.0, 0.8
ROPE, DRUM = tl.String(40.0, MU, EA), tl.Reel(0.2, 0.5, inertia_mass=30.0)
BODY = tl.RigidBody.sphere(M, 0.2, (0.0, 0.0, 0.3))
CRANE = tl.pendulum(ROPE, DRUM, BODY, elements=6)


@pytest.mark.parametrize("start", [tl.Hanging, tl.AtEquilibrium])
@pytest.mark.parametrize("speed", [V, -V])
def test_a_hanging_line_is_paid_out_with_the_strain_that_it_has(start: Any, speed: float) -> None:
    """Depth of node i of N at X deployed: x + ((M + mu X) g x - mu g x^2/2)/EA with x = X i/N; its rate by X."""
    state = tl.Case(CRANE, start(X, reel_speed=speed), {"line": tl.Free()}, tl.Run(duration=1.0)).state()
    x = X * np.arange(7) / 6
    g = 9.81
    slope = x / X + ((M + 2.0 * MU * X) * g * x / X - MU * g * x**2 / X) / EA
    found = np.array(state.lines["line"].node_velocities)
    # differences over 2e-4 of X of states that are known to 1e-9 of the load, which is 1e-11 of the length
    check_close("down", found[:, 2], -speed * slope, 1e-6)
    check_close("aside", found[:, :2], np.zeros((7, 2)), 1e-6)
    check_close("body", state.bodies["body"].velocity, [0.0, 0.0, -speed * slope[-1]], 1e-6)
    assert state.lines["line"].reel_speed == speed


@pytest.mark.parametrize("backend", ["chain", "network"])
def test_a_steady_start_does_not_shake_the_load(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hoisted at a steady speed the tension at the body stays its weight; a straight start shakes it fully."""
    monkeypatch.setenv("TAUTLINE_BACKEND", backend)
    steady = tl.simulate(CRANE, tl.Hanging(X, reel_speed=V), tl.Speed(retrieval=V), duration=3.0, sample=0.01)
    swing = np.abs(steady.end_tension.values - M * 9.81)
    # what is left: rope that is strained at the guide as it is paid out, of the order strain times speed
    check_below("tension", float(swing.max()) / (M * 9.81), 0.02)
    shaken = tl.simulate(CRANE, tl.Straight(X, reel_speed=V), tl.Speed(retrieval=V), duration=3.0, sample=0.01)
    assert float(np.abs(shaken.end_tension.values - M * 9.81).max()) > 20.0 * float(swing.max())


def test_brakes_of_a_lift() -> None:
    """Task d: hoisting, then an emergency brake. Stopped in M_all v over (brake + weight), by hand."""
    brake, load = 400.0, M + MU * X
    run = tl.simulate(CRANE, tl.Hanging(X, reel_speed=V), tl.Brake(brake), duration=1.0, sample=1e-3)
    stopped = float(run.time[np.argmax(run.reel_speed.values[:, 0] == 0.0)])
    # drum and spooled rope are stopped by the brake and the rope, whose pull is between none and its own twice
    turning = 30.0 + MU * (40.0 - X)
    assert turning * V / (brake / 0.2 + 2.0 * load * 9.81) < stopped < turning * V / (brake / 0.2)


def test_every_start_may_move(tmp_path: Any) -> None:
    sling = tl.Line(tl.String(4.0, 1.0, 1e6), start="hook", end="load", elements=3)
    hoist = tl.Line(tl.String(40.0, 1.0, 1e6), end="hook", reel=DRUM, elements=4)
    system = tl.System(
        bodies={"hook": tl.RigidBody.point(50.0), "load": tl.RigidBody.point(200.0)},
        lines={"hoist": hoist, "sling": sling},
    )
    starts = [
        tl.Hanging({"hoist": X}, reel_speed={"hoist": V}),
        tl.Hanging(X, reel_speed=V),
        tl.AtEquilibrium({"hoist": "12 m"}, reel_speed={"hoist": "0.8 m/s"}),
        tl.Placed({"hook": (0, 0, 12.1), "load": (0, 0, 16.1)}, {"hoist": tl.LineStart(X, reel_speed=V)}, settle=True),
    ]
    for start in starts:
        case = tl.Case(system, start, {"hoist": tl.Speed(retrieval=V)}, tl.Run(duration=0.2, sample=0.01))
        state = case.state()
        for body in ("hook", "load"):  # both go up, with all that is stretched
            check_close(body, state.bodies[body].velocity[2], -V, 0.01 * V)
        check_close("sling", np.array(state.lines["sling"].node_velocities)[:, 2], np.full(4, -V), 0.01 * V)
        path = tmp_path / "case.toml"
        path.write_text(case.to_toml())
        assert tl.load(path) == case
        run = tl.simulate(case)
        check_close("load", run.end_tension.sel(line="sling"), np.full(21, 200.0 * 9.81), 0.02 * 200.0 * 9.81)


def test_refusals() -> None:
    case = tl.Case(CRANE, tl.Hanging(X, reel_speed=V), {"line": tl.Free()}, tl.Run(duration=0.1))
    with pytest.raises(InputError, match="expected 0, or a start from a state"):
        tl.jacobian(case, ["end_tension"], by=["string.stiffness"])
    tied = tl.pendulum(ROPE, None, BODY, elements=4)
    with pytest.raises(InputError, match=r"reel_speed\.line: expected 0 without a reel"):
        tl.Case(tied, tl.Hanging(40.0, reel_speed=V), {}, tl.Run(duration=0.1)).state()
    with pytest.raises(InputError, match=r"reel_speed\.lien: no such line; did you mean 'line'"):
        tl.Case(CRANE, tl.Hanging(X, reel_speed={"lien": V}), {}, tl.Run(duration=0.1)).state()
    with pytest.raises(InputError, match="locked"):
        tl.simulate(dataclasses.replace(case, commands={}))


def test_a_study_of_speeds(tmp_path: Any) -> None:
    case = tl.Case(CRANE, tl.Hanging(X), {"line": tl.Free()}, tl.Run(duration=0.1, sample=0.05))
    study = {"scenario": case, "vary": {"initial.reel_speed": [0.0, 0.4, 0.8]}, "outputs": ["max reel_speed"]}
    found = tl.study(study, tmp_path / "s.zarr", workers=1)
    assert found.max_reel_speed.values.ravel()[1:].min() >= 0.4
