"""Pictures of a run or of its modes: a Dataset or a run file in, a matplotlib Figure out. `tl.figures.energy(run)`."""

from __future__ import annotations

from tautline.extras import needed_by

with needed_by("tl.figures"):
    from tautline.figures.animation import animate
    from tautline.figures.loads import exceedance, rainflow, spectrum
    from tautline.figures.modal import modes
    from tautline.figures.motion import attitude, phase, snapshots
    from tautline.figures.series import conservation, drive, energy, lengths, strain_map, tension
    from tautline.figures.style import save

# Figures that need nothing but a run, in the order in which `tautline plot` makes them.
OF_A_RUN = {
    "snapshots": snapshots,
    "lengths": lengths,
    "tension": tension,
    "drive": drive,
    "energy": energy,
    "conservation": conservation,
    "strain_map": strain_map,
    "phase": phase,
    "attitude": attitude,
    "spectrum": spectrum,
    "exceedance": exceedance,
    "rainflow": rainflow,
}

__all__ = [
    "OF_A_RUN",
    "animate",
    "attitude",
    "conservation",
    "drive",
    "energy",
    "exceedance",
    "lengths",
    "modes",
    "phase",
    "rainflow",
    "save",
    "snapshots",
    "spectrum",
    "strain_map",
    "tension",
]
