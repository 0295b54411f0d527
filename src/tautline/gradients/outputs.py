"""Variables of results with their derivatives, from samples and theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from tautline.arrays import Array
from tautline.errors import InputError
from tautline.gradients.arrays import Dual
from tautline.gradients.leaves import leaves, with_leaves
from tautline.kernels.loads.resistance import DRAG
from tautline.model import checks
from tautline.model.description import changed
from tautline.model.fluid import Fluid
from tautline.model.piecewise import evaluate
from tautline.model.reel import Reel
from tautline.model.string import String
from tautline.model.string_loads import StringLoads
from tautline.model.system.system import System
from tautline.model.wording import near
from tautline.results.network import variables_of
from tautline.schema import SCHEMA

# Variables with a torque in them.
OF_TORQUES = ("torque", "power")
# Of the latest time: samples that are nearer to a knot of a table stand on it.
ON_KNOT = 1e-9
# Of how fast a sample moves: knots that move as fast stay at it.
ALIKE = 1e-8


class DualValues(MutableMapping[str, Dual]):
    """Variables by name, some of which are made when they are asked for; a sentence where there is none of a name."""

    def __init__(self, found: Mapping[str, Dual]) -> None:
        self._found = dict(found)
        self._later: dict[str, Callable[[], Mapping[str, Dual]]] = {}

    def put_off(self, names: Iterable[str], make: Callable[[], Mapping[str, Dual]]) -> None:
        """Let variables be taken from what is made when one of them is first asked for."""
        self._later |= dict.fromkeys(names, cache(make))

    def made(self) -> dict[str, Dual]:
        """Variables that are not put off."""
        return {name: x for name, x in self._found.items() if name not in self._later}

    def __getitem__(self, name: str) -> Dual:
        if name not in self:
            known = near(name, self) if isinstance(name, str) else ""
            known = f"{name!r}{known}; there are {', '.join(self)}"
            raise InputError(f"objective: expected a variable of the run, got {known}")
        if name in self._later:
            self[name] = self._later[name]()[name]
        return self._found[name]

    def __setitem__(self, name: str, x: Dual) -> None:
        self._found[name] = x
        self._later.pop(name, None)

    def __delitem__(self, name: str) -> None:
        del self._found[name]

    def __contains__(self, name: object) -> bool:
        return name in self._found

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def joined_values(found: Sequence[DualValues]) -> DualValues:
    """Variables of spans of samples, one after the other."""
    if len(found) == 1:
        return found[0]
    joined: dict[str, Any] = {name: np.concatenate([x[name] for x in found]) for name in found[0]}
    return DualValues(joined)


class _String(String):
    """A string whose numbers carry derivatives."""

    _table: Any  # strains, and coefficients of the energy, as the kernels have them

    def pieces(self) -> tuple[Any, Any]:
        """Tension of a table."""
        powers = np.arange(1.0, len(self._table) - 1.0)
        return self._table[0], self._table[2:] * powers[:, None]

    def energy_density(self, strain: Any) -> Any:
        """Elastic energy per unstretched length."""
        return (
            evaluate(self._table[0], self._table[1:], strain) if self.law == "table" else super().energy_density(strain)
        )


def dual_setting(setting: Any, tangents: list[Array]) -> Any:
    """A setting whose numbers carry derivatives; all are copies, so that it stays while the setting is marched on."""
    return with_leaves(setting, [Dual(np.copy(x), np.copy(t)) for x, t in zip(leaves(setting), tangents, strict=True)])


def dual_string(string: String, par: Any) -> String:
    """A string with the numbers that results take from it in place of its own."""
    viscosity = string.viscosity and par.viscosity
    numbers = {"length": par.L, "stiffness": par.EA, "viscosity": viscosity, "_table": par.tension_table}
    return changed(string, _String, **numbers)


def dual_reel(reel: Reel, par: Any) -> Reel:
    """Reel with numbers that carry derivatives."""
    numbers = {"drum_radius": par.d, "guide_length": par.b, "layer_growth": par.growth, "guide_position": par.r_p}
    return changed(reel, **numbers)


def dual_loads(fluid: Fluid | None, weight: Any, loads: Any) -> StringLoads:
    """Loads along a string, with the numbers that the kernels have of them."""
    own = loads.own[DRAG]
    if fluid is None:
        return StringLoads(weight)
    return StringLoads(weight, *(getattr(own, name) for name in StringLoads._fields[1:]))


def check_names(names: str | Sequence[str], system: System) -> list[str]:
    """Names of variables of results of a system."""
    wanted, known = checks.names("outputs", names), variables_of(system)
    for name in wanted:
        if name not in known:
            raise InputError(f"outputs: expected variables of a result, got {name!r}{near(name, known)}")
    return wanted


def component(name: str, x: Any, place: tuple[int, ...] = ()) -> Any:
    """Component of a variable at all samples; the only line or body need not be among the numbers of its place."""
    known = SCHEMA[name].dims if name in SCHEMA else ()
    if len(place) < x.ndim - 1 and known[1:2] in (("line",), ("body",)) and x.shape[1] == 1:
        x = x[:, 0]
    return x[(slice(None), *place)]


def on_moved_knots(knots: Dual, times: Dual) -> Any:
    """Samples that stand on a knot of a table, and directions along which the knot moves otherwise than they do."""
    nearest = np.abs(times.value[:, None] - knots.value).argmin(axis=1)
    on = np.abs(times.value - knots.value[nearest]) <= ON_KNOT * float(times.value.max())
    apart = np.abs(times.tangent - knots.tangent[nearest])
    size = np.abs(times.tangent) + np.abs(knots.tangent[nearest])
    return on[:, None] & (apart > ALIKE * size)
