"""Sensors of a simulation: what lines and bodies show, on both backends, and load cells."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError
from tautline.model.command import Torque

CASES = {"chain": "crane-hoist", "network": "hook-and-load"}


def running(kind: str) -> tuple[tl.Simulation, str, str]:
    """A simulation in motion, its hoisting line and the body that hangs at the end of it."""
    case = tl.load(CASES[kind])
    sim = tl.Simulation.from_case(case)
    sim.advance(0.2, dict(case.commands), sample=0.1)
    line = next(iter(sim.lines))
    return sim, line, case.system.lines[line].end


@pytest.mark.parametrize("kind", CASES)
def test_sensors_show_what_results_have(kind: str) -> None:
    sim, line, body = running(kind)
    row = sim.dataset().isel(time=-1)
    for name in ("start_tension", "end_tension", "torque", "power"):
        assert getattr(sim.lines[line], name) == row[name].sel(line=line).item(), name
    # positions pass through those relative to the guide: rounding of numbers of 10 m
    for name, variable in (("position", "body_position"), ("velocity", "body_velocity"), ("attitude", "attitude")):
        np.testing.assert_allclose(getattr(sim.bodies[body], name), row[variable].sel(body=body), rtol=0, atol=1e-13)


@pytest.mark.parametrize("kind", CASES)
def test_a_point_of_a_body_is_where_the_line_is_fastened(kind: str) -> None:
    sim, line, body = running(kind)
    sim.bodies[body].strike((30.0, 20.0, 0.0))
    sim.advance(0.05)
    fastened = sim.system.lines[line].end_point
    point = (0.0, 0.0, 0.0) if fastened is None else fastened
    view = sim.bodies[body]
    np.testing.assert_allclose(view.position_of(point), sim.lines[line].nodes[-1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(view.velocity_of(point), sim.lines[line].node_velocities[-1], rtol=0, atol=1e-11)


def pendulum(direction: tuple[float, float, float] = (0.0, 0.0, 1.0)) -> tl.Simulation:
    system = tl.pendulum(
        tl.String(length=20.0, density=0.05, stiffness=2e4, law="linear"),
        tl.Reel(drum_radius=0.2, guide_length=0.5, inertia_mass=2.0),
        tl.RigidBody.sphere(mass=30.0, radius=0.2, center_of_mass=(0.0, 0.0, 0.2)),
        elements=4,
    )
    return tl.Simulation(system, tl.Straight(10.0, direction=direction))


def test_angles() -> None:
    sim = pendulum((0.3, 0.4, 1.2))
    assert sim.line.start_angle == pytest.approx(math.atan2(0.5, 1.2), rel=1e-12)
    assert sim.line.end_angle == pytest.approx(math.atan2(0.5, 1.2), rel=1e-12)
    assert sim.body.tilt == pytest.approx(math.acos(sim.body.attitude[2, 2]), abs=1e-7)
    assert pendulum().line.start_angle == 0.0


def test_acceleration_needs_no_question_before_and_is_that_of_an_advance_alone() -> None:
    """Between advances the body is struck, and a push takes it to the kernels of networks."""
    sim = pendulum((1.0, 0.0, 1.0))
    acts: list[Callable[[], None]] = [
        lambda: None,
        lambda: sim.body.strike((6.0, 0.0, 0.0)),
        lambda: sim.body.push((3.0, 0.0, 0.0)),
        lambda: sim.body.strike((0.0, 6.0, 0.0)),
    ]
    for act in acts:
        act()
        before, then = sim.body.velocity, sim.time
        sim.advance(0.01, sample=0.002)
        mean = (sim.body.velocity - before) / (sim.time - then)
        np.testing.assert_allclose(sim.body.acceleration, mean, rtol=0, atol=1e-9)
    sim = pendulum((1.0, 0.0, 1.0))
    sim.advance(0.01)
    known = sim.body.acceleration
    sim.body.push((3.0, 0.0, 0.0))
    np.testing.assert_allclose(sim.body.acceleration, known, rtol=0, atol=1e-9)


def test_a_controller_may_read_accelerations() -> None:
    read = []

    def control(sim: tl.Simulation) -> float:
        read.append(sim.body.acceleration[2])
        return 1600.0

    run = tl.simulate(tl.load("crane-hoist"), control=control, period=0.05, duration=0.2, sample=0.05)
    changes = np.diff(run.body_velocity.sel(body="body").values[:, 2])
    assert read[0] == 0.0
    np.testing.assert_allclose(read[1:], changes[:3] / 0.05, rtol=0, atol=1e-9)


def test_acceleration_is_the_mean_over_an_advance() -> None:
    sim = pendulum((1.0, 0.0, 1.0))
    assert sim.body.acceleration.tolist() == [0.0, 0.0, 0.0]
    for _ in range(3):
        before, then = sim.body.velocity, sim.time
        sim.advance(0.01)
        assert np.array_equal(sim.body.acceleration, (sim.body.velocity - before) / (sim.time - then))
    other = copy.deepcopy(sim)
    assert other.body.position.tolist() == sim.body.position.tolist()


def test_sensors_see_a_blow_at_once() -> None:
    sim = pendulum()
    sim.advance(0.01)
    before, force = sim.body.velocity, sim.line.end_tension
    sim.body.strike((0.0, 15.0, 30.0))
    # 30 kg, struck in the center of mass; the string's part at the attachment point is 0.06 kg
    assert (sim.body.velocity - before)[2] == pytest.approx(1.0, rel=0.01)
    sim.advance(0.01)
    assert sim.line.end_tension > force


# -- load cells ----------------------------------------------------------------------------------------------


def test_a_load_cell_holds_and_delays() -> None:
    cell = tl.control.LoadCell(delay="25 ms", sample_time="10 ms")
    found = [cell(0.001 * k, float(k)) for k in range(60)]
    expected = [max(0.0, 10.0 * math.floor((k - 25) / 10)) for k in range(60)]
    assert found == expected


def test_noise_has_its_size_and_its_seed() -> None:
    cells = [tl.control.LoadCell(noise="50 N", seed=seed) for seed in (1, 1, 2)]
    read: Any = np.array([[cell(1e-3 * k, 1000.0) for k in range(4000)] for cell in cells])
    assert np.array_equal(read[0], read[1]) and not np.array_equal(read[0], read[2])
    # of 4000 numbers the deviation is known to 1/sqrt(8000), 1.1 %, the mean to 0.8 N: four of these
    assert read[0].std() == pytest.approx(50.0, rel=0.045) and read[0].mean() == pytest.approx(1000.0, abs=3.2)
    cells[0].reset()
    assert cells[0](0.0, 1000.0) == read[0, 0]


def test_a_copy_goes_on_alike() -> None:
    cell = tl.control.LoadCell(noise=1.0, delay=0.01, sample_time=0.002, seed=3)
    for k in range(20):
        cell(1e-3 * k, 0.0)
    other = pickle.loads(pickle.dumps(cell))
    rest = [(cell(1e-3 * k, 1.0), other(1e-3 * k, 1.0)) for k in range(20, 50)]
    assert all(a == b for a, b in rest)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"noise": -1.0}, "LoadCell.noise"),
        ({"noise": "3 m"}, "LoadCell.noise: expected a force"),
        ({"delay": "3 N"}, "LoadCell.delay: expected a time"),
        ({"sample_time": math.nan}, "LoadCell.sample_time"),
        ({"seed": 1.5}, "LoadCell.seed"),
    ],
)
def test_wrong_load_cells_are_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as error:
        tl.control.LoadCell(**arguments)
    assert words in str(error.value)


def test_time_does_not_go_back() -> None:
    cell = tl.control.LoadCell()
    cell(1.0, 5.0)
    with pytest.raises(InputError, match=r"time: expected 1 s or later, got 0.5 s; call reset\(\)"):
        cell(0.5, 5.0)


def test_tension_control_with_a_load_cell_keeps_the_tension() -> None:
    """A slow integrator brings the tension at the reel to what is wanted, through noise and delay."""
    wanted, cell = 320.0, tl.control.LoadCell(noise="5 N", delay="5 ms", sample_time="2 ms", seed=4)
    sim, total = pendulum(), 0.0
    sim.advance(0.001, Torque(0.2 * 300.0))
    seen = []
    for _ in range(1500):
        error = wanted - cell(sim.time, sim.line.start_tension)
        total += 0.001 * error
        seen.append(sim.line.start_tension)
        sim.advance(0.001, Torque(0.2 * (wanted + 2.0 * total)), record=False)
    # the drum accelerates the load by 9.81*(320/300.3 - 1) at most; oscillations of a second are damped by nothing
    assert np.mean(seen[500:]) == pytest.approx(wanted, rel=0.1)


ROPE = tl.String(20.0, 0.2, 1e5, damping_ratio=0.1, law="linear")
SLING = tl.String(2.0, 0.2, 1e5, damping_ratio=0.1, law="linear")


def aslant() -> dict[str, tl.Case]:
    """A swinging load on each backend."""
    load = tl.RigidBody.box(50.0, (0.4, 0.3, 0.3), (0.02, 0.01, 0.3))
    drum, run = tl.Reel(0.2, 0.5, 50.0), tl.Run(duration=0.5, sample=0.01, step=5e-4)
    lone = tl.pendulum(ROPE, drum, load, elements=3)
    hook = tl.RigidBody.box(20.0, (0.2, 0.2, 0.2), (0.0, 0.0, 0.1))
    lines = {
        "hoist": tl.Line(ROPE, end="hook", reel=drum, elements=3),
        "sling": tl.Line(SLING, start="hook", start_point=(0.0, 0.0, 0.2), end="load", elements=2),
    }
    crane = tl.System({"hook": hook, "load": load}, lines)
    hung = tl.Placed({"hook": (1.0, 0.3, 8.05), "load": (1.2, 0.3, 10.5)}, {"hoist": tl.LineStart(8.0)})
    start = tl.Straight(8.0, direction=(0.1, 0.05, 1.0))
    return {
        "chain": tl.Case(lone, start, tl.Speed(payout=0.2), run),
        "network": tl.Case(crane, hung, {"hoist": tl.Speed(payout=0.2)}, run),
    }


@pytest.mark.parametrize("kind", CASES)
def test_angles_and_accelerations_are_words_of_expressions(kind: str, tmp_path: Path) -> None:
    """As sensors show them; in conditions, studies and derivatives too, and accelerations where they are known."""
    case = aslant()[kind]
    run, sim = tl.simulate(case), tl.Simulation.from_case(case)
    line = next(iter(sim.lines))
    body = case.system.lines[line].end
    sim.advance(0.49, dict(case.commands), sample=0.01)
    sim.advance(0.01)

    def last(text: str) -> Any:
        return tl.analysis.evaluate(run, text)[-1].values

    for name in ("start_angle", "end_angle"):
        assert getattr(sim.lines[line], name) == pytest.approx(float(last(f"{name}[{line}]")), abs=1e-14)
    assert sim.bodies[body].tilt == pytest.approx(float(last(f"tilt[{body}]")), abs=1e-14)
    np.testing.assert_allclose(sim.bodies[body].acceleration, last(f"acceleration[{body}]"), rtol=0, atol=1e-9)
    assert tl.analysis.evaluate(run, "acceleration").dims == tl.analysis.evaluate(run, "body_velocity").dims
    units = [tl.analysis.evaluate(run, text).attrs["units"] for text in (f"tilt[{body}]", f"acceleration[{body}].z")]
    assert units == ["rad", "m s-2"]
    # of a run, its study and its derivatives
    text = f"end_angle[{line}]"
    angle = tl.analysis.evaluate(run, text).values
    limit = 0.5 * float(angle[0] + angle[10])
    stopped = tl.simulate(case, stop=tl.StopWhen(text, **side(angle, limit)))
    assert stopped.status == "condition_met" and float(tl.analysis.evaluate(stopped, text)[-1]) == pytest.approx(limit)
    with pytest.raises(InputError, match="a rate that is known at a moment"):
        tl.simulate(case, stop=tl.StopWhen(f"norm(acceleration[{body}]) > 30"))
    key = f"bodies.{body}.mass"
    mass = {"chain": 50.0, "network": 20.0}[kind]
    most = "max end_angle" if kind == "chain" else f"max {text}"  # the only line need not be named
    jolt = f"norm(acceleration[{body}])"
    outputs = [most, {"name": "jolt", "variable": jolt, "reduce": "max"}]
    found = tl.study({"scenario": case, "vary": {key: [mass]}, "outputs": outputs}, tmp_path / "s.zarr", workers=1)
    kept = [name for name in found.data_vars if str(name).startswith(("max_end", "jolt"))]
    values = [float(found[name].values.item()) for name in kept]
    expected = [float(angle.max()), float(tl.analysis.evaluate(run, jolt).max())]
    assert sorted(values) == pytest.approx(sorted(expected), rel=1e-9)
    objective = (
        tl.objectives.Final(text)
        + tl.objectives.Final(f"tilt[{body}]")
        + tl.objectives.Final(f"norm(acceleration[{body}])")
    )
    slope = float(tl.value_and_gradient(case, objective, [key]).gradient[0])
    shifts = np.array([1e-4, -1e-4, 2e-4, -2e-4])
    near, back, far, farther = (
        tl.value_and_gradient(case.with_({key: mass + x}), objective, [key]).value for x in shifts
    )
    assert slope == pytest.approx((8.0 * (near - back) - (far - farther)) / 12e-4, rel=1e-5)


def side(values: Any, limit: float) -> dict[str, Any]:
    """The side of a limit that values are not on at first."""
    return {"above": limit} if values[0] < limit else {"below": limit}


def test_a_line_that_hangs_straight_has_no_angle_and_no_slope() -> None:
    case = tl.load("crane-hoist", {"run.duration": "0.1 s", "body.center_of_mass": [0, 0, "0.8 m"]})
    found = tl.value_and_gradient(
        case, tl.objectives.Final("end_angle") + tl.objectives.Final("start_angle"), ["body.mass"]
    )
    assert (found.value, found.gradient.values.tolist()) == (0.0, [0.0])
