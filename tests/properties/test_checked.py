"""Scenarios with numbers of any size: `tautline check` answers every one of them, in time and without a traceback."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import tautline as tl
from tautline.cli.commands import app
from tautline.files.scenario import built_in_names
from tests.support.leaves import leaves

pytestmark = pytest.mark.filterwarnings("default")  # overflow warnings are what such numbers give
LONGEST = 20.0  # s of the processor
SETTINGS: Any = {"suppress_health_check": [HealthCheck.too_slow]}
NUMBERS = {name: dict(leaves(tl.load(name).to_dict(), set())) for name in built_in_names()}
WORDS = ("auto", "", "x" * 300, "nan", "\u0000", "/dev/zero", "1e400 m", "[]", "{}", "[[1, 2], [3]]", "true", "-1", "0")


class TooLongError(BaseException):
    """Not an Exception, so that no code takes it for an error of its own."""


@contextmanager
def limited() -> Iterator[None]:
    def raise_too_long(*_: Any) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGPROF, raise_too_long)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def check(drawn: st.DataObject) -> None:
    name = drawn.draw(st.sampled_from(list(NUMBERS)))
    arguments = ["check", name]
    for key in drawn.draw(st.sets(st.sampled_from(list(NUMBERS[name])), min_size=1, max_size=3)):
        scaled = st.floats(-12.0, 12.0).map(lambda k, key=key: repr((NUMBERS[name][key] or 1.0) * 10.0**k))  # type: ignore[misc]
        arguments += ["--set", f"{key}={drawn.draw(scaled | st.sampled_from(WORDS))}"]
    with limited():
        result = CliRunner().invoke(app, arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), arguments
    assert result.exit_code in (0, 2, 4) and (result.exit_code == 0 or "error:" in result.output), arguments


@given(st.data())
@settings(max_examples=15, **SETTINGS)
def test_some_changed_scenarios_are_answered(drawn: st.DataObject) -> None:
    check(drawn)


@pytest.mark.long
@given(st.data())
@settings(max_examples=3000, **SETTINGS)
def test_many_changed_scenarios_are_answered(drawn: st.DataObject) -> None:
    check(drawn)
