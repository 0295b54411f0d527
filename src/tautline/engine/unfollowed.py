"""Warnings on tables of forces, motions and torques that change within a step, where steps do not follow them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from tautline.engine.loads import force_numbers
from tautline.kernels import data
from tautline.model.command import Command
from tautline.model.fluid import AppliedForce
from tautline.model.motions import Endless
from tautline.model.path import GuidePath
from tautline.model.profile import places_at
from tautline.model.turning import AttitudePath
from tautline.quantities import value
from tautline.results.warnings import RunWarning

# Departure from a straight line within a step of a motion, over its range, or of a torque, over its size.
BENT = 0.05

# Knots of a motion without end between two looks at it, 25 a period, and how many looks there are at most.
KNOTS_APART, MOST_LOOKS = 40, 4000

# Times of the entries of a table, and the motion that it gives.
Motion = tuple[data.Array, Callable[[data.Array], data.Array]]


def unfollowed(
    step: float, forces: Mapping[str, data.Array], motions: Mapping[str, Motion | None], time: float
) -> list[RunWarning]:
    """Warnings on tables of forces and of motions that change within a step, as far as they have acted."""
    found: list[RunWarning] = []
    for name, times in forces.items():
        apart = np.diff(times[times <= time])
        if len(apart) and step > apart.min():
            text = (
                f"entries of the table of {name} are {apart.min():.2g} s apart, less than a step of "
                f"{step:.2g} s: the impulse is exact, its course within a step is not followed"
            )
            found.append(RunWarning("force_table", text, step, apart.min()))
    for name, motion in motions.items():
        times, places = motion or (np.zeros(0), np.zeros_like)
        acted = times[times <= time]
        if len(acted) > 1 and step > np.diff(acted).min():
            bent = bent_within(acted, places, step)
            text = (
                f"the motion of {name} goes to and fro within a step of {step:.2g} s, which is not followed, "
                "and may show as a slow motion that is not there; use a smaller step"
            )
            found += [RunWarning("prescribed_motion", text, bent, BENT)] if bent > BENT else []
    return found


def knots_of_command(command: Command | None, given: data.Command) -> data.Array:
    """Times of the entries of the torques of a command, as the kernels have it; a function has none."""
    if command is None or command.is_function or len(command.torques()[0]) < 2:
        return np.zeros(0)
    return given.times


def knots_of_force(applied: AppliedForce | None) -> data.Array:
    """Times of the entries of an applied force."""
    table = force_numbers(applied).table
    return table[0] if table.shape[1] > 1 else np.zeros(0)


def motion_of_command(command: Command | None, given: data.Command, time: float) -> Motion | None:
    """Motion that a command gives to its reel, as the kernels have it, up to a time (s)."""
    if command is not None and command.motion is not None:
        return _endless(command.motion, time)
    if command is not None and command.is_tabulated:
        return given.profile[:, 0], partial(places_at, given.profile)
    return None


def motion_of_path(path: Any, time: float) -> Motion | None:
    """Motion of a guide or a body along a path, or of its angles, up to a time (s)."""
    if isinstance(path, GuidePath | AttitudePath):
        return np.array(path.times), lambda times: path.at(times)[0]
    return _endless(path, time) if isinstance(path, Endless) else None


def _endless(motion: Any, time: float) -> Motion:
    """Some times at which a motion without end is looked at, its latest ones of a long run, and where it is then."""
    apart = KNOTS_APART * motion.harmonics().spacing
    times = np.arange(max(0.0, time - MOST_LOOKS * apart), time, apart)
    return times, lambda times: motion.at(times)[0]


def function_warnings(impulse: float, bent: float) -> list[RunWarning]:
    """Warning on a torque that is a function, by its impulse and the part that is not along steps (N m s)."""
    if bent <= BENT * impulse:
        return []
    part = bent / impulse
    text = (
        f"the function of Torque departs from straight lines over the steps by {value(part, '%', 2)} on average, and "
        "only its values at their ends act; use a smaller step"
    )
    return [RunWarning("torque_function", text, part, BENT)]


def bent_within(times: data.Array, places: Callable[[data.Array], data.Array], step: float) -> float:
    """Largest distance of a motion from lines over a step about each of these times, over its range."""
    now = places(times)
    line = 0.5 * (places(times - 0.5 * step) + places(times + 0.5 * step))
    way = float(np.ptp(now, axis=0).max())
    return float(np.abs(now - line).max()) / way if way > 0.0 else 0.0
