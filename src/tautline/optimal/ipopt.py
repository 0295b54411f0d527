"""The nonlinear program handed to IPOPT through CasADi: values and a sparse Jacobian by callbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array, Indices
from tautline.extras import need
from tautline.optimal.interrupts import Interrupts
from tautline.optimal.shooting import Problem

# Of the scaled program: how far from zero IPOPT may leave derivatives and constraints.
TOLERANCE = 1e-6


class Point(NamedTuple):
    """A point of the search: its number, and how good it is."""

    iteration: int
    objective: float
    violation: float
    w: Array


class Solved(NamedTuple):
    """Where the search ended, and IPOPT's word for it."""

    w: Array
    word: str


def solve(
    problem: Problem, w: Array, iterations: int, settings: dict[str, Any], watch: Callable[[Point], bool]
) -> Solved:
    """Search from a point; `watch` is called after every iteration, and ends the search by returning True.

    Ctrl-C raises KeyboardInterrupt in the middle of an iteration.
    """
    casadi = need("casadi", "tl.optimize")
    parts = problem.parts(w, False)
    rows, columns = problem.pattern(parts)
    least, most = problem.range_of_constraints(parts)
    count = len(least)
    interrupts = Interrupts()
    pattern = _sparsity(casadi, count, problem.size, rows, columns)
    program = _program(casadi, problem, interrupts, count, *pattern)
    looker = _looker(casadi, problem, interrupts, count, (least, most), watch)
    x = casadi.MX.sym("w", problem.size)
    f, g = program(x)
    options = {
        "max_iter": iterations,
        "hessian_approximation": "limited-memory",
        "limited_memory_max_history": 30,
        "tol": TOLERANCE,
        "nlp_scaling_method": "none",
        "print_level": 0,
        "sb": "yes",
        **settings,
    }
    solver = casadi.nlpsol(
        "solver",
        "ipopt",
        {"x": x, "f": f, "g": g},
        {"ipopt": options, "iteration_callback": looker, "print_time": False, "error_on_fail": False},
    )
    lower, upper = problem.range_of_points()
    with interrupts.kept():
        found = solver(x0=w, lbx=lower, ubx=upper, lbg=least, ubg=most)
    return Solved(_row(found["x"]), str(solver.stats()["return_status"]))


def _row(x: Any) -> Array:
    return np.asarray(x, dtype=float).ravel()


def _sparsity(casadi: Any, count: int, size: int, rows: Indices, columns: Indices) -> tuple[Any, Indices]:
    """Sparsity of the Jacobian, and the order in which it takes entries: column by column."""
    order = np.lexsort((rows, columns))
    pattern = casadi.Sparsity.triplet(count, size, rows[order].tolist(), columns[order].tolist())
    return pattern, order


def _program(casadi: Any, problem: Problem, interrupts: Interrupts, count: int, pattern: Any, order: Indices) -> Any:
    """Objective and constraints as functions of CasADi's."""
    size = problem.size

    class Slopes(casadi.Callback):  # type: ignore[misc]
        """Derivatives of objective and constraints."""

        def __init__(self) -> None:
            casadi.Callback.__init__(self)
            self.construct("slopes", {})

        def get_n_in(self) -> int:
            return 3

        def get_n_out(self) -> int:
            return 2

        def get_sparsity_in(self, k: int) -> Any:
            return casadi.Sparsity.dense((size, 1, count)[k], 1)

        def get_sparsity_out(self, k: int) -> Any:
            return (casadi.Sparsity.dense(1, size), pattern)[k]

        def eval(self, given: Any) -> Any:
            with interrupts.callback():
                found = problem.evaluate(_row(given[0]), True)
            return [casadi.DM(found.gradient).T, casadi.DM(pattern, found.jacobian[order])]

    class Program(casadi.Callback):  # type: ignore[misc]
        """Objective and constraints."""

        def __init__(self) -> None:
            casadi.Callback.__init__(self)
            self.slopes = Slopes()
            self.construct("program", {})

        def get_n_in(self) -> int:
            return 1

        def get_n_out(self) -> int:
            return 2

        def get_sparsity_in(self, k: int) -> Any:
            return casadi.Sparsity.dense(size, 1)

        def get_sparsity_out(self, k: int) -> Any:
            return casadi.Sparsity.dense((1, count)[k], 1)

        def eval(self, given: Any) -> Any:
            with interrupts.callback():
                found = problem.evaluate(_row(given[0]), False)
            return [found.objective, found.constraints]

        def has_jacobian(self) -> bool:
            return True

        def get_jacobian(self, *_: Any) -> Any:
            return self.slopes

        def has_jac_sparsity(self, out: int, into: int) -> bool:
            return True

        def get_jac_sparsity(self, out: int, into: int, symmetric: bool) -> Any:
            return self.slopes.get_sparsity_out(out)

    return Program()


def _looker(
    casadi: Any,
    problem: Problem,
    interrupts: Interrupts,
    count: int,
    between: tuple[Array, Array],
    watch: Callable[[Point], bool],
) -> Any:
    """Tells of every iteration, and ends the search if it is told to."""

    class Looker(casadi.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            casadi.Callback.__init__(self)
            self.iteration = 0
            self.construct("looker", {})

        def get_n_in(self) -> int:
            return int(casadi.nlpsol_n_out())

        def get_n_out(self) -> int:
            return 1

        def get_sparsity_in(self, k: int) -> Any:
            lengths = {"x": problem.size, "lam_x": problem.size, "f": 1, "g": count, "lam_g": count}
            return casadi.Sparsity.dense(lengths.get(casadi.nlpsol_out(k), 0), 1)

        def eval(self, given: Any) -> Any:
            by_name = {casadi.nlpsol_out(k): x for k, x in enumerate(given)}
            beyond = violation(_row(by_name["g"]), between)
            self.iteration += 1
            point = Point(self.iteration - 1, float(by_name["f"]), beyond, _row(by_name["x"]))
            with interrupts.callback():
                return [int(watch(point))]

    return Looker()


def violation(constraints: Array, between: tuple[Array, Array]) -> float:
    """How far the worst of scaled constraints is beyond its bounds."""
    least, most = between
    beyond = np.maximum(np.maximum(least - constraints, constraints - most), 0.0)
    return float(beyond.max(initial=0.0)) if np.isfinite(beyond).all() else np.inf
