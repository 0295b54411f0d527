"""Lanes: each lane gives the bits that numpy gives, and an index out of range is caught where bounds are checked."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from tautline.kernels.lanes import LANES, either, lane_array, lane_rows, put, select, some, take, zero_like
from tests.support.compiled import compiled

ROOT = Path(__file__).parents[2]
SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, 1.7e308, -1.0]


def pairs() -> tuple[np.ndarray, np.ndarray]:
    """All pairs of special values, and random ones, as two arrays of lanes."""
    random = np.random.default_rng(1).normal(size=(2, 8 * LANES))
    a, b = np.meshgrid(SPECIAL, SPECIAL)
    return np.append(a, random[0]).reshape(-1, LANES), np.append(b, random[1]).reshape(-1, LANES)


def in_lanes(function: Callable[..., Any], x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """function(x, y), item by item, for lanes."""
    f = compiled(function)

    @compiled
    def run(x: Any, y: Any, out: Any) -> None:
        a, b, c = lane_array(x), lane_array(y), lane_array(out)
        for i in range(len(a)):
            c[i] = f(a[i], b[i])

    out = np.empty_like(x)
    run(x, y, out)
    return out


def one_by_one(function: Callable[..., Any], x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """function(x, y), compiled for plain numbers."""
    f = compiled(function)
    return np.reshape([f(a, b) for a, b in zip(x.flat, y.flat, strict=True)], x.shape)


def assert_same_bits(found: np.ndarray, expected: np.ndarray) -> None:
    """Equal, with the sign of zeros; the payload of a NaN does not count."""
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found)[expected == 0.0], np.signbit(expected)[expected == 0.0])


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda a, b: a + b, np.add),
        (lambda a, b: a - b, np.subtract),
        (lambda a, b: a * b, np.multiply),
        (lambda a, b: a / b, np.divide),
        (lambda a, b: -a, lambda a, b: np.negative(a)),
        (lambda a, b: abs(a), lambda a, b: np.abs(a)),
        (lambda a, b: math.sqrt(a), lambda a, b: np.sqrt(a)),
        (lambda a, b: a + 2, lambda a, b: a + 2.0),
        (lambda a, b: 2.5 - b, lambda a, b: 2.5 - b),
        (lambda a, b: select(a < b, 1.0, 0.0), lambda a, b: a < b),
        (lambda a, b: select(a <= b, 1.0, 0.0), lambda a, b: a <= b),
        (lambda a, b: select(a > b, 1.0, 0.0), lambda a, b: a > b),
        (lambda a, b: select(a >= b, 1.0, 0.0), lambda a, b: a >= b),
        (lambda a, b: select(a == b, 1.0, 0.0), lambda a, b: a == b),
        (lambda a, b: select(a != b, 1.0, 0.0), lambda a, b: a != b),
        (lambda a, b: select((a < b) & (a < 0.0), a, b), lambda a, b: np.where((a < b) & (a < 0.0), a, b)),
        (lambda a, b: select((a < b) | (a < 0.0), a, b), lambda a, b: np.where((a < b) | (a < 0.0), a, b)),
        (lambda a, b: max(a, b), lambda a, b: np.where(b > a, b, a)),
        (lambda a, b: min(a, b), lambda a, b: np.where(b < a, b, a)),
        (lambda a, b: zero_like(a), lambda a, b: np.zeros_like(a)),
    ],
)
def test_operations(function: Callable[..., Any], expected: Callable[..., Any]) -> None:
    x, y = pairs()
    with np.errstate(all="ignore"):
        assert_same_bits(in_lanes(function, x, y), np.asarray(expected(x, y), dtype=float))


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: math.sin(a),
        lambda a, b: math.cos(a),
        lambda a, b: max(a, b) - min(a, b),
        lambda a, b: max(math.sqrt(a * a + b * b), 1e-12) / (1.0 + abs(b)),
        lambda a, b: select(a > b, a - b, 0.0) * 3,
    ],
)
def test_a_lane_does_what_a_plain_number_does(function: Callable[..., Any]) -> None:
    x, y = pairs()
    assert_same_bits(in_lanes(function, x, y), one_by_one(function, x, y))


def test_augmented_assignment() -> None:
    def total(a: Any, b: Any) -> Any:
        x = zero_like(a)
        for _ in range(3):
            x += a
            x -= b
        return x

    x = np.arange(2.0 * LANES).reshape(2, LANES)
    np.testing.assert_array_equal(in_lanes(total, x, 1.0 + x), np.full((2, LANES), -3.0))


def test_some_is_whether_any_lane_does() -> None:
    @compiled
    def any_above(x: Any, limit: float, out: Any) -> None:
        a = lane_array(x)
        for i in range(len(a)):
            out[i] = some(a[i] > limit)

    x = np.zeros((LANES + 2, LANES))
    x[range(LANES), range(LANES)] = 2.0
    x[LANES] = math.nan
    found = np.zeros(len(x), dtype=bool)
    any_above(x, 1.0, found)
    np.testing.assert_array_equal(found, (x > 1.0).any(axis=1))
    assert compiled(lambda a: some(a > 1.0))(2.0) and not compiled(lambda a: some(a > 1.0))(math.nan)


class Inner(NamedTuple):
    number: Any
    places: int


class Outer(NamedTuple):
    plain: float
    vector: tuple[Any, Any]
    inner: Inner


def test_take_and_put() -> None:
    @compiled
    def exchange(x: Any, out: Any) -> None:
        """Lanes in reversed order, number by number."""
        a, b = lane_array(x), lane_array(out)
        for i in range(len(a)):
            y = zero_like(a[i])
            for k in range(LANES):
                y = put(y, k, take(a[i], LANES - 1 - k))
            b[i] = y

    x, _ = pairs()
    out = np.empty_like(x)
    exchange(x, out)
    assert_same_bits(out, x[:, ::-1])


def test_take_gives_one_members_part_of_a_tuple() -> None:
    @compiled
    def part(x: Any, k: int) -> Any:
        a = lane_array(x)
        return take(Outer(0.5, (a[0], a[1]), Inner(a[2], 7)), k)

    x = np.arange(3.0 * LANES).reshape(3, LANES)
    for k in range(LANES):
        assert part(x, k) == Outer(0.5, (x[0, k], x[1, k]), Inner(x[2, k], 7))


def test_plain_numbers_are_one_member() -> None:
    for f in (compiled(lambda a, b: (take(a, 0), put(a, 0, b), select(a < b, a, b))), plain):
        assert f(1.0, 2.0) == (1.0, 2.0, 1.0)


def plain(a: float, b: float) -> tuple[float, float, float]:
    """Without compiler."""
    return take(a, 0), put(a, 0, b), select(a < b, a, b)


def test_either_is_chosen_by_its_arguments() -> None:
    choice = either(compiled(lambda x, y: x + y), compiled(lambda x, y: x - y))
    x, y = np.full((1, LANES), 5.0), np.full((1, LANES), 2.0)
    np.testing.assert_array_equal(in_lanes(lambda a, b: choice(a, b), x, y), x - y)
    assert compiled(lambda a, b: choice(a, b))(5.0, 2.0) == choice(5.0, 2.0) == 7.0


@compiled
def reverse(a: Any, out: Any) -> None:
    for i in range(len(a)):
        out[i] = a[len(a) - 1 - i]


def test_views_of_both_shapes() -> None:
    """Items of a lane array are rows of the plain one, those of lane rows are columns."""

    @compiled
    def run(x: Any, out: Any, rows: Any, out_rows: Any) -> None:
        reverse(lane_array(x), lane_array(out))
        reverse(lane_rows(rows), lane_rows(out_rows))

    x, _ = pairs()
    rows = np.ascontiguousarray(x.T)
    out, out_rows = np.empty_like(x), np.empty_like(rows)
    run(x, out, rows, out_rows)
    assert_same_bits(out, x[::-1])
    assert_same_bits(out_rows, rows[:, ::-1])


@pytest.mark.parametrize("part", [slice(0, 3), slice(2, 5), slice(2, 100), slice(5, 5)])
def test_parts_of_arrays(part: slice) -> None:
    @compiled
    def run(x: Any, start: int, stop: int, out: Any) -> int:
        a, b = lane_array(x)[start:stop], lane_array(out)
        for i in range(len(a)):
            b[i] = a[i]
        return len(a)

    x = np.arange(5.0 * LANES).reshape(5, LANES)
    out = np.zeros_like(x)
    count = run(x, part.start, part.stop, out)
    np.testing.assert_array_equal(out[:count], x[part])


@pytest.mark.parametrize("shape", [(3, LANES, 1), (3 * LANES,)])
def test_what_is_no_array_of_lanes_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(numba.TypingError):
        compiled(lambda x: len(lane_array(x)))(np.zeros(shape))


ACCESSES = """
import json
import numpy as np
from tautline.kernels.lanes import LANES, lane_array, lane_rows, put, take
from tests.support.compiled import compiled

@compiled
def load(x, y, i):
    return take(lane_array(x)[i], 0)

@compiled
def store(x, y, i):
    lane_array(x)[i] = 1.0

@compiled
def gather(x, y, i):
    return take(lane_rows(y)[i], 0)

@compiled
def scatter(x, y, i):
    lane_rows(y)[i] = 1.0

@compiled
def of_slice(x, y, i):
    return take(lane_array(x)[1:3][i - 1], 0)

@compiled
def slice_from(x, y, i):
    return len(lane_array(x)[i:i])

@compiled
def take_lane(x, y, i):
    return take(lane_array(x)[0], i + LANES - 3)

@compiled
def put_lane(x, y, i):
    return take(put(lane_array(x)[0], i + LANES - 3, 1.0), 0)

def caught(function, i):
    # larger arrays, so that what is not caught does no harm
    x, y = np.zeros((9, LANES)), np.zeros((LANES, 9))
    x, y = x[3:6], np.ascontiguousarray(y[:, :3])
    try:
        function(x, y, i)
    except IndexError:
        return True
    return False

def refused_shape():
    try:
        lengths(np.zeros((3, LANES - 1)))
    except IndexError:
        return True
    return False

@compiled
def lengths(x):
    return len(lane_array(x))

functions = [load, store, gather, scatter, of_slice, take_lane, put_lane]
found = {f.__name__: [caught(f, i) for i in (2, 3)] for f in functions}
found["negative"] = [caught(load, i) for i in (0, -1)]
found["slice_from"] = [caught(slice_from, i) for i in (3, 4)]
found["shape"] = [False, refused_shape()]
print(json.dumps(found))
"""


def test_an_index_out_of_range_is_caught_where_bounds_are_checked(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1", "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, "-c", ACCESSES], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert len(found) == 10
    assert found == {name: [False, True] for name in found}
