"""libtautline: called from C, the bits of code that is compiled here, and what is refused before it is called."""

from __future__ import annotations

import ctypes
import hashlib
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import hatch_build
import numpy as np
import pytest

import tautline as tl
from tautline.engine.chain.lowering import initial_motion, kernel_parameters
from tautline.errors import EngineError
from tautline.kernels import data
from tautline.kernels import march as marching
from tautline.kernels.machine import build, calls, choice, library, linking, structures, targets
from tautline.kernels.machine.signatures import all_functions
from tautline.kernels.machine.stamp import source_hash
from tautline.paper.examples import EXAMPLES
from tests.support import chains, processes
from tests.support.paper import initial_state, pendulum

ROOT = Path(__file__).parents[2]
LISTED = json.loads((library.FOLDER / library.LIST).read_text(encoding="utf-8"))["files"]
MADE = [target for target in targets.all_targets() if library.file_name(target) in LISTED]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The library and its list, to damage."""
    shutil.copytree(library.FOLDER, tmp_path / "built")
    return tmp_path / "built"


def test_the_library_runs_the_kernels() -> None:
    """Where it does not, all other tests look at code that no user runs."""
    assert choice.engine().name == "library", choice.engine().why


def test_every_kind_of_processor_that_is_listed_has_one() -> None:
    for target in MADE:
        assert library.check(target).is_file()
    assert targets.best_target() in MADE
    assert targets.all_targets()[-1].needs == frozenset()


@pytest.mark.parametrize("target", MADE, ids=lambda target: target.name)
def test_nothing_of_python_or_numba_is_inside(target: targets.Target) -> None:
    """All that it needs from outside is the mathematics and memory of C."""
    listed = subprocess.run(["nm", "-D", str(library.check(target))], capture_output=True, text=True, check=True)
    rows = [line.split() for line in listed.stdout.splitlines()]
    needed = {row[-1].split("@")[0] for row in rows if row[-2] == "U"}
    assert needed <= {
        "memset",
        "memcpy",
        "memmove",
        "ceil",
        "floor",
        "sin",
        "cos",
        "sincos",
        "tan",
        "atan2",
        "pow",
        "exp",
        "expm1",
        "log",
        "fma",
    }
    given = {row[-1] for row in rows if row[-2] in "TDR"}
    assert given == {*all_functions(), "tl_stamp", "tl_abi"}


@pytest.fixture(scope="module")
def hoist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example in C, compiled."""
    program = tmp_path_factory.mktemp("c") / "hoist"
    found = library.check(targets.best_target())
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-I", str(found.parent), f"-Wl,-rpath,{found.parent}"]
    source = ROOT / "examples" / "c" / "hoist.c"
    command = [*linking.linker(), str(source), *flags, str(found), "-lm", "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program


def test_the_example_in_c_finds_what_python_finds(hoist: Path) -> None:
    done = subprocess.run([hoist], capture_output=True, text=True, check=True)
    found = np.array([line.split() for line in done.stdout.splitlines()], dtype=float)
    body = tl.RigidBody(50.0, np.diag([7.0, 7.0, 3.0]), (0.0, 0.0, 0.3))
    reel = tl.Reel(drum_radius=0.15, guide_length=0.0, inertia_mass=20.0)
    pendulum = chains.Chain(tl.String(30.0, 0.1, 5e4, law="linear"), reel, body)
    start = chains.straight(pendulum, 20.0, 20, end_velocity=(1.0, 0.0, 0.0))
    run = chains.simulate(pendulum, start, tl.Torque(90.0), duration=0.2, sample=0.02, step=2e-4)
    expected = [run.time, run.unstretched_length, -run.position[:, -1, 2], run.energy]
    # the start of the string is straight in both, but its numbers are made in another order
    np.testing.assert_allclose(found, np.stack(expected, axis=1)[1:], rtol=1e-12)


def test_a_header_of_another_version_is_noticed(hoist: Path, tmp_path: Path) -> None:
    found = library.check(targets.best_target())
    text = (found.parent / build.HEADER).read_text(encoding="utf-8")
    (tmp_path / build.HEADER).write_text(
        text.replace("define TAUTLINE_ABI ", "define TAUTLINE_ABI 1 + "), encoding="utf-8"
    )
    program = tmp_path / "other"
    source = ROOT / "examples" / "c" / "hoist.c"
    command = [*linking.linker(), str(source), "-I", str(tmp_path), f"-Wl,-rpath,{found.parent}", str(found)]
    subprocess.run([*command, "-lm", "-o", str(program)], check=True)
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "not made from the same sources" in done.stderr


def test_every_kind_of_processor_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """As far as this one can run them. The plain one has no fused multiplication, which rounds less often."""
    par = kernel_parameters(pendulum(), 20, "symmetric", True)
    plan = data.Plan(5e-4, np.array([1.0]), 1.0, False, 0.9, 0.05, 0.1, 0.1, 0.0, 100)
    command = data.Command(False, np.zeros(1), np.array([2.09]))
    ends = []
    runnable = [target for target in MADE if target.needs <= targets._flags()]
    for target in runnable:
        found = library.Library(library.check(target))
        monkeypatch.setattr(calls, "engine", lambda found=found: found)
        motion = initial_motion(par, initial_state(EXAMPLES[2], 20))
        out = data.empty_samples(3, 20)
        march = calls.machine_call(marching.march.py_func)  # type: ignore[attr-defined]
        marched = march(par, plan, command, motion, data.empty_scratch(20), data.empty_backups(motion), out, None)
        assert marched == (0, 3)
        ends.append(out.nodes[-1])
    assert len(ends) >= 1 and targets.best_target() in runnable
    for end in ends[1:]:
        # 300 steps of rounding, which a pendulum of meters and seconds makes no larger than this
        np.testing.assert_allclose(end, ends[0], rtol=0.0, atol=1e-11)


COMPILED_HERE = """
import numba, numpy as np
from tautline.engine.chain.lowering import initial_motion, kernel_parameters
from tautline.kernels import data
from tautline.kernels.bends import FOUND, measure_bends
from tautline.kernels.loads.jump import set_guide_velocity
from tautline.kernels.machine import calls, choice, in_process, options
from tautline.kernels.machine.numba_target import IS_LEAN
from tautline.paper.examples import EXAMPLES
from tests.support.paper import initial_state, pendulum

assert numba.__version__.startswith(options.NUMBA + "."), numba.__version__
assert IS_LEAN and choice.engine().name == "library"
N, found = 7, []
for engine in (choice.engine(), in_process.InProcess("a test asks for it")):
    calls.engine = lambda: engine
    random = np.random.default_rng(5)
    bends = np.zeros((FOUND, 9))
    nodes, velocities = random.normal(size=(2, 3 * (N + 1), 9))
    calls.machine_call(measure_bends.py_func)(nodes, velocities, random.uniform(0.1, 1.0, (N, 9)), bends)
    par = kernel_parameters(pendulum(), N, "symmetric", True)
    motion = initial_motion(par, initial_state(EXAMPLES[2], N))
    motion.nodes[:] += 1e-3 * random.normal(size=motion.nodes.shape)
    move = calls.machine_call(set_guide_velocity.py_func)
    move(par, False, (0.1, -0.2, 0.3), motion, data.empty_scratch(N))
    found.append(b"".join(x.tobytes() for x in (bends, *motion)))
    assert np.isfinite(bends).all() and bends.all()
assert engine.seconds > 0.0
print(found[0] == found[1])
"""


def test_code_that_is_compiled_here_has_the_bits_of_the_library(tmp_path: Path) -> None:
    """By the version of Numba that the library is made with; test_jit_modes.py has all functions."""
    done = processes.run(COMPILED_HERE, TAUTLINE_CACHE_DIR=str(tmp_path), PYTHONPATH=str(ROOT))
    assert done.stdout.split() == ["True"]


def refused(folder: Path) -> str:
    """Error about a library that does not fit."""
    with pytest.raises(EngineError) as error:
        library.load(folder)
    return str(error.value)


def relist(folder: Path, **changes: Any) -> None:
    """Change the list, with digests of the files as they are now."""
    path = folder / library.LIST
    listed = json.loads(path.read_text(encoding="utf-8"))
    for name in listed["files"]:
        content = (folder / name).read_bytes()
        listed["files"][name] = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    path.write_text(json.dumps(listed | changes), encoding="utf-8")


def test_a_library_that_is_cut_off_or_changed_is_refused(copy: Path) -> None:
    path = copy / library.file_name(targets.best_target())
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:]):
        path.write_bytes(damaged)
        assert "is damaged" in refused(copy)
    path.unlink()
    assert "cannot be read" in refused(copy)


def test_a_library_of_other_sources_is_refused(copy: Path) -> None:
    relist(copy, stamp="0" * 16)
    assert "other sources" in refused(copy)
    relist(copy, stamp=source_hash(), abi=0)
    assert "other sources" in refused(copy)


def test_what_the_library_itself_says_counts(copy: Path) -> None:
    """A list that was made for another library of the same machine."""
    path = copy / library.file_name(targets.best_target())
    content = path.read_bytes()
    assert content.count(source_hash().encode()) == 1
    path.write_bytes(content.replace(source_hash().encode(), b"f" * 16))
    relist(copy)
    assert "other sources" in refused(copy)


def test_a_library_for_another_machine_is_refused(copy: Path) -> None:
    relist(copy, machine="riscv64")
    assert refused(copy) == f"libtautline was made for riscv64, and this is {targets.machine()}"
    path = copy / library.file_name(targets.best_target())
    content = bytearray(path.read_bytes())
    content[18:20] = (243).to_bytes(2, "little")  # e_machine of ELF: RISC-V
    path.write_bytes(content)
    relist(copy, machine=targets.machine())
    assert "cannot be loaded" in refused(copy)


def test_a_list_that_is_no_list_is_refused(copy: Path) -> None:
    listed = (copy / library.LIST).read_text(encoding="utf-8")
    for text in ("", "[]", '{"machine": 1}', "{"):
        (copy / library.LIST).write_text(text, encoding="utf-8")
        assert refused(copy)
    whole = json.loads(listed)
    name = library.file_name(targets.best_target())
    entries: list[Any] = [{"size": 1}, {"sha256": ""}, {"size": None, "sha256": ""}, {"size": math.inf, "sha256": 1}]
    for entry in (*entries, 3, None, [], "x"):
        listed = json.dumps(whole | {"files": {name: entry}})
        (copy / library.LIST).write_text(listed, encoding="utf-8")
        assert "cannot be read" in refused(copy)
    (copy / library.LIST).unlink()
    assert refused(copy) == "libtautline was not made when tautline was installed"


def test_without_library_and_without_numba_the_error_says_what_to_do() -> None:
    code = """
import sys
from importlib import util
from tautline.kernels.machine import choice, library
from pathlib import Path
library.FOLDER = Path("/nowhere")
found = library.load.__defaults__
library.load.__defaults__ = (Path("/nowhere"),)
choice.find_spec = lambda name: None
from tautline.errors import EngineError
try:
    choice.engine()
except EngineError as error:
    print(error)
"""
    said = processes.run(code).stdout.strip()
    assert said.startswith("libtautline was not made when tautline was installed; install tautline again, or install ")
    assert "tautline[numba]" in said


def test_a_law_from_outside_is_named_where_the_library_does_not_have_it() -> None:
    """Nothing is wrong with the library then, and to install tautline again would not help."""
    code = """
from tautline import registry
registry.register("halfway", registry.GuideLaw("halfway", "loses half of the energy of the jump"))
registry.register("stiffer", registry.ElasticLaw("stiffer", "gets stiffer"))
from tautline.errors import EngineError
from tautline.kernels.machine import choice
print(choice.engine().why)
choice.engine.cache_clear()
choice.find_spec = lambda name: None
try:
    choice.engine()
except EngineError as error:
    print(error)
"""
    why, refused = processes.run(code).stdout.splitlines()
    assert why == "libtautline has no guide law 'halfway' and no elastic law 'stiffer', which this program registers"
    assert refused == f"{why}; install tautline[numba] to compile the kernels in every new process"


def test_an_engine_that_does_not_exist_is_refused() -> None:
    code = """
from tautline.errors import EngineError
from tautline.kernels.machine.choice import engine
try:
    engine()
except EngineError as error:
    print(error)
"""
    said = processes.run(code, TAUTLINE_ENGINE="fast").stdout.strip()
    assert said == "TAUTLINE_ENGINE: expected one of library, compiled, python, got 'fast'"


def test_no_compiler_at_build_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(linking, "find_spec", lambda name: None)
    with pytest.raises(RuntimeError, match="no C compiler was found to link with"):
        linking.linker()
    monkeypatch.setattr(linking, "find_spec", lambda name: object())
    assert linking.linker() == [sys.executable, "-m", "ziglang", "cc"]
    for platform in ("linux", "darwin"):
        monkeypatch.setattr(sys, "platform", platform)
        assert hatch_build.packages_to_link(ROOT) == ["ziglang>=0.13"]
    # Linux needs it for the wrapper of FMUs, which is made for old systems, beside a compiler too
    monkeypatch.setattr(shutil, "which", lambda name: name)
    assert hatch_build.packages_to_link(ROOT) == []
    monkeypatch.setattr(sys, "platform", "linux")
    assert hatch_build.packages_to_link(ROOT) == ["ziglang>=0.13"]
    assert linking.portable_compiler("x86_64")[-2:] == ["-target", "x86_64-linux-gnu.2.17"]
    monkeypatch.setattr(linking, "find_spec", lambda name: None)
    assert linking.portable_compiler("x86_64") == linking.linker()


# Takes the place of the package `ziglang`, and notes what it is asked for.
ZIG = """
import json, os, sys
from pathlib import Path

caches = [os.environ["ZIG_GLOBAL_CACHE_DIR"], os.environ["ZIG_LOCAL_CACHE_DIR"]]
Path(__file__).with_name("asked.json").write_text(json.dumps([sys.argv[1:], caches]))
sys.exit("no such object" if "missing.o" in sys.argv else 0)
"""


def test_where_there_is_no_compiler_zig_links(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It keeps what it makes in folders; those of a home that cannot be written to would end it."""
    package = tmp_path / "ziglang"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(ZIG)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.delenv("ZIG_GLOBAL_CACHE_DIR", raising=False)
    monkeypatch.setenv("ZIG_LOCAL_CACHE_DIR", "given")
    made = tmp_path / "made" / "lib.so"
    linking.link([Path("a.o"), Path("b.o")], made)
    asked, caches = json.loads((package / "asked.json").read_text())
    assert asked == ["cc", "-shared", "-s", "-o", str(made), "a.o", "b.o", "-lm"]
    assert caches == [str(made.parent), "given"]
    with pytest.raises(RuntimeError, match="linking failed\nno such object"):
        linking.link([Path("missing.o")], made)


def test_the_compiler_may_be_named_with_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setenv("CC", "ccache gcc -m64")
    assert linking.linker() == ["ccache", "gcc", "-m64"]
    monkeypatch.setenv("CC", "")
    assert linking.linker() == ["cc"]


def test_a_compiling_process_that_is_killed_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As by a system that is short of memory; its code is negative, and the library would lack functions."""
    real = subprocess.Popen
    killed = [sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]
    monkeypatch.setattr(subprocess, "Popen", lambda command, env: real(killed))
    with pytest.raises(RuntimeError, match="compiling failed"):
        build.build(tmp_path)
    assert not (tmp_path / library.LIST).exists()


@pytest.mark.parametrize(
    ("array", "says"),
    [
        (np.zeros(3), "expects an array of 2 indices, got 1"),
        (np.zeros((2, 3), dtype=np.float32), "of float32"),
        (np.zeros((2, 3)).T, "lie one behind the other"),
    ],
)
def test_an_array_that_machine_code_cannot_take_is_refused(array: Any, says: str) -> None:
    """Else it would read and write memory that is not the array's."""
    with pytest.raises(TypeError, match=says):
        structures.address_of(array, 2, "d")


def test_python_and_c_agree_about_every_structure(tmp_path: Path) -> None:
    """Sizes of the structures in the header, by the C compiler, are those of the words that Python packs."""
    kinds = {a.kind for f in all_functions().values() for a in f.arguments if hasattr(a.kind, "_fields")}
    from tautline.kernels.machine.header import _name

    lines = [f'printf("%zu\\n", sizeof({_name(kind)}));' for kind in sorted(kinds, key=_name)]
    source = tmp_path / "sizes.c"
    source.write_text(
        '#include <stdio.h>\n#include "tautline.h"\nint main(void) {\n' + "\n".join(lines) + "\nreturn 0;\n}\n"
    )
    program = tmp_path / "sizes"
    subprocess.run([*linking.linker(), str(source), "-I", str(library.FOLDER), "-o", str(program)], check=True)
    found = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    expected = [structures.WORD * structures.structure(kind).size for kind in sorted(kinds, key=_name)]
    assert list(map(int, found)) == expected
    assert ctypes.sizeof(ctypes.c_double) == structures.WORD
