"""Sentences on what ended a motion, when, and what to do about it."""

from __future__ import annotations

from typing import NamedTuple

from tautline import errors
from tautline.engine.lowering import LIMIT_NAMES
from tautline.errors import InputError
from tautline.kernels import data
from tautline.kernels.limits import STABLE, Limits

LOSS_AT_GUIDE = (
    "the loss at the guide has no unique solution while the reel stands nearly still. Use order=2, or a smaller step"
)
FRICTION_OF_WHEELS = (
    "the friction of sheaves and pins has no unique solution while a rope hardly moves on them. Use order=2, a smaller "
    "step or a larger smoothing_speed"
)


class Ended(NamedTuple):
    """A motion at its end.

    Attributes
    ----------
    where : str
        The line or span that is too short or too long, as the beginning of a sentence; "" where there is one line.
    out, shortest : float
        Length of it (m), and the one at which a retrieval ends; of a system with one line always.
    reel_speed, wave_speed : float
        Of the reel that is nearest to the waves in its string, and of these (m/s).
    backward : str
        What has no unique solution in stages that go back in time, and what to do about it; "" if nothing.
    """

    status: int
    time: float
    where: str
    out: float
    shortest: float
    step: float
    adaptive: bool
    limits: Limits
    reel_speed: float
    wave_speed: float
    backward: str


def sentence(x: Ended) -> str:
    """Sentence on what happened, when, and what to do about it."""
    return f"stopped at t = {x.time:.6g} s: {_event(x)}"


def _event(x: Ended) -> str:
    if x.status == errors.FULLY_RETRIEVED:
        return f"{x.where}fully retrieved, {x.out:.3g} m of string left (minimum_length is {x.shortest:.3g} m)"
    if x.status == errors.FULLY_DEPLOYED:
        return f"{x.where}fully deployed, {x.out:.6g} m of string out"
    if x.status == errors.TWO_BLOCKED:
        return f"{x.where}down to {x.out:.3g} m (two-blocked): stop hauling in before, or lower minimum_length"
    if x.status == errors.UNSTABLE_STEP:
        name, limit = min(zip(x.limits._fields[:STABLE], x.limits, strict=False), key=lambda pair: pair[1])
        left = "" if x.where else f" with {x.out:.3g} m of string left"
        remedy = "a shorter sample interval" if x.adaptive else "step='auto', a smaller step"
        return (
            f"the step {x.step:.3g} s is {x.step / limit:.2f} of the stability limit {limit:.3g} s, set by "
            f"{LIMIT_NAMES[name]}{left}; use {remedy} or fewer elements"
        )
    if x.status == errors.REEL_OUTRUNS_WAVES:
        return (
            f"the reel runs at {x.reel_speed:.4g} m/s, and waves in the string at no more than {x.wave_speed:.4g} m/s: "
            "what the reel does cannot reach the string any more, and the model has no solution. Use a slower reel, or "
            "a stiffer or lighter string"
        )
    if x.status == errors.NEWTON_FAILED and x.backward:
        return f"Newton's method did not converge; orders 4 and 6 have stages that go back in time, where {x.backward}"
    if x.status == errors.NEWTON_FAILED:
        return (
            "Newton's method did not converge; the step is too large for how fast bodies turn or strings move. Use a "
            "smaller step"
        )
    return "a number was no longer finite; use a smaller step and check the initial state"


def check_step(plan: data.Plan, limits: Limits, mesh: str) -> None:
    """Refuse a fixed step that is too near the stability limit from the start, of a mesh in words."""
    limit = min(limits[:STABLE])
    if not plan.adaptive and plan.h > plan.allowed_ratio * limit:
        raise InputError(
            f"step: expected at most {plan.allowed_ratio * limit:.3g} s ({plan.allowed_ratio:g} of the stability limit "
            f"{limit:.3g} s of {mesh}), got {plan.h!r}; use step='auto', or fewer elements"
        )
