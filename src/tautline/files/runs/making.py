"""A new run file: netCDF-4 with CF attributes, made at its full size; then it is known where its arrays lie."""

from __future__ import annotations

import math
import mmap
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tautline._version import __version__
from tautline.durable import StoreError
from tautline.files.runs.format import COPIES, FORMAT, Contents, Place, page_rows, write_at
from tautline.schema import Layout

if TYPE_CHECKING:
    import netCDF4

# Written into the first number of every array, and found again in the file: netCDF does not tell where arrays lie.
# As a number it is an ordinary one; no text in UTF-8 holds these bytes.
_MARK = b"\xc3\x28\x89\xf5\x1d\x40"
_NAN = struct.pack("<d", math.nan)


def make(
    path: Path, *, title: str, layout: Layout, rows: int, sample: float, room: int, planned: int | None = None
) -> Contents:
    """Make a run file without data, with room for each copy of the checkpoint.

    A run that ended early has fewer rows than were planned.
    """
    import netCDF4

    page = page_rows(layout)
    shapes = {name: layout.shape(name, rows) for name in layout.all_variables()}
    plan = Contents(
        format=FORMAT,
        version=__version__,
        title=title or "tautline run",
        sample=sample,
        rows_planned=rows if planned is None else planned,
        elements=layout.lengths["element"],
        page=page,
        size=0,
        skeleton="0" * 64,
        variables={name: Place(0, shape) for name, shape in shapes.items()},
        checksums=Place(0, (-(-rows // page), len(shapes)), 4),
        copies=Place(0, (COPIES, room), 1),
        contents=Place(0, (0,), 1),
    )
    # offsets and sizes are not known yet; each takes less than 20 digits
    length = len(plan.encode()) + 20 * (len(shapes) + 5)
    plan = plan._replace(contents=Place(0, (length,), 1))
    handle = netCDF4.Dataset(path, "w", format="NETCDF4")
    try:
        _describe(handle, plan, layout)
        _mark(handle, plan)
    finally:
        handle.close()
    return _settle(path, plan)


def _describe(handle: netCDF4.Dataset, plan: Contents, layout: Layout) -> None:
    """Write names, dimensions, units and the whole input."""
    handle.setncatts(
        {
            "Conventions": "CF-1.11",
            "title": plan.title,
            "source": f"tautline {plan.version}",
            "format": FORMAT,
            "version": plan.version,
            "sample": plan.sample,
            "rows_planned": np.int64(plan.rows_planned),
            **{f"{dim}_names": " ".join(names) for dim, names in layout.names.items()},
        }
    )
    for name, size in layout.sizes(plan.variables["time"].shape[0]).items():
        if size:  # what has no length would grow without limit
            handle.createDimension(name, size)
    group = handle.createGroup("checkpoint")
    for name, place, kind in _own(plan):
        dims = [f"{name}_{axis}" for axis in range(len(place.shape))]
        for dim, size in zip(dims, place.shape, strict=True):
            group.createDimension(dim, size)
        group.createVariable(name, kind, dims, contiguous=True, fill_value=False, endian="little")
    for name, variable in layout.all_variables().items():
        v = handle.createVariable(name, "f8", variable.dims, contiguous=True, fill_value=np.nan, endian="little")
        v.setncatts({"units": variable.units, "long_name": variable.long_name})
    handle["time"].setncatts({"standard_name": "time", "axis": "T"})


def _own(plan: Contents) -> list[tuple[str, Place, str]]:
    """Arrays that mean nothing to other programs."""
    return [("contents", plan.contents, "u1"), ("copies", plan.copies, "u1"), ("checksums", plan.checksums, "u4")]


def _mark(handle: netCDF4.Dataset, plan: Contents) -> None:
    """Fill all arrays, which gives them their places, and write a mark with its number into each."""
    group = handle["checkpoint"]
    for number, (name, place, kind) in enumerate(_own(plan)):
        filled: Any = np.zeros(place.size, dtype=np.uint8)
        filled[:8] = np.frombuffer(_marked(number), dtype=np.uint8)
        group[name][:] = filled.view(kind).reshape(place.shape)
    for number, name in enumerate(plan.variables, start=len(_own(plan))):
        v = handle[name]
        v[(0,) * v.ndim] = np.frombuffer(_marked(number), dtype="<f8")[0]


def _marked(number: int) -> bytes:
    return struct.pack("<H", number) + _MARK


def _settle(path: Path, plan: Contents) -> Contents:
    """Find all places, take away the marks, write the contents."""
    places = [plan.contents, plan.copies, plan.checksums, *plan.variables.values()]
    found: dict[int, Place] = {}
    with path.open("r+b", buffering=0) as file:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            size, position = len(whole), 0
            # from place to place: what lies inside them need not be searched
            while (position := whole.find(_MARK, position)) >= 0:
                (number,) = struct.unpack("<H", whole[position - 2 : position])
                place = places[number]._replace(offset=position - 2) if number < len(places) else None
                if place is None or number in found or place.offset + place.size > size:
                    raise StoreError(f"{path}: cannot be made: the netCDF library lays out arrays in an unknown way")
                found[number] = place
                position = place.offset + place.size
        if len(found) < len(places):
            raise StoreError(f"{path}: cannot be made: the netCDF library lays out arrays in an unknown way")
        own = len(_own(plan))
        for number, place in found.items():
            write_at(file, place.offset, bytes(8) if number < own else _NAN)
        contents = plan._replace(
            size=size,
            contents=found[0],
            copies=found[1],
            checksums=found[2],
            variables={name: found[k] for k, name in enumerate(plan.variables, start=own)},
        )
        contents = contents._replace(skeleton=contents.digest_of_skeleton(file))
        raw = contents.encode()
        if len(raw) > contents.contents.size:
            raise StoreError(f"{path}: cannot be made: its table of contents does not fit")
        write_at(file, contents.contents.offset, raw)
    return contents
