"""Machine code that is compiled in a process: where it is kept, and when that is said."""

from __future__ import annotations

import os
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tautline.kernels.machine import folders, stamp
from tautline.kernels.machine.options import NUMBA
from tests.support import processes

SAYS = "tautline: compiling kernels, since TAUTLINE_ENGINE asks for it (once)"

# A stand-in for the kernels that compiles in a fraction of a second. The listener and the cache see a kernel.
TINY = """
from tautline.kernels.jit import entry, kernel, separate

@separate
def doubled(x):
    return 2.0 * x

@kernel
def part(x):
    return doubled(x)

@entry
def twice(x: float) -> float:
    return part(x)

@entry
def thrice(x: float) -> float:
    return max(3.0 * x, x, -9.0)
"""
LOAD_TINY = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("tautline.kernels.tiny", sys.argv[1])
tiny = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = tiny
spec.loader.exec_module(tiny)
assert tiny.twice(2.0) == 4.0 and tiny.thrice(2.0) == 6.0
from tautline.kernels.machine.choice import compiling_time
print("compiled" if compiling_time() else "from the cache")
"""
# What a user compiles after kernels, with some of the same functions of Numba's.
OWN = """
import numba, numpy as np

@numba.njit
def own(x, y, z):
    return max(x, y, z) + min(x, y, z)

@numba.njit
def backwards(a):
    copy = a.copy()
    for i in range(len(a)):
        copy[i] = max(a[-1 - i], 0.5, -1.0)
    return copy.sum(), (a[0] > 0.0, a[-1])

assert own(1.0, 2.0, 4.0) == 5.0
assert numba.njit(lambda x: tiny.part(x))(3.0) == 6.0
assert backwards(np.arange(4.0)) == (6.5, (False, 3.0))
assert "unify" not in vars(numba.types.NamedTuple) and "can_convert_to" not in vars(numba.types.NamedTuple)
"""
# The beginning of a process whose Numba is another than the one that numba_lean.py was written for.
OTHER_NUMBA = """
from tautline.kernels.machine import options
options.NUMBA = "0.1"
"""
# Where code would be kept; what is compiled is kept there in the tests that compile.
WHERE = "import tautline.kernels.jit; from tautline.kernels.machine import folders; print(folders.cache_folder())"
# The beginning of a process in which no folder for temporary files can be written either.
NO_TEMPORARY_FOLDER = """
import tempfile
tempfile.gettempdir = lambda: "/dev/null/temporary"
"""


def run(code: str, *arguments: str, **variables: str) -> Any:
    """Run code in a fresh process in which kernels are compiled."""
    return processes.run(code, *arguments, TAUTLINE_ENGINE="compiled", **variables)


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    path = tmp_path / "tiny.py"
    path.write_text(TINY, encoding="utf-8")
    return str(path)


@pytest.fixture
def fresh() -> Iterator[None]:
    """The answers are computed once a process: forget them before and after."""
    for function in (stamp.source_hash, folders.cache_folder):
        function.cache_clear()
    yield
    for function in (stamp.source_hash, folders.cache_folder):
        function.cache_clear()


def test_users_cache_folder_is_used_and_left_as_it_is(tiny: str, tmp_path: Path) -> None:
    chosen = str(tmp_path / "chosen")
    code = f"""{LOAD_TINY}
import os
from tautline.kernels.machine import folders, stamp
import numba, llvmlite
name = f"kernels-{{stamp.source_hash()}}-numba-{{numba.__version__}}-llvmlite-{{llvmlite.__version__}}"
assert str(folders.cache_folder()) == os.path.join({chosen!r}, "tautline", name)
"""
    run(code, tiny, TAUTLINE_CACHE_DIR=chosen)
    (folder,) = Path(chosen, "tautline").iterdir()
    assert folder.name.startswith("kernels-")
    assert {path.suffix for path in folder.iterdir()} == {".o"}
    assert [path.name for path in Path(chosen).iterdir()] == ["tautline"]


def test_kernels_work_where_nothing_can_be_written(tiny: str) -> None:
    code = f"""{NO_TEMPORARY_FOLDER}
from tautline.kernels.machine import folders, stamp
assert folders.cache_folder() is None
{LOAD_TINY}"""
    done = run(code, tiny, XDG_CACHE_HOME="/dev/null/x")
    assert done.stdout.strip() == "compiled"
    assert done.stderr.count("in every process") == done.stderr.count("tautline: compiling") == 1


def raises(error: Exception) -> Any:
    def function(*_: Any) -> Any:
        raise error

    return function


@pytest.mark.usefixtures("fresh")
def test_user_without_a_home_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A number that the system's list of users does not hold, as in containers."""
    monkeypatch.setattr(folders, "CHOSEN", None)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", raises(RuntimeError("Could not determine home directory.")))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = folders.cache_folder()
    assert folder is not None and folder.is_relative_to(tmp_path)


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("impossible", ["XDG_CACHE_HOME", "HOME", "CHOSEN"])
def test_the_folder_falls_back_to_the_temporary_one(
    impossible: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(folders, "CHOSEN", "/dev/null/x" if impossible == "CHOSEN" else None)
    monkeypatch.setenv(impossible if impossible != "CHOSEN" else "HOME", "/dev/null/x")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert folders.cache_folder() in list(tmp_path.glob("tautline-*/kernels-*"))


@pytest.mark.usefixtures("fresh")
def test_no_usable_temporary_folder_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(folders, "CHOSEN", str(tmp_path))
    monkeypatch.setattr(tempfile, "gettempdir", raises(FileNotFoundError("No usable temporary directory found")))
    folder = folders.cache_folder()
    assert folder is not None and folder.is_relative_to(tmp_path)
    folders.cache_folder.cache_clear()
    monkeypatch.setattr(folders, "CHOSEN", "/dev/null/x")
    assert folders.cache_folder() is None


def test_cache_folder_survives_a_change_of_directory(tmp_path: Path) -> None:
    """A relative path is settled when the kernels are loaded, not when they are compiled."""
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    begin = f"import os; os.chdir({str(here)!r})"
    run(f"{begin}; {WHERE.replace('from', f'os.chdir({str(elsewhere)!r}); from')}", TAUTLINE_CACHE_DIR="relative")
    assert list(here.glob("relative/tautline/kernels-*"))
    assert not list(elsewhere.iterdir())


@pytest.mark.usefixtures("fresh")
@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners and no permission bits")
def test_folder_that_others_can_write_to_is_not_trusted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Machine code found there is loaded and run."""
    monkeypatch.setattr(folders, "CHOSEN", str(tmp_path / "open"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "other"))
    open_folder = folders.cache_folder()
    assert open_folder is not None and open_folder.is_relative_to(tmp_path / "open")
    assert open_folder.stat().st_mode & 0o077 == 0
    open_folder.chmod(0o777)
    folders.cache_folder.cache_clear()
    other = folders.cache_folder()
    assert other is None or not other.is_relative_to(tmp_path / "open")


@pytest.mark.usefixtures("fresh")
def test_every_kernel_source_decides_about_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Constants from modules beside the kernels are compiled into them as well."""
    package = tmp_path / "tautline"
    kernels = package / "kernels"
    source = Path(stamp.__file__).parents[1]
    shutil.copytree(source, kernels, ignore=shutil.ignore_patterns("__pycache__"))
    outside = [package / "arrays.py", package / "errors.py"]
    for path in outside:
        shutil.copy(source.parent / path.name, package)

    def hash_now() -> str:
        stamp.source_hash.cache_clear()
        return stamp.source_hash()

    monkeypatch.setattr(stamp, "__file__", str(kernels / "machine" / "stamp.py"))
    seen = {hash_now()}
    for path in (*sorted(kernels.rglob("*.py")), *outside):
        before = path.read_bytes()
        path.write_bytes(before + b"\n")
        changed = hash_now()
        assert changed not in seen, f"a change of {path.name} goes unnoticed"
        seen.add(changed)
        path.write_bytes(before)
    assert hash_now() in seen
    (kernels / "so3.py").rename(kernels / "so4.py")
    assert hash_now() not in seen, "a new name goes unnoticed"


def test_compiling_is_announced_once_and_only_when_it_happens(tiny: str, tmp_path: Path) -> None:
    """Two functions in a cold process: one line. In a warm one, none."""
    home = str(tmp_path / "cache")
    own = """
import os, numba
assert "TAUTLINE_CACHE_DIR" not in os.environ and not numba.config.CACHE_DIR
assert numba.njit("f8(f8)")(lambda x: x + 1.0)(1.0) == 2.0  # of others, which is not announced
"""
    cold = run(LOAD_TINY + own, tiny, XDG_CACHE_HOME=home)
    assert list(Path(home, "tautline").glob("kernels-*/**/*.o"))
    assert cold.stdout.strip() == "compiled"
    assert cold.stderr.count(SAYS) == 1 and len(cold.stderr.splitlines()) == 1
    warm = run(LOAD_TINY, tiny, XDG_CACHE_HOME=home)
    assert warm.stdout.strip() == "from the cache"
    assert warm.stderr == ""


def test_another_version_of_numba_compiles_without_what_was_written_for_one(tiny: str, tmp_path: Path) -> None:
    leaner = "import sys\nassert ('tautline.kernels.machine.numba_lean' in sys.modules) is {}\n"
    for begin, lean in ((OTHER_NUMBA, False), ("", True)):
        home = str(tmp_path / f"cache-{lean}")
        found = run(begin + LOAD_TINY + OWN + leaner.format(lean), tiny, XDG_CACHE_HOME=home)
        assert found.stdout.strip() == "compiled"


def test_the_build_asks_for_the_version_that_the_lean_target_was_written_for() -> None:
    asked = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert f"numba=={NUMBA}.*" in asked["build-system"]["requires"]
