"""Pendulums and states for tests: random ones, and transformations of the world they live in."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import xarray as xr
from hypothesis import strategies as st
from numpy.typing import NDArray

import tautline as tl
from tautline.model.command import Command
from tests.support import chains

Array = NDArray[np.float64]
System = tuple[chains.Chain, chains.ChainState, Command]


def random_rotation(rng: np.random.Generator) -> Array:
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    rotation: Array = Q * np.sign(np.diag(R))
    return rotation * float(np.linalg.det(rotation))


def random_body(rng: np.random.Generator) -> tl.RigidBody:
    """A box with its axes turned and its center of mass off the attachment point."""
    mass = rng.uniform(0.1, 3.0)
    x, y, z = rng.uniform(0.1, 0.6, size=3)
    axes = random_rotation(rng)
    central = axes @ np.diag([y * y + z * z, x * x + z * z, x * x + y * y]) @ axes.T * mass / 12.0
    return tl.RigidBody.about_center(mass, central, rng.normal(scale=0.3, size=3))


def random_system(
    rng: np.random.Generator, elements: int, *, law: str = "none", gravity: float = 9.81, locked: bool = False
) -> System:
    """A string stretched by a fifth at most, bent and moving, with a tumbling body."""
    L = rng.uniform(5.0, 40.0)
    b = rng.uniform(0.1, 0.8)
    pendulum = chains.Chain(
        string=tl.String(length=L, density=rng.uniform(0.02, 0.5), stiffness=rng.uniform(50.0, 800.0), law="linear"),
        reel=tl.Reel(
            drum_radius=rng.uniform(0.2, 0.6),
            guide_length=b,
            inertia_mass=rng.uniform(0.5, 4.0),
            guide_position=tuple(rng.normal(size=3)),
            guide_law=law,
        ),
        body=random_body(rng),
        gravity=gravity,
    )
    X = rng.uniform(0.3, 0.6) * L
    direction = rng.normal(size=3)
    direction /= np.linalg.norm(direction)
    along = np.linspace(0.0, 1.0, elements + 1)[:, None]
    bend = np.sin(np.pi * along) * rng.normal(scale=0.05 * X, size=3)
    nodes = X * along * direction * rng.uniform(1.0, 1.2) + bend
    v = along * rng.normal(size=3) + np.sin(np.pi * along) * rng.normal(size=3)
    nodes[0] = v[0] = 0.0
    state = chains.ChainState(
        reeled_length=L - X,
        reel_speed=0.0 if locked else rng.normal(scale=0.3),
        nodes=nodes,
        node_velocities=v,
        attitude=random_rotation(rng),
        angular_velocity=rng.normal(size=3),
    )
    command: Command = tl.Locked() if locked else tl.Torque(rng.normal())
    return pendulum, state, command


@st.composite
def systems(draw: st.DrawFn, /, **options: Any) -> System:
    """Random systems of one to eight elements; Hypothesis shrinks the seed and N."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return random_system(rng, draw(st.integers(1, 8)), **options)


def transformed(system: System, Q: Array) -> System:
    """System in a world rotated or mirrored by the orthogonal matrix Q.

    A rotation turns nodes and attitude. A mirror image also mirrors the body: R -> Q R Q, J -> Q J Q,
    rho -> Q rho, and angular velocities change sign besides, being axial vectors.
    """
    pendulum, state, command = system
    mirror = np.linalg.det(Q) < 0.0
    body = pendulum.body
    P = Q if mirror else np.eye(3)
    if mirror:
        J = Q @ np.array(body.inertia) @ Q.T
        body = tl.RigidBody(body.mass, J.tolist(), tuple(Q @ np.array(body.center_of_mass)))
    guide = Q @ np.array(pendulum.reel.guide_position)
    reel = dataclasses.replace(pendulum.reel, guide_position=tuple(guide))
    return (
        dataclasses.replace(pendulum, body=body, reel=reel),
        chains.ChainState(
            state.reeled_length,
            state.reel_speed,
            state.nodes @ Q.T,
            state.node_velocities @ Q.T,
            Q @ np.asarray(state.attitude) @ P,
            (-1.0 if mirror else 1.0) * P @ np.asarray(state.angular_velocity),
        ),
        command,
    )


def state_at(run: xr.Dataset, pendulum: chains.Chain, index: int = -1) -> chains.ChainState:
    row = run.isel(time=index)
    nodes = row.position.values - np.array(pendulum.reel.guide_position)
    nodes[0] = 0.0
    return chains.ChainState(
        float(row.reeled_length),
        float(row.reel_speed),
        nodes,
        row.velocity.values,
        row.attitude.values,
        row.angular_velocity.values,
    )


def reversed_in_time(state: chains.ChainState) -> chains.ChainState:
    return chains.ChainState(
        state.reeled_length,
        -state.reel_speed,
        state.nodes,
        -state.node_velocities,
        state.attitude,
        -np.asarray(state.angular_velocity),
    )


def largest_difference(a: chains.ChainState, b: chains.ChainState) -> float:
    """Over everything, in SI numbers."""
    return max(
        abs(a.reeled_length - b.reeled_length),
        abs(a.reel_speed - b.reel_speed),
        float(np.abs(a.nodes - b.nodes).max()),
        float(np.abs(a.node_velocities - b.node_velocities).max()),
        float(np.abs(np.asarray(a.attitude) - np.asarray(b.attitude)).max()),
        float(np.abs(np.asarray(a.angular_velocity) - np.asarray(b.angular_velocity)).max()),
    )
