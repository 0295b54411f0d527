"""Random systems of the kinds that people build: one to three bodies, one to six strings."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import tautline as tl
from tautline.errors import TautlineError
from tests.support import chains
from tests.trial.cases import Case, Dice

# A system with so many times as many elements, its start, its commands and how long it lasts.
Made = tuple[tl.System, tl.State, dict[str, Any], float]


def _string(dice: Dice, length: float, load: float) -> tl.String:
    EA = 100.0 * load * dice.decade(0.3, 1.0)
    mu = EA / dice.decade(2.7, 3.6) ** 2
    others: dict[str, Any] = {"damping_ratio": dice.decade(-2.0, -0.7)} if dice.happens(0.6, "damped") else {}
    return tl.String(length, mu, EA, law=dice.among("tension_only", "tension_only", "linear"), **others)


def _box(dice: Dice, mass: float, down: float = 0.5) -> tl.RigidBody:
    side = (mass / 500.0) ** (1.0 / 3.0)
    return tl.RigidBody.box(mass, side * dice.rng.uniform(0.5, 1.5, 3), (0.0, 0.0, down * side))


def hook(dice: Dice, finer: int) -> Made:
    """Hook block and load below a jib that stands or heaves."""
    load, top, sling = dice.decade(2.5, 3.7), dice.between(8.0, 30.0), dice.between(3.0, 6.0)
    weight = 9.81 * 1.2 * load
    hoist, below = _string(dice, 2.0 * top, weight), _string(dice, sling, weight)
    heave = tl.motions.Sine((0.0, 0.0, dice.between(0.1, 0.6)), 8.0, ramp=8.0) if dice.happens(0.5, "heave") else None
    bodies: dict[str, Any] = {"jib": tl.Kinematic(heave), "hook": _box(dice, 0.15 * load), "load": _box(dice, load)}
    strings = {
        "hoist": tl.Line(hoist, start="jib", end="hook", reel=tl.Reel(0.3, 0.5, 0.1 * load), elements=10 * finer),
        "sling": tl.Line(below, start="hook", start_point=(0, 0, 0.5), end="load", elements=4 * finer),
    }
    fluid: dict[str, Any] = {}
    if dice.happens(0.3, "water"):
        volume = 0.3 * load / 1025.0
        fluid["fluid"] = tl.Fluid(1025.0, (dice.between(0.0, 1.0), 0.0, 0.0))
        fluid["body_fluid"] = {"load": tl.BodyInFluid(drag_area=volume ** (2 / 3), volume=volume)}
    crane = tl.System(bodies, strings, **fluid)
    side = dice.between(0.0, 0.1) * top
    deep = math.sqrt(top**2 - side**2) * (1.0 + weight / hoist.stiffness)
    at = deep + 0.5 * (0.15 * load / 500.0) ** (1 / 3)
    below_hook = at + 0.5 - 0.5 * (0.15 * load / 500.0) ** (1 / 3) + sling * (1.0 + 9.81 * load / below.stiffness)
    start = chains.hang(
        crane, {"hook": (side, 0, at), "load": (side, 0, below_hook + 0.5 * (load / 500.0) ** (1 / 3))}, {"hoist": top}
    )
    command = tl.Length.to(top * dice.between(0.6, 1.2), speed=0.5, acceleration=dice.between(0.1, 0.5))
    return crane, start, {"hoist": command}, dice.between(3.0, 10.0)


def tandem(dice: Dice, finer: int) -> Made:
    """A beam on two ropes from two drums."""
    load, top, span = dice.decade(2.5, 3.7), dice.between(6.0, 20.0), dice.between(3.0, 8.0)
    string = _string(dice, 2.0 * top, 0.6 * 9.81 * load)
    beam = tl.RigidBody.box(load, (span, 0.5, 0.5), (0.0, 0.0, 0.3))
    strings = {
        name: tl.Line(
            string, start_point=(s * span / 2, 0, 0), end="beam", end_point=(s * span / 2, 0, 0),
            reel=tl.Reel(0.3, 0.5, 0.1 * load), elements=10 * finer,
        )
        for name, s in (("left", -1.0), ("right", 1.0))
    }  # fmt: skip
    crane = tl.System({"beam": beam}, strings)
    deep = top * (1.0 + 0.5 * 9.81 * load / string.stiffness) + 0.3
    start = chains.hang(crane, {"beam": (0, dice.between(0.0, 0.1), deep)}, {"left": top, "right": top})
    ways = [top * dice.between(0.8, 1.1) for _ in range(2)]
    commands = {
        name: tl.Length.to(way, speed=0.4, acceleration=0.3) for name, way in zip(("left", "right"), ways, strict=True)
    }
    return crane, start, commands, dice.between(3.0, 8.0)


def mooring(dice: Dice, finer: int) -> Made:
    """A buoy or a body on three lines, in a current or released from its side."""
    mass, reach = dice.decade(2.0, 3.5), dice.between(20.0, 80.0)
    depth = reach * dice.between(0.3, 1.0)
    length = math.hypot(reach, depth)
    string = tl.String(
        length * dice.between(1.0, 1.05), dice.between(0.5, 3.0), dice.decade(4.7, 6.0), diameter=0.03,
        law="tension_only", damping_ratio=0.1,
    )  # fmt: skip
    strings = {
        f"line{k}": tl.Line(
            string, start_point=(reach * math.cos(a), reach * math.sin(a), depth), end="buoy", elements=12 * finer
        )
        for k, a in enumerate(2.0 * math.pi / 3.0 * np.arange(3))
    }
    volume = mass / 1025.0 * dice.between(1.5, 3.0)
    sea = tl.System(
        {"buoy": tl.RigidBody.sphere(mass, 0.5)},
        strings,
        fluid=tl.Fluid(1025.0, (dice.between(0.1, 1.0), 0.0, 0.0)),
        body_fluid={"buoy": tl.BodyInFluid(drag_area=volume ** (2 / 3), volume=volume, added_mass=500.0 * volume)},
    )
    place = (dice.between(-0.02, 0.02) * reach, 0.0, dice.between(-0.02, 0.02) * reach)
    return sea, chains.hang(sea, {"buoy": place}), {}, dice.between(3.0, 10.0)


def robot(dice: Dice, finer: int) -> Made:
    """A platform on four winches."""
    mass, half, deep = dice.decade(1.0, 2.5), dice.between(2.0, 6.0), dice.between(2.0, 6.0)
    string = _string(dice, 4.0 * (half + deep), 9.81 * mass)
    corners = {"ne": (1, 1), "nw": (-1, 1), "sw": (-1, -1), "se": (1, -1)}
    strings = {
        name: tl.Line(
            string, start_point=(half * x, half * y, 0), end="platform", end_point=(0.4 * x, 0.4 * y, -0.1),
            reel=tl.Reel(0.1, 0.2, 5.0), elements=8 * finer,
        )
        for name, (x, y) in corners.items()
    }  # fmt: skip
    hall = tl.System({"platform": tl.RigidBody.box(mass, (0.8, 0.8, 0.2), (0, 0, 0))}, strings)
    distance = math.sqrt(2.0 * (half - 0.4) ** 2 + (deep - 0.1) ** 2)
    out = distance / (1.0 + 0.25 * 9.81 * mass * distance / (deep - 0.1) / string.stiffness)
    start = chains.hang(hall, {"platform": (0, 0, deep)}, dict.fromkeys(corners, out))
    moves = (dice.between(-0.2, 0.2) * half, dice.between(-0.2, 0.2) * half)
    commands = {
        name: tl.Length.to(
            out * math.hypot(half * x - moves[0] - 0.4 * x, half * y - moves[1] - 0.4 * y, deep - 0.1) / distance,
            speed=0.4, acceleration=0.3,
        )
        for name, (x, y) in corners.items()
    }  # fmt: skip
    return hall, start, commands, dice.between(3.0, 8.0)


def _pair(dice: Dice, finer: int, length: float, rate: float, orbit: tl.Orbit | None, stiff: float) -> Made:
    """Two bodies that turn about each other on a string; the first one has its reel."""
    masses = np.array([dice.decade(0.5, 2.5), dice.decade(0.5, 2.5)])
    radius = length * dice.decade(-2.3, -1.5)
    pull = float(masses.prod() / masses.sum()) * rate**2 * length * (3.0 if orbit else 1.0)
    string = tl.String(
        2.0 * length, float(masses.min()) / length * dice.decade(-2.5, -1.0), pull * stiff,
        law=dice.among("tension_only", "linear"), damping_ratio=dice.between(0.0, 0.2),
    )  # fmt: skip
    bodies = {
        "first": tl.RigidBody.box(masses[0], (radius, radius, radius), (0, 0, 0)),
        "second": tl.RigidBody.sphere(masses[1], radius),
    }
    line = tl.Line(
        string, start="first", start_point=(0.5 * radius, 0, 0), end="second", end_point=(-radius, 0, 0),
        reel=tl.Reel(0.1 * radius, 0.1 * radius, 0.02 * masses[0]), drum_axis=(0, 0, 1), elements=10 * finer,
    )  # fmt: skip
    pair = tl.System(bodies, {"cord": line}, **({"orbit": orbit} if orbit else {"gravity": 0.0}))
    apart = length * (1.0 + 1.0 / stiff) + 1.5 * radius
    places = {"first": -apart * masses[1] / masses.sum(), "second": apart * masses[0] / masses.sum()}
    states = {
        name: tl.BodyState((x, 0.0, 0.0), (0.0, rate * x, 0.0), angular_velocity=(0.0, 0.0, rate))
        for name, x in places.items()
    }
    start = chains.hang(pair, states, {"cord": length})
    reeled = tl.Length.to(
        length * dice.between(0.6, 1.3), speed=0.02 * length * rate, acceleration=0.1 * length * rate**2
    )
    return pair, start, {"cord": reeled if dice.happens(0.6, "reeled") else tl.Locked()}, dice.between(2.0, 12.0) / rate


def thrown(dice: Dice, finer: int) -> Made:
    """Two bodies in free space."""
    return _pair(dice, finer, dice.decade(0.5, 2.0), dice.decade(-1.0, 0.5), None, dice.decade(1.5, 3.0))


def orbit(dice: Dice, finer: int) -> Made:
    """Two satellites along the vertical."""
    around = tl.Orbit(6.878e6, eccentricity=float(dice.among("0", "0.01")))
    return _pair(dice, finer, dice.decade(2.0, 3.3), around.rate, around, dice.decade(2.0, 3.5))


def _wheel(dice: Dice, load: float, on: str = "anchor", x: float = 0.0, **others: Any) -> tl.Sheave:
    friction = {"efficiency": dice.between(0.9, 1.0)} if dice.happens(0.5, "efficiency") else {}
    inertia = 0.05 * load * dice.decade(-2.0, 0.0)
    return tl.Sheave((x, 0, 0), 0.25, (0, 1, 0), on=on, inertia_mass=inertia, **friction, **others)


def block(dice: Dice, finer: int) -> Made:
    """A hook block on two or four falls, which is hoisted, lowered or left to swing."""
    load, top, falls = dice.decade(2.5, 3.7), dice.between(5.0, 20.0), int(dice.among("2", "4"))
    places = [0.5 * k - 0.25 * (falls - 1) for k in range(falls)]
    over = {
        f"s{k}": _wheel(dice, load, ("block", "anchor")[k % 2], places[k] + 0.25, side=("under", "over")[k % 2])
        for k in range(falls - 1)
    }
    rope = _string(dice, 2.0 * falls * top, 9.81 * load / falls)
    line = tl.Line(
        rope, start_point=(places[0], 0, 0), end_point=(places[-1], 0, 0), over=over,
        reel=tl.Reel(0.3, 0.5, 0.1 * load), elements=6 * finer,
    )  # fmt: skip
    crane = tl.System({"block": _box(dice, load)}, {"hoist": line})
    start = tl.statics(crane, tl.Placed({"block": (0.0, 0.0, top)})).state
    way = falls * top * dice.between(0.7, 1.1)
    return crane, start, {"hoist": tl.Length.to(way, speed=0.5, acceleration=0.3)}, dice.between(2.0, 6.0)


def lift(dice: Dice, finer: int) -> Made:
    """A cabin and its counterweight on a sheave that is driven, whose ropes stick or slip."""
    cabin, high = dice.decade(2.5, 3.5), dice.between(8.0, 30.0)
    weight = cabin * dice.between(0.7, 1.2)
    groove: dict[str, Any] = {"groove_friction": dice.between(0.05, 0.4)} if dice.happens(0.5, "groove") else {}
    rope = _string(dice, high + 5.0 + 0.25 * math.pi, 9.81 * cabin)
    line = tl.Line(rope, "cabin", end="weight", over={"drive": _wheel(dice, cabin, **groove)}, elements=6 * finer)
    house = tl.System({"cabin": tl.RigidBody.point(cabin), "weight": tl.RigidBody.point(weight)}, {"ropes": line})
    near = tl.Placed({"cabin": (-0.25, 0.0, high), "weight": (0.25, 0.0, 5.0)})
    start = tl.statics(house, near, locked=["ropes.drive"]).state
    speed = dice.between(0.5, 1.5)
    drive = tl.Speed(retrieval=([0.0, 1.0, 2.0, 2.0 + dice.between(0.2, 1.0)], [0.0, speed, speed, 0.0]))
    return house, start, {"ropes.drive": drive}, dice.between(2.0, 4.0)


FAMILIES = (hook, tandem, mooring, robot, thrown, orbit)
OVER_SHEAVES = (block, lift)


def system(number: int, finer: int = 1) -> Case | None:
    """The system of a number, of one family after the other; None where its parts cannot be put together."""
    return _of(FAMILIES, number, 7_000_000, finer)


def reeved(number: int, finer: int = 1) -> Case | None:
    """Likewise, of lines over sheaves."""
    return _of(OVER_SHEAVES, number, 9_000_000, finer)


def _of(families: tuple[Callable[[Dice, int], Made], ...], number: int, seed: int, finer: int) -> Case | None:
    make = families[number % len(families)]
    dice = Dice(number + seed)
    try:
        system, start, commands, duration = make(dice, finer)
        return Case(make.__name__, system, start, commands, {}, duration, tuple(dice.features)).check()
    except TautlineError:
        return None
