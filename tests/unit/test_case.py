"""Cases: round trips through keys, JSON and TOML, changes, unit text in every class, and what is refused."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.errors import InputError
from tautline.files import scenario
from tautline.model import bodies, bodies_of_files
from tautline.model.body import Shape
from tautline.model.chain.systems import chain_of
from tautline.model.description import fields_of
from tautline.model.file_keys import keys_of
from tautline.model.system.sections import SHORT_PARTS, START
from tests.support import chains
from tests.support.every_command import every_command

NOTHING: Any = None
EVERY_KEY = sorted((Path(__file__).parents[1] / "e2e").glob("every_*key/*.toml"))
ALL = [*scenario.built_in_names(), *map(str, EVERY_KEY)]


def pendulum(**changes: Any) -> tl.System:
    parts: dict[str, Any] = {
        "string": tl.String(20.0, 0.1, 800.0, diameter=0.01, law="linear"),
        "reel": tl.Reel(0.2, 0.5, 1.0),
        "body": tl.RigidBody.box(2.0, (0.2, 0.3, 0.4), (0.0, 0.1, 0.2)),
    }
    return tl.pendulum(**{**parts, **changes})


def case(**changes: Any) -> tl.Case:
    parts: dict[str, Any] = {
        "system": pendulum(),
        "start": tl.Hanging(10.0),
        "commands": {"line": tl.Locked()},
        "run": tl.Run(duration=1.0),
    }
    return tl.Case(**{**parts, **changes})


def reel_of(case: tl.Case) -> tl.Reel:
    reel: tl.Reel = case.system.lines["line"].reel
    return reel


def body_of(case: tl.Case) -> tl.RigidBody:
    body = case.system.bodies["body"]
    assert isinstance(body, tl.RigidBody)
    return body


# -- round trips -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL, ids=lambda name: Path(name).stem)
def test_a_case_survives_every_way(name: str) -> None:
    """By its keys as given and complete, through JSON, through TOML, and made of its objects; exactly."""
    read = tl.load(name)
    again = tl.Case(read.system, read.start, read.commands, read.run, read.title, read.description)
    for one in (read, again):
        assert one == read
        assert tl.Case.from_dict(json.loads(json.dumps(one.to_dict()))) == read
        assert scenario.parse(one.to_toml()) == read
        assert json.dumps(one.to_dict()) == json.dumps(tl.Case.from_dict(one.to_dict()).to_dict())


FORCES: tuple[Any, Any] = ([0.0, 1.0], [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
OBJECTS: list[dict[str, Any]] = [
    {"commands": tl.Length(pieces=([0.0, 1.0], [[10.0, 0.0], [10.0, 0.1]]))},
    {"commands": tl.Impedance(tl.Speed(payout=0.1), 10.0)},
    {"commands": tl.Impedance(tl.Length(([0.0, 1.0], [10.0, 9.0]), monotone=True), 10.0, 1.0)},
    {"start": tl.AtEquilibrium(10.0)},
    {"start": case(system=pendulum(elements=3)).state()},
    {"start": tl.Straight(10.0, direction=(1.0, 0.0, 1.0), attitude=np.eye(3)[[1, 2, 0]])},
    {"system": pendulum(body=tl.RigidBody.about_center(2.0, np.diag([1.0, 2.0, 2.5]), (0.1, 0.0, 0.0)))},
    {"system": pendulum(body=tl.RigidBody(2.0, np.eye(3), (0.0, 0.0, 0.0), Shape("sphere", (0.3,))))},
    {"system": pendulum(body=tl.RigidBody.point("2 kg"), gravity=0.0)},
    {"system": pendulum(applied_force=tl.AppliedForce(FORCES, ([0.5], [[0.0, 0.0, 1.0]])))},
    {"system": pendulum(applied_force=tl.AppliedForce(FORCES, (FORCES[0], FORCES[1])))},
    {"system": pendulum(fluid=tl.Fluid(1.2, ([5.0], [[1.0, 0.0, 0.0]])))},
    {"system": pendulum(string=tl.String.from_table(20.0, 0.1, [-0.1, 0.0, 0.1], [0.0, 0.0, 50.0]))},
    {"system": pendulum(guide=tl.motions.GuidePath((0.0, 1.0), ((0, 0, 0), (1, 0, 0))))},
    {"title": 'a "title" with\n\x7f\x01 and é\\', "run": tl.Run(duration=0.1 + 0.2, step=1e-5, elements=7)},
]


@pytest.mark.parametrize("changes", OBJECTS)
def test_objects_survive_every_way(changes: dict[str, Any]) -> None:
    made = case(**changes)
    for again in (
        tl.Case.from_dict(json.loads(json.dumps(made.to_dict()))),
        scenario.parse(made.to_toml()),
        made.with_(title=made.title),
    ):
        assert again == made
        assert again.state() == made.state()


def test_states_are_compared_by_their_values() -> None:
    one, two = (case().state().lines["line"] for _ in range(2))
    assert one == two and hash(one) == hash(two)
    assert one != dataclasses.replace(two, reel_speed=1.0) and one != 3
    assert case().state() == case().state() != case(start=tl.Hanging(9.0)).state()


def test_keys_as_given_decide_what_follows_from_them() -> None:
    """An inertia that was given stays when the radius changes; so does the shape when the mass does."""
    reel = {"drum_radius": "0.5 m", "guide_length": 0.5, "inertia": "0.25 kg*m^2"}
    given = case().with_({"reel": reel})
    assert reel_of(given).inertia_mass == 1.0
    for again in (given, tl.Case.from_dict(given.to_dict()), scenario.parse(given.to_toml())):
        assert reel_of(again.with_({"reel.drum_radius": 1.0})).inertia_mass == 0.25
    heavier = body_of(given.with_({"body.mass": "4 kg"}))
    assert heavier == tl.RigidBody.box(4.0, (0.2, 0.3, 0.4), (0.0, 0.1, 0.2))


def test_commands_need_not_be_given_and_the_run_must_be() -> None:
    case = tl.load("crane-hoist")
    held = tl.Case(case.system, case.start, run=case.run)
    assert held == tl.Case(case.system, case.start, None, case.run) == tl.Case(case.system, case.start, {}, case.run)
    assert held.commands == {} != case.commands
    with pytest.raises(InputError, match=r"Case\.run: missing; expected a Run"):
        tl.Case(case.system, case.start)


# -- changes ---------------------------------------------------------------------------------------------------


def test_with_changes_only_what_is_named() -> None:
    before = tl.load("retrieval")
    before.state()
    after = before.with_(
        {"string.length": "90 m", "initial.end_velocity[1]": 1, "run.duration": 5}, gravity="1.62 m/s^2"
    )
    string, gravity = after.system.lines["line"].string, after.system.gravity
    assert (string.length, string.stiffness, gravity, after.run.duration) == (90.0, 40.0, 1.62, 5.0)
    assert isinstance(after.start, tl.Straight) and after.start.end_velocity == (0.0, 1.0, 0.0)
    assert body_of(after) is body_of(before) and after.commands["line"] is before.commands["line"]
    assert before.system.lines["line"].string.length == 100.0 and before.run.duration == 10.0


def test_with_takes_objects_and_sections() -> None:
    before = tl.load("retrieval")
    locked = before.with_(command=tl.Locked(), start=tl.Hanging(5.0), string=tl.String(50.0, 0.1, 100.0, law="linear"))
    assert locked.commands["line"] == tl.Locked() and locked.start == tl.Hanging(5.0)
    assert locked.system.lines["line"].string == tl.String(50.0, 0.1, 100.0, law="linear")
    assert before.with_({"command": {"kind": "brake", "torque": "1 N*m"}}).commands["line"] == tl.Brake(1.0)
    path = tl.motions.GuidePath((0.0, 1.0), ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)))
    carried = before.with_(system=pendulum(guide=path))
    assert carried.system.bodies["guide"] == tl.Kinematic(path)
    other = tl.motions.Sine((0.0, 0.0, 1.0), 5.0)
    assert carried.with_(guide=other).system.bodies["guide"] == tl.Kinematic(other)
    assert before.with_(system=pendulum()) == case(
        start=before.start, commands=before.commands, run=before.run, title=before.title, description=before.description
    )
    assert body_of(before.with_({"body.mass": np.float64(3.0), "body.center_of_mass": np.zeros(3)})).mass == 3.0
    assert before.with_(run={"duration": "3 s"}).run == tl.Run(duration=3.0)


def test_a_start_that_the_change_leaves_is_not_computed_again() -> None:
    before = tl.load("retrieval")
    state = before.state()
    assert before.with_({"run.duration": 5.0}).state() is before.with_(command=tl.Torque(1.0)).state() is state
    assert before.with_({"run.elements": 3}).state().elements() == {"line": 3}
    assert before.with_({"string.length": "90 m"}).state().lines["line"].reeled_length == 80.0
    hanging = before.with_(initial={"kind": "hanging", "deployed": "10 m"})
    low = hanging.state().lines["line"].nodes[-1, 2]
    assert hanging.with_({"body.mass": "1 kg"}).state().lines["line"].nodes[-1, 2] > low


# -- running ---------------------------------------------------------------------------------------------------


def test_a_case_runs_as_its_parts_do(tmp_path: Path) -> None:
    one = tl.load("retrieval", {"run.duration": "0.1 s"})
    by_case = chains.simulate(one)
    by_parts = chains.simulate(one.system, one.start, one.commands, duration=0.1, sample=0.01)
    assert by_case.equals(by_parts)
    tl.run_to_file(tmp_path / "run.nc", one)
    saved = tl.open_run(tmp_path / "run.nc")
    assert chains.of_one(saved).equals(by_case) and tl.case_of(saved) == one
    assert saved.attrs["title"] == "Retrieval"
    simulation = tl.Simulation.from_case(one)
    simulation.advance(0.1, one.commands, sample=0.01)
    assert chains.of_one(simulation.dataset()).equals(by_case)
    with pytest.raises(InputError, match=r"^start: expected no start and command beside a case; use case\.with_"):
        chains.simulate(one, one.state())


# -- unit text -------------------------------------------------------------------------------------------------

CLASSES: list[Any] = [
    *(cls for part in (*SHORT_PARTS.values(), START) for cls in part.options.values()),
    tl.RigidBody,
]
BESIDE = Path(__file__).parents[1] / "e2e" / "every_key"
EXAMPLES: dict[Any, Any] = {
    **every_command(),
    tl.Torque: tl.Torque(1.0),
    tl.Length: tl.Length.to(5.0, speed=1.0, acceleration=1.0, jerk=1.0, start=1.0),
    tl.String: tl.String(20.0, 0.1, 800.0, law="linear"),
    tl.Reel: tl.Reel(0.2, 0.5, 1.0),
    bodies.EllipticCylinder: bodies.EllipticCylinder(1.0, (0.5, 0.4), 0.8),
    bodies.Box: bodies.Box(1.0, (0.5, 0.4, 0.3)),
    bodies.Sphere: bodies.Sphere(1.0, 0.5),
    bodies.Point: bodies.Point(1.0),
    bodies_of_files.MeshBody: bodies_of_files.MeshBody(BESIDE / "crate.obj", mass=2.0),
    bodies_of_files.UrdfBody: bodies_of_files.UrdfBody(BESIDE / "gripper.urdf"),
    bodies_of_files.MjcfBody: bodies_of_files.MjcfBody(BESIDE / "load.xml"),
    bodies.Custom: bodies.Custom(1.0, np.eye(3), drawn_as="sphere", dimensions=(0.3,)),
    tl.RigidBody: tl.RigidBody(1.0, np.eye(3), (0.0, 0.0, 0.1)),
    tl.Fluid: tl.Fluid(1.2, drag_center=(0.1, 0.0, 0.0), buoyancy_center=(0.1, 0.0, 0.0)),
    tl.AppliedForce: tl.AppliedForce((1.0, 0.0, 0.0)),
    tl.motions.GuidePath: tl.motions.GuidePath((0.0, 1.0), ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))),
    tl.motions.Sine: tl.motions.Sine((0.2, 0.0, 1.0), 9.0, 0.5, ramp=3.0),
    tl.motions.Sines: tl.motions.Sines((1.0, (0.2, 0.0, 0.5)), (9.0, 5.0), (0.1, 0.2), ramp=3.0),
    tl.motions.Waves: tl.motions.Waves("jonswap", 2.0, 9.0, 2.5, seed=3, rao=(0.1, 0.0, 0.8), rao_phase=0.2, ramp=3.0),
    tl.motions.ShipMotion: tl.motions.ShipMotion(
        tl.motions.Sine(1.0, 9.0), (5.0, 9.0), ((0.1, 0.0, 0.4), (0.3, 0.1, 0.7)), ((0.0, 0.1, 0.0),) * 2, heading=0.5
    ),
    tl.Straight: tl.Straight(10.0, inclination=0.1),
    tl.Hanging: tl.Hanging(10.0),
    tl.AtEquilibrium: tl.AtEquilibrium(10.0),
    chains.ChainState: chains.straight(chain_of(pendulum()), 10.0, 1),
    tl.Run: tl.Run(duration=1.0, step=1e-3, sample=0.1, minimum_length=0.1),
}


def texts(value: Any, unit: str) -> Any:
    """Value as text with a unit, where there is one."""
    if isinstance(value, list):
        return [texts(item, unit) for item in value]
    return f"{value!r} {unit}" if isinstance(value, float) and unit else value


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_class_takes_text_with_units(cls: Any) -> None:
    """In Python as in files, for every number that has a unit."""
    example = EXAMPLES[cls]
    given = {name: getattr(example, name) for name in fields_of(cls)}
    spelled = {name: texts(kind.plain(given[name]), kind.unit) for name, kind in fields_of(cls).items()}
    assert any(isinstance(x, (str, list)) for x in spelled.values()) or not given
    assert cls(**spelled) == example


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_the_docstring_has_every_field(cls: Any) -> None:
    for name, kind in fields_of(cls).items():
        assert f"\n    {name} : {kind.words()}" in (cls.__doc__ or "")
        assert kind.sentence[:1].isupper() or kind.sentence[:1] in '"r', kind.sentence


# -- what is refused -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"string.lenght": 3}, "string.lenght: no such key; did you mean 'length'?"),
        ({"strin.length": 3}, "strin: no such key; did you mean 'string'?"),
        (
            {"string.length": "3 kg"},
            "string.length: expected a length such as 3 or '3 m', got '3 kg', which",
        ),
        ({"string.length": -3}, "string.length: expected a positive finite number (m), got -3.0"),
        ({"string.length": None}, "string.length: expected a length such as 3 or '3 m', got None"),
        ({"string.stiffness": 3, "string.law": "table"}, "string: String.tension_table: expected with law='table'"),
        ({"body.center_of_mass[3]": 1}, "body.center_of_mass[3]: expected a component from 0 to 2, got 3"),
        ({"body": tl.Locked()}, "body: expected a section, got Locked()"),
        ({"command": None}, "command: expected a section, got None"),
        ({"run.elements": 2.5}, "run.elements: expected 'auto' or a whole number, got 2.5"),
        ({"a b": 3}, "a b: expected a key of a scenario such as string.stiffness"),
        ({"reel.guide_length": 30}, "reel.guide_length: expected a guide shorter than the string"),
    ],
)
def test_wrong_changes(changes: dict[str, Any], expected: str) -> None:
    with pytest.raises(InputError) as caught:
        case().with_(changes)
    assert str(caught.value).startswith(expected.replace("string: String.tension_table: ", "string: ")), caught.value


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (
            lambda: tl.String("25 kg", 0.1, 1.0, law="linear"),
            "String.length: expected a length such as 3 or '3 m', got '25 kg'",
        ),
        (
            lambda: tl.String(25.0, 0.1),
            "String.stiffness: expected a value with law = 'tension_only', got none",
        ),
        (lambda: tl.Reel(0.2, 0.5, 1.0, guide_position=("1 m", "2 s", 0)), "Reel.guide_position[1]: expected a length"),
        (lambda: tl.Torque(([0, "1 m"], [1, 2])), "Torque.torque[0] (times)[1]: expected a time"),
        (lambda: tl.Case(pendulum(), tl.Hanging(1.0), tl.Locked(), NOTHING), "Case.run: expected a Run, got None"),
        (lambda: tl.Case(pendulum(), NOTHING, tl.Locked(), tl.Run(duration=1)), "Case.start: expected a "),
        (lambda: tl.Run(duration="1 m"), "duration: expected a time such as 3 or '3 s', got '1 m'"),
        (lambda: tl.Straight(1.0, azimuth=1.0), "initial: expected azimuth together with inclination"),
        (lambda: bodies.Custom(1.0, np.eye(3), drawn_as="box").body(), "dimensions: expected together with drawn_as"),
    ],
)
def test_wrong_arguments(make: Callable[[], Any], expected: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value).startswith(expected)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_field_can_be_given_in_a_file(cls: Any) -> None:
    for name, kind in fields_of(cls).items():
        # paths of guides and unsteady flows are sections of their own, and shapes are described by classes of their own
        assert kind.own_key or kind.ways or name in ("guide_path", "shape", "unsteady"), (
            f"{cls.__name__}.{name} is in no file"
        )
    assert set().union(*keys_of(cls).own.values()) <= keys_of(cls).kinds.keys()


def test_what_python_gives_beside_a_case_is_not_blamed_on_a_file() -> None:
    case = tl.load("retrieval")
    with pytest.raises(InputError, match=r"^loads: expected a ForceLaw"):
        chains.simulate(case, loads=3)
    with pytest.raises(InputError, match=r"^run\.duration: expected a positive"):
        chains.simulate(case, duration=-1)


def test_a_key_without_its_section_is_found() -> None:
    with pytest.raises(InputError, match=r"duration: no such key; did you mean 'run\.duration'"):
        tl.load("retrieval").with_(duration=3)
