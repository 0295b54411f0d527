"""States at rest: hanging straight, or held in balance by a steady load."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from tautline.errors import EquilibriumError
from tautline.model import checks, statics
from tautline.model.checks import ZERO
from tautline.model.loads import all_of, own_loads, refuse_twice
from tautline.model.pendulum import Pendulum
from tautline.model.state import State, straight
from tautline.model.statics import E3, Array, Configuration, Load

# Unbalanced forces, relative to all that pulls: what counts as balance, and what will do where rounding leaves more.
BALANCED, NEARLY_BALANCED = 1e-13, 1e-9
FIRST_GUESSES = 4
MOST_ITERATIONS = 30
MOST_HALVINGS = 12
# Of the load: the smallest part that is added at once, and how often a part is tried in all.
SMALLEST_PART = 1.0 / 1024.0
MOST_PARTS = 60
# Of the body's turning stiffness: keeps indifferent attitudes, such as a turn about the vertical, from moving.
HOLD = 1e-7
# Of the first guess at the attitude (rad): turns at most, largest one, and one that is small enough.
MOST_TURNS, LARGEST_TURN, SETTLED = 40, 0.5, 1e-3
# Of all that pulls: an element without tension has no direction, and would give way without limit.
LEAST_TENSION = 1e-12
# Of the steepest slope of the law: where tension hardly rises with strain, Newton's method takes it for rising so much.
SMALLEST_SLOPE = 1e-9


def hanging(
    pendulum: Pendulum,
    deployed: float,
    elements: int | None = None,
    *,
    end_velocity: Any = ZERO,
    angular_velocity: Any = ZERO,
) -> State:
    """The string hangs at rest under its own weight and the body's, the centre of mass below the attachment.

    Where buoyancy is more than the weight, the string stands straight up; a float that cannot lift all of its string
    is refused, since that folds: `equilibrium` finds how. Linear elements meet the continuous solution
    at their nodes, for any number of elements. Flow and push are left out; `equilibrium` has them.

    Parameters
    ----------
    pendulum : Pendulum
    deployed : float
        Unstretched length outside the guide (m).
    elements : int, optional
        N; by default as many as `tautline.model.elements.default_elements` takes for the case.
    end_velocity, angular_velocity : three floats
        A push to start with, of the last node (m/s) and of the body (rad/s).
    """
    state = straight(pendulum, deployed, elements, end_velocity=end_velocity, angular_velocity=angular_velocity)
    string, net = pendulum.string, pendulum.weights()
    x = state.nodes[:, 2]
    way = -1.0 if min(statics.end_pulls(pendulum, float(x[-1]))) < 0.0 else 1.0  # down, or up
    body, line = way * net.body, way * net.string
    nodes = np.zeros_like(state.nodes)
    if string.law == "linear":
        nodes[:, 2] = x + ((body + line * x[-1]) * x - 0.5 * line * x**2) / string.stiffness
    else:
        tension = np.maximum(body + line * (x[-1] - 0.5 * (x[1:] + x[:-1])), 0.0)  # in the middle of the elements
        nodes[1:, 2] = np.cumsum(np.diff(x) * (1.0 + string.strain(tension)))
    if not np.isfinite(nodes).all():
        checks.refuse("deployed", "a length at which the elongation is finite", deployed)
    nodes[:, 2] *= way
    return State(
        state.reeled_length, 0.0, nodes, state.node_velocities, _resting_attitude(pendulum, way), state.angular_velocity
    )


def _resting_attitude(pendulum: Pendulum, way: float) -> Array:
    """The body with its heavier end down; where weight does not turn it, along the string."""
    moment = np.array(pendulum.weights().moment)
    if moment.any():
        return _attitude_along(moment, E3)
    return _attitude_along(np.array(pendulum.body.center_of_mass), way * E3)


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A state of rest and what holds it.

    Attributes
    ----------
    state : State
        To start a run from, or to linearise about.
    tension : N floats
        Of the elements (N); never negative.
    strain : N floats
        Of the elements.
    guide_tension : float
        At the guide entrance (N).
    body_tension : float
        At the body (N); what a given load puts on the last node counts as the body's.
    holding_moment : float
        Of the drum with its layers, against string and spooled string's weight (N m).
    energy : float
        Potential energy of string, reel and body (J), as a run that starts here has it; the load's is not in it.
    residual : float
        Largest unbalanced force on a node (N).
    residual_moment : float
        Unbalanced moment on the body (N m).
    iterations : int
        Newton corrections, those of parts of the load included.
    load_forces : (N + 1) x 3 floats
        Of all that is neither weight nor buoyancy, at the nodes (N).
    load_moment : three floats
        Likewise, about the attachment point, in the body frame (N m).
    load : function or None
        What gave them: the loads of the pendulum and the given one.
    counted : dict of name to three floats
        Sums of the forces that were counted, on string and body together (N): "weight", "buoyancy", "drag",
        "applied_force", "acceleration" and "load", as far as they are there. The guide holds against all of them.
    message : str
        The outcome in a sentence.
    """

    state: State
    tension: Array
    strain: Array
    guide_tension: float
    body_tension: float
    holding_moment: float
    energy: float
    residual: float
    residual_moment: float
    iterations: int
    load_forces: Array
    load_moment: Array
    load: Load | None
    counted: dict[str, Array]
    message: str


def equilibrium(
    pendulum: Pendulum,
    deployed: float,
    elements: int | None = None,
    *,
    load: Load | None = None,
    time: float = 0.0,
    acceleration: bool = False,
) -> Equilibrium:
    """Where the pendulum stays at rest with the reel locked, all of the string in tension.

    Weight, buoyancy, the drag of `Pendulum.fluid` and `Pendulum.applied_force` are counted by themselves. At rest means
    relative to the guide: where that moves, drag is that of the flow past it. Without any load the state is `hanging`.
    With one, Newton's method is applied to the pulls in the elements and to the
    attitude; where it does not get there at once, the load is raised from zero in parts, smaller ones where needed.
    The work is bounded.

    Parameters
    ----------
    pendulum : Pendulum
    deployed : float
        Unstretched length outside the guide (m).
    elements : int, optional
        N; by default as many as `tautline.model.elements.default_elements` takes for the case.
    load : function, optional
        A further load, beside those of the pendulum; one that is the pendulum's own once more is refused.
        `load(nodes, attitude)` takes (N + 1) x 3 positions relative to the guide entrance (m) and the rotation matrix
        of the body, and returns (N + 1) x 3 forces on the nodes (N, inertial frame) and the moment on the body about
        the attachment point (N m, body frame). What it puts on a node may depend on that node, its neighbours and the
        attitude.
    time : float
        When (s): a push that changes has its value of then, and a guide on a path its place and velocity, as if both
        lasted.
    acceleration : bool
        Balance also the inertial force of the guide's acceleration at that time, as if it lasted. Without it the
        guide is taken to go on at its velocity, which is how a run should begin.

    Raises
    ------
    EquilibriumError
        When none is found; the message says how much of the load could be balanced.
    """
    now = checks.number("time", time)
    checks.instance("acceleration", acceleration, bool)
    reeled = straight(pendulum, deployed, elements).reeled_length
    own = own_loads(pendulum, reeled, now, acceleration)
    everything = own if load is None else {**own, "load": load}
    state = _start(pendulum, deployed, elements)
    start = Configuration(reeled, np.array(state.nodes), np.array(state.attitude))
    if load is not None:
        refuse_twice(pendulum, load, own, start)
    total = all_of(everything)
    found, iterations = _Solver(pendulum, state, total).solve()
    x = Configuration(reeled, found.q, found.R)
    at_nodes, moment = statics.forces(pendulum, x)
    residual = float(np.linalg.norm(at_nodes + found.load_forces[1:], axis=1).max())
    residual_moment = 0.0 if pendulum.body.is_point else float(np.linalg.norm(moment + found.load_moment))
    tension = np.linalg.norm(found.f, axis=1)
    counted = _counted(pendulum, x, everything)
    guide_tension = float(np.linalg.norm(np.sum(list(counted.values()), axis=0)))
    guide_strain = float(pendulum.string.strain(guide_tension))
    others = [name for name in counted if name != "load"]
    beside = f"; the given load is counted beside {', '.join(others)}" if load is not None else ""
    return Equilibrium(
        state=State(reeled, 0.0, found.q, np.zeros_like(found.q), found.R),
        tension=tension,
        strain=pendulum.string.strain(tension),
        guide_tension=guide_tension,
        body_tension=_body_tension(pendulum, x, now, acceleration, load),
        holding_moment=statics.holding_moment(pendulum, reeled, guide_strain),
        energy=statics.potential(pendulum, x),
        residual=residual,
        residual_moment=residual_moment,
        iterations=iterations,
        load_forces=found.load_forces,
        load_moment=found.load_moment,
        load=total,
        counted=counted,
        message=f"in balance, Newton iterations: {iterations}; largest unbalanced force {residual:.2g} N{beside}",
    )


def _start(pendulum: Pendulum, deployed: float, elements: int | None) -> State:
    """Hanging; straight down where string and body pull opposite ways and the string will fold."""
    if pendulum.weights().body * statics.guide_pull(pendulum, deployed) < 0.0:
        return straight(pendulum, deployed, elements, attitude=_resting_attitude(pendulum, 1.0))
    return hanging(pendulum, deployed, elements)


def _body_tension(pendulum: Pendulum, x: Configuration, time: float, acceleration: bool, given: Load | None) -> float:
    """Size of all forces on the body but the string's."""
    # the loads of a string without drag and, at length zero, without mass
    bare = replace(pendulum, string=replace(pendulum.string, normal_drag=0.0, tangential_drag=0.0))
    loads = list(own_loads(bare, pendulum.string.length, time, acceleration).values())
    loads += [] if given is None else [given]
    pull = pendulum.weights().body * E3
    for load in loads:
        pull = pull + statics.evaluate(load, x.q, x.R)[0][-1]
    return float(np.linalg.norm(pull))


def _counted(pendulum: Pendulum, x: Configuration, loads: dict[str, Load]) -> dict[str, Array]:
    """Sum of each force on string and body (N)."""
    X = pendulum.string.length - x.s
    weight = pendulum.gravity * (pendulum.body.mass + pendulum.string.density * X)
    counted: dict[str, Array] = {"weight": weight * E3}
    if pendulum.fluid is not None:
        counted["buoyancy"] = (statics.guide_pull(pendulum, X) - weight) * E3
    for name, load in loads.items():
        counted[name] = statics.evaluate(load, x.q, x.R)[0].sum(axis=0)
    return counted


class _Trial(NamedTuple):
    """Pulls f_e in the elements and the attitude; the nodes follow from the pulls."""

    f: Array  # (N, 3)
    R: Array
    q: Array  # (N + 1, 3)
    load_forces: Array  # (N + 1, 3)
    load_moment: Array
    unbalanced: Array  # (N, 3)
    unbalanced_moment: Array
    merit: float  # the largest unbalanced force or moment, relative to all that pulls


class _Solver:
    """Newton's method for (A6) to (A8), with the pulls f_e as unknowns in place of the nodes.

    A string that is held at one end only is statically determinate: a load that does not depend on the
    configuration gives the pulls at once, however stiff the string is, and pulls always mean tension.
    """

    def __init__(self, pendulum: Pendulum, start: State, load: Load | None) -> None:
        self.pendulum = pendulum
        self.start = start
        self.load = load
        self.N = start.elements
        self.l = statics.element_length(pendulum, start.reeled_length, self.N)
        self.weights = statics.weights(pendulum, self.l, self.N)
        self.rotates = not pendulum.body.is_point
        J, M = np.array(pendulum.body.inertia), pendulum.body.mass
        self.size = math.sqrt(max(np.trace(J) / M, 0.0)) or 1.0  # of the body (m)
        self.part = 1.0
        self.pull = 1.0  # all that pulls (N): the scale of forces

    def solve(self) -> tuple[_Trial, int]:
        """The balanced configuration, and the number of iterations."""
        q, R = np.array(self.start.nodes), np.array(self.start.attitude)
        at_nodes, moment = self._checked_load(q, R)
        self.pull = float(np.abs(self.weights).sum() + np.abs(at_nodes[1:]).sum())
        f = _sums_from_the_end(self.weights)
        if self.load is None or self.pull == 0.0:
            return _Trial(f, R, q, at_nodes, moment, np.zeros((self.N, 3)), np.zeros(3), 0.0), 0
        guess = self._first_guess(_sums_from_the_end(self.weights + at_nodes[1:]), R)
        along = _attitude_along(np.array(self.pendulum.body.center_of_mass), guess[-1])
        found, iterations = self._newton(self._trial(guess, self._settled(guess, along)))
        if found.merit <= NEARLY_BALANCED:
            return found, iterations
        # without a balance to begin with that says which way the string goes
        if not self.weights.any() or f[0, 2] * f[-1, 2] < 0.0:
            f, R = guess, along
        return self._in_parts(f, R, iterations)

    def _first_guess(self, f: Array, R: Array) -> Array:
        """The best among the pulls of the load on the string as the pulls before would lay it."""
        tried = []
        for _ in range(FIRST_GUESSES):
            x = self._trial(f, R)
            tried.append((float(np.abs(x.unbalanced).max()), f))
            f = _sums_from_the_end(self.weights + x.load_forces[1:])
        return min(tried, key=lambda pair: pair[0] if math.isfinite(pair[0]) else math.inf)[1]

    def _settled(self, f: Array, R: Array) -> Array:
        """The attitude that the body turns to while the string stands still; not one on its head."""
        if not self.rotates:
            return R
        from scipy.spatial.transform import Rotation

        for _ in range(MOST_TURNS):
            x = self._trial(f, R)
            turning = self._turning(x)
            slopes, axes = np.linalg.eigh(0.5 * (turning + turning.T))
            scale = float(np.abs(slopes).max())
            if not math.isfinite(x.merit) or scale == 0.0:
                return R
            least = max(0.0, -2.0 * float(slopes[0])) + HOLD * scale  # a turn downhill, also from a hilltop
            turn = np.linalg.solve(turning + least * np.eye(3), x.unbalanced_moment)
            size = float(np.linalg.norm(turn))
            if size < SETTLED:
                if slopes[0] > -SETTLED * scale:
                    return R
                turn, size = axes[:, 0], 1.0
            R = R @ Rotation.from_rotvec(turn * min(1.0, LARGEST_TURN / size)).as_matrix()
        return R

    def _in_parts(self, f: Array, R: Array, iterations: int) -> tuple[_Trial, int]:
        """Raise the load from nothing, the more slowly the worse it goes."""
        reached, step = 0.0, 0.5
        for _ in range(MOST_PARTS):
            self.part = min(1.0, reached + step)
            found, more = self._newton(self._trial(f, R))
            iterations += more
            if found.merit <= NEARLY_BALANCED:
                f, R, reached = found.f, found.R, self.part
                if reached == 1.0:
                    return found, iterations
                step *= 2.0
            else:
                step *= 0.5
                if step < SMALLEST_PART:
                    break
        raise EquilibriumError(
            f"equilibrium: none found with the whole load; {reached:.1%} of it could be balanced, in {iterations} "
            "iterations. Is there a state of rest? Try a weaker load, more elements, or a run with damping"
        )

    def _newton(self, x: _Trial) -> tuple[_Trial, int]:
        """Corrections as long as they help; the best that was found."""
        for iteration in range(MOST_ITERATIONS):
            if not BALANCED < x.merit < math.inf:
                return x, iteration
            step = self._correction(x)
            better = None if step is None else self._improved(x, *step)
            if better is None or (x.merit <= NEARLY_BALANCED and better.merit > 0.5 * x.merit):
                return (better or x), iteration
            x = better
        return x, MOST_ITERATIONS

    def _improved(self, x: _Trial, df: Array, eta: Array) -> _Trial | None:
        from scipy.spatial.transform import Rotation

        size = 1.0
        for _ in range(MOST_HALVINGS):
            trial = self._trial(x.f + size * df, x.R @ Rotation.from_rotvec(size * eta).as_matrix())
            if trial.merit < x.merit:
                return trial
            size *= 0.5
        return None

    def _trial(self, f: Array, R: Array) -> _Trial:
        """(A7) gives the nodes; what is missing in (A6) and (A8) is unbalanced."""
        tension = np.maximum(np.linalg.norm(f, axis=1, keepdims=True), LEAST_TENSION * self.pull)
        q = np.zeros((self.N + 1, 3))
        q[1:] = np.cumsum(self.l * (1.0 + self.pendulum.string.strain(tension)) / tension * f, axis=0)
        at_nodes, moment = (self.part * x for x in self._load(q, R))
        unbalanced = self.weights + at_nodes[1:] - f
        unbalanced[:-1] += f[1:]
        unbalanced_moment = np.zeros(3)
        if self.rotates:
            unbalanced_moment = statics.gravity_moment(self.pendulum, R) + moment
        merit = max(np.abs(unbalanced).max(), np.abs(unbalanced_moment).max() / self.size) / self.pull
        merit = float(merit) if math.isfinite(merit) else math.inf
        return _Trial(f, R, q, at_nodes, moment, unbalanced, unbalanced_moment, merit)

    def _load(self, q: Array, R: Array) -> tuple[Array, Array]:
        return statics.evaluate(self.load, q, R) if self.load else (np.zeros_like(q), np.zeros(3))

    def _checked_load(self, q: Array, R: Array) -> tuple[Array, Array]:
        at_nodes, moment = self._load(q, R)
        for values in (at_nodes, moment):
            if not np.isfinite(values).all():
                checks.refuse("load", "finite forces (N) and moment (N m) on the hanging string", values.tolist())
        return at_nodes, moment

    def _correction(self, x: _Trial) -> tuple[Array, Array] | None:
        """df and eta of Newton's method; None where its matrix is singular.

        The changes of the nodes are kept as unknowns beside those of the pulls: the matrix is then sparse.
        """
        from scipy.sparse import csc_matrix
        from scipy.sparse.linalg import splu

        N, n = self.N, 3 * self.N
        if self.load is None:
            return None
        L = statics.load_by_configuration(self.load, x.q, x.R, self.l)
        held = HOLD * (float(np.abs(self._turning(x)).max()) or 1.0)
        r = np.arange(n)
        body = 2 * n + np.arange(3)
        e = 3 * np.arange(N)[:, None, None]
        a, b = np.arange(3)[None, :, None], np.arange(3)[None, None, :]
        compliance = self._compliance(x.f)
        parts = [
            (r, r, np.ones(n)),  # df_{i-1} - df_i - dF_i = unbalanced
            (r[:-3], r[3:], -np.ones(n - 3)),
            (L.rows + n * (L.rows >= n), L.columns + n, -self.part * L.values),
            (n + r, n + r, np.ones(n)),  # dq_{e+1} - dq_e - C_e df_e = 0
            (n + r[3:], n + r[:-3], -np.ones(n - 3)),
            ((n + e + a + 0 * b).ravel(), (e + 0 * a + b).ravel(), -compliance.ravel()),
            (body, body, np.full(3, held)),
        ]
        if self.rotates:
            turn = -statics.gravity_moment_by_attitude(self.pendulum, x.R)
            parts.append((np.repeat(body, 3), np.tile(body, 3), turn.ravel()))
        rows, columns, values = (np.concatenate(column) for column in zip(*parts, strict=True))
        matrix = csc_matrix((values, (rows, columns)), shape=(2 * n + 3, 2 * n + 3))
        right = np.concatenate([x.unbalanced.ravel(), np.zeros(n), x.unbalanced_moment])
        try:
            y = splu(matrix).solve(right)
        except RuntimeError:  # exactly singular
            return None
        return (y[:n].reshape(N, 3), y[-3:]) if np.isfinite(y).all() else None

    def _turning(self, x: _Trial) -> Array:
        """Resistance of the body to turns: minus the derivative of its moment along R exp(eta)."""
        moment = statics.gravity_moment_by_attitude(self.pendulum, x.R)
        if self.load is not None:
            moment = moment + self.part * statics.load_by_attitude(self.load, x.q, x.R)[-1]
        return -moment

    def _compliance(self, f: Array) -> Array:
        """C_e of (A7), the inverse of an element's stiffness."""
        tension = np.maximum(np.linalg.norm(f, axis=1), LEAST_TENSION * self.pull)
        t = f / tension[:, None]
        along = t[:, :, None] * t[:, None, :]
        strain = self.pendulum.string.strain(tension)
        slope = np.maximum(self.pendulum.string.slope(strain), SMALLEST_SLOPE * self.pendulum.string.stiffness)
        across = ((1.0 + strain) / tension)[:, None, None] * (np.eye(3) - along)
        C: Array = self.l * (along / slope[:, None, None] + across)
        return C


def _sums_from_the_end(at_nodes: Array) -> Array:
    """f_e, the sum of the forces on the nodes beyond element e."""
    f: Array = np.cumsum(at_nodes[::-1], axis=0)[::-1]
    return f


def _attitude_along(rho: Array, direction: Array) -> Array:
    """The least rotation that turns rho into the direction."""
    length, size = math.hypot(*rho), math.hypot(*direction)
    if length == 0.0 or size == 0.0:
        return np.eye(3)
    a, b = rho / length, direction / size
    axis = np.cross(a, b)
    sine, cosine = math.hypot(*axis), float(a @ b)
    if sine == 0.0:
        if cosine > 0.0:
            return np.eye(3)
        axis = np.cross(a, [0.0, 1.0, 0.0] if abs(a[1]) < 0.9 else [1.0, 0.0, 0.0])  # half a turn about any axis across
        unit = axis / math.hypot(*axis)
        half_turn: Array = 2.0 * np.outer(unit, unit) - np.eye(3)
        return half_turn
    x, y, z = axis / sine
    # Rodrigues, in the form that stays a rotation when rho points nearly the other way
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    R: Array = np.eye(3) + sine * K + (1.0 - cosine) * K @ K
    return R
