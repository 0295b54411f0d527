"""The model that docs/rest-length.md compares with: that it is what it is said to be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.rest_length import cases, model, page, peers, sweep
from benchmarks.rest_length.model import Array
from scipy.interpolate import CubicSpline

import tautline as tl
from tautline.paper.examples import EXAMPLES
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, check_close
from tests.support.paper import initial_state, pendulum

# Example 1 with lumped masses, as SciPy, a program in C, MuJoCo and Exudyn have it to all digits.
LUMPED = {
    1.0: (8.5501, 0.4837, 5.2317),
    2.0: (-2.3113, 0.2190, 11.4456),
    5.0: (-1.1942, -0.1932, 8.7213),
}


@pytest.mark.long
@pytest.mark.parametrize("variant", model.VARIANTS)
def test_a_constant_length_is_the_lumped_string_of_others(variant: str, report: Report) -> None:
    run = model.run(
        pendulum(),
        initial_state(EXAMPLES[0]),
        model.constant(10.0),
        duration=5.0,
        step=5e-4,
        sample=0.1,
        variant=variant,
    )
    for t, place in LUMPED.items():
        check_close("attachment point", run.position[round(t / 0.1), -1], place, 6e-5)
    energy = check_below("energy", float(np.abs(run.unexplained_energy).max()), 1e-8)
    momentum = check_below("momentum", float(np.abs(run.unexplained_momentum).max()), 1e-9)
    check_below("angular momentum", float(np.ptp(run.angular_momentum)), 1e-9)
    report(f"rest-length model at constant length, {variant}: spurious energy (J)", energy, "< 1e-8")
    report(f"rest-length model at constant length, {variant}: spurious momentum (N s)", momentum, "< 1e-9")


def spinning(n: int) -> tuple[chains.Chain, chains.ChainState]:
    """Weightless, straight, stretched by what holds it on its circle; 1 kg of string on 2 m with 0.3 kg at its end."""
    system = chains.Chain(
        tl.String(length=20.0, density=0.5, stiffness=2e4, law="linear"),
        tl.Reel(0.1, 0.1, 1.0),
        tl.RigidBody.point(0.3),
        gravity=0.0,
    )
    state = chains.straight(system, 2.0, n, (1.0, 0.0, 0.0))
    pulls = 9.0 * (0.3 * 2.0 + 0.5 * 0.5 * (4.0 - ((np.arange(n) + 0.5) * 2.0 / n) ** 2))
    nodes = np.zeros((n + 1, 3))
    nodes[1:, 0] = np.cumsum(2.0 / n * (1.0 + pulls / 2e4))
    return system, replace(state, nodes=nodes, node_velocities=np.cross((0.0, 0.0, 3.0), nodes))


@pytest.mark.long
def test_a_spinning_string_gains_what_the_derivation_says(report: Report) -> None:
    """L^2 theta' is kept instead of the angular momentum, which grows like M + mu L/3; ours keeps it."""
    system, state = spinning(20)
    move = tl.Length.to(4.0, speed=0.5, acceleration=0.5, jerk=1.0)
    ours = chains.simulate(system, state, move, duration=6.0, sample=0.005)
    curve, _ = cases.length_of(ours)
    follows, momentum = (
        model.run(system, state, curve, duration=6.0, step=5e-4, sample=0.01, variant=v)
        for v in ("follows", "momentum")
    )
    expected = (0.3 + 0.5 * 4.0 / 3.0) / (0.3 + 0.5 * 2.0 / 3.0)
    found = follows.angular_momentum[-1] / follows.angular_momentum[0]
    error = check_below("growth", abs(found / expected - 1.0), 2e-3)  # the string stretches, and has 20 nodes
    report("rest length, spinning string: growth of the angular momentum, against the predicted", error, "< 2e-3")
    check_below("ours", float(np.ptp(ours.angular_momentum.values[:, 2]) / ours.angular_momentum.values[0, 2]), 1e-12)
    check_below("momentum form", float(np.ptp(momentum.angular_momentum) / momentum.angular_momentum[0]), 1e-7)


def test_tension_at_the_guide_of_a_string_that_is_fed_in(report: Report) -> None:
    """Nearly inextensible, straight down: (M + mu L)(g - L'') against M (g - L'') + mu L (g - L''/2)."""
    system = chains.Chain(tl.String(40.0, 0.1, 2e4, law="linear"), tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(0.5))
    state = chains.hanging(system, deployed=5.0, elements=10)
    a, T = 3.0, 2.0

    def curve(t: Array) -> tuple[Array, Array, Array]:
        """A smooth acceleration up to `a`."""
        w = 2.0 * np.pi / T
        return (
            5.0 + a / 2 * (t * t / 2 + (np.cos(w * t) - 1.0) / w**2),
            a / 2 * (t - np.sin(w * t) / w),
            a / 2 * (1.0 - np.cos(w * t)),
        )

    t = np.linspace(0.0, T, 401)
    spline = CubicSpline(t, curve(t)[0], bc_type=((1, 0.0), (1, float(curve(t)[1][-1]))))
    command = tl.Length(pieces=(t[:-1], spline.c[::-1].T))
    ours = chains.simulate(system, state, command, duration=1.9, sample=0.005)
    theirs = model.run(system, state, curve, duration=1.9, step=2.5e-4, sample=0.005)
    L, _, change = curve(ours.time.values)
    tail = 0.05 * L / 10.0  # mass beyond the middle of the first element is less by this
    fed = (0.5 + 0.1 * L - tail) * (9.81 - change)
    scaled = 0.5 * (9.81 - change) + (0.1 * L - tail) * 9.81 - 0.5 * 0.1 * L * change
    missing = float(np.abs(fed - scaled).max())
    ours_error = float(np.abs(cases.smooth(ours.tension.values[:, 0] - fed)).max()) / missing
    theirs_error = float(np.abs(cases.smooth(theirs.tension[:, 0] - scaled)).max()) / missing
    for whose, error in (("tautline, string fed in", ours_error), ("rest length, what it should miss", theirs_error)):
        report(f"{whose}: error of the tension, of what scaling misses", check_below(whose, error, 0.05), "< 0.05")


@pytest.mark.long
def test_slow_and_light_is_good_enough(report: Report) -> None:
    """One point of the sweep, computed anew; and the one with as much string as load, which is not."""
    light, heavy = sweep.point(0.1, 2.0, elements=8), sweep.point(1.0, 2.0)
    check_below("swing on a light string", abs(light.swing), 0.02)
    error = check_below("prediction", abs(heavy.swing / heavy.swing_predicted - 1.0), 0.15)
    report("rest length, swing on a heavy string: error over the predicted one, less 1", error, "< 0.15")
    on_page = next(p for p in page.read("results")["sweep"] if (p["mass_ratio"], p["speed"]) == (1.0, 2.0))
    for name, value in heavy._asdict().items():
        assert on_page[name] == pytest.approx(value, rel=0.02), name


@pytest.mark.long
def test_the_stored_figures_are_what_is_computed() -> None:
    """Example 3 anew, against the figures that the page is made of."""
    case = cases.CASES["retrieval"]
    free = chains.simulate(
        case.system, case.start(80), case.command, duration=case.duration + 0.25, sample=cases.SAMPLE
    )
    curve, _ = cases.length_of(free)
    track = cases.track_of_theirs(cases.rest_length(case, curve, 20, "follows"))
    row = page.read("results")["cases"]["retrieval"]["follows"]["20"]
    largest = np.abs(free.angular_momentum.values[:, 2]).max()
    change = np.abs(track.angular_momentum - track.angular_momentum[0]).max() / largest
    assert float(change) == pytest.approx(row["angular_momentum"], rel=0.02)


def test_the_curve_of_the_other_programs_is_its_own_derivative() -> None:
    t = np.linspace(0.01, 4.99, 50)
    h = 1e-5
    L, rate, change = peers.length(t)
    check_close("rate", (peers.length(t + h)[0] - peers.length(t - h)[0]) / (2 * h), rate, 1e-8)
    check_close("acceleration", (peers.length(t + h)[1] - peers.length(t - h)[1]) / (2 * h), change, 1e-8)
    assert L[0] < L[-1]
