"""The step at constant length: kick, drift, kick, with one force evaluation (docs/theory.md, equations 23, 24).

The mass matrix is constant, so its tridiagonal factor is made once. The second half kick of a step and
the first one of the next act at the same configuration: they are paid together, and `PENDING` says
what is still owed. Samples read momenta with the debt paid in a copy, so sampling changes no bit of the motion.
"""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.along import load, nodes_from, previous_nodes, spread, width
from tautline.kernels.compensated import accumulate_nodes
from tautline.kernels.data import Array, Motion, Parameters, Scratch, copy_nodes, put_node, put_triple, triple
from tautline.kernels.elastic import element_pulls, law_pulls
from tautline.kernels.elastic_laws.linear import pulls_from
from tautline.kernels.energy import body_moment, element_length, weights_of_nodes
from tautline.kernels.jit import inlined, kernel
from tautline.kernels.lanes import zero_like
from tautline.kernels.rotation import (
    add_spin,
    attitude,
    lever_arm,
    mean_swing,
    solve_rotation,
)
from tautline.kernels.so3 import (
    IDENTITY,
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
from tautline.kernels.tridiagonal import eliminate, substitute

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
def bend_of(h: float, h_last: float, h_before: float, h_earlier: float) -> float:
    """1 where the extrapolation may follow a parabola, because four steps are of one length, else 0."""
    return 1.0 if h == h_last and h == h_before and h == h_earlier else 0.0


@kernel
def extrapolated(ahead: float, bend: float, last: float, before: float, earlier: float) -> float:
    """Guess of a mean over the next step, from those over the latest three."""
    return last + ahead * (last - before) + bend * (last - 2.0 * before + earlier)


@kernel
def extrapolated_vector(ahead: float, bend: float, last: Vector, before: Vector, earlier: Vector) -> Vector:
    return (
        extrapolated(ahead, bend, last[0], before[0], earlier[0]),
        extrapolated(ahead, bend, last[1], before[1], earlier[1]),
        extrapolated(ahead, bend, last[2], before[2], earlier[2]),
    )


@inlined
def extrapolated_spin(ahead: float, bend: float, body: Array) -> Vector:
    """omega where Newton's method starts."""
    last, earlier = triple(body, data.OMEGA_BEFORE), triple(body, data.OMEGA_EARLIER)
    return extrapolated_vector(ahead, bend, triple(body, data.OMEGA), last, earlier)


@kernel
def keep_spin(body: Array, omega: Vector) -> None:
    """Remember the mean angular velocity of a step."""
    put_triple(body, data.OMEGA_EARLIER, triple(body, data.OMEGA_BEFORE))
    put_triple(body, data.OMEGA_BEFORE, triple(body, data.OMEGA))
    put_triple(body, data.OMEGA, omega)


@kernel
def with_rotation(
    par: Parameters, h: float, t: float, v_N: Vector, Pi: Vector, R: Matrix, guess: Vector
) -> tuple[Vector, Vector, bool]:
    """v_N and omega from the v_N of a body without rotation, and whether omega has not converged; t = (A^{-1})_NN."""
    b = sub(Pi, lever_arm(par, R, v_N))
    omega, _, not_converged = solve_rotation(reduced_inertia(par, t), h, b, guess)
    swing = mean_swing(h, omega, par.rho)
    return add_scaled(v_N, -t * par.M, apply(R, swing)), omega, not_converged


@inlined
def velocities_of_body(
    par: Parameters, h: float, v_N: Vector, Pi: Vector, R: Matrix, guess: Vector, scratch: Scratch
) -> tuple[Vector, Vector, bool]:
    """v_N and omega from the v_N of a body without rotation, and whether omega has not converged."""
    t = scratch.factor[data.INVERSE][par.N]
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
    y = scratch.nodes[data.RIGHT]
    lower = scratch.factor[data.LOWER]
    v_N = eliminate(par.N, p, lower, scratch.factor[data.INVERSE], y)
    v_N, omega, not_converged = velocities_of_body(par, h, v_N, Pi, R, guess, scratch)
    substitute(par.N, y, lower, v_N, scratch.nodes[data.MEAN_VELOCITY])
    return omega, not_converged


@kernel
def kick_nodes(par: Parameters, l: float, pull: Array, q: Array, h: float, p: Array, p_err: Array) -> None:
    """p -= h dV/dq, from the pulls of the elements."""
    kick_along(par, l, False, pull, q, h, p, p_err)


@kernel
def kick_along(
    par: Parameters, l: float, linear: bool, pull: Array, q: Array, h: float, p: Array, p_err: Array
) -> None:
    """p -= h dV/dq, where the pulls of a linear string are found on the way."""
    weight = par.mu_g * l
    k = par.EA / l
    nothing = spread(q, zero_like(l))
    before = (nothing, nothing, nothing)
    for i in range(0, par.N + 1, width(q)):
        w = sub(nodes_from(q, i + 1), nodes_from(q, i))
        f = scale(pulls_from(par.N, k, l, q, i, w) if linear else load(pull, i), w)
        x = sub(f, previous_nodes(q, before, f))
        before = f
        z = x[2] + weights_of_nodes(q, par.N, i, weight, 0.5 * weight + par.weight)
        accumulate_nodes(p, p_err, i, (h * x[0], h * x[1], h * z), par.compensated)
    hold_first_node(p)
    hold_first_node(p_err)


@kernel
def hold_first_node(p: Array) -> None:
    """Take from node 0 what a pass along the string gave it: it stands still at the guide entrance."""
    nothing = zero_like(p[0])
    put_node(p, 0, (nothing, nothing, nothing))


@inlined
def kick(par: Parameters, motion: Motion, scratch: Scratch, R: Matrix, h: float) -> None:
    """p -= h dV/dq, Pi += h M g rho x R^T e3."""
    l = element_length(par, motion.reel[data.S])
    q = motion.nodes[data.POSITION]
    pull = scratch.nodes[data.PULL]
    element_pulls(par, l, q, pull)
    kick_nodes(par, l, pull, q, h, motion.nodes[data.MOMENTUM], motion.nodes[data.MOMENTUM_ERR])
    if par.rotates:
        add_spin(par, motion.body, scale(h, body_moment(par, R)))


@kernel
def drift(N: int, h: float, v: Array, q: Array, q_err: Array, compensated: bool) -> None:
    """q += h v; node 0 has v = 0."""
    for i in range(0, N + 1, width(q)):
        accumulate_nodes(q, q_err, i, scale(h, nodes_from(v, i)), compensated)


@inlined
def kick_then_eliminate(par: Parameters, l: float, h: float, motion: Motion, scratch: Scratch) -> Vector:
    """p -= h dV/dq, and the forward elimination of the momenta into RIGHT; v_N of a body without rotation."""
    q = motion.nodes[data.POSITION]
    p, p_err = motion.nodes[data.MOMENTUM], motion.nodes[data.MOMENTUM_ERR]
    pull = scratch.nodes[data.PULL]
    if par.elastic_law == data.LINEAR:
        kick_along(par, l, True, pull, q, h, p, p_err)
    else:
        law_pulls(par, l, q, pull)
        kick_along(par, l, False, pull, q, h, p, p_err)
    return eliminate(par.N, p, scratch.factor[data.LOWER], scratch.factor[data.INVERSE], scratch.nodes[data.RIGHT])


@inlined
def velocities_of_nodes(par: Parameters, h: float, v_N: Vector, motion: Motion, scratch: Scratch) -> None:
    """Mean velocities into MEAN_VELOCITY, by back substitution of the eliminated momenta in RIGHT."""
    v = scratch.nodes[data.MEAN_VELOCITY]
    substitute(par.N, scratch.nodes[data.RIGHT], scratch.factor[data.LOWER], v_N, v)


@inlined
def drift_nodes(par: Parameters, h: float, motion: Motion, scratch: Scratch) -> None:
    """q += h v, with the mean velocities."""
    q, q_err = motion.nodes[data.POSITION], motion.nodes[data.POSITION_ERR]
    drift(par.N, h, scratch.nodes[data.MEAN_VELOCITY], q, q_err, par.compensated)


class History(NamedTuple):
    """History that constant-length steps leave to the next one, besides the motion of string and body (s)."""

    pending: float  # the part of a kick that is still owed to p and Pi
    last: float  # length of the latest step
    before: float  # of the one before
    earlier: float  # and of the one before that


@kernel
def history_of(reel: Array) -> History:
    return History(reel[data.PENDING], reel[data.H_LAST], reel[data.H_BEFORE], reel[data.H_EARLIER])


@kernel
def keep_history(history: History, out_reel: Array) -> None:
    out_reel[data.PENDING] = history.pending
    out_reel[data.H_LAST] = history.last
    out_reel[data.H_BEFORE] = history.before
    out_reel[data.H_EARLIER] = history.earlier


@inlined
def complete_kick(par: Parameters, motion: Motion, scratch: Scratch) -> None:
    """Pay what is pending, before something else than a constant-length step acts on the momenta."""
    if motion.reel[data.PENDING] != 0.0:
        kick(par, motion, scratch, attitude(motion.body), motion.reel[data.PENDING])
        motion.reel[data.PENDING] = 0.0


@inlined
def momenta_with_kick(par: Parameters, motion: Motion, scratch: Scratch) -> Vector:
    """Momenta with the pending kick paid: nodes into TARGET, Pi returned. The motion stays as it is."""
    pending = motion.reel[data.PENDING]
    l = element_length(par, motion.reel[data.S])
    q = motion.nodes[data.POSITION]
    pull = scratch.nodes[data.PULL]
    p = scratch.nodes[data.TARGET]
    owed = scratch.nodes[data.RIGHT]
    element_pulls(par, l, q, pull)
    copy_nodes(motion.nodes[data.MOMENTUM], p)
    copy_nodes(motion.nodes[data.MOMENTUM_ERR], owed)
    kick_nodes(par, l, pull, q, pending, p, owed)
    Pi = sub(triple(motion.body, data.SPIN), triple(motion.body, data.SPIN_ERR))
    if par.rotates:
        Pi = add_scaled(Pi, pending, body_moment(par, attitude(motion.body)))
    return Pi
