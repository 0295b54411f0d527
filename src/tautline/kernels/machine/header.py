"""The C header of libtautline, from the same descriptions as the calls from Python."""

from __future__ import annotations

import inspect
from typing import Any, get_args, get_origin

import numpy as np

from tautline.errors import INTERRUPTED, STATUS_NAMES
from tautline.kernels import data
from tautline.kernels.lanes import LANES
from tautline.kernels.listed import Listed
from tautline.kernels.machine.signatures import TANGENT_WORDS, Argument, Function, all_functions
from tautline.kernels.machine.stamp import ABI, source_hash
from tautline.kernels.machine.structures import array_type, fields_of

_OPENING = f"""/* libtautline: strings that are reeled out and in, and the rigid bodies they carry.

   Made from the sources of tautline, which also describe the model (docs/theory.md); do not edit. All numbers are SI.
   Every member of a structure takes eight bytes. An array is a pointer and its numbers of rows, columns and so on; it
   lies row by row without gaps, is the caller's, and has to be there only during a call. Functions keep nothing between
   calls and allocate nothing, so threads may call them at the same time with arrays of their own.
   Functions return 0; anything else says that the arguments cannot be right.

   Before the first call make sure that library and header belong together: tl_fits() */

#ifndef TAUTLINE_H
#define TAUTLINE_H
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {{
#endif

#define TAUTLINE_ABI {ABI}
#define TAUTLINE_STAMP "{{stamp}}"
extern const char *const tl_stamp;
extern const int64_t tl_abi;

/* Whether the library was made from the same sources as this header. */
static inline int tl_fits(void) {{ return tl_abi == TAUTLINE_ABI && strcmp(tl_stamp, TAUTLINE_STAMP) == 0; }}
"""
_CLOSING = """
#ifdef __cplusplus
}
#endif
#endif
"""


def _name(kind: Any) -> str:
    """Name of the structure of a type."""
    words = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in kind.__name__)
    return f"tl{words}"


def _constants() -> str:
    """Sizes and places that a caller needs to fill the arrays."""
    lines = [f"#define TL_{name.upper()} {code}" for code, name in STATUS_NAMES.items()]
    lines.append(f"#define TL_INTERRUPTED ({INTERRUPTED})")
    lines.append(f"#define TL_ROW_LENGTH(N) ({LANES} * ((N) / {LANES} + 2)) /* places for a component of all nodes */")
    for name, value in vars(data).items():
        if name.isupper() and isinstance(value, int | float | np.integer):
            lines.append(f"#define TL_{name} {value}")
    return "\n".join(lines)


def _member(name: str, kind: Any) -> list[str]:
    """Declarations of one field."""
    if get_origin(kind) is Listed:
        pointed = _name(get_args(kind)[0])
        return [f"{pointed} *{name}; /* items, and their number and words each */", f"int64_t {name}_shape[2];"]
    array = array_type(kind)
    if array is not None:
        indices, item = array
        pointed = {"d": "double", "q": "int64_t"}[item]
        return [f"{pointed} *{name};", f"int64_t {name}_shape[{indices}];"]
    if kind is float:
        return [f"double {name};"]
    if kind in (int, bool):
        return [f"int64_t {name};"]
    if hasattr(kind, "_fields"):
        return [f"{_name(kind)} {name};"]
    items = [item for _, item in fields_of(kind) or []]
    sizes = ""
    while items and all(item == items[0] for item in items):
        sizes += f"[{len(items)}]"
        if items[0] is float:
            return [f"double {name}{sizes};"]
        items = [item for _, item in fields_of(items[0]) or []]
    return [line for i, (_, item) in enumerate(fields_of(kind) or []) for line in _member(f"{name}_{i}", item)]


def _notes(kind: Any) -> dict[str, str]:
    """Comments behind the fields of a tuple in its source."""
    found = {}
    for line in inspect.getsource(kind).splitlines():
        field, _, comment = line.partition("#")
        if ":" in field and comment:
            found[field.split(":")[0].strip()] = comment.strip()
    return found


def _declare(kind: Any, done: dict[Any, str]) -> None:
    """Declaration of a structure, after those that it holds."""
    if kind in done:
        return
    fields = fields_of(kind) or []
    for _, item in fields:
        _declare_inside(item, done)
    notes = _notes(kind)
    lines = []
    for step, item in fields:
        name = step[1:]
        note = f"  /* {notes[name]} */" if name in notes else ""
        members_ = _member(name, item)
        lines += [f"    {members_[0]}{note}", *[f"    {line}" for line in members_[1:]]]
    doc = inspect.cleandoc(kind.__doc__ or "")
    done[kind] = "\n".join([f"/* {doc} */", "typedef struct {", *lines, f"}} {_name(kind)};"])


def _declare_inside(kind: Any, done: dict[Any, str]) -> None:
    if get_origin(kind) is Listed:
        _declare(get_args(kind)[0], done)
    elif hasattr(kind, "_fields"):
        _declare(kind, done)
    elif array_type(kind) is None:
        for _, item in fields_of(kind) or []:
            _declare_inside(item, done)


def _parameter(name: str, kind: Any) -> str:
    if kind is float:
        return f"double {name}"
    if kind in (int, bool):
        return f"int64_t {name}"
    array = array_type(kind)
    if array is not None:
        return f"const {_array_name(array)} *{name}"
    if hasattr(kind, "_fields"):
        return f"const {_name(kind)} *{name}"
    return f"const double *{name}"


def _parameters(function: Function, argument: Argument) -> list[str]:
    """Parameters of a C function for an argument: itself, and its tangents where there are some (wrappers.py)."""
    own = _parameter(argument.name, argument.kind)
    beside = function.tangents and argument.structure is not None
    return [own, f"const double *{argument.name}{TANGENT_WORDS}"] if beside else [own]


def _array_name(array: tuple[int, str]) -> str:
    return f"tl_array{array[0]}" if array[1] == "d" else f"tl_counters{array[0]}"


def _result(function: Function) -> tuple[str | None, str]:
    """Declaration of the structure of what a function returns, where it needs one, and the parameter for it."""
    if function.result is None:
        return None, ""
    kind = function.result.kind
    if hasattr(kind, "_fields"):
        return None, f", {_name(kind)} *result"
    if kind in (float, int, bool):
        return None, f", {'double' if kind is float else 'int64_t'} *result"
    name = f"{function.name}_result"
    lines = [f"    {line}" for i, (_, item) in enumerate(fields_of(kind) or []) for line in _member(f"value{i}", item)]
    return "\n".join(["typedef struct {", *lines, f"}} {name};"]), f", {name} *result"


def header() -> str:
    """Text of tautline.h."""
    structures: dict[Any, str] = {}
    arrays = set()
    declarations = []
    for function in all_functions().values():
        for argument in function.arguments:
            array = array_type(argument.kind)
            if array is not None:
                arrays.add(array)
            _declare_inside(argument.kind, structures)
        if function.result is not None:
            _declare_inside(function.result.kind, structures)
        struct, last = _result(function)
        given = ", ".join(parameter for argument in function.arguments for parameter in _parameters(function, argument))
        doc = inspect.cleandoc(function.entry.__doc__ or "")
        text = f"/* {doc} */\nint64_t {function.name}({given}{last});"
        declarations.append(f"{struct}\n{text}" if struct else text)
    plain = [
        f"typedef struct {{ {'double' if array[1] == 'd' else 'int64_t'} *values; int64_t shape[{array[0]}]; }} "
        f"{_array_name(array)};"
        for array in sorted(arrays)
    ]
    parts = [
        _OPENING.replace("{stamp}", source_hash()),
        "/* Numbers of states and laws, sizes of arrays, and places in them. */",
        _constants(),
        "",
        *plain,
        "",
        "\n\n".join(structures.values()),
        "",
        "\n\n".join(declarations),
        _CLOSING,
    ]
    return "\n".join(parts)
