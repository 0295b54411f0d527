"""Arrays that carry derivatives with them, by the chain rule, through the functions of NumPy."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from tautline.arrays import Array
from tautline.gradients.rules import (
    ALONG,
    LINEAR,
    OF_VALUES,
    PLAIN,
    REDUCED,
    SLOPES,
    clip,
    deviation,
    norm,
    product,
    refused,
    trapezoid,
    variance,
)


class UnknownTangentsError(TypeError):
    """Derivatives that dual numbers do not give."""


class Dual(NDArrayOperatorsMixin):
    """An array, and its derivatives along k directions.

    Functions of NumPy work on it as on an array: arithmetic, roots, powers, trigonometry, sums, differences, extremes,
    `where`, `concatenate`, indexing. Where a derivative does not exist, as that of the larger of two equal numbers, it
    is NaN. What cannot carry derivatives raises TypeError.

    Parameters
    ----------
    value : array
    tangent : array
        Of the value's shape with one more, last, dimension.
    """

    __array_priority__ = 1000.0

    def __init__(self, value: Any, tangent: Any) -> None:
        self.value: Array = np.asarray(value, dtype=np.float64)
        self.tangent: Array = np.asarray(tangent, dtype=np.float64)
        if self.tangent.shape[:-1] != self.value.shape:
            raise ValueError(f"tangent: expected shape {(*self.value.shape, 'k')}, got {self.tangent.shape}")

    # -- as an array ---------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the value."""
        return self.value.shape

    @property
    def ndim(self) -> int:
        """Dimensions of the value."""
        return self.value.ndim

    @property
    def size(self) -> int:
        """Numbers in the value."""
        return self.value.size

    @property
    def dtype(self) -> Any:
        """Type of the numbers: floats."""
        return self.value.dtype

    @property
    def directions(self) -> int:
        """How many derivatives each number has."""
        return int(self.tangent.shape[-1])

    @property
    def T(self) -> Dual:
        """With its dimensions in the opposite order."""
        axes = tuple(range(self.ndim))
        return Dual(self.value.T, self.tangent.transpose(*axes[::-1], self.ndim))

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[Dual]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Dual({self.value!r}, {self.directions} directions)"

    def __array__(self, *args: Any, **others: Any) -> Any:
        raise TypeError("array: expected a function that carries derivatives, got one that would lose them")

    def __float__(self) -> float:
        raise TypeError("float: expected a function that carries derivatives, got one that would lose them")

    def __bool__(self) -> bool:
        return bool(self.value)

    def __getitem__(self, place: Any) -> Dual:
        return Dual(self.value[place], self.tangent[_with_directions(place)])

    def __setitem__(self, place: Any, other: Any) -> None:
        self.value[place] = value_of(other)
        self.tangent[_with_directions(place)] = other.tangent if isinstance(other, Dual) else 0.0

    def copy(self) -> Dual:
        """A copy."""
        return Dual(self.value.copy(), self.tangent.copy())

    def reshape(self, *shape: Any) -> Dual:
        """Numbers in another shape."""
        value = self.value.reshape(*shape)
        return Dual(value, self.tangent.reshape(*value.shape, self.directions))

    def ravel(self) -> Dual:
        """Numbers in a row."""
        return self.reshape(-1)

    def transpose(self, *axes: int) -> Dual:
        """With its dimensions in another order."""
        return Dual(self.value.transpose(*axes), self.tangent.transpose(*axes, self.ndim)) if axes else self.T

    def sum(self, axis: Any = None, keepdims: Any = False) -> Dual:
        """Sum along dimensions."""
        axes = axes_of(axis, self.ndim)
        return Dual(self.value.sum(axes, keepdims=keepdims), self.tangent.sum(axes, keepdims=keepdims))

    def mean(self, axis: Any = None, keepdims: bool = False) -> Dual:
        """Mean along dimensions."""
        count = math.prod(self.shape[i] for i in axes_of(axis, self.ndim))
        found: Dual = self.sum(axis, keepdims) / count
        return found

    def var(self, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
        """Variance along dimensions."""
        return variance(self, axis, ddof, keepdims)

    def std(self, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
        """Standard deviation along dimensions."""
        return deviation(self, axis, ddof, keepdims)

    def max(self, axis: int | None = None) -> Dual:
        """The largest; NaN derivatives where several are."""
        return self._extreme(np.max, axis)

    def min(self, axis: int | None = None) -> Dual:
        """The least; NaN derivatives where several are."""
        return self._extreme(np.min, axis)

    def _extreme(self, function: Any, axis: int | None) -> Dual:
        if axis is None:
            return self.ravel()._extreme(function, 0)
        value = function(self.value, axis=axis)
        is_it = (self.value == np.expand_dims(value, axis))[..., None]
        axis %= self.ndim
        among = np.where(is_it, self.tangent, -np.inf).max(axis), np.where(is_it, self.tangent, np.inf).min(axis)
        return Dual(value, np.where(among[0] == among[1], among[0], np.nan))

    # -- functions of NumPy --------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **others: Any) -> Any:
        if method == "reduce" and ufunc in REDUCED:
            return getattr(inputs[0], REDUCED[ufunc])(**{k: x for k, x in others.items() if k in ("axis", "keepdims")})
        if method != "__call__" or others:
            raise refused(f"{ufunc.__name__}.{method}")
        if ufunc is np.matmul:
            return product(*inputs)
        values = [value_of(x) for x in inputs]
        if ufunc in PLAIN:
            return ufunc(*values)
        if ufunc not in SLOPES:
            raise refused(ufunc.__name__)
        with np.errstate(all="ignore"):
            found = self._chain(ufunc, inputs, values)
        if out is None:
            return found
        target = out[0]
        if not isinstance(target, type(self)):
            raise refused(f"{ufunc.__name__} into a plain array")
        target._become(found)
        return target

    def _chain(self, ufunc: Any, inputs: Any, values: list[Any]) -> Any:
        """A function of arrays, with derivatives by the chain rule."""
        value = ufunc(*values)
        return Dual(value, _chained(ufunc, inputs, values, np.asarray(value)))

    def _become(self, other: Any) -> None:
        """Take another's numbers."""
        self.value[...], self.tangent[...] = other.value, other.tangent

    def __array_function__(self, function: Any, types: Any, args: Any, others: Any) -> Any:
        if function in FUNCTIONS:
            return FUNCTIONS[function](*args, **others)
        if function in LINEAR:
            return _linear(function, args, others)
        if function in OF_VALUES:
            return function(*map(_values, args), **{name: _values(x) for name, x in others.items()})
        raise refused(function.__name__)


def value_of(x: Any) -> Any:
    """The value without derivatives."""
    return x.value if isinstance(x, Dual) else x


def _values(x: Any) -> Any:
    return type(x)(_values(item) for item in x) if isinstance(x, (list, tuple)) else value_of(x)


def _with_directions(place: Any) -> Any:
    """An index of the value as one of the tangent; the last dimension stays whole."""
    items = place if isinstance(place, tuple) else (place,)
    return (*items, slice(None)) if Ellipsis in [x for x in items if x is Ellipsis] else (*items, ..., slice(None))


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    return tuple(i % ndim for i in (axis if isinstance(axis, tuple) else (axis,)))


def _chained(ufunc: Any, inputs: Iterable[Any], values: list[Any], value: Array) -> Array:
    """Derivatives of a function of arrays by the chain rule."""
    varies = [isinstance(x, Dual) for x in inputs]
    if ufunc in (np.maximum, np.minimum):
        return _of_the_larger(inputs, values, value, next(x.directions for x in inputs if isinstance(x, Dual)))
    slopes = zip(inputs, SLOPES[ufunc](value, varies, *values), strict=True)
    pairs = [(np.asarray(slope)[..., None], x.tangent) for x, slope in slopes if isinstance(x, Dual)]
    total = _sum(slope * tangent for slope, tangent in pairs)
    if not math.isfinite(np.vdot(total, total)):
        # nothing comes of what does not change, even where the slope is infinite
        total = _sum(np.where(tangent == 0.0, 0.0, slope * tangent) for slope, tangent in pairs)
    shape = (*value.shape, total.shape[-1])
    return total if total.shape == shape else np.broadcast_to(total, shape).copy()


def _sum(parts: Iterable[Array]) -> Array:
    return functools.reduce(np.add, parts)


def _of_the_larger(inputs: Iterable[Any], values: list[Any], value: Array, k: int) -> Array:
    a, b = (
        np.broadcast_to(x.tangent if isinstance(x, Dual) else np.zeros((*np.shape(x), k)), (*value.shape, k))
        for x in inputs
    )
    first, second = (np.asarray(x == value)[..., None] for x in values)
    both = np.where(a == b, a, np.nan)
    return np.where(first & second, both, np.where(first, a, np.where(second, b, np.nan)))


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Numbers of one array or the other."""
    if x is None:
        return np.where(value_of(condition))
    k = next(item.directions for item in (x, y) if isinstance(item, Dual))
    chosen = np.asarray(value_of(condition))
    tangents = [item.tangent if isinstance(item, Dual) else np.zeros((*np.shape(item), k)) for item in (x, y)]
    return Dual(np.where(chosen, value_of(x), value_of(y)), np.where(chosen[..., None], *tangents))


def _linear(function: Any, args: Any, others: Any) -> Any:
    """A linear function of the first argument, which may be several arrays, or of all of `broadcast_arrays`."""
    every = function is np.broadcast_arrays
    data, rest = (args, ()) if every else (args[0], args[1:])
    several = isinstance(data, (list, tuple))
    arrays = list(data) if several else [data]
    if not any(isinstance(x, Dual) for x in arrays):
        raise refused(function.__name__)
    k = next(x.directions for x in arrays if isinstance(x, Dual))
    values = [value_of(x) for x in arrays]

    def applied(parts: list[Any], **others: Any) -> Any:
        return function(*parts, **others) if every else function(parts if several else parts[0], *rest, **others)

    value = applied(values, **others)
    axis = None if rest else others.get("axis", ALONG.get(function))
    if function in ALONG and axis is not None:  # directions are one more dimension behind the others
        dims = np.ndim(value)
        tangents = [x.tangent if isinstance(x, Dual) else np.zeros((*np.shape(x), k)) for x in arrays]
        return Dual(value, applied(tangents, **{**others, "axis": axis % dims}))
    columns = [
        applied([x.tangent[..., j] if isinstance(x, Dual) else np.zeros(np.shape(x)) for x in arrays], **others)
        for j in range(k)
    ]
    if isinstance(value, (list, tuple)):
        each = zip(value, zip(*columns, strict=True), strict=True) if columns else ((x, ()) for x in value)
        return [Dual(x, _stacked(x, parts)) for x, parts in each]
    return Dual(value, _stacked(value, columns))


def _stacked(value: Any, columns: Any) -> Array:
    return np.stack(columns, axis=-1) if len(columns) else np.zeros((*np.shape(value), 0))


def _dot(a: Any, b: Any) -> Any:
    if np.ndim(value_of(a)) > 2 or np.ndim(value_of(b)) > 2:
        raise refused("dot of other than rows and matrices")
    return a * b if 0 in (np.ndim(value_of(a)), np.ndim(value_of(b))) else product(a, b)


def _cross(a: Any, b: Any) -> Any:
    """Vector product of two vectors."""
    a, b = (x if isinstance(x, Dual) else np.stack(x) for x in (a, b))
    second, third = [1, 2, 0], [2, 0, 1]
    return a[second] * b[third] - a[third] * b[second]


def _method(name: str) -> Callable[..., Any]:
    def call(x: Dual, *args: Any, **others: Any) -> Any:
        return getattr(x, name)(*args, **{key: item for key, item in others.items() if key not in ("out", "dtype")})

    return call


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: _where,
    np.clip: clip,
    np.linalg.norm: norm,
    np.dot: _dot,
    np.cross: _cross,
    np.std: _method("std"),
    np.var: _method("var"),
    np.max: _method("max"),
    np.min: _method("min"),
    np.sum: _method("sum"),
    np.mean: _method("mean"),
    np.copy: _method("copy"),
    np.reshape: _method("reshape"),
    np.ravel: _method("ravel"),
    np.zeros_like: lambda x, **others: np.zeros(x.shape),
    np.ones_like: lambda x, **others: np.ones(x.shape),
    np.full_like: lambda x, value, **others: np.full(x.shape, value),
    np.shape: lambda x: x.shape,
    np.ndim: lambda x: x.ndim,
    np.size: lambda x: x.size,
    np.trapezoid: trapezoid,
}
