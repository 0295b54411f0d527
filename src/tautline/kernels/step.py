"""One step of given length, with the loads where it joins the step before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tautline.errors import RUNNING
from tautline.kernels import data
from tautline.kernels.data import Command, Loads, Motion, Parameters, Plan, Scratch, put_triple, triple
from tautline.kernels.energy import element_length
from tautline.kernels.fixed import history_of, keep_history
from tautline.kernels.jit import inlined, separate
from tautline.kernels.loads.carried import carries_fluid, move_fluid
from tautline.kernels.loads.guide_motion import (
    book_guide,
    boost,
    impulse_of_guide,
    mean_velocity,
    momentum_of_step,
)
from tautline.kernels.loads.jump import jump, keep_velocities
from tautline.kernels.newton import Rates
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import ZERO, add, scale, sub
from tautline.kernels.stage import composed_step, composed_step_with_tangents, fixed_stage


def make_one_step(composed_step: Callable[..., Any]) -> Callable[..., Any]:
    """A step of given length, from the composed step with a moving reel."""

    @inlined
    def one_step(
        par: Parameters,
        plan: Plan,
        command: Command,
        motion: Motion,
        scratch: Scratch,
        t: float,
        h: float,
        loads: Loads | None,
    ) -> int:
        """A step of length h with a moving reel, or with loads and a guide that moves.

        The step itself is written once, whatever acts: it is most of what is compiled here.
        """
        reel = motion.reel
        s, R = reel[data.S], attitude(motion.body)
        old, back = triple(reel, data.FRAME_VELOCITY), reel[data.LOADS_PENDING]
        given, change = ZERO, ZERO
        if loads is not None:
            if loads.acts or loads.moves:
                given = jump(par, loads, command, t, 0.5 * h, motion, scratch)
            if loads.moves:
                change = boost(par, command.locked, mean_velocity(loads, t, h), R, motion)

        status = RUNNING
        if loads is not None and command.locked:
            l = element_length(par, s)
            status, history = fixed_stage(par, l, history_of(reel), motion, scratch, h)
            keep_history(history, reel)
        if not command.locked:
            status = composed_step(par, plan, command, motion, scratch, t, h)

        if loads is not None and status == RUNNING:
            if loads.acts or loads.moves:
                reel[data.LOADS_PENDING] = 0.5 * h
            if loads.acts:
                keep_velocities(par.N, motion, scratch)
                if carries_fluid(loads):
                    move_fluid(par, loads, h, back, scale(-1.0, change), motion, scratch)
            if loads.moves:
                rates = Rates(0.0 if command.locked else reel[data.SIGMA], triple(motion.body, data.OMEGA), 0.0)
                momentum = momentum_of_step(par, h, s, R, motion, rates, scratch.nodes[data.MEAN_VELOCITY])
                gained = sub(momentum, triple(reel, data.STEP_MOMENTUM))
                put_triple(reel, data.STEP_MOMENTUM, momentum)
                impulse = impulse_of_guide(par, gained, change, given, back + 0.5 * h)
                book_guide(par, reel, impulse, scale(0.5, add(old, triple(reel, data.FRAME_VELOCITY))))
        return status

    return one_step


one_step = make_one_step(composed_step)
_one_step_with_tangents = make_one_step(composed_step_with_tangents)


@separate
def one_step_with_tangents(
    par: Parameters, plan: Plan, command: Command, motion: Motion, scratch: Scratch, t: float, h: float, loads: Loads
) -> int:
    """`one_step` for numbers with tangents, compiled on its own."""
    status: int = _one_step_with_tangents(par, plan, command, motion, scratch, t, h, loads)
    return status
