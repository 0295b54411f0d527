"""Contents of a message of a page: names, numbers and switches, refused with a reason where they are none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.model import checks
from tautline.model.wording import near


def chosen(key: str, message: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    """A name in a message, which may leave it out where only one is known."""
    if not known:
        raise InputError(f"{key}: there is none to choose")
    if key not in message and len(known) > 1:
        raise InputError(f"{key}: expected one of {', '.join(known)}, got none")
    name = message.get(key, next(iter(known)))
    if not isinstance(name, str) or name not in known:
        raise InputError(f"{key}: expected one of {', '.join(known)}, got {str(name)[:40]!r}{near(str(name), known)}")
    return name


def check_size(key: str, vector: Array, greatest: float, unit: str) -> None:
    """Refuse a vector that is longer than it may be."""
    if np.linalg.norm(vector) > 1.001 * greatest:
        raise InputError(f"{key}: expected at most {greatest:g} {unit}")


def switch(on: Any, name: str = "on") -> bool:
    """True or false, and nothing else."""
    checks.instance(name, on, bool)
    return bool(on)


def within(name: str, value: Any, low: float, high: float) -> float:
    """A number between two others."""
    number = checks.number(name, value)
    if not low <= number <= high:
        raise InputError(f"{name}: expected {low:g} to {high:g}, got {number:g}")
    return number
