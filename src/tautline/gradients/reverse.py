"""One number from a run, and its derivatives by any number of keys, on one way back through the steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tautline import registry
from tautline.arrays import Array
from tautline.errors import RUNNING
from tautline.gradients.leaves import leaves, with_leaves
from tautline.gradients.marching import Setting
from tautline.gradients.outputs import carried_values
from tautline.gradients.run import Prepared
from tautline.gradients.traced import Traced, derivatives_of
from tautline.kernels import data
from tautline.kernels.adjoint import data as adjoint
from tautline.kernels.adjoint.march import march_back
from tautline.kernels.guide import REMEMBERS
from tautline.kernels.march import march

# Of the steps that are recorded at once (bytes): few calls, and little that leaves the cache.
RECORDED = 1 << 22
# Columns of samples whose derivatives the way back does not know; what loads and a moving guide write is constant.
UNKNOWN = [data.ORTHOGONALITY, data.STEP_LENGTH]
UNKNOWN_WITH_LOCK = [*UNKNOWN, data.DRUM_TORQUE]
UNKNOWN_WITH_PROFILE = [*UNKNOWN_WITH_LOCK, data.CONTROL_WORK, data.FRICTION_LOSS]


class Found(NamedTuple):
    """A number and its derivatives, NaN by keys whose way back is not known, and how the run ended."""

    value: float
    gradient: Array
    status: str
    message: str


class MarchedForth(NamedTuple):
    """Samples of a run, and its motion at the starts of parts of it."""

    samples: data.Samples
    checkpoints: list[data.Motion]
    rows: int  # of a part
    status: int


def goes_back(setting: Setting) -> bool:
    """Whether the way back is known: the plain model, at constant length, by torque or by a prescribed motion."""
    par, plan, command, _, loads = setting
    if loads is not None or plan.hold or par.growth != 0.0 or REMEMBERS[par.law]:
        return False
    if par.elastic_law == data.code(registry.ELASTIC_LAWS, "table") or command.pointwise:
        return False
    rubs = par.viscous > 0.0 or par.coulomb > 0.0 or math.isfinite(par.max_torque) or math.isfinite(par.max_power)
    return not rubs if is_driven(command) else bool(command.locked or command.kind == data.BY_PROFILE)


def is_driven(command: data.Command) -> bool:
    """Whether the reel moves by its own equation, under a torque."""
    return command.kind == data.BY_TORQUE and not command.locked


def unknown_columns(command: data.Command) -> list[int]:
    """Columns of samples whose derivatives the way back does not know."""
    if is_driven(command):
        return UNKNOWN
    return UNKNOWN_WITH_LOCK if command.locked else UNKNOWN_WITH_PROFILE


def march_forth(setting: Setting, rows: int) -> MarchedForth:
    """March, and keep the motion every few samples; that of the setting is the one at the end afterwards."""
    par, plan, command, motion, loads = setting
    stage = 8 * (2 * motion.nodes.shape[1] + adjoint.STAGE_NUMBERS)
    part = max(1, RECORDED // (stage * len(plan.stages) * plan.steps_per_sample))
    scratch, backups, out = data.empty_scratch(par.N), data.empty_backups(motion), data.empty_samples(rows, par.N)
    checkpoints, filled, status = [], 0, RUNNING
    while filled < rows and status == RUNNING:
        checkpoints.append(data.copy_of(motion))
        some = data.Samples(*(x[filled : filled + part] for x in out))
        status, more = march(par, plan, command, motion, scratch, backups, some, loads)
        filled += more
    return MarchedForth(data.Samples(*(x[:filled] for x in out)), checkpoints, part, status)


def march_parts_back(setting: Setting, forth: MarchedForth, bars: data.Samples) -> adjoint.Adjoint | None:
    """Adjoint at the start of a run, from the derivatives by its samples; None where a step cannot be repeated."""
    par, plan, command, _, _ = setting
    out = adjoint.empty_adjoint(par, command)
    stages = forth.rows * plan.steps_per_sample * len(plan.stages)
    record, scratch = adjoint.empty_record(par.N, stages, forth.rows), data.empty_scratch(par.N)
    for k, checkpoint in reversed(list(enumerate(forth.checkpoints))):
        first = k * forth.rows
        some = data.Samples(*(np.ascontiguousarray(x[first : first + forth.rows]) for x in bars))
        if march_back(par, plan, command, checkpoint, scratch, some, record, out) != RUNNING:
            return None
    return out


def bars_of_setting(setting: Setting, out: adjoint.Adjoint) -> list[Array]:
    """Derivatives by the `leaves` of a setting; NaN by those that the way back does not know."""
    par, plan, command, motion, _ = with_leaves(setting, [np.zeros_like(x) for x in leaves(setting)])
    own: dict[str, Any] = {name: _parameter(out, name) for name in adjoint.SIZES if name != "h"}
    own |= dict.fromkeys(("viscosity", "growth"), np.nan)
    if is_driven(command):
        own |= dict.fromkeys(("viscous", "coulomb", "max_torque", "max_power"), np.nan)
    times = np.full_like(command.times, np.nan)
    motion.nodes[[data.POSITION, data.MOMENTUM]] = out.nodes[[adjoint.POSITION_BAR, adjoint.MOMENTUM_BAR]]
    Q = setting.motion.body[data.ATTITUDE : data.ATTITUDE + 4]
    turned = out.body[adjoint.ATTITUDE_BAR : adjoint.ATTITUDE_BAR + 3]
    # eta = 2 (Q_0 dQ_v - dQ_0 Q_v - Q_v x dQ_v)/|Q|^2
    by_vector = Q[0] * turned + np.cross(Q[1:], turned)
    motion.body[data.ATTITUDE : data.ATTITUDE + 4] = 2.0 / (Q @ Q) * np.array([-turned @ Q[1:], *by_vector])
    motion.body[data.SPIN : data.SPIN + 3] = out.body[adjoint.SPIN_BAR : adjoint.SPIN_BAR + 3]
    accounts = [data.ACCOUNT_PLACES[account] for account in (data.CONTROL_WORK, data.GUIDE_LOSS)]
    motion.reel[[data.S, data.P_S, *accounts]] = out.reel
    bars = Setting(
        par._replace(**own),
        plan._replace(h=float(out.numbers[adjoint.BY_H])),
        command._replace(times=times, torques=out.torques, profile=out.profile),
        motion,
        None,
    )
    return [np.asarray(x) for x in leaves(bars)]


def _parameter(out: adjoint.Adjoint, name: str) -> Any:
    """Derivative by a parameter, in its shape."""
    place, size = adjoint.PLACES[name], adjoint.SIZES[name]
    x = out.numbers[place : place + size].tolist()
    return x[0] if size == 1 else tuple(x) if size == 3 else tuple(tuple(x[i : i + 3]) for i in (0, 3, 6))


def along(bar: Array, tangent: Array) -> Array:
    """Derivatives by keys of what changes by `bar`; nothing comes of what no key changes, even where `bar` is NaN."""
    with np.errstate(invalid="ignore"):
        products = np.where(tangent == 0.0, 0.0, bar[..., None] * tangent)
    return products.reshape(-1, tangent.shape[-1]).sum(axis=0)  # type: ignore[no-any-return]


def gradient_back(
    prepared: Prepared, objective: Callable[[Mapping[str, Any]], Any], names: Sequence[str]
) -> Found | None:
    """Run a case, and find the derivatives of a number on the way back; None where that way is not known."""
    steps, begun, tangents, first_tangents, _ = prepared
    simulation, setting = begun.simulation, begun.setting
    start = setting._replace(motion=data.copy_of(setting.motion))
    forth = march_forth(setting, steps.filled)
    rows = len(forth.samples.scalars)
    simulation.marched(forth.samples, 0, forth.status, rows, setting.plan)
    every = [np.concatenate(pair) for pair in zip(begun.first, forth.samples, strict=True)]
    traced = [Traced(x) for x in leaves(start)]
    samples: Any = data.Samples(*map(Traced, every))  # type: ignore[arg-type]
    counts = steps.per_sample * np.arange(rows + 1.0)
    try:
        values = carried_values(simulation.pendulum, with_leaves(start, traced), counts, samples, names)
        number = objective(values)
    except TypeError:  # a function that only `Carried` knows
        return None
    if not isinstance(number, Traced) or number.shape != ():
        return None
    *by_leaves, scalars, nodes = derivatives_of(number, [*traced, *samples])
    if scalars[:, unknown_columns(setting.command)].any():
        return None
    out = march_parts_back(start, forth, data.Samples(scalars[1:], nodes[1:]))
    if out is None:
        return None
    gradient = along(scalars[0], first_tangents.scalars[0]) + along(nodes[0], first_tangents.nodes[0])
    for bar, direct, tangent in zip(bars_of_setting(start, out), by_leaves, tangents, strict=True):
        gradient = gradient + along(bar, tangent) + along(direct, tangent)
    return Found(float(number.value), gradient, simulation.status, simulation.message)
