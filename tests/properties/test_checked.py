"""Scenarios with numbers of any size, and files whose parts are gone, renamed or of another kind.

`tautline check` answers every one of them, in time and without a traceback.
"""

from __future__ import annotations

import copy
import pathlib
import shutil
import signal
import tomllib
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
from tautline.files.scenario.reading import BUILT_IN
from tautline.model.toml import text_of
from tests.support.leaves import leaves

pytestmark = pytest.mark.filterwarnings("default")  # overflow warnings are what such numbers give
LONGEST = 20.0  # s of the processor
SETTINGS: Any = {"suppress_health_check": [HealthCheck.too_slow]}
NUMBERS = {name: dict(leaves(tl.load(name).to_dict(), set())) for name in built_in_names()}
WORDS = ("auto", "", "x" * 300, "nan", "\u0000", "/dev/zero", "1e400 m", "[]", "{}", "[[1, 2], [3]]", "true", "-1", "0")
WALKS = [pathlib.Path(__file__).parents[1] / "e2e" / name for name in ("every_key", "every_full_key")]
TREES = {
    path.stem: tomllib.loads(path.read_text(encoding="utf-8"))
    for folder in (BUILT_IN, *WALKS)
    for path in sorted(folder.glob("*.toml"))
}
Path = tuple[str | int, ...]


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


def check(arguments: list[str]) -> None:
    with limited():
        result = CliRunner().invoke(app, ["check", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), arguments
    assert result.exit_code in (0, 2, 4) and (result.exit_code == 0 or "error:" in result.output), arguments


def check_numbers(drawn: st.DataObject) -> None:
    """Numbers of a built-in scenario by `--set`, of any size or something else."""
    name = drawn.draw(st.sampled_from(list(NUMBERS)))
    arguments = [name]
    for key in drawn.draw(st.sets(st.sampled_from(list(NUMBERS[name])), min_size=1, max_size=3)):
        scaled = st.floats(-12.0, 12.0).map(lambda k, key=key: repr((NUMBERS[name][key] or 1.0) * 10.0**k))  # type: ignore[misc]
        arguments += ["--set", f"{key}={drawn.draw(scaled | st.sampled_from(WORDS))}"]
    check(arguments)


def places(tree: Any, path: Path = ()) -> Iterator[Path]:
    """Paths of all values in a tree, sections and entries of lists among them."""
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in pairs:
        yield (*path, key)
        yield from places(value, (*path, key))


def at(tree: Any, path: Path) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def check_structure(drawn: st.DataObject, folder: pathlib.Path) -> None:
    """A file in which keys and sections are gone, renamed, of another kind, or stand elsewhere."""
    tree = copy.deepcopy(TREES[drawn.draw(st.sampled_from(list(TREES)))])
    for _ in range(drawn.draw(st.integers(1, 3))):
        path = drawn.draw(st.sampled_from(list(places(tree))))
        owner, key = at(tree, path[:-1]), path[-1]
        change = drawn.draw(
            st.sampled_from(("gone", "renamed", "word", "value of another", "in a list", "in a section"))
        )
        if change == "gone":
            del owner[key]
        elif change == "renamed" and isinstance(owner, dict):
            owner[drawn.draw(st.sampled_from(NAMES))] = owner.pop(key)
        elif change == "word":
            owner[key] = drawn.draw(st.sampled_from((*WORDS, *NAMES)))
        elif change == "value of another":
            other = TREES[drawn.draw(st.sampled_from(list(TREES)))]
            owner[key] = copy.deepcopy(at(other, drawn.draw(st.sampled_from(list(places(other))))))
        else:
            owner[key] = [owner[key]] if change == "in a list" else {"kind": owner[key]}
    text = text_of(tree)
    (folder / "changed.toml").write_text(text, encoding="utf-8")
    check([str(folder / "changed.toml")])


NAMES = sorted({key for tree in TREES.values() for path in places(tree) for key in path if isinstance(key, str)})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with the tables that the files of every key name."""
    found = tmp_path_factory.mktemp("changed")
    for file in (file for walk in WALKS for file in walk.iterdir() if file.suffix != ".toml"):
        shutil.copy(file, found)
    return found


@given(st.data())
@settings(max_examples=15, **SETTINGS)
def test_some_changed_numbers_are_answered(drawn: st.DataObject) -> None:
    check_numbers(drawn)


@given(st.data())
@settings(max_examples=30, **SETTINGS)
def test_some_changed_files_are_answered(folder: pathlib.Path, drawn: st.DataObject) -> None:
    check_structure(drawn, folder)


@pytest.mark.long
@given(st.data())
@settings(max_examples=2500, **SETTINGS)
def test_many_changed_numbers_are_answered(drawn: st.DataObject) -> None:
    check_numbers(drawn)


@pytest.mark.long
@given(st.data())
@settings(max_examples=2500, **SETTINGS)
def test_many_changed_files_are_answered(folder: pathlib.Path, drawn: st.DataObject) -> None:
    check_structure(drawn, folder)
