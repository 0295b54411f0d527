"""A wheel, and nothing else: what it carries runs without Numba, without compiler and without a folder to write to."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from fmpy.validation import validate_fmu

from tautline.fmu import build as fmu
from tautline.kernels.machine import build, library, linking, targets

ROOT = Path(__file__).parents[2]
STUDY = """
scenario = "fixed-length"
outputs = ["max tension"]
[set]
run.duration = "0.1 s"
[vary]
string.stiffness = ["40 N", "41 N"]
"""
# Instead of an environment without Numba: one in which it cannot be imported.
BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("numba", "llvmlite"):
            raise ImportError(f"{name} is not to be used")

sys.meta_path.insert(0, Blocked())
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of these sources."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    # the library as it is, unless all kinds of processors are asked for
    own = {"TAUTLINE_TARGETS": "own"} | os.environ
    done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (found,) = folder.glob("*.whl")
    return found


def test_the_wheel_is_for_this_platform_and_carries_the_library(wheel: Path) -> None:
    # glibc 2.17 has all that the library calls, so that package indexes and old systems take the wheel
    expected = r"manylinux_2_17_\w+" if sys.platform == "linux" else r"(?!any)\w+"
    assert re.fullmatch(rf"tautline-[\w.]+-py3-none-{expected}\.whl", wheel.name)
    names = zipfile.ZipFile(wheel).namelist()
    folder = "tautline/kernels/machine/built"
    for name in (library.file_name(targets.best_target()), library.LIST, build.HEADER):
        assert f"{folder}/{name}" in names
    assert "tautline/viewer/viewer.html" in names
    assert f"tautline/fmu/built/{fmu.wrapper().name}" in names


@pytest.mark.skipif(sys.platform != "linux", reason="auditwheel looks at wheels for Linux")
def test_auditwheel_agrees_with_the_tag(wheel: Path) -> None:
    """It reads which functions of the system all libraries of the wheel call."""
    shown = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", str(wheel)], capture_output=True, text=True, check=True
    )
    tag = wheel.stem.rsplit("-", 1)[1]
    assert f'the following platform tag: "{tag}"' in " ".join(shown.stdout.split())


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Command and environment that run what is in the wheel, where nothing can be written and Numba is missing."""
    folder = tmp_path_factory.mktemp("unpacked")
    zipfile.ZipFile(wheel).extractall(folder)
    (folder / "sitecustomize.py").write_text(BLOCKED)
    program = "from tautline.cli import main; main()"
    nowhere = {"HOME": "/dev/null/x", "XDG_CACHE_HOME": "/dev/null/x", "PYTHONDONTWRITEBYTECODE": "1"}
    yield [sys.executable, "-c", program], os.environ | nowhere | {"PYTHONPATH": str(folder)}


def walk(command: list[str], environment: dict[str, str], folder: Path) -> None:
    """Run, resume, an FMU, a study, live, and the doctor."""

    def run(*arguments: str, **others: str) -> str:
        done = subprocess.run(
            [*command, *arguments],
            cwd=folder,
            env=environment | others,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "compiling" not in done.stderr
        return done.stdout

    found = json.loads(run("doctor", "--json"))
    assert found["engine"].startswith("library: ") and found["self-test"] == "passed"
    run("run", "retrieval", "--set", "run.duration=0.5 s", "-o", "run.nc")
    run("run", "retrieval", "--set", "string.viscosity=0.01", "--set", "run.duration=0.1 s", "-o", "damped.nc")
    long = ["--set", "run.duration=1 h", "--set", "run.sample=0.1 s", "-o", "killed.nc"]
    with subprocess.Popen(
        [*command, "run", "fixed-length", *long, "--quiet"], cwd=folder, env=environment, stderr=subprocess.DEVNULL
    ) as started:
        until = time.monotonic() + 60.0
        while not (folder / "killed.nc").is_file() and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(0.3)
        started.kill()
    run("resume", "killed.nc")
    assert json.loads(run("info", "killed.nc", "--json"))["status"] == "completed"
    run("export", "fixed-length", "--fmu", "pendulum.fmu", PATH="")  # without a compiler
    assert validate_fmu(str(folder / "pendulum.fmu")) == []
    (folder / "study.toml").write_text(STUDY)
    run("study", "run", "study.toml", "-o", "study.zarr")
    serve = [*command, "live", "fixed-length", "--no-browser"]
    with subprocess.Popen(serve, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as live:
        assert live.stdout is not None
        address = next(x for line in live.stdout for x in re.findall(r"http://127\.0\.0\.1:\d+\S*", line))
        with urllib.request.urlopen(address) as page:
            assert b"tautline" in page.read()
        live.terminate()


@pytest.mark.long
def test_the_wheel_runs_without_numba(unpacked: tuple[list[str], dict[str, str]], tmp_path: Path) -> None:
    walk(*unpacked, tmp_path)


@pytest.mark.long
def test_the_wheel_in_an_environment_of_its_own(wheel: Path, tmp_path: Path) -> None:
    """As a user gets it, from the package index, with the example in C against the installed library."""
    home = tmp_path / "venv"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", f"{wheel}[cli,studies]"], check=True)
    missing = subprocess.run([python, "-c", "import numba"], capture_output=True, check=False)
    assert missing.returncode != 0
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    walk([str(home / "bin" / "tautline")], environment, tmp_path)
    (built,) = home.glob("lib/python*/site-packages/tautline/kernels/machine/built")
    program = tmp_path / "hoist"
    found = built / library.file_name(targets.best_target())
    source = ROOT / "examples" / "c" / "hoist.c"
    flags = ["-I", str(built), f"-Wl,-rpath,{built}", str(found), "-lm"]
    subprocess.run([*linking.linker(), str(source), *flags, "-o", str(program)], check=True)
    assert len(subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()) == 10
