"""How far the controls of a live run go."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tautline.viewer.driven import Driven, Sight

RATES = (0.05, 20.0)


def limits_of(driven: Driven, sight: Sight) -> dict[str, Any]:
    """Torque and speed of each reel, impulses on the free bodies and speeds of those that reels can steer, the rate."""
    subject = driven.subject
    out = driven.deployed()
    reels: dict[str, dict[str, list[float]]] = {}
    for line in subject.lines:
        if line.mount is None:
            continue
        name, command = line.name, driven.commands[line.name]
        torque = 4.0 * sight.pulls[name] * line.mount.reel.radius(line.string.length - out[name])
        torque = max(torque, 2.0 * float(np.abs(command.torques()[1]).max()))
        torque, speed = _round_up(torque), _round_up(0.2 * out[name])
        reels[name] = {"torque": [-torque, torque], "speed": [-speed, speed]}
    free = {name: body.mass for name, body in subject.bodies.items() if body is not None}
    speeds = {name: [reels[x]["speed"][1] for x in driven.reels_that_hold(name)] for name in free}
    return {
        "reels": reels,
        "impulses": {name: _round_up(5.0 * mass) for name, mass in free.items()},
        # one reel alone has its own control
        "steered": {name: min(found) for name, found in speeds.items() if found and len(reels) > 1},
        "rate": list(RATES),
    }


def _round_up(x: float) -> float:
    """To one of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(x))
    return float(next(k * power for k in (1.0, 2.0, 5.0, 10.0) if k * power >= x))
