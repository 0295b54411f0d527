"""Values of a checkpoint that can be: forms of its text, and ranges of the numbers of its motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tautline.errors import InputError
from tautline.kernels import data
from tautline.kernels.limits import MAX_LEVEL
from tautline.kernels.repeating import MOST_EXTRA
from tautline.model.checks import LARGEST, MOST_STEPS
from tautline.units import shown

# A form is a type; a tuple or a list of one form for lists of a given or of any length; or a dict, in which ANY stands
# for all names. A float is a finite number.
Form = Any
ANY = ""
VECTOR = (float, float, float)
WRENCH = (float,) * 6
# Parts of the string's length by which the reel may be beyond its ends.
BEYOND = 1e-6


def check_form(name: str, value: Any, form: Form) -> None:
    """Refuse a value of another form."""
    if isinstance(form, dict):
        if not isinstance(value, dict):
            _refuse(name, "a table", value)
        for key in form.keys() - {ANY} - value.keys():
            _refuse(name, f"{key!r} among its keys", sorted(value))
        for key, item in value.items():
            if key in form or ANY in form:
                check_form(f"{name}.{key}", item, form.get(key, form.get(ANY)))
    elif isinstance(form, tuple | list):
        if not isinstance(value, list) or (isinstance(form, tuple) and len(value) != len(form)):
            _refuse(name, "a list" if isinstance(form, list) else f"a list of {len(form)}", value)
        for k, item in enumerate(value):
            check_form(f"{name}[{k}]", item, form[k] if isinstance(form, tuple) else form[0])
    elif form is float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
            _refuse(name, f"a number of at most {LARGEST:g} in size", value)
    elif not isinstance(value, form) or (form is int and isinstance(value, bool)):
        _refuse(name, {str: "text", bool: "true or false", int: "a whole number"}.get(form, form.__name__), value)


def check_steps(saved: Mapping[str, Any], plan: data.Plan) -> None:
    """Refuse a base step that is neither the one of the method nor one that was chosen for a sample interval."""
    chosen = {interval / count for interval, count in saved["base_steps"]}
    h = saved["h"]
    if h != plan.h if not plan.adaptive else chosen and h not in chosen:
        _refuse("h", "the step of the run", h)
    if chosen and not plan.adaptive:
        _refuse("base_steps", "none for a fixed step", saved["base_steps"])


def check_counts(base_steps: Mapping[float, int], allowed: float) -> None:
    """Refuse numbers of base steps that no motion with this largest step (s) would have been given."""
    for interval, count in base_steps.items():
        if count > max(1.0, interval / allowed) * 2**MAX_LEVEL or count > MOST_STEPS:
            _refuse("number of base steps", f"fewer for a sample interval of {interval:g} s", count)


def check_clock(clock: Any) -> None:
    """Refuse counters that no march could have left."""
    if not (np.isfinite(clock).all() and (clock == np.round(clock)).all() and (clock >= 0).all()):
        _refuse("clock", "counters from 0", clock.tolist())
    most = {data.LEVEL: MAX_LEVEL, data.RAISED: MAX_LEVEL, data.EXTRA: MOST_EXTRA}
    for place, value in enumerate(clock.tolist()):
        if value > most.get(place, MOST_STEPS):
            _refuse("clock", f"at most {most.get(place, MOST_STEPS)} at place {place}", value)


def check_reel(reel: data.Array, longest: float, length: float) -> None:
    """Refuse numbers of a reel that are beyond its string (m), or times beyond the longest base step (s)."""
    times = reel[[data.PENDING, data.LOADS_PENDING, data.H_LAST, data.H_BEFORE, data.H_EARLIER, data.GUARDED_STEP]]
    if not (np.abs(times) <= 2.0 * longest).all():
        _refuse("reel", f"times of steps of at most {2.0 * longest:g} s", float(times[np.abs(times).argmax()]))
    if not -BEYOND * length <= reel[data.S] <= (1.0 + BEYOND) * length:
        _refuse("reel", f"a reeled length from 0 to {length:g} m", float(reel[data.S]))
    if reel[data.HELD] not in (data.NOT_HELD, data.STUCK, data.PRESCRIBED, data.GLIDING):
        _refuse("reel", "one of four ways to be held", float(reel[data.HELD]))


def check_attitude(quaternion: data.Array) -> None:
    """Refuse what is no rotation."""
    if not 0.5 < float(quaternion @ quaternion) < 2.0:
        _refuse("attitude", "a quaternion of length 1", quaternion.tolist())


def check_energies(energies: data.Array) -> None:
    """Refuse a motion whose energies are not numbers."""
    if not np.isfinite(energies).all():
        _refuse("motion", "one of finite energy", energies.tolist())


def longest_step(saved: Mapping[str, Any]) -> float:
    """Longest base step that a motion was made with (s); also that of an impulse on one that has made none."""
    return float(max([saved["h"], 1e-9, *(interval / count for interval, count in saved["base_steps"])]))


def _refuse(name: str, expected: str, value: Any) -> None:
    raise InputError(f"checkpoint: expected {expected} for {name}, got {shown(value)}")
