"""Moments of force laws in systems: against the pendulum, applied moments, and what momentum and energy must do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.ledger import kept_energy
from tautline.model.system.state import LineState
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_close, check_order
from tests.support.known_systems import commands_of, specs, state_of, system_of

pytestmark = pytest.mark.network

STEPS = [2e-3, 1e-3, 5e-4]
BODY = tl.RigidBody.about_center(2.0, np.diag([0.05, 0.07, 0.06]), (0.05, 0.02, 0.3))
STRING, REEL, OUT, N = tl.String(20.0, 0.1, 4e3), tl.Reel(0.2, 0.5, 1.0, guide_law="none"), 8.0, 5
TWIST = (0.3, -0.2, 0.5)


def stirred(t: float, state: Any, parameters: Any, force: Any, moment: Any) -> None:
    """A spring that turns the body upright, damping of its turning, and a twist that grows."""
    turning = state.attitude @ state.angular_velocity
    moment[:] = 2.0 * np.cross(state.attitude[:, 2], [0.0, 0.0, 1.0]) - 0.3 * turning + np.array([0.0, 9.0 * t, 1.5])
    force[-1] = -0.2 * state.velocity[-1]


def twisted(t: float, state: Any, parameters: Any, force: Any, moment: Any) -> None:
    moment[:] = parameters


def both(step: float) -> tuple[Any, Any]:
    """A pendulum with a law, and the same thing as a system."""
    way = np.array([0.3, 0.0, 1.0]) / np.hypot(0.3, 1.0)
    nodes = np.linspace(0.0, 1.003 * OUT, N + 1)[:, None] * way
    velocities = np.linspace(0.0, 1.0, N + 1)[:, None] * np.array([0.4, 0.2, 0.0])
    omega, center = np.array([0.3, -0.2, 1.5]), np.array(BODY.center_of_mass)
    state = chains.ChainState(20.0 - OUT, 0.0, nodes, velocities, angular_velocity=omega)
    times: Any = {"duration": 0.1, "sample": 0.05, "step": step}
    pendulum, law = chains.Chain(STRING, REEL, BODY), tl.ForceLaw(stirred)
    alone = chains.simulate(pendulum, state, tl.Torque(2.0), loads=[law], **times)
    body = tl.BodyState(nodes[-1] + center, velocities[-1] + np.cross(omega, center), angular_velocity=omega)
    started = tl.State({"body": body}, {"rope": LineState(nodes, velocities, 20.0 - OUT, 0.0)})
    system = tl.System({"body": BODY}, {"rope": tl.Line(STRING, end="body", reel=REEL, elements=N)})
    return alone, tl.simulate(system, started, {"rope": tl.Torque(2.0)}, loads={"rope": law}, **times)


def test_a_law_turns_the_body_as_it_turns_that_of_the_pendulum(report: Report) -> None:
    errors, works, balance = [], [], []
    for step in STEPS:
        alone, other = both(step)
        turned = float(np.abs(other.attitude[-1, 0] - alone.attitude[-1].values).max())
        errors.append(max(turned, float(np.abs(other.position[-1] - alone.position[-1].values).max())))
        works.append(abs(float(other.force_law_work[-1] - alone.force_law_work[-1])))
        kept = kept_energy(other)
        balance.append(abs(float(kept[-1] - kept[0])))
    assert abs(float(other.force_law_work[-1])) > 0.1
    report("order of the distance between pendulum and system with a moment", check_order(STEPS, errors, 2.0), "2")
    check_order(STEPS, works, 2.0)
    check_order(STEPS, balance, 2.0)


def with_moment(line: str, law: bool, step: float) -> Any:
    """Two bodies in free space with a twist on the body at the end of their string."""
    spec = specs()["two-bodies-3"]
    system, state = system_of(spec), state_of(spec)
    end = system.lines[line].end
    loads = {line: tl.ForceLaw(twisted, TWIST)} if law else {}
    if not law:
        system = tl.System(
            system.bodies,
            system.lines,
            system.gravity,
            applied_forces={end: tl.AppliedForce(moment=TWIST)},
        )
    return tl.simulate(system, state, commands_of(spec), loads=loads, step=step, duration=0.1, sample=0.1)


def test_a_law_repeats_an_applied_moment_on_the_body_at_the_end(report: Report) -> None:
    """Not on the one at the start, which is free as well."""
    line = system_of(specs()["two-bodies-3"]).lines["s0"]
    assert line.start != "anchor" != line.end
    works = []
    for step in STEPS:
        law, applied = with_moment("s0", True, step), with_moment("s0", False, step)
        check_close("attitude", law.attitude[-1], applied.attitude[-1], 1e-13)
        check_close("position", law.position[-1], applied.position[-1], 1e-13)
        works.append(abs(float(law.force_law_work[-1] - applied.external_work[-1])))
    assert abs(float(law.force_law_work[-1])) > 0.1
    report(
        "order of the distance between works of a law's moment and an applied one", check_order(STEPS, works, 2.0), "2"
    )


def test_a_moment_gives_its_time_integral_of_angular_momentum() -> None:
    spec = specs()["two-bodies-3"]
    space = tl.System(system_of(spec).bodies, system_of(spec).lines, 0.0)
    loads = {"s0": tl.ForceLaw(twisted, TWIST)}
    run = tl.simulate(space, state_of(spec), commands_of(spec), loads=loads, step=1e-3, duration=0.1, sample=0.05)
    gained = run.angular_momentum[-1] - run.angular_momentum[0]
    check_close("angular momentum", gained, 0.1 * np.array(TWIST), 1e-12)


ENDS: dict[str, Any] = {
    "body": tl.RigidBody.box(2.0, (0.3, 0.2, 0.2), (0.0, 0.0, 0.1)),
    "point": tl.RigidBody.point(2.0),
    "held": tl.Kinematic(tl.motions.Sine(0.1, 1.0)),
}


@pytest.mark.parametrize("moment", [np.inf, np.nan])
@pytest.mark.parametrize("end", ENDS)
def test_a_moment_that_is_no_number_ends_the_run(end: str, moment: float) -> None:
    system = tl.System(
        {"it": ENDS[end]}, {"rope": tl.Line(tl.String(8.0, 0.1, 4e3, law="linear"), end="it", elements=3)}
    )
    start = chains.hang(system, {"it": (0.0, 0.0, 8.2)})

    def no_number(t: float, state: Any, parameters: Any, force: Any, out: Any) -> None:
        out[1] = moment if t > 0.02 else 0.0

    loads = {"rope": tl.ForceLaw(no_number)}
    run = tl.simulate(system, start, loads=loads, step=1e-3, duration=0.1, sample=0.05)
    assert run.attrs["status"] == "non_finite"
