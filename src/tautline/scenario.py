"""Scenario files: TOML with units, checked, and turned into plain SI objects."""

from __future__ import annotations

import dataclasses
import difflib
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from tautline.errors import InputError
from tautline.model import checks
from tautline.model.body import RigidBody
from tautline.model.command import Brake, Free, Locked, Spring, Torque, check_start
from tautline.model.command import Command as ModelCommand
from tautline.model.command import Length as LengthOfString
from tautline.model.command import Speed as SpeedOfString
from tautline.model.equilibrium import hanging
from tautline.model.fluid import Fluid, Push
from tautline.model.path import Path as GuidePath
from tautline.model.pendulum import Pendulum
from tautline.model.reel import Reel
from tautline.model.state import State, straight
from tautline.model.string import String
from tautline.units import LONGEST_SHOWN, WORDS, shown, to_si

_MOST_BITS = 14_000  # 4215 digits; Python prints 4300


class ScenarioError(InputError):
    """A scenario file cannot be used. The message says where and why."""


class _ToSi:
    """Of one unit; an object and not a function, so that `unit_of` can ask it."""

    def __init__(self, unit: str) -> None:
        self.unit = unit

    def __call__(self, value: Any) -> float | str:
        return to_si(value, self.unit)


class _Step(_ToSi):
    def __call__(self, value: Any) -> float | str:
        try:
            return "auto" if isinstance(value, str) and value == "auto" else to_si(value, self.unit)
        except ValueError as error:
            raise ValueError(str(error).replace("expected", "expected 'auto' or", 1)) from None


def _quantity(unit: str) -> BeforeValidator:
    # for the JSON schema: a number, or text with a unit
    return BeforeValidator(_ToSi(unit), json_schema_input_type=float | str)


def _schema(unit: str) -> dict[str, Any]:
    return {"description": f"{WORDS[unit]} in {unit}, or text with a unit"}


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
Viscosity = Annotated[float, _quantity("N*s"), Field(json_schema_extra=_schema("N*s"))]
RotaryDamping = Annotated[float, _quantity("N*m*s"), Field(json_schema_extra=_schema("N*m*s"))]
Density = Annotated[float, _quantity("kg/m^3"), Field(json_schema_extra=_schema("kg/m^3"))]
Area = Annotated[float, _quantity("m^2"), Field(json_schema_extra=_schema("m^2"))]
Volume = Annotated[float, _quantity("m^3"), Field(json_schema_extra=_schema("m^3"))]
Power = Annotated[float, _quantity("W"), Field(json_schema_extra=_schema("W"))]
Jerk = Annotated[float, _quantity("m/s^3"), Field(json_schema_extra=_schema("m/s^3"))]
Stiffness = Annotated[float, _quantity("N/m"), Field(json_schema_extra=_schema("N/m"))]
Damping = Annotated[float, _quantity("N*s/m"), Field(json_schema_extra=_schema("N*s/m"))]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class StringSection(_Section):
    length: Length
    density: LineDensity
    stiffness: Force | None = None
    law: Literal["linear", "tension_only", "table"] = "linear"
    strains: list[float] | None = None
    tensions: list[Force] | None = None
    viscosity: Viscosity = 0.0
    diameter: Length = 0.0
    normal_drag: float = 1.2
    tangential_drag: float = 0.01

    @model_validator(mode="after")
    def _one_law(self) -> StringSection:
        table = (self.strains, self.tensions)
        if self.law == "table":
            if None in table or self.stiffness is not None:
                raise ValueError("expected strains and tensions with law = 'table', and no stiffness")
        elif self.stiffness is None or table != (None, None):
            raise ValueError(f"expected stiffness, and no table, with law = '{self.law}'")
        return self

    def build(self) -> String:
        others: dict[str, Any] = {
            name: getattr(self, name) for name in ("viscosity", "diameter", "normal_drag", "tangential_drag")
        }
        if self.stiffness is None:
            return String.from_table(self.length, self.density, self.strains, self.tensions, **others)
        return String(self.length, self.density, self.stiffness, law=self.law, **others)


class ReelSection(_Section):
    drum_radius: Length
    guide_length: Length
    inertia_mass: Mass | None = None
    inertia: Inertia | None = None
    guide_position: list[Length] = [0.0, 0.0, 0.0]
    guide_law: Literal["dissipative", "published", "momentum", "stretched", "none"] = "dissipative"
    smoothing_speed: Speed = 1e-3
    guide_strain: Literal["mean", "extrapolated"] = "mean"
    wound_strain: float = 0.0
    viscous_friction: RotaryDamping = 0.0
    coulomb_friction: Moment = 0.0
    max_torque: Moment | None = None
    max_power: Power | None = None
    motor_inertia: Inertia = 0.0
    gear_ratio: float = 1.0
    layer_growth: Length | None = None
    rope_diameter: Length | None = None
    drum_width: Length | None = None

    @model_validator(mode="after")
    def _one_growth(self) -> ReelSection:
        by_size = (self.rope_diameter is not None, self.drum_width is not None)
        if any(by_size) and (not all(by_size) or self.layer_growth is not None):
            names = [k for k in ("layer_growth", "rope_diameter", "drum_width") if getattr(self, k) is not None]
            raise ValueError(f"expected layer_growth, or rope_diameter and drum_width, got {' and '.join(names)}")
        return self

    @model_validator(mode="after")
    def _one_inertia(self) -> ReelSection:
        if (self.inertia_mass is None) == (self.inertia is None):
            raise ValueError(
                f"expected either inertia_mass (kg) or inertia (kg*m^2) of the drum, got {_both(self.inertia)}"
            )
        return self

    def build(self) -> Reel:
        mass = self.inertia_mass
        if mass is None:
            assert self.inertia is not None
            radius = checks.positive("drum_radius", self.drum_radius, "m")
            mass = checks.positive("inertia", self.inertia, "kg m^2") / radius / radius
        position: Any = self.guide_position
        growth = self.layer_growth or 0.0
        if self.rope_diameter is not None and self.drum_width is not None:
            growth = Reel.growth(self.rope_diameter, self.drum_width)
        return Reel(
            self.drum_radius,
            self.guide_length,
            mass,
            position,
            self.guide_law,
            self.smoothing_speed,
            self.guide_strain,
            self.wound_strain,
            viscous_friction=self.viscous_friction,
            coulomb_friction=self.coulomb_friction,
            max_torque=self.max_torque,
            max_power=self.max_power,
            motor_inertia=self.motor_inertia,
            gear_ratio=self.gear_ratio,
            layer_growth=growth,
        )


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
            raise ValueError("expected either direction or inclination (with azimuth), got both")
        if self.inclination is None and self.azimuth != 0.0:
            raise ValueError("expected azimuth together with inclination, got it alone")
        return self

    def build(self, pendulum: Pendulum, elements: int) -> State:
        tilt, turn = self.inclination or 0.0, self.azimuth
        across = math.sin(tilt)
        direction = self.direction
        if direction is None:
            direction = [across * math.cos(turn), across * math.sin(turn), math.cos(tilt)]
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
            raise InputError(f"nodes: expected run.elements + 1 = {elements + 1} nodes, got {len(self.nodes)}")
        velocities: Any = self.node_velocities
        return State(
            self.reeled_length,
            self.reel_speed,
            self.nodes,  # type: ignore[arg-type]
            np.zeros((len(self.nodes), 3)) if velocities is None else velocities,
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
        _one_of(self, ("moment",), ("times", "moments"))
        return self

    def build(self) -> ModelCommand:
        return Torque((self.times, self.moments) if self.moment is None else self.moment)


class BrakeCommand(_Section):
    """Dry friction and no motor: a constant moment, or a table of times and moments."""

    kind: Literal["brake"]
    moment: Moment | None = None
    times: list[Time] | None = None
    moments: list[Moment] | None = None

    @model_validator(mode="after")
    def _constant_or_table(self) -> BrakeCommand:
        _one_of(self, ("moment",), ("times", "moments"))
        return self

    def build(self) -> ModelCommand:
        return Brake((self.times, self.moments) if self.moment is None else self.moment)


class _Curve(_Section):
    """A deployed length in time: a move to a target, or a table of times and lengths."""

    target: Length | None = None
    speed: Speed | None = None
    acceleration: Acceleration | None = None
    jerk: Jerk | None = None
    start: Time | None = None
    times: list[Time] | None = None
    lengths: list[Length] | None = None
    monotone: bool = False

    def curve(self) -> LengthOfString:
        if self.times is not None:
            return LengthOfString((self.times, self.lengths), self.monotone)
        return LengthOfString(
            target=self.target, speed=self.speed, acceleration=self.acceleration, jerk=self.jerk, start=self.start
        )


class LengthCommand(_Curve):
    kind: Literal["length"]

    @model_validator(mode="after")
    def _move_or_table(self) -> LengthCommand:
        _one_of(self, ("target", "speed", "acceleration"), ("times", "lengths"))
        return self

    def build(self) -> ModelCommand:
        return self.curve()


class SpeedCommand(_Section):
    """A constant speed of payout or of retrieval, or a table of times and of one of them."""

    kind: Literal["speed"]
    payout: Speed | None = None
    retrieval: Speed | None = None
    times: list[Time] | None = None
    payouts: list[Speed] | None = None
    retrievals: list[Speed] | None = None

    @model_validator(mode="after")
    def _one_speed(self) -> SpeedCommand:
        _one_of(self, ("payout",), ("retrieval",), ("times", "payouts"), ("times", "retrievals"))
        return self

    def build(self) -> ModelCommand:
        if self.payout is not None:
            return SpeedOfString(payout=self.payout)
        if self.retrieval is not None:
            return SpeedOfString(retrieval=self.retrieval)
        if self.payouts is not None:
            return SpeedOfString(payout=(self.times, self.payouts))
        return SpeedOfString(retrieval=(self.times, self.retrievals))


class SpringCommand(_Curve):
    """A spring and a damper on the deployed length, which may move."""

    kind: Literal["spring"]
    length: Length | None = None
    stiffness: Stiffness
    damping: Damping = 0.0

    @model_validator(mode="after")
    def _rest_or_move_or_table(self) -> SpringCommand:
        _one_of(self, ("length",), ("target", "speed", "acceleration"), ("times", "lengths"))
        return self

    def build(self) -> ModelCommand:
        return Spring(self.curve() if self.length is None else self.length, self.stiffness, self.damping)


def _one_of(section: BaseModel, *ways: tuple[str, ...]) -> None:
    """Refuse a section that gives not exactly one of these sets of keys."""
    names = list(dict.fromkeys(name for way in ways for name in way))
    given = [name for name in names if getattr(section, name) is not None]
    if set(given) not in [set(way) for way in ways]:
        *before, last = (_and(way) for way in ways)
        expected = f"either {before[0]}, or {last}" if len(before) == 1 else f"{', '.join(before)} or {last}"
        raise ValueError(f"expected {expected}, got {' and '.join(given) or 'neither'}")


def _and(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


Command = Annotated[
    LockedCommand | FreeCommand | TorqueCommand | BrakeCommand | LengthCommand | SpeedCommand | SpringCommand,
    Field(discriminator="kind"),
]


class RunSection(_Section):
    duration: Time
    elements: int
    step: Annotated[float | str, BeforeValidator(_Step("s"), json_schema_input_type=float | str)] = "auto"
    sample: Time | None = None
    order: Literal[2, 4, 6] = 2
    scheme: Literal["symmetric", "paper"] = "symmetric"
    compensated: bool = True
    minimum_length: Length | None = None
    at_end: Literal["stop", "hold"] = "stop"

    def options(self) -> dict[str, Any]:
        """Keyword arguments of `simulate`."""
        for name in ("duration", "step", "sample", "minimum_length"):
            value = getattr(self, name)
            if not (value is None or value == "auto"):
                checks.positive(name, value, "m" if name == "minimum_length" else "s")
        return self.model_dump(exclude={"elements"})


def _both(value: Any) -> str:
    return "neither" if value is None else "both"


_T = TypeVar("_T")


class Built(NamedTuple):
    """What a scenario stands for."""

    pendulum: Pendulum
    state: State
    command: ModelCommand
    options: dict[str, Any]


class _Origin(NamedTuple):
    """Where the values come from."""

    source: str
    text: str
    given: tuple[tuple[str, ...], ...]  # keys that --set gave

    def head(self, path: list[str]) -> str:
        """File, line and key; or the option that gave the key."""
        if any(tuple(path[: len(key)]) == key for key in self.given):
            return f"--set {_dotted(path)}"
        line = _line_of(self.text, path)
        if line is None and path and any(list(key[: len(path)]) == path for key in self.given):
            return f"--set {_dotted(path)}"
        where = self.source if line is None else f"{self.source}:{line}"
        return f"{where}: {_dotted(path)}" if path else where


class FluidSection(_Section):
    density: Density
    flow: tuple[Speed, Speed, Speed] = (0.0, 0.0, 0.0)
    depths: list[Length] | None = None
    flows: list[tuple[Speed, Speed, Speed]] | None = None
    drag_area: Area = 0.0
    drag_center: tuple[Length, Length, Length] | None = None
    volume: Volume = 0.0
    buoyancy_center: tuple[Length, Length, Length] | None = None
    added_mass: Mass = 0.0
    spin_damping: RotaryDamping = 0.0

    @model_validator(mode="after")
    def _one_flow(self) -> FluidSection:
        if (self.depths is None) != (self.flows is None):
            raise ValueError("expected depths and flows together")
        return self

    def build(self) -> Fluid:
        values = self.model_dump(exclude={"depths", "flows"})
        if self.depths is not None:
            values["flow"] = (self.depths, self.flows)
        return Fluid(**values)


class PushSection(_Section):
    force: tuple[Force, Force, Force] = (0.0, 0.0, 0.0)
    moment: tuple[Moment, Moment, Moment] = (0.0, 0.0, 0.0)
    times: list[Time] | None = None
    forces: list[tuple[Force, Force, Force]] | None = None
    moments: list[tuple[Moment, Moment, Moment]] | None = None
    point: tuple[Length, Length, Length] = (0.0, 0.0, 0.0)

    @model_validator(mode="after")
    def _timed(self) -> PushSection:
        if (self.times is None) != (self.forces is None and self.moments is None):
            raise ValueError("expected times together with forces or moments")
        return self

    def build(self) -> Push:
        force = self.force if self.forces is None else (self.times, self.forces)
        moment = self.moment if self.moments is None else (self.times, self.moments)
        return Push(force, moment, self.point)


class GuideSection(_Section):
    times: list[Time]
    displacements: list[tuple[Length, Length, Length]]
    start_velocity: tuple[Speed, Speed, Speed] = (0.0, 0.0, 0.0)
    end_velocity: tuple[Speed, Speed, Speed] = (0.0, 0.0, 0.0)

    def build(self) -> GuidePath:
        return GuidePath(tuple(self.times), tuple(self.displacements), (self.start_velocity, self.end_velocity))


class Scenario(_Section):
    """A whole system and what to do with it."""

    title: str = ""
    description: str = ""
    gravity: Acceleration = 9.81
    string: StringSection
    reel: ReelSection
    body: Body
    fluid: FluidSection | None = None
    push: PushSection | None = None
    guide: GuideSection | None = None
    initial: Initial
    command: Command
    run: RunSection

    _origin: _Origin = PrivateAttr(default_factory=lambda: _Origin("scenario", "", ()))

    def build(self, like: tuple[Scenario, Built] | None = None) -> Built:
        """Plain SI objects; ScenarioError where values are out of range or do not fit together.

        Parameters
        ----------
        like : tuple of Scenario and Built, optional
            Another scenario and what it was built to. Sections that are the same objects in both are not built again:
            of thousands of scenarios that differ in a value or two, most of the work is done once.
        """
        string = self._part("string", like, lambda built: built.pendulum.string, self.string.build)
        body = self._part("body", like, lambda built: built.pendulum.body, self.body.build)
        reel = self._reel(like)
        fluid = push = None
        if self.fluid is not None:
            fluid = self._part("fluid", like, lambda built: built.pendulum.fluid, self.fluid.build)
        if self.push is not None:
            push = self._part("push", like, lambda built: built.pendulum.push, self.push.build)
        with self._refused_by_key("reel"):
            pendulum = Pendulum(string, reel, body, self.gravity, fluid, push)
        command = self._part("command", like, lambda built: built.command, self.command.build)
        options = dict(self._part("run", like, lambda built: built.options, self.run.options))
        with self._refused_by_key("initial"):
            state = self._state(pendulum, like)
            state.check_against(pendulum)
            if isinstance(command, Locked) and state.reel_speed != 0.0:
                checks.refuse("reel_speed", "0 with a locked reel", state.reel_speed)
        with self._refused_by_key("command"):
            check_start(command, 0.0, string.length - state.reeled_length, state.reel_speed)
        return Built(pendulum, state, command, options)

    def _reel(self, like: tuple[Scenario, Built] | None) -> Reel:
        """With the path of the guide, which has a section of its own."""
        if like is not None and like[0].reel is self.reel and like[0].guide is self.guide:
            return like[1].pendulum.reel
        with self._refused_by_key("reel"):
            reel = self.reel.build()
        if self.guide is None:
            return reel
        with self._refused_by_key("guide"):
            return dataclasses.replace(reel, guide_path=self.guide.build())

    def _state(self, pendulum: Pendulum, like: tuple[Scenario, Built] | None) -> State:
        """At the start; one that does not hang depends on two lengths only."""
        if like is not None and like[0].initial is self.initial and not isinstance(self.initial, HangingState):
            known = like[1]
            same = (
                known.state.elements == self.run.elements
                and known.pendulum.string.length == pendulum.string.length
                and known.pendulum.reel.guide_length == pendulum.reel.guide_length
            )
            if same:
                return known.state
        return self.initial.build(pendulum, self.run.elements)

    def _part(
        self, section: str, like: tuple[Scenario, Built] | None, made: Callable[[Built], _T], make: Callable[[], _T]
    ) -> _T:
        if like is not None and getattr(like[0], section) is getattr(self, section):
            return made(like[1])
        with self._refused_by_key(section):
            return make()

    @contextmanager
    def _refused_by_key(self, section: str) -> Iterator[None]:
        """What the model says of its arguments, said of the keys of the file."""
        try:
            yield
        except InputError as error:
            name, _, rest = str(error).partition(": ")
            path = _key_of(name, section, getattr(self, section))
            raise ScenarioError(f"{self._origin.head(path)}: {rest}") from None


# Where the model's name of an argument is not the name of the key.
_MODEL_NAMES = {
    "Pendulum": ["reel", "guide_length"],
    "Pendulum.gravity": ["gravity"],
    "elements": ["run", "elements"],
    "Torque.moment[0] (times)": ["command", "times"],
    "Torque.moment[1] (values)": ["command", "moments"],
    "Brake.moment[0] (times)": ["command", "times"],
    "Brake.moment[1] (values)": ["command", "moments"],
    "Length.table[0] (times)": ["command", "times"],
    "Length.table[1] (values)": ["command", "lengths"],
    "Speed.payout[0] (times)": ["command", "times"],
    "Speed.payout[1] (values)": ["command", "payouts"],
    "Speed.retrieval[0] (times)": ["command", "times"],
    "Speed.retrieval[1] (values)": ["command", "retrievals"],
}


def _key_of(name: str, section: str, values: BaseModel) -> list[str]:
    if name in _MODEL_NAMES:
        return _MODEL_NAMES[name]
    plain = name.rpartition(".")[2].partition("[")[0]
    if plain == "inertia_mass" and getattr(values, "inertia", None) is not None:
        plain = "inertia"
    return [section, plain] if plain in type(values).model_fields else [section]


def json_schema() -> dict[str, Any]:
    """For editors that complete and check TOML."""
    schema = Scenario.model_json_schema(mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def unit_of(scenario: Scenario, key: str) -> str:
    """Unit of a key such as "string.stiffness" in a scenario; empty for words, counts and plain numbers."""
    *section, name = key.split(".")
    field = type(getattr(scenario, section[0]) if section else scenario).model_fields[name]
    stack: list[Any] = [*field.metadata, field.annotation]
    while stack:
        found = stack.pop()
        if isinstance(found, BeforeValidator) and isinstance(found.func, _ToSi):
            return found.func.unit
        stack += [*get_args(found), *getattr(found, "__metadata__", ())]
    return ""


BUILT_IN = Path(__file__).parent / "scenarios"


def built_in_names() -> list[str]:
    """Names of the built-in scenarios."""
    return sorted(path.stem for path in BUILT_IN.glob("*.toml"))


def find(name: str) -> Path:
    """A file, or one of the built-in scenarios by name."""
    path = Path(name)
    try:
        if path.is_file():
            return path
        folder = path.is_dir()
    except OSError as error:  # a name that is too long, a folder that may not be read
        raise ScenarioError(f"{name}: cannot be read: {error.strerror}") from None
    if name in built_in_names():
        return BUILT_IN / f"{name}.toml"
    if folder:
        raise ScenarioError(f"{name}: expected a scenario file, got a folder")
    near = difflib.get_close_matches(name, built_in_names(), 1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; built in are {', '.join(built_in_names())}"
    raise ScenarioError(f"{name}: no such file or built-in scenario{hint}")


def load(name: str, overrides: Mapping[str, str] | None = None) -> Scenario:
    """Read a scenario file or a built-in scenario.

    Parameters
    ----------
    name : str
        A path, or the name of a built-in scenario.
    overrides : dict, optional
        TOML values by dotted key, such as {"body.mass": "2 kg"}.
    """
    path = find(name)
    return parse(read(path), str(path), overrides)


def read(path: Path) -> str:
    """The text of a scenario file."""
    try:
        return path.read_text(encoding="utf-8-sig")  # some editors put a byte order mark first
    except UnicodeDecodeError:
        hint = "; a run file? Then use `tautline info` or `resume`" if path.suffix == ".nc" else ""
        raise ScenarioError(f"{path}: not a text file in UTF-8{hint}") from None
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {error.strerror}") from None


def parse(text: str, source: str = "scenario", overrides: Mapping[str, str] | None = None) -> Scenario:
    """From TOML text; ScenarioError names the key, what was wanted, what came, file and line."""
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f'{source}: not valid TOML: {error}; values with units need quotes: "5 kg"') from None
    except RecursionError:
        raise ScenarioError(f"{source}: not valid TOML here: nested too deeply") from None
    except ValueError:  # Python reads no integer of more than 4300 digits
        raise ScenarioError(f"{source}: not valid TOML here: a number of thousands of digits") from None
    given = tuple(_override(tree, key, value) for key, value in (overrides or {}).items())
    return _validated(tree, _Origin(source, text, given))


def from_dict(tree: Mapping[str, Any], source: str = "scenario") -> Scenario:
    """From what a TOML parser returns. A section may also be that of another Scenario, which was checked before."""
    return _validated(tree, _Origin(source, "", ()))


def _validated(tree: Mapping[str, Any], origin: _Origin) -> Scenario:
    endless = _endless(tree)
    if endless is not None:
        raise ScenarioError(f"{origin.head(endless)}: expected a number of fewer digits, got thousands")
    try:
        scenario = Scenario.model_validate(tree)
    except ValidationError as error:
        problems = [_sentence(problem, origin) for problem in error.errors(include_url=False)]
        raise ScenarioError("\n".join(problems)) from None
    scenario._origin = origin
    return scenario


def _endless(tree: Any) -> list[str] | None:
    """Path of an integer that Python declines to print (hexadecimal ones are read at any length), if there is one.

    Neither pydantic nor a message could deal with it. A stack, because a tree may be deeper than Python recurses.
    """
    stack: list[tuple[Any, list[str]]] = [(tree, [])]
    while stack:
        value, path = stack.pop()
        if isinstance(value, (float, str, BaseModel)):  # nothing inside, or checked before
            continue
        if isinstance(value, int) and value.bit_length() > _MOST_BITS:
            return path
        if isinstance(value, Mapping):
            stack += [(item, [*path, str(key)][:2]) for key, item in value.items()]  # section and key
        elif isinstance(value, list):
            stack += [(item, path) for item in value]
    return None


def _override(tree: dict[str, Any], key: str, value: str) -> tuple[str, ...]:
    """`--set string.stiffness=60`: the value is read as TOML, and as text where it is none; the path of the key."""
    parts = key.split(".")
    if not all(parts):
        raise ScenarioError(f"--set {shown(key)}: expected section.key=value")
    try:
        parsed = tomllib.loads(f"x = {value}")
    except (RecursionError, ValueError):
        parsed = {}
    node = tree
    for part in parts[:-1]:
        child = node.setdefault(part, {})
        if not isinstance(child, dict):
            raise ScenarioError(f"--set {_dotted(parts)}: {part} is not a section")
        node = child
    node[parts[-1]] = parsed["x"] if list(parsed) == ["x"] else value
    return tuple(parts)


def _dotted(path: list[str]) -> str:
    """The key in one line, quoted where TOML would quote it, and not longer than one can read."""
    key = ".".join(part if re.fullmatch(r"[\w-]+", part) else repr(part) for part in path)
    return key if len(key) <= LONGEST_SHOWN else key[: LONGEST_SHOWN - 3] + "..."


_UNIONS: dict[str, dict[str, type[BaseModel]]] = {
    "body": {"elliptic_cylinder": EllipticCylinder, "box": Box, "sphere": Sphere, "point": Point, "custom": Custom},
    "initial": {"straight": StraightState, "hanging": HangingState, "nodes": NodesState},
    "command": {
        "locked": LockedCommand,
        "free": FreeCommand,
        "torque": TorqueCommand,
        "brake": BrakeCommand,
        "length": LengthCommand,
        "speed": SpeedCommand,
        "spring": SpringCommand,
    },
}
_SECTIONS: dict[str, type[BaseModel]] = {
    "string": StringSection,
    "reel": ReelSection,
    "fluid": FluidSection,
    "push": PushSection,
    "guide": GuideSection,
    "run": RunSection,
}
# What pydantic finds, in words of a scenario file.
_EXPECTED = {
    "model_type": "a section",
    "model_attributes_type": "a section",
    "list_type": "a list such as [1, 2, 3]",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_type": "text",
}


def _sentence(problem: Any, origin: _Origin) -> str:
    """One line: where, which key, what was expected, what came, and the near miss."""
    path, context = [str(part) for part in problem["loc"]], problem.get("ctx", {})
    tag = None
    if len(path) > 1 and path[0] in _UNIONS:
        # pydantic puts the kind of a section into the path: not a key of the file
        tag = path.pop(1)
    kind = problem["type"]
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        path.append(context["discriminator"].strip("'"))
    head = origin.head(path)
    if kind == "extra_forbidden":
        return f"{head}: {_unknown(path, tag)}"
    if kind in ("missing", "union_tag_not_found"):
        options = list(_UNIONS[path[0]]) if kind != "missing" else []
        return f"{head}: missing" + (f"; expected one of {_listed(options)}" if options else "")
    if kind == "value_error":
        return f"{head}: {context['error']}"
    if kind == "union_tag_invalid":
        came = problem["input"].get(path[-1])
        return f"{head}: expected one of {context['expected_tags']}, got {shown(came)}{_near(came, _UNIONS[path[0]])}"
    came = problem["input"]
    if kind == "literal_error":
        options = re.findall(r"'(\w+)'", context["expected"])
        return f"{head}: expected {context['expected']}, got {shown(came)}{_near(came, options)}"
    expected = _EXPECTED.get(kind, f"another value ({problem['msg']})")
    return f"{head}: expected {expected}, got {shown(came)}"


def _unknown(path: list[str], tag: str | None) -> str:
    """Of a key that does not exist: the near miss, or the kind of section that has it."""
    if len(path) == 1:
        return f"no such key{_near(path[0], Scenario.model_fields)}"
    kinds = _UNIONS.get(path[0], {})
    model = kinds[tag] if tag in kinds else _SECTIONS[path[0]]
    elsewhere = [name for name, other in kinds.items() if path[-1] in other.model_fields]
    if elsewhere:
        discriminator = "shape" if path[0] == "body" else "kind"
        return f"no such key with {discriminator} = {tag!r}, only with {_listed(elsewhere)}"
    return f"no such key{_near(path[-1], model.model_fields)}"


def _near(came: Any, options: Any) -> str:
    # get_close_matches takes time in proportion to the length
    near = difflib.get_close_matches(came, list(options), 1) if isinstance(came, str) and len(came) <= 100 else []
    return f"; did you mean {near[0]!r}?" if near else ""


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names))


def _line_of(text: str, path: list[str]) -> int | None:
    """Line of a key, found by reading the text as sections and assignments; of its section if the key is not there."""
    section: list[str] = []
    best: int | None = None
    for number, line in enumerate(text.split("\n"), 1):
        header = re.match(r"\s*\[+([^\[\]]+)\]+\s*(?:#.*)?$", line)
        if header:
            section = _parts(header[1])
            if section[: len(path)] == path:
                return number
            if section == path[: len(section)] and best is None:
                best = number
            continue
        assignment = re.match(r"\s*([^=\[\]{},#]+)=", line)
        if assignment:
            full = [*section, *_parts(assignment[1])]
            if full[: len(path)] == path[: len(full)]:
                return number
    return best


def _parts(key: str) -> list[str]:
    return [part.strip().strip("\"'") for part in key.split(".")]
