"""Lyapunov exponents: a case whose exponent is known, motions that are not chaotic, and one that is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.analysis.chain_growth import growth_rates
from tautline.analysis.neighbors import DISTANCE
from tautline.analysis.predictability import estimate, predictability_time
from tautline.engine.chain.backend import ChainBackend
from tautline.engine.runner import Runner
from tautline.errors import InputError
from tautline.model.chain.systems import chain_of, chain_state
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, check_close


def test_rotation_about_the_middle_axis(report: Report) -> None:
    """A free body that spins about its middle axis leaves it at a rate that Euler's equations give."""
    I1, I2, I3, spin = 0.02, 0.05, 0.07, 3.0
    expected = spin * math.sqrt((I2 - I1) * (I3 - I2) / (I1 * I3))
    pendulum = chains.Chain(
        string=tl.String(length=10.0, density=0.05, stiffness=100.0, law="linear"),
        reel=tl.Reel(0.3, 0.4, 0.8),
        body=tl.RigidBody(1.0, ((I1, 0.0, 0.0), (0.0, I2, 0.0), (0.0, 0.0, I3)), (0.0, 0.0, 0.0)),
        gravity=0.0,
    )
    start = chains.straight(pendulum, 4.0, 4, (0.0, 0.0, 1.0), angular_velocity=(0.0, spin, 0.0))
    found = chains.lyapunov(pendulum, start, tl.Locked(), 8.0, step=1e-3, interval=0.5)
    # from the direction in which it starts the shadow has turned into the growing one to 1e-6 by then
    error = check_close("growth rate", found.growth_rate[-4:].values, np.full(4, expected), 5e-5)
    report("Lyapunov exponent of a spin about the middle axis: error (1/s)", error, "5e-5")


def test_small_motions_about_rest_do_not_part(report: Report) -> None:
    system = tl.load("fixed-length", {"run.elements": 10}).system
    found = tl.analysis.lyapunov(system, tl.Hanging(10.0), tl.Locked(), 100.0, step=1e-3)
    # a bounded distance leaves ln(d/d_0)/t: a factor of 10 over 90 s is 0.026
    value = check_below("exponent", abs(found.attrs["exponent"]), 0.026)
    report("Lyapunov exponent at rest (1/s)", value, "0.026")
    assert found.attrs["predictability_time"] > math.log(100.0) / 0.026


def test_example_1_is_chaotic_and_the_horizon_is_seen(report: Report) -> None:
    """Two runs that differ by 1e-9 part as the exponent says, within the spread of its estimate."""
    built = tl.load("fixed-length")
    found = tl.analysis.lyapunov(built.system, built.state(), tl.Locked(), 10.0, step=5e-4)
    simulation = Runner(ChainBackend(chain_of(built.system), chain_state(built.system, built.state()), step=5e-4))
    simulation.begin(tl.Locked(), 10.0, 0.1)
    other = simulation.copy()
    other.stepper.motion.nodes[0] *= 1.0 + 1e-9
    other.first_sample()
    runs = [s.march(80, s.stepper.plan).nodes[:, 0] for s in (simulation, other)]
    parted = np.log(np.linalg.norm(runs[1] - runs[0], axis=(1, 2)))
    seen = (parted[79] - parted[19]) / 6.0
    rate = float(found.growth_rate[20:80].mean())
    report("Parting of two runs against the exponent (1/s)", abs(seen - rate), "1")
    check_close("rate of parting", seen, rate, 1.0)
    assert found.attrs["exponent"] > 3.0 * found.attrs["standard_error"]


def test_a_middle_axis_in_a_network(report: Report) -> None:
    """Of two bodies that a slack-free string joins, one spins about its middle axis."""
    I1, I2, I3, spin = 0.02, 0.05, 0.07, 3.0
    expected = spin * math.sqrt((I2 - I1) * (I3 - I2) / (I1 * I3))
    bodies = {
        "ship": tl.RigidBody.about_center(1.0, np.diag([I1, I2, I3]), (0.0, 0.0, 0.0)),
        "probe": tl.RigidBody.point(1.0),
    }
    line = tl.Line(tl.String(4.0, 0.05, 100.0, law="linear"), start="ship", end="probe", elements=4)
    system = tl.System(bodies, {"tether": line}, gravity=0.0)
    places = {"ship": tl.BodyState((0, 0, 0), angular_velocity=(0.0, spin, 0.0)), "probe": tl.BodyState((0, 0, 4.0))}
    found = tl.analysis.lyapunov(system, chains.hang(system, places), None, 8.0, step=1e-3, interval=0.5)
    error = check_close("growth rate", found.growth_rate[-4:].values, np.full(4, expected), 5e-5)
    report("Lyapunov exponent of a spin in a system: error (1/s)", error, "5e-5")


@pytest.mark.parametrize("command", [tl.Locked(), tl.Torque(10.0)])
def test_motions_part_alike_on_both_backends(
    command: tl.Command, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = tl.load("fixed-length")
    settings: dict[str, Any] = {"step": 5e-4, "interval": 0.1, "at_end": "hold"}
    one = tl.analysis.lyapunov(built.system, built.start, command, 6.0, **settings)
    monkeypatch.setenv("TAUTLINE_BACKEND", "network")
    other = tl.analysis.lyapunov(built.system, built.start, command, 6.0, **settings)
    apart = abs(one.attrs["exponent"] - other.attrs["exponent"])
    spread = math.hypot(one.attrs["standard_error"], other.attrs["standard_error"])
    report("Lyapunov exponents by chain and network kernels: difference over their spread", apart / spread, "< 1")
    assert apart < spread and other.attrs["exponent"] > 0.3


def test_members_together_as_alone_and_after_an_end() -> None:
    built = tl.load("retrieval")

    def begun(torque: float) -> Runner[ChainBackend]:
        simulation = Runner(
            ChainBackend(
                chain_of(built.system), chain_state(built.system, built.state()), step=5e-4, minimum_length=8.0
            )
        )
        simulation.begin(tl.Torque(torque), 0.4, 0.05)
        return simulation

    both = growth_rates([begun(2.09), begun(400.0)], 8, DISTANCE)
    np.testing.assert_array_equal(both[0], growth_rates([begun(2.09)], 8, DISTANCE)[0])
    assert np.isfinite(both[0]).all()
    assert np.isnan(both[1, -1])
    assert np.isfinite(estimate(both)[0])


def test_estimates_of_what_ended_too_soon() -> None:
    rates = np.array([[1.0, np.nan, np.nan, np.nan], [9.0, 1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(estimate(rates), [np.nan, 2.0])
    np.testing.assert_allclose(
        predictability_time([np.nan, 2.0, -1.0], 0.01, 0.1), [np.nan, math.log(10.0) / 2.0, np.inf]
    )


def test_refusals() -> None:
    built = tl.load("fixed-length")
    with pytest.raises(InputError, match="interval: expected at most half"):
        tl.analysis.lyapunov(built.system, built.start, tl.Locked(), 1.0, interval=1.0, step=5e-4)
    with pytest.raises(InputError, match="known: expected less than lost"):
        tl.analysis.lyapunov(built.system, built.start, tl.Locked(), 1.0, known=0.5, step=5e-4)
