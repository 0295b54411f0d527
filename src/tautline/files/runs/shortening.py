"""Run files of runs that ended early, without the rows that never came.

A run file is made at the size of the whole plan. When an event ends the run, its rows move to a new file of their size,
which then takes the name of the first one: a kill at any moment leaves one of the two, complete.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import IO

from tautline import durable
from tautline.durable import StoreError, explained
from tautline.files.runs import making
from tautline.files.runs.format import Contents, Place, write_at
from tautline.schema import Layout

# Bytes copied at once.
PIECE = 1 << 23


def shorten(file: IO[bytes], path: Path, contents: Contents, rows: int, layout: Layout) -> None:
    """Free the space behind the first rows of a run file that its writer holds open and locked.

    The file stays as it is where it has no other rows, where the disk has no room for a copy of these, and where
    another file has its name by now.
    """
    real = Path(os.path.realpath(path))
    if rows >= contents.variables["time"].shape[0] or rows * layout.row_length() * 8 >= durable.free_space(real):
        return
    part = durable.part_name(real)
    with suppress(StoreError), explained(path):
        try:
            short = making.make(
                part,
                title=contents.title,
                layout=layout,
                rows=rows,
                planned=contents.rows_planned,
                sample=contents.sample,
                room=contents.copies.row_size,
            )
            with part.open("r+b", buffering=0) as copy:
                durable.lock(copy)
                for place, target in zip(contents.changing(), short.changing(), strict=True):
                    _move(file, place, copy, target)
                if os.path.samestat(os.fstat(file.fileno()), real.stat()):
                    os.replace(part, real)
        finally:
            part.unlink(missing_ok=True)


def _move(file: IO[bytes], place: Place, copy: IO[bytes], target: Place) -> None:
    """Copy an array as far as the target has room for it."""
    file.seek(place.offset)
    done = 0
    while done < target.size:
        piece = file.read(min(PIECE, target.size - done))
        if not piece:
            raise StoreError("damaged: it was cut off while it was read")
        write_at(copy, target.offset + done, piece)
        done += len(piece)
