"""Scenario files: TOML with units, checked, and turned into plain SI objects. The only module that knows units."""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from tautline.errors import InputError
from tautline.model.body import RigidBody
from tautline.model.command import Command as ModelCommand
from tautline.model.command import Free, Locked, Torque
from tautline.model.equilibrium import hanging
from tautline.model.pendulum import Pendulum
from tautline.model.reel import Reel
from tautline.model.state import State, straight
from tautline.model.string import String

# A number, then a unit made of names, products, quotients and small powers. Anything else is refused before
# it reaches the unit library, so that no text in a file can make it compute something large.
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?"
_UNIT = r"[A-Za-zµμ°%]{1,20}(?:(?:\^|\*\*)-?[1-4])?"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*((?:1\s*/\s*)?{_UNIT}(?:\s*[*/ ]\s*{_UNIT}){{0,5}})?\s*")
_WORDS = {
    "m": "length",
    "kg": "mass",
    "s": "time",
    "N": "force",
    "kg/m": "mass per length",
    "kg*m^2": "moment of inertia",
    "m/s": "speed",
    "m/s^2": "acceleration",
    "rad/s": "angular velocity",
    "rad": "angle",
    "N*m": "moment",
}


class ScenarioError(InputError):
    """A scenario file cannot be used. The message says where and why."""


@cache
def _units() -> Any:
    import pint  # 0.4 s: only when a value carries a unit

    return pint.UnitRegistry(cache_folder=None)


def _to_si(value: Any, unit: str) -> Any:
    """A plain number is SI; text is a number with a unit of the right dimension."""
    if not isinstance(value, str):
        return value
    found = _QUANTITY.fullmatch(value)
    wanted = f"a {_WORDS[unit]} such as 3 or '3 {unit}'"
    if found is None:
        raise ValueError(f"expected {wanted}, got {value!r}")
    number, name = float(found[1]), found[2]
    if name is None:
        return number
    import pint

    try:
        return float(_units().Quantity(number, _units().parse_units(name)).to(unit).magnitude)
    except pint.UndefinedUnitError:
        raise ValueError(f"expected {wanted}, got the unknown unit {name!r}") from None
    except pint.DimensionalityError:
        raise ValueError(f"expected {wanted}, got {value!r}, which is something else") from None


def _quantity(unit: str) -> BeforeValidator:
    def convert(value: Any) -> Any:
        if isinstance(value, list):
            return [convert(item) for item in value]
        return _to_si(value, unit)

    # for the JSON schema: a number, or text with a unit
    return BeforeValidator(convert, json_schema_input_type=float | str)


def _schema(unit: str) -> dict[str, Any]:
    return {"description": f"{_WORDS[unit]} in {unit}, or text with a unit"}


Length = Annotated[float, _quantity("m"), Field(json_schema_extra=_schema("m"))]
Mass = Annotated[float, _quantity("kg"), Field(json_schema_extra=_schema("kg"))]
Time = Annotated[float, _quantity("s"), Field(json_schema_extra=_schema("s"))]
Force = Annotated[float, _quantity("N"), Field(json_schema_extra=_schema("N"))]
LineDensity = Annotated[float, _quantity("kg/m"), Field(json_schema_extra=_schema("kg/m"))]
Inertia = Annotated[float, _quantity("kg*m^2"), Field(json_schema_extra=_schema("kg*m^2"))]
Speed = Annotated[float, _quantity("m/s"), Field(json_schema_extra=_schema("m/s"))]
Acceleration = Annotated[float, _quantity("m/s^2"), Field(json_schema_extra=_schema("m/s^2"))]
AngularVelocity = Annotated[float, _quantity("rad/s"), Field(json_schema_extra=_schema("rad/s"))]
Angle = Annotated[float, _quantity("rad"), Field(json_schema_extra=_schema("rad"))]
Moment = Annotated[float, _quantity("N*m"), Field(json_schema_extra=_schema("N*m"))]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


def _vector(values: list[Any], name: str) -> tuple[Any, Any, Any]:
    if len(values) != 3:
        raise ValueError(f"{name}: expected three values, got {len(values)}")
    return (values[0], values[1], values[2])


class StringSection(_Section):
    length: Length
    density: LineDensity
    stiffness: Force

    def build(self) -> String:
        return String(self.length, self.density, self.stiffness)


class ReelSection(_Section):
    drum_radius: Length
    guide_length: Length
    inertia_mass: Mass | None = None
    inertia: Inertia | None = None
    guide_position: list[Length] = [0.0, 0.0, 0.0]
    guide_law: Literal["dissipative", "published", "none"] = "dissipative"
    smoothing_speed: Speed = 1e-3

    @model_validator(mode="after")
    def _one_inertia(self) -> ReelSection:
        if (self.inertia_mass is None) == (self.inertia is None):
            raise ValueError("expected either inertia_mass (kg) or inertia (kg*m^2) of the drum, and not both")
        return self

    def build(self) -> Reel:
        mass = self.inertia_mass
        if mass is None:
            assert self.inertia is not None
            mass = self.inertia / self.drum_radius**2 if self.drum_radius > 0.0 else self.inertia
        position = _vector(self.guide_position, "reel.guide_position")
        return Reel(self.drum_radius, self.guide_length, mass, position, self.guide_law, self.smoothing_speed)


class _Body(_Section):
    mass: Mass
    center_of_mass: list[Length] = [0.0, 0.0, 0.0]


class EllipticCylinder(_Body):
    shape: Literal["elliptic_cylinder"]
    semi_axes: list[Length]
    height: Length

    def build(self) -> RigidBody:
        return RigidBody.elliptic_cylinder(self.mass, self.semi_axes, self.height, self.center_of_mass)


class Box(_Body):
    shape: Literal["box"]
    sides: list[Length]

    def build(self) -> RigidBody:
        return RigidBody.box(self.mass, self.sides, self.center_of_mass)


class Sphere(_Body):
    shape: Literal["sphere"]
    radius: Length

    def build(self) -> RigidBody:
        return RigidBody.sphere(self.mass, self.radius, self.center_of_mass)


class Point(_Section):
    shape: Literal["point"]
    mass: Mass

    def build(self) -> RigidBody:
        return RigidBody.point(self.mass)


class Custom(_Body):
    """Inertia about the attachment point."""

    shape: Literal["custom"]
    inertia: list[list[Inertia]]

    def build(self) -> RigidBody:
        return RigidBody(self.mass, self.inertia, self.center_of_mass)  # type: ignore[arg-type]


Body = Annotated[EllipticCylinder | Box | Sphere | Point | Custom, Field(discriminator="shape")]


class _Initial(_Section):
    attitude: list[list[float]] | None = None
    angular_velocity: list[AngularVelocity] = [0.0, 0.0, 0.0]

    def _attitude(self) -> Any:
        return np.eye(3) if self.attitude is None else self.attitude


class StraightState(_Initial):
    """Straight and unstretched, along `direction`, or at an inclination from the vertical."""

    kind: Literal["straight"]
    deployed: Length
    direction: list[float] | None = None
    inclination: Angle | None = None
    azimuth: Angle = 0.0
    end_velocity: list[Speed] = [0.0, 0.0, 0.0]
    reel_speed: Speed = 0.0

    @model_validator(mode="after")
    def _one_direction(self) -> StraightState:
        if self.direction is not None and self.inclination is not None:
            raise ValueError("expected either direction or inclination (with azimuth), and not both")
        return self

    def build(self, pendulum: Pendulum, elements: int) -> State:
        tilt, turn = self.inclination or 0.0, self.azimuth
        across = math.sin(tilt)
        direction = self.direction or [across * math.cos(turn), across * math.sin(turn), math.cos(tilt)]
        return straight(
            pendulum,
            self.deployed,
            elements,
            direction,
            end_velocity=self.end_velocity,
            reel_speed=self.reel_speed,
            attitude=self._attitude(),
            angular_velocity=self.angular_velocity,
        )


class HangingState(_Section):
    """At rest under gravity, stretched by its own weight and the body's."""

    kind: Literal["hanging"]
    deployed: Length
    end_velocity: list[Speed] = [0.0, 0.0, 0.0]
    angular_velocity: list[AngularVelocity] = [0.0, 0.0, 0.0]

    def build(self, pendulum: Pendulum, elements: int) -> State:
        return hanging(
            pendulum,
            self.deployed,
            elements,
            end_velocity=self.end_velocity,
            angular_velocity=self.angular_velocity,
        )


class NodesState(_Initial):
    """Everything given: N + 1 nodes relative to the guide entrance, the first at 0."""

    kind: Literal["nodes"]
    reeled_length: Length
    reel_speed: Speed = 0.0
    nodes: list[list[Length]]
    node_velocities: list[list[Speed]] | None = None

    def build(self, pendulum: Pendulum, elements: int) -> State:
        if len(self.nodes) != elements + 1:
            raise InputError(f"initial.nodes: expected run.elements + 1 = {elements + 1} nodes, got {len(self.nodes)}")
        still = [[0.0, 0.0, 0.0]] * len(self.nodes)
        return State(
            self.reeled_length,
            self.reel_speed,
            self.nodes,  # type: ignore[arg-type]
            self.node_velocities or still,  # type: ignore[arg-type]
            self._attitude(),
            self.angular_velocity,  # type: ignore[arg-type]
        )


Initial = Annotated[StraightState | HangingState | NodesState, Field(discriminator="kind")]


class LockedCommand(_Section):
    kind: Literal["locked"]

    def build(self) -> ModelCommand:
        return Locked()


class FreeCommand(_Section):
    kind: Literal["free"]

    def build(self) -> ModelCommand:
        return Free()


class TorqueCommand(_Section):
    """A constant moment, or a table of times and moments."""

    kind: Literal["torque"]
    moment: Moment | None = None
    times: list[Time] | None = None
    moments: list[Moment] | None = None

    @model_validator(mode="after")
    def _constant_or_table(self) -> TorqueCommand:
        table = self.times is not None and self.moments is not None
        if (self.moment is None) != table or (self.times is None) != (self.moments is None):
            raise ValueError("expected either moment, or times and moments")
        return self

    def build(self) -> ModelCommand:
        return Torque((self.times, self.moments) if self.moment is None else self.moment)


Command = Annotated[LockedCommand | FreeCommand | TorqueCommand, Field(discriminator="kind")]


class RunSection(_Section):
    duration: Time
    elements: int
    step: Annotated[float | Literal["auto"], BeforeValidator(lambda v: v if v == "auto" else _to_si(v, "s"))] = "auto"
    sample: Time | None = None
    order: Literal[2, 4, 6] = 2
    scheme: Literal["symmetric", "paper"] = "symmetric"
    compensated: bool = True
    minimum_length: Length | None = None

    def options(self) -> dict[str, Any]:
        """Keyword arguments of `simulate`."""
        return self.model_dump(exclude={"elements"})


class Built(NamedTuple):
    """What a scenario stands for."""

    pendulum: Pendulum
    state: State
    command: ModelCommand
    options: dict[str, Any]


class Scenario(_Section):
    """A whole system and what to do with it."""

    title: str = ""
    description: str = ""
    gravity: Acceleration = 9.81
    string: StringSection
    reel: ReelSection
    body: Body
    initial: Initial
    command: Command
    run: RunSection

    def build(self) -> Built:
        """Plain SI objects; InputError where values do not fit together."""
        pendulum = Pendulum(self.string.build(), self.reel.build(), self.body.build(), self.gravity)
        state = self.initial.build(pendulum, self.run.elements)
        return Built(pendulum, state, self.command.build(), self.run.options())


def json_schema() -> dict[str, Any]:
    """For editors that complete and check TOML."""
    schema = Scenario.model_json_schema(mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


BUILT_IN = Path(__file__).parent / "scenarios"


def built_in_names() -> list[str]:
    return sorted(path.stem for path in BUILT_IN.glob("*.toml"))


def find(name: str) -> Path:
    """A file, or one of the built-in scenarios by name."""
    path = Path(name)
    if path.is_file():
        return path
    if name in built_in_names():
        return BUILT_IN / f"{name}.toml"
    near = difflib.get_close_matches(name, built_in_names(), 1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; built in are {', '.join(built_in_names())}"
    raise ScenarioError(f"{name}: no such file or built-in scenario{hint}")


def load(name: str, overrides: Mapping[str, str] | None = None) -> Scenario:
    """Read a scenario file or a built-in scenario; overrides are TOML values by dotted key."""
    path = find(name)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ScenarioError(f"{path}: not a text file in UTF-8") from None
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from None
    return parse(text, str(path), overrides)


def parse(text: str, source: str = "scenario", overrides: Mapping[str, str] | None = None) -> Scenario:
    """From TOML text; ScenarioError names the key, what was wanted, what came, file and line."""
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{source}: not valid TOML: {error}") from None
    except (RecursionError, ValueError) as error:
        raise ScenarioError(f"{source}: not valid TOML: {type(error).__name__}") from None
    for key, value in (overrides or {}).items():
        _override(tree, key, value)
    return from_dict(tree, source, text)


def from_dict(tree: Mapping[str, Any], source: str = "scenario", text: str = "") -> Scenario:
    try:
        return Scenario.model_validate(tree)
    except ValidationError as error:
        problems = [_sentence(problem, source, text) for problem in error.errors()]
        raise ScenarioError("\n".join(problems)) from None


def _override(tree: dict[str, Any], key: str, value: str) -> None:
    """`--set string.stiffness=60`: the value is read as TOML, and as text where it is none."""
    parts = key.split(".")
    if not all(parts):
        raise ScenarioError(f"--set {key}: expected section.key=value")
    try:
        parsed = tomllib.loads(f"x = {value}")["x"]
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        parsed = value
    node = tree
    for part in parts[:-1]:
        child = node.setdefault(part, {})
        if not isinstance(child, dict):
            raise ScenarioError(f"--set {key}: {part} is not a section")
        node = child
    node[parts[-1]] = parsed


def _sentence(problem: Any, source: str, text: str) -> str:
    """One line: where, which key, what was expected, what came, and the near miss."""
    # pydantic puts the tag of a union into the path: not a key of the file
    path = [str(part) for part in problem["loc"] if part not in _TAGS]
    key = ".".join(path)
    line = _line_of(text, path)
    where = f"{source}:{line}" if line else source
    kind = problem["type"]
    if kind == "extra_forbidden":
        near = difflib.get_close_matches(path[-1], _keys_beside(path), 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return f"{where}: {key}: no such key{hint}"
    if kind == "missing":
        return f"{where}: {key}: missing"
    if kind == "union_tag_not_found":
        return f"{where}: {key}: missing its {problem['ctx']['discriminator']}"
    message = problem["msg"].removeprefix("Value error, ")
    got = repr(problem["input"])
    if kind == "union_tag_invalid":
        allowed = problem["ctx"]["expected_tags"]
        discriminator = problem["ctx"]["discriminator"].strip("'")
        return f"{where}: {key}.{discriminator}: expected one of {allowed}, got {problem['ctx']['tag']!r}"
    if kind == "value_error":
        return f"{where}: {key}: {message}" if key else f"{where}: {message}"
    shown = got if len(got) <= 60 else got[:57] + "..."
    return f"{where}: {key}: {message[0].lower()}{message[1:]}, got {shown}"


_TAGS = {
    *("elliptic_cylinder", "box", "sphere", "custom"),
    *("straight", "hanging"),
    *("locked", "free", "torque"),
    *("float", "literal['auto']", "function-before[<lambda>(), union[float,literal['auto']]]"),
}


def _keys_beside(path: list[str]) -> list[str]:
    """All keys that may stand where the last one of the path stands."""
    if len(path) == 1:
        return list(Scenario.model_fields)
    groups: dict[str, list[type[BaseModel]]] = {
        "string": [StringSection],
        "reel": [ReelSection],
        "body": [EllipticCylinder, Box, Sphere, Point, Custom],
        "initial": [StraightState, HangingState, NodesState],
        "command": [LockedCommand, FreeCommand, TorqueCommand],
        "run": [RunSection],
    }
    return [name for model in groups.get(path[0], []) for name in model.model_fields]


def _line_of(text: str, path: list[str]) -> int | None:
    """Line of a key, found by reading the text as sections and assignments; of its section if the key is not there."""
    section: list[str] = []
    best: int | None = None
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[+\s*([\w.\- ]+?)\s*\]+", line)
        if header:
            section = [part.strip() for part in header[1].split(".")]
            if section == path[: len(section)] and best is None:
                best = number
            continue
        assignment = re.match(r"\s*([\w.\-]+)\s*=", line)
        if assignment:
            full = [*section, *assignment[1].split(".")]
            if full == path[: len(full)]:
                return number
    return best
