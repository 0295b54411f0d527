"""Numbers with a derivative, on which the kernels run as plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from tautline.gradients.leaves import flat


def elementwise(operation: Callable[[Dual, Any], Dual]) -> Callable[[Dual, Any], Any]:
    """Leave an array of numbers to NumPy, which takes one after the other."""
    return lambda one, other: NotImplemented if isinstance(other, np.ndarray) else operation(one, other)


class Dual:
    """A number and its derivative; it is compared by the number."""

    __slots__ = ("d", "x")

    def __init__(self, x: float, d: float = 0.0) -> None:
        self.x, self.d = x, d

    @elementwise
    def __add__(self, other: Any) -> Dual:
        return Dual(self.x + value(other), self.d + slope(other))

    @elementwise
    def __sub__(self, other: Any) -> Dual:
        return Dual(self.x - value(other), self.d - slope(other))

    @elementwise
    def __mul__(self, other: Any) -> Dual:
        return Dual(self.x * value(other), self.d * value(other) + self.x * slope(other))

    @elementwise
    def __truediv__(self, other: Any) -> Dual:
        y = value(other)
        return Dual(self.x / y, (self.d - self.x / y * slope(other)) / y)

    @elementwise
    def __rsub__(self, other: Any) -> Dual:
        return Dual(value(other) - self.x, slope(other) - self.d)

    @elementwise
    def __rtruediv__(self, other: Any) -> Dual:
        quotient: Dual = Dual(value(other)) / self
        return quotient

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Dual:
        return Dual(-self.x, -self.d)

    def __abs__(self) -> Dual:
        return -self if self.x < 0.0 else self

    def __int__(self) -> int:
        return int(self.x)

    def __lt__(self, other: Any) -> bool:
        return bool(self.x < value(other))

    def __le__(self, other: Any) -> bool:
        return bool(self.x <= value(other))

    def __gt__(self, other: Any) -> bool:
        return bool(self.x > value(other))

    def __ge__(self, other: Any) -> bool:
        return bool(self.x >= value(other))

    def __eq__(self, other: Any) -> bool:
        return bool(self.x == value(other))

    def __ne__(self, other: Any) -> bool:
        return bool(self.x != value(other))

    __hash__ = None  # type: ignore[assignment]


def value(x: Any) -> Any:
    return x.x if isinstance(x, Dual) else x


def slope(x: Any) -> Any:
    return x.d if isinstance(x, Dual) else 0.0


def _function(f: Callable[[float], float], by: Callable[[float], float]) -> Callable[[Any], Any]:
    """A function of a number, from itself and its derivative."""
    return lambda x: Dual(f(x.x), by(x.x) * x.d) if isinstance(x, Dual) else f(x)


OWN = {
    "sqrt": _function(math.sqrt, lambda x: 0.5 / math.sqrt(x) if x else 0.0),
    "sin": _function(math.sin, math.cos),
    "cos": _function(math.cos, lambda x: -math.sin(x)),
    "isfinite": lambda x: math.isfinite(value(x)),
    "copysign": lambda x, y: abs(x) if math.copysign(1.0, value(y)) > 0.0 else -abs(x),
}
# In the place of the module math.
MATH = SimpleNamespace(**(vars(math) | OWN))


def duals(x: Any, d: Any) -> Any:
    """Dual numbers of a number, a tuple or an array."""
    if isinstance(x, tuple):
        return tuple(duals(a, b) for a, b in zip(x, d, strict=True))
    if isinstance(x, np.ndarray):
        out = np.empty(x.shape, dtype=object)
        for i, number in np.ndenumerate(x):
            out[i] = Dual(float(number), float(d[i]))
        return out
    return Dual(float(x), float(d))


values = np.vectorize(value, otypes=[float])
slopes = np.vectorize(slope, otypes=[float])


def far_apart(found: Any, expected: Any, numbers: Any, scales: Any) -> float:
    """Largest difference of derivatives, of the largest of their kind.

    Differences have rounding of the numbers over a hundredth of the key, some 1e-13 of them.
    """
    size = scales.largest(expected) + np.maximum(scales.largest(flat(numbers)), scales.usual) * 1e-3
    return float((np.abs(found - expected) / np.maximum(size, 1e-12)).max())
