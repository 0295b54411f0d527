"""Parameters of an FMU: keys whose numbers go to the kernels as they are, or by a power or a line.

They are found by trying: the case is lowered with other numbers of a key, and the words that change must follow from
the number. The start stays as it was exported.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from tautline.arrays import Counters
from tautline.errors import InputError
from tautline.fmu import layout
from tautline.fmu.exported import Export
from tautline.fmu.image import bits
from tautline.fmu.lowering import lower
from tautline.fmu.memory import MOST_PARAMETERS
from tautline.fmu.variables import Variable, named
from tautline.model.keys import parse
from tautline.model.system import keys
from tautline.model.system.case import Case
from tautline.model.table_files import FILE

# Numbers that are tried, over that of the case; efficiencies are at most 1. Exponents of powers that are looked for.
TRIED = (0.9, 0.8)
EXPONENTS = (-2.0, -1.5, -1.0, -0.5, 0.5, 1.0, 1.5, 2.0)
# Part of a word by which a formula may miss it: rounding of a few operations.
ROUNDING = 1e-11
# Of two keys on which a word depends otherwise than as a product, the first in this order is a parameter.
FIRST = ("mass", "stiffness", "viscosity", "gravity", "drum_radius", "inertia_mass", "density")
SECTIONS = ("gravity", "bodies", "lines", "fluid")
# What is a fixed motion, and the length, which the start was made for.
SKIPPED = ("path", "length")
COMMAND = "command"


class Change(NamedTuple):
    """How a word follows from a parameter; one that follows from several is a product of powers, or a sum."""

    place: int
    form: str
    number: float = 0.0  # exponent, or slope by the parameter or its inverse

    def at(self, word: float, number: float, value: float) -> float:
        """Word at a value; it is `word` at the number of the case."""
        if self.form == "copy":
            return value
        if self.form == "power":
            return float(word * (value / number) ** self.number)
        change = value - number if self.form == "affine" else 1.0 / value - 1.0 / number
        return word + self.number * change


def _keys(tree: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Keys of numbers and lists of numbers, in a tree of keys."""
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _keys(value, (*path, name)) if name != FILE else ()  # numbers that a file gave
        elif _is_numbers(value):
            yield (*path, name), value


def _is_numbers(value: Any) -> bool:
    """Whether a value is a number or a list of them, or of vectors and numbers."""
    return isinstance(value, float) or (isinstance(value, list) and bool(value) and all(map(_is_numbers, value)))


def _is_replaced(what: Export, path: tuple[str, ...]) -> bool:
    """Whether a key is of a command or path in whose place there is an input."""
    if COMMAND not in path:
        return path[0] == "bodies" and path[2] == "path" and path[1] in what.moved
    line, *part = path[1 : path.index(COMMAND)]
    return what.modes[".".join((line, *part[-1:]))] != "case"


def candidates(what: Export, case: Case) -> dict[tuple[str, ...], Any]:
    """Keys with numbers that are not replaced by inputs, and these; those that are likely to be parameters first."""
    tree = {name: x for name, x in case.to_dict().items() if name in SECTIONS}
    found = [(path, value) for path, value in _keys(tree) if not _is_replaced(what, path)]
    return dict(sorted(found, key=lambda x: FIRST.index(x[0][-1]) if x[0][-1] in FIRST else len(FIRST)))


def _may_be_set(path: tuple[str, ...], value: Any) -> bool:
    """Whether a key is to be tried: a single number, of which parts can be taken."""
    return isinstance(value, float) and math.isfinite(value) and value != 0.0 and not set(SKIPPED) & set(path)


def _words(what: Export, case: Case, values: dict[tuple[str, ...], float]) -> Counters | None:
    """Memory of an instance with other numbers of keys; None if the case refuses them, or another memory is needed."""
    with suppress(InputError, ValueError, ArithmeticError, AssertionError):
        changed = case.with_({".".join(path): value for path, value in values.items()})
        return lower(what._replace(system=what.adapted(changed.system), commands=changed.commands)).words
    return None


def changes(base: Counters, tried: list[Counters], number: float) -> list[Change] | None:
    """How words follow from a number; None if a word does not."""
    if any(x.shape != base.shape for x in tried):
        return None
    places = np.flatnonzero(np.any([x != base for x in tried], axis=0)).tolist()
    found = []
    values = [number, *(number * ratio for ratio in TRIED)]
    for place in places:
        words = [x[place : place + 1].view(np.float64)[0] for x in (base, *tried)]
        if [bits(float(x)) for x in words] == [bits(x) for x in values]:
            found.append(Change(place, "copy"))
            continue
        if any(not math.isfinite(x) or 0.0 < abs(x) < 1e-300 for x in words):
            return None
        change = _formula(place, [float(x) for x in words], values)
        if change is None:
            return None
        found.append(change)
    return found


def _formula(place: int, words: list[float], values: list[float]) -> Change | None:
    """The power, or the line in the number or its inverse, that goes through three words."""
    p0, p1, p2 = values
    choices = [Change(place, "power", exponent) for exponent in EXPONENTS]
    for form, x0, x1 in (("affine", p0, p1), ("inverse", 1.0 / p0, 1.0 / p1)):
        choices.append(Change(place, form, (words[1] - words[0]) / (x1 - x0)))
    size = ROUNDING * max(map(abs, words))
    for choice in choices:
        if all(abs(choice.at(words[0], p0, p) - w) <= size for p, w in zip((p1, p2), words[1:], strict=True)):
            return choice
    return None


def find(what: Export, case: Case) -> tuple[list[Variable], list[list[int | float]], list[str]]:
    """Parameters, the words that follow from them, and all other keys with numbers, which are fixed."""
    base = lower(what).words
    taken: dict[tuple[str, ...], tuple[float, list[Change]]] = {}
    listed = candidates(what, case)
    for path, number in listed.items():
        if not _may_be_set(path, number):
            continue
        tried = [_words(what, case, {path: number * ratio}) for ratio in TRIED]
        found = None if any(x is None for x in tried) else changes(base, tried, number)  # type: ignore[arg-type]
        if found and _go_together(found, taken) and len(taken) < MOST_PARAMETERS:
            taken[path] = (number, found)
    while taken and not _hold_together(what, case, base, taken):
        taken.popitem()
    found_keys = list(taken)
    fixed = sorted(".".join(path) for path in listed if path not in taken)
    variables = [_variable(case, path, taken[path][0]) for path in found_keys]
    rows: list[list[int | float]] = [
        [k, change.place, layout.FORMS.index(change.form), change.number]
        for k, path in enumerate(found_keys)
        for change in taken[path][1]
    ]
    return variables, rows, fixed


def _go_together(found: list[Change], taken: dict[tuple[str, ...], tuple[float, list[Change]]]) -> bool:
    """Whether words that other parameters change too are products of powers, or sums."""
    others = {change.place: change.form for _, own in taken.values() for change in own}
    alike = (("power",), ("affine", "inverse"))
    return all(
        change.place not in others or any(change.form in x and others[change.place] in x for x in alike)
        for change in found
    )


def _hold_together(
    what: Export, case: Case, base: Counters, taken: dict[tuple[str, ...], tuple[float, list[Change]]]
) -> bool:
    """Whether all parameters at once lead to the words that are foreseen."""
    ratios = {path: TRIED[k % 2] for k, path in enumerate(taken)}
    words = _words(what, case, {path: number * ratios[path] for path, (number, _) in taken.items()})
    if words is None or words.shape != base.shape:
        return False
    foreseen = base.copy().view(np.float64)
    for path, (number, own) in taken.items():
        for change in own:
            foreseen[change.place] = change.at(foreseen[change.place], number, number * ratios[path])
    differ = np.flatnonzero(foreseen.view(np.int64) != words)
    got, expected = words.view(np.float64)[differ], foreseen[differ]
    return bool(np.all(np.abs(got - expected) <= 10.0 * ROUNDING * np.abs(expected)))


def _variable(case: Case, path: tuple[str, ...], number: float) -> Variable:
    kind = keys.kind_of(case.to_dict(), parse(".".join(path)))
    allowed = [kind.takes(value) for value in (-abs(number), 0.0)]
    least = -math.inf if allowed[0] else 0.0
    return Variable(
        named(*path),
        "parameter",
        kind.unit,
        kind.sentence,
        start=number,
        kind="parameter",
        least=least,
        open=not allowed[0] and not allowed[1],
    )
