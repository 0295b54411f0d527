"""tautline: strings that are reeled out and in, and the rigid bodies they carry.

Everything is loaded when it is first used: `import tautline` alone imports neither numpy nor numba.
The public names and their homes are in `__init__.pyi`, which type checkers read as well.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

from tautline._version import __version__ as __version__

_NAMES = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_HOMES = {name: home for home, name in re.findall(r"^from (\S+) import (\w+)", _NAMES, re.MULTILINE)}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tautline' has no attribute {name!r}")
    home = _HOMES[name]
    if home == "tautline":
        return importlib.import_module(f"tautline.{name}")
    globals()[name] = value = getattr(importlib.import_module(home), name)
    return value


def __dir__() -> list[str]:
    return __all__
