"""Warnings where something is wrong, and there alone: balance, attitude, fronts; and what they advise."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline.engine.criteria import warnings_from
from tautline.engine.health import Health
from tautline.engine.lowering import plan_of
from tautline.engine.mesh import MeshHealth
from tautline.engine.mesh_limits import mesh_criteria
from tautline.engine.network.health import NetworkHealth
from tautline.engine.records import record_warnings
from tautline.engine.shape import Shape, current_tension, front_tension, shape_of
from tautline.engine.snaps import Snaps, snaps_in
from tautline.engine.turning import attitude_error
from tautline.engine.unfollowed import function_warnings, unfollowed
from tautline.engine.warnings import motor_warnings, slack_warnings, slip_warnings, stop_warnings
from tautline.errors import InputError
from tautline.kernels import data
from tautline.model.run import Method
from tautline.results.warnings import KINDS
from tests.support import chains
from tests.support.hidden import ROOT
from tests.support.warned import kinds

pytestmark = pytest.mark.network


def warnings(simulation: tl.Simulation) -> list[tl.RunWarning]:
    return simulation.runner.warnings()


# -- balance ---------------------------------------------------------------------------------------------


def aerostat(viscosity: float) -> chains.Chain:
    string = tl.String(260.0, 0.3, 1e6, diameter=0.02, tangential_drag=0.02, viscosity=viscosity, law="linear")
    fluid = tl.Fluid(1.2, (2.3, 0.0, 0.0), drag_area=10.0, volume=99.5, added_mass=60.0)
    return chains.Chain(string, tl.Reel(0.3, 0.5, 50.0), tl.RigidBody.sphere(60.0, 2.87), fluid=fluid)


def towed(viscosity: float) -> chains.Chain:
    string = tl.String(120.0, 0.3, 3e5, diameter=0.015, tangential_drag=0.02, viscosity=viscosity, law="linear")
    fluid = tl.Fluid(1025.0, (-2.0, 0.5, 0.0), drag_area=0.2, volume=0.05)
    return chains.Chain(string, tl.Reel(0.3, 0.5, 50.0), tl.RigidBody.point(100.0), fluid=fluid)


@pytest.mark.parametrize("make", [aerostat, towed])
@pytest.mark.parametrize("viscosity", [0.0, 1e3])
def test_at_rest_in_a_current_nothing_is_done_nothing_lost_and_nothing_said(make: Any, viscosity: float) -> None:
    pendulum = make(viscosity)
    simulation = chains.simulation(pendulum, chains.equilibrium(pendulum, 0.9 * pendulum.string.length, 15).state)
    simulation.advance(3.0, tl.Locked(), sample=0.1)
    run, figures = chains.of_one(simulation.dataset()), simulation.health()
    assert run.damping_loss.min() >= 0.0
    assert abs(run.fluid_work).max() < 1e-9 * abs(run.gravity_energy).max()
    assert figures["balance_error"] < 1e-3 and not warnings(simulation)


def test_the_work_of_stiff_drag_at_a_start_is_what_the_kinetic_energy_loses() -> None:
    """A plate that is thrown into syrup stops within a step; all of its energy is in the books."""
    syrup = tl.Fluid(1e5, drag_area=100.0)
    pendulum = chains.Chain(
        tl.String(5.0, 1e-3, 10.0, law="linear"), tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(1.0), 0.0, syrup
    )
    simulation = chains.simulation(pendulum, chains.straight(pendulum, 1.0, 2, end_velocity=(3.0, 0.0, 0.0)), step=1e-3)
    simulation.advance(0.1, tl.Locked(), sample=1e-3)
    run = chains.of_one(simulation.dataset())
    assert run.kinetic_energy[-1] < 0.01 * run.kinetic_energy[0]
    assert simulation.health()["balance_error"] < 0.02


@pytest.mark.parametrize("viscosity", [1e-2, 10.0, 1e4])
def test_damping_never_gives_energy_back(viscosity: float) -> None:
    string = tl.String(12.0, 0.1, 1e4, viscosity=viscosity, diameter=0.01, law="linear")
    fluid = tl.Fluid(1000.0, (1.0, 0.0, 0.0), drag_area=0.01)
    pendulum = chains.Chain(string, tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(1.0), fluid=fluid)
    velocity = (1.0, -2.0, 3.0)
    simulation = chains.simulation(pendulum, chains.straight(pendulum, 10.0, 6, (1.0, 0.0, 1.0), end_velocity=velocity))
    simulation.advance(0.5, tl.Locked(), sample=1e-3)
    loss = chains.of_one(simulation.dataset()).damping_loss.values
    assert (np.diff(loss) > -1e-12 * loss.max()).all() and loss.min() >= 0.0


def test_a_network_at_rest_in_a_current_does_no_work() -> None:
    line = tl.Line(tl.String(20.0, 0.2, 5e4, diameter=0.02, law="tension_only"), end="load", elements=6)
    sphere = tl.RigidBody.sphere(50.0, 0.3)
    still = tl.System(
        {"load": sphere}, {"rope": line}, fluid=tl.Fluid(1000.0), body_fluid={"load": tl.BodyInFluid(drag_area=0.1)}
    )
    simulation = tl.Simulation(still, tl.Placed({"load": (0.0, 0.0, 20.1)}, settle=True))
    simulation.advance(0.5, sample=0.05)
    run = chains.of_one(simulation.dataset())
    assert abs(run.fluid_work).max() < 1e-9 and not warnings(simulation)


def pulse(steps: float, begun: float, h: float) -> tl.AppliedForce:
    """A triangle of 1 N s over so many steps."""
    width = steps * h
    return tl.AppliedForce(((begun, begun + 0.5 * width, begun + width), ((0, 0, 0), (2.0 / width, 0, 0), (0, 0, 0))))


@pytest.mark.parametrize("steps", [0.5, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("offset", [0.0, 0.5])
@pytest.mark.parametrize("arm", [0.0, 0.2])
def test_the_balance_is_judged_before_and_after_a_pulse(steps: float, offset: float, arm: float) -> None:
    h = 1e-3
    body = tl.RigidBody.sphere(1.0, 0.2, (0.0, 0.0, arm)) if arm else tl.RigidBody.point(1.0)
    force = pulse(steps, 0.1 + offset * h, h)
    pendulum = chains.Chain(tl.String(12.0, 0.01, 1e3, law="linear"), tl.Reel(0.1, 0.1, 1.0), body, applied_force=force)
    simulation = chains.simulation(pendulum, chains.hanging(pendulum, 10.0, 4), step=h)
    simulation.advance(0.2, tl.Locked(), sample=h)
    assert simulation.health()["balance_error"] < 1e-4
    assert "energy_balance" not in kinds(warnings(simulation))
    if steps < 1.0:
        return  # the network does not follow what happens within a step, and its balance says so
    strings = {"rope": tl.Line(pendulum.string, end="load", elements=4, reel=pendulum.reel)}
    pushed = tl.System({"load": body}, strings, applied_forces={"load": force})
    with chains.on(chains.NETWORK):
        other = tl.Simulation(pushed, tl.Placed({"load": (0.0, 0.0, 10.1 + arm)}, {"rope": 10.0}), step=h)
    other.advance(0.2, sample=h)
    assert "energy_balance" not in kinds(warnings(other))


def test_energy_that_is_lost_is_found_after_a_pulse_too() -> None:
    """The allowance ends with the pulse: a balance that does not close behind it is warned of."""
    from tautline.engine.health import pending_energy

    body, times = tl.RigidBody.point(2.0), np.linspace(0.0, 1.0, 101)
    found = pending_energy(pulse(1.0, 0.5, 0.01), body, times, np.full(101, 0.01))
    assert (found[:49] == 0.0).all() and found[50] > 0.0 and np.abs(found[53:]).max() < 1e-20
    assert found.max() == pytest.approx(0.5 * 1.0**2 / 2.0)  # of all of the impulse on the free mass


# -- attitude --------------------------------------------------------------------------------------------


def spinning(elements: int | None, radius: float = 0.3) -> tuple[tl.Simulation, Any]:
    """A tether in free space whose body swings about its center of mass."""
    length, rate, mass = 111.0, 0.196, 47.6
    string = tl.String(1.3 * length, 0.0365, 9241.0, law="linear")
    body = tl.RigidBody.sphere(mass, radius, (0.1, 0.05, 0.3))
    pendulum = chains.Chain(string, tl.Reel(0.05, 0.05, mass), body, 0.0)
    start = chains.straight(pendulum, length, elements, angular_velocity=(0.0, rate, 0.0))
    out = np.linspace(0.0, 1.0, start.elements + 1)[:, None] * length * (1.0 + mass * rate**2 * length / 9241.0)
    nodes, velocities = out * [0.0, 0.0, 1.0], out * [rate, 0.0, 0.0]
    state = chains.ChainState(start.reeled_length, 0.0, nodes, velocities, start.attitude, start.angular_velocity)
    simulation = chains.simulation(pendulum, state)
    simulation.advance(21.0, tl.Locked(), sample=0.05)
    return simulation, chains.of_one(simulation.dataset()).attitude.values


def test_the_attitude_of_a_body_off_its_center_is_estimated_and_warned_of() -> None:
    _, finer = spinning(112)
    found = {}
    for elements in (None, 14, 28, 56):
        simulation, attitude = spinning(elements)
        turn = np.einsum("tji,tjk->tik", attitude, finer)
        error = float(np.arccos(np.clip(0.5 * (np.trace(turn, axis1=1, axis2=2) - 1.0), -1.0, 1.0)).max())
        estimate = simulation.health()["attitude_error"]
        found[elements] = error, estimate, "attitude" in kinds(warnings(simulation))
        assert error / 3.0 < estimate < 3.0 * error, (elements, error, estimate)
    assert found[None][0] > 0.1 and found[None][2], found  # the default mesh is not enough, and says so
    assert found[56][0] < 0.05 and not found[56][2], found


def test_a_point_and_a_body_on_its_center_have_no_such_error() -> None:
    assert attitude_error(tl.RigidBody.point(1.0), 1.0, 1.0) == 0.0
    assert attitude_error(tl.RigidBody.sphere(1.0, 0.2), 1.0, 1.0) == 0.0
    assert attitude_error(tl.RigidBody.sphere(1.0, 0.2, (0.0, 0.0, 1e-3)), 1e3, 1.0) == math.pi


def test_the_attitude_of_each_body_of_several_is_judged_by_the_line_that_holds_it() -> None:
    """The pendulum of above, held by the system's second line: the same error, and the warning names body and line."""
    simulation, _ = spinning(None)
    alone = simulation.health()["attitude_error"]
    system, state = simulation.system, simulation.backend.case.state()
    ((name, body),) = system.bodies.items()
    line = system.lines["line"]
    still = tl.Line(line.string, start_point=(1e3, 0.0, 0.0), end="other", elements=4)
    both = tl.System({"other": tl.RigidBody.point(1.0), name: body}, {"still": still, "line": line}, gravity=0.0)
    nodes = np.linspace([1e3, 0.0, 0.0], [1e3, 0.0, line.string.length], 5)
    other = tl.BodyState(tuple(nodes[-1].tolist()), (0.0, 0.0, 0.0))
    own = tl.LineState(nodes, np.zeros((5, 3)), 0.0, 0.0)
    start = tl.State({"other": other, **state.bodies}, {"still": own, **state.lines})
    run = tl.Simulation(both, start, step=1e-3)
    run.advance(21.0, sample=0.05)
    assert run.health()["attitude_error"] == pytest.approx(alone, rel=0.02)
    (said,) = (w for w in warnings(run) if w.kind == "attitude")
    assert said.where == name and f"try lines.line.elements = {2 * line.count}" in said.text
    spin = np.linalg.norm(run.dataset().angular_velocity.sel(body=name), axis=1)
    assert run.health()["turning_error"] == pytest.approx(21.0 * float(np.mean(spin**3)) * 1e-6 / 6.0, rel=0.01)


# -- a tension that swings --------------------------------------------------------------------------------


def swinging(frequency: float, size: float = 0.1) -> tuple[MeshHealth, chains.Chain]:
    """A rope of 10 elements of 1 m, in an arc, whose tension of 100 N swings by so much of it."""
    pendulum, _ = rope()
    times = np.arange(0.0, 20.0 / frequency, 0.01 / frequency)
    pull = 100.0 * (1.0 + size * np.cos(2.0 * math.pi * frequency * times))
    same = np.ones_like(times)
    arc = {"bend": 1e-3 * same, "twist": 1e-4 * same, "arc": 1e5 / 24.0 * 1e-3 * same}
    shape = Shape(**(dict.fromkeys(Shape._fields, 0.0 * times) | arc | {"tension": pull, "pull": pull}))
    health = MeshHealth()
    for some in (slice(0, 7), slice(7, 8), slice(8, None)):  # the result does not depend on the pieces
        health.take(pendulum, times[some], same[some], Shape(*(x[some] for x in shape)))
    return health, pendulum


def test_a_tension_that_swings_faster_than_the_mesh_bends_is_warned_of() -> None:
    """Waves across a rope of 0.1 kg/m under 100 N run with 31.6 m/s."""
    for frequency in (0.5, 1.0, 2.0):
        health, pendulum = swinging(frequency)
        phase2 = (2.0 * math.pi * frequency) ** 2 * 0.1 / 100.0
        expected = phase2 / 24.0 * 0.1 / math.sqrt(2.0) / 1.1  # all of the strain is that of the arc
        assert health.swing(pendulum, 10) == pytest.approx(expected, rel=0.01)
    assert "swing" not in kinds(warnings_from(mesh_criteria(health, pendulum, 10)))
    fast, pendulum = swinging(50.0)
    assert fast.swing(pendulum, 10) == pytest.approx(0.1 / math.sqrt(2.0) / 1.1, rel=0.01)  # at most all of it
    (said,) = (w for w in warnings_from(mesh_criteria(fast, pendulum, 10)) if w.kind == "swing")
    assert "compare with elements=20" in said.text


# -- fronts ----------------------------------------------------------------------------------------------


def rope(strain: float = 0.0) -> tuple[chains.Chain, Any]:
    """A straight rope of ten elements, stretched evenly."""
    pendulum = chains.Chain(
        tl.String(11.0, 0.1, 1e5, law="linear"), tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(1.0), 0.0
    )
    return pendulum, np.linspace(0.0, 1.0, 11)[:, None] * [0.0, 0.0, 10.0 * (1.0 + strain)]


def test_a_jump_along_the_string_is_worth_its_impedance() -> None:
    pendulum, nodes = rope(1e-3)
    v = np.zeros((11, 3))
    v[-1] = (0.0, 0.0, 2.0)
    assert front_tension(pendulum, nodes, v, 1.0) == pytest.approx(2.0 * math.sqrt(1e5 * 0.1), rel=1e-9)
    assert front_tension(pendulum, nodes, -v, 1.0) == 0.0  # it only gets shorter


@pytest.mark.parametrize("strain", [0.0, 1e-4, 1e-2])
def test_a_jump_across_the_string_is_that_of_a_transverse_impact(strain: float) -> None:
    """Against the solution of the exact conditions at the kink (Rakhmatulin) by bisection."""
    pendulum, nodes = rope(strain)
    v, c = np.zeros((11, 3)), 1000.0
    v[-1, 0] = 5.0

    def speed2(eps: float) -> float:
        wave = (1.0 + eps) * c * math.sqrt(eps / (1.0 + eps))
        return wave**2 - (wave - c * (eps - strain)) ** 2

    low, high = strain, strain + 0.01
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if speed2(middle) < 25.0 else (low, middle)
    assert front_tension(pendulum, nodes, v, 1.0) == pytest.approx(1e5 * (low - strain), rel=0.03)


def test_velocities_that_rise_along_the_string_are_no_front() -> None:
    pendulum, nodes = rope()
    assert front_tension(pendulum, nodes, 0.3 * nodes[:, ::-1], 1.0) < 1e-9
    assert front_tension(pendulum, nodes, np.zeros((11, 3)), 1.0) == 0.0


def peak_at_guide(ratio: float, duration: float, n: int = 2000) -> float:
    """Largest tension at the fixed end of a bar that a mass stretches by a throw, over impedance times speed.

    By characteristics, in units of the bar's transit time: `a` runs to the fixed end, comes back as it went, and the
    mass has the velocity a - b.
    """
    count, u = int((duration - 1.0) * n), 1.0
    a = np.zeros(count)
    for i in range(count):
        b = a[i - 2 * n] if i >= 2 * n else 0.0
        a[i] = u + b
        u = (u * (1.0 - 0.5 * ratio / n) - 2.0 * b * ratio / n) / (1.0 + 0.5 * ratio / n)
    return 2.0 * float(a.max())


@pytest.mark.parametrize("ratio", [0.1, 0.5, 2.0])
@pytest.mark.parametrize("damping", [0.0, 0.1])
def test_the_warning_on_a_thrown_mass_says_by_how_much_its_peak_is_too_low(ratio: float, damping: float) -> None:
    N, v = 40, 1.0
    string = tl.String(11.0, 0.1, 1e5, damping_ratio=damping, law="linear")
    pendulum = chains.Chain(string, tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(1.0 / ratio), 0.0)
    simulation = chains.simulation(pendulum, chains.straight(pendulum, 10.0, N, end_velocity=(0.0, 0.0, v)))
    transits = 1.2 * math.pi / math.sqrt(ratio) + 1.5
    simulation.advance(0.01 * transits, tl.Locked(), sample=0.01 * transits / 800)
    exact = peak_at_guide(ratio, transits) * 100.0 * v
    missing = 1.0 - float(chains.of_one(simulation.dataset()).start_tension.max()) / exact
    (front,) = (w for w in warnings(simulation) if w.kind == "front")
    assert front.value is not None and front.limit == 0.03
    assert missing > 0.04 and 0.5 * missing < front.value < 2.0 * missing


def test_a_light_string_that_is_thrown_sideways_says_that_its_peak_is_missing() -> None:
    """Its largest tension grows with the mesh, and the shortest waves are silent."""
    string = tl.String(13.0, 0.02, 500.0, law="linear")
    pendulum = chains.Chain(string, tl.Reel(0.05, 0.05, 1.0), tl.RigidBody.point(0.3), 0.0)
    peaks = []
    for N in (8, 32):
        simulation = chains.simulation(pendulum, chains.straight(pendulum, 10.0, N, end_velocity=(2.0, 0.0, 0.0)))
        simulation.advance(0.5, tl.Locked(), sample=1e-3)
        peaks.append(float(chains.of_one(simulation.dataset()).tension.max()))
        assert "front" in kinds(warnings(simulation))
    assert peaks[1] > 1.3 * peaks[0]


@pytest.mark.parametrize("viscosity", [0.0, 20.0])
def test_a_reel_that_jerks_a_viscous_string_at_the_start_is_warned_of(viscosity: float) -> None:
    """The first sample has a tension that grows with the mesh. The front of an elastic string is low here."""
    string = tl.String(3.0, 0.03, 200.0, viscosity=viscosity, law="linear")
    pendulum = chains.Chain(string, tl.Reel(0.05, 0.05, 1.0), tl.RigidBody.point(0.4))
    firsts = []
    for N in (15, 60):
        simulation = chains.simulation(pendulum, chains.hanging(pendulum, 1.0, N))
        simulation.advance(0.5, tl.Speed(payout=0.05), sample=2e-3)
        firsts.append(float(chains.of_one(simulation.dataset()).tension[0].max()))
        assert ("front" in kinds(warnings(simulation))) == (viscosity > 0.0)
    assert (firsts[1] > 2.0 * firsts[0]) == (viscosity > 0.0)


# -- advice ----------------------------------------------------------------------------------------------


def texts(string: tl.String, **figures: Any) -> list[str]:
    """Sentences on a mesh of 10 elements."""
    pendulum = chains.Chain(string, tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(1.0))
    mesh = MeshHealth(samples=1, length=10.0, tension=1.0, **figures)
    return [w.text for w in warnings_from(mesh_criteria(mesh, pendulum, 10))]


def test_what_is_set_already_is_not_advised() -> None:
    plain, damped = tl.String(11.0, 0.1, 1e4, law="linear"), tl.String(11.0, 0.1, 1e4, damping_ratio=0.2, law="linear")
    viscous = tl.String(11.0, 0.1, 1e4, viscosity=damped.on_mesh(1.0).viscosity, law="linear")
    (noisy,) = texts(plain, rough=0.5)
    assert "string.damping_ratio = 0.2" in noisy  # the key of a file, and of `tl.load` and `with_`
    for string in (damped, viscous, damped.on_mesh(1.0)):
        (noisy,) = texts(string, rough=0.5)
        assert "damping_ratio" not in noisy
        (folded,) = texts(string, fold=170.0)
        assert "damp" not in folded and "taut" not in folded
        (folded,) = texts(string, fold=170.0, taut=0.0)
        assert "begin with a taut string" in folded
    (folded,) = texts(plain, fold=170.0)
    assert "string.damping_ratio" in folded and "taut" not in folded


def test_keys_of_warnings_can_be_set() -> None:
    case = tl.load("bungee", {"string.damping_ratio": 0.2, "string.law": "tension_only"})
    assert case.system.lines["line"].string.damping_ratio == 0.2


# -- lines of networks ---------------------------------------------------------------------------------

MESH_FIGURES = ("mesh_noise", "mesh_error", "front_share", "slack_share", "largest_fold_deg")


def dropped_rope() -> tuple[tl.String, Any, Any]:
    """A rope of 20 m and 8 elements that is let go level and unstretched, and the nodes of its start."""
    string, nodes = tl.String(20.0, 0.1, 1e4, law="tension_only"), np.zeros((9, 3))
    nodes[:, 0] = np.linspace(0.0, 20.0, 9)
    return string, tl.RigidBody.sphere(1.0, 0.1), nodes


def dropped_network() -> tl.Simulation:
    string, sphere, nodes = dropped_rope()
    system = tl.System({"load": sphere}, {"rope": tl.Line(string, end="load", elements=8)})
    return tl.Simulation(system, tl.Placed({"load": tuple(nodes[-1].tolist())}))


def test_a_line_of_a_network_has_the_mesh_diagnostics_of_a_chain() -> None:
    string, sphere, nodes = dropped_rope()
    pendulum = chains.Chain(string, tl.Reel(0.1, 0.0, 1.0, guide_law="none"), sphere)
    attitude = tuple(tuple(row) for row in np.eye(3).tolist())
    alone = chains.simulation(
        pendulum, chains.ChainState(0.0, 0.0, nodes, np.zeros((9, 3)), attitude, (0.0, 0.0, 0.0)), step=1e-3
    )
    together = dropped_network()
    alone.advance(1.5, tl.Locked(), sample=0.01)
    together.advance(1.5, sample=0.01)
    ours, theirs = together.health(), alone.health()
    for name in MESH_FIGURES:
        # the difference is of the order of the step
        assert ours[name] == pytest.approx(theirs[name], rel=0.02), name
    alone.advance(4.5, tl.Locked(), sample=0.01)  # snaps and slack
    together.advance(4.5, sample=0.01)
    found, expected = warnings(together), warnings(alone)
    assert kinds(found) == kinds(expected) and len(found) == 3
    assert {w.where for w in found} == {"rope"} and {w.where for w in expected} == {"line"}
    for w, other in zip(found, expected, strict=True):
        assert w.text[:10] == other.text[:10] and w.limit == other.limit
        assert w.value is not None and w.limit is not None and w.value > w.limit


def test_mesh_diagnostics_of_a_network_do_not_depend_on_pieces_or_a_checkpoint(tmp_path: Path) -> None:
    whole, pieces = dropped_network(), dropped_network()
    whole.advance(3.0, sample=0.01)
    pieces.advance(1.0, sample=0.01)
    pieces.save(tmp_path / "third.npz")
    pieces = tl.Simulation.load(tmp_path / "third.npz")
    for _ in range(10):
        pieces.advance(0.2, sample=0.01, record=False)
        pieces.health()
    for name in MESH_FIGURES:
        assert pieces.health()[name] == whole.health()[name] > (-1.0 if name == "front_share" else 0.0), name
    assert warnings(pieces) == warnings(whole)


def test_warnings_on_several_lines_name_the_worst_and_advise_its_keys() -> None:
    string = tl.String(11.0, 0.1, 1e4, law="tension_only")
    lines = {
        name: tl.Line(string, start_point=(x, 0.0, 0.0), end="load", elements=6) for name, x in (("a", 1), ("b", 2))
    }
    system = tl.System({"load": tl.RigidBody.sphere(1.0, 0.1)}, lines)
    health = NetworkHealth()
    for name, rough in (("a", 0.3), ("b", 0.5)):
        health.meshes[name] = MeshHealth(samples=1, length=10.0, tension=1.0, rough=rough)
    (noisy,) = health.warnings(system, plan_of(Method()), np.zeros(100))
    assert (noisy.kind, noisy.where, noisy.value) == ("mesh_noise", "b", 0.5)
    assert noisy.text.startswith("line 'b', like 'a': the mesh carries noise") and "50 %" in noisy.text
    assert "lines.b.damping_ratio = 0.2" in noisy.text
    health.meshes = {"a": MeshHealth(samples=1, length=1.0, tension=1.0, sag=0.03)}
    (coarse,) = health.warnings(system, plan_of(Method()), np.zeros(100))
    assert "try lines.a.elements = 12" in coarse.text


# -- currents --------------------------------------------------------------------------------------------


def in_current(speed: float, strain: float = 0.0, diameter: float = 0.02) -> tuple[chains.Chain, Any]:
    """A string along the third axis in a current across it, and its nodes."""
    string = tl.String(12.0, 0.01, 1e4, diameter=diameter, law="linear")
    fluid = tl.Fluid(1000.0, (speed, 0.0, 0.0))
    pendulum = chains.Chain(string, tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(1.0), 0.0, fluid)
    nodes = np.zeros((6, 3))
    nodes[:, 2] = np.linspace(0.0, 10.0 * (1.0 + strain), 6)
    return pendulum, nodes


@pytest.mark.parametrize("strain", [0.0, 1e-3])
def test_a_current_that_takes_hold_at_once_is_a_transverse_impact(strain: float) -> None:
    """Of a thick light string it is that of a throw with the speed of the current; of a thin one a small part."""
    pendulum, nodes = in_current(5.0, strain, diameter=1.0)
    eps = (strain + current_tension(pendulum, nodes, np.zeros((6, 3)), 2.0) / 1e4).item()
    # v^2 = 2 c^2 sqrt(eps) (eps - eps_0), less the waves that run 1 % of an element while the string is taken along
    assert 2.0 * 1e6 * math.sqrt(eps) * (eps - strain) == pytest.approx(25.0, rel=0.1)
    thin, _ = in_current(5.0, strain, diameter=1e-6)
    assert current_tension(thin, nodes, np.zeros((6, 3)), 2.0) < 0.01 * 1e4 * eps
    assert current_tension(pendulum, nodes, np.tile((5.0, 0.0, 0.0), (6, 1)), 2.0) == 0.0  # it moves along


@pytest.mark.parametrize("make", [aerostat, towed])
def test_a_current_takes_no_hold_of_a_string_that_rests_in_it(make: Any) -> None:
    pendulum = make(0.0)
    length = 0.9 * pendulum.string.length
    rest, straight = chains.equilibrium(pendulum, length, 15).state, chains.straight(pendulum, length, 15)
    at_rest, at_once = (
        current_tension(pendulum, np.array(x.nodes), np.array(x.node_velocities), x.reeled_length)
        for x in (rest, straight)
    )
    assert at_rest < 0.02 * at_once


def test_members_of_an_ensemble_have_the_current_tension_of_each() -> None:
    slow, nodes = in_current(2.0)
    moved = np.zeros((6, 3, 2))
    moved[:, 0, 1] = 1.0
    both = current_tension(slow, np.stack([nodes, nodes], axis=-1), moved, np.array([2.0, 2.0]))
    for k in range(2):
        assert both[k] == current_tension(slow, nodes, moved[..., k], 2.0) > 0.0


# -- noise far from the largest tension --------------------------------------------------------------------


def test_noise_counts_where_the_tension_is_large() -> None:
    plain = tl.String(11.0, 0.1, 1e4, law="linear")
    assert not texts(plain, rough=0.05, reach=1.0 + 1e-9)
    assert len(texts(plain, rough=0.05, reach=1.4)) == 1
    assert len(texts(plain, rough=0.05)) == 1  # of a checkpoint of an earlier version


def test_a_front_that_leaves_little_uncertain_is_not_warned_of() -> None:
    pendulum = chains.Chain(tl.String(11.0, 0.1, 1e4, law="linear"), tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(1.0))
    health = MeshHealth(samples=1, length=10.0, tension=1.0, front=0.06)
    assert [kinds(warnings_from(mesh_criteria(health, pendulum, N))) for N in (10, 40)] == [["front"], []]


# -- arcs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("elements", [6, 12])
def test_the_tension_that_elements_miss_is_that_of_their_arcs(elements: int) -> None:
    """Nodes on a circle: elements are chords, and the string between them is as long as the arc."""
    length, angle = 10.0, np.linspace(0.0, 1.2, elements + 1)
    nodes = length / 1.2 * np.stack([np.sin(angle), 0.0 * angle, np.cos(angle)], axis=1)
    pendulum = chains.Chain(
        tl.String(length + 1.0, 0.1, 1e4, law="linear"), tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(1.0)
    )
    shape = shape_of(pendulum, nodes[None], 0.0 * nodes[None], np.array([1.0]))
    chord = np.linalg.norm(np.diff(nodes, axis=0), axis=1).sum()
    assert shape.arc[0] == pytest.approx(1e4 * (length - chord) / length, rel=0.01)


def test_arcs_count_where_others_hold_the_ends() -> None:
    """A body that hangs on one line gives way."""
    pendulum = chains.Chain(tl.String(11.0, 0.1, 1e4, law="linear"), tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(1.0))
    health = MeshHealth(samples=1, length=10.0, tension=1.0, arc=1.1)
    assert not warnings_from(mesh_criteria(health, pendulum, 10))
    (curved,) = warnings_from(mesh_criteria(health, pendulum, 10, "lines.a", held=True))
    assert curved.kind == "sag" and curved.value == pytest.approx(0.1)
    assert "largest tension of 1 N would be 1.1 N" in curved.text and "lines.a.elements = 20" in curved.text
    string, sphere = pendulum.string, tl.RigidBody.sphere(1.0, 0.1)
    ropes = {name: tl.Line(string, end=end, elements=6) for name, end in (("a", "up"), ("b", "up"), ("c", "low"))}
    system = tl.System({"up": sphere, "low": sphere}, ropes)
    held = NetworkHealth(meshes=dict.fromkeys(ropes, health))
    (curved,) = held.warnings(system, plan_of(Method()), np.zeros(100))
    assert curved.text.startswith("line 'a', like 'b': its 6 elements are straight")


# -- objects ---------------------------------------------------------------------------------------------


def test_simulate_issues_the_warnings_of_a_run_once_as_a_python_warning() -> None:
    case = tl.load("bungee", {"run.duration": "0.5 s"})
    with pytest.warns(tl.errors.TautlineWarning) as caught:
        run = tl.simulate(case)
    found = tl.warnings_of(run)
    assert found and len(caught) == 1 and caught[0].filename == __file__
    assert str(caught[0].message).splitlines() == [f"{w.kind}: {w.text}" for w in found]


def test_warnings_survive_a_file(tmp_path: Path) -> None:
    case = tl.load("bungee", {"run.duration": "0.5 s"})
    run = tl.simulate(case)
    run.to_netcdf(tmp_path / "plain.nc")
    tl.run_to_file(tmp_path / "run.nc", case)
    with xr.open_dataset(tmp_path / "plain.nc") as plain:
        assert tl.warnings_of(plain) == tl.warnings_of(tl.open_run(tmp_path / "run.nc")) == tl.warnings_of(run) != []


def test_warnings_of_the_chain_survive_going_over_to_the_network_and_a_checkpoint(tmp_path: Path) -> None:
    """A push, which only the network knows, comes after a start that is warned of."""
    case = tl.load("bungee", {"run.duration": "0.5 s"})
    with chains.on(chains.CHAIN):
        simulation = tl.Simulation.from_case(case)
    simulation.advance(0.5, tl.Speed(payout=0.01))
    before = warnings(simulation)
    simulation.body.push(force=(1.0, 0.0, 0.0))
    simulation.advance(0.1)
    assert "front" in kinds(before) and set(before) <= set(warnings(simulation))
    simulation.save(tmp_path / "pushed.npz")
    assert warnings(tl.Simulation.load(tmp_path / "pushed.npz")) == warnings(simulation)


def test_what_has_no_warnings_and_what_is_no_kind_is_refused() -> None:
    for wrong in (3, xr.Dataset()):
        with pytest.raises(InputError, match=r"run: expected a run of simulate\(\) or open_run\(\)"):
            tl.warnings_of(wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"kind: expected one of .*'nonsense'"):
        tl.RunWarning("nonsense", "")
    assert tl.RunWarning("energy_balance", "", math.nan, 0.01).value is None


def test_every_kind_is_in_the_docs() -> None:
    page = (ROOT / "docs/trust.md").read_text(encoding="utf-8")
    table = page.partition("| kind | on | `value` | meaning | what to do |\n|---|---|---|---|---|\n")[2]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.partition("\n\n")[0].splitlines()]
    assert {kind.strip("`"): on for kind, on, *_ in rows} == {name: kind.issued_by for name, kind in KINDS.items()}
    assert len(rows) == len(KINDS) and all(meaning and advice for *_, meaning, advice in rows)


def every_warning(beyond: float) -> list[tl.RunWarning]:
    """Warnings on figures that are all so many times their limits."""
    string = tl.String(11.0, 0.1, 1e4, law="linear", breaking_load=1.0 / beyond)
    body = tl.RigidBody.sphere(1.0, 0.2, (0.0, 0.0, 0.1))
    pendulum = chains.Chain(string, tl.Reel(0.1, 0.1, 1.0, max_torque=1.0, max_power=2.0), body)
    mesh: dict[str, Any] = {"samples": 1, "length": 10.0, "tension": 1.0, "arc": 1.0 + 0.07 * beyond}
    mesh |= {"rough": 0.025 * beyond, "current": 0.1 * beyond, "sag": 0.2 * beyond, "slack": 0.03 * beyond}
    mesh |= {"front": 0.045 * beyond, "push": 0.01 * beyond}
    mesh |= {"missing": 1.0, "bend": 1.0, "twist": 1.0, "pulls": 1.0, "rates2": 0.65 * beyond, "jerks2": 1e4}
    figures = {"balance_error": 0.01 * beyond, "reel_speed_ratio": 0.5 * beyond, "turning_error": 0.05 * beyond}
    figures |= {
        "attitude_error": 0.07 * beyond,
        "step_over_stretching": 5.0 * beyond,
        "step_over_drum": 5.0 * beyond,
        "step_over_turning": 5.0 * beyond,
    }
    health = Health(step=0.1, impulse=1.0, bent=0.05 * beyond, torques_found=beyond < 1.0)
    health.mesh = MeshHealth(**mesh, fold=120.0 * beyond)
    found = warnings_from(health.criteria(pendulum, 10, figures, adaptive=False))
    found += warnings_from(mesh_criteria(MeshHealth(**mesh | {"slack": 0.0}), pendulum, 10, held=True))
    rope = dataclasses.replace(pendulum, string=tl.String(11.0, 0.1, 1e4))
    found += warnings_from(mesh_criteria(MeshHealth(snaps=2.0 * beyond), rope, 10))
    knots = np.array([0.0, 0.1 / beyond, 0.3])
    moved = {"Length": (knots, lambda t: t + 0.02 * np.sin(20.0 * np.pi * t))}
    found += unfollowed(health.step, {"applied_force": knots}, moved, 1.0)
    found += function_warnings(health.impulse, health.bent)
    reel = np.zeros(data.STOP_TIME + 1)
    reel[data.STOP], reel[data.STOP_TIME] = float(beyond > 1.0), 3.0
    found += slip_warnings("sheave", max(0.0, beyond - 1.0), 3.0)
    found += slack_warnings("sheave", 3.0 if beyond > 1.0 else None)
    found += stop_warnings(reel) + motor_warnings(pendulum.reel, beyond, 2.0 * beyond)
    pushed = tl.pendulum(string, pendulum.reel, body, applied_force=tl.AppliedForce(record(10)))
    return found + record_warnings(pushed, 10.0 * beyond)


def record(last: int) -> Any:
    """Times to a last one, a second apart, and vectors that go to and fro."""
    times = np.arange(last + 1.0)
    return tuple(times.tolist()), [(0.0, 0.0, 1.0 + (-1.0) ** k * (k + 1)) for k in range(last + 1)]


def test_every_kind_of_warning_on_a_run_is_issued_beyond_its_limit_and_there_alone() -> None:
    found = every_warning(1.5)
    assert set(kinds(found)) == {name for name, kind in KINDS.items() if kind.issued_by == "run"}
    assert all(w.value is not None and w.value > w.limit for w in found if w.limit is not None)
    assert not every_warning(0.7)


def test_a_tension_beyond_the_breaking_load_is_warned_of_on_every_path(tmp_path: Path) -> None:
    """On both backends, in files, and of members of a study that differ in it."""
    loads = {"string.breaking_load": 5000.0, "run.duration": 0.2}
    for case in (tl.load("crane-hoist", loads), tl.load("hook-and-load", {"lines.sling.breaking_load": 5000.0})):
        case = case.with_({"run.duration": 0.2})
        tl.run_to_file(tmp_path / "run.nc", case, overwrite=True)
        for run in (tl.simulate(case), tl.open_run(tmp_path / "run.nc")):
            (found,) = [w for w in tl.warnings_of(run) if w.kind == "breaking_load"]
            name = "sling" if "sling" in case.system.lines else "line"
            mine = run.tension.values[:, (run.element_line == name).values]
            assert found.where == name and found.limit == 1.0
            assert found.value == pytest.approx(float(mine.max()) / 5000.0, rel=0.01)
            key = "lines.sling" if name == "sling" else "string"
            assert f"times {key}.breaking_load" in found.text
    table = {"string.breaking_load": [5000.0, 50000.0], "run.duration": [0.2, 0.2]}
    study = {"scenario": "crane-hoist", "table": table, "outputs": ["max tension"]}
    members = tl.study(study, tmp_path / "loads.zarr", workers=1)
    warned = ["breaking_load" in kinds(tl.warnings_of(members.isel(member=k))) for k in range(2)]
    assert warned == [True, False]


def test_records_that_end_before_the_run_are_warned_of_and_ramps_and_moves_are_not(tmp_path: Path) -> None:
    times, values = record(10)
    where = {
        "fluid": {"density": 1.2, "unsteady": {"kind": "table", "times": times, "flows": values}},
        "guide": {"kind": "points", "times": times, "displacements": 1e-3 * np.array(values)},
        "applied_force": {"times": times, "forces": values},
    }
    base = tl.load("crane-hoist", {"run.duration": 12.0, "run.sample": 0.5, "run.elements": 2})
    for section, table in where.items():
        run = tl.simulate(base.with_({section: table}))
        (found,) = [w for w in tl.warnings_of(run) if w.kind == "record_end"]
        assert found.value == 10.0 and section in found.text
        assert "record_end" not in kinds(
            tl.warnings_of(tl.simulate(base.with_({section: table, "run.duration": 10.0})))
        )
    move = {"kind": "points", "times": [0, 4, 6], "displacements": [[0, 0, 0], [1, 0, 0], [0, 0, 0]]}
    gust = {"density": 1.2, "unsteady": {"kind": "table", "times": [0, 1], "flows": [[0, 0, 0], [5, 0, 0]]}}
    quiet = tl.simulate(base.with_({"guide": move, "fluid": gust}))
    assert "record_end" not in kinds(tl.warnings_of(quiet))


WINDS = [8.0, 12.0, 9.5, 13.0, 10.5, 11.0, 7.5, 9.0]
GUST = (7.5 * (1.0 - np.cos(np.linspace(0.0, 2.0 * np.pi, 25)))).tolist()
SETTLED = (5.0 - 5.0 * np.exp(-0.5 * np.arange(40.0)) * np.cos(np.arange(40.0))).tolist()


def ending(values: list[float], times: Any = None) -> dict[str, dict[str, Any]]:
    """Wind, force and motion along the first axis that end at 30 s, as sections of a case."""
    times = np.linspace(0.0, 30.0, len(values)).tolist() if times is None else times
    vectors = [[x, 0.0, 0.0] for x in values]
    return {
        "fluid": {"density": 1.2, "unsteady": {"kind": "table", "times": times, "flows": vectors}},
        "applied_force": {"times": times, "forces": vectors},
        "guide": {"kind": "points", "times": times, "displacements": [[0.01 * x for x in row] for row in vectors]},
    }


def doubted(changes: dict[str, Any]) -> list[tl.RunWarning]:
    return record_warnings(tl.load("crane-hoist").with_(changes).system, 60.0)


@pytest.mark.parametrize("rows", range(4, 9))
def test_short_records_of_wind_and_force_that_still_vary_are_warned_of(rows: int) -> None:
    sections = ending(WINDS[:rows])
    for name in ("fluid", "applied_force"):
        (found,) = doubted({name: sections[name]})
        assert found.kind == "record_end" and found.value == 30.0 and name in found.text
    # a curve through so few points is a move, and comes to rest at its end
    assert bool(doubted({"guide": sections["guide"]})) == (rows > 5)


def test_a_table_in_a_file_of_few_rows_is_warned_of(tmp_path: Path) -> None:
    lines = ["time,x,y,z", "s,m/s,m/s,m/s", *(f"{k},{x},0,0" for k, x in enumerate(WINDS[:6]))]
    (tmp_path / "wind.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = f'unsteady = {{ kind = "table", file = "{(tmp_path / "wind.csv").as_posix()}" }}'
    text = tl.load("crane-hoist", {"run.duration": 8.0, "run.sample": 1.0}).to_toml()
    (tmp_path / "crane.toml").write_text(f"{text}\n[fluid]\ndensity = 1.2\n{table}\n", encoding="utf-8")
    run = tl.simulate(tl.load(tmp_path / "crane.toml"))
    (found,) = [w for w in tl.warnings_of(run) if w.kind == "record_end"]
    assert found.value == 5.0


@pytest.mark.parametrize(
    "values",
    [
        [0.0, 5.0],
        [0.0, 1.0, 3.0, 5.0],
        [0.0, 5.0, 0.0],
        [2.0, 5.0, -1.0, 2.0],
        [8.0, 12.0, 9.5, 0.0],
        [0.0, 5.0, 5.0, 3.0],
        [8.0, 12.0, 10.0, 10.0],
        GUST,
        SETTLED,
    ],
    ids=["ramp", "stairs", "pulse", "gust that dips", "to calm", "set points", "held", "smooth gust", "settled"],
)
def test_tables_that_end_on_purpose_are_not_warned_of(values: list[float]) -> None:
    for name, section in ending(values).items():
        assert not doubted({name: section})


def test_what_varies_beside_rounding_counts_alone() -> None:
    flows = [[x, 1e-15 * (-1.0) ** k, 0.0] for k, x in enumerate((0.0, 1.0, 3.0, 5.0))]
    table = {"kind": "table", "times": [0.0, 1.0, 2.0, 3.0], "flows": flows}
    assert not doubted({"fluid": {"density": 1.2, "unsteady": table}})


def test_a_motion_that_ends_with_a_velocity_is_warned_of() -> None:
    path = tl.motions.GuidePath.of(lambda t: (0.0, 0.0, np.sin(2.0 * np.pi * t / 10.0)), 10.0, 0.5)  # one period
    guide = {"kind": "points", "times": list(path.times), "displacements": [list(x) for x in path.displacements]}
    assert not doubted({"guide": guide})
    (found,) = doubted({"guide": {**guide, "end_velocity": list(path.velocities[1])}})
    assert found.value == 10.0


# -- snaps --------------------------------------------------------------------------------------------------


def heaved(duration: float) -> tl.Case:
    """A load of 100 kg on 20 m of rope, which is heaved faster than it falls, and then left in peace."""
    path = tl.motions.GuidePath.of(
        lambda t: (0.0, 0.0, 1.2 * np.sin(np.pi * t) * np.sin(np.pi * t / 14.0) ** 2), 14.0, 0.1
    )
    return tl.Case.from_dict(
        {
            "string": {"length": 21.0, "density": 0.3, "stiffness": 1e5, "viscosity": 2e4, "damping_ratio": 0.2},
            "reel": {"drum_radius": 0.2, "guide_length": 0.5, "inertia_mass": 20.0},
            "body": {"shape": "point", "mass": 100.0},
            "guide": {
                "kind": "points",
                "times": list(path.times),
                "displacements": [list(x) for x in path.displacements],
            },
            "initial": {"kind": "hanging", "deployed": 20.0},
            "command": {"kind": "locked"},
            "run": {"duration": duration, "elements": 2, "sample": 0.02},
        }
    )


def snaps(run: Any) -> list[float | None]:
    return [w.value for w in tl.warnings_of(run) if w.kind == "snap"]


@pytest.mark.parametrize("backend", ["chain", "network"])
def test_snaps_are_warned_of_however_long_the_run_goes_on(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAUTLINE_BACKEND", backend)
    short, long = tl.simulate(heaved(15.0)), tl.simulate(heaved(300.0))
    assert "slack" in kinds(tl.warnings_of(short)) and "slack" not in kinds(tl.warnings_of(long))
    assert long.attrs["slack_share"] < 0.03
    assert snaps(short) == snaps(long) and snaps(short)[0] >= 3.0  # type: ignore[operator]
    assert snaps(tl.simulate(heaved(15.0).with_({"string.law": "linear"}))) == []  # it is pushed instead
    calm = heaved(15.0).with_({"guide": {"kind": "sine", "amplitude": 0.3, "period": 2.0}})
    assert snaps(tl.simulate(calm)) == []


def test_members_of_a_study_have_the_snaps_of_their_runs(tmp_path: Path) -> None:
    (tmp_path / "heaved.toml").write_text(heaved(15.0).to_toml(), encoding="utf-8")
    masses = [100.0, 60.0, 140.0]
    study = {"scenario": str(tmp_path / "heaved.toml"), "table": {"body.mass": masses}, "outputs": ["max tension"]}
    members = tl.study(study, tmp_path / "masses.zarr", workers=1)
    found = [snaps(members.isel(member=k)) for k in range(3)]
    assert found == [snaps(tl.simulate(heaved(15.0).with_({"body.mass": mass}))) for mass in masses]
    assert [] in found and [3.0] in found


def test_snaps_go_on_where_a_run_goes_on(tmp_path: Path) -> None:
    simulation = tl.Simulation.from_case(heaved(15.0))
    simulation.advance(4.0, sample=0.02)
    simulation.save(tmp_path / "half.npz")
    again = tl.Simulation.load(tmp_path / "half.npz")
    for each in (simulation, again):
        each.advance(11.0, sample=0.02)
    found = [[w.value for w in x.runner.warnings() if w.kind == "snap"] for x in (simulation, again)]
    assert found[0] == found[1] == snaps(tl.simulate(heaved(15.0)))


def test_snaps_are_counted_as_one_sample_after_the_other_has_it() -> None:
    """In pieces, and of members in arrays, as by a plain loop."""
    chance = np.random.default_rng(3)
    parts = chance.choice([0.0, 0.25, 0.5, 1.0], (400, 3), p=[0.6, 0.2, 0.1, 0.1])
    tensions = np.where(parts < 1.0, chance.exponential(1.0, parts.shape), 0.0)
    expected = []
    for member in range(3):
        slack, most, count = False, 0.0, 0
        for part, tension in zip(parts[:, member], tensions[:, member], strict=True):
            most = max(most, tension)
            if part >= 0.5:
                slack = True
            elif slack and tension >= 0.5 * most:
                slack, count = False, count + 1
        expected.append(count)
    assert min(expected) > 5
    for cut in (1, 7, 400):
        found, largest, total = Snaps(0.0, 0.0), np.zeros(3), np.zeros(3)
        for k in range(0, 400, cut):
            found = snaps_in(found.slack, largest, parts[k : k + cut], tensions[k : k + cut])
            largest, total = np.maximum(largest, tensions[k : k + cut].max(axis=0)), total + found.count
        assert total.tolist() == expected
    alone = snaps_in(0.0, 0.0, parts[:, 0], tensions[:, 0])
    assert float(alone.count) == expected[0]


# -- tables that steps do not follow -----------------------------------------------------------------------


def shaken(step: float) -> tl.Case:
    """Two loads below a jib that shakes: one is pushed by pulses of a millisecond, a reel has torques as fast."""
    times = tuple((0.02 + 0.001 * np.arange(5)).tolist())
    string, reel = tl.String(12.0, 0.1, 1e4, law="linear"), tl.Reel(0.1, 0.1, 5.0)
    lines = {
        name: tl.Line(string, start="jib", start_point=(x, 0.0, 0.0), end=end, reel=reel, elements=4)
        for name, x, end in (("left", -1.0, "pushed"), ("right", 1.0, "other"))
    }
    bodies = {"jib": tl.Kinematic(path=tl.motions.Sine((0.0, 0.0, 1e-3), 4e-3)), "pushed": tl.RigidBody.point(2.0)}
    push = tl.AppliedForce((times, [(0.0, 0.0, 0.1 * (k % 2)) for k in range(5)]))
    system = tl.System(bodies | {"other": tl.RigidBody.point(2.0)}, lines, applied_forces={"pushed": push})
    commands = {"left": tl.Locked(), "right": tl.Torque((times, [2.0, 1.0, 2.0, 1.0, 2.0]))}
    start = tl.Hanging({"left": 5.0, "right": 5.0})
    return tl.Case(system, start, commands, tl.Run(duration=0.05, sample=0.005, step=step))


def test_systems_say_which_tables_their_steps_do_not_follow() -> None:
    said = {
        w.text.partition(" are ")[0].partition(" goes ")[0] for w in tl.warnings_of(tl.simulate(shaken(5e-3 / 3.0)))
    }
    assert {
        "entries of the table of bodies.pushed.applied_force",
        "reel 'right': entries of the table of Torque",
        "the motion of bodies.jib.path",
    } <= said
    fine = kinds(tl.warnings_of(tl.simulate(shaken(1e-4))))
    assert not {"force_table", "prescribed_motion"} & set(fine)
