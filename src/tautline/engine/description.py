"""The full input of a run as plain values, and back: what results and checkpoints say of where they come from."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from tautline.engine.conditions import StopWhen
from tautline.model.body import RigidBody, Shape
from tautline.model.command import KINDS, Command, Length, Speed, Torque
from tautline.model.fluid import AppliedForce, Fluid
from tautline.model.path import GuidePath
from tautline.model.pendulum import Pendulum
from tautline.model.reel import Reel
from tautline.model.state import State
from tautline.model.string import String


def state_description(state: State) -> dict[str, Any]:
    """A state as plain values."""
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(state).items()}


def pendulum_from(tree: dict[str, Any]) -> Pendulum:
    """A pendulum from its description."""
    body, reel = dict(tree["body"]), dict(tree["reel"])
    shape, path = body.pop("shape"), reel.pop("guide_path")
    return Pendulum(
        String(**tree["string"]),
        Reel(**reel, guide_path=None if path is None else GuidePath(**path)),
        RigidBody(**body, shape=None if shape is None else Shape(shape[0], tuple(shape[1]))),
        tree["gravity"],
        None if tree["fluid"] is None else Fluid(**tree["fluid"]),
        None if tree["applied_force"] is None else AppliedForce(**tree["applied_force"]),
    )


def command_description(command: Command) -> dict[str, Any]:
    """A command as plain values; a function by its name."""
    if isinstance(command, Torque) and command.is_function:
        name = getattr(command.moment, "__qualname__", type(command.moment).__name__)
        return {"kind": "Torque", "moment": f"function {name}"}
    tree = {"kind": type(command).__name__, **dataclasses.asdict(command)}
    follower = getattr(command, "length", None)
    if isinstance(follower, Length | Speed):
        tree["length"] = command_description(follower)
    return tree


def command_from(tree: dict[str, Any]) -> Command:
    """A command from its description."""
    arguments = {name: command_from(x) if isinstance(x, dict) else x for name, x in tree.items() if name != "kind"}
    return KINDS[tree["kind"]](**arguments)


def condition_descriptions(conditions: Iterable[StopWhen]) -> list[dict[str, Any]]:
    """Conditions that end a run as plain values; a function by its name."""
    return [
        {"variable": condition.sentence()} if condition.is_function else dataclasses.asdict(condition)
        for condition in conditions
    ]
