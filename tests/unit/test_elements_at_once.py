"""Passes along the string that work on several elements at once, against the same element by element."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path

import numpy as np
import pytest

import tautline.kernels
from tautline import registry
from tautline.engine.chain.lowering import kernel_parameters
from tautline.kernels import data, elastic
from tautline.kernels.dispatch import functions
from tests.support.paper import pendulum

LAWS = [name for name in registry.ELASTIC_LAWS if name != "table"]


@pytest.mark.parametrize("law", LAWS)
def test_law_s_own_passes_give_what_its_formula_gives(law: str) -> None:
    N, l = 9, 1.0
    plain = pendulum()
    system = dataclasses.replace(plain, string=dataclasses.replace(plain.string, law=law))
    par = kernel_parameters(system, N, "symmetric", True)
    q, expected, found = np.zeros((3, 3 * data.row_length(N)))
    # stretched and slack elements in turn, and one without any length
    nodes = np.cumsum([0.0, 1.1, 0.9, 1.3, 0.2, 1.0, 1.5, 0.0, 0.7, 1.2])
    data.nodes_of(q, N)[:] = nodes[:, None] * np.array([0.6, 0.0, 0.8])
    elastic.pulls_of_any(par, l, q, expected)
    elastic.law_pulls(par, l, q, found)
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14 * par.EA)
    by_element = elastic.sums_of_any(par, l, q)
    np.testing.assert_allclose(elastic.law_sums(par, l, q), by_element, rtol=1e-14)
    own = functions(registry.ELASTIC_LAWS, "pulls", elastic.pulls_of_any)
    assert own[LAWS.index(law)] is not elastic.pulls_of_any


def counted_from_end(source: str) -> list[int]:
    """Lines of a file in which an index is a negative number."""
    places = (x.slice for x in ast.walk(ast.parse(source)) if isinstance(x, ast.Subscript))
    parts = (y for x in places for y in (x.elts if isinstance(x, ast.Tuple) else [x]))
    return [x.lineno for x in parts if isinstance(x, ast.UnaryOp) and isinstance(x.op, ast.USub)]


def test_kernels_count_from_the_front_of_arrays() -> None:
    """Machine code takes a negative index as it is: it would read in front of the array."""
    root = Path(tautline.kernels.__file__).parent
    files = [path for path in root.rglob("*.py") if "machine" not in path.parts]
    assert {str(path): lines for path in files if (lines := counted_from_end(path.read_text(encoding="utf-8")))} == {}
    assert counted_from_end("x = 1\ny = a[-1] + b[0, -i]") == [2, 2]
