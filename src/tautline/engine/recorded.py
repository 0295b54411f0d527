"""What is recorded of a pendulum in motion, and what becomes of it: variables, a dataset, figures of trust."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from tautline._version import __version__
from tautline.engine import description
from tautline.engine.motion import ChainInMotion
from tautline.engine.recorder import Recorder
from tautline.engine.remarks import remarks_of
from tautline.engine.samples import record_of_samples
from tautline.engine.stepper import Stepper
from tautline.kernels import data
from tautline.model.assembly.assembly import System
from tautline.model.assembly.case import Case
from tautline.model.case import ChainCase
from tautline.model.command import Locked
from tautline.model.run import Method
from tautline.model.sections import Tree
from tautline.results.assembly import layout as system_layout
from tautline.results.chain import system_values
from tautline.results.inputs import CASE
from tautline.results.values import Values, values_of
from tautline.schema import Layout, of_chain

if TYPE_CHECKING:
    import xarray as xr

    from tautline.results.values import Record


class RecordedChain(ChainInMotion):
    """A motion whose samples are kept.

    Parameters
    ----------
    stepper, recorder
        As of `PendulumInMotion`.
    method : Method
        How the motion is computed.
    """

    def __init__(self, stepper: Stepper, recorder: Recorder, method: Method) -> None:
        super().__init__(stepper, recorder)
        self.method = method
        self.case: ChainCase | None = None  # the one that it was made from
        self.system_case: Case | None = None  # that of the system, if it is run for one
        self._sampled = 0  # STEP at the latest sample

    @property
    def assembly(self) -> System:
        """The system that it is run for."""
        assert self.system_case is not None
        return self.system_case.system

    def first_sample(self, torques: bool = True) -> data.Samples:
        """The present state as a sample, for the beginning of a record; without torques that have to be found."""
        stepper = self._stepper
        out = data.empty_samples(1, self.elements)
        stepper.observe(out, self.time, torques)
        stepper.last.scalars[:], stepper.last.nodes[:] = out.scalars, out.nodes
        self._sampled = int(stepper.motion.clock[data.STEP])
        self._recorder.health.begin(self.pendulum, stepper.motion.reel, out.scalars[0], out.nodes[0])
        return out

    def keep(self, samples: data.Samples) -> None:
        """Record the latest samples."""
        if samples is self._stepper.last:
            samples = data.Samples(samples.scalars.copy(), samples.nodes.copy())
        self._recorder.keep(self.sample_times(len(samples.scalars)), samples)

    def forget_records(self) -> None:
        """Drop what was recorded; the motion stays as it is."""
        self._recorder.forget()

    def sample_times(self, rows: int) -> data.Array:
        """Times of the last so many samples, each from the counter and not from sums."""
        start, plan = self._stepper.motion.reel[data.T_START], self._stepper.plan
        if rows == 1:  # every tick of a control loop
            return np.array([start + self._sampled * plan.h])
        counts = self._sampled + plan.steps_per_sample * np.arange(1 - rows, 1, dtype=np.float64)
        times: data.Array = start + counts * plan.h
        return times

    @property
    def layout(self) -> Layout:
        """Variables and dimensions of its results."""
        return of_chain(self.elements) if self.system_case is None else system_layout(self.system_case.system)

    def values(self, samples: data.Samples) -> Values:
        """Variables of the results from the latest samples."""
        times = self.sample_times(len(samples.scalars))
        return self.named(values_of(self.pendulum, record_of_samples(times, samples)))

    def named(self, values: Values) -> Values:
        """Variables as the results of its system have them, if it is run for one."""
        return values if self.system_case is None else system_values(self.system_case.system, values)

    def dataset(self) -> xr.Dataset:
        """All that was recorded, as `simulate` returns it."""
        from tautline.results import assembly, dataset

        if self.system_case is None:
            return dataset.build(self.pendulum, self.record(), self.attributes())
        return assembly.build(self.system_case.system, self.recorded(), self.attributes())

    def recorded(self) -> Values:
        """Variables of all that was recorded."""
        return self.named(values_of(self.pendulum, self.record()))

    def record(self) -> Record:
        """All that was recorded as plain arrays, for those who make thousands of runs."""
        self.turns.check()
        if not self._recorder.times:  # the present state alone
            return record_of_samples(np.array([self.time]), self.present_sample())
        return record_of_samples(*self._recorder.all_samples())

    def attributes(self) -> dict[str, Any]:
        """What a result says of itself."""
        remarks, stepper = self.remarks(), self._stepper
        return {
            "status": self.status,
            "message": "; ".join([self.message, *remarks]),
            "remarks": "\n".join(remarks),
            "end_time": self.time,
            "elements": self.elements,
            "step": stepper.plan.h / 2 ** int(stepper.motion.clock[data.LEVEL]),
            "steps": self.steps,
            "newton_iterations": int(stepper.motion.clock[data.ITERATIONS]),
            **self.health(),
            "order": self.method.order,
            "scheme": self.method.scheme,
            CASE: json.dumps(self.description()),
            "version": __version__,
        }

    def health(self) -> dict[str, float]:
        """Figures that say how far the result can be trusted, by name (docs/trust.md)."""
        self.turns.check()
        self._recorder.look()
        figures = self._recorder.health.figures(self.pendulum, self._stepper.plan, self._stepper.motion.reel)
        return {name: float(figure) for name, figure in figures.items()}

    def remarks(self) -> list[str]:
        """Sentences on what a user should know of the run besides how it ended."""
        return remarks_of(self._stepper, self._recorder.health, self.health())

    def description(self) -> Tree:
        """All keys of the case, so that a result explains itself and a checkpoint can be read back."""
        if self.system_case is None:
            return description.keys_of(self)
        line = next(iter(self.system_case.system.lines))
        return self.system_case.with_(commands={line: self._stepper.command or Locked()}).to_dict()
