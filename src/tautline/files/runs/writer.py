"""A run file that is open for writing: rows, their checksums, and checkpoints that count them."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

import numpy as np

from tautline.durable import StoreError
from tautline.engine import saving
from tautline.engine.runner import Runner
from tautline.files.runs import format, shortening
from tautline.files.runs.format import Contents, Copy, write_at
from tautline.kernels import data
from tautline.results.inputs import CASE
from tautline.results.values import Values
from tautline.schema import Layout


class Writer:
    """A run file that is being written: rows and checkpoints in, nothing moved once it is written."""

    def __init__(self, file: IO[bytes], path: Path, contents: Contents, copy: Copy | None = None) -> None:
        self._file, self._path = file, path
        self.contents = contents
        self._copy = copy
        self._sums = [0] * len(contents.variables) if copy is None else list(copy.page_sums)

    @property
    def rows(self) -> int:
        """Rows that count."""
        return 0 if self._copy is None else self._copy.rows

    def write(self, values: Values, simulation: Runner[Any]) -> None:
        """Write rows, their checksums, and then the checkpoint that counts them."""
        first, last = self.rows, self.rows + len(values["time"])
        for column, name in enumerate(self.contents.variables):
            place = self.contents.variables[name]
            rows = np.ascontiguousarray(values[name], dtype="<f8")
            if len(rows):
                write_at(self._file, place.offset + first * place.row_size, rows.data.cast("B"))
            self._sum(column, rows, first, last)
        number = 1 if self._copy is None else self._copy.number + 1
        self._put(checkpoint(simulation, number, last, self._sums))

    def _sum(self, column: int, rows: data.Array, first: int, last: int) -> None:
        """Carry the checksum of a variable on; that of a page that is full goes to its place."""
        table, page = self.contents.checksums, self.contents.page
        for number, start, stop in format.pages(page, first, last):
            before = self._sums[column] if start % page else 0
            self._sums[column] = format.checksum(rows[start - first : stop - first], before)
            if stop % page == 0:
                offset = table.offset + number * table.row_size + column * table.itemsize
                write_at(self._file, offset, self._sums[column].to_bytes(table.itemsize, "little"))

    def _put(self, copy: Copy) -> None:
        place = self.contents.copies
        raw = copy.encode()
        if len(raw) > place.row_size:
            raise StoreError(f"{self._path}: the checkpoint does not fit into its place in the file")
        write_at(self._file, place.offset + copy.number % format.COPIES * place.row_size, raw)
        self._copy = copy

    def leave_in_order(self) -> None:
        """Write the last checkpoint into both places, so that damage to one loses nothing."""
        if self._copy is not None and not self._copy.closed:
            for _ in range(format.COPIES):
                self._put(self._copy._replace(number=self._copy.number + 1, closed=True))

    def shorten(self, layout: Layout) -> None:
        """Give back the space of rows that will not come; nothing can be written afterwards."""
        shortening.shorten(self._file, self._path, self.contents, self.rows, layout)

    def close(self) -> None:
        self._file.close()


def checkpoint(simulation: Runner[Any], number: int, rows: int, sums: list[int]) -> Copy:
    """Take a checkpoint of a run, with all that it says of itself."""
    motion, text = saving.taken(simulation)
    attributes = simulation.attributes()
    # both are in every file anyway: one as part of the text, one in the contents
    del attributes[CASE], attributes["version"]
    return Copy(number, rows, False, list(sums), attributes, text, motion._asdict())
