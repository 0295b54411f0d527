"""The input of a run, from what its result says of itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from tautline.errors import InputError
from tautline.model.system import reading
from tautline.model.system.system import System

CASE = "case"  # the attribute that holds all keys as JSON text


def system_of(attributes: Mapping[Any, Any]) -> System:
    """The system of a run, from the attributes of its dataset or file."""
    if CASE not in attributes:
        raise InputError("run: expected a run of simulate() or open_run(), got one without its case")
    return _system(str(attributes[CASE]))


@lru_cache(maxsize=16)
def _system(text: str) -> System:
    return reading.read(json.loads(text)).system
