"""Runs of kernels as plain Python, forward with derivatives along a direction and by the reverse pass."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import tautline as tl
from tautline.engine.chain.lowering import chain_loads
from tautline.engine.loads import own_numbers
from tautline.errors import RUNNING
from tautline.gradients.chain.reverse import BODY_PLACES, NODE_ROWS, REEL_PLACES
from tautline.kernels import data
from tautline.kernels.adjoint import data as adjoint
from tautline.kernels.adjoint.march import march_back
from tautline.kernels.compose import COMPOSITIONS
from tautline.kernels.march import march
from tautline.kernels.observe import begin
from tautline.model.chain.systems import chain_of
from tests.support import duals

ROWS, STEPS = 2, 2
LOADS = list(tl.registry.LOADS)


class Setting(NamedTuple):
    par: data.Parameters
    plan: data.Plan
    command: data.Command
    motion: data.Motion
    loads: data.Loads


PLAIN = chain_loads(chain_of(tl.load("fixed-length").system))


def with_loads(**own: Any) -> data.Loads:
    """These loads by their names in the registry, and no others."""
    return PLAIN._replace(acts=bool(own), own=tuple(own.get(name, x) for name, x in zip(LOADS, PLAIN.own, strict=True)))


def setting(
    rng: np.random.Generator,
    N: int,
    order: int,
    command: data.Command,
    h: float,
    loads: data.Loads = PLAIN,
    **changes: Any,
) -> Setting:
    """Some pendulum in some motion."""
    par = data.Parameters(
        N=N, L=10.0, mu=0.4, EA=300.0, kappa=1.5, d=0.3, b=0.2, r_p=(0.0, 0.0, 0.5), M=1.2,
        J=((0.95, 0.05, 0.04), (0.05, 1.15, 0.03), (0.04, 0.03, 1.35)), rho=(0.1, -0.2, 0.4), mu_g=0.4 * 9.81,
        weight=1.2 * 9.7, weight_rho=(1.1, -2.2, 4.5), elastic_law=data.LINEAR,
        tension_table=np.zeros((6, 1)), viscosity=0.0, law=0,
        sigma_0=0.3, extrapolated=False, theta=0.5, rotates=True, compensated=True,
    )._replace(**changes)  # fmt: skip
    if not par.rotates:
        par = par._replace(J=((0.0,) * 3,) * 3, rho=(0.0,) * 3, weight_rho=(0.0,) * 3)
    motion = data.empty_motion(N)
    l = 6.0 / N
    nodes = data.nodes_of(motion.nodes[data.POSITION], N)
    nodes[:, 2] = l * np.arange(N + 1)
    nodes[1:] += 0.2 * l * rng.standard_normal((N, 3))
    data.nodes_of(motion.nodes[data.VELOCITY], N)[1:] = rng.standard_normal((N, 3))
    motion.body[data.ATTITUDE : data.ATTITUDE + 4] = rng.standard_normal(4)
    motion.body[data.OMEGA : data.OMEGA + 3] = par.rotates * rng.standard_normal(3)
    motion.reel[data.S] = 4.0
    if not command.locked:
        motion.reel[data.SIGMA] = 0.7
    begin(par, motion)
    if command.kind == data.BY_PROFILE:
        motion.reel[data.HELD] = data.PRESCRIBED
    stages = COMPOSITIONS[order].stages
    plan = data.Plan(h, stages, 1.0, False, 1e9, 1.0, 0.1, 1.0, 0.0, STEPS)
    return Setting(par, plan, command, motion, loads)


def random_direction(rng: np.random.Generator, x: Setting) -> Setting:
    """Changes of everything that a run can be differentiated by; zero elsewhere."""
    numbers = {name: rng.standard_normal(np.shape(getattr(x.par, name))) for name in adjoint.SIZES if name != "h"}
    numbers["J"] += numbers["J"].T
    if not x.par.rotates:
        numbers |= {name: 0.0 * numbers[name] for name in ("J", "rho", "weight_rho")}
    par = x.par._replace(**{name: as_tuple(d) for name, d in numbers.items()})
    motion = data.empty_motion(x.par.N)
    for row in (data.POSITION, data.MOMENTUM):
        data.nodes_of(motion.nodes[row], x.par.N)[1:] = rng.standard_normal((x.par.N, 3))
    motion.body[data.ATTITUDE : data.ATTITUDE + 4] = rng.standard_normal(4)
    motion.body[data.SPIN : data.SPIN + 3] = x.par.rotates * rng.standard_normal(3)
    motion.reel[[data.S, data.P_S]] = rng.standard_normal(2)
    torques, profile = (rng.standard_normal(x.shape) for x in (x.command.torques, x.command.profile))
    command = x.command._replace(torques=torques, profile=profile)
    own = [
        y._replace(**{name: some_like(rng, getattr(y, name)) for name in names_of(load)})
        for load, y in zip(LOADS, x.loads.own, strict=True)
    ]
    own[LOADS.index("applied_force")].table[0] = 0.0  # times
    loads = x.loads._replace(own=tuple(own))
    return Setting(par, x.plan._replace(h=rng.standard_normal()), command, motion, loads)


def some_like(rng: np.random.Generator, x: Any) -> Any:
    d = rng.standard_normal(np.shape(x))
    return d if isinstance(x, np.ndarray) else as_tuple(d)


def names_of(load: str) -> list[str]:
    """Numbers of a load by which a run can be differentiated."""
    tables = [("drag", "flow"), ("applied_force", "table")]
    return [field for name, field in [*adjoint.LOAD_SIZES, *tables] if name == load]


def as_tuple(d: Any) -> Any:
    return tuple(map(as_tuple, d)) if np.ndim(d) else float(d)


def with_slopes(x: Setting, d: Setting) -> Setting:
    """The setting in dual numbers."""
    names = [name for name in adjoint.SIZES if name != "h"]
    par = x.par._replace(**{name: duals.duals(getattr(x.par, name), getattr(d.par, name)) for name in names})
    nodes, body, reel = (duals.duals(a, b) for a, b in zip(x.motion[:3], d.motion[:3], strict=True))
    plan = x.plan._replace(h=duals.duals(x.plan.h, d.plan.h))
    command = x.command._replace(
        torques=duals.duals(x.command.torques, d.command.torques),
        profile=duals.duals(x.command.profile, d.command.profile),
    )
    own = [
        y._replace(**{name: duals.duals(getattr(y, name), getattr(dy, name)) for name in names_of(load)})
        for load, y, dy in zip(LOADS, x.loads.own, d.loads.own, strict=True)
    ]
    motion = data.Motion(nodes, body, reel, x.motion.clock.copy())
    return Setting(par, plan, command, motion, x.loads._replace(own=tuple(own)))


def scratch_of(N: int) -> data.Scratch:
    return data.Scratch(*(array.astype(object) for array in data.empty_scratch(N)))


def forward(x: Setting, rows: int = ROWS) -> data.Samples:
    """Samples of a run in dual numbers."""
    out = data.Samples(*(array.astype(object) for array in data.empty_samples(rows, x.par.N)))
    backups, loads = data.empty_backups(x.motion), x.loads if x.loads.acts else None
    marched = march(x.par, x.plan, x.command, x.motion, scratch_of(x.par.N), backups, out, loads)
    assert marched.status == RUNNING
    return out


def begun(x: Setting) -> Setting:
    """After a step, from which on loads have adjoints."""
    forward(x._replace(plan=x.plan._replace(steps_per_sample=1)), 1)
    return x


def part(x: Setting, motion: data.Motion, f: Any) -> Setting:
    """A setting with the numbers or the slopes of a motion in dual numbers."""
    return x._replace(motion=data.Motion(f(motion.nodes), f(motion.body), f(motion.reel), motion.clock.copy()))


def backward(x: Setting, bars: data.Samples, out: adjoint.Adjoint) -> data.Motion:
    """Take an adjoint at the end of the run to its start; the motion at the end."""
    record = adjoint.empty_record(x.par.N, ROWS * STEPS * len(x.plan.stages), ROWS, x.loads.acts)
    motion, scratch = data.copy_of(x.motion), data.empty_scratch(x.par.N)
    assert march_back(x.par, x.plan, x.command, x.loads, motion, scratch, bars, record, out) == RUNNING
    return motion


def products(x: Setting, d: Setting, out: adjoint.Adjoint) -> dict[str, float]:
    """Derivative along a direction, by what it is a derivative by."""
    found = {"h": out.numbers[adjoint.BY_H] * d.plan.h}
    for name, size in adjoint.SIZES.items():
        if name != "h":
            place = adjoint.PLACES[name]
            found[name] = float(out.numbers[place : place + size] @ np.ravel(getattr(d.par, name)))
    for (load, name), size in adjoint.LOAD_SIZES.items():
        place = adjoint.LOAD_PLACES[load, name]
        found[name] = float(out.numbers[place : place + size] @ np.ravel(getattr(own_numbers(d.loads, load), name)))
    found["flow"] = float((out.flow * own_numbers(d.loads, "drag").flow).sum())
    found["force"] = float((out.force * own_numbers(d.loads, "applied_force").table).sum())
    N = x.par.N
    for row, bar in NODE_ROWS.items():
        both = data.nodes_of(out.nodes[bar], N), data.nodes_of(d.motion.nodes[row], N)
        found[f"nodes {bar}"] = float((both[0] * both[1]).sum())
    Q, dQ = (m.body[data.ATTITUDE : data.ATTITUDE + 4] for m in (x.motion, d.motion))
    eta = 2.0 * (Q[0] * dQ[1:] - dQ[0] * Q[1:] - np.cross(Q[1:], dQ[1:])) / (Q @ Q)
    found["attitude"] = float(out.body[adjoint.ATTITUDE_BAR : adjoint.ATTITUDE_BAR + 3] @ eta)
    for place, bar in BODY_PLACES.items():
        found[f"body {bar}"] = float(out.body[bar : bar + 3] @ d.motion.body[place : place + 3])
    for place, bar in REEL_PLACES.items():
        found[f"reel {bar}"] = out.reel[bar] * d.motion.reel[place]
    found["torques"] = float(out.torques @ d.command.torques)
    found["profile"] = float((out.profile * d.command.profile).sum())
    return found
