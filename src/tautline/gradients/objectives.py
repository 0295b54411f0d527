"""Numbers that a run is judged by: the last value, the peak and the integral of a variable, and sums of them."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from tautline.errors import InputError
from tautline.gradients.arrays import value_of
from tautline.gradients.outputs import check_names, component
from tautline.model import checks

_PLACE = re.compile(r"\s*(\w+)\s*(?:\[([-\d,\s]+)\])?\s*")
# Times the root mean square of a variable: how sharp a smooth maximum is.
SHARPNESS = 100.0


class Objective:
    """A number from the values of a run by name, which can be added to others and multiplied.

    Parameters
    ----------
    number : callable
        The number, from the values.
    names : set of str
        Variables that it asks for.
    """

    def __init__(self, number: Callable[[Mapping[str, Any]], Any], names: set[str]) -> None:
        self._number, self.names = number, names

    def __call__(self, values: Mapping[str, Any]) -> Any:
        return self._number(values)

    def _with(self, other: Any, joined: Callable[[Any, Any], Any], swapped: bool = False) -> Objective:
        if isinstance(other, Objective):
            return Objective(partial(_joined, joined, self, other), self.names | other.names)
        pair = (self, checks.number("objective", other))
        return Objective(partial(_joined, joined, *(pair[::-1] if swapped else pair)), self.names)

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


def _joined(joined: Callable[[Any, Any], Any], a: Any, b: Any, values: Mapping[str, Any]) -> Any:
    """Two objectives, or one and a number, as one number."""
    return joined(*(x(values) if isinstance(x, Objective) else x for x in (a, b)))


class _OfVariable(Objective):
    """Of a variable or of components of it, such as "position[-1, 0]": the first component of the last node.

    Where there is one line only, or one body, it need not be numbered: "torque", "angular_velocity[2]".
    """

    def __init__(self, variable: str) -> None:
        found = _PLACE.fullmatch(variable) if isinstance(variable, str) else None
        if found is None:
            raise InputError(f"objective: expected a variable such as 'position[-1, 0]', got {variable!r}")
        (name,) = check_names(found[1])
        self._place = tuple(int(x) for x in found[2].split(",")) if found[2] else ()
        self.variable, self._name = variable, name
        super().__init__(self.number, {name})

    def number(self, values: Mapping[str, Any]) -> Any:
        """The number, from the values of a run."""
        raise NotImplementedError

    def _series(self, values: Mapping[str, Any]) -> Any:
        try:
            return component(self._name, values[self._name], self._place)
        except IndexError:
            expected = f"components of {self._name} within {values[self._name].shape[1:]}"
            raise InputError(f"objective: expected {expected}, got {self.variable!r}") from None

    def _single(self, values: Mapping[str, Any]) -> Any:
        x = self._series(values)
        if x.ndim != 1:
            raise InputError(f"objective: expected one component of {next(iter(self.names))}, got {x.shape[1:]}")
        return x


class Final(_OfVariable):
    """The last value of a variable.

    Parameters
    ----------
    variable : str
        A variable of results, with components as of NumPy: "position[-1, 0]".
    """

    def number(self, values: Mapping[str, Any]) -> Any:
        """The last value."""
        return self._single(values)[-1]


class Integral(_OfVariable):
    """The integral of a variable over time, by the trapezoidal rule.

    Parameters
    ----------
    variable : str
        A variable of results, with components as of NumPy: "power".
    """

    def number(self, values: Mapping[str, Any]) -> Any:
        """The integral."""
        x = self._single(values)
        return np.sum(0.5 * (x[1:] + x[:-1]) * np.diff(values["time"]))


class Peak(_OfVariable):
    """The largest value of a variable, smoothed: log(sum(exp(sharpness x)))/sharpness over all samples.

    It is above the largest value, by log(samples)/sharpness at most.

    Parameters
    ----------
    variable : str
        A variable of results, of which all components count that are not chosen: "start_tension".
    sharpness : float, optional
        In one over the variable's unit; by default 100 over the root mean square of its values.
    """

    def __init__(self, variable: str, sharpness: float | None = None) -> None:
        self._sharpness = None if sharpness is None else checks.positive("sharpness", sharpness, "one over the unit")
        super().__init__(variable)

    def number(self, values: Mapping[str, Any]) -> Any:
        """The smooth maximum."""
        x = self._series(values)
        plain = value_of(x)
        largest = float(plain.max())
        sharpness = self._sharpness or (SHARPNESS / np.sqrt(np.mean(x**2)) if plain.any() else SHARPNESS)
        return largest + np.log(np.sum(np.exp(sharpness * (x - largest)))) / sharpness
