"""Adjoint of drag and spin damping of the body at a step boundary (docs/theory.md, behind (B14))."""

from __future__ import annotations

import math

from tautline.kernels import data
from tautline.kernels.adjoint import data as adjoint
from tautline.kernels.adjoint.data import Adjoint
from tautline.kernels.adjoint.drag import Expectation, flow_back
from tautline.kernels.data import Motion, Parameters, add_to_node, add_triple, node, triple
from tautline.kernels.jit import kernel, separate
from tautline.kernels.loads.acting import Instant
from tautline.kernels.loads.drag import BodyResistance, Drag, reach
from tautline.kernels.so3 import Matrix, Vector, add, add_scaled, apply, apply_transposed, cross, dot, scale, sub


@kernel
def swing_back(R: Matrix, center: Vector, omega: Vector, bar: Vector, out: Adjoint) -> Vector:
    """Adjoint of R (omega x center), by which a point of the body is faster: adds those by R and center; by omega."""
    turned = apply_transposed(R, bar)
    add_triple(out.body, adjoint.ATTITUDE_BAR, cross(cross(omega, center), turned))
    add_triple(out.numbers, adjoint.BY_CENTER, cross(turned, omega))
    return cross(center, turned)


@kernel
def direction_of(x: Vector) -> Vector:
    """x/|x|, or nothing."""
    size = math.sqrt(dot(x, x))
    return scale(1.0 / size, x) if size > 0.0 else x


@separate
def body_drag_back(
    par: Parameters,
    own: Drag,
    at: Instant,
    body: BodyResistance,
    expected: Expectation,
    v: Vector,
    omega: Vector,
    w: Vector,
    w_omega: Vector,
    motion: Motion,
    out: Adjoint,
) -> float:
    """Adjoint of what resists the body times a virtual velocity w, w_omega: adds derivatives; the product itself."""
    N, R, center = par.N, at.R, own.center
    u = sub(add(v, apply(R, cross(omega, center))), body.flow)
    m = add(w, apply(R, cross(w_omega, center)))
    drag_bar, spin_bar = -dot(u, m), -dot(omega, w_omega)
    out.numbers[adjoint.BY_SPIN] += spin_bar
    swing_back(R, center, omega, scale(-body.drag, m), out)
    swing_back(R, center, w_omega, scale(-body.drag, u), out)

    # the speed that is expected, as drag.body_resistance has it
    last, before = node(motion.nodes[data.VELOCITY], N), node(motion.nodes[data.VELOCITY_BEFORE], N)
    spun, spun_before = triple(motion.body, data.OMEGA), triple(motion.body, data.OMEGA_BEFORE)
    u_last = add(last, apply(R, cross(spun, center)))
    du = sub(u_last, add(before, apply(R, cross(spun_before, center))))
    u_last = sub(u_last, body.flow)
    decay = 0.5 * own.body_rate * expected.time * math.sqrt(dot(u_last, u_last))
    part = reach(expected.ahead, decay)
    y = add_scaled(u_last, part, du)
    out.numbers[adjoint.BY_BODY] += drag_bar * math.sqrt(dot(y, y))
    y_bar = scale(own.body * drag_bar, direction_of(y))
    last_bar = y_bar
    if part < expected.ahead:
        decayed = -dot(y_bar, du) * (part + 0.5)  # derivative by decay, times decay
        out.numbers[adjoint.BY_BODY_RATE] += decayed / own.body_rate
        out.numbers[adjoint.BY_H] += decayed / expected.base
        last_bar = add_scaled(last_bar, decayed / dot(u_last, u_last), u_last)
    flow_bar = sub(scale(body.drag, m), last_bar)
    last_bar = add_scaled(last_bar, part, y_bar)
    before_bar = scale(-part, y_bar)
    add_to_node(out.nodes[adjoint.VELOCITY_BAR], N, last_bar)
    add_to_node(out.nodes[adjoint.VELOCITY_BEFORE_BAR], N, before_bar)
    add_triple(out.body, adjoint.OMEGA_BAR, swing_back(R, center, spun, last_bar, out))
    add_triple(out.body, adjoint.OMEGA_BEFORE_BAR, swing_back(R, center, spun_before, before_bar, out))

    lever = apply(R, center)
    by_height = flow_back(own, at, node(motion.nodes[data.POSITION], N)[2] + lever[2], flow_bar, out)
    if by_height != 0.0:
        add_to_node(out.nodes[adjoint.POSITION_BAR], N, (0.0, 0.0, by_height))
        add_triple(out.numbers, adjoint.BY_CENTER, scale(by_height, R[2]))
        add_triple(out.body, adjoint.ATTITUDE_BAR, scale(by_height, cross(center, R[2])))
    return body.drag * drag_bar + body.spin * spin_bar
