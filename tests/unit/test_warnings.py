"""Remarks that are made where something is wrong, and there alone: balance, attitude, fronts; and what they advise."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.engine.health import Health
from tautline.engine.mesh import MeshHealth
from tautline.engine.network.health import NetworkHealth
from tautline.engine.sayings import said
from tautline.engine.shape import current_tension, front_tension, shape_of
from tests.support import chains

pytestmark = pytest.mark.network


def remarks(simulation: tl.Simulation) -> list[str]:
    return simulation.backend.remarks()


# -- balance ---------------------------------------------------------------------------------------------


def aerostat(viscosity: float) -> chains.Chain:
    string = tl.String(260.0, 0.3, 1e6, diameter=0.02, tangential_drag=0.02, viscosity=viscosity)
    fluid = tl.Fluid(1.2, (2.3, 0.0, 0.0), drag_area=10.0, volume=99.5, added_mass=60.0)
    return chains.Chain(string, tl.Reel(0.3, 0.5, 50.0), tl.RigidBody.sphere(60.0, 2.87), fluid=fluid)


def towed(viscosity: float) -> chains.Chain:
    string = tl.String(120.0, 0.3, 3e5, diameter=0.015, tangential_drag=0.02, viscosity=viscosity)
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
    assert figures["balance_error"] < 1e-3 and not remarks(simulation)


def test_the_work_of_stiff_drag_at_a_start_is_what_the_kinetic_energy_loses() -> None:
    """A plate that is thrown into syrup stops within a step; all of its energy is in the books."""
    syrup = tl.Fluid(1e5, drag_area=100.0)
    pendulum = chains.Chain(tl.String(5.0, 1e-3, 10.0), tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(1.0), 0.0, syrup)
    simulation = chains.simulation(pendulum, chains.straight(pendulum, 1.0, 2, end_velocity=(3.0, 0.0, 0.0)), step=1e-3)
    simulation.advance(0.1, tl.Locked(), sample=1e-3)
    run = chains.of_one(simulation.dataset())
    assert run.kinetic_energy[-1] < 0.01 * run.kinetic_energy[0]
    assert simulation.health()["balance_error"] < 0.02


@pytest.mark.parametrize("viscosity", [1e-2, 10.0, 1e4])
def test_damping_never_gives_energy_back(viscosity: float) -> None:
    string = tl.String(12.0, 0.1, 1e4, viscosity=viscosity, diameter=0.01)
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
    assert abs(run.fluid_work).max() < 1e-9 and not remarks(simulation)


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
    pendulum = chains.Chain(tl.String(12.0, 0.01, 1e3), tl.Reel(0.1, 0.1, 1.0), body, applied_force=force)
    simulation = chains.simulation(pendulum, chains.hanging(pendulum, 10.0, 4), step=h)
    simulation.advance(0.2, tl.Locked(), sample=h)
    assert simulation.health()["balance_error"] < 1e-4
    assert not any("balance" in remark for remark in remarks(simulation))
    if steps < 1.0:
        return  # the network does not follow what happens within a step, and its balance says so
    strings = {"rope": tl.Line(pendulum.string, end="load", elements=4, reel=pendulum.reel)}
    pushed = tl.System({"load": body}, strings, applied_forces={"load": force})
    with chains.on(chains.NETWORK):
        other = tl.Simulation(pushed, tl.Placed({"load": (0.0, 0.0, 10.1 + arm)}, {"rope": 10.0}), step=h)
    other.advance(0.2, sample=h)
    assert not any("balance" in remark for remark in remarks(other))


def test_energy_that_is_lost_is_found_after_a_pulse_too() -> None:
    """The allowance ends with the pulse: a balance that does not close behind it is remarked on."""
    from tautline.engine.health import pending_energy

    body, times = tl.RigidBody.point(2.0), np.linspace(0.0, 1.0, 101)
    found = pending_energy(pulse(1.0, 0.5, 0.01), body, times, np.full(101, 0.01))
    assert (found[:49] == 0.0).all() and found[50] > 0.0 and np.abs(found[53:]).max() < 1e-20
    assert found.max() == pytest.approx(0.5 * 1.0**2 / 2.0)  # of all of the impulse on the free mass


# -- attitude --------------------------------------------------------------------------------------------


def spinning(elements: int | None, radius: float = 0.3) -> tuple[tl.Simulation, Any]:
    """A tether in free space whose body swings about its center of mass."""
    length, rate, mass = 111.0, 0.196, 47.6
    string = tl.String(1.3 * length, 0.0365, 9241.0)
    body = tl.RigidBody.sphere(mass, radius, (0.1, 0.05, 0.3))
    pendulum = chains.Chain(string, tl.Reel(0.05, 0.05, mass), body, 0.0)
    start = chains.straight(pendulum, length, elements, angular_velocity=(0.0, rate, 0.0))
    out = np.linspace(0.0, 1.0, start.elements + 1)[:, None] * length * (1.0 + mass * rate**2 * length / 9241.0)
    nodes, velocities = out * [0.0, 0.0, 1.0], out * [rate, 0.0, 0.0]
    state = chains.ChainState(start.reeled_length, 0.0, nodes, velocities, start.attitude, start.angular_velocity)
    simulation = chains.simulation(pendulum, state)
    simulation.advance(21.0, tl.Locked(), sample=0.05)
    return simulation, chains.of_one(simulation.dataset()).attitude.values


def test_the_attitude_of_a_body_off_its_center_is_estimated_and_remarked_on() -> None:
    _, finer = spinning(112)
    found = {}
    for elements in (None, 14, 28, 56):
        simulation, attitude = spinning(elements)
        turn = np.einsum("tji,tjk->tik", attitude, finer)
        error = float(np.arccos(np.clip(0.5 * (np.trace(turn, axis1=1, axis2=2) - 1.0), -1.0, 1.0)).max())
        estimate = simulation.health()["attitude_error"]
        found[elements] = error, estimate, any("attitude" in remark for remark in remarks(simulation))
        assert error / 3.0 < estimate < 3.0 * error, (elements, error, estimate)
    assert found[None][0] > 0.1 and found[None][2], found  # the default mesh is not enough, and says so
    assert found[56][0] < 0.05 and not found[56][2], found


def test_a_point_and_a_body_on_its_center_have_no_such_error() -> None:
    health = Health(swung=1.0, mesh=MeshHealth(sag=1.0, drift=1.0, twist=1.0, bend=1.0))
    assert health.attitude_error(tl.RigidBody.point(1.0)) == 0.0
    assert health.attitude_error(tl.RigidBody.sphere(1.0, 0.2)) == 0.0
    assert health.attitude_error(tl.RigidBody.sphere(1.0, 0.2, (0.0, 0.0, 1e-3))) == math.pi


# -- fronts ----------------------------------------------------------------------------------------------


def rope(strain: float = 0.0) -> tuple[chains.Chain, Any]:
    """A straight rope of ten elements, stretched evenly."""
    pendulum = chains.Chain(tl.String(11.0, 0.1, 1e5), tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(1.0), 0.0)
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
def test_the_remark_on_a_thrown_mass_says_by_how_much_its_peak_is_too_low(ratio: float, damping: float) -> None:
    N, v = 40, 1.0
    string = tl.String(11.0, 0.1, 1e5, damping_ratio=damping)
    pendulum = chains.Chain(string, tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(1.0 / ratio), 0.0)
    simulation = chains.simulation(pendulum, chains.straight(pendulum, 10.0, N, end_velocity=(0.0, 0.0, v)))
    transits = 1.2 * math.pi / math.sqrt(ratio) + 1.5
    simulation.advance(0.01 * transits, tl.Locked(), sample=0.01 * transits / 800)
    exact = peak_at_guide(ratio, transits) * 100.0 * v
    missing = 1.0 - float(chains.of_one(simulation.dataset()).start_tension.max()) / exact
    (remark,) = (text for text in remarks(simulation) if text.startswith("the start moves a node"))
    said = float(remark.rpartition("too low by about ")[2].partition("%")[0]) / 100.0
    assert missing > 0.04 and 0.5 * missing < said < 2.0 * missing


def test_a_light_string_that_is_thrown_sideways_says_that_its_peak_is_missing() -> None:
    """Its largest tension grows with the mesh, and the shortest waves are silent."""
    string = tl.String(13.0, 0.02, 500.0)
    pendulum = chains.Chain(string, tl.Reel(0.05, 0.05, 1.0), tl.RigidBody.point(0.3), 0.0)
    peaks = []
    for N in (8, 32):
        simulation = chains.simulation(pendulum, chains.straight(pendulum, 10.0, N, end_velocity=(2.0, 0.0, 0.0)))
        simulation.advance(0.5, tl.Locked(), sample=1e-3)
        peaks.append(float(chains.of_one(simulation.dataset()).tension.max()))
        assert any(text.startswith("the start moves a node") for text in remarks(simulation))
    assert peaks[1] > 1.3 * peaks[0]


@pytest.mark.parametrize("viscosity", [0.0, 20.0])
def test_a_reel_that_jerks_a_viscous_string_at_the_start_is_remarked_on(viscosity: float) -> None:
    """The first sample has a tension that grows with the mesh. The front of an elastic string is low here."""
    string = tl.String(3.0, 0.03, 200.0, viscosity=viscosity)
    pendulum = chains.Chain(string, tl.Reel(0.05, 0.05, 1.0), tl.RigidBody.point(0.4))
    firsts = []
    for N in (15, 60):
        simulation = chains.simulation(pendulum, chains.hanging(pendulum, 1.0, N))
        simulation.advance(0.5, tl.Speed(payout=0.05), sample=2e-3)
        firsts.append(float(chains.of_one(simulation.dataset()).tension[0].max()))
        jerked = any(text.startswith("the start moves a node") for text in remarks(simulation))
        assert jerked == (viscosity > 0.0)
    assert (firsts[1] > 2.0 * firsts[0]) == (viscosity > 0.0)


# -- advice ----------------------------------------------------------------------------------------------


def sayings(string: tl.String, **figures: Any) -> list[str]:
    pendulum = chains.Chain(string, tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(1.0))
    return MeshHealth(samples=1, length=10.0, tension=1.0, **figures).remarks(pendulum, 10)


def test_what_is_set_already_is_not_advised() -> None:
    plain, damped = tl.String(11.0, 0.1, 1e4), tl.String(11.0, 0.1, 1e4, damping_ratio=0.2)
    viscous = tl.String(11.0, 0.1, 1e4, viscosity=damped.on_mesh(1.0).viscosity)
    (noisy,) = sayings(plain, rough=0.5)
    assert "string.damping_ratio = 0.2" in noisy  # the key of a file, and of `tl.load` and `with_`
    for string in (damped, viscous, damped.on_mesh(1.0)):
        (noisy,) = sayings(string, rough=0.5)
        assert "damping_ratio" not in noisy
        (folded,) = sayings(string, fold=170.0)
        assert "damp" not in folded and "taut" not in folded
        (folded,) = sayings(string, fold=170.0, taut=0.0)
        assert "begin with a taut string" in folded
    (folded,) = sayings(plain, fold=170.0)
    assert "string.damping_ratio" in folded and "taut" not in folded


def test_keys_of_remarks_can_be_set() -> None:
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
        # of the step, and of the first sample, which counts in the mean of the slack
        assert ours[name] == pytest.approx(theirs[name], rel=0.02), name
    alone.advance(4.5, tl.Locked(), sample=0.01)  # snaps and slack
    together.advance(4.5, sample=0.01)
    assert len(remarks(alone)) == 3
    for ours_says, theirs_says in zip(remarks(together), remarks(alone), strict=True):
        assert ours_says.startswith("string 'rope': " + theirs_says[:10])


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
    assert remarks(pieces) == remarks(whole)


def test_remarks_on_several_strings_name_the_worst_and_advise_its_keys() -> None:
    string = tl.String(11.0, 0.1, 1e4, law="tension_only")
    lines = {
        name: tl.Line(string, start_point=(x, 0.0, 0.0), end="load", elements=6) for name, x in (("a", 1), ("b", 2))
    }
    system = tl.System({"load": tl.RigidBody.sphere(1.0, 0.1)}, lines)
    health = NetworkHealth()
    for name, rough in (("a", 0.3), ("b", 0.5)):
        health.meshes[name] = MeshHealth(samples=1, length=10.0, tension=1.0, rough=rough)
    (noisy,) = health.remarks(system, np.zeros(100), adaptive=True)
    assert noisy.startswith("string 'b', like 'a': the mesh carries noise") and "50%" in noisy
    assert "lines.b.damping_ratio = 0.2" in noisy
    health.meshes = {"a": MeshHealth(samples=1, length=1.0, tension=1.0, sag=0.03)}
    (coarse,) = health.remarks(system, np.zeros(100), adaptive=True)
    assert "try lines.a.elements = 12" in coarse


# -- currents --------------------------------------------------------------------------------------------


def in_current(speed: float, strain: float = 0.0, diameter: float = 0.02) -> tuple[chains.Chain, Any]:
    """A string along the third axis in a current across it, and its nodes."""
    string = tl.String(12.0, 0.01, 1e4, diameter=diameter)
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
    plain = tl.String(11.0, 0.1, 1e4)
    assert not sayings(plain, rough=0.05, reach=1.0 + 1e-9)
    assert len(sayings(plain, rough=0.05, reach=1.4)) == 1
    assert len(sayings(plain, rough=0.05)) == 1  # of a checkpoint of an earlier version


def test_a_front_that_leaves_little_uncertain_is_not_remarked_on() -> None:
    pendulum = chains.Chain(tl.String(11.0, 0.1, 1e4), tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(1.0))
    health = MeshHealth(samples=1, length=10.0, tension=1.0, front=0.06)
    assert len(health.remarks(pendulum, 10)) == 1 and not health.remarks(pendulum, 40)


# -- arcs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("elements", [6, 12])
def test_the_tension_that_elements_miss_is_that_of_their_arcs(elements: int) -> None:
    """Nodes on a circle: elements are chords, and the string between them is as long as the arc."""
    length, angle = 10.0, np.linspace(0.0, 1.2, elements + 1)
    nodes = length / 1.2 * np.stack([np.sin(angle), 0.0 * angle, np.cos(angle)], axis=1)
    pendulum = chains.Chain(tl.String(length + 1.0, 0.1, 1e4), tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(1.0))
    shape = shape_of(pendulum, nodes[None], 0.0 * nodes[None], np.array([1.0]))
    chord = np.linalg.norm(np.diff(nodes, axis=0), axis=1).sum()
    assert shape.arc[0] == pytest.approx(1e4 * (length - chord) / length, rel=0.01)


def test_arcs_count_where_others_hold_the_ends() -> None:
    """A body that hangs on one line gives way."""
    pendulum = chains.Chain(tl.String(11.0, 0.1, 1e4), tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(1.0))
    health = MeshHealth(samples=1, length=10.0, tension=1.0, arc=1.1)
    assert not health.remarks(pendulum, 10)
    (curved,) = said(health.sayings(pendulum, 10, "lines.a", held=True))
    assert "largest tension of 1 N would be 1.1 N" in curved and "lines.a.elements = 20" in curved
    string, sphere = pendulum.string, tl.RigidBody.sphere(1.0, 0.1)
    ropes = {name: tl.Line(string, end=end, elements=6) for name, end in (("a", "up"), ("b", "up"), ("c", "low"))}
    system = tl.System({"up": sphere, "low": sphere}, ropes)
    held = NetworkHealth(meshes=dict.fromkeys(ropes, health))
    (curved,) = held.remarks(system, np.zeros(100), adaptive=True)
    assert curved.startswith("string 'a', like 'b': its 6 elements are straight")
