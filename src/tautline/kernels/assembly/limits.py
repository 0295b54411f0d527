"""Step limits of an assembly: what is stable, and what resolves stretching and turning."""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.errors import (
    REEL_OUTRUNS_WAVES,
    RUNNING,
    UNSTABLE_STEP,
)
from tautline.kernels.assembly.data import (
    OMEGA,
    Strand,
    System,
    body_at,
    loads_at,
    strand_at,
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
from tautline.kernels.loads.pushing import fastest_decay
from tautline.kernels.so3 import dot, sub


class AssemblyLimits(NamedTuple):
    """Largest steps of an assembly (s): of stability, and those that resolve stretching and turning."""

    waves: float
    stretching: float
    turning: float


@kernel
def strand_limits(plan: Plan, strand: Strand) -> tuple[float, float]:
    """Waves in the elements, and the string as one spring between the masses at its ends."""
    par = strand.par
    X = par.L - strand.reel[S]
    l = element_length(par, strand.reel[S])
    waves = plan.limit_multiple * 2.0 / math.sqrt(12.0 * par.EA / (par.mu * l * l))
    own = 3.0 / (par.mu * X)
    softness = strand.softness
    if strand.row >= 0:
        softness += 1.0 / reel_mass(par, strand.reel[S])[0]
    # each end swings with a third of the string at least
    frequency2 = par.EA / X * min(softness, 2.0 * own)
    return waves, plan.resolution / math.sqrt(frequency2) if frequency2 > 0.0 else math.inf


@kernel
def pull_of(strand: Strand, e: int) -> float:
    """Tension in the element at end e (N)."""
    i = 0 if e == 0 else strand.par.N - 1
    q = strand.nodes[POSITION]
    w = sub(node(q, i + 1), node(q, i))
    return float(max(strand.scratch.nodes[PULL][i] * math.sqrt(dot(w, w)), 0.0))


@separate
def limits_now(system: System, plan: Plan) -> AssemblyLimits:
    """All limits of the present motion."""
    waves, stretching, rate2 = math.inf, math.inf, 0.0
    for k in range(len(system.strands)):
        strand = strand_at(system.strands, k)
        own = strand_limits(plan, strand)
        waves, stretching = min(waves, own[0]), min(stretching, own[1])
        decay = fastest_decay(loads_at(system.acting, k))
        if decay > 0.0:
            waves = min(waves, 1.0 / decay)
    for b in range(len(system.bodies)):
        body = body_at(system.bodies, b)
        if body.free and body.turns:
            omega = triple(body.state, OMEGA)
            pull = 0.0
            for k in range(len(system.strands)):
                strand = strand_at(system.strands, k)
                for e in range(2):
                    if strand.ends[e] == b:
                        pull += pull_of(strand, e)
            rate2 = max(rate2, FINER_TURNS * max(dot(omega, omega), pull * body.pull_lever))
    turning = plan.resolution / math.sqrt(rate2) if rate2 > 0.0 else math.inf
    return AssemblyLimits(waves, stretching, turning)


@separate
def guard(system: System, plan: Plan) -> int:
    """Look at all limits before a base step, and divide it."""
    limits = limits_now(system, plan)
    clock = system.clock
    level = 0
    if plan.adaptive:
        level = choose_level(plan, min(plan.allowed_ratio * limits.waves, limits.stretching, limits.turning))
        level = min(level + clock[EXTRA], MAX_LEVEL)
    clock[LEVEL] = level
    h = plan.h / (1 << level)
    for i in range(len(limits)):
        system.totals[RATIOS + i] = max(system.totals[RATIOS + i], h / limits[i])
    for k in range(len(system.strands)):
        strand = strand_at(system.strands, k)
        if strand.row >= 0 and outruns_waves(strand.par, strand.reel[SIGMA]):
            return REEL_OUTRUNS_WAVES
    return UNSTABLE_STEP if h / limits.waves > plan.allowed_ratio else RUNNING
