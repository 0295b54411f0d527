"""How functions of NumPy carry derivatives: slopes of those that work number by number, and sums of others."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def refused(name: str) -> TypeError:
    """Error for a function that would lose derivatives."""
    return TypeError(
        f"{name}: expected a function that carries derivatives, got one that does not; there are arithmetic, @, roots, "
        "powers, exponentials, trigonometry, sum, mean, std, var, max, min, diff, cumsum, trapezoid, norm, where, "
        "clip, concatenate, stack, reshape and indexing"
    )


def _power(value: Any, varies: list[bool], x: Any, y: Any) -> tuple[Any, Any]:
    by_base = y * np.power(np.asarray(x, dtype=np.float64), np.subtract(y, 1.0))
    return by_base, value * np.log(x) if varies[1] else 0.0


def _absolute(value: Any, varies: list[bool], x: Any) -> tuple[Any]:
    return (np.where(np.equal(x, 0.0), np.nan, np.sign(x)),)


# Derivatives of functions of NumPy by their arguments, from the value, which arguments carry, and the arguments.
SLOPES: dict[Any, Callable[..., tuple[Any, ...]]] = {
    np.add: lambda f, c, x, y: (1.0, 1.0),
    np.subtract: lambda f, c, x, y: (1.0, -1.0),
    np.multiply: lambda f, c, x, y: (y, x),
    np.divide: lambda f, c, x, y: (np.divide(1.0, y), -f / y),
    np.negative: lambda f, c, x: (-1.0,),
    np.positive: lambda f, c, x: (1.0,),
    np.power: _power,
    np.float_power: _power,
    np.square: lambda f, c, x: (2.0 * x,),
    np.sqrt: lambda f, c, x: (0.5 / f,),
    np.cbrt: lambda f, c, x: (1.0 / (3.0 * f * f),),
    np.reciprocal: lambda f, c, x: (-f * f,),
    np.exp: lambda f, c, x: (f,),
    np.expm1: lambda f, c, x: (f + 1.0,),
    np.log: lambda f, c, x: (1.0 / x,),
    np.log1p: lambda f, c, x: (1.0 / (1.0 + x),),
    np.log2: lambda f, c, x: (1.0 / (x * math.log(2.0)),),
    np.log10: lambda f, c, x: (1.0 / (x * math.log(10.0)),),
    np.sin: lambda f, c, x: (np.cos(x),),
    np.cos: lambda f, c, x: (-np.sin(x),),
    np.tan: lambda f, c, x: (1.0 + f * f,),
    np.arcsin: lambda f, c, x: (1.0 / np.sqrt(1.0 - x * x),),
    np.arccos: lambda f, c, x: (-1.0 / np.sqrt(1.0 - x * x),),
    np.arctan: lambda f, c, x: (1.0 / (1.0 + x * x),),
    np.arctan2: lambda f, c, y, x: (x / (x * x + y * y), -y / (x * x + y * y)),
    np.sinh: lambda f, c, x: (np.cosh(x),),
    np.cosh: lambda f, c, x: (np.sinh(x),),
    np.tanh: lambda f, c, x: (1.0 - f * f,),
    np.hypot: lambda f, c, x, y: (x / f, y / f),
    np.logaddexp: lambda f, c, x, y: (np.exp(x - f), np.exp(y - f)),
    np.absolute: _absolute,
    np.fabs: _absolute,
    np.degrees: lambda f, c, x: (180.0 / math.pi,),
    np.radians: lambda f, c, x: (math.pi / 180.0,),
    np.maximum: lambda *_: (),
    np.minimum: lambda *_: (),
}
PLAIN = {
    *(np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal),
    *(np.isfinite, np.isnan, np.isinf, np.signbit, np.sign),
    *(np.logical_and, np.logical_or, np.logical_not),
}
REDUCED = {np.add: "sum", np.maximum: "max", np.minimum: "min"}
LINEAR = {
    *(np.diff, np.cumsum, np.concatenate, np.stack, np.vstack, np.hstack, np.column_stack, np.broadcast_arrays),
    *(np.broadcast_to, np.moveaxis, np.swapaxes, np.transpose, np.squeeze, np.expand_dims, np.flip, np.roll),
    *(np.take, np.repeat, np.tile, np.atleast_1d),
}
# Of these, functions along one dimension, and which one it is by default.
ALONG = {np.concatenate: 0, np.stack: 0, np.diff: -1}
OF_VALUES = {np.searchsorted, np.argmax, np.argmin, np.argsort, np.any, np.all, np.isclose, np.allclose, np.nonzero}


def clip(x: Any, low: Any = None, high: Any = None, **others: Any) -> Any:
    x = x if low is None else np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    if ord not in (None, 2) or (axis is None and x.ndim > 1 and ord is not None):
        raise refused("linalg.norm of another order")
    return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))


def trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    y = np.moveaxis(y, axis, -1)
    return np.sum((y[..., 1:] + y[..., :-1]) * (0.5 * (dx if x is None else np.diff(x))), axis=-1)


def variance(x: Any, axis: Any = None, ddof: float = 0, keepdims: Any = False) -> Any:
    """Mean square of the distances from the mean; over the number of values less `ddof`."""
    apart = x - np.mean(x, axis=axis, keepdims=True)
    squares = np.sum(apart * apart, axis=axis, keepdims=keepdims)
    return squares / (np.size(x) / max(np.size(squares), 1) - ddof)


def deviation(x: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    """Standard deviation."""
    return np.sqrt(variance(x, axis, ddof, keepdims))


def product(a: Any, b: Any) -> Any:
    """Matrix product of rows and matrices, or of stacks of them, as `np.matmul`."""
    rows, columns = np.ndim(a), np.ndim(b)
    if not rows or not columns:
        raise ValueError("matmul: expected rows or matrices, got a single number")
    if columns == 1:
        return np.sum(a * b, axis=-1)
    if rows == 1:
        return np.sum(a[..., :, None] * b, axis=-2)
    return np.sum(a[..., :, :, None] * b[..., None, :, :], axis=-2)
