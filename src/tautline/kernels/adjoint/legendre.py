"""Adjoint of momenta as velocities give them (docs/theory.md, (B8))."""

from __future__ import annotations

from tautline.kernels.adjoint import data as adjoint
from tautline.kernels.adjoint.body import body_after
from tautline.kernels.adjoint.data import Adjoint
from tautline.kernels.adjoint.kinetic import Direction, kinetic_back
from tautline.kernels.adjoint.reeling import Stage
from tautline.kernels.data import Array, Parameters, add_triple, node
from tautline.kernels.jit import kernel
from tautline.kernels.so3 import ZERO, Vector, dot, scale


@kernel
def body_energy_back(par: Parameters, at: Stage, dv_N: Vector, domega: Vector, out: Adjoint) -> None:
    """The body's part of `legendre_back`."""
    v_N = node(at.v, par.N)
    out.numbers[adjoint.BY_M] += dot(dv_N, v_N)
    if par.rotates:
        minus = scale(-1.0, dv_N), scale(-1.0, domega)
        bar, _ = body_after(par, 0.0, at.R, v_N, at.omega, minus[0], minus[1], ZERO, ZERO, out.numbers)
        add_triple(out.body, adjoint.ATTITUDE_BAR, bar)


@kernel
def legendre_back(par: Parameters, at: Stage, dv: Array, dsigma: float, domega: Vector, out: Adjoint) -> None:
    """Adjoint of the derivative of the kinetic energy along given rates: adds those by configuration and parameters."""
    kinetic_back(par, 0.0, at.s, at.q, at.v, at.sigma, Direction(dv, dsigma, dv, 0.0, dv, 0.0), out)
    body_energy_back(par, at, node(dv, par.N), domega, out)
