"""Checkpoints of a Simulation as files of plain arrays with a digest, and the form of their text."""

from __future__ import annotations

import hashlib
import math
import os
import zipfile
from collections.abc import Callable, Mapping
from numbers import Real
from tokenize import TokenError
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tautline import durable
from tautline.engine import plausible
from tautline.errors import RUNNING, STATUS_NAMES, InputError
from tautline.model import checks

VERSION = 9
# Of the text of a checkpoint (plausible.py).
FORM: dict[str, Any] = {
    "backend": str,
    "is_timed": bool,
    "started": bool,
    "event": str,
    "status": object,  # with sentences of their own in `check`
    "h": object,
    "base_steps": [(float, int)],
    "health": dict,
}
CHAIN_FORM = FORM | {"minimum_length": float, "origin": (float, float), "needed": (Real, Real)}
MOVED = {
    "guide": (float, plausible.VECTOR, plausible.VECTOR),
    "force_since": (float, plausible.VECTOR),
}
# Of sequences: stage, since when, the command that it stands for, when it ends at the latest.
STAGES = {"stages": {plausible.ANY: (int, float, dict, [float])}, "passed": [(float, str, int)]}

Arrays = Mapping[str, NDArray[Any]]
T = TypeVar("T")
# What reading a damaged npz file can raise; headers of its arrays are Python expressions.
DAMAGED = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    EOFError,
    RuntimeError,
    SyntaxError,
    TokenError,
    zipfile.BadZipFile,
)
_TEXT, _DIGEST = "checkpoint", "digest"


def write(path: str | os.PathLike[str], arrays: Arrays, text: str) -> None:
    """Write arrays, a text and their digest as one npz file, which takes its place as a whole."""
    content: dict[str, Any] = {_TEXT: np.frombuffer(text.encode(), dtype=np.uint8), **arrays}
    content[_DIGEST] = np.frombuffer(_digest(content), dtype=np.uint8)
    with durable.replacing(checks.path("path", path), "wb") as file:
        np.savez(file, **content)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, NDArray[Any]], str]:
    """Read back what `write` wrote; refuse what is not as it was written."""
    path = checks.path("path", path)
    try:
        with durable.open_input(path) as file:
            _check_size(file)
            file.seek(0)
            with np.load(file, allow_pickle=False) as stored:
                content = {name: stored[name] for name in stored.files}
        if bytes(content.pop(_DIGEST)) != _digest(content):
            raise ValueError("its content does not match its digest; the file is damaged")
        return content, content.pop(_TEXT).tobytes().decode()
    except FileNotFoundError:
        raise
    except KeyError as error:
        raise InputError(_expected(path, f"it holds no {error}")) from None
    except DAMAGED as error:
        why = "it is no npz file" if "pickle" in str(error) else str(error)
        raise InputError(_expected(path, why)) from None


def _check_size(file: IO[bytes]) -> None:
    """Refuse an archive that would be larger than its file: none of `write` is compressed."""
    with zipfile.ZipFile(file) as archive:
        size = sum(item.file_size for item in archive.infolist())
    if size > os.fstat(file.fileno()).st_size:
        raise ValueError(f"it holds {size} bytes in a smaller file")


def loaded(path: str | os.PathLike[str], make: Callable[[dict[str, NDArray[Any]], str], T]) -> T:
    """Object that `make` builds from a checkpoint; refuse a file from which it cannot."""
    arrays, text = read(path)
    try:
        return make(arrays, text)
    except (ValueError, LookupError, TypeError, ArithmeticError, AttributeError) as error:
        raise InputError(_expected(path, str(error))) from None


def _expected(path: str | os.PathLike[str], why: str) -> str:
    return f"path: expected a checkpoint of Simulation.save, got {os.fspath(path)!r}: {why}"


def _digest(content: Arrays) -> bytes:
    digest = hashlib.sha256()
    for name in sorted(content):
        array = np.ascontiguousarray(content[name])
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(array.tobytes())
    return digest.digest()


def check(saved: Any, arrays: Arrays, form: plausible.Form) -> None:
    """Refuse a checkpoint from which no motion can go on: of another version, or with values that cannot be."""
    if not isinstance(saved, dict) or saved.get("checkpoint") != VERSION:
        found = saved.get("checkpoint") if isinstance(saved, dict) else saved
        raise InputError(f"checkpoint: expected version {VERSION}, got {found!r}")
    plausible.check_form("checkpoint", saved, form)
    if saved["started"] or saved["h"] != 0.0:  # a step that is not given is found when the motion begins
        _positive("h", saved["h"])
    for interval, count in saved["base_steps"]:
        _positive("sample interval", interval)
        _positive("number of base steps", count)
    if saved["status"] not in STATUS_NAMES.values():
        raise InputError(f"checkpoint: expected a known status, got {saved['status']!r}")
    for name, array in arrays.items():
        if array.dtype.kind == "i":
            if (array < 0).any():
                raise InputError(f"checkpoint: expected counters from 0 in {name}, got {array.min()}")
        elif saved["status"] == STATUS_NAMES[RUNNING] and not np.isfinite(array).all():
            raise InputError(f"checkpoint: expected numbers in {name}, got a value that is not finite")


def _positive(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < math.inf:
        raise InputError(f"checkpoint: expected a positive {name}, got {value!r}")
