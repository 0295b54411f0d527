"""Forces and stiffness of networks against differences of their energy, and what statics take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import tautline as tl
from tautline.errors import InputError
from tautline.model.rest.forces import forces_of
from tautline.model.rest.network import Network, NetworkBody, NetworkLine, Places
from tautline.model.rest.stiffness import stiffness_of
from tests.support import chains
from tests.support.checking import check_close

# Of what a flow does to a body by direction.
WINGED = {
    "drag_area": (0.1, 0.3, 0.5),
    "added_mass": (5.0, 20.0, 40.0),
    "added_mass_center": (0.1, 0.2, 0.0),
    "wing_area": 0.4,
    "wing_lift": ([-3.0, 0.0, 3.0], [-2.0, 0.3, 1.0]),
    "wing_drag": ([-3.0, 3.0], [0.1, 0.4]),
    "wing_center": (-0.3, 0.1, 0.2),
    "wing_chord": (1.0, 0.1, 0.2),
}


def tangle(law: str, flow: Any, more: Any = None) -> tuple[Network, Places]:
    """Two bodies and three lines at random places about a free surface."""
    rng = np.random.default_rng(3)
    fluid = tl.Fluid(1000.0, flow=flow, surface=1.0, density_above=1.2)
    own: Any = {"drag_area": 0.3, "drag_center": (0.2, 0.1, 0.0), "volume": 0.03, "buoyancy_center": (0.0, 0.1, 0.2)}
    wet = tl.BodyInFluid(**own | {"body_height": 2.0} | (more or {}))
    box = tl.RigidBody.box(20.0, (1.0, 0.6, 0.4), (0.1, 0.05, 0.3))
    bodies = [
        NetworkBody(box, wet, (30.0, -20.0, 10.0), (0.3, 0.1, 0.2)),
        NetworkBody(tl.RigidBody.point(5.0), tl.BodyInFluid(volume=0.002, drag_area=0.1, body_height=1.0)),
    ]
    plain = tl.String(10.0, 0.5, 2e3, law=law, diameter=0.03)
    table = tl.String.from_table(4.0, 0.3, [-0.1, 0.0, 0.1, 0.3], [-5.0, 0.0, 300.0, 2000.0], diameter=0.02)
    none = np.zeros(3)
    lines = [
        NetworkLine(plain, 8.0, 5, (-1, 0), (none, np.array([0.2, 0.0, -0.3])), 2.0),
        NetworkLine(table, 4.0, 3, (0, 1), (np.array([-0.4, 0.1, 0.2]), none)),
        NetworkLine(plain, 6.0, 4, (1, -1), (none, none)),
    ]
    network = Network(bodies, lines, 9.81, fluid)
    attitudes = np.stack([Rotation.from_rotvec(rng.normal(size=3)).as_matrix(), np.eye(3)])
    nodes = 2.0 * rng.normal(size=(network.node_count, 3)) + np.array([1.0, 0.0, 1.0])
    centers = np.array([[0.0, 0.0, 1.2], [3.0, 1.0, 1.1]])
    return network, network.on_bodies(Places(centers, attitudes, nodes))


@pytest.mark.parametrize("law", ["linear", "tension_only"])
@pytest.mark.parametrize("flow", [(0.0, 0.0, 0.0), ([0.0, 10.0], [(1.0, 0.2, 0.0), (0.3, -0.4, 0.1)])])
@pytest.mark.parametrize("more", [{}, WINGED], ids=["plain", "winged"])
def test_forces_are_slopes_of_the_energy_and_stiffness_that_of_forces(law: str, flow: Any, more: Any) -> None:
    network, places = tangle(law, flow, more)
    here, found = forces_of(network, places), stiffness_of(network, places)
    assert (found.steady is not None) == network.flows == here.steady.any()
    h, n = 1e-6, network.count
    slopes, stiffness = np.zeros(n), np.zeros((n, n))
    for i in range(n):
        after, before = (forces_of(network, network.moved(places, step * np.eye(n)[i])) for step in (h, -h))
        slopes[i] = (after.energy - before.energy) / (2.0 * h)
        stiffness[:, i] = (after.gradient - before.gradient) / (2.0 * h)
    size = float(np.abs(here.gradient).max())
    check_close("forces", here.gradient + here.steady, slopes, 1e-8 * size)
    exact = (found.energy if found.steady is None else found.energy + found.steady).toarray()
    if found.steady is None:
        for K in (stiffness, exact):
            K[3:6, 3:6] += K[3:6, 3:6].T.copy()  # rotations do not commute: their block is the symmetric one
    check_close("stiffness", exact, stiffness, 1e-8 * float(np.abs(stiffness).max()))


def test_a_convex_stiffness_resists_every_motion() -> None:
    network, places = tangle("tension_only", (0.0, 0.0, 0.0))
    places.nodes[1:3] = places.nodes[0] + np.array([[0.1, 0.0, 0.0], [0.2, 0.05, 0.0]])  # slack
    assert network.has_slack(places)
    exact, convex = (stiffness_of(network, places, convex=convex).energy.toarray() for convex in (False, True))
    assert np.linalg.eigvalsh(exact)[0] < -1.0
    values = np.linalg.eigvalsh(convex)
    assert values[0] > -1e-9 * values[-1]


PENDULUM = chains.Chain(tl.String(100.0, 0.2, 1e5, law="linear"), tl.Reel(0.1, 0.5, 1.0), tl.RigidBody.point(5.0))


@pytest.mark.parametrize("deployed", [float("nan"), float("inf"), 0.0, -1.0, 99.6, 1e6, "3 kg", None, "far"])
def test_at_rest_refuses_lengths_that_cannot_be(deployed: Any) -> None:
    with pytest.raises(InputError, match=r"^deployed: expected"):
        chains.at_rest(PENDULUM, deployed)


def test_at_rest_takes_units() -> None:
    assert chains.at_rest(PENDULUM, "300 cm") == chains.at_rest(PENDULUM, 3.0)
    assert chains.at_rest(PENDULUM, 99.5).start_tension == pytest.approx(9.81 * (5.0 + 0.2 * 99.5))
