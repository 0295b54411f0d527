"""docs/scale.md says what was measured."""

from __future__ import annotations

import json

import pytest
from benchmarks import scale_page

from tests.support.figures_of_pages import numbers, unseen

# What was measured and what was predicted, as its tables show it.
SHOWN = {
    ("member", "cases", "seconds"),
    ("member", "cases", "predicted"),
    ("studies", "runs", "wall"),
    ("studies", "runs", "rate"),
    ("plan", "check", "wall"),
    ("plan", "rows", "busy"),
}


def test_the_page_is_the_one_of_the_figures() -> None:
    found = json.loads(scale_page.RESULTS.read_text(encoding="utf-8"))
    assert scale_page.page(found) == scale_page.PAGE.read_text(encoding="utf-8")
    for name in ("scale-busy", "scale-plan"):
        assert f"measured/{name}.png" in scale_page.page(found)
        assert (scale_page.FIGURES / f"{name}.png").is_file()


def test_no_figure_of_the_page_is_typed_by_hand() -> None:
    found = json.loads(scale_page.RESULTS.read_text(encoding="utf-8"))
    paths = [path for path in numbers(found) if tuple(x for x in path if isinstance(x, str)) in SHOWN]
    assert len(paths) > 30
    assert unseen(scale_page.page, found, paths) == []
    assert unseen(lambda figures: "a page", found, paths[:1]) == paths[:1]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (500, "500"),
        (2000, "2000"),
        (1234, r"$1.2\cdot10^3$"),
        (10**4, "$10^4$"),
        (99_999, "$10^5$"),
    ],
)
def test_numbers_as_people_write_them(number: float, text: str) -> None:
    assert scale_page.power(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(1.5e-3, "1.5 ms"), (119.0, "119 s"), (180.0, "3 min"), (7200.0, "2 h"), (8.8e-8, "88 ns")]
)
def test_times_with_a_fitting_unit(seconds: float, text: str) -> None:
    assert scale_page.several(seconds) == text
