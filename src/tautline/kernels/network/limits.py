"""Step limits of a network: what is stable, and what resolves stretching and turning."""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.errors import (
    REEL_OUTRUNS_WAVES,
    RUNNING,
    UNSTABLE_STEP,
)
from tautline.kernels.data import (
    EXTRA,
    LEVEL,
    POSITION,
    PULL,
    RATIOS,
    SIGMA,
    Plan,
    S,
    node,
    triple,
)
from tautline.kernels.energy import element_length, reel_mass
from tautline.kernels.jit import kernel, separate
from tautline.kernels.limits import FINER_TURNS, MAX_LEVEL, choose_level, outruns_waves
from tautline.kernels.loads.drag import velocity_of_fluid
from tautline.kernels.loads.pushing import fastest_decay
from tautline.kernels.network.data import (
    OMEGA,
    PLACE,
    Network,
    Strand,
    V,
    body_at,
    directional_at,
    drag_at,
    loads_at,
    strand_at,
)
from tautline.kernels.network.spans import retracted
from tautline.kernels.so3 import dot, sub


class NetworkLimits(NamedTuple):
    """Largest steps of a network (s): of stability, and those that resolve stretching and turning."""

    waves: float
    stretching: float
    turning: float


@kernel
def stiffness(strand: Strand) -> float:
    """Of the string as one spring (N/m)."""
    return strand.par.EA / (strand.par.L - retracted(strand))


@kernel
def softness_of_drum(network: Network, strand: Strand) -> float:
    """Inverse masses of drums and sheaves that move at the ends of a string (1/kg)."""
    if not strand.reeved:
        return 1.0 / reel_mass(strand.par, strand.reel[S])[0] if strand.row >= 0 else 0.0
    soft = 0.0
    for f in range(2):
        m = strand.reeving.feeds[f]
        if m >= 0:
            feed = strand_at(network.strands, m)
            if feed.row >= 0:
                soft += strand.reeving.factors[f] ** 2 / reel_mass(feed.reeving.par, feed.reel[S])[0]
    return soft


@kernel
def shared_softness(network: Network, strand: Strand, e: int) -> float:
    """Inverse mass at end e of a string of one element (1/kg), where strings like it share the mass of a body.

    Each takes a part that is as large as its own share of their stiffness over the masses that they feel.
    """
    load = 0.0
    for k in range(len(network.strands)):
        other = strand_at(network.strands, k)
        if other.par.N == 1 and not other.reeving.idle:
            for f in range(2):
                if other.ends[f] == strand.ends[e]:
                    load += stiffness(other) * other.softness[f]
    return load / stiffness(strand)


@kernel
def single_frequency2(network: Network, strand: Strand) -> float:
    """Squared frequency of a string of one element between what is at its ends (equation 26)."""
    par = strand.par
    X = par.L - retracted(strand)
    first = shared_softness(network, strand, 0) + softness_of_drum(network, strand)
    last = shared_softness(network, strand, 1)
    first /= 1.0 + first * par.mu * X / 3.0
    last /= 1.0 + last * par.mu * X / 3.0
    between = par.mu * X / 6.0
    coupled = first * last * between
    return stiffness(strand) * (first + last + 2.0 * coupled) / (1.0 - coupled * between)


@kernel
def strand_frequencies2(network: Network, strand: Strand) -> tuple[float, float]:
    """Squared frequencies of the fastest waves in the elements, and of the string as one spring between its ends."""
    par = strand.par
    if par.N == 1:
        own = single_frequency2(network, strand)
        return own, own
    l = element_length(par, retracted(strand))
    # each end swings with a third of the string at least
    at_ends = strand.softness[0] + strand.softness[1] + softness_of_drum(network, strand)
    at_ends = min(at_ends, 6.0 / (par.mu * par.N * l))
    return 12.0 * par.EA / (par.mu * l * l), stiffness(strand) * at_ends


@kernel
def pull_of(strand: Strand, e: int) -> float:
    """Tension in the element at end e (N)."""
    i = 0 if e == 0 else strand.par.N - 1
    q = strand.nodes[POSITION]
    w = sub(node(q, i + 1), node(q, i))
    return float(max(strand.scratch.nodes[PULL][i] * math.sqrt(dot(w, w)), 0.0))


@kernel
def step_of(phase: float, frequency2: float) -> float:
    """Step in which an oscillation of this squared frequency advances by a phase."""
    return phase / math.sqrt(frequency2) if frequency2 > 0.0 else math.inf


@kernel
def swing_in_flow(network: Network, b: int, t: float) -> float:
    """Squared frequency with which a body swings about the direction of its motion in a fluid, at most."""
    form, state = directional_at(network.directional, b), body_at(network.bodies, b).state
    if not form.acts:
        return 0.0 * t
    u = sub(triple(state, V), velocity_of_fluid(drag_at(network.around, b), t, state[PLACE + 2]))
    return form.swing * dot(u, u)


@separate
def limits_now(network: Network, plan: Plan, t: float) -> NetworkLimits:
    """All limits of the present motion."""
    waves2, single2, swing2, stretching2, rate2, decay = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        if strand.reeving.idle:
            continue
        own = strand_frequencies2(network, strand)
        if strand.par.N == 1:
            single2 = max(single2, own[0])
        else:
            waves2 = max(waves2, own[0])
        stretching2 = max(stretching2, own[1])
        decay = max(decay, fastest_decay(loads_at(network.acting, k)))
    for b in range(len(network.bodies)):
        body = body_at(network.bodies, b)
        if body.led or (body.free and body.turns):
            omega = triple(body.state, OMEGA)
            pull, single = 0.0, False
            for k in range(len(network.strands)):
                strand = strand_at(network.strands, k)
                for e in range(2):
                    if strand.ends[e] == b:
                        pull += pull_of(strand, e)
                        single = single or strand.par.N == 1
            swing = pull * body.pull_lever
            rate2 = max(rate2, FINER_TURNS * max(dot(omega, omega), swing + swing_in_flow(network, b, t)))
            if single:  # stretching and swinging share the body's inertia
                swing2 = max(swing2, swing)
    waves = plan.limit_multiple * step_of(2.0, max(waves2, single2 + swing2))
    if decay > 0.0:
        waves = min(waves, 1.0 / decay)
    return NetworkLimits(waves, step_of(plan.resolution, stretching2), step_of(plan.resolution, rate2))


@separate
def guard(network: Network, plan: Plan, t: float) -> int:
    """Look at all limits before a base step, and divide it."""
    limits = limits_now(network, plan, t)
    clock = network.clock
    level = 0
    if plan.adaptive:
        level = choose_level(plan, min(plan.allowed_ratio * limits.waves, limits.stretching, limits.turning))
        level = min(level + clock[EXTRA], MAX_LEVEL)
    clock[LEVEL] = level
    h = plan.h / (1 << level)
    for i in range(len(limits)):
        network.totals[RATIOS + i] = max(network.totals[RATIOS + i], h / limits[i])
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        if strand.row >= 0 and outruns_waves(strand.par, strand.reel[SIGMA]):
            return REEL_OUTRUNS_WAVES
    return UNSTABLE_STEP if h / limits.waves > plan.allowed_ratio else RUNNING
