"""Results of the chain kernels as results of a system: dimensions line and body, the system's names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from tautline import ledger
from tautline.arrays import Array
from tautline.model.assembly.assembly import System
from tautline.model.body import RigidBody
from tautline.results.values import Values
from tautline.schema import SCHEMA

# Variables of a line and what the chain calls them.
OF_LINE = {
    "reeled_length": "reeled_length",
    "reel_speed": "reel_speed",
    "unstretched_length": "unstretched_length",
    "stretched_length": "stretched_length",
    "start_tension": "guide_tension",
    "end_tension": "body_tension",
    "torque": "torque",
    "power": "power",
    "motor_work": "control_work",
}
SAME = ("time", "position", "velocity", "strain", "tension", "energy", *(x.name for x in ledger.ACCOUNTS))


# Variables of a body, and of the whole, that follow from several of the chain's.
OF_BODY = ("body_position", "body_velocity", "attitude", "angular_velocity", "orthogonality_error")
MOMENTA = ("linear_momentum", "angular_momentum")
MOTION = ("position", "velocity", "attitude", "angular_velocity")


class Inertia(NamedTuple):
    """What momenta of a chain follow from, beside its motion."""

    density: Any  # of the string
    mass: Any  # of the body
    center: Any  # of its mass (3,), in its frame
    inertia: Any  # about that (3, 3)


def inertia_of(system: System) -> Inertia:
    """Inertia of a system that is a chain."""
    line = next(iter(system.lines.values()))
    body = system.bodies[line.end]
    assert isinstance(body, RigidBody)
    return Inertia(
        line.string.density, body.mass, np.array(body.center_of_mass), np.array(body.central_inertia(), dtype=float)
    )


def needed_for(names: Iterable[str]) -> set[str]:
    """Variables of a chain that some of a system follow from."""
    found: set[str] = set()
    for name in names:
        if name in OF_LINE:
            found.add(OF_LINE[name])
        elif name in MOMENTA:
            found |= {*MOTION, "reel_speed", "unstretched_length"}
        elif name in OF_BODY:
            found |= {*MOTION, *({name} if name == "orthogonality_error" else ())}
        else:
            found.add(name)
    return found


def system_values(
    system: System, values: Values, names: Iterable[str] = tuple(SCHEMA), inertia: Inertia | None = None
) -> Values:
    """Variables of a system's results, and the time, from those of a chain (`needed_for`).

    Values and `inertia`, by default the system's own, may be arrays that carry derivatives.
    """
    wanted, found = set(names), {"time": values["time"]}
    line = next(iter(system.lines.values()))
    own = inertia_of(system) if inertia is None else inertia
    found |= {name: values[name] for name in SAME if name in wanted}
    found |= {name: values[key][:, None] for name, key in OF_LINE.items() if name in wanted}
    if not wanted & {*OF_BODY, *MOMENTA}:
        return found
    R, omega, rows = values["attitude"], values["angular_velocity"], len(values["time"])
    with np.errstate(all="ignore"):  # a run that overflowed says so in its status
        place = values["position"][:, -1] + R @ own.center
        velocity = values["velocity"][:, -1] + _turned(R, _cross(omega, own.center))
        carrier = {
            "body_position": values["position"][:, 0] - np.array(line.start_point),
            "body_velocity": values["velocity"][:, 0],
            "attitude": np.broadcast_to(np.eye(3), (rows, 3, 3)),
            "angular_velocity": np.zeros((rows, 3)),
            "orthogonality_error": np.zeros(rows),
        }
        body = values | {"body_position": place, "body_velocity": velocity}
        for name in (name for name in OF_BODY if name in wanted):
            parts = [body if key == line.end else carrier for key in system.bodies]
            found[name] = np.stack([part[name] for part in parts], axis=1)
        if wanted & set(MOMENTA):
            p, linear = node_momenta(own.density, values), own.mass * velocity
            spin = _turned(R, (own.inertia * omega[:, None, :]).sum(axis=-1))
            turning = _cross(values["position"], p).sum(axis=1) + _cross(place, linear)
            found |= {"linear_momentum": p.sum(axis=1) + linear, "angular_momentum": turning + spin}
    return found


def _cross(a: Any, b: Any) -> Any:
    """Vector product along the last dimension."""
    return a[..., [1, 2, 0]] * b[..., [2, 0, 1]] - a[..., [2, 0, 1]] * b[..., [1, 2, 0]]


def _turned(R: Any, v: Any) -> Any:
    """Vectors (time, 3), each turned by its matrix (time, 3, 3)."""
    return (R * v[:, None, :]).sum(axis=-1)


def node_momenta(density: Any, values: Values) -> Array:
    """Momentum of the nodes, (time, N + 1, 3), that of the first left out (docs/theory.md, momenta of the string)."""
    q, v, sigma = values["position"], values["velocity"], values["reel_speed"][:, None, None]
    N = q.shape[1] - 1
    l = (values["unstretched_length"] / N)[:, None, None]
    k = (N - np.arange(N))[:, None]
    alpha, beta = (3.0 * k - 1.0) / (6.0 * N), (3.0 * k - 2.0) / (6.0 * N)
    w = q[:, :-1] - q[:, 1:]
    before = l / 6.0 * (v[:, 1:] + 2.0 * v[:, :-1]) + alpha * sigma * w  # of each element, at its two nodes
    after = l / 6.0 * (v[:, :-1] + 2.0 * v[:, 1:]) + beta * sigma * w
    p: Any = np.concatenate([np.zeros_like(after[:, :1]), before[:, 1:] + after[:, :-1], after[:, -1:]], axis=1)
    found: Array = density * p
    return found
