"""Choosing among laws, commands and loads by their number.

Kernels cannot hold a list of functions, so the choice is written out: for three laws `dispatch` makes

    def chosen(par, strain):
        if par.elastic_law == 0:
            return f0(par, strain)
        if par.elastic_law == 1:
            return f1(par, strain)
        return f2(par, strain)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from tautline.registry import Entry


def modules(table: Mapping[str, Entry]) -> list[ModuleType]:
    """Files of the kernels of everything in a table of the registry, in its order."""
    return [import_module(entry.module) for entry in table.values()]


def functions(table: Mapping[str, Entry], name: str, default: Any = None) -> list[Callable[..., Any]]:
    """The kernel of this name of every file of a table; `default` for those that have none."""
    found = [getattr(module, name, default) for module in modules(table)]
    for entry, function in zip(table.values(), found, strict=True):
        if function is None:
            raise AttributeError(f"{entry.module}: expected a kernel {name!r}")
    return found


def dispatch(choices: Sequence[Callable[..., Any]], code: str, own: str | None = None) -> Any:
    """A function with the arguments of the choices, which calls the one of the number that `code` gives.

    `code` is an expression of the arguments, or the name of a further one, which comes first. With `own` the argument
    of this name is a tuple, of which each choice gets its own element. Choices that are the same function are one.
    """
    names = list(inspect.signature(getattr(choices[0], "py_func", choices[0])).parameters)
    arguments = names if "." in code else [code, *names]
    calls = [
        f"return f{choices.index(choice)}({', '.join(f'{name}[{k}]' if name == own else name for name in names)})"
        for k, choice in enumerate(choices)
    ]
    last = max(calls, key=calls.count)  # what most do is the last resort
    lines = [f"    if {code} == {k}:\n        {call}" for k, call in enumerate(calls) if call != last]
    scope: dict[str, Any] = {"__name__": __name__} | {f"f{k}": choice for k, choice in enumerate(choices)}
    exec("\n".join([f"def chosen({', '.join(arguments)}):", *lines, f"    {last}"]), scope)
    return scope["chosen"]
