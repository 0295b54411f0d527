"""From momenta to velocities: the equations of a step with h = 0 (docs/theory.md, "One step")."""

from __future__ import annotations

from tautline.kernels.arrow import factorise
from tautline.kernels.data import (
    HELD,
    HELD_SPEED,
    INVERSE,
    LOWER,
    MEAN_VELOCITY,
    NOT_HELD,
    P_S,
    POSITION,
    TARGET,
    Motion,
    Parameters,
    S,
    Scratch,
    clear_nodes,
)
from tautline.kernels.drum import holding
from tautline.kernels.energy import element_length
from tautline.kernels.entrance import Entrance
from tautline.kernels.fixed import momenta_with_kick, velocities_at_fixed_length
from tautline.kernels.jit import entry, separate
from tautline.kernels.newton import ZERO, Rates, Target, solve_rates
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import Vector


@entry
def rates_of(par: Parameters, locked: bool, motion: Motion, p_s: float, Pi: Vector, scratch: Scratch) -> Rates:
    """Inverse Legendre transform of the momenta in TARGET, p_s and Pi; node velocities into MEAN_VELOCITY.

    An entry, so that it is compiled once for all who ask for velocities.
    """
    s = motion.reel[S]
    R = attitude(motion.body)
    clear_nodes(scratch.nodes[MEAN_VELOCITY])
    if locked:
        factorise(par, element_length(par, s), scratch.factor[LOWER], scratch.factor[INVERSE])
        p = scratch.nodes[TARGET]
        omega, _ = velocities_at_fixed_length(par, 0.0, p, Pi, R, ZERO, scratch)
        return Rates(0.0, omega, 0.0)
    held = motion.reel[HELD] != NOT_HELD
    target = Target(p_s, Pi, Entrance(0.0, 0.0), holding(held))  # at h = 0 the guide has no part
    guess = Rates(motion.reel[HELD_SPEED] if held else 0.0, ZERO, 0.0)
    rates, _, _ = solve_rates(par, 0.0, s, motion.nodes[POSITION], R, target, guess, scratch)
    return rates


@separate
def velocities(par: Parameters, locked: bool, motion: Motion, scratch: Scratch) -> Rates:
    """Rates at the present momenta, a pending kick paid; node velocities into MEAN_VELOCITY."""
    Pi = momenta_with_kick(par, motion, scratch)
    return rates_of(par, locked, motion, motion.reel[P_S], Pi, scratch)
