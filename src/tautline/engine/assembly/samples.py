"""Samples that the kernels wrote of an assembly, as variables with names; and sentences on how a march ended."""

from __future__ import annotations

import numpy as np

from tautline import errors, ledger
from tautline.engine.assembly.lowering import line_pendulum
from tautline.kernels import data
from tautline.kernels.assembly import data as kernels
from tautline.model.assembly.assembly import Assembly
from tautline.model.assembly.parts import Line
from tautline.model.statics import pull_on_drum, spooled_weight
from tautline.results.assembly import derived, spans
from tautline.results.values import Values, at_first_end


def values_of(assembly: Assembly, samples: kernels.WholeSamples, times: data.Array) -> Values:
    """Variables of the results from samples."""
    values = values_without_holding(assembly, samples, times)
    for k, line in enumerate(assembly.strings.values()):
        held = np.isnan(values["torque"][:, k])
        if held.any() and line.reel is not None:
            values["torque"][held, k] = _holding(assembly, line, k, values)[held]
            radii = line.reel.radius(values["reeled_length"][held, k])
            values["power"][held, k] = values["torque"][held, k] * values["reel_speed"][held, k] / radii
    return values


def values_without_holding(assembly: Assembly, samples: kernels.WholeSamples, times: data.Array) -> Values:
    """Variables of the results from samples, but torques that hold or lead a drum, which are NaN."""
    B = len(assembly.bodies)
    bodies, strands, whole = samples.bodies[:, :B], samples.strands, samples.whole
    found = {
        "time": times,
        "body_position": bodies[..., kernels.BODY_PLACE : kernels.BODY_PLACE + 3],
        "body_velocity": bodies[..., kernels.BODY_VELOCITY : kernels.BODY_VELOCITY + 3],
        "angular_velocity": bodies[..., kernels.BODY_OMEGA : kernels.BODY_OMEGA + 3],
        "attitude": bodies[..., kernels.BODY_ATTITUDE : kernels.BODY_ATTITUDE + 9].reshape(len(whole), B, 3, 3),
        "position": samples.nodes[..., :3],
        "velocity": samples.nodes[..., 3:],
        "reeled_length": strands[..., kernels.REELED],
        "reel_speed": strands[..., kernels.SPEED],
        "torque": strands[..., kernels.TORQUE_NOW].copy(),
        "motor_work": strands[..., data.CONTROL_WORK],
        **{account.name: whole[:, k] for k, account in enumerate(ledger.ACCOUNTS)},
        "linear_momentum": whole[:, kernels.LINEAR_MOMENTUM : kernels.LINEAR_MOMENTUM + 3],
        "angular_momentum": whole[:, kernels.ANGULAR_MOMENTUM : kernels.ANGULAR_MOMENTUM + 3],
    }
    return derived(assembly, found)


def _holding(assembly: Assembly, line: Line, k: int, values: Values) -> data.Array:
    """Torques that hold a drum (N m), from the strain at the guide; without what turns the drum along with a body."""
    elements = list(spans(assembly).values())[k][1]
    strain = values["strain"][:, elements]
    at_guide = at_first_end(strain) if strain.shape[1] > 1 else strain[:, 0]
    gravity = 0.0 if assembly.on_free_body(line) else float(assembly.gravity or 0.0)
    pendulum = line_pendulum(line, gravity, assembly.fluid)
    lengths, which = np.unique(values["reeled_length"][:, k], return_inverse=True)
    weights = np.array([spooled_weight(pendulum, float(s)) for s in lengths])
    torque: data.Array = pendulum.reel.radius(lengths)[which] * (pull_on_drum(pendulum, at_guide) + weights[which])
    return torque


def sentence(status: int, time: float, name: str, out: float, step: float, limit: float, adaptive: bool) -> str:
    """What ended a motion, when, and what to do about it; `name` is the string at whose end, with so much `out`."""
    head = f"stopped at t = {time:.6g} s: "
    if status == errors.FULLY_RETRIEVED:
        return f"{head}string {name!r} is fully retrieved, {out:.3g} m left"
    if status == errors.FULLY_DEPLOYED:
        return f"{head}string {name!r} is fully deployed, {out:.6g} m out"
    if status == errors.UNSTABLE_STEP:
        remedy = "a shorter sample interval" if adaptive else "step='auto', a smaller step"
        return head + (
            f"the step {step:.3g} s is {step / limit:.2f} of the stability limit {limit:.3g} s of waves in strings; "
            f"use {remedy} or fewer elements"
        )
    if status == errors.REEL_OUTRUNS_WAVES:
        return head + "a reel is faster than waves in its string; use a slower one, or a stiffer or lighter string"
    if status == errors.NEWTON_FAILED:
        return head + "Newton's method did not converge; the step is too large for how fast things turn or move"
    return head + "a number was no longer finite; use a smaller step and check the initial state"
