"""One step of given length, with half of the loads before and after it."""

from __future__ import annotations

from tautline.errors import RUNNING
from tautline.kernels.data import POSITION, PULL, Command, Loads, Motion, Parameters, Plan, S, Scratch
from tautline.kernels.energy import element_length
from tautline.kernels.fixed import history_of, keep_history
from tautline.kernels.jit import inlined, separate
from tautline.kernels.loads.guide_motion import book_guide, boost, mean_velocity, momentum_now
from tautline.kernels.loads.stage import load_stage
from tautline.kernels.newton import ZERO
from tautline.kernels.reeling import evaluate_forces
from tautline.kernels.so3 import Vector, sub
from tautline.kernels.stage import composed_step, fixed_stage
from tautline.kernels.tables import vector_at


@inlined
def before_step(
    par: Parameters, loads: Loads, locked: bool, t: float, h: float, motion: Motion, scratch: Scratch
) -> tuple[Vector, Vector]:
    """Half of the loads, then into the frame that moves with the guide; its velocity, and the momentum in it."""
    if loads.acts:
        load_stage(par, loads, locked, t, t + h, motion, scratch)
    frame = mean_velocity(loads, t, h)
    boost(par, locked, frame, motion, scratch)
    momentum = ZERO
    if loads.moves:
        momentum = momentum_now(par, locked, motion, scratch)
    return frame, momentum


@inlined
def after_step(
    par: Parameters,
    loads: Loads,
    locked: bool,
    t: float,
    h: float,
    motion: Motion,
    scratch: Scratch,
    frame: Vector,
    momentum: Vector,
) -> None:
    """Out of that frame, and the other half of the loads."""
    if loads.moves:
        gained = sub(momentum_now(par, locked, motion, scratch), momentum)
        weight = (0.0, 0.0, (par.mu_g * par.L + par.weight) * h)  # an impulse
        book_guide(par, motion.reel, sub(gained, weight), frame)
    boost(par, locked, vector_at(loads.path, t + h)[1], motion, scratch)
    if loads.acts:
        load_stage(par, loads, locked, t + h, t, motion, scratch)


@separate
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
    """A step of length h with a moving reel, or with loads: half of them before and half after the step proper.

    Compiled on its own: inside the loops that locate an event the compiler would take 10 s longer.
    """
    status = RUNNING
    loaded = False
    frame = ZERO
    momentum = ZERO
    if loads is not None:
        loaded = loads.acts or loads.moves
        if loaded:
            frame, momentum = before_step(par, loads, command.locked, t, h, motion, scratch)
            evaluate_forces(par, motion.reel[S], motion.nodes[POSITION], scratch.nodes[PULL])
        if command.locked:
            l = element_length(par, motion.reel[S])
            status, history = fixed_stage(par, l, history_of(motion.reel), motion, scratch, h)
            keep_history(history, motion.reel)
    if not command.locked:
        status = composed_step(par, plan, command, motion, scratch, t, h)
    if loads is not None and loaded and status == RUNNING:
        after_step(par, loads, command.locked, t, h, motion, scratch, frame, momentum)
    return status
