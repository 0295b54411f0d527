"""From momenta to velocities: the equations of a step with h = 0 (docs/theory.md, "One step")."""

from __future__ import annotations

from tautline.kernels import data
from tautline.kernels.data import Motion, Parameters, Scratch, clear_nodes
from tautline.kernels.drum import Drum, holding
from tautline.kernels.energy import element_length
from tautline.kernels.fixed import momenta_with_kick, velocities_at_fixed_length
from tautline.kernels.jit import inlined, separate
from tautline.kernels.lanes import select, zero_like
from tautline.kernels.newton import Equations, Rates, Target, solve_rates
from tautline.kernels.reels import NO_ENTRANCE
from tautline.kernels.rotation import attitude
from tautline.kernels.so3 import Vector
from tautline.kernels.tridiagonal import factorise


@inlined
def rates_at_fixed_length(par: Parameters, motion: Motion, Pi: Vector, scratch: Scratch) -> Rates:
    """Inverse Legendre transform of the momenta in TARGET and Pi, with the reel locked."""
    s = motion.reel[data.S]
    nothing = zero_like(s)
    clear_nodes(scratch.nodes[data.MEAN_VELOCITY])
    factorise(par, element_length(par, s), scratch.factor[data.LOWER], scratch.factor[data.INVERSE])
    p = scratch.nodes[data.TARGET]
    guess = (nothing, nothing, nothing)
    omega, _ = velocities_at_fixed_length(par, 0.0, p, Pi, attitude(motion.body), guess, scratch)
    return Rates(nothing, omega, nothing)


@inlined
def rates_with_reel(par: Parameters, motion: Motion, p_s: float, Pi: Vector, drum: Drum, scratch: Scratch) -> Rates:
    """Inverse Legendre transform of the momenta in TARGET, p_s and Pi; `drum` says whether the speed is given."""
    reel = motion.reel
    nothing = zero_like(p_s)
    clear_nodes(scratch.nodes[data.MEAN_VELOCITY])
    sigma = select(reel[data.HELD] != data.NOT_HELD, reel[data.HELD_SPEED], nothing)
    guess = Rates(sigma, (nothing, nothing, nothing), nothing)
    target = Target(p_s, Pi, NO_ENTRANCE, drum)
    q, p = motion.nodes[data.POSITION], scratch.nodes[data.TARGET]
    equations = Equations(0.0, reel[data.S], q, p, 0.0, attitude(motion.body), target)
    rates, _, _ = solve_rates(par, equations, guess, scratch)
    return rates


@separate
def rates_of(par: Parameters, locked: bool, motion: Motion, p_s: float, Pi: Vector, scratch: Scratch) -> Rates:
    """Inverse Legendre transform of the momenta in TARGET, p_s and Pi; node velocities into MEAN_VELOCITY."""
    if locked:
        return rates_at_fixed_length(par, motion, Pi, scratch)
    return rates_with_reel(par, motion, p_s, Pi, holding(motion.reel[data.HELD] != data.NOT_HELD), scratch)


@separate
def velocities(par: Parameters, locked: bool, motion: Motion, scratch: Scratch) -> Rates:
    """Rates at the present momenta, a pending kick paid; node velocities into MEAN_VELOCITY."""
    Pi = momenta_with_kick(par, motion, scratch)
    return rates_of(par, locked, motion, motion.reel[data.P_S], Pi, scratch)
