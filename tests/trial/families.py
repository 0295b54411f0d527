"""Random pendulums of the kinds that people build, on the default mesh."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import tautline as tl
from tautline.errors import TautlineError
from tautline.model.elements import default_elements
from tests.support import chains
from tests.trial.cases import Case, Dice

# A pendulum, its start with so many elements times as many, its command and how long it lasts.
Made = tuple[chains.Chain, Callable[[int], chains.ChainState], Any, float]


def _rope(dice: Dice, length: float, load: float, factor: float, damped: bool = True) -> tl.String:
    """A rope that carries `factor` times a load at about 1 % of strain, of steel or of fibers."""
    EA = 100.0 * factor * load * dice.decade(0.0, 0.7)
    mu = EA / (dice.decade(3.0, 3.7) ** 2)  # by the speed of waves
    others: dict[str, Any] = (
        {"damping_ratio": dice.decade(-2.0, -0.7)} if damped and dice.happens(0.5, "damped") else {}
    )
    return tl.String(length, mu, EA, law=dice.among("linear", "tension_only"), **others)


def _box(dice: Dice, mass: float) -> tl.RigidBody:
    side = (mass / 500.0) ** (1.0 / 3.0)
    sides = side * dice.rng.uniform(0.5, 1.5, 3)
    return tl.RigidBody.box(mass, sides, (0.1 * side * dice.between(-1, 1), 0.0, 0.5 * sides[2] + side))


def _reel(dice: Dice, mass: float, **others: Any) -> tl.Reel:
    return tl.Reel(dice.between(0.1, 0.5), 0.5, mass * dice.decade(-1.5, 0.0), **others)


def crane(dice: Dice) -> Made:
    """A load that is hoisted, lowered or left to swing."""
    mass, length = dice.decade(2.0, 4.0), dice.decade(1.0, 2.0)
    pendulum = chains.Chain(_rope(dice, 1.2 * length, 9.81 * mass, 3.0), _reel(dice, mass), _box(dice, mass))
    N = default_elements(pendulum, length)
    way = length * dice.between(0.3, 1.1)
    command = tl.Length.to(way, speed=dice.between(0.2, 2.0), acceleration=dice.between(0.1, 1.0))
    tilt = (dice.between(0.0, 0.2), 0.0, 1.0)
    if dice.happens(0.5, "hanging"):
        return pendulum, lambda n: chains.hanging(pendulum, length, n * N), command, dice.between(3.0, 15.0)
    return pendulum, lambda n: chains.straight(pendulum, length, n * N, tilt), command, dice.between(3.0, 15.0)


def ship_crane(dice: Dice) -> Made:
    """A load below a jib that heaves, with or without water around it."""
    mass, length = dice.decade(2.5, 4.0), dice.decade(1.0, 2.0)
    period = dice.between(4.0, 12.0)
    height = dice.between(0.2, 2.0)
    path = tl.motions.Sine((0.0, 0.0, height), period, ramp=period) if dice.happens(0.5, "sine") else None
    waves = path or tl.motions.Waves(
        "jonswap", height, period, components=50, seed=int(dice.rng.integers(1000)), ramp=period
    )
    fluid = None
    if dice.happens(0.5, "water"):
        volume = mass / 1025.0 * dice.between(0.1, 0.6)
        fluid = tl.Fluid(1025.0, (0.3, 0.0, 0.0), drag_area=volume ** (2 / 3), volume=volume, added_mass=500.0 * volume)
    string = _rope(dice, 1.2 * length, 9.81 * mass, 3.0)
    pendulum = chains.Chain(string, _reel(dice, mass, guide_path=waves), _box(dice, mass), 9.81, fluid)
    N = default_elements(pendulum, length)
    return pendulum, lambda n: chains.hanging(pendulum, length, n * N), tl.Locked(), period * dice.between(2.0, 4.0)


def _current(dice: Dice, rho: float, fastest: float) -> tuple[float, ...]:
    angle, speed = dice.between(0.0, 2.0 * math.pi), fastest * dice.between(0.2, 1.0)
    return (speed * math.cos(angle), speed * math.sin(angle), 0.0)


def sea(dice: Dice) -> Made:
    """A cable in a current, from rest or let go straight."""
    length, diameter = dice.decade(1.5, 2.7), dice.between(0.01, 0.03)
    string = tl.String(
        1.3 * length, 3000.0 * diameter**2, dice.decade(5.5, 6.5), diameter=diameter, normal_drag=1.2,
        tangential_drag=0.02, normal_added_mass=dice.between(0.0, 1.0),
        viscosity=float(dice.among("0", "1e3")), law="linear",
    )  # fmt: skip
    mass = dice.decade(1.5, 3.0)
    fluid = tl.Fluid(1025.0, _current(dice, 1025.0, 1.5), drag_area=0.3, volume=0.3 * mass / 1025.0)
    pendulum = chains.Chain(string, _reel(dice, mass), tl.RigidBody.sphere(mass, 0.3, (0.0, 0.0, 0.3)), 9.81, fluid)
    N = default_elements(pendulum, length)
    command: Any = tl.Locked()
    if dice.happens(0.5, "reeled"):
        command = tl.Length.to(length * dice.between(0.8, 1.2), speed=1.0, acceleration=0.2)
    if dice.happens(0.5, "equilibrium"):
        return pendulum, lambda n: chains.equilibrium(pendulum, length, n * N).state, command, dice.between(5.0, 20.0)
    return pendulum, lambda n: chains.hanging(pendulum, length, n * N), command, dice.between(5.0, 20.0)


def aerostat(dice: Dice) -> Made:
    """A balloon on its tether in wind, at rest."""
    length, diameter = dice.decade(1.5, 2.7), dice.between(0.005, 0.02)
    string = tl.String(
        1.1 * length,
        800.0 * diameter**2,
        1e10 * diameter**2,
        diameter=diameter,
        normal_drag=1.2,
        viscosity=1e3,
        law="linear",
    )
    mass = dice.decade(1.0, 2.0)
    volume = 1.5 * (mass + string.density * length) / 1.2 * dice.between(1.0, 2.0)
    wind = _current(dice, 1.2, 8.0)
    fluid = tl.Fluid(1.2, wind, drag_area=0.3 * volume ** (2 / 3), volume=volume, added_mass=0.6 * volume)
    pendulum = chains.Chain(string, _reel(dice, mass), tl.RigidBody.sphere(mass, 1.0), 9.81, fluid)
    N = default_elements(pendulum, length)
    return pendulum, lambda n: chains.equilibrium(pendulum, length, n * N).state, tl.Locked(), dice.between(3.0, 10.0)


def towed(dice: Dice) -> Made:
    """A body that is towed, in the frame of the tug, or that a tug begins to tow."""
    length, diameter = dice.decade(1.5, 2.5), dice.between(0.01, 0.02)
    string = tl.String(
        1.2 * length, 1500.0 * diameter**2, dice.decade(5.0, 6.0), diameter=diameter, tangential_drag=0.02, law="linear"
    )
    mass = dice.decade(1.5, 3.0)
    fluid = tl.Fluid(1025.0, (-dice.between(0.5, 3.0), 0.0, 0.0), drag_area=0.2, volume=0.8 * mass / 1025.0)
    others: dict[str, Any] = {}
    if dice.happens(0.5, "heave"):
        others["guide_path"] = tl.motions.Sine((0.0, 0.0, 0.5), 6.0, ramp=6.0)
    pendulum = chains.Chain(string, _reel(dice, mass, **others), tl.RigidBody.point(mass), 9.81, fluid)
    N = default_elements(pendulum, length)
    return pendulum, lambda n: chains.equilibrium(pendulum, length, n * N).state, tl.Locked(), dice.between(5.0, 15.0)


def lift(dice: Dice) -> Made:
    """A cage on a rope about as heavy as itself, that starts and stops."""
    mass, length = dice.decade(2.5, 3.5), dice.decade(1.5, 2.7)
    string = _rope(dice, 1.2 * length, 9.81 * mass, 8.0)
    pendulum = chains.Chain(string, _reel(dice, mass), tl.RigidBody.point(mass))
    N = default_elements(pendulum, length)
    speed = dice.between(1.0, 4.0)
    command = tl.Length.to(length + dice.between(-0.5, 0.1) * length, speed=speed, acceleration=dice.between(0.3, 1.5))
    return pendulum, lambda n: chains.hanging(pendulum, length, n * N), command, dice.between(2.0, 10.0)


def bungee(dice: Dice) -> Made:
    """A jump: a slack cord that gets taut."""
    mass, length = dice.between(50.0, 100.0), dice.between(8.0, 25.0)
    EA = 9.81 * mass * dice.between(1.0, 4.0)
    damping = {"damping_ratio": 0.2} if dice.happens(0.5, "damped") else {}
    string = tl.String(1.05 * length, dice.between(0.1, 0.5), EA, law="tension_only", **damping)
    pendulum = chains.Chain(string, tl.Reel(0.1, 0.2, 10.0), tl.RigidBody.point(mass))
    N = default_elements(pendulum, length)
    if dice.happens(0.5, "hanging"):
        return pendulum, lambda n: chains.hanging(pendulum, length, n * N), tl.Locked(), 4.0
    side = (1.0, 0.0, dice.between(0.0, 1.0))
    return pendulum, lambda n: chains.straight(pendulum, length, n * N, side), tl.Locked(), dice.between(2.0, 8.0)


def space(dice: Dice) -> Made:
    """A tether that spins about its guide without gravity, whose body is held away from its center of mass."""
    length = dice.decade(0.5, 2.5)
    mass, rate = dice.decade(0.0, 2.0), dice.decade(-1.0, 0.5)
    mu = mass / length * dice.decade(-2.5, -0.5)
    pull = mass * rate**2 * length
    string = tl.String(1.3 * length, mu, pull * dice.decade(1.0, 3.0), law=dice.among("linear", "tension_only"))
    arm = length * dice.decade(-3.0, -2.0)
    body = tl.RigidBody.sphere(mass, arm, arm * np.array([dice.between(-0.5, 0.5), dice.between(-0.5, 0.5), 1.0]))
    pendulum = chains.Chain(string, tl.Reel(0.05, 0.05, mass), body, 0.0)
    N = default_elements(pendulum, length)
    stretched = length * (1.0 + pull / string.stiffness)
    # the string along the third axis, and the body's center of mass nearly so
    spin = rate * np.array([0.0, 1.0, 0.0])
    out, turning = np.array([0.0, 0.0, 1.0]), stretched * rate * np.array([1.0, 0.0, 0.0])
    only_end = dice.happens(0.2, "end alone moves")

    def start(n: int) -> chains.ChainState:
        """Every node moves with the whole, unless the end alone does."""
        state = chains.straight(pendulum, length, n * N, out, end_velocity=turning, angular_velocity=spin)
        part = np.linspace(0.0, 1.0, n * N + 1)[:, None]
        if only_end:
            return state
        return chains.ChainState(
            state.reeled_length, 0.0, part * stretched * out, part * turning, state.attitude, state.angular_velocity
        )

    command: Any = tl.Locked()
    if dice.happens(0.3, "reeled"):
        command = tl.Length.to(length * dice.between(0.7, 1.2), speed=0.02 * length * rate, acceleration=length * rate)
    return pendulum, start, command, dice.between(2.0, 20.0) / rate


def thrown(dice: Dice) -> Made:
    """A body that is thrown while its string lies straight and at rest."""
    length, mass = dice.decade(0.0, 2.0), dice.decade(-1.0, 2.0)
    mu = mass / length * dice.decade(-2.5, 0.0)
    gravity = 9.81 if dice.happens(0.5, "gravity") else 0.0
    string = tl.String(1.3 * length, mu, 9.81 * mass * dice.decade(1.0, 3.0), law=dice.among("linear", "tension_only"))
    pendulum = chains.Chain(string, tl.Reel(0.05, 0.05, mass), tl.RigidBody.point(mass), gravity)
    N = default_elements(pendulum, length)
    speed = math.sqrt(9.81 * length) * dice.decade(-1.5, 0.0)
    velocity = speed * dice.direction()
    out = np.array([0.0, 0.0, 1.0]) if gravity else dice.direction()
    return (
        pendulum,
        lambda n: chains.straight(pendulum, length, n * N, out, end_velocity=velocity),
        tl.Locked(),
        length / speed * dice.between(0.2, 2.0),
    )


def yo_yo(dice: Dice) -> Made:
    """A load on a drum that turns freely, or that a torque or a brake holds up."""
    mass, length = dice.decade(-1.0, 2.0), dice.decade(0.0, 1.0)
    string = _rope(dice, 4.0 * length, 9.81 * mass, 3.0)
    reel = tl.Reel(0.05, 0.05, mass * dice.decade(-0.5, 1.0))
    pendulum = chains.Chain(string, reel, tl.RigidBody.point(mass))
    N = default_elements(pendulum, 2.0 * length)
    hold = 9.81 * mass * 0.05
    command = {
        "Free": tl.Free(),
        "Torque": tl.Torque(hold * dice.between(0.5, 1.2)),
        "Brake": tl.Brake(hold * dice.between(0.2, 1.5)),
        "Impedance": tl.Impedance(length, 9.81 * mass / length * 10.0, damping=mass),
    }[dice.among("Free", "Torque", "Brake", "Impedance")]
    return (
        pendulum,
        lambda n: chains.hanging(pendulum, length, n * N),
        command,
        math.sqrt(length) * dice.between(0.3, 1.0),
    )


FAMILIES = (crane, ship_crane, sea, aerostat, towed, lift, bungee, space, space, thrown, yo_yo)


def family(number: int, finer: int = 1) -> Case | None:
    """The pendulum of a number, of one family after the other; None where its parts cannot be put together."""
    make = FAMILIES[number % len(FAMILIES)]
    dice = Dice(number + 5_000_000)
    try:
        pendulum, start, command, duration = make(dice)
        return Case(make.__name__, pendulum, start(finer), command, {}, duration, tuple(dice.features)).check()
    except TautlineError:
        return None
