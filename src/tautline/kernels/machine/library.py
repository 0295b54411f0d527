"""The library that was made when tautline was installed: found, checked, loaded.

Beside it lies a list with its stamp, size and digest. A library that does not fit is refused before it is loaded, since
loading one that is cut off could end the process.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
from pathlib import Path

from tautline.errors import EngineError
from tautline.kernels.machine.signatures import Function
from tautline.kernels.machine.stamp import ABI, registered_outside, source_hash
from tautline.kernels.machine.targets import Target, best_target, machine

FOLDER = Path(__file__).parent / "built"
LIST = "libtautline.json"


def file_name(target: Target) -> str:
    """File of the library for one kind of processor."""
    return f"libtautline-{machine()}-{target.name}.so"


class Library:
    """The loaded library."""

    name = "library"

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._library = ctypes.CDLL(str(path))
            stamp = ctypes.c_char_p.in_dll(self._library, "tl_stamp").value
        except (OSError, ValueError) as error:
            raise EngineError(f"libtautline cannot be loaded ({error})") from error
        if stamp != source_hash().encode():
            raise EngineError(_other_sources())
        self.why = f"{path.name} was made from these sources"

    def address(self, function: Function) -> int:
        """Address of a function."""
        found = ctypes.cast(getattr(self._library, function.name), ctypes.c_void_p).value
        assert found is not None
        return found


def _other_sources() -> str:
    """Why a library with another stamp does not fit: most often a program has registered what it does not have."""
    added = registered_outside()
    if added:
        return f"libtautline has no {' and no '.join(added)}, which this program registers"
    return "libtautline was made from other sources than those that are installed"


def _entry(folder: Path, name: str) -> tuple[int, str]:
    """Size and digest that the list gives for a library."""
    path = folder / LIST
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        if listed["machine"] != machine():
            raise EngineError(f"libtautline was made for {listed['machine']}, and this is {machine()}")
        if listed["abi"] != ABI or listed["stamp"] != source_hash():
            raise EngineError(_other_sources())
        return int(listed["files"][name]["size"]), str(listed["files"][name]["sha256"])
    except FileNotFoundError:
        raise EngineError("libtautline was not made when tautline was installed") from None
    except (OSError, ValueError, LookupError, TypeError, OverflowError) as error:
        raise EngineError(f"{path.name} cannot be read ({error!r})") from error


def check(target: Target, folder: Path = FOLDER) -> Path:
    """File of the library for one kind of processor, made from the present sources and whole; else EngineError."""
    name = file_name(target)
    size, digest = _entry(folder, name)
    path = folder / name
    try:
        content = path.read_bytes()
    except OSError as error:
        raise EngineError(f"{name} cannot be read ({error.strerror})") from error
    if len(content) != size or hashlib.sha256(content).hexdigest() != digest:
        raise EngineError(f"{name} is damaged: it is not the file that was made")
    return path


def load(folder: Path = FOLDER) -> Library:
    """Load the library for this processor; EngineError where there is none that fits."""
    return Library(check(best_target(), folder))
