"""Unknowns of a fit: keys of the case and the time offset, with start values, bounds and scales."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tautline.errors import InputError
from tautline.gradients.keys import kind_of
from tautline.model import checks, keys
from tautline.model.forms import in_si
from tautline.model.kinds import Kind
from tautline.model.system.case import Case
from tautline.model.wording import near

OFFSET = "offset"
LINEAR, LOG = "linear", "log"
# Bounds of a positive number without bounds of its own: the start value by and times this.
WIDEST = 1000.0
# Default bounds of the offset: this part of the time that the data take.
OFFSET_SHARE = 0.1
_WORDS = ("start", "from", "to", "scale")


@dataclass(frozen=True)
class Unknown:
    """A number that is looked for, in SI; the search works on x, of which it is `value(x)`."""

    key: str
    unit: str
    start: float
    low: float
    high: float
    scale: str
    size: float  # of a change that matters

    def x(self, value: float) -> float:
        """The number that the search changes."""
        if self.scale == LOG:
            return math.log(value / self.start) if value > 0.0 else -math.inf
        return (value - self.start) / self.size

    def value(self, x: float) -> float:
        """The opposite of `x`, within the bounds."""
        value = self.start * math.exp(x) if self.scale == LOG else self.start + self.size * x
        return min(max(value, self.low), self.high)

    def slope(self, value: float) -> float:
        """Derivative of the value by x."""
        return value if self.scale == LOG else self.size


def read(case: Case, vary: Sequence[str] | Mapping[str, Any]) -> list[Unknown]:
    """Unknowns from the argument `vary` of `fit`."""
    if isinstance(vary, str) or not isinstance(vary, Sequence | Mapping) or not vary:
        checks.refuse("vary", "keys of the case, as a list or as a dict with bounds", vary)
    specs = vary if isinstance(vary, Mapping) else dict.fromkeys(vary)
    return [_read_one(case, str(key), spec) for key, spec in specs.items()]


def _read_one(case: Case, text: str, spec: Any) -> Unknown:
    name, key = f"vary {text}", keys.parse(text)
    if key.section == "run":
        raise InputError(f"{name}: expected a key of the system, its start or its command, got one of the run")
    tree, key = case.to_dict(), case.key(text)
    try:
        present = keys.get(tree, key)
    except (KeyError, IndexError, TypeError):
        present = None
    if isinstance(present, str):
        raise InputError(f"{name}: expected a key with a number in the case, got {present!r}")
    try:
        kind = kind_of(case, text)
    except InputError as error:
        section: Any = tree
        for name_of_section in key.path:
            section = section.get(name_of_section) if isinstance(section, dict) else None
        raise InputError(f"vary: {error}{near(key.name, section if isinstance(section, dict) else ())}") from None
    if isinstance(present, bool) or not isinstance(present, int | float):
        hint = "; give it one to start from" if present is None else ""
        hint = f"; choose components such as {text}[0]" if isinstance(present, list | tuple) else hint
        raise InputError(f"{name}: expected a key with a number in the case, got {present!r}{hint}")
    given = _bounds(name, kind.unit, spec)
    start = given.get("start", float(present))
    least, open_end = _least(kind, key)
    scale = given.get("scale", LOG if open_end and start > 0.0 else LINEAR)
    checks.choice(f"{name} scale", scale, (LINEAR, LOG))
    if scale == LOG and start <= 0.0:
        raise InputError(f"{name}: expected a positive start value on a logarithmic scale, got {start:g}")
    low = given.get("from", start / WIDEST if scale == LOG else least)
    high = given.get("to", start * WIDEST if scale == LOG else math.inf)
    if scale == LOG and low <= 0.0:
        raise InputError(f"{name}: expected positive bounds on a logarithmic scale, got {low:g}")
    size = abs(start) or min((abs(x) for x in (low, high) if 0.0 < abs(x) < math.inf), default=1.0)
    return checked(Unknown(text, kind.unit, start, low, high, scale, size))


def checked(unknown: Unknown) -> Unknown:
    """Refuse bounds that exclude each other or the start value."""
    name = OFFSET if unknown.key == OFFSET else f"vary {unknown.key}"
    low, high, start = unknown.low, unknown.high, unknown.start
    if not low < high:
        raise InputError(f"{name}: expected a lower bound below the upper one, got {low:g} and {high:g} {unknown.unit}")
    if not low <= start <= high:
        raise InputError(
            f"{name}: expected bounds around the start value {start:g} {unknown.unit}, got {low:g} to {high:g}; "
            "change the bounds, or the value in the case"
        )
    return unknown


def _bounds(name: str, unit: str, spec: Any) -> dict[str, Any]:
    """Start, bounds and scale that were given, in SI."""
    if spec is None:
        return {}
    if isinstance(spec, Mapping):
        checks.known(f"{name} ", spec, _WORDS)
        given = dict(spec)
    elif isinstance(spec, tuple | list) and len(spec) == 2:
        given = {"from": spec[0], "to": spec[1]}
    else:
        checks.refuse(name, "bounds (low, high), or a dict with start, from, to and scale", spec)
    found: dict[str, Any] = {word: x for word, x in given.items() if word == "scale"}
    for word in (word for word in given if word != "scale" and given[word] is not None):
        found[word] = checks.number(f"{name} {word}", in_si(f"{name} {word}", given[word], unit))
    return found


def _least(kind: Kind, key: keys.Key) -> tuple[float, bool]:
    """Smallest value that a key takes, and whether it takes only larger ones; asked from its own check."""
    if key.components or not kind.takes(1.0) or kind.takes(-1.0):
        return -math.inf, False
    return 0.0, not kind.takes(0.0)


def offset(given: Any, span: float, interval: float) -> Unknown | None:
    """The offset from its argument: True, bounds (low, high), or a dict as in `vary`; None if it is not wanted."""
    if given is None or given is False:
        return None
    found = {} if given is True else _bounds(OFFSET, "s", given)
    low, high = found.get("from", -OFFSET_SHARE * span), found.get("to", OFFSET_SHARE * span)
    start = found.get("start", min(max(0.0, low), high))
    return checked(Unknown(OFFSET, "s", start, low, high, LINEAR, interval))
