"""What a figure is drawn from: a run, or the name of its file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import xarray as xr

from tautline.errors import InputError
from tautline.figures.style import styled
from tautline.files.runs.given import Run, run_from, string_from
from tautline.model import checks
from tautline.model.body import RigidBody
from tautline.results.one_string import assembly_of_run, one_string

P = ParamSpec("P")
R = TypeVar("R")


def of_run(*needed: str) -> Callable[[Callable[Concatenate[xr.Dataset, P], R]], Callable[Concatenate[Run, P], R]]:
    """Make a function of a Dataset take run files as well, and draw in our style; `needed` are a pendulum's."""

    def decorate(function: Callable[Concatenate[xr.Dataset, P], R]) -> Callable[Concatenate[Run, P], R]:
        drawn = styled(function)

        @wraps(function)
        def inside(run: Run, *args: P.args, **kwargs: P.kwargs) -> R:
            whole = run_from(run, ())
            return drawn(whole if assembly_of_run(whole.attrs) else run_from(whole, needed), *args, **kwargs)

        return inside  # type: ignore[return-value] # "run" may also be given by name

    return decorate


def of_string(*needed: str) -> Callable[[Callable[[xr.Dataset], R]], Callable[..., R]]:
    """Make a function of the Dataset of one string take runs, run files, and assemblies with the name of a string."""

    def decorate(function: Callable[[xr.Dataset], R]) -> Callable[..., R]:
        drawn = styled(function)

        @wraps(function)
        def inside(run: Run, line: str | None = None) -> R:
            return drawn(string_from(run, needed, line))

        return inside

    return decorate


def strings_of(run: xr.Dataset, line: str | None) -> dict[str, xr.Dataset]:
    """Results of the string that is named, or of all lines of an assembly; that of a pendulum has no name."""
    assembly = assembly_of_run(run.attrs)
    if assembly is None or line is not None:
        return {line or "": one_string(run, line)}
    return {name: one_string(run, name) for name in assembly.lines}


def of_body(run: xr.Dataset, body: str | None) -> xr.Dataset:
    """Results of one body of an assembly; a run of a pendulum as it is."""
    lines, free = names_of(run.attrs)
    if not lines:
        if body is not None:
            raise InputError(f"body: expected none for a run with one body, got {body!r}")
        return run
    if not free or (body is None and len(free) > 1):
        raise InputError(f"body: missing; expected one of {', '.join(map(repr, free)) or 'none, there is no body'}")
    chosen = free[0] if body is None else body
    checks.choice("body", chosen, run.body.values.tolist())
    return run.sel(body=chosen)


def names_of(attributes: Mapping[Any, Any]) -> tuple[list[str], list[str]]:
    """Names of the lines and of the free bodies of an assembly; none of a pendulum."""
    assembly = assembly_of_run(attributes)
    if assembly is None:
        return [], []
    return list(assembly.lines), [name for name, x in assembly.bodies.items() if isinstance(x, RigidBody)]
