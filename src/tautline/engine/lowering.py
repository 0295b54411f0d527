"""From what the user says to what the kernels take: parameters, plan, command, initial motion, and back to words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tautline import errors, registry
from tautline.engine.attitudes import quaternion_of
from tautline.errors import InputError
from tautline.kernels import data
from tautline.kernels.compose import COMPOSITIONS
from tautline.kernels.guide import REMEMBERS
from tautline.kernels.limits import RESOLVED_FORCE_LAW, STABLE, Limits
from tautline.kernels.observe import begin
from tautline.model import checks, refusals
from tautline.model.chain.chain import Chain
from tautline.model.chain.state import ChainState
from tautline.model.checks import ZERO
from tautline.model.command import Command, Drum
from tautline.model.command import check_command as command_for_reel
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


def lowered(pendulum: Chain, state: ChainState, method: Method) -> tuple[data.Parameters, data.Plan]:
    """Parameters, and all of the plan but sampling."""
    X = pendulum.string.length - state.reeled_length
    shortest = MINIMUM_LENGTH * X if method.minimum_length is None else method.minimum_length
    step = None if isinstance(method.step, str) else method.step
    par = kernel_parameters(pendulum, len(state.nodes) - 1, method.scheme, method.compensated)
    return par, method_plan(pendulum, method.order, step, shortest, method.at_end)


def kernel_parameters(pendulum: Chain, elements: int, scheme: str, compensated: bool) -> data.Parameters:
    moving, weights = pendulum.moving_body(), pendulum.weights()
    return line_parameters(pendulum.string, pendulum.reel, elements, scheme, compensated)._replace(
        M=moving.mass,
        J=moving.inertia,
        rho=moving.center_of_mass,
        mu_g=weights.string,
        weight=weights.body,
        weight_rho=weights.moment,
        rotates=not pendulum.body.is_point,
    )


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


def with_impedance(plan: data.Plan, command: Command | None) -> data.Plan:
    """With the stiffness and the damping that a command adds to s; the plan itself where they are there already."""
    stiffness, damping = (0.0, 0.0) if command is None else (command.stiffness, command.damping)
    if (plan.drum_stiffness, plan.drum_damping) == (stiffness, damping):
        return plan
    return plan._replace(drum_stiffness=stiffness, drum_damping=damping)


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


def initial_motion(
    par: data.Parameters, state: ChainState, spooled_strain: float = 0.0, spooled_cells: int = data.SPOOLED_CELLS
) -> data.Motion:
    """Configuration from the state; velocities become momenta by the Legendre transform."""
    motion = data.empty_motion(par.N, spooled_cells if REMEMBERS[par.law] else 0)
    place(state, spooled_strain, motion)
    begin(par, motion)
    return motion


def place(state: ChainState, spooled_strain: float, out: data.Motion) -> None:
    """Positions and velocities of a state into a motion; of a state of many members into one with a row for each."""
    rows = out.nodes.reshape(*out.nodes.shape[:-1], 3, -1)
    rows[..., data.POSITION, :, : len(state.nodes)] = state.nodes.T
    rows[..., data.VELOCITY, :, : len(state.nodes)] = state.node_velocities.T
    out.body[..., data.ATTITUDE : data.ATTITUDE + 4] = quaternion_of(np.asarray(state.attitude))
    out.body[..., data.OMEGA : data.OMEGA + 3] = state.angular_velocity.T
    out.reel[..., data.S], out.reel[..., data.SIGMA] = state.reeled_length, state.reel_speed
    out.reel[..., data.REEL_SIZE :] = np.asarray(spooled_strain)[..., None]


def _heave_frequency2(pendulum: Chain) -> float:
    """Squared frequency at which the body bobs in a free surface, but for the fluid that it moves along (rad^2/s^2)."""
    fluid = pendulum.fluid
    if fluid is None:
        return 0.0
    lift = pendulum.gravity * (fluid.density - fluid.least_density) * fluid.volume
    return lift / (fluid.wetted_height * pendulum.body.mass)


def check_law_order(law: str, order: int) -> None:
    """Refuse an order that a guide law does not allow."""
    highest = registry.GUIDE_LAWS[law].highest_order
    if order > highest:
        raise refusals.LAW_ORDER.error(order, highest=highest, law=law)


def method_plan(pendulum: Chain, order: int, step: float | None, minimum_length: float, at_end: str) -> data.Plan:
    """All of the plan but sampling; step None is "auto"."""
    check_law_order(pendulum.reel.guide_law, order)
    composition, moving = COMPOSITIONS[order], pendulum.moving_body()
    return data.Plan(
        h=step or 0.0,
        stages=composition.stages,
        limit_multiple=composition.limit_multiple,
        adaptive=step is None,
        allowed_ratio=AUTO_RATIO if step is None else LARGEST_RATIO,
        resolution=AUTO_RESOLUTION,
        minimum_length=minimum_length,
        end_mass=pendulum.body.least_effective_mass(),
        body_frequency2=pendulum.body.swing_frequency2(pendulum.gravity) + _heave_frequency2(pendulum),
        steps_per_sample=0,
        hold=at_end == "hold",
        swing=moving.swing_frequency2(1.0) / moving.mass,
    )


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


def base_steps(plan: data.Plan, limits: Limits, sample: float) -> int:
    """How many base steps "auto" makes of a sample interval, each to be halved as often as need be.

    At most eight, so that a growing string lets the step grow; at least four where the start needs more
    than three, so that halving meets what is allowed within a fourth.
    """
    return steps_within(sample, min(allowed_steps(plan, limits).values()))


def steps_within(sample: float, allowed: float) -> int:
    """Base steps of a sample interval, of which each is to be halved as often as need be to meet what is allowed."""
    ratio = sample / allowed
    if not ratio < checks.MOST_STEPS:
        raise InputError(f"sample: expected fewer than 2^53 steps in {sample:g} s, got {ratio:.3g} at a stable step")
    needed = max(1, math.ceil(ratio))
    part: int = 2 ** max(0, needed.bit_length() - 3)
    return -(-needed // part)


def halvings(plan: data.Plan, limits: Limits) -> int:
    """How often "auto" halves the base step within these limits, as the kernels do it; a fixed step never."""
    allowed = min(allowed_steps(plan, limits).values())
    level = 0
    while plan.adaptive and plan.h / 2**level > allowed:
        level += 1
    return level


def check_step(par: data.Parameters, plan: data.Plan, s: float, limits: Limits) -> None:
    """Refuse a fixed step that is too near the stability limit from the start."""
    limit = min(limits[:STABLE])
    if plan.h > plan.allowed_ratio * limit:
        raise InputError(
            f"step: expected at most {plan.allowed_ratio * limit:.3g} s ({plan.allowed_ratio:g} of the stability limit "
            f"{limit:.3g} s of {par.N} elements of {(par.L - s) / par.N:.3g} m), got {plan.h!r}; "
            "use step='auto', or fewer elements"
        )


def check_method(method: Method) -> None:
    """Refuse parts of a method that do not go together."""
    if method.order > 2 and method.at_end == "hold":
        raise refusals.STICKING_ORDER.error(method.order, what="at_end='hold'")


def check_loaded_order(order: int, loaded: bool) -> None:
    """Refuse a high order with anything that acts beyond the plain model."""
    if loaded and order > 2:
        raise refusals.LOADED_ORDER.error(order, loads=", ".join(registry.LOADS))


def check_command(command: Any, order: int, scheme: str, reel_speed: float, reel: Reel) -> None:
    """Refuse what the drum cannot do from here by this method."""
    command_for_reel(command, reel_speed)
    if order > 2 and command.sticks:
        raise refusals.STICKING_ORDER.error(order, what=f"{type(command).__name__}(...)")
    if order > 2 and reel.coulomb_friction > 0.0 and not command.finds_torque:
        raise refusals.STICKING_ORDER.error(order, what="coulomb_friction")
    if not command.holds and order > 2 and scheme == "paper":
        raise refusals.PAPER_ORDER.error(order)


def message(status: int, par: data.Parameters, plan: data.Plan, limits: Limits, motion: data.Motion, t: float) -> str:
    """What happened, when, and what to do about it."""
    s = float(motion.reel[data.S])
    X = par.L - s
    if status == errors.RUNNING:
        return f"completed at t = {t:.6g} s"
    head = f"stopped at t = {t:.6g} s: "
    if status == errors.FULLY_RETRIEVED:
        return head + f"fully retrieved, {X:.3g} m of string left (minimum_length is {plan.minimum_length:.3g} m)"
    if status == errors.FULLY_DEPLOYED:
        return head + f"fully deployed, {X:.6g} m of string out"
    if status == errors.UNSTABLE_STEP:
        name, limit = min(zip(limits._fields[:STABLE], limits, strict=False), key=lambda pair: pair[1])
        h = plan.h / 2 ** int(motion.clock[data.LEVEL])
        remedy = (
            "a shorter sample interval or fewer elements"
            if plan.adaptive
            else "step='auto', a smaller step or fewer elements"
        )
        return head + (
            f"the step {h:.3g} s is {h / limit:.2f} of the stability limit {limit:.3g} s, set by {LIMIT_NAMES[name]} "
            f"with {X:.3g} m of string left; use {remedy}"
        )
    if status == errors.REEL_OUTRUNS_WAVES:
        return head + (
            f"the reel runs at {abs(float(motion.reel[data.SIGMA])):.4g} m/s, and waves in the string at no more than "
            f"{math.sqrt(par.EA / par.mu):.4g} m/s: what the reel does cannot reach the string any more, and the model "
            "has no solution. Use a slower reel, or a stiffer or lighter string"
        )
    if (
        status == errors.NEWTON_FAILED
        and par.law == data.code(registry.GUIDE_LAWS, "dissipative")
        and len(plan.stages) > 1
    ):
        return head + (
            "Newton's method did not converge; orders 4 and 6 have stages that go back in time, where the loss at "
            "the guide has no unique solution while the reel stands nearly still. Use order=2, or a smaller step"
        )
    if status == errors.NEWTON_FAILED:
        return head + (
            "Newton's method did not converge; the step is too large for how fast the body turns or the string "
            "moves. Use a smaller step"
        )
    return head + "a number was no longer finite; use a smaller step and check the initial state"
