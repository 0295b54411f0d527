"""Small oscillations about a state of rest: natural frequencies and shapes (docs/theory.md, "Statics and modes")."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from tautline._version import __version__
from tautline.analysis.assembly_modes import assembly_modes
from tautline.arrays import TINY_LENGTH
from tautline.errors import InputError
from tautline.model import checks, statics
from tautline.model.assembly.assembly import System
from tautline.model.assembly.state import AssemblyState
from tautline.model.command import Locked
from tautline.model.equilibrium import Equilibrium, equilibrium
from tautline.model.loads import all_of, own_loads
from tautline.model.pendulum import Pendulum
from tautline.model.state import State
from tautline.model.statics import Array, Configuration
from tautline.reference import Equations, Fields
from tautline.results import dataset

# The matrices are dense: some seconds and 300 MB at this number.
MOST_ELEMENTS = 1000
# Of the weight, or its moment: a state with more of it unbalanced, beyond rounding, does not stay at rest.
BALANCE = 1e-6
ROUNDING = 1e-15
# Of the shift: squared frequencies closer to zero than this are zero; rounding is a thousand times smaller.
ZERO = 1e-9
# Squared frequencies that differ by less, relatively, belong to one frequency, whose shapes may be mixed at will.
SAME = 1e-8
# Of its largest: displacements below this do not count as a change of side.
SIDE = 1e-3
# Metres per radian: with less displacement than this, only the body turns.
STILL = 1e-6
# Shapes that may share the frequency of the last one wanted: swings along x and y.
PAIR = 2
MOST_SHIFTS = 100


class Linearised(NamedTuple):
    """M x'' + K x = 0 for x = (ds, dq_1..dq_N, eta) with R exp(eta): equations (A9) and (A10)."""

    M: Array
    K: Array
    moves: NDArray[np.bool_]  # entries of x that can move
    reel_force: float  # of gravity and string on s, without the loss at the guide

    def moving(self, A: Array) -> Array:
        """The rows and columns that can move."""
        return A[np.ix_(self.moves, self.moves)]


def modes(
    pendulum: Pendulum | System,
    at: Equilibrium | State | AssemblyState | None = None,
    *,
    deployed: float | None = None,
    elements: int = 20,
    count: int | None = None,
    reel: str = "locked",
) -> xr.Dataset:
    """Natural frequencies and shapes of small oscillations about a state of rest.

    Parameters
    ----------
    pendulum : Pendulum
        Or a System, with the state of rest that `tl.rest` finds; see `tautline.analysis.assembly_modes`.
    at : Equilibrium or State, optional
        Where to linearise; by default the string hangs with `deployed` metres out in `elements` elements. A load of
        the Equilibrium acts with its present size and its dependence on the configuration, as far as that is
        conservative; damping is left out.
    deployed, elements
        As in `equilibrium`; not with `at`.
    count : int, optional
        How many, from the slowest up; all by default. Motions that grow come first, then the rigid ones.
    reel : {"locked", "free"}
        "free": the drum turns, held in balance by a constant torque, `attrs["balancing_torque"]` (N m). The loss at
        the guide is left out. Not with a load.

    Returns
    -------
    Dataset
        On `mode`: `frequency` (Hz), `angular_frequency` (rad/s), `growth_rate` (1/s), `kind`, `shape` (mode, node,
        axis), `rotation` (rad/m, body frame), `reel`, `modal_mass` (kg) and shares of the kinetic energy; `position`
        and `attitude` at rest. A shape is scaled so that the largest displacement of a node, of the centre of mass
        about the attachment point or of the reel is 1; where only the body turns, its rotation is 1.

    Notes
    -----
    Kinds, in the order in which they are tested: "rigid", no restoring force (a turn of the body about the vertical,
    for example); "body", more than half of the kinetic energy is rotation about the centre of mass; "longitudinal",
    more than half is motion along the string; "swing", the string goes to one side, farthest at the body;
    "transverse", all others. Shapes of equal frequency are turned so that the first moves along x as far as it can.
    """
    if isinstance(pendulum, System):
        if not isinstance(at, AssemblyState) or deployed is not None or reel != "locked":
            checks.refuse("at", "the state of rest that tl.rest finds, and no other argument but count", at)
        return assembly_modes(pendulum, at, count)
    checks.instance("pendulum", pendulum, Pendulum)
    checks.choice("reel", reel, ("locked", "free"))
    state, load = _rest(pendulum, at, deployed, elements)
    checks.whole("elements", state.elements, 1, MOST_ELEMENTS)
    if reel == "free" and load is not None:
        checks.refuse("reel", "'locked' with a steady load", reel)
    x = Configuration(state.reeled_length, np.array(state.nodes), np.array(state.attitude))
    system = linearised(pendulum, x, load, free=reel == "free")
    n = int(system.moves.sum())
    wanted = n if count is None else checks.whole("count", count, 1, n)
    # a few more than wanted, so that shapes of one frequency are all there when they are turned
    squares, shapes = _eigenpairs(pendulum, system, min(wanted + PAIR, n))
    shapes = _turned_towards_x(squares, shapes, system.M)
    values = {
        **_frequencies(squares[:wanted]),
        **_shapes(pendulum, x, system.M, squares[:wanted], shapes[:wanted]),
        "position": x.q + np.array(pendulum.reel.guide_position),
        "attitude": x.R,
    }
    attrs = {
        "reel": reel,
        "reeled_length": x.s,
        "balancing_torque": -system.reel_force * pendulum.reel.radius(x.s),
        "guide_position": list(pendulum.reel.guide_position),
        "center_of_mass": list(pendulum.body.center_of_mass),
        "version": __version__,
    }
    return dataset.build_modes(values, attrs)


def displaced(result: xr.Dataset, mode: int, amplitude: float) -> State:
    """The state of rest, displaced along a shape: to start a run from.

    Parameters
    ----------
    result : Dataset
        From `modes`.
    mode : int
        Its number, from 1.
    amplitude : float
        What the shape is multiplied by (m).
    """
    from scipy.spatial.transform import Rotation

    number = checks.whole("mode", mode, 1, int(result.mode[-1]))
    size = checks.number("amplitude", amplitude)
    chosen = result.sel(mode=number)
    nodes = result.position.values - np.array(result.attrs["guide_position"]) + size * chosen["shape"].values
    nodes[0] = 0.0
    turn = Rotation.from_rotvec(size * chosen.rotation.values).as_matrix()
    s = result.attrs["reeled_length"] + size * float(chosen.reel)
    return State(s, 0.0, nodes, np.zeros_like(nodes), result.attitude.values @ turn)


def linearised(
    pendulum: Pendulum, x: Configuration, load: statics.Load | None = None, *, free: bool = False
) -> Linearised:
    """Mass and stiffness at a state of rest."""
    N = len(x.q) - 1
    if pendulum.fluid is not None and pendulum.fluid.surface is not None and pendulum.reel.guide_path is not None:
        checks.refuse("Reel.guide_path", "None in modes with Fluid.surface", "one", "; put guide_position where it is")
    equations = Equations(pendulum, N, Locked())  # at rest only its masses matter
    at_rest = Fields(x.s, x.q, x.R, 0.0, np.zeros_like(x.q), np.zeros(3))
    _, M, _ = equations.balance(0.0, at_rest)
    K = statics.stiffness(pendulum, x)
    if load is not None:
        l = statics.element_length(pendulum, x.s, N)
        D = statics.load_by_configuration(load, x.q, x.R, l).dense(3 * N + 3)
        K[1:, 1:] -= 0.5 * (D + D.T)
    moves = np.full(len(M), True)
    moves[0] = free
    moves[-3:] = not pendulum.body.is_point
    return Linearised(M, K, moves, statics.reel_force(pendulum, x))


def _rest(pendulum: Pendulum, at: Any, deployed: float | None, elements: int) -> tuple[State, statics.Load | None]:
    """Where to linearise, and the load that acts there."""
    if at is None:
        if deployed is None:
            raise InputError("deployed: expected a length (m), or an equilibrium or state as the second argument")
        at = equilibrium(pendulum, deployed, elements)
    elif deployed is not None:
        raise InputError("deployed: expected None with an equilibrium or state, which has its own length")
    if isinstance(at, Equilibrium):
        at.state.check_against(pendulum)
        return at.state, at.load
    if not isinstance(at, State):
        checks.refuse("at", "an Equilibrium or a State", at)
    at.check_against(pendulum)
    if at.reel_speed or at.node_velocities.any() or np.any(at.angular_velocity):
        raise InputError("at: expected a state at rest, got one that moves")
    x = Configuration(at.reeled_length, at.nodes, np.asarray(at.attitude))
    at_nodes, moment = statics.forces(pendulum, x)
    load = all_of(own_loads(pendulum, x.s))
    if load is not None:
        forces, turning = statics.evaluate(load, x.q, x.R)
        at_nodes, moment = at_nodes + forces[1:], moment + turning
    string, body, g = pendulum.string, pendulum.body, pendulum.gravity
    X = string.length - at.reeled_length
    # l is rounded with the whole length, and stretched with EA
    rounding = ROUNDING * string.stiffness * string.length / (X / at.elements)
    force, turn = float(np.abs(at_nodes).max()), float(np.abs(moment).max())
    too_much = force > BALANCE * (body.mass + string.density * X) * g + rounding
    if too_much or turn > BALANCE * body.mass * g * float(np.linalg.norm(body.center_of_mass)):
        raise InputError(
            f"at: expected a state in balance, got an unbalanced force of {force:.3g} N and moment of {turn:.3g} N m; "
            "tl.equilibrium finds one, also under a load"
        )
    return at, load


def _eigenpairs(pendulum: Pendulum, system: Linearised, count: int) -> tuple[Array, Array]:
    """The algebraically smallest squared frequencies, and the shapes, one a row.

    M x = y (K + shift M) x is solved for the largest y = 1/(omega^2 + shift): the slow modes then are right to
    rounding, however stiff the string is. With K x = omega^2 M x they would carry the rounding of the fastest.
    """
    from scipy.linalg import LinAlgError, eigh

    M, K = system.moving(system.M), system.moving(system.K)
    n = len(M)
    shift = _slow_square(pendulum, system)
    for _ in range(MOST_SHIFTS):
        try:
            y, X = eigh(M, K + shift * M, subset_by_index=[n - count, n - 1] if count < n else None)
        except LinAlgError:
            shift *= 4.0  # not yet beyond the fastest growth
            continue
        squares = 1.0 / y[::-1] - shift
        squares[np.abs(squares) <= ZERO * shift] = 0.0
        shapes = np.zeros((count, len(system.M)))
        shapes[:, system.moves] = X.T[::-1]
        return squares, shapes
    raise InputError("at: expected a state about which forces have finite derivatives, got one where they have not")


def _slow_square(pendulum: Pendulum, system: Linearised) -> float:
    """A squared frequency of the size of the slowest ones: Rayleigh's quotient of a swing, or else of a stretch."""
    N = (len(system.M) - 4) // 3
    for axis in range(3):
        x = np.zeros(len(system.M))
        x[1:-3].reshape(N, 3)[:, axis] = np.arange(1, N + 1) / N
        quotient = float(x @ system.K @ x / (x @ system.M @ x))
        if quotient > 0.0:
            return quotient
    return (pendulum.string.wave_speed / pendulum.string.length) ** 2  # a string in compression: any size will do


def _turned_towards_x(squares: Array, shapes: Array, M: Array) -> Array:
    """Within one frequency, shapes in the order of how much of their motion is along x."""
    along_x = np.ascontiguousarray(shapes[:, 1:-3:3])
    inertia = shapes @ M
    inertia_x = along_x @ np.ascontiguousarray(M[1:-3:3, 1:-3:3])
    result = shapes.copy()
    first = 0
    for last in range(1, len(squares) + 1):
        if last < len(squares) and squares[last] - squares[first] <= SAME * abs(squares[last]):
            continue
        if last - first > 1:
            same = slice(first, last)
            # the shapes themselves are orthonormal in M only up to their lengths
            unit = np.linalg.inv(np.linalg.cholesky(inertia[same] @ shapes[same].T))
            part = unit @ inertia_x[same] @ along_x[same].T @ unit.T
            result[same] = np.linalg.eigh(part)[1].T[::-1] @ unit @ shapes[same]
        first = last
    return result


def _frequencies(squares: Array) -> dict[str, Array]:
    omega = np.sqrt(np.maximum(squares, 0.0))
    return {
        "frequency": omega / (2.0 * np.pi),
        "angular_frequency": omega,
        "growth_rate": np.sqrt(np.maximum(-squares, 0.0)),
    }


def _shapes(pendulum: Pendulum, x: Configuration, M: Array, squares: Array, shapes: Array) -> dict[str, Any]:
    """Scaled shapes, where their kinetic energy is, and what they are called."""
    N = len(x.q) - 1
    y = shapes / _scales(shapes, np.array(pendulum.body.center_of_mass))[:, None]
    shape = np.zeros((len(y), N + 1, 3))
    shape[:, 1:] = y[:, 1:-3].reshape(-1, N, 3)
    t = _tangents(x.q)
    along = np.einsum("mna,na->mn", shape, t)[:, :, None] * t
    lengthwise = np.zeros_like(y)
    lengthwise[:, 0] = y[:, 0]
    lengthwise[:, 1:-3] = along[:, 1:].reshape(len(y), -1)
    modal_mass = ((y @ M) * y).sum(axis=1)
    longitudinal = ((lengthwise @ M) * lengthwise).sum(axis=1) / modal_mass
    turn = y[:, -3:]
    turning = ((turn @ pendulum.body.central_inertia()) * turn).sum(axis=1) / modal_mass
    across = shape - along
    return {
        "kind": [_kind(*row) for row in zip(squares, longitudinal, turning, across, strict=True)],
        "shape": shape,
        "rotation": turn,
        "reel": y[:, 0],
        "modal_mass": modal_mass,
        "longitudinal_share": longitudinal,
        "rotation_share": turning,
    }


def _scales(shapes: Array, rho: Array) -> Array:
    """Largest displacement of a node, of the centre of mass about the attachment or of the reel; or the rotation.

    With the sign that moves the string forwards next to the guide, along the axis in which it moves most there.
    """
    turned = np.linalg.norm(shapes[:, -3:], axis=1)
    moved = np.max(
        [
            np.linalg.norm(shapes[:, 1:-3].reshape(len(shapes), -1, 3), axis=2).max(axis=1),
            np.linalg.norm(np.cross(shapes[:, -3:], rho), axis=1),
            np.abs(shapes[:, 0]),
        ],
        axis=0,
    )
    first = np.where((moved > STILL * turned)[:, None], shapes[:, 1:4], shapes[:, -3:])
    forwards = first[np.arange(len(first)), np.argmax(np.abs(first), axis=1)]
    scales: Array = np.copysign(np.where(moved > STILL * turned, moved, turned), forwards)
    return scales


def _tangents(q: Array) -> Array:
    """Unit vectors along the string at the nodes."""
    t = np.diff(q, axis=0)
    t /= np.maximum(np.linalg.norm(t, axis=1, keepdims=True), TINY_LENGTH)
    at_nodes = np.vstack([t[:1], t[:-1] + t[1:], t[-1:]])
    unit: Array = at_nodes / np.maximum(np.linalg.norm(at_nodes, axis=1, keepdims=True), TINY_LENGTH)
    return unit


def _kind(square: float, longitudinal: float, turning: float, across: Array) -> str:
    if square == 0.0:
        return "rigid"
    if turning > 0.5:
        return "body"
    if longitudinal > 0.5:
        return "longitudinal"
    side = across @ np.linalg.svd(across, full_matrices=False)[2][0]
    side = side * np.copysign(1.0, side[-1])
    largest = float(np.abs(side).max())
    return "swing" if side.min() >= -SIDE * largest and side[-1] >= (1.0 - SIDE) * largest else "transverse"
