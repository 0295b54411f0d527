"""Inverse dynamics: the torque that a prescribed motion of the reel takes, or a lock (docs/theory.md, equation 42).

From samples instead of the motion, and apart from `observe`, so that only those who prescribe a motion compile it.
"""

from __future__ import annotations

import math

from tautline.arrays import Array2
from tautline.kernels import data
from tautline.kernels.data import (
    Array,
    Loads,
    Motion,
    Parameters,
    Samples,
    Scratch,
    add_to_node,
    clear_nodes,
    node,
    put_node,
    put_triple,
    triple,
)
from tautline.kernels.drum import holding
from tautline.kernels.energy import (
    all_momenta,
    body_moment,
    element_length,
    kinetic_gradient_s,
    node_force,
    radius,
    reel_force,
    strain_at_guide,
    transport_weights,
)
from tautline.kernels.entrance import Entrance
from tautline.kernels.fixed import velocities_at_fixed_length
from tautline.kernels.guide import guide_force
from tautline.kernels.interrupts import FIRST_QUESTION, must_stop, steps_left
from tautline.kernels.jit import entry, inlined, kernel
from tautline.kernels.lanes import zero_like
from tautline.kernels.loads.guide_motion import first_moment_by_s
from tautline.kernels.loads.jump import forces_at
from tautline.kernels.network.inverse import SHORT_STEP, SHORT_TURN
from tautline.kernels.newton import Equations, Rates, Target, solve_rates
from tautline.kernels.reeling import evaluate_forces, kept_reel_force
from tautline.kernels.rotation import attitude, put_attitude
from tautline.kernels.so3 import Matrix, Vector, add, add_scaled, apply_transposed, cross, dot, scale, sub
from tautline.kernels.tables import curve_at, vector_at
from tautline.kernels.tridiagonal import factorise


@inlined
def state_of(par: Parameters, out: Samples, row: int, workspace: Motion) -> tuple[Matrix, Vector]:
    """Put a sample into `workspace`: nodes, velocities, attitude, s and the guide's velocity; R and Omega."""
    x = out.scalars[row]
    for i in range(par.N + 1):
        at = out.nodes[row, 0, i]
        put_node(workspace.nodes[data.POSITION], i, (at[0], at[1], at[2]))
        rate = out.nodes[row, 1, i]
        put_node(workspace.nodes[data.VELOCITY], i, (rate[0], rate[1], rate[2]))
    workspace.reel[data.S] = x[data.REELED_LENGTH]
    put_triple(workspace.reel, data.FRAME_VELOCITY, triple(x, data.GUIDE_VELOCITY))
    put_attitude(workspace.body, x[data.ROTATION : data.ROTATION + 9])
    return attitude(workspace.body), triple(x, data.ANGULAR_VELOCITY)


@inlined
def applied_forces(
    par: Parameters,
    locked: bool,
    t: float,
    short: float,
    workspace: Motion,
    rates: Rates,
    Pi: Vector,
    scratch: Scratch,
    loads: Loads | None,
) -> tuple[float, Vector]:
    """Forces on the nodes besides those of the elements, into PUSHED; on s, and the moment on the body.

    Weight, loads, and the inertia of a guide that is accelerated.
    """
    q = workspace.nodes[data.POSITION]
    out = scratch.nodes[data.PUSHED]
    R = attitude(workspace.body)
    moment = body_moment(par, R)
    reel = 0.0
    put_triple(workspace.body, data.SPIN, Pi)
    clear_nodes(out)
    if loads is not None and (loads.acts or loads.moves):
        push = forces_at(par, loads, locked, t, short, workspace, rates, scratch)
        reel += push.reel
        moment = add(moment, push.moment)
        a = vector_at(loads.path, t)[2]
        l = element_length(par, workspace.reel[data.S])
        for i in range(1, par.N):
            add_to_node(out, i, scale(-par.mu * l, a))
        add_to_node(out, par.N, scale(-(0.5 * par.mu * l + par.M), a))
        reel -= dot(first_moment_by_s(par, workspace.reel[data.S], q), a)
        moment = add_scaled(moment, -par.M, cross(par.rho, apply_transposed(R, a)))
    return reel, moment


@kernel
def short_step(par: Parameters, l: float, omega: Vector) -> float:
    """Step that is small against waves and turning alike."""
    step = SHORT_STEP * l * math.sqrt(par.mu / par.EA)
    turn = math.sqrt(dot(omega, omega))
    return min(step, SHORT_TURN / turn) if turn > 0.0 else step


@kernel
def kicked_momenta(
    par: Parameters, h: float, l: float, pull: Array, q: Array, applied: Array, p: Array, out: Array
) -> None:
    """Momenta after half a step of all forces."""
    for i in range(1, par.N + 1):
        force = add(node_force(par, l, pull, q, i), node(applied, i))
        put_node(out, i, add_scaled(node(p, i), 0.5 * h, force))


@entry
def prescribed_torques(
    par: Parameters,
    profile: Array2,
    times: Array,
    workspace: Motion,
    scratch: Scratch,
    out: Samples,
    loads: Loads,
    pulse: int = 0,
) -> bool:
    """Fill in the torques of samples of a reel with prescribed motion; whether all could be found.

    two short steps, forward and back: half the difference of the impulses that they need at their common end. The
    momentum of the reel drops out, and the error is of second order in the step. `workspace` is an empty
    motion to work in.
    """
    q = workspace.nodes[data.POSITION]
    v = workspace.nodes[data.VELOCITY]
    p = workspace.nodes[data.MOMENTUM]
    pull = scratch.nodes[data.PULL]
    found = True
    left = FIRST_QUESTION
    for row in range(out.scalars.shape[0]):
        left = steps_left(pulse, left, 1)
        if must_stop(pulse, left):
            return False
        R, omega = state_of(par, out, row, workspace)
        s = workspace.reel[data.S]
        _, sigma, acceleration = curve_at(profile.T, times[row])
        P_s, Pi = all_momenta(par, s, sigma, q, v, R, omega, p)
        l = element_length(par, s)
        step = short_step(par, l, omega)
        workspace.reel[data.HELD] = data.PRESCRIBED
        workspace.reel[data.HELD_SPEED] = sigma
        workspace.reel[data.HELD_ACCELERATION] = acceleration
        given = Rates(sigma, omega, 0.0)
        reel, moment = applied_forces(par, False, times[row], step, workspace, given, Pi, scratch, loads)
        evaluate_forces(par, s, q, pull)
        reel += kept_reel_force(pull)
        at = Entrance(strain_at_guide(par, q, l), 0.0)
        difference = 0.0
        for sign in (1.0, -1.0):
            h = sign * step
            kicked_momenta(par, h, l, pull, q, scratch.nodes[data.PUSHED], p, scratch.nodes[data.TARGET])
            target = Target(P_s + 0.5 * h * reel, add_scaled(Pi, 0.5 * h, moment), at, holding(True))
            guess = Rates(sigma + 0.5 * h * acceleration, omega, 0.0)
            equations = Equations(h, s, q, scratch.nodes[data.TARGET], 0.0, R, target)
            rates, failed, _ = solve_rates(par, equations, guess, scratch)
            found = found and not failed
            difference += sign * rates.impulse
        d = radius(par, s)
        rub = math.copysign(par.coulomb, sigma) if sigma != 0.0 else 0.0
        torque = d * difference / step + par.viscous * sigma / d + rub
        if math.isfinite(torque):  # else the mean of the latest step stands there
            out.scalars[row, data.DRUM_TORQUE] = torque
        else:
            found = False
    return found


@kernel
def reel_momentum(par: Parameters, half: float, q: Array, v: Array) -> float:
    """P_s of a string on a reel that stands still, half a step after q."""
    P_s = 0.0
    for e in range(par.N):
        alpha, beta, _ = transport_weights(par.N, e)
        w = sub(node(q, e), node(q, e + 1))
        w = add_scaled(w, half, sub(node(v, e), node(v, e + 1)))
        P_s += dot(w, add_scaled(scale(alpha, node(v, e)), beta, node(v, e + 1)))
    return par.mu * P_s


@entry
def holding_torques(
    par: Parameters,
    times: Array,
    workspace: Motion,
    scratch: Scratch,
    out: Samples,
    loads: Loads | None,
    pulse: int = 0,
) -> None:
    """Fill in the torques that hold a locked reel.

    As for a prescribed motion, with the mean velocities of two short steps at constant length. The reel of `workspace`
    has what the drum remembers, if its guide law asks for that.
    """
    q = workspace.nodes[data.POSITION]
    v = workspace.nodes[data.VELOCITY]
    p = workspace.nodes[data.MOMENTUM]
    pull = scratch.nodes[data.PULL]
    u = scratch.nodes[data.MEAN_VELOCITY]
    left = FIRST_QUESTION
    for row in range(out.scalars.shape[0]):
        left = steps_left(pulse, left, 1)
        if must_stop(pulse, left):
            return
        R, omega = state_of(par, out, row, workspace)
        s = workspace.reel[data.S]
        l = element_length(par, s)
        if row == 0:
            factorise(par, l, scratch.factor[data.LOWER], scratch.factor[data.INVERSE])
        _, Pi = all_momenta(par, s, 0.0, q, v, R, omega, p)
        step = short_step(par, l, omega)
        given = Rates(0.0, omega, 0.0)
        reel, moment = applied_forces(par, True, times[row], step, workspace, given, Pi, scratch, loads)
        evaluate_forces(par, s, q, pull)
        change = 0.0
        for sign in (1.0, -1.0):
            h = sign * step
            kicked_momenta(par, h, l, pull, q, scratch.nodes[data.PUSHED], p, scratch.nodes[data.TARGET])
            after = add_scaled(Pi, 0.5 * h, moment)
            velocities_at_fixed_length(par, h, scratch.nodes[data.TARGET], after, R, omega, scratch)
            change += sign * reel_momentum(par, 0.5 * h, q, u)
        force = change / step - kinetic_gradient_s(par, s, 0.0, q, v) - reel_force(par, s, q) - reel
        force -= guide_force(par, workspace.reel, s, strain_at_guide(par, q, l), zero_like(s))
        out.scalars[row, data.DRUM_TORQUE] = radius(par, s) * force
