"""How far the controls of a live run go."""

from __future__ import annotations

from typing import Any

import numpy as np

from tautline.model.system.commands import REEL
from tautline.viewer.driven import Driven, Sight, round_up

RATES = (0.05, 20.0)
CRUISE = 0.2  # of the greatest speed, of a drum while a button is held


def limits_of(driven: Driven, sight: Sight) -> dict[str, Any]:
    """Limits of each drive, impulses on free bodies, speeds of bodies that are steered or carried, the rate."""
    subject, system = driven.subject, driven.simulation.system
    out = driven.deployed()
    reels: dict[str, dict[str, Any]] = {}
    for name, drive in driven.drives.items():
        line = system.lines[drive.line]
        if drive.is_drum:
            radius = line.reels[drive.part].radius(line.string.length - out[drive.line])
        else:
            radius = next(x.radius for x in system.wheels(drive.line) if x.name == drive.part)
        pull = sight.pulls[name] if drive.part == REEL else max(sight.pulls.values(), default=sight.weight)
        torque = max(4.0 * pull * float(radius), 2.0 * float(np.abs(drive.command.torques()[1]).max()))
        torque, speed = round_up(torque), drive.fastest
        shortest, longest = drive.deployed - drive.room(1.0), drive.deployed + drive.room(-1.0)
        reels[name] = {
            "torque": [-torque, torque],
            "speed": [-speed, speed],
            "length": [shortest, longest if np.isfinite(longest) else line.string.length],
            "cruise": CRUISE * speed,
            "acceleration": drive.acceleration,
        }
    free = {name: body.mass for name, body in subject.bodies.items() if body is not None}
    speeds = {name: [reels[x]["speed"][1] for x in driven.reels_that_hold(name)] for name in free}
    return {
        "reels": reels,
        "impulses": {name: round_up(5.0 * mass) for name, mass in free.items()},
        # one reel alone has its own control
        "steered": {name: min(found) for name, found in speeds.items() if found and len(reels) > 1},
        "carried": {name: carrier.fastest for name, carrier in driven.carriers.items()},
        "rate": list(RATES),
    }
