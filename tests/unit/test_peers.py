"""The comparison with other simulators: its own parts. No peer is installed or run here."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.peers import environments, reeving, tautline_reeving
from benchmarks.peers.catalogue import NEWTON, OURS, PACKAGED, PEERS, Peer, problem
from benchmarks.peers.pair import pair
from benchmarks.peers.physics import invariants, pair_invariants, pair_quality
from benchmarks.peers.protocol import Method, State, Turning, end_body, rotated
from benchmarks.peers.tautline import Pendulum
from benchmarks.peers.tautline_ensemble import Members
from benchmarks.peers.tautline_gradient import Run as GradientRun
from benchmarks.peers.tautline_pair import Bodies

from tautline.paper.examples import run


def some_state(elements: int = 3, seed: int = 1) -> State:
    rng = np.random.default_rng(seed)
    quaternion = rng.normal(size=4)
    return State(
        time=0.0,
        nodes=(np.outer(np.arange(1, elements + 1), (3.0, 0.0, 1.0)) + rng.normal(size=(elements, 3))).tolist(),
        velocities=rng.normal(size=(elements, 3)).tolist(),
        rotation=rotated((quaternion / np.linalg.norm(quaternion)).tolist()),
        angular_velocity=rng.normal(size=3).tolist(),
    )


def test_the_lumped_invariants_are_those_of_points_and_a_body_about_its_center() -> None:
    p, state = problem(), some_state()
    q, v = np.array(state["nodes"]), np.array(state["velocities"])
    R, Omega = np.array(state["rotation"]), np.array(state["angular_velocity"])
    body = end_body(p, 3)
    arm, central = R @ body.center_of_mass, np.array(body.inertia)
    l = p["length"] / 3
    m = p["density"] * l
    center, velocity = q[-1] + arm, v[-1] + np.cross(R @ Omega, arm)
    kinetic = 0.5 * m * (v[:-1] ** 2).sum() + 0.5 * body.mass * velocity @ velocity + 0.5 * Omega @ central @ Omega
    lengths = np.linalg.norm(np.diff(q, axis=0, prepend=0.0), axis=1)
    potential = 0.5 * p["stiffness"] / l * ((lengths - l) ** 2).sum()
    potential -= p["gravity"] * (m * q[:-1, 2].sum() + body.mass * center[2])
    momentum = m * np.cross(q[:-1], v[:-1]).sum(axis=0) + body.mass * np.cross(center, velocity) + R @ central @ Omega
    found = invariants(p, state, "lumped")
    # sums of some ten terms of order 100
    assert found == pytest.approx((kinetic, kinetic + potential, momentum[2]), rel=1e-12)


def test_the_consistent_invariants_are_those_of_our_own_runs() -> None:
    p, recorded = problem(), run(1, duration=0.5, sample=0.1).squeeze(["line", "body"])
    found = []
    for i in range(recorded.sizes["time"]):
        x = recorded.isel(time=i)
        state = State(
            nodes=x.position.values[1:].tolist(),
            velocities=x.velocity.values[1:].tolist(),
            rotation=x.attitude.values.tolist(),
            angular_velocity=x.angular_velocity.values.tolist(),
        )
        found.append(invariants(p, state, "consistent"))
    kinetic, energy, momentum = np.array(found).T
    recorded_energy = recorded.energy.values
    assert kinetic == pytest.approx(recorded.kinetic_energy.values, rel=1e-12)
    assert momentum == pytest.approx(recorded.angular_momentum.sel(axis="z").values, rel=1e-12)
    # ours counts the spooled string too, which does not move; energies are about 200 J
    assert energy - energy[0] == pytest.approx(recorded_energy - recorded_energy[0], abs=1e-11)


# -- a string between two free bodies ----------------------------------------------------------------------


def some_pair_state(elements: int = 3) -> State:
    first, last = some_state(elements), some_state(elements, seed=2)
    turning = [Turning(rotation=x["rotation"], angular_velocity=x["angular_velocity"]) for x in (first, last)]
    nodes, velocities = [[0.1, 0.2, 0.3], *first["nodes"]], [[1.0, -2.0, 0.5], *first["velocities"]]
    return State(time=0.0, nodes=nodes, velocities=velocities, bodies=turning)


def test_the_lumped_invariants_of_a_pair_are_those_of_points_and_bodies_about_their_centers() -> None:
    p, state = pair(), some_pair_state()
    q, v = np.array(state["nodes"]), np.array(state["velocities"])
    l = p["length"] / 3
    m = p["density"] * l
    kinetic, linear = 0.5 * m * (v[1:-1] ** 2).sum(), m * v[1:-1].sum(axis=0)
    angular = m * np.cross(q[1:-1], v[1:-1]).sum(axis=0)
    for carried, turning, end in zip(p["bodies"], state["bodies"], (0, -1), strict=True):
        R, Omega = np.array(turning["rotation"]), np.array(turning["angular_velocity"])
        body = end_body(p, 3, carried)
        arm, central = R @ body.center_of_mass, np.array(body.inertia)
        velocity = v[end] + np.cross(R @ Omega, arm)
        kinetic += 0.5 * body.mass * velocity @ velocity + 0.5 * Omega @ central @ Omega
        linear = linear + body.mass * velocity
        angular = angular + body.mass * np.cross(q[end] + arm, velocity) + R @ central @ Omega
    elastic = 0.5 * p["stiffness"] / l * ((np.linalg.norm(np.diff(q, axis=0), axis=1) - l) ** 2).sum()
    found = pair_invariants(p, state, "lumped")
    assert found[:2] == pytest.approx((kinetic, kinetic + elastic), rel=1e-12)
    assert found[2] == pytest.approx(np.concatenate([linear, angular]), rel=1e-12)


def test_the_consistent_invariants_of_a_pair_are_those_of_our_own_runs() -> None:
    bodies = Bodies(Method(pair(), 4, "order 2", 1e-3))
    states = [bodies.state()]
    for _ in range(3):
        bodies.advance(0.1)
        states.append(bodies.state())
    recorded = bodies.simulation.dataset().isel(time=-1)
    kinetic, energy, momenta = pair_invariants(pair(), states[-1], "consistent")
    assert (kinetic, energy) == pytest.approx((float(recorded.kinetic_energy), float(recorded.energy)), rel=1e-12)
    own = np.concatenate([recorded.linear_momentum.values, recorded.angular_momentum.values])
    assert momenta == pytest.approx(own, rel=1e-12, abs=1e-12)
    kept = pair_quality(pair(), states, "consistent")
    assert kept.linear < 1e-14 and kept.angular < 1e-14
    assert 0.0 < kept.energy < 0.1  # % at order 2; the tool's own string, so nothing but the method's error
    wrong = pair_quality(pair(), states, "lumped")
    assert wrong.energy > 3.0 * kept.energy and wrong.angular > 1e-6


def test_our_gradient_of_example_1_is_that_of_its_runs() -> None:
    def run(gravity: float, many: bool = False) -> GradientRun:
        given: Any = {**problem(), "gravity": gravity}
        return GradientRun(Method(given, 4, "order 2", 200), 0.1, many)

    value, gradient = run(9.81).value_and_gradient()
    assert value == pytest.approx(run(9.81).value(), rel=1e-12) and len(gradient) == 8
    assert gradient[3] == pytest.approx((run(9.82).value() - run(9.80).value()) / 0.02, rel=1e-5)
    assert len(run(9.81, True).keys) == 5 + 6 * 4


# -- many members, and lines over sheaves ------------------------------------------------------------------


def test_members_move_as_each_would_alone() -> None:
    starts = [[0.0, 0.5, 0.0], [0.1, -0.2, 0.3], [0.0, 0.0, 0.4]]
    given: Any = {**problem(), "members": starts}
    for order in ("order 2", "order 4"):
        members = Members(Method(given, 4, order, 1e-3))
        assert members.advance(0.2) == 200
        for start, found in zip(starts, members.states(), strict=True):
            alone = Pendulum(Method({**given, "end_velocity": start}, 4, order, 1e-3))
            alone.advance(0.2)
            assert found == alone.state()


def test_the_exact_atwood_machine_is_that_of_its_equation_of_motion() -> None:
    """Tensions are those that move what hangs on each side; the acceleration is that of the motion."""
    t, h = 1.3, 1e-3
    x = reeving.passed(t)
    a = (reeving.passed(t + h) - 2.0 * x + reeving.passed(t - h)) / h**2
    assert a == pytest.approx(9.81 * (2.0 + 2.0 * 0.5 * x) / 47.785398, rel=1e-6)
    light, heavy = reeving.tensions(t)
    assert light == pytest.approx((10.0 + 0.5 * (20.0 - x)) * (9.81 + a), rel=1e-6)
    assert heavy == pytest.approx((12.0 + 0.5 * (20.0 + x)) * (9.81 - a), rel=1e-6)
    # the wheel and the rope on it are accelerated by their difference
    assert heavy - light == pytest.approx((5.0 + 0.25 * np.pi) * a, rel=1e-6)
    assert reeving.passed(3.0) == pytest.approx(2.150225893, rel=1e-9)


@pytest.mark.parametrize("case", [reeving.ATWOOD, reeving.HOIST])
def test_our_lines_over_sheaves_do_what_is_calculated_by_hand(case: Any) -> None:
    """Stretch of the rope, and what a window of samples leaves of its swinging, are the differences."""
    way = next(x for x in reeving.WAYS if x.case is case and x.tool == "tautline")
    build = {"atwood": tautline_reeving.atwood, "hoist": tautline_reeving.hoist}[case["case"]]
    simulation = build(Method(case, way.elements, way.method, way.step))
    found = reeving.judged(way, simulation.trace(reeving.DURATIONS[case["case"]], reeving.SAMPLE))
    if case is reeving.ATWOOD:
        assert abs(found["error"]) < 0.01
        assert found["tensions"] == pytest.approx(reeving.tensions(3.0), rel=5e-4)
    else:
        at_rest, hauling = found["errors"]
        assert abs(at_rest) < 1e-8 and abs(hauling) < 0.01
        assert found["raised"] == pytest.approx(0.5 * reeving.hauled(6.0), rel=1e-3)


def test_the_page_names_the_versions_that_are_compared() -> None:
    text = (environments.ROOT / "docs" / "others.md").read_text(encoding="utf-8")
    pinned = [x for peer in (*PEERS, NEWTON) if peer.kind != OURS for x in peer.requirements]
    assert [x for x in pinned if x.replace("==", " ") not in text] == []


def wheel(folder: Path, version: str) -> str:
    """A package without anything in it, as pip takes it."""
    path, info = folder / f"nothing-{version}-py3-none-any.whl", f"nothing-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as written:
        written.writestr("nothing.py", "")
        written.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: nothing\nVersion: {version}\n")
        written.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        written.writestr(f"{info}/RECORD", "")
    return str(path)


@pytest.mark.long
def test_an_environment_follows_the_versions_of_the_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "FOLDER", tmp_path / "peers")
    older = Peer("nothing", "Nothing", PACKAGED, (wheel(tmp_path, "1.0"),), "nothing", (), "")
    newer = older._replace(requirements=(wheel(tmp_path, "1.1"),))
    stamp = tmp_path / "peers" / "nothing" / "installed"
    environments.install(older)
    assert environments.versions(older) == {"nothing": "1.0"}
    written = stamp.stat().st_mtime_ns
    environments.install(older)  # is there
    assert stamp.stat().st_mtime_ns == written
    environments.install(newer)
    assert environments.versions(newer) == {"nothing": "1.1"}
