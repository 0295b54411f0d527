"""Small oscillations of an assembly about a state of rest: natural frequencies and shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tautline._version import __version__
from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import checks
from tautline.model.assembly.assembly import Assembly
from tautline.model.assembly.rest import Places, Unknowns, balance, places_of, refuse_moving_fluid
from tautline.model.assembly.state import AssemblyState
from tautline.model.body import RigidBody
from tautline.results.assembly import build_modes

if TYPE_CHECKING:
    import xarray as xr

# Part of the largest force that may be unbalanced where oscillations are asked for.
BALANCED = 1e-6
# Squared frequencies below this part of the shift are zero.
ZERO = 1e-9
# Stands for gravity where there is none (m/s^2).
LEAST_GRAVITY = 1e-3
MOST_SHIFTS = 60


def mass_matrix(unknowns: Unknowns, state: AssemblyState, places: Places) -> Array:
    """Matrix of the kinetic energy by the rates of the unknowns; reels are held, drums turn with their bodies."""
    assembly = unknowns.assembly
    M = np.zeros((unknowns.count, unknowns.count))
    for name, first in unknowns.bodies.items():
        body, R = assembly.bodies[name], places.bodies[name][1]
        assert isinstance(body, RigidBody)
        inertia = np.eye(3) if body.is_point else R @ body.central_inertia() @ R.T
        M[first : first + 3, first : first + 3] += body.mass * np.eye(3)
        M[first + 3 : first + 6, first + 3 : first + 6] += inertia
    for name, line in assembly.strings.items():
        maps, reeled = unknowns.node_map(name, places), state.strings[name].reeled_length
        sixth = line.string.density * (line.string.length - reeled) / line.elements / 6.0
        for e in range(line.elements):
            for a, (rows, A) in ((0, maps[e]), (1, maps[e + 1])):
                for b, (columns, B) in ((0, maps[e]), (1, maps[e + 1])):
                    M[np.ix_(rows, columns)] += (2.0 if a == b else 1.0) * sixth * A.T @ B
        if line.reel is not None:
            rows, A = maps[0]
            M[np.ix_(rows, rows)] += line.string.density * reeled * A.T @ A
            if line.drum_axis is not None and line.start in unknowns.bodies:
                place = unknowns.bodies[line.start] + 3
                axis = line.reel.drum_radius * places.bodies[line.start][1] @ np.array(line.drum_axis)
                drum = line.reel.turning_mass + line.string.density * reeled
                M[place : place + 3, place : place + 3] += drum * np.outer(axis, axis)
    return M


def assembly_modes(assembly: Assembly, at: AssemblyState, count: int | None = None) -> xr.Dataset:
    """Natural frequencies and shapes of an assembly about a state of rest, as `tl.rest` finds it; reels are held.

    Parameters
    ----------
    assembly : Assembly
        In uniform gravity.
    at : AssemblyState
        The state of rest.
    count : int, optional
        How many, from the slowest up; all by default.

    Returns
    -------
    Dataset
        On `mode`: `frequency` (Hz), `growth_rate` (1/s) of motions that grow, `shape` (mode, node, axis),
        `body_shape` and `rotation` (mode, body, axis; rad per amplitude, in space). The largest displacement is 1.
    """
    checks.instance("at", at, AssemblyState)
    if assembly.orbit is not None:
        raise InputError("assembly: expected one in uniform gravity, got one in an orbit, where rest is a motion")
    refuse_moving_fluid(assembly, "modes")
    strings = [line.string for line in assembly.strings.values()]
    if assembly.fluid is not None and any(
        [*(string.normal_added_mass for string in strings), *(x.added_mass for x in assembly.in_fluid.values())]
    ):
        raise InputError("assembly: expected none with added mass for modes, got one whose fluid moves along")
    unknowns, places = Unknowns(assembly), places_of(at)
    found = balance(unknowns, at, places)
    left = float(np.abs(found.gradient).max(initial=0.0))
    if left > BALANCED * max(found.scale, 1e-300):
        raise InputError(f"at: expected a state of rest, as tl.rest finds it, got {left:.3g} N that are not balanced")
    squares, vectors, shift = _oscillations(assembly, found.stiffness, mass_matrix(unknowns, at, places))
    points = [name for name, body in assembly.bodies.items() if isinstance(body, RigidBody) and body.is_point]
    real = np.ones(len(squares), dtype=bool)
    for name in points:  # rotations of a point are no motions
        first = unknowns.bodies[name] + 3
        real &= np.abs(vectors[first : first + 3]).max(axis=0) < 0.5 * np.abs(vectors).max(axis=0)
    squares, vectors = squares[real], vectors[:, real]
    squares = np.where(np.abs(squares) < ZERO * shift, 0.0, squares)[:count]
    vectors = vectors[:, :count]
    values = {
        "frequency": np.sqrt(np.maximum(squares, 0.0)) / (2.0 * np.pi),
        "growth_rate": np.sqrt(np.maximum(-squares, 0.0)),
        **_shapes(unknowns, places, vectors),
    }
    return build_modes(assembly, values, {"version": __version__})


def _oscillations(assembly: Assembly, K: Array, M: Array) -> tuple[Array, Array, float]:
    """Squared frequencies from the least up, vectors, and the shift about which they were found.

    As eigenvalues 1/(w^2 + shift) of M v = x (K + shift M) v: slow motions have the largest, and the rounding of their
    own size, whatever the stiffness of the strings is.
    """
    from scipy.linalg import LinAlgError, eigh

    longest = max(line.string.length for line in assembly.strings.values())
    shift = max(float(assembly.gravity or 0.0), LEAST_GRAVITY) / longest
    for _ in range(MOST_SHIFTS):
        try:
            inverse, vectors = eigh(M, K + shift * M)
        except LinAlgError:  # a motion grows faster than that
            shift *= 4.0
            continue
        return 1.0 / inverse[::-1] - shift, vectors[:, ::-1], shift
    raise InputError("at: expected a state about which an assembly can oscillate, got one that no shift makes stable")


def _shapes(unknowns: Unknowns, places: Places, vectors: Array) -> dict[str, Array]:
    """Displacements of nodes and bodies, and rotations, of every mode; the largest displacement is 1."""
    assembly, count = unknowns.assembly, vectors.shape[1]
    nodes = []
    for name in assembly.strings:
        nodes += [(A @ vectors[rows]).T for rows, A in unknowns.node_map(name, places)]
    shape = np.stack(nodes, axis=1)
    body, turn = np.zeros((2, count, len(assembly.bodies), 3))
    for b, name in enumerate(assembly.bodies):
        if name in unknowns.bodies:
            first = unknowns.bodies[name]
            body[:, b], turn[:, b] = vectors[first : first + 3].T, vectors[first + 3 : first + 6].T
    size = np.maximum(np.abs(shape).max(axis=(1, 2)), np.abs(body).max(axis=(1, 2), initial=0.0))
    size = np.where(size > 0.0, size, 1.0)[:, None, None]
    return {"shape": shape / size, "body_shape": body / size, "rotation": turn / size}
