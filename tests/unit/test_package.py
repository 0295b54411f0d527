"""The package as a whole: what importing it costs, and its names."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

import tautline
import tautline.gym
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
for package in (tautline, tautline.analysis, tautline.gradients, tautline.studies):
    for name in package.__all__:
        assert getattr(package, name) is getattr(package, name), name
assert sorted(tautline.__all__) == sorted(dir(tautline))
""")


def test_names_resolve_where_submodules_were_imported_before() -> None:
    """Which sets attributes of the package."""
    run("""
import tautline.engine.simulation, tautline.files.scenario, tautline.reference
assert callable(tautline.simulate) and callable(tautline.pendulum) and callable(tautline.load)
assert tautline.reference.integrate
""")


# Names that a text takes from the package, as `tl.name`, `tl.module.name` or `tautline.name`; not programs and files.
USED = re.compile(r"(?<!-m )\b(?:tl|tautline)((?:\.(?!(?:toml|h)\b)[A-Za-z]\w*)+)")


def is_public(dotted: str) -> bool:
    """Whether `name` or `module.name` leads from public names to a public one; of other things all is public."""
    first, *rest = dotted.strip(".").split(".")
    if first == "gym":  # a module that has to be imported by name, since it registers environments
        return not rest or rest[0] in tautline.gym.__all__
    if first not in dir(tautline):
        return False
    found = getattr(tautline, first)
    return not isinstance(found, ModuleType) or not rest or rest[0] in vars(found).get("__all__", vars(found))


def not_public(text: str) -> list[str]:
    """Names that a text takes from the package and that are not public."""
    return [name for name in USED.findall(text) if not is_public(name)]


def test_docs_and_examples_show_public_names_only() -> None:
    """Without running them, and also in blocks that are only shown; pages for those who change tautline say more."""
    root = Path(__file__).parents[2]
    pages = [*root.glob("docs/*.md"), *root.glob("docs/howto/*.md"), *root.glob("examples/**/*.py"), root / "README.md"]
    inside = {"architecture.md", "contributing.md", "changelog.md"}
    for page in pages:
        found = not_public(page.read_text(encoding="utf-8")) if page.name not in inside else []
        assert not found, f"{page}: not public: {found}"


def test_no_more_than_sixty_names() -> None:
    """What a program needs; the rest is in modules of the package that are public themselves."""
    modules = {name for name in dir(tautline) if isinstance(getattr(tautline, name), ModuleType)}
    more = {"flows", "motions", "objectives"}
    assert modules == {"analysis", "control", "errors", "figures", "gradients", "reference", "studies"} | more
    assert len(dir(tautline)) - len(modules) <= 60


def test_a_name_that_is_not_public_is_found() -> None:
    text = "x: tl.Comand = tl.Locked()\nfrom tautline.engine import simulate\ntl.analysis.damage; tl.analysis.modes.x"
    assert not_public(text) == [".Comand", ".engine", ".analysis.modes.x"]


def test_unknown_attribute_is_named() -> None:
    with pytest.raises(AttributeError, match="'tautline' has no attribute 'simulat'"):
        getattr(tautline, "simulat")  # noqa: B009 - the type checker would find it too
    assert not hasattr(tautline, "__path_of_nothing__")
