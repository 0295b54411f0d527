"""A study in a few lines: how members ended, and the range of every output. Reads block by block."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from tautline.studies.analysis.reading import Opened
from tautline.studies.analysis.warnings import counted
from tautline.studies.definition import work
from tautline.studies.definition.outputs import HEALTH
from tautline.studies.store.archive import open_archive, open_study

if TYPE_CHECKING:
    import xarray as xr

BYTES_A_BLOCK = 32e6
# Messages that are shown; all of them are in the store.
EXAMPLES = 3


def summarize(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Summary of a store: counts of statuses, some failures with their values, ranges of outputs and diagnostics."""
    with open_archive(path).read_as_a_whole():
        return _summary(open_study(path))


def _summary(found: xr.Dataset) -> dict[str, Any]:
    opened, status, warnings = Opened(found), found.status.values, counted(found)
    counts = {name: int((status == code).sum()) for code, name in work.STATUS_NAMES.items()}
    bad = np.flatnonzero(np.isin(status, work.FAILURES).ravel())[:EXAMPLES]
    return {
        "status": found.attrs["status"],
        "title": found.attrs["title"],
        "members": int(status.size),
        "done": int(found.attrs["members_done"]),
        "dimensions": dict(zip(opened.dims, opened.shape, strict=True)),
        "parameters": opened.keys,
        "endings": {name: count for name, count in counts.items() if count},
        "failures": [
            {"member": int(member), "values": values, "message": message}
            for member, (values, message) in zip(bad, opened.messages(bad), strict=True)
        ],
        "outputs": {name: _range(found[name]) for name in opened.outputs},
        "health": {name: _range(found[name]) for name in HEALTH},
        "members_with_warnings": warnings.members,
        "warnings": [x._asdict() for x in warnings.kinds],
        "version": found.attrs["version"],
    }


def _range(x: Any) -> dict[str, Any]:
    """Missing values left out; None where there is nothing else."""
    rows = max(1, int(BYTES_A_BLOCK / max(1, x.nbytes // max(1, x.shape[0]))))
    low, high = np.inf, -np.inf
    for start in range(0, x.shape[0], rows):
        block = x[start : start + rows].values
        low = min(low, float(np.min(block, initial=np.inf, where=np.isfinite(block))))
        high = max(high, float(np.max(block, initial=-np.inf, where=np.isfinite(block))))
    empty = low > high
    return {"min": None if empty else low, "max": None if empty else high, "units": x.attrs["units"]}
