"""String spooled on a reel that a free body carries, below a free surface and through it (docs/theory.md, 96)."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import tautline as tl
from tautline.ledger import kept_energy
from tautline.model.chain.systems import system_of
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_below, check_close, check_order

pytestmark = pytest.mark.network

G, RHO, ELEMENTS = 9.81, 1000.0, 3
ROPE = tl.String(20.0, 1.0, 1e5, diameter=0.02, normal_drag=0.0, tangential_drag=0.0, law="linear")
TOP = tl.String(10.0, 0.5, 2e3, diameter=0.01, normal_drag=0.0, tangential_drag=0.0, law="linear")
CARRIER = tl.RigidBody.about_center(40.0, np.diag([3.0, 2.0, 4.0]), (0.1, 0.0, 0.05))
LOAD = tl.RigidBody.point(10.0)
REEL = tl.Reel(0.3, 0.5, 2.0, guide_law="none")
ENTRANCE = (0.25, 0.1, 0.4)
IN_FLUID = {"carrier": tl.BodyInFluid(volume=5e-3), "load": tl.BodyInFluid(volume=2e-3)}
STEPS = [1e-3, 5e-4, 2.5e-4]


def system(surface: float | None, entrance: Any = ENTRANCE, carrier: tl.RigidBody = CARRIER) -> tl.System:
    """A carrier on a line, with a reel whose rope holds a load."""
    at: Any = {"start": "carrier", "start_point": entrance, "end": "load"}
    rope = tl.Line(ROPE, **at, reel=REEL, drum_axis=(0.0, 1.0, 0.0), elements=ELEMENTS)
    lines = {"top": tl.Line(TOP, end="carrier", elements=ELEMENTS), "rope": rope}
    fluid = tl.Fluid(RHO, surface=surface)
    return tl.System({"carrier": carrier, "load": LOAD}, lines, fluid=fluid, body_fluid=IN_FLUID)


@pytest.mark.parametrize("surface", [None, -100.0])
def test_the_top_line_bears_all_weights_less_what_is_displaced(surface: float | None) -> None:
    """At rest in a state that `rest` finds in a fluid that is everywhere; 15 m of the rope are spooled."""
    below: Any = ((0.0, 0.0, 0.5), tl.RigidBody.about_center(CARRIER.mass, np.eye(3), (0.0, 0.0, 0.2)))
    everywhere = system(None, *below)
    places = {"carrier": (0.0, 0.0, 10.3), "load": (0.0, 0.0, 15.7)}
    state = chains.rest(everywhere, chains.hang(everywhere, places, {"rope": 5.0}))
    run = chains.simulate(system(surface, *below), state, duration=0.2, sample=0.1)
    mass = CARRIER.mass + LOAD.mass + ROPE.length * ROPE.density + TOP.length * TOP.density
    displaced = RHO * (5e-3 + 2e-3 + ROPE.length * ROPE.area + TOP.length * TOP.area)
    at_top = G * (mass - displaced)
    check_close("pull at the anchor", run.start_tension[:, 0], np.full(3, at_top), 1e-6 * at_top)
    # `rest` leaves 1e-9 of the weights unbalanced
    check_below("motion", float(np.abs(run.body_velocity).max()), 1e-7)


def moved(system: tl.System, step: float, depth: float) -> Any:
    """A run from a carrier that sinks and turns while its reel pays out."""
    tilt = Rotation.from_rotvec([0.1, 0.4, 0.0]).as_matrix()
    bodies = {
        "carrier": tl.BodyState((1.0, 0.3, depth), (0.5, 0.0, 2.0), tilt, (0.3, -0.8, 0.5)),
        "load": tl.BodyState((2.0, 0.0, depth + 5.8), (0.0, 0.4, 2.0)),
    }
    start = chains.hang(system, bodies, {"rope": 5.0})
    return chains.simulate(system, start, {"rope": tl.Torque(-3.0)}, step=step, duration=0.3, sample=0.02)


def test_deep_below_a_surface_a_carrier_moves_as_in_a_fluid_without_one(report: Report) -> None:
    """With a reel beside the center of mass: the spooled string's lift turns the carrier too."""
    errors = []
    for step in STEPS:
        deep, everywhere = (moved(system(surface), step, 10.2) for surface in (-100.0, None))
        names = ("position", "body_position", "attitude", "reeled_length")
        errors.append(max(float(np.abs(deep[name] - everywhere[name]).max()) for name in names))
    order = check_order(STEPS, errors, 2.0)
    report("carrier of a reel deep below a surface, and in a fluid everywhere: order of the distance", order, "2")
    check_below("distance", errors[-1], 1e-5)


def lift_energy(run: Any, i: int, surface: float) -> float:
    """Energy (96) of sample i, by quadrature along elements and over depths."""

    def below(z: float, height: float) -> float:
        u = np.linspace(min(z, -height), z, 40_001)
        return float(np.trapezoid(np.clip(0.5 + u / height, 0.0, 1.0), u))

    energy, first = 0.0, 0
    xi = (np.arange(2000) + 0.5) / 2000
    for string, s in ((TOP, 0.0), (ROPE, float(run.reeled_length.values[i, 1]))):
        z = run.position.values[i, first : first + ELEMENTS + 1, 2] - surface
        along = z[:-1, None] * (1.0 - xi) + z[1:, None] * xi
        deployed = (string.length - s) * float(np.maximum(along, 0.0).mean())
        energy += RHO * G * string.area * (deployed + s * below(z[0], 2.0 * REEL.drum_radius))
        first += ELEMENTS + 1
    for b, own in enumerate(IN_FLUID.values()):
        z_b = float(run.body_position.values[i, b, 2]) - surface
        energy += RHO * G * own.volume * below(z_b, math.cbrt(6.0 * own.volume / math.pi))
    return energy


def test_a_carrier_that_sinks_through_the_surface(report: Report) -> None:
    """Work of the fluid is the energy that its lift loses, and the balance closes, both at order 2."""
    surface = 10.95
    sea = system(surface)
    works, balance = [], []
    for step in STEPS:
        run = moved(sea, step, 10.2)
        entrance = run.position.values[:, ELEMENTS + 1, 2] - surface
        assert entrance[0] < -REEL.drum_radius and entrance[-1] > 0.0
        lost = lift_energy(run, 0, surface) - lift_energy(run, -1, surface)
        works.append(abs(float(run.fluid_work[-1]) - lost))
        kept = kept_energy(run)
        balance.append(float(np.abs(kept - kept[0]).max()))
    assert abs(float(run.fluid_work[-1])) > 5.0
    report("work of lift on a carrier through the surface: order of the error", check_order(STEPS, works, 2.0), "2")
    report("balance of a carrier through the surface: order", check_order(STEPS, balance, 2.0), "2")


def test_a_guide_that_moves_feels_the_lift_of_what_is_spooled() -> None:
    """The pendulum's guide below a surface takes the force and the work that it takes in a fluid everywhere."""
    works, forces = [], []
    for surface in (None, -100.0):
        still = chains.Chain(ROPE, REEL, LOAD, fluid=tl.Fluid(RHO, volume=2e-3, surface=surface))
        heaving = dataclasses.replace(still, reel=dataclasses.replace(REEL, guide_path=tl.motions.Sine(0.2, 1.0)))
        times: Any = {"step": 2.5e-4, "duration": 0.4, "sample": 0.1}
        works.append(chains.simulate(heaving, chains.straight(heaving, 5.0, ELEMENTS), **times).guide_work.values)
        at_rest = system_of(still, ELEMENTS)
        line = dataclasses.replace(at_rest.lines["line"], start="guide")
        carried = dataclasses.replace(
            at_rest, bodies={"guide": tl.Kinematic()} | dict(at_rest.bodies), lines={"line": line}
        )
        sim = tl.Simulation(carried, tl.Straight(5.0), step=2.5e-4)
        sim.bodies["guide"].move((0.3, 0.0, 0.5))
        sim.advance(0.1)
        forces.append(sim.bodies["guide"].force)
    assert np.abs(works[0]).max() > 10.0
    check_close("work of the guide", works[1], works[0], 1e-3)
    check_close("force on the guide", forces[1], forces[0], 1e-2)
