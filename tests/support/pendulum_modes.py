"""Small oscillations of a pendulum from other formulas: masses of the reference equations, stiffness (A9) by hand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from tautline.model.command import Locked
from tautline.reference import Equations, Fields
from tests.support import chain_statics as statics
from tests.support import chains
from tests.support.chain_loads import all_of, own_loads
from tests.support.chain_statics import Configuration

Array = NDArray[np.float64]


class Linearized(NamedTuple):
    """M x'' + K x = 0 for x = (ds, dq_1..dq_N, eta) with R exp(eta): equations (A9) and (A10)."""

    M: Array
    K: Array
    moves: NDArray[np.bool_]  # entries of x that can move

    def moving(self, A: Array) -> Array:
        """The rows and columns that can move."""
        return A[np.ix_(self.moves, self.moves)]


def linearized(
    pendulum: chains.Chain, x: Configuration, load: statics.Load | None = None, *, free: bool = False
) -> Linearized:
    """Mass and stiffness at a state of rest, with all loads given as one."""
    N = len(x.q) - 1
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
    return Linearized(M, K, moves)


def squared_frequencies(pendulum: chains.Chain, rest: chains.Equilibrium, *, free: bool = False) -> Array:
    """All squared frequencies, from the least up; shifted by a swing's, so that slow ones keep their digits."""
    x = Configuration(rest.state.reeled_length, np.array(rest.state.nodes), np.array(rest.state.attitude))
    load = all_of(own_loads(pendulum, x.s, rest.statics.time, rest.statics.acceleration))
    system = linearized(pendulum, x, load, free=free)
    M, K = system.moving(system.M), system.moving(system.K)
    shift = max(pendulum.gravity, 1e-2) / float(np.linalg.norm(x.q[-1]))
    for _ in range(60):
        try:
            return np.asarray(1.0 / eigh(M, K + shift * M, eigvals_only=True)[::-1] - shift)
        except np.linalg.LinAlgError:
            shift *= 4.0
    raise AssertionError("no shift makes this stable")
