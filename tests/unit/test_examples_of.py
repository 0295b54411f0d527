"""Every public callable has an example that runs: in code of a page that is tested, or in a script of the gallery."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

import tautline as tl

EXAMPLES = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "_ext" / "examples_of.py"))
# The base of commands, which nobody makes; and what takes a browser or a notebook, and has tests with one.
WITHOUT = {"tautline.Command", "tautline.live", "tautline.widget"}
MODULES = ("analysis", "control", "figures", "flows", "gradients", "motions", "objectives", "studies")


def public_callables() -> set[str]:
    package_names: list[str] = getattr(tl, "__all__")  # noqa: B009 - it is made when it is asked for
    found = {f"tautline.{name}": getattr(tl, name) for name in package_names}
    top = {id(x) for x in found.values()}
    for module in MODULES:
        names: list[str] = getattr(tl, module).__all__
        own = {f"tautline.{module}.{name}": getattr(getattr(tl, module), name) for name in names}
        found |= {name: x for name, x in own.items() if id(x) not in top}
    return {name for name, x in found.items() if callable(x)}


def test_every_public_callable_is_in_code_that_runs() -> None:
    assert public_callables() - set(EXAMPLES["used_in"]()) == WITHOUT


def test_pages_are_those_that_use_a_name() -> None:
    used = EXAMPLES["used_in"]()
    assert ("howto/sheaves", "Run a rope over sheaves") in used["tautline.Pin"]
    assert any(page == "generated/gallery/modes" for page, _ in used["tautline.modes"])


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import tautline as tl\ntl.figures.path(run)", "tautline.figures.path"),
        ("from tautline.studies import resume_study", "tautline.studies.resume_study"),
        ("from tautline import analysis as a\na.rainflow(run)", "tautline.analysis.rainflow"),
    ],
)
def test_names_are_found_however_they_are_imported(code: str, found: str) -> None:
    assert found in EXAMPLES["names_used"](code)
    assert EXAMPLES["names_used"](code.replace("tautline", "other")) == set()
