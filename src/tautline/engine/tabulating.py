"""Torques that are functions of time, as tables for the kernels."""

from __future__ import annotations

from typing import NamedTuple, TypeGuard

import numpy as np

from tautline.arrays import Array
from tautline.model.checks import SAME_LENGTH
from tautline.model.command import Command, Torque


class Table(NamedTuple):
    """A torque at the ends of all stages of some steps, and how well lines between its values follow it.

    Attributes
    ----------
    times, torques : array
        (s), (N m)
    impulse : float
        Sum of the torques' sizes over time (N m s); 0 where a step has several stages.
    bent : float
        How far the function is from the lines, summed as well.
    """

    times: Array
    torques: Array
    impulse: float
    bent: float


def tabulated(command: Command, start: float, h: float, steps: int, stages: Array) -> Table:
    """A torque that is a function, at the ends of all stages of the steps to come.

    Parameters
    ----------
    command : Command
    start, h : float
        Time at which the steps begin, and length of a step (s).
    steps : int
        How many.
    stages : array
        Parts of a step.
    """
    begins = start + h * np.arange(steps + 1)
    inner = np.cumsum(stages)[:-1]
    times = np.unique(np.concatenate([begins, *(begins[:-1] + x * h for x in inner)]))
    times = times[np.concatenate([[True], np.diff(times) > SAME_LENGTH * h])]
    times, torques = command.sampled(times)
    if len(stages) > 1:
        return Table(times, torques, 0.0, 0.0)
    middles, lasts = command.sampled(0.5 * (times[1:] + times[:-1]))[1], np.diff(times)
    bent = np.abs(middles - 0.5 * (torques[1:] + torques[:-1]))
    return Table(times, torques, float(lasts @ np.abs(middles)), float(lasts @ bent))


def is_constant(command: Command | None) -> TypeGuard[Torque]:
    """Whether a command is a torque that stays."""
    return type(command) is Torque and isinstance(command.torque, float)
