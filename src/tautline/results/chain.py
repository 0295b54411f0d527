"""Results of the chain kernels as results of a system: dimensions line and body, the system's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from tautline import ledger
from tautline.arrays import Array
from tautline.model.assembly.assembly import System
from tautline.model.body import RigidBody
from tautline.results.assembly import orthogonality_error
from tautline.results.values import Values

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


def system_values(system: System, values: Values) -> Values:
    """Every variable of a system's results from all variables of a chain's."""
    line = next(iter(system.lines.values()))
    body = system.bodies[line.end]
    assert isinstance(body, RigidBody)
    found = {name: values[name] for name in SAME}
    found |= {name: values[own][:, None] for name, own in OF_LINE.items()}
    R, omega, rows = values["attitude"], values["angular_velocity"], len(values["time"])
    c = np.array(body.center_of_mass)
    with np.errstate(all="ignore"):  # a run that overflowed says so in its status
        at = values["position"][:, -1] + R @ c
        moving = values["velocity"][:, -1] + np.einsum("tij,tj->ti", R, np.cross(omega, c))
        carrier = {
            "body_position": values["position"][:, 0] - np.array(line.start_point),
            "body_velocity": values["velocity"][:, 0],
            "attitude": np.broadcast_to(np.eye(3), (rows, 3, 3)),
            "angular_velocity": np.zeros((rows, 3)),
        }
        own = {"body_position": at, "body_velocity": moving, "attitude": R, "angular_velocity": omega}
        for name in own:
            parts = [own if key == line.end else carrier for key in system.bodies]
            found[name] = np.stack([part[name] for part in parts], axis=1)
        found["orthogonality_error"] = orthogonality_error(found["attitude"])
        found["orthogonality_error"][:, list(system.bodies).index(line.end)] = values["orthogonality_error"]
        p = node_momenta(line.string.density, values)
        J = np.array(body.central_inertia())
        linear = body.mass * moving
        found["linear_momentum"] = p.sum(axis=1) + linear
        spin = np.einsum("tij,tj->ti", R, omega @ J.T)
        turning = np.cross(values["position"], p).sum(axis=1) + np.cross(at, linear)
        found["angular_momentum"] = turning + spin
    return found


def node_momenta(density: float, values: Values) -> Array:
    """Momentum of the nodes of the mesh but the first, (time, N, 3) (docs/theory.md, momenta of the string)."""
    q, v, sigma = values["position"], values["velocity"], values["reel_speed"][:, None, None]
    N = q.shape[1] - 1
    l = (values["unstretched_length"] / N)[:, None, None]
    k = (N - np.arange(N))[:, None]
    alpha, beta = (3.0 * k - 1.0) / (6.0 * N), (3.0 * k - 2.0) / (6.0 * N)
    w = q[:, :-1] - q[:, 1:]
    p: Any = np.zeros_like(q)
    p[:, :-1] += l / 6.0 * (v[:, 1:] + 2.0 * v[:, :-1]) + alpha * sigma * w
    p[:, 1:] += l / 6.0 * (v[:, :-1] + 2.0 * v[:, 1:]) + beta * sigma * w
    p[:, 0] = 0.0
    found: Array = density * p
    return found
