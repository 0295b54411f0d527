"""Orders in time, measured on the full coupled problem: string waves, tumbling body, moving reel."""

from __future__ import annotations

from typing import Any

import pytest
import xarray as xr

from tautline.paper.examples import run
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_order

ELEMENTS = 6
DURATION = 0.5


def solution(number: int, **options: Any) -> xr.Dataset:
    settings: dict[str, Any] = {"duration": DURATION, "sample": DURATION, "elements": ELEMENTS}
    return run(number, **(settings | options))


@pytest.mark.parametrize(
    ("number", "guide_law", "scheme", "order", "expected", "steps"),
    [
        (1, "none", "symmetric", 2, 2, [2e-3, 1e-3, 5e-4, 2.5e-4]),
        (1, "none", "paper", 2, 2, [2e-3, 1e-3, 5e-4, 2.5e-4]),
        (1, "none", "symmetric", 4, 4, [1e-2, 5e-3, 2.5e-3, 1.25e-3]),
        (1, "none", "paper", 4, 4, [1e-2, 5e-3, 2.5e-3, 1.25e-3]),
        (1, "none", "symmetric", 6, 6, [2.5e-2, 1.25e-2, 6.25e-3]),
        (3, "none", "symmetric", 2, 2, [2e-3, 1e-3, 5e-4, 2.5e-4]),
        (3, "none", "symmetric", 4, 4, [1e-2, 5e-3, 2.5e-3]),
        (3, "published", "symmetric", 2, 2, [2e-3, 1e-3, 5e-4, 2.5e-4]),
        (3, "published", "symmetric", 4, 4, [1e-2, 5e-3, 2.5e-3]),
        (3, "published", "symmetric", 6, 6, [2.5e-2, 1.25e-2, 6.25e-3]),
        (3, "published", "paper", 2, 1, [2e-3, 1e-3, 5e-4, 2.5e-4]),
        (3, "none", "paper", 2, 1, [2e-3, 1e-3, 5e-4, 2.5e-4]),
    ],
)
def test_order(
    number: int, guide_law: str, scheme: str, order: int, expected: int, steps: list[float], report: Report
) -> None:
    exact = solution(number, guide_law=guide_law, order=6, step=1e-3)
    errors = [
        chains.end_distance(solution(number, guide_law=guide_law, scheme=scheme, order=order, step=h), exact)
        for h in steps
    ]
    measured = check_order(steps, errors, expected)
    what = f"example {number}, law {guide_law}, scheme {scheme}, order {order}: slope"
    report(what, measured, f"{expected} +- 0.3")


def test_symmetric_beats_the_papers_scheme_with_a_moving_reel(report: Report) -> None:
    """The published discretization is of first order there; the symmetric one costs the same."""
    exact = solution(3, guide_law="published", order=6, step=1e-3)
    errors = {
        scheme: chains.end_distance(solution(3, guide_law="published", scheme=scheme, step=5e-4), exact)
        for scheme in ("paper", "symmetric")
    }
    report("example 3, h = 5e-4: error of the paper's scheme (m)", errors["paper"], "100 x symmetric")
    report("example 3, h = 5e-4: error of the symmetric scheme (m)", errors["symmetric"], "")
    assert errors["paper"] > 100.0 * errors["symmetric"]
