"""One line of a run, or one body: the only one, or one by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tautline.errors import InputError
from tautline.model import checks
from tautline.model.system.parts import Line
from tautline.results.inputs import CASE, system_of
from tautline.schema import SCHEMA

if TYPE_CHECKING:
    import xarray as xr


def with_names(run: xr.Dataset) -> xr.Dataset:
    """The run with the dimensions `line` and `body`, which `run.squeeze` or `run.sel` may have dropped."""
    for dim in ("line", "body"):
        bare = [name for name, x in run.data_vars.items() if _has(str(name), dim) and dim not in x.dims]
        chosen = _only(run, dim) if bare else None
        if chosen is not None:
            kept = run if dim in run.dims else run.drop_vars(dim, errors="ignore")
            run = kept.assign({name: kept[name].expand_dims({dim: [chosen]}, axis=1) for name in bare})
    return run


def _has(variable: str, dim: str) -> bool:
    return variable in SCHEMA and dim in SCHEMA[variable].dims


def _only(run: xr.Dataset, dim: str) -> str | None:
    """The name of the line or body that a run was reduced to; None where it could be several."""
    if dim in run.coords:
        names = run[dim].values.reshape(-1).tolist()
    elif CASE in run.attrs:
        system = system_of(run.attrs)
        names = list(system.lines) if dim == "line" else list(system.free_bodies)
    else:
        names = [dim]
    return str(names[0]) if len(names) == 1 else None


def line_names(run: xr.Dataset) -> list[str]:
    """Names of the lines of a run."""
    return [str(name) for name in run["line"].values] if "line" in run.dims else []


def one_line(run: xr.Dataset, name: str | None = None) -> xr.Dataset:
    """Variables of one line of a run, without the dimension of lines; its name is the coordinate `line`.

    Parameters
    ----------
    run : Dataset
        With the dimension of lines.
    name : str, optional
        Of the line; not needed where there is one only.
    """
    names = line_names(run)
    if not names:
        raise InputError("run: expected one with variables of lines, as simulate and open_run give it")
    if name is None and len(names) > 1:
        listed = ", ".join(map(repr, names))
        raise InputError(f"line: missing; expected one of {listed}, such as line={names[0]!r}")
    chosen = names[0] if name is None else name
    checks.choice("line", chosen, names)
    places: dict[str, int | slice] = {"line": names.index(chosen)}
    for dim in ("node", "element"):
        if f"{dim}_line" in run.coords:
            own = (run[f"{dim}_line"].values == chosen).nonzero()[0]
            places[dim] = slice(int(own[0]), int(own[-1]) + 1)
    kept = [key for key, x in run.data_vars.items() if any(dim in x.dims for dim in ("line", "node", "element"))]
    return run[kept].isel(places, missing_dims="ignore").drop_vars(["node_line", "element_line"], errors="ignore")


def line_of(one: xr.Dataset) -> Line:
    """The description of a line, from its results."""
    return system_of(one.attrs).lines[str(one["line"].item())]


def label_of(one: xr.Dataset) -> str:
    """Name of a line; the only one of a system needs none."""
    return str(one["line"].item()) if CASE in one.attrs and len(system_of(one.attrs).lines) > 1 else ""


def ends_of(one: xr.Dataset) -> tuple[str, str]:
    """Words for the ends of a line."""
    if CASE not in one.attrs:
        return "the start", "the end"
    line = line_of(one)
    if label_of(one):
        return f"the start ({line.start})", f"the end ({line.end})"
    bodies = system_of(one.attrs).bodies
    return "the start" if line.reel is None else "the guide", "the body" if line.end in bodies else "the end"


def one_body(run: xr.Dataset, name: str | None = None) -> xr.Dataset:
    """Results of one body of a run, without the dimension of bodies; not by name where one only moves freely."""
    free = list(system_of(run.attrs).free_bodies)
    if not free or (name is None and len(free) > 1):
        raise InputError(f"body: missing; expected one of {', '.join(map(repr, free)) or 'none, there is no body'}")
    chosen = free[0] if name is None else name
    checks.choice("body", chosen, run["body"].values.tolist())
    return run.sel(body=chosen)
