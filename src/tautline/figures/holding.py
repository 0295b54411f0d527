"""Verdicts of reports: whether ropes hold, with a required safety factor, never better than the warnings allow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tautline.figures.key_figures import Rope, percent
from tautline.quantities import number

YES, UNSURE, NO, UNKNOWN = "yes", "unsure", "no", ""


class Verdict(NamedTuple):
    """Kind of a verdict and its sentence."""

    kind: str
    text: str


def holding(ropes: Sequence[Rope], status: str, warnings: Sequence[str], required: float | None = None) -> Verdict:
    """Whether ropes hold.

    Parameters
    ----------
    ropes : list of Rope
    status : str
        How the run ended.
    warnings : list of str
        About the numbers; with any, nothing is proven.
    required : float, optional
        Safety factor against the breaking load.
    """
    known = [rope for rope in ropes if rope.use is not None]
    worst = max(known, key=lambda rope: rope.use.utilization if rope.use else 0.0, default=None)
    if worst is None or worst.use is None:
        factor = "" if required is None else f", and so not with a safety factor of {number(required)}"
        text = f"Whether the rope holds is not known{factor}: the run has no breaking load. "
        return Verdict(UNKNOWN, f"{text}Give it to the string as breaking_load, or to the report.")
    found, several = _judged(worst, worst.use.utilization, len(known) > 1, required), len(known) > 1
    missing = [rope.name for rope in ropes if rope.use is None]
    text = found.text
    if found.kind == YES and (doubts := _doubts(status, warnings)):
        name = _named(worst, several)
        found = Verdict(UNSURE, "")
        text = f"Not proven that {text.replace(name, name[0].lower() + name[1:], 1)}, but {doubts}"
    if missing:
        text += f". Not known of {' and '.join(map(repr, missing))}, without a breaking load"
    return Verdict(UNSURE if missing and found.kind == YES else found.kind, f"{text}.")


def _named(rope: Rope, several: bool) -> str:
    return "All ropes" if several else rope.called


def _judged(worst: Rope, share: float, several: bool, required: float | None) -> Verdict:
    """The verdict by the numbers alone, without a full stop."""
    of = f"the breaking load of line {worst.name!r}" if several else "its breaking load"
    if share >= 1.0:
        return Verdict(NO, f"{worst.called} would break: {percent(share)} of its breaking load is reached")
    used = f"{percent(share)} of {of} at most, a safety factor of {number(1.0 / share, 3)}" if share > 0.0 else ""
    if required is not None and share * required > 1.0:
        return Verdict(NO, f"{worst.called} is not safe enough: {used}, where {number(required)} is required")
    verb = "hold" if several else "holds"
    factor = "" if required is None else f" with the required safety factor of {number(required)}"
    return Verdict(YES, f"{_named(worst, several)} {verb}{factor}: {used or 'no tension at any time'}")


def _doubts(status: str, warnings: Sequence[str]) -> str:
    """Reasons not to trust that ropes hold; empty where there are none."""
    reasons = [] if status == "completed" else [f"the run ended early ({status.replace('_', ' ')})"]
    if warnings:
        reasons.append("there are warnings about its numbers")
    return " and ".join(reasons)
