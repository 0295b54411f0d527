"""Forces of a fluid on the lines of a network: drag of a flow past them, and inertia of what moves along."""

from __future__ import annotations

from typing import Any

import numpy as np

from tautline.arrays import TINY_LENGTH, Array
from tautline.model.fluid import Fluid
from tautline.model.piecewise import interpolated
from tautline.model.rest.network import Network
from tautline.model.wetting import mean_density

# Step of central differences of drag, relative to the element length: errs by its square.
DIFFERENCE = 1e-5


def flow_at(fluid: Fluid, z: Any) -> Array:
    """Velocity of the flow at depths (m/s)."""
    return interpolated(z, *fluid.flow)


def drag(network: Network, first: Array, second: Array) -> Array:
    """Drag on elements between these nodes, equation (73) at rest, and the inertial force of added mass."""
    return flow_drag(network, first, second) + added_inertia(network, first, second)


def added_inertia(network: Network, first: Array, second: Array) -> Array:
    """Inertial force of the fluid that elements move along, across them, in an accelerated frame."""
    if not network.acceleration.any():
        return np.zeros_like(first)
    length, t = _tangents(first, second)
    across = network.acceleration - (t @ network.acceleration)[:, None] * t
    mass = network.added * density_along(network, first, second) * length
    return np.asarray(-network.steady_part * mass[:, None] * across)


def flow_drag(network: Network, first: Array, second: Array) -> Array:
    """Drag of the flow on elements between these nodes: equation (73) at rest."""
    assert network.fluid is not None
    length, t = _tangents(first, second)
    u = flow_at(network.fluid, 0.5 * (first[:, 2] + second[:, 2]))
    along = np.sum(u * t, axis=1, keepdims=True) * t
    across = u - along
    half = 0.5 * density_along(network, first, second) * network.diameter * length
    force = (half * network.normal_drag * np.linalg.norm(across, axis=1))[:, None] * across
    force += (np.pi * half * network.tangential_drag * np.linalg.norm(along, axis=1))[:, None] * along
    return np.asarray(network.steady_part * force)


def _tangents(first: Array, second: Array) -> tuple[Array, Array]:
    """Lengths of elements, and unit vectors along them."""
    w = second - first
    length = np.linalg.norm(w, axis=1)
    return length, w / np.maximum(length, TINY_LENGTH)[:, None]


def density_along(network: Network, first: Array, second: Array) -> Array:
    """Mean density of the fluid along elements between these nodes (kg/m^3)."""
    assert network.fluid is not None
    return mean_density(network.fluid, first[:, 2], second[:, 2])


def drag_stiffness(network: Network, first: Array, second: Array) -> Array:
    """Minus the derivatives of the forces of drag on both nodes by both nodes (elements, 6, 6)."""
    D = np.zeros((len(first), 3, 6))
    step = (DIFFERENCE * network.l)[:, None]
    for axis in range(3):
        d = step * np.eye(3)[axis]
        D[:, :, axis] = (drag(network, first + d, second) - drag(network, first - d, second)) / (2.0 * step)
        D[:, :, axis + 3] = (drag(network, first, second + d) - drag(network, first, second - d)) / (2.0 * step)
    return np.asarray(-0.5 * np.concatenate([D, D], axis=1))
