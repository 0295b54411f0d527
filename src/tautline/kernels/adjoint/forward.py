"""Steps with a moving reel that are made again for the reverse pass: a torque on a drum that slips, or a given motion.

`reeling.reel_before` and `reel_after` know all that can act on the drum, and keep accounts: here that would only take
longer to compile.
"""

from __future__ import annotations

import math

from tautline.kernels import data
from tautline.kernels.compensated import accumulate
from tautline.kernels.data import Array, Command, Parameters
from tautline.kernels.drive import mean_torque
from tautline.kernels.drum import AT_KNOT, STIFF_FRICTION, Drum, friction_at_end, friction_impulse, holding
from tautline.kernels.energy import reel_mass
from tautline.kernels.entrance import Entrance
from tautline.kernels.fixed import bend_of, extrapolated, extrapolation
from tautline.kernels.guide import carnot_force
from tautline.kernels.jit import kernel
from tautline.kernels.newton import Rates
from tautline.kernels.reeling import ReelImpulses, keep_speed, reel_gradient
from tautline.kernels.reels import ReelStart
from tautline.kernels.stage import add_iterations, diverged, failed, make_reeling_step
from tautline.kernels.tables import curve_before, curve_increment


@kernel
def drum_under_torque(par: Parameters, command: Command, near: float, far: float, h: float) -> Drum:
    """A torque and friction at the near end of a step; h is the part of the step that they act for there."""
    force = mean_torque(par, command, near, far) / par.d
    slip = abs(h) * par.coulomb / par.d
    plain = par.viscous == 0.0 and par.coulomb == 0.0
    drag = par.viscous / (par.d * par.d)
    return Drum(plain, False, force, 0.0, 0.0, math.inf, math.inf, drag, slip, -slip, slip)


@kernel
def reel_begins(
    par: Parameters, command: Command, reel: Array, strain: float, force: float, h: float, start: float, end: float
) -> ReelStart:
    """Start the reel's part of a step, from the strain at the guide and -dV/ds at its start."""
    ahead = extrapolation(h, reel[data.H_LAST], reel[data.H_BEFORE])
    bend = bend_of(h, reel[data.H_LAST], reel[data.H_BEFORE], reel[data.H_EARLIER])
    p_s = reel[data.P_S] + 0.5 * h * force
    if command.kind == data.BY_PROFILE:
        drum, sigma = holding(True), curve_increment(command.profile.T, start, end) / h
    else:
        h_start = (1.0 - par.theta) * h
        drum = drum_under_torque(par, command, start, end, h_start)
        sigma = extrapolated(ahead, bend, reel[data.SIGMA], reel[data.SIGMA_BEFORE], reel[data.SIGMA_EARLIER])
        p_s += h_start * drum.motor if drum.plain else 0.0
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
    if before.drum.held:
        reel[data.HELD] = data.PRESCRIBED
        reel[data.HELD_SPEED] = curve_before(command.profile.T, end, AT_KNOT * abs(h))[1]
    else:
        then = drum_under_torque(par, command, end, end - h, h_end)
        dp_s += h_start * before.drum.motor + h_end * then.motor + rates.impulse
        dp_s += friction_impulse(then, sigma, h_end) - h_start * before.drum.drag * sigma
        stuck = sigma == 0.0 and before.drum.slip > 0.0
        glides = friction_at_end(par, reel[data.S], h) > STIFF_FRICTION * reel_mass(par, reel[data.S])[0]
        reel[data.HELD] = data.STUCK if stuck else data.GLIDING if glides else data.NOT_HELD
    accumulate(reel, data.P_S, data.P_S_ERR, dp_s, par.compensated)
    keep_speed(reel, sigma, h)


stage_forward, _ = make_reeling_step(reel_begins, reel_ends, diverged, failed, add_iterations)


@kernel
def can_be_taken_back(reel: Array) -> bool:
    """Whether the drum neither sticks nor glides: that has no adjoint."""
    return bool(reel[data.HELD] == data.NOT_HELD or reel[data.HELD] == data.PRESCRIBED)
