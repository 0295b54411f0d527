"""A quick share of the mutated scenarios, and the long one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutations import checked as checking
from tests.mutations.checked import checked
from tests.mutations.mutate import mutation

QUICK, LONG = 40, 5000
pytestmark = pytest.mark.filterwarnings("default")  # overflow warnings are what such numbers give


def test_some_mutated_scenarios_are_answered(tmp_path: Path) -> None:
    verdicts = [checked(number, tmp_path) for number in range(QUICK)]
    assert not [x for x in verdicts if x.fault]
    assert {x.code for x in verdicts} >= {0, 2}  # some are good, some are refused


def test_a_number_makes_the_same_scenario_again() -> None:
    assert all(mutation(number) == mutation(number) for number in range(100))


def test_a_traceback_and_a_hang_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    def endless(*_: object) -> None:
        while True:
            pass

    good = next(number for number in range(100) if checked(number, tmp_path).code == 0)
    for facts, words in ((broken, "ZeroDivisionError"), (endless, "too long")):
        monkeypatch.setattr(checking, "LONGEST", 0.3)
        monkeypatch.setattr("tautline.cli.checking.facts", facts)
        assert words in checked(good, tmp_path).fault


@pytest.mark.long
def test_many_mutated_scenarios_are_answered(tmp_path: Path) -> None:
    assert not [x for x in (checked(number, tmp_path) for number in range(LONG)) if x.fault]
