"""Forces on one line and one body at rest and their derivatives, by the formulas of the theory: what statics must meet.

Letters of the theory (docs/theory.md, "Statics and modes").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from tautline.arrays import TINY_LENGTH
from tautline.model import checks, drum
from tautline.model.chain.chain import Chain
from tautline.model.chain.hanging import guide_pull
from tautline.model.drum import pull_at_guide, spooled_lever
from tautline.model.rotations import E3

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
# Nodes (N + 1, 3) relative to the guide entrance and attitude (3, 3) in; forces (N + 1, 3) on the nodes in the
# inertial frame (N) and moment (3,) about the attachment point in the body frame (N m) out.
Load = Callable[[Array, Array], tuple[Any, Any]]

# Of the element length, and in radians: central differences err by the square of it, and lose as many digits.
DIFFERENCE = 1e-5
# Of the pull: a string lighter than this has one strain from end to end, to 1e-12.
LIGHT = 1e-6


class AtRest(NamedTuple):
    """Figures by which a pendulum that hangs straight at rest is checked; it stands upward where the fluid lifts it."""

    string_weight: float  # of the deployed string in the fluid; negative where it floats (N)
    body_weight: float  # likewise (N)
    start_tension: float  # at the guide entrance (N)
    end_tension: float  # at the body (N)
    guide_strain: float
    body_strain: float
    stretch: float  # elongation of the deployed string (m)
    drum_radius: float  # with the layers that are spooled (m)
    holding_torque: float  # on the drum (N m)


class Configuration(NamedTuple):
    s: float
    q: Array  # (N + 1, 3)
    R: Array


class Entries(NamedTuple):
    """A sparse matrix: values at places, which add up where places repeat."""

    rows: Indices
    columns: Indices
    values: Array

    def dense(self, size: int) -> Array:
        A = np.zeros((size, size))
        np.add.at(A, (self.rows, self.columns), self.values)
        return A


def element_length(pendulum: Chain, s: float, N: int) -> float:
    return (pendulum.string.length - s) / N


def holding_torque(pendulum: Chain, s: float, strain: float) -> float:
    """Torque that holds the drum against the string at this strain and the spooled string's weight (N m)."""
    spooled = pendulum.weights().string * spooled_lever(pendulum.reel, s)
    return float(pendulum.reel.radius(s) * (pull_at_guide(pendulum.string, pendulum.reel, strain) + spooled))


def at_rest(pendulum: Chain, deployed: float | str) -> AtRest:
    """Tension, stretch and holding torque of a string that hangs straight, for any elastic law and fluid.

    Flow, push and motion of the guide are left out. The stretch is the integral of strain over
    length; tension T being linear there, it is the change of T strain - W from end to end over that of T.

    Parameters
    ----------
    pendulum : Chain
    deployed : float
        Unstretched length outside the guide (m).
    """
    deployed = pendulum.checked_length(deployed, checks.SAME_LENGTH)
    string, net = pendulum.string, pendulum.weights()
    tensions = np.abs([guide_pull(pendulum, deployed), net.body])
    strains = string.strain(tensions)
    if abs(net.string) * deployed <= LIGHT * tensions[0]:
        stretch = deployed * float(string.strain(tensions.mean()))
    else:
        dual = tensions * strains - string.energy_density(strains)
        stretch = deployed * float((dual[0] - dual[1]) / (tensions[0] - tensions[1]))
    s = string.length - deployed
    at_guide, at_body = tensions.tolist()
    return AtRest(
        string_weight=net.string * deployed,
        body_weight=net.body,
        start_tension=at_guide,
        end_tension=at_body,
        guide_strain=float(strains[0]),
        body_strain=float(strains[1]),
        stretch=stretch,
        drum_radius=pendulum.reel.radius(s),
        holding_torque=holding_torque(pendulum, s, float(strains[0])),
    )


def weights(pendulum: Chain, l: float, N: int) -> Array:
    """Weights of string and body at the nodes 1..N; terms of (11)."""
    net = pendulum.weights()
    at_nodes = np.full(N, net.string * l)
    at_nodes[-1] = 0.5 * net.string * l + net.body
    vectors: Array = at_nodes[:, None] * E3
    return vectors


def gravity_moment(pendulum: Chain, R: Array) -> Array:
    """-dV/dR of (11)."""
    moment: Array = np.cross(pendulum.weights().moment, R.T @ E3)
    return moment


def gravity_moment_by_attitude(pendulum: Chain, R: Array) -> Array:
    """Derivative of `gravity_moment` along R exp(eta): M g (gamma rho^T - rho.gamma I), gamma = R^T e3."""
    rho, gamma = np.array(pendulum.weights().moment), R.T @ E3
    A: Array = np.outer(gamma, rho) - rho @ gamma * np.eye(3)
    return A


def forces(pendulum: Chain, x: Configuration) -> tuple[Array, Array]:
    """-dV/dq_i for i = 1..N, and -dV/dR: equation (11)."""
    N = len(x.q) - 1
    l = element_length(pendulum, x.s, N)
    w = np.diff(x.q, axis=0)
    length = np.maximum(np.linalg.norm(w, axis=1, keepdims=True), TINY_LENGTH)
    f = pendulum.string.tension(length / l - 1.0) / length * w
    at_nodes = weights(pendulum, l, N) - f
    at_nodes[:-1] += f[1:]
    return at_nodes, gravity_moment(pendulum, x.R)


def potential(pendulum: Chain, x: Configuration) -> float:
    """V: equations (6) and (7)."""
    reel, net = pendulum.reel, pendulum.weights()
    N = len(x.q) - 1
    l = element_length(pendulum, x.s, N)
    z = reel.guide_position[2] + x.q[:, 2]
    on_drum = (x.s - reel.guide_length) * (z[0] - reel.guide_length) - drum.spooled(reel, x.s).height
    deployed = 0.5 * l * (z[:-1] + z[1:]).sum()
    lengths = np.linalg.norm(np.diff(x.q, axis=0), axis=1)
    elastic = l * pendulum.string.energy_density(lengths / l - 1.0).sum()
    return float(elastic - net.string * (on_drum + deployed) - net.body * z[-1] - x.R[2] @ np.array(net.moment))


def reel_force(pendulum: Chain, x: Configuration) -> float:
    """-dV/ds: equation (11), for any elastic law (70)."""
    reel, mu_g = pendulum.reel, pendulum.weights().string
    N = len(x.q) - 1
    l = element_length(pendulum, x.s, N)
    strain = np.linalg.norm(np.diff(x.q, axis=0), axis=1) / l - 1.0
    pull = pendulum.string.tension(strain) * (1.0 + strain) - pendulum.string.energy_density(strain)
    on_drum = reel.guide_length + drum.spooled(reel, x.s).lever
    deployed = 0.5 * (x.q[:-1, 2] + x.q[1:, 2]).mean()
    return float(-mu_g * (on_drum + deployed) - pull.mean())


def stiffness(pendulum: Chain, x: Configuration) -> Array:
    """Second derivatives of V in the order s, q_1..q_N, eta with R exp(eta): equation (A9)."""
    string, reel, mu_g = pendulum.string, pendulum.reel, pendulum.weights().string
    N = len(x.q) - 1
    l = element_length(pendulum, x.s, N)
    w = x.q[:-1] - x.q[1:]
    length = np.maximum(np.linalg.norm(w, axis=1), TINY_LENGTH)
    t = w / length[:, None]
    strain = length / l - 1.0
    k, F = string.slope(strain), string.tension(strain)
    along = (k / l)[:, None, None] * t[:, :, None] * t[:, None, :]
    across = (F / length)[:, None, None] * (np.eye(3) - t[:, :, None] * t[:, None, :])

    blocks = np.zeros((N + 1, 3, N + 1, 3))
    by_s = np.zeros((N + 1, 3))
    e = np.arange(N)
    for first, second, sign in ((e, e, 1.0), (e + 1, e + 1, 1.0), (e, e + 1, -1.0), (e + 1, e, -1.0)):
        blocks[first, :, second, :] += sign * (along + across)
    pull = (k / (N * l * l))[:, None] * w
    by_s[:-1] += pull + 0.5 * mu_g / N * E3
    by_s[1:] += -pull + 0.5 * mu_g / N * E3

    K = np.zeros((3 * N + 4, 3 * N + 4))
    K[0, 0] = (k * length**2).sum() / (N * N * l**3)
    K[0, 0] += mu_g * drum.spooled(reel, x.s).slope
    K[0, 1:-3] = K[1:-3, 0] = by_s[1:].ravel()
    K[1:-3, 1:-3] = blocks[1:, :, 1:, :].reshape(3 * N, 3 * N)
    turning = -gravity_moment_by_attitude(pendulum, x.R)
    K[-3:, -3:] = 0.5 * (turning + turning.T)
    return K


def evaluate(load: Load, q: Array, R: Array) -> tuple[Array, Array]:
    """Forces on all nodes and the moment; what is not finite is left to the caller."""
    answer = load(q.copy(), R.copy())
    try:
        at_nodes, moment = (np.asarray(part, dtype=np.float64) for part in answer)
    except (TypeError, ValueError):
        checks.refuse("load", "a function that returns (forces, moment)", answer)
    if at_nodes.shape != q.shape or moment.shape != (3,):
        expected = f"a function that returns {len(q)} x 3 forces (N) and 3 components of a moment (N m)"
        checks.refuse("load", expected, f"shapes {at_nodes.shape} and {moment.shape}")
    return at_nodes, moment


def load_by_attitude(load: Load, q: Array, R: Array) -> Array:
    """Derivatives of forces and moment along R exp(eta), (N + 1, 3, 3): node 1..N and moment, component, eta."""
    return np.stack([_difference(load, q, R, np.zeros_like(q), eta, DIFFERENCE) for eta in np.eye(3)], axis=-1)


def load_by_configuration(load: Load, q: Array, R: Array, l: float) -> Entries:
    """Derivatives of forces and moment by q_1..q_N and eta, by central differences.

    The load of a node may depend on the node, on its neighbors and on the attitude; the moment on the last two
    nodes and on the attitude. Nodes three apart then do not disturb each other and are moved together.
    """
    N = len(q) - 1
    index = np.arange(3 * N + 3).reshape(N + 1, 3)
    node = np.append(np.arange(1, N + 1), N)  # of every row of a response; the moment counts as the last node
    rows, columns, values = [], [], []
    for color in range(3):
        moved = node + (color - node + 1) % 3 - 1  # the one of this color among node - 1, node, node + 1
        valid = (moved >= 1) & (moved <= N)
        for axis in range(3):
            dq = np.zeros_like(q)
            dq[1:][np.arange(1, N + 1) % 3 == color, axis] = 1.0
            change = _difference(load, q, R, dq, np.zeros(3), DIFFERENCE * l)
            rows.append(index[valid].ravel())
            columns.append(np.repeat(3 * (moved[valid] - 1) + axis, 3))
            values.append(change[valid].ravel())
    rows.append(np.repeat(index.ravel(), 3))
    columns.append(np.tile(index[-1], 3 * N + 3))
    values.append(load_by_attitude(load, q, R).ravel())
    return Entries(np.concatenate(rows), np.concatenate(columns), np.concatenate(values))


def _difference(load: Load, q: Array, R: Array, dq: Array, eta: Array, h: float) -> Array:
    before, after = (
        np.vstack(evaluate(load, q + step * dq, R @ Rotation.from_rotvec(step * eta).as_matrix())) for step in (-h, h)
    )
    change: Array = (after[1:] - before[1:]) / (2.0 * h)  # the guide holds node 0
    return change


def counted(pendulum: Chain, x: Configuration, loads: Mapping[str, Load]) -> dict[str, Array]:
    """Sum of each force on string and body (N), by name; `loads` are those beside weight."""
    X = pendulum.string.length - x.s
    weight = pendulum.gravity * (pendulum.body.mass + pendulum.string.density * X)
    found: dict[str, Array] = {"weight": weight * E3}
    if pendulum.fluid is not None:
        found["buoyancy"] = (guide_pull(pendulum, X) - weight) * E3
    for name, load in loads.items():
        found[name] = found.get(name, np.zeros(3)) + evaluate(load, x.q, x.R)[0].sum(axis=0)
    return found
