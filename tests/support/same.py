"""Runs that must be the same, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

import tautline as tl


def check_same(a: xr.Dataset, b: xr.Dataset) -> None:
    """Bit for bit."""
    assert a.sizes == b.sizes
    for name in a.variables:
        assert np.array_equal(a[name].values, b[name].values), f"{name} differs"


def check_same_state(a: Any, b: Any) -> None:
    """Bit for bit: states of systems or of chains."""
    if isinstance(a, tl.State):
        for one, other in zip(a, b, strict=True):
            assert one.keys() == other.keys()
            for name, part in one.items():
                check_same_state(part, other[name])
        return
    for name, value in vars(a).items():
        assert np.array_equal(value, getattr(b, name)), f"{name} differs"
