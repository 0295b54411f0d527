"""Elastic law `tension_only`: as linear when stretched, slack when not (docs/theory.md, equation 70).

Its passes along the string work on several elements at once.
"""

from __future__ import annotations

import math

from tautline.kernels.along import nodes_from, places_from, spread, store, total, width
from tautline.kernels.data import Array, Parameters
from tautline.kernels.elastic_laws.linear import pulls_from
from tautline.kernels.jit import inlined, kernel
from tautline.kernels.lanes import select, zero_like
from tautline.kernels.so3 import dot, sub


@inlined
def tension_and_energy(par: Parameters, strain: float) -> tuple[float, float]:
    """EA max(strain, 0) and EA max(strain, 0)^2/2."""
    taut = max(strain, 0.0)
    return par.EA * taut, 0.5 * par.EA * taut * taut


@kernel
def partials(par: Parameters, strain: float) -> tuple[float, float, float]:
    """Energy, tension and its slope by the strain, each over EA."""
    nothing = zero_like(strain)
    taut = max(strain, nothing)
    return 0.5 * taut * taut, taut, select(strain > 0.0, nothing + 1.0, nothing)


@kernel
def pulls(par: Parameters, l: float, q: Array, out: Array) -> None:
    """Tension over length of every element, and 0 behind the last."""
    k = par.EA / l
    nothing = spread(q, zero_like(l))
    for e in range(0, par.N + 1, width(q)):
        w = sub(nodes_from(q, e + 1), nodes_from(q, e))
        store(out, e, max(pulls_from(par.N, k, l, q, e, w), nothing))


@kernel
def sums(par: Parameters, l: float, q: Array) -> tuple[float, float]:
    """Sums over the elements of energy per length, and of tension times stretch less energy."""
    nothing = spread(q, zero_like(l))
    energies, stretches = nothing, nothing
    for e in range(0, par.N, width(q)):
        w = sub(nodes_from(q, e + 1), nodes_from(q, e))
        strain = math.sqrt(dot(w, w)) / l - 1.0
        taut = select(places_from(q, e) < par.N - 0.5, max(strain, nothing), nothing)
        energies += 0.5 * taut * taut
        stretches += taut
    V = par.EA * total(q, energies)
    return V, par.EA * total(q, stretches) + V
