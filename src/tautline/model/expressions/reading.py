"""Expressions from their text: what is allowed, which variables they need, their unit. Nothing is evaluated."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

import numpy as np

from tautline import units
from tautline.errors import InputError
from tautline.model.expressions.source import as_python, broken, tree_of
from tautline.model.wording import near
from tautline.schema import AXES, SCHEMA, TIME_VARIABLE, Variable
from tautline.units import Powers

TIME, PI = "time", "pi"
LONGEST = 500
LARGEST = 1e300
NO_UNIT: Powers = (0.0, 0.0, 0.0, 0.0)
RADIAN: Powers = (0.0, 0.0, 0.0, 1.0)
# Variables whose rate is another one, or its negative: exact at every sample.
RATES = {
    "position": (1.0, "velocity"),
    "body_position": (1.0, "body_velocity"),
    "reeled_length": (1.0, "reel_speed"),
    "unstretched_length": (-1.0, "reel_speed"),
    "motor_work": (1.0, "power"),
}


class Sensor(NamedTuple):
    """A word for what sensors show and results do not hold: what it is, and what it follows from."""

    described: Variable
    needs: tuple[str, ...]


_LINE, _BODY = ("time", "line"), ("time", "body")
SENSORS = {
    "start_angle": Sensor(Variable(_LINE, "rad", "angle of a line to the vertical at its start"), ("position",)),
    "end_angle": Sensor(Variable(_LINE, "rad", "angle of a line to the vertical at its end"), ("position",)),
    "tilt": Sensor(Variable(_BODY, "rad", "angle of the third axis of a body to the vertical"), ("attitude",)),
    "acceleration": Sensor(
        Variable((*_BODY, "axis"), "m s-2", "of the centers of mass, between samples"), ("body_velocity", TIME)
    ),
}


def described(word: str) -> Variable:
    """Description of a variable, of the time or of the word of a sensor."""
    if word in SENSORS:
        return SENSORS[word].described
    return TIME_VARIABLE if word == TIME else SCHEMA[word]


class Function(NamedTuple):
    """A function of the language: how many arguments, its unit from theirs, and its sentence in the docs."""

    arguments: tuple[int, int]  # at least, at most
    unit: str  # "same", "root", "rate", "ratio", "angle": see `_of_function`
    sentence: str
    number_by_number: Callable[..., Any] | None = None


FUNCTIONS = {
    "abs": Function((1, 1), "same", "size of each number", np.abs),
    "sqrt": Function((1, 1), "root", "square root", np.sqrt),
    "exp": Function((1, 1), "ratio", "exponential of a ratio", np.exp),
    "log": Function((1, 1), "ratio", "natural logarithm of a ratio", np.log),
    "sin": Function((1, 1), "ratio", "sine of an angle (rad)", np.sin),
    "cos": Function((1, 1), "ratio", "cosine of an angle (rad)", np.cos),
    "tan": Function((1, 1), "ratio", "tangent of an angle (rad)", np.tan),
    "asin": Function((1, 1), "angle", "angle (rad) from its sine", np.arcsin),
    "acos": Function((1, 1), "angle", "angle (rad) from its cosine", np.arccos),
    "atan": Function((1, 1), "angle", "angle (rad) from its tangent", np.arctan),
    "atan2": Function((2, 2), "angle", "angle (rad) of the point (x, y): atan2(y, x)", np.arctan2),
    "norm": Function((1, 1), "same", "length of each vector"),
    "rate": Function((1, 1), "rate", "derivative by time"),
    "max": Function((1, 9), "same", "largest of the arguments; of one, of its components"),
    "min": Function((1, 9), "same", "least of the arguments; of one, of its components"),
    "sum": Function((1, 1), "same", "sum of the components"),
    "mean": Function((1, 1), "same", "mean of the components"),
}
_SUMS = (ast.Add, ast.Sub)
_OPERATORS = (*_SUMS, ast.Mult, ast.Div, ast.Pow)
_EXAMPLES = "such as 'end_tension' or 'norm(body_velocity)'"


class Place(NamedTuple):
    """A component in brackets: a number, or a name; None where all are meant."""

    label: int | str | None
    column: int


@dataclass(frozen=True)
class Expression:
    """An expression that was read."""

    text: str
    name: str = field(compare=False)  # of the key or argument that it came from
    needs: tuple[str, ...] = field(compare=False)
    powers: Powers | None = field(compare=False)  # of m, kg, s and rad; None of a condition
    marks: tuple[int, ...] = field(compare=False, repr=False)  # places of the text, by column of the tree

    @property
    def tree(self) -> ast.expr:
        """Its signs, as Python reads them."""
        return tree_of(as_python(self.text)[0])

    @property
    def is_condition(self) -> bool:
        """Whether it is true or false, such as "end_tension > 0"."""
        return self.powers is None

    @property
    def unit(self) -> str:
        """Unit as files write it; empty for a ratio."""
        powers = self.powers or NO_UNIT
        own = [SCHEMA[name].units for name in self.needs if name in SCHEMA]
        if len(own) == 1 and units.powers_of(own[0]) == powers:  # a torque is no energy
            return units.OF_RESULTS.get(own[0], own[0]).removeprefix("1")
        return units.spelled(powers)

    def refuse(self, at: ast.AST | int, why: str) -> NoReturn:
        """Raise an InputError that names the key, the place in the text and why."""
        column = at if isinstance(at, int) else getattr(at, "col_offset", 0)
        raise _error(self.name, self.text, self.marks, column, why)

    def to_si(self, name: str, value: Any) -> float:
        """A limit of the expression: a plain number in SI, or text with a unit of the right dimension."""
        try:
            found = units.in_si(value, self.unit)
        except ValueError as error:
            raise InputError(f"{name}: {error}") from None
        return found


def read(name: str, text: Any) -> Expression:
    """Expression from its text; InputError with the name of the key says what is wrong, and where.

    Parameters
    ----------
    name : str
        Key or argument that the text came from.
    text : str
    """
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST:
        raise InputError(f"{name}: expected an expression of variables of a run {_EXAMPLES}, got {units.shown(text)}")
    plain = " ".join(text.split())
    source, marks = as_python(plain)
    try:
        tree = tree_of(source)
    except SyntaxError as error:
        column = min(error.offset - 1, len(source)) if error.offset else len(source)
        raise _error(name, plain, marks, column, broken(error.msg)) from None
    except (ValueError, RecursionError, MemoryError):
        raise InputError(f"{name}: expected an expression {_EXAMPLES}, got {units.shown(text)}") from None
    reader = _Reader(name, plain, marks)
    found = reader.unit(tree)
    if not reader.needs:
        raise InputError(f"{name}: expected an expression with a variable of a run {_EXAMPLES}, got {plain!r}")
    powers = None if found is _CONDITION else NO_UNIT if found is None else found
    return Expression(plain, name, tuple(reader.needs), powers, marks)


def _error(name: str, text: str, marks: tuple[int, ...], column: int, why: str) -> InputError:
    place = marks[min(column, len(marks) - 1)] + 1
    return InputError(f"{name}: {why}, in {units.shown(text)} at character {place}")


_CONDITION: Any = object()  # in the place of a unit


class _Reader:
    """Checks a tree and finds its unit: powers, None for a plain number, `_CONDITION` for what is true or false."""

    def __init__(self, name: str, text: str, marks: tuple[int, ...]) -> None:
        self._name, self._text, self._marks = name, text, marks
        self.needs: dict[str, None] = {}

    def refuse(self, node: ast.AST, why: str) -> NoReturn:
        raise _error(self._name, self._text, self._marks, getattr(node, "col_offset", 0), why)

    def unit(self, node: ast.AST) -> Powers | None:
        """Unit of a part, all of which is allowed."""
        match node:
            case ast.Constant(value=bool()):
                self.refuse(node, "expected numbers, variables of a run and functions of them")
            case ast.Constant(value=int() | float() as number):
                if not -LARGEST < number < LARGEST:
                    self.refuse(node, "expected finite numbers")
                return None
            case ast.Constant(value=str() as text):
                return self._quantity(node, text)
            case ast.Name(id=word):
                return self._variable(node, word)
            case ast.Attribute(value=inner, attr=axis):
                if axis not in AXES:
                    self.refuse(node, f"expected a component .x, .y or .z, got .{axis}")
                return self._number(inner)
            case ast.Subscript(value=inner):
                places_of(node, self.refuse)
                return self._number(inner)
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return self._condition(inner)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=inner):
                return self._number(inner)
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _OPERATORS):
                return self._joined(node, op, left, right)
            case ast.Compare(left=left, ops=[ast.Gt() | ast.GtE() | ast.Lt() | ast.LtE()], comparators=[right]):
                self._same(node, [left, right])
                return _CONDITION  # type: ignore[no-any-return]
            case ast.BoolOp(values=conditions):
                for condition in conditions:
                    self._condition(condition)
                return _CONDITION  # type: ignore[no-any-return]
            case ast.Call(func=ast.Name(id=word), args=arguments, keywords=[]):
                return self._of_function(node, word, arguments)
        return self.refuse(node, "expected numbers, variables of a run, + - * / ^, comparisons and functions")

    def _quantity(self, node: ast.AST, text: str) -> Powers:
        try:
            return units.quantity(text)[1]
        except ValueError as error:
            self.refuse(node, str(error))

    def _variable(self, node: ast.AST, word: str) -> Powers | None:
        if word == PI:
            return None
        known = (*SCHEMA, *SENSORS, TIME)
        if word not in known:
            hint = near(word, (*known, *FUNCTIONS)) or f"; there are {', '.join(known)}"
            self.refuse(node, f"expected a variable of a run, got {word!r}{hint}")
        self.needs |= dict.fromkeys(SENSORS[word].needs if word in SENSORS else (word,))
        return units.powers_of(described(word).units)

    def _number(self, node: ast.AST) -> Powers | None:
        found = self.unit(node)
        if found is _CONDITION:
            self.refuse(node, "expected a number, got a condition")
        return found

    def _condition(self, node: ast.AST) -> Powers | None:
        if self.unit(node) is not _CONDITION:
            self.refuse(node, "expected a condition such as 'end_tension > 0', got a number")
        return _CONDITION

    def _joined(self, node: ast.AST, op: ast.operator, left: ast.expr, right: ast.expr) -> Powers | None:
        if isinstance(op, _SUMS):
            return self._same(node, [left, right])
        if isinstance(op, ast.Pow):
            exponent = right.operand if isinstance(right, ast.UnaryOp) else right
            if not isinstance(exponent, ast.Constant) or not isinstance(exponent.value, int | float):
                self.refuse(right, "expected a plain number as power")
            base, n = self._number(left), number_in(right)
            if abs(n) > units.HIGHEST_POWER:
                self.refuse(right, f"expected a power from -{units.HIGHEST_POWER:g} to {units.HIGHEST_POWER:g}")
            return None if base is None else _times(base, n, NO_UNIT)
        one, other = self._number(left), self._number(right)
        if one is None and other is None:
            return None
        return _times(other or NO_UNIT, -1.0 if isinstance(op, ast.Div) else 1.0, one or NO_UNIT)

    def _same(self, node: ast.AST, parts: list[ast.expr]) -> Powers | None:
        """Unit of parts that are added or compared; plain numbers take that of the others, and angles are ratios."""
        found = [(part, self._number(part)) for part in parts]
        measured = [(part, x) for part, x in found if x is not None]
        for part, x in measured[1:]:
            first = measured[0][1]
            if x[:3] != first[:3]:
                one, other = (units.spelled(each) or "a ratio" for each in (first, x))
                self.refuse(part, f"expected the same unit on both sides, got {one} and {other}")
        return measured[0][1] if measured else None

    def _of_function(self, node: ast.AST, word: str, arguments: list[ast.expr]) -> Powers | None:
        if word not in FUNCTIONS:
            hint = near(word, FUNCTIONS) or f"; there are {', '.join(FUNCTIONS)}"
            self.refuse(node, f"expected a function, got {word!r}{hint}")
        function = FUNCTIONS[word]
        least, most = function.arguments
        if not least <= len(arguments) <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            self.refuse(node, f"expected {wanted} in {word}(...), got {len(arguments)}")
        unit = self._same(node, arguments)
        if not self._has_variable(arguments):
            self.refuse(node, f"expected a variable of a run inside {word}(...)")
        if function.unit == "root":
            return None if unit is None else _times(unit, 0.5, NO_UNIT)
        if function.unit == "rate":
            return _times((0.0, 0.0, 1.0, 0.0), -1.0, unit or NO_UNIT)
        if function.unit == "same":
            return unit
        if unit is not None and any(unit[:3]) and word != "atan2":
            self.refuse(node, f"expected a ratio or an angle inside {word}(...), got {units.spelled(unit)}")
        return RADIAN if function.unit == "angle" else NO_UNIT

    @staticmethod
    def _has_variable(arguments: list[ast.expr]) -> bool:
        names = (x.id for part in arguments for x in ast.walk(part) if isinstance(x, ast.Name))
        return any(name in SCHEMA or name in SENSORS or name == TIME for name in names)


def _times(powers: Powers, n: float, other: Powers) -> Powers:
    """Powers of a quantity to the n, times another."""
    a, b, c, d = (n * x + y for x, y in zip(powers, other, strict=True))
    return a, b, c, d


def number_in(node: ast.AST) -> float:
    """A plain number with its sign."""
    if isinstance(node, ast.UnaryOp):
        return -number_in(node.operand) if isinstance(node.op, ast.USub) else number_in(node.operand)
    assert isinstance(node, ast.Constant)
    return float(node.value)  # type: ignore[arg-type]


def places_of(node: ast.Subscript, refuse: Callable[[ast.AST, str], NoReturn]) -> list[Place]:
    """Components in brackets: whole numbers, and names, which `as_python` put in quotes."""
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if not items:
        refuse(node, "expected components in the brackets")
    return [Place(None if _is_whole(item) else _label(item, refuse), getattr(item, "col_offset", 0)) for item in items]


def _is_whole(node: ast.expr) -> bool:
    """Whether all components are meant: a colon alone."""
    return isinstance(node, ast.Slice) and node.lower is None and node.upper is None and node.step is None


def _label(node: ast.expr, refuse: Callable[[ast.AST, str], NoReturn]) -> int | str:
    match node:
        case ast.Constant(value=str() as word):
            return word
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)):
            return -number
    return refuse(node, "expected a name or a whole number in the brackets")
