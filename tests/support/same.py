"""Runs that must be the same, bit for bit."""

from __future__ import annotations

import numpy as np
import xarray as xr

from tests.support import chains


def check_same(a: xr.Dataset, b: xr.Dataset) -> None:
    """Bit for bit."""
    assert a.sizes == b.sizes
    for name in a.variables:
        assert np.array_equal(a[name].values, b[name].values), f"{name} differs"


def check_same_state(a: chains.ChainState, b: chains.ChainState) -> None:
    for name, value in vars(a).items():
        assert np.array_equal(value, getattr(b, name)), f"{name} differs"
