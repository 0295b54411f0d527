"""One step with a moving reel, for a single run or for members in lanes (docs/theory.md, equations 18 to 22)."""

from __future__ import annotations

from typing import Any

from tautline.errors import RUNNING
from tautline.kernels.compensated import accumulate
from tautline.kernels.data import (
    FORCE,
    H_BEFORE,
    H_LAST,
    ITERATIONS,
    MEAN_VELOCITY,
    MOMENTUM,
    POSITION,
    S_ERR,
    Array,
    Command,
    Counters,
    Motion,
    Parameters,
    S,
    Scratch,
    node,
)
from tautline.kernels.energy import element_length, strain_at_guide
from tautline.kernels.fixed import extrapolation, outcome
from tautline.kernels.jit import inlined, kernel
from tautline.kernels.lanes import LANES, either, put, take, zero_like
from tautline.kernels.members import add_iterations, command_of, parameters_of
from tautline.kernels.reeling import (
    Rates,
    ReelImpulses,
    extrapolated_rates,
    kept_reel_force,
    last_kick,
    move_string,
    reel_after,
    reel_before,
    solve_rates,
    step_target,
)
from tautline.kernels.reels import NO_ENTRANCE, Reels, ReelStart, pack_start, unpack_start
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import dot


@kernel
def reels_before(
    par: Parameters, reels: Reels, reel: Array, strain: float, force: float, h: float, start: float, end: float
) -> ReelStart:
    """Starts of a step, one member after the other: into rows of `reels`, which stand for entrances and drums."""
    p_s = zero_like(strain)
    sigma = zero_like(strain)
    for k in range(LANES):
        if reels.status[k] == RUNNING:
            own = parameters_of(reels.members, k)
            command = command_of(reels.members, k)
            given = (take(strain, k), take(force, k), h, take(start, k), take(end, k))
            before = reel_before(own, command, reels.reel[k], *given)
            pack_start(before, reels.starts[k])
            p_s = put(p_s, k, before.p_s)
            sigma = put(sigma, k, before.sigma)
    rows: Any = reels
    return ReelStart(p_s, sigma, NO_ENTRANCE, rows)


@kernel
def reels_after(
    par: Parameters,
    reels: Reels,
    reel: Array,
    before: ReelStart,
    h: float,
    end: float,
    rates: Rates,
    pushes: ReelImpulses,
) -> None:
    """Impulses, work and loss of a step, one member after the other."""
    for k in range(LANES):
        if reels.status[k] == RUNNING:
            own = parameters_of(reels.members, k)
            command = command_of(reels.members, k)
            start = unpack_start(reels.starts[k])
            reel_after(own, command, reels.reel[k], start, h, take(end, k), take(rates, k), take(pushes, k))


@kernel
def add_iterations_of_one(clock: Counters, iterations: float) -> None:
    clock[ITERATIONS] += int(iterations)


begin_reel = either(reel_before, reels_before)
end_reel = either(reel_after, reels_after)
note_iterations = either(add_iterations_of_one, add_iterations)


@inlined
def reeling_stage(
    par: Parameters, command: Command, motion: Motion, scratch: Scratch, h: float, start: float, end: float
) -> int:
    """One step of length h; start and end are the times of its ends.

    FORCE must hold `evaluate_forces` of the present configuration; it does so again afterwards.
    """
    reel = motion.reel
    q = motion.nodes[POSITION]
    s = reel[S]
    R = attitude(motion.body)
    force = kept_reel_force(scratch.nodes[FORCE])
    strain = strain_at_guide(par, q, element_length(par, s))
    before = begin_reel(par, command, reel, strain, force, h, start, end)
    x = extrapolation(h, reel[H_LAST], reel[H_BEFORE])
    guess = extrapolated_rates(x, motion, before.sigma, scratch.nodes[MEAN_VELOCITY])
    target = step_target(par, h, s, motion, R, before.p_s, before.at, before.drum, scratch)
    rates, failed, iterations = solve_rates(par, h, s, q, R, target, guess, scratch)
    p_N = node(motion.nodes[MOMENTUM], par.N)
    status = outcome(motion.clock, abs(target.p_s) + dot(p_N, p_N) + dot(target.Pi, target.Pi), failed)
    if status != RUNNING:
        return status
    note_iterations(motion.clock, iterations)

    gradient = move_string(par, motion, scratch, h, s, rates, R)
    accumulate(reel, S, S_ERR, h * rates.sigma, par.compensated)
    force_end, strain_end = last_kick(par, motion, scratch, h, reel[S])
    end_reel(par, command, reel, before, h, end, rates, ReelImpulses(s, force, gradient, force_end, strain_end))
    return RUNNING
