"""Runs for other programs: CSV for spreadsheets, VTK for ParaView."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from tautline import schema
from tautline.durable import replacing
from tautline.model.shapes import body_mesh
from tautline.results.inputs import pendulum_of

Array = NDArray[np.float64]


def write_csv(pieces: Iterable[xr.Dataset], path: Path) -> int:
    """One row a sample, all variables flattened (position[0,x], ...), units in the second line; rows written."""
    rows = 0
    source = iter(pieces)
    first = next(source)  # before anything is written: the run may be unreadable
    with replacing(path, newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerows(_columns(first))
        for piece in itertools.chain([first], source):
            flat = [piece[name].values.reshape(piece.sizes["time"], -1) for name in schema.SCHEMA]
            table = np.concatenate([piece.time.values[:, None], *flat], axis=1)
            # repr keeps every bit of a number
            writer.writerows([[repr(float(x)) for x in row] for row in table])
            rows += len(table)
    return rows


def _columns(piece: xr.Dataset) -> tuple[list[str], list[str]]:
    names, units = ["time"], [schema.TIME_VARIABLE.units]
    for name, variable in schema.SCHEMA.items():
        axes = [list("xyz") if d == "axis" else range(piece.sizes[d]) for d in variable.dims[1:]]
        for index in itertools.product(*axes):
            names.append(f"{name}[{','.join(map(str, index))}]" if index else name)
            units.append(variable.units)
    return names, units


def write_vtk(pieces: Iterable[xr.Dataset], folder: Path) -> int:
    """A series for ParaView: open string.pvd and body.pvd. The third axis points down; frames written."""
    source = iter(pieces)
    first = next(source)  # before anything is written: the run may be unreadable
    points, faces = body_mesh(pendulum_of(first.attrs).body)
    folder.mkdir(parents=True, exist_ok=True)
    for old in (*folder.glob("string_*.vtp"), *folder.glob("body_*.vtp")):
        old.unlink()  # of a longer run before
    frames: list[float] = []
    for piece in itertools.chain([first], source):
        for i, t in enumerate(piece.time.values):
            row = piece.isel(time=i)
            name = f"{len(frames):06d}.vtp"
            nodes = row.position.values
            (folder / f"string_{name}").write_text(_string_vtp(row), encoding="ascii")
            placed = nodes[-1] + points @ row.attitude.values.T
            (folder / f"body_{name}").write_text(_polydata(placed, "Polys", faces), encoding="ascii")
            frames.append(float(t))
    for part in ("string", "body"):
        entries = "".join(f'<DataSet timestep="{t!r}" file="{part}_{i:06d}.vtp"/>\n' for i, t in enumerate(frames))
        text = (
            '<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1"><Collection>\n'
            f"{entries}</Collection></VTKFile>\n"
        )
        (folder / f"{part}.pvd").write_text(text, encoding="ascii")
    return len(frames)


def _numbers(values: Any) -> str:
    return " ".join(f"{x:.9g}" for x in np.ravel(values))


def _string_vtp(row: xr.Dataset) -> str:
    """Elements as lines; the tension of the elements, and at the nodes, where it is the mean of both neighbours."""
    tension = row.tension.values
    at_nodes = np.array([row.guide_tension, *(0.5 * (tension[1:] + tension[:-1])), row.body_tension])
    lines = [[i, i + 1] for i in range(len(tension))]
    of_elements = {"tension": tension, "strain": row.strain.values}
    return _polydata(row.position.values, "Lines", lines, {"PointData": {"tension": at_nodes}, "CellData": of_elements})


def _polydata(
    points: Array, kind: str, cells: list[list[int]], values: Mapping[str, Mapping[str, Array]] | None = None
) -> str:
    """VTK's XML format for points with lines or polygons, and values at points and on cells."""
    connectivity = " ".join(str(i) for cell in cells for i in cell)
    offsets = " ".join(str(n) for n in itertools.accumulate(len(cell) for cell in cells))
    data = "".join(
        f"<{where}>"
        + "".join(
            f'<DataArray type="Float64" Name="{name}" format="ascii">{_numbers(x)}</DataArray>'
            for name, x in own.items()
        )
        + f"</{where}>"
        for where, own in (values or {}).items()
    )
    return (
        '<?xml version="1.0"?>\n<VTKFile type="PolyData" version="0.1" byte_order="LittleEndian"><PolyData>'
        f'<Piece NumberOfPoints="{len(points)}" NumberOf{kind}="{len(cells)}">'
        f'<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">{_numbers(points)}</DataArray>'
        "</Points>"
        f'<{kind}><DataArray type="Int64" Name="connectivity" format="ascii">{connectivity}</DataArray>'
        f'<DataArray type="Int64" Name="offsets" format="ascii">{offsets}</DataArray></{kind}>'
        f"{data}</Piece></PolyData></VTKFile>\n"
    )
