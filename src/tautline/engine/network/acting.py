"""Actions from outside on a system in motion: pushes, impulses, motions that are given, drums that are stopped."""

from __future__ import annotations

from typing import Any

import numpy as np

from tautline.engine.network import lowering
from tautline.engine.network.commands import prescribe_reels, release, take
from tautline.engine.network.samples import body_in
from tautline.engine.network.stepper import NetworkStepper
from tautline.kernels import data
from tautline.kernels.network import data as kernels
from tautline.kernels.network.march import RELEASE
from tautline.model.command import Locked
from tautline.model.system.parts import Kinematic
from tautline.model.system.state import BodyState

FLUID_WORK = data.account("fluid_work")
# Time in which an impulse acts (s).
INSTANT = 1e-12
FRAMES = ("space", "body")


def push(stepper: NetworkStepper, time: float, name: str, force_and_moment: list[float], frame: str) -> None:
    """Let a force at the center of mass of a body (N) and a moment (N m) act until others are given."""
    if name not in stepper.pushes:
        stepper.pushes[name] = (lowering.NO_PUSH.copy(), lowering.NO_PUSH.copy())
        stepper.changed = True
        stepper.lower(time, time)
    stepper.pushes[name][FRAMES.index(frame)][1:, 0] = force_and_moment


def strike(stepper: NetworkStepper, time: float, name: str, J: data.Array, L: data.Array) -> None:
    """Let the momenta of a body jump; the energy that this brings is external work."""
    take(stepper, {})
    arrays, struck = stepper.arrays, _velocities(stepper, time, name)
    before = _moving_energy(stepper, time)
    release(stepper, time)
    booked = _booked(stepper, data.CONTROL_WORK, FLUID_WORK)
    state = arrays.bodies[arrays.names.index(name)]
    _let_fluid_move_along(stepper, time)
    state[kernels.LINEAR : kernels.LINEAR + 3] += J
    state[kernels.ANGULAR : kernels.ANGULAR + 3] += L
    stepper.call(RELEASE, time)
    prescribe_reels(stepper, stepper.commands, time)
    now = _velocities(stepper, time, name)
    work = 0.5 * float(J @ (struck[0] + now[0]))
    work += 0.5 * float(L @ now[2] @ (struck[1] + now[1]))
    arrays.totals[data.ACCOUNT_PLACES[data.EXTERNAL_WORK]] += work
    if stepper.network.carries_fluid:
        booked = _booked(stepper, data.CONTROL_WORK, FLUID_WORK) - booked
        arrays.totals[data.ACCOUNT_PLACES[FLUID_WORK]] += _moving_energy(stepper, time) - before - booked - work


def _velocities(stepper: NetworkStepper, time: float, name: str) -> tuple[data.Array, data.Array, data.Array]:
    """Velocity, angular velocity and attitude of a body."""
    row = stepper.sample_at(time).bodies[0, stepper.arrays.names.index(name)]
    return (
        row[kernels.BODY_VELOCITY : kernels.BODY_VELOCITY + 3],
        row[kernels.BODY_OMEGA : kernels.BODY_OMEGA + 3],
        row[kernels.BODY_ATTITUDE : kernels.BODY_ATTITUDE + 9].reshape(3, 3),
    )


def stop_reel(stepper: NetworkStepper, time: float, name: str) -> None:
    """Hold a drum at once; the energy that is lost is friction's."""
    take(stepper, {})
    reel = stepper.arrays.reels[stepper.numbers[name]]
    before = _moving_energy(stepper, time)
    release(stepper, time)
    booked = _booked(stepper, data.CONTROL_WORK)
    stepper.commands[name], stepper.origins[name] = Locked(), (time, stepper.deployed(name))
    stepper.lengths[name] = stepper.reel_length(name)
    reel[data.STOP] = 0.0
    stepper.changed = True
    stepper.lower(time, time)
    stepper.call(RELEASE, time)
    prescribe_reels(stepper, stepper.commands, time)
    lost = before + _booked(stepper, data.CONTROL_WORK) - booked - _moving_energy(stepper, time)
    reel[data.ACCOUNT_PLACES[data.FRICTION_LOSS]] += lost


def move(stepper: NetworkStepper, time: float, name: str, velocity: Any, angular_velocity: Any) -> None:
    """Let a kinematic body move with a velocity, and turn with an angular velocity in its frame, from now on."""
    note_impulses(stepper, time)
    before, given = _moving_energy(stepper, time), _given_impulses(stepper, time)
    now = body_in(stepper.system, stepper.sample_at(time), name)
    stepper.prescribe(name, time, BodyState(now["position"], velocity, now["attitude"], angular_velocity))
    stepper.lower(time, time)
    energy, impulses = _moving_energy(stepper, time) - before, _given_impulses(stepper, time) - given
    if stepper.jump is not None and stepper.jump[0] == time:
        energy, impulses = energy + stepper.jump[1], impulses + stepper.jump[2]
    stepper.jump = (time, energy, impulses)


def note_impulses(stepper: NetworkStepper, time: float) -> None:
    """Let forces on kinematic bodies, where there are some, be means from now on."""
    held = any(isinstance(body, Kinematic) for body in stepper.system.bodies.values())
    if held and stepper.impulses[0] != time:
        stepper.impulses = (time, _given_impulses(stepper, time))


def impulse_since(stepper: NetworkStepper, time: float, name: str) -> tuple[float, data.Array]:
    """When the latest advance began (s); impulse (N s) and moment (N m s) of lines on a kinematic body since."""
    i = stepper.arrays.names.index(name)
    return stepper.impulses[0], stepper.impulses[1][i] - _given_impulses(stepper, time)[i]


def _given_impulses(stepper: NetworkStepper, time: float) -> data.Array:
    """Impulses since the start of what holds or moves bodies, and their moments."""
    found: data.Array = stepper.sample_at(time).bodies[0, :, kernels.BODY_GIVEN : kernels.BODY_GIVEN + 6].copy()
    return found


def _let_fluid_move_along(stepper: NetworkStepper, time: float) -> None:
    """Let fluid that moves along with lines and bodies take its part of a jump of their momenta.

    It has their velocities, and loads act for so short a time that only its inertia counts.
    """
    network = stepper.network
    if not network.carries_fluid:
        return
    sample = stepper.observed(time)
    for strand in network.strands:
        velocities = sample.nodes[0, strand.first : strand.first + strand.par.N + 1, 3:]
        data.nodes_of(strand.nodes[data.FLUID_VELOCITY], strand.par.N)[:] = velocities
    for i, state in enumerate(stepper.arrays.bodies):
        row = sample.bodies[0, i]
        R = row[kernels.BODY_ATTITUDE : kernels.BODY_ATTITUDE + 9].reshape(3, 3)
        omega = row[kernels.BODY_OMEGA : kernels.BODY_OMEGA + 3]
        spun = R @ np.cross(omega, network.around[i].buoyancy_center)
        velocity = row[kernels.BODY_VELOCITY : kernels.BODY_VELOCITY + 3]
        state[kernels.FLUID : kernels.FLUID + 3] = velocity + spun
        state[kernels.MOVED : kernels.MOVED + 6] = np.concatenate([velocity, omega])
    stepper.arrays.totals[data.LOADS_PENDING] = INSTANT


def _booked(stepper: NetworkStepper, *accounts: int) -> float:
    """Sum of some accounts, of all lines and of the whole."""
    places = [data.ACCOUNT_PLACES[account] for account in accounts]
    return float(sum(reel[places].sum() for reel in [*stepper.arrays.reels, stepper.arrays.totals]))


def _moving_energy(stepper: NetworkStepper, time: float) -> float:
    return float(stepper.observed(time).whole[0, data.KINETIC])
