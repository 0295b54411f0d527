"""The package as a whole: what importing it costs, and its names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tautline
from tests.support.processes import run

HEAVY = ["numpy", "numba", "scipy", "xarray", "matplotlib", "pandas", "pint", "pydantic"]


def test_import_is_light() -> None:
    code = f"import sys, tautline, tautline.errors; print(sorted(set({HEAVY}) & set(sys.modules)))"
    assert run(code).stdout.strip() == "[]"


def test_a_worker_of_a_study_starts_without_what_only_results_need() -> None:
    code = f"import sys, tautline.studies.execution.worker; print(sorted(set({HEAVY}) & set(sys.modules)))"
    assert run(code).stdout.strip() == "['numpy']"


def test_every_public_name_resolves() -> None:
    run("""
import tautline
for name in tautline.__all__:
    assert getattr(tautline, name) is getattr(tautline, name), name
assert sorted(tautline.__all__) == sorted(dir(tautline))
""")


def test_names_resolve_where_submodules_were_imported_before() -> None:
    """Which sets attributes of the package."""
    run("""
import tautline.engine.simulation, tautline.files.scenario, tautline.reference
assert callable(tautline.simulate) and callable(tautline.pendulum) and callable(tautline.load)
assert tautline.reference.integrate
""")


def names_in_code(text: str) -> set[str]:
    """What a text takes from the package as `tl.name`, `tautline.name` or by `from tautline import name`."""
    return {
        name
        for a, b in re.findall(r"\btl\.([A-Za-z]\w*)|^from tautline import ([\w, ]+)$", text, re.MULTILINE)
        for name in (a or b).replace(" ", "").split(",")
    }


def test_names_that_docs_and_examples_use_exist() -> None:
    """Without running them, and also in blocks that are only shown; the changelog speaks of earlier names too."""
    root = Path(__file__).parents[2]
    pages = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("examples/**/*.py")]
    pages.remove(root / "CHANGELOG.md")
    modules = {path.stem for path in Path(tautline.__file__).parent.iterdir()}
    for page in pages:
        unknown = names_in_code(page.read_text(encoding="utf-8")) - set(dir(tautline)) - modules
        assert not unknown, f"{page}: tautline has no {sorted(unknown)}"


def test_a_name_that_does_not_exist_is_found() -> None:
    assert names_in_code("x: tl.Comand = tl.Locked()\nfrom tautline import simulat, reference") == {
        "Comand",
        "Locked",
        "simulat",
        "reference",
    }


def test_unknown_attribute_is_named() -> None:
    with pytest.raises(AttributeError, match="'tautline' has no attribute 'simulat'"):
        getattr(tautline, "simulat")  # noqa: B009 - the type checker would find it too
    assert not hasattr(tautline, "__path_of_nothing__")
