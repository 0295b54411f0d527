"""Sensors as a controller has them: with noise, delay and a sample time."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from tautline.errors import InputError
from tautline.model import checks
from tautline.model.forms import in_si


class LoadCell:
    """A sensor that takes a value now and then, with noise, and gives it some time later.

    Call it with the time and the true value at every tick: `cell(sim.time, sim.lines["hoist"].end_tension)`. It takes
    the value at the first tick of every sample time, adds noise to it, and holds what it has to say until the next one
    is due. Before the first value has passed the delay, it gives that one.

    Parameters
    ----------
    noise : float
        Standard deviation of the noise, in the unit of the value; of a force also as text, "50 N".
    delay : float
        Time from taking a value to giving it (s).
    sample_time : float
        Time between two values (s); 0 takes one at every call.
    seed : int
        Of the noise.
    """

    def __init__(
        self, noise: float | str = 0.0, delay: float | str = 0.0, sample_time: float | str = 0.0, seed: int = 0
    ) -> None:
        self.noise = checks.non_negative("LoadCell.noise", in_si("LoadCell.noise", noise, "N"), "N")
        self.delay = checks.non_negative("LoadCell.delay", in_si("LoadCell.delay", delay, "s"), "s")
        given = in_si("LoadCell.sample_time", sample_time, "s")
        self.sample_time = checks.non_negative("LoadCell.sample_time", given, "s")
        self.seed = checks.whole("LoadCell.seed", seed, 0, 2**63 - 1)
        self.reset()

    def reset(self) -> None:
        """Begin anew, with the same noise."""
        self._taken: deque[tuple[float, Any]] = deque()  # times and values that are still to be given, and the latest
        self._first, self._count, self._due, self._time = 0.0, 0, -np.inf, -np.inf

    def __call__(self, time: float, value: Any) -> Any:
        """Reading at a time (s), from the value that a perfect sensor would show; numbers or arrays."""
        time = checks.number("time", time)
        if time < self._time:
            raise InputError(f"time: expected {self._time:g} s or later, got {time:g} s; call reset() to begin anew")
        self._time = time
        tolerance = 1e-9 * max(1.0, abs(time))  # ticks are sums of steps
        if time >= self._due - tolerance:
            if self._count == 0:
                self._first = time
            self._taken.append((time, value + self._error(np.shape(value))))
            self._count += 1
            if self.sample_time > 0.0:
                passed = np.floor((time - self._first + tolerance) / self.sample_time)
                self._due = self._first + self.sample_time * (passed + 1.0)
        while len(self._taken) > 1 and self._taken[1][0] <= time - self.delay + tolerance:
            self._taken.popleft()
        return self._taken[0][1]

    def _error(self, shape: tuple[int, ...]) -> Any:
        """Noise of the next value: a function of seed and count, so that copies go on alike."""
        if not self.noise:
            return 0.0
        return self.noise * np.random.default_rng((self.seed, self._count)).standard_normal(shape)
