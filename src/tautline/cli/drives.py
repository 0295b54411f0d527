"""Drives before a run: what holds each drum or sheave at rest, beside what its motor or brake can do."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tautline.model.command import Command
from tautline.model.drum import pull_at_rim
from tautline.model.rest.at_rest import Statics
from tautline.model.sequence import Sequence
from tautline.model.system.case import Case
from tautline.model.system.commands import END_REEL, REEL, SHEAVE, command_of, drives, place_of
from tautline.quantities import between, value
from tautline.results.warnings import RunWarning

# Of the holding torque: differences below are rounding of the search for rest.
SAME_TORQUE = 1e-6


class Drive(NamedTuple):
    """A drum or sheave that a command drives, at rest."""

    name: str  # of its command
    words: str  # in a sentence
    line: str
    command: Command
    holding: float  # torque that holds it at rest (N m), positive as the motor retrieves
    friction: float  # of the drum itself (N m)
    max_torque: float  # of its motor (N m), infinite if it has no limit

    @property
    def needed(self) -> float:
        """Torque that motor or brake have to hold, by size; the drum's own friction helps (N m)."""
        return max(0.0, abs(self.holding) - self.friction) * (1.0 - SAME_TORQUE)

    def motion(self, pull: float) -> str:
        """Motion under a torque that nothing balances, positive where it pulls rope out, as a verb."""
        if place_of(self.name).part in (REEL, END_REEL):
            return "pay out" if pull > 0.0 else "haul in"
        return f"let rope run towards the {'end' if pull > 0.0 else 'start'} of the line"


def drives_at_rest(case: Case, at_rest: Statics) -> list[Drive]:
    """Drums and sheaves with commands, and what holds them at rest; none for sheaves that turn freely there."""
    system, found = at_rest.system, []
    kinds, locked = drives(system), case.locked_sheaves()
    for name, kind in kinds.items():
        if kind == SHEAVE and name not in locked:
            continue
        line = place_of(name).line
        reel = None if kind == SHEAVE else system.lines[line].reels[kind]
        words = f"the sheave {name!r}" if reel is None else "the drum" if len(kinds) == 1 else f"the drum of {name!r}"
        holding = _sheave_torque(at_rest, name) if reel is None else _shaft_torque(at_rest, line, kind)
        limit = math.inf if reel is None or reel.max_torque is None else reel.max_torque
        friction = 0.0 if reel is None else reel.coulomb_friction
        found.append(Drive(name, words, line, command_of(case.commands, name, kind), holding, friction, limit))
    return found


def _shaft_torque(at_rest: Statics, name: str, key: str) -> float:
    """Torque that holds a drum, with those of the others on its shaft (N m)."""
    system = at_rest.system
    lead = system.lines[name].reels[key]
    total = 0.0
    for line, other in system.shafts()[lead.shaft] if lead.shaft else [(name, key)]:
        own = at_rest.lines[line]
        torque = own.holding_torque if other == REEL else own.end_holding_torque
        total += system.lines[line].reels[other].sense * lead.sense * float(torque or 0.0)
    return total


def _sheave_torque(at_rest: Statics, name: str) -> float:
    """Torque that holds a sheave against the difference of the tensions beside it (N m)."""
    place = place_of(name)
    j = list(at_rest.system.lines[place.line].over).index(place.part)
    string, tensions = at_rest.system.lines[place.line].string, at_rest.lines[place.line].span_tensions
    ahead, behind = (pull_at_rim(string, float(x)) for x in (tensions[j, 1], tensions[j + 1, 0]))
    return at_rest.system.wheels(place.line)[j].radius * (behind - ahead)


def motor_warnings(drive: Drive) -> list[RunWarning]:
    """Warning on a motor that is too weak for the length, speed or spring that it is to follow."""
    kinds = [command.kernel for _, command in _stages(drive.command) if command.prescribes or command.has_curve]
    if not kinds or drive.needed <= drive.max_torque:
        return []
    then = (
        "the run makes it nevertheless"
        if "prescribed_motion" in kinds
        else f"{drive.words} will {drive.motion(drive.holding)}"
    )
    text = (
        f"max_torque ({value(drive.max_torque, 'N m')}) is less than the {value(abs(drive.holding), 'N m')} that hold "
        f"{drive.words} at rest: the motor is too weak for the motion of its command; {then}"
    )
    return [RunWarning("motor_torque", text, drive.needed, drive.max_torque, drive.line)]


def notes_on(drive: Drive, duration: float, first: int = 0) -> list[str]:
    """Notes on motors and brakes that do not hold, which may be meant so; of a sequence from its first stage on."""
    found, is_warned = [], bool(motor_warnings(drive))
    for number, (name, command) in list(enumerate(_stages(drive.command)))[first:]:
        note = ""
        if command.sticks:
            note = _brake_note(drive, command, duration)
        elif command.holds and drive.needed > drive.max_torque and not is_warned:
            note = (
                f"{drive.words} is locked, as by a pawl or a brake; its motor (max_torque "
                f"{value(drive.max_torque, 'N m')}) could not hold the {value(abs(drive.holding), 'N m')} at rest"
            )
        elif command.kernel == "torque" and not command.turns_freely and not command.holds and number == first:
            note = _motor_note(drive, command, duration)
        if note:
            found.append(f"stage {name!r}: {note}" if name else note)
    return found


def _stages(command: Command) -> Iterator[tuple[str, Command]]:
    """Commands of a sequence by the names of their stages, or a command by itself."""
    if isinstance(command, Sequence):
        yield from zip(command.names, (stage.command for stage in command.stages), strict=True)
    else:
        yield "", command


def _torques(command: Command, duration: float) -> tuple[float, float, float]:
    """First, least and largest torque of a command in the run (N m)."""
    times = command.torques()[0]
    inside = times[(times > 0.0) & (times < duration)]
    torques = command.sampled(np.concatenate([[0.0], inside, [duration]]))[1]
    return float(torques[0]), float(torques.min()), float(torques.max())


def _brake_note(drive: Drive, command: Command, duration: float) -> str:
    _, least, most = _torques(command, duration)
    if least >= drive.needed:
        return ""
    brake, load = between(least, most, "N m"), f"{value(abs(drive.holding), 'N m')} that hold {drive.words} at rest"
    if most >= drive.needed:
        return f"the brake ({brake}) slips while it has less than the {load}"
    motion = drive.motion(drive.holding)
    return f"the brake ({brake}) has less than the {load}: it slips, and {drive.words} will {motion}"


def _motor_note(drive: Drive, command: Command, duration: float) -> str:
    first, least, most = (min(max(x, -drive.max_torque), drive.max_torque) for x in _torques(command, duration))
    pull = drive.holding - first
    if abs(pull) <= drive.friction + SAME_TORQUE * abs(drive.holding):
        return ""
    all_along = most < drive.holding if pull > 0.0 else least > drive.holding
    limited = ", limited by max_torque" if abs(first) == drive.max_torque else ""
    return (
        f"the motor gives {value(first, 'N m')} at the start{limited}, {'less' if pull > 0.0 else 'more'} than the "
        f"{value(drive.holding, 'N m')} that hold {drive.words} at rest: {drive.words} will "
        f"{'' if all_along else 'begin to '}{drive.motion(pull)}"
    )
