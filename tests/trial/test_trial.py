"""A share of `make trial`: as many random pendulums as fit into its time."""

from __future__ import annotations

import time
from typing import Any

from tests.trial.__main__ import summary, trial

SECONDS = 25.0
LEAST = 20
FIRST = 100_000


def test_random_pendulums_are_right_or_say_so() -> None:
    """None is wrong without a remark, none holds NaN, none stops where smaller steps get through."""
    verdicts: list[dict[str, Any]] = []
    begun = time.perf_counter()
    seed = FIRST
    while len(verdicts) < LEAST or time.perf_counter() - begun < SECONDS:
        verdict = trial(seed)
        seed += 1
        if verdict is not None:
            verdicts.append(verdict)
    found = summary(verdicts)
    print(found)
    bad = [verdict for verdict in verdicts if verdict["silent"] or verdict["in_vain"] or not verdict["finite"]]
    assert not bad, bad
