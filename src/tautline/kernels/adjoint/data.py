"""Data passed backwards between steps: adjoints of the motion, sums for the parameters, and a record of steps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tautline import registry
from tautline.arrays import Array2, Array3
from tautline.kernels import data
from tautline.kernels.data import (
    Array,
    Command,
    Loads,
    Parameters,
    Plan,
    account,
    clear_nodes,
    code,
    copy_nodes,
    put_triple,
    row_length,
    triple,
)
from tautline.kernels.jit import kernel
from tautline.kernels.lanes import vector_zeros
from tautline.kernels.so3 import Vector

# Rows of Adjoint.nodes: by positions and momenta of the nodes, and by their mean velocities in the two latest steps,
# from which loads expect how fast nodes are.
POSITION_BAR, MOMENTUM_BAR, VELOCITY_BAR, VELOCITY_BEFORE_BAR = range(4)
NODE_BARS = 4
# Places in Adjoint.body. The attitude's is that of eta where R changes by R hat(eta).
ATTITUDE_BAR, SPIN_BAR, OMEGA_BAR, OMEGA_BEFORE_BAR = 0, 3, 6, 9
BODY_BARS = 12
# Places in Adjoint.reel: of s, p_s and mean speeds; then of accounts: work of the motor, loss at the guide, loss by
# damping, work of the fluid and of an applied force, loss to friction.
S_BAR, P_S_BAR, SIGMA_BAR, SIGMA_BEFORE_BAR, WORK_BAR, LOSS_BAR, DAMPING_BAR, FLUID_BAR, EXTERNAL_BAR = range(9)
FRICTION_BAR = 9
REEL_BARS = 10
ACCOUNT_BARS = {
    account("control_work"): WORK_BAR,
    account("guide_loss"): LOSS_BAR,
    account("damping_loss"): DAMPING_BAR,
    account("fluid_work"): FLUID_BAR,
    account("external_work"): EXTERNAL_BAR,
    account("friction_loss"): FRICTION_BAR,
}

# Numbers of Parameters by which a run can be differentiated, in the order of Adjoint.numbers; then the base step.
SIZES = {
    "L": 1,
    "mu": 1,
    "EA": 1,
    "kappa": 1,
    "d": 1,
    "b": 1,
    "r_p": 3,
    "M": 1,
    "J": 9,
    "rho": 3,
    "mu_g": 1,
    "weight": 1,
    "weight_rho": 3,
    "sigma_0": 1,
    "viscous": 1,
    "coulomb": 1,
    "h": 1,
}
PLACES = dict(zip(SIZES, np.cumsum([0, *SIZES.values()]).tolist(), strict=False))
BY_L, BY_MU, BY_EA, BY_KAPPA, BY_D, BY_B = (PLACES[name] for name in ("L", "mu", "EA", "kappa", "d", "b"))
BY_HEIGHT = PLACES["r_p"] + 2
BY_M, BY_J, BY_RHO = (PLACES[name] for name in ("M", "J", "rho"))
BY_MU_G, BY_WEIGHT, BY_WEIGHT_RHO = (PLACES[name] for name in ("mu_g", "weight", "weight_rho"))
BY_SIGMA_0, BY_VISCOUS, BY_COULOMB, BY_H = (PLACES[name] for name in ("sigma_0", "viscous", "coulomb", "h"))

# Numbers of loads by which a run can be differentiated, by load; in Adjoint.numbers behind those above.
LOAD_SIZES = {
    ("damping", "viscosity"): 1,
    ("drag", "normal"): 1,
    ("drag", "tangential"): 1,
    ("drag", "body"): 1,
    ("drag", "center"): 3,
    ("drag", "spin"): 1,
    ("drag", "string_rate"): 1,
    ("drag", "body_rate"): 1,
    ("applied_force", "point"): 3,
}
LOAD_PLACES = dict(zip(LOAD_SIZES, np.cumsum([sum(SIZES.values()), *LOAD_SIZES.values()]).tolist(), strict=False))
NUMBERS = sum(SIZES.values()) + sum(LOAD_SIZES.values())
BY_VISCOSITY = LOAD_PLACES["damping", "viscosity"]
BY_NORMAL, BY_TANGENTIAL, BY_BODY = (LOAD_PLACES["drag", name] for name in ("normal", "tangential", "body"))
BY_CENTER, BY_SPIN = LOAD_PLACES["drag", "center"], LOAD_PLACES["drag", "spin"]
BY_POINT = LOAD_PLACES["applied_force", "point"]
BY_STRING_RATE, BY_BODY_RATE = LOAD_PLACES["drag", "string_rate"], LOAD_PLACES["drag", "body_rate"]

# Rows of Scratch.nodes that the reverse pass uses besides those of the steps (kernels/data.py).
LAMBDA, LAMBDA_2, RATES_BAR, MOMENTA_AFTER, POSITION_AFTER = 3, 4, 5, 7, 8

# Places in a row of Record.numbers: what a stage began with, and its mean rates.
AT_QUATERNION, AT_OMEGA, AT_S, AT_SIGMA, AT_H, AT_START, AT_END, AT_KICK = 0, 4, 7, 8, 9, 10, 11, 12
AT_BASE, AT_PART = 13, 14  # from the run's start to the stage's, and its own length, in base steps
AT_BOUNDARY_SIGMA, AT_BOUNDARY_OMEGA = 15, 16  # with loads: rates where the stage joins the one before
STAGE_NUMBERS = 20


class Setting(NamedTuple):
    """Setting of a run whose steps are made and taken back."""

    par: Parameters
    plan: Plan
    command: Command
    loads: Loads


class Adjoint(NamedTuple):
    """Derivatives of one number by the motion at a time, and sums of those by all that acts in the steps after it."""

    nodes: Array2  # (NODE_BARS, 3 row_length(N))
    body: Array
    reel: Array
    numbers: Array  # by Parameters, the base step and numbers of loads, as in PLACES and LOAD_PLACES
    flow: Array2  # by Drag.flow
    force: Array2  # by AppliedForce.table
    torques: Array  # by Command.torques
    profile: Array2  # by Command.profile


class Record(NamedTuple):
    """Stages and samples of a part of a run, for the reverse pass."""

    # (stages, 2, 3 row_length(N)): positions at the start of the stage, mean velocities; with loads a third row, the
    # velocities where it joins the one before
    nodes: Array3
    numbers: Array2  # (stages, STAGE_NUMBERS)
    samples: Array2  # (rows, 3 row_length(N)): velocities
    at_samples: Array2  # (rows, 4): speed of the reel and angular velocity
    # The motion at samples; with loads the one where each stage joins the one before, and at the end of the last.
    motions: Array3
    bodies: Array2
    reels: Array2


def empty_adjoint(par: Parameters, command: Command, loads: Loads) -> Adjoint:
    drag, applied = (loads.own[code(registry.LOADS, name)] for name in ("drag", "applied_force"))
    return Adjoint(
        vector_zeros(NODE_BARS, 3 * row_length(par.N)),
        np.zeros(BODY_BARS),
        np.zeros(REEL_BARS),
        np.zeros(NUMBERS),
        np.zeros_like(drag.flow),
        np.zeros_like(applied.table),
        np.zeros_like(command.torques),
        np.zeros_like(command.profile),
    )


def empty_record(N: int, stages: int, rows: int, loaded: bool) -> Record:
    n = 3 * row_length(N)
    motions = stages + 1 if loaded else rows
    return Record(
        vector_zeros(stages, 3 if loaded else 2, n),
        np.zeros((stages, STAGE_NUMBERS)),
        vector_zeros(rows, n),
        np.zeros((rows, 4)),
        vector_zeros(motions, data.NODE_QUANTITIES, n),
        np.zeros((motions, data.BODY_SIZE)),
        np.zeros((motions, data.REEL_SIZE)),
    )


@kernel
def add_length(par: Parameters, l_bar: float, out: Adjoint) -> None:
    """Derivative by the length of an element, which is (L - s)/N."""
    out.reel[S_BAR] -= l_bar / par.N
    out.numbers[BY_L] += l_bar / par.N


@kernel
def take_velocities(out: Adjoint) -> tuple[float, Vector]:
    """Derivatives by the mean rates of the latest step through what loads expect from them; then it is the one before.

    Those by velocities of the nodes are to be read before.
    """
    sigma_bar, omega_bar = out.reel[SIGMA_BAR], triple(out.body, OMEGA_BAR)
    out.reel[SIGMA_BAR], out.reel[SIGMA_BEFORE_BAR] = out.reel[SIGMA_BEFORE_BAR], 0.0
    put_triple(out.body, OMEGA_BAR, triple(out.body, OMEGA_BEFORE_BAR))
    put_triple(out.body, OMEGA_BEFORE_BAR, (0.0, 0.0, 0.0))
    copy_nodes(out.nodes[VELOCITY_BEFORE_BAR], out.nodes[VELOCITY_BAR])
    clear_nodes(out.nodes[VELOCITY_BEFORE_BAR])
    return sigma_bar, omega_bar
