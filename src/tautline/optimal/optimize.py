"""optimize(): values of keys that make an output of a run least, within limits."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.extras import need
from tautline.gradients.keys import key_value
from tautline.gradients.runs import check_pieces
from tautline.gradients.segments import Segments
from tautline.model import checks
from tautline.model.expressions import parts_of_system
from tautline.model.system.case import Case
from tautline.optimal import ipopt, result, terms, unknowns
from tautline.optimal.interval import Wanted
from tautline.optimal.result import Checked, Optimized, Progress, SearchInterrupted
from tautline.optimal.shooting import Problem
from tautline.optimal.starting import Start, guess, scales_of
from tautline.optimal.terms import AtEnd, Limit
from tautline.optimal.unknowns import DURATION, Unknowns

Watch = Callable[[Progress], "bool | None"]
MOST_INTERVALS = 10_000


def optimize(
    case: Case,
    *,
    vary: Mapping[str, Any],
    minimize: Any,
    subject_to: Sequence[Limit | AtEnd | Mapping[str, Any]] = (),
    intervals: int | Sequence[float] = 20,
    start: Optimized | Case | None = None,
    iterations: int = 300,
    watch: Watch | None = None,
    ipopt_options: Mapping[str, Any] | None = None,
) -> Optimized:
    """Values of keys that make an output of a run least, within limits: direct multiple shooting with IPOPT.

    Parameters
    ----------
    case : Case
        Where the search begins; the tables whose entries are sought have their times from here.
    vary : dict
        The keys that are sought, with their bounds: {"command.torques[1:-1]": (-5, 5), "run.duration": (10, 40)}. A
        key of a list stands for its entries, [1:-1] for some of them; with several lines keys have longer names, such
        as "lines.tether.command.torques". Bounds are a pair, or a dict with least, most and scale. With
        `run.duration` the end time is free: the times of all tables with sought entries stretch with it, and so do
        sample and step.
    minimize : "time", dict, Final, Integral or Peak, or a list of them
        {"final": ...}, {"integral": ...} or {"peak": ...} of an expression of outputs such as "torque^2", with a
        weight where there are several. Of a `Peak`, the largest sample itself is made least, without smoothing.
    subject_to : list of Limit and AtEnd
        What must hold at all samples, and at the end.
    intervals : int or list of float
        Number of shooting intervals, into which samples must divide; or the times between them, from 0 to the end (s).
    start : Optimized or Case, optional
        An earlier result, or another case, to begin from.
    iterations : int
        At most.
    watch : callable, optional
        Called with the `Progress` of every iteration; ends the search by returning True.
    ipopt_options : dict, optional
        Options of IPOPT, such as {"tol": 1e-8}.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C. From the first iteration on its attribute `result` is the `Optimized` of the latest iteration,
        with status "interrupted" and without a plain run.
    """
    check_pieces(case)
    need("casadi", "tl.optimize")
    sought = unknowns.read(case, vary)
    parts = parts_of_system(case.meshed().system)
    wanted = Wanted(terms.read_objective(minimize, parts), terms.read_bounds(subject_to, parts))
    if any(term.kind == terms.TIME for term in wanted.terms) and not sought.free_time:
        raise InputError("minimize: 'time' needs a free end; expected run.duration among the keys of vary")
    iterations = checks.whole("iterations", iterations, 0, 10**6)
    if watch is not None and not callable(watch):
        checks.refuse("watch", "a function of a point of the history", watch)
    problem, w = _begin(case, sought, wanted, _times(case, intervals), start)
    return _search(case, problem, w, iterations, dict(ipopt_options or {}), watch)


def _times(case: Case, intervals: Any) -> Array:
    """Times at which intervals begin and end; of a free end, those of the case's own duration."""
    if not isinstance(intervals, list | tuple | np.ndarray):
        count = checks.whole("intervals", intervals, 1, MOST_INTERVALS)
        return np.linspace(0.0, case.run.duration, count + 1)
    times = checks.array("intervals", intervals, (None,), "s")
    if len(times) < 2 or times[0] != 0.0 or abs(times[-1] - case.run.duration) > 1e-9 * case.run.duration:
        checks.refuse("intervals", f"times from 0 to run.duration ({case.run.duration:g} s)", times.tolist())
    return times


def _begin(
    case: Case,
    sought: Unknowns,
    wanted: Wanted,
    times: Array,
    start: Optimized | Case | None,
) -> tuple[Problem, Array]:
    """The program, and the point where the search begins: states are those of a run with the first values."""
    segments = Segments(case, times, sought.keys, wanted.outputs, sought.directions())
    values = _first_values(sought, start)
    least, most = (np.array([getattr(x, word) for x in sought.sought]) for word in ("least", "most"))
    values = np.clip(values, least, most)
    first = Start(segments, sought)
    wanted = wanted._replace(at_start=first.changed_by(wanted.bounds, values))
    begun = guess(segments, first, values, wanted)
    problem = Problem(segments, first, sought, wanted, scales_of(case, segments.coordinates.names, begun, wanted))
    states = begun.states
    if isinstance(start, Optimized) and start.states.shape == states.shape:
        states = start.states
    w = problem.point(values, begun.peaks, states)
    unknown = problem.without_derivative(w)
    if unknown:
        raise InputError(
            f"{unknown}: has no derivative at some of the samples; expected another output in minimize and subject_to, "
            "or samples at which it does not jump, such as a torque where entries of a table of speeds are moved"
        )
    return problem, w


def _first_values(sought: Unknowns, start: Optimized | Case | None) -> Array:
    """Values where the search begins: those of the case, of another one, or of an earlier result."""
    if start is None:
        return np.array([x.value for x in sought.sought])
    if isinstance(start, Case):
        return np.array([key_value(start, x.key) for x in sought.sought])
    checks.instance("start", start, Optimized)
    for x in sought.sought:
        if x.key not in start.values:
            raise InputError(f"start: expected a result with a value of {x.key}, got one without")
    return np.array([start.values[x.key] for x in sought.sought])


def _search(
    case: Case,
    problem: Problem,
    w: Array,
    iterations: int,
    settings: dict[str, Any],
    watch: Watch | None,
) -> Optimized:
    began = time.perf_counter()
    history: list[Progress] = []
    latest = w

    def look(point: ipopt.Point) -> bool:
        nonlocal latest
        latest = point.w
        objective = point.objective * problem.scales.objective
        history.append(Progress(point.iteration, objective, point.violation, time.perf_counter() - began))
        return bool(watch(history[-1])) if watch is not None else False

    def found(w: Array, best: Case, status: str, message: str, check: Checked) -> Optimized:
        return Optimized(
            best,
            status,
            message,
            check.objective,
            check.violation,
            dict(zip((x.key for x in problem.unknowns.sought), problem.sought(w).tolist(), strict=True)),
            tuple(history),
            time.perf_counter() - began,
            problem.states(w),
            check.warnings,
        )

    try:
        solved = ipopt.solve(problem, w, iterations, settings, look)
        best = _best(case, problem, solved.w)
        check = result.checked(best, problem.wanted, problem.scales.bounds)
        check = check._replace(warnings=(*check.warnings, *problem.warnings(solved.w)))
    except KeyboardInterrupt:
        last = history[-1] if history else None
        if last is None or last.iteration == 0:  # the point where the search began
            raise
        check = Checked(last.objective, last.violation, None, "")
        status, message = result.verdict(result.STOPPED, last.iteration, last.violation, check, "")
        raise SearchInterrupted(found(latest, _best(case, problem, latest), status, message, check)) from None
    count = history[-1].iteration if history else 0
    left = history[-1].violation if history else np.inf
    status, message = result.verdict(solved.word, count, left, check, problem.trouble)
    return found(solved.w, best, status, message, check)


def _best(case: Case, problem: Problem, w: Array) -> Case:
    """Case with the values of a point."""
    best: Case = case.with_(_changes(case, problem.unknowns, problem.sought(w)))
    return best


def _changes(case: Case, sought: Unknowns, values: Array) -> dict[str, float]:
    """Values by key; with a free end, sample and step stretch as well."""
    changes = sought.changes(values)
    if sought.free_time:
        stretch = changes[DURATION] / case.run.duration
        lasts = {"run.sample": case.run.sample, "run.step": case.run.step}
        changes |= {key: stretch * last for key, last in lasts.items() if isinstance(last, float)}
    return changes
