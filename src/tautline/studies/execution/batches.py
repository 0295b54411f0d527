"""One batch of a study, in whatever process: its values out of the store, its results into it."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from tautline.files.runs import StoreError
from tautline.studies.execution.compute import compute
from tautline.studies.store.archive import Archive, open_archive


class Finished(NamedTuple):
    """Report on a finished batch; its results are in the store."""

    batch: int
    members: int
    failed: int


@lru_cache(maxsize=4)
def _opened(path: str, token: str) -> Archive:
    archive = open_archive(path)
    if archive.token != token:
        raise StoreError(f"{path}: was replaced by another study meanwhile")
    return archive


def run_batch(path: str, token: str, batch: int) -> Finished:
    """Compute and store a batch. Doing so twice, or in two places at once, writes the same bytes twice."""
    archive = _opened(path, token)
    try:
        computed = compute(archive.work, archive.values(batch))
    except MemoryError:
        raise StoreError(
            f"{path}: batch {batch} does not fit into memory; choose a larger run.sample or fewer workers, then "
            f"`tautline study --resume {path}` goes on"
        ) from None
    return Finished(batch, archive.layout.size(batch), archive.write(batch, computed))
