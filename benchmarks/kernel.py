"""Time of one step, against hand-written C in the same run. `python benchmarks/kernel.py`

The C program (lumped_verlet.c) steps a lumped-mass string with the same rigid body by Stormer-Verlet; it is
compiled with gcc -O3 -march=native. Machines are noisy: read the ratios. Every figure is the best of several runs.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tautline.engine.chain.lowering import initial_motion, kernel_parameters
from tautline.kernels import data
from tautline.kernels.compose import COMPOSITIONS
from tautline.kernels.march import march
from tautline.model.chain.cases import chain_start
from tautline.model.chain.systems import chain_of
from tautline.model.run import Run
from tautline.model.system.case import Case
from tautline.model.system.parts import LINE
from tautline.paper.examples import EXAMPLES, start, system

ELEMENTS = (20, 100, 400, 1600)
REPEATS = 7
NODE_STEPS = 600_000  # work in one timing of the constant-length step


def best(action: Callable[[], float]) -> float:
    """Least of several timings (s)."""
    return min(action() for _ in range(REPEATS))


def step_at(N: int) -> float:
    """The paper's step at N = 20, shortened with the elements."""
    return 5e-4 * 20 / N


def compile_c(folder: Path) -> Callable[[int, int], float] | None:
    """A function (N, steps) -> seconds, or None where there is no gcc."""
    if shutil.which("gcc") is None:
        return None
    source = Path(__file__).with_name("lumped_verlet.c")
    library = folder / "lumped_verlet.so"
    subprocess.run(
        ["gcc", "-O3", "-march=native", "-shared", "-fPIC", "-o", str(library), str(source), "-lm"], check=True
    )
    function = ctypes.CDLL(str(library)).lumped_verlet
    function.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_double, ctypes.POINTER(ctypes.c_double)]
    function.restype = ctypes.c_double
    end = (ctypes.c_double * 3)()

    def run(N: int, steps: int) -> float:
        begun = time.perf_counter()
        function(N, steps, step_at(N), end)
        return time.perf_counter() - begun

    return run


def ours(number: int, N: int, steps: int, order: int = 2, compensated: bool = True) -> float:
    """Seconds for so many steps of example 1 (constant length) or 3 (moving reel), nothing sampled in between."""
    case = Case(system().with_elements({LINE: N}), start(EXAMPLES[number - 1]), {}, Run(duration=1.0))
    par = kernel_parameters(chain_of(case.system), N, "symmetric", compensated)
    motion = initial_motion(par, chain_start(case))
    composition = COMPOSITIONS[order]
    plan = data.Plan(
        h=step_at(N),
        stages=composition.stages,
        limit_multiple=composition.limit_multiple,
        adaptive=False,
        allowed_ratio=0.9,
        resolution=0.05,
        minimum_length=0.1,
        end_mass=0.1,
        body_frequency2=0.0,
        steps_per_sample=steps,
    )
    command = data.Command(number == 1, np.zeros(1), np.array([2.09]))
    out, scratch = data.empty_samples(1, N), data.empty_scratch(N)
    begun = time.perf_counter()
    status, _ = march(par, plan, command, motion, scratch, data.empty_backups(motion), out, None)
    elapsed = time.perf_counter() - begun
    assert status == 0, f"the run ended with status {status}"
    return elapsed


def step_table(c: Callable[[int, int], float] | None) -> None:
    print("Microseconds a step; in brackets over C, for the reeling steps over our constant-length step")
    print(
        f"{'N':>5} {'C':>8} {'constant':>16} {'uncompensated':>16} {'order 4':>16} "
        f"{'reeling':>16} {'reeling order 4':>18} {'state':>9}"
    )
    for N in ELEMENTS:
        steps = NODE_STEPS // N
        few = max(50, steps // 8)
        yardstick = best(lambda N=N, n=steps: c(N, n)) / steps * 1e6 if c else np.nan  # type: ignore[misc]
        constant = best(lambda N=N, n=steps: ours(1, N, n)) / steps * 1e6  # type: ignore[misc]
        plain = best(lambda N=N, n=steps: ours(1, N, n, compensated=False)) / steps * 1e6  # type: ignore[misc]
        fourth = best(lambda N=N, n=few: ours(1, N, n, order=4)) / few * 1e6  # type: ignore[misc]
        reeling = best(lambda N=N, n=few: ours(3, N, n)) / few * 1e6  # type: ignore[misc]
        reeling4 = best(lambda N=N, n=few: ours(3, N, n // 5, order=4)) / (few // 5) * 1e6  # type: ignore[misc]
        size = sum(x.nbytes for x in (*data.empty_motion(N), *data.empty_scratch(N))) / 1024
        print(
            f"{N:>5} {yardstick:>8.3f} {constant:>8.3f} ({constant / yardstick:4.2f}x) "
            f"{plain:>8.3f} ({plain / yardstick:4.2f}x) {fourth:>8.3f} ({fourth / yardstick:4.1f}x) "
            f"{reeling:>8.3f} ({reeling / constant:4.1f}x) {reeling4:>9.3f} ({reeling4 / constant:5.1f}x) "
            f"{size:>6.0f} KB"
        )


def main() -> None:
    ours(1, 20, 10)
    with tempfile.TemporaryDirectory() as folder:
        c = compile_c(Path(folder))
        if c is None:
            print("no gcc here: the comparison with C is left out")
        step_table(c)


if __name__ == "__main__":
    main()
