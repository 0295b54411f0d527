"""A pendulum as a watch marches it (conditions.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tautline.engine.chain.samples import record_of_samples
from tautline.engine.chain.stepper import Stepper
from tautline.kernels import data
from tautline.results.chain import needed_for
from tautline.results.values import Values, values_of

# Variables that take inverse dynamics where the reel is prescribed or locked; others do not pay for it in every step.
NEED_TORQUE = {"torque", "power"}


class WatchedChain:
    """A stepper, its samples and copies of its motion."""

    def __init__(self, stepper: Stepper, named: Callable[[Values, Iterable[str]], Values]) -> None:
        self._stepper, self._named = stepper, named

    @property
    def time(self) -> float:
        return self._stepper.time

    def march_samples(self, out: data.Samples, plan: data.Plan) -> tuple[int, int]:
        return self._stepper.march(out, plan)

    def samples_for(self, rows: int) -> data.Samples:
        return data.empty_samples(rows, self._stepper.par.N)

    def observe_into(self, sample: data.Samples, time: float) -> None:
        self._stepper.observe(sample, time)

    def values_for(self, times: data.Array, samples: data.Samples, names: set[str]) -> Values:
        if self._stepper.takes_torque and names & NEED_TORQUE:
            self._stepper.find_torques(samples, times)
        record = record_of_samples(times, samples)
        return self._named(values_of(self._stepper.pendulum, record, needed_for(names)), names)

    def saved(self) -> data.Motion:
        return data.copy_of(self._stepper.motion)

    def put_back(self, saved: data.Motion) -> None:
        self._stepper.put_back(saved)

    def counted_from(self) -> tuple[data.Array, data.Counters]:
        return self._stepper.motion.reel, self._stepper.motion.clock
