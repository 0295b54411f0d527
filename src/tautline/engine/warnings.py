"""Warnings on a reel: its end stops, and limits of its motor."""

from __future__ import annotations

from tautline.kernels import data
from tautline.model.reel import Reel
from tautline.quantities import value
from tautline.results.warnings import RunWarning


def stop_warnings(reel: data.Array) -> list[RunWarning]:
    """Warning on a reel that rests on an end stop."""
    if reel[data.STOP] == 0.0:
        return []
    side = "retrieved" if reel[data.STOP] > 0.0 else "deployed"
    since = float(reel[data.STOP_TIME])
    return [RunWarning("end_stop", f"held at the {side} end since t = {since:.6g} s", since)]


def slip_warnings(name: str, slipped: float, since: float) -> list[RunWarning]:
    """Warning on a rope that slipped on its wheel."""
    if slipped == 0.0:
        return []
    text = f"the rope slipped on {name!r} by {slipped:.3g} m in all, first at t = {since:.6g} s"
    return [RunWarning("slip", text, slipped)]


def slack_warnings(name: str, since: float | None) -> list[RunWarning]:
    """Warning on a rope that was slack on both sides of a sheave or pin, first in the sample of a time (s)."""
    if since is None:
        return []
    text = f"the rope was slack on both sides of {name!r}, first at t = {since:.6g} s; the model keeps it there"
    return [RunWarning("slack_sheave", text, since)]


def motor_warnings(reel: Reel, torque: float, power: float) -> list[RunWarning]:
    """Warnings on torque and power that a prescribed motion took beyond the motor's limits."""
    return [
        RunWarning(
            f"motor_{name}",
            f"the prescribed motion of the reel took {value(needed, unit)}, more than max_{name} "
            f"({value(limit, unit)})",
            needed,
            limit,
        )
        for name, needed, limit, unit in (
            ("torque", torque, reel.max_torque, "N m"),
            ("power", power, reel.max_power, "W"),
        )
        if limit is not None and needed > limit
    ]
