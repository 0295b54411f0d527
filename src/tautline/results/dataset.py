"""The schema of results: names, dimensions, units. Datasets are built here only."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline import ledger

if TYPE_CHECKING:
    import xarray as xr

    from tautline.kernels import data
    from tautline.model.pendulum import Pendulum

Array = NDArray[np.float64]

# By the names of the schema, and the time.
Values = dict[str, Array]


class Variable(NamedTuple):
    dims: tuple[str, ...]
    units: str
    long_name: str


TIME = ("time",)
AXES = ["x", "y", "z"]
SCHEMA = {
    "reeled_length": Variable(TIME, "m", "unstretched length on the reel side of the guide entrance"),
    "reel_speed": Variable(TIME, "m s-1", "rate of reeled_length; positive in retrieval"),
    "unstretched_length": Variable(TIME, "m", "unstretched length of the deployed string"),
    "stretched_length": Variable(TIME, "m", "stretched length of the deployed string"),
    "position": Variable((*TIME, "node", "axis"), "m", "positions of the nodes; third axis down"),
    "velocity": Variable((*TIME, "node", "axis"), "m s-1", "velocities of the mesh nodes, inertial"),
    "attitude": Variable((*TIME, "row", "column"), "1", "rotation matrix, body to inertial frame"),
    "angular_velocity": Variable((*TIME, "axis"), "rad s-1", "of the body, in the body frame"),
    "strain": Variable((*TIME, "element"), "1", "strain of the elements"),
    "tension": Variable((*TIME, "element"), "N", "tension in the elements, damping included; negative in compression"),
    "guide_tension": Variable(TIME, "N", "tension at the guide entrance, on the line through the first two elements"),
    **{account.name: Variable(TIME, account.unit, account.sentence) for account in ledger.ACCOUNTS},
    "rotational_energy": Variable(TIME, "J", "Omega.J Omega/2 about the attachment point"),
    "energy": Variable(TIME, "J", "total energy"),
    "torque": Variable(TIME, "N m", "moment of motor or lock on the drum, commanded or needed; positive retrieves"),
    "power": Variable(TIME, "W", "power of that moment; positive where it drives the drum, negative where it brakes"),
    "angular_momentum": Variable(TIME, "kg m2 s-1", "about the vertical axis through the guide entrance"),
    "orthogonality_error": Variable(TIME, "1", "Frobenius norm of I - R^T R"),
}


MODE = ("mode",)
MODES_SCHEMA = {
    "frequency": Variable(MODE, "Hz", "natural frequency; 0 for a rigid or a growing motion"),
    "angular_frequency": Variable(MODE, "rad s-1", "2 pi times the frequency"),
    "growth_rate": Variable(MODE, "s-1", "of a motion that grows away from rest; 0 where the rest is stable"),
    "kind": Variable(MODE, "", "longitudinal, swing, transverse, body, rigid"),
    "shape": Variable((*MODE, "node", "axis"), "1", "displacements of the nodes, per amplitude"),
    "rotation": Variable((*MODE, "axis"), "rad m-1", "small rotation of the body in its own frame, per amplitude"),
    "reel": Variable(MODE, "1", "change of reeled_length, per amplitude"),
    "modal_mass": Variable(MODE, "kg", "twice the kinetic energy at a rate of amplitude of 1 m/s"),
    "longitudinal_share": Variable(MODE, "1", "part of the kinetic energy that is motion along the string"),
    "rotation_share": Variable(MODE, "1", "part of the kinetic energy that is rotation about the centre of mass"),
    "position": Variable(("node", "axis"), "m", "positions of the nodes at rest; third axis down"),
    "attitude": Variable(("row", "column"), "1", "rotation matrix at rest, body to inertial frame"),
}


LYAPUNOV_SCHEMA = {
    "growth_rate": Variable(TIME, "s-1", "of the distance to a neighbouring motion, in the interval that ends here"),
    "exponent": Variable(TIME, "s-1", "largest Lyapunov exponent, as estimated up to here"),
}


TIME_VARIABLE = Variable(TIME, "s", "time")


def sizes(N: int, rows: int) -> dict[str, int]:
    """Of all dimensions."""
    return {"time": rows, "node": N + 1, "element": N, "axis": 3, "row": 3, "column": 3}


def row_length(N: int) -> int:
    """Numbers in one sample."""
    size = sizes(N, 1)
    return 1 + sum(math.prod(size[d] for d in v.dims) for v in SCHEMA.values())


class Record(NamedTuple):
    """What any integrator delivers: the state and the figures that only it can know."""

    time: Array
    reeled_length: Array
    reel_speed: Array
    nodes: Array  # (n, N + 1, 3) relative to the guide entrance
    velocity: Array
    attitude: Array
    angular_velocity: Array
    accounts: Values  # of the ledger, by name
    rotational_energy: Array
    torque: Array
    angular_momentum: Array
    orthogonality_error: Array
    guide_displacement: Array  # (n, 3)
    guide_velocity: Array


def record_of_samples(time: Array, samples: data.Samples) -> Record:
    from tautline.kernels import data  # runs are read without the kernels

    x = samples.scalars
    return Record(
        time=time,
        reeled_length=x[:, data.REELED_LENGTH],
        reel_speed=x[:, data.REEL_SPEED],
        nodes=samples.nodes[:, 0],
        velocity=samples.nodes[:, 1],
        attitude=x[:, data.ROTATION : data.ROTATION + 9].reshape(-1, 3, 3),
        angular_velocity=x[:, data.ANGULAR_VELOCITY : data.ANGULAR_VELOCITY + 3],
        accounts={account.name: x[:, k] for k, account in enumerate(ledger.ACCOUNTS)},
        rotational_energy=x[:, data.ROTATIONAL],
        torque=x[:, data.DRUM_TORQUE],
        angular_momentum=x[:, data.ANGULAR_MOMENTUM],
        orthogonality_error=x[:, data.ORTHOGONALITY],
        guide_displacement=x[:, data.GUIDE_PLACE : data.GUIDE_PLACE + 3],
        guide_velocity=x[:, data.GUIDE_VELOCITY : data.GUIDE_VELOCITY + 3],
    )


def values_of(pendulum: Pendulum, record: Record, names: Iterable[str] = tuple(SCHEMA)) -> Values:
    """Every variable of the schema, or at least the wanted ones, and the time."""
    wanted = set(names)
    N = record.nodes.shape[1] - 1
    unstretched = pendulum.string.length - record.reeled_length
    values = record._asdict()
    values |= values.pop("accounts")
    nodes = values.pop("nodes")
    displacement, frame = values.pop("guide_displacement"), values.pop("guide_velocity")
    with np.errstate(all="ignore"):  # a run that overflowed says so in its status
        values["unstretched_length"] = unstretched
        radii = pendulum.reel.radius(record.reeled_length)
        values["power"] = record.torque * record.reel_speed / radii + 0.0  # no negative zeros
        first, *others = (values[name] for name in ledger.names(ledger.STORED))
        values["energy"] = sum(others, start=first)
        if wanted & {"position", "velocity"}:
            values["position"] = nodes + np.array(pendulum.reel.guide_position) + displacement[:, None]
            values["velocity"] = record.velocity + frame[:, None]
        if wanted & {"stretched_length", "strain", "tension", "guide_tension"}:
            lengths = np.linalg.norm(np.diff(nodes, axis=1), axis=2)
            strain = lengths / (unstretched / N)[:, None] - 1.0
            values["stretched_length"] = lengths.sum(axis=1)
            values["strain"] = strain
            values["tension"] = _tension(pendulum, record, strain, unstretched / N, lengths)
            values["guide_tension"] = _guide_tension(pendulum, values["tension"], nodes, lengths, unstretched / N)
    return values


def _tension(pendulum: Pendulum, record: Record, strain: Array, l: Array, lengths: Array) -> Array:
    """Elastic, and by the rate of strain; a string that cannot push is not made to by damping."""
    string = pendulum.string
    elastic = string.tension(strain)
    if string.viscosity == 0.0:
        return elastic
    N = lengths.shape[1]
    along = np.diff(record.nodes, axis=1) / np.maximum(lengths, 1e-290)[:, :, None]
    stretching = np.sum(along * np.diff(record.velocity, axis=1), axis=2)
    rate = (stretching + lengths * (record.reel_speed / (N * l))[:, None]) / l[:, None]
    total = elastic + string.viscosity * rate
    if string.law == "linear":
        return np.asarray(total)
    return np.where(elastic > 0.0, np.maximum(total, 0.0), elastic)


def _guide_tension(pendulum: Pendulum, tension: Array, nodes: Array, lengths: Array, l: Array) -> Array:
    """Tension at the entrance, to second order in the length of an element; it does not push where the string cannot.

    A single element has no neighbour: half of its weight along it is added instead.
    """
    if tension.shape[1] > 1:
        at_guide = 1.5 * tension[:, 0] - 0.5 * tension[:, 1]
    else:
        down = nodes[:, 1, 2] / np.maximum(lengths[:, 0], 1e-290)
        at_guide = tension[:, 0] + 0.5 * pendulum.weights().string * l * down
    return np.maximum(at_guide, 0.0) if pendulum.string.law == "tension_only" else at_guide


def build(pendulum: Pendulum, record: Record, attrs: dict[str, Any]) -> xr.Dataset:
    """The labelled result of a run."""
    return labelled_values(values_of(pendulum, record), attrs)


def build_modes(values: dict[str, Any], attrs: dict[str, Any]) -> xr.Dataset:
    """The labelled result of a linearisation."""
    import xarray as xr

    coords = {
        "mode": (
            "mode",
            np.arange(1, len(values["frequency"]) + 1),
            {"long_name": "number of the mode, slowest first"},
        ),
        "axis": ("axis", AXES),
    }
    return xr.Dataset(_with_units(MODES_SCHEMA, values), coords, attrs)


def build_lyapunov(values: dict[str, Any], attrs: dict[str, Any]) -> xr.Dataset:
    """The labelled result of watching neighbouring motions part."""
    import xarray as xr

    time = ("time", values["time"], {"units": TIME_VARIABLE.units, "long_name": TIME_VARIABLE.long_name})
    return xr.Dataset(_with_units(LYAPUNOV_SCHEMA, values), {"time": time}, attrs)


def _with_units(schema: dict[str, Variable], values: dict[str, Any]) -> dict[str, Any]:
    return {name: (v.dims, values[name], {"units": v.units, "long_name": v.long_name}) for name, v in schema.items()}


def labelled_values(values: Values, attrs: dict[str, Any]) -> xr.Dataset:
    """With dimensions, units, and the coordinates that every result has."""
    import xarray as xr  # half a second, which a run from the command line or in a study need not spend

    coords = {
        "time": ("time", values["time"], {"units": TIME_VARIABLE.units, "long_name": TIME_VARIABLE.long_name}),
        "axis": ("axis", AXES),
    }
    return xr.Dataset(_with_units(SCHEMA, values), coords, attrs)
