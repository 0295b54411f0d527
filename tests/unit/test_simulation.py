"""simulate(): events, steps, sampling, special cases, and the dataset that comes out."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline.model.command import Command
from tautline.paper.examples import EXAMPLES
from tautline.paper.examples import run as of_paper
from tautline.results.conservation import balance_error, conservation
from tautline.schema import OF_SHEAVES, SCHEMA
from tests.support import chains
from tests.support.checking import check_close
from tests.support.paper import initial_state, pendulum

HEAVY = chains.Chain(
    string=tl.String(length=3.0, density=0.05, stiffness=300.0, law="linear"),
    reel=tl.Reel(drum_radius=0.2, guide_length=0.5, inertia_mass=0.5),
    body=tl.RigidBody.box(1.0, (0.2, 0.2, 0.2), (0.0, 0.05, 0.1)),
)


def run(number: int, **options: Any) -> xr.Dataset:
    """An example of the paper, without the names of line and body."""
    return chains.of_one(of_paper(number, **options))


def test_example_3_continued_stops_before_it_would_blow_up() -> None:
    """With h = 5e-4 the run leaves the stable region at 10.85 s; it must end just before, and say why."""
    result = run(3, duration=12.0)
    assert result.attrs["status"] == "unstable_step"
    assert 10.8 < result.attrs["end_time"] < 10.85
    assert 0.9 <= result.attrs["largest_step_ratio"] < 0.92
    for part in ("stability limit", "step='auto'", "t = 10.8"):
        assert part in result.attrs["message"]
    assert len(result.time) == int(result.attrs["end_time"] / 0.01) + 1
    assert np.isfinite(result.position).all()


def test_example_3_continued_with_auto_step() -> None:
    """The spinning body pulls the string out again from about half a meter."""
    result = run(3, duration=12.0, step="auto", order=4)
    assert result.attrs["status"] == "completed"
    assert result.attrs["largest_step_ratio"] <= 0.5
    assert 0.4 < float(result.unstretched_length.min()) < 0.6
    assert float(result.unstretched_length[-1]) > 1.5
    assert float(np.abs(balance_error(result)).max()) < 0.03 * float(result.kinetic_energy.max())


def test_fully_deployed() -> None:
    start = chains.straight(HEAVY, 1.0, 4)
    result = chains.simulate(HEAVY, start, tl.Free(), duration=5.0)
    assert result.attrs["status"] == "fully_deployed"
    assert "fully deployed" in result.attrs["message"]
    assert 2.4 < float(result.unstretched_length[-1]) < 2.5 + 1e-3


@pytest.mark.parametrize("minimum", [None, 0.3])
def test_fully_retrieved(minimum: float | None) -> None:
    system = dataclasses.replace(HEAVY, body=tl.RigidBody.point(1.0))
    start = chains.straight(system, 1.0, 4)
    result = chains.simulate(system, start, tl.Torque(4.0), duration=5.0, minimum_length=minimum)
    assert result.attrs["status"] == "fully_retrieved"
    assert f"minimum_length is {minimum or 0.01:.3g} m" in result.attrs["message"]
    assert float(result.unstretched_length[-1]) < 1.5 * (minimum or 0.01) + 0.05


def test_a_body_that_spins_too_fast_for_the_step() -> None:
    start = chains.straight(HEAVY, 1.0, 4, angular_velocity=(0.0, 4000.0, 3000.0))
    result = chains.simulate(HEAVY, start, tl.Free(), duration=1.0, sample=0.01, step=1e-3)
    assert result.attrs["status"] == "newton_failed"
    assert "smaller step" in result.attrs["message"]
    assert len(result.time) == 1


def test_a_reel_that_creeps() -> None:
    """A torque that nearly holds the load: the dissipative law lets the reel creep, also in stages back in time."""
    M, mu, EA, X, g = 10.0, 0.1, 800.0, 10.0, 9.81
    system = chains.Chain(
        tl.String(20.0, mu, EA, law="linear"), tl.Reel(0.5, 0.5, 1.0), tl.RigidBody.sphere(M, 0.2, (0.0, 0.0, 0.2))
    )
    x = np.linspace(0.0, X, 5)
    nodes = np.outer(x + ((M + mu * X) * g * x - 0.5 * mu * g * x**2) / EA, [0.0, 0.0, 1.0])
    strain = (M + mu * X) * g / EA
    held = tl.Torque(0.5 * EA * (strain + 0.65 * strain**2))
    state = chains.ChainState(10.0, 0.0, nodes, np.zeros((5, 3)))
    second = chains.simulate(system, state, held, duration=1.0)
    assert second.attrs["status"] == "completed"
    crept = float(second.reeled_length[-1]) - 10.0
    assert 0.0 < crept < 1e-3
    for order in (4, 6):
        for step in ("auto", 5e-4, 2e-3, 4e-3):
            higher = chains.simulate(system, state, held, duration=1.0, order=order, step=step)
            assert higher.attrs["status"] == "completed"
            # near standstill a stage back in time has several solutions, and may take another one for a moment
            check_close("crept", float(higher.reeled_length[-1]) - 10.0, crept, 5e-5)


def test_an_element_of_no_length_has_no_direction_and_no_force() -> None:
    nodes = np.zeros((4, 3))
    nodes[2:] = [[0.0, 0.0, 0.3], [0.0, 0.0, 0.6]]
    state = chains.ChainState(2.0, 0.0, nodes, np.zeros((4, 3)))
    result = chains.simulate(HEAVY, state, tl.Locked(), duration=0.1)
    assert result.attrs["status"] == "completed"
    assert np.isfinite(result.position).all()


@pytest.mark.parametrize("order", [2, 4, 6])
@pytest.mark.parametrize("command", [tl.Locked(), tl.Free(), tl.Torque(1.0)])
@pytest.mark.parametrize(
    "body", [tl.RigidBody.point(1.0), tl.RigidBody.sphere(1.0, 0.1), HEAVY.body], ids=["point", "centered", "off"]
)
def test_special_cases(body: tl.RigidBody, command: Command, order: int) -> None:
    """N = 1, rho_c = 0, a point mass, g = 0, constant length: all are first class."""
    for N, gravity in ((1, 9.81), (3, 0.0)):
        system = dataclasses.replace(HEAVY, body=body, gravity=gravity)
        start = chains.straight(system, 1.5, N, (1.0, 0.0, 1.0), end_velocity=(0.0, 0.5, 0.0))
        result = chains.simulate(system, start, command, duration=0.3, sample=0.03, order=order)
        assert result.attrs["status"] == "completed", result.attrs["message"]
        kept = conservation(result)
        assert kept.angular_momentum < 1e-13
        assert kept.orthogonality < 4e-15
        assert kept.energy < 0.01
        if isinstance(command, tl.Locked):
            assert (result.reeled_length == result.reeled_length[0]).all()


@pytest.mark.parametrize("order", [2, 4, 6])
def test_torque_table_against_the_continuous_model(order: int) -> None:
    """Kinks at multiples of the step keep the order; the torque is taken at the stage times."""
    start = initial_state(EXAMPLES[2], elements=4)
    table = tl.Torque(([0.0, 0.1, 0.3], [0.0, 4.0, -1.0]))
    settings: dict[str, Any] = {"duration": 0.5, "sample": 0.1}
    exact = chains.integrate(pendulum("none"), start, table, method="DOP853", **settings)
    ours = chains.simulate(pendulum("none"), start, table, step=1e-3, order=order, **settings)
    bound = {2: 2e-5, 4: 1e-8, 6: 1e-9}[order]
    check_close("reeled_length", ours.reeled_length, exact.reeled_length, bound)
    check_close("position", ours.position, exact.position, 10 * bound)
    check_close("motor_work", ours.motor_work, exact.motor_work, 10 * bound)


def test_auto_step_divides_the_sample_and_keeps_half_of_the_limit() -> None:
    for number in (1, 2, 3):
        result = run(number, step="auto", duration=1.0, sample=0.03125)
        ratio = 0.03125 / result.attrs["step"]
        assert ratio == pytest.approx(round(ratio), abs=1e-9)
        assert 0.1 < result.attrs["largest_step_ratio"] <= 0.5


def test_auto_step_grows_with_a_string_that_is_paid_out() -> None:
    first, last = (run(2, step="auto", duration=t).attrs["step"] for t in (0.1, 8.0))
    assert last > 1.9 * first


def test_uncompensated_sums_give_the_same_motion() -> None:
    a, b = run(3, duration=1.0), run(3, duration=1.0, compensated=False)
    check_close("position", a.position, b.position, 1e-9)
    assert not np.array_equal(a.position, b.position)


@pytest.fixture(scope="module")
def retrieval() -> xr.Dataset:
    return of_paper(3, duration=0.5)


def test_dataset_has_the_schema(retrieval: xr.Dataset) -> None:
    known = {name: x for name, x in SCHEMA.items() if name not in OF_SHEAVES}
    assert set(retrieval.data_vars) == set(known)
    for name, variable in known.items():
        assert retrieval[name].dims == variable.dims
        assert retrieval[name].attrs["units"] == variable.units
        assert np.isfinite(retrieval[name]).all()
    assert retrieval.time.attrs["units"] == "s"


def test_dataset_is_consistent(retrieval: xr.Dataset) -> None:
    x = chains.of_one(retrieval)
    check_close("energy", x.energy, x.kinetic_energy + x.elastic_energy + x.gravity_energy, 0.0)
    check_close("lengths", x.unstretched_length + x.reeled_length, np.full(51, 100.0), 1e-12)
    spans = np.linalg.norm(np.diff(x.position, axis=1), axis=2)
    check_close("stretched_length", x.stretched_length, spans.sum(axis=1), 1e-12)
    check_close("tension", x.tension, 40.0 * x.strain, 1e-12)
    elastic = (0.5 * x.tension * x.strain).mean("element") * x.unstretched_length
    check_close("elastic_energy", x.elastic_energy, elastic, 1e-12)
    speed = (x.reeled_length.values[2:] - x.reeled_length.values[:-2]) / 0.02
    check_close("reel_speed", x.reel_speed[1:-1], speed, 1e-3)


def test_first_sample_is_the_initial_state() -> None:
    """Velocities become momenta and come back."""
    start = chains.straight(
        HEAVY, 1.0, 5, (1.0, 2.0, 0.5), end_velocity=(0.3, 0.2, 0.1), reel_speed=0.7, angular_velocity=(1.0, -2.0, 3.0)
    )
    first = chains.simulate(HEAVY, start, tl.Free(), duration=0.01, sample=0.01).isel(time=0)
    check_close("position", first.position, start.nodes, 0.0)
    check_close("velocity", first.velocity, start.node_velocities, 1e-13)
    check_close("angular_velocity", first.angular_velocity, start.angular_velocity, 1e-12)
    assert float(first.reel_speed) == pytest.approx(0.7, abs=1e-13)
