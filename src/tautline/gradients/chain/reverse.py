"""One number from a run, and its derivatives by any number of keys, by one reverse pass through the steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tautline import registry
from tautline.arrays import Array
from tautline.errors import RUNNING
from tautline.gradients.chain.marching import Setting
from tautline.gradients.chain.outputs import dual_values
from tautline.gradients.leaves import leaves, with_leaves
from tautline.gradients.marching import march_along
from tautline.gradients.traced import Traced, derivatives_of
from tautline.gradients.trust import BEYOND_USE, at_kink
from tautline.kernels import data
from tautline.kernels.adjoint import data as adjoint
from tautline.kernels.adjoint.march import march_back
from tautline.kernels.dispatch import modules
from tautline.kernels.loads.carried import carries_fluid
from tautline.kernels.loads.resistance import DAMPING, DRAG
from tautline.kernels.march import march
from tautline.results.values import lengths_of

if TYPE_CHECKING:
    from tautline.gradients.run import Prepared

# Of the steps that are recorded at once (bytes): few calls, and little that leaves the cache.
RECORDED = 1 << 22
# Of tangents that have grown beyond use: a number may depend little on what grew.
LARGE = 1e-3 * BEYOND_USE
# Columns of samples whose derivatives the reverse pass does not know; what loads and a moving guide write is constant.
UNKNOWN = [data.ORTHOGONALITY, data.STEP_LENGTH]
UNKNOWN_WITH_LOCK = [*UNKNOWN, data.DRUM_TORQUE]
UNKNOWN_WITH_PROFILE = [*UNKNOWN_WITH_LOCK, data.CONTROL_WORK, data.FRICTION_LOSS]


def with_partials(table: Mapping[str, Any]) -> list[bool]:
    """Whether each law of a table of the registry has partial derivatives."""
    return [hasattr(module, "partials") for module in modules(table)]


# Laws with partial derivatives in their own files, and loads whose adjoints are in kernels/adjoint. All others go
# forward, those that are registered from outside without partial derivatives among them.
KNOWN_GUIDE_LAWS, KNOWN_ELASTIC_LAWS = with_partials(registry.GUIDE_LAWS), with_partials(registry.ELASTIC_LAWS)
KNOWN_LOADS = ("damping", "drag", "applied_force")
# Places in a motion, and those of the derivatives by them.
NODE_ROWS = {
    data.POSITION: adjoint.POSITION_BAR,
    data.MOMENTUM: adjoint.MOMENTUM_BAR,
    data.VELOCITY: adjoint.VELOCITY_BAR,
    data.VELOCITY_BEFORE: adjoint.VELOCITY_BEFORE_BAR,
}
BODY_PLACES = {
    data.SPIN: adjoint.SPIN_BAR,
    data.OMEGA: adjoint.OMEGA_BAR,
    data.OMEGA_BEFORE: adjoint.OMEGA_BEFORE_BAR,
}
REEL_PLACES = {
    data.S: adjoint.S_BAR,
    data.P_S: adjoint.P_S_BAR,
    data.SIGMA: adjoint.SIGMA_BAR,
    data.SIGMA_BEFORE: adjoint.SIGMA_BEFORE_BAR,
} | {data.ACCOUNT_PLACES[account]: bar for account, bar in adjoint.ACCOUNT_BARS.items()}


class Found(NamedTuple):
    """A number and its derivatives, NaN by keys that the reverse pass does not know, and how the run ended."""

    value: float
    gradient: Array
    status: str
    message: str


class Part(NamedTuple):
    """Some sample intervals of a run."""

    start: data.Motion
    first: int  # row of its samples
    rows: int
    steps: int  # of an interval


class MarchedForward(NamedTuple):
    """Samples of a run, and parts of it in order; loads have acted once before the first of them."""

    samples: data.Samples
    parts: list[Part]
    status: int


def has_adjoint(setting: Setting) -> bool:
    """Whether a run has adjoints: at constant length, by torque or prescribed motion, with damping and drag."""
    par, plan, command, _, loads, _ = setting
    if loads.moves or plan.hold or par.growth != 0.0:
        return False
    if not KNOWN_GUIDE_LAWS[par.law] or not KNOWN_ELASTIC_LAWS[par.elastic_law]:
        return False
    if any(own.acts and name not in KNOWN_LOADS for name, own in zip(registry.LOADS, loads.own, strict=True)):
        return False
    if loads.own[DRAG].has_surface or len(loads.own[DRAG].times) > 1 or carries_fluid(loads):
        return False
    if command.pointwise:
        return False
    if loads.own[DAMPING].acts and par.elastic_law != data.LINEAR:
        return False  # damping that begins and ends where an element gets taut and slack
    limited = math.isfinite(par.max_torque) or math.isfinite(par.max_power)
    return not limited if is_driven(command) else bool(command.locked or command.kind == data.BY_PROFILE)


def is_driven(command: data.Command) -> bool:
    """Whether the reel moves by its own equation, under a torque."""
    return command.kind == data.BY_TORQUE and not command.locked


def unknown_columns(command: data.Command) -> list[int]:
    """Columns of samples whose derivatives the reverse pass does not know."""
    if is_driven(command):
        return UNKNOWN
    return UNKNOWN_WITH_LOCK if command.locked else UNKNOWN_WITH_PROFILE


def march_forward(setting: Setting, rows: int) -> MarchedForward:
    """March, and keep the motion every few samples; that of the setting is the one at the end afterwards."""
    par, plan, command, motion, loads, _ = setting
    numbers = 2 * motion.nodes.shape[1] + adjoint.STAGE_NUMBERS
    if loads.acts:
        numbers += motion.nodes.size + motion.nodes.shape[1] + len(motion.body) + len(motion.reel)
    at_once = max(1, RECORDED // (8 * numbers * len(plan.stages) * plan.steps_per_sample))
    scratch, backups, out = data.empty_scratch(par.N), data.empty_backups(motion), data.empty_samples(rows, par.N)
    parts: list[Part] = []
    filled, left, status = 0, plan.steps_per_sample, RUNNING

    def march_on(count: int, steps: int) -> tuple[int, int]:
        some = data.Samples(*(x[filled : filled + count] for x in out))
        given = loads if loads.acts else None
        return march(par, plan._replace(steps_per_sample=steps), command, motion, scratch, backups, some, given)

    if loads.acts and rows:
        status, more = march_on(1, 1)
        left -= 1
        filled = more if left == 0 else 0
    while filled < rows and status == RUNNING:
        steps = plan.steps_per_sample if filled else left
        parts.append(Part(data.copy_of(motion), filled, at_once if steps == plan.steps_per_sample else 1, steps))
        status, more = march_on(parts[-1].rows, steps)
        filled += more
    return MarchedForward(data.Samples(*(x[:filled] for x in out)), parts, status)


def march_parts_back(setting: Setting, parts: list[Part], bars: data.Samples) -> adjoint.Adjoint | None:
    """Adjoint at the start of the first part, from the derivatives by samples; None if a step cannot be repeated."""
    par, plan, command, _, loads, _ = setting
    out = adjoint.empty_adjoint(par, command, loads)
    rows = max((part.rows for part in parts), default=1)
    stages = rows * plan.steps_per_sample * len(plan.stages)
    record, scratch = adjoint.empty_record(par.N, stages, rows, loads.acts), data.empty_scratch(par.N)
    for part in reversed(parts):
        some = data.Samples(*(np.ascontiguousarray(x[part.first : part.first + part.rows]) for x in bars))
        steps = plan._replace(steps_per_sample=part.steps)
        if march_back(par, steps, command, loads, part.start, scratch, some, record, out) != RUNNING:
            return None
    return out


def bars_of_setting(setting: Setting, out: adjoint.Adjoint) -> list[Array]:
    """Derivatives by the `leaves` of a setting; NaN by those that the reverse pass does not know."""
    par, plan, command, motion, loads, inertia = with_leaves(setting, [np.zeros_like(x) for x in leaves(setting)])
    own: dict[str, Any] = {name: _parameter(out, name) for name in adjoint.SIZES if name != "h"}
    own["growth"] = np.nan
    if is_driven(command):
        own |= dict.fromkeys(("max_torque", "max_power"), np.nan)
        own |= {name: np.nan for name in ("viscous", "coulomb") if getattr(setting.par, name) == 0.0}
    times = np.full_like(command.times, np.nan)
    motion.nodes[list(NODE_ROWS)] = out.nodes[list(NODE_ROWS.values())]
    Q = setting.motion.body[data.ATTITUDE : data.ATTITUDE + 4]
    turned = out.body[adjoint.ATTITUDE_BAR : adjoint.ATTITUDE_BAR + 3]
    # eta = 2 (Q_0 dQ_v - dQ_0 Q_v - Q_v x dQ_v)/|Q|^2
    by_vector = Q[0] * turned + np.cross(Q[1:], turned)
    motion.body[data.ATTITUDE : data.ATTITUDE + 4] = 2.0 / (Q @ Q) * np.array([-turned @ Q[1:], *by_vector])
    for place, bar in BODY_PLACES.items():
        motion.body[place : place + 3] = out.body[bar : bar + 3]
    motion.reel[list(REEL_PLACES)] = out.reel[list(REEL_PLACES.values())]
    bars = Setting(
        par._replace(**own),
        plan._replace(h=float(out.numbers[adjoint.BY_H])),
        command._replace(times=times, torques=out.torques, profile=out.profile),
        motion,
        loads._replace(own=tuple(_of_load(out, name, x) for name, x in zip(registry.LOADS, loads.own, strict=True))),
        inertia,
    )
    return [np.asarray(x) for x in leaves(bars)]


def _parameter(out: adjoint.Adjoint, name: str) -> Any:
    """Derivative by a parameter, in its shape."""
    return _shaped(out.numbers, adjoint.PLACES[name], adjoint.SIZES[name])


def _of_load(out: adjoint.Adjoint, name: str, own: Any) -> Any:
    """Derivatives by the numbers of a load, in the place of these."""
    sizes = {field: size for (load, field), size in adjoint.LOAD_SIZES.items() if load == name}
    found = {field: _shaped(out.numbers, adjoint.LOAD_PLACES[name, field], size) for field, size in sizes.items()}
    if name == "drag":
        found |= {"flow": out.flow, "added": np.nan}
    if name == "applied_force":
        found |= {"table": np.concatenate([np.full_like(out.force[:1], np.nan), out.force[1:]])}
    return own._replace(**found)


def _shaped(numbers: Array, place: int, size: int) -> Any:
    """A number, a vector or a matrix."""
    x = numbers[place : place + size].tolist()
    return x[0] if size == 1 else tuple(x) if size == 3 else tuple(tuple(x[i : i + 3]) for i in (0, 3, 6))


def along(bars: Sequence[Array], tangents: Sequence[Array]) -> Array:
    """Derivatives by keys of what changes by `bars`; nothing comes of what no key changes, even where a bar is NaN."""
    bar = np.concatenate([np.ravel(x) for x in bars])
    tangent = np.concatenate([t.reshape(-1, t.shape[-1]) for t in tangents])
    with np.errstate(invalid="ignore"):
        total: Array = np.where(tangent == 0.0, 0.0, bar[:, None] * tangent).sum(axis=0)
    return total


def gets_slack(par: data.Parameters, samples: data.Samples) -> bool:
    """Whether an element of a string that cannot push is slack, or on the verge of it, in one of the samples."""
    if par.elastic_law == data.LINEAR:
        return False
    l = (par.L - samples.scalars[:, data.REELED_LENGTH]) / par.N
    strain = lengths_of(samples.nodes[:, 0]) / l[:, None] - 1.0
    return bool((strain < 0.0).any() or at_kink(strain).any())


def is_large(gradient: Array, sizes: Array, samples: Sequence[Array], bars: Sequence[Array]) -> bool:
    """Whether derivatives are so large that tangents of the motion may have grown beyond use.

    The number then changes by `LARGE` times what it would if each sample changed by the largest of all samples.
    """
    (scalars, nodes), (by_scalars, by_nodes) = samples, bars
    reach = np.abs(by_scalars).sum(axis=0) @ np.abs(scalars).max(axis=0)
    for k in range(2):  # positions, velocities
        reach += np.abs(by_nodes[:, k]).sum() * np.sqrt(np.sum(nodes[:, k] ** 2, axis=-1)).max()
    return bool(reach and np.fmax.reduce(np.abs(gradient) * sizes) > LARGE * reach)


def gradient_back(
    prepared: Prepared, objective: Callable[[Mapping[str, Any]], Any], names: Sequence[str]
) -> Found | None:
    """Run a case, and find the derivatives of a number by a reverse pass; None where there is none.

    None also where a warning on derivatives may be due, which takes those of the motion: strings that get slack, and
    derivatives that are large by the sizes of the keys.
    """
    steps, begun, tangents, sizes = prepared.runs.steps, prepared.begun, prepared.tangents, prepared.sizes
    simulation, setting = begun.simulation, begun.setting
    start = setting._replace(motion=data.copy_of(setting.motion))
    forward = march_forward(setting, steps.filled)
    rows = len(forward.samples.scalars)
    simulation.marched(forward.samples, 0, forward.status, rows, setting.plan)
    every = [np.concatenate(pair) for pair in zip(begun.first, forward.samples, strict=True)]
    if gets_slack(setting.par, data.Samples(*every)):  # kinks, which forward mode tells of
        return None
    traced = [Traced(x) for x in leaves(start)]
    samples: Any = data.Samples(*map(Traced, every))  # type: ignore[arg-type]
    counts = steps.per_sample * np.arange(rows + 1.0)
    try:
        dual = with_leaves(start, traced)
        values = dual_values(begun.system, simulation.backend.pendulum, dual, counts, samples, names)
        number = objective(values)
    except TypeError:  # a function that only `Dual` knows
        return None
    if not isinstance(number, Traced) or number.shape != ():
        return None
    *by_leaves, scalars, nodes = derivatives_of(number, [*traced, *samples])
    if scalars[:, unknown_columns(setting.command)].any():
        return None
    out = march_parts_back(start, forward.parts, data.Samples(scalars[1:], nodes[1:]))
    if out is None:
        return None
    gradient = along(by_leaves, tangents)
    if scalars[0].any() or nodes[0].any():
        gradient = gradient + along([scalars[0], nodes[0]], [t[0] for t in prepared.first])
    if setting.loads.acts and rows:
        # what loads do at the start is not in the reverse pass: forward mode covers the first step
        start, tangents = start._replace(motion=data.copy_of(start.motion)), [t.copy() for t in tangents]
        first = march_along(start._replace(plan=start.plan._replace(steps_per_sample=1)), tangents, 1)
        if start.plan.steps_per_sample == 1:
            gradient = gradient + along([scalars[1], nodes[1]], [t[0] for t in first.tangents])
    gradient = gradient + along(bars_of_setting(start, out), tangents)
    if is_large(gradient, sizes, every, (scalars, nodes)):
        return None
    return Found(float(number.value), gradient, simulation.status, simulation.message)
