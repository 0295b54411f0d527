"""Marks of the kernels: which are called from Python, and how the others become parts of them.

A kernel is a plain Python function with a mark. Called from Python, an entry runs as machine code (machine/), and any
other kernel as the Python that it is. Numba, which makes the machine code, is not imported here: a library that was
made before needs none.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar, cast

from tautline.kernels.machine import folders  # noqa: F401 - a relative path is settled when the kernels are loaded

F = TypeVar("F", bound=Callable[..., Any])


class Kernel:
    """A function that Numba can compile into others.

    Attributes
    ----------
    py_func : Callable
        The function itself.
    targetoptions : dict
        Options of Numba's; it looks here for those that inline a function.
    """

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        self.py_func = function
        self.targetoptions = options
        self._dispatchers: dict[bool, Any] = {}
        update_wrapper(self, function)

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self.py_func(*args, **named)

    @property
    def _numba_type_(self) -> Any:
        """Type by which Numba knows the function, made when something that calls it is compiled.

        What is compiled for machine code of our own is not fit for a function that Numba compiles by itself.
        """
        from tautline.kernels.machine.compiling import for_machine_code

        own = for_machine_code()
        if own not in self._dispatchers:
            self._dispatchers[own] = self._dispatcher()
        return self._dispatchers[own]._numba_type_

    def _dispatcher(self) -> Any:
        """Numba's own object for the function."""
        from tautline.kernels.machine.compiling import dispatcher

        return dispatcher(self.py_func, self.targetoptions)


class Entry(Kernel):
    """A kernel that Python calls: machine code, of the library or compiled in this process."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._call: Callable[..., Any] | None = None

    def __call__(self, *args: Any, **named: Any) -> Any:
        if self._call is None:
            from tautline.kernels.machine.calls import machine_call

            self._call = machine_call(self.py_func)
        return self._call(*args, **named)


class TangentEntry(Entry):
    """An entry whose numbers all have tangents: it is called with the tangents of its arguments behind them."""

    def __call__(self, *args: Any, **named: Any) -> Any:
        if self._call is None:
            from tautline.kernels.machine.calls import tangent_call

            self._call = tangent_call(self.py_func)
        return self._call(*args, **named)


def kernel(function: F) -> F:
    """Make part of its callers, for use inside other kernels."""
    return cast(F, Kernel(function, forceinline=True))


def inlined(function: F) -> F:
    """Make part of its callers before types are known, for functions with one caller that steer others.

    Nothing is handed over then, which takes less time to compile.
    """
    return cast(F, Kernel(function, inline="always"))


def separate(function: F) -> F:
    """Compile as a function of its own, for large ones with several callers outside the hot path."""
    return cast(F, Kernel(function))


def entry(function: F) -> F:
    """Compile for calls from Python."""
    return cast(F, Entry(function))


def tangent_entry(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile for calls from Python, with tangents of all numbers."""
    return TangentEntry(function)
