"""Small oscillations about a state of rest: natural frequencies and shapes (docs/theory.md, "Statics and modes")."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tautline._version import __version__
from tautline.analysis.linearized import Linearized, linearized
from tautline.arrays import TINY_LENGTH, Array
from tautline.errors import InputError
from tautline.model import checks, refusals
from tautline.model.directional import is_directional
from tautline.model.rest.drums import holding_torque
from tautline.model.rest.forces import forces_of
from tautline.model.rest.network import Network, Places, hat
from tautline.model.rest.search import left_of
from tautline.model.rest.states import frame_of, network_of
from tautline.model.rest.statics import Statics, statics
from tautline.model.system.commands import SHEAVE, drives
from tautline.model.system.starts import Start
from tautline.model.system.state import BodyState, LineState, State
from tautline.model.system.system import System
from tautline.results.network import build_modes
from tautline.schema import by_line

if TYPE_CHECKING:
    import xarray as xr

# The matrices are dense: some seconds and 300 MB at this number of elements in all.
MOST_ELEMENTS = 1000
# Part of the largest force that may be unbalanced; a state with more of it does not stay at rest.
BALANCED = 1e-6
ROUNDING = 1e-15
# Of the frame's velocity, and in m/s: velocities of a state at rest may differ by this.
STANDING = 1e-9
# Of the shift: squared frequencies closer to zero than this are zero; rounding is a thousand times smaller.
ZERO = 1e-9
# Squared frequencies that differ by less, relatively, belong to one frequency, whose shapes may be mixed at will.
SAME = 1e-8
# Of its largest: displacements below this do not count as a change of side.
SIDE = 1e-3
# Meters per radian: with less displacement than this, only bodies turn.
STILL = 1e-6
# Shapes that may share the frequency of the last one wanted: swings along x and y.
PAIR = 2
MOST_SHIFTS = 100


class _AtRest(NamedTuple):
    """A system at rest, as a network."""

    system: System
    state: State
    network: Network
    places: Places


def modes(
    system: System,
    start: Statics | Start,
    *,
    count: int | None = None,
    reel: str | Sequence[str] = "locked",
    locked: Collection[str] = (),
) -> xr.Dataset:
    """Natural frequencies and shapes of small oscillations about a state of rest.

    Applied forces, buoyancy and drag act with their size there and their change with place and attitude, as far as
    that is conservative; damping is left out. Fluid that moves along is counted. Rope passes sheaves and pins, whose
    wheels turn along, without friction.

    Parameters
    ----------
    system : System
        In uniform gravity.
    start : Statics, State, Hanging, AtEquilibrium, Placed or Straight
        The state of rest; of a start that is neither `Statics` nor `State`, the rest that `tl.statics` finds near it.
    count : int, optional
        How many, from the slowest up; all by default. Motions that grow come first, then the rigid ones.
    reel : {"locked", "free"} or names of lines
        "free": all drums turn, held in balance by constant torques, `balancing_torque` (N m); or the names of the
        lines whose drums do. The loss at the guide is left out.
    locked : collection of str
        Sheaves that no rope passes, by the names of their commands: "hoist.lower".

    Returns
    -------
    Dataset
        On `mode`: `frequency` (Hz), `angular_frequency` (rad/s), `growth_rate` (1/s), `kind`, `shape` (mode, node,
        axis), `body_shape` and `rotation` (mode, body, axis; rad/m, body frame), `reel` (mode, line), `modal_mass` (kg)
        and shares of the kinetic energy; places at rest. Of lines over sheaves also `passed` (mode, sheave). A shape is
        scaled so that the largest displacement of a node, of a center of mass about a line's end, of a reel or of rope
        that passes a sheave is 1; where only bodies turn, the largest rotation is 1.

    Notes
    -----
    Kinds, in the order in which they are tested: "rigid", no restoring force (a turn of a body about the vertical,
    for example); "body", more than half of the kinetic energy is rotation about centers of mass; "longitudinal",
    more than half is motion along the lines; "swing", every line that moves across goes to one side, farthest at a
    free body; "transverse", all others. Shapes of equal frequency are turned so that the first moves along x as far as
    it can.
    """
    checks.instance("system", system, System)
    free = _free(system, reel)
    at_rest = _at_rest(system, start, locked)
    system, network, places = at_rest.system, at_rest.network, at_rest.places
    for own in network.bodies:
        if network.flows and own.fluid is not None and is_directional(own.fluid):
            raise refusals.DIRECTED_MODES.error("a flow")
    total = sum(line.elements for line in network.lines)
    checks.whole("elements", total, 1, MOST_ELEMENTS)
    matrices = linearized(system, network, places, free)
    n = len(matrices.M)
    wanted = n if count is None else checks.whole("count", count, 1, n)
    # a few more than wanted, so that shapes of one frequency are all there when they are turned
    squares, shapes = _eigenpairs(network, matrices, min(wanted + PAIR, n))
    shapes = _turned_towards_x(network, places, squares, shapes, matrices.M)
    values = {
        **_frequencies(squares[:wanted]),
        **_shapes(at_rest, matrices, squares[:wanted], shapes[:wanted]),
        **_places(at_rest),
    }
    attrs: dict[str, Any] = {"reel": list(free) if isinstance(reel, Sequence) and not isinstance(reel, str) else reel}
    attrs["version"] = __version__
    return build_modes(system, values, attrs)


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
    nodes = result.position.values + size * chosen["shape"].values
    bodies = {}
    for name in result["body"].values if "body" in result.dims else ():
        own = chosen.sel(body=name)
        turn = Rotation.from_rotvec(size * own.rotation.values).as_matrix()
        place = own.body_position.values + size * own.body_shape.values
        bodies[str(name)] = BodyState(tuple(place.tolist()), attitude=own.attitude.values @ turn)
    lines = {}
    over = by_line(map(str, result.sheave.values)) if "sheave" in result.dims else {}
    for name in map(str, result["line"].values):
        own_nodes = nodes[result.node_line.values == name]
        turned = size * float(chosen.reel.sel(line=name))
        reeled, still = float(result.reeled_length.sel(line=name)) + turned, np.zeros_like(own_nodes)
        wheels = over.get(name, [])
        if "span" not in result.dims or f"{name}.0" not in result.span.values:
            lines[name] = LineState(own_nodes, still, reeled, 0.0)
            continue
        passed = np.array([size * float(chosen.passed.sel(sheave=f"{name}.{x}")) for x in wheels])
        at_rest = result.span_length.sel(span=[f"{name}.{k}" for k in range(len(wheels) + 1)]).values
        lengths = at_rest + np.diff([turned, *passed, 0.0])
        at_end = float(result.end_reeled_length.sel(line=name))
        lines[name] = LineState(own_nodes, still, reeled, 0.0, lengths, passed=passed, end_reeled_length=at_end)
    return State(bodies, lines)


def _free(system: System, reel: str | Sequence[str]) -> list[str]:
    """Names of the lines whose drums are free."""
    with_reel = [name for name, line in system.lines.items() if line.reel is not None]
    if isinstance(reel, str):
        checks.choice("reel", reel, ("locked", "free"))
        found = with_reel if reel == "free" else []
    else:
        for name in reel:
            checks.choice("reel", name, with_reel)
        found = [name for name in with_reel if name in reel]
    shared = [place for places in system.shafts().values() if len(places) > 1 for place in places]
    for name in found:
        if (name, "reel") in shared or (reel == "free" and system.lines[name].end_reel is not None):
            raise refusals.REEVED_MODES.error(f"that of {name!r}")
    return found


def _at_rest(system: System, start: Any, locked: Collection[str]) -> _AtRest:
    """Where to linearize."""
    known = [name for name, kind in drives(system).items() if kind == SHEAVE]
    for name in locked:
        checks.choice("locked", name, known)
    if isinstance(start, State):
        return _checked(system.with_elements(start.elements()), start, locked)
    at = start if isinstance(start, Statics) else statics(system, start, locked=locked)
    return _checked(system.with_elements(at.state.elements()), at.state, locked, at.time, at.acceleration, placed=True)


def _checked(
    system: System,
    state: State,
    locked: Collection[str],
    time: float = 0.0,
    acceleration: bool = False,
    *,
    placed: bool = False,
) -> _AtRest:
    """The system as a network; refused where it is not at rest. `placed`: bodies on paths are where they are then."""
    network, places = network_of(system, state, time, acceleration=acceleration, placed=placed, locked=locked)
    frame = frame_of(system, time)
    for name in network.body_names:
        own = state.bodies[name]
        moves = np.abs(np.array(own.velocity) - frame.velocity).max() > STANDING * (1.0 + np.abs(frame.velocity).max())
        if (moves and not time) or np.any(own.angular_velocity):
            raise InputError("start: expected a state at rest, got one that moves")
    if any(line.reel_speed or line.end_reel_speed or line.passing.any() for line in state.lines.values()):
        raise InputError("start: expected a state at rest, got one that moves")
    found = forces_of(network, places)
    # the length of an element is rounded with that of the whole string
    rounding = max(ROUNDING * x.string.stiffness * x.string.length * x.elements / x.deployed for x in network.lines)
    if left_of(network, found) > BALANCED * found.scale + rounding:
        raise InputError(
            f"start: expected a state of rest, got an unbalanced force of {left_of(network, found):.3g} N; "
            "tl.statics finds one"
        )
    return _AtRest(system, state, network, places)


def _eigenpairs(network: Network, matrices: Linearized, count: int) -> tuple[Array, Array]:
    """The algebraically smallest squared frequencies, and the shapes, one a row.

    M x = y (K + shift M) x is solved for the largest y = 1/(omega^2 + shift): the slow modes then are right to
    rounding, however stiff the strings are. With K x = omega^2 M x they would carry the rounding of the fastest.
    """
    from scipy.linalg import LinAlgError, eigh

    M, K, _ = matrices
    n = len(M)
    shift = _slow_square(network, matrices)
    for _ in range(MOST_SHIFTS):
        try:
            y, X = eigh(M, K + shift * M, subset_by_index=[n - count, n - 1] if count < n else None)
        except LinAlgError:
            shift *= 4.0  # not yet beyond the fastest growth
            continue
        squares = 1.0 / y[::-1] - shift
        squares[np.abs(squares) <= ZERO * shift] = 0.0
        return squares, X.T[::-1]
    raise InputError("start: expected a state about which forces have finite derivatives, got one where they have not")


def _slow_square(network: Network, matrices: Linearized) -> float:
    """A squared frequency of the size of the slowest ones: Rayleigh's quotient of a swing, or else of a stretch."""
    reach = _reach(network)
    for axis in range(3):
        field = np.zeros((1, network.node_count, 3))
        field[0, :, axis] = reach
        x = _carried(network, field, len(matrices.M))[0]
        mass = float(x @ matrices.M @ x)
        quotient = float(x @ matrices.K @ x) / mass if mass > 0.0 else 0.0
        if quotient > 0.0:
            return quotient
    string = network.lines[0].string
    return (string.wave_speed / string.length) ** 2  # strings in compression: any size will do


def _reach(network: Network) -> Array:
    """Length of line from each node to the nearest fixed point, over the largest; 1 where there is none."""
    bodies = np.full(len(network.bodies) + 1, np.inf)
    bodies[-1] = 0.0
    for _ in network.lines:
        for line in network.lines:
            a, b = line.bodies
            bodies[a] = min(bodies[a], bodies[b] + line.deployed)
            bodies[b] = min(bodies[b], bodies[a] + line.deployed)
    reach = np.zeros(network.node_count)
    for line, first in zip(network.lines, network.first_node, strict=True):
        along = np.arange(line.elements + 1) / line.elements * line.deployed
        reach[first : first + line.elements + 1] = np.minimum(
            bodies[line.bodies[0]] + along, bodies[line.bodies[1]] + line.deployed - along
        )
    if not np.isfinite(reach).all():
        return np.ones(network.node_count)
    return reach / max(float(reach.max()), TINY_LENGTH)


def _carried(network: Network, field: Array, size: int) -> Array:
    """Motions (modes, size) from displacements of nodes (modes, nodes, 3): bodies go with the mean of their ends.

    They do not turn, and drums stand still.
    """
    x = np.zeros((len(field), size))
    first = network.first_of_line[0]
    x[:, first : first + 3 * len(network.inner)] = field[:, network.inner].reshape(len(field), -1)
    for b, place in enumerate(network.first_of_body):
        ends = network.end_nodes[network.end_bodies == b]
        if len(ends):
            x[:, place : place + 3] = field[:, ends].mean(axis=1)
    return x


def _turned_towards_x(network: Network, places: Places, squares: Array, shapes: Array, M: Array) -> Array:
    """Within one frequency, shapes in the order of how much of their motion is along x."""
    along_x = _carried(network, _displacements(network, places, shapes) * np.array([1.0, 0.0, 0.0]), len(M))
    inertia, inertia_x = shapes @ M, along_x @ M
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


def _displacements(network: Network, places: Places, shapes: Array) -> Array:
    """Displacements of all nodes (modes, nodes, 3)."""
    return np.asarray((network.node_map(places) @ shapes[:, : network.count].T).T.reshape(len(shapes), -1, 3))


def _frequencies(squares: Array) -> dict[str, Array]:
    omega = np.sqrt(np.maximum(squares, 0.0))
    return {
        "frequency": omega / (2.0 * np.pi),
        "angular_frequency": omega,
        "growth_rate": np.sqrt(np.maximum(-squares, 0.0)),
    }


def _shapes(at_rest: _AtRest, matrices: Linearized, squares: Array, shapes: Array) -> dict[str, Any]:
    """Scaled shapes, where their kinetic energy is, and what they are called."""
    system, network, places = at_rest.system, at_rest.network, at_rest.places
    y = shapes / _scales(network, places, shapes)[:, None]
    M = matrices.M
    shape = _displacements(network, places, y)
    t = _tangents(network, places.nodes)
    along = np.einsum("mna,na->mn", shape, t)[:, :, None] * t
    lengthwise = _carried(network, along, len(M))
    lengthwise[:, network.first_passing :] = y[:, network.first_passing :]
    modal_mass = ((y @ M) * y).sum(axis=1)
    longitudinal = ((lengthwise @ M) * lengthwise).sum(axis=1) / modal_mass
    moved, turns = np.zeros((2, len(y), len(system.bodies), 3))
    turning = np.zeros(len(y))
    names = list(system.bodies)
    for b, (name, own, first) in enumerate(zip(network.body_names, network.bodies, network.first_of_body, strict=True)):
        moved[:, names.index(name)] = y[:, first : first + 3]
        if not own.body.is_point:
            turn = y[:, first + 3 : first + 6] @ places.attitudes[b]
            turns[:, names.index(name)] = turn
            turning += ((turn @ own.body.central_inertia()) * turn).sum(axis=1)
    turning /= modal_mass
    reel = np.zeros((len(y), len(system.lines)))
    reel[:, matrices.drums] = y[:, network.count :]
    kinds = zip(squares, longitudinal, turning, shape - along, strict=True)
    return {
        "kind": [_kind(network, *row) for row in kinds],
        "shape": shape,
        "body_shape": moved,
        "rotation": turns,
        "reel": reel,
        "passed": _passed(system, network, y),
        "modal_mass": modal_mass,
        "longitudinal_share": longitudinal,
        "rotation_share": turning,
    }


def _passed(system: System, network: Network, y: Array) -> Array:
    """Rope that passes each sheave and pin, (modes, sheaves); none where it is locked."""
    spans = [(name, k) for name, line in system.lines.items() for k in range(line.spans)]
    before = [i for i, (name, k) in enumerate(spans) if k < system.lines[name].spans - 1]
    found = np.zeros((len(y), len(before)))
    for j, k in enumerate(network.passes):
        found[:, before.index(k)] = y[:, network.first_passing + j]
    return found


def _places(at_rest: _AtRest) -> dict[str, Any]:
    """Places at rest, and the torques that hold free drums there."""
    system, network, places = at_rest.system, at_rest.network, at_rest.places
    torques = [
        np.nan if line.reel is None else holding_torque(system, network, places, k)
        for k, line in enumerate(system.lines.values())
    ]
    bodies, lines = at_rest.state.bodies, at_rest.state.lines
    return {
        "position": places.nodes,
        "body_position": np.array([bodies[name].position for name in system.bodies]).reshape(-1, 3),
        "attitude": np.array([bodies[name].attitude for name in system.bodies]).reshape(-1, 3, 3),
        "reeled_length": np.array([lines[name].reeled_length for name in system.lines]),
        "end_reeled_length": np.array([lines[name].end_reeled_length for name in system.lines]),
        "span_length": np.concatenate([at_rest.state.lengths_of(system, name) for name in system.lines]),
        "balancing_torque": np.array(torques),
    }


def _scales(network: Network, places: Places, shapes: Array) -> Array:
    """Largest displacement of a node, of a center of mass about a line's end or of a reel; or the rotation.

    With the sign that moves the first line forwards next to its start, along the axis in which it moves most there.
    """
    nodes = _displacements(network, places, shapes)
    sizes = np.linalg.norm(nodes, axis=2)
    moved = np.maximum(sizes.max(axis=1), np.abs(shapes[:, network.first_passing :]).max(axis=1, initial=0.0))
    rotations = np.zeros((len(shapes), max(len(network.bodies), 1), 3))
    for b, (own, first) in enumerate(zip(network.bodies, network.first_of_body, strict=True)):
        if not own.body.is_point:
            rotations[:, b] = shapes[:, first + 3 : first + 6]
    for b, arm in zip(network.end_bodies, network.arms(places), strict=True):
        moved = np.maximum(moved, np.linalg.norm(rotations[:, b] @ hat(arm), axis=1))
    turned = np.linalg.norm(rotations, axis=2)
    most = turned.max(axis=1)
    scales = np.zeros(len(shapes))
    for m in range(len(shapes)):
        if moved[m] > STILL * most[m]:
            node = 1 if sizes[m, 1] > STILL * moved[m] else int(np.argmax(sizes[m]))
            forwards, size = nodes[m, node], moved[m]
        else:
            b = int(np.argmax(turned[m]))
            forwards, size = rotations[m, b] @ places.attitudes[b], most[m]
        scales[m] = np.copysign(size if size > 0.0 else 1.0, forwards[np.argmax(np.abs(forwards))])
    return scales


def _tangents(network: Network, q: Array) -> Array:
    """Unit vectors along the lines at the nodes."""
    found = np.zeros_like(q)
    for line, first in zip(network.lines, network.first_node, strict=True):
        t = np.diff(q[first : first + line.elements + 1], axis=0)
        t /= np.maximum(np.linalg.norm(t, axis=1, keepdims=True), TINY_LENGTH)
        at_nodes = np.vstack([t[:1], t[:-1] + t[1:], t[-1:]])
        size = np.maximum(np.linalg.norm(at_nodes, axis=1, keepdims=True), TINY_LENGTH)
        found[first : first + line.elements + 1] = at_nodes / size
    return found


def _kind(network: Network, square: float, longitudinal: float, turning: float, across: Array) -> str:
    if square == 0.0:
        return "rigid"
    if turning > 0.5:
        return "body"
    if longitudinal > 0.5:
        return "longitudinal"
    largest = float(np.linalg.norm(across, axis=1).max())
    swings = all(
        _swings(across[first : first + line.elements + 1], line.bodies, SIDE * largest)
        for line, first in zip(network.lines, network.first_node, strict=True)
    )
    return "swing" if swings else "transverse"


def _swings(across: Array, bodies: tuple[int, int], least: float) -> bool:
    """Whether a line goes to one side, farthest at a free body; or hardly moves."""
    side = across @ np.linalg.svd(across, full_matrices=False)[2][0]
    if float(np.abs(side).max()) <= least:
        return True
    ends = [x for x, b in zip((side[0], side[-1]), bodies, strict=True) if b >= 0]
    if not ends:
        return False
    far = max(ends, key=abs)
    side = side * np.copysign(1.0, far)
    largest = float(np.abs(side).max())
    return bool(side.min() >= -SIDE * largest and abs(far) >= (1.0 - SIDE) * largest)
