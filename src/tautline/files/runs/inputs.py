"""The input of runs of formats 1 to 3, as the keys of a case: enough to look at such a run, not to resume it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tautline.model import sections
from tautline.model.body import RigidBody, Shape
from tautline.model.fluid import AppliedForce, Fluid
from tautline.model.path import GuidePath
from tautline.model.pendulum import Pendulum
from tautline.model.reel import Reel
from tautline.model.string import String

# Arguments that had another name.
_RENAMED = {"wound_strain": "spooled_strain"}


def keys_of_old(described: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of the pendulum and of the method, from what the checkpoint of an earlier format said of the input."""
    tree = described["pendulum"]
    reel = {_RENAMED.get(name, name): value for name, value in tree["reel"].items()}
    path, body = reel.pop("guide_path", None), dict(tree["body"])
    shape = body.pop("shape")
    fluid, force = tree.get("fluid"), tree.get("push", tree.get("applied_force"))
    pendulum = Pendulum(
        String(**tree["string"]),
        Reel(**reel, guide_path=None if path is None else GuidePath(**path)),
        RigidBody(**body, shape=None if shape is None else Shape(shape[0], tuple(shape[1]))),
        tree["gravity"],
        None if fluid is None else Fluid(**fluid),
        None if force is None else AppliedForce(**force),
    )
    run = {name: value for name, value in described["run"].items() if value is not None}
    return sections.of_system(pendulum) | {"run": run}
