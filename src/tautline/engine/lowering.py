"""From what the user says to what the kernels take: parameters, plan, command, initial motion, and back to words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tautline import registry
from tautline.errors import InputError
from tautline.kernels import data
from tautline.kernels.compose import COMPOSITIONS
from tautline.kernels.limits import RESOLVED_FORCE_LAW, Limits
from tautline.model import checks, refusals
from tautline.model.checks import ZERO
from tautline.model.command import Command, Drum
from tautline.model.command import check_command as command_for_reel
from tautline.model.fluid import Fluid
from tautline.model.profile import Span
from tautline.model.reel import Reel
from tautline.model.run import Method
from tautline.model.string import String

SCHEMES = {"symmetric": 0.5, "paper": 0.0}
# Parts of the stability limit. Accuracy goes before stability does (docs/theory.md, "Stability").
LARGEST_RATIO = 0.9
AUTO_RATIO = 0.5
# "auto" also keeps step * (frequency of the fundamental stretching mode) below this: 126 steps a period.
AUTO_RESOLUTION = 0.05
# Default end of a retrieval, as a part of the length deployed at the start.
MINIMUM_LENGTH = 0.01


def line_parameters(string: String, reel: Reel, elements: int, scheme: str, compensated: bool) -> data.Parameters:
    """Parameters of a string and its reel alone, without weight and body."""
    return data.Parameters(
        N=elements,
        L=string.length,
        mu=string.density,
        EA=string.stiffness,
        kappa=reel.turning_mass,
        d=reel.drum_radius,
        b=reel.guide_length,
        r_p=reel.guide_position,
        M=0.0,
        J=(ZERO, ZERO, ZERO),
        rho=ZERO,
        mu_g=0.0,
        weight=0.0,
        weight_rho=ZERO,
        elastic_law=data.code(registry.ELASTIC_LAWS, string.law),
        tension_table=_tension_table(string),
        viscosity=string.viscosity,
        law=guide_law_code(reel),
        sigma_0=reel.smoothing_speed,
        extrapolated=reel.guide_strain == "extrapolated" and elements > 1,
        theta=SCHEMES[scheme],
        rotates=False,
        compensated=compensated,
        viscous=reel.viscous_friction,
        coulomb=reel.coulomb_friction,
        max_torque=np.inf if reel.max_torque is None else reel.max_torque,
        max_power=np.inf if reel.max_power is None else reel.max_power,
        growth=reel.layer_growth,
    )


def guide_law_code(reel: Reel) -> int:
    """Number by which the kernels know the guide law of a reel."""
    return data.code(registry.GUIDE_LAWS, reel.guide_law)


def _tension_table(string: String) -> data.Array:
    """Knots of the strain, and coefficients of the elastic energy per length beyond each, constant first."""
    if string.law != "table":
        return np.zeros((6, 1))
    knots, tension = string.pieces()
    energy = [string.energy_density(knots), *(row / power for power, row in enumerate(tension, 1))]
    return np.stack([knots, *energy])


def kernel_command(
    command: Command, L: float = 0.0, time: float = 0.0, length: float = 0.0, span: Span | None = None
) -> data.Command:
    """A command that is given at `time`, with `length` deployed of a string of length L, as the kernels take it.

    A motion without end is there for a span of times.
    """
    kernel = data.Command(command.holds, *command.torques(), kind=data.code(registry.COMMANDS, command.kernel))
    if not command.has_curve:
        return kernel
    curve = command.curve(time, length, span)
    # from what is deployed to what is reeled; both may carry derivatives
    curve = np.concatenate([curve[:, :1], L - curve[:, 1:2], -curve[:, 2:]], axis=1)
    return kernel._replace(profile=curve, stiffness=command.stiffness, damping=command.damping)


def commanded_torque(
    reel: Reel, command: Command, L: float, s: float, sigma: float, time: float, origin: tuple[float, float]
) -> float:
    """Torque of the motor, within its limit, where a command begins; 0 where it is found from the motion.

    The command was given at `origin` (time, deployed length); s is reeled of a string of length L, at sigma (m/s).
    """
    drum = Drum(time, L - s, -sigma, float(reel.radius(s)))
    return float(within_limit(reel, command.motor_torque(drum, origin)))


def within_limit(reel: Reel, torque: Any) -> Any:
    """Moment that the motor gives of the one that is asked for."""
    limit = np.inf if reel.max_torque is None else reel.max_torque
    return np.clip(torque, -limit, limit)


def heave_frequency2(gravity: float, fluid: Fluid | None, mass: float) -> float:
    """Squared frequency at which a body bobs in a free surface, but for the fluid that it moves along (rad^2/s^2)."""
    if fluid is None:
        return 0.0
    return gravity * fluid.added_below * fluid.volume / (fluid.wetted_height * mass)


def check_law_order(law: str, order: int) -> None:
    """Refuse an order that a guide law does not allow."""
    highest = registry.GUIDE_LAWS[law].highest_order
    if order > highest:
        raise refusals.LAW_ORDER.error(order, highest=highest, law=law)


# What limits a step, in words.
LIMIT_NAMES = {
    "waves": "waves in the elements of the string",
    "force_law": "a force law that slows motions",
    "stretching": "stretching of the string as a whole",
    "turning": "the turning and swing of the body",
    "drum": "the drum on its spring",
}


def allowed_steps(plan: data.Plan, limits: Limits) -> dict[str, float]:
    """Largest steps that "auto" makes, by what limits them (s)."""
    parts = Limits(plan.allowed_ratio, RESOLVED_FORCE_LAW, 1.0, 1.0, 1.0)
    return {name: part * x for name, part, x in zip(LIMIT_NAMES.values(), parts, limits, strict=True)}


def steps_within(sample: float, allowed: float) -> int:
    """Base steps of a sample interval, of which each is to be halved as often as need be to meet what is allowed."""
    ratio = sample / allowed
    if not ratio < checks.MOST_STEPS:
        raise InputError(f"sample: expected fewer than 2^53 steps in {sample:g} s, got {ratio:.3g} at a stable step")
    needed = max(1, math.ceil(ratio))
    part: int = 2 ** max(0, needed.bit_length() - 3)
    return -(-needed // part)


def plan_of(method: Method, **limits: Any) -> data.Plan:
    """All of the plan but sampling; `limits` are what bounds the steps of a chain."""
    composition, step = COMPOSITIONS[method.order], None if isinstance(method.step, str) else method.step
    rest = {"minimum_length": 0.0, "end_mass": 0.0, "body_frequency2": 0.0} | limits
    return data.Plan(
        h=step or 0.0,
        stages=composition.stages,
        limit_multiple=composition.limit_multiple,
        adaptive=step is None,
        allowed_ratio=AUTO_RATIO if step is None else LARGEST_RATIO,
        resolution=AUTO_RESOLUTION,
        steps_per_sample=0,
        hold=method.at_end == "hold",
        **rest,
    )


def check_method(method: Method) -> None:
    """Refuse parts of a method that do not go together."""
    if method.order > 2 and method.at_end == "hold":
        raise refusals.STICKING_ORDER.error(method.order, what="at_end='hold'")


def check_loaded_order(order: int, loaded: bool) -> None:
    """Refuse a high order with anything that acts beyond the plain model."""
    if loaded and order > 2:
        raise refusals.LOADED_ORDER.error(order, loads=", ".join(registry.LOADS))


def check_command(command: Any, order: int, scheme: str, reel_speed: float, reel: Reel, started: bool) -> None:
    """Refuse what the drum cannot do from here by this method; where it has started, a lock of one that moves."""
    if started and isinstance(command, Command) and command.holds and reel_speed != 0.0:
        raise InputError(
            f"command: expected a drum that stands for Locked, got one that moves with {reel_speed:.3g} m/s; "
            "stop_reel holds it at once, and a Speed or Length slows it down"
        )
    command_for_reel(command, reel_speed)
    if order > 2 and command.sticks:
        raise refusals.STICKING_ORDER.error(order, what=f"{type(command).__name__}(...)")
    if order > 2 and reel.coulomb_friction > 0.0 and not command.finds_torque:
        raise refusals.STICKING_ORDER.error(order, what="coulomb_friction")
    if not command.holds and order > 2 and scheme == "paper":
        raise refusals.PAPER_ORDER.error(order)
