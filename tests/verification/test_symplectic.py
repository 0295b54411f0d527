"""The step map is symplectic on T*(R x R^{3N} x SO(3)): A^T Omega(z') A = Omega(z) (docs/theory.md, section 7).

Coordinates (s, q_1 ... q_N, eta; p_s, p_1 ... p_N, Pi) about a point z, with R exp(hat(eta)) for the attitude.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

import tautline as tl
from tautline.engine.chain.lowering import initial_motion, kernel_parameters
from tautline.kernels import data
from tautline.kernels.observe import observe
from tests.conftest import Report
from tests.support import chains
from tests.support.checking import check_symplectic
from tests.support.discrete import (
    LOCKED,
    STEP,
    TORQUE,
    Case,
    increment,
    momenta,
    plan_of_step,
    quaternion_product,
    random_motion,
    stepped,
)
from tests.support.matrices import hat, jacobian
from tests.support.systems import random_system, state_at

Array = NDArray[np.float64]

N = 2
SIZE = 1 + 3 * N + 3
SPEEDS = {0: 0.7, 1: -0.7, 3: -2.5}  # by seed
# Of the coordinates, in SI units: truncation of order 1e-12, rounding of order 1e-16/1e-3.
DIFFERENCE = 1e-3
TOLERANCE = 1e-10


def symplectic_form(Pi: Array) -> Array:
    """omega(z_1, z_2) = z_1^T Omega z_2.

    omega = -dTheta of the canonical one-form Theta = p.dq + Pi.eta. For left-invariant fields
    dTheta(X_1, X_2) = X_1 Theta(X_2) - X_2 Theta(X_1) - Theta([X_1, X_2]), and the bracket of the fields R hat(eta_1),
    R hat(eta_2) is R hat(eta_1 x eta_2), hence

        omega = dq_1.dp_2 - dq_2.dp_1 + eta_1.dPi_2 - eta_2.dPi_1 + Pi.(eta_1 x eta_2).

    The last term is eta_1.(eta_2 x Pi) = -eta_1^T hat(Pi) eta_2. The other sign belongs to angular momenta in the
    inertial frame, with exp(hat(eta)) R.
    """
    Omega = np.zeros((2 * SIZE, 2 * SIZE))
    Omega[:SIZE, SIZE:] = np.eye(SIZE)
    Omega[SIZE:, :SIZE] = -np.eye(SIZE)
    Omega[SIZE - 3 : SIZE, SIZE - 3 : SIZE] = -hat(Pi)
    return Omega


def moved(motion: data.Motion, dz: Array) -> data.Motion:
    """The point dz away. R cay(eta/2) agrees with R exp(hat(eta)) to the second order, so derivatives are the same."""
    dx, dp = dz[:SIZE], dz[SIZE:]
    there = deepcopy(motion)
    Q = there.body[data.ATTITUDE : data.ATTITUDE + 4]
    Q[:] = quaternion_product(Q, np.array([1.0, *(0.5 * dx[-3:])]))
    there.reel[data.S] += dx[0]
    there.reel[data.P_S] += dp[0]
    for place, change in ((data.POSITION, dx), (data.MOMENTUM, dp)):
        data.nodes_of(there.nodes[place], N)[1:] += change[1:-3].reshape(-1, 3)
    there.body[data.SPIN : data.SPIN + 3] += dp[-3:]
    return there


def difference(par: data.Parameters, a: data.Motion, b: data.Motion) -> Array:
    """The coordinates of b about a."""
    dx = increment(a, b, N)
    F = dx.R
    eta = 2.0 / (1.0 + np.trace(F)) * np.array([F[2, 1] - F[1, 2], F[0, 2] - F[2, 0], F[1, 0] - F[0, 1]])
    return np.concatenate([[dx.s], dx.q[1:].ravel(), eta, momenta(par, b) - momenta(par, a)])


StepMap = Callable[[data.Motion], data.Motion]


class Linearized(NamedTuple):
    """Derivative of a step map, and the forms at its two ends."""

    A: Array
    before: Array
    after: Array


def linearized(par: data.Parameters, step: StepMap, motion: data.Motion, locked: bool = False) -> Linearized:
    """With a locked reel s is a constant, and p_s no part of the state."""
    end = step(motion)
    A = jacobian(lambda dz: difference(par, end, step(moved(motion, dz))), np.zeros(2 * SIZE), DIFFERENCE)
    before, after = (symplectic_form(momenta(par, z)[-3:]) for z in (motion, end))
    kept = np.delete(np.arange(2 * SIZE), [0, SIZE] if locked else [])
    k = np.ix_(kept, kept)
    return Linearized(A[k], before[k], after[k])


def check_not_symplectic(what: str, step: Linearized, report: Report) -> None:
    with pytest.raises(AssertionError, match="symplectic defect"):
        check_symplectic(*step, TOLERANCE)
    report(f"control, {what}: symplectic defect", check_symplectic(*step, np.inf), f"> {TOLERANCE:g}")


def kernel_step(par: data.Parameters, command: data.Command, order: int) -> StepMap:
    plan = plan_of_step(STEP, order)
    return lambda motion: stepped(par, plan, command, motion)


@pytest.mark.parametrize(("scheme", "order"), [("symmetric", 2), ("symmetric", 4), ("symmetric", 6), ("paper", 2)])
@pytest.mark.parametrize("command", [TORQUE, LOCKED], ids=["moving", "locked"])
def test_step_is_symplectic(scheme: str, order: int, command: data.Command, report: Report) -> None:
    """Law `none`. A torque depends on time alone and only shifts p_s."""
    largest = 0.0
    for seed, sigma in SPEEDS.items():
        par, motion = random_motion(Case(N, scheme), seed, 0.0 if command.locked else sigma)
        step = linearized(par, kernel_step(par, command, order), motion, command.locked)
        largest = max(largest, check_symplectic(*step, TOLERANCE))
    reel = "locked" if command.locked else "moving"
    report(f"{reel} reel, {scheme}, order {order}: symplectic defect", largest, f"< {TOLERANCE:g}")


@pytest.mark.parametrize("law", ["published", "dissipative"])
def test_guide_loss_is_not_symplectic(law: str, report: Report) -> None:
    """A force that depends on the state shows."""
    par, motion = random_motion(Case(N, law=law), 1, -0.7)
    check_not_symplectic(f"law {law}", linearized(par, kernel_step(par, TORQUE, 2), motion), report)


@pytest.mark.parametrize(("what", "factor"), [("without the term in Pi", 0.0), ("with its other sign", -1.0)])
def test_other_forms_are_not_kept(what: str, factor: float, report: Report) -> None:
    par, motion = random_motion(Case(N), 0, 0.7)
    step = linearized(par, kernel_step(par, TORQUE, 2), motion)
    for Omega in (step.before, step.after):
        Omega[SIZE - 3 : SIZE, SIZE - 3 : SIZE] *= factor
    check_not_symplectic(f"form {what}", step, report)


def present_state(par: data.Parameters, motion: data.Motion) -> chains.ChainState:
    samples = data.empty_samples(1, N)
    observe(par, False, motion, data.empty_scratch(N), samples, 0, 0.0, None)
    x = samples.scalars[0]
    R = x[data.ROTATION : data.ROTATION + 9].reshape(3, 3)
    omega = x[data.ANGULAR_VELOCITY : data.ANGULAR_VELOCITY + 3]
    q, v = samples.nodes[0]
    return chains.ChainState(x[data.REELED_LENGTH], x[data.REEL_SPEED], q, v, R, omega)


@pytest.mark.long
def test_runge_kutta_step_is_not_symplectic(report: Report) -> None:
    """The classical method of fourth order on the independent equations; in small steps, as their flow, it is."""
    pendulum, state, _ = random_system(np.random.default_rng(0), N)
    par = kernel_parameters(pendulum, N, "symmetric", True)
    motion = initial_motion(par, state)

    def rk4(steps: int) -> StepMap:
        def step(motion: data.Motion) -> data.Motion:
            start = present_state(par, motion)
            run = chains.integrate(
                pendulum, start, tl.Free(), duration=STEP, sample=STEP, method="RK4", step=STEP / steps
            )
            return initial_motion(par, state_at(run, pendulum))

        return step

    check_not_symplectic("Runge-Kutta step", linearized(par, rk4(1), motion), report)
    flow = check_symplectic(*linearized(par, rk4(16), motion), TOLERANCE)
    report("flow of the reference equations: symplectic defect", flow, f"< {TOLERANCE:g}")
