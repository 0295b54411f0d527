"""Entries as C functions: their arguments, and the words that pass through them.

Floats are given as doubles, whole numbers and truths as int64_t, and everything else as a pointer to its structure;
what the entry returns is written to a structure behind the last argument. Where an entry can do without loads there are
two C functions, so that one without loads is not slowed down by asking for them.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import tautline.kernels
from tautline.kernels.jit import Entry, TangentEntry
from tautline.kernels.machine.structures import Structure, structure

PREFIX = "tl_"
# Ending of the name of an argument that holds the tangents of another.
TANGENT_WORDS = "_tangents"


# Argument of an entry that calls fill in, and callers do not give (interrupts.py).
ASKED = "pulse"


class Argument(NamedTuple):
    """An argument of an entry."""

    name: str
    kind: Any
    structure: Structure | None  # None for a plain number


class Function(NamedTuple):
    """One C function."""

    name: str
    entry: Callable[..., Any]
    arguments: list[Argument]  # without those that are None
    absent: tuple[str, ...]  # arguments of the entry that are None
    result: Structure | None
    tangents: bool = False  # of all numbers, given beside them

    @property
    def asks(self) -> bool:
        """Whether it asks now and then whether to go on; the address for that is its last argument."""
        return self.arguments[-1].name == ASKED


def _arguments(hints: dict[str, Any]) -> list[Argument]:
    plain = (float, int, bool)
    return [Argument(name, kind, None if kind in plain else structure(kind)) for name, kind in hints.items()]


@cache
def functions_of(entry: Callable[..., Any], tangents: bool = False) -> dict[tuple[str, ...], Function]:
    """C functions of an entry, by the arguments that are absent."""
    hints = get_type_hints(entry, include_extras=True)
    returned = hints.pop("return")
    result = None if returned is NoneType else structure(returned)
    optional = {name: kind for name, kind in hints.items() if get_origin(kind) is UnionType}
    present = {name: next(x for x in get_args(kind) if x is not NoneType) for name, kind in optional.items()}
    name = f"{PREFIX}{entry.__name__}"
    if not optional:
        return {(): Function(name, entry, _arguments(hints), (), result, tangents)}
    absent = tuple(optional)
    plain = {name: kind for name, kind in hints.items() if name not in optional}
    return {
        (): Function(f"{name}_with_{'_'.join(optional)}", entry, _arguments(hints | present), (), result, tangents),
        absent: Function(name, entry, _arguments(plain), absent, result, tangents),
    }


@cache
def all_functions() -> dict[str, Function]:
    """Every C function, by name."""
    found: dict[str, Function] = {}
    for module in sorted(x.name for x in pkgutil.walk_packages(tautline.kernels.__path__, "tautline.kernels.")):
        if module.startswith(f"{__package__}.") or module == __package__:
            continue
        for value in vars(import_module(module)).values():
            if isinstance(value, Entry):
                functions = functions_of(value.py_func, isinstance(value, TangentEntry))
                found |= {function.name: function for function in functions.values()}
    return found
