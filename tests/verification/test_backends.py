"""One line and one body on either backend: the same motion, status and warnings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import tautline as tl
from tautline.engine.cases import begin
from tautline.engine.chain.backend import ChainBackend
from tautline.gradients.keys import key_value
from tautline.model.chain.systems import why_no_chain
from tautline.model.system.case import Case
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below
from tests.trial.families import FAMILIES, family

SCENARIOS = (
    "aerostat",
    "bungee",
    "crane-hoist",
    "deployment",
    "fixed-length",
    "lift-brake",
    "retrieval",
    "sea-cable",
    "tethered-pod",
    "yo-yo",
)
STEPS, SAMPLES = 400, 20
KEYS = ("string.stiffness", "string.density", "body.mass", "reel.drum_radius", "gravity")
MOTION = (
    *("position", "velocity", "body_position", "body_velocity", "attitude", "angular_velocity"),
    *("reeled_length", "reel_speed", "unstretched_length", "stretched_length", "strain", "tension", "end_tension"),
)
MOMENTA = ("linear_momentum", "angular_momentum")  # of masses times differences of velocities


def case_of(name: str | int) -> Case:
    """A scenario, or a random chain of a family by its number, for as many steps of half of what is allowed."""
    if isinstance(name, str):
        case = tl.load(name)
    else:
        found = family(name)
        assert found is not None
        system, state = chains.as_system(found.system, found.state)
        case = Case(system, state, {"line": found.command}, tl.Run(duration=found.duration))
    chain = begin(case).simulation
    assert isinstance(chain.backend, ChainBackend)
    step = 0.5 * min(chain.stepper.allowed_step(), case.run.duration / STEPS)
    times = {"run.duration": STEPS * step, "run.sample": STEPS / SAMPLES * step, "run.step": step}
    return case.with_(times)


def on_both(case: Case) -> tuple[xr.Dataset, xr.Dataset]:
    """The run on the chain kernels and that on the network's."""
    with chains.on(chains.CHAIN):
        chain = tl.simulate(case)
    with chains.on(chains.NETWORK):
        return chain, tl.simulate(case)


def apart(chain: xr.Dataset, network: xr.Dataset) -> dict[str, float]:
    """Largest differences of a motion, each over its largest value if that is more than one."""
    found = {}
    for name in (*MOTION, *MOMENTA):
        ours, theirs = chain[name].values, network[name].values
        found[name] = float(np.abs(ours - theirs).max() / max(1.0, np.abs(ours).max()))
    return found


def alike(chain: xr.Dataset, network: xr.Dataset) -> None:
    """Both have the same warnings; errors of attitudes are as near as motions."""
    ours, theirs = ({w.kind: w for w in tl.warnings_of(run)} for run in (chain, network))
    assert set(ours) == set(theirs)
    for kind, w in ours.items():
        other = theirs[kind]
        assert (w.where, w.limit) == (other.where, other.limit)
        assert w.text == other.text or (kind == "attitude" and other.value == pytest.approx(w.value, rel=0.05))


def test_these_are_all_scenarios_of_one_line_and_one_body() -> None:
    files = Path(tl.__file__).parent.glob("scenarios/*.toml")
    assert sorted(x.stem for x in files if not why_no_chain(tl.load(x.stem).system)) == sorted(SCENARIOS)


@pytest.mark.parametrize(
    "name",
    [*SCENARIOS, *(pytest.param(i, id=f"{i}, {FAMILIES[i % len(FAMILIES)].__name__}") for i in (*range(14), 24, 26))],
)
def test_both_backends_move_alike(name: str | int, report: Report) -> None:
    """Each is of second order in the step with its own coefficient, so the difference falls with its square."""
    case = case_of(name)
    differences: list[dict[str, float]] = []
    for finer in (1.0, 0.5):
        chain, network = on_both(case.with_({"run.step": finer * float(case.run.step)}))
        assert chain.attrs["status"] == network.attrs["status"] == "completed"
        alike(chain, network)
        assert list(chain.data_vars) == list(network.data_vars) and chain.sizes == network.sizes
        differences.append(apart(chain, network))
    for variable in (*MOTION, *MOMENTA):
        coarse, fine = (x[variable] for x in differences)
        check_below(variable, coarse, 2e-3 if variable in MOMENTA else 1e-5)
        check_below(f"{variable}, half the step", fine, max(0.35 * coarse, 1e-8))
    report(
        f"chain and network, {name}: largest difference of the motion", max(differences[0][x] for x in MOTION), "< 1e-5"
    )


@pytest.mark.parametrize(
    "name", [name for name in SCENARIOS if name != "lift-brake"]
)  # sequences: always by the network
def test_both_backends_have_the_same_derivatives(name: str, report: Report) -> None:
    """To the order of the step, as the motions themselves: by keys over their values, and so in the units of these."""
    case = case_of(name).with_({"run.duration": 0.25 * float(case_of(name).run.duration)})
    keys, differences = np.array([key_value(case, key) for key in KEYS]), []
    for finer in (1.0, 0.5):
        one = case.with_({"run.step": finer * float(case.run.step)})
        found = []
        for backend in (chains.CHAIN, chains.NETWORK):
            with chains.on(backend):
                found.append(tl.jacobian(one, MOTION, by=KEYS))
        ours, theirs = found
        assert [w.kind for w in tl.warnings_of(ours)] == [w.kind for w in tl.warnings_of(theirs)]
        assert list(ours.data_vars) == list(theirs.data_vars)
        change = {x: np.abs((ours[x].values - theirs[x].values) * keys).max() for x in MOTION}
        sizes = {x: max(1.0, np.abs(ours[f"{x}_value"].values).max()) for x in MOTION}
        differences.append({x: float(change[x] / sizes[x]) for x in MOTION})
    for variable in MOTION:
        coarse, fine = (x[variable] for x in differences)
        check_below(variable, coarse, 1e-2)
        check_below(f"{variable}, half the step", fine, max(0.35 * coarse, 1e-6))
    report(f"chain and network, {name}: largest difference of derivatives", max(differences[0].values()), "< 1e-2")


def impedance(**run: Any) -> Case:
    """A drum on a spring that is much stiffer than its string."""
    body = tl.RigidBody.box(1.0, (0.2, 0.2, 0.2), (0.0, 0.05, 0.1))
    system = tl.pendulum(tl.String(10.0, 0.05, 3000.0, law="linear"), tl.Reel(0.2, 0.5, 0.5), body, elements=4)
    spring = tl.Impedance(tl.Length.to(3.5, speed=2.0, acceleration=10.0), 1e6, 0.0)
    return Case(system, tl.Straight(4.0, inclination=0.3), {"line": spring}, tl.Run(duration=0.5, sample=0.05, **run))


@pytest.mark.parametrize(("run", "kinds"), [({}, []), ({"step": 5e-4}, ["step"])])
def test_both_backends_follow_the_spring_of_a_command(run: dict[str, Any], kinds: list[str]) -> None:
    """By itself in as many steps, and with a warning where a step that is given does not."""
    chain, network = on_both(impedance(**run))
    assert ["step"] * any(w.kind == "step" for w in tl.warnings_of(chain)) == kinds
    alike(chain, network)
    assert network.attrs["steps"] == pytest.approx(chain.attrs["steps"], rel=0.01)
    assert network.attrs["step_over_drum"] == pytest.approx(chain.attrs["step_over_drum"], rel=1e-3)
    for name, difference in apart(chain, network).items():
        check_below(name, difference, 1e-4)


@pytest.mark.parametrize("name", ["retrieval", "sea-cable"])
def test_results_of_both_backends_say_the_same_of_themselves(name: str) -> None:
    """Attributes by name, and the figures before anything moves."""
    case = case_of(name).with_({"run.duration": case_of(name).run.interval()})
    chain, network = on_both(case)
    assert list(chain.attrs) == list(network.attrs) and chain.attrs["scheme"] == network.attrs["scheme"]
    figures = []
    for backend in (chains.CHAIN, chains.NETWORK):
        with chains.on(backend):
            figures.append(tl.Simulation.from_case(case).health())
    assert figures[0] == figures[1] and "mesh_error" in figures[0]


@pytest.mark.parametrize("command", [tl.Torque(30.0), tl.Length.to(2.0, speed=4.0, acceleration=20.0)])
@pytest.mark.parametrize("at_end", ["stop", "hold"])
def test_both_backends_end_alike(command: tl.Command, at_end: str) -> None:
    """At the shortest length: the time of it, the sentence, and what the stop took."""
    body = tl.RigidBody.box(1.0, (0.2, 0.2, 0.2), (0.0, 0.05, 0.1))
    system = tl.pendulum(tl.String(10.0, 0.05, 3000.0, law="linear"), tl.Reel(0.2, 0.5, 0.5), body, elements=4)
    run: Any = {"duration": 0.8, "sample": 0.05, "step": 2.5e-4, "minimum_length": 2.93, "at_end": at_end}
    chain, network = on_both(Case(system, tl.Straight(4.0, inclination=0.3), {"line": command}, tl.Run(**run)))
    assert chain.attrs["status"] == network.attrs["status"]
    assert (chain.attrs["status"] == "completed") == (at_end == "hold" and not command.prescribes)
    assert chain.attrs["end_time"] == pytest.approx(network.attrs["end_time"], abs=1e-9)
    alike(chain, network)
    assert chain.sizes == network.sizes
    for name, difference in apart(chain, network).items():
        check_below(name, difference, 1e-6)
    check_below("friction loss", float(np.abs(chain.friction_loss - network.friction_loss).max()), 1e-6)
