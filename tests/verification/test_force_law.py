"""Force laws of the user's own: against the loads that are built in, and against the reference."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline.engine.chain.backend import ChainBackend
from tautline.errors import InputError
from tautline.model.command import Command
from tautline.results.conservation import balance_error
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, check_close, check_order

BODY = tl.RigidBody.box(1.0, (0.2, 0.2, 0.2), (0.0, 0.05, 0.1))
CENTER, AREA, WIND = (0.05, 0.02, 0.1), 0.3, (3.0, 0.5, 0.0)
AIR = tl.Fluid(1.2, flow=WIND, drag_area=AREA, drag_center=CENTER)
STEPS = [2e-3, 1e-3, 5e-4]
TIMES: dict[str, Any] = {"duration": 0.1, "sample": 0.05}
PRESCRIBED = tl.Length(pieces=([0.0], [[4.0, -1.5, 1.0, 0.5]]))
COMMANDS: dict[str, Command] = {"locked": tl.Locked(), "torque": tl.Torque(1.0), "prescribed": PRESCRIBED}


def cross(a: Any, b: Any, out: Any) -> None:
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


cross_compiled = numba.njit(cross)


def drag_of_body(t: float, state: Any, parameters: Any, force: Any, moment: Any) -> None:
    """Drag at a point of the body, parameters: density times area over two, the point, the wind."""
    point = parameters[1:4]
    turning = np.zeros(3)
    cross_compiled(state.angular_velocity, point, turning)
    u = state.velocity[-1] + state.attitude @ turning - parameters[4:7]
    force[-1] = -parameters[0] * np.sqrt(u[0] ** 2 + u[1] ** 2 + u[2] ** 2) * u
    cross_compiled(state.attitude @ point, force[-1], moment)


def hung_in_honey(t: float, state: Any, parameters: Any, force: Any, moment: Any) -> None:
    """Linear drag on the string's material and on the spin, a spring to a point, and a force that changes with time."""
    for i in range(len(force)):
        force[i] = -parameters[0] * state.velocity[i]
    force[-1] -= parameters[1] * (state.position[-1] - np.array([1.0, 0.0, 4.0]))
    force[1, 1] += np.sin(20.0 * t) * state.deployed_length + 0.1 * state.reel_speed
    moment[:] = -parameters[2] * (state.attitude @ state.angular_velocity)


def raises(t: float, state: Any, parameters: Any, force: Any, moment: Any) -> None:
    if t > 0.01:
        raise ValueError("nothing beyond")


FORMS: dict[str, Callable[[Any], Any]] = {"compiled": functools.cache(numba.njit), "python": lambda function: function}


def pendulum(fluid: Any = None, push: Any = None, **reel: Any) -> chains.Chain:
    drum: dict[str, Any] = {"drum_radius": 0.2, "guide_length": 0.5, "inertia_mass": 0.5} | reel
    return chains.Chain(
        tl.String(10.0, 0.05, 300.0, law="linear"), tl.Reel(**drum), BODY, fluid=fluid, applied_force=push
    )


def start(system: chains.Chain, reel_speed: float = 0.0) -> chains.ChainState:
    state = chains.straight(system, 4.0, 3, (1.0, 0.0, 2.0), end_velocity=(0.0, 1.0, 0.0), reel_speed=reel_speed)
    return chains.ChainState(state.reeled_length, reel_speed, 1.02 * state.nodes, state.node_velocities)


def same_motion(a: xr.Dataset, b: xr.Dataset, work: str) -> None:
    """Up to the rounding of sums in another order; torques are differences of two short steps and round by more."""
    for name in ("position", "attitude", "reeled_length", "energy"):
        check_close(name, a[name], b[name], 1e-12)
    check_close("torque", a.torque, b.torque, 1e-7)
    check_close("work", a[work], b.force_law_work, 1e-12)
    assert abs(float(a[work][-1])) > 1e-3
    assert not b[work].values.any()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_law_that_repeats_the_drag(command: str, form: str) -> None:
    """Drag is found with the velocity that it leads to, a law at the velocity that is expected: alike at order 2."""
    law = tl.ForceLaw(FORMS[form](drag_of_body), (0.6 * AREA, *CENTER, *WIND))
    state = start(pendulum(), 1.5 if command == "prescribed" else 0.0)
    differences = []
    for h in STEPS:
        built_in = chains.simulate(pendulum(AIR), state, COMMANDS[command], step=h, **TIMES)
        own = chains.simulate(pendulum(), state, COMMANDS[command], step=h, loads=[law], **TIMES)
        names = ("position", "attitude", "reeled_length", "energy")
        found = [float(np.abs(built_in[name] - own[name]).max()) for name in names]
        differences.append(max(*found, float(np.abs(built_in.fluid_work - own.force_law_work).max())))
        assert abs(float(built_in.fluid_work[-1])) > 1e-3
        assert not own.fluid_work.values.any()
    check_order(STEPS, differences, 2.0)
    check_below("difference", differences[-1], 1e-4)


def test_a_law_that_repeats_an_applied_force() -> None:
    def push(t: float, state: Any, parameters: Any, force: Any, moment: Any) -> None:
        force[-1] = parameters[:3]
        moment[:] = parameters[3:]

    applied = tl.AppliedForce(force=(1.0, 2.0, 0.0), moment=(0.0, 0.1, 0.1))
    law = tl.ForceLaw(push, (1.0, 2.0, 0.0, 0.0, 0.1, 0.1))
    runs = [
        chains.simulate(system, start(system), tl.Free(), step=1e-3, loads=loads, **TIMES)
        for system, loads in ((pendulum(push=applied), []), (pendulum(), [law]))
    ]
    same_motion(runs[0], runs[1], "external_work")


def test_the_guide_feels_a_law_as_it_feels_the_drag() -> None:
    law = tl.ForceLaw(drag_of_body, (0.6 * AREA, *CENTER, *WIND))
    differences = []
    for h in STEPS:
        forces = []
        for system, loads in ((pendulum(AIR), []), (pendulum(), [law])):
            simulation = chains.carried(system, start(system), step=h, loads=loads)
            simulation.bodies["guide"].move((0.5, 0.0, 0.0))
            simulation.advance(0.05)
            forces.append(simulation.bodies["guide"].force)
        differences.append(float(np.abs(forces[1] - forces[0]).max()))
    check_order(STEPS, differences, 2.0)


def test_laws_add_up() -> None:
    """Two that push half as hard do what one does; each has its own parameters."""

    def push(t: float, state: Any, parameters: Any, force: Any, moment: Any) -> None:
        force[-1, 0] = parameters[-1]

    state = start(pendulum())
    one = chains.simulate(pendulum(), state, step=1e-3, loads=[tl.ForceLaw(push, [3.0])], **TIMES)
    both = [tl.ForceLaw(push, [1.0]), tl.ForceLaw(push, [7.0, 2.0])]
    two = chains.simulate(pendulum(), state, step=1e-3, loads=both, **TIMES)
    check_close("position", two.position, one.position, 1e-14)


@pytest.mark.parametrize(
    "path", [None, tl.motions.GuidePath.of(lambda t: (0.5 * np.sin(2.0 * t), 0.0, 0.3 * t), 1.0, 0.1)]
)
@pytest.mark.parametrize("command", COMMANDS)
def test_second_order_against_the_reference(command: str, path: tl.motions.GuidePath | None, report: Report) -> None:
    """Forces along the string while the reel turns; the balance of energy closes as fast."""
    law = tl.ForceLaw(FORMS["compiled"](hung_in_honey), (0.3, 5.0, 0.01))
    system = pendulum(guide_path=path)
    state = start(system, 0.0 if command == "locked" else 1.5)
    exact = chains.integrate(
        system, state, COMMANDS[command], loads=[tl.ForceLaw(hung_in_honey, law.parameters)], rtol=1e-9, **TIMES
    )
    check_below("balance of the reference", float(np.abs(balance_error(exact)).max()), 1e-7)
    runs = [chains.simulate(system, state, COMMANDS[command], step=h, loads=[law], **TIMES) for h in STEPS]
    names = ("position", "attitude", "force_law_work", "control_work", "guide_work")
    errors = [max(float(np.abs(run[name][-1] - exact[name][-1]).max()) for name in names) for run in runs]
    what = f"force law, {command}, guide {'stands' if path is None else 'moves'}"
    report(f"{what}: order against the reference", check_order(STEPS, errors, 2.0), "2 +- 0.3")
    unexplained = [float(abs(balance_error(run)[-1])) for run in runs]
    report(f"{what}: order of the energy balance", check_order(STEPS, unexplained, 2.0), "2 +- 0.3")
    assert abs(float(exact.force_law_work[-1])) > 1e-2


@pytest.mark.parametrize("form", FORMS)
def test_an_error_in_a_law_ends_the_run(form: str, capfd: pytest.CaptureFixture[str]) -> None:
    law = tl.ForceLaw(FORMS[form](raises), name="honey")
    with pytest.raises(RuntimeError, match=r"loads: the force law 'honey' raised at t = 0\.01\d* s"):
        chains.simulate(pendulum(), start(pendulum()), step=1e-3, loads=[law], **TIMES)
    assert capfd.readouterr().err == ""


def test_an_interrupt_passes() -> None:
    def interrupted(t: float, state: Any, parameters: Any, force: Any, moment: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        chains.simulate(pendulum(), start(pendulum()), step=1e-3, loads=[tl.ForceLaw(interrupted)], **TIMES)


def test_a_run_with_a_law_is_not_saved(tmp_path: Any) -> None:
    simulation = chains.simulation(pendulum(), start(pendulum()), loads=[tl.ForceLaw(hung_in_honey, (0.3, 5.0, 0.0))])
    simulation.advance(0.01)
    with pytest.raises(InputError, match="loads: expected no force law in a run that is saved, got 'hung_in_honey'"):
        simulation.save(tmp_path / "run.npz")
    other = copy.deepcopy(simulation)
    for one in (simulation, other):
        one.advance(0.01)
    assert np.array_equal(simulation.line.nodes, other.line.nodes)


def test_a_law_that_resists_limits_the_step() -> None:
    free, slow = (
        ChainBackend(pendulum(), start(pendulum()), loads=[tl.ForceLaw(hung_in_honey, (0.3, 5.0, 0.0), rate=rate)])
        for rate in (0.0, 1e4)
    )
    assert free.stepper.limits().force_law == np.inf
    check_close("limit", slow.stepper.limits().force_law, 1.0 / 1e4, 1e-18)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"function": 3}, "ForceLaw.function: expected something that can be called"),
        ({"parameters": ["a"]}, "ForceLaw.parameters"),
        ({"name": 3}, "ForceLaw.name: expected a str"),
        ({"rate": -1.0}, "ForceLaw.rate"),
    ],
)
def test_what_is_no_law_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        tl.ForceLaw(**({"function": hung_in_honey} | arguments))


def test_a_law_that_numba_cannot_compile_is_refused() -> None:
    def odd(t: float, state: Any, parameters: Any, force: Any, moment: Any) -> None:
        force[-1] = state.nothing

    with pytest.raises(InputError, match="expected one that Numba can compile, got 'odd'"):
        chains.simulate(pendulum(), start(pendulum()), loads=[tl.ForceLaw(numba.njit(odd))], **TIMES)


@pytest.mark.parametrize("loads", [[hung_in_honey], hung_in_honey, 3])
def test_loads_are_a_list_of_laws(loads: Any) -> None:
    with pytest.raises(InputError, match="loads"):
        chains.simulate(pendulum(), start(pendulum()), loads=loads, **TIMES)


def test_orders_above_two_are_refused() -> None:
    with pytest.raises(InputError, match=r"order: expected 2 with .* load \(.*force_law\)"):
        chains.simulate(pendulum(), start(pendulum()), order=4, loads=[tl.ForceLaw(hung_in_honey)], **TIMES)
