"""Results of the chain kernels as results of a system: dimensions line and body, the system's names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tautline import ledger
from tautline.arrays import Array
from tautline.model.assembly.assembly import System
from tautline.model.body import RigidBody
from tautline.model.pendulum import Chain
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
# Variables with a dimension of bodies.
OF_BODIES = ("body_position", "body_velocity", "attitude", "angular_velocity", "orthogonality_error")
SAME = ("time", "position", "velocity", "strain", "tension", "energy", *(x.name for x in ledger.ACCOUNTS))


# Variables of the chain that others are made of.
_MOVING = ("position", "velocity", "attitude", "angular_velocity")
NEEDS = {
    **{name: (name,) for name in (*SAME, "attitude", "angular_velocity", "orthogonality_error")},
    **{name: (own,) for name, own in OF_LINE.items()},
    **dict.fromkeys(("body_position", "body_velocity"), _MOVING),
    **dict.fromkeys(("linear_momentum", "angular_momentum"), (*_MOVING, "reel_speed", "unstretched_length")),
}


def chain_variables(names: Iterable[str]) -> set[str]:
    """Variables of a chain that those of its system are made of."""
    return {own for name in names for own in NEEDS[name]}


def system_values(system: System, chain: Chain, values: Values, names: Iterable[str] = tuple(SCHEMA)) -> Values:
    """Variables of a system's results, and the time, from those of the chain that it is (`chain_variables`).

    The names of lines and bodies are the system's, the numbers are the chain's. Of many members, whose chain has
    columns in place of numbers, arrays have the members as their last dimension. A member's bits do not depend on
    others: sums are made one by one.
    """
    wanted = {"time", *names}
    line = next(iter(system.lines.values()))
    found = {name: values[name] for name in SAME if name in wanted}
    found |= {name: values[own][:, None] for name, own in OF_LINE.items() if name in wanted}
    with np.errstate(all="ignore"):  # a run that overflowed says so in its status
        own = _of_body(chain.body, values, wanted)
        carrier = _of_carrier(line.start_point, values, wanted)
        for name in (name for name in OF_BODIES if name in wanted):
            parts = [own if body == line.end else carrier for body in system.bodies]
            found[name] = np.stack([part[name] for part in parts], axis=1)
        if wanted & {"linear_momentum", "angular_momentum"}:
            momenta = _momenta(chain, values)
            found |= {name: x for name, x in momenta.items() if name in wanted}
    return found


def _of_body(body: RigidBody, values: Values, wanted: set[str]) -> Values:
    """Variables of the body at the end."""
    found = {name: values[name] for name in OF_BODIES if name in values}
    if wanted & {"body_position", "body_velocity"}:
        found |= dict(zip(("body_position", "body_velocity"), _center(body, values), strict=True))
    return found


def _center(body: RigidBody, values: Values) -> tuple[Array, Array]:
    """Position and velocity of the centre of mass."""
    R, omega, c = values["attitude"], values["angular_velocity"], body.center_of_mass
    return (
        values["position"][:, -1] + _rotated(R, c),
        values["velocity"][:, -1] + _rotated(R, _components(_crossed(_parts(omega), c))),
    )


def _of_carrier(start_point: tuple[float, float, float], values: Values, wanted: set[str]) -> Values:
    """Variables of the kinematic body that carries the guide, which does not turn."""
    found: Values = {}
    if wanted & {"body_position", "body_velocity"}:
        place = np.stack([values["position"][:, 0, i] - x for i, x in enumerate(start_point)], axis=1)
        found |= {"body_position": place, "body_velocity": values["velocity"][:, 0]}
    for name in ("angular_velocity", "orthogonality_error"):
        if name in wanted:
            found[name] = np.zeros_like(values[name])
    if "attitude" in wanted:
        found["attitude"] = np.zeros_like(values["attitude"])
        for i in range(3):
            found["attitude"][:, i, i] = 1.0
    return found


def _momenta(chain: Chain, values: Values) -> Values:
    """Momenta of the body and of the nodes, about the origin."""
    body, R, omega = chain.body, values["attitude"], _parts(values["angular_velocity"])
    at, moving = _center(body, values)
    p, linear = node_momenta(chain.string.density, values), body.mass * moving
    J = np.array(body.central_inertia()).tolist()
    spin = _rotated(R, [J[i][0] * omega[0] + J[i][1] * omega[1] + J[i][2] * omega[2] for i in range(3)])
    own = _components(_crossed(_parts(at), _parts(linear)))
    q = values["position"]
    turning = [_components(_crossed(_parts(q[:, k]), _parts(p[:, k]))) for k in range(q.shape[1])]
    return {
        "linear_momentum": _added([p[:, k] for k in range(p.shape[1])]) + linear,
        "angular_momentum": _added(turning) + own + spin,
    }


def _added(parts: list[Array]) -> Array:
    """Sum, one after the other."""
    return sum(parts[1:], start=parts[0])


def _parts(vectors: Array) -> list[Array]:
    """Components of vectors (time, 3, ...)."""
    return [vectors[:, i] for i in range(3)]


def _components(parts: Sequence[Array]) -> Array:
    """Vectors (time, 3, ...) of their components."""
    return np.stack(parts, axis=1)


def _crossed(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    """Components of a cross product."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _rotated(R: Array, vector: Any) -> Array:
    """R v, of a vector in the body frame: three numbers, or components over time."""
    v = vector if isinstance(vector, (list, tuple)) else _parts(vector)
    return _components([R[:, i, 0] * v[0] + R[:, i, 1] * v[1] + R[:, i, 2] * v[2] for i in range(3)])


def node_momenta(density: Any, values: Values) -> Array:
    """Momenta (time, N + 1, 3) of the nodes of the mesh, that of the first zero (docs/theory.md, momenta of the string).

    Of many members, density is a column, and arrays have the members as their last dimension.
    """
    q, v, sigma = values["position"], values["velocity"], values["reel_speed"][:, None, None]
    N = q.shape[1] - 1
    l = (values["unstretched_length"] / N)[:, None, None]
    k = (N - np.arange(N)).reshape(-1, *(1,) * (q.ndim - 2))
    alpha, beta = (3.0 * k - 1.0) / (6.0 * N), (3.0 * k - 2.0) / (6.0 * N)
    w = q[:, :-1] - q[:, 1:]
    p: Any = np.zeros_like(q)
    p[:, :-1] += l / 6.0 * (v[:, 1:] + 2.0 * v[:, :-1]) + alpha * sigma * w
    p[:, 1:] += l / 6.0 * (v[:, :-1] + 2.0 * v[:, 1:]) + beta * sigma * w
    p[:, 0] = 0.0
    found: Array = density * p
    return found
