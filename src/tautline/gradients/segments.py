"""Pieces of a run that each start from a state of their own, with derivatives by that state and by keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.engine.simulation import Simulation
from tautline.errors import InputError
from tautline.gradients.coordinates import Coordinates
from tautline.gradients.differences import Changed, derivatives
from tautline.gradients.leaves import flat, split, structure
from tautline.gradients.lowering import checked_keys, key_size, key_value
from tautline.gradients.marched import Marched as Samples
from tautline.gradients.marching import Setting, march_along
from tautline.gradients.outputs import carried_setting, carried_values, check_names, forget_unknown, unknown_outputs
from tautline.gradients.run import carried_samples
from tautline.gradients.scales import scales_of
from tautline.gradients.setting import Begun, begin_frozen, check_case, steps_of
from tautline.kernels import data
from tautline.model import checks
from tautline.model.case import Case
from tautline.model.command import Locked


class Marched(NamedTuple):
    """The end of a segment, and outputs on the way.

    Attributes
    ----------
    end : array (n,)
        Coordinates of the state at the end; NaN where the motion ended before.
    by_state, by_keys : array (n, n), (n, m)
        Its derivatives.
    time : array (rows,)
        Of the samples after the start, the end included (s).
    outputs, outputs_by_state, outputs_by_keys : dict of array (rows, ...), (rows, ..., n), (rows, ..., m)
        By name.
    status, message : str
        How the motion ended.
    """

    end: Array
    by_state: Array
    by_keys: Array
    time: Array
    outputs: dict[str, Array]
    outputs_by_state: dict[str, Array]
    outputs_by_keys: dict[str, Array]
    status: str
    message: str


class Segments:
    """A run in segments, for multiple shooting and for linear models.

    Parameters
    ----------
    case : Case
        Its steps are frozen, as by `jacobian`.
    times : array (K + 1,)
        Where segments begin and end (s): multiples of the sample interval. If run.duration is one of the keys, they
        are in proportion to it.
    by : list of str
        Keys that are numbers.
    outputs : list of str
        Names of variables of results.

    Attributes
    ----------
    coordinates : Coordinates
    start : array (n,)
        Coordinates of the case's own start.
    values : array (m,)
        Present values of the keys.
    """

    def __init__(self, case: Case, times: Sequence[float] | Array, by: Iterable[str], outputs: Sequence[str] = ()):
        self.case, self.by = check_case(case), checked_keys(case, by)
        self.outputs = check_names(outputs)
        if case.pendulum.reel.guide_law == "stretched":
            raise InputError(
                "case: expected a guide law without memory, got 'stretched': a state does not say all of it"
            )
        self._steps = steps_of(case)
        self.times = self._checked(times)
        self.values = np.array([key_value(case, name) for name in self.by])
        self._sizes = [key_size(case, name) for name in self.by]
        self._known: dict[tuple[float, ...], Begun] = {}
        self._about = tuple(self.values.tolist())
        start, locked = case.state(), isinstance(case.command, Locked)
        self.coordinates = Coordinates(start, not case.pendulum.body.is_point, locked)
        self.start = self.coordinates.of(start)

    def _checked(self, times: Any) -> Array:
        found = checks.array("times", times, (None,), "s")
        interval = self.case.run.duration / self._steps.rows
        counts = np.round(found / interval)
        fits = np.abs(counts * interval - found) <= 1e-9 * self.case.run.duration
        if (
            len(found) < 2
            or not fits.all()
            or (np.diff(counts) < 1).any()
            or counts[0] < 0
            or counts[-1] > self._steps.rows
        ):
            raise InputError(
                f"times: expected at least two increasing multiples of the sample interval, {interval:g} s, "
                f"from 0 to {self.case.run.duration:g} s, got {found.tolist()}"
            )
        self._counts = counts.astype(int)
        return np.asarray(counts * interval)

    def march(self, k: int, x: Any, u: Any = None, derivatives: bool = True) -> Marched:
        """From the state x at times[k] to times[k + 1], with the keys at the values u, by default those of the case."""
        x = np.array(x, dtype=np.float64)
        u = self.values if u is None else np.asarray(u, dtype=np.float64)
        if not 0 <= k < len(self.times) - 1:
            raise InputError(f"k: expected a segment from 0 to {len(self.times) - 2}, got {k}")
        if u.shape != self.values.shape:
            raise InputError(f"u: expected {len(self.values)} values of keys, got an array of shape {u.shape}")
        self._look_at(u)
        simulation = self._begun(u).simulation.twin()
        setting = self._placed(simulation, self._begun(u), x, k)
        n = self.coordinates.size
        columns = self._tangents(setting, x, u, k) if derivatives else np.zeros((len(flat(setting)), 0))
        tangents = split(setting, columns)
        carried = carried_setting(setting, [t.copy() for t in tangents])
        carried = carried._replace(motion=carried.motion._replace(reel=carried.motion.reel.copy()))
        rows = int(self._counts[k + 1] - self._counts[k])
        marched = march_along(setting, tangents, rows)
        simulation.marched(marched.samples, 0, marched.status, marched.filled, setting.plan)
        found = carried_samples(marched.samples, marched.tangents, marched.filled)
        counts = setting.plan.steps_per_sample * np.arange(1.0, marched.filled + 1.0)
        values = carried_values(simulation.pendulum, carried, counts, found, self.outputs)
        forget_unknown(values, unknown_outputs(simulation.pendulum, self.case.command, simulation.elements))
        end, slope = self._end(marched, found, rows, x)
        return Marched(
            end,
            slope[:, :n],
            slope[:, n:],
            values["time"].value,
            {name: values[name].value for name in self.outputs},
            {name: values[name].tangent[..., :n] for name in self.outputs},
            {name: values[name].tangent[..., n:] for name in self.outputs},
            simulation.status,
            simulation.message,
        )

    def at_first_time(self) -> Array:
        """Coordinates of the case's own motion at the first of the times."""
        if self._counts[0] == 0:
            return self.start
        before = Segments(self.case, [0.0, float(self.times[0])], ())
        return before.march(0, self.start, derivatives=False).end

    def _end(self, marched: Samples, found: data.Samples, rows: int, x: Array) -> tuple[Array, Array]:
        if marched.filled < rows:
            directions = marched.tangents.scalars.shape[-1]
            return np.full(len(x), np.nan), np.full((len(x), directions), np.nan)
        end = self.coordinates.of_sample(found, -1, self.coordinates.follow(marched.samples, rows, x))
        return end.value, end.tangent

    # -- what a segment starts from ------------------------------------------------------------------------

    def _look_at(self, u: Array) -> None:
        """Forget what was prepared for other values of the keys."""
        about = tuple(u.tolist())
        if about != self._about:
            self._known, self._about = {}, about

    def _begun(self, u: Array) -> Begun:
        """The case with the keys at some values; kept, since all segments ask for the same ones."""
        key = tuple(u.tolist())
        if key not in self._known:
            case = self.case.with_(dict(zip(self.by, key, strict=True))) if self.by else self.case
            self._known[key] = begin_frozen(case, self._steps)
        return self._known[key]

    def _placed(self, simulation: Simulation, begun: Begun, x: Array, k: int) -> Setting:
        """A setting from the state x at the beginning of a segment."""
        reeled = float(begun.first.scalars[0, data.REELED_LENGTH])
        setting = begun.setting
        time = int(self._counts[k]) * setting.plan.steps_per_sample * setting.plan.h
        simulation.go_on_from(self.coordinates.state(x, reeled), time)
        return setting._replace(motion=simulation.task().motion)

    def _tangents(self, setting: Setting, x: Array, u: Array, k: int) -> Array:
        """Derivatives of a setting by the coordinates of its state, and by keys."""
        here = Changed(flat(setting), structure(setting))
        scales = scales_of(setting)
        begun, n = self._begun(u), len(x)
        columns = np.zeros((len(here.values), n + len(u)))
        before = len(flat(setting[:3]))
        inside = slice(before, before + len(flat(setting.motion)))
        motion = Changed(here.values[inside], structure(setting.motion))
        sizes = self.coordinates.sizes(x)
        for i, name in enumerate(self.coordinates.names):

            def by_state(distance: float, i: int = i) -> Changed:
                moved = x.copy()
                moved[i] += distance
                there = self._placed(begun.simulation, begun, moved, k).motion
                return Changed(flat(there), structure(there))

            columns[inside, i] = derivatives(by_state, float(sizes[i]), scales.part(inside), motion, name).values
        for j, name in enumerate(self.by):

            def by_key(distance: float, j: int = j) -> Changed:
                moved = u.copy()
                moved[j] += distance
                other = self._begun(moved)
                there = self._placed(other.simulation, other, x, k)
                return Changed(flat(there), structure(there))

            columns[:, n + j] = derivatives(by_key, self._sizes[j], scales, here, name).values
        return columns


class Linearization(NamedTuple):
    """A run as a linear model of small changes: x[k + 1] - states[k + 1] = A[k] (x[k] - states[k]) + B[k] (u - values).

    Attributes
    ----------
    times : array (K + 1,)
        (s)
    states : array (K + 1, n)
        Coordinates at these.
    A, B : array (K, n, n), (K, n, m)
        Derivatives of the state at the end of each interval by that at its beginning, and by the keys.
    names : list of str
        Of the coordinates.
    by : list of str
        The keys.
    values : array (m,)
        Theirs.
    coordinates : Coordinates
        From states to coordinates and back.
    status, message : str
        How the run ended.
    """

    times: Array
    states: Array
    A: Array
    B: Array
    names: list[str]
    by: list[str]
    values: Array
    coordinates: Coordinates
    status: str
    message: str


def linearize(case: Case, at: Sequence[float] | Array | None = None, by: Iterable[str] = ()) -> Linearization:
    """Linear models of a run between some times.

    Parameters
    ----------
    case : Case
    at : list of float, optional
        Times (s), multiples of the sample interval; start and end by default.
    by : list of str
        Keys of the case that are numbers, as controls.
    """
    check_case(case)
    segments = Segments(case, [0.0, case.run.duration] if at is None else at, by)
    K, n, m = len(segments.times) - 1, len(segments.start), len(segments.values)
    states = np.full((K + 1, n), np.nan)
    A, B = np.full((K, n, n), np.nan), np.full((K, n, m), np.nan)
    status, message = "completed", ""
    states[0] = segments.at_first_time()
    for k in range(K):
        marched = segments.march(k, states[k])
        states[k + 1], A[k], B[k] = marched.end, marched.by_state, marched.by_keys
        status, message = marched.status, marched.message
        if status != "completed":
            break
    found = segments.coordinates
    return Linearization(
        segments.times, states, A, B, found.names, segments.by, segments.values, found, status, message
    )
