"""Results of the chain kernels as results of a system: dimensions line and body, the system's names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tautline import ledger, schema
from tautline.arrays import Array
from tautline.model.body import RigidBody
from tautline.model.string import String
from tautline.model.system.system import System
from tautline.results.values import Values
from tautline.schema import DERIVED, SCHEMA

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
SAME = ("time", "position", "velocity", "strain", "tension", *(x.name for x in ledger.ACCOUNTS))
# Variables of bodies, and of the whole, that follow from several of the chain's.
OF_BODIES = ("body_position", "body_velocity", "attitude", "angular_velocity", "orthogonality_error")
MOMENTA = ("linear_momentum", "angular_momentum")
_MOTION = ("position", "velocity", "attitude", "angular_velocity")
NEEDS = {
    **{name: (name,) for name in (*SAME, "attitude", "angular_velocity", "orthogonality_error")},
    **{name: (own,) for name, own in OF_LINE.items()},
    **dict.fromkeys(("body_position", "body_velocity"), _MOTION),
    **dict.fromkeys(MOMENTA, (*_MOTION, "reel_speed", "unstretched_length")),
}


class Inertia(NamedTuple):
    """Inertia from which momenta of a chain follow, beside its motion."""

    density: Any  # of the string
    mass: Any  # of the body
    center: Any  # of its mass (3,), in its frame
    inertia: Any  # about that (3, 3)


def inertia_of(string: String, body: RigidBody) -> Inertia:
    """Inertia of a string and the body at its end; numbers may be columns."""
    return Inertia(string.density, body.mass, body.center_of_mass, np.array(body.central_inertia()).tolist())


def needed_for(names: Iterable[str]) -> set[str]:
    """Variables of a chain that some of its system follow from."""
    return {own for name in schema.needed_for(names) if name not in DERIVED for own in NEEDS[name]}


def system_values(
    system: System, values: Values, names: Iterable[str] = tuple(SCHEMA), inertia: Inertia | None = None
) -> Values:
    """Variables of a system's results, and the time, from those of the chain that it is (`needed_for`).

    Values and `inertia`, by default the system's own, may be arrays that carry derivatives; or of many members, which
    are the last dimension of all values. A member's bits do not depend on others: sums are made one by one.
    """
    asked = {"time", *names}
    wanted = schema.needed_for(asked)
    line = next(iter(system.lines.values()))
    body = system.bodies[line.end]
    assert isinstance(body, RigidBody)
    found = {name: values[name] for name in SAME if name in wanted}
    found |= {name: values[key][:, None] for name, key in OF_LINE.items() if name in wanted}
    with np.errstate(all="ignore"):  # a run that overflowed says so in its status
        if wanted & {"body_position", "body_velocity", *MOMENTA}:
            own = inertia_of(line.string, body) if inertia is None else inertia
            values = values | _center(own, values)
        carrier = _of_carrier(line.start_point, values, wanted) if len(system.bodies) > 1 else {}
        for name in (name for name in OF_BODIES if name in wanted):
            parts = [values if key == line.end else carrier for key in system.bodies]
            found[name] = np.stack([part[name] for part in parts], axis=1)
        if wanted & set(MOMENTA):
            found |= {name: x for name, x in _momenta(own, values).items() if name in wanted}
        found |= {name: output.formula(found) for name, output in DERIVED.items() if name in asked}
    return {name: x for name, x in found.items() if name in asked}


def _center(own: Inertia, values: Values) -> Values:
    """Position and velocity of the center of mass."""
    R, c = values["attitude"], own.center
    return {
        "body_position": values["position"][:, -1] + _turned(R, c),
        "body_velocity": values["velocity"][:, -1] + _turned(R, _cross(_components(values["angular_velocity"]), c)),
    }


def _of_carrier(start_point: tuple[float, float, float], values: Values, wanted: set[str]) -> Values:
    """Variables of the kinematic body that carries the guide, which does not turn."""
    found: Values = {}
    if wanted & {"body_position", "body_velocity"}:
        place = np.stack([values["position"][:, 0, i] - x for i, x in enumerate(start_point)], axis=1)
        found = {"body_position": place, "body_velocity": values["velocity"][:, 0]}
    found |= {
        name: np.zeros(values[name].shape)
        for name in ("attitude", "angular_velocity", "orthogonality_error")
        if name in wanted
    }
    if "attitude" in found:
        for i in range(3):
            found["attitude"][:, i, i] = 1.0
    return found


def _momenta(own: Inertia, values: Values) -> Values:
    """Momenta of the body and of the nodes, about the origin."""
    omega, J = _components(values["angular_velocity"]), own.inertia
    p, linear = node_momenta(own.density, values), own.mass * values["body_velocity"]
    spin = _turned(values["attitude"], [J[i][0] * omega[0] + J[i][1] * omega[1] + J[i][2] * omega[2] for i in range(3)])
    turning = np.stack(_cross(_components(values["position"], 2), _components(p, 2)), axis=2)
    of_body = np.stack(_cross(_components(values["body_position"]), _components(linear)), axis=1)
    return {
        "linear_momentum": _of_all_nodes(p) + linear,
        "angular_momentum": _of_all_nodes(turning) + of_body + spin,
    }


def _of_all_nodes(x: Array) -> Array:
    """Sum over the nodes, one after the other."""
    return sum((x[:, k] for k in range(1, x.shape[1])), start=x[:, 0])


def _components(vectors: Array, axis: int = 1) -> list[Array]:
    """Components of vectors along a dimension, which is the second or the third."""
    return [vectors[:, i] if axis == 1 else vectors[:, :, i] for i in range(3)]


def _cross(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    """Components of a vector product."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _turned(R: Array, v: Sequence[Any]) -> Array:
    """A vector of the body frame, by its components, in the inertial frame, (time, 3, ...)."""
    return np.stack([R[:, i, 0] * v[0] + R[:, i, 1] * v[1] + R[:, i, 2] * v[2] for i in range(3)], axis=1)


def node_momenta(density: Any, values: Values) -> Array:
    """Momenta (time, N + 1, 3) of the nodes, that of the first left out (docs/theory.md, momenta of the string)."""
    q, v, sigma = values["position"], values["velocity"], values["reel_speed"][:, None, None]
    N = q.shape[1] - 1
    l = (values["unstretched_length"] / N)[:, None, None]
    k = (N - np.arange(N)).reshape(-1, *(1,) * (q.ndim - 2))
    alpha, beta = (3.0 * k - 1.0) / (6.0 * N), (3.0 * k - 2.0) / (6.0 * N)
    w = q[:, :-1] - q[:, 1:]
    before = l / 6.0 * (v[:, 1:] + 2.0 * v[:, :-1]) + alpha * sigma * w  # of each element, at its two nodes
    after = l / 6.0 * (v[:, :-1] + 2.0 * v[:, 1:]) + beta * sigma * w
    p: Any = np.concatenate([np.zeros_like(after[:, :1]), before[:, 1:] + after[:, :-1], after[:, -1:]], axis=1)
    found: Array = density * p
    return found
