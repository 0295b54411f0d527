"""Load `damping`: Kelvin-Voigt damping inside the string (docs/theory.md, equation 72)."""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.along import load, nodes_from, places_from, previous, spread, store, width
from tautline.kernels.data import Motion, Parameters, Scratch
from tautline.kernels.jit import kernel
from tautline.kernels.lanes import select
from tautline.kernels.loads.acting import Instant, Trend, by_speeds
from tautline.kernels.loads.drag import reach
from tautline.kernels.so3 import dot, sub

# Speed of an element's ends against each other that counts as none (m/s).
TINY_SPEED = 1e-300


class Damping(NamedTuple):
    """Viscosity of the string."""

    acts: bool
    viscosity: float  # times the cross-section


@kernel
def lengthening_by_reel(par: Parameters, l: float, scratch: Scratch) -> None:
    """Rate at which the material of an element stretches while its ends stand still, over sigma, times l.

    Elements get shorter, and material of another strain flows through them (equation 72). At the guide the gradient of
    the strain is taken on.
    """
    lengths, out = scratch.factor[data.LENGTH], scratch.factor[data.BY_REEL]
    N = par.N
    only = 1.0 / N
    beside = 0.5 / (N * l)
    if N == 1:
        out[0] = only * lengths[0] / l
        return
    before = spread(lengths, 2.0 * lengths[0] - lengths[1])
    for e in range(0, N + 1, width(lengths)):
        x = load(lengths, e)
        place = places_from(lengths, e)
        ahead = (N - 1.0 - place) * (load(lengths, e + 1) - x)
        behind = (N - place) * (x - previous(lengths, before, x))
        store(out, e, only / l * x - beside * (ahead + behind))
        before = x


@kernel
def viscous_coefficients(
    par: Parameters, own: Damping, l: float, at: Instant, trend: Trend, motion: Motion, scratch: Scratch
) -> None:
    """Tension over the speed at which the ends of an element move apart, for every element.

    A string that cannot push cannot be made to by damping either: an element without tension is not damped, and one
    that shortens at most by its tension, at the speed that is expected. That is extrapolated from the latest steps, no
    further than drag does it (equation 77).
    An element that got taut within the latest step is damped from that instant on: its damping begins at once, and a
    step too many or too few of it would be an error of first order.
    """
    rows, out, lengths = scratch.factor, scratch.factor[data.VISCOUS], scratch.factor[data.LENGTH]
    pull, directions = scratch.nodes[data.PULL], scratch.nodes[data.DIRECTION]
    v, v_before = motion.nodes[data.VELOCITY], motion.nodes[data.VELOCITY_BEFORE]
    h = at.back + at.ahead
    part = reach(trend.ahead, 12.0 * h * own.viscosity / (par.mu * l * l))
    full = own.viscosity / l
    over_h = 1.0 / h if h > 0.0 else 0.0 * h
    nothing = spread(out, 0.0)
    for e in range(0, par.N + 1, width(out)):
        c = select(places_from(out, e) < par.N - 0.5, spread(out, full), nothing)
        if par.elastic_law != data.LINEAR:
            tension = load(pull, e) * load(lengths, e)
            t = nodes_from(directions, e)
            apart = dot(t, sub(nodes_from(v, e + 1), nodes_from(v, e)))
            apart += by_speeds(rows, data.BY_REEL, data.BY_FAR, trend.last, e)
            earlier = dot(t, sub(nodes_from(v_before, e + 1), nodes_from(v_before, e)))
            earlier += by_speeds(rows, data.BY_REEL, data.BY_FAR, trend.before, e)
            since = max(load(lengths, e) - l, nothing) / max(apart, spread(out, TINY_SPEED))
            c = select(since < 2.0 * at.back, c * ((since + at.ahead) * over_h), c)
            change = apart - earlier
            # where its bound acts, damping does not depend on the speed, and the speed can be extrapolated in full
            shortens = apart + trend.ahead * change
            apart += part * change
            apart = select(max(apart, shortens) * c < -tension, shortens, apart)
            most = tension / max(-apart, spread(out, TINY_SPEED))
            c = select(apart < 0.0, min(c, most), c)
            c = select(tension > 0.0, c, nothing)
        store(out, e, c)
