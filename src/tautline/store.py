"""Run files: netCDF-4, written while the run goes on, resumed bit for bit.

A run survives the death of its process at any moment (not a crash of the machine: syncs hand the data to the system).
The file is made at its full size when the run begins, so that later writes only fill places that exist: no index or
table of contents changes any more, and a process killed at any moment leaves a file that opens. What the future
depends on is kept twice, in turns, each copy with a number and a checksum: a copy that was torn by the kill is
recognised, and the other one is used. Rows are synced before the copy that counts them.
"""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from tautline import dataset, errors
from tautline._version import __version__
from tautline.dataset import Values
from tautline.errors import TautlineError
from tautline.kernels import data
from tautline.model.command import Command
from tautline.model.pendulum import Pendulum
from tautline.model.state import State
from tautline.simulation import Simulation, default_sample

if TYPE_CHECKING:
    import netCDF4
    import xarray as xr

FORMAT = "tautline run 2"
# A chunk is what is computed between two syncs: long enough that the sync does not matter, short enough to lose little.
SECONDS_A_CHUNK = 0.5
BYTES_A_CHUNK = 8e6  # a few copies of it exist at a time
WRITER_TRIES = 10
_COPIES = 2
_HEADER = 3  # number of the copy, rows that count, checksum
_TEXT = 1 << 16  # room for the checkpoint's JSON text beyond the description


class StoreError(TautlineError):
    """A run file cannot be written or read."""


class Progress(NamedTuple):
    """What a run in progress can say of itself."""

    time: float
    duration: float
    begun: float  # where this process began
    rows: int
    steps: int  # made by this process
    wall: float
    balance_error: float  # of the last sample, over the largest kinetic energy that this process saw


class RunFile:
    """An open run file: rows and checkpoints in, nothing moved once it is written."""

    def __init__(self, handle: netCDF4.Dataset) -> None:
        self.handle = handle
        self.copy = 0  # number of the newest checkpoint
        self.rows = 0
        self._checkpoint: tuple[data.Motion, str]

    @classmethod
    def create(cls, path: Path, simulation: Simulation, rows: int, sample: float, title: str, scenario: str) -> RunFile:
        """At full size, with the units and the whole input inside."""
        import netCDF4

        N = simulation.elements
        handle = netCDF4.Dataset(path, "w", format="NETCDF4")
        try:
            handle.setncatts(
                {
                    "Conventions": "CF-1.11",
                    "title": title or "tautline run",
                    "source": f"tautline {__version__}",
                    "format": FORMAT,
                    "version": __version__,
                    "scenario_file": scenario,
                    "sample": sample,
                    "rows_planned": np.int64(rows),
                }
            )
            for name, size in dataset.sizes(N, rows).items():
                handle.createDimension(name, size)
            for name, variable in {"time": dataset.TIME_VARIABLE, **dataset.SCHEMA}.items():
                v = handle.createVariable(name, "f8", variable.dims, contiguous=True, fill_value=np.nan)
                v.setncatts({"units": variable.units, "long_name": variable.long_name})
            handle["time"].setncatts({"standard_name": "time", "axis": "T"})
            _create_checkpoint(handle, simulation)
            handle.sync()
        except BaseException:
            cls(handle).close()
            raise
        return cls(handle)

    @classmethod
    def open(cls, path: Path, mode: Literal["r", "r+"] = "r") -> RunFile:
        if path.is_dir():
            raise StoreError(f"{path}: is a folder, expected a run file")
        if not path.is_file():
            raise StoreError(f"{path}: no such file")
        handle: netCDF4.Dataset | None
        try:
            handle = _open_unlocked(path, mode)
        except PermissionError:
            raise StoreError(f"{path}: not allowed to open this file") from None
        except (OSError, UnicodeError) as error:
            handle = _while_it_is_written(path) if mode == "r" else None
            if handle is None:
                kind = (
                    "a scenario file; use `tautline check` or `run`" if path.suffix == ".toml" else "damaged, or in use"
                )
                raise StoreError(f"{path}: cannot be opened as a run file ({kind}; {error})") from None
        if getattr(handle, "format", None) != FORMAT:
            handle.close()
            raise StoreError(f"{path}: a netCDF file, but not a run of tautline (attribute `format` is not {FORMAT!r})")
        run = cls(handle)
        try:
            with _readable(path):
                run._find_latest(path)
        except BaseException:
            handle.close()
            raise
        return run

    def _find_latest(self, path: Path) -> None:
        """The newest whole copy of the checkpoint, and the rows that it counts."""
        group = self.handle["checkpoint"]
        for place in range(_COPIES):
            number, rows, checksum = (int(x) for x in group["header"][place])
            arrays = [np.ascontiguousarray(group[name][place]) for name in data.Motion._fields]
            motion, text = data.Motion(*arrays), bytes(np.ascontiguousarray(group["text"][place])).rstrip(b"\0")
            if number > self.copy and checksum == _checksum(motion, text, number, rows):
                self.copy, self.rows, self._checkpoint = number, rows, (motion, text.decode())
        if not self.copy:
            raise StoreError(f"{path}: holds no data yet; the run was killed before its first sync")

    def checkpoint(self) -> tuple[data.Motion, str]:
        """The newest one."""
        return self._checkpoint

    def write(self, values: Values, simulation: Simulation) -> None:
        """Rows, then the checkpoint that counts them, each synced."""
        start, stop = self.rows, self.rows + len(values["time"])
        for name in ("time", *dataset.SCHEMA):
            self.handle[name][start:stop] = values[name]
        self.handle.sync()
        motion, text = simulation.checkpoint()
        raw = text.encode()
        group = self.handle["checkpoint"]
        room = group["text"].shape[1]
        if len(raw) > room:
            raise StoreError("the checkpoint does not fit into its place in the file")
        self.copy += 1
        place = self.copy % _COPIES
        for name, array in motion._asdict().items():
            group[name][place] = array
        group["text"][place] = np.frombuffer(raw.ljust(room, b"\0"), dtype=np.uint8)
        group["header"][place] = [self.copy, stop, _checksum(motion, raw, self.copy, stop)]
        self.handle.sync()
        self.rows = stop

    def close(self) -> None:
        # all that counts was synced before; on a full disk closing fails as well
        with suppress(OSError, RuntimeError):
            self.handle.close()


def _checksum(motion: data.Motion, text: bytes, number: int, rows: int) -> int:
    value = zlib.crc32(f"{number} {rows}".encode())
    for array in motion:
        value = zlib.crc32(np.ascontiguousarray(array).tobytes(), value)
    return zlib.crc32(text, value)


def _open_unlocked(path: Path, mode: Literal["r", "r+"]) -> netCDF4.Dataset:
    """HDF5 lets nobody write what somebody reads; a reader is done in a moment, so a writer asks again."""
    import netCDF4

    for _ in range(WRITER_TRIES if mode == "r+" else 0):
        with suppress(OSError):
            return netCDF4.Dataset(path, mode)
        time.sleep(0.05)
    return netCDF4.Dataset(path, mode)


def _while_it_is_written(path: Path) -> netCDF4.Dataset | None:
    """HDF5 locks a file that another process writes; a copy in memory can be read all the same."""
    import netCDF4

    try:
        return netCDF4.Dataset(str(path), "r", memory=path.read_bytes())
    except (OSError, RuntimeError, UnicodeError):
        return None


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Whatever a damaged file makes the libraries raise, in words."""
    try:
        yield
    except TautlineError:
        raise
    except (KeyError, IndexError, AttributeError, TypeError, ValueError, RuntimeError, OSError) as error:
        raise StoreError(f"{path}: a damaged run file ({error})") from None


def _create_checkpoint(handle: netCDF4.Dataset, simulation: Simulation) -> None:
    """Places for two copies, filled with zeros now so that later writes change no structure."""
    motion, text = simulation.checkpoint()
    group = handle.createGroup("checkpoint")
    group.createDimension("copy", _COPIES)
    arrays = {
        "header": np.zeros(_HEADER, dtype=np.int64),
        "text": np.zeros(len(text.encode()) + _TEXT, dtype=np.uint8),
        **motion._asdict(),
    }
    for name, array in arrays.items():
        dims = ["copy"]
        for axis, size in enumerate(array.shape):
            dims.append(f"{name}_{axis}")
            group.createDimension(dims[-1], size)
        v = group.createVariable(name, array.dtype, dims, contiguous=True, fill_value=False)
        v[:] = np.zeros((_COPIES, *array.shape), dtype=array.dtype)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Errors of the file system while writing, in words."""
    try:
        yield
    except PermissionError:
        raise StoreError(f"{path}: not allowed to write there") from None
    except (OSError, RuntimeError, UnicodeError) as error:
        # netCDF and HDF5 report a full disk as a RuntimeError with little text
        raise StoreError(f"{path}: cannot be written: {error}") from None


def _check_target(path: Path, overwrite: bool, size: int) -> None:
    """Refuse what cannot work before anything is made."""
    if path.is_dir():
        raise StoreError(f"{path}: is a folder, expected the name of a file")
    if not path.parent.is_dir():
        raise StoreError(f"{path}: its folder does not exist")
    if path.exists() and not overwrite:
        raise StoreError(
            f"{path}: exists already{_resumable(path)}; choose another name, or allow overwriting (--overwrite)"
        )
    try:
        free = os.statvfs(path.parent).f_bavail * os.statvfs(path.parent).f_frsize
    except (AttributeError, OSError):  # not on every system
        return
    if size > free:
        raise StoreError(
            f"{path}: needs {size / 1e9:.3g} GB, but {free / 1e9:.3g} GB are free there; "
            "sample less often, or shorten the run"
        )


def _resumable(path: Path) -> str:
    try:
        unfinished = open_run(path).attrs["status"] == "unfinished"
    except TautlineError:
        return ""
    return f" as an unfinished run that `tautline resume {path}` can finish" if unfinished else ""


def file_size(rows: int, N: int) -> int:
    """Of a run file, nearly (bytes)."""
    return 8 * rows * dataset.row_length(N) + 100_000


def run_to_file(
    path: str | os.PathLike[str],
    pendulum: Pendulum,
    state: State,
    command: Command,
    *,
    duration: float,
    sample: float | None = None,
    overwrite: bool = False,
    title: str = "",
    scenario: str = "",
    watch: Callable[[Progress], bool] | None = None,
    **options: Any,
) -> Simulation:
    """`simulate`, saved while it goes on; the file can be resumed after anything.

    Parameters
    ----------
    path : path
        Of the file; its folder must exist.
    pendulum, state, command, duration, sample, **options
        As in `simulate`.
    overwrite : bool
        Allow replacing an existing file, which happens only when the new one could be made.
    title, scenario : str
        Kept in the file; `scenario` describes the input as a text of the caller's choice.
    watch : callable, optional
        Called with a `Progress` after every chunk; a true answer ends the run, which can be resumed.
    """
    target = Path(path)
    simulation = Simulation(pendulum, state, **options)
    interval = default_sample(duration, simulation.settings["step"]) if sample is None else sample
    count = simulation.begin(command, duration, interval)
    first = _values(simulation, simulation.first_sample())
    with _created(target, simulation, first, count + 1, interval, title, scenario, overwrite) as file:
        _drive(file, target, simulation, count + 1, interval, watch)
    return simulation


def save_run(path: str | os.PathLike[str], simulation: Simulation, *, title: str = "", overwrite: bool = False) -> int:
    """Write what a Simulation has recorded as a run file; the number of samples."""
    values = dataset.values_of(simulation.pendulum, simulation.record())
    rows = len(values["time"])
    interval = float(values["time"][-1] - values["time"][0]) / max(1, rows - 1)
    with _created(Path(path), simulation, values, rows, interval, title, "", overwrite):
        return rows


@contextmanager
def _created(
    target: Path,
    simulation: Simulation,
    first: Values,
    rows: int,
    sample: float,
    title: str,
    scenario: str,
    overwrite: bool,
) -> Iterator[RunFile]:
    """A new run file with its first rows; it gets its name when they are in it."""
    _check_target(target, overwrite, file_size(rows, simulation.elements))
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    file = None
    try:
        with _explained(target):
            file = RunFile.create(part, simulation, rows, sample, title, scenario)
            file.write(first, simulation)
            _name(part, target, overwrite)
        yield file
    finally:
        if file is not None:
            file.close()
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _name(part: Path, target: Path, overwrite: bool) -> None:
    """Give a file its name; without `overwrite` never that of a file that appeared meanwhile."""
    if overwrite:
        os.replace(part, target)
        return
    try:
        os.link(part, target)
    except FileExistsError:
        raise StoreError(f"{target}: exists already; it was made while this run was being prepared") from None
    except OSError:  # a file system without hard links
        os.replace(part, target)


def resume(path: str | os.PathLike[str], watch: Callable[[Progress], bool] | None = None) -> Simulation:
    """Finish a run file that was interrupted or killed; the result is the one of an uninterrupted run, bit for bit.

    Parameters
    ----------
    path : path
        Of the run file; a complete one is left as it is.
    watch : callable, optional
        As in `run_to_file`.
    """
    target = Path(path)
    file = RunFile.open(target, "r+")
    try:
        with _readable(target):
            written = str(file.handle.version)
            rows, sample = int(file.handle.rows_planned), float(file.handle.sample)
            simulation = Simulation.from_checkpoint(*file.checkpoint())
        if written != __version__ and file.rows < rows:
            raise StoreError(
                f"{target}: was begun by tautline {written}, and this is {__version__}; "
                "a resumed run is exact only with the same version"
            )
        _drive(file, target, simulation, rows, sample, watch)
    finally:
        file.close()
    return simulation


def _values(simulation: Simulation, samples: data.Samples) -> Values:
    times = simulation.sample_times(len(samples.scalars))
    return dataset.values_of(simulation.pendulum, dataset.record_of_samples(times, samples))


def _drive(
    file: RunFile,
    path: Path,
    simulation: Simulation,
    rows: int,
    sample: float,
    watch: Callable[[Progress], bool] | None,
) -> None:
    """Chunk after chunk until the run is complete, ends by an event, or is asked to stop."""
    started = time.perf_counter()
    plan = simulation.sampling(sample)
    most = max(1, int(BYTES_A_CHUNK / (8 * dataset.row_length(simulation.elements))))
    chunk = 1
    largest = 0.0
    first = float(file.handle["energy"][0])
    begun, steps = simulation.time, simulation.steps
    while file.rows < rows and simulation.status == errors.STATUS_NAMES[errors.RUNNING]:
        count = min(chunk, rows - file.rows)
        before = time.perf_counter()
        samples = simulation.march(count, plan)
        values = _values(simulation, samples)
        with _explained(path):
            file.write(values, simulation)
        spent = time.perf_counter() - before
        # aim at the time of a chunk, growing by no more than four at once
        chunk = max(1, min(4 * chunk, most, int(count * SECONDS_A_CHUNK / max(spent, 1e-9))))
        if watch is None or not len(values["time"]):
            continue
        largest = max(largest, float(values["kinetic_energy"].max()), 1e-300)
        error = float(dataset.kept_energy(values)[-1]) - first
        wall = time.perf_counter() - started
        progress = Progress(
            time=simulation.time,
            duration=(rows - 1) * sample,
            begun=begun,
            rows=file.rows,
            steps=simulation.steps - steps,
            wall=wall,
            balance_error=error / largest,
        )
        if watch(progress):
            return


# Rows read at once by what goes through a whole file: some megabytes.
BLOCK = 5_000


class Reader:
    """A run file that is read where it is wanted, for programs that look at parts of it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._file = RunFile.open(self._path)
        self.attrs = _attributes(self._file, self._path)
        self.rows = self._file.rows

    def read(self, name: str, rows: slice) -> data.Array:
        """Some rows of a variable."""
        with _readable(self._path):
            return np.asarray(np.ma.filled(self._file.handle[name][rows], np.nan))

    def blocks(self) -> Iterator[Values]:
        """All variables, piece by piece: a file need not fit into memory."""
        for start in range(0, self.rows, BLOCK):
            yield {name: self.read(name, slice(start, start + BLOCK)) for name in ("time", *dataset.SCHEMA)}

    def close(self) -> None:
        self._file.close()


def blocks(path: str | os.PathLike[str]) -> Iterator[xr.Dataset]:
    """A run file piece by piece, labelled."""
    with closing(Reader(path)) as reader:
        for values in reader.blocks():
            yield dataset.labelled_values(values, reader.attrs)


def open_run(path: str | os.PathLike[str]) -> xr.Dataset:
    """A run file as a Dataset, as far as it was written; the file may still be in use.

    `attrs` are those of `simulate`; "status" is "unfinished" if the run can be resumed.
    """
    target = Path(path)
    file = RunFile.open(target)
    try:
        with _readable(target):
            rows = slice(0, file.rows)
            values = {name: np.ma.filled(file.handle[name][rows], np.nan) for name in ("time", *dataset.SCHEMA)}
            return dataset.labelled_values(values, _attributes(file, target))
    finally:
        file.close()


def _attributes(file: RunFile, path: Path) -> dict[str, Any]:
    with _readable(path):
        simulation = Simulation.from_checkpoint(*file.checkpoint())
        attrs = simulation.attributes() | {"version": str(file.handle.version)}
        planned, sample = int(file.handle.rows_planned), float(file.handle.sample)
        if simulation.status == "completed" and file.rows < planned:
            attrs["status"] = "unfinished"
            attrs["message"] = f"unfinished at t = {simulation.time:.6g} s; `tautline resume {path}` goes on from there"
        title, text = file.handle.title, file.handle.scenario_file
    return {**attrs, "title": title, "scenario_file": text, "sample": sample, "duration": (planned - 1) * sample}
