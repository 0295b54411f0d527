"""Assemblies at rest and their small oscillations: exact results, the pendulum, and runs that stay where they are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

import tautline as tl
from tautline.errors import InputError
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, check_close

pytestmark = pytest.mark.network


@pytest.mark.parametrize("name", ["hook-and-load", "cable-robot"])
def test_a_state_of_rest_stays_at_rest(name: str, report: Report) -> None:
    case = tl.load(name)
    system = tl.System(
        {key: tl.Kinematic() if isinstance(body, tl.Kinematic) else body for key, body in case.system.bodies.items()},
        case.system.lines,
        case.system.gravity,
    )
    state = chains.rest(system, chains.hang(system, case.start.bodies, case.start.lines))
    run = tl.simulate(system, state, duration=1.0, sample=0.1)
    moved = float(np.abs(run.body_position - run.body_position[0]).max())
    report(f"{name}: motion of bodies in 1 s from rest (m)", moved, "< 1e-8")
    check_below("motion", moved, 1e-8)


def test_a_double_pendulum_of_points(report: Report) -> None:
    m, l, g = (2.0, 3.0), (1.5, 1.0), 9.81
    bodies = {"a": tl.RigidBody.point(m[0]), "b": tl.RigidBody.point(m[1])}
    lines = {
        "upper": tl.Line(tl.String(l[0], 1e-5, 1e6, law="linear"), end="a", elements=2),
        "lower": tl.Line(tl.String(l[1], 1e-5, 1e6, law="linear"), start="a", end="b", elements=2),
    }
    system = tl.System(bodies, lines)
    state = chains.rest(system, chains.hang(system, {"a": (0, 0, l[0]), "b": (0, 0, l[0] + l[1])}))
    M = [[(m[0] + m[1]) * l[0] ** 2, m[1] * l[0] * l[1]], [m[1] * l[0] * l[1], m[1] * l[1] ** 2]]
    exact = np.sqrt(eigh(np.diag([(m[0] + m[1]) * g * l[0], m[1] * g * l[1]]), M)[0])
    found = 2.0 * np.pi * tl.modes(system, state, count=4).frequency.values
    error = check_close("frequencies", found / np.repeat(exact, 2), np.ones(4), 5e-5)
    report("double pendulum of points: frequencies, relative error", error, "< 5e-5")


def test_a_taut_string_between_two_anchors(report: Report) -> None:
    """Across: k/(2 l) sqrt(T/mu) per unstretched length; along: k/(2 l) sqrt(EA/mu)."""
    l, stretched, EA, mu, N = 10.0, 10.1, 5000.0, 0.2, 60
    line = tl.Line(tl.String(l, mu, EA, law="linear"), end_point=(stretched, 0, 0), elements=N)
    system = tl.System({}, {"s": line}, gravity=0.0)
    state = chains.rest(system, chains.hang(system, {}))
    found = tl.modes(system, state).frequency.values
    strain = stretched / l - 1.0
    across = np.sqrt(EA * strain / (1.0 + strain) / mu) / (2.0 * l)
    along = np.sqrt(EA / mu) / (2.0 * l)
    error = abs(found[0] / across - 1.0)
    report("taut string between anchors: frequency across, relative error", error, "< 1e-3")
    check_below("across", error, 1e-3)
    check_below("along", float(np.abs(found / along - 1.0).min()), 1e-3)


def test_rest_in_an_orbit_is_refused() -> None:
    case = tl.load("tethered-satellites")
    with pytest.raises(InputError, match="uniform gravity"):
        chains.rest(case.system, case.state())
    crane = tl.load("hook-and-load")
    with pytest.raises(InputError, match="unbalanced force"):
        tl.modes(crane.system, chains.hang(crane.system, crane.start.bodies, crane.start.lines))
