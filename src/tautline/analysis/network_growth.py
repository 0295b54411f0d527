"""How fast neighboring motions of a system part: the shadow of a motion, its distance, and its return."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tautline.engine.network.backend import NetworkBackend
from tautline.engine.runner import Runner
from tautline.kernels import data
from tautline.kernels.balance import kept_energy
from tautline.kernels.data import Array
from tautline.kernels.network import data as kernels
from tautline.model.body import RigidBody

# Places of a reel that belong to its state.
STATE_OF_REEL = [*range(data.S, data.SIGMA_BEFORE + 1), data.SIGMA_EARLIER]


def growth_of_network(simulation: Runner[NetworkBackend], intervals: int, interval: float, distance: float) -> Array:
    """Logarithmic growth of the distance to a neighboring motion in every interval (s); NaN after its end.

    The simulation must have been started by `begin`. `distance` is that at the start of every interval.
    """
    shadow = simulation.copy(simulation.time + intervals * interval)
    plan = simulation.sampling(interval)
    shadow.sampling(interval)
    for each in (simulation, shadow):
        each.first_sample()
    _push_aside(simulation, shadow, distance)

    def march(runners: list[Any]) -> None:
        for each in runners:
            each.march(1, plan)

    return np.asarray(growth_of_pairs([(simulation, shadow)], intervals, distance, march, _distance, _pull_back)[0])


def growth_of_pairs(
    pairs: Sequence[tuple[Any, Any]],
    intervals: int,
    distance: float,
    march: Callable[[list[Any]], Any],
    apart: Callable[[Any, Any], float],
    pull_back: Callable[[Any, Any, float], None],
) -> Array:
    """Logarithmic growth of the distances between motions and their shadows, (pair, interval); NaN after their ends.

    After every interval the shadow is put back to a distance along the line on which it has drifted (Benettin).
    `march` takes motions an interval further, `apart` is their distance, `pull_back` takes it by a factor.
    """
    growth = np.full((len(pairs), intervals), np.nan)
    going, before = list(range(len(pairs))), [apart(*pair) for pair in pairs]
    for k in range(intervals):
        march([pairs[i][side] for side in (0, 1) for i in going])
        going = [i for i in going if pairs[i][0].status == "completed" == pairs[i][1].status]
        for i in going:
            drifted = apart(*pairs[i])
            growth[i, k] = math.log(drifted / before[i])
            pull_back(*pairs[i], distance / drifted)
            before[i] = apart(*pairs[i])
        if not going:
            break
    return growth


def _scales(simulation: Runner[NetworkBackend]) -> tuple[float, float]:
    """A length and a time, in which distances are measured: the longest string out, and how fast it swings."""
    lines = simulation.system.lines.values()
    deployed = [
        line.string.length - reel[data.S] for line, reel in zip(lines, simulation.stepper.arrays.reels, strict=True)
    ]
    X, string = max(zip(deployed, (line.string for line in lines), strict=True), key=lambda pair: pair[0])
    g = float(simulation.system.gravity)
    return float(X), math.sqrt(X / g) if g > 0.0 else float(X) / math.sqrt(string.stiffness / string.density)


def _free(simulation: Runner[NetworkBackend]) -> list[int]:
    """Numbers of the bodies that move freely."""
    return [i for i, body in enumerate(simulation.system.bodies.values()) if isinstance(body, RigidBody)]


def _distance(a: Runner[NetworkBackend], b: Runner[NetworkBackend]) -> float:
    """Between two motions: configurations over a length and velocities over a speed, those of bodies by angles."""
    X, T = _scales(a)
    x, y = a.backend.present_sample(), b.backend.present_sample()
    nodes = (y.nodes[0] - x.nodes[0]) / X
    nodes[:, 3:] *= T
    bodies = (y.bodies[0] - x.bodies[0])[_free(a)]
    turned = bodies[:, kernels.BODY_ATTITUDE : kernels.BODY_ATTITUDE + 9]
    spun = T * bodies[:, kernels.BODY_OMEGA : kernels.BODY_OMEGA + 3]
    reels = (y.strands[0] - x.strands[0])[:, [kernels.REELED, kernels.SPEED]] * [1.0 / X, T / X]
    squares = np.sum(nodes**2) / len(nodes) + np.sum(reels**2) + 0.5 * np.sum(turned**2) + np.sum(spun**2)
    return math.sqrt(float(squares))


def _push_aside(simulation: Runner[NetworkBackend], shadow: Runner[NetworkBackend], distance: float) -> None:
    """Start the shadow in a random direction, always the same, then at the right distance."""
    rng = np.random.default_rng(1)
    X, T = _scales(simulation)
    for strand in shadow.stepper.network.strands:
        par, inner = strand.par, slice(1, strand.par.N)
        mass = par.mu * (par.L - strand.reel[data.S]) / par.N
        for place, size in ((data.POSITION, X), (data.MOMENTUM, mass * X / T)):
            nodes = data.nodes_of(strand.nodes[place], par.N)
            nodes[inner] += distance * size * rng.normal(size=nodes[inner].shape)
        if strand.row >= 0:
            strand.reel[data.P_S] += distance * par.kappa * X / T * rng.normal()
    for i in _free(simulation):
        body = shadow.stepper.network.bodies[i]
        state, turns = body.state, 1.0 if body.turns else 0.0
        state[kernels.PLACE : kernels.PLACE + 3] += distance * X * rng.normal(size=3)
        state[kernels.LINEAR : kernels.LINEAR + 3] += distance * body.mass * X / T * rng.normal(size=3)
        state[data.ATTITUDE : data.ATTITUDE + 4] += turns * distance * rng.normal(size=4)
        state[kernels.ANGULAR : kernels.ANGULAR + 3] += distance / T * np.array(body.J) @ rng.normal(size=3)
    _refresh(shadow)
    _pull_back(simulation, shadow, distance / _distance(simulation, shadow))


def _pull_back(simulation: Runner[NetworkBackend], shadow: Runner[NetworkBackend], factor: float) -> None:
    """Put the shadow on the line from the motion to where it is, at `factor` of the distance."""
    for ours, theirs in zip(
        [*simulation.stepper.arrays.nodes, *simulation.stepper.arrays.bodies],
        [*shadow.stepper.arrays.nodes, *shadow.stepper.arrays.bodies],
        strict=True,
    ):
        theirs[...] = ours + factor * (theirs - ours)
    for ours, theirs in zip(simulation.stepper.arrays.reels, shadow.stepper.arrays.reels, strict=True):
        theirs[STATE_OF_REEL] = ours[STATE_OF_REEL] + factor * (theirs[STATE_OF_REEL] - ours[STATE_OF_REEL])
    _refresh(shadow)


def _refresh(shadow: Runner[NetworkBackend]) -> None:
    """Let forces be those of the changed state, and its balance of energy begin anew."""
    shadow.stepper.put_back(shadow.stepper.saved())
    shadow.stepper.arrays.totals[data.KEPT] = kept_energy(shadow.backend.present_sample().whole[0])
