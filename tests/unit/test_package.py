"""The package as a whole: what importing it costs, its names, and where compiled kernels are kept."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import pytest

import tautline
from tautline.kernels import jit

HEAVY = ["numpy", "numba", "scipy", "xarray", "matplotlib", "pandas", "pint", "pydantic"]
SAYS = "tautline: compiling this kind of run (once, about a minute)"

# A stand-in for the kernels that compiles in a fraction of a second. The listener and the cache see a kernel.
TINY = """
from tautline.kernels.jit import entry

@entry
def twice(x):
    return 2.0 * x

@entry
def thrice(x):
    return 3.0 * x
"""
LOAD_TINY = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("tautline.kernels.tiny", sys.argv[1])
tiny = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = tiny
spec.loader.exec_module(tiny)
assert tiny.twice(2.0) == 4.0 and tiny.thrice(2.0) == 6.0
hits = sum(tiny.twice.stats.cache_hits.values())
print("from the cache" if hits else "compiled")
"""
# The beginning of a process in which no folder for temporary files can be written either.
NO_TEMPORARY_FOLDER = """
import tempfile
tempfile.gettempdir = lambda: "/dev/null/temporary"
"""


def run(code: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh process; it must succeed. Variables that decide about the cache are only those given."""
    decisive = ("NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT", "XDG_CACHE_HOME")
    environment = {name: value for name, value in os.environ.items() if name not in decisive}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments],
        env={**environment, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    path = tmp_path / "tiny.py"
    path.write_text(TINY, encoding="utf-8")
    return str(path)


@pytest.fixture
def fresh() -> Iterator[None]:
    """The answers of jit.py are computed once a process: forget them before and after."""
    for function in (jit.source_hash, jit.cache_folder):
        function.cache_clear()
    yield
    for function in (jit.source_hash, jit.cache_folder):
        function.cache_clear()


def test_import_is_light() -> None:
    code = f"import sys, tautline, tautline.errors; print(sorted(set({HEAVY}) & set(sys.modules)))"
    assert run(code).stdout.strip() == "[]"


@pytest.mark.parametrize(
    "first",
    [
        "",
        "import tautline.engine.simulation",
        "import tautline.files.scenario",
        "import tautline.reference",
    ],
)
def test_every_public_name_resolves(first: str) -> None:
    """Also when submodules were imported before, which sets attributes of the package."""
    code = f"""{first}
import tautline
for name in tautline.__all__:
    assert getattr(tautline, name) is getattr(tautline, name), name
assert sorted(tautline.__all__) == sorted(dir(tautline))
assert callable(tautline.simulate) and callable(tautline.straight)
"""
    run(code)


def test_the_type_checker_sees_the_names_that_exist() -> None:
    """The imports for type checkers, the table of homes and `__all__` name the same things at the same places."""
    tree = ast.parse(Path(tautline.__file__).read_text(encoding="utf-8"))
    checked = next(x for x in tree.body if isinstance(x, ast.If) and ast.unparse(x.test) == "TYPE_CHECKING")
    seen = {name.name: x.module for x in checked.body if isinstance(x, ast.ImportFrom) for name in x.names if x.module}
    modules = {name: f"{home}.{name}" for name, home in seen.items() if name in tautline._MODULES}
    assert modules == tautline._MODULES
    assert {name: home for name, home in seen.items() if name not in modules} == tautline._HOMES
    assert {*seen, "__version__"} == set(tautline.__all__)


def names_in_code(text: str) -> set[str]:
    """What a text takes from the package as `tl.name`, `tautline.name` or by `from tautline import name`."""
    return {
        name
        for a, b in re.findall(r"\btl\.([A-Za-z]\w*)|^from tautline import ([\w, ]+)$", text, re.MULTILINE)
        for name in (a or b).replace(" ", "").split(",")
    }


def test_names_that_docs_and_examples_use_exist() -> None:
    """Without running them, and also in blocks that are only shown."""
    root = Path(__file__).parents[2]
    pages = [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("examples/**/*.py")]
    modules = {path.stem for path in Path(tautline.__file__).parent.iterdir()}
    for page in pages:
        unknown = names_in_code(page.read_text(encoding="utf-8")) - set(tautline.__all__) - modules
        assert not unknown, f"{page}: tautline has no {sorted(unknown)}"


def test_a_name_that_does_not_exist_is_found() -> None:
    assert names_in_code("x: tl.Comand = tl.Locked()\nfrom tautline import simulat, reference") == {
        "Comand",
        "Locked",
        "simulat",
        "reference",
    }


def test_star_import_gives_all_names() -> None:
    run("from tautline import *; simulate, straight, Pendulum, errors.InputError")


def test_unknown_attribute_is_named() -> None:
    with pytest.raises(AttributeError, match="'tautline' has no attribute 'simulat'"):
        getattr(tautline, "simulat")  # noqa: B009 - the type checker would find it too
    assert not hasattr(tautline, "__path_of_nothing__")


def test_users_cache_folder_is_used_and_left_as_it_is(tiny: str, tmp_path: Path) -> None:
    chosen = str(tmp_path / "chosen")
    code = f"""{LOAD_TINY}
import os, numba
from tautline.kernels import jit
assert os.environ["NUMBA_CACHE_DIR"] == numba.config.CACHE_DIR == {chosen!r}
assert str(jit.cache_folder()) == os.path.join({chosen!r}, "tautline", "kernels-" + jit.source_hash())
"""
    run(code, tiny, NUMBA_CACHE_DIR=chosen)
    (folder,) = Path(chosen, "tautline").iterdir()
    assert folder.name.startswith("kernels-")
    assert {path.suffix for path in folder.rglob("*.nb*")} == {".nbi", ".nbc"}
    # nothing went beside it: other users of Numba in the same process keep the folder to themselves
    assert [path.name for path in Path(chosen).iterdir()] == ["tautline"]


def test_own_cache_folder_stays_out_of_numbas_settings(tiny: str, tmp_path: Path) -> None:
    home = str(tmp_path / "cache")
    code = f"""{LOAD_TINY}
import os, numba
assert "NUMBA_CACHE_DIR" not in os.environ and not numba.config.CACHE_DIR
"""
    run(code, tiny, XDG_CACHE_HOME=home)
    assert list(Path(home, "tautline").glob("kernels-*/**/*.nbi"))


@pytest.mark.parametrize(
    "impossible",
    [
        {"XDG_CACHE_HOME": "/dev/null/x"},
        {"HOME": "/dev/null/x"},
        {"NUMBA_CACHE_DIR": "/dev/null/x"},
    ],
    ids=lambda variables: next(iter(variables)),
)
def test_cache_falls_back_to_the_temporary_folder(tiny: str, tmp_path: Path, impossible: dict[str, str]) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    run(LOAD_TINY, tiny, **impossible, TMPDIR=str(temporary))
    assert list(temporary.glob("tautline-*/kernels-*/**/*.nbi"))


def test_kernels_work_where_nothing_can_be_written(tiny: str) -> None:
    code = f"""{NO_TEMPORARY_FOLDER}
from tautline.kernels import jit
assert jit.cache_folder() is None
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
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", raises(RuntimeError("Could not determine home directory.")))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = jit.cache_folder()
    assert folder is not None and folder.is_relative_to(tmp_path)


@pytest.mark.usefixtures("fresh")
def test_no_usable_temporary_folder_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "gettempdir", raises(FileNotFoundError("No usable temporary directory found")))
    folder = jit.cache_folder()
    assert folder is not None and folder.is_relative_to(tmp_path)
    jit.cache_folder.cache_clear()
    monkeypatch.setattr(numba.config, "CACHE_DIR", "/dev/null/x")
    assert jit.cache_folder() is None


def test_cache_folder_survives_a_change_of_directory(tiny: str, tmp_path: Path) -> None:
    """A relative path is settled when the kernels are loaded, not when they are compiled."""
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    code = LOAD_TINY.replace("assert tiny.twice", f"os.chdir({str(elsewhere)!r}); assert tiny.twice", 1)
    run(f"import os; os.chdir({str(here)!r})\n{code}", tiny, NUMBA_CACHE_DIR="relative")
    assert list(here.glob("relative/tautline/kernels-*/**/*.nbi"))
    assert not list(elsewhere.iterdir())


@pytest.mark.usefixtures("fresh")
@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no owners and no permission bits")
def test_folder_that_others_can_write_to_is_not_trusted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Machine code found there is loaded and run."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "open"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "other"))
    open_folder = jit.cache_folder()
    assert open_folder is not None and open_folder.is_relative_to(tmp_path / "open")
    assert open_folder.stat().st_mode & 0o077 == 0
    open_folder.chmod(0o777)
    jit.cache_folder.cache_clear()
    other = jit.cache_folder()
    assert other is None or not other.is_relative_to(tmp_path / "open")


@pytest.mark.usefixtures("fresh")
def test_every_kernel_source_decides_about_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Numba itself looks only at the file of the cached function, and would go on with stale machine code.

    The kernels take constants from modules beside theirs, which are compiled into them as well.
    """
    package = tmp_path / "tautline"
    kernels = package / "kernels"
    source = Path(jit.__file__).parent
    shutil.copytree(source, kernels, ignore=shutil.ignore_patterns("__pycache__"))
    outside = [package / "arrays.py", package / "errors.py"]
    for path in outside:
        shutil.copy(source.parent / path.name, package)

    def hash_now() -> str:
        jit.source_hash.cache_clear()
        return jit.source_hash()

    monkeypatch.setattr(jit, "__file__", str(kernels / "jit.py"))
    seen = {hash_now()}
    for path in (*sorted(kernels.rglob("*.py")), *outside):
        before = path.read_bytes()
        path.write_bytes(before + b"\n")
        assert hash_now() not in seen, f"a change of {path.name} goes unnoticed"
        seen.add(hash_now())
        path.write_bytes(before)
        assert hash_now() in seen
    (kernels / "so3.py").rename(kernels / "so4.py")
    assert hash_now() not in seen, "a new name goes unnoticed"


def test_compiling_is_announced_once_and_only_when_it_happens(tiny: str, tmp_path: Path) -> None:
    """Two functions in a cold process: one line. In a warm one, none."""
    home = str(tmp_path / "cache")
    cold = run(LOAD_TINY, tiny, XDG_CACHE_HOME=home)
    assert cold.stdout.strip() == "compiled"
    assert cold.stderr.count(SAYS) == 1 and len(cold.stderr.splitlines()) == 1
    warm = run(LOAD_TINY, tiny, XDG_CACHE_HOME=home)
    assert warm.stdout.strip() == "from the cache"
    assert warm.stderr == ""


def test_compiling_of_others_is_not_announced(tmp_path: Path) -> None:
    code = """
import numba, tautline.kernels.jit
assert numba.njit("f8(f8)")(lambda x: x + 1.0)(1.0) == 2.0
"""
    assert run(code, XDG_CACHE_HOME=str(tmp_path)).stderr == ""
