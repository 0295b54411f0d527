"""Pictures of a run or of its modes: a Dataset or a run file in, a matplotlib Figure out. `tl.figures.energy(run)`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from tautline.extras import needed_by

with needed_by("tl.figures"):
    from matplotlib.figure import Figure

    from tautline.figures.animation import animate
    from tautline.figures.fitted import fit_report, fitted
    from tautline.figures.loads import bending, exceedance, rainflow, spectrum
    from tautline.figures.modal import modes
    from tautline.figures.motion import attitude, path, phase, snapshots
    from tautline.figures.series import conservation, drive, energy, expressions, lengths, strain_map, tension
    from tautline.figures.style import save

from tautline.model import checks
from tautline.results.inputs import system_of

# Figures that need nothing but a run, in the order in which `tautline plot` makes them.
OF_A_RUN: dict[str, Callable[..., Figure]] = {
    "snapshots": snapshots,
    "lengths": lengths,
    "tension": tension,
    "drive": drive,
    "energy": energy,
    "conservation": conservation,
    "strain_map": strain_map,
    "path": path,
    "phase": phase,
    "attitude": attitude,
    "spectrum": spectrum,
    "exceedance": exceedance,
    "rainflow": rainflow,
    "bending": bending,
}
# Those that show one line or one body, which has to be named where there are several.
OF_A_LINE = ("phase", "spectrum", "exceedance", "rainflow", "bending")
OF_A_BODY = ("attitude",)
# Those that show all lines, or one that is named.
OF_LINES = ("lengths", "tension", "drive", "strain_map")


def pictures_of(
    attributes: Mapping[Any, Any], names: Iterable[str], line: str | None = None
) -> dict[str, Callable[..., Figure]]:
    """Functions of a run that draw figures, by name; one for each line or body where a figure shows one of several.

    Parameters
    ----------
    attributes : dict
        Of the run.
    names : names of `OF_A_RUN`
    line : str, optional
        Name of a line, which figures of lines show alone.
    """
    system = system_of(attributes)
    lines, bodies = list(system.lines), list(system.free_bodies)
    if line is not None:
        checks.choice("line", line, lines)
    found: dict[str, Callable[..., Figure]] = {}
    for name in names:
        draw = OF_A_RUN[name]
        if name in OF_A_BODY and len(bodies) != 1:
            found |= {f"{name}-{body}": partial(draw, body=body) for body in bodies}
        elif len(lines) > 1 and (name in OF_A_LINE or (name in OF_LINES and line is not None)):
            found |= {f"{name}-{x}": partial(draw, line=x) for x in ([line] if line else lines)}
        else:
            found[name] = draw
    return found


__all__ = [
    "OF_A_RUN",
    "animate",
    "attitude",
    "bending",
    "conservation",
    "drive",
    "energy",
    "exceedance",
    "expressions",
    "fit_report",
    "fitted",
    "lengths",
    "modes",
    "path",
    "phase",
    "pictures_of",
    "rainflow",
    "save",
    "snapshots",
    "spectrum",
    "strain_map",
    "tension",
]
