"""Source of a figure: a run, or the name of its file."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

import xarray as xr

from tautline.figures.style import styled
from tautline.files.runs.given import Run, run_from
from tautline.results.one_line import line_names, one_line

P = ParamSpec("P")
R = TypeVar("R")


def of_run(*needed: str) -> Callable[[Callable[Concatenate[xr.Dataset, P], R]], Callable[Concatenate[Run, P], R]]:
    """Make a function of a Dataset take run files as well, and draw in our style; `needed` are variables."""

    def decorate(function: Callable[Concatenate[xr.Dataset, P], R]) -> Callable[Concatenate[Run, P], R]:
        drawn = styled(function)

        @wraps(function)
        def inside(run: Run, *args: P.args, **kwargs: P.kwargs) -> R:
            return drawn(run_from(run, needed), *args, **kwargs)

        return inside  # type: ignore[return-value] # "run" may also be given by name

    return decorate


def lines_of(run: xr.Dataset, line: str | None) -> list[xr.Dataset]:
    """Results of the line that is named, or of each line."""
    return [one_line(run, name) for name in ([line] if line is not None else line_names(run))]
