"""The adapter of examples/gallery/jax_hoist.py, where JAX need not be installed.

In the place of JAX stand the few names that the adapter uses, as JAX documents them: a callback must return arrays of
the shapes and types that were announced, the way forth a result and what the way back needs, the way back one
derivative for each argument.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import tautline as tl
from tests.support import chains

EXAMPLE = Path(__file__).parents[2] / "examples" / "gallery" / "jax_hoist.py"
KEYS = ["command.torques[0]", "command.torques[1]", "body.mass"]


class ShapeDtypeStruct(NamedTuple):
    shape: tuple[int, ...]
    dtype: Any


class CustomVjp:
    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *values: Any) -> Any:
        return self.function(*values)

    def defvjp(self, forth: Callable[..., Any], back: Callable[..., Any]) -> None:
        self.forth, self.back = forth, back


def pure_callback(function: Callable[..., Any], kinds: Any, *values: Any, vmap_method: str) -> Any:
    assert vmap_method in ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all")
    results = function(*values)
    for result, kind in zip(results, kinds, strict=True):
        assert isinstance(result, np.ndarray) and result.shape == kind.shape and result.dtype == kind.dtype
    return results


def adapter() -> Any:
    """`number_of_keys` of the example, with these names in the place of JAX."""
    tree = ast.parse(EXAMPLE.read_text(encoding="utf-8"))
    (function,) = (x for x in tree.body if isinstance(x, ast.FunctionDef) and x.name == "number_of_keys")
    jax = SimpleNamespace(ShapeDtypeStruct=ShapeDtypeStruct, custom_vjp=CustomVjp, pure_callback=pure_callback)
    names: dict[str, Any] = {"jax": jax, "np": np, "tl": tl, "Any": Any, "Callable": Callable}
    exec(compile(ast.Module([function], []), str(EXAMPLE), "exec"), names)
    return names["number_of_keys"]


def hoist(deployed: float) -> tl.Case:
    return tl.Case(
        tl.pendulum(
            tl.String(length=10.0, density=1e-3, stiffness=2e4),
            tl.Reel(drum_radius=0.1, guide_length=0.1, inertia_mass=20.0),
            tl.RigidBody.point(mass=5.0),
            elements=1,
        ),
        tl.Hanging(deployed=deployed),
        {"line": tl.Torque(([0.0, 0.5], [5.0, 5.0]))},
        tl.Run(duration=0.5, step=5e-3, sample=0.1),
    )


def test_the_adapter_for_jax_returns_value_and_derivatives_of_the_run() -> None:
    case = hoist(4.0)
    number = adapter()(case, tl.Final("unstretched_length"), KEYS)
    values = np.array([5.5, 6.0, 4.0])
    run = chains.simulate(case.with_(dict(zip(KEYS, values.tolist(), strict=True))))
    assert number(values) == pytest.approx(float(run.unstretched_length[-1]), rel=1e-12)
    value, kept = number.forth(values)
    assert value == number(values)
    (slope,) = number.back(kept, 3.0)
    h = 1e-4
    differences = [(number(values + e) - number(values - e)) / (2.0 * h) for e in h * np.eye(3)]
    assert slope == pytest.approx(3.0 * np.array(differences), rel=1e-6)


def test_the_adapter_for_jax_says_why_a_run_ended_early() -> None:
    number = adapter()(hoist(9.8), tl.Final("unstretched_length"), KEYS)
    with pytest.raises(ValueError, match="fully deployed"):
        number(np.array([0.0, 0.0, 50.0]))
