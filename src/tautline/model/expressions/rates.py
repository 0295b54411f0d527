"""Rates of expressions that are themselves expressions of variables, such as that of a position."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tautline.model.expressions.reading import RATES, TIME, Expression
from tautline.schema import SCHEMA


def rates_needed(expression: Expression) -> tuple[str, ...]:
    """Variables of an expression, those that its rates are taken from included; the time, where differences are."""
    found = dict.fromkeys(expression.needs)
    for node in ast.walk(expression.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "rate":
            known = exact_rate(node.args[0])
            names = [x.id for x in ast.walk(known) if isinstance(x, ast.Name)] if known is not None else [TIME]
            found |= dict.fromkeys(name for name in names if name in SCHEMA or name == TIME)
    return tuple(found)


def differences_in(node: ast.AST) -> int:
    """Number of differences of samples, one of the other, that a part takes."""
    match node:
        case ast.Name(id="acceleration"):
            return 1
        case ast.Call(func=ast.Name(id="rate"), args=[inner]):
            return 0 if exact_rate(inner) is not None else 1 + differences_in(inner)
    return max(map(differences_in, ast.iter_child_nodes(node)), default=0)


def exact_rate(node: ast.expr) -> ast.expr | None:
    """The rate as an expression of variables; None where none of them is the rate."""
    match node:
        case ast.Name(id=word):
            if word == TIME:
                return ast.copy_location(ast.Constant(1.0), node)
            if word not in RATES:
                return None
            sign, name = RATES[word]
            found: ast.expr = ast.copy_location(ast.Name(name), node)
            return found if sign > 0.0 else ast.copy_location(ast.UnaryOp(ast.USub(), found), node)
        case ast.Attribute(value=inner, attr=axis):
            return _below(node, inner, lambda x: ast.Attribute(x, axis))
        case ast.Subscript(value=inner, slice=places):
            return _below(node, inner, lambda x: ast.Subscript(x, places))
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as minus, operand=inner):
            return _below(node, inner, lambda x: ast.UnaryOp(minus, x))
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            pair = [exact_rate(x) if not isinstance(x, ast.Constant) else ast.Constant(0.0) for x in (left, right)]
            if pair[0] is not None and pair[1] is not None:
                return ast.copy_location(ast.BinOp(pair[0], op, pair[1]), node)
    return None


def _below(node: ast.expr, inner: ast.expr, made: Callable[[ast.expr], ast.expr]) -> ast.expr | None:
    found = exact_rate(inner)
    if found is None:
        return None
    minus = isinstance(found, ast.UnaryOp) and isinstance(found.op, ast.USub) and isinstance(found.operand, ast.Name)
    if minus and isinstance(found, ast.UnaryOp):  # a component of the negative is the negative of the component
        return ast.copy_location(ast.UnaryOp(ast.USub(), ast.copy_location(made(found.operand), node)), node)
    return ast.copy_location(made(found), node)
