"""Choosing among laws, commands and loads by their number.

Kernels cannot hold a list of functions, so the choice is written out: for three laws `dispatch` makes

    def chosen(code, par, strain):
        if code == 0:
            return f0(par, strain)
        if code == 1:
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


def dispatch(choices: Sequence[Callable[..., Any]], own: str | None = None) -> Any:
    """A function of a code and the arguments of the choices, which calls the one of that code.

    With `own` an argument of this name is a tuple, of which each choice gets its own element.
    """
    first = inspect.signature(getattr(choices[0], "py_func", choices[0]))
    names = list(first.parameters)
    lines = [f"def chosen(code, {', '.join(names)}):"]
    for k in range(len(choices)):
        given = ", ".join(f"{name}[{k}]" if name == own else name for name in names)
        last = k == len(choices) - 1
        lines += [] if last else [f"    if code == {k}:"]
        lines += [f"{'' if last else '    '}    return f{k}({given})"]
    scope: dict[str, Any] = {f"f{k}": choice for k, choice in enumerate(choices)}
    exec("\n".join(lines), scope)
    return scope["chosen"]
