"""Spins of bodies that nothing holds: at rest they are turned no farther than they have to be."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.model.rest.network import Network, Places, rotated

# Of the largest stiffness of a body against turning: what resists less leaves a spin free.
FREE = 1e-10
# Part of a half turn's quaternion beside which the spin in a turn is lost.
UPSIDE_DOWN = 1e-6


class Spin(NamedTuple):
    """A turn of a body that meets no resistance.

    Attributes
    ----------
    body : int
    axis : array (3,)
        In space.
    turn : array (4,)
        Quaternion from the attitude in which the body was placed to that at rest, its real part last.
    """

    body: int
    axis: Array
    turn: Array

    def angle(self) -> float:
        """Part of the turn that is about the axis (rad)."""
        return float(2.0 * np.arctan2(self.turn[:3] @ self.axis, self.turn[3]))


def free_spins(network: Network, matrix: Any, given: Array, places: Places) -> list[Spin]:
    """Spins of bodies that a stiffness leaves free, from the attitudes in which they were placed."""
    from scipy.spatial.transform import Rotation

    found = []
    for b, (own, first) in enumerate(zip(network.bodies, network.first_of_body, strict=True)):
        if own.body.is_point:
            continue
        _, sizes, axes = np.linalg.svd(matrix[:, first + 3 : first + 6].toarray())
        if sizes[2] > FREE * sizes[0] or sizes[1] <= FREE * sizes[0]:
            continue
        turn = Rotation.from_matrix(places.attitudes[b] @ given[b].T).as_quat()
        if np.hypot(turn[:3] @ axes[2], turn[3]) > UPSIDE_DOWN:
            found.append(Spin(b, axes[2], turn))
    return found


def without_spins(network: Network, places: Places, spins: list[Spin]) -> Places:
    """Places at rest with bodies turned back by what they have spun."""
    attitudes = places.attitudes.copy()
    for spin in spins:
        attitudes[spin.body] = rotated(attitudes[spin.body], -spin.angle() * spin.axis)
    return network.on_bodies(places._replace(attitudes=attitudes))


def spun_along(network: Network, moved: Array, spins: list[Spin]) -> Array:
    """Displacements of a network with spins that follow: those of `without_spins`, of the first order."""
    found = moved.copy()
    for spin in spins:
        turns = slice(network.first_of_body[spin.body] + 3, network.first_of_body[spin.body] + 6)
        follows = np.cross(moved[turns].T, spin.turn[:3]) @ spin.axis / spin.turn[3]
        found[turns] += np.outer(spin.axis, follows - spin.axis @ moved[turns])
    return found
