"""Runs for other programs: CSV for spreadsheets, VTK for ParaView."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from tautline import schema
from tautline.durable import explained, replacing
from tautline.model.body import RigidBody
from tautline.model.shapes import body_mesh
from tautline.results.inputs import system_of
from tautline.results.network import spans

Array = NDArray[np.float64]


def write_csv(pieces: Iterable[xr.Dataset], path: Path) -> int:
    """One row a sample, all variables flattened (position[0,x], ...), units in the second line; rows written."""
    rows = 0
    source = iter(pieces)
    first = next(source)  # before anything is written: the run may be unreadable
    with replacing(path, newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        columns = columns_of(first)
        writer.writerows(
            [["time", *(c.name for c in columns)], [schema.TIME_VARIABLE.units, *(c.units for c in columns)]]
        )
        for piece in itertools.chain([first], source):
            flat = [x.values.reshape(piece.sizes["time"], -1) for x in piece.data_vars.values()]
            table = np.concatenate([piece.time.values[:, None], *flat], axis=1)
            # repr keeps every bit of a number
            writer.writerows([[repr(float(x)) for x in row] for row in table])
            rows += len(table)
    return rows


@dataclass(frozen=True)
class Column:
    """One number of every sample, and its place in a variable."""

    name: str
    variable: str
    index: tuple[int, ...]
    units: str


def columns_of(piece: xr.Dataset) -> list[Column]:
    """Columns of all variables but the time: end_tension[hoist], position[hoist.0,x].

    The only line and the only body are left out: end_tension, position[0,x].
    """
    columns = []
    for name, variable in piece.data_vars.items():
        axes = [_labels(piece, str(d)) for d in variable.dims[1:]]
        for index in itertools.product(*(range(len(labels)) for labels in axes)):
            words = ",".join(str(labels[i]) for labels, i in zip(axes, index, strict=True) if labels[i] != "")
            columns.append(
                Column(f"{name}[{words}]" if words else str(name), str(name), index, variable.attrs["units"])
            )
    return columns


def _labels(piece: xr.Dataset, dim: str) -> list[Any]:
    """Labels of the places of a dimension: names where there are some, those of lines for nodes of several."""
    if dim in ("line", "body") and piece.sizes[dim] == 1:
        return [""]
    if dim in piece.coords:
        return list(piece[dim].values.tolist())
    if piece.sizes.get("line", 1) == 1 or f"{dim}_line" not in piece.coords:
        return list(range(piece.sizes[dim]))
    owners = piece[f"{dim}_line"].values.tolist()
    return [f"{owner}.{i - owners.index(owner)}" for i, owner in enumerate(owners)]


# What is drawn of a run: the text of a VTK file for one moment, by the name of the series.
Parts = dict[str, Callable[[xr.Dataset], str]]


def parts_of(run: xr.Dataset) -> Parts:
    """Series of a run: line-NAME for each line and body-NAME for each free body; line and body for the only ones."""
    system = system_of(run.attrs)
    parts: Parts = {}
    for k, (name, places) in enumerate(spans(system).items()):
        drawn = partial(_line_vtp, k, *places, system.lines[name].spans)
        parts[f"line-{name}" if len(system.lines) > 1 else "line"] = drawn
    for b, (name, body) in enumerate(system.bodies.items()):
        if isinstance(body, RigidBody):
            points, faces = body_mesh(body)
            part = f"body-{name}" if len(system.free_bodies) > 1 else "body"
            parts[part] = partial(_body_vtp, b, points - np.array(body.center_of_mass), faces)
    return parts


def series_files(pieces: Iterable[xr.Dataset], folder: Path) -> list[Path]:
    """The files that one opens in ParaView."""
    return [folder / f"{part}.pvd" for part in parts_of(next(iter(pieces)))]


def write_vtk(pieces: Iterable[xr.Dataset], folder: Path) -> int:
    """Series for ParaView, one of every part: open NAME.pvd. The third axis points down; frames written."""
    source = iter(pieces)
    first = next(source)  # before anything is written: the run may be unreadable
    parts = parts_of(first)
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for old in (file for part in parts for file in folder.glob(f"{part}_*.vtp")):
        old.unlink()  # of a longer run before
    frames: list[float] = []
    for piece in itertools.chain([first], source):
        for i, t in enumerate(piece.time.values):
            row = piece.isel(time=i)
            for part, written in parts.items():
                _write(folder / f"{part}_{len(frames):06d}.vtp", written(row))
            frames.append(float(t))
    for part in parts:
        entries = "".join(f'<DataSet timestep="{t!r}" file="{part}_{i:06d}.vtp"/>\n' for i, t in enumerate(frames))
        text = (
            '<?xml version="1.0" encoding="UTF-8"?>\n<VTKFile type="Collection" version="0.1"><Collection>\n'
            f"{entries}</Collection></VTKFile>\n"
        )
        _write(folder / f"{part}.pvd", text)
    return len(frames)


def _write(path: Path, text: str) -> None:
    with explained(path):
        path.write_text(text, encoding="utf-8")


def _numbers(values: Any) -> str:
    return " ".join(f"{x:.9g}" for x in np.ravel(values))


def _line_vtp(k: int, nodes: slice, elements: slice, spans: int, row: xr.Dataset) -> str:
    """Line k: its elements, with the tension of the elements, and at the nodes the mean of both neighbors."""
    tension, strain = row.tension.values[elements], row.strain.values[elements]
    own = tension.reshape(spans, -1)
    inner = 0.5 * (own[:, 1:] + own[:, :-1])
    at_nodes = np.concatenate([own[:, :1], inner, own[:, -1:]], axis=1).ravel()
    at_nodes[0], at_nodes[-1] = row.start_tension.values[k], row.end_tension.values[k]
    N = own.shape[1]
    cells = [[i, i + 1] for span in range(spans) for i in range(span * (N + 1), span * (N + 1) + N)]
    values = {"PointData": {"tension": at_nodes}, "CellData": {"tension": tension, "strain": strain}}
    return _polydata(row.position.values[nodes], "Lines", cells, values)


def _body_vtp(b: int, points: Array, faces: list[list[int]], row: xr.Dataset) -> str:
    """Body b; points are relative to its center of mass."""
    return _polydata(row.body_position.values[b] + points @ row.attitude.values[b].T, "Polys", faces)


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
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<VTKFile type="PolyData" version="0.1" byte_order="LittleEndian"><PolyData>'
        f'<Piece NumberOfPoints="{len(points)}" NumberOf{kind}="{len(cells)}">'
        f'<Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">{_numbers(points)}</DataArray>'
        "</Points>"
        f'<{kind}><DataArray type="Int64" Name="connectivity" format="ascii">{connectivity}</DataArray>'
        f'<DataArray type="Int64" Name="offsets" format="ascii">{offsets}</DataArray></{kind}>'
        f"{data}</Piece></PolyData></VTKFile>\n"
    )
