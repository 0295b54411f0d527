"""Friction of ropes on sheaves and pins, and the speed of a sheave with it (docs/theory.md, "Sheaves and pins")."""

from __future__ import annotations

import math
from typing import NamedTuple

from tautline.kernels import data
from tautline.kernels.data import Array, node
from tautline.kernels.drum import motor_force
from tautline.kernels.energy import element_length
from tautline.kernels.entrance import Entrance
from tautline.kernels.guide import LAST_CORRECTION, MAX_ITERATIONS, carnot_force
from tautline.kernels.jit import kernel, separate
from tautline.kernels.network import data as net
from tautline.kernels.network.data import Friction, Network, Strand, strand_at
from tautline.kernels.network.spans import retracted
from tautline.kernels.reels import ReelStart
from tautline.kernels.so3 import Vector, add_scaled, cross, dot, scale, sub
from tautline.kernels.tangents import has_tangents, values_of

NO_FRICTION, EFFICIENCY, BEARING, PIN = range(4)
# Names of the laws in the order of their numbers.
LAWS = ("none", "efficiency", "bearing", "pin")
# Largest factor m with s ((1 + s) + m (1 - s))/2 <= 1 for all s from 0 to 1.
MOST_OF_OTHER = 3.0


class Rub(NamedTuple):
    """Friction of a rope at one configuration: -sg [up (forward - forward_mass a^2) + dn (backward - ...)].

    Each bracket is at least 0; sg = a/sqrt(a^2 + alpha_0^2), up = (1 + sg)/2, dn = (1 - sg)/2. The bracket of the
    direction in which the rope does not move, which only the smoothed sign mixes in, counts as MOST_OF_OTHER times the
    other at most. So a rope that creeps has no more friction than one that runs.
    """

    forward: float
    backward: float
    forward_mass: float
    backward_mass: float


class Side(NamedTuple):
    """A rope where it meets a wheel: tension there, at least 0, direction along the rope, stretch."""

    tension: float
    along: Vector
    stretch: float


@kernel
def pull_in(strand: Strand, i: int) -> tuple[float, Vector, float]:
    """Tension of element i, its unit vector and its stretch."""
    q = strand.nodes[data.POSITION]
    w = sub(node(q, i + 1), node(q, i))
    size = math.sqrt(dot(w, w))
    stretch = size / element_length(strand.par, retracted(strand))
    return strand.scratch.nodes[data.PULL][i] * size, scale(1.0 / size, w), stretch


@kernel
def side_of(strand: Strand, at_stop: bool) -> Side:
    """The rope at the start or stop of a span: the tension there is on the line through those of two elements."""
    N = strand.par.N
    near = N - 1 if at_stop else 0
    far = max(N - 2, 0) if at_stop else min(1, N - 1)
    tension, along, stretch = pull_in(strand, near)
    return Side(max(1.5 * tension - 0.5 * pull_in(strand, far)[0], 0.0), along, stretch)


@separate
def rub_of(network: Network, k: int) -> Rub:
    """Friction at the sheave or pin of string k, at the present configuration."""
    reeving = strand_at(network.strands, k).reeving
    return rub_at(network, reeving.span, reeving.friction)


@separate
def rub_at(network: Network, k: int, friction: Friction) -> Rub:
    """Friction between spans k - 1 and k, at the present configuration."""
    strand = strand_at(network.strands, k)
    before, behind = side_of(strand_at(network.strands, k - 1), True), side_of(strand, False)
    return rub_between(friction, strand.par.mu, before, behind)


@kernel
def angle_of(y: float, x: float) -> float:
    """atan2(y, x), and its tangents."""
    v, u = values_of(y), values_of(x)
    return math.atan2(v, u) + (u * (y - v) - v * (x - u)) / (u * u + v * v)


@kernel
def growth_of(x: float) -> float:
    """exp(x) - 1, and its tangents."""
    grown = math.expm1(values_of(x))
    return grown + (grown + 1.0) * (x - values_of(x))


@kernel
def rub_between(friction: Friction, mu: float, before: Side, behind: Side) -> Rub:
    """Friction between the rope that comes to a wheel from its start side, and the one behind it."""
    x = friction.coefficient
    if friction.law == EFFICIENCY:
        return Rub(x * before.tension, x * behind.tension, 0.0, 0.0)
    if friction.law == BEARING:
        load = add_scaled(scale(before.tension, before.along), -behind.tension, behind.along)
        return Rub(x * math.sqrt(dot(load, load)), x * math.sqrt(dot(load, load)), 0.0, 0.0)
    across = cross(before.along, behind.along)
    angle = angle_of(math.sqrt(dot(across, across)), dot(before.along, behind.along)) + friction.turns
    grip = growth_of(x * angle)
    return Rub(grip * behind.tension, grip * before.tension, grip * mu * behind.stretch, grip * mu * before.stretch)


@kernel
def rub_force(rub: Rub, alpha_0: float, alpha: float) -> tuple[float, float]:
    """Q and dQ/dalpha."""
    norm = math.sqrt(alpha * alpha + alpha_0 * alpha_0)
    sg = alpha / norm
    slope = alpha_0 * alpha_0 / (norm * norm * norm)
    forward, backward = rub.forward - rub.forward_mass * alpha * alpha, rub.backward - rub.backward_mass * alpha * alpha
    forward_slope, backward_slope = -2.0 * rub.forward_mass * alpha, -2.0 * rub.backward_mass * alpha
    if forward <= 0.0:
        forward, forward_slope = 0.0, 0.0
    if backward <= 0.0:
        backward, backward_slope = 0.0, 0.0
    if alpha >= 0.0 and backward > MOST_OF_OTHER * forward:
        backward, backward_slope = MOST_OF_OTHER * forward, MOST_OF_OTHER * forward_slope
    elif alpha <= 0.0 and forward > MOST_OF_OTHER * backward:
        forward, forward_slope = MOST_OF_OTHER * backward, MOST_OF_OTHER * backward_slope
    up, dn = 0.5 * (1.0 + sg), 0.5 * (1.0 - sg)
    size = up * forward + dn * backward
    size_slope = 0.5 * slope * (forward - backward) + up * forward_slope + dn * backward_slope
    return -sg * size, -slope * size - sg * size_slope


@kernel
def is_unique(rub: Rub, alpha_0: float, alpha: float, h: float, pivot: float) -> bool:
    """Whether a solution alpha is the only one; stages of orders 4 and 6 that go back in time may have three.

    Where friction is too steep for h, the others are slower than what it makes of a rope in the stage.
    """
    most = -h * max(rub.forward, rub.backward)
    return bool(most < pivot * alpha_0 or 2.0 * most < pivot * abs(alpha))


@kernel
def put_rub(work: Array, i: int, rub: Rub) -> None:
    for j in range(4):
        work[i + j] = rub[j]


@kernel
def rub_in(work: Array, i: int) -> Rub:
    return Rub(work[i], work[i + 1], work[i + 2], work[i + 3])


@separate
def guides_on_shaft(network: Network, lead: int, sigma: float) -> tuple[float, float]:
    """Forces of the guides of other drums on the shaft of string `lead` on its reel coordinate, and their slope.

    At the strains of the start of a step, or that `note_guides` has found since. The speed of each drum is its factor
    times sigma, and so its force on s counts.
    """
    force, slope = 0.0 * sigma, 0.0 * sigma
    for k in range(len(network.strands)):
        strand = strand_at(network.strands, k)
        if k != lead and strand.has_reel and strand.reeving.feeds[0] == lead:
            factor = strand.reeving.factors[0]
            at = Entrance(strand.work[net.STRAIN], 0.0 * sigma)
            Q, Q_slope = carnot_force(strand.reeving.par, at, factor * sigma)
            force += factor * Q
            slope += factor * factor * Q_slope
    return force, slope


@kernel
def resistance_of(network: Network, strand: Strand, at: Entrance, alpha: float) -> tuple[float, float]:
    """Friction of a sheave or pin, or forces of all guides on the shaft of a drum; and the slope by the speed."""
    friction = strand.reeving.friction
    if friction.law != NO_FRICTION:
        return rub_force(rub_in(strand.work, net.RUB), friction.alpha_0, alpha)
    Q, slope = carnot_force(strand.reeving.par, at, alpha)
    others, others_slope = guides_on_shaft(network, strand.number, alpha)
    return Q + others, slope + others_slope


@kernel
def force_at(network: Network, strand: Strand, start: ReelStart, speed: float) -> tuple[float, float]:
    """Force of resistance, motor and drag on a sheave or shaft at a speed, and its slope."""
    drum = start.drum
    force, slope = resistance_of(network, strand, start.at, speed)
    if not drum.plain:
        motor, motor_slope = motor_force(drum, speed)
        force += motor - drum.drag * speed
        slope += motor_slope - drum.drag
    return force, slope


@separate
def solve_resisted_row(
    network: Network, strand: Strand, start: ReelStart, h: float, pivot: float, left: float
) -> tuple[float, float]:
    """Correction of the speed of a sheave, or of a drum on a shaft with others, all else eliminated.

    With the impulse of what leads, holds or brakes the wheel.

    As in drum.solve_driven_row Newton's method is kept in a bracket for h > 0: the smoothed sign of friction would make
    it jump to and fro where the rope sticks. Where there may be other solutions, none is given.
    """
    drum, sigma, rubs = start.drum, strand.work[net.SIGMA_NOW], strand.reeving.friction.law != NO_FRICTION
    alpha_0 = strand.reeving.friction.alpha_0 if rubs else strand.reeving.par.sigma_0
    if drum.held:
        return 0.0 * sigma, -left - h * resistance_of(network, strand, start.at, sigma)[0]
    low, high, impulse, x = -math.inf, math.inf, 0.0, 0.0 * sigma
    if not drum.plain or drum.low < drum.high or drum.slip > 0.0:  # derivatives by a friction of 0 are not 0
        still = resistance_of(network, strand, start.at, 0.0 * sigma)[0]
        still += 0.0 if drum.plain else motor_force(drum, 0.0 * sigma)[0]
        error = -pivot * sigma - left - h * still
        if drum.low < drum.high and drum.low <= error <= drum.high:
            return -sigma, error
        impulse = math.copysign(drum.slip, error)
    for _ in range(MAX_ITERATIONS):
        force, slope = force_at(network, strand, start, sigma + x)
        error = pivot * x - left - impulse - h * force
        if error > 0.0:
            high = min(high, x)
        else:
            low = max(low, x)
        before = x
        x -= error / (pivot - h * slope)
        if h > 0.0 and not low <= x <= high:
            x = 0.5 * (low + high) if high - low < math.inf else before - error / pivot
        if abs(x - before) <= LAST_CORRECTION * (abs(sigma + x) + alpha_0):
            break
    if rubs and not is_unique(rub_in(strand.work, net.RUB), alpha_0, sigma + x, h, pivot):
        return math.nan * x, impulse
    if has_tangents(x):
        force, slope = force_at(network, strand, start, sigma + x)
        x -= (pivot * x - left - impulse - h * force) / (pivot - h * slope)
    return x, impulse
