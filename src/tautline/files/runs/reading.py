"""Reading run files; needs no engine.

A file may be read while it is written: what is counted is never changed again.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from tautline import durable
from tautline.durable import StoreError
from tautline.files.runs.format import Array, Contents, checksum, of_another_version, pages, read_at, read_copies
from tautline.model import checks
from tautline.results.inputs import CASE, system_of
from tautline.results.network import build, layout
from tautline.results.values import Values

if TYPE_CHECKING:
    import xarray as xr

# Rows read at once by what goes through a whole file: some megabytes.
BLOCK = 5_000
PAGES_AT_ONCE = 64
# A writer may be changing one copy of the checkpoint, and then the other, while both are read.
TRIES = 20


class RunFile:
    """An open run file; every read is checked against the checksums."""

    def __init__(self, file: IO[bytes], path: Path, contents: Contents) -> None:
        self.file, self.path, self.contents = file, path, contents
        for _ in range(TRIES - 1):
            try:
                found = read_copies(file, contents)
                break
            except StoreError:
                time.sleep(0.005)
        else:
            found = read_copies(file, contents)
        self.copy = found.newest
        self.rows, self.elements = self.copy.rows, contents.elements
        case = json.loads(self.copy.text)[CASE]
        self.attrs = {**self.copy.attributes, CASE: json.dumps(case), "version": contents.version}
        if self.attrs["status"] == "completed" and self.rows < contents.rows_planned:
            torn = found.another_is_broken and not self.copy.closed
            self.attrs["status"] = "unfinished"
            self.attrs["message"] = unfinished(path, self.attrs["end_time"]) + (
                " (its newest checkpoint was torn or damaged, the one before is used)" if torn else ""
            )
        self.attrs |= described_run(contents.title, contents.sample, contents.rows_planned)
        self._column = {name: k for k, name in enumerate(contents.variables)}

    def rows_of(self, name: str, wanted: range) -> Array:
        """Rows of a variable; whole pages are read, of which only the wanted rows are kept."""
        page = self.contents.page
        out = np.empty((len(wanted), *self.contents.variables[name].shape[1:]))
        at_once = max(1, PAGES_AT_ONCE * page // wanted.step) if wanted.step <= page else 1
        for start in range(0, len(wanted), at_once):
            some = wanted[start : start + at_once]
            first = some[0] // page * page
            block = self._checked(name, first, min((some[-1] // page + 1) * page, self.rows))
            out[start : start + len(some)] = block[some[0] - first : some[-1] - first + 1 : some.step]
        return out

    def _checked(self, name: str, first: int, last: int) -> Array:
        """Whole pages of a variable, or what is there of the last one, checked."""
        place, column = self.contents.variables[name], self._column[name]
        raw = read_at(self.file, place.offset + first * place.row_size, (last - first) * place.row_size)
        if len(raw) < (last - first) * place.row_size:
            raise StoreError(f"{self.path}: damaged: it was cut off while it was read")
        block = np.frombuffer(raw, "<f8").reshape(last - first, *place.shape[1:])
        for number, start, stop in pages(self.contents.page, first, last):
            if checksum(block[start - first : stop - first]) != self._expected(number, column):
                raise StoreError(
                    f"{self.path}: damaged: rows {start} to {stop - 1} of {name} do not match their checksum; "
                    "run the scenario again, or look at the rest with other programs"
                )
        return block

    def _expected(self, number: int, column: int) -> int:
        if (number + 1) * self.contents.page > self.rows:
            return self.copy.page_sums[column]
        place = self.contents.checksums
        offset = place.offset + number * place.row_size + column * place.itemsize
        return int.from_bytes(read_at(self.file, offset, place.itemsize), "little")

    def check_all(self) -> None:
        """Refuse a file of which any counted row is damaged."""
        step = PAGES_AT_ONCE * self.contents.page
        for name in self.contents.variables:
            for first in range(0, self.rows, step):
                self._checked(name, first, min(first + step, self.rows))

    def close(self) -> None:
        self.file.close()


def unfinished(path: Path, end: float) -> str:
    """Say how far a run came that can be resumed."""
    return f"unfinished at t = {end:.6g} s; `tautline resume {path}` goes on from there"


def described_run(title: str, sample: float, planned: int) -> dict[str, Any]:
    """Attributes that do not change while a run goes on."""
    return {"title": title, "sample": sample, "duration": (planned - 1) * sample}


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the file's name before what is wrong with it; what damage makes the libraries raise becomes a sentence."""
    try:
        yield
    except StoreError as error:
        text = str(error)
        raise StoreError(text if text.startswith(f"{path}: ") else f"{path}: {text}") from None
    except (ArithmeticError, LookupError, AttributeError, TypeError, ValueError, RuntimeError, OSError) as error:
        raise StoreError(f"{path}: damaged: it cannot be read ({error})") from None


def opened(path: Path, mode: str = "rb") -> IO[bytes]:
    """Open a file that is said to be a run file."""
    kind = durable.kind_of(path)
    if kind is not None:
        raise StoreError(f"{path}: {kind}, expected a run file")
    try:
        return durable.open_input(path, mode, buffering=0)
    except FileNotFoundError:
        raise StoreError(f"{path}: no such file") from None
    except PermissionError:
        raise StoreError(f"{path}: not allowed to open this file") from None
    except OSError as error:
        raise StoreError(f"{path}: {durable.reason(error)}") from None


def find_contents(file: IO[bytes], path: Path) -> Contents:
    """Contents of a run file, checked."""
    start = read_at(file, 0, 8)
    if not start:
        raise StoreError(f"{path}: is empty, expected a run file")
    contents = Contents.find(file)
    if contents is not None:
        return contents
    if start == b"\x89HDF\r\n\x1a\n":
        raise StoreError(f"{path}: a netCDF file, but not a run of tautline")
    what = "a scenario file; use `tautline check` or `run`" if path.suffix == ".toml" else "no netCDF-4 file"
    raise StoreError(f"{path}: cannot be opened as a run file ({what})")


def open_file(path: Path) -> RunFile:
    """Open a run file to read it."""
    file = opened(path)
    try:
        with naming(path):
            return RunFile(file, path, find_contents(file, path))
    except BaseException:
        file.close()
        raise


class Reader:
    """A run file that is read where it is wanted, for programs that look at parts of it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = checks.path("path", path)
        self._source = open_file(self._path)
        self.attrs = self._source.attrs
        self.rows = self._source.rows
        self.system = system_of(self.attrs)
        self.layout = layout(self.system)
        contents = self._source.contents
        if set(contents.variables) != set(self.layout.all_variables()):
            self.close()
            raise StoreError(f"{self._path}: {of_another_version(contents.format, contents.version)}")

    def read(self, name: str, rows: slice) -> Array:
        """Some rows of a variable; no others than were written."""
        wanted = range(self.rows)[rows]
        with naming(self._path):
            if wanted.step < 0:
                return self._source.rows_of(name, wanted[::-1])[::-1]
            return self._source.rows_of(name, wanted)

    def values(self, rows: slice) -> Values:
        """Some rows of all variables."""
        return {name: self.read(name, rows) for name in self.layout.all_variables()}

    def blocks(self) -> Iterator[Values]:
        """All variables, piece by piece: a file need not fit into memory."""
        for start in range(0, self.rows, BLOCK):
            yield self.values(slice(start, start + BLOCK))

    def labeled(self, values: Values) -> xr.Dataset:
        """Rows of all variables as a Dataset."""
        return build(self.system, values, self.attrs)

    def close(self) -> None:
        self._source.close()


def blocks(path: str | os.PathLike[str]) -> Iterator[xr.Dataset]:
    """A run file piece by piece, labeled."""
    with closing(Reader(path)) as reader:
        for values in reader.blocks():
            yield reader.labeled(values)


def open_run(path: str | os.PathLike[str]) -> xr.Dataset:
    """A run file as a Dataset, as far as it was written; the file may still be in use.

    `attrs` are those of `simulate`; "status" is "unfinished" if the run can be resumed.
    """
    with closing(Reader(path)) as reader:
        return reader.labeled(reader.values(slice(None)))
