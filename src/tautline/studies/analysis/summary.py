"""A study in a few lines: how members ended, and the range of every output. Reads block by block."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from tautline.studies.analysis.reading import NOT_OUTPUTS
from tautline.studies.analysis.remarks import remarks_of
from tautline.studies.definition import work
from tautline.studies.definition.outputs import HEALTH
from tautline.studies.store.archive import open_archive, open_study

BYTES_A_BLOCK = 32e6
# Messages that are shown; all of them are in the store.
EXAMPLES = 3


def summarize(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Summary of a store: counts of statuses, some failures with their values, ranges of outputs and diagnostics."""
    with open_archive(path).read_as_a_whole():
        return _summary(open_study(path))


def _summary(found: Any) -> dict[str, Any]:
    status = found.status.values
    counts = {name: int((status == code).sum()) for code, name in work.STATUS_NAMES.items()}
    keys = list(json.loads(found.attrs["study"])["vary"])
    remarks = remarks_of(found)
    return {
        "status": found.attrs["status"],
        "title": found.attrs["title"],
        "members": int(status.size),
        "done": int(found.attrs["members_done"]),
        "dimensions": {str(name): int(size) for name, size in zip(found.status.dims, status.shape, strict=True)},
        "parameters": keys,
        "endings": {name: count for name, count in counts.items() if count},
        "failures": _failures(found, status, keys),
        "outputs": {str(name): _range(found[name]) for name in found.data_vars if name not in NOT_OUTPUTS},
        "health": {name: _range(found[name]) for name in HEALTH},
        "members_with_remarks": remarks.members,
        "remarks": remarks.sentences(),
        "version": found.attrs["version"],
    }


def _failures(found: Any, status: Any, keys: list[str]) -> list[dict[str, Any]]:
    """The first few."""
    bad = np.flatnonzero(np.isin(status, work.FAILURES).ravel())[:EXAMPLES]
    failures = []
    for flat in bad.tolist():
        place = dict(zip(found.status.dims, (int(x) for x in np.unravel_index(flat, status.shape)), strict=True))
        member = found[["message"]].isel(place)
        values = {key: member[key].item() for key in keys}
        failures.append({"member": flat, "values": values, "message": str(member.message.item())})
    return failures


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
