"""Guide laws of several drums on one shaft: each drum loses at its own guide what the law of its reel says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError
from tests.conftest import Report
from tests.support.checking import check_below, check_close, check_order

COMMANDS: dict[str, tl.Command] = {
    "free": tl.Free(),
    "torque": tl.Torque(30.0),
    "brake": tl.Brake(10.0),
    "speed": tl.Speed(retrieval=1.0),
    "locked": tl.Locked(),
}


def parallel(count: int, law: str, command: tl.Command, order: int) -> Any:
    """So many lines, each with its part of stiffness and mass, from drums on one shaft to one load."""
    rope = tl.String(20.0, 0.2 / count, 2000.0 / count, law="linear")
    reel = tl.Reel(0.2, 0.1, 1.0, guide_law=law, shaft="winch" if count > 1 else "")
    names = [f"line{k}" for k in range(count)]
    line = tl.Line(rope, start_point=(0.0, 0.0, 0.0), end="load", elements=2, reel=reel)
    system = tl.System({"load": tl.RigidBody.point(10.0)}, dict.fromkeys(names, line))
    start = tl.Placed({"load": (0.3, 0.0, 10.2)}, dict.fromkeys(names, 10.0))
    return tl.simulate(system, start, {"line0": command}, duration=0.2, sample=0.02, step=0.002, order=order)


@pytest.mark.parametrize("law", ["dissipative", "published", "momentum"])
@pytest.mark.parametrize(("name", "order"), [*((name, 2) for name in COMMANDS), ("free", 4), ("torque", 4)])
def test_equal_lines_on_a_shaft_are_one_line(name: str, law: str, order: int) -> None:
    """Also with drums that stick, and stages that go back in time."""
    one, three = (parallel(count, law, COMMANDS[name], order) for count in (1, 3))
    size = float(abs(one.torque).max()) + 1.0
    check_close("place", three.body_position.values, one.body_position.values, 1e-11)
    check_close("loss", three.guide_loss.values, one.guide_loss.values, 1e-11)
    # inverse dynamics divides by a short step
    check_close("torque", three.torque.values[:, 0], one.torque.values[:, 0], 1e-8 * size)
    if name in ("free", "torque", "speed"):
        assert float(abs(one.guide_loss[-1])) > 1e-3


def apart(laws: tuple[str, str], command: tl.Command, step: float, sample: float = 0.02) -> Any:
    """Two loads on drums of different radii, which turn with one shaft the other way round."""
    drums = {"a": tl.Reel(0.2, 0.1, inertia="0.2 kg*m^2", guide_law=laws[0], shaft="winch")}
    drums["b"] = tl.Reel(0.3, 0.1, inertia="0.2 kg*m^2", guide_law=laws[1], shaft="winch", sense=-1)
    ropes = {"a": tl.String(20.0, 0.2, 3000.0, law="linear"), "b": tl.String(20.0, 0.1, 2000.0, law="linear")}
    lines = {
        name: tl.Line(rope, start_point=(x, 0.0, 0.0), end=name.upper(), elements=2, reel=drums[name])
        for x, (name, rope) in enumerate(ropes.items())
    }
    system = tl.System({"A": tl.RigidBody.point(10.0), "B": tl.RigidBody.point(4.0)}, lines)
    start = tl.Hanging({"a": 10.0, "b": 8.0})
    return tl.simulate(system, start, {"a": command}, duration=0.4, sample=sample, step=step)


@pytest.mark.parametrize("command", [tl.Free(), tl.Speed(retrieval=((0.0, 0.4), (0.0, 2.0)))])
@pytest.mark.parametrize("laws", [("none", "dissipative"), ("dissipative", "published"), ("none", "momentum")])
def test_the_balance_of_energy_closes_at_second_order(
    laws: tuple[str, str], command: tl.Command, report: Report
) -> None:
    """And the motor's work is that of the torque that is reported."""
    steps = (4e-3, 2e-3, 1e-3)
    runs = [apart(laws, command, step) for step in steps]
    order = check_order(steps, [float(run.attrs["balance_error"]) for run in runs], 2.0)
    report(f"shaft with guide laws {' and '.join(laws)}: order of the energy balance", order, "2.0 +- 0.3")
    last = runs[-1]
    assert float(abs(last.guide_loss[-1])) > 0.01
    if isinstance(command, tl.Speed):
        last = apart(laws, command, 1e-3, sample=1e-3)
        work = np.trapezoid(last.power.values[:, 0], last.time.values)
        check_below("work", abs(float(last.control_work[-1]) / work - 1.0), 2e-3)


def test_the_loss_of_a_drum_that_the_shaft_turns_is_that_of_its_string() -> None:
    """Equation 16 by hand, from strain and speed of the run at the guide: (EA + mu v^2) strain^2/2 a length."""
    run = apart(("none", "dissipative"), tl.Speed(retrieval=0.2), 1e-3, sample=1e-3)
    first = int(np.flatnonzero(run.element_line.values == "b")[0])
    strain, speed = run.strain.values[:, first], -0.2 * 1.5
    rate = 0.5 * (2000.0 + 0.1 * speed**2) * strain**2 * abs(speed)
    lost = float(run.guide_loss[-1])
    assert lost == pytest.approx(float(np.trapezoid(rate, run.time.values)), rel=1e-3)
    assert lost > 0.02
    assert float(run.unstretched_length[-1, 1] - run.unstretched_length[0, 1]) == pytest.approx(0.2 * 1.5 * 0.4)


def test_a_lock_holds_against_the_guides_of_all_drums() -> None:
    run = apart(("momentum", "published"), tl.Locked(), 1e-3)
    case = tl.case_of(run)
    lines = tl.statics(case.system, case.start).lines
    expected = lines["a"].holding_torque - lines["b"].holding_torque  # it turns the other way
    assert float(run.torque[0, 0]) == pytest.approx(expected, rel=1e-3)
    plain = apart(("none", "none"), tl.Locked(), 1e-3)
    assert abs(float(run.torque[0, 0] - plain.torque[0, 0])) > 0.1


def test_derivatives_know_the_guides_of_all_drums() -> None:
    case = tl.case_of(apart(("none", "dissipative"), tl.Free(), 4e-3))
    keys = ["lines.b.stiffness", "lines.b.reel.smoothing_speed", "bodies.B.mass"]
    case = case.with_({"run.duration": 0.1})
    found = tl.jacobian(case, ["guide_loss"], keys).guide_loss.values[-1]
    for key, slope in zip(keys, found.ravel(), strict=True):
        section: Any = case.all_keys()
        for name in key.split("."):
            section = section[name]
        h = 1e-4 * section
        up, down = (float(tl.simulate(case.with_({key: section + x})).guide_loss[-1]) for x in (h, -h))
        assert slope == pytest.approx((up - down) / (2.0 * h), rel=1e-5, abs=1e-12), key


def test_a_drum_that_the_shaft_turns_has_no_memory() -> None:
    with pytest.raises(InputError, match=r"lines.b.reel.guide_law: expected a law without memory for a drum that"):
        apart(("none", "stretched"), tl.Free(), 1e-3)
    assert apart(("stretched", "none"), tl.Locked(), 1e-2).attrs["status"] == "completed"
