"""Pieces of a run that each start from a state of their own, with derivatives by that state and by keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.gradients.arrays import Dual
from tautline.gradients.coordinates import coordinates_of
from tautline.gradients.differences import Changed
from tautline.gradients.directions import Directions
from tautline.gradients.dual_starts import Midway
from tautline.gradients.keys import checked_keys, key_value
from tautline.gradients.leaves import flat, split
from tautline.gradients.marching import march_along
from tautline.gradients.outputs import check_names, dual_setting
from tautline.gradients.run import dual_samples
from tautline.gradients.runs import check_pieces, runs_of
from tautline.gradients.segment_slopes import SegmentSlopes
from tautline.gradients.trust import derivative_warnings, starts_at_kink
from tautline.model import checks, refusals
from tautline.model.system.case import Case
from tautline.results.warnings import RunWarning


class Marched(NamedTuple):
    """The end of a segment, and outputs on the way.

    Attributes
    ----------
    end : array (n,)
        Coordinates of the state at the end; NaN where the motion ended before.
    by_state, by_keys : array (n, n), (n, m)
        Its derivatives; by directions in the place of keys, where these were given.
    time : array (rows,)
        Of the samples after the start, the end included (s).
    outputs, outputs_by_state, outputs_by_keys : dict of array (rows, ...), (rows, ..., n), (rows, ..., m)
        By name.
    status, message : str
        How the motion ended.
    warnings : list of RunWarning
        Warnings on the derivatives.
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
    warnings: list[RunWarning]


def guide_laws(case: Case) -> set[str]:
    """Guide laws of the reels of a case."""
    return {line.reel.guide_law for line in case.system.lines.values() if line.reel is not None}


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
    directions : Directions, optional
        Derivatives by these take the place of those by the keys.

    Attributes
    ----------
    coordinates : Coordinates
    start : array (n,)
        Coordinates of the case's own start.
    values : array (m,)
        Present values of the keys.
    """

    def __init__(
        self,
        case: Case,
        times: Sequence[float] | Array,
        by: Iterable[str],
        outputs: Sequence[str] = (),
        directions: Directions | None = None,
    ) -> None:
        self.case, self.by = check_pieces(case), checked_keys(case, by)
        if any(wheel.slips for name in case.system.lines for wheel in case.system.wheels(name)):
            raise refusals.SLIP_STATES.error("it")
        self.outputs = check_names(outputs, case.system)
        if "stretched" in guide_laws(case):
            raise InputError(
                "case: expected a guide law without memory, got 'stretched': a state does not say all of it"
            )
        self._runs = runs_of(case, self.by)
        self._steps = self._runs.steps
        self.times = self._checked(times)
        self.values = np.array([key_value(case, name) for name in self.by])
        self._known: dict[tuple[float, ...], Any] = {}
        self._runs_there: Any = self._runs
        self._about = tuple(self.values.tolist())
        self.coordinates = coordinates_of(case)
        self.start = self.coordinates.of(case.state())
        self._directions = directions or Directions.single(case, self.by)
        self._slopes = SegmentSlopes(self, self._directions)

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
        begun = self.placed(self.begun(u), x, k)
        setting, simulation = begun.setting, begun.simulation
        n = self.coordinates.size
        columns = self._slopes.columns(setting, x, u, k) if derivatives else np.zeros((len(flat(setting)), 0))
        tangents = split(setting, columns)
        dual = dual_setting(setting, tangents)
        rows = int(self._counts[k + 1] - self._counts[k])
        marched = march_along(setting, tangents, rows)
        begun.take_note(marched)
        found = dual_samples(marched.samples, marched.tangents, marched.filled)
        counts = setting.plan.steps_per_sample * np.arange(1.0, marched.filled + 1.0)
        values = begun.values(dual, counts, found, self.outputs)
        end, slope = x * np.nan, np.full((n, columns.shape[1]), np.nan)
        if marched.filled == rows:
            near = self.coordinates.follow(begun.as_network(setting, marched.samples), rows, x)
            last = begun.as_network(dual, type(found)(*(x[-1:] for x in found)))
            reached = self.coordinates.of_sample(last, -1, near)
            end, slope = reached.value, reached.tangent
        warnings: list[RunWarning] = []
        if derivatives:
            along = [*self.coordinates.names, *self._directions.names]
            sizes = np.concatenate([self.coordinates.sizes(x), self._directions.sizes])
            warnings = derivative_warnings(begun.lines(dual, found), values["time"].value, along, sizes)
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
            warnings,
        )

    def warnings_on(self, marched: Marched, k: int, x: Array, u: Any = None) -> list[RunWarning]:
        """Warnings on the derivatives of a march; other arguments as of `march`."""
        begun = self.placed(self.begun(self.values if u is None else np.asarray(u, dtype=np.float64)), x, k)
        found = [*starts_at_kink(begun.lines(begun.setting, begun.simulation.first_sample())), *marched.warnings]
        return [w.prefixed(f"from {self.times[k]:g} s: ") for w in found]

    def first_outputs(self, u: Any, derivatives: bool = True) -> dict[str, Dual]:
        """Outputs and the time in the first sample of the run (1, ...), with derivatives by the keys, or directions.

        The state of this sample is the case's own start, which follows from the keys as all else does.
        """
        u = np.asarray(u, dtype=np.float64)
        self._look_at(u)
        begun: Any = self.begun(u)
        columns = self._slopes.first_columns(u) if derivatives else np.zeros((len(flat(begun.setting)), 0))
        tangents = split(begun.setting, columns)
        sample = dual_samples(begun.first, begun.first_tangents(tangents))
        dual = dual_setting(begun.setting, tangents)
        values = begun.values(dual, np.zeros(1), sample, self.outputs)
        return {name: values[name] for name in ("time", *self.outputs)}

    def at_first_time(self) -> Array:
        """Coordinates of the case's own motion at the first of the times."""
        if self._counts[0] == 0:
            return self.start
        before = Segments(self.case, [0.0, float(self.times[0])], ())
        return before.march(0, self.start, derivatives=False).end

    # -- what a segment starts from ------------------------------------------------------------------------

    def _look_at(self, u: Array) -> None:
        """Forget what was prepared for other values of the keys."""
        about = tuple(u.tolist())
        if about != self._about:
            self._known, self._about = {}, about
            there = dict(zip(self.by, about, strict=True))
            self._runs_there = runs_of(self.case.with_(there), self.by, self._steps) if there else self._runs

    def begun(self, u: Array) -> Any:
        """The case with the keys at some values; kept, since all segments ask for the same ones."""
        key = tuple(u.tolist())
        if key not in self._known:
            self._known[key] = self._runs.begun(dict(zip(self.by, key, strict=True)))
        return self._known[key]

    def runs(self, u: Array) -> Any:
        """Runs of the case with the keys at the values that are looked at."""
        self._look_at(u)
        return self._runs_there

    def midway(self, setting: Any, x: Array, u: Array, k: int) -> Midway:
        """Segment k from the state x."""
        return Midway(setting, self.coordinates, x, int(self._counts[k]) * setting.plan.steps_per_sample)

    def placed(self, begun: Any, x: Array, k: int) -> Any:
        """A copy of a run that is in the state x at the beginning of a segment."""
        plan = begun.setting.plan
        return begun.placed(self.coordinates, x, int(self._counts[k]) * plan.steps_per_sample * plan.h)

    def moving(self, begun: Any, x: Array, k: int) -> Changed:
        """Numbers that a march from the state x would change."""
        there = tuple(self.placed(begun, x, k).setting.moving())
        return Changed.of(there)

    def numbers(self, begun: Any, x: Array, k: int) -> Changed:
        """All that a march from the state x depends on, as numbers."""
        there = self.placed(begun, x, k).setting.without_workspace()
        return Changed.of(there)


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
    warnings : list of RunWarning
        Warnings on the derivatives.
    case : Case
    """

    times: Array
    states: Array
    A: Array
    B: Array
    names: list[str]
    by: list[str]
    values: Array
    coordinates: Any
    status: str
    message: str
    warnings: list[RunWarning]
    case: Case

    def to_ss(self, outputs: Sequence[str], interval: int = 0) -> Any:
        """`control.StateSpace` of an interval, of changes from `states` and `values`; needs the extra `control`.

        Parameters
        ----------
        outputs : list of str
            Variables with components where they have any: ["unstretched_length", "body_position[0]"].
        interval : int
            Which of those between the times; dt is its length.
        """
        from tautline.gradients.state_space import state_space

        return state_space(self, outputs, interval)


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
    check_pieces(case)
    segments = Segments(case, [0.0, case.run.duration] if at is None else at, by)
    K, n, m = len(segments.times) - 1, len(segments.start), len(segments.values)
    states = np.full((K + 1, n), np.nan)
    A, B = np.full((K, n, n), np.nan), np.full((K, n, m), np.nan)
    status, message, warnings = "completed", "", list[RunWarning]()
    states[0] = segments.at_first_time()
    for k in range(K):
        marched = segments.march(k, states[k])
        states[k + 1], A[k], B[k] = marched.end, marched.by_state, marched.by_keys
        status, message = marched.status, marched.message
        warnings += segments.warnings_on(marched, k, states[k])
        if status != "completed":
            break
    found = segments.coordinates
    return Linearization(
        segments.times, states, A, B, found.names, segments.by, segments.values, found, status, message, warnings, case
    )
