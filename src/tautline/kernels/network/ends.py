"""Ends of strings: points of bodies, their places and mean velocities."""

from __future__ import annotations

from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.data import Array, put_node, put_triple, triple
from tautline.kernels.jit import kernel
from tautline.kernels.loads.guide_motion import spooled_by_s
from tautline.kernels.network import data as net
from tautline.kernels.network.data import Body, Network, Strand, body_at
from tautline.kernels.rotation import attitude, mean_swing, mean_swing_along
from tautline.kernels.so3 import Matrix, Vector, add, apply, apply_transposed, cross, dot, scale, transpose


class End(NamedTuple):
    """An end of a string during a step."""

    body: Body
    R: Matrix  # of the body at the start of the step
    point: Vector  # in the body's frame
    v: Vector  # mean velocity
    swing: Vector  # (F - I) point/h, its part by the body's rotation in the body's frame at the start


@kernel
def matrix_in(x: Array, i: int) -> Matrix:
    return (triple(x, i), triple(x, i + 3), triple(x, i + 6))


@kernel
def put_matrix(x: Array, i: int, A: Matrix) -> None:
    put_triple(x, i, A[0])
    put_triple(x, i + 3, A[1])
    put_triple(x, i + 6, A[2])


@kernel
def end_of(network: Network, strand: Strand, e: int, h: float) -> End:
    """End e at the present guess of the unknowns."""
    return end_at(body_at(network.bodies, strand.ends[e]), strand.points[e], h)


@kernel
def end_at(body: Body, point: Vector, h: float) -> End:
    """A point of a body at the present guess of the unknowns."""
    R = matrix_in(body.work, net.TURNED)
    swing = mean_swing(h, triple(body.work, net.OMEGA_NOW), point)
    return End(body, R, point, add(triple(body.work, net.V_NOW), apply(R, swing)), swing)


@kernel
def wheel_end(network: Network, strand: Strand, h: float) -> End:
    """The center of the wheel at the start of a span, as an end."""
    return end_at(body_at(network.bodies, strand.ends[0]), strand.reeving.center, h)


@kernel
def swing_by_omega(end: End, h: float) -> Matrix:
    """R Phi: derivative of the end's mean velocity by the body's angular velocity."""
    omega = triple(end.body.work, net.OMEGA_NOW)
    columns = (
        mean_swing_along(h, omega, end.point, end.swing, (1.0, 0.0, 0.0)),
        mean_swing_along(h, omega, end.point, end.swing, (0.0, 1.0, 0.0)),
        mean_swing_along(h, omega, end.point, end.swing, (0.0, 0.0, 1.0)),
    )
    return transpose((apply(end.R, columns[0]), apply(end.R, columns[1]), apply(end.R, columns[2])))


@kernel
def point_of(body: Body, point: Vector) -> Vector:
    """Present place of a point of a body."""
    return add(triple(body.state, net.PLACE), apply(attitude(body.state), point))


@kernel
def place_ends(network: Network, strand: Strand) -> None:
    """Put the end nodes where their bodies are."""
    q = strand.nodes[data.POSITION]
    put_node(q, 0, point_of(body_at(network.bodies, strand.ends[0]), strand.points[0]))
    put_node(q, strand.par.N, point_of(body_at(network.bodies, strand.ends[1]), strand.points[1]))


@kernel
def moment_of(end: End, force: Vector) -> Vector:
    """Moment about the centre of mass of a force at the end, in the body's frame at the start of the step."""
    return cross(end.point, apply_transposed(end.R, force))


@kernel
def angular_velocity_about(strand: Strand, end: End) -> float:
    """d n.Omega: how fast the body's rotation alone winds the drum on it (m/s)."""
    return dot(strand.axis, triple(end.body.work, net.OMEGA_NOW))


@kernel
def spin_direction(strand: Strand, end: End, h: float) -> Vector:
    """n + c x n + c (c.n), times the drum's radius: where the drum's momentum of a step lies, c = h omega/2."""
    c = scale(0.5 * h, triple(end.body.work, net.OMEGA_NOW))
    return add(add(strand.axis, cross(c, strand.axis)), scale(dot(c, strand.axis), c))


@kernel
def spooled_slope(strand: Strand, s: float) -> Vector:
    """Slope by s of the first moment of a fixed or kinematic body's spooled string about its guide entrance (139).

    On a free body all of it is at the entrance.
    """
    if strand.has_reel and not strand.on_body:
        return spooled_by_s(strand.par, s)
    return (0.0 * s, 0.0 * s, 0.0 * s)
