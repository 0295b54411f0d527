"""Members of a batch: what they share, and numbers of their own.

Blocks of LANES members step together. Nodes and bodies are in lanes; reels, with their many cases, are arrays of their
own, one row a member, and are worked off one by one with the kernels of a single run.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tautline.kernels.data import Array, Command, Counters, Parameters, Plan
from tautline.kernels.jit import kernel


class Members(NamedTuple):
    """A block. Elements, laws, step and method are the same for all of it, and read from the first member."""

    par: Parameters
    plan: Plan
    numbers: Array  # (NUMBERS, LANES), see numbers_of
    kinds: Counters  # (LANES,) of the commands
    knots: Counters  # (LANES, 2): how many of the tables and profiles below are used
    times: Array  # (LANES, most knots)
    torques: Array
    profiles: Array  # (LANES, most pieces, PROFILE_ROW)


def numbers_of(par: Parameters, plan: Plan, command: Command) -> Array:
    """Of one member, in the order in which own_parameters, own_plan and own_command read them."""
    pendulum = [par.L, par.mu, par.EA, par.kappa, par.d, par.b, *par.r_p, par.M, *np.ravel(par.J), *par.rho]
    pendulum += [par.mu_g, par.weight, *par.weight_rho, par.sigma_0]
    pendulum += [par.viscous, par.coulomb, par.max_torque, par.max_power]
    method = [plan.minimum_length, plan.end_mass, plan.body_frequency2, plan.drum_stiffness]
    return np.array([*pendulum, *method, command.stiffness, command.damping, plan.swing, plan.drum_damping])


@kernel
def own_parameters(par: Parameters, x: Any) -> Parameters:
    """Of one member from its numbers, or in lanes of all from lanes of them."""
    return Parameters(
        par.N,
        x[0],
        x[1],
        x[2],
        x[3],
        x[4],
        x[5],
        (x[6], x[7], x[8]),
        x[9],
        ((x[10], x[11], x[12]), (x[13], x[14], x[15]), (x[16], x[17], x[18])),
        (x[19], x[20], x[21]),
        x[22],
        x[23],
        (x[24], x[25], x[26]),
        par.elastic_law,
        par.tension_table,
        par.viscosity,
        par.law,
        x[27],
        par.extrapolated,
        par.theta,
        par.rotates,
        par.compensated,
        x[28],
        x[29],
        x[30],
        x[31],
        par.growth,
    )


@kernel
def own_plan(plan: Plan, x: Any) -> Plan:
    return Plan(
        plan.h,
        plan.stages,
        plan.limit_multiple,
        plan.adaptive,
        plan.allowed_ratio,
        plan.resolution,
        x[32],
        x[33],
        x[34],
        plan.steps_per_sample,
        plan.hold,
        x[35],
        x[38],
        x[39],
    )


@kernel
def own_command(members: Members, k: int, locked: bool) -> Command:
    x = members.numbers
    return Command(
        locked,
        members.times[k, : members.knots[k, 0]],
        members.torques[k, : members.knots[k, 0]],
        members.kinds[k],
        members.profiles[k, : members.knots[k, 1]],
        x[36, k],
        x[37, k],
        False,
    )


@kernel
def parameters_of(members: Members, k: int) -> Parameters:
    return own_parameters(members.par, members.numbers[:, k])
