"""What passes backwards between the steps: adjoints of the motion, sums for the parameters, and a record of steps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tautline.arrays import Array2, Array3
from tautline.kernels.data import Array, Command, Parameters, row_length
from tautline.kernels.jit import kernel
from tautline.kernels.lanes import vector_zeros
from tautline.kernels.so3 import Vector

# Rows of Adjoint.nodes: by positions and by momenta of the nodes.
POSITION_BAR, MOMENTUM_BAR = range(2)
# Places in Adjoint.body. The attitude's is that of eta where R changes by R hat(eta).
ATTITUDE_BAR, SPIN_BAR = 0, 3
BODY_BARS = 6
# Places in Adjoint.reel: of s, p_s, and the accounts of the motor's work and of the loss at the guide.
S_BAR, P_S_BAR, WORK_BAR, LOSS_BAR = range(4)
REEL_BARS = 4

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
    "h": 1,
}
PLACES = dict(zip(SIZES, np.cumsum([0, *SIZES.values()]).tolist(), strict=False))
NUMBERS = sum(SIZES.values())
BY_L, BY_MU, BY_EA, BY_KAPPA, BY_D, BY_B = (PLACES[name] for name in ("L", "mu", "EA", "kappa", "d", "b"))
BY_HEIGHT = PLACES["r_p"] + 2
BY_M, BY_J, BY_RHO = (PLACES[name] for name in ("M", "J", "rho"))
BY_MU_G, BY_WEIGHT, BY_WEIGHT_RHO = (PLACES[name] for name in ("mu_g", "weight", "weight_rho"))
BY_SIGMA_0, BY_H = PLACES["sigma_0"], PLACES["h"]

# Rows of Scratch.nodes that the way back uses besides those of the steps (kernels/data.py).
LAMBDA, LAMBDA_2, RATES_BAR, MOMENTA_AFTER, POSITION_AFTER = 3, 4, 5, 7, 8

# Places in a row of Record.numbers: what a stage began with, and its mean rates.
AT_QUATERNION, AT_OMEGA, AT_S, AT_SIGMA, AT_H, AT_START, AT_END, AT_KICK = 0, 4, 7, 8, 9, 10, 11, 12
AT_BASE, AT_PART = 13, 14  # from the run's start to the stage's, and its own length, in base steps
STAGE_NUMBERS = 16
# Rows of Record.samples, and places in Record.at_samples.
SAMPLE_POSITION, SAMPLE_VELOCITY, SAMPLE_MOMENTUM = range(3)
SAMPLE_QUATERNION, SAMPLE_OMEGA, SAMPLE_SPIN, SAMPLE_S, SAMPLE_SIGMA, SAMPLE_PENDING = 0, 4, 7, 10, 11, 12
SAMPLE_TIME, SAMPLE_STEPS, SAMPLE_P_S = 13, 14, 15
SAMPLE_NUMBERS = 16


class Adjoint(NamedTuple):
    """Derivatives of one number by the motion at a time, and sums of those by all that acts in the steps after it."""

    nodes: Array2  # (2, 3 row_length(N))
    body: Array
    reel: Array
    numbers: Array  # by Parameters and the base step, as in PLACES
    torques: Array  # by Command.torques
    profile: Array2  # by Command.profile


class Record(NamedTuple):
    """Stages and samples of a part of a run, for the way back."""

    nodes: Array3  # (stages, 2, 3 row_length(N)): positions at the start of the stage, mean velocities
    numbers: Array2  # (stages, STAGE_NUMBERS)
    samples: Array3  # (rows, 3, 3 row_length(N))
    at_samples: Array2  # (rows, SAMPLE_NUMBERS)
    single: Array  # stages of a step of second order: 1


def empty_adjoint(par: Parameters, command: Command) -> Adjoint:
    return Adjoint(
        vector_zeros(2, 3 * row_length(par.N)),
        np.zeros(BODY_BARS),
        np.zeros(REEL_BARS),
        np.zeros(NUMBERS),
        np.zeros_like(command.torques),
        np.zeros_like(command.profile),
    )


def empty_record(N: int, stages: int, rows: int) -> Record:
    n = 3 * row_length(N)
    return Record(
        vector_zeros(stages, 2, n),
        np.zeros((stages, STAGE_NUMBERS)),
        vector_zeros(rows, 3, n),
        np.zeros((rows, SAMPLE_NUMBERS)),
        np.ones(1),
    )


@kernel
def add_triple(out: Array, i: int, x: Vector) -> None:
    out[i] += x[0]
    out[i + 1] += x[1]
    out[i + 2] += x[2]


@kernel
def add_length(par: Parameters, l_bar: float, out: Adjoint) -> None:
    """Derivative by the length of an element, which is (L - s)/N."""
    out.reel[S_BAR] -= l_bar / par.N
    out.numbers[BY_L] += l_bar / par.N
