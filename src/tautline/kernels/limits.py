"""Step limits: what is stable, and what resolves the motions that are to be followed (docs/theory.md, "Stability")."""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.errors import REEL_OUTRUNS_WAVES, RUNNING, UNSTABLE_STEP
from tautline.kernels import data
from tautline.kernels.data import Array, Counters, Loads, Motion, Parameters, Plan, node, triple
from tautline.kernels.elastic import tension_and_energy
from tautline.kernels.energy import element_length, reel_mass
from tautline.kernels.jit import entry, inlined, kernel, separate
from tautline.kernels.loads.pushing import fastest_decay
from tautline.kernels.so3 import dot, sub

# Halvings of a base step at most. What asks for more has grown without bound: a million parts would not save it, and a
# run must come to an end.
MAX_LEVEL = 20
# Part of the stability limit of force laws that follows how they slow things down.
RESOLVED_FORCE_LAW = 0.25
# Step over the time in which the damper of a command slows the drum. The damper is implicit and limits nothing, but a
# step that does not follow it leaves a speed that alternates from step to step.
RESOLVED_DAMPER = 0.25
# Square of how much finer a turn or a swing of the body is followed than other motions: its error adds up over all
# turns, and tumbling multiplies it. With 1 a random pendulum in 4000 was off by more than 5 % without a word, with 2
# one in 5000.
FINER_TURNS = 5.0
# Halvings of the base step at a start of a body that loads act on: what they do to it shows in the first steps.
FIRST_LEVEL = 6
# Change of the deployed length, over itself, for which limits are not looked at again.
SAME_LENGTH = 1e-3
# A step that was divided because the body turns fast is joined again once it fits into this part of the limit.
ROOM_TO_TURN = 0.7


class Limits(NamedTuple):
    """Largest steps (s), inf where there is nothing to limit.

    The first two are of stability: a step is allowed a part of them (Plan.allowed_ratio). The others are what
    resolves a motion; "auto" keeps to them, and a fixed step may be larger at the price of accuracy.
    """

    waves: float  # in the string's elements
    force_law: float  # of the user's own, which slows a motion
    stretching: float  # of the string as a whole
    turning: float  # of the body, and its swing on the string
    drum: float  # on the spring and damper of a command


STABLE = 2  # how many of them are of stability
LIMITS = len(Limits._fields)
TURNING = Limits._fields.index("turning")


@kernel
def stretching_frequency2(par: Parameters, end_mass: float, s: float, locked: bool) -> float:
    """Squared frequency of the deployed string as one element between the reel and the body.

    Two masses on a spring; a locked reel is an infinite one.
    """
    X = par.L - s
    body = end_mass + par.mu * X / 3.0
    if locked:
        return par.EA / (X * body)
    reel = reel_mass(par, s)[0] + par.mu * X / 3.0
    between = par.mu * X / 6.0
    return par.EA / X * (reel + body + 2.0 * between) / (reel * body - between * between)


@kernel
def resolved_drum(plan: Plan, inverse_mass: float, stiffness: float, damping: float) -> float:
    """Step that follows a drum, of an inverse mass (1/kg), on the spring and damper of a command."""
    spring2 = stiffness * inverse_mass
    step = plan.resolution / math.sqrt(spring2) if spring2 > 0.0 else math.inf
    return min(step, RESOLVED_DAMPER / (inverse_mass * damping)) if damping > 0.0 else step


@kernel
def limits_at_length(par: Parameters, plan: Plan, s: float, locked: bool) -> Limits:
    """Limits that follow from the deployed length alone.

    12 EA/(mu l^2) bounds the squared frequency of any mesh of consistent-mass elements, whatever they are tied to.
    A single element has no neighbour that could swing with it, so its ends count; it shares them with the body.
    """
    l = element_length(par, s)
    inverse_mass = 1.0 / reel_mass(par, s)[0]
    drum = plan.drum_stiffness * inverse_mass
    stretching = stretching_frequency2(par, plan.end_mass, s, locked)
    if par.N == 1:
        frequency2 = stretching + plan.body_frequency2 + drum
    else:
        frequency2 = max(12.0 * par.EA / (par.mu * l * l), plan.body_frequency2, drum)
    return Limits(
        plan.limit_multiple * 2.0 / math.sqrt(frequency2),
        math.inf,
        plan.resolution / math.sqrt(stretching),
        math.inf,
        resolved_drum(plan, inverse_mass, plan.drum_stiffness, plan.drum_damping),
    )


@kernel
def turning_rate2(par: Parameters, plan: Plan, l: float, motion: Motion) -> float:
    """Square of the body's angular velocity, or if that is more, of the frequency of its swing on the string.

    The string pulls with what damping adds to its tension as well, which may be most of it where a string gets taut.
    One that is slack counts as if it held the body against its weight and drag: it gets taut within a few steps, which
    are to follow that already.
    Times FINER_TURNS, so that the resolution of other motions holds for it.
    """
    omega, q, reel = triple(motion.body, data.OMEGA), motion.nodes[data.POSITION], motion.reel
    w = sub(node(q, par.N), node(q, par.N - 1))
    pull = tension_and_energy(par, math.sqrt(dot(w, w)) / l - 1.0)[0] + reel[data.VISCOUS_PULL]
    held = abs(par.weight) + reel[data.DRAG_ON_BODY]
    return FINER_TURNS * max(dot(omega, omega), max(pull, held) * plan.swing)  # type: ignore[no-any-return]


@kernel
def turns_fast(par: Parameters, plan: Plan, l: float, h: float, motion: Motion) -> bool:
    """Whether the body turns, or swings on the string, too fast for steps of length h."""
    turned2 = turning_rate2(par, plan, l, motion) * h * h
    return turned2 > plan.resolution * plan.resolution


@kernel
def resolved_turn(par: Parameters, plan: Plan, l: float, motion: Motion) -> float:
    """Step in which the body turns, or its swing advances, by no more than the resolution (rad)."""
    if not par.rotates:
        return math.inf
    rate2 = turning_rate2(par, plan, l, motion)
    return plan.resolution / math.sqrt(rate2) if rate2 > 0.0 else math.inf


@inlined
def limits_now(par: Parameters, plan: Plan, locked: bool, motion: Motion, loads: Loads | None) -> Limits:
    """All limits of the present motion."""
    limits = limits_at_length(par, plan, motion.reel[data.S], locked)
    force_law = math.inf
    if loads is not None and loads.acts:
        rate = fastest_decay(loads)
        if rate > 0.0:
            # an extrapolated velocity is that of Adams and Bashforth
            force_law = 1.0 / rate
    l = element_length(par, motion.reel[data.S])
    turning = resolved_turn(par, plan, l, motion)
    return Limits(limits.waves, force_law, limits.stretching, turning, limits.drum)


@entry
def present_limits(par: Parameters, plan: Plan, locked: bool, motion: Motion, loads: Loads | None) -> Limits:
    """All limits of the present motion, for planning a run."""
    return limits_now(par, plan, locked, motion, loads)


@entry
def step_limits(par: Parameters, plan: Plan, s: float, locked: bool) -> Limits:
    """Limits at a deployed length, for planning a run."""
    return limits_at_length(par, plan, s, locked)


@kernel
def allowed_step(plan: Plan, limits: Limits) -> float:
    """Largest step that "auto" makes, the body's turning aside."""
    stable = plan.allowed_ratio * limits.waves
    return min(stable, RESOLVED_FORCE_LAW * limits.force_law, limits.stretching, limits.drum)


@kernel
def choose_level(plan: Plan, allowed: float) -> int:
    """Fewest halvings of the base step that keep it within what is allowed."""
    level = 0
    h = plan.h
    while h > allowed and level < MAX_LEVEL:
        h *= 0.5
        level += 1
    return level


@kernel
def set_level(plan: Plan, limits: Limits, ratios: Array, clock: Counters) -> int:
    """Divide the base step as the limits and earlier failures ask for; a status if that cannot be done.

    Largest ratios go into `ratios`. A level that the turning of a body has raised is kept until one less would do with
    room to spare: else a tumbling body would change the step to and fro, and every change costs some of the energy's
    steadiness.
    """
    level = 0
    if plan.adaptive:
        allowed = allowed_step(plan, limits)
        base = choose_level(plan, allowed)
        level = choose_level(plan, min(allowed, limits.turning))
        if base + clock[data.RAISED] == level + 1 and plan.h > ROOM_TO_TURN * limits.turning * (1 << level):
            level += 1
        clock[data.RAISED] = level - base
        level = min(level + clock[data.EXTRA], MAX_LEVEL)
    clock[data.LEVEL] = level
    h = plan.h / (1 << level)
    if plan.adaptive and h > limits.turning and level == MAX_LEVEL:
        return UNSTABLE_STEP  # a body so fast that no step follows it
    for i in range(LIMITS):
        if i != TURNING:  # that is looked at in samples: members in lanes are not guarded as often as single runs
            ratios[data.RATIOS + i] = max(ratios[data.RATIOS + i], h / limits[i])
    return UNSTABLE_STEP if h / min(limits.waves, limits.force_law) > plan.allowed_ratio else RUNNING


@kernel
def at_start(plan: Plan, limits: Limits) -> Limits:
    """Limits of the first step of a motion in which what loads do shows."""
    turning = min(limits.turning, plan.h / (1 << FIRST_LEVEL))
    return Limits(limits.waves, limits.force_law, limits.stretching, turning, limits.drum)


@kernel
def outruns_waves(par: Parameters, sigma: float) -> bool:
    """Whether the reel moves at the wave speed of the string or above."""
    return sigma * sigma * par.mu >= par.EA


@kernel
def limits_change(par: Parameters, plan: Plan, reel: Array) -> bool:
    """Whether the reel, or the step, is not where limits were looked at last, or the reel is too fast."""
    s = reel[data.S]
    moved = abs(s - reel[data.GUARDED]) > SAME_LENGTH * (par.L - s)
    return moved | (reel[data.GUARDED_STEP] != plan.h) | outruns_waves(par, reel[data.SIGMA])  # type: ignore[no-any-return]


@separate
def guard(par: Parameters, plan: Plan, locked: bool, motion: Motion, loads: Loads | None) -> int:
    """Look at all limits before a base step, and divide it. Compiled on its own: it is called from three places."""
    limits = limits_now(par, plan, locked, motion, loads)
    if loads is not None and loads.acts and par.rotates and motion.reel[data.H_LAST] == 0.0:
        limits = at_start(plan, limits)
    motion.reel[data.GUARDED] = motion.reel[data.S]
    motion.reel[data.GUARDED_STEP] = plan.h
    status = set_level(plan, limits, motion.reel, motion.clock)
    return REEL_OUTRUNS_WAVES if not locked and outruns_waves(par, motion.reel[data.SIGMA]) else status
