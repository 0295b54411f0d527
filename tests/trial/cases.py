"""Random pendulums over all features: laws, commands, loads, scales from millimeters to kilometers."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

import numpy as np

import tautline as tl
from tautline.errors import TautlineError
from tests.support import chains


class Case(NamedTuple):
    """A run with default settings."""

    family: str
    system: Any
    state: Any
    command: Any
    options: dict[str, Any]  # of the simulation
    duration: float
    features: tuple[str, ...]

    def simulation(self, state: Any) -> tl.Simulation:
        """A simulation from a state, which may be another than that of the case."""
        return chains.simulation(self.system, state, **self.options)

    def check(self) -> Self:
        """Itself, if its parts go together; refuses others."""
        self.simulation(self.state).runner.begin(self.command, self.duration, self.duration)
        return self


class Dice:
    """Random numbers of one case, and the features that they chose."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.features: list[str] = []

    def happens(self, part: float, feature: str) -> bool:
        """True in this part of the cases, which then have the feature."""
        yes = bool(self.rng.random() < part)
        if yes:
            self.features.append(feature)
        return yes

    def among(self, *names: str) -> str:
        """One of the names; a feature."""
        name = str(self.rng.choice(names))
        self.features.append(name)
        return name

    def decade(self, low: float, high: float) -> float:
        """Ten to a power between two."""
        return float(10.0 ** self.rng.uniform(low, high))

    def between(self, low: float, high: float) -> float:
        return float(self.rng.uniform(low, high))

    def direction(self) -> Any:
        x = self.rng.normal(size=3)
        return x / np.linalg.norm(x)


def _string(dice: Dice, L: float, mu: float, weight: float, body_fluid: bool) -> tl.String:
    EA = weight / dice.decade(-5.0, -0.5)
    others: dict[str, float] = {}
    if dice.happens(0.3, "viscosity"):
        others["viscosity"] = dice.decade(-4.0, 1.0) * L * math.sqrt(EA * mu)
    if dice.happens(0.15, "damping_ratio"):
        others["damping_ratio"] = dice.decade(-3.0, 2.0)
    if body_fluid:
        others["diameter"] = math.sqrt(mu / 1000.0 * 4.0 / math.pi) * dice.decade(-0.5, 0.5)
        if dice.happens(0.5, "string drag"):
            others.update(normal_drag=dice.decade(-1.0, 1.0), tangential_drag=dice.decade(-3.0, 0.0))
        if dice.happens(0.4, "normal_added_mass"):
            others["normal_added_mass"] = dice.decade(-1.0, 0.5)
    law = dice.among("linear", "linear", "tension_only", "table")
    if law == "table":
        strains = np.array([-0.1, 0.0, 0.02, 0.1])
        return tl.String.from_table(L, mu, strains, EA * np.array([0.0, 0.0, 0.01, 0.09]), **others)
    return tl.String(L, mu, EA, law=law, **others)


def _heave(dice: Dice, L: float) -> Any:
    """A motion of the guide without end, that shakes with up to a few times gravity."""
    period = math.sqrt(L / 9.81) * dice.decade(-0.5, 1.0)
    amplitude = min(L * dice.decade(-3.0, -0.5), 3.0 * 9.81 * (period / (2.0 * math.pi)) ** 2)
    ramp: Any = {"ramp": period * dice.between(0.0, 2.0)} if dice.happens(0.5, "ramp") else {}
    kind = dice.among("sine", "sines", "waves")
    if kind == "waves":
        return tl.motions.Waves("jonswap", amplitude, period, components=50, seed=int(dice.rng.integers(1000)), **ramp)
    # a guide that does not start with a jerk: of the cosine
    if kind == "sine":
        return tl.motions.Sine(amplitude * dice.direction(), period, phase=0.5 * math.pi, **ramp)
    return tl.motions.Sines(
        [amplitude, 0.3 * amplitude], [period, 0.4 * period], [0.5 * math.pi, 0.5 * math.pi], **ramp
    )


def _reel(dice: Dice, L: float, M: float, weight: float, linear: bool) -> tl.Reel:
    radius = L * dice.decade(-3.0, -1.0)
    others: dict[str, Any] = {}
    for_linear = ("momentum", "stretched") if linear else ()
    others["guide_law"] = dice.among("dissipative", "published", "none", *for_linear)
    if dice.happens(0.2, "extrapolated"):
        others["guide_strain"] = "extrapolated"
    if dice.happens(0.2, "growth"):
        others["layer_growth"] = radius**2 / L * dice.between(0.1, 2.0)
    if dice.happens(0.2, "viscous_friction"):
        others["viscous_friction"] = weight * radius * dice.decade(-2.0, 2.0)
    if dice.happens(0.2, "coulomb_friction"):
        others["coulomb_friction"] = weight * radius * dice.decade(-2.0, 0.5)
    if dice.happens(0.15, "max_torque"):
        others["max_torque"] = weight * radius * dice.decade(-0.5, 0.5)
    if dice.happens(0.1, "max_power"):
        others["max_power"] = weight * math.sqrt(9.81 * L) * dice.decade(-1.0, 0.5)
    if dice.happens(0.15, "gear"):
        others.update(motor_inertia=0.01 * M * radius**2, gear_ratio=dice.between(1.0, 20.0))
    if dice.happens(0.15, "guide_path"):
        times = np.linspace(0.0, math.sqrt(L / 9.81) * dice.between(0.5, 4.0), 5)
        places: Any = L * dice.decade(-3.0, -0.5) * dice.rng.normal(size=(5, 3))
        others["guide_path"] = tl.motions.GuidePath(tuple(times.tolist()), places)
    elif dice.happens(0.15, "heave"):
        others["guide_path"] = _heave(dice, L)
    return tl.Reel(radius, L * dice.between(0.0, 0.01), M * dice.decade(-2.0, 2.0), **others)


def _body(dice: Dice, M: float, L: float) -> tl.RigidBody:
    size = L * dice.decade(-3.0, -1.0)
    center = 0.8 * size * dice.direction()
    kind = dice.among("point", "sphere", "box", "cylinder")
    if kind == "point":
        return tl.RigidBody.point(M)
    if kind == "sphere":
        return tl.RigidBody.sphere(M, size, center)
    if kind == "box":
        return tl.RigidBody.box(M, size * dice.rng.uniform(0.3, 2.0, 3), center)
    return tl.RigidBody.elliptic_cylinder(M, size * dice.rng.uniform(0.3, 1.0, 2), size, center)


def _fluid(dice: Dice, M: float, L: float, deployed: float) -> tl.Fluid:
    density = 1025.0 if dice.happens(0.4, "water") else 1.2 * dice.decade(0.0, 3.0)
    others: dict[str, Any] = {}
    if dice.happens(0.3, "surface"):
        others.update(surface=deployed * dice.between(-0.5, 1.2), density_above=min(density, 1.2))
        if dice.happens(0.5, "body_height"):
            others["body_height"] = L * dice.decade(-3.0, -1.0)
    if dice.happens(0.3, "drag_center"):
        others["drag_center"] = L * dice.decade(-4.0, -1.0) * dice.direction()
    if dice.happens(0.3, "buoyancy_center"):
        others["buoyancy_center"] = L * dice.decade(-4.0, -1.0) * dice.direction()
    flow: Any = dice.decade(-1.0, 1.2) * dice.direction()
    if dice.happens(0.3, "shear"):
        flow = ((0.0, 0.5 * L), (flow, -0.5 * flow))
    volume = M / 1000.0 * dice.between(0.0, 1.5)
    return tl.Fluid(
        density,
        flow,
        drag_area=(M / 1000.0) ** (2.0 / 3.0) * dice.decade(-1.0, 1.0),
        volume=volume,
        added_mass=dice.decade(-1.0, 0.5) * density * volume if dice.happens(0.4, "added_mass") else 0.0,
        spin_damping=M * L**2 * dice.decade(-8.0, 0.0) if dice.happens(0.4, "spin_damping") else 0.0,
        **others,
    )


def _push(dice: Dice, weight: float, period: float) -> tl.AppliedForce:
    force = weight * dice.decade(-2.0, 0.3) * dice.direction()
    if dice.happens(0.5, "pulse"):
        start, width = period * dice.between(0.0, 0.5), period * dice.decade(-5.0, -0.5)
        return tl.AppliedForce(
            ((start, start + 0.5 * width, start + width), (0 * force, force * period / width, 0 * force))
        )
    return tl.AppliedForce(force)


def _command(dice: Dice, deployed: float, L: float, weight: float, radius: float, period: float) -> Any:
    kind = dice.among("Locked", "Locked", "Free", "Torque", "Table", "Brake", "Length", "Speed", "Impedance")
    hold = weight * radius
    if kind == "Locked":
        return tl.Locked()
    if kind == "Free":
        return tl.Free()
    if kind == "Torque":
        return tl.Torque(hold * dice.between(-0.5, 2.0))
    if kind == "Table":
        return tl.Torque((period * np.linspace(0.0, 2.0, 6), hold * dice.rng.uniform(-0.5, 2.0, 6)))
    if kind == "Brake":
        return tl.Brake(hold * dice.decade(-1.0, 0.5))
    if kind == "Length":
        target = deployed * dice.between(0.3, 1.2)
        return tl.Length.to(min(target, 0.97 * L), speed=deployed / period, acceleration=deployed / period**2)
    if kind == "Speed":
        return tl.Speed(payout=deployed / period * dice.between(-0.5, 0.3))
    stiffness = weight / deployed * dice.decade(0.0, 3.0)
    return tl.Impedance(
        deployed * dice.between(0.7, 1.1), stiffness, damping=stiffness * period * dice.decade(-3.0, 0.0)
    )


def _state(
    dice: Dice, pendulum: chains.Chain, deployed: float, elements: int, finer: int, speed: float, moving: bool
) -> chains.ChainState:
    """A start with so many elements, each cut into some more; a slack string keeps its shape by that."""
    spin = speed / deployed * dice.decade(-1.0, 2.0) * dice.direction() if dice.happens(0.4, "spin") else np.zeros(3)
    if pendulum.body.is_point:
        spin = np.zeros(3)
    kind = dice.among("hanging", "straight", "thrown", "slack")
    in_one_fluid = pendulum.fluid is None or pendulum.fluid.surface is None
    if kind == "hanging" and pendulum.gravity > 0.0 and in_one_fluid:
        return chains.hanging(pendulum, deployed, finer * elements, angular_velocity=spin)
    reel_speed = speed * dice.between(-0.5, 0.5) if moving and dice.happens(0.2, "reel_speed") else 0.0
    velocity = speed * dice.decade(-1.0, 0.3) * dice.direction() if kind == "thrown" else np.zeros(3)
    state = chains.straight(
        pendulum,
        deployed,
        elements if kind == "slack" else finer * elements,
        dice.direction(),
        end_velocity=velocity,
        reel_speed=reel_speed,
        angular_velocity=spin,
    )
    if kind != "slack":
        return state
    nodes = np.array(state.nodes) * dice.between(0.7, 1.0)
    nodes[1::2] += 0.3 * deployed / elements * dice.direction()
    cuts, places = np.arange(elements + 1), np.arange(finer * elements + 1) / finer
    nodes, velocities = (
        np.stack([np.interp(places, cuts, x) for x in np.transpose(rows)], axis=1)
        for rows in (nodes, state.node_velocities)
    )
    return chains.ChainState(state.reeled_length, state.reel_speed, nodes, velocities, state.attitude, spin)


def mixed(seed: int, finer: int = 1) -> Case | None:
    """The pendulum of a seed, or None where its parts cannot be put together; its elements cut into some more."""
    dice = Dice(seed)
    L = dice.decade(-3.0, 3.0)
    deployed = L * dice.between(0.05, 0.9)
    mu = dice.decade(-4.0, 1.0)
    M = mu * deployed * dice.decade(-1.5, 2.5)
    gravity = 0.0 if dice.happens(0.1, "no gravity") else 9.81
    weight = (M + mu * deployed) * 9.81
    period = 2.0 * math.pi * math.sqrt(deployed / 9.81)
    body_fluid = dice.happens(0.5, "fluid")
    elements = round(dice.decade(0.0, math.log10(400.0))) if dice.happens(0.3, "any N") else None
    try:
        string = _string(dice, L, mu, weight, body_fluid)
        reel = _reel(dice, L, M, weight, string.law == "linear")
        fluid = _fluid(dice, M, L, deployed) if body_fluid else None
        push = _push(dice, weight, period) if dice.happens(0.15, "applied_force") else None
        pendulum = chains.Chain(string, reel, _body(dice, M, L), gravity, fluid, push)
        command = _command(dice, deployed, L, weight, reel.drum_radius, period)
        chosen = elements or round(dice.decade(0.5, 1.5))
        free = not isinstance(command, tl.Locked | tl.Length | tl.Speed)
        state = _state(dice, pendulum, deployed, chosen, finer, math.sqrt(9.81 * deployed), free)
        options: dict[str, Any] = {"at_end": "hold"} if dice.happens(0.2, "hold") else {}
        if dice.happens(0.1, "order 4"):
            options["order"] = 4
        duration = period * dice.decade(-1.0, 0.7)
        return Case("mixed", pendulum, state, command, options, duration, tuple(dice.features)).check()
    except TautlineError:
        return None
