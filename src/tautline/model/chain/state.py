"""Where everything is and how it moves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import checks
from tautline.model.chain.chain import Chain
from tautline.model.checks import ZERO
from tautline.model.description import Number, described, quantity
from tautline.model.elements import default_elements
from tautline.model.kinds import MATRIX, VECTOR, VECTORS, in_si

# A matrix typed in with eight digits still counts as a rotation; the kernels make it exact.
ROTATION_TOLERANCE = 1e-7
# Memory for one sample of so many elements is half a gigabyte.
MOST_ELEMENTS = 10**7
IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
ATTITUDE = "Rotation matrix from the body frame to the inertial frame."
ANGULAR_VELOCITY = "Angular velocity of the body, in the body frame."


def checked_rotation(name: str, value: Any, unit: str) -> Array:
    """A rotation matrix."""
    R = checks.array(name, value, (3, 3), "rotation matrix")
    with np.errstate(all="ignore"):
        error = float(np.linalg.norm(R.T @ R - np.eye(3)))
        handed = float(np.linalg.det(R))
    if not error <= ROTATION_TOLERANCE or handed < 0.0:
        raise InputError(
            f"{name}: expected a rotation matrix (R^T R = I, det R = 1), "
            f"got |R^T R - I| = {error:.3g}, det R = {handed:.3g}"
        )
    return R


def _nodes(name: str, value: Any, unit: str) -> Array:
    nodes = checks.array(name, value, (None, 3), unit)
    if len(nodes) < 2:
        raise InputError(f"{name}: expected at least 2 nodes (one element), got {len(nodes)}")
    if nodes[0].any():
        checks.refuse(f"{name}[0]", "(0, 0, 0), the guide entrance", nodes[0].tolist())
    return nodes


def _as_given(name: str, value: Any, unit: str) -> Any:
    return value  # how many there must be is known with the nodes


def _three(name: str, value: Any, unit: str) -> Array:
    return checks.array(name, value, (3,), unit)


@described(eq=False)
class ChainState:
    """A state of a pendulum with N elements: everything given."""

    reeled_length: Number = quantity(
        "m", checks.non_negative, "Unstretched length s on the reel side of the guide entrance."
    )
    reel_speed: Number = quantity("m/s", checks.finite, "Its rate; positive in retrieval.", file_default=0.0)
    nodes: Array = quantity(
        "m",
        _nodes,
        "N + 1 positions relative to the guide entrance; the first is 0, the last is the attachment point.",
        form=VECTORS,
    )
    node_velocities: Array = quantity(
        "m/s",
        _as_given,
        "N + 1 velocities of the mesh nodes, 0 if not given; the first is 0.",
        default=None,
        form=VECTORS,
    )
    attitude: Any = quantity("", checked_rotation, ATTITUDE, default=IDENTITY, form=MATRIX)
    angular_velocity: Any = quantity("rad/s", _three, ANGULAR_VELOCITY, default=ZERO, form=VECTOR)

    def _check_together(self) -> None:
        shape = (len(self.nodes), 3)
        given: Any = self.node_velocities
        v = checks.array("State.node_velocities", np.zeros(shape) if given is None else given, shape, "m/s")
        if v[0].any():
            checks.refuse("State.node_velocities[0]", "(0, 0, 0)", v[0].tolist())
        object.__setattr__(self, "node_velocities", v)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ChainState):
            return NotImplemented
        return all(np.array_equal(x, y) for x, y in zip(vars(self).values(), vars(other).values(), strict=True))

    def __hash__(self) -> int:
        return hash((self.reeled_length, self.reel_speed, self.elements))

    @property
    def elements(self) -> int:
        """N."""
        return len(self.nodes) - 1

    def check_against(self, pendulum: Chain) -> None:
        """Refuse a state that the given pendulum cannot be in."""
        b, L = pendulum.reel.guide_length, pendulum.string.length
        if not b <= self.reeled_length < L:
            expected = f"at least guide_length ({b:g} m) and less than the string's length ({L:g} m)"
            checks.refuse("State.reeled_length", expected, self.reeled_length)
        if pendulum.body.is_point and np.any(self.angular_velocity):
            checks.refuse("State.angular_velocity", "(0, 0, 0) for a point", list(self.angular_velocity))


def straight(
    pendulum: Chain,
    deployed: float | str,
    elements: int | None = None,
    direction: Any = (0.0, 0.0, 1.0),
    *,
    end_velocity: Any = ZERO,
    reel_speed: float | str = 0.0,
    attitude: Any = IDENTITY,
    angular_velocity: Any = ZERO,
) -> ChainState:
    """A straight, unstretched string at rest but for its end.

    Parameters
    ----------
    pendulum : Chain
    deployed : float
        Unstretched length outside the guide (m).
    elements : int, optional
        N; by default as many as `tautline.model.elements.default_elements` takes for the case.
    direction : three floats
        From the guide entrance; need not be of unit length. Down by default.
    end_velocity : three floats
        Of the last node (m/s).
    reel_speed, attitude, angular_velocity
        As in `State`.
    """
    checks.instance("pendulum", pendulum, Chain)
    X = pendulum.checked_length(deployed)
    N = default_elements(pendulum, X) if elements is None else checks.whole("elements", elements, 1, MOST_ELEMENTS)
    unit = checks.vector("direction", direction, "any length")
    if not any(unit):
        checks.refuse("direction", "a vector that is not zero", direction)
    v = np.zeros((N + 1, 3))
    v[N] = checks.vector("end_velocity", in_si("end_velocity", end_velocity, "m/s"), "m/s")
    reeled = float(reeled_beside(pendulum, X))
    return ChainState(reeled, reel_speed, straight_nodes(X, N, np.array(unit)), v, attitude, angular_velocity)


def reeled_beside(pendulum: Chain, deployed: Any) -> Any:
    """Reeled length beside a deployed one (m); the difference may be rounded to just below the guide length."""
    return np.maximum(pendulum.string.length - deployed, pendulum.reel.guide_length)


def straight_nodes(deployed: Any, elements: int, direction: Array) -> Array:
    """Nodes of a straight, unstretched string: (N + 1, 3), or (N + 1, 3, members) if a length or direction is a row."""
    unit = direction / np.abs(direction).max(axis=0)  # so that no square of a component is too large or too small
    nodes: Array = np.linspace(0.0, deployed, elements + 1)[:, None] * (unit / np.sqrt(np.sum(unit * unit, axis=0)))
    return nodes


def between(first: Array, last: Array, length: float, distance: float, elements: int) -> Array:
    """Nodes on a straight line between two points; of a longer string on two lines that meet below."""
    part = np.linspace(0.0, 1.0, elements + 1)[:, None]
    nodes: Array = first + part * (last - first)
    sag = 0.5 * math.sqrt(max(length * length - distance * distance, 0.0))
    if sag > 0.0:
        along = (last - first) / distance
        down = np.array([0.0, 0.0, 1.0]) - along[2] * along
        size = float(np.linalg.norm(down))
        down = down / size if size > 1e-6 else np.cross(along, [0.0, 1.0, 0.0])
        nodes += sag * (1.0 - np.abs(2.0 * part - 1.0)) * down
    return nodes
