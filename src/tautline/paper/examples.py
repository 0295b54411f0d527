"""The three examples of the paper, with its parameters (N = 20, h = 0.0005 s)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from tautline.engine.simulate import simulate
from tautline.model.body import RigidBody
from tautline.model.command import Command, Free, Locked, Torque
from tautline.model.reel import Reel
from tautline.model.string import String
from tautline.model.system.pendulum import pendulum
from tautline.model.system.starts import Straight
from tautline.model.system.system import System

STEP = 5e-4
SAMPLE = 0.01
ELEMENTS = 20
_TILT = math.radians(15.0)


class Example(NamedTuple):
    number: int
    title: str
    deployed: float  # at the start, unstretched (m)
    direction: tuple[float, float, float]
    command: Command
    duration: float


EXAMPLES = (
    Example(1, "fixed length", 10.0, (1.0, 0.0, 0.0), Locked(), 10.0),
    Example(2, "deployment", 1.0, (1.0, 0.0, 0.0), Free(), 8.0),
    Example(3, "retrieval", 10.0, (math.sin(_TILT), 0.0, math.cos(_TILT)), Torque(2.09), 10.0),
)


def system(guide_law: str = "dissipative", elements: int = ELEMENTS) -> System:
    """A rubber string with an elliptic cylinder."""
    return pendulum(
        string=String(length=100.0, density=0.025, stiffness=40.0, law="linear"),
        reel=Reel(drum_radius=0.5, guide_length=0.5, inertia_mass=1.0, guide_law=guide_law),
        body=RigidBody.elliptic_cylinder(mass=0.1, semi_axes=(0.5, 0.4), height=0.8, center_of_mass=(0.3, 0.2, 0.4)),
        elements=elements,
    )


def start(example: Example) -> Straight:
    """The start of an example."""
    return Straight(example.deployed, direction=example.direction, end_velocity=(0.0, 0.5, 0.0))


def run(number: int, *, guide_law: str = "dissipative", elements: int = ELEMENTS, **options: Any) -> xr.Dataset:
    """Simulate example 1, 2 or 3; options as in `simulate`."""
    example = EXAMPLES[number - 1]
    settings: dict[str, Any] = {"duration": example.duration, "step": STEP, "sample": SAMPLE}
    return simulate(system(guide_law, elements), start(example), example.command, **(settings | options))


def only(result: xr.Dataset) -> xr.Dataset:
    """A result of the examples without the dimensions of its only line and body, and with the energy of rotation.

    That is Omega.J Omega/2 about the attachment point, as the paper has it (J).
    """
    found = result.squeeze(["line", "body"])
    body = system().bodies["body"]
    assert isinstance(body, RigidBody)
    omega = found.angular_velocity.values
    return found.assign(rotational_energy=("time", 0.5 * np.einsum("ti,ij,tj->t", omega, body.inertia, omega)))
