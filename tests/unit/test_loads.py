"""Inputs of loads: what is refused, and by which name."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.ledger import kept_energy
from tautline.model.chain.systems import system_of
from tautline.paper.examples import EXAMPLES
from tests.support import chains
from tests.support.paper import initial_state, pendulum

WRONG: Any = (1.0, 2.0)
STRING: dict[str, Any] = {"length": 10.0, "density": 0.1, "stiffness": 100.0}


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: tl.String(**STRING, law="rubber"), "String.law"),
        (lambda: tl.String(**STRING, law="table"), "String.tension_table"),
        (lambda: tl.String(**{"law": "linear", **STRING}, viscosity=-1.0), "String.viscosity"),
        (lambda: tl.String.from_table(10.0, 0.1, [0.0, 0.1], [5.0, 1.0]), "String.tension_table"),
        (lambda: tl.String.from_table(10.0, 0.1, [0.1, 0.2], [1.0, 2.0]), "String.tension_table"),
        (lambda: tl.String.from_table(10.0, 0.1, [0.0, 0.0], [1.0, 2.0]), "String.tension_table"),
        (lambda: tl.Fluid(-1.0), "Fluid.density"),
        (lambda: tl.Fluid(1.0, flow=((0.0, 1.0), ((1, 0, 0),))), "Fluid.flow"),
        (lambda: tl.Fluid(1.0, drag_center=WRONG), "Fluid.drag_center"),
        (lambda: tl.Fluid(1.0, density_above=0.1), "Fluid.density_above: expected together with Fluid.surface"),
        (lambda: tl.Fluid(1.0, body_height=0.1), "Fluid.body_height: expected together with Fluid.surface"),
        (lambda: tl.Fluid(1.0, surface=0.0, density_above=2.0), "Fluid.density_above: expected at most Fluid.density"),
        (lambda: tl.Fluid(1.0, surface=0.0, body_height=0.0), "Fluid.body_height"),
        (lambda: tl.String(**{"law": "linear", **STRING}, normal_added_mass=-1.0), "String.normal_added_mass"),
        (lambda: tl.AppliedForce(force=(1.0, np.nan, 0.0)), "AppliedForce.force"),
        (lambda: tl.motions.GuidePath((0.0, 1.0), ((0, 0, 0),)), "Path.displacements"),
        (lambda: tl.motions.GuidePath((1.0, 0.0), ((0, 0, 0), (1, 0, 0))), "Path.times"),
        (lambda: tl.motions.GuidePath.of(lambda t: (t, 0.0), 1.0, 0.1), "function"),
        (lambda: tl.pendulum(pendulum().string, pendulum().reel, pendulum().body, fluid=WRONG), "^fluid: expected"),
    ],
)
def test_what_is_refused(make: Callable[[], Any], name: str) -> None:
    with pytest.raises(tl.errors.InputError, match=name):
        make()


def test_higher_orders_are_refused_with_damping() -> None:
    damped = chains.Chain(tl.String(100.0, 0.025, 40.0, viscosity=0.1, law="linear"), pendulum().reel, pendulum().body)
    with pytest.raises(tl.errors.InputError, match="order"):
        chains.simulate(damped, initial_state(EXAMPLES[0]), tl.Locked(), duration=0.1, order=4)


@pytest.mark.parametrize("strain", np.linspace(-0.3, 1.4, 18))
def test_energy_and_tension_of_a_table_agree(strain: float) -> None:
    """Tension is the slope of the energy, strain its inverse, beyond the table as well."""
    string = tl.String.from_table(10.0, 0.1, [-0.1, 0.0, 0.2, 0.5, 1.0], [-5.0, 0.0, 30.0, 45.0, 200.0])
    e = 1e-6
    slope = (string.energy_density(strain + e) - string.energy_density(strain - e)) / (2 * e)
    assert slope == pytest.approx(string.tension(strain), abs=1e-6)
    rise = (string.tension(strain + e) - string.tension(strain - e)) / (2 * e)
    assert rise == pytest.approx(string.slope(strain), rel=1e-4, abs=1e-3)
    assert float(string.slope(strain)) <= string.stiffness * (1 + 1e-9)
    tension = string.tension(abs(strain))
    assert float(string.strain(tension)) == pytest.approx(abs(strain), abs=1e-9)


def test_a_push_from_a_function() -> None:
    push = tl.AppliedForce.of(lambda t: ((t, 0.0, 0.0), (0.0, 0.0, 2.0 * t)), duration=2.0, interval=0.5)
    assert push.force[0] == (0.0, 0.5, 1.0, 1.5, 2.0)
    assert push.force[1][3] == (1.5, 0.0, 0.0)
    assert push.moment[1][4] == (0.0, 0.0, 4.0)


def test_a_path_stands_still_outside_its_times() -> None:
    path = tl.motions.GuidePath((1.0, 2.0), ((0, 0, 0), (1, 0, 0)))
    where, velocity = path.at([0.0, 1.5, 3.0])
    assert np.allclose(where[:, 0], [0.0, 0.5, 1.0])
    assert np.allclose(velocity[:, 0], [0.0, 1.5, 0.0])


SEA = dataclasses.replace(pendulum(), fluid=tl.Fluid(1000.0, volume=1e-5, surface=3.0, density_above=1.2))


def test_everything_hangs_at_rest_where_a_surface_is() -> None:
    system = system_of(SEA, 4)
    found = tl.statics(system, tl.Hanging(5.0)).line
    absorber = tl.control.WaveAbsorber(system, 5.0)
    assert absorber.resting_pull(5.0) == pytest.approx(found.start_tension, rel=0.3)  # but for the law at the guide
    run = tl.simulate(system, tl.Hanging(5.0), duration=0.5, sample=0.1)
    assert float(np.abs(run.position - run.position[0]).max()) < 1e-9


def test_modes_with_a_surface_are_those_where_the_guide_is() -> None:
    lower = tl.motions.GuidePath((0.0, 1.0), ((0.0, 0.0, 0.5), (0.0, 0.0, 0.5)))
    moved = dataclasses.replace(SEA, reel=dataclasses.replace(SEA.reel, guide_path=lower))
    place = tuple(np.add(SEA.reel.guide_position, (0.0, 0.0, 0.5)))
    stands = dataclasses.replace(SEA, reel=dataclasses.replace(SEA.reel, guide_position=place))
    found, expected = (tl.modes(system_of(x, 4), tl.AtEquilibrium(5.0)).frequency for x in (moved, stands))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_forces_at_rest_below_a_surface_add_up() -> None:
    """Weight less what is displaced: all of the body, and the string as far as it is wet."""
    string = tl.String(50.0, 0.1, 1e6, diameter=0.01, law="linear")
    fluid = tl.Fluid(1000.0, volume=2e-3, surface=3.0, density_above=1.2)
    system = chains.Chain(string, tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(5.0), fluid=fluid)
    found = chains.equilibrium(system, 10.0, 7)
    wet = 7.0 / 10.0  # but for the stretch, 1e-4
    displaced = 1000.0 * (2e-3 + string.area * 10.0 * wet) + 1.2 * string.area * 10.0 * (1.0 - wet)
    assert found.start_tension == pytest.approx(9.81 * (6.0 - displaced), rel=1e-5)
    assert found.counted["buoyancy"][2] == pytest.approx(-9.81 * displaced, rel=1e-4)
    one = chains.simulate(system, chains.equilibrium(system, 10.0, 1).state, duration=0.1, sample=0.1)
    assert float(one.start_tension[0]) == pytest.approx(found.start_tension, rel=1e-4)


@pytest.mark.parametrize("height", [None, 0.01])
def test_the_step_is_short_enough_for_a_light_float(height: float | None) -> None:
    """It bobs much faster than its soft string stretches: up from where it is let go, and back no deeper."""
    fluid = tl.Fluid(1000.0, volume=0.05, surface=5.0, body_height=height)
    string = tl.String(50.0, 1e-3, 100.0, law="linear")
    system = chains.Chain(string, tl.Reel(0.1, 0.1, 1.0), tl.RigidBody.point(0.1), fluid=fluid)
    start = chains.ChainState(40.0, 0.0, np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 5.002]]), np.zeros((2, 3)))
    run = chains.simulate(system, start, tl.Locked(), duration=1.0, sample=0.01)
    kept = kept_energy(run).values
    assert np.abs(kept - kept[0]).max() < 0.02 * float(run.kinetic_energy.max())
    assert float(run.position[:, -1, 2].max()) < 5.01
