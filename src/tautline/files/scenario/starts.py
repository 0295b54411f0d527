"""Kinds of the initial state in a scenario file."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from tautline.errors import InputError
from tautline.files.scenario.quantities import (
    ZERO,
    Angle,
    AngularVelocity,
    Length,
    Matrix,
    Section,
    Speed,
    Vector,
    Vectors,
)
from tautline.model.equilibrium import hanging
from tautline.model.pendulum import Pendulum
from tautline.model.state import State, straight


class _Initial(Section):
    attitude: Matrix[float] | None = None
    angular_velocity: Vector[AngularVelocity] = ZERO

    def _attitude(self) -> Any:
        return np.eye(3) if self.attitude is None else self.attitude


class StraightState(_Initial):
    """Straight and unstretched, along `direction`, or at an inclination from the vertical."""

    kind: Literal["straight"]
    deployed: Length
    direction: Vector[float] | None = None
    inclination: Angle | None = None
    azimuth: Angle = 0.0
    end_velocity: Vector[Speed] = ZERO
    reel_speed: Speed = 0.0

    @model_validator(mode="after")
    def _one_direction(self) -> StraightState:
        if self.direction is not None and self.inclination is not None:
            raise ValueError("expected either direction or inclination (with azimuth), got both")
        if self.inclination is None and self.azimuth != 0.0:
            raise ValueError("expected azimuth together with inclination, got it alone")
        return self

    def build(self, pendulum: Pendulum, elements: int | None) -> State:
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


class HangingState(Section):
    """At rest under gravity, stretched by its own weight and the body's."""

    kind: Literal["hanging"]
    deployed: Length
    end_velocity: Vector[Speed] = ZERO
    angular_velocity: Vector[AngularVelocity] = ZERO

    def build(self, pendulum: Pendulum, elements: int | None) -> State:
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
    nodes: Vectors[Length]
    node_velocities: Vectors[Speed] | None = None

    def build(self, pendulum: Pendulum, elements: int | None) -> State:
        if elements is not None and len(self.nodes) != elements + 1:
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
