"""Many members at once: blocks of LANES pendulums of constant length that step together.

The arithmetic is that of fixed.py, compiled for lanes. What members share is read from the first one (elements, laws,
step); numbers of their own are in `numbers`. A member that fails is noted with its step, and filled with NaN, so that
no loop waits for it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tautline.errors import NEWTON_FAILED, NON_FINITE, RUNNING
from tautline.kernels.arrow import factorise
from tautline.kernels.data import (
    BODY_SIZE,
    FORCE,
    H_BEFORE,
    H_LAST,
    INVERSE,
    LOWER,
    MEAN_VELOCITY,
    MOMENTUM,
    MOMENTUM_ERR,
    NODE_QUANTITIES,
    OMEGA,
    OMEGA_BEFORE,
    PENDING,
    POSITION,
    POSITION_ERR,
    REEL_SIZE,
    SPIN,
    Array,
    Counters,
    Motion,
    Parameters,
    Plan,
    S,
    Samples,
    Scratch,
    node,
    put_triple,
    triple,
)
from tautline.kernels.energy import body_moment, element_length, linear_forces
from tautline.kernels.fixed import drift, extrapolation, kick_nodes, velocities_at_fixed_length
from tautline.kernels.jit import entry, inlined, kernel
from tautline.kernels.lanes import LANES, lane_array, select
from tautline.kernels.observe import observe
from tautline.kernels.rotation import attitude, push_spin, turn
from tautline.kernels.so3 import add_scaled, apply_transposed, dot, scale, sub

NUMBERS = 30


def numbers_of(par: Parameters) -> Array:
    """Of one member, in the order of `with_numbers`."""
    J = np.array(par.J)
    return np.array(
        [par.L, par.mu, par.EA, par.kappa, par.d, par.b, *par.r_p, par.M, *J.ravel(), *par.rho]
        + [par.mu_g, par.weight, *par.weight_rho]
    )


@kernel
def with_numbers(par: Parameters, x: Any) -> Parameters:
    """The shared parameters with a member's own numbers, or with lanes of them."""
    return Parameters(
        par.N,
        x[0],
        x[1],
        x[2],
        x[3],
        x[4],
        x[5],
        (x[6], x[7], x[8]),
        x[9],
        ((x[10], x[11], x[12]), (x[13], x[14], x[15]), (x[16], x[17], x[18])),
        (x[19], x[20], x[21]),
        x[22],
        x[23],
        (x[24], x[25], x[26]),
        par.elastic_law,
        par.tension_table,
        par.viscosity,
        par.law,
        par.sigma_0,
        par.extrapolated,
        par.theta,
        par.rotates,
        par.compensated,
        par.viscous,
        par.coulomb,
        par.max_torque,
        par.max_power,
        par.growth,
    )


@inlined
def lane_stage(par: Parameters, motion: Any, scratch: Any, h: float, owed: float, x: float) -> Any:
    R = attitude(motion.body)
    body = motion.body
    l = element_length(par, motion.reel[S])
    f = scratch.nodes[FORCE]
    p = motion.nodes[MOMENTUM]
    v = scratch.nodes[MEAN_VELOCITY]
    linear_forces(par, l, motion.nodes[POSITION], f)
    kick_nodes(par, l, f, owed + 0.5 * h, p, motion.nodes[MOMENTUM_ERR])
    if par.rotates:
        push_spin(par, body, scale(owed + 0.5 * h, body_moment(par, R)))
    last = triple(body, OMEGA)
    guess = add_scaled(last, x, sub(last, triple(body, OMEGA_BEFORE)))
    omega, unsettled = velocities_at_fixed_length(par, h, p, triple(body, SPIN), R, guess, scratch)
    v_N = node(v, par.N)
    drift(h, v, motion.nodes[POSITION], motion.nodes[POSITION_ERR], par.compensated)
    if par.rotates:
        turn(par, body, h, apply_transposed(R, v_N), omega)
        put_triple(body, OMEGA_BEFORE, last)
        put_triple(body, OMEGA, omega)
    size = dot(v_N, v_N) + dot(omega, omega)
    return select(unsettled, math.inf, size)


@entry
def march_locked(par0: Parameters, numbers: Array, h: float, steps: int, nodes: Array, body: Array, reel: Array,
        snodes: Array, factor: Array, bad: Array) -> None:
    par = with_numbers(par0, lane_array(numbers))
    motion = Motion(
        (lane_array(nodes[0]), lane_array(nodes[1]), lane_array(nodes[2]), lane_array(nodes[3])),
        lane_array(body), lane_array(reel), None)
    scratch = Scratch(
        (lane_array(snodes[0]), lane_array(snodes[1]), lane_array(snodes[2]), lane_array(snodes[3])),
        (lane_array(factor[0]), lane_array(factor[1])))
    l = element_length(par, motion.reel[S])
    factorise(par, l, scratch.factor[LOWER], scratch.factor[INVERSE])
    out = lane_array(bad)
    owed = 0.0
    h_last = 0.0
    h_before = 0.0
    for k in range(steps):
        x = extrapolation(h, h_last, h_before)
        out[0] = lane_stage(par, motion, scratch, h, owed, x)
        owed = 0.5 * h
        h_before = h_last
        h_last = h
