"""The way back through the steps, against exact derivatives along random directions."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
import pytest

import tautline as tl
from tautline.engine.loads import kernel_loads, own_numbers
from tautline.errors import RUNNING
from tautline.gradients.reverse import BODY_PLACES, NODE_ROWS, REEL_PLACES
from tautline.kernels import data, guide, jit, newton, rotation
from tautline.kernels.adjoint import data as adjoint
from tautline.kernels.adjoint.march import march_back
from tautline.kernels.adjoint.observe import DAMPING_LOSS, FLUID_WORK
from tautline.kernels.compose import COMPOSITIONS
from tautline.kernels.loads.applied_force import AppliedForce
from tautline.kernels.loads.damping import Damping
from tautline.kernels.loads.drag import Drag
from tautline.kernels.march import march
from tautline.kernels.observe import begin
from tests.support import duals

ROWS, STEPS = 2, 2
SAMPLED = [
    *(data.KINETIC, data.ELASTIC, data.GRAVITY, data.REELED_LENGTH, data.REEL_SPEED, data.ROTATIONAL),
    *(data.ANGULAR_MOMENTUM, *range(data.ANGULAR_VELOCITY, data.ROTATION + 9), data.GUIDE_LOSS),
    DAMPING_LOSS,
    FLUID_WORK,
    data.EXTERNAL_WORK,
]
DRIVEN = [data.CONTROL_WORK, data.DRUM_TORQUE, data.FRICTION_LOSS]
LOADS = list(tl.registry.LOADS)


@pytest.fixture
def python_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels as plain Python on dual numbers, and Newton's method to the last digit."""
    for name, module in list(sys.modules.items()):
        if name.startswith("tautline.kernels.") and ".machine" not in name:
            monkeypatch.setattr(module, "float", lambda x: x, raising=False)
            if hasattr(module, "math"):
                monkeypatch.setattr(module, "math", duals.MATH)
    monkeypatch.setattr(jit.Entry, "__call__", lambda entry, *args: entry.py_func(*args))
    monkeypatch.setattr(rotation, "ERROR_LEFT", 1e-30)
    monkeypatch.setattr(newton, "ERROR_LEFT", 1e-28)
    monkeypatch.setattr(newton, "ROUNDING_FLOOR", 0.0)
    monkeypatch.setattr(guide, "LAST_SMOOTH_CORRECTION", 1e-15)


class Setting(NamedTuple):
    par: data.Parameters
    plan: data.Plan
    command: data.Command
    motion: data.Motion
    loads: data.Loads


PLAIN = kernel_loads(tl.load("fixed-length").pendulum)


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
    """After a step, from which on loads go the way back."""
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
        found[name] = float(out.of_loads[place : place + size] @ np.ravel(getattr(own_numbers(d.loads, load), name)))
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


LOCKED = data.Command(True, np.zeros(1), np.zeros(1))
TORQUE = data.Command(False, np.array([0.0, 0.013, 0.05]), np.array([3.0, -2.0, 4.0]))
PROFILE = data.Command(
    False, np.zeros(1), np.zeros(1), data.BY_PROFILE, np.array([[0.0, 4.0, 0.7, 0.5, 0.3, 0, 0, 0, 0]])
)


DAMPED = with_loads(damping=Damping(True, 2.0))
STIFF = with_loads(damping=Damping(True, 200.0))
PUSH = AppliedForce(
    True,
    (0.3, -0.2, 0.1),
    np.array([[0.0, 0.012, 0.031, 0.2], *np.random.default_rng(0).standard_normal((6, 4)).tolist()]),
)
LAYERS = np.array([[1.0, 3.0, 8.0], [1.0, -2.0, 0.5], [0.3, 1.5, -1.0], [0.1, 0.2, -0.3]])
WIND = Drag(True, 0.3, 0.1, 0.7, (0.2, 0.1, 0.3), 0.4, np.array([[0.0], [1.0], [-2.0], [0.5]]), 1.5, 2.0)
WATER = WIND._replace(flow=LAYERS, string_rate=150.0, body_rate=90.0)
SLACK = data.code(tl.registry.ELASTIC_LAWS, "tension_only")


def law(name: str) -> int:
    return data.code(tl.registry.GUIDE_LAWS, name)


CASES: dict[str, tuple[data.Command, dict[str, Any]]] = {
    "locked": (LOCKED, {}),
    "locked point mass": (LOCKED, {"rotates": False}),
    "locked slack": (LOCKED, {"elastic_law": SLACK}),
    "torque none": (TORQUE, {"law": law("none")}),
    "torque dissipative": (TORQUE, {"law": law("dissipative")}),
    "torque published": (TORQUE, {"law": law("published"), "extrapolated": True}),
    "torque momentum": (TORQUE, {"law": law("momentum"), "rotates": False}),
    "torque slack": (TORQUE, {"law": 0, "elastic_law": SLACK}),
    "torque paper": (TORQUE, {"law": law("published"), "theta": 0.0}),
    "profile": (PROFILE, {"law": law("dissipative")}),
    "profile none": (PROFILE, {"law": law("none"), "rotates": False}),
    "torque rubbing": (TORQUE, {"viscous": 0.03, "coulomb": 0.2}),
    "torque rubbing, damped": (TORQUE, {"viscous": 0.03, "coulomb": 0.2, "loads": DAMPED}),
    "locked damped": (LOCKED, {"loads": DAMPED}),
    "locked damped slack": (LOCKED, {"loads": STIFF, "elastic_law": SLACK}),
    "locked damped point mass": (LOCKED, {"loads": DAMPED, "rotates": False}),
    "torque damped": (TORQUE, {"loads": DAMPED}),
    "torque damped slack": (TORQUE, {"loads": STIFF, "elastic_law": SLACK}),
    "profile damped": (PROFILE, {"loads": STIFF, "elastic_law": SLACK}),
    "locked pushed": (LOCKED, {"loads": with_loads(applied_force=PUSH)}),
    "torque pushed": (TORQUE, {"loads": with_loads(applied_force=PUSH, damping=Damping(True, 2.0)), "rotates": False}),
    "locked in wind": (LOCKED, {"loads": with_loads(drag=WIND)}),
    "locked in water": (LOCKED, {"loads": with_loads(drag=WATER, damping=Damping(True, 200.0)), "elastic_law": SLACK}),
    "locked point mass in water": (LOCKED, {"loads": with_loads(drag=WATER), "rotates": False}),
    "torque in water": (TORQUE, {"loads": with_loads(drag=WATER, damping=Damping(True, 2.0))}),
    "profile in water": (PROFILE, {"loads": with_loads(drag=WATER)}),
}


# The paper's scheme is composed at constant length only.
ORDERS = {"torque paper": (2,), "torque rubbing": (2,), "locked": (2, 4, 6)}


def orders_of(case: str) -> tuple[int, ...]:
    return (2,) if "loads" in CASES[case][1] else ORDERS.get(case, (2, 4))


def sizes_of(case: str) -> tuple[int, ...]:
    return (3,) if "loads" in CASES[case][1] else (2, 3)


RUNS = [(case, order, N) for case in CASES for order in orders_of(case) for N in sizes_of(case)]


@pytest.mark.usefixtures("python_kernels")
@pytest.mark.parametrize(("case", "order", "N"), RUNS)
def test_product_with_a_direction(case: str, order: int, N: int) -> None:
    """bars.(forward derivative along d) = (adjoint of bars).d, for random bars and d."""
    command, changes = CASES[case]
    rng = np.random.default_rng(len(case) + N)
    loads = changes.get("loads", PLAIN)
    x = setting(rng, N, order, command, 0.01, **changes)
    columns = SAMPLED + (DRIVEN if command.kind == data.BY_TORQUE and not command.locked else [])
    bars = data.empty_samples(ROWS, N)
    bars.scalars[:] = 0.0
    bars.scalars[:, columns] = rng.standard_normal((ROWS, len(columns)))
    bars.nodes[:] = rng.standard_normal(bars.nodes.shape)
    d = random_direction(rng, x)
    y = with_slopes(x, d)
    if loads.acts:
        motion = begun(y).motion
        x, d = part(x, motion, duals.values), part(d, motion, duals.slopes)
    samples = forward(y)
    expected = float((bars.scalars[:, columns] * duals.slopes(samples.scalars[:, columns])).sum())
    expected += float((bars.nodes * duals.slopes(samples.nodes)).sum())
    out = adjoint.empty_adjoint(x.par, command, x.loads)
    backward(x, bars, out)
    found = products(x, d, out)
    size = sum(map(abs, found.values()))
    assert abs(sum(found.values()) - expected) <= 1e-12 * size


def coordinates(N: int, out: adjoint.Adjoint) -> list[tuple[Any, Any]]:
    """Places of the adjoint: of positions, of momenta, of s and p_s, of the attitude and of Pi."""
    rows = [data.nodes_of(out.nodes[row], N) for row in (adjoint.POSITION_BAR, adjoint.MOMENTUM_BAR)]
    nodes = [(row, (i, j)) for row in rows for i in range(1, N + 1) for j in range(3)]
    return [*nodes, (out.reel, adjoint.S_BAR), (out.reel, adjoint.P_S_BAR), *((out.body, k) for k in range(6))]


def brackets(N: int, Pi: Any) -> Any:
    """Poisson brackets of these coordinates with one another; Pi is in the body frame."""
    n = 3 * N
    B = np.zeros((2 * n + 8, 2 * n + 8))
    B[:n, n : 2 * n] = np.eye(n)
    B[2 * n, 2 * n + 1] = 1.0
    B[2 * n + 2 : 2 * n + 5, 2 * n + 5 :] = np.eye(3)
    B -= B.T
    x, y, z = Pi
    B[2 * n + 5 :, 2 * n + 5 :] = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return B


@pytest.mark.usefixtures("python_kernels")
@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("case", ["locked", "torque none"])
def test_conservative_runs_are_symplectic(case: str, order: int) -> None:
    """A B A^T = B', where A is the derivative of the motion at the end by that at the start; its rows are adjoints."""
    N = 2
    command, changes = CASES[case]
    x = setting(np.random.default_rng(1), N, order, command, 0.01, **changes)
    none = data.Samples(np.zeros((ROWS, data.SCALARS)), np.zeros((ROWS, 2, N + 1, 3)))
    rows = []
    for k in range(6 * N + 8):
        out = adjoint.empty_adjoint(x.par, command, x.loads)
        places = coordinates(N, out)
        array, place = places[k]
        array[place] = 1.0
        end = backward(x, none, out)
        rows.append([array[place] for array, place in places])
    A, B, B_end = np.array(rows), *(brackets(N, m.body[data.SPIN : data.SPIN + 3]) for m in (x.motion, end))
    if command.locked:  # s is a parameter
        A, B, B_end = (np.delete(np.delete(C, [6 * N, 6 * N + 1], 0), [6 * N, 6 * N + 1], 1) for C in (A, B, B_end))
    np.testing.assert_allclose(A @ B @ A.T, B_end, rtol=0.0, atol=1e-10)
