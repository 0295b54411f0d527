"""The paper's comparative claims, shown: general integrators against ours over a long time, and error against cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from numpy.typing import NDArray

from tautline.figures.style import BLACK, BLUE, GREEN, ORANGE, RED, SKY, new_figure, styled
from tautline.ledger import kept_energy
from tautline.model.chain.cases import chain_start
from tautline.model.chain.chain import Chain
from tautline.model.chain.state import ChainState
from tautline.model.chain.systems import chain_of
from tautline.model.command import Locked
from tautline.model.run import Run
from tautline.model.system.case import Case
from tautline.paper import plain
from tautline.paper.examples import ELEMENTS, EXAMPLES, STEP, run, start, system
from tautline.reference import Equations, integrate, labeled
from tautline.results.conservation import conservation

Array = NDArray[np.float64]
LONG = 1_000_000  # steps
SAMPLES = 1000
COARSE = 10.0 * STEP
OURS = {"ours, order 2": BLUE, "ours, order 4": GREEN}
# SciPy's absolute tolerance, as a part of the relative one.
ABSOLUTE = 1e-3


class Trial(NamedTuple):
    """One method on one example."""

    example: int
    method: str
    setting: str
    seconds: float
    run: xr.Dataset

    def row(self) -> dict[str, Any]:
        kept = conservation(self.run)
        return {
            "example": self.example,
            "method": self.method,
            "setting": self.setting,
            "simulated_seconds": float(self.run.time[-1]),
            "seconds": self.seconds,
            "energy_drift": drift(self.run),
            "energy": kept.energy,
            "angular_momentum": kept.angular_momentum,
            "orthogonality": kept.orthogonality,
        }


def drift(result: xr.Dataset) -> float:
    """Mean energy of the last tenth less that of the first, as a part of the largest kinetic energy."""
    energy = kept_energy(result).values
    tenth = max(1, len(energy) // 10)
    return float((energy[-tenth:].mean() - energy[:tenth].mean()) / float(result.kinetic_energy.max()))


def _fixed(step: float) -> str:
    return f"h = {step:g} s"


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = perf_counter()
    result = work()
    return perf_counter() - start, result


def ours(example: int, order: int, step: float, duration: float, samples: int = SAMPLES) -> Trial:
    options: dict[str, Any] = {"step": step, "order": order, "duration": duration, "sample": duration / samples}
    seconds, result = timed(partial(run, example, **options))
    return Trial(example, f"ours, order {order}", _fixed(step), seconds, result)


def runge_kutta(step: float, steps: int) -> Trial:
    """Example 1 by the classical method, rotation matrices as plain numbers."""
    constants, y0 = _plain_example()
    plain.runge_kutta(y0, constants, step, 1, 1)  # compile
    seconds, rows = timed(lambda: plain.runge_kutta(y0, constants, step, steps // SAMPLES, SAMPLES))
    return Trial(1, "Runge-Kutta 4", _fixed(step), seconds, _dataset(rows, steps * step, "RK4"))


def scipy(method: str, rtol: float, duration: float, samples: int = SAMPLES) -> Trial:
    """Example 1 by one of SciPy's methods, the right-hand side compiled."""
    from scipy.integrate import solve_ivp

    constants, y0 = _plain_example()
    plain.rates(0.0, y0, constants)  # compile

    def rates(t: float, y: Array) -> Array:
        # the differences for a Jacobian come as strided columns
        return np.asarray(plain.rates(t, np.ascontiguousarray(y), constants))

    times = np.linspace(0.0, duration, samples + 1)

    def solve() -> Array:
        span = (0.0, duration)
        found = solve_ivp(rates, span, y0, method, t_eval=times, rtol=rtol, atol=ABSOLUTE * rtol)
        return np.asarray(found.y.T)

    seconds, rows = timed(solve)
    return Trial(1, f"SciPy {method}", f"rtol = {rtol:g}", seconds, _dataset(rows, duration, method))


def _example() -> tuple[Chain, ChainState]:
    """Example 1, as plain equations take it."""
    case = _case(1.0)
    return chain_of(case.system), chain_start(case)


def _case(duration: float) -> Case:
    return Case(system(), start(EXAMPLES[0]), {}, Run(duration=duration))


def _plain_example() -> tuple[plain.Constants, Array]:
    chain, state = _example()
    return plain.constants(chain, state), plain.pack(state)


def _dataset(rows: Array, duration: float, method: str) -> xr.Dataset:
    chain, state = _example()
    equations, s = Equations(chain, ELEMENTS, Locked()), state.reeled_length
    times = np.linspace(0.0, duration, len(rows))
    states = [plain.reference_row(y, s) for y in rows]
    return labeled(_case(duration), equations, states, times, "completed", method)


def long_trials(steps: int = LONG) -> Iterator[Trial]:
    """Example 1 for very many steps at the paper's step, and at a step ten times as long."""
    for step in (STEP, COARSE):
        for order in (2, 4):
            yield ours(1, order, step, step * steps)
        yield runge_kutta(step, steps)
    for method, rtol in (("RK45", 1e-6), ("DOP853", 1e-6), ("DOP853", 1e-9)):
        yield scipy(method, rtol, STEP * steps)


def reel_trials() -> Iterator[Trial]:
    """Examples 2 and 3, which end by themselves, over their whole length."""
    for number in (2, 3):
        example = EXAMPLES[number - 1]
        for order in (2, 4):
            yield ours(number, order, STEP, example.duration, samples=200)
        sampled: dict[str, Any] = {"duration": example.duration, "sample": example.duration / 200}
        yield _general(number, "Runge-Kutta 4", _fixed(STEP), method="RK4", step=STEP, **sampled)
        yield _general(number, "SciPy RK45", "rtol = 1e-06", method="RK45", rtol=1e-6, atol=1e-9, **sampled)


def _general(number: int, label: str, setting: str, **options: Any) -> Trial:
    """An example by a general method, the right-hand side in NumPy."""
    example = EXAMPLES[number - 1]
    seconds, result = timed(lambda: integrate(system(), start(example), example.command, **options))
    return Trial(number, label, setting, seconds, result)


class Verdict(NamedTuple):
    statement: str
    ours: float
    general: float
    holds: bool


def verdicts(trials: list[Trial]) -> list[Verdict]:
    """Whether a general method at our step is worse by a factor of ten, for each quantity the paper says is kept."""
    at = {trial.method: trial.row() for trial in trials if trial.example == 1 and trial.setting == _fixed(STEP)}
    found = []
    for statement, quantity in (
        ("the energy of a general method drifts, ours does not", "energy_drift"),
        ("a general method loses angular momentum, ours keeps it", "angular_momentum"),
        ("rotation matrices of a general method leave the group, ours stay in it", "orthogonality"),
    ):
        own, other = abs(at["ours, order 2"][quantity]), abs(at["Runge-Kutta 4"][quantity])
        found.append(Verdict(statement, own, other, other > 10.0 * own))
    return found


@styled
def long_figure(trials: list[Trial]) -> Figure:
    """Deviations over a long time at the paper's step, each on a logarithmic axis."""
    figure, axes = new_figure(3)
    colors = OURS | {"Runge-Kutta 4": RED, "SciPy RK45": ORANGE, "SciPy DOP853": BLACK}
    shown = [trial for trial in trials if trial.example == 1 and trial.setting != _fixed(COARSE)]
    scale = float(shown[0].run.kinetic_energy.max())
    for trial in shown:
        label = trial.method if trial.method in OURS else f"{trial.method}, {trial.setting}"
        line = ":" if trial.setting == "rtol = 1e-09" else "-"
        energy, momentum = kept_energy(trial.run), trial.run.angular_momentum[:, 2]
        for axis, values in zip(
            axes,
            ((energy - energy[0]) / scale, momentum / momentum[0] - 1.0, trial.run.orthogonality_error[:, 0]),
            strict=True,
        ):
            largest = np.maximum.accumulate(np.abs(values.values[1:]))
            axis.loglog(trial.run.time[1:], largest, line, color=colors[trial.method], label=label)
    for axis, name in zip(axes, ("energy, of max $T$", r"momentum $\pi_3$, relative", r"$\|I-R^TR\|$"), strict=True):
        axis.set_ylabel(name)
    axes[0].set_title("largest deviation so far", fontsize=9)
    axes[-1].set_xlabel("time (s)")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure


class Precision(NamedTuple):
    """Error of the positions at the end, and what it cost."""

    example: int
    method: str
    setting: str
    seconds: float
    error: float  # m


END = 2.0  # s: long before chaos hides the error of a method
STEPS = (5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5)
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
REPEATS = 3
STIFF = ("Radau", "LSODA")  # with Jacobians by differences they are slow: example 1 and three tolerances only


def precision() -> Iterator[Precision]:
    """Error against cost at 2 s of examples 1 (constant length) and 3 (moving reel)."""
    for number in (1, 3):
        truth = _truth(number)
        for scheme, order in (("symmetric", 2), ("symmetric", 4), ("symmetric", 6), ("paper", 2)):
            if scheme == "paper" and number == 1:
                continue  # with a locked reel the two schemes are one
            label = "paper's scheme" if scheme == "paper" else f"ours, order {order}"
            for step in STEPS:
                work = partial(run, number, step=step, scheme=scheme, order=order, duration=END, sample=END)
                found = [timed(work) for _ in range(REPEATS)]
                error = _error(found[0][1], truth)
                yield Precision(number, label, _fixed(step), min(t for t, _ in found), error)
        for method in ("RK45", "DOP853", *(STIFF if number == 1 else ())):
            for rtol in TOLERANCES[1:6:2] if method in STIFF else TOLERANCES:
                trial = _scipy_to_end(number, method, rtol)
                yield Precision(number, trial.method, trial.setting, trial.seconds, _error(trial.run, truth))


def _truth(number: int) -> Array:
    return np.asarray(_scipy_to_end(number, "DOP853", 1e-12).run.position.values[-1])


def _scipy_to_end(number: int, method: str, rtol: float) -> Trial:
    if number == 1:
        return scipy(method, rtol, END, samples=1)
    options: dict[str, Any] = {"duration": END, "sample": END, "rtol": rtol, "atol": ABSOLUTE * rtol}
    return _general(number, f"SciPy {method}", f"rtol = {rtol:g}", method=method, **options)


def _error(result: xr.Dataset, truth: Array) -> float:
    return float(np.linalg.norm(result.position.values[-1] - truth, axis=1).max())


@styled
def precision_figure(points: list[Precision]) -> Figure:
    """Work-precision diagrams: lower and further left is better."""
    figure, axes = new_figure(2, height=3.4)
    looks = {
        "ours, order 2": (BLUE, "o-"),
        "ours, order 4": (GREEN, "o-"),
        "ours, order 6": (SKY, "o-"),
        "paper's scheme": (RED, "s-"),
        "SciPy RK45": (ORANGE, "^--"),
        "SciPy DOP853": (BLACK, "^--"),
        "SciPy Radau": ("#999999", "v:"),
        "SciPy LSODA": ("#CC79A7", "v:"),
    }
    titles = {1: "example 1, constant length", 3: "example 3, moving reel (SciPy's right-hand side in NumPy)"}
    for axis, number in zip(axes, (1, 3), strict=True):
        for method, (color, line) in looks.items():
            own = [p for p in points if p.example == number and p.method == method]
            if own:
                axis.loglog(
                    [p.seconds for p in own], [p.error for p in own], line, color=color, markersize=3.5, label=method
                )
        axis.set_title(titles[number], fontsize=9)
        axis.set_ylabel(f"error at {END:g} s (m)")
    axes[-1].set_xlabel("computing time (s)")
    handles, labels = axes[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4)
    return figure
