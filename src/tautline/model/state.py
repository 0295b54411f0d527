"""Where everything is and how it moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tautline.errors import InputError
from tautline.model import checks
from tautline.model.elements import default_elements
from tautline.model.pendulum import Pendulum

# A matrix typed in with eight digits still counts as a rotation; the kernels make it exact.
ROTATION_TOLERANCE = 1e-7
# Memory for one sample of so many elements is half a gigabyte.
MOST_ELEMENTS = 10**7
IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
ZERO = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class State:
    """A state of a pendulum with N elements.

    Parameters
    ----------
    reeled_length : float
        Unstretched length s on the reel side of the guide entrance (m).
    reel_speed : float
        Its rate; positive in retrieval (m/s).
    nodes : (N + 1) x 3 floats
        Positions relative to the guide entrance; the first is 0, the last is the attachment point (m).
    node_velocities : (N + 1) x 3 floats
        Velocities of the mesh nodes; the first is 0 (m/s).
    attitude : 3 x 3 floats
        Rotation matrix from the body frame to the inertial frame.
    angular_velocity : three floats
        Of the body, in the body frame (rad/s).
    """

    reeled_length: float
    reel_speed: float
    nodes: NDArray[np.float64]
    node_velocities: NDArray[np.float64]
    attitude: NDArray[np.float64] | tuple[tuple[float, float, float], ...] = IDENTITY
    angular_velocity: NDArray[np.float64] | tuple[float, float, float] = ZERO

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        s = checks.non_negative("State.reeled_length", self.reeled_length, "m")
        set_(self, "reeled_length", s)
        set_(self, "reel_speed", checks.number("State.reel_speed", self.reel_speed))
        nodes = checks.array("State.nodes", self.nodes, (None, 3), "m")
        if len(nodes) < 2:
            raise InputError(f"State.nodes: expected at least 2 nodes (one element), got {len(nodes)}")
        if nodes[0].any():
            checks.refuse("State.nodes[0]", "(0, 0, 0), the guide entrance", nodes[0].tolist())
        set_(self, "nodes", nodes)
        shape = (len(nodes), 3)
        v = checks.array("State.node_velocities", self.node_velocities, shape, "m/s")
        if v[0].any():
            checks.refuse("State.node_velocities[0]", "(0, 0, 0)", v[0].tolist())
        set_(self, "node_velocities", v)
        set_(self, "attitude", _checked_rotation(self.attitude))
        omega = checks.array("State.angular_velocity", self.angular_velocity, (3,), "rad/s")
        set_(self, "angular_velocity", omega)

    @property
    def elements(self) -> int:
        """N."""
        return len(self.nodes) - 1

    def check_against(self, pendulum: Pendulum) -> None:
        """Refuse a state that the given pendulum cannot be in."""
        b, L = pendulum.reel.guide_length, pendulum.string.length
        if not b <= self.reeled_length < L:
            expected = f"at least guide_length ({b:g} m) and less than the string's length ({L:g} m)"
            checks.refuse("State.reeled_length", expected, self.reeled_length)
        if pendulum.body.is_point and np.any(self.angular_velocity):
            checks.refuse("State.angular_velocity", "(0, 0, 0) for a point", list(self.angular_velocity))


def _checked_rotation(value: Any) -> NDArray[np.float64]:
    R = checks.array("State.attitude", value, (3, 3), "rotation matrix")
    with np.errstate(all="ignore"):
        error = float(np.linalg.norm(R.T @ R - np.eye(3)))
        handed = float(np.linalg.det(R))
    if not error <= ROTATION_TOLERANCE or handed < 0.0:
        raise InputError(
            "State.attitude: expected a rotation matrix (R^T R = I, det R = 1), "
            f"got |R^T R - I| = {error:.3g}, det R = {handed:.3g}"
        )
    return R


def straight(
    pendulum: Pendulum,
    deployed: float,
    elements: int | None = None,
    direction: Any = (0.0, 0.0, 1.0),
    *,
    end_velocity: Any = ZERO,
    reel_speed: float = 0.0,
    attitude: Any = IDENTITY,
    angular_velocity: Any = ZERO,
) -> State:
    """A straight, unstretched string at rest but for its end.

    Parameters
    ----------
    pendulum : Pendulum
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
    checks.instance("pendulum", pendulum, Pendulum)
    X = checks.positive("deployed", deployed, "m")
    N = default_elements(pendulum, X) if elements is None else checks.whole("elements", elements, 1, MOST_ELEMENTS)
    longest = pendulum.string.length - pendulum.reel.guide_length
    if longest < X:
        checks.refuse("deployed", f"at most {longest:g} m (string.length - reel.guide_length)", deployed)
    unit = np.array(checks.vector("direction", direction, "any length"))
    largest = float(np.abs(unit).max())
    if largest == 0.0:
        checks.refuse("direction", "a vector that is not zero", direction)
    unit /= largest  # so that no square of a component is too large or too small
    nodes = np.linspace(0.0, X, N + 1)[:, None] * (unit / np.linalg.norm(unit))
    v = np.zeros((N + 1, 3))
    v[N] = checks.vector("end_velocity", end_velocity, "m/s")
    # the difference may be rounded to just below the guide length
    reeled = max(pendulum.string.length - X, pendulum.reel.guide_length)
    return State(reeled, reel_speed, nodes, v, attitude, angular_velocity)
