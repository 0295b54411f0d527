"""Arrays that carry derivatives, against differences of the same functions of plain arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tautline as tl
from tautline.gradients.arrays import Dual

RANDOM = np.random.default_rng(3)
X, DX = RANDOM.uniform(0.2, 0.9, (4, 3)), RANDOM.normal(size=(4, 3, 2))
Y, DY = RANDOM.uniform(0.2, 0.9, (4, 3)), RANDOM.normal(size=(4, 3, 2))
TABLE = tl.String.from_table(10.0, 0.1, [-0.5, 0.0, 0.5, 1.0], [0.0, 0.0, 30.0, 200.0])


def in_place(x: Any, y: Any) -> Any:
    z = x * 1.0
    z += y
    z -= 0.25
    z *= x
    return np.sqrt(z * z, out=z)


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "arithmetic": lambda x, y: (2.0 * x - y) / (x + 1.0) + -y * x - 3.0 / y,
    "powers": lambda x, y: x**3 + x**y + 2.0**y + np.square(x) + np.sqrt(y) + np.cbrt(x) + np.reciprocal(x),
    "exponentials": lambda x, y: np.exp(x) + np.log(y) + np.expm1(x) + np.log1p(y) + np.log2(x) + np.log10(y),
    "angles": lambda x, y: np.sin(x) * np.cos(y) + np.tan(x) + np.arctan2(x, y) + np.arcsin(x) - np.arccos(y),
    "hyperbolic": lambda x, y: np.sinh(x) + np.cosh(y) + np.tanh(x) + np.arctan(y) + np.hypot(x, y),
    "extremes": lambda x, y: np.maximum(x, y) + np.minimum(x, 0.5) + np.abs(x - 0.5) + np.clip(y, 0.3, 0.7),
    "largest": lambda x, y: x.max(axis=1) * y.min(axis=1) + np.max(x) - np.min(y, axis=1),
    "sums": lambda x, y: np.sum(x * y, axis=1) + x.mean(axis=1) + np.mean(y) + np.linalg.norm(x, axis=1),
    "shapes": lambda x, y: np.concatenate([x[:, :1], y.reshape(3, 4).T, np.ones((4, 1))], axis=1),
    "slices": lambda x, y: x[:, ::-1][..., None] * y[1:2, [0, 2, 1], None] + np.diff(x, axis=0)[0, :, None],
    "stacks": lambda x, y: np.stack(np.broadcast_arrays(x[0], y, 1.0)).sum(axis=0),
    "choice": lambda x, y: np.where(x > y, x * y, 0.5) + np.cumsum(y, axis=1),
    "in place": in_place,
    "products": lambda x, y: np.dot(x[0], y[1]) + np.logaddexp(x, y),
    "spreads": lambda x, y: np.std(x, axis=1) + np.var(y) + x.std(ddof=1) * y.var(axis=0, keepdims=True).sum(),
    "table of tension": lambda x, y: TABLE.tension(x - 0.3) + tl.String(1.0, 1.0, 5.0, law="tension_only").tension(y),
}


# Products of matrices are summed in another order than by NumPy's library.
PRODUCTS: dict[str, Callable[[Any, Any], Any]] = {
    "chain": lambda x, y: x @ y.T @ x[:, 0] + np.ones((4, 4)) @ x[:, 1],
    "rows": lambda x, y: (y[0] @ x.T) * (x[0] @ y[1]) + np.dot(x, y[2]) + np.dot(2.0, x[:, 0]),
    "stacks": lambda x, y: x[:, None, :] @ y[:, :, None],
}


@pytest.mark.parametrize("name", [*FUNCTIONS, *PRODUCTS])
def test_functions_follow_the_chain_rule(name: str) -> None:
    function = (FUNCTIONS | PRODUCTS)[name]
    found = function(Dual(X.copy(), DX.copy()), Dual(Y.copy(), DY.copy()))
    rounding = 1e-14 if name in PRODUCTS else 0.0
    np.testing.assert_allclose(found.value, function(X.copy(), Y.copy()), rtol=rounding)
    e = 1e-6
    for j in range(2):
        up, down = (function(X + s * DX[..., j], Y + s * DY[..., j]) for s in (e, -e))
        np.testing.assert_allclose(found.tangent[..., j], (up - down) / (2.0 * e), rtol=1e-7, atol=1e-8)


def test_what_does_not_exist_is_not_a_number() -> None:
    x: Any = Dual([0.0, 1.0, 1.0], np.array([[1.0], [2.0], [3.0]]))
    assert np.isnan(np.abs(x).tangent[0, 0])
    assert np.isnan(np.maximum(x, 0.0).tangent[0, 0])
    assert np.isnan(x.max().tangent[0])
    assert np.isnan(np.sqrt(x).tangent[0, 0]) or np.isinf(np.sqrt(x).tangent[0, 0])


def test_what_is_the_same_on_both_sides_exists() -> None:
    still: Any = Dual([0.0, 0.0], np.zeros((2, 1)))
    for found in (np.abs(still), np.maximum(still, 0.0), still.max(axis=0), np.sqrt(still)):
        np.testing.assert_array_equal(found.tangent, 0.0)


@pytest.mark.parametrize("lose", [np.asarray, float, np.floor, np.sort, np.linalg.det, lambda x: np.ones(4) // x])
def test_derivatives_are_not_lost_unseen(lose: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match="derivatives"):
        lose(Dual(np.ones((2, 2)), np.ones((2, 2, 1))))


def test_comparisons_are_of_values() -> None:
    x: Any = Dual([1.0, 3.0], np.ones((2, 1)))
    assert (x > 2.0).tolist() == [False, True]
    assert np.argmax(x) == 1
