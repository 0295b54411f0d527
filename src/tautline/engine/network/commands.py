"""Commands of the reels of a network: what they can follow, and what changes when they are given another one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from tautline.engine import lowering
from tautline.engine.network.stepper import NetworkStepper
from tautline.engine.network.strands import wheel_reel
from tautline.engine.tabulating import is_constant
from tautline.errors import InputError
from tautline.kernels import data
from tautline.kernels.network import data as kernels
from tautline.kernels.network.march import RELEASE
from tautline.model.command import Command, Free, Locked
from tautline.model.profile import values_at
from tautline.model.reel import Reel
from tautline.model.system.commands import SHEAVE, drives, place_of


def take(stepper: NetworkStepper, commands: Mapping[str, Command]) -> None:
    """Let reels follow commands from now on, by the names of their lines; reels that are not named go on as before."""
    if not stepper.started:
        start: dict[str, Command] = {
            name: Free() if kind == SHEAVE else Locked() for name, kind in drives(stepper.system).items()
        }
        _change(stepper, {name: commands.get(name, command) for name, command in start.items()})
        return
    before = stepper.commands  # of all that can be driven; strings without a reel are locked, as they must be
    given = {name: x for name, x in commands.items() if name in before and x != before[name]}
    if all(is_constant(x) and is_constant(before[name]) for name, x in given.items()):
        # the common case of a control loop: other constant torques
        for name, command in given.items():
            _set_torque(stepper, name, command)
    else:
        _change(stepper, given)


def _set_torque(stepper: NetworkStepper, name: str, command: Command) -> None:
    """Give a reel that follows a constant torque another one."""
    assert is_constant(command)
    k = stepper.numbers[name]
    strand = stepper.network.strands[k]
    strand.command.torques[0] = command.torque
    limit = strand.par.max_torque
    stepper.arrays.reels[k][data.TORQUE] = min(max(command.torque, -limit), limit)
    stepper.commands[name] = command


def _change(stepper: NetworkStepper, given: dict[str, Command]) -> None:
    """Release all reels, then hold or drive those that are to be; what it takes to reach a speed is control work.

    Where forces go on to move reels nothing is released, and the motion goes on as under one command.
    """
    time = stepper.time
    sample = stepper.sample_at(time)
    for name, command in given.items():
        k = stepper.numbers[name]  # at the start of a run speeds are those that were given, without rounding
        speed = float(sample.strands[0, k, kernels.SPEED] if stepper.started else stepper.arrays.reels[k][data.SIGMA])
        deployed = stepper.deployed(name)
        now = (time, deployed, speed)
        reel, line = wheel_reel(stepper.strands[k]), place_of(name).line
        check_given(name, command, reel, now, stepper.method.order, stepper.started)
        least = command.shortest(deployed, time)
        if stepper.method.minimum_length is None and least is not None and least < 2.0 * stepper.shortest[line]:
            stepper.shortest[line] = 0.5 * least
    if not (stepper.started and all(_stays_free(stepper, name, command) for name, command in given.items())):
        release(stepper, time)
    for name, command in given.items():
        stepper.commands[name], stepper.origins[name] = command, (time, stepper.deployed(name))
        stepper.lengths[name] = stepper.reel_length(name)
        if command.finds_torque:
            stepper.arrays.reels[stepper.numbers[name]][data.STOP] = 0.0
    stepper.started, stepper.changed = True, True
    stepper.lower(time, time)
    prescribe_reels(stepper, given, time)


def _stays_free(stepper: NetworkStepper, name: str, command: Command) -> bool:
    """Whether forces move a reel before and after it is given a command."""
    before, reel = stepper.commands[name], stepper.arrays.reels[stepper.numbers[name]]
    held = before.holds or command.holds or before.prescribes or command.prescribes
    return not held and bool(reel[data.HELD] == data.NOT_HELD)


def release(stepper: NetworkStepper, time: float) -> None:
    """Let all velocities be those of momenta, as at the beginning of a motion.

    The next step counts what a kinematic body that jumped has given at the velocity that it has from now on.
    """
    jump, stepper.jump = stepper.jump, None
    stepper.call(RELEASE, time)
    if jump is not None and jump[0] == time:
        rows = stepper.sample_at(time).bodies[0]
        velocities = rows[:, kernels.BODY_VELOCITY : kernels.BODY_VELOCITY + 3]
        attitudes = rows[:, kernels.BODY_ATTITUDE : kernels.BODY_ATTITUDE + 9].reshape(-1, 3, 3)
        turning = np.einsum("bij,bj->bi", attitudes, rows[:, kernels.BODY_OMEGA : kernels.BODY_OMEGA + 3])
        work = jump[1] - float((jump[2] * np.hstack([velocities, turning])).sum())
        stepper.arrays.totals[data.ACCOUNT_PLACES[data.GUIDE_WORK]] += work


def prescribe_reels(stepper: NetworkStepper, names: Iterable[str], time: float) -> None:
    """Begin what the commands of reels prescribe, and book the energy that this takes."""
    for name in names:
        _lead_reel(stepper, name, time)


def _lead_reel(stepper: NetworkStepper, name: str, time: float) -> None:
    k = stepper.numbers[name]
    reel, strand, command = stepper.arrays.reels[k], stepper.network.strands[k], stepper.commands[name]
    if command.prescribes:
        before = stepper.observed(time).whole[0, data.KINETIC]
        _, speed, acceleration = values_at(strand.command.profile, time)
        reel[[data.HELD, data.HELD_SPEED, data.HELD_ACCELERATION]] = data.PRESCRIBED, speed, acceleration
        work = stepper.observed(time).whole[0, data.KINETIC] - before
        stepper.call(RELEASE, time)
        reel[[data.HELD, data.HELD_SPEED, data.HELD_ACCELERATION]] = data.PRESCRIBED, speed, acceleration
        reel[data.ACCOUNT_PLACES[data.CONTROL_WORK]] += work
    s, sigma = reel[[data.S, data.SIGMA]].tolist()
    drum, length = wheel_reel(stepper.strands[k]), stepper.lengths[name]
    # a torque that is found from the motion is NaN until samples have it
    reel[data.TORQUE] = (
        math.nan
        if command.finds_torque
        else lowering.commanded_torque(drum, command, length, s, sigma, time, stepper.origins[name])
    )


def check_given(
    name: str, command: Command, reel: Reel, now: tuple[float, float, float], order: int, started: bool
) -> None:
    """Refuse a command that a reel cannot follow from now on: at this time, with this length out, at this speed."""
    time, deployed, speed = now
    try:
        lowering.check_command(command, order, "symmetric", speed, reel, started)
        command.check_start(time, deployed, speed)
    except InputError as error:
        raise InputError(f"lines.{name}: {error}") from None
