"""Expressions of a certain system: labels checked against its names, and values from those of variables."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from tautline import units
from tautline.errors import InputError
from tautline.model.expressions.parts import Parts
from tautline.model.expressions.rates import differences_in, exact_rate, rates_needed
from tautline.model.expressions.reading import (
    FUNCTIONS,
    PI,
    SENSORS,
    Expression,
    Place,
    described,
    number_in,
    places_of,
)
from tautline.model.expressions.terms import (
    Evaluate,
    Term,
    Values,
    differences,
    from_vertical,
    norm,
    over,
    plain_number,
    spread,
    taken,
)
from tautline.model.wording import near
from tautline.schema import AXES, OF_SHEAVES, SCHEMA, sheave_names, span_names

NUMBERED = {"row": 3, "column": 3, "axis": 3}


@dataclass(frozen=True)
class Bound:
    """An expression of a certain system.

    Attributes
    ----------
    dims : tuple of str
        Dimensions of its values beside the time; "node of hoist" where those of one line were chosen.
    sizes : tuple of int or None
        Their lengths, where they are known.
    differences : int
        How many times a rate in it comes from differences of samples, and not from another variable: it has as many
        values less than there are samples.
    """

    expression: Expression
    dims: tuple[str, ...]
    sizes: tuple[int | None, ...]
    differences: int
    _value: Evaluate
    _elements: Mapping[str, int | None]

    @property
    def text(self) -> str:
        """The expression as it was written."""
        return self.expression.text

    @property
    def has_differences(self) -> bool:
        """Whether a rate in it comes from differences of samples."""
        return self.differences > 0

    @property
    def is_choice(self) -> bool:
        """Whether it only chooses components of a variable of the results."""
        nodes = list(ast.walk(self.expression.tree))
        names = [node.id for node in nodes if isinstance(node, ast.Name)]
        return all(name in SCHEMA for name in names) and not any(isinstance(x, ast.Call | ast.BinOp) for x in nodes)

    @property
    def needs(self) -> tuple[str, ...]:
        """Variables that values are made of, the time where rates are differences."""
        return rates_needed(self.expression)

    def of(self, variables: Mapping[str, Any], elements: Mapping[str, int] | None = None) -> Any:
        """Values (time, *dims, ...) from those of variables (time, ...), which may carry derivatives.

        With rates that come from differences, between samples: one row less. Of a condition, the margin by which it
        holds, negative where it does not. Further dimensions of the variables, such as members, come last.
        """
        counts = elements if elements is not None else {name: n or 0 for name, n in self._elements.items()}
        with np.errstate(all="ignore"):
            return self._value(Values(variables, counts))

    def series(self, variables: Mapping[str, Any], elements: Mapping[str, int] | None = None) -> Any:
        """Values at all samples; the first of a difference is that of the first interval."""
        found = self.of(variables, elements)
        return np.concatenate([found[:1]] * self.differences + [found]) if self.differences else found

    def single(self) -> Bound:
        """This expression; refuse one that is not one number at each time."""
        if self.dims:
            what = " and ".join(sorted({dim.partition(" ")[0] for dim in self.dims}))
            raise InputError(
                f"{self.expression.name}: expected one number at each time, got one for every {what} in "
                f"{self.expression.text!r}; choose one, such as [-1] or .x, or norm(...), max(...)"
            )
        return self


def bind(expression: Expression, parts: Parts) -> Bound:
    """Expression of a system with these parts; InputError names what it does not have."""
    tree = expression.tree
    binder = _Binder(expression, parts)
    term = binder.term(tree)
    sizes = tuple(map(binder.size, term.dims))
    return Bound(expression, term.dims, sizes, differences_in(tree), term.value, parts.lines)


_SIGNS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class _Binder:
    def __init__(self, expression: Expression, parts: Parts) -> None:
        self._expression, self._parts = expression, parts

    def term(self, node: ast.AST) -> Term:
        """A part, with what its labels stand for."""
        match node:
            case ast.Constant(value=str() as text):
                return plain_number(units.quantity(text)[0])
            case ast.Constant():
                return plain_number(number_in(node))
            case ast.Name(id=word):
                return plain_number(np.pi) if word == PI else self._implied(self._variable(word))
            case ast.Attribute(value=inner, attr=axis):
                return self._along_axis(node, inner, axis)
            case ast.Subscript(value=inner):
                return self._chosen(inner, places_of(node, self._expression.refuse))
            case ast.UnaryOp(op=op, operand=inner):
                found = self.term(inner)
                minus = isinstance(op, ast.USub | ast.Not)
                return self._mapped(node, operator.neg, found) if minus else found
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                n = number_in(right)
                whole = int(n) if n.is_integer() else n
                return self._mapped(node, lambda x: x**whole, self.term(left))
            case ast.BinOp(left=left, op=op, right=right):
                return self._joined(node, _SIGNS[type(op)], [self.term(left), self.term(right)])
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                pair = [self.term(left), self.term(right)]
                margin = self._joined(node, operator.sub, pair if isinstance(op, ast.Gt | ast.GtE) else pair[::-1])
                return over(margin, np.max)  # of several components it is enough that one is beyond
            case ast.BoolOp(op=op, values=parts):
                both = np.minimum if isinstance(op, ast.And) else np.maximum
                return self._joined(node, both, [self.term(part) for part in parts])
            case ast.Call(func=ast.Name(id=word), args=arguments):
                return self._of_function(node, word, arguments)
        raise AssertionError(ast.dump(node))

    def _variable(self, word: str) -> Term:
        dims = described(word).dims[1:]
        if word in OF_SHEAVES and not self._names("sheave"):
            raise InputError(
                f"{self._expression.name}: expected another variable in a system without sheaves, got {word!r}"
            )
        return Term(dims, self._sensor(word) if word in SENSORS else lambda values: values.variables[word])

    def _sensor(self, word: str) -> Evaluate:
        """Quantity from variables: an angle of a line or body, or an acceleration, which is a difference."""
        if word == "acceleration":
            return lambda values: differences(values.variables["body_velocity"], values)
        if word == "tilt":
            return lambda values: from_vertical(values.variables["attitude"][:, :, :, 2])

        def at_end(values: Values) -> Any:
            found = []
            for line in values.elements:
                nodes = values.variables["position"][:, self._places(values, line, 1)]
                found.append(nodes[:, 1] - nodes[:, 0] if word == "start_angle" else nodes[:, -1] - nodes[:, -2])
            return from_vertical(np.stack(found, axis=1))

        return at_end

    def _implied(self, term: Term) -> Term:
        """A variable of the only line or the only free body, which need not be named."""
        names = {"line": tuple(self._parts.lines), "body": self._parts.free, "sheave": tuple(self._names("sheave"))}
        only = names.get(term.dims[0] if term.dims else "", ())
        if len(only) != 1:
            return term
        return taken(term, 0, self._names(term.dims[0]).index(only[0]))

    def _names(self, dim: str) -> list[str]:
        match dim:
            case "sheave":
                return sheave_names(self._parts.over)
            case "span":
                return span_names({name: self._parts.spans(name) for name in self._parts.lines})
        return {"line": list(self._parts.lines), "body": list(self._parts.bodies), "axis": AXES}.get(dim, [])

    def _whole(self, inner: ast.expr) -> Term:
        """A part whose components are chosen: of a variable all lines and bodies."""
        return (
            self._variable(inner.id)
            if isinstance(inner, ast.Name) and inner.id in (*SCHEMA, *SENSORS)
            else self.term(inner)
        )

    def _along_axis(self, node: ast.AST, inner: ast.expr, axis: str) -> Term:
        """A component of vectors, .x, .y or .z."""
        term = self._implied(self._whole(inner)) if isinstance(inner, ast.Name) else self.term(inner)
        if "axis" not in term.dims:
            self._expression.refuse(node, f"expected a vector before .{axis}")
        return taken(term, term.dims.index("axis"), AXES.index(axis))

    def _chosen(self, inner: ast.expr, places: list[Place]) -> Term:
        """Components in brackets, in the order of the dimensions; the only line or free body may be left out."""
        term, first = self._whole(inner), places[0]
        dim = term.dims[0] if term.dims else ""
        if dim in ("node", "element") and first.label in self._parts.lines:
            term, places = self._of_line(term, str(first.label)), places[1:]
        elif len(places) < len(term.dims) and first.label not in self._names(dim) and isinstance(inner, ast.Name):
            term = self._implied(term)
        passed = 0
        for place in places:
            if passed >= len(term.dims):
                self._expression.refuse(place.column, "expected fewer components in the brackets")
            if place.label is None:
                passed += 1
            else:
                term = taken(term, passed, self._number_of(place, term.dims[passed]))
        return term

    def _of_line(self, term: Term, line: str) -> Term:
        """Nodes or elements of one line."""
        extra = int(term.dims[0] == "node")
        own = lambda values: term.value(values)[:, self._places(values, line, extra)]  # noqa: E731
        return Term((f"{term.dims[0]} of {line}", *term.dims[1:]), own)

    def _places(self, values: Values, line: str, extra: int) -> slice:
        """Places of the nodes of a line among those of all, one more than elements in a span; of elements without."""
        names = list(values.elements)
        wanted = names[: names.index(line) + 1]
        counts = [self._parts.spans(name) * (values.elements[name] + extra) for name in wanted]
        return slice(sum(counts[:-1]), sum(counts))

    def _number_of(self, place: Place, dim: str) -> int:
        """Place along a dimension, from a name or a number."""
        names, label = self._names(dim), place.label
        if isinstance(label, str):
            if label in names:
                return names.index(label)
            # Nodes and elements are numbered, and may have the name of their line before them.
            known = names or (list(self._parts.lines) if dim in ("node", "element") else [])
            wanted = [] if names else [f"a whole number for the {dim}"]
            wanted += [f"one of {', '.join(known)}"] if known else []
            self._expression.refuse(place.column, f"expected {' or '.join(wanted)}, got {label!r}{near(label, known)}")
        size = self.size(dim)
        assert label is not None
        if size is not None and not -size <= label < size:
            kind = dim.partition(" ")[0]
            self._expression.refuse(place.column, f"expected {kind} {-size} to {size - 1}, got {label}")
        return label

    def size(self, dim: str) -> int | None:
        """Length of a dimension, None where it is not known."""
        kind, _, line = dim.partition(" of ")
        if kind in ("node", "element"):
            counts = {name: n for name, n in self._parts.lines.items() if name == line or not line}
            known = None not in counts.values()
            extra = kind == "node"
            return sum(self._parts.spans(name) * ((n or 0) + extra) for name, n in counts.items()) if known else None
        return NUMBERED.get(kind, len(self._names(kind)))

    def _joined(self, node: ast.AST, sign: Callable[[Any, Any], Any], terms: list[Term]) -> Term:
        """Parts joined by a sign; single numbers go with vectors, and beside differences the latest rows are taken."""
        dims = max((term.dims for term in terms), key=len)
        for term in terms:
            if term.dims not in ((), dims):
                one, other = (" x ".join(x) for x in (dims, term.dims))
                self._expression.refuse(node, f"expected numbers or vectors of one kind, got {one} and {other}")

        if all(term.constant is not None for term in terms):
            return self._finite(node, lambda: reduce(sign, [term.constant for term in terms]))

        def value(values: Values) -> Any:
            found = [(term, term.value(values)) for term in terms]
            rows = min((len(x) for _, x in found if np.ndim(x)), default=0)
            own = [x if not np.ndim(x) else spread(x[len(x) - rows :], len(dims) - len(t.dims)) for t, x in found]
            return reduce(sign, own)

        return Term(dims, value)

    def _mapped(self, node: ast.AST, function: Callable[[Any], Any], term: Term) -> Term:
        """Each number of a part changed by a function."""
        if term.constant is not None:
            return self._finite(node, lambda: function(term.constant))
        return Term(term.dims, lambda values: function(term.value(values)))

    def _finite(self, node: ast.AST, number: Callable[[], Any]) -> Term:
        """A plain number, which has to be finite and real."""
        try:
            found = number()
        except ArithmeticError:
            found = np.nan
        if isinstance(found, complex) or not np.isfinite(found):
            self._expression.refuse(node, "expected finite numbers, got one that is not, such as 1/0")
        return plain_number(float(found))

    def _of_function(self, node: ast.AST, word: str, arguments: list[ast.expr]) -> Term:
        if word == "rate":
            return self._rate(arguments[0])
        terms = [self.term(x) for x in arguments]
        function = FUNCTIONS[word].number_by_number
        if function is not None and len(terms) == 1:
            return self._mapped(node, function, terms[0])
        if function is not None:
            return self._joined(node, function, terms)
        if word == "norm":
            return norm(terms[0])
        reduced: Any = {"max": np.max, "min": np.min, "sum": np.sum, "mean": np.mean}[word]
        if len(terms) == 1:
            return over(terms[0], reduced)
        return self._joined(node, np.maximum if word == "max" else np.minimum, terms)

    def _rate(self, node: ast.expr) -> Term:
        """Derivative by time: of variables whose rate is another and of sums of them exact, else by differences."""
        known = exact_rate(node)
        if known is not None:
            return self.term(known)
        inner = self.term(node)

        return Term(inner.dims, lambda values: differences(inner.value(values), values))
