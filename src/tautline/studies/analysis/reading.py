"""An opened study as analyses and reports see it: single numbers of every member, with labels and units."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline.errors import InputError
from tautline.model import checks
from tautline.studies.definition import work
from tautline.studies.definition.designs import Design
from tautline.studies.definition.outputs import HEALTH

if TYPE_CHECKING:
    import xarray as xr

# What every study keeps beside the outputs that were asked for.
NOT_OUTPUTS = ("status", "message", "steps", "warnings", *HEALTH)
# Words are turned into numbers this many at a time: a Python string takes ten times the memory of a number.
WORDS_AT_ONCE = 1 << 16
Array = NDArray[np.float64]


class Component(NamedTuple):
    """One number of every member: an output, or a part of one that has more dimensions."""

    output: str
    label: str  # final_velocity[x]
    place: dict[str, int]
    units: str
    long_name: str


@dataclass(frozen=True)
class Column:
    """Values of a parameter, one for each member or along its side of a grid; of words, their places in `words`."""

    key: str
    values: Array
    units: str
    log: bool
    words: tuple[str, ...] = ()


class Opened:
    """The Dataset of `open_study` and the study behind it."""

    def __init__(self, study: xr.Dataset) -> None:
        plan = getattr(study, "attrs", {}).get("study")
        if not isinstance(plan, str) or "status" not in study:
            raise InputError("study: expected the Dataset of a study, as open_study gives it, got something else")
        self.dataset = study
        self.plan: dict[str, Any] = json.loads(plan)
        settings = dict(self.plan["design"])
        self.design = Design(settings.pop("kind"), settings)
        self.keys: list[str] = list(self.plan["vary"])
        self.dims: tuple[str, ...] = tuple(map(str, study.status.dims))
        self.shape: tuple[int, ...] = study.status.shape
        self.outputs = [str(name) for name in study.data_vars if name not in NOT_OUTPUTS]
        self._usable: NDArray[np.bool_] | None = None

    @property
    def members(self) -> int:
        return int(np.prod(self.shape))

    @property
    def usable(self) -> NDArray[np.bool_]:
        """Members with a result; a string that is fully in or out is one, a run that the numerics ended is not."""
        if self._usable is None:
            status = self.dataset.status.values
            self._usable = ~np.isin(status, (work.NOT_COMPUTED, *work.FAILURES))
        return self._usable

    @property
    def series(self) -> list[str]:
        """Outputs over time."""
        return [name for name in self.outputs if "time" in self.dataset[name].dims]

    def chosen(self, names: tuple[str, ...], default: list[str]) -> list[str]:
        """Names of outputs that were asked for; figures of health are, if they are named."""
        known = [*self.outputs, *HEALTH]
        for name in names:
            checks.choice("outputs", name, known)
        return list(names) or default

    def components(self, name: str) -> list[Component]:
        """An output as single numbers; of a series, its curves."""
        x = self.dataset[name]
        free = [str(dim) for dim in x.dims if dim not in (*self.dims, "time")]
        units, words = str(x.attrs.get("units", "1")), str(x.attrs.get("long_name", name))
        found = []
        for places in product(*(range(x.sizes[dim]) for dim in free)):
            place = dict(zip(free, places, strict=True))
            inside = ", ".join(_part(x, dim, k) for dim, k in place.items())
            found.append(Component(name, f"{name}[{inside}]" if inside else name, place, units, words))
        return found

    def reduced(self, names: tuple[str, ...] = ()) -> Iterator[Component]:
        """Single numbers of the outputs that were asked for, or of all that are no series."""
        for name in self.chosen(names, [x for x in self.outputs if x not in self.series]):
            if name in self.series:
                raise InputError(
                    f"outputs: expected single numbers, got {name!r}, which is a series; keep it reduced or at some "
                    'times in the study: outputs = ["max ...", { variable = "...", at = ["1 s", "2 s"] }]'
                )
            yield from self.components(name)

    def values(self, component: Component) -> Array:
        """In the shape of the members; missing where there is no result."""
        x = np.asarray(self.dataset[component.output].isel(component.place).values, dtype=np.float64)
        return np.where(self.usable, x, np.nan)

    def curves(self, component: Component, members: NDArray[np.int64]) -> Array:
        """A series of some members, one row each; no more than these rows is held at a time."""
        x = self.dataset[component.output].isel(component.place)
        if len(self.dims) == 1:
            return np.asarray(x[members].values)
        import xarray as xr

        places = zip(self.dims, np.unravel_index(members, self.shape), strict=True)
        return np.asarray(x.isel({dim: xr.DataArray(p, dims="some") for dim, p in places}).values)

    def messages(self, members: NDArray[np.int64]) -> Iterator[tuple[dict[str, Any], str]]:
        """Values of the parameters of some members, and why each ended as it did."""
        for flat in members.tolist():
            place = dict(zip(self.dims, (int(k) for k in np.unravel_index(flat, self.shape)), strict=True))
            member = self.dataset[["message"]].isel(place)
            yield {key: member[key].item() for key in self.keys}, str(member.message.item())

    def column(self, key: str) -> Column:
        """Values of a parameter."""
        x, varied = self.dataset[key], self.plan["vary"][key]
        log = varied.get("scale") == "log" or varied.get("distribution") == "lognormal"
        units = self.plan["units"].get(key) or "1"
        if x.dtype.kind in "iuf":
            return Column(key, np.asarray(x.values, dtype=np.float64), units, log)
        listed = [str(word) for word in varied.get("values", ())]
        codes = np.empty(x.size)
        for start in range(0, x.size, WORDS_AT_ONCE):
            words = [str(word) for word in x[start : start + WORDS_AT_ONCE].values.tolist()]
            listed += [word for word in dict.fromkeys(words) if word not in listed]
            codes[start : start + len(words)] = [listed.index(word) for word in words]
        return Column(key, codes, units, False, tuple(listed))


def probability(name: str, value: Any) -> float:
    """A number between 0 and 1."""
    p = checks.number(name, value, "a number between 0 and 1")
    if not 0.0 < p < 1.0:
        checks.refuse(name, "a number between 0 and 1", value)
    return p


def _part(x: xr.DataArray, dim: str, k: int) -> str:
    """The name of a component: x, 0.5 s, node 3."""
    if dim not in x.coords:
        return f"{dim} {k}"
    value = x.coords[dim].values[k]
    return str(value) if isinstance(value, str) else f"{value:g} {x.coords[dim].attrs.get('units', '')}".rstrip()
