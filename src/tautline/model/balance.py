"""The search for a state of rest under loads (docs/theory.md, equations A6 to A8)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tautline.arrays import TINY_LENGTH, Array
from tautline.errors import EquilibriumError
from tautline.model import checks, statics
from tautline.model.hanging import attitude_along
from tautline.model.pendulum import Chain
from tautline.model.state import ChainState
from tautline.model.statics import Load

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


class Trial(NamedTuple):
    """Pulls f_e in the elements and the attitude; the nodes follow from the pulls."""

    f: Array  # (N, 3)
    R: Array
    q: Array  # (N + 1, 3)
    load_forces: Array  # (N + 1, 3)
    load_moment: Array
    unbalanced: Array  # (N, 3)
    unbalanced_moment: Array
    merit: float  # the largest unbalanced force or moment, relative to all that pulls


class Solver:
    """Newton's method for (A6) to (A8), with the pulls f_e as unknowns in place of the nodes.

    A string that is held at one end only is statically determinate: a load that does not depend on the
    configuration gives the pulls at once, however stiff the string is, and pulls always mean tension.
    """

    def __init__(self, pendulum: Chain, start: ChainState, load: Load | None) -> None:
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

    def solve(self) -> tuple[Trial, int]:
        """The balanced configuration, and the number of iterations."""
        q, R = np.array(self.start.nodes), np.array(self.start.attitude)
        at_nodes, moment = self._checked_load(q, R)
        self.pull = float(np.abs(self.weights).sum() + np.abs(at_nodes[1:]).sum())
        f = _sums_from_the_end(self.weights)
        if self.load is None or self.pull == 0.0:
            return Trial(f, R, q, at_nodes, moment, np.zeros((self.N, 3)), np.zeros(3), 0.0), 0
        guess = self._first_guess(_sums_from_the_end(self.weights + at_nodes[1:]), R)
        along = attitude_along(np.array(self.pendulum.body.center_of_mass), guess[-1])
        found, iterations = self._newton(self._trial(guess, self._settled(guess, along)))
        if found.merit <= NEARLY_BALANCED:
            return found, iterations
        # without a balance to begin with that says which way the string goes
        if not self.weights.any() or f[0, 2] * f[-1, 2] < 0.0:
            f, R = guess, along
        return self._in_parts(f, R, iterations)

    def placed(self, q: Array, R: Array) -> Trial:
        """Nodes and attitude that were found otherwise, with the whole load."""
        self.part = 1.0
        w = np.diff(q, axis=0)
        length = np.maximum(np.linalg.norm(w, axis=1, keepdims=True), TINY_LENGTH)
        return self._at(self.pendulum.string.tension(length / self.l - 1.0) / length * w, q, R)

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

    def _in_parts(self, f: Array, R: Array, iterations: int) -> tuple[Trial, int]:
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

    def _newton(self, x: Trial) -> tuple[Trial, int]:
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

    def _improved(self, x: Trial, df: Array, eta: Array) -> Trial | None:
        from scipy.spatial.transform import Rotation

        size = 1.0
        for _ in range(MOST_HALVINGS):
            trial = self._trial(x.f + size * df, x.R @ Rotation.from_rotvec(size * eta).as_matrix())
            if trial.merit < x.merit:
                return trial
            size *= 0.5
        return None

    def _trial(self, f: Array, R: Array) -> Trial:
        """(A7) gives the nodes; what is missing in (A6) and (A8) is unbalanced."""
        tension = np.maximum(np.linalg.norm(f, axis=1, keepdims=True), LEAST_TENSION * self.pull)
        q = np.zeros((self.N + 1, 3))
        q[1:] = np.cumsum(self.l * (1.0 + self.pendulum.string.strain(tension)) / tension * f, axis=0)
        return self._at(f, q, R)

    def _at(self, f: Array, q: Array, R: Array) -> Trial:
        at_nodes, moment = (self.part * x for x in self._load(q, R))
        unbalanced = self.weights + at_nodes[1:] - f
        unbalanced[:-1] += f[1:]
        unbalanced_moment = np.zeros(3)
        if self.rotates:
            unbalanced_moment = statics.gravity_moment(self.pendulum, R) + moment
        merit = max(np.abs(unbalanced).max(), np.abs(unbalanced_moment).max() / self.size) / self.pull
        merit = float(merit) if math.isfinite(merit) else math.inf
        return Trial(f, R, q, at_nodes, moment, unbalanced, unbalanced_moment, merit)

    def _load(self, q: Array, R: Array) -> tuple[Array, Array]:
        return statics.evaluate(self.load, q, R) if self.load else (np.zeros_like(q), np.zeros(3))

    def _checked_load(self, q: Array, R: Array) -> tuple[Array, Array]:
        at_nodes, moment = self._load(q, R)
        for values in (at_nodes, moment):
            if not np.isfinite(values).all():
                checks.refuse("load", "finite forces (N) and moment (N m) on the hanging string", values.tolist())
        return at_nodes, moment

    def _correction(self, x: Trial) -> tuple[Array, Array] | None:
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

    def _turning(self, x: Trial) -> Array:
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
