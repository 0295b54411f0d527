"""The torque that a given motion of the reel takes (docs/theory.md, equation 42).

Apart from `observe`, and from samples instead of the motion, so that only those who lead a reel compile it.
"""

from __future__ import annotations

import math

from tautline.kernels.data import (
    ANGULAR_VELOCITY,
    DRUM_TORQUE,
    FORCE,
    MEAN_VELOCITY,
    POSITION,
    REELED_LENGTH,
    ROTATION,
    TARGET,
    VELOCITY,
    Array,
    Motion,
    Parameters,
    Samples,
    Scratch,
    clear_nodes,
    node,
    put_node,
)
from tautline.kernels.drum import holding, profile_at
from tautline.kernels.energy import body_moment, body_momenta, element_length, momenta, radius, strain_at_guide
from tautline.kernels.guide import Entrance
from tautline.kernels.jit import entry
from tautline.kernels.reeling import (
    ZERO,
    Rates,
    Target,
    evaluate_forces,
    kept_reel_force,
    left_hand_sides,
    solve_rates,
)
from tautline.kernels.so3 import add, add_scaled

# Of the two steps, over the time of a wave through an element: an error of 1e-7 in time, and of 1e-12 by rounding.
SHORT_STEP = 1e-3


@entry
def led_torques(par: Parameters, profile: Array, times: Array, room: Motion, scratch: Scratch, out: Samples) -> None:
    """Fill in the torques of samples of a reel that is led; `room` is an empty motion to work in.

    Two short steps, forth and back: half the difference of the impulses that they need at their common end. The
    momentum of the reel drops out, and the error is of second order in the step.
    """
    x = out.scalars
    q = room.nodes[POSITION]
    v = room.nodes[VELOCITY]
    p = scratch.nodes[TARGET]
    f = scratch.nodes[FORCE]
    for row in range(x.shape[0]):
        s = x[row, REELED_LENGTH]
        _, sigma, acceleration = profile_at(profile, times[row])
        for i in range(par.N + 1):
            put_node(q, i, (out.nodes[row, 0, i, 0], out.nodes[row, 0, i, 1], out.nodes[row, 0, i, 2]))
            put_node(v, i, (out.nodes[row, 1, i, 0], out.nodes[row, 1, i, 1], out.nodes[row, 1, i, 2]))
        R = (
            (x[row, ROTATION], x[row, ROTATION + 1], x[row, ROTATION + 2]),
            (x[row, ROTATION + 3], x[row, ROTATION + 4], x[row, ROTATION + 5]),
            (x[row, ROTATION + 6], x[row, ROTATION + 7], x[row, ROTATION + 8]),
        )
        omega = (x[row, ANGULAR_VELOCITY], x[row, ANGULAR_VELOCITY + 1], x[row, ANGULAR_VELOCITY + 2])
        P_s = momenta(par, s, sigma, q, v, p)
        linear, Pi = body_momenta(par, node(v, par.N), R, omega)
        put_node(p, par.N, add(node(p, par.N), linear))
        evaluate_forces(par, s, q, f)
        l = element_length(par, s)
        moment = body_moment(par, R)
        at = Entrance(strain_at_guide(par, q, l), 0.0)
        step = SHORT_STEP * l * math.sqrt(par.mu / par.EA)
        difference = 0.0
        for sign in (1.0, -1.0):
            h = sign * step
            # in place: first to (h/2) dV/dq from none, then from there to its opposite
            left_hand_sides(par, h if sign > 0.0 else 2.0 * h, l, f, p, p)
            clear_nodes(scratch.nodes[MEAN_VELOCITY])
            target = Target(P_s + 0.5 * h * kept_reel_force(f), add_scaled(Pi, 0.5 * h, moment), at, holding(True))
            guess = Rates(sigma + 0.5 * h * acceleration, ZERO, 0.0)
            rates, _, _ = solve_rates(par, h, s, q, R, target, guess, scratch)
            difference += sign * rates.impulse
        d = radius(par, s)
        rub = math.copysign(par.coulomb, sigma) if sigma != 0.0 else 0.0
        x[row, DRUM_TORQUE] = d * difference / step + par.viscous * sigma / d + rub
