"""From one line and one body to what the chain kernels take, and back to words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tautline.engine import loads, lowering
from tautline.engine.attitudes import quaternion_of
from tautline.engine.force_law import CallableLaw
from tautline.kernels import data
from tautline.kernels.guide import REMEMBERS
from tautline.kernels.limits import Limits
from tautline.kernels.observe import begin
from tautline.model.chain.chain import Chain
from tautline.model.chain.state import ChainState
from tautline.model.command import Command
from tautline.model.run import Method


def lowered(pendulum: Chain, state: ChainState, method: Method) -> tuple[data.Parameters, data.Plan]:
    """Parameters, and all of the plan but sampling."""
    X, moving, body = pendulum.string.length - state.reeled_length, pendulum.moving_body(), pendulum.body
    lowering.check_law_order(pendulum.reel.guide_law, method.order)
    plan = lowering.plan_of(
        method,
        minimum_length=lowering.MINIMUM_LENGTH * X if method.minimum_length is None else method.minimum_length,
        end_mass=body.least_effective_mass(),
        body_frequency2=body.swing_frequency2(pendulum.gravity)
        + lowering.heave_frequency2(pendulum.gravity, pendulum.fluid, body.mass),
        swing=moving.swing_frequency2(1.0) / moving.mass,
    )
    return kernel_parameters(pendulum, len(state.nodes) - 1, method.scheme, method.compensated), plan


def kernel_parameters(pendulum: Chain, elements: int, scheme: str, compensated: bool) -> data.Parameters:
    moving, weights = pendulum.moving_body(), pendulum.weights()
    return lowering.line_parameters(pendulum.string, pendulum.reel, elements, scheme, compensated)._replace(
        M=moving.mass,
        J=moving.inertia,
        rho=moving.center_of_mass,
        mu_g=weights.string,
        weight=weights.body,
        weight_rho=weights.moment,
        rotates=not pendulum.body.is_point,
    )


def with_impedance(plan: data.Plan, command: Command | None) -> data.Plan:
    """With the stiffness and the damping that a command adds to s; the plan itself where they are there already."""
    stiffness, damping = (0.0, 0.0) if command is None else (command.stiffness, command.damping)
    if (plan.drum_stiffness, plan.drum_damping) == (stiffness, damping):
        return plan
    return plan._replace(drum_stiffness=stiffness, drum_damping=damping)


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


def base_steps(plan: data.Plan, limits: Limits, sample: float) -> int:
    """How many base steps "auto" makes of a sample interval, each to be halved as often as need be.

    At most eight, so that a growing string lets the step grow; at least four where the start needs more
    than three, so that halving meets what is allowed within a fourth.
    """
    return lowering.steps_within(sample, min(lowering.allowed_steps(plan, limits).values()))


def halvings(plan: data.Plan, limits: Limits) -> int:
    """How often "auto" halves the base step within these limits, as the kernels do it; a fixed step never."""
    allowed = min(lowering.allowed_steps(plan, limits).values())
    level = 0
    while plan.adaptive and plan.h / 2**level > allowed:
        level += 1
    return level


def chain_loads(pendulum: Chain, laws: Sequence[CallableLaw] = ()) -> data.Loads:
    """Loads on a chain, with the path of its guide about time 0."""
    laden = loads.Laden(pendulum.string, pendulum.gravity, pendulum.fluid, pendulum.body, pendulum.applied_force)
    return loads.kernel_loads(laden, laws, path=pendulum.reel.guide_path)
