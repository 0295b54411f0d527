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

import numba
import numpy as np

from tautline.engine.chain.lowering import initial_motion, kernel_parameters
from tautline.kernels import data
from tautline.kernels.compose import COMPOSITIONS
from tautline.kernels.machine.options import OPTIONS
from tautline.kernels.march import march
from tautline.kernels.rotation import solve_rotation
from tautline.kernels.so3 import Matrix, Vector
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


@numba.njit(**OPTIONS)  # type: ignore[untyped-decorator]
def turn_tuples(n: int, K: Matrix, h: float, b: Vector) -> float:
    """The library's Newton solution for the rotation, written with vectors and matrices."""
    total = 0.0
    for i in range(n):
        omega, _, _ = solve_rotation(K, h, (b[0] + 1e-9 * i, b[1], b[2]), (0.9, 1.1, 1.0))
        total += omega[0]
    return total


@numba.njit(**OPTIONS)  # type: ignore[untyped-decorator]
def turn_scalars(n: int, K: Matrix, h: float, b: Vector) -> float:
    """Turns unrolled by hand into scalars, which readable code is measured against."""
    total = 0.0
    k00, k01, k02 = K[0]
    k10, k11, k12 = K[1]
    k20, k21, k22 = K[2]
    e = 0.5 * h
    for i in range(n):
        b0, b1, b2 = b[0] + 1e-9 * i, b[1], b[2]
        x, y, z = 0.9, 1.1, 1.0
        for _ in range(12):
            u = k00 * x + k01 * y + k02 * z
            v = k10 * x + k11 * y + k12 * z
            w = k20 * x + k21 * y + k22 * z
            s = 1.0 + e * e * (x * x + y * y + z * z)
            r0 = u + e * (y * w - z * v) - s * b0
            r1 = v + e * (z * u - x * w) - s * b1
            r2 = w + e * (x * v - y * u) - s * b2
            f = 2.0 * e * e
            d00 = k00 + e * (y * k20 - z * k10) - f * b0 * x
            d01 = k01 + e * (y * k21 - z * k11) + e * w - f * b0 * y
            d02 = k02 + e * (y * k22 - z * k12) - e * v - f * b0 * z
            d10 = k10 + e * (z * k00 - x * k20) - e * w - f * b1 * x
            d11 = k11 + e * (z * k01 - x * k21) - f * b1 * y
            d12 = k12 + e * (z * k02 - x * k22) + e * u - f * b1 * z
            d20 = k20 + e * (x * k10 - y * k00) + e * v - f * b2 * x
            d21 = k21 + e * (x * k11 - y * k01) - e * u - f * b2 * y
            d22 = k22 + e * (x * k12 - y * k02) - f * b2 * z
            c0, c1, c2 = d11 * d22 - d21 * d12, d21 * d02 - d01 * d22, d01 * d12 - d11 * d02
            g = 1.0 / (d00 * c0 + d10 * c1 + d20 * c2)
            p = g * (c0 * r0 + c1 * r1 + c2 * r2)
            q = g * ((d12 * d20 - d22 * d10) * r0 + (d22 * d00 - d02 * d20) * r1 + (d02 * d10 - d12 * d00) * r2)
            t = g * ((d10 * d21 - d20 * d11) * r0 + (d20 * d01 - d00 * d21) * r1 + (d00 * d11 - d10 * d01) * r2)
            x, y, z = x - p, y - q, z - t
            m = p * p + q * q + t * t
            if (e * m) ** 2 <= 1e-34 * (x * x + y * y + z * z):
                break
        total += x
    return total


def readability_table() -> None:
    body = chain_of(system()).body
    arguments = (200_000, body.inertia, 5e-4, (0.03, 0.04, 0.02))
    same = abs(turn_tuples(*arguments) - turn_scalars(*arguments)) < 1e-6

    def timed(function: Callable[..., float]) -> float:
        begun = time.perf_counter()
        function(*arguments)
        return time.perf_counter() - begun

    tuples, scalars = best(lambda: timed(turn_tuples)), best(lambda: timed(turn_scalars))
    print("\nNewton solution of the rotation, nanoseconds: vectors as tuples against scalars unrolled by hand")
    print(
        f"  tuples {tuples / arguments[0] * 1e9:.1f}, scalars {scalars / arguments[0] * 1e9:.1f}, "
        f"ratio {tuples / scalars:.2f}, same result: {same}"
    )


def main() -> None:
    ours(1, 20, 10)
    with tempfile.TemporaryDirectory() as folder:
        c = compile_c(Path(folder))
        if c is None:
            print("no gcc here: the comparison with C is left out")
        step_table(c)
    readability_table()


if __name__ == "__main__":
    main()
