"""simulate(): from a pendulum, a state and a command to a labelled result. The one caller of `march`."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tautline import errors
from tautline._version import __version__
from tautline.errors import InputError
from tautline.kernels import data
from tautline.kernels.compose import COMPOSITIONS
from tautline.kernels.march import march, step_limits
from tautline.kernels.observe import begin, observe
from tautline.model import checks
from tautline.model.command import Command, Locked, Torque
from tautline.model.pendulum import Pendulum
from tautline.model.reel import GUIDE_LAWS
from tautline.model.state import State

if TYPE_CHECKING:
    import xarray as xr

SCHEMES = {"symmetric": 0.5, "paper": 0.0}
# Parts of the stability limit. Accuracy goes before stability does (docs/theory.md, "Stability").
LARGEST_RATIO = 0.9
AUTO_RATIO = 0.5
# "auto" also keeps step * (frequency of the fundamental stretching mode) below this: 126 steps a period.
AUTO_RESOLUTION = 0.05
# Default end of a retrieval, as a part of the length deployed at the start.
MINIMUM_LENGTH = 0.01
DEFAULT_SAMPLES = 1000
# Steps between two looks at the keyboard: about 0.1 s.
STEPS_A_CALL = 50_000
# A ratio of two times counts as whole when it is within this of a whole number.
WHOLE = 1e-6


def kernel_parameters(pendulum: Pendulum, elements: int, scheme: str, compensated: bool) -> data.Parameters:
    string, reel, body = pendulum.string, pendulum.reel, pendulum.body
    return data.Parameters(
        N=elements,
        L=string.length,
        mu=string.density,
        EA=string.stiffness,
        kappa=reel.inertia_mass,
        d=reel.drum_radius,
        b=reel.guide_length,
        r_p=reel.guide_position,
        M=body.mass,
        J=body.inertia,
        rho=body.center_of_mass,
        g=pendulum.gravity,
        law=GUIDE_LAWS[reel.guide_law],
        sigma_0=reel.smoothing_speed,
        theta=SCHEMES[scheme],
        rotates=not body.is_point,
        compensated=compensated,
    )


def initial_motion(par: data.Parameters, state: State) -> data.Motion:
    """Configuration from the state; velocities become momenta by the Legendre transform."""
    motion = data.empty_motion(par.N)
    motion.nodes[data.POSITION] = state.nodes.T.ravel()
    motion.nodes[data.VELOCITY] = state.node_velocities.T.ravel()
    motion.body[data.ATTITUDE : data.ATTITUDE + 4] = _quaternion(np.asarray(state.attitude))
    motion.body[data.OMEGA : data.OMEGA + 3] = state.angular_velocity
    motion.reel[data.S] = state.reeled_length
    motion.reel[data.SIGMA] = state.reel_speed
    begin(par, motion)
    return motion


def _quaternion(R: data.Array) -> data.Array:
    """Unit quaternion of the rotation nearest to R: the dominant eigenvector of Davenport's matrix."""
    K = np.empty((4, 4))
    K[0, 0] = np.trace(R)
    K[0, 1:] = K[1:, 0] = (R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])
    K[1:, 1:] = R + R.T - np.trace(R) * np.eye(3)
    Q: data.Array = np.linalg.eigh(K)[1][:, -1]
    return Q if Q[0] >= 0.0 else -Q


def _kernel_command(command: Command) -> data.Command:
    times, torques = command.table() if isinstance(command, Torque) else (np.zeros(1), np.zeros(1))
    return data.Command(isinstance(command, Locked), times, torques)


def _whole_ratio(name: str, value: float, unit_name: str, unit: float) -> int:
    ratio = value / unit
    n = round(ratio) if ratio < 2**62 else 0
    if n < 1 or abs(ratio - n) > WHOLE * n:
        nearest = max(1, n) * unit
        raise InputError(
            f"{name}: expected a multiple of {unit_name} ({unit:g} s), got {value!r}; the nearest is {nearest:.12g}"
        )
    return n


def _bare_plan(pendulum: Pendulum, order: int, adaptive: bool) -> data.Plan:
    """All of the plan that does not depend on times: method and limits."""
    composition = COMPOSITIONS[order]
    body = pendulum.body
    return data.Plan(
        h=0.0,
        stages=composition.stages,
        limit_multiple=composition.limit_multiple,
        adaptive=adaptive,
        allowed_ratio=AUTO_RATIO if adaptive else LARGEST_RATIO,
        resolution=AUTO_RESOLUTION,
        minimum_length=0.0,
        end_mass=body.least_effective_mass(),
        body_frequency2=body.swing_frequency2(pendulum.gravity),
        steps_per_sample=0,
    )


def _base_steps(sample: float, allowed: float) -> int:
    """How many base steps "auto" makes of a sample interval, each to be halved as often as need be.

    At most eight, so that a growing string lets the step grow; at least four where the start needs more
    than three, so that halving meets what is allowed within a fourth.
    """
    needed = max(1, math.ceil(sample / allowed))
    part: int = 2 ** max(0, needed.bit_length() - 3)
    return -(-needed // part)


def _timed_plan(
    plan: data.Plan, par: data.Parameters, s: float, locked: bool, duration: float, step: Any, sample: Any
) -> data.Plan:
    """Add base step and sampling."""
    limit, resolved = step_limits(par, plan, s, locked)
    if plan.adaptive:
        sample = duration / DEFAULT_SAMPLES if sample is None else checks.positive("sample", sample, "s")
        allowed = min(plan.allowed_ratio * limit, resolved)
        count = _base_steps(sample, allowed)
        return plan._replace(h=sample / count, steps_per_sample=count)
    step = checks.positive("step", step, "s, or 'auto'")
    if step > plan.allowed_ratio * limit:
        raise InputError(
            f"step: expected at most {plan.allowed_ratio * limit:.3g} s ({plan.allowed_ratio:g} of the stability limit "
            f"{limit:.3g} s of {par.N} elements of {(par.L - s) / par.N:.3g} m), got {step!r}; use step='auto', or fewer elements"
        )
    if sample is None:
        return plan._replace(h=step, steps_per_sample=max(1, round(duration / DEFAULT_SAMPLES / step)))
    sample = checks.positive("sample", sample, "s")
    return plan._replace(h=step, steps_per_sample=_whole_ratio("sample", sample, "step", step))


def _checked_method(pendulum: Pendulum, state: State, command: Command, order: Any, scheme: Any) -> None:
    checks.instance("pendulum", pendulum, Pendulum)
    checks.instance("state", state, State)
    if not isinstance(command, Command):
        checks.refuse("command", "Locked(), Free() or Torque(...)", command)
    checks.choice("order", order, COMPOSITIONS)
    checks.choice("scheme", scheme, SCHEMES)
    state.check_against(pendulum)
    if isinstance(command, Locked):
        if state.reel_speed != 0.0:
            checks.refuse("State.reel_speed", "0 with Locked()", state.reel_speed)
    elif order > 2 and scheme == "paper":
        raise InputError(
            f"order: expected 2 with scheme='paper' and a moving reel, got {order}; that scheme is not "
            "symmetric there, so composing it gains no order. Use scheme='symmetric'"
        )


def _message(status: int, par: data.Parameters, plan: data.Plan, motion: data.Motion) -> str:
    """What happened, when, and what to do about it."""
    t = motion.clock[data.STEP] * plan.h
    X = par.L - motion.reel[data.S]
    if status == errors.RUNNING:
        return f"completed at t = {t:.6g} s"
    head = f"stopped at t = {t:.6g} s: "
    if status == errors.FULLY_RETRIEVED:
        return head + (f"fully retrieved, {X:.3g} m of string left (minimum_length is {plan.minimum_length:.3g} m)")
    if status == errors.FULLY_DEPLOYED:
        return head + f"fully deployed, {X:.6g} m of string out"
    if status == errors.UNSTABLE_STEP:
        limit, _ = step_limits(par, plan, motion.reel[data.S], False)
        return head + (
            f"the step {plan.h:g} s is {plan.h / limit:.2f} of the stability limit {limit:.3g} s of the {X:.3g} m "
            "of string left; use step='auto', a smaller step or fewer elements"
        )
    if status == errors.NEWTON_FAILED and par.law == data.LAW_DISSIPATIVE and len(plan.stages) > 1:
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


def _description(pendulum: Pendulum, state: State, command: Command, run: dict[str, Any]) -> str:
    """The full input as JSON, so that a result explains itself."""
    described = {
        "pendulum": dataclasses.asdict(pendulum),
        "state": {
            name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(state).items()
        },
        "command": {"kind": type(command).__name__, **dataclasses.asdict(command)},
        "run": run,
    }
    return json.dumps(described)


def simulate(
    pendulum: Pendulum,
    state: State,
    command: Command,
    *,
    duration: float,
    step: float | str = "auto",
    sample: float | None = None,
    order: int = 2,
    scheme: str = "symmetric",
    compensated: bool = True,
    minimum_length: float | None = None,
) -> xr.Dataset:
    """Simulate a pendulum from a state under a command.

    Parameters
    ----------
    pendulum, state, command
        What, from where, and what the drum does.
    duration : float
        Simulated time (s), a multiple of `sample`.
    step : float or "auto"
        Time step (s), or a stable one that keeps to half of the stability limit while the string's
        length changes. With a number the run stops at 0.9 of the limit.
    sample : float, optional
        Interval between stored states (s), a multiple of `step`; a thousandth of the duration by default.
    order : {2, 4, 6}
        Order of accuracy; 4 and 6 compose a step of 5 or 11 second-order ones.
    scheme : {"symmetric", "paper"}
        "paper" is the published discretisation, of first order with a moving reel.
    compensated : bool
        Keep rounding from accumulating (the default). Costs about a tenth of the time.
    minimum_length : float, optional
        A retrieval ends when no more than this is deployed (m); 1 % of the initial length by default.

    Returns
    -------
    xarray.Dataset
        On `time`. `attrs["status"]` is "completed" or the event that ended the run early, `attrs["message"]`
        says more.
    """
    from tautline import dataset

    _checked_method(pendulum, state, command, order, scheme)
    checks.instance("compensated", compensated, bool)
    duration = checks.positive("duration", duration, "s")
    if isinstance(step, str):
        checks.choice("step", step, ["auto"])
    X = pendulum.string.length - state.reeled_length
    shortest = MINIMUM_LENGTH * X
    if minimum_length is not None:
        shortest = checks.positive("minimum_length", minimum_length, "m")
        if shortest >= X:
            checks.refuse("minimum_length", f"less than the {X:g} m deployed at the start", minimum_length)

    par = kernel_parameters(pendulum, state.elements, scheme, compensated)
    plan = _bare_plan(pendulum, order, isinstance(step, str))._replace(minimum_length=shortest)
    locked = isinstance(command, Locked)
    plan = _timed_plan(plan, par, state.reeled_length, locked, duration, step, sample)
    interval = plan.steps_per_sample * plan.h
    count = _whole_ratio("duration", duration, "sample", interval)
    motion = initial_motion(par, state)
    samples = data.empty_samples(count + 1, par.N)
    status, filled = _run(par, plan, _kernel_command(command), motion, samples)

    time = np.arange(filled, dtype=np.float64) * np.float64(interval)
    kept = data.Samples(samples.scalars[:filled], samples.nodes[:filled])
    settings = {
        "duration": duration,
        "step": step,
        "sample": interval,
        "order": order,
        "scheme": scheme,
        "compensated": compensated,
        "minimum_length": shortest,
    }
    attrs = {
        "status": errors.STATUS_NAMES[status],
        "message": _message(status, par, plan, motion),
        "end_time": float(motion.clock[data.STEP] * plan.h),
        "step": plan.h / 2 ** int(motion.clock[data.LEVEL]),
        "largest_step_ratio": float(motion.reel[data.WORST_RATIO]),
        "newton_iterations": int(motion.clock[data.ITERATIONS]),
        "order": order,
        "scheme": scheme,
        "scenario": _description(pendulum, state, command, settings),
        "version": __version__,
    }
    return dataset.build(pendulum, dataset.record_of_samples(time, kept), attrs)


def _run(
    par: data.Parameters, plan: data.Plan, command: data.Command, motion: data.Motion, samples: data.Samples
) -> tuple[int, int]:
    """Fill the samples, the first with the initial state; (status, rows filled).

    In pieces, so that an interrupt from the keyboard is heard; the pieces change no bit of the result.
    """
    scratch = data.empty_scratch(par.N)
    observe(par, command.locked, motion, scratch, samples, 0)
    rows = len(samples.scalars)
    piece = max(1, STEPS_A_CALL // plan.steps_per_sample)
    filled = 1
    while filled < rows:
        end = min(filled + piece, rows)
        part = data.Samples(samples.scalars[filled:end], samples.nodes[filled:end])
        status, done = march(par, plan, command, motion, scratch, part)
        filled += done
        if status != errors.RUNNING:
            return status, filled
    return errors.RUNNING, filled
