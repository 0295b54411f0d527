"""Looking ahead of a run by a bounded amount of work: calls of few steps, and parts of motions without end."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tautline.engine.windows import BLOCKS_AT_ONCE
from tautline.errors import InputError
from tautline.kernels import data
from tautline.model.harmonics import Harmonics
from tautline.model.motions import Endless

# Work that a look may take, in steps of two elements, which take 1 to 5 us: of one call of a kernel, in all, and what a
# call costs besides. Beyond it lengths and turning are taken to stay as they are.
STEPS_A_CALL, MOST_STEPS, CALL = 1024, 150_000, 100
# Parts of a run whose peaks are looked for one by one.
PARTS_OF_A_RUN = 10
# Pieces times sines of a motion without end whose peaks are looked for, about a second.
MOST_TERMS = 100_000_000
# Sines that take as long as a piece does besides.
PIECE = 100
# Of these in the time of a step.
TERMS_A_STEP = 300


class Ahead:
    """A simulation that goes on in calls of few steps, and not beyond a number of them.

    Parameters
    ----------
    simulation
        One with a step that is chosen, its command taken.
    longest : float
        Interval of a call at most (s).
    until : float
        Time at which it is complete (s).
    terms : float
        Pieces times sines in a second of motions without end, of which tables are made on the way (1/s).
    """

    def __init__(self, simulation: Any, longest: float, until: float, terms: float = 0.0) -> None:
        self._simulation, self._longest, self._until, self._terms = simulation, longest, until, terms
        self._left = MOST_STEPS
        self._plan: data.Plan | None = None

    @property
    def complete(self) -> bool:
        """Whether it came to the end, or to an event."""
        return bool(self._simulation.status != "completed" or self._simulation.time >= (1.0 - 1e-9) * self._until)

    def go_on(self, most: int = 1) -> bool:
        """Go on by up to so many base steps, as far as work allows; whether it moved, an event included."""
        allowed = self._simulation.stepper.allowed_step()
        if self.complete or self._left <= 0 or not allowed > 0.0:
            return False
        if self._plan is None or self._plan.h > STEPS_A_CALL * allowed:
            # a sample interval of several base steps, of which one is made in a call: its steps are known before
            interval = min(self._longest, STEPS_A_CALL * allowed)
            if self._terms > 0.0:
                interval = min(interval, STEPS_A_CALL * TERMS_A_STEP / self._terms)
            try:
                self._plan = self._simulation.sampling(interval)._replace(steps_per_sample=1)
            except InputError:  # so short that it cannot be counted
                return False
        before, work = self._simulation.time, self._plan.h / allowed + self._plan.h * self._terms / TERMS_A_STEP
        steps = max(1, min(most, int(STEPS_A_CALL / work)))
        self._left -= math.ceil(CALL + steps * work)
        try:
            self._simulation.march(1, self._plan._replace(steps_per_sample=steps))
        except InputError:  # tables that would be too large
            return False
        return bool(self._simulation.time > before or self._simulation.status != "completed")


def windows(motion: Any, duration: float) -> list[float]:
    """Times that cut a run into parts in which a motion is looked at, up to where that would take too long."""
    sines = sines_of(motion)
    if sines is None:
        return list(np.linspace(0.0, duration, PARTS_OF_A_RUN + 1).tolist())
    longest = MOST_TERMS / (PIECE + len(sines.omega)) * sines.spacing
    until = min(duration, longest)
    # in parts of a few blocks, whose pieces fit into memory
    parts = max(PARTS_OF_A_RUN, math.ceil(until / (BLOCKS_AT_ONCE * sines.block)))
    return list(np.linspace(0.0, until, parts + 1).tolist())


def terms_a_second(*motions: Any) -> float:
    """Pieces times sines in a second of motions without end (1/s)."""
    sines = [sines_of(motion) for motion in motions]
    return float(sum((PIECE + len(x.omega)) / x.spacing for x in sines if x is not None))


def sines_of(motion: Any) -> Harmonics | None:
    """Sines of a guide's path or of a command's curve that goes on for ever; None for others."""
    motion = getattr(motion, "motion", motion)
    return motion.harmonics() if isinstance(motion, Endless) else None
