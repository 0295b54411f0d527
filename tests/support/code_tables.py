"""The tables that pages of the docs include, as the extension of the docs makes them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any


def code_tables() -> Any:
    """The extension as a module."""
    path = Path(__file__).parents[2] / "docs/_ext/code_tables.py"
    spec = importlib.util.spec_from_file_location("code_tables", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
