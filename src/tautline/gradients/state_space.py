"""Cases as discrete-time systems of plain arrays, for python-control, do-mpc or a loop of one's own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.engine.cases import begin
from tautline.errors import InputError
from tautline.extras import need
from tautline.gradients.coordinates import Coordinates
from tautline.gradients.objectives import Final, Objective
from tautline.gradients.segments import Linearization, Segments
from tautline.model import checks
from tautline.model.expressions import parts_of_system
from tautline.model.system.case import Case

# Of the size of a coordinate: distance of central differences of fourth order, of functions with one kink at most.
NEAR = 1e-4
# Outputs at the end of an interval by its start may differ so much, over the largest, from what follows from the state.
ALLOWED = 1e-5


class StepFunction:
    """A case over one interval: a function from a state and inputs to the next state, in plain arrays.

    Every call starts at time 0 of the case, whose commands hold over the interval: the system is time-invariant.

    Parameters
    ----------
    case : Case
    by : list of str
        Keys that are numbers, as inputs: ["command.torque"].
    interval : float
        Time that a call advances by (s).
    outputs : list of str
        Variables with components where they have any: ["unstretched_length", "body_position[0]"].

    Attributes
    ----------
    states : list of str
        Names of the coordinates.
    x0, u0 : array
        State at the start, and values of the keys, of the case.
    """

    def __init__(self, case: Case, by: Iterable[str], interval: float, outputs: Sequence[str] = ()) -> None:
        self.interval = checks.positive("interval", interval, "s")
        self.case = case.with_run(duration=self.interval, sample=self.interval)
        self._segments = Segments(self.case, [0.0, self.interval], by)
        self.by, self.outputs = self._segments.by, checks.names("outputs", outputs) if outputs else []
        self._of = _finals(self.case, self.outputs)
        self.states, self.x0, self.u0 = self._segments.coordinates.names, self._segments.start, self._segments.values

    def __call__(self, x: Any, u: Any = None) -> Array:
        """The state after the interval; NaN where an event ended the motion before."""
        return self._segments.march(0, x, u, derivatives=False).end

    def observe(self, x: Any, u: Any = None) -> Array:
        """Outputs in a state, under the inputs."""
        given = self.u0 if u is None else np.asarray(u, dtype=np.float64)
        case = self.case.with_(dict(zip(self.by, given.tolist(), strict=True))) if self.by else self.case
        return observed(case, self._segments.coordinates, np.asarray(x, dtype=np.float64), 0.0, self._of)

    def nlsys(self) -> Any:
        """The system of python-control (`control.nlsys`), in discrete time; needs the extra `control`."""
        control = need("control", "nlsys")
        return control.nlsys(
            lambda t, x, u, params: self(x, np.atleast_1d(u)),
            (lambda t, x, u, params: self.observe(x, np.atleast_1d(u))) if self.outputs else None,
            states=len(self.x0),
            inputs=signals(self.by),
            outputs=signals(self.outputs) or len(self.x0),
            dt=self.interval,
        )


def _finals(case: Case, names: Iterable[str]) -> list[Objective]:
    """Outputs of a case, whose lines and bodies they may name."""
    parts = parts_of_system(case.meshed().system)
    return [Final(name).of(parts) for name in names]


def signals(names: Iterable[str]) -> list[str]:
    """Names of signals from those of keys or variables; python-control allows no dot."""
    return [name.replace(".", "_") for name in names]


def observed(case: Case, coordinates: Coordinates, x: Array, time: float, of: Sequence[Objective]) -> Array:
    """Outputs in a state."""
    placed = case.meshed().with_(start=coordinates.state(x, time))
    runner = begin(placed).simulation
    runner.first_sample()
    names = set().union(*(one.names for one in of)) if of else set()
    values = runner.backend.values_for(np.array([time]), runner.backend.present_sample(), names)
    return np.array([float(one(values)) for one in of])


def by_state(case: Case, coordinates: Coordinates, x: Array, time: float, of: Sequence[Objective]) -> Array:
    """Derivatives of outputs by the coordinates, by central differences of fourth order."""
    columns = []
    for i, size in enumerate(NEAR * coordinates.sizes(x)):

        def at(distance: float, i: int = i) -> Array:
            moved = x.copy()
            moved[i] += distance
            return observed(case, coordinates, moved, time, of)

        columns.append((8.0 * (at(size) - at(-size)) - (at(2.0 * size) - at(-2.0 * size))) / (12.0 * size))
    return np.stack(columns, axis=1) if columns else np.zeros((len(of), 0))


def state_space(model: Linearization, outputs: Sequence[str], interval: int = 0) -> Any:
    """`control.StateSpace` of one interval of a linear model, with dt."""
    control = need("control", "to_ss")
    names = checks.names("outputs", outputs)
    if not 0 <= interval < len(model.A):
        raise InputError(f"interval: expected 0 to {len(model.A) - 1}, got {interval}")
    of = _finals(model.case, names)
    times = model.times[interval : interval + 2]
    segments = Segments(model.case, times, model.by, sorted(set().union(*(one.names for one in of))))
    marched = segments.march(0, model.states[interval])
    A, B = marched.by_state, marched.by_keys
    if not np.isfinite(A).all():
        raise InputError(f"to_ss: expected a run that lasts, got one that ended: {marched.message}")
    C = by_state(model.case, model.coordinates, marched.end, float(times[1]), of)
    along = {
        key: np.concatenate([marched.outputs_by_state[key], marched.outputs_by_keys[key]], axis=-1)
        for key in marched.outputs
    }
    slopes = np.stack(
        [[one({key: x[..., j] for key, x in along.items()}) for j in range(A.shape[0] + B.shape[1])] for one in of]
    )
    n = A.shape[0]
    wrong = np.abs(slopes[:, :n] - C @ A).max(axis=1) / np.abs(slopes).max(axis=1).clip(min=np.finfo(float).tiny)
    if (wrong > ALLOWED).any():
        raise InputError(
            f"outputs: expected variables that follow from state and inputs, got {names[int(wrong.argmax())]!r}, whose "
            f"derivatives differ by {wrong.max():.1e} from those at the end of the interval"
        )
    return control.ss(
        A,
        B,
        C,
        slopes[:, n:] - C @ B,
        float(times[1] - times[0]),
        inputs=signals(model.by),
        outputs=signals(names),
        states=n,
    )
