"""Elastic law `tension_only`: as linear when stretched, slack when not (docs/theory.md, equation 70)."""

from __future__ import annotations

from tautline.kernels.data import Parameters
from tautline.kernels.jit import inlined


@inlined
def tension_and_energy(par: Parameters, strain: float) -> tuple[float, float]:
    """EA max(strain, 0) and EA max(strain, 0)^2/2."""
    taut = max(strain, 0.0)
    return par.EA * taut, 0.5 * par.EA * taut * taut
