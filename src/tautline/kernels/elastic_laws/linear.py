"""Elastic law `linear`: pulls and pushes in proportion to the strain (docs/theory.md, equation 7).

The one law with closed sums over the elements, which the constant-length step spends most of its time on.
"""

from __future__ import annotations

import math

from tautline.arrays import TINY_LENGTH
from tautline.kernels.data import Array, Parameters, node
from tautline.kernels.jit import inlined, kernel
from tautline.kernels.so3 import dot, scale, sub


@inlined
def tension_and_energy(par: Parameters, strain: float) -> tuple[float, float]:
    """EA strain and EA strain^2/2."""
    return par.EA * strain, 0.5 * par.EA * strain * strain


@inlined
def pull(k: float, l: float, length: float) -> float:
    """Tension of an element over its length; k = EA/l."""
    return k * (1.0 - l / length)


@inlined
def forces(par: Parameters, l: float, q: Array, out_f: Array) -> None:
    """f_e = (EA/l) (1 - l/|w|) (q_{e+1} - q_e)."""
    n = par.N + 1
    k = par.EA / l
    # separate rows: with one base pointer the compiler does not vectorise this loop
    x, y, z = q[:n], q[n : 2 * n], q[2 * n :]
    f_x, f_y, f_z = out_f[:n], out_f[n : 2 * n], out_f[2 * n :]
    for e in range(par.N):
        w = (x[e + 1] - x[e], y[e + 1] - y[e], z[e + 1] - z[e])
        length = max(math.sqrt(dot(w, w)), TINY_LENGTH)
        f = scale(pull(k, l, length), w)
        f_x[e] = f[0]
        f_y[e] = f[1]
        f_z[e] = f[2]


@kernel
def energy(par: Parameters, l: float, q: Array) -> float:
    """Sum of EA (|w| - l)^2/(2 l)."""
    V = 0.0
    for e in range(par.N):
        w = sub(node(q, e), node(q, e + 1))
        x = math.sqrt(dot(w, w)) - l
        V += x * x
    return 0.5 * par.EA / l * V
