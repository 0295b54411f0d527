"""Reels of systems: end stops, torque functions and torques by inverse dynamics, as those of the pendulum."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.engine.choose import PUSH
from tautline.errors import InputError
from tautline.kernels.network import data as kernels
from tautline.ledger import kept_energy
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, check_close, check_order
from tests.support.known_systems import both, pendulum_and_system
from tests.support.warned import kinds

pytestmark = pytest.mark.network


def balance(run: Any) -> float:
    """Largest error of the balance of energy (J)."""
    kept = kept_energy(run).values
    return float(np.abs(kept - kept[0]).max())


# -- end stops ----------------------------------------------------------------------------------------------

RUNS_INTO = {
    "retrieved": (tl.Torque(12.0), {"minimum_length": 4.6}),
    "deployed, and back": (tl.Torque(([0.0, 1.6, 2.0], [-1.0, -1.0, 12.0])), {"duration": 2.4}),
    "a spring": (tl.Impedance(4.0, 80.0, 20.0), {"minimum_length": 4.8}),
}


@pytest.mark.parametrize("step", [5e-4, "auto"])
@pytest.mark.parametrize("viscosity", [0.0, 5.0])
@pytest.mark.parametrize("name", RUNS_INTO)
def test_a_reel_is_held_at_the_end_as_the_pendulums(name: str, viscosity: float, step: Any, report: Report) -> None:
    command, settings = RUNS_INTO[name]
    string = {"viscosity": viscosity}
    pendulum, system = both(command, string, {}, at_end="hold", **{"duration": 0.6, "step": step} | settings)
    assert pendulum.attrs["status"] == system.attrs["status"] == "completed"
    assert float(pendulum.friction_loss[-1]) > 1e-3
    limit = 1e-9 if step != "auto" else 5e-3  # "auto" divides the two otherwise, and they bounce
    check_close("reeled length", system.reeled_length[:, 0], pendulum.reeled_length, limit)
    check_close("nodes", system.position, pendulum.position, 10.0 * limit)
    if step != "auto":
        held, ours = ([w for w in tl.warnings_of(run) if w.kind == "end_stop"] for run in (pendulum, system))
        assert [w.text for w in ours] == [w.text for w in held]
        for account in ("energy", "control_work", "friction_loss", "damping_loss", "guide_loss"):
            check_close(account, system[account], pendulum[account], 1e-7)
        report(f"friction loss on the stop, {name} (J)", float(system.friction_loss[-1]), "the pendulum's")


def crane(heaves: bool = True, **options: Any) -> tuple[tl.System, tl.State]:
    """A hook and a box below it, each on a reel of its own; the lower one on the hook."""
    path = tl.motions.Sine(amplitude=(0.1, 0.0, 0.1), period=3.0) if heaves else None
    rope: dict[str, Any] = {"density": 0.5, "stiffness": 4e4}
    hook = tl.RigidBody.box(20.0, (0.4, 0.4, 0.6), (0.0, 0.0, 0.3))
    load = tl.RigidBody.box(50.0, (1.0, 0.5, 0.5), (0.1, 0.0, 0.25))
    upper = tl.Reel(0.2, 0.1, 8.0, **{"viscous_friction": 8.0} | options)
    lower = tl.Reel(0.1, 0.1, 5.0, viscous_friction=1.5)
    system = tl.System(
        {"jib": tl.Kinematic(path=path), "hook": hook, "load": load},
        {
            "hoist": tl.Line(
                tl.String(6.0, **{"law": "linear", **rope}), start="jib", end="hook", reel=upper, elements=5
            ),
            "sling": tl.Line(
                tl.String(3.6, **{"law": "linear", **rope}),
                start="hook",
                start_point=(0.1, 0.0, 0.6),
                end="load",
                reel=lower,
                drum_axis=(0.0, 1.0, 0.0),
                elements=4,
            ),
        },
    )
    bodies = {"hook": tl.BodyState((0.1, 0.05, 2.4)), "load": tl.BodyState((0.15, 0.0, 6.1), (0.0, 0.2, 0.0))}
    return system, chains.hang(system, bodies)


STOPPED = {"hoist": tl.Torque(([0.0, 1.5, 1.6], [165.0, 165.0, 130.0])), "sling": tl.Torque(45.0)}
HOLD: dict[str, Any] = {"minimum_length": 1.9, "at_end": "hold"}


def run_into_stops(step: Any, **options: Any) -> Any:
    return tl.simulate(*crane(**options), STOPPED, duration=3.0, sample=0.02, step=step, **HOLD)


def test_the_balance_of_a_crane_that_runs_into_its_stops_is_closed(report: Report) -> None:
    """The sling is paid out to its end, the hoist retrieved to its own and let down again; the jib heaves."""
    steps = [4e-4, 2e-4, 1e-4]
    runs = [run_into_stops(h) for h in steps]
    for run in runs:
        assert run.attrs["status"] == "completed", run.attrs["message"]
    out = runs[-1].unstretched_length.sel(line="sling").values
    assert 0.0 <= out.max() - 3.5 <= 1e-8 and any(
        w.kind == "end_stop" and w.where == "sling" and "deployed end" in w.text for w in tl.warnings_of(runs[-1])
    )
    hoist = runs[-1].unstretched_length.sel(line="hoist").values
    assert -1e-8 <= hoist.min() - 1.9 <= 0.0 and hoist[-1] > 1.95
    lost = float(runs[-1].friction_loss[-1])
    struck = float(runs[-1].friction_loss.diff("time").max())
    assert struck > 0.1
    errors = [balance(run) for run in runs]
    check_order(steps, errors, 2.0, 0.3)
    check_below("balance", errors[-1], 1e-4 * lost)
    report("balance of a crane that runs into two stops, over the loss there", errors[-1] / lost, "< 1e-4")


BESIDE: dict[str, tuple[dict[str, tl.Command], dict[str, Any]]] = {
    "a lock": ({}, {}),
    "a prescribed motion": ({"hoist": tl.Length.to(2.9, speed=0.5, acceleration=1.0, jerk=10.0)}, {}),
    "a brake": ({"hoist": tl.Brake(torque=150.0)}, {}),
    "dry friction": ({"hoist": tl.Torque(140.0)}, {"coulomb_friction": 15.0}),
}


@pytest.mark.parametrize("name", BESIDE)
def test_an_impact_beside_other_reels_is_booked(name: str) -> None:
    """The sling is paid out against its stop; what holds or leads the reel of the hoist feels it."""
    commands, options = BESIDE[name]
    given = {"sling": tl.Torque(44.0), **commands}
    run = tl.simulate(*crane(**options), given, duration=2.5, sample=0.02, step=1e-4, **HOLD)
    assert run.attrs["status"] == "completed", run.attrs["message"]
    assert 0.0 <= float(run.unstretched_length.sel(line="sling").max()) - 3.5 <= 1e-8
    check_below("balance", balance(run), 5e-6 * float(run.friction_loss[-1]))


def test_stops_survive_being_saved(tmp_path: Path) -> None:
    system, state = crane(heaves=False, coulomb_friction=2.0)
    whole = tl.Simulation(system, state, step=5e-4, **HOLD)
    assert whole.advance(1.4, STOPPED) == "completed", whole.message
    assert "end_stop" in kinds(whole.dataset())
    whole.save(tmp_path / "held.npz")
    again = tl.Simulation.load(tmp_path / "held.npz")
    assert again.dataset().attrs["warnings"] == whole.dataset().attrs["warnings"]
    for simulation in (whole, again):
        assert simulation.advance(1.0, sample=0.1) == "completed"
    a, b = (simulation.dataset().sel(time=slice(1.45, None)) for simulation in (whole, again))
    assert a.sizes["time"] == b.sizes["time"] == 10
    for name in ("position", "attitude", "friction_loss", "torque"):
        np.testing.assert_array_equal(b[name], a[name])


def test_a_prescribed_motion_ends_the_run_at_the_end_of_its_string() -> None:
    system, state = crane()
    run = tl.simulate(system, state, {"sling": tl.Speed(payout=2.0)}, duration=3.0, step=5e-4, at_end="hold")
    assert run.attrs["status"] == "fully_deployed" and "'sling'" in run.attrs["message"]


def test_sums_keep_their_rounding_only_if_asked(report: Report) -> None:
    """Uncompensated sums of bodies and strings err more, and by rounding alone."""
    runs = {}
    for compensated in (True, False):
        system, state = crane()
        simulation = tl.Simulation(system, state, step=5e-4, compensated=compensated)
        simulation.advance(2.0, {"hoist": tl.Torque(140.0), "sling": tl.Torque(49.0)})
        runs[compensated] = simulation
    for place in (kernels.PLACE_ERR, kernels.LINEAR_ERR, kernels.ANGULAR_ERR):
        assert all(
            (state[place : place + 3] == 0.0).all() for state in runs[False].runner_with(PUSH).stepper.arrays.bodies
        )
        assert any(
            (state[place : place + 3] != 0.0).any() for state in runs[True].runner_with(PUSH).stepper.arrays.bodies
        )
    apart = check_close("place", runs[False].bodies["load"].position, runs[True].bodies["load"].position, 1e-9)
    assert apart > 0.0
    report("bodies with and without compensated sums after 4000 steps (m)", apart, "0 < x < 1e-9")


# -- torques that are functions of time ---------------------------------------------------------------------


def wavy(t: float) -> float:
    return 4.0 + 3.0 * float(np.sin(9.0 * t))


@pytest.mark.parametrize("order", [2, 4, 6])
def test_a_torque_function_acts_as_on_the_pendulum(order: int) -> None:
    pendulum, system = both(tl.Torque(wavy), {}, {"guide_law": "none"}, step=1e-3, order=order)
    check_close("nodes", system.position, pendulum.position, 1e-11)
    check_close("work", system.control_work, pendulum.control_work, 1e-10)
    check_close("torque", system.torque[:, 0], [wavy(t) for t in system.time.values], 1e-12)


def tethered(order: int, step: float, command: Any) -> tl.Simulation:
    """Two free bodies on one string, a reel on one of them, without gravity."""
    bodies = {
        "ship": tl.RigidBody.about_center(9.0, np.diag([1.0, 1.3, 1.7]), (0.0, 0.0, 0.0)),
        "probe": tl.RigidBody.about_center(3.0, np.diag([0.3, 0.2, 0.25]), (0.0, 0.0, 0.0)),
    }
    line = tl.Line(
        tl.String(8.0, 0.2, 100.0, law="linear"),
        start="ship",
        start_point=(0.0, 0.0, 0.4),
        end="probe",
        end_point=(0.0, 0.1, -0.2),
        reel=tl.Reel(0.15, 0.2, 2.0, guide_law="none"),
        drum_axis=(0.0, 1.0, 0.0),
        elements=4,
    )
    system = tl.System(bodies, {"tether": line}, gravity=0.0)
    places = {
        "ship": tl.BodyState((0.0, 0.0, 0.0), angular_velocity=(0.2, 0.3, 0.1)),
        "probe": tl.BodyState((0.3, 0.0, 5.0), (0.5, 0.0, 0.1), angular_velocity=(0.0, 0.4, 0.0)),
    }
    simulation = tl.Simulation(system, chains.hang(system, places), step=step, order=order)
    assert simulation.advance(0.8, {"tether": command}) == "completed", simulation.message
    return simulation


@pytest.mark.parametrize("order", [2, 4, 6])
def test_torque_functions_keep_the_order(order: int, report: Report) -> None:
    command = tl.Torque(lambda t: 1.0 + float(np.sin(5.0 * t)))
    counts = {2: (160, 320, 640), 4: (80, 160, 320), 6: (40, 80, 160)}[order]
    exact = tethered(6, 0.8 / 1280, command).bodies["probe"].position
    errors = [float(np.abs(tethered(order, 0.8 / n, command).bodies["probe"].position - exact).max()) for n in counts]
    found = check_order([0.8 / n for n in counts], errors, order, 0.4)
    report(f"order {order} with a torque that is a function, two bodies", found, f"{order} +- 0.4")


def test_a_function_is_its_table_for_any_reel_by_name() -> None:
    """A function that is straight between the ends of steps; the other reel follows a table of its own."""
    ramp = (np.array([0.0, 0.2, 0.4]), np.array([120.0, 180.0, 100.0]))
    found = []
    for hoist in (tl.Torque(lambda t: float(np.interp(t, *ramp))), tl.Torque(ramp)):
        system, state = crane()
        commands = {"hoist": hoist, "sling": tl.Torque(([0.0, 0.4], [40.0, 55.0]))}
        found.append(tl.simulate(system, state, commands, duration=0.4, step=5e-4, sample=0.02))
    check_close("nodes", found[0].position, found[1].position, 1e-11)
    check_close("torque", found[0].torque, found[1].torque, 1e-10)


def test_functions_are_tabulated_for_every_march_and_cannot_be_saved(tmp_path: Path) -> None:
    system, state = crane()
    commands = {"hoist": tl.Torque(lambda t: 130.0 + 20.0 * float(np.sin(3.0 * t)))}
    whole, parts = (tl.Simulation(system, state, step=5e-4) for _ in range(2))
    whole.advance(0.4, commands)
    for _ in range(4):
        parts.advance(0.1, commands)
    np.testing.assert_allclose(parts.bodies["load"].position, whole.bodies["load"].position, rtol=1e-13)
    with pytest.raises(InputError, match=r"lines\.hoist: Torque\.torque: expected a number or a table"):
        whole.save(tmp_path / "saved.npz")


def test_a_function_that_steps_do_not_follow_is_warned_of() -> None:
    system, state = crane()
    command = tl.Torque(lambda t: 130.0 + 60.0 * float(np.sign(np.sin(2e4 * t))))
    run = tl.simulate(system, state, {"hoist": command}, duration=0.05, step=5e-4, sample=0.05)
    assert any(w.kind == "torque_function" and w.where == "hoist" and w.limit == 0.05 for w in tl.warnings_of(run))


# -- torques of locks and prescribed motions ----------------------------------------------------------------

DRIVEN = {
    "locked": tl.Locked(),
    "length": tl.Length.to(4.0, speed=2.0, acceleration=6.0),
    "speed": tl.Speed(payout=([0.0, 0.1, 0.3], [0.0, -1.0, 0.5])),
    "paid out": tl.Length.to(5.6, speed=1.0, acceleration=4.0),
}


@pytest.mark.parametrize("reel", [{}, {"coulomb_friction": 0.5, "viscous_friction": 0.2, "guide_law": "published"}])
@pytest.mark.parametrize("viscosity", [0.0, 5.0])
@pytest.mark.parametrize("name", DRIVEN)
def test_torques_are_those_of_the_pendulum(name: str, viscosity: float, reel: dict[str, Any], report: Report) -> None:
    pendulum, system = both(DRIVEN[name], {"viscosity": viscosity}, reel, sample=0.01)
    size = float(np.abs(pendulum.torque).max())
    apart = check_close("torque", system.torque[:, 0], pendulum.torque, 1e-9 * size)
    check_close("power", system.power[:, 0], pendulum.power, 1e-8 * size)
    report(f"torque of a system over the pendulum's, {name}: largest difference (N m)", apart, "< 1e-9 of it")


def test_a_lock_turns_the_drum_along_with_its_body() -> None:
    """A body spins up about its drum's axis, along which a string without tension lies: a calculation by hand.

    The lock gives the drum m d^2 alpha, and the spooled string is flung outwards with mu (d Omega)^2/2.
    """
    density, d, kappa, moment, spin, J = 0.3, 0.2, 2.0, 0.7, 1.5, 0.8
    bodies = {
        "ship": tl.RigidBody.about_center(9.0, np.diag([1.0, 1.3, J]), (0.0, 0.0, 0.0)),
        "probe": tl.RigidBody.point(3.0),
    }
    reel = tl.Reel(d, 0.0, kappa)
    line = tl.Line(
        tl.String(8.0, density, 300.0, law="linear"),
        start="ship",
        end="probe",
        reel=reel,
        drum_axis=(0, 0, 1),
        elements=4,
    )
    system = tl.System(bodies, {"tether": line}, gravity=0.0)
    places = {"ship": tl.BodyState((0, 0, 0), angular_velocity=(0, 0, spin)), "probe": tl.BodyState((0, 0, 5.0))}
    simulation = tl.Simulation(system, chains.hang(system, places), step=1e-3)
    simulation.bodies["ship"].push(moment=(0.0, 0.0, moment))
    assert simulation.advance(0.5, sample=0.1) == "completed"
    run = simulation.dataset()
    m = density * 3.0 + kappa
    alpha = moment / (J + m * d * d)
    Omega = spin + alpha * run.time.values
    check_close("spin", run.angular_velocity[:, 0, 2], Omega, 1e-12)
    expected = m * d * d * alpha - 0.5 * density * d * (d * Omega) ** 2
    check_close("torque", run.torque[:, 0], expected, 1e-9)


def motor_error(step: float, **options: Any) -> tuple[float, float]:
    """How far the integral of the power over all steps is from the work of the motors, and that work (J)."""
    system, state = crane(**options)
    commands = {
        "hoist": tl.Length.to(3.0, speed=1.0, acceleration=2.0, jerk=20.0),
        "sling": tl.Length.to(2.6, speed=1.0, acceleration=2.0, jerk=20.0),
    }
    run = tl.simulate(system, state, commands, duration=0.8, step=step, sample=step)
    power = run.power.values
    integral = step * (power.sum(axis=0) - 0.5 * (power[0] + power[-1]))
    work = run.motor_work.values[-1]
    return float(np.abs(integral - work).max()), float(np.abs(work).max())


@pytest.mark.parametrize("friction", [0.0, 3.0])
def test_power_is_the_rate_of_the_motors_work(friction: float, report: Report) -> None:
    steps = [4e-4, 2e-4, 1e-4]
    errors = [motor_error(h, viscous_friction=friction) for h in steps]
    order = check_order(steps, [x[0] for x in errors], 2.0, 0.3)
    report("order of the integral of the power of prescribed motions to their work, crane", order, "2 +- 0.3")


# -- control loops ------------------------------------------------------------------------------------------


def test_torques_of_a_control_loop_act_as_on_the_pendulum() -> None:
    """A friction that holds the drum now and then is among what acts."""
    chain, system = pendulum_and_system({}, {"coulomb_friction": 0.5, "max_torque": 6.0})
    one, other = chains.simulation(*chain, step=1e-3), tl.Simulation(*system, step=1e-3)
    for i in range(60):
        torque = 4.0 + 3.0 * float(np.sin(0.3 * i))
        one.advance(5e-3, tl.Torque(torque))
        other.advance(5e-3, {"rope": torque})
    first, second = chains.of_one(one.dataset()), other.dataset()
    check_close("nodes", second.position, first.position, 1e-12)
    check_close("torque", second.torque[:, 0], first.torque, 1e-12)
    check_close("friction", second.friction_loss, first.friction_loss, 1e-11)


def test_copies_of_a_control_loop_keep_their_torques(tmp_path: Path) -> None:
    system, state = crane(heaves=False)

    def go_on(simulation: tl.Simulation, ticks: range) -> None:
        for i in ticks:
            simulation.advance(2e-3, {"hoist": 140.0 + i, "sling": tl.Torque(49.0 - 0.1 * i)})

    whole = tl.Simulation(system, state, step=5e-4)
    go_on(whole, range(20))
    whole.save(tmp_path / "saved.npz")
    copies = [copy.copy(whole), pickle.loads(pickle.dumps(whole)), tl.Simulation.load(tmp_path / "saved.npz")]
    go_on(whole, range(20, 40))
    idle = copy.copy(copies[0])
    for each in copies:
        go_on(each, range(20, 40))
        for ours, theirs in zip(*(x.runner_with(PUSH).stepper.arrays.bodies for x in (whole, each)), strict=True):
            np.testing.assert_array_equal(theirs, ours)
    idle.advance(2e-3)
    np.testing.assert_array_equal([idle.lines[x].torque for x in ("hoist", "sling")], [159.0, 49.0 - 0.1 * 19])
