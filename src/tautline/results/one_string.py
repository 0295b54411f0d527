"""One string of a run: of a pendulum its only one, of an assembly one by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tautline.errors import InputError
from tautline.model import checks
from tautline.model.assembly.assembly import System
from tautline.model.string import String
from tautline.results.assembly import NAMES_OF_PENDULUM, assembly_of, spans
from tautline.results.inputs import CASE, pendulum_of

if TYPE_CHECKING:
    import xarray as xr

# Attribute of the results of one string of an assembly: its name.
STRING = "line"


def assembly_of_run(attributes: Mapping[Any, Any]) -> System | None:
    """The assembly of a run, from the attributes of its dataset or file; None for a pendulum and for one string."""
    return assembly_of(str(attributes[CASE])) if CASE in attributes and STRING not in attributes else None


def one_string(run: xr.Dataset, name: str | None = None) -> xr.Dataset:
    """Results of one string of an assembly, in the form that those of a pendulum have.

    Analyses and figures of a string take it: `tl.rainflow(tl.one_string(run, "hoist"))`.

    Parameters
    ----------
    run : Dataset
        Of an assembly; that of a pendulum is returned as it is.
    name : str, optional
        Of the string; not needed where there is one only.

    Returns
    -------
    Dataset
        Its nodes, elements and reel; `guide_tension` is the tension at its start, `body_tension` the one at its end,
        and `control_work` the work of its motor.
    """
    if not isinstance(getattr(run, "attrs", None), Mapping):
        checks.refuse("run", "a Dataset of simulate or open_run", run)
    assembly = assembly_of_run(run.attrs)
    if assembly is None:
        if name is not None and name != run.attrs.get(STRING):
            raise InputError(f"line: expected none for a run with one string, got {name!r}")
        return run
    if name is None and len(assembly.lines) > 1:
        names = ", ".join(map(repr, assembly.lines))
        raise InputError(f"line: missing; expected one of {names}, such as line={next(iter(assembly.lines))!r}")
    chosen = next(iter(assembly.lines)) if name is None else name
    checks.choice("line", chosen, list(assembly.lines))
    nodes, elements = spans(assembly)[chosen]
    places = {"line": list(assembly.lines).index(chosen), "node": nodes, "element": elements}
    own = [key for key, x in run.data_vars.items() if any(dim in places for dim in x.dims)]
    found = run[own].isel(places).drop_vars(["line", "node_line", "element_line"], errors="ignore")
    found = found.assign({theirs: found[ours] for ours, theirs in NAMES_OF_PENDULUM.items() if ours in found})
    found.attrs = {**run.attrs, STRING: chosen}
    return found


def string_of(attributes: Mapping[Any, Any]) -> String:
    """The string of a run of a pendulum, or of the results of one string of an assembly."""
    if STRING not in attributes:
        return pendulum_of(attributes).string
    assembly = assembly_of(str(attributes[CASE]))
    assert assembly is not None
    return assembly.lines[str(attributes[STRING])].string


def ends_of(attributes: Mapping[Any, Any]) -> tuple[str, str]:
    """What the ends of a string are called: the guide and the body, or what holds them in an assembly."""
    if STRING not in attributes:
        return "the guide", "the body"
    assembly = assembly_of(str(attributes[CASE]))
    assert assembly is not None
    start, end = assembly.lines[str(attributes[STRING])].ends
    return f"the start ({start})", f"the end ({end})"
