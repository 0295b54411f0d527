"""A run as it is given to whoever reads it: a Dataset, or the path of its file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tautline.errors import InputError
from tautline.files.runs.reading import open_run
from tautline.model import checks
from tautline.results.one_line import one_line, with_names

if TYPE_CHECKING:
    import xarray as xr

Run: TypeAlias = "xr.Dataset | str | os.PathLike[str]"


def run_from(source: Run, needed: tuple[str, ...]) -> xr.Dataset:
    """Take a run, or read it from its file; one without samples or without a needed variable is refused.

    It has the dimensions of lines and bodies, also where somebody squeezed them.
    """
    import xarray as xr  # half a second, which a study need not spend

    if isinstance(source, (str, os.PathLike)):
        return open_run(source)
    if not isinstance(source, xr.Dataset):
        checks.refuse("run", "a Dataset of simulate or open_run, or the path of a run file", source)
    _check_has(source, needed)
    if not source.sizes.get("time"):
        raise InputError("run: expected samples over time, got none; keep one moment as run.isel(time=[k])")
    return with_names(source)


def line_from(source: Run, needed: tuple[str, ...], line: str | None) -> xr.Dataset:
    """Take one line of a run, by its name where there are several."""
    return one_line(run_from(source, needed), line)


def _check_has(run: xr.Dataset, needed: tuple[str, ...]) -> None:
    missing = [name for name in needed if name not in run]
    if missing:
        raise InputError(f"run: expected one with {', '.join(missing)}, as simulate and open_run give it")


def known(run: xr.Dataset, name: str) -> bool:
    """Whether a run has any value of a variable."""
    return name in run and bool(np.isfinite(run[name]).any())
