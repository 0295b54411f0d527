"""Kinds of the warnings on a result."""

from __future__ import annotations

from collections.abc import Iterable

import xarray as xr

import tautline as tl


def kinds(found: xr.Dataset | Iterable[tl.RunWarning]) -> list[str]:
    """Kinds of the warnings on a dataset, or of warnings."""
    return [w.kind for w in (tl.warnings_of(found) if isinstance(found, xr.Dataset) else found)]
