"""Checkpoints of a Simulation: files of plain arrays with a digest, and what a checkpoint must be to go on from it."""

from __future__ import annotations

import hashlib
import math
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tautline import durable
from tautline.errors import RUNNING, STATUS_NAMES, InputError

Arrays = Mapping[str, NDArray[Any]]
_TEXT, _DIGEST = "checkpoint", "digest"


def write(path: str | os.PathLike[str], arrays: Arrays, text: str) -> None:
    """Write arrays, a text and their digest as one npz file, which takes its place as a whole."""
    content: dict[str, Any] = {_TEXT: np.frombuffer(text.encode(), dtype=np.uint8), **arrays}
    content[_DIGEST] = np.frombuffer(_digest(content), dtype=np.uint8)
    with durable.replacing(path, "wb") as file:
        np.savez(file, **content)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, NDArray[Any]], str]:
    """Read back what `write` wrote; refuse what is not as it was written."""
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as stored:
            content = {name: stored[name] for name in stored.files}
        if bytes(content.pop(_DIGEST)) != _digest(content):
            raise ValueError("its content does not match its digest; the file is damaged")
        return content, content.pop(_TEXT).tobytes().decode()
    except FileNotFoundError:
        raise
    except KeyError as error:
        raise InputError(_expected(path, f"it holds no {error}")) from None
    except (OSError, ValueError, LookupError, TypeError, EOFError, RuntimeError, zipfile.BadZipFile) as error:
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


def check(saved: Any, arrays: Arrays, version: int) -> None:
    """Refuse a checkpoint from which no motion can go on: of another version, or with values that cannot be."""
    if not isinstance(saved, dict) or saved.get("checkpoint") != version:
        found = saved.get("checkpoint") if isinstance(saved, dict) else saved
        raise InputError(f"checkpoint: expected version {version}, got {found!r}")
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
