"""Small oscillations of an assembly about a state of rest: natural frequencies and shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tautline._version import __version__
from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import checks
from tautline.model.assembly.assembly import System
from tautline.model.assembly.rest import free_bodies, network_of
from tautline.model.assembly.state import AssemblyState
from tautline.model.network import Network, Places
from tautline.model.network_forces import forces_of, of_elements, stiffness_of
from tautline.model.network_rest import is_balanced, left_of
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


def mass_matrix(assembly: System, network: Network, places: Places) -> Array:
    """Matrix of the kinetic energy by the rates of the unknowns; drums are locked and turn with their bodies."""
    M = np.zeros((network.count, network.count))
    for own, first, R in zip(network.bodies, network.first_of_body, places.attitudes, strict=True):
        M[first : first + 3, first : first + 3] += own.body.mass * np.eye(3)
        if not own.body.is_point:
            M[first + 3 : first + 6, first + 3 : first + 6] += R @ own.body.central_inertia() @ R.T
    sixth = network.each(lambda line: line.string.density) * network.l / 6.0
    blocks = sixth[:, None, None] * np.kron([[2.0, 1.0], [1.0, 2.0]], np.eye(3))
    B = network.node_map(places)
    M += (B.T @ of_elements(network, blocks) @ B).toarray()
    for line, placed, node in zip(assembly.lines.values(), network.lines, network.first_node, strict=True):
        A = B[3 * node : 3 * node + 3].toarray()
        M += placed.string.density * placed.spooled * A.T @ A
        b = placed.bodies[0]
        if line.reel is not None and line.drum_axis is not None and b >= 0:
            place = network.first_of_body[b] + 3
            axis = line.reel.drum_radius * places.attitudes[b] @ np.array(line.drum_axis)
            drum = line.reel.turning_mass + placed.string.density * placed.spooled
            M[place : place + 3, place : place + 3] += drum * np.outer(axis, axis)
    return M


def assembly_modes(assembly: System, at: AssemblyState, count: int | None = None) -> xr.Dataset:
    """Natural frequencies and shapes of an assembly about a state of rest, as `tl.rest` finds it; drums are locked.

    Applied forces, buoyancy and drag act with their size there and their change with place and attitude, as far as
    that is conservative; damping is left out.

    Parameters
    ----------
    assembly : System
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
    network, places = network_of(assembly, at)
    strings = [line.string for line in assembly.lines.values()]
    if assembly.fluid is not None and any(
        [*(string.normal_added_mass for string in strings), *(x.added_mass for x in assembly.body_fluid.values())]
    ):
        raise InputError("assembly: expected none with added mass for modes, got one whose fluid moves along")
    found = forces_of(network, places)
    if not is_balanced(network, found, BALANCED):
        left = left_of(network, found)
        raise InputError(f"at: expected a state of rest, as tl.rest finds it, got {left:.3g} N that are not balanced")
    stiffness = stiffness_of(network, places)
    K = stiffness.energy.toarray()
    if stiffness.steady is not None:
        K += 0.5 * (stiffness.steady + stiffness.steady.T).toarray()
    squares, vectors, shift = _oscillations(assembly, K, mass_matrix(assembly, network, places))
    squares = np.where(np.abs(squares) < ZERO * shift, 0.0, squares)[:count]
    vectors = vectors[:, :count]
    values = {
        "frequency": np.sqrt(np.maximum(squares, 0.0)) / (2.0 * np.pi),
        "growth_rate": np.sqrt(np.maximum(-squares, 0.0)),
        **_shapes(assembly, network, places, vectors),
    }
    return build_modes(assembly, values, {"version": __version__})


def _oscillations(assembly: System, K: Array, M: Array) -> tuple[Array, Array, float]:
    """Squared frequencies from the least up, vectors, and the shift about which they were found.

    As eigenvalues 1/(w^2 + shift) of M v = x (K + shift M) v: slow motions have the largest, and the rounding of their
    own size, whatever the stiffness of the strings is.
    """
    from scipy.linalg import LinAlgError, eigh

    longest = max(line.string.length for line in assembly.lines.values())
    shift = max(float(assembly.gravity or 0.0), LEAST_GRAVITY) / longest
    for _ in range(MOST_SHIFTS):
        try:
            inverse, vectors = eigh(M, K + shift * M)
        except LinAlgError:  # a motion grows faster than that
            shift *= 4.0
            continue
        return 1.0 / inverse[::-1] - shift, vectors[:, ::-1], shift
    raise InputError("at: expected a state about which an assembly can oscillate, got one that no shift makes stable")


def _shapes(assembly: System, network: Network, places: Places, vectors: Array) -> dict[str, Array]:
    """Displacements of nodes and bodies, and rotations, of every mode; the largest displacement is 1."""
    count = vectors.shape[1]
    shape = (network.node_map(places) @ vectors).T.reshape(count, -1, 3)
    body, turn = np.zeros((2, count, len(assembly.bodies), 3))
    for name, own, first in zip(free_bodies(assembly), network.bodies, network.first_of_body, strict=True):
        b = list(assembly.bodies).index(name)
        body[:, b] = vectors[first : first + 3].T
        if not own.body.is_point:
            turn[:, b] = vectors[first + 3 : first + 6].T
    size = np.maximum(np.abs(shape).max(axis=(1, 2)), np.abs(body).max(axis=(1, 2), initial=0.0))
    size = np.where(size > 0.0, size, 1.0)[:, None, None]
    return {"shape": shape / size, "body_shape": body / size, "rotation": turn / size}
