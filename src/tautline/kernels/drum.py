"""Forces of the drum's motor, friction and stops on the reel coordinate s (docs/theory.md, equations 40 to 49)."""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline import registry
from tautline.kernels import data
from tautline.kernels.balance import book
from tautline.kernels.data import Array, Command, Parameters
from tautline.kernels.dispatch import dispatch, functions
from tautline.kernels.drive import mean_torque
from tautline.kernels.energy import radius, reel_mass
from tautline.kernels.entrance import Entrance
from tautline.kernels.fixed import extrapolation
from tautline.kernels.guide import LAST_CORRECTION, MAX_ITERATIONS, carnot_force, solve_with_carnot_force
from tautline.kernels.jit import kernel, separate
from tautline.kernels.tables import curve_before, curve_increment
from tautline.kernels.tangents import has_tangents, may_act


class Drum(NamedTuple):
    """Forces on s at one end of a step that depend on sigma or are bounded (N, N s/m, N s)."""

    plain: bool  # none of them: the motor's force is in the momentum already
    held: bool  # sigma is given
    motor: float  # at the target speed, before the limits
    damping: float  # of the controller
    target: float  # speed
    limit: float  # of the motor's force
    power: float  # of the motor
    drag: float  # viscous friction
    slip: float  # impulse of dry friction while the drum slips
    low: float  # impulses that friction and end stop can give while the drum stands still
    high: float


# (par, command, near, far, s): Drive at the near end of a step; torques are means over the step.
drive_at = kernel(dispatch(functions(registry.COMMANDS, "drive"), "command.kind"))
# (par, command, t, s): force of the motor as the command has it at a time.
commanded_force = kernel(dispatch(functions(registry.COMMANDS, "motor_force"), "command.kind"))

# Momentum that viscous friction takes from the drum in half a step, over its own: beyond, the drum glides.
STIFF_FRICTION = 0.1
# Part of a step within which its end is at a knot of a motion that is prescribed.
AT_KNOT = 1e-9


# Of an equation without any of this. A tuple of defaults, so that a Target can be made without a Drum.
PLAIN = Drum(True, False, 0.0, 0.0, 0.0, math.inf, math.inf, 0.0, 0.0, 0.0, 0.0)


@kernel
def holding(held: bool) -> Drum:
    """No forces of the drum; with sigma given or not."""
    return Drum(not held, held, 0.0, 0.0, 0.0, math.inf, math.inf, 0.0, 0.0, 0.0, 0.0)


@kernel
def is_plain(par: Parameters, command: Command, reel: Array) -> bool:
    """Whether the motor's force is all that acts on the drum, and does not depend on sigma."""
    friction = may_act(par.viscous) or may_act(par.coulomb)
    limits = par.max_torque < math.inf or par.max_power < math.inf
    held = reel[data.STOP] != 0.0 or reel[data.STICTION] != 0.0
    return command.kind == data.BY_TORQUE and not (friction or limits or held)


@kernel
def viscous_drag(par: Parameters, s: float) -> float:
    """Viscous friction over speed."""
    d = radius(par, s)
    return par.viscous / (d * d)


@kernel
def friction_at_end(par: Parameters, s: float, h: float) -> float:
    """Impulse over speed that viscous friction gives at the end of a step h; the rest is left to the next step.

    It takes no more there than the drum's own momentum: the speed would swing from step to step.
    """
    given = par.theta * h * viscous_drag(par, s)
    return min(given, reel_mass(par, s)[0]) if h > 0.0 else given


@kernel
def drum_at(
    par: Parameters,
    command: Command,
    near: float,
    far: float,
    s: float,
    h: float,
    drag: float,
    credit: float,
    stop: float,
) -> Drum:
    """The forces at the near end of a step; h is the part of the step that they act for there.

    `drag` is the viscous friction over speed, and `credit` what dry friction has not given at the end of the
    step before, because the drum stood still then.
    """
    drive = drive_at(par, command, near, far, s)
    d = radius(par, s)
    slip = abs(h) * (par.coulomb + drive.brake) / d + credit
    return Drum(
        False,
        drive.held,
        drive.motor,
        drive.damping,
        drive.target,
        par.max_torque / d,
        par.max_power,
        drag,
        slip,
        -math.inf if stop > 0.0 else -slip,
        math.inf if stop < 0.0 else slip,
    )


@kernel
def motor_force(drum: Drum, sigma: float) -> tuple[float, float]:
    """F_m and dF_m/dsigma, within the limits of torque and power (equation 46)."""
    return bounded_force(drum, drum.motor - drum.damping * (sigma - drum.target), sigma)


@kernel
def bounded_force(drum: Drum, force: float, sigma: float) -> tuple[float, float]:
    """A force of the motor within its limits, and its rate by sigma."""
    size = abs(force)
    speed = abs(sigma)
    if size <= drum.limit and size * speed <= drum.power:
        return force, -drum.damping
    sign = math.copysign(1.0, force)
    if drum.limit * speed <= drum.power:
        return sign * drum.limit, 0.0
    return sign * drum.power / speed, -sign * math.copysign(1.0, sigma) * drum.power / (speed * speed)


@kernel
def friction_impulse(drum: Drum, sigma: float, h: float) -> float:
    """Impulse of friction on a drum that moves; the dry part at standstill is not known here and counted as zero."""
    if sigma == 0.0:
        return 0.0
    return -h * drum.drag * sigma - math.copysign(drum.slip, h * sigma)


@kernel
def reel_imbalance(
    par: Parameters, drum: Drum, at: Entrance, h: float, pivot: float, left: float, sigma: float, x: float
) -> tuple[float, float]:
    """Imbalance of the reel's row at sigma + x, with its slope (equation 44); dry friction is in `left`."""
    force, slope = motor_force(drum, sigma + x)
    force -= drum.drag * (sigma + x)
    slope -= drum.drag
    Q, Q_slope = carnot_force(par, at, sigma + x)
    force += Q
    slope += Q_slope
    return pivot * x - left - h * force, pivot - h * slope


@kernel
def solve_own_row(
    par: Parameters, drum: Drum, at: Entrance, sigma: float, h: float, pivot: float, left: float
) -> tuple[float, float]:
    """Correction of sigma, all else eliminated, and the impulse of whatever leads, holds or rubs the drum."""
    if drum.plain:
        return solve_with_carnot_force(par, at, sigma, h, pivot, left), 0.0
    return solve_driven_row(par, drum, at, sigma, h, pivot, left)


@separate
def solve_driven_row(
    par: Parameters, drum: Drum, at: Entrance, sigma: float, h: float, pivot: float, left: float
) -> tuple[float, float]:
    """Correction of sigma and impulse with the forces of `drum` (equation 44).

    Compiled apart from the step, which seldom needs it.
    For h > 0 the row is monotone in sigma. At standstill dry friction and end stops give any impulse between
    `low` and `high`: if the one needed is among them the drum stands still, and sigma is 0 exactly. If not, its
    sign says which way the drum slips, and the standstill bounds the search on that side.
    """
    if drum.held:
        return 0.0, -left - h * carnot_force(par, at, sigma)[0]
    low = -math.inf
    high = math.inf
    impulse = 0.0
    x = -sigma
    for iteration in range(MAX_ITERATIONS):
        error, slope = reel_imbalance(par, drum, at, h, pivot, left + impulse, sigma, x)
        if iteration == 0:
            if drum.low < drum.high and drum.low <= error <= drum.high:
                return -sigma, error
            # below `low` the drum has to be held back from retrieving, above `high` from paying out
            impulse = math.copysign(drum.slip, error)
            error -= impulse
        if error > 0.0:
            high = min(high, x)
        else:
            low = max(low, x)
        before = x
        x -= error / slope
        if h > 0.0 and not low <= x <= high:
            x = 0.5 * (low + high) if high - low < math.inf else before - error / pivot
        if abs(x - before) <= LAST_CORRECTION * abs(sigma + x):
            break
    if has_tangents(x):
        error, slope = reel_imbalance(par, drum, at, h, pivot, left + impulse, sigma, x)
        x -= error / slope
    return x, impulse


@kernel
def plain_drum(par: Parameters, command: Command, near: float, far: float, s: float) -> Drum:
    """A torque and nothing else, at the near end of a step."""
    force = mean_torque(par, command, near, far) / radius(par, s)
    return Drum(True, False, force, 0.0, 0.0, math.inf, math.inf, 0.0, 0.0, 0.0, 0.0)


@separate
def drum_before(
    par: Parameters, command: Command, reel: Array, h: float, start: float, end: float
) -> tuple[Drum, float, float]:
    """At the start of a step h from `start` to `end`: the forces, the mean speed if it is given, and known impulses.

    This and `drum_after` are entries, so that the step does not contain what it seldom needs.
    """
    h_start = (1.0 - par.theta) * h
    drag = viscous_drag(par, reel[data.S])
    if reel[data.HELD] == data.GLIDING:
        last = reel[data.H_LAST]
        drag += (par.theta * last * drag - friction_at_end(par, reel[data.S], last)) / h_start
    drum = drum_at(par, command, start, end, reel[data.S], h_start, drag, reel[data.STICTION], reel[data.STOP])
    if not drum.held:
        return drum, 0.0, 0.0
    sigma = curve_increment(command.profile.T, start, end) / h
    return drum, sigma, friction_impulse(drum, sigma, h_start)


@separate
def drum_after(
    par: Parameters, command: Command, reel: Array, drum: Drum, h: float, end: float, sigma: float, impulse: float
) -> float:
    """At the end of a step h: book work and loss (equation 49), note how the reel is held; the impulse of the drum."""
    h_start = (1.0 - par.theta) * h
    h_end = par.theta * h
    s = reel[data.S]
    d = radius(par, s)
    before = reel[data.SIGMA]
    at_end = friction_at_end(par, s, h)
    drag = at_end / h_end if h_end != 0.0 else 0.0
    then = drum_at(par, command, end, end - h, s, h_end, drag, 0.0, 0.0)
    mean = 0.5 * (before + sigma)
    if drum.held:
        rub = friction_impulse(drum, sigma, h_start) + friction_impulse(then, sigma, h_end)
        book(par, reel, data.CONTROL_WORK, impulse * mean)
        book(par, reel, data.FRICTION_LOSS, -rub * sigma)
        if h + reel[data.H_LAST] != 0.0:
            reel[data.TORQUE] = impulse * d / (0.5 * (h + reel[data.H_LAST]))
        reel[data.HELD] = data.PRESCRIBED
        # where the motion jumps at the end of the step, the step still has the motion before the jump
        _, reel[data.HELD_SPEED], reel[data.HELD_ACCELERATION] = curve_before(command.profile.T, end, AT_KNOT * abs(h))
        return impulse + rub
    pull = h_start * motor_force(drum, sigma)[0] + h_end * motor_force(then, sigma)[0]
    rub = friction_impulse(then, sigma, h_end) - h_start * drum.drag * sigma
    stuck = sigma == 0.0 and drum.low < drum.high
    # what acts across the step boundary works at the mean of their speeds
    boundary = impulse if stuck else math.copysign(reel[data.STICTION], impulse)
    loss = -rub * sigma - (impulse - boundary) * sigma - boundary * mean
    book(par, reel, data.CONTROL_WORK, pull * sigma)
    book(par, reel, data.FRICTION_LOSS, loss)
    # the mean speed belongs to the middle of the step, what is reported to its end
    sigma_end = sigma + extrapolation(0.0, h, reel[data.H_LAST]) * (sigma - before)
    motor = commanded_force(par, command, end, s)
    motor -= then.damping * (sigma_end - then.target)
    reel[data.TORQUE] = bounded_force(then, motor, sigma_end)[0] * d
    # half of the friction's impulse is still to come: where that is much, the momentum says nothing of the speed
    glides = at_end > STIFF_FRICTION * reel_mass(par, s)[0]
    reel[data.HELD] = data.STUCK if stuck else data.GLIDING if glides else data.NOT_HELD
    reel[data.HELD_SPEED] = sigma_end if glides and not stuck else 0.0
    reel[data.HELD_ACCELERATION] = 0.0
    reel[data.STICTION] = then.slip if stuck else 0.0
    if not stuck:
        reel[data.STOP] = 0.0
    return pull + rub + impulse
