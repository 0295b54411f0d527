"""Parameters that are varied: a list of values, a range, or a distribution; in SI once the units were read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tautline.errors import InputError
from tautline.model import checks, keys
from tautline.model.keys import Key

# The keys of each distribution that carry the parameter's unit, and those that are plain numbers.
DISTRIBUTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "uniform": (("from", "to"), ()),
    "normal": (("mean", "deviation"), ()),
    "lognormal": (("median",), ("log_deviation",)),
    "triangular": (("from", "peak", "to"), ()),
}
SCALES = ("linear", "log")
Values = NDArray[Any]


@dataclass(frozen=True)
class Parameter:
    """A key of the scenario and what it may be, in SI."""

    key: Key
    unit: str
    values: tuple[Any, ...] = ()  # listed ones; else a distribution
    distribution: str = "uniform"
    numbers: tuple[float, ...] = ()  # of the distribution, in the order of DISTRIBUTIONS
    scale: str = "linear"
    points: int | None = None  # of a range in a grid

    def description(self) -> dict[str, Any]:
        """Description as in a study file, in plain numbers."""
        if self.values:
            return {"values": list(self.values)}
        with_unit, plain = DISTRIBUTIONS[self.distribution]
        description: dict[str, Any] = {"distribution": self.distribution}
        description |= dict(zip((*with_unit, *plain), self.numbers, strict=True))
        if self.distribution == "uniform":
            description["scale"] = self.scale
        return description if self.points is None else {**description, "points": self.points}

    def listed(self) -> Values:
        """The values of a grid along this parameter."""
        if self.values:
            return as_array(self.values)
        if self.points is None or self.distribution != "uniform":
            raise InputError(
                f"vary.{self.key.text}: expected a list of values, or from, to and points, in a grid; got neither"
            )
        low, high = self.numbers
        return np.geomspace(low, high, self.points) if self.scale == "log" else np.linspace(low, high, self.points)

    def from_unit(self, u: NDArray[np.float64]) -> Values:
        """Values at points of the unit interval, by the inverse of the cumulative distribution."""
        if self.values:
            places = np.minimum((u * len(self.values)).astype(np.int64), len(self.values) - 1)
            return as_array(self.values)[places]
        x = self._quantiles(u)
        if not np.isfinite(x).all():
            raise InputError(
                f"vary.{self.key.text}: expected a range or a triangular distribution with this design, which has "
                f"points at the ends; got {self.distribution!r}, which has none"
            )
        return x

    def _quantiles(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.distribution == "uniform":
            low, high = self.numbers
            if self.scale == "log":
                return np.asarray(np.exp(u * (np.log(high) - np.log(low)) + np.log(low)))
            return np.asarray(u * (high - low) + low)
        from scipy import stats

        if self.distribution == "normal":
            mean, deviation = self.numbers
            return np.asarray(stats.norm.ppf(u, mean, deviation))
        if self.distribution == "lognormal":
            median, spread = self.numbers
            return np.asarray(stats.lognorm.ppf(u, spread, scale=median))
        low, peak, high = self.numbers
        return np.asarray(stats.triang.ppf(u, (peak - low) / (high - low), low, high - low))


def described(text: str, description: Mapping[str, Any], unit: str) -> Parameter:
    """From its description: the inverse of `Parameter.description`."""
    key = keys.parse(text)
    if "values" in description:
        return Parameter(key, unit, values=tuple(description["values"]))
    with_unit, plain = DISTRIBUTIONS[description["distribution"]]
    numbers = tuple(float(description[name]) for name in (*with_unit, *plain))
    return Parameter(
        key,
        unit,
        (),
        description["distribution"],
        numbers,
        description.get("scale", "linear"),
        description.get("points"),
    )


def as_array(values: Any) -> Values:
    """Numbers and truth values as such, words as objects."""
    array = np.asarray(values)
    return array if array.dtype.kind in "biuf" else np.array([str(x) for x in array.tolist()], dtype=object)


def read(text: str, spec: Any, unit: str, to_si: Callable[[Key, Any], Any]) -> Parameter:
    """From what a study file says of one key; `to_si` reads a value as the scenario would."""
    key = keys.parse(text)
    name = f"vary.{text}"
    if isinstance(spec, (list, tuple)):
        spec = {"values": spec}
    if not isinstance(spec, Mapping):
        checks.refuse(name, "a list of values, or a table with from and to, or with a distribution", spec)
    if "values" in spec:
        checks.known(f"{name}.", spec, ("values",))
        listed = spec["values"]
        if not isinstance(listed, (list, tuple)) or not listed:
            checks.refuse(f"{name}.values", "a list with something in it", listed)
        values = tuple(to_si(key, value) for value in listed)
        for value in values:
            if isinstance(value, Mapping):
                checks.refuse(name, "single values; make a study for each file", next(iter(value.values())))
            if not isinstance(value, (bool, int, float, str)):
                checks.refuse(name, f"single values; vary components, such as {text}[0]", value)
        return Parameter(key, unit, values=values)
    return _read_distribution(name, key, spec, unit, to_si)


def _read_distribution(
    name: str, key: Key, spec: Mapping[str, Any], unit: str, to_si: Callable[[Key, Any], Any]
) -> Parameter:
    kind = spec.get("distribution", "uniform")
    checks.choice(f"{name}.distribution", kind, DISTRIBUTIONS)
    with_unit, plain = DISTRIBUTIONS[kind]
    others = ("scale", "points") if kind == "uniform" else ()
    checks.known(f"{name}.", spec, ("distribution", *with_unit, *plain, *others))
    missing = [x for x in (*with_unit, *plain) if x not in spec]
    if missing:
        raise InputError(f"{name}: expected {', '.join((*with_unit, *plain))}, or values; {missing[0]} is missing")
    numbers = [to_si(key, spec[x]) for x in with_unit]
    for x, number in zip(with_unit, numbers, strict=True):
        if isinstance(number, (bool, str)) or not isinstance(number, (int, float)):
            checks.refuse(f"{name}.{x}", "a number; words are given as a list of values", spec[x])
        if isinstance(number, int):
            raise InputError(f"{name}: expected a list of values, because it is a count; got a range or distribution")
    numbers += [checks.positive(f"{name}.{x}", spec[x], "of the natural logarithm") for x in plain]
    scale = spec.get("scale", "linear")
    checks.choice(f"{name}.scale", scale, SCALES)
    _check_order(name, kind, numbers, scale)
    points = spec.get("points")
    if points is not None:
        points = checks.whole(f"{name}.points", points, 2, 10**9)
    return Parameter(key, unit, (), kind, tuple(map(float, numbers)), scale, points)


def _check_order(name: str, kind: str, numbers: list[float], scale: str) -> None:
    if kind in ("uniform", "triangular") and not numbers[0] < numbers[-1]:
        raise InputError(f"{name}: expected from to be less than to, got {numbers[0]:g} and {numbers[-1]:g}")
    if kind == "triangular" and not numbers[0] <= numbers[1] <= numbers[2]:
        raise InputError(f"{name}.peak: expected a number from {numbers[0]:g} to {numbers[2]:g}, got {numbers[1]:g}")
    if kind == "normal" and numbers[1] <= 0.0:
        raise InputError(f"{name}.deviation: expected a positive number, got {numbers[1]:g}")
    if kind == "lognormal" or scale == "log":
        checks.positive(f"{name}.{'median' if kind == 'lognormal' else 'from'}", numbers[0], "on a logarithmic scale")
