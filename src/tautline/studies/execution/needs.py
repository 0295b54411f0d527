"""Libraries that only studies need."""

from __future__ import annotations

import importlib
from typing import Any

from tautline.errors import InputError


class MissingLibraryError(InputError):
    """A library of the extra `studies` is not installed."""


def need(module: str) -> Any:
    """A module of an optional library; where it is missing, the message says how to get it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        library = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != library:
            raise  # the library is there, and something that it needs is not
        raise MissingLibraryError(
            f"studies need the library {library}, which is not installed; `pip install 'tautline[studies]'` adds it"
        ) from None
