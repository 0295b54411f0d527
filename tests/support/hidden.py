"""Programs in processes that lack some of the installed packages, as on a machine with fewer extras."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, distributions, packages_distributions, requires
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Takes modules, and the metadata of distributions, away from a process before anything is imported.
WITHOUT = """
import re, sys
class Without:
    def __init__(self, finder):
        self.finder = finder
    def __getattr__(self, name):
        return getattr(self.finder, name)
    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in {modules!r} else self.finder.find_spec(name, path, target)
    def find_distributions(self, *given):
        for found in getattr(self.finder, "find_distributions", lambda *_: ())(*given):
            if re.sub("[-_.]+", "-", found.name).lower() not in {packages!r}:
                yield found
sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]
"""


def normal(name: str) -> str:
    """Name of a distribution as pip compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def brought_by(extra: str) -> set[str]:
    """Distributions that `pip install tautline[extra]` installs; "" is the core."""
    lines = [*PROJECT["dependencies"], *(PROJECT["optional-dependencies"][extra] if extra else ())]
    return {"tautline"}.union(*map(_closure, lines))


@cache
def _closure(line: str) -> frozenset[str]:
    """Distributions that one requirement of the package brings along, itself included."""
    found: set[tuple[str, str]] = set()
    waiting = [(Requirement(line), "")]
    while waiting:
        requirement, of = waiting.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": of}):
            continue
        name = normal(requirement.name)
        for extra in ("", *requirement.extras):
            if (name, extra) not in found:
                found.add((name, extra))
                waiting += [(Requirement(x), extra) for x in _lines(name, extra)]
    return frozenset(name for name, _ in found)


def _lines(name: str, extra: str) -> list[str]:
    if name == "tautline":
        return list(PROJECT["optional-dependencies"][extra]) if extra else []
    try:
        return requires(name) or []
    except PackageNotFoundError:  # for another system
        return []


def without(
    modules: Iterable[str], code: str, folder: Path, packages: Iterable[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Run code in a process that finds neither these modules nor the metadata of these distributions."""
    whole = WITHOUT.format(modules=set(modules), packages=set(packages)) + code
    return subprocess.run([sys.executable, "-c", whole], cwd=folder, capture_output=True, text=True, check=False)


def with_extra(extra: str, code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code in a process that has nothing but the standard library and what an extra brings."""
    kept = brought_by(extra)
    gone = {normal(found.name) for found in distributions()} - kept
    modules = {name for name, found in packages_distributions().items() if not kept & set(map(normal, found))}
    return without(modules, code, folder, gone)
