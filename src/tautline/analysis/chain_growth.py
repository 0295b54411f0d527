"""How fast neighboring motions of chains part, many of them in lanes: their shadows, distances and returns."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tautline.analysis.network_growth import STATE_OF_REEL, growth_of_pairs
from tautline.engine.chain.backend import ChainBackend
from tautline.engine.chain.ensemble import march_ensemble
from tautline.engine.runner import Runner
from tautline.kernels import data
from tautline.kernels.data import Array

SEED = 1


def growth_rates(simulations: Sequence[Runner[ChainBackend]], intervals: int, distance: float) -> Array:
    """Logarithmic growth of the distance to a neighboring motion in every interval, of each; NaN after its end.

    The simulations must have been started by `begin`, with one sample an interval. `distance` is that at the start of
    every interval.
    """
    pairs = [(simulation, simulation.copy()) for simulation in simulations]
    for simulation, shadow in pairs:
        _push_aside(simulation, shadow, distance)
    return growth_of_pairs(pairs, intervals, distance, lambda some: march_ensemble(some, 1), _distance, _pull_back)


def _scales(simulation: Runner[ChainBackend]) -> tuple[float, float]:
    """A length and a time, in which distances are measured."""
    X = simulation.backend.deployed_length
    pendulum = simulation.backend.pendulum
    g, string = pendulum.gravity, pendulum.string
    wave = math.sqrt(string.stiffness / string.density)
    return X, math.sqrt(X / g) if g > 0.0 else X / wave


def _distance(a: Runner[ChainBackend], b: Runner[ChainBackend]) -> float:
    """Between two motions: configurations over a length and velocities over a speed, the body's by angles."""
    X, T = _scales(a)
    x, y = a.backend.present_sample(), b.backend.present_sample()
    nodes = (y.nodes[0] - x.nodes[0]) / X
    scalars = y.scalars[0] - x.scalars[0]
    turned = scalars[data.ROTATION : data.ROTATION + 9]
    spun = T * scalars[data.ANGULAR_VELOCITY : data.ANGULAR_VELOCITY + 3]
    squares = np.sum(nodes[0] ** 2) + np.sum((T * nodes[1]) ** 2)
    reel = (scalars[data.REELED_LENGTH] / X) ** 2 + (T * scalars[data.REEL_SPEED] / X) ** 2
    count = len(nodes[0])
    return math.sqrt(squares / count + reel + 0.5 * turned @ turned + spun @ spun)


def _push_aside(simulation: Runner[ChainBackend], shadow: Runner[ChainBackend], distance: float) -> None:
    """Start the shadow in a random direction, then at the right distance."""
    rng = np.random.default_rng(SEED)  # the same numbers for all: no member's result depends on its neighbors
    X, T = _scales(simulation)
    par, command, motion = shadow.stepper.par, shadow.stepper.kernel_command, shadow.stepper.motion
    mass = par.mu * X / par.N
    for place, size in ((data.POSITION, X), (data.MOMENTUM, mass * X / T)):
        # node 0 stands at the guide
        data.nodes_of(motion.nodes[place], par.N)[1:] += distance * size * rng.normal(size=(par.N, 3))
    if par.rotates:
        motion.body[data.ATTITUDE : data.ATTITUDE + 4] += distance * rng.normal(size=4)
        motion.body[data.SPIN : data.SPIN + 3] += distance / T * np.array(par.J) @ rng.normal(size=3)
    if not command.locked:
        motion.reel[data.P_S] += distance * par.kappa * X / T * rng.normal()
    shadow.first_sample()
    _pull_back(simulation, shadow, distance / _distance(simulation, shadow))


def _pull_back(simulation: Runner[ChainBackend], shadow: Runner[ChainBackend], factor: float) -> None:
    """Put the shadow on the line from the motion to where it is, at `factor` of the distance."""
    ours, theirs = simulation.stepper.motion, shadow.stepper.motion
    theirs.nodes[:] = ours.nodes + factor * (theirs.nodes - ours.nodes)
    theirs.body[:] = ours.body + factor * (theirs.body - ours.body)
    change = theirs.reel[STATE_OF_REEL] - ours.reel[STATE_OF_REEL]
    theirs.reel[STATE_OF_REEL] = ours.reel[STATE_OF_REEL] + factor * change
    shadow.first_sample()
