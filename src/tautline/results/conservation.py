"""How well a run keeps what it should keep."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.ledger import kept_energy
from tautline.model.body import RigidBody
from tautline.model.system.parts import ANCHOR
from tautline.model.system.system import System
from tautline.results.inputs import system_of

if TYPE_CHECKING:
    import xarray as xr


def balance_error(run: xr.Dataset) -> xr.DataArray:
    """Change of energy that works and losses do not explain, equation 29 (J)."""
    kept: xr.DataArray = kept_energy(run)
    return kept - kept[0]


def kept_momentum(system: System, angular: Array, linear: Array) -> Array | None:
    """Angular momentum that is kept (..., components), from momenta about the origin (..., 3).

    The whole vector where nothing acts from outside; the component about a vertical axis where all that holds lines
    stands still on it, and nothing but gravity acts; else None.
    """
    if system.is_isolated:
        return angular
    at = _axis(system)
    if at is None:
        return None
    about: Array = angular[..., 2] - at[0] * linear[..., 1] + at[1] * linear[..., 0]
    return about[..., None]


def _axis(system: System) -> tuple[float, float] | None:
    """Place (x, y) of the vertical axis that goes through everything that stands still."""
    if system.fluid is not None or system.orbit is not None or system.applied_forces:
        return None
    if any(not isinstance(body, RigidBody) for body in system.bodies.values()):
        return None
    ends = [x for line in system.lines.values() for x in zip(line.ends, line.points, strict=True)]
    places = {(float(point[0]), float(point[1])) for name, point in ends if name == ANCHOR}
    return places.pop() if len(places) == 1 else None


class Conservation(NamedTuple):
    """Largest deviations over a run."""

    energy: float  # balance error over the largest kinetic energy
    angular_momentum: float  # relative to the first value; absolute where that is zero, NaN where none is kept
    orthogonality: float  # |I - R^T R|; 0 without bodies


def conservation(run: xr.Dataset) -> Conservation:
    """Balance error over the largest kinetic energy, drift of the angular momentum, orthogonality error.

    The angular momentum is the whole vector where nothing acts from outside, else the component about the vertical
    through the fixed ends of lines.
    """
    momentum = kept_momentum(system_of(run.attrs), run.angular_momentum.values, run.linear_momentum.values)
    # at rest there is nothing to relate to: absolute values
    return Conservation(
        float(np.abs(balance_error(run)).max()) / (float(run.kinetic_energy.max()) or 1.0),
        math.nan if momentum is None else momentum_drift(momentum),
        float(run.orthogonality_error.max()) if "orthogonality_error" in run else 0.0,
    )


def momentum_drift(momentum: Array) -> float:
    """Largest change of a momentum (time, components) over its size at the start, if that is not zero."""
    change = np.linalg.norm(momentum - momentum[0], axis=1).max()
    return float(change) / (float(np.linalg.norm(momentum[0])) or 1.0)
