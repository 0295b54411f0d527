"""What the page is sent (docs/viewer-protocol.md): a description, frames for the scene, and curves thinned out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any, NamedTuple, Protocol

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from tautline.errors import InputError
from tautline.ledger import ACCOUNTS, kept_energy
from tautline.model import checks
from tautline.model.kinds import plain
from tautline.model.pendulum import Pendulum
from tautline.model.shapes import body_mesh
from tautline.model.string import String
from tautline.results.inputs import pendulum_of

Array = NDArray[np.float64]
MOST_FRAMES = 4096  # in one answer
MOST_POINTS = 20_000
# Numbers looked at for the size of the scene and the range of colours: all of a run of ordinary size.
SURVEYED = 2_000_000
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
        needed = {*FRAME_VARIABLES}.union(*(curve.needs for curve in CURVES))
        missing = sorted(needed.difference(map(str, run.variables)))
        if missing:
            raise InputError(f"run: expected all variables of a run, got one without {', '.join(missing)}")
        self._run = run
        self.attrs: Mapping[str, Any] = run.attrs
        self.rows = int(run.sizes["time"])

    def read(self, name: str, rows: slice) -> Array:
        return np.asarray(self._run[name].values[rows], dtype=np.float64)


class Plot(NamedTuple):
    name: str
    label: str
    units: str


class Curve(NamedTuple):
    """A series of a plot: what it is made from, and how."""

    name: str
    label: str
    plot: str
    needs: tuple[str, ...]
    made: Callable[[Mapping[str, Array]], Array]  # from the needed variables


def _variable(name: str, label: str, plot: str) -> Curve:
    return Curve(name, label, plot, (name,), lambda x: x[name])


def _component(name: str, label: str, plot: str, variable: str, k: int) -> Curve:
    return Curve(name, label, plot, (variable,), lambda x: x[variable][:, k])


PLOTS = (
    Plot("energies", "energy", "J"),
    Plot("lengths", "deployed length", "m"),
    Plot("tension", "tension", "N"),
    Plot("reel", "reel speed", "m/s"),
    Plot("torque", "torque on the drum", "N m"),
    Plot("power", "power of the drum", "W"),
    Plot("spin", "angular velocity", "rad/s"),
    Plot("energy_error", "energy balance error", "J"),
    Plot("momentum", "angular momentum about the vertical", "kg m²/s"),
    Plot("orthogonality", "orthogonality error", "1"),
)
CURVES = (
    _variable("energy", "total", "energies"),
    _variable("kinetic_energy", "kinetic", "energies"),
    _variable("rotational_energy", "rotational", "energies"),
    _variable("gravity_energy", "gravity", "energies"),
    _variable("elastic_energy", "elastic", "energies"),
    _variable("stretched_length", "stretched", "lengths"),
    _variable("unstretched_length", "unstretched", "lengths"),
    _variable("guide_tension", "at the guide", "tension"),
    _variable("body_tension", "at the body", "tension"),
    _variable("reel_speed", "in (+), out (-)", "reel"),
    _variable("torque", "retrieves (+)", "torque"),
    _variable("power", "drives (+), brakes (-)", "power"),
    _component("spin_x", "x", "spin", "angular_velocity", 0),
    _component("spin_y", "y", "spin", "angular_velocity", 1),
    _component("spin_z", "z", "spin", "angular_velocity", 2),
    Curve(
        "balance",
        "energy - work + loss, change",
        "energy_error",
        tuple(account.name for account in ACCOUNTS),
        kept_energy,
    ),
    _variable("angular_momentum", "π₃", "momentum"),
    _variable("orthogonality_error", "‖I - RᵀR‖", "orthogonality"),
)
# Shown as the change since the first sample.
CHANGES = ("balance",)


def frame_length(N: int) -> int:
    """Numbers in a frame: time, reeled length, nodes, attitude, tension and energy density of the elements."""
    return 2 + 3 * (N + 1) + 9 + 2 * N


def frames_of(values: Mapping[str, Array], string: String) -> Array:
    """Rows of a frame each, from variables of the same rows."""
    n = len(values["time"])
    density = string.energy_density(values["strain"])
    parts = (
        values["time"][:, None],
        values["reeled_length"][:, None],
        values["position"].reshape(n, -1),
        values["attitude"].reshape(n, -1),
        values["tension"],
        density,
    )
    return np.concatenate(parts, axis=1)


FRAME_VARIABLES = ("time", "reeled_length", "position", "attitude", "tension", "strain")


def frames(run: Recording, first: int, count: int, every: int = 1) -> bytes:
    """So many frames as float32."""
    for name, value, least in (("first", first, 0), ("count", count, 1), ("every", every, 1)):
        if value < least:
            raise InputError(f"{name}: expected at least {least}, got {value}")
    if first >= run.rows:
        raise InputError(f"first: expected less than the run's {run.rows} samples, got {first}")
    count = min(count, MOST_FRAMES)
    rows = slice(first, min(first + count * every, run.rows), every)
    values = {name: run.read(name, rows) for name in FRAME_VARIABLES}
    return frames_of(values, pendulum_of(run.attrs).string).astype("<f4").tobytes()


def plots(run: Recording, start: float, end: float, points: int) -> bytes:
    """Times, then every curve, float64, between two times."""
    if not start <= end:
        raise InputError(f"from: expected at most to, got {start} and {end}")
    points = min(max(points, 10), MOST_POINTS)
    time = run.read("time", slice(0, run.rows))
    low = max(0, int(np.searchsorted(time, start)) - 1)
    high = min(run.rows, int(np.searchsorted(time, end, side="right")) + 1)
    rows = slice(low, high)
    size = math.ceil(max(1, high - low) / (points // 2)) if high - low > points else 1
    columns = [_places(time[rows], size)]
    for needs, curves in groupby(CURVES, lambda curve: curve.needs):
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


def survey(run: Recording) -> tuple[Array, dict[str, list[float]]]:
    """Box around all that moves, and ranges of what colours the string, from some rows of the run."""
    pendulum = pendulum_of(run.attrs)
    string = pendulum.string
    place = _some(run, "position")
    reach = float(np.linalg.norm(body_mesh(pendulum.body)[0], axis=1).max())
    end = place[:, -1:]
    place = np.concatenate([place, end - reach, end + reach], axis=1).reshape(-1, 3)
    place = place[np.isfinite(place).all(axis=1)]
    if not len(place):
        place = string.length * np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]])
    strain, tension = _some(run, "strain"), _some(run, "tension")
    box = np.stack([place.min(axis=0), place.max(axis=0)])
    return box, {
        "strain": _range(strain, ROUNDING),
        "tension": _range(tension, string.stiffness * ROUNDING),
        "energy_density": _range(string.energy_density(strain), 0.5 * string.stiffness * ROUNDING**2),
    }


def _some(run: Recording, name: str) -> Array:
    """A variable at rows spread over the run, the last one among them."""
    last = run.read(name, slice(run.rows - 1, run.rows))
    every = -(-run.rows * last.size // SURVEYED)
    return np.concatenate([run.read(name, slice(0, run.rows, every)), last])


def _range(x: Array, smallest: float) -> list[float]:
    """Least and greatest, zero included: colours then mean the same in every run that starts at rest."""
    x = x[np.isfinite(x)]
    low, high = float(np.min(x, initial=0.0)), float(np.max(x, initial=smallest))
    return [0.0 if low > -max(smallest, ROUNDING * high) else low, high]


def meta(run: Recording, title: str) -> dict[str, Any]:
    """Description of a recorded run for the page, under a title."""
    if run.rows == 0:
        raise InputError("run: expected at least one sample, got none")
    box, ranges = survey(run)
    times = [float(run.read("time", slice(i, i + 1))[0]) for i in (0, run.rows - 1)]
    about = {
        "title": title,
        "status": str(run.attrs["status"]),
        "message": str(run.attrs["message"]),
        "remarks": str(run.attrs.get("remarks", "")).splitlines(),
        "version": str(run.attrs["version"]),
        "samples": run.rows,
        "start": times[0],
        "end": times[1],
        "elements": int(run.read("tension", slice(0, 1)).shape[1]),
    }
    return about | scene(pendulum_of(run.attrs), box, ranges)


def scene(pendulum: Pendulum, box: Array, ranges: dict[str, list[float]]) -> dict[str, Any]:
    """What does not depend on the run's samples."""
    string, reel, body = pendulum.string, pendulum.reel, pendulum.body
    points, faces = body_mesh(body)
    units = {plot.name: plot.units for plot in PLOTS}
    return {
        "string": {name: getattr(string, name) for name in ("length", "density", "stiffness")},
        "reel": {name: plain(getattr(reel, name)) for name in ("drum_radius", "guide_length", "guide_position")},
        "gravity": pendulum.gravity,
        "body": {
            "points": np.round(points, 9).tolist(),
            "faces": faces,
            "center_of_mass": list(body.center_of_mass),
        },
        "bounds": box.tolist(),
        "ranges": ranges,
        "plots": [plot._asdict() for plot in PLOTS],
        "series": [
            {"name": curve.name, "label": curve.label, "units": units[curve.plot], "plot": curve.plot}
            for curve in CURVES
        ],
    }
