"""The figures that describe a whole run, gathered piece by piece."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tautline.dataset import Values, kept_energy

EXTREMES = ("kinetic_energy", "strain", "tension", "unstretched_length", "stretched_length", "reel_speed")


def summarise(pieces: Iterable[Values], attrs: dict[str, Any]) -> dict[str, Any]:
    """Extremes and conservation over consecutive pieces of one run; bounded memory."""
    first: Values | None = None
    rows = 0
    largest: dict[str, float] = {}
    least: dict[str, float] = {}

    def note(name: str, values: Any) -> None:
        x = np.asarray(values, dtype=float)
        if x.size:
            largest[name] = max(largest.get(name, -np.inf), float(x.max()))
            least[name] = min(least.get(name, np.inf), float(x.min()))

    time = speed = 0.0
    for piece in pieces:
        if first is None:
            first = {name: x[0] for name, x in piece.items()}
        rows += len(piece["time"])
        time, speed = float(piece["time"][-1]), float(piece["reel_speed"][-1])
        note("balance", kept_energy(piece) - kept_energy(first))
        note("momentum", piece["angular_momentum"] - first["angular_momentum"])
        for name in EXTREMES:
            note(name, piece[name])
        note("orthogonality", piece["orthogonality_error"])
    if first is None:
        raise ValueError("a run has at least one sample")
    scale = largest["kinetic_energy"] or 1.0
    momentum = abs(float(first["angular_momentum"])) or 1.0
    return {
        "status": attrs["status"],
        "message": attrs["message"],
        "time": time,
        "rows": rows,
        "energy_error": max(largest["balance"], -least["balance"]) / scale,
        "angular_momentum_drift": max(largest["momentum"], -least["momentum"]) / momentum,
        "orthogonality_error": largest["orthogonality"],
        **{name: [least[name], largest[name]] for name in EXTREMES},
        "final_reel_speed": speed,
        "steps": attrs["steps"],
        "largest_step_ratio": attrs["largest_step_ratio"],
        "order": attrs["order"],
        "scheme": attrs["scheme"],
        "version": attrs["version"],
    }
