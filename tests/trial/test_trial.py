"""A share of `make trial`: other random pendulums than those that it begins with."""

from __future__ import annotations

from typing import Any

import pytest

from tests.trial.__main__ import summary, trial

FIRST = 100_000
# Wrong without a remark (docs/trust.md): a damper so stiff that it stops the body at once when its slack string gets
# taut, after which the body tumbles 0.06 rad off. Whoever mends it takes it out of here.
KNOWN = {100_017}


@pytest.mark.parametrize("count", [30, pytest.param(300, marks=pytest.mark.long)])
def test_random_pendulums_are_right_or_say_so(count: int) -> None:
    """None but the known ones is wrong without a remark, none holds NaN, none stops where smaller steps get through."""
    verdicts: list[dict[str, Any]] = []
    seed = FIRST
    while len(verdicts) < count:
        verdict = trial(seed)
        seed += 1
        if verdict is not None:
            verdicts.append(verdict)
    found = summary(verdicts)
    print(found)
    bad = [verdict for verdict in verdicts if verdict["silent"] or verdict["in_vain"] or not verdict["finite"]]
    assert {verdict["seed"] for verdict in bad} == KNOWN & {verdict["seed"] for verdict in verdicts}, bad
    assert all(verdict["finite"] and not verdict["in_vain"] for verdict in bad), bad
