"""Adjoint of what loads know of elements: unit vectors, lengths, what the reel does to them (docs/theory.md, (B13))."""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.adjoint import data as adjoint
from tautline.kernels.adjoint.data import Adjoint
from tautline.kernels.adjoint.potential import add_to_nodes
from tautline.kernels.along import load, nodes_from, places_from, previous, previous_nodes, spread, store, total, width
from tautline.kernels.data import Array, Parameters, Scratch
from tautline.kernels.fixed import hold_first_node
from tautline.kernels.jit import inlined, kernel
from tautline.kernels.lanes import select
from tautline.kernels.so3 import Vector, add_scaled, dot, scale, sub

# Rows that derivatives by elements are gathered in: nodes by DIRECTION, factor by LENGTH and BY_REEL.
BY_DIRECTION = data.IMPULSE
BY_LENGTH, BY_LENGTHENING = data.COUPLING, data.COUPLING_ALONG


class Virtual(NamedTuple):
    """Velocities v of a step boundary, and a virtual velocity w + k v that forces are multiplied by."""

    w: Array
    w_s: float
    k: float
    v: Array
    sigma: float


@kernel
def apart(t: Vector, dx: Vector, by_reel: float, x_s: float) -> float:
    """How fast the material of an element lengthens, where its ends move apart with dx and the reel moves with x_s."""
    return dot(t, dx) + x_s * by_reel


@inlined
def elements_back(par: Parameters, l: float, turns: bool, scratch: Scratch, out: Adjoint) -> float:
    """From derivatives by unit vectors, lengths and BY_REEL: adds those by positions; that by l is returned."""
    N = par.N
    q_bar = out.nodes[adjoint.POSITION_BAR]
    directions, by_direction = scratch.nodes[data.DIRECTION], scratch.nodes[BY_DIRECTION]
    lengths, by_length = scratch.factor[data.LENGTH], scratch.factor[BY_LENGTH]
    l_bar = lengthening_back(par, l, scratch) if turns else 0.0
    nothing, one = spread(lengths, 0.0), spread(lengths, 1.0)
    before = (nothing, nothing, nothing)
    for e in range(0, N + 1, width(lengths)):
        t, bar = nodes_from(directions, e), nodes_from(by_direction, e)
        inverse = 1.0 / select(places_from(lengths, e) < N - 0.5, load(lengths, e), one)
        along = load(by_length, e) - inverse * dot(t, bar)
        w_bar = add_scaled(scale(inverse, bar), along, t)
        add_to_nodes(q_bar, e, sub(previous_nodes(lengths, before, w_bar), w_bar))
        before = w_bar
    hold_first_node(q_bar)
    return l_bar


@inlined
def lengthening_back(par: Parameters, l: float, scratch: Scratch) -> float:
    """From derivatives by BY_REEL (damping.lengthening_by_reel): adds those by lengths; that by l is returned."""
    N = par.N
    bars, out = scratch.factor[BY_LENGTHENING], scratch.factor[BY_LENGTH]
    by_reel = scratch.factor[data.BY_REEL]
    k = 0.5 / (N * l)
    nothing = spread(out, 0.0)
    before, products = nothing, nothing
    first = bars[0]
    for e in range(0, N + 1, width(out)):
        place, bar = places_from(out, e), load(bars, e)
        behind = (N - 1.0 - place) * load(bars, e + 1)
        ahead = (N - place) * previous(out, before, bar)
        x = load(out, e) + k * (bar + behind - ahead)
        store(out, e, select(place < N - 0.5, x, nothing))
        products += bar * load(by_reel, e)
        before = bar
    if N == 1:
        out[0] += k * first
    else:
        # the strain before the guide is taken on from the first two elements
        out[0] += 2.0 * N * k * first
        out[1] -= N * k * first
    return -total(out, products) / l  # type: ignore[no-any-return]
