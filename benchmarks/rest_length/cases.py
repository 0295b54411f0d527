"""The motions that both models make with the same deployed length over time, and what is measured of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from benchmarks.rest_length import model
from benchmarks.rest_length.model import Array
from scipy.interpolate import CubicSpline
from scipy.ndimage import uniform_filter1d

import tautline as tl
from tautline.kernels.energy import transport_weights
from tautline.ledger import kept_energy
from tautline.model.chain.chain import Chain
from tautline.model.chain.hanging import hanging
from tautline.model.chain.state import ChainState, straight
from tautline.model.chain.systems import chain_of, placed_system
from tautline.model.command import Command
from tautline.paper.examples import EXAMPLES
from tautline.paper.examples import system as paper_system

SAMPLE = 0.005
FINE = 0.001  # of ours, for sums over time
# Over which tensions are averaged before they are compared: waves that pass the guide are a matter of phase.
WINDOW = 0.2
MESHES = (20, 40, 80)
FINEST = 160
Curve = Callable[[Array], tuple[Array, Array, Array]]


class Case(NamedTuple):
    """A motion of the reel, and from where."""

    title: str
    system: Chain
    start: Callable[[int], ChainState]  # by the number of elements
    command: Command
    duration: float


def _example(number: int, title: str, duration: float) -> Case:
    example, system = EXAMPLES[number - 1], chain_of(paper_system())

    def start(n: int) -> ChainState:
        return straight(system, example.deployed, n, example.direction, end_velocity=(0.0, 0.5, 0.0))

    return Case(title, system, start, example.command, duration)


def leaning(system: Chain, deployed: float, elements: int, angle_deg: float, circling: float = 0.0) -> ChainState:
    """State as it would hang, turned about the second axis through the guide; it circles about the vertical (rad/s)."""
    state = hanging(system, deployed=deployed, elements=elements)
    c, s = np.cos(np.radians(angle_deg)), np.sin(np.radians(angle_deg))
    turn = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    nodes, attitude = state.nodes @ turn.T, turn @ state.attitude
    spin = np.array([0.0, 0.0, circling])
    return replace(
        state,
        nodes=nodes,
        attitude=attitude,
        node_velocities=np.cross(spin, nodes),
        angular_velocity=attitude.T @ spin,
    )


def _fast() -> Case:
    system = chain_of(paper_system())
    return Case(
        "fast payout: from 5 m to 25 m at up to 8 m/s while the load circles",
        system,
        lambda n: leaning(system, 5.0, n, 15.0, circling=1.4),
        tl.Length.to(25.0, speed=8.0, acceleration=4.0, jerk=20.0),
        6.0,
    )


CASES = {
    "deployment": _example(2, "example 2: 1 m of string is drawn out by its load, free drum", 4.0),
    "retrieval": _example(3, "example 3: 10 m of string drawn in by a constant torque", 5.0),
    "fast": _fast(),
}


def simulated(system: Chain, state: ChainState, command: Command, **run: Any) -> xr.Dataset:
    """Our run, without the dimensions of its only line and body."""
    return tl.simulate(*placed_system(system, state), command, **run).squeeze(["line", "body"])


def length_of(run: xr.Dataset) -> tuple[Curve, tl.Length]:
    """The deployed length of a run as a curve for the other model, and as a command for ours: the same polynomials."""
    t, X = run.time.values, run.unstretched_length.values
    ends = -run.reel_speed.values[[0, -1]]
    spline = CubicSpline(t, X, bc_type=((1, ends[0]), (1, ends[1])))
    return (lambda x: (spline(x), spline(x, 1), spline(x, 2))), tl.Length(pieces=(t[:-1], spline.c[::-1].T))


def smooth(x: Array) -> Array:
    averaged: Array = uniform_filter1d(x, round(WINDOW / SAMPLE), mode="nearest")
    return averaged


class Track(NamedTuple):
    """Motion as either model computes it."""

    time: Array
    end: Array  # of the string, (times, 3)
    guide_tension: Array
    body_tension: Array
    unexplained_energy: Array
    angular_momentum: Array
    momentum: Array
    unexplained_momentum: Array


def track_of_ours(run: xr.Dataset, system: Chain) -> Track:
    """Momentum of deployed string and body from the velocity of the material, its flow through the mesh included."""
    q, v = run.position.values, run.velocity.values
    N = q.shape[1] - 1
    mu, M = system.string.density, system.body.mass
    l = (run.unstretched_length.values / N)[:, None]
    w = q[:, :-1] - q[:, 1:]
    flow = np.array([sum(transport_weights(N, e)[:2]) for e in range(N)])
    P = 0.5 * mu * l * (v[:, :-1] + v[:, 1:]).sum(axis=1)
    P += mu * run.reel_speed.values[:, None] * np.einsum("e,tei->ti", flow, w)
    swing = np.einsum("tij,tj->ti", run.attitude.values, np.cross(run.angular_velocity, system.body.center_of_mass))
    P += M * (v[:, -1] + swing)
    # the balance is taken for what is beyond the middle of the first element, where its mean tension belongs
    sigma = run.reel_speed.values[:, None]

    def material(xi: float) -> Array:
        """Velocity in the first element, equation 2 of the theory."""
        velocity: Array = xi * v[:, 1] + (N - xi) / N * w[:, 0] / l * sigma
        return velocity

    whole = P.copy()
    P -= 0.5 * mu * l * material(0.25)
    along = -w[:, 0] / np.linalg.norm(w[:, 0], axis=1)[:, None]
    force = -mu * sigma * (N - 0.5) / N * material(0.5) - run.tension.values[:, :1] * along
    force[:, 2] += system.gravity * (M + mu * (run.unstretched_length.values - 0.5 * l[:, 0]))
    t = run.time.values
    given = np.concatenate([np.zeros((1, 3)), np.cumsum(0.5 * (force[1:] + force[:-1]) * np.diff(t)[:, None], axis=0)])
    kept = kept_energy(run).values
    tension = run.tension.values
    return Track(
        t,
        q[:, -1],
        tension[:, 0],
        tension[:, -1],
        kept - kept[0],
        run.angular_momentum.values[:, 2],
        whole,
        P - P[0] - given,
    )


def track_of_theirs(run: model.Run) -> Track:
    return Track(
        run.time,
        run.position[:, -1],
        run.tension[:, 0],
        run.tension[:, -1],
        run.unexplained_energy,
        run.angular_momentum,
        run.momentum,
        run.unexplained_momentum,
    )


def rest_length_step(case: Case, curve: Curve, n: int) -> float:
    """About a quarter of the stability limit of classical Runge-Kutta, sqrt(8)/(2 c n/L)."""
    shortest = float(curve(np.linspace(0.0, case.duration, 500))[0].min())
    limit = np.sqrt(2.0) * shortest / n / case.system.string.wave_speed
    return float(SAMPLE / np.ceil(SAMPLE / (0.25 * limit)))


def rest_length(case: Case, curve: Curve, n: int, variant: str, step: float | None = None) -> model.Run:
    step = rest_length_step(case, curve, n) if step is None else step
    return model.run(
        case.system, case.start(n), curve, duration=case.duration, step=step, sample=SAMPLE, variant=variant
    )


class Errors(NamedTuple):
    """Errors of a track against the finest one of ours."""

    distance: float  # of the end of the string, rms (m)
    guide_tension: float  # rms, of the mean
    body_tension: float
    energy: float  # unexplained, of the largest kinetic energy
    angular_momentum: float  # change, of the largest
    momentum: float  # unexplained, of the largest


def errors_of(track: Track, finest: Track, kinetic: float) -> Errors:
    def rms(x: Array) -> float:
        return float(np.sqrt(np.mean(x**2)))

    def tension(a: Array, b: Array) -> float:
        return rms(smooth(a) - smooth(b)) / float(np.mean(b))

    largest = float(np.linalg.norm(finest.momentum, axis=1).max())
    spin = max(float(np.abs(finest.angular_momentum).max()), 1e-300)
    return Errors(
        rms(np.linalg.norm(track.end - finest.end, axis=1)),
        tension(track.guide_tension, finest.guide_tension),
        tension(track.body_tension, finest.body_tension),
        float(np.abs(track.unexplained_energy).max()) / kinetic,
        float(np.abs(track.angular_momentum - track.angular_momentum[0]).max()) / spin,
        float(np.linalg.norm(track.unexplained_momentum, axis=1).max()) / largest,
    )


class Comparison(NamedTuple):
    ours: dict[int, Track]
    theirs: dict[str, dict[int, Track]]
    length: Array  # deployed, at the sampled times
    kinetic: float

    @property
    def finest(self) -> Track:
        return self.ours[FINEST]


def compared(case: Case) -> Comparison:
    """Ours runs freely, its length is handed to all others, ours on every mesh included."""
    free = simulated(case.system, case.start(MESHES[-1]), case.command, duration=case.duration + 0.25, sample=SAMPLE)
    curve, command = length_of(free)
    ours = {}
    kinetic = 0.0
    for n in (*MESHES, FINEST):
        run = simulated(case.system, case.start(n), command, duration=case.duration, sample=FINE)
        ours[n] = Track(*(x[:: round(SAMPLE / FINE)] for x in track_of_ours(run, case.system)))
        kinetic = float(run.kinetic_energy.max())
    theirs = {
        variant: {n: track_of_theirs(rest_length(case, curve, n, variant)) for n in MESHES}
        for variant in model.VARIANTS
    }
    return Comparison(ours, theirs, curve(ours[FINEST].time)[0], kinetic)
