"""Messages to the page (docs/viewer-protocol.md): a description, frames for the scene, and curves thinned out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import groupby
from typing import Any, Protocol

import numpy as np
import xarray as xr

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import checks
from tautline.model.body import RigidBody
from tautline.model.shapes import Mesh
from tautline.model.system.parts import EARTH_GM, Orbit
from tautline.results.warnings import WARNINGS, decoded
from tautline.viewer.curves import CHANGES, Curve
from tautline.viewer.rounding import floors
from tautline.viewer.subject import DrawnLine, Mount, Subject, subject_of

MOST_FRAMES = 4096  # in one answer
MOST_POINTS = 20_000  # of a curve in one answer
# Numbers looked at for the size of the scene and the range of colors: all of a run of ordinary size.
SURVEYED = 2_000_000
SLACKENS = "tension_only"  # law of strings that go slack
ROUNDING = 1e-9  # strain, or part of a range: what is smaller is no value of its own


class Recording(Protocol):
    """A run that can be read piece by piece."""

    @property
    def attrs(self) -> Mapping[str, Any]: ...

    @property
    def rows(self) -> int: ...

    def read(self, name: str, rows: slice) -> Array: ...


class InMemory:
    """A Dataset as a recording."""

    def __init__(self, run: xr.Dataset) -> None:
        checks.instance("run", run, xr.Dataset)
        if "time" not in run.dims:
            raise InputError("run: expected samples over time, got none; keep one moment as run.isel(time=[k])")
        subject = subject_of(run.attrs)
        needed = {*subject.variables}.union(*(curve.needs for curve in subject.curves))
        missing = sorted(needed.difference(map(str, run.variables)))
        if missing:
            raise InputError(f"run: expected all variables of a run, got one without {', '.join(missing)}")
        self._run, self._layout = run, subject.layout
        self.attrs: Mapping[str, Any] = run.attrs
        self.rows = int(run.sizes["time"])
        other = [name for name in sorted(needed) if run[name].size != math.prod(self._layout.shape(name, self.rows))]
        if other:
            raise InputError(f"run: expected all lines and bodies of its case, got others in {', '.join(other)}")

    def read(self, name: str, rows: slice) -> Array:
        """Some rows; the dimensions line and body may have been dropped where there is one of them."""
        found = np.asarray(self._run[name].values[rows], dtype=np.float64)
        return found.reshape(self._layout.shape(name, len(found)))


def frame_length(about: Mapping[str, Any]) -> int:
    """Numbers in a frame of a run with this description."""
    elements = sum(int(line["elements"]) for line in about["lines"])
    lines, bodies = len(about["lines"]), len(about["bodies"])
    drums = sum(line[end] is not None for line in about["lines"] for end in ("reel", "end_reel"))
    return 1 + lines + drums + 3 * (elements + lines) + 12 * bodies + 2 * elements


def frames_of(values: Mapping[str, Array], subject: Subject) -> Array:
    """Rows of a frame each, from variables of the same rows."""
    n = len(values["time"])
    parts = (
        values["time"],
        subject.kept(values),
        subject.turned(values),
        values["position"],
        subject.poses(values),
        values["tension"],
        subject.energy_density(values["strain"]),
    )
    return np.concatenate([part.reshape(n, -1) for part in parts], axis=1)


def frames(run: Recording, first: int, count: int, every: int = 1) -> bytes:
    """So many frames as float32."""
    for name, value, least in (("first", first, 0), ("count", count, 1), ("every", every, 1)):
        if value < least:
            raise InputError(f"{name}: expected at least {least}, got {value}")
    if first >= run.rows:
        raise InputError(f"first: expected less than the run's {run.rows} samples, got {first}")
    count = min(count, MOST_FRAMES)
    rows = slice(first, min(first + count * every, run.rows), every)
    subject = subject_of(run.attrs)
    values = {name: run.read(name, rows) for name in subject.variables}
    return frames_of(values, subject).astype("<f4").tobytes()


def group_size(rows: int, points: int) -> int:
    """Samples that two points of a curve stand for, where there are more samples than points; else 1."""
    return math.ceil(max(1, rows) / (points // 2)) if rows > points else 1


def plots(run: Recording, start: float, end: float, points: int) -> bytes:
    """Times, then every curve, float64, between two times."""
    if not start <= end:
        raise InputError(f"from: expected at most to, got {start} and {end}")
    points = max(points, 10)
    time = run.read("time", slice(0, run.rows))
    low = max(0, int(np.searchsorted(time, start)) - 1)
    high = min(run.rows, int(np.searchsorted(time, end, side="right")) + 1)
    rows = slice(low, high)
    size = group_size(high - low, points)
    columns = [_places(time[rows], size)]
    for needs, curves in groupby(subject_of(run.attrs).curves, lambda curve: curve.needs):
        # components of one variable stand together: it is read once for them
        needed = {name: run.read(name, rows) for name in needs}
        columns += [thinned(_shown(run, curve, needed), size) for curve in curves]
    return np.concatenate(columns).astype("<f8").tobytes()


def _shown(run: Recording, curve: Curve, needed: Mapping[str, Array]) -> Array:
    values = curve.made(needed)
    return values - _first(run, curve) if curve.name in CHANGES else values


def _first(run: Recording, curve: Curve) -> float:
    return float(curve.made({name: run.read(name, slice(0, 1)) for name in curve.needs})[0])


def _grouped(x: Array, size: int) -> Array:
    """In groups of a size; the last one is filled up with its last value."""
    groups = -(-len(x) // size)
    return np.concatenate([x, np.full(groups * size - len(x), x[-1])]).reshape(groups, size)


def _places(time: Array, size: int) -> Array:
    if size == 1:
        return time
    grouped = _grouped(time, size)
    return np.stack([grouped[:, 0], grouped[:, size // 2]], axis=1).ravel()


def thinned(x: Array, size: int) -> Array:
    """The least and the greatest value of each group of a size, in the order in which they occur."""
    if size == 1:
        return x
    grouped = _grouped(x, size)
    # a value that is no number must not hide the others
    number = np.isfinite(grouped)
    least = np.argmin(np.where(number, grouped, np.inf), axis=1)
    greatest = np.argmax(np.where(number, grouped, -np.inf), axis=1)
    order = np.stack([np.minimum(least, greatest), np.maximum(least, greatest)], axis=1)
    return np.take_along_axis(grouped, order, axis=1).ravel()


def survey(run: Recording, subject: Subject) -> tuple[Array, dict[str, list[float]]]:
    """Box around all that moves, and ranges of what colors the lines, from some rows of the run."""
    size = run.read("position", slice(0, 1)).size
    every = -(-run.rows * size // SURVEYED)
    # the last row is among them
    rows = (slice(0, run.rows, every), slice(run.rows - 1, run.rows))
    values = {name: np.concatenate([run.read(name, some) for some in rows]) for name in subject.variables}
    box = subject.box(values)
    if box is None:
        box = max(line.string.length for line in subject.lines) * np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]])
    return box, ranges_of(values, subject)


def ranges_of(values: Mapping[str, Array], subject: Subject) -> dict[str, list[float]]:
    """Ranges of what colors the lines, in some samples; what is slack has a color of its own."""
    stiffness = max(line.string.stiffness for line in subject.lines)
    strain = values["strain"]
    taut = np.ones(strain.shape, dtype=bool)
    for line in subject.lines:
        if line.string.law == SLACKENS:
            taut[:, line.elements] = strain[:, line.elements] > 0.0
    return {
        "strain": _range(strain[taut], ROUNDING),
        "tension": _range(values["tension"][taut], stiffness * ROUNDING),
        "energy_density": _range(subject.energy_density(strain)[taut], 0.5 * stiffness * ROUNDING**2),
    }


def _range(x: Array, smallest: float) -> list[float]:
    """Least and greatest; what differs from zero by rounding alone is zero."""
    x = x[np.isfinite(x)]
    low, high = (float(x.min()), float(x.max())) if len(x) else (0.0, 0.0)
    if abs(low) < max(smallest, ROUNDING * abs(high)):
        low = 0.0
    return [low, max(high, low + smallest)]


def meta(run: Recording, title: str) -> dict[str, Any]:
    """Description of a recorded run for the page, under a title."""
    if run.rows == 0:
        raise InputError("run: expected at least one sample, got none")
    subject = subject_of(run.attrs)
    box, ranges = survey(run, subject)
    times = [float(run.read("time", slice(i, i + 1))[0]) for i in (0, run.rows - 1)]
    about = {
        "title": title,
        "status": str(run.attrs["status"]),
        "message": str(run.attrs["message"]),
        "warnings": [w.text for w in decoded(str(run.attrs.get(WARNINGS, "")))],
        "version": str(run.attrs["version"]),
        "samples": run.rows,
        "start": times[0],
        "end": times[1],
    }
    return about | scene(subject, run.read("position", slice(0, 1))[0], box, ranges)


def scene(subject: Subject, nodes: Array, box: Array, ranges: dict[str, list[float]]) -> dict[str, Any]:
    """Description of all that does not depend on the run's samples, but for where its nodes are at first."""
    units = {plot.name: plot.units for plot in subject.plots}
    return {
        "gravity": subject.gravity,
        "orbit": _orbit(subject.orbit),
        "surface": subject.surface,
        "lines": [_line(line, np.nan_to_num(nodes[line.nodes])) for line in subject.lines],
        "bodies": [_body(*named, shape) for named, shape in zip(subject.bodies.items(), subject.shapes, strict=True)],
        "bounds": box.tolist(),
        "ranges": ranges,
        "plots": [
            plot._asdict() | {"floor": floor} for plot, floor in zip(subject.plots, floors(subject), strict=True)
        ],
        "series": [
            {"name": curve.name, "label": curve.label, "units": units[curve.plot], "plot": curve.plot}
            for curve in subject.curves
        ],
    }


def _line(line: DrawnLine, nodes: Array) -> dict[str, Any]:
    """A line and what it runs from and onto."""
    about: dict[str, Any] = {"name": line.name, "elements": len(nodes) - 1}
    about |= {name: getattr(line.string, name) for name in ("length", "density", "stiffness")}
    about |= {"ends": line.ends, "slackens": line.string.law == SLACKENS}
    return about | {"reel": _reel(line.mount, nodes[0]), "end_reel": _reel(line.end_mount, nodes[-1])}


def _reel(mount: Mount | None, place: Array) -> dict[str, Any] | None:
    """A drum or a wheel, at the place of a node."""
    if mount is None:
        return None
    about: dict[str, Any] = {name: getattr(mount.reel, name) for name in ("drum_radius", "guide_length")}
    return about | {
        "drop": mount.drop,
        "position": place.tolist(),
        "guide": list(mount.guide),
        "axis": list(mount.axis),
    }


def _body(name: str, body: RigidBody | None, shape: Mesh) -> dict[str, Any]:
    """A body and its shape, which among kinematic ones only a ship has."""
    points, faces = shape if shape[1] else (np.zeros((0, 3)), [])
    about = {"points": np.round(points, 9).tolist(), "faces": faces}
    return (
        about
        | {"name": name, "held": body is None}
        | {
            "mass": body.mass if body else 0.0,
            "center_of_mass": list(body.center_of_mass) if body else [0.0, 0.0, 0.0],
        }
    )


def _orbit(orbit: Orbit | None) -> dict[str, Any] | None:
    """Numbers that tell the direction to the center of attraction at any time, and what is there."""
    if orbit is None:
        return None
    about = {"center": "Earth" if orbit.gravitational_parameter == EARTH_GM else "center"}
    return about | {"rate": orbit.rate, "eccentricity": orbit.eccentricity, "mean_anomaly": orbit.mean_anomaly}
