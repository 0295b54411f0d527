"""Commands of sequences as reels follow them: which stage they are in, and the plain command that it stands for."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Array
from tautline.engine import moves
from tautline.errors import InputError
from tautline.model import profile
from tautline.model.command import COMMANDS, Command, Torque
from tautline.model.sequence import DONE, Sequence, Stage, done_at

# Lines between which the torque of a transition is straight: its largest distance from the smooth curve is 0.1 %.
PARTS = 32


class Now(NamedTuple):
    """Drum at the beginning of a stage."""

    time: float  # s
    deployed: float  # m
    speed: float  # m/s, positive in retrieval
    torque: float  # N m


class Progress(NamedTuple):
    """Stage of a sequence that a reel is in."""

    sequence: Sequence
    number: int
    since: float  # s
    command: Command  # that the stage stands for, with the times of the simulation
    ends_at: float  # latest time at which it ends (s), infinite if a condition alone ends it

    @property
    def stage(self) -> Stage:
        """The stage."""
        return self.sequence.stages[self.number]


def begun(sequence: Sequence, number: int, now: Now) -> Progress:
    """A stage that begins now."""
    stage = sequence.stages[number]
    try:
        command = plain_command(stage, now)
    except InputError as error:
        raise InputError(f"command.{sequence.names[number]}: {error}") from None
    return Progress(sequence, number, now.time, command, _ends_at(stage, command, now))


def _ends_at(stage: Stage, command: Command, now: Now) -> float:
    times = [math.inf]
    if stage.duration is not None:
        times.append(now.time + stage.duration)
    if stage.until == DONE:
        done = done_at(command, now.time, now.deployed)
        times.append(now.time + stage.transition if done is None else done)
    elif stage.until is not None and not isinstance(stage.until, str):
        times.append(stage.until)
    return min(times)


def plain_command(stage: Stage, now: Now) -> Command:
    """The command of a stage that begins now: its times those of the simulation, with its transition."""
    command: Command = stage.command.later(now.time, now.deployed)
    if stage.transition == 0.0:
        return command
    if command.holds:
        return command.along(_speed_gone_over(profile.constant(now.deployed), stage.transition, now))
    if stage.command.move is not None:
        return command.along(moves.gone_over(stage.command.move, stage.transition, now))
    if command.has_curve:
        gone_over = _speed_gone_over if stage.command.relative else _length_gone_over
        return command.along(gone_over(command.curve(now.time, now.deployed), stage.transition, now))
    return _torque_gone_over(command, stage.transition, now)


def _torque_gone_over(command: Command, duration: float, now: Now) -> Command:
    """A torque to which the present one of the motor goes over smoothly, in a time (s); a brake begins with none."""
    before = 0.0 if command.sticks else now.torque
    if not math.isfinite(before):
        raise InputError(
            "transition: expected a torque that is known before it, got none; give the stage before a torque"
        )
    if command.is_function:
        first = command.sampled(np.array([now.time]))[1][0]
        return Torque(_Blend(command, before - first, now.time, duration))
    found: Command = COMMANDS[command.kernel](_blended(command.torques(), before, duration, now.time))
    return found


class _Blend:
    """The torque of a command, a function of time, to which a difference fades away."""

    def __init__(self, command: Command, difference: float, since: float, duration: float) -> None:
        self.command, self.difference, self.since, self.duration = command, difference, since, duration

    def __call__(self, time: float) -> float:
        return float(self.command.sampled(np.array([time]))[1][0]) + self.difference * float(
            1.0 - smooth((time - self.since) / self.duration)
        )


def smooth(x: Any) -> Any:
    """From 0 to 1 with slopes 0 at both ends, 3 x^2 - 2 x^3."""
    x = np.clip(x, 0.0, 1.0)
    return x * x * (3.0 - 2.0 * x)


def _blended(table: tuple[Array, Array], before: float, duration: float, time: float) -> tuple[Any, Any]:
    """Table of torques that a value goes over to, smoothly."""
    times, values = table
    grid = np.linspace(time, time + duration, PARTS + 1)
    grid = np.union1d(grid, times[times > time])
    given = np.interp(grid, times, values)
    difference = before - float(np.interp(time, times, values))
    return tuple(grid.tolist()), tuple((given + difference * (1.0 - smooth((grid - time) / duration))).tolist())


def _speed_gone_over(curve: Array, duration: float, now: Now) -> Array:
    """A curve of the length whose rate goes over from the present one, which adds to the length for good."""
    jump = -now.speed - profile.values_at(curve, now.time)[1]
    # integral of jump (1 - 3 x^2 + 2 x^3) over time, x = (t - time)/duration; half of jump duration in the end
    extra = [0.0, jump, 0.0, -jump / duration**2, 0.5 * jump / duration**3]
    return _with_extra(curve, extra, 0.5 * jump * duration, duration, now.time)


def _length_gone_over(curve: Array, duration: float, now: Now) -> Array:
    """A curve of the length to which the present length and rate go over, with a continuous acceleration at its end."""
    length, rate, _ = profile.values_at(curve, now.time)
    d, v, T = now.deployed - length, -now.speed - rate, duration
    # quintic from (d, v, 0) to (0, 0, 0)
    extra = [
        d,
        v,
        0.0,
        -(10.0 * d + 6.0 * v * T) / T**3,
        (15.0 * d + 8.0 * v * T) / T**4,
        -(6.0 * d + 3.0 * v * T) / T**5,
    ]
    return _with_extra(curve, extra, 0.0, T, now.time)


def _with_extra(curve: Array, extra: list[float], after: float, duration: float, time: float) -> Array:
    """A curve and a polynomial of the time since another, which is constant after a while."""
    knots = np.union1d([time, time + duration], curve[curve[:, 0] > time, 0])
    added = np.polynomial.Polynomial(extra)
    rows = []
    for knot in knots.tolist():
        own = moves.piece_at(curve, knot)
        own = own + (added(np.polynomial.Polynomial([knot - time, 1.0])) if knot < time + duration else after)
        rows.append(profile.row(knot, *own.coef.tolist()))
    return np.array(rows)
