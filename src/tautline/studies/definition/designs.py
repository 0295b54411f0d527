"""Designs: which values the members of a study have, any part of them at a time.

Points of the unit cube come from NumPy, SciPy and SALib. Rows are the same however a design is cut into parts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
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
# Largest number below 1, and half of the last digit of Sobol points.
_LAST, _HALF_A_DIGIT = np.nextafter(1.0, 0.0), 2.0**-31
# Of a permutation: four would do for one that no pattern is seen in.
_ROUNDS = 6


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
    checks.known("design.", spec, ("kind", *known), f"key with kind = {kind!r}")
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


def columns(
    design: Design, parameters: tuple[Parameter, ...], first: int = 0, last: int | None = None
) -> dict[str, Values]:
    """Values by key of the members from `first` to before `last` of a sampled design, by default of all."""
    points = unit_points(design, len(parameters), first, last)
    return {p.key.text: p.from_unit(points[:, k]) for k, p in enumerate(parameters)}


def sides(parameters: tuple[Parameter, ...]) -> dict[str, Values]:
    """Values by key of a grid, each along a dimension of its own."""
    for parameter in parameters:
        space.check_design(f"vary.{parameter.key.text}.points", parameter.points or len(parameter.values), 1)
    return {p.key.text: p.listed() for p in parameters}


def check_room(design: Design, dimensions: int) -> None:
    """Refuse a design that is made as a whole, and that memory cannot hold."""
    if design.kind == "morris":
        space.check_design("design.trajectories", members_of(design, dimensions), dimensions)


def members_of(design: Design, dimensions: int) -> int:
    """Number of members of a sampled design."""
    chosen = design.settings
    if design.kind == "sobol-indices":
        return int(chosen["base"]) * ((2 if chosen["second_order"] else 1) * dimensions + 2)
    if design.kind == "morris":
        return int(chosen["trajectories"]) * (dimensions + 1)
    return int(chosen["members"])


def unit_points(design: Design, dimensions: int, first: int = 0, last: int | None = None) -> NDArray[np.float64]:
    """Members of a sampled design in the unit cube, one row each; SALib's analyses take these very rows."""
    chosen = design.settings
    last = members_of(design, dimensions) if last is None else last
    if design.kind == "sobol-indices":
        return _saltelli_points(chosen, dimensions, first, last)
    if design.kind == "morris":
        return _morris_points(dimensions, **chosen)[first:last]
    if design.kind == "sobol":
        # `rng` was called `seed` before SciPy 1.15; by position both are out of reach
        return _sobol_points(dimensions, first, last, **{_seed_name(): chosen["seed"]})
    generator = np.random.default_rng(chosen["seed"])
    generator.bit_generator.advance(first * dimensions)  # type: ignore[attr-defined]
    points = generator.random((last - first, dimensions))
    if design.kind == "latin-hypercube":
        members, rows = chosen["members"], np.arange(first, last, dtype=np.uint64)
        for k in range(dimensions):
            points[:, k] = np.minimum((_shuffled(rows, members, chosen["seed"], k) + points[:, k]) / members, _LAST)
    return points


def _shuffled(rows: NDArray[np.uint64], count: int, seed: int, which: int) -> NDArray[np.uint64]:
    """Places of rows in a permutation of so many: a Feistel network on the digits of their numbers.

    Each place is found by itself, so that a permutation need not be held as a whole. The network permutes a power of 4;
    a place beyond the count is permuted again until it is within.
    """
    half = np.uint64(max(1, (count - 1).bit_length() + 1) // 2)
    mask = np.uint64(2 ** int(half) - 1)
    keys = np.random.SeedSequence([seed, which]).generate_state(_ROUNDS, np.uint64)
    places, beyond = rows.copy(), np.ones(len(rows), dtype=bool)
    while beyond.any():
        left, right = places[beyond] >> half, places[beyond] & mask
        for key in keys:
            left, right = right, left ^ (_mixed(right ^ key) & mask)
        places[beyond] = (left << half) | right
        beyond = places >= count
    return places


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers whose bits each depend on all bits of x: the finalizer of SplitMix64 (Steele et al. 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _sobol_points(dimensions: int, first: int, last: int, **seed: int) -> NDArray[np.float64]:
    """Scrambled Sobol points; one on the edge is moved inwards by half a digit, since distributions may end there."""
    from scipy.stats import qmc

    sampler = qmc.Sobol(dimensions, **seed)
    count = last - first
    if first:
        sampler.fast_forward(first)
    else:  # SciPy warns of a beginning that is no power of 2
        count = 1 << (count - 1).bit_length()
    return np.asarray(np.maximum(sampler.random(count)[: last - first], _HALF_A_DIGIT))


def _seed_name() -> str:
    import inspect

    from scipy.stats import qmc

    return "rng" if "rng" in inspect.signature(qmc.LatinHypercube).parameters else "seed"


def problem(names: list[str]) -> dict[str, Any]:
    """SALib's description of the unit cube."""
    return {"num_vars": len(names), "names": names, "bounds": [[0.0, 1.0]] * len(names)}


def _saltelli_points(chosen: Mapping[str, Any], dimensions: int, first: int, last: int) -> NDArray[np.float64]:
    """Blocks of rows as SALib has them: A, A with each column of B, B with each column of A, B."""
    size = (2 if chosen["second_order"] else 1) * dimensions + 2
    begun = first // size
    base = _sobol_points(2 * dimensions, begun, -(-last // size), seed=chosen["seed"])  # the word decides the points
    blocks = np.empty((len(base), size, dimensions))
    A, B = base[:, None, :dimensions], base[:, None, dimensions:]
    blocks[:, : dimensions + 1], blocks[:, dimensions + 1 :] = A, B
    for k in range(dimensions):
        blocks[:, 1 + k, k] = B[:, 0, k]
        if chosen["second_order"]:
            blocks[:, 1 + dimensions + k, k] = A[:, 0, k]
    return blocks.reshape(-1, dimensions)[first - begun * size : last - begun * size]


@lru_cache(maxsize=1)
def _morris_points(dimensions: int, trajectories: int, seed: int, levels: int) -> NDArray[np.float64]:
    """All rows: SALib draws its walks together."""
    sample = need("SALib.sample.morris", "a study").sample
    cube = problem([f"x{k}" for k in range(dimensions)])
    return np.asarray(sample(cube, trajectories, num_levels=levels, seed=seed))


def grid_shape(table: Mapping[str, Values]) -> tuple[int, ...]:
    """Lengths of a grid's sides."""
    lengths = tuple(len(column) for column in table.values())
    if math.prod(lengths) > MOST_MEMBERS:
        raise InputError(f"design: expected at most {MOST_MEMBERS:.0e} members, got {math.prod(lengths):.2e}")
    return lengths
