"""The guide entrance: strains on its two sides, and what guide laws have in common (docs/theory.md, "The guide")."""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.data import Parameters
from tautline.kernels.elastic import elastic_partials, tension_and_energy
from tautline.kernels.jit import inlined, kernel, separate


class Entrance(NamedTuple):
    """Strains on the two sides of the guide entrance."""

    strain: float  # outside
    spooled: float  # inside; 0 unless the law remembers it


class Partials(NamedTuple):
    """Derivatives of the force Q of a guide law, or of the energy that a unit of length loses."""

    by_strain: float
    by_mu: float
    by_stiffness: float
    by_sigma_0: float


@kernel
def smooth_sign(par: Parameters, sigma: float) -> tuple[float, float]:
    """sigma/sqrt(sigma^2 + sigma_0^2), the direction of the reel faded out at standstill, and its slope."""
    norm = math.sqrt(sigma * sigma + par.sigma_0 * par.sigma_0)
    return sigma / norm, par.sigma_0 * par.sigma_0 / (norm * norm * norm)


@separate
def strain_loss(par: Parameters, strain: float, inwards: float) -> float:
    """Energy that a unit of length loses with its strain: W - F(0) strain coming in, F strain - W going out.

    The side that the string goes to takes it at its own tension (equation 16). Of any elastic law; compiled on its own,
    since where F is linear both are EA strain^2/2.
    """
    tension, energy = tension_and_energy(par, strain)
    if inwards >= 0.0:
        return energy - tension_and_energy(par, 0.0)[0] * strain
    return tension * strain - energy


@inlined
def lost_in_jump(par: Parameters, strain: float, sigma: float, inwards: float) -> tuple[float, float]:
    """Energy that a unit of length loses by impact and by its strain (equation 16), and the slope by sigma.

    It comes in unless `inwards` is negative.
    """
    half_strain2 = 0.5 * strain * strain
    slope = 2.0 * par.mu * sigma * half_strain2
    by_strain = 0.5 * par.EA * strain * strain if par.elastic_law == data.LINEAR else strain_loss(par, strain, inwards)
    return par.mu * sigma * sigma * half_strain2 + by_strain, slope


@kernel
def jump_partials(par: Parameters, strain: float, sigma: float, inwards: float) -> Partials:
    """Derivatives of the loss of `lost_in_jump`, of a string whose tension is EA times a function of the strain."""
    energy, tension, slope = elastic_partials(par, strain)
    by_stiffness, by_strain = tension * strain - energy, slope * strain
    if inwards >= 0.0:
        at_guide = elastic_partials(par, 0.0)[1]
        by_stiffness, by_strain = energy - at_guide * strain, tension - at_guide
    by_impact = par.mu * sigma * sigma * strain
    return Partials(by_impact + par.EA * by_strain, 0.5 * sigma * sigma * strain * strain, by_stiffness, 0.0)
