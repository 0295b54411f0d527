"""Where the nodes of a chain are, relative to its guide, and how they and the body move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.model import checks
from tautline.model.chain.chain import Chain
from tautline.model.checks import IDENTITY, ZERO
from tautline.model.elements import default_elements
from tautline.model.system.straight_lines import straight_nodes


@dataclass(frozen=True, eq=False)
class ChainState:
    """A state of a chain with N elements.

    Parameters
    ----------
    reeled_length, reel_speed : float
        Unstretched length on the reel side of the guide entrance (m), and its rate (m/s).
    nodes, node_velocities : array
        N + 1 positions relative to the guide entrance (m), of which the first is 0, and velocities (m/s); 0 by default.
    attitude, angular_velocity : array
        Rotation matrix of the body, and its angular velocity in its own frame (rad/s).
    """

    reeled_length: float
    reel_speed: float
    nodes: Array
    node_velocities: Any = None
    attitude: Any = IDENTITY
    angular_velocity: Any = ZERO

    def __post_init__(self) -> None:
        moving = np.zeros_like(self.nodes) if self.node_velocities is None else self.node_velocities
        arrays = {"nodes": self.nodes, "node_velocities": moving}
        arrays |= {"attitude": self.attitude, "angular_velocity": self.angular_velocity}
        for name, x in arrays.items():
            object.__setattr__(self, name, np.array(x, dtype=np.float64))

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
    reel_speed: float = 0.0,
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
        As in `ChainState`.
    """
    X = pendulum.checked_length(deployed)
    N = default_elements(pendulum, X) if elements is None else elements
    nodes = straight_nodes(X, N, np.array(direction, dtype=float))
    v = np.zeros((N + 1, 3))
    v[N] = end_velocity
    return ChainState(float(reeled_beside(pendulum, X)), reel_speed, nodes, v, attitude, angular_velocity)


def reeled_beside(pendulum: Chain, deployed: Any) -> Any:
    """Reeled length beside a deployed one (m); the difference may be rounded to just below the guide length."""
    return np.maximum(pendulum.string.length - deployed, pendulum.reel.guide_length)
