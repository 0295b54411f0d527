"""Forces of lines at rest on their drums: the equation of a drum, as runs have it (docs/theory.md, equation 13)."""

from __future__ import annotations

import numpy as np

from tautline.arrays import Array
from tautline.model import wetting
from tautline.model.drum import guide_force_at_rest, spooled_lever
from tautline.model.rest.flow import drag
from tautline.model.rest.network import Network, Places
from tautline.model.rotations import E3
from tautline.model.system.system import System


def span_at(system: System, number: int, key: str = "reel") -> int:
    """Place of the first span of a line, by its number, among those of all lines; for "end_reel" of its last one."""
    lines = list(system.lines.values())
    first = sum(line.spans for line in lines[:number])
    return first + (lines[number].spans - 1 if key == "end_reel" else 0)


def weight_and_inertia(network: Network, k: int) -> Array:
    """Weight per length of a string, less the buoyancy that is everywhere, and its inertial force (N/m, 3)."""
    first = network.slices[k].start
    return np.asarray(network.heaviness[first] * E3 - network.density[first] * network.acceleration)


def drag_on_reel(network: Network, nodes: Array, k: int, key: str = "reel") -> Array:
    """Forces of drag on the length that comes in at an end of span k, by elements (N): it moves with the string."""
    part, N = network.slices[k], network.lines[k].elements
    first, second = nodes[network.start], nodes[network.start + 1]
    along = (np.arange(N) + 0.5)[:, None] / N / network.l[part][:, None]
    if key == "reel":
        through = (1.0 / network.l[part][:, None] - along) * (first - second)[part]
    else:
        through = along * (second - first)[part]
    return np.asarray((drag(network, first, second)[part] * through).sum(axis=1))


def force_on_reel(system: System, network: Network, places: Places, number: int, key: str = "reel") -> float:
    """Force of gravity, buoyancy, string and drag on the reeled length of a line (N): minus the slope of its energy."""
    line, k = list(system.lines.values())[number], span_at(system, number, key)
    placed, part, reel = network.lines[k], network.slices[k], line.reels[key]
    start = network.start[part]
    _, _, strain = (x[part] for x in network.strains(places))
    weight = weight_and_inertia(network, k)
    at, spooled = (start[-1] + 1, placed.end_spooled) if key == "end_reel" else (start[0], placed.spooled)
    pull = line.string.tension(strain) * (1.0 + strain) - line.string.energy_density(strain)
    middle = 0.5 * (places.nodes[start] + places.nodes[start + 1]).mean(axis=0)
    force = -float(weight @ (middle - places.nodes[at])) - float(pull.mean())
    if not system.is_free(line.at(key)[0]):
        force -= weight[2] * float(spooled_lever(reel, spooled))
    if network.has_surface:
        below = network.below(places.nodes[:, 2])
        to_first, to_second = wetting.shares(below[start], below[start + 1])
        mean = float((to_first * below[start] + to_second * below[start + 1]).mean())
        force += float(network.lifts[part][0]) * (mean - max(float(below[at]), 0.0))
    if network.flows:
        force += float(drag_on_reel(network, places.nodes, k, key).sum())
    return force


def holding_torque(system: System, network: Network, places: Places, number: int, key: str = "reel") -> float:
    """Torque that holds a drum at rest (N m): of a lock in a run, and of a motor under which the drum stays.

    Against `force_on_reel`, and the force of its guide law at standstill.
    """
    line, k = list(system.lines.values())[number], span_at(system, number, key)
    placed, part, reel = network.lines[k], network.slices[k], line.reels[key]
    strain = network.strains(places)[2][part][:: 1 if key == "reel" else -1]
    extrapolated = reel.guide_strain == "extrapolated" and len(strain) > 1
    at_guide = 1.5 * strain[0] - 0.5 * strain[1] if extrapolated else strain[0]
    force = force_on_reel(system, network, places, number, key) + guide_force_at_rest(line.string, reel, at_guide)
    return float(-force * reel.radius(placed.spooled if key == "reel" else placed.end_spooled))
