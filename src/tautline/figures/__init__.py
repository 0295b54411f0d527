"""Pictures of a run or of its modes: a Dataset in, a matplotlib Figure out. `tl.figures.energy(run)` and so on."""

from __future__ import annotations

from tautline.extras import needed_by

with needed_by("tl.figures"):
    from tautline.figures.animation import animate
    from tautline.figures.modal import modes
    from tautline.figures.motion import attitude, phase, snapshots
    from tautline.figures.series import conservation, drive, energy, lengths, strain_map, tension
    from tautline.figures.style import save

__all__ = [
    "animate",
    "attitude",
    "conservation",
    "drive",
    "energy",
    "lengths",
    "modes",
    "phase",
    "save",
    "snapshots",
    "strain_map",
    "tension",
]
