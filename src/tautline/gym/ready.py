"""Ready environments, and vectors of environments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any

from gymnasium.vector import SyncVectorEnv, VectorEnv

from tautline.engine.choose import ACCELERATOR
from tautline.files.scenario import load
from tautline.gym.environment import CaseEnv
from tautline.model.command import Torque
from tautline.model.rest.statics import statics

Seen = Mapping[str, Any]


def make_vec(num_envs: int, *args: Any, **kwargs: Any) -> VectorEnv[Any, Any, Any]:
    """Environments of one case, in lanes where they can serve, else one by one; further arguments as of `CaseEnv`."""
    one = CaseEnv(*args, **kwargs)
    if one.render_mode is None and find_spec(ACCELERATOR) is not None:
        from tautline.gym.lanes import LaneVectorEnv, why_no_lanes

        if why_no_lanes(one.task) is None:
            return LaneVectorEnv(num_envs, *args, **kwargs)
    return SyncVectorEnv([partial(CaseEnv, *args, **kwargs)] * num_envs)


# -- crane hoist: raise a load by a given height, fast and without jerks ------------------------------------------


def _crane_hoist() -> dict[str, Any]:
    """A load of a ton at 20 m of rope, raised by 5 m in 8 s."""
    height = 5.0
    plain = load("crane-hoist")
    weight = float(statics(plain.system, plain.start).lines["line"].holding_torque or 0.0)
    case = plain.with_({"run.duration": 8.0, "run.step": 5e-4, "run.elements": 4}, commands=Torque(weight))
    goal = 20.0 - height

    def reward(before: Seen, after: Seen) -> Any:
        miss, speed = (after["unstretched_length"] - goal) / height, after["reel_speed"]
        return -0.05 * (miss**2 + 0.1 * speed**2)

    return {
        "case": case,
        "actions": {"command.torque": (0.7 * weight, 1.3 * weight)},
        "observations": {
            "time": (0.0, 8.0),
            "unstretched_length": (0.0, 40.0),
            "reel_speed": (-10.0, 10.0),
            "start_tension": (-1e5, 1e5),
        },
        "reward": reward,
        "interval": 0.05,
        "failure": -20.0,
    }


# -- retrieval: the paper's third example without tumbling ------------------------------------------------------


def _retrieval() -> dict[str, Any]:
    """Retrieve the string to 2 m with a body that is attached off its center, and keep it from tumbling."""
    case = load("retrieval").with_({"run.duration": 10.0, "run.step": 5e-4}, commands=Torque(2.09))

    def reward(before: Seen, after: Seen) -> Any:
        spin2 = sum(after[f"angular_velocity[{i}]"] ** 2 for i in range(3))
        return -0.01 * (((after["unstretched_length"] - 2.0) / 8.0) ** 2 + 0.05 * spin2)

    return {
        "case": case,
        "actions": {"command.torque": (-1.0, 4.0)},
        "observations": {
            "time": (0.0, 10.0),
            "unstretched_length": (0.0, 110.0),
            "reel_speed": (-50.0, 50.0),
            "start_tension": (-100.0, 100.0),
            **{f"body_position[{i}]": (-150.0, 150.0) for i in range(3)},
            **{f"angular_velocity[{i}]": (-100.0, 100.0) for i in range(3)},
        },
        "reward": reward,
        "interval": 0.005,
        "failure": -20.0,
    }


# -- hook and load: two bodies below a hoist ------------------------------------------------------------------


def _hook_and_load() -> dict[str, Any]:
    """Raise hook and load; the load swings on its slings."""
    plain = load("hook-and-load")
    (hoist,) = [name for name, line in plain.system.lines.items() if line.reel is not None]
    weight = float(statics(plain.system, plain.start).lines[hoist].holding_torque or 0.0)
    case = plain.with_({"run.duration": 4.0}, commands={hoist: Torque(weight)})
    k = list(case.system.lines).index(hoist)
    deployed = float(case.system.lines[hoist].string.length - case.state().lines[hoist].reeled_length)

    def reward(before: Seen, after: Seen) -> Any:
        miss, speed = after[f"unstretched_length[{k}]"] - (deployed - 2.0), after[f"reel_speed[{k}]"]
        return -0.05 * (miss**2 + 0.1 * speed**2)

    bodies = range(len(case.system.bodies))
    return {
        "case": case,
        "actions": {f"lines.{hoist}.command.torque": (0.5 * weight, 1.5 * weight)},
        "observations": {
            "time": (0.0, 4.0),
            f"unstretched_length[{k}]": (0.0, 2.0 * deployed),
            f"reel_speed[{k}]": (-20.0, 20.0),
            **{f"body_position[{b}, {i}]": (-100.0, 100.0) for b in bodies for i in range(3)},
        },
        "reward": reward,
        "interval": 0.05,
        "failure": -20.0,
    }


# Arguments of `CaseEnv` by name.
READY: dict[str, Callable[[], dict[str, Any]]] = {
    "CraneHoist-v0": _crane_hoist,
    "Retrieval-v0": _retrieval,
    "HookAndLoad-v0": _hook_and_load,
}


def ready(name: str, **kwargs: Any) -> CaseEnv:
    """One of the ready environments."""
    return CaseEnv(**{**READY[name](), **kwargs})


def vector(name: str, num_envs: int = 1, **kwargs: Any) -> VectorEnv[Any, Any, Any]:
    """A vector of one of the ready environments."""
    return make_vec(num_envs, **{**READY[name](), **kwargs})
