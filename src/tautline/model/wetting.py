"""A fluid that ends at a free surface: which parts of elements are below it, and the mean density around them."""

from __future__ import annotations

import numpy as np

from tautline.arrays import Array
from tautline.model.fluid import Fluid


def spans(first: Array, second: Array) -> tuple[Array, Array]:
    """Where elements begin and end to be wet, 0 to 1 along each, from the depths of both ends below the surface."""
    change = second - first
    crossing = np.clip(-first / np.where(change == 0.0, 1.0, change), 0.0, 1.0)
    return np.where(first >= 0.0, 0.0, crossing), np.where(second >= 0.0, 1.0, crossing)


def shares(first: Array, second: Array) -> tuple[Array, Array]:
    """Shares of the first and second nodes of elements in an even force on the wet part; halves if all is wet."""
    begin, end = spans(first, second)
    to_second = 0.5 * (end**2 - begin**2)
    return end - begin - to_second, to_second


def mean_density(fluid: Fluid, first: Array, second: Array) -> Array:
    """Mean density of the fluid along elements (kg/m^3), from the depths of both ends (m)."""
    if fluid.surface is None:
        return np.full(len(first), fluid.density)
    begin, end = spans(first - fluid.surface, second - fluid.surface)
    return np.asarray(fluid.density_above + (fluid.density - fluid.density_above) * (end - begin))
