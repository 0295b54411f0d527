"""Guide law `dissipative`: the energy of the jump is lost, whatever the direction (docs/theory.md, equation 16)."""

from __future__ import annotations

from tautline.kernels.data import Parameters
from tautline.kernels.entrance import Entrance, Partials, jump_partials, lost_in_jump, smooth_sign
from tautline.kernels.jit import inlined


@inlined
def force(par: Parameters, at: Entrance, sigma: float) -> tuple[float, float]:
    """Q = -sign(sigma) (mu sigma^2 strain^2/2 + loss of strain), and dQ/dsigma."""
    loss, slope = lost_in_jump(par, at.strain, sigma, sigma)
    sign, sign_slope = smooth_sign(par, sigma)
    return -sign * loss, -sign * slope - sign_slope * loss


@inlined
def partials(par: Parameters, at: Entrance, sigma: float) -> Partials:
    """Derivatives of Q."""
    sign, loss = smooth_sign(par, sigma)[0], lost_in_jump(par, at.strain, sigma, sigma)[0]
    x = jump_partials(par, at.strain, sigma, sigma)
    fading = sign * loss * par.sigma_0 / (sigma * sigma + par.sigma_0 * par.sigma_0)
    return Partials(-sign * x.by_strain, -sign * x.by_mu, -sign * x.by_stiffness, fading)


@inlined
def resists(par: Parameters, at: Entrance) -> bool:
    """Whether Q opposes the motion, so that the search for sigma needs a bracket: always."""
    return True
