"""Designs: which values the members of a study have. Points of the unit cube come from SciPy and SALib."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tautline.errors import InputError
from tautline.extras import need
from tautline.model import checks
from tautline.studies.definition.parameters import Parameter, Values
from tautline.studies.store import space

# Settings of each kind with what they are if not given; None must be given.
KINDS: dict[str, dict[str, Any]] = {
    "grid": {},
    "random": {"members": None, "seed": None},
    "latin-hypercube": {"members": None, "seed": None},
    "sobol": {"members": None, "seed": None},
    "sobol-indices": {"base": None, "seed": None, "second_order": True},
    "morris": {"trajectories": None, "seed": None, "levels": 4},
    "table": {},
}
MOST_MEMBERS = 10**9


class Design(NamedTuple):
    """A kind and its settings."""

    kind: str
    settings: dict[str, Any]


def read(spec: Any) -> Design:
    """From the section `design` of a study."""
    if not isinstance(spec, Mapping):
        checks.refuse("design", "a section with a kind", spec)
    if "kind" not in spec:
        raise InputError(f"design.kind: missing; expected one of {', '.join(map(repr, KINDS))}")
    kind = spec["kind"]
    checks.choice("design.kind", kind, KINDS)
    known = KINDS[kind]
    for name in spec:
        if name not in ("kind", *known):
            raise InputError(f"design.{name}: no such key with kind = {kind!r}; it has {', '.join(known) or 'none'}")
    settings = {**known, **{name: value for name, value in spec.items() if name != "kind"}}
    for name, value in settings.items():
        if value is None:
            raise InputError(f"design.{name}: missing; kind = {kind!r} needs it")
        if name == "second_order":
            checks.instance("design.second_order", value, bool)
        else:
            least = {"seed": 0, "levels": 2}.get(name, 1)
            settings[name] = checks.whole(f"design.{name}", value, least, MOST_MEMBERS)
    _check_sizes(kind, settings)
    return Design(kind, settings)


def _check_sizes(kind: str, settings: Mapping[str, Any]) -> None:
    name = {"sobol": "members", "sobol-indices": "base"}.get(kind)
    if name is not None and settings[name] & (settings[name] - 1):
        below = 2 ** (settings[name].bit_length() - 1)
        raise InputError(
            f"design.{name}: expected a power of 2, at which Sobol points are balanced; got {settings[name]}, "
            f"near are {below} and {2 * below}"
        )
    if kind == "morris" and settings["levels"] % 2:
        checks.refuse("design.levels", "an even number", settings["levels"])


def columns(design: Design, parameters: tuple[Parameter, ...]) -> dict[str, Values]:
    """Values by key: along a dimension of its own each in a grid, else one for each member."""
    _check_room(design, parameters)
    if design.kind == "grid":
        return {p.key.text: p.listed() for p in parameters}
    points = unit_points(design, len(parameters))
    return {p.key.text: p.from_unit(points[:, k]) for k, p in enumerate(parameters)}


def _check_room(design: Design, parameters: tuple[Parameter, ...]) -> None:
    """Refuse what memory cannot hold before it is made."""
    if design.kind == "grid":
        for parameter in parameters:
            space.check_design(f"vary.{parameter.key.text}.points", parameter.points or len(parameter.values), 1)
        return
    counted = next(name for name in ("members", "base", "trajectories") if name in design.settings)
    space.check_design(f"design.{counted}", members_of(design, len(parameters)), len(parameters))


def members_of(design: Design, dimensions: int) -> int:
    """Number of members of a sampled design."""
    chosen = design.settings
    if design.kind == "sobol-indices":
        return int(chosen["base"]) * ((2 if chosen["second_order"] else 1) * dimensions + 2)
    if design.kind == "morris":
        return int(chosen["trajectories"]) * (dimensions + 1)
    return int(chosen["members"])


def unit_points(design: Design, dimensions: int) -> NDArray[np.float64]:
    """The members of a sampled design in the unit cube, one row each; SALib's analyses take these very rows."""
    chosen = design.settings
    if design.kind == "random":
        return np.random.default_rng(chosen["seed"]).random((chosen["members"], dimensions))
    if design.kind in ("sobol-indices", "morris"):
        return _salib_points(design, dimensions)
    from scipy.stats import qmc

    kinds = {"latin-hypercube": qmc.LatinHypercube, "sobol": qmc.Sobol}
    # `rng` was called `seed` before SciPy 1.15; by position both are out of reach
    sampler = kinds[design.kind](dimensions, **{_seed_name(): chosen["seed"]})
    return np.asarray(sampler.random(chosen["members"]))


def _seed_name() -> str:
    import inspect

    from scipy.stats import qmc

    return "rng" if "rng" in inspect.signature(qmc.LatinHypercube).parameters else "seed"


def problem(names: list[str]) -> dict[str, Any]:
    """SALib's description of the unit cube."""
    return {"num_vars": len(names), "names": names, "bounds": [[0.0, 1.0]] * len(names)}


def _salib_points(design: Design, dimensions: int) -> NDArray[np.float64]:
    chosen, cube = design.settings, problem([f"x{k}" for k in range(dimensions)])
    if design.kind == "morris":
        sample = need("SALib.sample.morris", "a study").sample
        return np.asarray(sample(cube, chosen["trajectories"], num_levels=chosen["levels"], seed=chosen["seed"]))
    sample = need("SALib.sample.sobol", "a study").sample
    return np.asarray(sample(cube, chosen["base"], calc_second_order=chosen["second_order"], seed=chosen["seed"]))


def shape(design: Design, table: Mapping[str, Values]) -> tuple[int, ...]:
    """Shape of the results: the lengths of a grid's sides, or the number of members."""
    lengths = [len(column) for column in table.values()]
    if design.kind == "grid":
        if math.prod(lengths) > MOST_MEMBERS:
            raise InputError(f"design: expected at most {MOST_MEMBERS:.0e} members, got {math.prod(lengths):.2e}")
        return tuple(lengths)
    return (lengths[0],)
