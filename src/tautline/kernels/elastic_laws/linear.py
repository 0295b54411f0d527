"""Elastic law `linear`: pulls and pushes in proportion to the strain (docs/theory.md, equation 7).

The one law with closed sums over the elements, which the constant-length step spends most of its time on.
"""

from __future__ import annotations

import math

from tautline.arrays import TINY_LENGTH
from tautline.kernels.along import nodes_from, places_from, spread, store, width
from tautline.kernels.data import Array, Parameters, node
from tautline.kernels.jit import inlined, kernel
from tautline.kernels.lanes import select, zero_like
from tautline.kernels.so3 import Vector, dot, sub


@inlined
def tension_and_energy(par: Parameters, strain: float) -> tuple[float, float]:
    """EA strain and EA strain^2/2."""
    return par.EA * strain, 0.5 * par.EA * strain * strain


@kernel
def partials(par: Parameters, strain: float) -> tuple[float, float, float]:
    """Energy, tension and its slope by the strain, each over EA."""
    return 0.5 * strain * strain, strain, zero_like(strain) + 1.0


@inlined
def pull(k: float, l: float, length: float) -> float:
    """Tension of an element over its length; k = EA/l."""
    return k * (1.0 - l / length)


@kernel
def pulls_from(N: int, k: float, l: float, q: Array, e: int, w: Vector) -> float:
    """Tension over length of the elements from e on, (EA/l) (1 - l/|w|), and 0 behind the last; k = EA/l."""
    length = max(math.sqrt(dot(w, w)), TINY_LENGTH)
    return select(places_from(q, e) < N - 0.5, pull(k, l, length), spread(q, 0.0))  # type: ignore[no-any-return]


@kernel
def pulls(par: Parameters, l: float, q: Array, out: Array) -> None:
    """Tension over length of every element, and 0 behind the last."""
    k = par.EA / l
    for e in range(0, par.N + 1, width(q)):
        w = sub(nodes_from(q, e + 1), nodes_from(q, e))
        store(out, e, pulls_from(par.N, k, l, q, e, w))


@kernel
def energy(par: Parameters, l: float, q: Array) -> float:
    """Sum of EA (|w| - l)^2/(2 l)."""
    V = 0.0
    for e in range(par.N):
        w = sub(node(q, e), node(q, e + 1))
        x = math.sqrt(dot(w, w)) - l
        V += x * x
    return 0.5 * par.EA / l * V
