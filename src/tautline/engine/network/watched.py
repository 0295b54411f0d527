"""A system as a watch marches it (engine/conditions.py)."""

from __future__ import annotations

from tautline.engine.network.motion import NetworkInMotion
from tautline.engine.network.samples import values_of
from tautline.kernels import data
from tautline.kernels.network import data as kernels
from tautline.kernels.network.march import OBSERVE
from tautline.results.values import Values


class WatchedNetwork:
    """A system in motion, its samples and copies of its motion."""

    def __init__(self, motion: NetworkInMotion) -> None:
        self._motion = motion
        self.strand = -1  # at whose end the latest march ended

    @property
    def time(self) -> float:
        return self._motion.counted_time

    def march_samples(self, out: kernels.WholeSamples, plan: data.Plan) -> tuple[int, int]:
        found = self._motion.march_into(out, plan)
        self.strand = int(found.strand)
        return int(found.status), int(found.rows)

    def samples_for(self, rows: int) -> kernels.WholeSamples:
        return self._motion.samples_for(rows)

    def observe_into(self, sample: kernels.WholeSamples, time: float) -> None:
        self._motion.call(OBSERVE, time, sample)

    def values_for(self, times: data.Array, samples: kernels.WholeSamples, names: set[str]) -> Values:
        return values_of(self._motion.system, samples, times)

    def saved(self) -> data.Array:
        return self._motion.saved()

    def put_back(self, saved: data.Array) -> None:
        self._motion.put_back(saved)

    def counted_from(self) -> tuple[data.Array, data.Counters]:
        return self._motion.arrays.totals, self._motion.arrays.clock
