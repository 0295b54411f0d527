"""Which part of a motion without end a table of the kernels holds."""

from __future__ import annotations

import math
from collections.abc import Callable

# Blocks of pieces that tables hold where the samples allow it: 0.9 MB.
BLOCKS_AT_ONCE = 64


def around(since: float, until: float, h: float, last: float) -> tuple[float, float]:
    """Times that tables must hold between for a march from one to another: loads act over half a step before and after.

    Stages of orders 4 and 6 also leave the step that they belong to. `h` is the base step, `last` the latest one made.
    """
    margin = max(h, abs(last))
    return max(since - margin, 0.0), until + margin


def _for_ever(until: float) -> float:
    return math.inf


class Window:
    """Times between which the table of a motion holds.

    Parameters
    ----------
    covered : callable
        Time up to which a table holds that was asked for until a time (s); infinite for one that holds for ever.
    start : float
        Time at which the first table begins (s).
    """

    def __init__(self, covered: Callable[[float], float] = _for_ever, start: float = 0.0) -> None:
        self._covered, self._since, self._until = covered, start, covered(start)
        self.longest = BLOCKS_AT_ONCE * (self._until - start)  # time that a table should hold at most
        if not self.endless:
            self._since = -math.inf

    @property
    def endless(self) -> bool:
        """Whether the motion goes on beyond any table."""
        return self._until < math.inf

    def moves(self, since: float, until: float) -> bool:
        """Whether another table is needed from a time to another; the window is then about these."""
        if self._since <= since and until < self._until:
            return False
        self._since, self._until = since, self._covered(until)
        return True
