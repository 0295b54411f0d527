"""Results of studies: one Zarr store, made at its full size before anything is computed.

A batch is a chunk of every array. Zarr writes a chunk beside its place and renames it, so a chunk is there as a whole
or not at all; the batch's mark in `done` is written when all its chunks are there. A process killed at any moment, or a
full disk, therefore leaves whole batches and batches that are not marked, which are computed again. What is damaged
afterwards is noticed (guard.py).
"""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tautline import __version__
from tautline.errors import TautlineError
from tautline.extras import need
from tautline.files.runs import StoreError
from tautline.model import checks
from tautline.studies.definition import work
from tautline.studies.definition.definition import work_of
from tautline.studies.definition.outputs import HEALTH
from tautline.studies.definition.parameters import Values, as_array
from tautline.studies.definition.work import Computed, Work
from tautline.studies.store import guard
from tautline.studies.store.layout import Layout, spread

if TYPE_CHECKING:
    import xarray as xr

FORMAT = "tautline study 5"
_PART = ".partial"  # how Zarr names what it has not renamed yet
_OPENING = threading.Lock()


class Archive:
    """An open store: values of batches out, results of batches in."""

    def __init__(self, path: Path, group: Any) -> None:
        self.path = path
        self._group = group
        self.attrs: dict[str, Any] = dict(group.attrs)
        self.token = str(self.attrs["token"])
        self.plan: dict[str, Any] = json.loads(self.attrs["study"])
        self.layout = Layout(tuple(self.attrs["shape"]), tuple(self.attrs["chunk"]))
        self.work: Work = work_of(self.plan)
        self.kept = guard.kept(self.attrs)
        self._sides: dict[str, Values] | None = None
        self._arrays: dict[str, Any] = {}  # opened once: asking the group reads the metadata again, every time

    def _array(self, name: str) -> Any:
        if name not in self._arrays:
            # a chunk of fill values is written as well: one that is not there is a loss
            with _OPENING, need("zarr", "a study").config.set({"array.write_empty_chunks": True}):
                self._arrays[name] = self._group[name]
        return self._arrays[name]

    def done(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which batches are complete."""
        return self._marks() >= 0

    def failures(self) -> int:
        """Members that failed so far, as their batches noted."""
        return int(np.maximum(self._marks(), 0).sum())

    def _marks(self) -> np.ndarray[Any, np.dtype[np.int32]]:
        """Members of each batch that failed, -1 where the batch is not complete; only marks that are there are read."""
        with self.explained():
            marks = self._array(guard.MARKS)
            if any((self.path / guard.MARKS / "c").glob("[0-9]*")):
                return np.asarray(marks[:])
            return np.full(marks.shape, -1, dtype=np.int32)

    def values(self, batch: int) -> dict[str, Values]:
        """Values of the parameters of a batch."""
        region = self.layout.region(batch)
        with self.explained():
            if len(region) == 1:
                return {key: as_array(self._array(key)[region[0]]) for key in self.work.keys}
            if self._sides is None:
                self._sides = {key: as_array(self._array(key)[:]) for key in self.work.keys}
            return spread(self._sides, region)

    def write(self, batch: int, computed: Computed) -> int:
        """Results, then the mark that they are there; the number of failed members."""
        region = self.layout.region(batch)
        shape = tuple(part.stop - part.start for part in region)
        failed = int(np.isin(computed.status, work.FAILURES).sum())
        columns: dict[str, Any] = {
            **computed.outputs,
            "steps": computed.steps,
            "health": computed.health,
            "message": np.array(computed.message, dtype=object),
            "warnings": np.array(computed.warnings, dtype=object),
            "status": computed.status,  # last: who reads meanwhile takes a member with a status for a whole one
        }
        with self.explained():
            self._check_place()
            self._make_room(batch)
            for name, x in columns.items():
                self._array(name)[region] = x.reshape(shape + x.shape[1:])
            self._array("done")[batch] = failed
        return failed

    def _check_place(self) -> None:
        """Refuse to write into another study that has taken the place of this one while a batch was computed."""
        if guard.read_metadata(self.path / guard.METADATA)["attributes"].get("token") != self.token:
            raise StoreError(f"{self.path}: was replaced by another study meanwhile")

    def _make_room(self, batch: int) -> None:
        """Take damaged chunks out of the way: Zarr reads a chunk at the edge of an array before it writes it."""
        for name in self.kept.batched:
            chunk = self.path / self.kept.chunk(name, batch)
            if guard.state_of(chunk) == "damaged":
                guard.remove(chunk)

    def damages(self) -> dict[int, str]:
        """The first damaged array of every batch that is marked; reads the whole store."""
        with self.explained():
            return guard.damages(self.path, self.kept)

    def unmark(self, batches: Iterable[int]) -> None:
        """Take the marks from batches, so that they are computed again."""
        with self.explained():
            for batch in batches:
                guard.remove(self.path / self.kept.chunk(guard.MARKS, batch))

    def leftovers(self) -> list[Path]:
        """Chunks that killed processes had not completed."""
        return list(self.path.rglob(f"*{_PART}"))

    def sweep(self) -> None:
        """Remove what killed processes left behind; only when the study is complete and nobody writes any more."""
        for left in self.leftovers():
            left.unlink(missing_ok=True)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn errors of the store into sentences."""
        try:
            yield
        except TautlineError:
            raise
        except OSError as error:
            raise trouble(self.path, error) from None
        except (KeyError, ValueError, TypeError, RuntimeError, IndexError) as error:
            raise StoreError(f"{self.path}: damaged: {error}") from None

    @contextmanager
    def read_as_a_whole(self) -> Iterator[None]:
        """Refuse a damaged store, also where the damage would not be met; what goes wrong after that, in words."""
        damaged = self.damages()
        if damaged:
            batch, name = next(iter(damaged.items()))
            how = guard.state_of(self.path / self.kept.chunk(name, batch))
            raise guard.DamagedError(guard.damage_of(self.path, batch, name, how, len(damaged) - 1))
        try:
            yield
        except OSError as error:
            raise trouble(self.path, error) from None


def trouble(path: Path, error: OSError) -> StoreError:
    """In words, with what to do."""
    what = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return StoreError(
            f"{path}: cannot be written: {what}; what is complete is kept, so make room, "
            f"then `tautline study --resume {path}`"
        )
    return StoreError(f"{path}: {what}")


def open_archive(path: str | os.PathLike[str]) -> Archive:
    """A store whose metadata are as they were written; anything else is refused in words."""
    target = checks.path("path", path)
    if not target.exists():
        raise StoreError(f"{target}: no such study")
    zarr = need("zarr", "a study")
    from tautline.studies.store.guarded import GuardedStore

    if not target.is_dir():
        raise StoreError(f"{target}: a file that holds no study; expected what `tautline study` wrote")
    if not (target / guard.METADATA).is_file():
        raise StoreError(f"{target}: a folder that holds no study; expected what `tautline study` wrote")
    try:
        metadata = guard.read_metadata(target / guard.METADATA)
        attributes = metadata["attributes"]
        form, version = attributes.get("format"), attributes.get("version")
        if not str(form).startswith("tautline study "):
            raise StoreError(f"{target}: holds no study of tautline (attribute `format` is not {FORMAT!r})")
        if form != FORMAT:
            raise StoreError(
                f"{target}: was written by tautline {version} ({form!r}); this is tautline {__version__}, which reads "
                f"{FORMAT!r}: compute the study again, or open it with tautline {version}"
            )
        guard.check_seal(target, metadata)
        group = zarr.open_group(GuardedStore(target), mode="r+")
        return Archive(target, group)
    except TautlineError:
        raise
    except OSError as error:
        raise trouble(target, error) from None
    except Exception as error:  # whatever the libraries make of a damaged file
        raise guard.DamagedError(f"{target}: damaged: {type(error).__name__}: {error}") from None


def open_study(path: str | os.PathLike[str]) -> xr.Dataset:
    """The results of a study, also while it goes on: read when they are used, so they need not fit into memory.

    Parameters are coordinates: dimensions of their own for a grid, else along `member`. `status` says of each member
    how it ended (`flag_meanings`), `message` why. What is not computed yet is missing (NaN). Figures of health
    (`balance_error` and so on) and `warnings` say how far a member's numbers can be trusted. A damaged chunk raises a
    StoreError when it is read, which names the batch and the array.
    """
    import xarray as xr

    archive = open_archive(path)
    done = archive.done()
    with archive.explained():
        store = archive._group.store
        found: xr.Dataset = xr.open_zarr(store, consolidated=False, chunks=None, decode_times=False)
        # in the order of the study, and not in that of the file system
        names = [*(output.name for output in archive.work.outputs), "status", "message", "steps"]
        found = _with_health(found, names)
    found.attrs = {
        "status": "completed" if done.all() else "unfinished",
        "members_done": int(archive.layout.sizes()[done].sum()),
        **{name: archive.attrs[name] for name in ("title", "description", "version", "study")},
    }
    return found


def _with_health(found: xr.Dataset, names: list[str]) -> xr.Dataset:
    """Every figure of health under its name."""
    whole = found.health
    figures = {}
    for name, words in HEALTH.items():
        one = whole.sel(figure=name, drop=True)
        one.attrs = {"units": "1", "long_name": words}
        figures[name] = one
    return found[names].assign(figures).assign(warnings=found.warnings)
