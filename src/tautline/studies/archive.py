"""Results of studies: one Zarr store, made at its full size before anything is computed.

A batch is a chunk of every array. Zarr writes a chunk beside its place and renames it, so a chunk is there as a whole
or not at all; the batch's mark in `done` is written when all its chunks are there. A process killed at any moment, or a
full disk, therefore leaves whole batches and batches that are not marked, which are computed again.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tautline._version import __version__
from tautline.dataset import AXES
from tautline.store import StoreError
from tautline.studies import compute
from tautline.studies.compute import Computed, Work
from tautline.studies.definition import Study, work_of
from tautline.studies.layout import Layout, spread
from tautline.studies.needs import need
from tautline.studies.outputs import Output
from tautline.studies.parameters import Values

if TYPE_CHECKING:
    import xarray as xr

FORMAT = "tautline study 1"
# Values of parameters are read by batch but written once: fewer and larger files.
MEMBERS_A_COLUMN_CHUNK = 1 << 17
_PART = ".partial"  # how Zarr names what it has not renamed yet
STEPS = "composed steps made"


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
        self._sides: dict[str, Values] | None = None
        self._arrays: dict[str, Any] = {}  # opened once: asking the group reads the metadata again, every time

    def _array(self, name: str) -> Any:
        if name not in self._arrays:
            self._arrays[name] = self._group[name]
        return self._arrays[name]

    def done(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which batches are complete."""
        with self._explained():
            return np.asarray(self._array("done")[:]) >= 0

    def failures(self) -> int:
        """Members that failed so far, as their batches noted."""
        with self._explained():
            return int(np.maximum(self._array("done")[:], 0).sum())

    def values(self, batch: int) -> dict[str, Values]:
        """Of the parameters of a batch."""
        region = self.layout.region(batch)
        with self._explained():
            if len(region) == 1:
                return {key: _plain(self._array(key)[region[0]]) for key in self.work.keys}
            if self._sides is None:
                self._sides = {key: _plain(self._array(key)[:]) for key in self.work.keys}
            return spread(self._sides, region)

    def write(self, batch: int, computed: Computed) -> int:
        """Results, then the mark that they are there; the number of failed members."""
        region = self.layout.region(batch)
        shape = tuple(part.stop - part.start for part in region)
        failed = int(np.isin(computed.status, compute.FAILURES).sum())
        with self._explained():
            for name, x in computed.outputs.items():
                self._array(name)[region] = x.reshape(shape + x.shape[1:])
            self._array("steps")[region] = computed.steps.reshape(shape)
            if any(computed.message):
                self._array("message")[region] = np.array(computed.message, dtype=object).reshape(shape)
            self._array("status")[region] = computed.status.reshape(shape)
            self._array("done")[batch] = failed
        return failed

    def sweep(self) -> None:
        """Remove what killed processes left behind; only when the study is complete and nobody writes any more."""
        for left in self.path.rglob(f"*{_PART}"):
            left.unlink(missing_ok=True)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise _trouble(self.path, error) from None
        except (KeyError, ValueError, TypeError) as error:
            raise StoreError(f"{self.path}: damaged: {error}") from None


def _plain(column: Any) -> Values:
    """Words as objects, whatever the library makes of text."""
    array = np.asarray(column)
    return array if array.dtype.kind in "biuf" else np.array([str(x) for x in array.tolist()], dtype=object)


def _trouble(path: Path, error: OSError) -> StoreError:
    """In words, with what to do."""
    what = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return StoreError(
            f"{path}: cannot be written: {what}; what is complete is kept, so make room, "
            f"then `tautline study --resume {path}`"
        )
    return StoreError(f"{path}: {what}")


def open_archive(path: str | os.PathLike[str]) -> Archive:
    target = Path(path)
    if not target.exists():
        raise StoreError(f"{target}: no such study")
    zarr = need("zarr")
    kind = "a file" if target.is_file() else "a folder"
    try:
        group = zarr.open_group(target, mode="r+")
    except OSError as error:
        if isinstance(error, FileNotFoundError | NotADirectoryError | FileExistsError):
            raise StoreError(f"{target}: {kind} that holds no study; expected what `tautline study` wrote") from None
        raise _trouble(target, error) from None
    except Exception as error:  # whatever the library makes of a foreign or damaged file
        raise StoreError(f"{target}: {kind} that holds no study ({error})") from None
    if group.attrs.get("format") != FORMAT:
        raise StoreError(f"{target}: holds no study of tautline (attribute `format` is not {FORMAT!r})")
    return Archive(target, group)


def create(path: Path, study: Study, layout: Layout, seconds: float, replace: bool) -> Archive:
    """With the design and all metadata inside; it gets its name when they are."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    zarr = need("zarr")
    try:
        group = zarr.create_group(part, attributes=_attributes(study, layout, seconds))
        _write_design(group, study, layout)
        _make_results(group, study, layout)
        if replace and path.exists():
            shutil.rmtree(path)
        os.rename(part, path)
    except OSError as error:
        raise _trouble(path, error) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return open_archive(path)


def _attributes(study: Study, layout: Layout, seconds: float) -> dict[str, Any]:
    return {
        "Conventions": "CF-1.11",
        "title": study.title or "tautline study",
        "description": study.description,
        "source": f"tautline {__version__}",
        "format": FORMAT,
        "version": __version__,
        "token": secrets.token_hex(8),
        "study": json.dumps(study.plan()),
        "shape": list(layout.shape),
        "chunk": list(layout.chunk),
        "seconds_a_member": seconds,
    }


def _write_design(group: Any, study: Study, layout: Layout) -> None:
    for axis, (key, column) in enumerate(study.table.items()):
        dim, chunk = (key, len(column)) if len(study.dims) > 1 or study.design.kind == "grid" else ("member", 0)
        if not chunk:
            whole = layout.chunk[0]
            chunk = min(len(column), whole * max(1, MEMBERS_A_COLUMN_CHUNK // whole))
        words = column.dtype.kind == "O"
        array = group.create_array(
            key,
            shape=(len(column),),
            chunks=(chunk,),
            dtype=str if words else column.dtype,
            fill_value="" if words else 0,
            dimension_names=[dim],
            attributes={
                "units": study.units[key] or "1",
                "long_name": f"{key} of the scenario",
                "axis_of_design": axis,
            },
        )
        array[:] = column


def _make_results(group: Any, study: Study, layout: Layout) -> None:
    """Arrays of results without a chunk; coordinates of outputs, which are few, with their values."""

    def make(name: str, dtype: Any, fill: Any, attrs: dict[str, Any], output: Output | None = None) -> None:
        sizes, dims = (output.sizes, output.dims) if output else ((), ())
        group.create_array(
            name,
            shape=(*layout.shape, *sizes),
            chunks=(*layout.chunk, *sizes),
            dtype=dtype,
            fill_value=fill,
            dimension_names=[*study.dims, *dims],
            attributes={**attrs, "coordinates": " ".join(study.table)},
        )

    for output in study.outputs:
        make(output.name, "f8", float("nan"), {"units": output.units, "long_name": output.long_name}, output)
    flags = {"flag_values": list(compute.STATUS_NAMES), "flag_meanings": " ".join(compute.STATUS_NAMES.values())}
    make("status", "i1", compute.NOT_COMPUTED, {"long_name": "how the member ended", **flags})
    make("message", str, "", {"long_name": "why it ended early or was refused"})
    make("steps", "i8", 0, {"long_name": STEPS, "units": "1"})
    group.create_array(
        "done",
        shape=(layout.batches,),
        chunks=(1,),
        dtype="i4",
        fill_value=-1,
        dimension_names=["batch"],
        attributes={"long_name": "members of a batch that failed; -1 where the batch is not complete"},
    )
    for name, (values, units) in _coordinates(study).items():
        words = isinstance(values, list)
        array = group.create_array(
            name,
            shape=(len(values),),
            chunks=(len(values),),
            dtype=str if words else "f8",
            fill_value="" if words else 0,
            dimension_names=[name],
            attributes={"units": units} if units else {},
        )
        array[:] = np.array(values, dtype=object) if words else values


def _coordinates(study: Study) -> dict[str, tuple[Any, str]]:
    """Of the dimensions that outputs have beyond the members."""
    found: dict[str, tuple[Any, str]] = {}
    for output in study.outputs:
        sizes = dict(zip(output.dims, output.sizes, strict=True))
        if "axis" in sizes:
            found["axis"] = (AXES, "")
        if "time" in sizes and study.interval is not None:
            found["time"] = (np.arange(sizes["time"]) * study.interval, "s")
        if f"{output.name}_time" in sizes:
            found[f"{output.name}_time"] = (np.array(output.times), "s")
    return found


def open_study(path: str | os.PathLike[str]) -> xr.Dataset:
    """The results of a study, also while it goes on: read when they are used, so they need not fit into memory.

    Parameters are coordinates: dimensions of their own for a grid, else along `member`. `status` says of each member
    how it ended (`flag_meanings`), `message` why. What is not computed yet is missing (NaN).
    """
    import xarray as xr

    archive = open_archive(path)
    found: xr.Dataset = xr.open_zarr(archive.path, consolidated=False, chunks=None, decode_times=False)
    done = archive.done()
    # in the order of the study, and not in that of the file system
    found = found[[*(output.name for output in archive.work.outputs), "status", "message", "steps"]]
    found.attrs = {
        "status": "completed" if done.all() else "unfinished",
        "members_done": int(archive.layout.sizes()[done].sum()),
        **{name: archive.attrs[name] for name in ("title", "description", "version", "study")},
    }
    return found
