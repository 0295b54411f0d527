"""The case of a result."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tautline.errors import InputError
from tautline.model.system.case import Case
from tautline.results.inputs import CASE

if TYPE_CHECKING:
    import xarray as xr


def case_of(run: xr.Dataset) -> Case:
    """The case of a result: system, start, commands and settings of the run.

    Parameters
    ----------
    run : Dataset
        From `simulate` or `open_run`. That of a simulation that was advanced by hand is as long as it went on.
    """
    attributes = getattr(run, "attrs", None)
    if not isinstance(attributes, dict) or CASE not in attributes:
        raise InputError("run: expected a run of simulate() or open_run(), got one without its case")
    tree = json.loads(str(attributes[CASE]))
    return Case.from_dict(tree)
