"""Spins of bodies at rest about axes that nothing holds: equation (A12) of docs/theory.md."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.model.rest.forces import forces_of
from tautline.model.rest.network import Network, Places, rotated
from tautline.model.rest.stiffness import stiffness_of

# Of the largest stiffness of a body against turning: what resists less leaves a spin free.
FREE = 1e-10
# Part of a half turn's quaternion beside which the spin in a turn is lost.
UPSIDE_DOWN = 1e-6


class Spin(NamedTuple):
    """Turn of a body about an axis that nothing holds, beyond its closest attitude to that in which it was placed.

    Attributes
    ----------
    body : int
    turns : slice
        Of the body's rotation among the unknowns.
    axis : array (3,)
        In space, of either sign.
    angle : float
        About the axis (rad).
    """

    body: int
    turns: slice
    axis: Array
    angle: float


def free_spins(network: Network, given: Array, places: Places) -> list[Spin]:
    """Spins at places of bodies that were placed in given attitudes."""
    from scipy.spatial.transform import Rotation

    if not network.turning.any():
        return []
    matrix, left = stiffness_of(network, places).whole, forces_of(network, places).gradient
    found = []
    for b, (own, first) in enumerate(zip(network.bodies, network.first_of_body, strict=True)):
        if own.body.is_point:
            continue
        turns = slice(first + 3, first + 6)
        _, sizes, axes = np.linalg.svd(matrix[:, turns].toarray())
        rounded = FREE * sizes[0]
        if sizes[2] > rounded + np.linalg.norm(left[turns]) or sizes[1] <= rounded:  # moments turn along with a body
            continue
        *turn, real = Rotation.from_matrix(places.attitudes[b] @ given[b].T).as_quat()
        about = axes[2] @ turn
        if np.hypot(about, real) > UPSIDE_DOWN:
            found.append(Spin(b, turns, axes[2], 2.0 * float(np.arctan(about / real))))
    return found


def without_spins(network: Network, places: Places, spins: list[Spin]) -> Places:
    """Places with bodies turned back by what they have spun."""
    attitudes = places.attitudes.copy()
    for spin in spins:
        attitudes[spin.body] = rotated(attitudes[spin.body], -spin.angle * spin.axis)
    return network.on_bodies(places._replace(attitudes=attitudes))
