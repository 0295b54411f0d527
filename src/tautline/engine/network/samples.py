"""Samples that the kernels wrote of a system, as variables with names; and sentences on how a march ended."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tautline import ledger
from tautline.engine.network.strands import NO_SPAN, strands_of, wheel_reel
from tautline.kernels import data
from tautline.kernels.network import data as kernels
from tautline.model.string_loads import StringLoads
from tautline.model.system.state import BodyState, LineState, State
from tautline.model.system.system import System
from tautline.results.network import FEEDS, derived, of_line, spans
from tautline.results.values import Values


def values_of(
    system: System,
    samples: kernels.WholeSamples,
    times: data.Array,
    loads: Mapping[str, StringLoads] | None = None,
) -> Values:
    """Variables of the results from samples."""
    B = len(system.bodies)
    bodies, whole = samples.bodies[:, :B], samples.whole
    found = {
        "body_position": bodies[..., kernels.BODY_PLACE : kernels.BODY_PLACE + 3],
        "body_velocity": bodies[..., kernels.BODY_VELOCITY : kernels.BODY_VELOCITY + 3],
        "angular_velocity": bodies[..., kernels.BODY_OMEGA : kernels.BODY_OMEGA + 3],
        "attitude": bodies[..., kernels.BODY_ATTITUDE : kernels.BODY_ATTITUDE + 9].reshape(len(whole), B, 3, 3),
        **_of_lines(system, samples, times),
        **{account.name: whole[:, k] for k, account in enumerate(ledger.ACCOUNTS)},
        "linear_momentum": whole[:, kernels.LINEAR_MOMENTUM : kernels.LINEAR_MOMENTUM + 3],
        "angular_momentum": whole[:, kernels.ANGULAR_MOMENTUM : kernels.ANGULAR_MOMENTUM + 3],
    }
    return derived(system, found, loads)


def _of_lines(system: System, samples: kernels.WholeSamples, times: data.Array) -> Values:
    """Time, nodes and reels of all lines, and of what they run over."""
    reeved: Values = {}
    strands = samples.strands
    if system.is_reeved:
        reeved = reeved_values(system, samples)
        strands = samples.strands[:, [k for k, x in enumerate(strands_of(system)) if x.span == 0]]
    return reeved | {
        "time": times,
        "position": samples.nodes[..., :3],
        "velocity": samples.nodes[..., 3:],
        "reeled_length": strands[..., kernels.REELED],
        "reel_speed": strands[..., kernels.SPEED],
        "torque": strands[..., kernels.TORQUE_NOW],
        "motor_work": strands[..., data.CONTROL_WORK],
    }


def values_of_line(system: System, samples: kernels.WholeSamples, times: data.Array, name: str) -> Values:
    """Variables that sensors of a line show, from samples."""
    known = _of_lines(system, samples, times)
    with np.errstate(all="ignore"):
        *_, start, end, power = of_line(system, name, known, known.get(FEEDS))[0]
    torque = known["torque"][:, list(system.lines).index(name)]
    found = {"start_tension": start, "end_tension": end, "torque": torque, "power": power}
    return {variable: x[:, None] for variable, x in found.items()}


def reeved_values(system: System, samples: kernels.WholeSamples) -> Values:
    """Lengths of all spans, and what passes the sheaves and pins of all lines."""
    own = strands_of(system)
    spans = [k for k, x in enumerate(own) if x.span >= 0]
    sheaves = [k for k, x in enumerate(own) if x.span > 0]
    places = {(x.line, x.span): k for k, x in enumerate(own)}
    wheels = [places.get((own[k].line, NO_SPAN - own[k].span), k) for k in sheaves]
    lengths = [system.lines[own[k].line].string.length - samples.strands[:, k, kernels.RETRACTED] for k in spans]
    passing, wheel = samples.strands[:, sheaves], samples.strands[:, wheels]
    apart = np.array([float(j != k) for j, k in zip(wheels, sheaves, strict=True)])
    radii = np.array([wheel_reel(own[k]).drum_radius for k in sheaves])
    speeds, torque = samples.strands[..., kernels.SPEED], wheel[..., kernels.TORQUE_NOW]
    near, far = [speeds[:, k] for k in spans], []
    for k in spans:
        behind = own[k + 1] if k + 1 < len(own) and own[k + 1].line == own[k].line else None
        behind = None if behind is not None and behind.span < NO_SPAN else behind
        sign = 0.0 if behind is None else -1.0 if behind.span == NO_SPAN else 1.0
        far.append(sign * speeds[:, k if behind is None else k + 1])
    return {
        FEEDS: np.stack([np.stack(near, axis=1), np.stack(far, axis=1)], axis=2),
        "span_length": np.stack(lengths, axis=1),
        "passed": passing[..., kernels.REELED],
        "passing_speed": passing[..., kernels.SPEED],
        "rim_speed": wheel[..., kernels.SPEED],
        "rim_travel": wheel[..., kernels.REELED],
        "sheave_torque": torque,
        "sheave_power": torque * wheel[..., kernels.SPEED] / radii + 0.0,
        "sheave_work": wheel[..., data.CONTROL_WORK],
        "sheave_loss": passing[..., data.FRICTION_LOSS] + apart * wheel[..., data.FRICTION_LOSS],
    }


def body_in(system: System, samples: kernels.WholeSamples, name: str) -> dict[str, data.Array]:
    """Position, velocity, attitude and angular velocity of a body in a single sample, as a `BodyState` has them."""
    row = samples.bodies[0, list(system.bodies).index(name)]
    return {
        "position": row[kernels.BODY_PLACE : kernels.BODY_PLACE + 3].copy(),
        "velocity": row[kernels.BODY_VELOCITY : kernels.BODY_VELOCITY + 3].copy(),
        "attitude": row[kernels.BODY_ATTITUDE : kernels.BODY_ATTITUDE + 9].reshape(3, 3).copy(),
        "angular_velocity": row[kernels.BODY_OMEGA : kernels.BODY_OMEGA + 3].copy(),
    }


def nodes_in(system: System, samples: kernels.WholeSamples, name: str) -> dict[str, data.Array]:
    """Nodes of a line and their velocities in a single sample, as a `LineState` has them."""
    own = samples.nodes[0, spans(system)[name][0]]
    return {"nodes": own[:, :3].copy(), "node_velocities": own[:, 3:].copy()}


def state_of(system: System, samples: kernels.WholeSamples) -> State:
    """The state of a system in a single sample."""
    lines, strands = {}, strands_of(system)
    for name, line in system.lines.items():
        own = nodes_in(system, samples, name)
        rows = {x.span: row for x, row in zip(strands, samples.strands[0], strict=True) if x.line == name}
        reel = float(rows[0][kernels.REELED]), float(rows[0][kernels.SPEED])
        if not line.is_reeved:
            lines[name] = LineState(own["nodes"], own["node_velocities"], *reel)
            continue
        spans_of = np.array([rows[k] for k in range(line.spans)])
        at_end = rows.get(NO_SPAN, np.zeros(kernels.STRAND_COLUMNS))
        lines[name] = LineState(
            own["nodes"],
            own["node_velocities"],
            *reel,
            line.string.length - spans_of[:, kernels.RETRACTED],
            passed=spans_of[1:, kernels.REELED],
            passing=spans_of[1:, kernels.SPEED],
            wheel_speeds=np.array([rows.get(NO_SPAN - k, rows[k])[kernels.SPEED] for k in range(1, line.spans)]),
            end_reeled_length=float(at_end[kernels.REELED]),
            end_reel_speed=float(at_end[kernels.SPEED]),
        )
    return State({name: BodyState(**body_in(system, samples, name)) for name in system.bodies}, lines)
