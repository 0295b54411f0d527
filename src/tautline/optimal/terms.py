"""Objectives that are made least, and limits that must hold: on the way, and at the end."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tautline.errors import InputError
from tautline.gradients.objectives import Final, Integral, Peak
from tautline.model import checks, expressions
from tautline.model.expressions import Parts
from tautline.model.expressions.binding import Bound as Expression

TIME, FINAL, INTEGRAL, PEAK = "time", "final", "integral", "peak"
KINDS = (TIME, FINAL, INTEGRAL, PEAK)


@dataclass(frozen=True)
class Limit:
    """Bounds of an expression of outputs at every sample of the run.

    Parameters
    ----------
    of : str
        Such as "start_tension", "abs(power)", "rate(reel_speed)" or "norm(body_velocity[load])"; of one with several
        components, such as "tension", each is limited.
    least, most : float or str, optional
        In SI, or with a unit.
    """

    of: str
    least: float | str | None = None
    most: float | str | None = None


@dataclass(frozen=True)
class AtEnd:
    """Requirement on an expression of outputs at the end of the run: a value to within a tolerance, or bounds.

    Parameters
    ----------
    of : str
        See `Limit`.
    value : float or str, optional
        In SI, or with a unit.
    within : float or str
        How far it may be from the value.
    least, most : float or str, optional
        Bounds in the place of a value.
    """

    of: str
    value: float | str | None = None
    within: float | str = 0.0
    least: float | str | None = None
    most: float | str | None = None


@dataclass(frozen=True)
class Bound:
    """A limit or an end condition that was read, in SI."""

    name: str  # in messages
    expression: Expression
    least: float
    most: float
    at_end: bool

    def __str__(self) -> str:
        """In words, as a message has it."""
        low, high = (f"{x:.6g}" for x in (self.least, self.most))
        if self.least == self.most:
            between = f"be {low}"
        elif math.isinf(self.most):
            between = f"be at least {low}"
        else:
            between = f"be at most {high}" if math.isinf(self.least) else f"be within {low} and {high}"
        return f"{self.expression.text} should {between}{' at the end' if self.at_end else ''}"


@dataclass(frozen=True)
class Term:
    """A part of what is made least, with its weight."""

    kind: str
    expression: Expression | None
    weight: float


def read_bounds(subject_to: Any, parts: Parts) -> tuple[Bound, ...]:
    """From a list of `Limit` and `AtEnd`, or of tables with the key limit or at_end."""
    if isinstance(subject_to, Limit | AtEnd | Mapping) or not isinstance(subject_to, Sequence):
        checks.refuse(
            "subject_to", "a list of limits such as [tl.objectives.Limit('start_tension', least=0)]", subject_to
        )
    return tuple(_bound(f"subject_to[{k}]", given, parts) for k, given in enumerate(subject_to))


def _bound(name: str, given: Any, parts: Parts) -> Bound:
    if isinstance(given, Mapping):
        given = _from_table(name, given)
    if not isinstance(given, Limit | AtEnd):
        checks.refuse(name, "a Limit or an AtEnd", given)
    expression = _read(f"{name}.{_WORD[type(given)]}", given.of, parts)
    least, most = (_number(f"{name}.{word}", getattr(given, word), expression) for word in ("least", "most"))
    if isinstance(given, AtEnd) and given.value is not None:
        if least is not None or most is not None:
            raise InputError(f"{name}: expected a value, or least and most; got both")
        value, within = (_number(f"{name}.{word}", getattr(given, word), expression) for word in ("value", "within"))
        assert value is not None and within is not None
        within = checks.non_negative(f"{name}.within", within, expression.expression.unit)
        least, most = value - within, value + within
    if least is None and most is None:
        either = "a value, least or most" if isinstance(given, AtEnd) else "least or most"
        raise InputError(f"{name}: expected {either} for {expression.text!r}, got neither")
    low, high = -math.inf if least is None else least, math.inf if most is None else most
    if low > high:
        raise InputError(f"{name}: expected least below most, got {low:g} and {high:g}")
    return Bound(name, expression, low, high, isinstance(given, AtEnd))


_WORD: dict[type[Limit] | type[AtEnd], str] = {Limit: "limit", AtEnd: "at_end"}


def _from_table(name: str, table: Mapping[str, Any]) -> Limit | AtEnd:
    """Limit of a file: limit = "..." or at_end = "...", with the other arguments."""
    kinds = [cls for cls, word in _WORD.items() if word in table]
    if len(kinds) != 1:
        raise InputError(f"{name}: expected one of limit and at_end, an expression of outputs, got {sorted(table)}")
    (kind,) = kinds
    others = {word: value for word, value in table.items() if word != _WORD[kind]}
    known = [x.name for x in dataclasses.fields(kind) if x.name != "of"]
    checks.known(f"{name}.", others, known)
    return kind(table[_WORD[kind]], **others)


def _read(name: str, text: Any, parts: Parts) -> Expression:
    """Number of a run from its text."""
    read = expressions.read(name, text)
    if read.is_condition:
        raise InputError(f"{name}: expected a number, got the condition {read.text!r}")
    return expressions.bind(read, parts)


def _number(name: str, value: Any, expression: Expression) -> float | None:
    return None if value is None else expression.expression.to_si(name, value)


_OBJECTIVES: dict[str, type[Final | Integral | Peak]] = {FINAL: Final, INTEGRAL: Integral, PEAK: Peak}


def read_objective(minimize: Any, parts: Parts) -> tuple[Term, ...]:
    """From "time", a table such as {"integral": "torque^2"} with a weight, an objective, or a list of those."""
    listed = minimize if isinstance(minimize, list | tuple) else [minimize]
    if not listed:
        checks.refuse("minimize", "'time', or a table such as {'integral': 'torque^2'}", minimize)
    found = []
    for k, given in enumerate(listed):
        name = f"minimize[{k}]" if isinstance(minimize, list | tuple) else "minimize"
        found.append(_term(name, {TIME: True} if isinstance(given, str) and given == TIME else given, parts))
    return tuple(found)


def _term(name: str, given: Any, parts: Parts) -> Term:
    for kind, objective in _OBJECTIVES.items():
        if isinstance(given, objective):
            given = {kind: given.variable}
    if not isinstance(given, Mapping):
        checks.refuse(name, "'time', or a table such as {'integral': 'torque^2'}", given)
    checks.known(f"{name}.", given, (*KINDS, "weight"))
    kinds = [kind for kind in KINDS if kind in given]
    if len(kinds) != 1:
        raise InputError(f"{name}: expected one of {', '.join(KINDS)}, got {' and '.join(kinds) or 'none'}")
    (kind,) = kinds
    weight = checks.positive(f"{name}.weight", given.get("weight", 1.0), "1")
    expression = None if kind == TIME else _read(f"{name}.{kind}", given[kind], parts)
    return Term(kind, expression, weight)
