"""Steps with a moving reel that are made again for the way back: under a torque and nothing else, or as prescribed.

`reeling.reel_before` and `reel_after` know all that can act on the drum, and keep accounts; to compile that once more
would take as long as all adjoints of a step.
"""

from __future__ import annotations

from tautline.kernels.compensated import accumulate
from tautline.kernels.data import (
    BY_PROFILE,
    H_BEFORE,
    H_EARLIER,
    H_LAST,
    HELD,
    HELD_SPEED,
    NOT_HELD,
    P_S,
    P_S_ERR,
    PRESCRIBED,
    SIGMA,
    SIGMA_BEFORE,
    SIGMA_EARLIER,
    Array,
    Command,
    Parameters,
    S,
)
from tautline.kernels.drum import AT_KNOT, holding, plain_drum
from tautline.kernels.entrance import Entrance
from tautline.kernels.fixed import bend_of, extrapolated, extrapolation
from tautline.kernels.guide import carnot_force
from tautline.kernels.jit import kernel
from tautline.kernels.newton import Rates
from tautline.kernels.reeling import ReelImpulses, reel_gradient
from tautline.kernels.reels import ReelStart
from tautline.kernels.stage import add_iterations, diverged, failed, make_reeling_step
from tautline.kernels.tables import curve_before, curve_increment


@kernel
def reel_begins(
    par: Parameters, command: Command, reel: Array, strain: float, force: float, h: float, start: float, end: float
) -> ReelStart:
    """Start the reel's part of a step, from the strain at the guide and -dV/ds at its start."""
    ahead = extrapolation(h, reel[H_LAST], reel[H_BEFORE])
    bend = bend_of(h, reel[H_LAST], reel[H_BEFORE], reel[H_EARLIER])
    p_s = reel[P_S] + 0.5 * h * force
    if command.kind == BY_PROFILE:
        drum, sigma = holding(True), curve_increment(command.profile.T, start, end) / h
    else:
        drum = plain_drum(par, command, start, end, reel[S])
        sigma = extrapolated(ahead, bend, reel[SIGMA], reel[SIGMA_BEFORE], reel[SIGMA_EARLIER])
        p_s += (1.0 - par.theta) * h * drum.motor
    return ReelStart(p_s, ahead, bend, sigma, Entrance(strain, 0.0), drum)


@kernel
def reel_ends(
    par: Parameters,
    command: Command,
    reel: Array,
    before: ReelStart,
    h: float,
    end: float,
    rates: Rates,
    pushes: ReelImpulses,
) -> None:
    """Give the reel its impulses; s is that of the end already."""
    sigma = rates.sigma
    h_start, h_end = (1.0 - par.theta) * h, par.theta * h
    dp_s = 0.5 * h * (pushes.force + pushes.force_end)
    dp_s += h * (pushes.gradient + reel_gradient(par, h, pushes.s, sigma))
    dp_s += h_start * carnot_force(par, before.at, sigma)[0]
    dp_s += h_end * carnot_force(par, Entrance(pushes.strain_end, 0.0), sigma)[0]
    if before.drum.plain:
        dp_s += h_start * before.drum.motor + h_end * plain_drum(par, command, end, end - h, reel[S]).motor
        reel[HELD] = NOT_HELD
    else:
        reel[HELD] = PRESCRIBED
        reel[HELD_SPEED] = curve_before(command.profile.T, end, AT_KNOT * abs(h))[1]
    accumulate(reel, P_S, P_S_ERR, dp_s, par.compensated)
    reel[SIGMA_EARLIER], reel[SIGMA_BEFORE], reel[SIGMA] = reel[SIGMA_BEFORE], reel[SIGMA], sigma
    reel[H_EARLIER], reel[H_BEFORE], reel[H_LAST] = reel[H_BEFORE], reel[H_LAST], h


step_forth = make_reeling_step(reel_begins, reel_ends, diverged, failed, add_iterations)
