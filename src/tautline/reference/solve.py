"""Integration of the equations by general methods, and the Dataset of what they find."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tautline import registry
from tautline._version import __version__
from tautline.errors import InputError
from tautline.model import checks, refusals
from tautline.model.chain.cases import chain_command, chain_start
from tautline.model.chain.state import ChainState
from tautline.model.chain.systems import chain_of, why_no_chain
from tautline.model.checks import SAME_LENGTH
from tautline.model.force_law import ForceLaw, check_laws
from tautline.model.system.case import Case
from tautline.model.system.commands import Commands
from tautline.model.system.given import case_of
from tautline.model.system.starts import Start
from tautline.model.system.system import System
from tautline.reference.curves import Array
from tautline.reference.equations import Equations
from tautline.reference.spooled import WithSpooledString
from tautline.results.inputs import CASE

if TYPE_CHECKING:
    import xarray as xr

Settings = tuple[str, float, float]  # method, relative and absolute tolerance
_METHODS = ("DOP853", "Radau", "RK45", "RK23", "BDF", "LSODA", "RK4")
# A run ends when less than this part of the initial length is out, or when s reaches the guide length.
_MINIMUM_LENGTH = 0.01
# Points of a step of a method of high order that are remembered.
_REMEMBERED = 8
# Knots of tables nearer than this part of the duration are one.
_SAME_TIME = 1e-12
# A jump of a prescribed motion (m, m/s) that counts as rounding, as a part of its size.
_ROUNDING = 1e-9
_MEANING = {
    "standstill": "; dry friction may hold the drum from here on, which reference.integrate does not follow",
}


def integrate(
    system: System,
    start: Start,
    command: Commands | None = None,
    *,
    duration: float,
    sample: float,
    method: str = "DOP853",
    rtol: float = 1e-10,
    atol: float = 1e-12,
    step: float | None = None,
    equations: type[Equations] | None = None,
    loads: Sequence[ForceLaw] = (),
) -> xr.Dataset:
    """Solve the equations by a general method; same Dataset as `simulate`.

    For systems of one line on a reel and one body. All that acts on them acts here too, with two exceptions. A drum
    with dry friction or a brake is followed while it slips; a run ends with the status "standstill" where it would
    stop, and one that is held from the start is refused. A prescribed motion of guide or reel must not jump, which
    would be an impulse.

    Parameters
    ----------
    system, start, command, duration, sample
        As in `simulate`.
    method : str
        One of SciPy's ("DOP853", "Radau", "RK45", "RK23", "BDF", "LSODA"), or "RK4", the classical
        Runge-Kutta method with a fixed `step`.
    rtol, atol : float
        Tolerances of SciPy's methods.
    step : float, optional
        Of "RK4" (s); a sample is made of whole steps no longer than this.
    equations : type, optional
        A subclass of `Equations`, to try another model; by default what the guide law needs.
    loads : list of ForceLaw, optional
        As in `simulate`.
    """
    checks.choice("method", method, _METHODS)
    case = case_of(system, start, command, {"duration": duration, "sample": sample})
    reason = why_no_chain(case.system)
    if reason:
        raise refusals.COMPARED_SYSTEM.error(reason)
    pendulum, state, of_reel = chain_of(case.system), chain_start(case), chain_command(case)
    duration = checks.positive("duration", duration, "s")
    sample = checks.positive("sample", sample, "s")
    count = checks.whole_ratio("duration", duration, "sample", sample)
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        checks.positive(name, tolerance, "relative" if name == "rtol" else "SI")
    if equations is None:
        remembers = registry.GUIDE_LAWS[pendulum.reel.guide_law].remembers
        equations = WithSpooledString if remembers else Equations
    pendulum = pendulum.on_mesh(pendulum.string.length - state.reeled_length, state.elements)
    solved = equations(pendulum, state.elements, of_reel, check_laws(loads))
    solved.begin(state)
    _refuse_blows(solved, state, duration)
    times = np.arange(count + 1, dtype=np.float64) * np.float64(sample)
    y0 = solved.pack(state)
    if method == "RK4":
        step = checks.positive("step", step, "s")
        status, states = _rk4(solved, y0, times, max(1, int(np.ceil(sample / step - 1e-9))))
    else:
        advance = partial(_remembering if solved.remembers else _solved, solved, (method, rtol, atol))
        status, states = _by_pieces(solved, y0, times, advance)
    return labeled(case, solved, states, times[: len(states)], status, method)


def _refuse_blows(system: Equations, state: ChainState, duration: float) -> None:
    """Refuse given motions of reel or guide that jump, in place or in speed, within the run."""
    drum = system.drum
    if system.command.prescribes:
        speed = drum.planned(0.0, 0.0)[1]
        if abs(speed - state.reel_speed) > SAME_LENGTH * max(1.0, abs(speed)):
            raise InputError(
                f"State.reel_speed: expected the speed of the command at the start, {speed:.9g} m/s, for "
                f"reference.integrate, which knows no impulses; got {state.reel_speed:.9g} m/s"
            )
    given = {
        "the length": drum.curve if system.command.prescribes else None,
        "guide_path": system.loads.path,
    }
    for name, curve in given.items():
        for i, t in enumerate(curve.knots if curve is not None else []):
            if curve is None or i == 0 or not 0.0 < t <= duration:
                continue
            for derivative in (0, 1):
                before, after = (curve.at(t, inside, derivative) for inside in (curve.knots[i - 1], t))
                if np.abs(after - before).max() > _ROUNDING * max(1.0, float(np.abs(before).max())):
                    raise InputError(
                        f"reference.integrate: expected {name} to move without an impulse, got a jump of its "
                        f"{('place', 'speed')[derivative]} at t = {t:g} s; let it begin and end at rest, or go on "
                        "beyond the end of the run"
                    )


def labeled(
    case: Case, system: Equations, states: Sequence[Array], times: Array, status: str, method: str
) -> xr.Dataset:
    """The Dataset of states that any method has found for a case."""
    from tautline.results.chain import system_values
    from tautline.results.network import build
    from tautline.results.values import values_of

    system.inside = None
    rows = [system.figures(float(t), y) for t, y in zip(times, states, strict=True)]
    columns = {"time": times, **{name: np.array([row[name] for row in rows]) for name in rows[0]}}
    columns["torque"] = np.array([system.torque(float(t), y) for t, y in zip(times, states, strict=True)])
    attrs = {
        "status": status,
        "message": f"{status} at t = {times[-1]:.6g} s{_MEANING.get(status, '')}",
        "scheme": f"reference {method}",
        CASE: json.dumps(case.meshed().to_dict()),
        "version": __version__,
    }
    values = values_of(system.pendulum, columns)
    whole = case.meshed().system
    return build(whole, system_values(whole, values), attrs)


def _ending(system: Equations, start: float, y: Array) -> str | None:
    """Status of a run that must end at a state, if it must; `start` is the reeled length at its beginning."""
    x = system.unpack(y)
    L, b = system.pendulum.string.length, system.pendulum.reel.guide_length
    if system.locked:
        return None
    if x.s >= L - _MINIMUM_LENGTH * (L - start):
        return "fully_retrieved"
    if x.s <= b < start:
        return "fully_deployed"
    if system.drum.direction * x.sigma < 0.0:
        return "standstill"
    return None


def _by_pieces(
    system: Equations, y0: Array, times: Array, advance: Callable[[Array, Array, float], tuple[str, list[Array]]]
) -> tuple[str, list[Array]]:
    """Integrate from knot to knot of the given tables, so that no step of a method has a kink inside."""
    end = float(times[-1])
    knots = sorted(t for t in {*system.drum.knots, *system.loads.knots} if 0.0 < t < end)
    stops = [0.0]
    for t in [*knots, end]:
        if t - stops[-1] > _SAME_TIME * end:
            stops.append(t)
    stops[-1] = end
    states, y = [y0], y0
    for a, b in pairwise(stops):
        system.inside = 0.5 * (a + b)
        wanted = times[(times > a) & (times <= b)]
        asked = np.unique(np.append(wanted, b))
        status, found = advance(np.append(a, asked), y, y0[0])
        states += found[: min(len(wanted), len(found))]
        if status != "completed":
            return status, states
        y = found[-1]
    return "completed", states


def _solved(system: Equations, settings: Settings, times: Array, y: Array, start: float) -> tuple[str, list[Array]]:
    """States at all times but the first, by SciPy; `start` is the reeled length at the beginning of the run."""
    from scipy.integrate import solve_ivp

    method, rtol, atol = settings
    L, b = system.pendulum.string.length, system.pendulum.reel.guide_length
    n = 3 * system.N

    def retrieved(t: float, y: Array) -> float:
        return float(L - _MINIMUM_LENGTH * (L - start) - y[0])

    def deployed(t: float, y: Array) -> float:
        return float(y[0] - b)

    def standstill(t: float, y: Array) -> float:
        return float(system.drum.direction * y[10 + n])

    names = ["fully_retrieved", "fully_deployed", "standstill"]
    events: list[Callable[..., float]] = [retrieved, deployed, standstill]
    for event in events:
        event.terminal, event.direction = True, -1.0  # type: ignore[attr-defined]
    if system.locked:
        names, events = [], []
    elif system.drum.direction == 0.0:
        names, events = names[:2], events[:2]
    span = (times[0], times[-1])
    result = solve_ivp(system, span, y, method, t_eval=times[1:], events=events, rtol=rtol, atol=atol)
    status = {0: "completed", -1: "failed"}.get(result.status, "")
    if result.status == 1:
        status = next(name for name, found in zip(names, result.t_events, strict=True) if len(found))
    return status, list(np.asarray(result.y).T) if len(result.t) else []


def _remembering(
    system: Equations, settings: Settings, times: Array, y: Array, start: float
) -> tuple[str, list[Array]]:
    """States at all times but the first, for equations with memory; an event ends a run with the step it is in."""
    from scipy import integrate as scipy_integrate

    method, rtol, atol = settings
    solver = getattr(scipy_integrate, method)(system, times[0], y, times[-1], rtol=rtol, atol=atol)
    states: list[Array] = []
    while solver.status == "running":
        solver.step()
        if solver.status == "failed":
            return "failed", states
        between = solver.dense_output()
        for t in np.linspace(solver.t_old, solver.t, _REMEMBERED + 1)[1:]:
            system.remember(between(t))
        while len(states) < len(times) - 1 and times[1 + len(states)] <= solver.t:
            states.append(between(times[1 + len(states)]))
        status = _ending(system, start, solver.y)
        if status is not None:
            return status, states
    return "completed", states


def _rk4(system: Equations, y0: Array, times: Array, steps: int) -> tuple[str, list[Array]]:
    """Classical Runge-Kutta, on the plain numbers."""
    h = (times[1] - times[0]) / steps
    y, states = y0, [y0]
    for t0 in times[:-1]:
        for i in range(steps):
            t = t0 + i * h
            k1 = system(t, y)
            k2 = system(t + 0.5 * h, y + 0.5 * h * k1)
            k3 = system(t + 0.5 * h, y + 0.5 * h * k2)
            k4 = system(t + h, y + h * k3)
            y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
            system.remember(y)
        if not np.isfinite(y).all():
            return "non_finite", states
        status = _ending(system, y0[0], y)
        if status is not None:
            return status, states
        states.append(y)
    return "completed", states
