"""Sensitivities: which parameter an output depends on. Sobol' indices and elementary effects (Morris), by SALib.

SALib's tables consist of blocks: a point and its neighbors (Sobol'), a walk through the cube (Morris). A block in
which one member has no result is left out as a whole, because estimates are averages over blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tautline.errors import InputError
from tautline.extras import need
from tautline.results.warnings import WARNINGS, RunWarning, encoded
from tautline.studies.analysis.reading import Array, Component, Opened, probability
from tautline.studies.definition import designs, parameters

if TYPE_CHECKING:
    import xarray as xr

# Blocks below which intervals of confidence say nothing, and sigma is noise.
LEAST_BLOCKS = {"sobol-indices": 8, "morris": 4}
# Parts of the design on which indices are computed again, to show whether they have converged.
PARTS = (0.125, 0.25, 0.5, 1.0)
# An output that varies by less than this part of itself is constant but for rounding.
ROUNDING = 1e-12
# A first order beyond its total by this much is seen in the picture, and not noise of a design that is large enough.
CONTRADICTION = 0.05
# SALib holds blocks x resamples numbers several times.
RESAMPLED_AT_MOST, RESAMPLES = 4_000_000, (25, 200)
# Of the bootstrap; SALib takes 0 for none.
SEED = 1
Estimates = dict[str, Array]


def sensitivity(study: xr.Dataset, *outputs: str, confidence: float = 0.95) -> xr.Dataset:
    """Sobol' indices or elementary effects of the outputs of a study with the design `sobol-indices` or `morris`.

    Parameters
    ----------
    study : Dataset
        From `open_study`; it may be unfinished.
    *outputs : str
        All that are no series by default. Components of vectors are separate: `final_velocity[x]`.
    confidence : float
        Level of the intervals, from SALib's bootstrap.

    Returns
    -------
    xarray.Dataset
        Along `output` and `parameter`, from Sobol' tables: `first` (the part of the output's variance that the
        parameter makes alone), `total` (together with all others) and, where the design has it, `second` (a pair,
        beyond what both make alone; along `other`). From Morris tables: `mu_star` (mean size of the output's
        change, scaled to the parameter's whole range, in the output's `units`), `mu` (the same with signs) and
        `sigma` (how much the change depends on where one is). `..._confidence` is half the width of the interval.
        `..._so_far` has the same from the first part of the design only, along `part`: what still moves has not
        converged. `blocks` and `blocks_left_out` count SALib's blocks; one without all its results is left out. The
        attribute `warnings` says where estimates contradict each other, because the design is too small.
    """
    opened = Opened(study)
    probability("confidence", confidence)
    return sensitivity_of(opened, list(opened.reduced(outputs)), confidence)


def sensitivity_of(opened: Opened, chosen: list[Component], confidence: float = 0.95) -> xr.Dataset:
    """Sensitivity indices of single components."""
    kind = opened.design.kind
    if kind not in LEAST_BLOCKS:
        raise InputError(
            f"study: expected the design 'sobol-indices' or 'morris', got {kind!r}; `tautline study report` shows what "
            "other designs have sensitivities"
        )
    points = _points(opened) if kind == "morris" else None
    if not chosen:
        raise InputError("outputs: expected at least one that is no series, the study keeps none")
    found = [_estimates(opened, component, points, confidence) for component in chosen]
    return _dataset(opened, chosen, found)


def block_size(opened: Opened) -> int:
    """Members of a block: neighbors of a base point, or a walk."""
    count = len(opened.keys)
    if opened.design.kind == "morris":
        return count + 1
    return 2 * count + 2 if opened.design.settings["second_order"] else count + 2


def _points(opened: Opened) -> Array:
    """Morris' walks in the unit cube, (block, member, parameter). The store holds values; they must belong together."""
    points = designs.unit_points(opened.design, len(opened.keys))
    for k, key in enumerate(opened.keys):
        known = parameters.described(key, opened.plan["vary"][key], opened.plan["units"][key])
        stored, made = opened.dataset[key].values, known.from_unit(points[:, k])
        same = np.allclose(stored, made, rtol=1e-9, atol=0.0) if made.dtype.kind == "f" else np.all(stored == made)
        if not same:
            raise InputError(
                f"study: expected the table that the installed SALib makes of the design, got another in {key}; "
                "analyze it with the version of SALib that it was made with"
            )
    return points.reshape(-1, block_size(opened), len(opened.keys))


def _estimates(opened: Opened, component: Component, points: Array | None, confidence: float) -> Estimates:
    """All indices of one output, from whole blocks, and from the first parts of them."""
    kind = opened.design.kind
    y = opened.values(component).reshape(-1, block_size(opened))
    whole: NDArray[np.bool_] = np.all(np.isfinite(y), axis=1)
    count = int(whole.sum())
    if count < LEAST_BLOCKS[kind]:
        raise InputError(
            f"study: expected at least {LEAST_BLOCKS[kind]} blocks of {block_size(opened)} members with all their "
            f"results for {component.label}, got {count} of {len(whole)}; enlarge the design or narrow its ranges, "
            "`tautline study info` says why members failed"
        )
    y, x = y[whole], None if points is None else points[whole]
    sizes = [int(np.ceil(part * count)) for part in PARTS]
    parts = [
        _analyze(opened, y[:size], None if x is None else x[:size], confidence) if size >= LEAST_BLOCKS[kind] else {}
        for size in sizes
    ]
    found, unknown = dict(parts[-1]), np.full(len(opened.keys), np.nan)
    for name in parts[-1]:
        if not name.startswith("second"):
            found[f"{name}_so_far"] = np.stack([part.get(name, unknown) for part in parts])
    return {**found, "blocks": np.array(count), "blocks_left_out": np.array(len(whole) - count)}


def _analyze(opened: Opened, y: Array, x: Array | None, confidence: float) -> Estimates:
    """SALib's analysis of some blocks."""
    constant = float(np.ptp(y)) <= ROUNDING * float(np.abs(y).max())
    low, high = RESAMPLES
    settings = {"num_resamples": int(np.clip(RESAMPLED_AT_MOST // len(y), low, high)), "conf_level": confidence}
    problem = designs.problem(opened.keys)
    if x is not None:
        analyze = need("SALib.analyze.morris", "tl.studies.sensitivity").analyze
        flat = (x.reshape(-1, x.shape[-1]), np.zeros(y.size) if constant else y.ravel())
        found = analyze(problem, *flat, num_levels=opened.design.settings["levels"], seed=SEED, **settings)
        names = {"mu_star": "mu_star", "mu_star_confidence": "mu_star_conf", "mu": "mu", "sigma": "sigma"}
        return {name: np.asarray(found[theirs], dtype=np.float64) for name, theirs in names.items()}
    names = {"first": "S1", "first_confidence": "S1_conf", "total": "ST", "total_confidence": "ST_conf"}
    pairs = {"second": "S2", "second_confidence": "S2_conf"} if opened.design.settings["second_order"] else {}
    if constant:  # parts of a variance of zero
        count = len(opened.keys)
        return {name: np.full((count,) * (1 + (name in pairs)), np.nan) for name in (*names, *pairs)}
    analyze = need("SALib.analyze.sobol", "tl.studies.sensitivity").analyze
    found = analyze(problem, y.ravel(), calc_second_order=bool(pairs), seed=SEED, **settings)
    single = {name: np.asarray(found[theirs], dtype=np.float64) for name, theirs in names.items()}
    return single | {name: _both_ways(np.asarray(found[theirs])) for name, theirs in pairs.items()}


def _both_ways(upper: NDArray[Any]) -> Array:
    """SALib fills the upper triangle only."""
    return np.where(np.isnan(upper), upper.T, upper)


def doubts(found: xr.Dataset) -> list[RunWarning]:
    """Warnings where estimates of one output contradict each other: a first-order index is a part of the total one."""
    if "total" not in found:
        return []
    warnings = []
    for key in found.parameter.values.tolist():
        first, total = (float(found[name].sel(parameter=key)) for name in ("first", "total"))
        if first - total > CONTRADICTION:
            text = (
                f"{key}: alone {first:.2f} is more than {total:.2f} with all others, which cannot be: "
                f"{int(found.blocks)} blocks are too few; enlarge design.base"
            )
            warnings.append(RunWarning("sensitivity", text, first - total, CONTRADICTION, where=key))
    return warnings


_WORDS = {
    "first": "Sobol' index of first order",
    "total": "Sobol' index of total order",
    "second": "Sobol' index of second order",
    "mu_star": "mean size of the elementary effects",
    "mu": "mean elementary effect",
    "sigma": "standard deviation of the elementary effects",
}


def _dataset(opened: Opened, chosen: list[Component], found: list[Estimates]) -> xr.Dataset:
    import xarray as xr

    made: dict[str, Any] = {}
    for name in found[0]:
        base = name.removesuffix("_so_far").removesuffix("_confidence")
        dims = ["output", "part"] if name.endswith("_so_far") else ["output"]
        dims += ["parameter", "other"] if base == "second" else ["parameter"]
        if base not in _WORDS:
            values = np.array([int(one[name]) for one in found])
            made[name] = (["output"], values, {"long_name": name.replace("_", " "), "units": "1"})
            continue
        words = _WORDS[base] + (", half width of the interval" if "_confidence" in name else "")
        made[name] = (dims, np.stack([one[name] for one in found]), {"long_name": words})
    coords: dict[str, Any] = {
        "output": [component.label for component in chosen],
        "parameter": opened.keys,
        "part": ("part", list(PARTS), {"long_name": "part of the whole blocks"}),
        "units": ("output", [component.units for component in chosen]),
    }
    if "second" in made:
        coords["other"] = opened.keys
    order = sorted(made, key=lambda name: (name.startswith("blocks"), name.endswith("_so_far")))
    result = xr.Dataset({name: made[name] for name in order}, coords, {"design": opened.design.kind})
    result.attrs[WARNINGS] = encoded(
        w.prefixed(f"{label}: ")
        for k, label in enumerate(result.output.values.tolist())
        for w in doubts(result.isel(output=k))
    )
    return result
