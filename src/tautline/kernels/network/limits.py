"""Step limits of a network: what is stable, and what resolves stretching and turning."""

from __future__ import annotations

import math

from tautline.errors import REEL_OUTRUNS_WAVES
from tautline.kernels import data
from tautline.kernels.data import Plan, node, triple
from tautline.kernels.energy import element_length, reel_mass
from tautline.kernels.jit import kernel, separate
from tautline.kernels.limits import (
    FINER_TURNS,
    TURNING,
    Limits,
    at_start,
    outruns_waves,
    resolved_drum,
    set_level,
)
from tautline.kernels.loads.drag import velocity_of_fluid
from tautline.kernels.loads.pushing import fastest_decay
from tautline.kernels.network import data as net
from tautline.kernels.network.data import Body, Network, Strand, body_at, directional_at, drag_at, loads_at, strand_at
from tautline.kernels.network.spans import retracted
from tautline.kernels.so3 import dot, sub


@kernel
def stiffness(strand: Strand) -> float:
    """Stiffness of the string as one spring (N/m)."""
    return strand.par.EA / (strand.par.L - retracted(strand))


@kernel
def inverse_feed_mass(network: Network, strand: Strand) -> float:
    """Inverse masses of drums and sheaves that move at the ends of a string (1/kg)."""
    if not strand.reeved:
        return 1.0 / reel_mass(strand.par, strand.reel[data.S])[0] if strand.row >= 0 else 0.0
    soft = 0.0
    for f in range(2):
        m = strand.reeving.feeds[f]
        if m >= 0:
            feed = strand_at(network.strands, m)
            if feed.row >= 0:
                soft += strand.reeving.factors[f] ** 2 / reel_mass(feed.reeving.par, feed.reel[data.S])[0]
    return soft


@kernel
def shared_inverse_mass(network: Network, strand: Strand, e: int) -> float:
    """Inverse mass at end e of a string of one element (1/kg), where strings like it share the mass of a body.

    Each takes a part that is as large as its own share of their stiffness over the masses that they feel.
    """
    load = 0.0
    for k in range(len(network.strands)):
        other = strand_at(network.strands, k)
        if other.par.N == 1 and not other.reeving.idle:
            for f in range(2):
                if other.ends[f] == strand.ends[e]:
                    load += stiffness(other) * other.inverse_end_mass[f]
    return load / stiffness(strand)


@kernel
def spring_frequency2(strand: Strand, first: float, last: float) -> float:
    """Squared frequency of a string as one element between what is at its ends (equation 26), of inverse masses."""
    par = strand.par
    X = par.L - retracted(strand)
    first /= 1.0 + first * par.mu * X / 3.0
    last /= 1.0 + last * par.mu * X / 3.0
    between = par.mu * X / 6.0
    coupled = first * last * between
    return stiffness(strand) * (first + last + 2.0 * coupled) / (1.0 - coupled * between)


@kernel
def strand_frequencies2(network: Network, strand: Strand) -> tuple[float, float]:
    """Squared frequencies of the fastest waves in the elements, and of the string as one spring between its ends."""
    par, drum = strand.par, inverse_feed_mass(network, strand)
    if par.N == 1:
        first, last = (shared_inverse_mass(network, strand, 0), shared_inverse_mass(network, strand, 1))
        own = spring_frequency2(strand, first + drum, last)
        return own, own
    l = element_length(par, retracted(strand))
    first, last = strand.inverse_end_mass
    return 12.0 * par.EA / (par.mu * l * l), spring_frequency2(strand, first + drum, last)


@kernel
def pull_of(strand: Strand, e: int) -> tuple[float, float]:
    """Tension in the element at end e, and what damping adds to it (N)."""
    i = 0 if e == 0 else strand.par.N - 1
    q, v = strand.nodes[data.POSITION], strand.nodes[data.VELOCITY]
    w = sub(node(q, i + 1), node(q, i))
    length = math.sqrt(dot(w, w))
    viscous = 0.0
    if strand.par.viscosity > 0.0 and length > 0.0:
        rate = dot(w, sub(node(v, i + 1), node(v, i))) / length
        viscous = max(strand.par.viscosity * rate / element_length(strand.par, retracted(strand)), 0.0)
    return float(max(strand.scratch.nodes[data.PULL][i] * length, 0.0)), viscous


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
    u = sub(triple(state, net.V), velocity_of_fluid(drag_at(network.around, b), t, state[net.PLACE + 2]))
    return form.swing * dot(u, u)


@kernel
def pull_on(network: Network, b: int) -> tuple[float, float, bool]:
    """Pull of all strings on a body, without and with damping (N), and whether one of a single element is among them.

    Where they are slack they count as if they held the body against its weight: they get taut within a few steps,
    which are to follow that already. Damping is implicit, and takes no part in what is stable.
    """
    elastic, viscous, single = 0.0, 0.0, False
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        for e in range(2):
            if strand.ends[e] == b:
                tension, damping = pull_of(strand, e)
                elastic += tension
                viscous += damping
                single = single or strand.par.N == 1
    pulled = triple(body_at(network.bodies, b).work, net.PULLED)
    weight = math.sqrt(dot(pulled, pulled))
    return max(elastic, weight), max(elastic + viscous, weight), single


@kernel
def inverse_drum_mass(strand: Strand) -> float:
    """Inverse mass of a drum or wheel against what carries it (1/kg)."""
    return 1.0 / reel_mass(strand.reeving.par, strand.reel[data.S])[0] + strand.turned


@separate
def limits_now(network: Network, plan: Plan, t: float) -> Limits:
    """All limits of the present motion."""
    fastest2, single2, swing2, spring2, stretching2, rate2, decay, drum = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, math.inf
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        if strand.row >= 0:
            command, soft = strand.command, inverse_drum_mass(strand)
            drum = min(drum, resolved_drum(plan, soft, command.stiffness, command.damping))
            spring2 = max(spring2, command.stiffness * soft)
        if strand.reeving.idle:
            continue
        own = strand_frequencies2(network, strand)
        if strand.par.N == 1:
            single2 = max(single2, own[0])
        else:
            fastest2 = max(fastest2, own[0])
        stretching2 = max(stretching2, own[1])
        decay = max(decay, fastest_decay(loads_at(network.acting, k)))
    for b in range(len(network.bodies)):
        body = body_at(network.bodies, b)
        own2, single = body.heave2, False
        if turns(body) or own2 > 0.0:
            elastic, pull, single = pull_on(network, b)
            if turns(body):
                omega = triple(body.state, net.OMEGA)
                own2 += elastic * body.pull_lever
                swing = pull * body.pull_lever + swing_in_flow(network, b, t)
                rate2 = max(rate2, FINER_TURNS * max(dot(omega, omega), swing))
        fastest2 = max(fastest2, own2)
        if single:  # stretching and the body's own motion share its inertia
            swing2 = max(swing2, own2)
    if single2 > 0.0:  # all that moves at its ends is in one
        single2 += swing2 + spring2
    return Limits(
        plan.limit_multiple * step_of(2.0, max(fastest2, spring2, single2)),
        1.0 / decay if decay > 0.0 else math.inf,
        step_of(plan.resolution, stretching2),
        step_of(plan.resolution, rate2),
        drum,
    )


@kernel
def turns(body: Body) -> bool:
    """Whether a body may turn."""
    return bool(body.rotates or (body.free and body.turns))


@kernel
def begins_in_loads(network: Network) -> bool:
    """Whether a motion begins in which what loads do to a body shows in the first steps."""
    turning = network.in_fluid
    for b in range(len(network.bodies)):
        turning = turning or turns(body_at(network.bodies, b))
    return bool(network.clock[data.TOTAL] == 0 and network.loaded and turning)


@separate
def guard(network: Network, plan: Plan, t: float) -> int:
    """Look at all limits before a base step, and divide it."""
    limits, totals = limits_now(network, plan, t), network.totals
    first = at_start(plan, limits) if begins_in_loads(network) else limits
    status = set_level(plan, first, totals, network.clock)
    h = plan.h / (1 << network.clock[data.LEVEL])
    totals[data.RATIOS + TURNING] = max(
        totals[data.RATIOS + TURNING], h / limits.turning
    )  # for FMUs, which take no samples
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        if strand.row >= 0 and outruns_waves(strand.par, strand.reel[data.SIGMA]):
            return REEL_OUTRUNS_WAVES
    return status
