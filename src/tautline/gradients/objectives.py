"""Numbers that a run is judged by: last value, peak and integral of expressions of variables, and sums of them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from tautline.errors import InputError
from tautline.gradients.arrays import value_of
from tautline.model import checks
from tautline.model.expressions import TIME, Bound, Parts, bind, rates_needed, read
from tautline.schema import SCHEMA, TIME_VARIABLE

# Times the root mean square of a variable: how sharp a smooth maximum is.
SHARPNESS = 100.0


class Objective:
    """A number from the values of a run by name, which can be added to others and multiplied.

    Parameters
    ----------
    number : callable
        The number, from the values and the parts of the system that they are of.
    names : set of str
        Variables that it asks for.
    terms : tuple of Objective
        Objectives that it is made of.
    """

    def __init__(
        self, number: Callable[[Mapping[str, Any], Parts], Any], names: set[str], terms: tuple[Objective, ...] = ()
    ) -> None:
        self._number, self.names, self._terms = number, names, terms
        self._parts: Parts | None = None

    def check(self, parts: Parts) -> None:
        """Refuse what a system with these parts does not have."""
        for term in self._terms:
            term.check(parts)

    def differences(self, parts: Parts) -> int:
        """Number of samples that rates in it take beside one, of a system with these parts."""
        return max((term.differences(parts) for term in self._terms), default=0)

    def of(self, parts: Parts) -> Objective:
        """This objective, of a system with these parts."""
        self.check(parts)
        found = copy(self)
        found._parts = parts
        return found

    def __call__(self, values: Mapping[str, Any]) -> Any:
        return self._number(values, self._parts or _counted_parts(values))

    def _with(self, other: Any, joined: Callable[[Any, Any], Any], swapped: bool = False) -> Objective:
        if isinstance(other, Objective):
            return Objective(partial(_joined, joined, self, other), self.names | other.names, (self, other))
        pair = (self, checks.number("objective", other))
        return Objective(partial(_joined, joined, *(pair[::-1] if swapped else pair)), self.names, (self,))

    def __add__(self, other: Any) -> Objective:
        return self._with(other, operator.add)

    def __sub__(self, other: Any) -> Objective:
        return self._with(other, operator.sub)

    def __rsub__(self, other: Any) -> Objective:
        return self._with(other, operator.sub, swapped=True)

    def __mul__(self, other: Any) -> Objective:
        return self._with(other, operator.mul)

    def __truediv__(self, other: Any) -> Objective:
        return self._with(other, operator.truediv)

    def __pow__(self, other: float) -> Objective:
        return self._with(other, operator.pow)

    def __neg__(self) -> Objective:
        return self * -1.0

    __radd__ = __add__
    __rmul__ = __mul__


def _joined(joined: Callable[[Any, Any], Any], a: Any, b: Any, values: Mapping[str, Any], parts: Parts) -> Any:
    """Two objectives, or one and a number, as one number."""
    return joined(*(x._number(values, parts) if isinstance(x, Objective) else x for x in (a, b)))


def _counted_parts(values: Mapping[str, Any]) -> Parts:
    """Parts of a system of which nothing is known but its values: lines and bodies by number."""

    def count(dim: str) -> int:
        names = [name for name in values if SCHEMA.get(name, TIME_VARIABLE).dims[1:2] == (dim,)]
        return int(values[names[0]].shape[1]) if names else 1

    bodies = tuple(map(str, range(count("body"))))
    return Parts(bodies, bodies, {str(k): None for k in range(count("line"))})


class _OfExpression(Objective):
    """Objective of an expression, such as "body_position[load].x" or "position[-1, 0]" (docs/howto/expressions.md).

    Where there is one line only, or one free body, it need not be named: "torque", "angular_velocity.z".
    """

    def __init__(self, variable: str) -> None:
        self._expression = read("objective", variable)
        if self._expression.is_condition:
            raise InputError(f"objective: expected a number, got the condition {variable!r}")
        self.variable = variable
        super().__init__(self.number, set(rates_needed(self._expression)) - {TIME})

    def number(self, values: Mapping[str, Any], parts: Parts) -> Any:
        """The number, from the values of a run."""
        raise NotImplementedError

    def check(self, parts: Parts) -> None:
        self._bound(parts)

    def differences(self, parts: Parts) -> int:
        return self._bound(parts).differences

    def _bound(self, parts: Parts) -> Bound:
        return bind(self._expression, parts).single()


class Final(_OfExpression):
    """The last value of a variable.

    Parameters
    ----------
    variable : str
        A variable of results or an expression of them: "body_position[load].x".
    """

    def number(self, values: Mapping[str, Any], parts: Parts) -> Any:
        """The last value."""
        return self._bound(parts).of(values)[-1]


class Integral(_OfExpression):
    """The integral of a variable over time, by the trapezoidal rule.

    Parameters
    ----------
    variable : str
        A variable of results or an expression of them: "power[hoist]", "torque^2".
    """

    def number(self, values: Mapping[str, Any], parts: Parts) -> Any:
        """The integral."""
        x, lasts = self._bound(parts).of(values), np.diff(values[TIME])
        return np.sum((x if len(x) == len(lasts) else 0.5 * (x[1:] + x[:-1])) * lasts)


class Peak(_OfExpression):
    """The largest value of a variable, smoothed: log(sum(exp(sharpness x)))/sharpness over all samples.

    It is above the largest value, by log(samples)/sharpness at most.

    Parameters
    ----------
    variable : str
        A variable of results or an expression of them, of which all components count: "start_tension".
    sharpness : float, optional
        In one over the variable's unit; by default 100 over the root mean square of its values.
    """

    def __init__(self, variable: str, sharpness: float | None = None) -> None:
        self._sharpness = None if sharpness is None else checks.positive("sharpness", sharpness, "one over the unit")
        super().__init__(variable)

    def _bound(self, parts: Parts) -> Bound:
        return bind(self._expression, parts)

    def number(self, values: Mapping[str, Any], parts: Parts) -> Any:
        """The smooth maximum."""
        x = self._bound(parts).of(values)
        plain = value_of(x)
        largest = float(plain.max())
        sharpness = self._sharpness or (SHARPNESS / np.sqrt(np.mean(x**2)) if plain.any() else SHARPNESS)
        return largest + np.log(np.sum(np.exp(sharpness * (x - largest)))) / sharpness
