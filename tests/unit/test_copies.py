"""Copies of all that is public: by pickle, copy and cloudpickle, independent of what they were made from."""

from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import cloudpickle
import numpy as np
import pytest

import tautline as tl
from tautline.model.body import Shape
from tautline.model.rest.at_rest import Statics
from tests.support import chains
from tests.support.every_command import every_command

CASES = cache(tl.load)  # with their starts, once
CASE = CASES("retrieval")
SYSTEMS = ["thrown-bodies", "hook-and-load", "cable-robot", "tethered-satellites", "hook-block-2"]
WAYS: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "cloudpickle": lambda x: cloudpickle.loads(cloudpickle.dumps(x)),
}


def push(t: float, state: Any, parameters: Any, force: Any, moment: Any) -> None:
    force[-1, 0] = parameters[0]


# What every public class is tried with.
EXAMPLES: dict[type, Callable[[], Any]] = {
    **{kind: partial(copy.copy, command) for kind, command in every_command().items()},
    tl.AppliedForce: lambda: tl.AppliedForce(((0.0, 1.0), ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)))),
    tl.System: lambda: CASES("hook-and-load").system,
    tl.Case: lambda: CASES("hook-and-load").with_({"run.duration": 1.0}),
    tl.State: lambda: CASES("hook-and-load").state(),
    tl.objectives.AtEnd: lambda: tl.objectives.AtEnd("reel_speed", 0.0, within=0.1),
    tl.AtEquilibrium: lambda: tl.AtEquilibrium(deployed=10.0),
    tl.motions.AttitudePath: lambda: tl.motions.AttitudePath((0.0, 1.0), ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))),
    tl.BodyInFluid: lambda: tl.BodyInFluid(drag_area=0.1),
    tl.BodyState: lambda: tl.BodyState((0.0, 0.0, 1.0)),
    tl.objectives.Final: lambda: 2.0 - tl.objectives.Final("position[-1, 0]") * tl.objectives.Final("reel_speed"),
    tl.flows.FlowTable: lambda: tl.flows.FlowTable((0.0, 1.0), ((0, 0, 0), (1, 0, 0))),
    tl.Fluid: lambda: tl.Fluid(density=1000.0),
    tl.flows.Gust: lambda: tl.flows.Gust(5.0),
    tl.flows.Turbulence: lambda: tl.flows.Turbulence(0.1, 100.0),
    tl.ForceLaw: lambda: tl.ForceLaw(push, (1.0,)),
    tl.motions.GuidePath: lambda: tl.motions.GuidePath((0.0, 1.0), ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))),
    tl.Hanging: lambda: tl.Hanging(deployed=10.0),
    tl.Kinematic: tl.Kinematic,
    tl.objectives.Integral: lambda: tl.objectives.Integral("power"),
    tl.objectives.Limit: lambda: tl.objectives.Limit("start_tension", least=0.0),
    tl.Line: lambda: CASES("hook-and-load").system.lines["hoist"],
    tl.control.LoadCell: lambda: tl.control.LoadCell(noise="5 N", delay=0.01, sample_time=0.002, seed=3),
    tl.Placed: lambda: CASES("hook-and-load").start,
    tl.LineStart: lambda: tl.LineStart(deployed=1.0),
    tl.LineState: lambda: CASE.state().lines["line"],
    tl.Orbit: lambda: tl.load("tethered-satellites").system.orbit,
    tl.Pin: lambda: tl.Pin((0.0, 0.0, 1.0), friction=0.1),
    tl.objectives.Peak: lambda: tl.objectives.Peak("start_tension"),
    tl.Reel: lambda: CASE.system.lines["line"].reel,
    tl.RigidBody: lambda: CASE.system.bodies["body"],
    tl.motions.Rocking: lambda: tl.motions.Rocking(((0.1, 0.0, 0.0),), (2.0,)),
    tl.Run: lambda: tl.Run(duration=1.0),
    Shape: lambda: tl.RigidBody.sphere(1.0, 0.1).shape,
    tl.Sheave: lambda: tl.Sheave((0.0, 0.0, 1.0), 0.2, (0.0, 1.0, 0.0), inertia=0.1),
    tl.motions.ShipMotion: lambda: tl.motions.ShipMotion(tl.motions.Sine(1.0, 8.0), (8.0,), ((0.0, 0.0, 1.0),)),
    tl.Simulation: lambda: tl.Simulation.from_case(CASE, loads=[tl.ForceLaw(push, (1.0,))]),
    tl.motions.Sine: lambda: tl.motions.Sine(1.0, 2.0),
    tl.motions.Sines: lambda: tl.motions.Sines((1.0, 0.5), (2.0, 3.0)),
    tl.motions.Spin: lambda: tl.motions.Spin((0.0, 0.0, 1.0)),
    Statics: lambda: tl.statics(CASE.system, tl.AtEquilibrium(5.0)),
    tl.RunWarning: lambda: tl.RunWarning("mesh", "try elements=20", 0.03, 0.02, "line"),
    tl.Sequence: lambda: tl.Sequence(tl.Stage(tl.Free(), "reel_speed < 0", "2 s", 0.1, "let go"), tl.Locked()),
    tl.Stage: lambda: tl.Stage(tl.Torque(3.0), until=2.0),
    tl.StopWhen: lambda: tl.StopWhen("reel_speed", above=1.0),
    tl.Straight: lambda: tl.Straight(deployed=10.0),
    tl.String: lambda: CASE.system.lines["line"].string,
    tl.flows.WaveFlow: lambda: tl.flows.WaveFlow(tl.motions.Sine(1.0, 8.0)),
    tl.control.WaveAbsorber: lambda: tl.control.WaveAbsorber(CASE.system, 20.0, apparent_mass=1.0),
    tl.motions.Waves: lambda: tl.motions.Waves("jonswap", 1.0, 8.0),
}
# What a force law is called with: its arrays are there for the time of a call only.
ELSEWHERE = {tl.ForceState}


def public_classes() -> set[type]:
    homes = (tl, tl.control, tl.flows, tl.motions, tl.objectives)
    found = [getattr(home, name) for home in homes for name in dir(home) if name[0].isupper()]
    return {x for x in found if inspect.isclass(x)} - {tl.Command}  # which is made by none but its subclasses


def test_classes_have_capitals() -> None:
    """`public_classes` looks for them, and does not load what else there is."""
    assert not {name for name in dir(tl) if not name[0].isupper() and inspect.isclass(vars(tl).get(name))}


def test_every_public_class_has_an_example() -> None:
    assert public_classes() | {Shape, Statics} == EXAMPLES.keys() | ELSEWHERE


def same(a: Any, b: Any) -> bool:
    """Whether two objects have the same parts."""
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and np.array_equal(a, b)
    if hasattr(a, "_fields") or isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if type(a).__module__.startswith("tautline") and hasattr(a, "__dict__"):
        return type(a) is type(b) and same(vars(a), vars(b))
    return bool(a == b) if not callable(a) else callable(b)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [x for x in EXAMPLES if x is not tl.Simulation])
def test_a_copy_has_the_same_parts(kind: type, way: str) -> None:
    example = EXAMPLES[kind]()
    found = WAYS[way](example)
    assert isinstance(example, kind) or kind is tl.objectives.Final
    assert type(found) is type(example) and same(vars_of(example), vars_of(found))


def vars_of(x: Any) -> Any:
    return x if isinstance(x, tuple) else vars(x)


def test_objectives_are_the_same_functions() -> None:
    values = {
        "position": np.arange(12.0).reshape(2, 2, 3),
        "reel_speed": np.array([[1.0], [3.0]]),
        "time": np.arange(2.0),
    }
    objective = (
        2.0
        - tl.objectives.Final("position[-1, 0]") * tl.objectives.Final("reel_speed") / 4.0
        + tl.objectives.Integral("reel_speed") ** 2
    )
    for way in WAYS.values():
        assert way(objective)(values) == objective(values) == 2.0 - 9.0 * 3.0 / 4.0 + 4.0


def test_arrays_of_a_description_cannot_be_changed_in_a_copy() -> None:
    for way in WAYS.values():
        with pytest.raises(ValueError, match="read-only"):
            way(CASE.state()).lines["line"].nodes[0] = 1.0
        assert way(CASES("hook-and-load").system).bodies == CASES("hook-and-load").system.bodies
        with pytest.raises(TypeError):
            way(CASES("hook-and-load").system).bodies["hook"] = None


def begun(name: str, loads: Any = None) -> Any:
    case = CASES(name)
    simulation = tl.Simulation.from_case(case, **({} if loads is None else {"loads": loads}))
    simulation.advance(0.02, case.commands, sample=0.01)
    return simulation


def bits(simulation: Any) -> dict[str, bytes]:
    return {name: np.asarray(x).tobytes() for name, x in simulation.dataset().variables.items()}


def moved_on(simulation: Any) -> dict[str, bytes]:
    simulation.advance(0.02, sample=0.01)
    return bits(simulation)


COPIED = [
    "thrown-bodies",
    "cable-robot",
    "tethered-satellites",
    "retrieval",
    "ship-crane",
    "hook-block-2",
    "traction-lift",
]


@pytest.mark.parametrize("name", COPIED)
def test_copies_of_simulations_are_independent(name: str) -> None:
    """Whichever goes on first, each has the bits of a simulation that was not copied."""
    expected = moved_on(begun(name))
    for way in WAYS.values():
        original = begun(name)
        found = way(original)
        before = bits(found)
        assert moved_on(original) == expected
        assert bits(found) == before
        assert moved_on(found) == expected
        original = begun(name)
        found = way(original)
        assert moved_on(found) == expected
        assert moved_on(original) == expected


def test_copies_with_force_laws_call_their_own_functions() -> None:
    law = tl.ForceLaw(push, (1.0,))
    for name, loads in (("retrieval", [law]), ("hook-and-load", {"hoist": law})):
        expected = moved_on(begun(name, loads))
        for way in WAYS.values():
            original = begun(name, loads)
            found = way(original)
            del original  # and the addresses of its laws with it
            assert moved_on(found) == expected


def test_copies_look_at_conditions_of_their_own() -> None:
    """A run ends, and the next stage of a sequence begins, where they do without a copy."""
    stages = tl.Sequence(tl.Stage(tl.Free(), until="reel_speed < '-0.05 m/s'"), tl.Stage(tl.Locked()))
    stop = tl.StopWhen("time > '0.05 s' and unstretched_length > 0")
    case = CASE.with_({"command": stages, "run.stop": stop, "run.step": 1e-3})
    whole = tl.Simulation.from_case(case)
    assert whole.advance(0.08, case.commands, sample=0.01) == "condition_met"
    for way in WAYS.values():
        simulation = tl.Simulation.from_case(case)
        simulation.advance(0.01, case.commands, sample=0.01)
        for _ in range(7):
            found = way(simulation)
            assert found.advance(0.01, sample=0.01) == simulation.advance(0.01, sample=0.01)
            assert bits(found) == bits(simulation)
            if simulation.status != "completed":
                break
            simulation = found
        assert simulation.status == "condition_met" and simulation.time == whole.time


def test_pushes_and_guides_go_with_a_copy() -> None:
    for name, body in (("hook-and-load", "load"), ("retrieval", "body")):
        simulation = begun(name)
        simulation.bodies[body].push((100.0, 0.0, 0.0))
        found = pickle.loads(pickle.dumps(simulation))
        assert moved_on(copy.deepcopy(found)) == moved_on(copy.deepcopy(simulation))
        simulation.bodies[body].push((0.0, 0.0, 0.0))
        assert moved_on(found) != moved_on(simulation)
    path = tl.motions.GuidePath((0.0, 1.0), ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    carried = tl.Simulation.from_case(CASE.with_(guide=path))
    carried.advance(0.02, CASE.commands, sample=0.01)
    carried.bodies["guide"].move((0.1, 0.0, 0.0))
    assert moved_on(copy.deepcopy(carried)) == moved_on(carried)


GO_ON = """
import pickle, sys
found = []
for x in pickle.loads(sys.stdin.buffer.read()):
    x.advance(0.02, sample=0.01)
    found.append({name: value.values.tobytes() for name, value in x.dataset().variables.items()})
sys.stdout.buffer.write(pickle.dumps(found))
"""


def test_copies_go_on_in_another_process() -> None:
    names = [*SYSTEMS, "retrieval"]
    sent = cloudpickle.dumps([begun(name) for name in names])
    done = subprocess.run([sys.executable, "-c", GO_ON], input=sent, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert pickle.loads(done.stdout) == [moved_on(begun(name)) for name in names]


@pytest.mark.long
def test_dask() -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        for name in (*SYSTEMS, "retrieval"):
            assert client.submit(moved_on, begun(name), pure=False).result(timeout=60) == moved_on(begun(name))


def test_results_of_searches() -> None:
    small = CASE.with_({"run.duration": 0.2, "run.sample": 0.02, "run.elements": 4})
    run = chains.simulate(small)
    data = {"time": run.time.values, "reel_speed": run.reel_speed.values}
    fit = tl.fit(small, data, {"command.torque": (0.5, 3.0)}, units="SI")
    optimized = tl.optimize(
        small, vary={"command.torque": (0.5, 3.0)}, minimize={"final": "reel_speed"}, intervals=1, iterations=1
    )
    for found in (fit, optimized, run):
        for way in WAYS.values():
            copied = way(found)
            if found is run:
                assert copied.identical(run)
            else:
                assert str(copied) == str(found) and copied.case == found.case
