"""Designs of studies: the points, the values made of them, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.stats import qmc

from tautline.errors import InputError
from tautline.studies.definition import definition, designs
from tautline.studies.definition.designs import Design
from tautline.studies.store.layout import Layout, cut, spread

STIFFNESS = {"from": "20 N", "to": "80 N"}


def study(vary: dict[str, Any], design: dict[str, Any] | None = None, **others: Any) -> definition.Study:
    tree: dict[str, Any] = {"scenario": "fixed-length", "vary": vary, "outputs": ["max tension"], **others}
    return definition.read(tree if design is None else {**tree, "design": design})


@pytest.mark.parametrize(
    ("design", "members"),
    [
        ({"kind": "random", "members": 50, "seed": 3}, 50),
        ({"kind": "latin-hypercube", "members": 50, "seed": 3}, 50),
        ({"kind": "sobol", "members": 64, "seed": 3}, 64),
        ({"kind": "sobol-indices", "base": 8, "seed": 3}, 8 * 6),
        ({"kind": "sobol-indices", "base": 8, "seed": 3, "second_order": False}, 8 * 4),
        ({"kind": "morris", "trajectories": 5, "seed": 3}, 5 * 3),
    ],
)
def test_sampled_designs_are_reproducible_and_in_range(design: dict[str, Any], members: int) -> None:
    vary = {"string.stiffness": STIFFNESS, "body.mass": {"from": "80 g", "to": "120 g"}}
    one, two = study(vary, design), study(vary, design)
    other = study(vary, {**design, "seed": 4})
    assert one.shape == (members,) and one.dims == ("member",)
    for key, low, high in (("string.stiffness", 20.0, 80.0), ("body.mass", 0.08, 0.12)):
        x = one.table[key]
        assert np.array_equal(x, two.table[key])
        assert not np.array_equal(x, other.table[key])
        assert low <= x.min() < x.max() <= high


@pytest.mark.parametrize(
    "design",
    [
        {"kind": "random", "members": 50, "seed": 3},
        {"kind": "latin-hypercube", "members": 53, "seed": 3},
        {"kind": "sobol", "members": 64, "seed": 3},
        {"kind": "sobol-indices", "base": 8, "seed": 3},
        {"kind": "sobol-indices", "base": 16, "seed": 3, "second_order": False},
        {"kind": "morris", "trajectories": 11, "seed": 3},
    ],
)
def test_rows_are_the_same_however_a_design_is_cut(design: dict[str, Any]) -> None:
    vary = {"string.stiffness": STIFFNESS, "reel.guide_law": ["none", "momentum"], "gravity": {"from": 9, "to": 10}}
    made = study(vary, design)
    for size in (1, 7, 32, made.members):
        parts = [made.part(k, min(k + size, made.members)) for k in range(0, made.members, size)]
        for key, column in made.table.items():
            assert np.array_equal(np.concatenate([part[key] for part in parts]), column), (key, size)


def test_a_part_of_a_large_design_is_made_alone() -> None:
    """Ten members of 10^9, whose columns would take 8 GB each."""
    vary = {"string.stiffness": STIFFNESS, "gravity": {"distribution": "normal", "mean": 9.8, "deviation": 0.01}}
    for kind in ("random", "latin-hypercube"):
        made = study(vary, {"kind": kind, "members": 10**9, "seed": 2})
        last = made.part(10**9 - 10, 10**9)
        assert made.shape == (10**9,) and all(len(np.unique(column)) == 10 for column in last.values())


def test_permutations_have_no_pattern() -> None:
    """Neighbors in a Latin hypercube are as far apart as those of random ones, and its columns are not correlated."""
    n = 4000
    points = designs.unit_points(Design("latin-hypercube", {"members": n, "seed": 8}), 3)
    for k in range(3):
        assert sorted((points[:, k] * n).astype(int)) == list(range(n))
    # of independent numbers: a standard deviation of 1/sqrt(n) each, of which none of 12 is beyond 4
    correlations = [*np.asarray(np.corrcoef(points.T))[np.triu_indices(3, 1)]]
    correlations += [np.corrcoef(points[lag:, k], points[:-lag, k])[0, 1] for k in range(3) for lag in (1, 2, 64)]
    assert np.abs(correlations).max() < 4.0 / np.sqrt(n)


def test_sobol_points_are_those_of_scipy() -> None:
    found = designs.unit_points(designs.read({"kind": "sobol", "members": 32, "seed": 7}), 3)
    assert np.array_equal(found, qmc.Sobol(3, rng=np.random.default_rng(7)).random(32))


def test_tables_of_salib_are_met_exactly() -> None:
    """What its samplers give on the bounds themselves, bit for bit: its analyses rely on it."""
    from SALib.sample import morris, sobol

    problem = {"num_vars": 2, "names": ["a", "b"], "bounds": [[20.0, 80.0], [0.08, 0.12]]}
    ranges = {"string.stiffness": {"from": 20, "to": 80}, "body.mass": {"from": 0.08, "to": 0.12}}
    ours = study(ranges, {"kind": "sobol-indices", "base": 16, "seed": 5})
    theirs = sobol.sample(problem, 16, seed=5)
    assert np.array_equal(np.column_stack(list(ours.table.values())), theirs)
    ours = study(ranges, {"kind": "morris", "trajectories": 6, "levels": 6, "seed": 5})
    theirs = morris.sample(problem, 6, num_levels=6, seed=5)
    assert np.array_equal(np.column_stack(list(ours.table.values())), theirs)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"from": 20, "to": 80, "scale": "log"}, stats.loguniform(20.0, 80.0)),
        ({"distribution": "normal", "mean": 50, "deviation": "5 N"}, stats.norm(50.0, 5.0)),
        ({"distribution": "lognormal", "median": "0.05 kN", "log_deviation": 0.2}, stats.lognorm(0.2, scale=50.0)),
        ({"distribution": "triangular", "from": 20, "peak": 30, "to": 80}, stats.triang(1 / 6, 20.0, 60.0)),
    ],
)
def test_distributions(spec: dict[str, Any], expected: Any) -> None:
    """Quantiles against another function of the same library: the cumulative distribution gives the points back."""
    made = study({"string.stiffness": spec}, {"kind": "sobol", "members": 256, "seed": 1})
    points = designs.unit_points(Design("sobol", {"members": 256, "seed": 1}), 1)[:, 0]
    assert expected.cdf(made.table["string.stiffness"]) == pytest.approx(points, abs=1e-12)


def test_grid_of_lists_and_ranges() -> None:
    made = study(
        {
            "string.stiffness": {"from": "20 N", "to": "0.08 kN", "points": 4},
            "string.density": {"from": "1 g/m", "to": "100 g/m", "points": 3, "scale": "log"},
            "reel.guide_law": ["dissipative", "none"],
            "run.elements": [5, 10],
            "run.compensated": [True, False],
            "initial.end_velocity[1]": ["0.5 m/s", "1 km/h"],
        }
    )
    assert made.shape == (4, 3, 2, 2, 2, 2) and made.dims == tuple(made.table)
    assert made.table["string.stiffness"].tolist() == [20.0, 40.0, 60.0, 80.0]
    assert made.table["string.density"] == pytest.approx([1e-3, 1e-2, 1e-1], rel=1e-12)
    assert made.table["reel.guide_law"].tolist() == ["dissipative", "none"]
    assert made.table["run.elements"].dtype.kind == "i" and made.table["run.compensated"].dtype.kind == "b"
    assert made.table["initial.end_velocity[1]"] == pytest.approx([0.5, 1 / 3.6], rel=1e-12)
    assert made.units["string.density"] == "kg/m" and made.units["run.elements"] == ""


def test_words_are_drawn_equally_often() -> None:
    made = study({"reel.guide_law": ["none", "momentum"]}, {"kind": "latin-hypercube", "members": 40, "seed": 2})
    assert sorted(made.table["reel.guide_law"].tolist()) == ["momentum"] * 20 + ["none"] * 20


@pytest.mark.parametrize(
    ("design", "words"),
    [
        ({}, "design.kind: missing; expected one of 'grid'"),
        ({"kind": "lattice"}, "design.kind: expected one of .*'sobol'.* got 'lattice'"),
        ({"kind": "random", "seed": 1}, "design.members: missing"),
        ({"kind": "random", "members": 5}, "design.seed: missing"),
        ({"kind": "random", "members": 0, "seed": 1}, "design.members: expected a whole number from 1"),
        ({"kind": "random", "members": 5.5, "seed": 1}, "design.members: expected a whole number"),
        (
            {"kind": "sobol", "members": 100, "seed": 1},
            "design.members: expected a power of 2.* got 100, near are 64 and 128",
        ),
        (
            {"kind": "morris", "trajectories": 5, "seed": 1, "levels": 3},
            "design.levels: expected an even number, got 3",
        ),
        ({"kind": "grid", "members": 5}, "design.members: no such key with kind = 'grid'"),
        (
            {"kind": "sobol-indices", "base": 8, "seed": 1, "second_order": "yes"},
            "design.second_order: expected a bool",
        ),
        ({"kind": "grid"}, "vary.string.stiffness: expected a list of values, or from, to and points, in a grid"),
        ({"kind": "table"}, "table: missing"),
        (3, "design: expected a section"),
    ],
)
def test_designs_that_are_refused(design: Any, words: str) -> None:
    with pytest.raises(InputError, match=f"^study: {words}"):
        study({"string.stiffness": STIFFNESS}, design)


def test_a_design_with_points_at_the_ends_and_a_distribution_without() -> None:
    normal = {"distribution": "normal", "mean": 50, "deviation": 5}
    with pytest.raises(InputError, match=r"vary\.string\.stiffness: expected a range or a triangular"):
        study({"string.stiffness": normal}, {"kind": "morris", "trajectories": 4, "seed": 1})


@pytest.mark.parametrize("shape", [(1,), (17,), (1000,), (3, 5), (4, 7, 9), (2, 1, 3, 5)])
@pytest.mark.parametrize("most", [1, 2, 7, 10, 64, 10_000])
def test_batches_cover_all_members_once(shape: tuple[int, ...], most: int) -> None:
    layout = cut(shape, most)
    seen = np.zeros(shape, dtype=int)
    for batch in range(layout.batches):
        seen[layout.region(batch)] += 1
        assert 1 <= layout.size(batch) <= most
    assert (seen == 1).all()
    assert layout.sizes().tolist() == [layout.size(batch) for batch in range(layout.batches)]


def test_values_of_a_region_are_its_combinations_in_order() -> None:
    columns = {"a": np.array([1.0, 2.0, 3.0]), "b": np.array(["x", "y"], dtype=object)}
    found = spread(columns, Layout((3, 2), (2, 2)).region(0))
    assert found["a"].tolist() == [1.0, 1.0, 2.0, 2.0]
    assert found["b"].tolist() == ["x", "y", "x", "y"]
