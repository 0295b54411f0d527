"""The nonlinear program handed to IPOPT through CasADi: values and a sparse Jacobian by callbacks."""

from __future__ import annotations

import itertools
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


def _callback(
    casadi: Any,
    name: str,
    inputs: list[Any],
    outputs: list[Any],
    evaluate: Callable[[Any], list[Any]],
    slopes: Any = None,
) -> Any:
    """A function of CasADi's from sparsities and from one of ours; `slopes` is the function of its derivatives."""

    class Callback(casadi.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            casadi.Callback.__init__(self)
            self.construct(name, {})

        def get_n_in(self) -> int:
            return len(inputs)

        def get_n_out(self) -> int:
            return len(outputs)

        def get_sparsity_in(self, k: int) -> Any:
            return inputs[k]

        def get_sparsity_out(self, k: int) -> Any:
            return outputs[k]

        def eval(self, given: Any) -> Any:
            return evaluate(given)

        def has_jacobian(self) -> bool:
            return slopes is not None

        def get_jacobian(self, *_: Any) -> Any:
            return slopes

        def has_jac_sparsity(self, out: int, into: int) -> bool:
            return slopes is not None

        def get_jac_sparsity(self, out: int, into: int, symmetric: bool) -> Any:
            return slopes.get_sparsity_out(out)

    return Callback()


def _program(casadi: Any, problem: Problem, interrupts: Interrupts, count: int, pattern: Any, order: Indices) -> Any:
    """Objective and constraints as functions of CasADi's."""
    dense, size = casadi.Sparsity.dense, problem.size

    def evaluated(given: Any) -> list[Any]:
        with interrupts.callback():
            found = problem.evaluate(_row(given[0]), False)
        return [found.objective, found.constraints]

    def derivatives(given: Any) -> list[Any]:
        with interrupts.callback():
            found = problem.evaluate(_row(given[0]), True)
        return [casadi.DM(found.gradient).T, casadi.DM(pattern, found.jacobian[order])]

    values = [dense(1, 1), dense(count, 1)]
    slopes = _callback(casadi, "slopes", [dense(size, 1), *values], [dense(1, size), pattern], derivatives)
    return _callback(casadi, "program", [dense(size, 1)], values, evaluated, slopes)


def _looker(
    casadi: Any,
    problem: Problem,
    interrupts: Interrupts,
    count: int,
    between: tuple[Array, Array],
    watch: Callable[[Point], bool],
) -> Any:
    """Tells of every iteration, and ends the search if it is told to."""
    lengths = {"x": problem.size, "lam_x": problem.size, "f": 1, "g": count, "lam_g": count}
    names, numbers = [casadi.nlpsol_out(k) for k in range(casadi.nlpsol_n_out())], itertools.count()

    def looked(given: Any) -> list[Any]:
        by_name = dict(zip(names, given, strict=True))
        beyond = violation(_row(by_name["g"]), between)
        point = Point(next(numbers), float(by_name["f"]), beyond, _row(by_name["x"]))
        with interrupts.callback():
            return [int(watch(point))]

    dense = casadi.Sparsity.dense
    return _callback(casadi, "looker", [dense(lengths.get(name, 0), 1) for name in names], [dense(1, 1)], looked)


def violation(constraints: Array, between: tuple[Array, Array]) -> float:
    """How far the worst of scaled constraints is beyond its bounds."""
    least, most = between
    beyond = np.maximum(np.maximum(least - constraints, constraints - most), 0.0)
    return float(beyond.max(initial=0.0)) if np.isfinite(beyond).all() else np.inf
