"""Adjoint of damping inside the string at a step boundary (docs/theory.md, (B12))."""

from __future__ import annotations

from tautline.kernels import data
from tautline.kernels.adjoint import data as adjoint
from tautline.kernels.adjoint.data import Adjoint
from tautline.kernels.adjoint.elements import BY_DIRECTION, BY_LENGTHENING, Virtual, apart
from tautline.kernels.along import load, nodes_from, places_from, put_nodes, spread, store, total, width
from tautline.kernels.data import Scratch
from tautline.kernels.jit import inlined
from tautline.kernels.lanes import select
from tautline.kernels.loads.damping import Damping
from tautline.kernels.so3 import add_scaled, scale, sub


@inlined
def viscous_back(N: int, own: Damping, l: float, along: Virtual, scratch: Scratch, out: Adjoint) -> tuple[float, float]:
    """Adjoint of the forces of damping times a virtual velocity: adds the derivative by the viscosity.

    Those by elements go into their rows; the product itself and its derivative by l are returned. All elements are
    damped in full: strings that cannot push are carried along.
    """
    w, k, v, sigma = along.w, along.k, along.v, along.sigma
    rows, directions, by_direction = scratch.factor, scratch.nodes[data.DIRECTION], scratch.nodes[BY_DIRECTION]
    full = own.viscosity / l
    w_s = along.w_s + k * sigma
    nothing = spread(directions, 0.0)
    values, by_full = nothing, nothing
    for e in range(0, N + 1, width(directions)):
        t, by_reel, c = nodes_from(directions, e), load(rows[data.BY_REEL], e), load(rows[data.VISCOUS], e)
        dv = sub(nodes_from(v, e + 1), nodes_from(v, e))
        dw = add_scaled(sub(nodes_from(w, e + 1), nodes_from(w, e)), k, dv)
        a, b = apart(t, dv, by_reel, sigma), apart(t, dw, by_reel, w_s)
        bar = -a * b
        values += c * bar
        by_full += select(places_from(directions, e) < N - 0.5, bar, nothing)
        put_nodes(by_direction, e, add_scaled(scale(-c * b, dv), -c * a, dw))
        store(rows[BY_LENGTHENING], e, -c * (sigma * b + w_s * a))
    full_bar = total(directions, by_full)
    out.numbers[adjoint.BY_VISCOSITY] += full_bar / l
    return total(directions, values), -full_bar * full / l
