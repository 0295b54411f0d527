"""Lanes: each lane gives the bits that numpy gives, and an index out of range is caught where bounds are checked."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tautline.kernels.lanes import LANES, lane_array, select, zero_like
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
