"""The step at constant length: kick, drift, kick, with one force evaluation (docs/theory.md, equations 23, 24).

The mass matrix is constant, so its tridiagonal factor is made once. The second half kick of a step and
the first one of the next act at the same configuration: they are paid together, and `PENDING` says
what is still owed. Samples read momenta with the debt paid in a copy, so sampling changes no bit of the motion.
"""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels.arrow import eliminate, substitute
from tautline.kernels.compensated import accumulate_differences, accumulate_node, accumulate_scaled
from tautline.kernels.data import (
    FORCE,
    H_BEFORE,
    H_LAST,
    INVERSE,
    LOWER,
    MEAN_VELOCITY,
    MOMENTUM,
    MOMENTUM_ERR,
    PENDING,
    POSITION,
    POSITION_ERR,
    RIGHT,
    SPIN,
    SPIN_ERR,
    TARGET,
    Array,
    Motion,
    Parameters,
    S,
    Scratch,
    copy_nodes,
    node,
    triple,
)
from tautline.kernels.elastic import element_forces
from tautline.kernels.energy import body_moment, element_length
from tautline.kernels.jit import inlined, kernel
from tautline.kernels.rotation import (
    add_spin,
    attitude,
    lever_arm,
    mean_swing,
    solve_rotation,
)
from tautline.kernels.so3 import (
    Matrix,
    Vector,
    add_scaled,
    apply,
    dot,
    matrix_add_scaled,
    outer,
    scale,
    sub,
)

IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
# Beyond this the linear extrapolation that starts Newton is worse than the last value.
MAX_EXTRAPOLATION = 4.0


@inlined
def reduced_inertia(par: Parameters, t: float) -> Matrix:
    """K = J - t M^2 (|rho|^2 I - rho rho^T), t = (A^{-1})_NN: inertia with the string's motion eliminated."""
    k = t * par.M * par.M
    K = matrix_add_scaled(par.J, -k * dot(par.rho, par.rho), IDENTITY)
    return matrix_add_scaled(K, k, outer(par.rho, par.rho))


@kernel
def extrapolation(h: float, h_last: float, h_before: float) -> float:
    """How far to go on along (last - before): means over steps belong to the middles of the steps."""
    span = h_last + h_before
    reach = h + h_last
    if abs(reach) <= MAX_EXTRAPOLATION * abs(span):
        return reach / span if span != 0.0 else 0.0
    return 0.0


@kernel
def with_rotation(
    par: Parameters, h: float, t: float, v_N: Vector, Pi: Vector, R: Matrix, guess: Vector
) -> tuple[Vector, Vector, bool]:
    """v_N and omega from the v_N of a body without rotation, and whether omega has not converged; t = (A^{-1})_NN."""
    b = sub(Pi, lever_arm(par, R, v_N))
    omega, not_converged = solve_rotation(reduced_inertia(par, t), h, b, guess)
    swing = mean_swing(h, omega, par.rho)
    return add_scaled(v_N, -t * par.M, apply(R, swing)), omega, not_converged


@inlined
def velocities_of_body(
    par: Parameters, h: float, Pi: Vector, R: Matrix, guess: Vector, scratch: Scratch
) -> tuple[Vector, Vector, bool]:
    """v_N and omega from the eliminated momenta in RIGHT, and whether omega has not converged."""
    t = scratch.factor[INVERSE][par.N]
    v_N = scale(t, node(scratch.nodes[RIGHT], par.N))
    omega = guess
    not_converged = t < 0.0  # never
    if par.rotates:
        v_N, omega, not_converged = with_rotation(par, h, t, v_N, Pi, R, guess)
    return v_N, omega, not_converged


@inlined
def velocities_at_fixed_length(
    par: Parameters, h: float, p: Array, Pi: Vector, R: Matrix, guess: Vector, scratch: Scratch
) -> tuple[Vector, bool]:
    """Mean velocities of a drift of length h into MEAN_VELOCITY, omega, and whether that has not converged.

    h = 0 inverts the Legendre transform. The factor must belong to the present length.
    """
    y = scratch.nodes[RIGHT]
    lower = scratch.factor[LOWER]
    inverse = scratch.factor[INVERSE]
    eliminate(par.N, p, lower, y)
    v_N, omega, not_converged = velocities_of_body(par, h, Pi, R, guess, scratch)
    substitute(par.N, y, lower, inverse, v_N, scratch.nodes[MEAN_VELOCITY])
    return omega, not_converged


@inlined
def kick_nodes(par: Parameters, l: float, f: Array, h: float, p: Array, p_err: Array) -> None:
    """p -= h dV/dq, from the element forces."""
    n = par.N + 1
    z = 2 * n
    compensated = par.compensated
    weight = par.mu_g * l
    accumulate_differences(p[:z], p_err[:z], h, f[:z], 0.0, compensated)
    accumulate_differences(p[z : z + par.N], p_err[z:], h, f[z:], weight, compensated)
    end = h * (0.5 * weight + par.weight - f[z + par.N - 1])
    accumulate_node(p, p_err, par.N, (0.0, 0.0, end), compensated)
    # the flat run passed over the second component of node 0, which stands still at the guide entrance
    p[n] = 0.0
    p_err[n] = 0.0


@inlined
def kick(par: Parameters, motion: Motion, scratch: Scratch, R: Matrix, h: float) -> None:
    """p -= h dV/dq, Pi += h M g rho x R^T e3."""
    l = element_length(par, motion.reel[S])
    f = scratch.nodes[FORCE]
    element_forces(par, l, motion.nodes[POSITION], f)
    kick_nodes(par, l, f, h, motion.nodes[MOMENTUM], motion.nodes[MOMENTUM_ERR])
    if par.rotates:
        add_spin(par, motion.body, scale(h, body_moment(par, R)))


@inlined
def drift(h: float, v: Array, q: Array, q_err: Array, compensated: bool) -> None:
    """q += h v; node 0 has v = 0."""
    accumulate_scaled(q, q_err, h, v, compensated)


@inlined
def kick_then_eliminate(par: Parameters, l: float, h: float, motion: Motion, scratch: Scratch) -> None:
    """p -= h dV/dq, and the forward elimination of the momenta into RIGHT."""
    f = scratch.nodes[FORCE]
    element_forces(par, l, motion.nodes[POSITION], f)
    kick_nodes(par, l, f, h, motion.nodes[MOMENTUM], motion.nodes[MOMENTUM_ERR])
    eliminate(par.N, motion.nodes[MOMENTUM], scratch.factor[LOWER], scratch.nodes[RIGHT])


@inlined
def velocities_of_nodes(par: Parameters, h: float, v_N: Vector, motion: Motion, scratch: Scratch) -> None:
    """Mean velocities into MEAN_VELOCITY, by back substitution of the eliminated momenta in RIGHT."""
    v = scratch.nodes[MEAN_VELOCITY]
    substitute(par.N, scratch.nodes[RIGHT], scratch.factor[LOWER], scratch.factor[INVERSE], v_N, v)


@inlined
def drift_nodes(par: Parameters, h: float, motion: Motion, scratch: Scratch) -> None:
    """q += h v, with the mean velocities."""
    q, q_err = motion.nodes[POSITION], motion.nodes[POSITION_ERR]
    drift(h, scratch.nodes[MEAN_VELOCITY], q, q_err, par.compensated)


class History(NamedTuple):
    """What constant-length steps leave to the next one, besides the motion of string and body (s)."""

    pending: float  # the part of a kick that is still owed to p and Pi
    last: float  # length of the latest step
    before: float  # and of the one before


@kernel
def history_of(reel: Array) -> History:
    return History(reel[PENDING], reel[H_LAST], reel[H_BEFORE])


@kernel
def keep_history(history: History, out_reel: Array) -> None:
    out_reel[PENDING] = history.pending
    out_reel[H_LAST] = history.last
    out_reel[H_BEFORE] = history.before


@inlined
def complete_kick(par: Parameters, motion: Motion, scratch: Scratch) -> None:
    """Pay what is pending, before something else than a constant-length step acts on the momenta."""
    if motion.reel[PENDING] != 0.0:
        kick(par, motion, scratch, attitude(motion.body), motion.reel[PENDING])
        motion.reel[PENDING] = 0.0


@inlined
def momenta_with_kick(par: Parameters, motion: Motion, scratch: Scratch) -> Vector:
    """Momenta with the pending kick paid: nodes into TARGET, Pi returned. The motion stays as it is."""
    pending = motion.reel[PENDING]
    l = element_length(par, motion.reel[S])
    f = scratch.nodes[FORCE]
    p = scratch.nodes[TARGET]
    owed = scratch.nodes[RIGHT]
    element_forces(par, l, motion.nodes[POSITION], f)
    copy_nodes(motion.nodes[MOMENTUM], p)
    copy_nodes(motion.nodes[MOMENTUM_ERR], owed)
    kick_nodes(par, l, f, pending, p, owed)
    Pi = sub(triple(motion.body, SPIN), triple(motion.body, SPIN_ERR))
    if par.rotates:
        Pi = add_scaled(Pi, pending, body_moment(par, attitude(motion.body)))
    return Pi
