"""The input of a run, from what its result says of itself: its case and its system."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tautline.errors import InputError
from tautline.model.system import reading
from tautline.model.system.case import Case
from tautline.model.system.system import System

if TYPE_CHECKING:
    import xarray as xr

CASE = "case"  # the attribute that holds all keys as JSON text


def case_text(attributes: Any) -> str:
    """All keys of a run as JSON, from the attributes of its dataset or file."""
    if not isinstance(attributes, Mapping) or CASE not in attributes:
        raise InputError("run: expected a run of simulate() or open_run(), got one without its case")
    return str(attributes[CASE])


def case_of(run: xr.Dataset) -> Case:
    """The case of a result: system, start, commands and settings of the run.

    Parameters
    ----------
    run : Dataset
        From `simulate` or `open_run`. That of a simulation that was advanced by hand is as long as it went on.
    """
    return Case.from_dict(json.loads(case_text(getattr(run, "attrs", None))))


def system_of(attributes: Mapping[Any, Any]) -> System:
    """The system of a run, from the attributes of its dataset or file."""
    return _system(case_text(attributes))


@lru_cache(maxsize=16)
def _system(text: str) -> System:
    return reading.read(json.loads(text)).system
