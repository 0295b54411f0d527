"""Steps, for a single run or for members in lanes: one source, compiled with what differs between the two.

What differs is given to the functions that make stages: who solves the reel's part of a step, and what becomes of a
step that fails. A single run inlines all of it; an argument or a choice inside the step would cost it 5 to 40 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tautline.errors import NEWTON_FAILED, NON_FINITE, RUNNING
from tautline.kernels import data
from tautline.kernels.compensated import accumulate
from tautline.kernels.data import Command, Counters, Motion, Parameters, Plan, Scratch, node, triple
from tautline.kernels.energy import body_moment, element_length, strain_at_guide
from tautline.kernels.fixed import (
    History,
    bend_of,
    drift_nodes,
    extrapolated_spin,
    extrapolation,
    keep_spin,
    kick_then_eliminate,
    velocities_of_body,
    velocities_of_nodes,
)
from tautline.kernels.jit import inlined
from tautline.kernels.lanes import zero_like
from tautline.kernels.newton import Equations, Rates, Target, rates_with_tangents, solve_rates
from tautline.kernels.reeling import ReelImpulses, kept_reel_force, last_kick, move_string, reel_after, reel_before
from tautline.kernels.rotation import add_spin, attitude, turn
from tautline.kernels.so3 import add_scaled, apply_transposed, dot, scale

Kernel = Callable[..., Any]


def make_fixed_step(
    kick_and_eliminate: Kernel, substitute: Kernel, drift: Kernel, diverged: Kernel, failed: Kernel
) -> tuple[Kernel, Kernel]:
    """Stage and base step at constant length, from passes over the nodes; `substitute` may drift too."""

    @inlined
    def stage(
        par: Parameters, l: float, history: History, motion: Motion, scratch: Scratch, h: float
    ) -> tuple[int, History]:
        """One step of length h with elements of length l; the factor must be current."""
        body = motion.body
        R = attitude(body)
        impulse = history.pending + 0.5 * h
        v_N = kick_and_eliminate(par, l, impulse, motion, scratch)
        if par.rotates:
            add_spin(par, body, scale(impulse, body_moment(par, R)))
        Pi = triple(body, data.SPIN)
        ahead = extrapolation(h, history.last, history.before)
        bend = bend_of(h, history.last, history.before, history.earlier)
        guess = extrapolated_spin(ahead, bend, body)
        v_N, omega, not_converged = velocities_of_body(par, h, v_N, Pi, R, guess, scratch)
        substitute(par, h, v_N, motion, scratch)
        p_N = node(motion.nodes[data.MOMENTUM], par.N)
        if diverged(motion.clock, dot(p_N, p_N), dot(Pi, Pi)):
            return NON_FINITE, history
        if failed(motion.clock, not_converged) or diverged(motion.clock, dot(v_N, v_N), dot(omega, omega)):
            return NEWTON_FAILED, history
        drift(par, h, motion, scratch)
        if par.rotates:
            turn(par, body, h, apply_transposed(R, v_N), omega)
            keep_spin(body, omega)
        return RUNNING, History(0.5 * h, h, history.last, history.before)

    @inlined
    def base_step(
        par: Parameters,
        plan: Plan,
        l: float,
        parts: int,
        count: int,
        history: History,
        motion: Motion,
        scratch: Scratch,
    ) -> tuple[int, History]:
        """`count` of the parts that a base step is divided into: the stages of each."""
        status = RUNNING
        for i in range(count * len(plan.stages)):
            if status == RUNNING:
                h = plan.stages[i % len(plan.stages)] * plan.h / parts
                status, history = stage(par, l, history, motion, scratch, h)
        return status, history

    return stage, base_step


def make_reeling_step(
    begin_reel: Kernel,
    end_reel: Kernel,
    diverged: Kernel,
    failed: Kernel,
    add_iterations: Kernel,
    solve: Kernel = solve_rates,
) -> tuple[Kernel, Kernel]:
    """Stage and composed step with a moving reel; its part begins before the rates are solved for and ends after."""

    @inlined
    def stage(
        par: Parameters, command: Command, motion: Motion, scratch: Scratch, h: float, start: float, end: float
    ) -> int:
        """One step of length h; start and end are the times of its ends.

        PULL must hold `evaluate_forces` of the present configuration; it does so again afterwards.
        """
        reel = motion.reel
        q = motion.nodes[data.POSITION]
        s = reel[data.S]
        R = attitude(motion.body)
        force = kept_reel_force(scratch.nodes[data.PULL])
        strain = strain_at_guide(par, q, element_length(par, s))
        before = begin_reel(par, command, reel, strain, force, h, start, end)
        guess = Rates(before.sigma, extrapolated_spin(before.ahead, before.bend, motion.body), zero_like(before.sigma))
        Pi = add_scaled(triple(motion.body, data.SPIN), 0.5 * h, body_moment(par, R))
        target = Target(before.p_s, Pi, before.at, before.drum)
        p = motion.nodes[data.MOMENTUM]
        rates, not_converged, iterations = solve(par, Equations(h, s, q, p, 0.5 * h, R, target), guess, scratch)
        p_N = node(p, par.N)
        if diverged(motion.clock, target.p_s, dot(p_N, p_N) + dot(target.Pi, target.Pi)):
            return NON_FINITE
        if failed(motion.clock, not_converged):
            return NEWTON_FAILED
        add_iterations(motion.clock, iterations)

        gradient = move_string(par, motion, scratch, h, s, rates, R)
        accumulate(reel, data.S, data.S_ERR, h * rates.sigma, par.compensated)
        force_end, strain_end = last_kick(par, motion, scratch, h, s, reel[data.S])
        end_reel(par, command, reel, before, h, end, rates, ReelImpulses(s, force, gradient, force_end, strain_end))
        return RUNNING

    @inlined
    def composed_step(
        par: Parameters, plan: Plan, command: Command, motion: Motion, scratch: Scratch, t: float, h: float
    ) -> int:
        """A step of length h from time t: the stages of the composition."""
        status = RUNNING
        done = 0.0
        i = 0
        while i < len(plan.stages) and status == RUNNING:
            part = plan.stages[i]
            start = t + done * h
            done += part
            status = stage(par, command, motion, scratch, part * h, start, t + done * h)
            i += 1
        return status

    return stage, composed_step


@inlined
def diverged(clock: Counters, x: float, y: float) -> bool:
    """Whether one of two numbers is not finite."""
    return not (math.isfinite(x) and math.isfinite(y))


@inlined
def failed(clock: Counters, not_converged: bool) -> bool:
    """Whether the rates were not found."""
    return not_converged


@inlined
def add_iterations(clock: Counters, iterations: float) -> None:
    clock[data.ITERATIONS] += int(iterations)


fixed_stage, fixed_base_step = make_fixed_step(kick_then_eliminate, velocities_of_nodes, drift_nodes, diverged, failed)
_REEL = (reel_before, reel_after, diverged, failed, add_iterations)
_, composed_step = make_reeling_step(*_REEL)
_, composed_step_with_tangents = make_reeling_step(*_REEL, rates_with_tangents)
