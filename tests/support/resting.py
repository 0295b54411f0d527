"""Systems whose states of rest are known or found: a winch in air and water, balloons, sagging ropes, a crane."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

import tautline as tl
from tests.support import chains

replace = dataclasses.replace
ROPE = tl.String(length=60.0, density=0.2, stiffness=5e4, diameter=0.01, viscosity=200.0, law="linear")
WINCH = tl.Reel(drum_radius=0.25, guide_length=0.8, inertia_mass=15.0)
LOAD = tl.RigidBody.sphere(mass=30.0, radius=0.2, center_of_mass=(0.0, 0.0, 0.3))
SEA = tl.Fluid(1025.0, volume=0.01, drag_area=0.05, added_mass=5.0, spin_damping=5.0)
# 60 m of 10 mm rope on a narrow drum: the radius grows from 250 mm to 326 mm
NARROW = replace(WINCH, layer_growth=tl.Reel.growth(0.05, 0.2) / 2.0, motor_inertia=0.02, gear_ratio=12.0)
BALLOON = tl.RigidBody.sphere(mass=6.0, radius=1.2, center_of_mass=(0.0, 0.0, 1.0))
AIR = tl.Fluid(1.2, volume=12.0, buoyancy_center=(0.0, 0.0, 1.4), added_mass=7.0, spin_damping=5.0)
CURRENT = replace(SEA, flow=(1.2, 0.3, 0.0))
THRUST = tl.AppliedForce((0.0, 20.0, -40.0))


def sagging(N: int, EA: float = 1e6, gravity: float = 9.81, **string: Any) -> tuple[tl.System, tl.State]:
    """60 m of rope between anchors 50 m apart."""
    rope = tl.String(60.0, 1.0, EA, **{"law": "tension_only", **string})
    rope_line = tl.Line(rope, end_point=(50.0, 0.0, 0.0), elements=N)
    system = tl.System({}, {"rope": rope_line}, gravity=gravity)
    return system, chains.hang(system, {})


def sea(flow: Any, surface: float | None, volume: float) -> chains.Chain:
    fluid = tl.Fluid(
        1025.0, flow=flow, surface=surface, density_above=0.0 if surface is None else 1.2, drag_area=0.2, volume=volume
    )
    floats = fluid.density * volume > 120.0  # a sphere would have an unstable balance beside the stable one
    body = tl.RigidBody.point(120.0) if floats else tl.RigidBody.sphere(120.0, 0.3, (0.02, 0.0, 0.3))
    return chains.Chain(
        tl.String(41.0, 0.8, 1e6, diameter=0.02, law="linear"), tl.Reel(0.1, 0.5, 1.0), body, fluid=fluid
    )


def crane() -> tuple[tl.System, tl.State]:
    case = tl.load("hook-and-load")
    return case.system, chains.hang(case.system, case.start.bodies, case.start.lines)


COURSE = tl.motions.GuidePath((0.0, 10.0), ((0.0, 0.0, 2.0), (15.0, 0.0, 2.0)), ((1.5, 0, 0), (1.5, 0, 0)))
TIMES = np.linspace(0.0, 4.0, 5)
START_UP = tl.motions.GuidePath(tuple(TIMES), tuple((t * t, 0.0, 0.0) for t in TIMES), ((0, 0, 0), (8.0, 0, 0)))
LAYERED = replace(SEA, flow=((10.0, 20.0), ((0, 0, 0), (0.0, 1.0, 0.0))), buoyancy_center=(0.1, 0.0, 0.4))
TWISTED = tl.AppliedForce((0.0, 20.0, 0.0), (0.0, 15.0, 0.0), (0.1, 0.0, 0.2))
WINDY = replace(AIR, flow=(5.0, 0.0, 0.0), drag_area=1.5)
GUST = replace(AIR, volume=8.0, flow=(8.0, 0.0, 0.0), drag_area=2.0)
STRAINS = np.linspace(0.0, 0.02, 9)
TABLE = tl.String.from_table(60.0, 0.2, STRAINS, 2e4 * STRAINS + 2e6 * STRAINS**2, diameter=0.01)
FLOATS = tl.Fluid(1000.0, surface=5.0, volume=0.05)
WET = replace(ROPE, normal_added_mass=1.0)
CASES: dict[str, tuple[chains.Chain, float, int, dict[str, Any]]] = {
    "hangs": (chains.Chain(ROPE, WINCH, LOAD), 20.0, 20, {}),
    "tension only": (chains.Chain(replace(ROPE, law="tension_only"), NARROW, LOAD, fluid=SEA), 20.0, 20, {}),
    "table": (chains.Chain(TABLE, NARROW, LOAD, fluid=SEA), 20.0, 20, {}),
    "balloon": (chains.Chain(ROPE, WINCH, BALLOON, fluid=AIR), 25.0, 15, {}),
    "balloon in wind": (chains.Chain(ROPE, WINCH, BALLOON, fluid=WINDY), 25.0, 12, {}),
    "fold": (chains.Chain(ROPE, WINCH, BALLOON, fluid=replace(AIR, volume=8.0)), 25.0, 50, {}),
    "fold in wind": (chains.Chain(ROPE, WINCH, BALLOON, fluid=GUST), 25.0, 12, {}),
    "towed": (chains.Chain(ROPE, replace(WINCH, guide_path=COURSE), LOAD, fluid=SEA), 25.0, 10, {"time": 3.0}),
    "towed in layers": (chains.Chain(ROPE, replace(WINCH, guide_path=COURSE), LOAD, fluid=LAYERED), 25.0, 10, {}),
    "accelerated": (
        chains.Chain(ROPE, replace(WINCH, guide_path=START_UP), LOAD),
        20.0,
        8,
        {"time": 1.0, "acceleration": True},
    ),
    "accelerated in the sea": (
        chains.Chain(WET, replace(WINCH, guide_path=START_UP), LOAD, fluid=LAYERED),
        20.0,
        8,
        {"time": 1.0, "acceleration": True},
    ),
    "accelerated at a surface": (
        chains.Chain(WET, replace(WINCH, guide_path=START_UP), LOAD, fluid=replace(LAYERED, surface=10.0)),
        20.0,
        8,
        {"time": 1.0, "acceleration": True},
    ),
    "pushed": (chains.Chain(ROPE, WINCH, LOAD, applied_force=TWISTED), 25.0, 10, {}),
    "pushed in a current": (chains.Chain(ROPE, WINCH, LOAD, fluid=CURRENT, applied_force=THRUST), 25.0, 10, {}),
    "current over depth": (sea(([0.0, 30.0], [(2.0, 0.0, 0.0), (0.2, 0.5, 0.0)]), None, 0.05), 40.0, 12, {}),
    "through a surface": (sea((0.0, 0.0, 0.0), 10.0, 0.02), 40.0, 12, {}),
    "through a surface in a current": (sea((1.5, 0.0, 0.0), 10.0, 0.05), 40.0, 12, {}),
    "afloat in a current": (sea((1.5, 0.0, 0.0), 30.0, 0.3), 40.0, 12, {}),
    "afloat on a slack line": (
        chains.Chain(
            tl.String(8.0, 0.2, 1e5, law="tension_only", diameter=0.01),
            tl.Reel(0.1, 0.5, 1.0),
            tl.RigidBody.point(10.0),
            fluid=FLOATS,
        ),
        7.0,
        10,
        {},
    ),
}
