"""Checks of user input. Each error names the argument, what was expected, and what came."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from tautline.errors import InputError
from tautline.model.wording import near, no_such
from tautline.units import percentage_hint

Vector = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]
# A matrix typed in with eight digits still counts as a rotation; the kernels make it exact.
ROTATION_TOLERANCE = 1e-7
# What a matrix may differ from its transpose, over its largest number.
SYMMETRY_TOLERANCE = 1e-9
IDENTITY = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
ZERO: Vector = (0.0, 0.0, 0.0)
UPWARD: Vector = (0.0, 0.0, 1.0)  # in the axes of other tools

_LONGEST_REPR = 60
# Within these, squares and products of a few numbers neither overflow nor vanish; nothing physical is outside.
LARGEST = 1e50
SMALLEST = 1e-50


# A ratio of two times counts as whole when it is within this part of a whole number, and within a thousandth.
WHOLE = 1e-6
# Two lengths count as equal within this part of them.
SAME_LENGTH = 1e-9
# Counts beyond this are not exact in floating point, and no run takes so many steps.
MOST_STEPS = 2**53


def refuse(name: str, expected: str, got: Any, hint: str = "") -> NoReturn:
    try:
        text = repr(got)
    except Exception:
        text = f"an object of type {type(got).__name__}"
    if len(text) > _LONGEST_REPR:
        text = text[: _LONGEST_REPR - 3] + "..."
    raise InputError(f"{name}: expected {expected}, got {text}{hint}")


def number(name: str, value: Any, expected: str = "a finite number") -> float:
    if type(value) is float and abs(value) <= LARGEST:
        return value  # the common case; asking an abstract class takes ten times as long
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        refuse(name, expected, value, percentage_hint(value))
    try:
        x = float(value)
    except Exception:  # whatever the object's own code raises
        refuse(name, expected, value)
    if not math.isfinite(x):
        refuse(name, expected, value)
    if abs(x) > LARGEST:
        refuse(name, f"{expected} of at most {LARGEST:g} in size", value)
    return x


def _in(unit: str) -> str:
    """The unit behind what is expected; a pure number has none."""
    return "" if unit in ("", "1") else f" ({unit})"


def finite(name: str, value: Any, unit: str) -> float:
    """A finite number of any sign."""
    return number(name, value)


def positive(name: str, value: Any, unit: str) -> float:
    expected = f"a positive finite number{_in(unit)}"
    x = number(name, value, expected)
    if x <= 0.0:
        refuse(name, expected, value)
    if x < SMALLEST:
        refuse(name, f"{expected} of at least {SMALLEST:g}", value)
    return x


def non_negative(name: str, value: Any, unit: str) -> float:
    expected = f"a finite number of at least 0{_in(unit)}"
    x = number(name, value, expected)
    if x < 0.0:
        refuse(name, expected, value)
    return x


def whole(name: str, value: Any, least: int, most: int) -> int:
    expected = f"a whole number from {least} to {most}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        refuse(name, expected, value)
    try:
        n = int(value)
    except Exception:  # whatever the object's own code raises
        refuse(name, expected, value)
    if not least <= n <= most:
        refuse(name, expected, value)
    return n


def array(name: str, value: Any, shape: tuple[int | None, ...], unit: str) -> NDArray[np.float64]:
    """A read-only array of finite floats; None in the shape stands for any length."""
    wanted = " x ".join("n" if k is None else str(k) for k in shape)
    expected = f"{wanted} finite numbers{_in(unit)}"
    try:
        raw = np.asarray(value)
    except Exception:
        refuse(name, expected, value)
    if raw.dtype.kind not in "iuf":
        refuse(name, expected, value)
    fits = raw.ndim == len(shape) and all(k is None or k == n for k, n in zip(shape, raw.shape, strict=True))
    if not fits:
        got = " x ".join(map(str, raw.shape)) or "a single number"
        raise InputError(f"{name}: expected {expected}, got shape {got}")
    if raw.dtype == np.float64:
        x = raw.copy()
    else:
        # longdouble beyond the range of a double becomes inf here, and is refused just below
        with np.errstate(all="ignore"):
            x = raw.astype(np.float64)
    bad = ~(np.abs(x) <= LARGEST)
    if bad.any():
        limit = f" of at most {LARGEST:g} in size" if np.isfinite(x).all() else ""
        raise InputError(f"{name}: expected {expected}{limit}, got {raw[bad].flat[0]} among them")
    x.setflags(write=False)
    return x


def vector(name: str, value: Any, unit: str) -> Vector:
    if (
        isinstance(value, (tuple, list))
        and len(value) == 3
        and all(type(c) is float and abs(c) <= LARGEST for c in value)
    ):
        x, y, z = value  # the common case, at a tenth of the time
    else:
        x, y, z = array(name, value, (3,), unit).tolist()
    return (x, y, z)


def direction(name: str, value: Any, unit: str) -> Vector:
    """A vector of which only the direction counts."""
    found = vector(name, value, unit)
    if not any(found):
        refuse(name, "a vector that is not zero", value)
    return found


def unit_vector(name: str, value: Any, unit: str) -> Vector:
    """A direction, made a unit vector."""
    x, y, z = direction(name, value, unit)
    size = math.sqrt(x * x + y * y + z * z)
    return (x / size, y / size, z / size)


def symmetric(name: str, M: NDArray[np.float64]) -> NDArray[np.float64]:
    """A square matrix that is its own transpose but for rounding, made exactly so."""
    apart = float(np.abs(M - M.T).max())
    if apart > SYMMETRY_TOLERANCE * float(np.abs(M).max()):
        raise InputError(f"{name}: expected a symmetric matrix, got an asymmetry of {apart:.3g}")
    return np.asarray(0.5 * (M + M.T))


def choice(name: str, value: Any, allowed: Iterable[Any]) -> None:
    options = list(allowed)
    if not is_among(value, options):
        refuse(name, "one of " + ", ".join(map(repr, options)), value, near(value, options))


def known(where: str, given: Iterable[Any], names: Iterable[str], thing: str = "key") -> None:
    """Refuse keys that are not among some names; `where` stands before them in the message."""
    there = list(names)
    for name in given:
        if name not in there:
            raise InputError(f"{where}{name}: {no_such(thing, name, there)}")


def is_among(value: Any, options: Iterable[Any]) -> bool:
    """Whether a value is one of some words or numbers, of the same type; NumPy's text counts as text."""
    plain = str(value) if isinstance(value, np.str_) else value
    return any(type(plain) is type(option) and plain == option for option in options)


def instance(name: str, value: Any, *wanted: type) -> None:
    """Refuse a value that is of none of these classes."""
    if not isinstance(value, wanted):
        *others, last = map(with_article, wanted)
        refuse(name, f"{', '.join(others)} or {last}" if others else last, value, loaded(value, *wanted))


def loaded(value: Any, *wanted: type) -> str:
    """A hint at `tl.load`, where the name or path of a scenario came in place of a case or a system."""
    names = [kind.__name__ for kind in wanted]
    if not isinstance(value, str | os.PathLike) or not {"Case", "System"} & set(names):
        return ""
    return f"; tl.load({os.fspath(value)!r}) reads a scenario{'' if 'Case' in names else ', and its .system is one'}"


def with_article(kind: type) -> str:
    """Name of a class after "a" or "an"."""
    return f"{'an' if kind.__name__[0] in 'AEIO' else 'a'} {kind.__name__}"


def text(name: str, value: Any) -> str:
    """Plain text."""
    if not isinstance(value, str):
        refuse(name, "text", value)
    return str(value)


def path(name: str, value: Any) -> Path:
    """The path of a file or a folder."""
    if not isinstance(value, str | os.PathLike):
        refuse(name, "a path", value)
    found = os.fspath(value)
    if not isinstance(found, str) or not found or "\0" in found:
        refuse(name, "a path", value)
    return Path(found)


def called(name: str, value: Any) -> None:
    """Something that can be called."""
    if not callable(value):
        refuse(name, "a function", value)


def function(name: str, value: Any) -> None:
    """Something that can be called, or None."""
    if value is not None:
        called(name, value)


def mapping(name: str, value: Any, of: str) -> Mapping[str, Any]:
    """A dict whose keys are names."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        refuse(name, f"a dict of {of} by name", value)
    return value


def names(what: str, given: Any) -> list[str]:
    """Names from one name or several."""
    try:
        found = [given] if isinstance(given, str) or not isinstance(given, Iterable) else list(given)
    except TypeError:  # an array without a dimension
        found = [given]
    if not all(isinstance(name, str) for name in found):
        refuse(what, "a name or a list of names", given)
    return found


def whole_ratio(name: str, value: float, unit_name: str, unit: float) -> int:
    """value/unit, which must be a whole number of at least 1."""
    ratio = value / unit
    if not ratio < MOST_STEPS:
        raise InputError(f"{name}: expected fewer than 2^53 times {unit_name} ({unit:g} s), got {value!r}")
    n = round(ratio)
    if n < 1 or abs(ratio - n) > min(WHOLE * n, 1e-3):
        raise InputError(
            f"{name}: expected a multiple of {unit_name} ({unit:g} s), got {value!r}; "
            f"the nearest is {max(1, n) * unit:.12g}"
        )
    return n


def checked_rotation(name: str, value: Any, unit: str) -> NDArray[np.float64]:
    """A rotation matrix."""
    R = array(name, value, (3, 3), "rotation matrix")
    with np.errstate(all="ignore"):
        error = float(np.linalg.norm(R.T @ R - np.eye(3)))
        handed = float(np.linalg.det(R))
    if not error <= ROTATION_TOLERANCE or handed < 0.0:
        raise InputError(
            f"{name}: expected a rotation matrix (R^T R = I, det R = 1), "
            f"got |R^T R - I| = {error:.3g}, det R = {handed:.3g}"
        )
    return R
