"""Elastic energy of the string and its forces, by the law in force (docs/theory.md, equations 7, 11, 12 and 70)."""

from __future__ import annotations

import math
from collections.abc import Callable

from tautline import registry
from tautline.arrays import TINY_LENGTH
from tautline.kernels.data import LINEAR, Array, Parameters, node, put_node
from tautline.kernels.dispatch import dispatch, functions
from tautline.kernels.elastic_laws.linear import energy as linear_energy
from tautline.kernels.elastic_laws.linear import forces as linear_forces
from tautline.kernels.elastic_laws.linear import pull as linear_pull
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


@separate
def law_sums(par: Parameters, l: float, q: Array) -> tuple[float, float]:
    """Sums over the elements of energy per length, and of tension times stretch less energy, of any law."""
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
    if par.elastic_law == LINEAR:
        return scale(linear_pull(par.EA / l, l, length), w)
    return scale(tension_and_energy(par, length / l - 1.0)[0] / length, w)


@separate
def law_forces(par: Parameters, l: float, q: Array, out_f: Array) -> None:
    """Element forces of any law."""
    for e in range(par.N):
        put_node(out_f, e, element_force(par, l, sub(node(q, e + 1), node(q, e))))


@kernel
def elastic_energy(par: Parameters, l: float, q: Array) -> float:
    """V_el of elements of this unstretched length."""
    if par.elastic_law != LINEAR:
        return l * law_sums(par, l, q)[0]
    return linear_energy(par, l, q)


@inlined
def element_forces(par: Parameters, l: float, q: Array, out_f: Array) -> None:
    """Tension of every element along q_{e+1} - q_e, and 0 beyond the last element."""
    if par.elastic_law == LINEAR:
        linear_forces(par, l, q, out_f)
    else:
        law_forces(par, l, q, out_f)
    put_node(out_f, par.N, (0.0, 0.0, 0.0))
