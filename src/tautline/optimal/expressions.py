"""Expressions of outputs of a run, such as "position[-1, 0] - position[0, 0]", and their derivatives."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tautline.errors import InputError
from tautline.gradients.arrays import Carried
from tautline.gradients.outputs import component
from tautline.model import checks
from tautline.model.wording import near
from tautline.schema import SCHEMA

TIME = "time"
KNOWN = (*SCHEMA, TIME)


def _size(x: Carried) -> Carried:
    """Length of the vectors along the last axis, size of single numbers; where it is zero, so is its derivative."""
    x = x if x.ndim > 1 else x.reshape(len(x), 1)
    sizes = np.linalg.norm(x.value, axis=-1)
    directions = np.divide(x.value, sizes[..., None], out=np.zeros_like(x.value), where=sizes[..., None] > 0.0)
    return Carried(sizes, (directions[..., None] * x.tangent).sum(axis=-2))


def _steps(x: Carried) -> Carried:
    """Differences between neighboring samples."""
    return Carried(np.diff(x.value, axis=0), np.diff(x.tangent, axis=0))


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "abs": np.abs,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "norm": _size,
}
RATE = "rate"
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_LONGEST = 500


@dataclass(frozen=True)
class Expression:
    """An expression that was read, and the variables that it needs."""

    text: str
    tree: ast.expr
    needs: tuple[str, ...]

    def of(self, outputs: Mapping[str, Carried]) -> Carried:
        """Values at the samples; with rate(...), between them: one less."""
        found: Carried = self._value(self.tree, outputs)
        return found

    def single(self, outputs: Mapping[str, Carried]) -> Carried:
        """Values of an expression that is one number at each sample."""
        found = self.of(outputs)
        if found.ndim != 1:
            shape = " x ".join(map(str, found.shape[1:]))
            raise InputError(f"{self.text!r}: expected one number at each time, got {shape}; choose one, or norm()")
        return found

    def _value(self, node: Any, outputs: Mapping[str, Carried]) -> Any:
        if isinstance(node, ast.Constant):
            number: Any = node.value
            return self._finite(lambda: float(number))
        if isinstance(node, ast.Name):
            return component(node.id, outputs[node.id])
        if isinstance(node, ast.Subscript):
            found = ast.literal_eval(node.slice)
            place = found if isinstance(found, tuple) else (found,)
            name = node.value.id if isinstance(node.value, ast.Name) else TIME
            whole = self._value(node.value, outputs) if name == TIME else outputs[name]
            try:
                return component(name, whole, place)
            except IndexError:
                shape = " x ".join(map(str, whole.shape[1:])) or "a single number"
                inner = ast.unparse(node.value)
                raise InputError(f"{self.text!r}: expected a component of {inner}, which is {shape}") from None
        if isinstance(node, ast.UnaryOp):
            inner = self._value(node.operand, outputs)
            return -inner if isinstance(node.op, ast.USub) else inner
        if isinstance(node, ast.BinOp):
            left, right = (self._value(side, outputs) for side in (node.left, node.right))
            if isinstance(left, Carried) and isinstance(right, Carried):
                left, right = self._same_times(left, right)
            return self._finite(lambda: _OPERATORS[type(node.op)](left, right))
        (argument,) = (self._value(x, outputs) for x in node.args)
        if node.func.id == RATE:
            lasts = _steps(outputs[TIME])
            return _steps(argument) / lasts.reshape(len(lasts), *(1,) * (argument.ndim - 1))
        return FUNCTIONS[node.func.id](argument)

    def _finite(self, number: Callable[[], Any]) -> Any:
        """A series, or a plain number, which has to be finite and real."""
        try:
            found = number()
        except ArithmeticError:
            found = np.nan
        if not isinstance(found, Carried) and not (isinstance(found, float) and np.isfinite(found)):
            raise InputError(f"{self.text!r}: expected finite numbers, got one that is not, such as 1/0")
        return found

    def _same_times(self, left: Carried, right: Carried) -> tuple[Carried, Carried]:
        """Two series of as many rows: beside a rate, values at the end of each interval between samples."""
        rows = min(len(left), len(right))
        if left.shape[1:] != right.shape[1:]:
            raise InputError(f"{self.text!r}: expected numbers or vectors of one size on both sides of a sign")
        return left[len(left) - rows :], right[len(right) - rows :]


def read(name: str, text: Any) -> Expression:
    """Expression from its text; InputError says what is wrong with it."""
    if not isinstance(text, str) or not text.strip() or len(text) > _LONGEST:
        checks.refuse(name, "an expression of outputs such as 'start_tension' or 'position[-1, 0]'", text)
    try:
        tree = ast.parse(text.strip().replace("^", "**"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        checks.refuse(name, "an expression of outputs such as 'start_tension' or 'position[-1, 0]'", text)
    needs: dict[str, None] = {}
    _check(name, text, tree, needs)
    if not needs:
        checks.refuse(name, "an expression with an output of a run, such as 'start_tension'", text)
    return Expression(text.strip(), tree, tuple(needs))


def _check(name: str, text: str, node: ast.expr, needs: dict[str, None]) -> None:
    """Refuse all that is not arithmetic of outputs; note the outputs."""
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            pass
        case ast.Name(id=word):
            if word not in KNOWN:
                hint = near(word, KNOWN) or f"; there are {', '.join(KNOWN)}"
                raise InputError(f"{name}: {word!r} is no output of a run{hint}")
            needs[word] = None
        case ast.Subscript(value=inner) if _places(node.slice):
            _check(name, text, inner, needs)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=inner):
            _check(name, text, inner, needs)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            if isinstance(op, ast.Pow) and not isinstance(right, ast.Constant):
                raise InputError(f"{name}: expected a plain number as power in {text!r}")
            _check(name, text, left, needs)
            _check(name, text, right, needs)
        case ast.Call(func=ast.Name(id=word), args=[inner], keywords=[]):
            if word not in (*FUNCTIONS, RATE):
                raise InputError(f"{name}: no function {word!r}; there are {', '.join((*FUNCTIONS, RATE))}")
            _check(name, text, inner, needs)
            if not any(isinstance(x, ast.Name) and x.id in KNOWN for x in ast.walk(inner)):
                raise InputError(f"{name}: expected an output inside {word}(...) in {text!r}")
        case _:
            checks.refuse(name, "sums, products and functions of outputs, such as 'torque^2'", text)


def _places(node: ast.expr) -> bool:
    try:
        found = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return False
    return all(type(x) is int for x in (found if isinstance(found, tuple) else (found,)))
