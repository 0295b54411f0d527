"""Arrays that remember what they were computed from, so that one number can be differentiated by all of them."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.gradients.arrays import FUNCTIONS, Dual, axes_of, value_of
from tautline.gradients.rules import LINEAR, OF_VALUES, SLOPES, refused

Back = Callable[[Array], Array]


class Node:
    """Where a value came from: what it was computed from, each with its adjoint."""

    __slots__ = ("order", "parents")
    _orders = count()

    def __init__(self, parents: Sequence[tuple[Node, Back]]) -> None:
        self.order, self.parents = next(self._orders), parents


class Traced(Dual):
    """An array for the reverse pass; functions of NumPy work on it as on `Dual`."""

    def __init__(self, value: Any, parents: Sequence[tuple[Node, Back]] = ()) -> None:
        self.value: Array = np.asarray(value, dtype=np.float64)
        self.node = Node(parents)

    @property
    def T(self) -> Traced:
        """With its dimensions in the opposite order."""
        return self.transpose()

    def __iter__(self) -> Iterator[Traced]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Traced({self.value!r})"

    def __getitem__(self, place: Any) -> Traced:
        shape = self.shape
        items = place if isinstance(place, tuple) else (place,)
        plain = all(isinstance(x, int | np.integer | slice) or x is None or x is Ellipsis for x in items)

        def back(bar: Array) -> Array:
            out = np.zeros(shape)
            if plain:
                out[place] += bar
            else:
                np.add.at(out, place, bar)
            return out

        return Traced(self.value[place], [(self.node, back)])

    def __setitem__(self, place: Any, other: Any) -> None:
        raise refused("assignment to components")

    def copy(self) -> Traced:
        """A copy."""
        return Traced(self.value.copy(), [(self.node, lambda bar: bar)])

    def reshape(self, *shape: Any) -> Traced:
        """Numbers in another shape."""
        before = self.shape
        return Traced(self.value.reshape(*shape), [(self.node, lambda bar: bar.reshape(before))])

    def transpose(self, *axes: int) -> Traced:
        """With its dimensions in another order."""
        order = axes or tuple(range(self.ndim))[::-1]
        back = tuple(np.argsort(order).tolist())
        return Traced(self.value.transpose(order), [(self.node, lambda bar: bar.transpose(back))])

    def sum(self, axis: Any = None, keepdims: Any = False) -> Traced:
        """Sum along dimensions."""
        axes, shape = axes_of(axis, self.ndim), self.shape
        kept = tuple(1 if i in axes else n for i, n in enumerate(shape))
        value = self.value.sum(axes, keepdims=keepdims)
        return Traced(value, [(self.node, lambda bar: np.broadcast_to(bar.reshape(kept), shape))])

    def _extreme(self, function: Any, axis: int | None) -> Traced:
        if axis is None:
            return self.reshape(-1)._extreme(function, 0)
        value = function(self.value, axis=axis)
        is_it = self.value == np.expand_dims(value, axis)
        # which of several equal ones moves is not known
        share = np.where(is_it, np.where(is_it.sum(axis, keepdims=True) > 1, np.nan, 1.0), 0.0)
        return Traced(value, [(self.node, lambda bar: _times(share, np.expand_dims(bar, axis)))])

    # -- functions of NumPy --------------------------------------------------------------------------------

    def _chain(self, ufunc: Any, inputs: Any, values: list[Any]) -> Traced:
        """A function of arrays, with the ways back to them."""
        value = np.asarray(ufunc(*values))
        if ufunc in (np.maximum, np.minimum):
            first, second = (np.asarray(x == value) for x in values)
            both = np.where(first & second, np.nan, 1.0)
            return _joined(value, inputs, (first * both, second * both))
        varies = [isinstance(x, Traced) for x in inputs]
        return _joined(value, inputs, SLOPES[ufunc](value, varies, *values))

    def _become(self, other: Traced) -> None:
        """Take another's numbers."""
        self.value, self.node = other.value, other.node

    def __array_function__(self, function: Any, types: Any, args: Any, others: Any) -> Any:
        if function is np.where and len(args) == 3:
            chosen = np.asarray(value_of(args[0]))
            return _joined(np.where(chosen, *map(value_of, args[1:])), args[1:], (chosen, ~chosen))
        if function is np.diff:
            return _diff(*args, **others)
        if function is np.cumsum:
            return _cumsum(*args, **others)
        if function in FUNCTIONS:
            return FUNCTIONS[function](*args, **others)
        if function in LINEAR:
            return _gathered(function, args, others)
        if function in OF_VALUES:
            return super().__array_function__(function, types, args, others)
        raise refused(function.__name__)


def _times(slope: Any, bar: Array) -> Array:
    """Nothing comes of what does not change the number, even where the slope is not known."""
    found: Array = slope * bar
    return found if np.isfinite(slope).all() else np.where(bar == 0.0, 0.0, found)


def _summed(bar: Array, shape: tuple[int, ...]) -> Array:
    """Back from where an array was broadcast to."""
    bar = bar.sum(tuple(range(bar.ndim - len(shape))))
    found: Array = bar.sum(tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True)
    return found


def _joined(value: Any, inputs: Sequence[Any], slopes: Sequence[Any]) -> Traced:
    """A function of arrays, number by number, from its slopes."""
    parents = [
        (x.node, lambda bar, slope=slope, shape=x.shape: _summed(_times(slope, bar), shape))
        for x, slope in zip(inputs, slopes, strict=True)
        if isinstance(x, Traced)
    ]
    return Traced(value, parents)


def _diff(x: Traced, n: int = 1, axis: int = -1) -> Traced:
    if n != 1:
        raise refused("diff of another order")
    before, after = ([slice(None)] * x.ndim for _ in range(2))
    before[axis], after[axis] = slice(None, -1), slice(1, None)
    found: Traced = x[tuple(after)] - x[tuple(before)]
    return found


def _cumsum(x: Traced, axis: int | None = None) -> Traced:
    if axis is None:
        return _cumsum(x.reshape(-1), 0)
    back = lambda bar: np.flip(np.cumsum(np.flip(bar, axis), axis), axis)  # noqa: E731
    return Traced(np.cumsum(x.value, axis), [(x.node, back)])


def _gathered(function: Any, args: Any, others: Any) -> Any:
    """A function that puts numbers of one or several arrays to other places, found out by what it does to places."""
    every = function is np.broadcast_arrays
    data, rest = (args, ()) if every else (args[0], args[1:])
    several = isinstance(data, (list, tuple))
    arrays = list(data) if several else [data]
    flat = np.concatenate([np.ravel(value_of(x)) for x in arrays])
    ends = np.cumsum([np.size(value_of(x)) for x in arrays])
    places = [
        p.reshape(np.shape(value_of(x))) for p, x in zip(np.split(np.arange(len(flat)), ends[:-1]), arrays, strict=True)
    ]
    found = function(*places, **others) if every else function(places if several else places[0], *rest, **others)

    def traced(place: Any) -> Traced:
        def back(bar: Array, first: int, end: int, shape: tuple[int, ...]) -> Array:
            sums: Array = np.bincount(np.ravel(place), np.ravel(bar), len(flat)).astype(np.float64)
            return sums[first:end].reshape(shape)

        parents = [
            (x.node, lambda bar, e=e, x=x: back(bar, e - x.size, e, x.shape))
            for x, e in zip(arrays, ends.tolist(), strict=True)
            if isinstance(x, Traced)
        ]
        return Traced(flat[place], parents)

    return [traced(place) for place in found] if isinstance(found, (list, tuple)) else traced(found)


def derivatives_of(number: Any, by: Sequence[Traced]) -> list[Array]:
    """Derivatives of a number by arrays that it was computed from."""
    bars: dict[Node, Array] = {}
    if isinstance(number, Traced):
        bars[number.node] = np.ones(())
    waiting = [(-node.order, node) for node in bars]
    wanted = {x.node for x in by}
    while waiting:
        _, node = heapq.heappop(waiting)
        bar = bars[node] if node in wanted else bars.pop(node)
        for parent, back in node.parents:
            if parent in bars:
                bars[parent] = bars[parent] + back(bar)
            else:
                bars[parent] = back(bar)
                heapq.heappush(waiting, (-parent.order, parent))
    return [np.array(bars[x.node]) if x.node in bars else np.zeros(x.shape) for x in by]
