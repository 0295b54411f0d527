"""Keys whose values are sought: entries of tables and plain numbers with their bounds, the end time among them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.gradients.directions import Directions
from tautline.gradients.keys import kind_of
from tautline.model import checks
from tautline.model.forms import in_si
from tautline.model.keys import get, has, parse
from tautline.model.system.case import Case
from tautline.model.wording import near

DURATION = "run.duration"
_PATTERN = re.compile(r"([\w.-]+)((?:\[[^\[\]]*\])*)")
BOUNDS = ("least", "most", "scale")


@dataclass(frozen=True)
class Unknown:
    """A key, its present value, and the bounds and the scale of its values, in SI."""

    key: str
    value: float
    least: float
    most: float
    scale: float


@dataclass(frozen=True)
class Unknowns:
    """The keys that are sought, and those that follow from them.

    Where the end time is sought, the times of every table that has entries among the keys stretch with it.
    """

    sought: tuple[Unknown, ...]
    keys: tuple[str, ...]  # the sought ones, then the times that stretch
    by_sought: Array  # the values of `keys` are this matrix times the sought values

    @property
    def free_time(self) -> bool:
        """Whether the end time is sought."""
        return any(x.key == DURATION for x in self.sought)

    @property
    def duration_place(self) -> int:
        """Place of the end time among the sought values."""
        return [x.key for x in self.sought].index(DURATION)

    def by_duration(self, sought: Array) -> Array | None:
        """Derivatives of the duration by the sought values, over the duration; None where it is fixed."""
        if not self.free_time:
            return None
        place = self.duration_place
        return np.asarray(np.eye(len(self.sought))[place] / sought[place])

    @property
    def scales(self) -> Array:
        """Scales by which the sought values are divided."""
        return np.array([x.scale for x in self.sought])

    def values(self, sought: Array) -> Array:
        """Values of all keys from the sought ones."""
        return np.asarray(self.by_sought @ sought)

    def directions(self) -> Directions:
        """Directions in which the keys change where a sought value changes."""
        return Directions(self.keys, self.by_sought, self.scales, tuple(x.key for x in self.sought))

    def changes(self, sought: Array) -> dict[str, float]:
        """Values by key, for `Case.with_`."""
        return dict(zip(self.keys, self.values(sought).tolist(), strict=True))


def read(case: Case, vary: Any) -> Unknowns:
    """From {key: bounds}: bounds are a pair, or a table with least, most and scale; keys may name parts of lists."""
    if not isinstance(vary, Mapping) or not vary:
        checks.refuse("vary", "keys of the case with their bounds, such as {'command.torques': (-5, 5)}", vary)
    found: dict[str, Unknown] = {}
    for pattern, bounds in vary.items():
        for key, value in _expanded(case, pattern):
            if key in found:
                raise InputError(f"vary.{key}: expected once, got twice")
            found[key] = _unknown(case, f"vary.{pattern}", key, value, bounds)
    sought = tuple(found.values())
    times = _stretching(case, sought) if DURATION in found else {}
    keys = (*found, *times)
    by_sought = np.zeros((len(keys), len(sought)))
    by_sought[: len(sought)] = np.eye(len(sought))
    for row, time in enumerate(times.values(), start=len(sought)):
        by_sought[row, list(found).index(DURATION)] = time / case.run.duration
    return Unknowns(sought, keys, by_sought)


def _expanded(case: Case, pattern: str) -> list[tuple[str, Any]]:
    """Keys that a pattern such as `command.torques[1:-1]` or `guide.displacements[1:][0]` names, and their values."""
    matched = _PATTERN.fullmatch(pattern) if isinstance(pattern, str) else None
    if matched is None:
        raise InputError(f"vary.{pattern}: expected a key such as command.torques, command.torques[3] or torques[1:-1]")
    whole, brackets = matched[1], re.findall(r"\[([^\]]*)\]", matched[2])
    try:
        value = get(case.to_dict(), case.key(whole))
    except (KeyError, TypeError):
        section, inside = whole.rpartition(".")[0], case.to_dict()
        for name in case.key(whole).path:
            inside = inside.get(name, {}) if isinstance(inside, Mapping) else {}
        options = [f"{section}.{x}" if section else x for x in inside]
        raise InputError(f"vary.{pattern}: the case has no such key{near(whole, options)}") from None
    return [(key, x) for key, x in _entries(pattern, whole, value, brackets)]


def _entries(pattern: str, key: str, value: Any, brackets: list[str]) -> list[tuple[str, Any]]:
    if not isinstance(value, list | tuple):
        if brackets:
            raise InputError(f"vary.{pattern}: expected {key} to be a list, got {value!r}")
        return [(key, value)]
    bracket, *rest = brackets or [":"]
    parts = bracket.split(":")
    try:
        numbers = [int(part) if part.strip() else None for part in parts]
        chosen = range(len(value))[slice(*numbers)] if len(parts) > 1 else [range(len(value))[int(bracket)]]
    except (ValueError, TypeError, IndexError):
        raise InputError(
            f"vary.{pattern}: expected entries from 0 to {len(value) - 1} of {key}, such as [2] or [1:-1], "
            f"got [{bracket}]"
        ) from None
    if not len(chosen):
        raise InputError(f"vary.{pattern}: [{bracket}] names no entry of {key}, which has {len(value)}")
    return [entry for k in chosen for entry in _entries(pattern, f"{key}[{k}]", value[k], rest)]


def _unknown(case: Case, name: str, key: str, value: Any, bounds: Any) -> Unknown:
    if isinstance(bounds, list | tuple) and len(bounds) == 2:
        bounds = {"least": bounds[0], "most": bounds[1]}
    if not isinstance(bounds, Mapping):
        checks.refuse(name, "a pair (least, most), or a table with some of least, most and scale", bounds)
    checks.known(f"{name}.", bounds, BOUNDS)
    if isinstance(value, bool) or not isinstance(value, int | float):
        checks.refuse(name, f"{key} to be a number in the case, where the search begins", value)
    unit = kind_of(case, key).unit
    least, most, scale = (_number(f"{name}.{word}", bounds.get(word), unit) for word in BOUNDS)
    least, most = -math.inf if least is None else least, math.inf if most is None else most
    if not least < most:
        raise InputError(f"{name}: expected least below most, got {least:g} and {most:g}")
    if scale is None:
        span = most - least
        scale = 0.5 * span if math.isfinite(span) else max(abs(value), 1e-3) or 1.0
    return Unknown(key, float(value), least, most, checks.positive(f"{name}.scale", scale, unit))


def _number(name: str, value: Any, unit: str) -> float | None:
    """A plain number, or text with a unit; None where there is none, also for an infinite one."""
    found = in_si(name, value, unit)
    return None if found is None or (isinstance(found, float) and math.isinf(found)) else checks.number(name, found)


def _stretching(case: Case, sought: tuple[Unknown, ...]) -> dict[str, float]:
    """Times of the tables that have entries among the keys, other than 0."""
    tree, found = case.to_dict(), {}
    for section in {parse(x.key).section for x in sought}:
        times = case.key(f"{section}.times") if section else None
        for k, time in enumerate(get(tree, times) if times is not None and has(tree, times) else ()):
            key = f"{section}.times[{k}]"
            if time != 0.0 and key not in (x.key for x in sought):
                found[key] = float(time)
    return dict(sorted(found.items()))
