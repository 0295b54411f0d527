"""Derivatives of runs in which reels follow sequences: marches from one change of commands to the next.

A stage ends within a step, as in the run itself: at a time, which may follow from keys, or where a condition is met. By
how much that moment moves with the keys is known of times; of a condition it follows from how fast its margin changes.
What a reel's next command changes at once is differentiated by differences.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.engine.conditions import AT_END
from tautline.gradients.arrays import Dual
from tautline.gradients.differences import Changed, derivatives
from tautline.gradients.directions import Directions
from tautline.gradients.leaves import leaves, split, with_leaves
from tautline.gradients.marched import Span
from tautline.gradients.marching import march_along
from tautline.gradients.network.marching import NetworkSetting
from tautline.gradients.outputs import dual_setting
from tautline.gradients.scales import scales_of
from tautline.kernels import data
from tautline.results.warnings import RunWarning

if TYPE_CHECKING:
    from tautline.engine.runner import Runner
    from tautline.gradients.network.runs import BegunNetwork, NetworkRuns


class _Moment(NamedTuple):
    """A time (s), and how it moves along all directions."""

    time: float
    tangent: Array


class _Place(int):
    """Number of a leaf."""


def spans_of(
    runs: NetworkRuns, begun: BegunNetwork, along: Directions, tangents: list[Array], rows: int, plain: Runner[Any]
) -> tuple[list[Span], list[RunWarning]]:
    """Samples of a run after its start, stage by stage, and warnings on ends of stages.

    Parameters
    ----------
    runs : NetworkRuns
    begun : BegunNetwork
        At the start; it is moved on.
    along : Directions
    tangents : list of array
        Derivatives of the leaves of its setting.
    rows : int
        Samples of the plain run.
    plain : Runner
        That run at its end, which says when stages began.
    """
    assert plain.watch is not None
    march = _Staged(runs, begun, along, [t.copy() for t in tangents])
    every, h = begun.setting.plan.steps_per_sample, begun.setting.plan.h
    for time, name, number in plain.watch.passed:
        if number and time < (rows * every - AT_END) * h:
            march.pass_stage(name, time)
    march.go_to(rows * every)
    return march.ended(), march.warnings


class _Staged:
    """A march that stops where stages end."""

    def __init__(self, runs: NetworkRuns, begun: BegunNetwork, along: Directions, tangents: list[Array]) -> None:
        self._runs, self._begun, self._along = runs, begun, along
        self._stepper, self._watch = begun.simulation.stepper, begun.simulation.watch
        self._setting, self._tangents = begun.setting, tangents
        self._h, self._every = begun.setting.plan.h, begun.setting.plan.steps_per_sample
        self._dh: Array = self._numbered().plan.h
        self._step = 0
        self._inside: _Moment | None = None  # within the step, where a stage ended
        self._spans: list[Span] = []
        self._rows: list[tuple[int, Any, Any]] = []  # steps up to samples, samples, and derivatives
        self._ends = self._first_ends()
        self.warnings: list[RunWarning] = []

    def _numbered(self) -> Any:
        """Derivatives in the places of numbers."""
        return with_leaves(self._setting, self._tangents)

    # -- steps -----------------------------------------------------------------------------------------------

    def _boundary(self, step: int) -> _Moment:
        return _Moment(step * self._h, step * self._dh)

    def go_to(self, step: int) -> None:
        """Go on to the end of a step."""
        if self._inside is not None:
            self._end_step()
        while self._step < step:
            every, left = self._every, step - self._step
            per = every if self._step % every == 0 and left >= every else min(every - self._step % every, left)
            self._march(per, left // per if per == every else 1)

    def _march(self, per: int, rows: int) -> None:
        plan = self._setting.plan._replace(steps_per_sample=per)
        marched = march_along(self._setting._replace(plan=plan), self._tangents, rows)
        first, self._step = self._step, self._step + per * rows
        for k in range(rows):
            self._keep(first + per * (k + 1), marched.samples, marched.tangents, k)

    def _keep(self, step: int, samples: Any, tangents: Any, row: int) -> None:
        """Keep a sample that the run has."""
        if step % self._every == 0:
            one = slice(row, row + 1)
            self._rows.append((step, [x[one] for x in samples], [t[one] for t in tangents]))

    def _part(self, end: float) -> tuple[Any, list[Array]]:
        """Go on to a time within a step; the sample there, and derivatives of it with one direction more, the time."""
        begin = self._inside or self._boundary(self._step)
        wide = [np.concatenate([t, np.zeros((*t.shape[:-1], 1))], axis=-1) for t in self._tangents]
        numbered = with_leaves(self._setting, wide)
        numbered.network.totals[data.T_START] = np.append(begin.tangent, 0.0)
        dh = np.append(-begin.tangent, 1.0)  # the end stays, but for the last direction
        self._count_from(begin.time)
        plan = self._setting.plan._replace(h=end - begin.time, steps_per_sample=1)
        setting = self._setting._replace(plan=plan)
        self._tangents = leaves(_with_step(numbered, dh))
        marched = march_along(setting, self._tangents, 1)
        return setting, [marched.samples, marched.tangents]

    def _count_from(self, time: float, step: int = 0) -> None:
        self._setting.network.totals[data.T_START], self._setting.network.clock[data.STEP] = time, step

    def _moved(self, moment: _Moment) -> None:
        """Have the end of the latest part of a step move with the keys."""
        self._tangents = [_with_time(t, moment.tangent) for t in self._tangents]
        numbered = self._numbered()
        numbered.network.totals[data.T_START] = moment.tangent
        self._tangents = leaves(_with_step(numbered, self._dh.copy()))
        self._count_from(moment.time)

    def _end_step(self) -> None:
        """Go on from within a step to its end."""
        end = self._boundary(self._step + 1)
        _, (samples, tangents) = self._part(end.time)
        self._moved(end)
        self._on_boundary(self._step + 1)
        self._keep(self._step, samples, [_with_time(t, end.tangent) for t in tangents], 0)

    def _on_boundary(self, step: int) -> None:
        """Count steps from the start of the run again."""
        self._step, self._inside = step, None
        self._count_from(0.0, step)
        self._numbered().network.totals[data.T_START] = 0.0

    # -- stages ----------------------------------------------------------------------------------------------

    def pass_stage(self, name: str, time: float) -> None:
        """Go on to the end of the stage of a reel, and let it begin the next one."""
        moment = self._moment(name, time)
        self._close()
        self._inside = moment
        self._take(name, moment)

    def _moment(self, name: str, time: float) -> _Moment:
        """The moment at which a stage ends; the march is there afterwards."""
        now = self._inside
        assert self._watch is not None
        progress = self._watch.stages[name]
        timed = abs(time - progress.ends_at) <= AT_END * self._h
        if now is not None and abs(time - now.time) <= AT_END * self._h:
            return now._replace(tangent=self._ends[name] if timed else now.tangent)
        step = max(math.ceil(time / self._h - AT_END) - 1, 0)
        if now is None or step > self._step:
            self.go_to(step)
        setting, (samples, tangents) = self._part(time)
        moment = _Moment(
            time, self._ends[name] if timed else self._met(progress.stage.condition, setting, samples, tangents)
        )
        at_end = abs(time - (step + 1) * self._h) <= AT_END * self._h
        if at_end:  # the run has a sample there, under the command before
            end = self._boundary(step + 1)
            self._warn(moment, end)
            self._keep(step + 1, samples, [_with_time(t, end.tangent) for t in tangents], 0)
            self._step = step + 1
        self._moved(moment)
        return moment

    def _warn(self, moment: _Moment, end: _Moment) -> None:
        """Warn where a stage ends at the end of a step, and keys move the one and not the other."""
        apart = np.abs(moment.tangent - end.tangent) * self._along.sizes > AT_END * self._h
        names = [name for name, x in zip(self._along.names, apart, strict=True) if x]
        if names:
            text = (
                f"{', '.join(names)}: a stage ends at {moment.time:g} s, on the end of a step, and leaves it: "
                "derivatives are those of steps that end with it, and of the sample there those of the stage before"
            )
            self.warnings.append(RunWarning("derivative_side", text, moment.time, where=names[0]))

    def _met(self, condition: Any, setting: Any, samples: Any, tangents: Any) -> Array:
        """How the moment moves at which a condition is met: as its margin does, over how fast that grows."""
        dual = dual_setting(setting, [*self._tangents])
        rows = type(samples)(*(Dual(x, t) for x, t in zip(samples, tangents, strict=True)))
        values = self._begun.values(dual, np.ones(1), rows, sorted({*condition.needs} - {"time"}))
        margin = condition.margins_of(self._begun.simulation.layout)(values)
        slopes: Array = margin.tangent[0]
        return np.asarray(-slopes[:-1] / slopes[-1])

    def _close(self) -> None:
        """End the span of samples under the present commands."""
        rows, self._rows = self._rows, []
        if not rows:
            return
        setting = dual_setting(self._setting, self._tangents)
        setting.network.totals[data.T_START] = 0.0
        parts = [[Dual(*pair) for pair in zip(x, t, strict=True)] for _, x, t in rows]
        kind: Any = type(self._begun.first)
        samples = kind(*(np.concatenate(column) for column in zip(*parts, strict=True)))
        self._spans.append(Span(setting, np.array([float(step) for step, *_ in rows]), samples))

    def ended(self) -> list[Span]:
        """All spans of the march."""
        self._close()
        return self._spans

    # -- the next command ------------------------------------------------------------------------------------

    def _first_ends(self) -> dict[str, Array]:
        """How the times move at which first stages end."""
        assert self._watch is not None
        names = [*self._watch.stages]

        def ends(begun: BegunNetwork) -> Changed:
            assert begun.simulation.watch is not None
            return Changed.of(tuple(begun.simulation.watch.stages[name].ends_at for name in names))

        here = ends(self._begun)
        columns = self._slopes(
            here, scales_of(tuple(here.values.tolist())), lambda changes, x, j: ends(self._runs.beside(changes))
        )
        return dict(zip(names, columns, strict=True))

    def _slopes(self, here: Changed, scales: Any, at: Callable[[dict[str, float], float, int], Changed]) -> Array:
        """Derivatives along all directions, by differences: of changes of the case, and of all else by a distance."""
        columns = []
        for j, name in enumerate(self._along.names):
            some = self._along.some([j])

            def found(distance: float, j: int = j, some: Directions = some) -> Changed:
                return at(some.changes(self._runs.case, np.array([distance])), distance, j)

            columns.append(derivatives(found, float(self._along.sizes[j]), scales, here, name).values)
        return np.stack(columns, axis=1)

    def _take(self, name: str, moment: _Moment) -> None:
        """Let a reel follow the command of its next stage."""
        assert self._watch is not None
        stepper, number = self._stepper, self._watch.stages[name].number
        before, kept = [x.copy() for x in self._setting.moving()], stepper.following()
        moving = self._moving()
        found = self._begun.simulation.next_stage(name, self._watch.stages[name])
        self._watch.set_stage(name, found)
        self._setting = self._lowered(stepper)
        here = (self._setting.without_workspace(), found.ends_at)
        tangents = [x if isinstance(x, np.ndarray) and x.dtype == np.float64 else None for x in before]
        supply = iter([self._tangents[i] for i in moving])
        slopes = [None if x is None else next(supply) for x in tangents]

        def at(changes: dict[str, float], distance: float, j: int) -> Changed:
            other = self._runs.beside(changes)
            for array, x, t in zip(other.setting.moving(), before, slopes, strict=True):
                array[...] = x if t is None else x + distance * t[..., j]
            own, watch = other.simulation.stepper, other.simulation.watch
            assert watch is not None
            own.follow_again({key: dict(x) for key, x in kept.items()})
            own.put_back(own.saved())  # forces in its workspace follow
            later = other.simulation.next_stage(name, watch.stages[name]._replace(number=number))
            return Changed.of((self._lowered(own).without_workspace(), later.ends_at))

        columns = self._slopes(Changed.of(here), scales_of(here), at)
        self._ends[name] = columns[-1]
        new, strand = split(here[0], columns[:-1]), stepper.numbers[name]
        changed = {*self._moving(), *self._leaves_of(lambda x: [x.network.strands[strand].command])}
        # workspace may have another size
        pairs = enumerate(zip(self._tangents, new, strict=True))
        self._tangents = [y if i in changed or x.shape != y.shape else x for i, (x, y) in pairs]

    def _lowered(self, stepper: Any) -> NetworkSetting:
        stepper.lower(0.0, self._begun.until)
        return NetworkSetting(stepper.network, self._begun.setting.plan)

    def _moving(self) -> list[int]:
        """Numbers of the leaves that a march changes."""
        return self._leaves_of(lambda x: x.moving())

    def _leaves_of(self, part: Callable[[Any], Iterable[Any]]) -> list[int]:
        """Numbers of the leaves in some parts of a setting."""
        numbered = with_leaves(self._setting, [_Place(i) for i in range(len(self._tangents))])

        def inside(x: Any) -> list[int]:
            if isinstance(x, _Place):
                return [int(x)]
            return [i for item in x for i in inside(item)] if isinstance(x, tuple | list) else []

        return inside([*part(numbered)])


def _with_step(numbered: Any, tangent: Array) -> Any:
    """Derivatives in the places of numbers, with others of the length of a step."""
    return numbered._replace(plan=numbered.plan._replace(h=tangent))


def _with_time(tangent: Array, moves: Array) -> Array:
    """Derivatives along directions, of which the last one is the time, at a moment that moves."""
    return np.ascontiguousarray(tangent[..., :-1] + tangent[..., -1:] * moves)
