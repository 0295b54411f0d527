"""Guide law `none`: no force beside that of the variational principle (docs/theory.md, equation 13)."""

from __future__ import annotations

from tautline.kernels.data import Parameters
from tautline.kernels.entrance import Entrance, Partials
from tautline.kernels.jit import inlined


@inlined
def force(par: Parameters, at: Entrance, sigma: float) -> tuple[float, float]:
    """Q = 0: energy is kept, the conservative limit."""
    return 0.0, 0.0


@inlined
def partials(par: Parameters, at: Entrance, sigma: float) -> Partials:
    """Derivatives of Q."""
    return Partials(0.0, 0.0, 0.0, 0.0)
