"""Adjoint of damping inside the string at a joint of two steps (docs/theory.md, (B12))."""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels.adjoint.data import (
    BY_EA,
    BY_H,
    BY_MU,
    BY_VISCOSITY,
    SIGMA_BAR,
    SIGMA_BEFORE_BAR,
    VELOCITY_BAR,
    VELOCITY_BEFORE_BAR,
    Adjoint,
)
from tautline.kernels.adjoint.elements import BY_DIRECTION, BY_LENGTH, BY_LENGTHENING, apart
from tautline.kernels.adjoint.potential import add_to_nodes
from tautline.kernels.along import load, nodes_from, places_from, previous_nodes, put_nodes, spread, store, total, width
from tautline.kernels.data import (
    BY_REEL,
    DIRECTION,
    LENGTH,
    LINEAR,
    PULL,
    VELOCITY,
    VELOCITY_BEFORE,
    VISCOUS,
    Array,
    Motion,
    Parameters,
    Scratch,
)
from tautline.kernels.fixed import hold_first_node
from tautline.kernels.jit import inlined
from tautline.kernels.lanes import select
from tautline.kernels.loads.damping import TINY_SPEED, Damping
from tautline.kernels.loads.drag import STEADY, reach
from tautline.kernels.so3 import add_scaled, scale, sub


class Expectation(NamedTuple):
    """What loads expect velocities at a joint from, beside those of nodes and body."""

    ahead: float  # how far they are extrapolated from the latest step
    time: float  # for which loads act
    base: float  # the base step
    last: float  # speed of the reel in the latest step
    before: float  # and in the one before


class Virtual(NamedTuple):
    """Velocities v of a joint, and a virtual velocity w + k v that forces are multiplied by."""

    w: Array
    w_s: float
    k: float
    v: Array
    sigma: float


@inlined
def viscous_back(
    par: Parameters,
    own: Damping,
    l: float,
    expected: Expectation,
    along: Virtual,
    motion: Motion,
    scratch: Scratch,
    out: Adjoint,
) -> tuple[float, float]:
    """Of the forces of damping times a virtual velocity: adds derivatives by parameters and expectations.

    Those by elements go into their rows; the product itself and its derivative by l are returned.
    """
    N = par.N
    w, k, v, sigma = along.w, along.k, along.v, along.sigma
    rows, directions, by_direction = scratch.factor, scratch.nodes[DIRECTION], scratch.nodes[BY_DIRECTION]
    full, limited = own.viscosity / l, par.elastic_law != LINEAR
    decay = 12.0 * expected.time * own.viscosity / (par.mu * l * l)
    part = reach(expected.ahead, decay)
    w_s = along.w_s + k * sigma
    nothing = spread(directions, 0.0)
    values, by_full, by_part, by_last, by_before = nothing, nothing, nothing, nothing, nothing
    by_tension, by_stretch = nothing, nothing
    after = (nothing, nothing, nothing)
    for e in range(0, N + 1, width(directions)):
        t, by_reel, c = nodes_from(directions, e), load(rows[BY_REEL], e), load(rows[VISCOUS], e)
        dv = sub(nodes_from(v, e + 1), nodes_from(v, e))
        dw = add_scaled(sub(nodes_from(w, e + 1), nodes_from(w, e)), k, dv)
        a, b = apart(t, dv, by_reel, sigma), apart(t, dw, by_reel, w_s)
        bar = -a * b
        values += c * bar
        t_bar = add_scaled(scale(-c * b, dv), -c * a, dw)
        lengthening = -c * (sigma * b + w_s * a)
        length_bar = nothing
        if limited:
            length = load(rows[LENGTH], e)
            tension = load(scratch.nodes[PULL], e) * length
            dv_last = sub(nodes_from(motion.nodes[VELOCITY], e + 1), nodes_from(motion.nodes[VELOCITY], e))
            before = motion.nodes[VELOCITY_BEFORE]
            dv_before = sub(nodes_from(before, e + 1), nodes_from(before, e))
            last = apart(t, dv_last, by_reel, expected.last)
            change = last - apart(t, dv_before, by_reel, expected.before)
            speed = max(-(last + part * change), spread(directions, TINY_SPEED))
            # which of three coefficients it is, as damping.viscous_coefficients has it
            bar = select(tension > 0.0, bar, nothing)
            least_bar = select(tension < full * speed, bar, nothing)
            bar = bar - least_bar
            tension_bar = least_bar / speed
            apart_bar = tension_bar * tension / speed
            length_bar = tension_bar * (par.EA / l)
            by_tension += tension_bar
            by_stretch += tension_bar * length * (1.0 / l)
            t_bar = add_scaled(add_scaled(t_bar, (1.0 + part) * apart_bar, dv_last), -part * apart_bar, dv_before)
            lengthening += apart_bar * ((1.0 + part) * expected.last - part * expected.before)
            by_part += apart_bar * change
            by_last += (1.0 + part) * apart_bar * by_reel
            by_before -= part * apart_bar * by_reel
            x = scale(apart_bar, t)
            gives = sub(previous_nodes(directions, after, x), x)
            after = x
            add_to_nodes(out.nodes[VELOCITY_BAR], e, scale(1.0 + part, gives))
            add_to_nodes(out.nodes[VELOCITY_BEFORE_BAR], e, scale(-part, gives))
        by_full += select(places_from(directions, e) < N - 0.5, bar, nothing)
        put_nodes(by_direction, e, t_bar)
        store(rows[BY_LENGTH], e, length_bar)
        store(rows[BY_LENGTHENING], e, lengthening)
    full_bar = total(directions, by_full)
    out.numbers[BY_VISCOSITY] += full_bar / l
    l_bar = -full_bar * full / l
    if limited:
        hold_first_node(out.nodes[VELOCITY_BAR])
        hold_first_node(out.nodes[VELOCITY_BEFORE_BAR])
        stretched = total(directions, by_stretch)
        out.numbers[BY_EA] += stretched - total(directions, by_tension)
        l_bar -= par.EA * stretched / l
        out.reel[SIGMA_BAR] += total(directions, by_last)
        out.reel[SIGMA_BEFORE_BAR] += total(directions, by_before)
        if part < expected.ahead:
            decayed = -STEADY / decay * total(directions, by_part)  # derivative by decay, times decay
            out.numbers[BY_VISCOSITY] += decayed / own.viscosity
            out.numbers[BY_MU] -= decayed / par.mu
            out.numbers[BY_H] += decayed / expected.base
            l_bar -= 2.0 * decayed / l
    return total(directions, values), l_bar
