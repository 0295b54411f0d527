"""How well a run keeps what it should keep."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import xarray as xr

from tautline.ledger import kept_energy


def balance_error(run: xr.Dataset) -> xr.DataArray:
    """Change of energy that works and losses do not explain, equation 29 (J)."""
    kept: xr.DataArray = kept_energy(run)
    return kept - kept[0]


class Conservation(NamedTuple):
    """Largest deviations over a run."""

    energy: float  # balance error over the largest kinetic energy
    angular_momentum: float  # about gravity, relative to the first value; absolute where that is zero
    orthogonality: float  # |I - R^T R|


def conservation(run: xr.Dataset) -> Conservation:
    """Balance error over the largest kinetic energy, drift of pi_3, orthogonality error."""
    momentum = run.angular_momentum.values[:, 2]
    # at rest there is nothing to relate to: absolute values
    return Conservation(
        float(np.abs(balance_error(run)).max()) / (float(run.kinetic_energy.max()) or 1.0),
        float(np.abs(momentum - momentum[0]).max()) / (abs(float(momentum[0])) or 1.0),
        float(run.orthogonality_error.max()),
    )
