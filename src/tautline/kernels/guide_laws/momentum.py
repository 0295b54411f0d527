"""Guide law `momentum`: keeps the momentum along the string (docs/theory.md, equation 60). Linear strings only."""

from __future__ import annotations

from tautline.kernels.data import Parameters
from tautline.kernels.entrance import Entrance, Partials
from tautline.kernels.jit import inlined


@inlined
def force(par: Parameters, at: Entrance, sigma: float) -> tuple[float, float]:
    """Q = (EA - mu sigma^2) strain^2/2, and dQ/dsigma."""
    half_strain2 = 0.5 * at.strain * at.strain
    return (par.EA - par.mu * sigma * sigma) * half_strain2, -(2.0 * par.mu * sigma * half_strain2)


@inlined
def partials(par: Parameters, at: Entrance, sigma: float) -> Partials:
    """Derivatives of Q."""
    half_strain2 = 0.5 * at.strain * at.strain
    by_strain = (par.EA - par.mu * sigma * sigma) * at.strain
    return Partials(by_strain, -sigma * sigma * half_strain2, half_strain2, 0.0)
