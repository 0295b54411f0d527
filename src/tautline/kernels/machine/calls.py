"""Calls of machine code from Python: arguments into words, and words into what is returned."""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tautline.arrays import Array
from tautline.kernels.machine.choice import engine
from tautline.kernels.machine.pulse import PULSE_OF_MAIN
from tautline.kernels.machine.signatures import ASKED, Function, functions_of
from tautline.kernels.machine.structures import WORD

_PLAIN: dict[type, Any] = {float: ctypes.c_double, int: ctypes.c_int64, bool: ctypes.c_int64}


def prototype(function: Function) -> Any:
    """Type of a C function, for ctypes; it lets other threads of Python run meanwhile."""
    kinds = []
    for argument in function.arguments:
        kinds += [_PLAIN.get(argument.kind, ctypes.c_void_p)] * (2 if function.tangents and argument.structure else 1)
    return ctypes.CFUNCTYPE(ctypes.c_int64, *kinds, *[ctypes.c_void_p] * (function.result is not None))


def machine_code(function: Function) -> Callable[..., int]:
    """The C function: called with its words, all but the address that it may ask, and the room for its result."""
    code: Callable[..., int] = prototype(function)(engine().address(function))
    if not function.asks:
        return lambda words, *result: code(*words, *result)
    return lambda words, *result: PULSE_OF_MAIN.call(code, words, result)


def names_of(entry: Callable[..., Any]) -> list[str]:
    """Arguments that an entry is called with."""
    return [name for name in inspect.signature(entry).parameters if name != ASKED]


def _caller(function: Function) -> Callable[..., Any]:
    """A Python function with the arguments that the C function has."""
    code = machine_code(function)
    given = [argument for argument in function.arguments if argument.name != ASKED]
    packs = [argument.structure.pack if argument.structure else None for argument in given]
    result = function.result
    size = WORD * result.size if result is not None else 0

    def call(args: list[Any]) -> Any:
        # the words must not be freed before the function returns
        words = [value if pack is None else pack(value) for pack, value in zip(packs, args, strict=True)]
        if result is None:
            status = code(words)
        else:
            buffer = ctypes.create_string_buffer(size)
            status = code(words, buffer)
        if status != 0:
            raise IndexError(f"{function.name}: an index was out of range")
        return None if result is None else result.unpack(buffer.raw)

    return call


def tangent_call(entry: Callable[..., Any]) -> Callable[..., Any]:
    """Function that runs when an entry with tangents is called: by its arguments and leaves of the tangents of each.

    Leaves are arrays whose last index goes through the tangents, one for every float and every array of floats of an
    argument, in the order of its fields. Tangents of arrays are changed as the arrays are.
    """
    functions = functions_of(entry, True)
    callers: dict[tuple[str, ...], Callable[..., int]] = {}
    names = names_of(entry)

    def call(args: Sequence[Any], tangents: Sequence[Sequence[Array]]) -> Any:
        missing = tuple(name for name, value in zip(names, args, strict=True) if value is None)
        function = functions[missing]
        if missing not in callers:
            callers[missing] = machine_code(function)
        words: list[Any] = []
        given = [(value, leaves) for value, leaves in zip(args, tangents, strict=True) if value is not None]
        for argument, (value, leaves) in zip(function.arguments, given, strict=not function.asks):
            if argument.structure is None:
                words.append(value)
            else:
                words += [argument.structure.pack(value), argument.structure.tangent_words(value, leaves).ctypes]
        assert function.result is not None
        buffer = ctypes.create_string_buffer(WORD * function.result.size)
        if callers[missing](words, buffer) != 0:
            raise IndexError(f"{function.name}: an index was out of range")
        return function.result.unpack(buffer.raw)

    return call


def machine_call(entry: Callable[..., Any]) -> Callable[..., Any]:
    """Function that runs when an entry is called: machine code, or the entry itself where Python was asked for."""
    if engine().name == "python":
        return entry
    names = names_of(entry)
    functions = functions_of(entry)
    optional = next((absent for absent in functions if absent), ())
    callers: dict[tuple[str, ...], Callable[..., Any]] = {}

    def call(*args: Any, **named: Any) -> Any:
        if named:
            args = inspect.signature(entry).bind(*args, **named).args
        if len(args) != len(names):
            raise TypeError(f"{entry.__name__}: expected {len(names)} arguments, got {len(args)}")
        missing = tuple(name for name, value in zip(names, args, strict=True) if value is None) if optional else ()
        if missing not in callers:
            callers[missing] = _caller(functions[missing])
        return callers[missing]([value for value in args if value is not None] if missing else list(args))

    return call
