"""Run files: written while a run goes on, resumed bit for bit, read without the engine.

Reading loads neither the kernels nor Numba: what writes is imported when it is first asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tautline.durable import StoreError
from tautline.files.runs.format import FORMAT, file_size
from tautline.files.runs.reading import Reader, blocks, open_run

if TYPE_CHECKING:
    from tautline.files.runs.writing import Progress, resume, run_to_file, save_run

__all__ = [
    "FORMAT",
    "Progress",
    "Reader",
    "StoreError",
    "blocks",
    "file_size",
    "open_run",
    "resume",
    "run_to_file",
    "save_run",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(importlib.import_module("tautline.files.runs.writing"), name)
    raise AttributeError(f"module 'tautline.files.runs' has no attribute {name!r}")
