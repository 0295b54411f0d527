"""Guide law `published`: the paper's formula, that of retrieval in both directions (docs/theory.md, equation 16)."""

from __future__ import annotations

from tautline.kernels.data import Parameters
from tautline.kernels.entrance import Entrance, Partials, jump_partials, lost_in_jump
from tautline.kernels.jit import inlined


@inlined
def force(par: Parameters, at: Entrance, sigma: float) -> tuple[float, float]:
    """Q = -(mu sigma^2 strain^2/2 + loss of strain), and dQ/dsigma; in deployment it adds energy."""
    loss, slope = lost_in_jump(par, at.strain, sigma, 1.0)
    return -loss, -slope


@inlined
def partials(par: Parameters, at: Entrance, sigma: float) -> Partials:
    """Derivatives of Q."""
    x = jump_partials(par, at.strain, sigma, 1.0)
    return Partials(-x.by_strain, -x.by_mu, -x.by_stiffness, 0.0)
