"""Elastic energy of the string and its forces, by the law in force (docs/theory.md, equations 7, 11, 12 and 70)."""

from __future__ import annotations

import math
from collections.abc import Callable

from tautline import registry
from tautline.arrays import TINY_LENGTH
from tautline.kernels import data
from tautline.kernels.data import Array, Parameters, node
from tautline.kernels.dispatch import dispatch, functions
from tautline.kernels.elastic_laws.linear import energy as linear_energy
from tautline.kernels.elastic_laws.linear import partials as linear_partials
from tautline.kernels.elastic_laws.linear import pull as linear_pull
from tautline.kernels.elastic_laws.linear import pulls as linear_pulls
from tautline.kernels.elastic_laws.linear import tension_and_energy as linear_law
from tautline.kernels.jit import inlined, kernel, separate
from tautline.kernels.lanes import either
from tautline.kernels.so3 import Vector, dot, scale, sub

LAWS = registry.ELASTIC_LAWS
_functions = functions(LAWS, "tension_and_energy")
# A law that knows no lanes is never asked in lanes; something that compiles takes its place.
_in_lanes = [f if law.lanes else linear_law for f, law in zip(_functions, LAWS.values(), strict=True)]
# (par, strain): tension (N) and elastic energy per unstretched length (N), of one pendulum or of members in lanes.
tension_and_energy: Callable[[Parameters, float], tuple[float, float]] = either(
    separate(dispatch(_functions, "par.elastic_law")), kernel(dispatch(_in_lanes, "par.elastic_law"))
)

# (par, strain): energy, tension and its slope, each over EA, for the reverse pass; laws without never get there.
elastic_partials: Callable[[Parameters, float], tuple[float, float, float]] = kernel(
    dispatch(functions(LAWS, "partials", linear_partials), "par.elastic_law")
)


@kernel
def sums_of_any(par: Parameters, l: float, q: Array) -> tuple[float, float]:
    """Sums over the elements of energy per length, and of tension times stretch less energy."""
    V = 0.0
    pull = 0.0
    for e in range(par.N):
        w = sub(node(q, e), node(q, e + 1))
        strain = math.sqrt(dot(w, w)) / l - 1.0
        tension, energy = tension_and_energy(par, strain)
        V += energy
        pull += tension * (1.0 + strain) - energy
    return V, pull


@kernel
def element_force(par: Parameters, l: float, w: Vector) -> Vector:
    """Tension vector of one element, w = q_{e+1} - q_e, by any law."""
    length = max(math.sqrt(dot(w, w)), TINY_LENGTH)
    if par.elastic_law == data.LINEAR:
        return scale(linear_pull(par.EA / l, l, length), w)
    return scale(tension_and_energy(par, length / l - 1.0)[0] / length, w)


@kernel
def pulls_of_any(par: Parameters, l: float, q: Array, out: Array) -> None:
    """Tension over length of every element."""
    for e in range(par.N):
        w = sub(node(q, e + 1), node(q, e))
        length = max(math.sqrt(dot(w, w)), TINY_LENGTH)
        out[e] = tension_and_energy(par, length / l - 1.0)[0] / length
    out[par.N] = 0.0


# (par, l, q), (par, l, q, out): the same, by the law's own passes along the string where it has some.
law_sums: Callable[[Parameters, float, Array], tuple[float, float]] = separate(
    dispatch(functions(LAWS, "sums", sums_of_any), "par.elastic_law")
)
law_pulls: Callable[[Parameters, float, Array, Array], None] = separate(
    dispatch(functions(LAWS, "pulls", pulls_of_any), "par.elastic_law")
)


@kernel
def elastic_energy(par: Parameters, l: float, q: Array) -> float:
    """V_el of elements of this unstretched length."""
    if par.elastic_law != data.LINEAR:
        return l * law_sums(par, l, q)[0]
    return linear_energy(par, l, q)


@inlined
def element_pulls(par: Parameters, l: float, q: Array, out: Array) -> None:
    """Tension over length of every element, so that its force is this times q_{e+1} - q_e; 0 behind the last."""
    if par.elastic_law == data.LINEAR:
        linear_pulls(par, l, q, out)
    else:
        law_pulls(par, l, q, out)
