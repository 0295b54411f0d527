"""What the page is sent (docs/viewer-protocol.md): a description, frames for the scene, and curves thinned out."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple, Protocol

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from tautline.dataset import kept_energy
from tautline.errors import InputError
from tautline.model.string import String
from tautline.shapes import body_mesh

Array = NDArray[np.float64]
MOST_FRAMES = 4096  # in one answer
MOST_POINTS = 20_000
# Rows looked at for the size of the scene and the range of colours.
SURVEYED = 500


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
    made: Callable[[Any], Array]  # from an object with the needed variables


def _variable(name: str, label: str, plot: str) -> Curve:
    return Curve(name, label, plot, (name,), lambda x: np.asarray(getattr(x, name)))


def _component(name: str, label: str, plot: str, variable: str, k: int) -> Curve:
    return Curve(name, label, plot, (variable,), lambda x: np.asarray(getattr(x, variable))[:, k])


PLOTS = (
    Plot("energies", "energy", "J"),
    Plot("lengths", "deployed length", "m"),
    Plot("tension", "tension", "N"),
    Plot("reel", "reel speed", "m/s"),
    Plot("spin", "angular velocity", "rad/s"),
    Plot("energy_error", "energy balance error", "J"),
    Plot("momentum", "angular momentum about the vertical", "kg m²/s"),
    Plot("orthogonality", "orthogonality error", "1"),
)
ACCOUNTS = (
    "control_work",
    "fluid_work",
    "external_work",
    "guide_work",
    "guide_loss",
    "damping_loss",
    "friction_loss",
)
CURVES = (
    _variable("energy", "total", "energies"),
    _variable("kinetic_energy", "kinetic", "energies"),
    _variable("rotational_energy", "rotational", "energies"),
    _variable("gravity_energy", "gravity", "energies"),
    _variable("elastic_energy", "elastic", "energies"),
    _variable("stretched_length", "stretched", "lengths"),
    _variable("unstretched_length", "unstretched", "lengths"),
    _component("tension_guide", "at the guide", "tension", "tension", 0),
    _component("tension_body", "at the body", "tension", "tension", -1),
    _variable("reel_speed", "in (+), out (-)", "reel"),
    _component("spin_x", "x", "spin", "angular_velocity", 0),
    _component("spin_y", "y", "spin", "angular_velocity", 1),
    _component("spin_z", "z", "spin", "angular_velocity", 2),
    Curve(
        "balance",
        "energy - work + loss, change",
        "energy_error",
        ("energy", *ACCOUNTS),
        lambda x: np.asarray(kept_energy(x)),
    ),
    _variable("angular_momentum", "π₃", "momentum"),
    _variable("orthogonality_error", "‖I - RᵀR‖", "orthogonality"),
)
# Shown as the change since the first sample.
CHANGES = ("balance",)


def description(run: Recording) -> dict[str, Any]:
    """The pendulum of a run, as it was given."""
    if "scenario" not in run.attrs:
        raise InputError("run: expected a run of simulate() or of a run file, got one without its scenario")
    found: dict[str, Any] = json.loads(run.attrs["scenario"])["pendulum"]
    return found


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
    count = min(count, MOST_FRAMES)
    rows = slice(first, min(first + count * every, run.rows), every)
    values = {name: run.read(name, rows) for name in FRAME_VARIABLES}
    return frames_of(values, String(**description(run)["string"])).astype("<f4").tobytes()


def plots(run: Recording, start: float, end: float, points: int) -> bytes:
    """Times, then every curve, float64, between two times."""
    if not start < end:
        raise InputError(f"from: expected less than to, got {start} and {end}")
    points = min(max(points, 10), MOST_POINTS)
    time = run.read("time", slice(0, run.rows))
    low = max(0, int(np.searchsorted(time, start)) - 1)
    high = min(run.rows, int(np.searchsorted(time, end, side="right")) + 1)
    rows = slice(low, high)
    size = math.ceil(max(1, high - low) / (points // 2)) if high - low > points else 1
    columns = [_places(time[rows], size)]
    for curve in CURVES:
        needed = SimpleNamespace(**{name: run.read(name, rows) for name in curve.needs})
        values = curve.made(needed)
        if curve.name in CHANGES:
            values = values - _first(run, curve)
        columns.append(thinned(values, size))
    return np.concatenate(columns).astype("<f8").tobytes()


def _first(run: Recording, curve: Curve) -> float:
    first = SimpleNamespace(**{name: run.read(name, slice(0, 1)) for name in curve.needs})
    return float(curve.made(first)[0])


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
    least, greatest = np.argmin(grouped, axis=1), np.argmax(grouped, axis=1)
    order = np.stack([np.minimum(least, greatest), np.maximum(least, greatest)], axis=1)
    return np.take_along_axis(grouped, order, axis=1).ravel()


def survey(run: Recording) -> tuple[Array, dict[str, list[float]]]:
    """Box around all that moves, and ranges of what colours the string, from some rows of the run."""
    rows = slice(0, run.rows, max(1, run.rows // SURVEYED))
    tree = description(run)
    place = run.read("position", rows)
    reach = float(np.linalg.norm(body_mesh(tree["body"])[0], axis=1).max())
    end = place[:, -1:]
    place = np.concatenate([place, end - reach, end + reach], axis=1).reshape(-1, 3)
    strain, tension = run.read("strain", rows), run.read("tension", rows)
    density = String(**tree["string"]).energy_density(strain)
    box = np.stack([np.nanmin(place, axis=0), np.nanmax(place, axis=0)])
    return box, {"strain": _range(strain), "tension": _range(tension), "energy_density": _range(density)}


def _range(x: Array) -> list[float]:
    """Least and greatest, zero included: colours then mean the same in every run that starts at rest."""
    return [min(0.0, float(np.nanmin(x))), max(1e-12, float(np.nanmax(x)))]


def meta(run: Recording, title: str) -> dict[str, Any]:
    """Of a recorded run, under a name."""
    if run.rows == 0:
        raise InputError("run: expected at least one sample, got none")
    box, ranges = survey(run)
    times = [float(run.read("time", slice(i, i + 1))[0]) for i in (0, run.rows - 1)]
    about = {
        "title": title,
        "status": str(run.attrs["status"]),
        "message": str(run.attrs["message"]),
        "version": str(run.attrs["version"]),
        "samples": run.rows,
        "start": times[0],
        "end": times[1],
        "elements": int(run.read("tension", slice(0, 1)).shape[1]),
    }
    return about | scene(description(run), box, ranges)


def scene(tree: dict[str, Any], box: Array, ranges: dict[str, list[float]]) -> dict[str, Any]:
    """What of the description does not depend on the run's samples."""
    points, faces = body_mesh(tree["body"])
    units = {plot.name: plot.units for plot in PLOTS}
    return {
        "string": {name: tree["string"][name] for name in ("length", "density", "stiffness")},
        "reel": {name: tree["reel"][name] for name in ("drum_radius", "guide_length", "guide_position")},
        "gravity": tree["gravity"],
        "body": {
            "points": np.round(points, 9).tolist(),
            "faces": faces,
            "center_of_mass": list(tree["body"]["center_of_mass"]),
        },
        "bounds": box.tolist(),
        "ranges": ranges,
        "plots": [plot._asdict() for plot in PLOTS],
        "series": [
            {"name": curve.name, "label": curve.label, "units": units[curve.plot], "plot": curve.plot}
            for curve in CURVES
        ],
    }
