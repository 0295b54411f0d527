"""The figures that describe a whole run, gathered piece by piece."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tautline import ledger
from tautline.ledger import kept_energy
from tautline.results.inputs import CASE, pendulum_of
from tautline.results.values import Values

EXTREMES = (
    "kinetic_energy",
    "strain",
    "tension",
    "guide_tension",
    "body_tension",
    "unstretched_length",
    "stretched_length",
    "reel_speed",
    "torque",
    "power",
)
TENSIONS = ("tension", "guide_tension", "body_tension")
Range = list[float] | None


class _Extremes:
    """Least and greatest finite values, by name."""

    def __init__(self) -> None:
        self._ranges: dict[str, tuple[float, float]] = {}

    def note(self, name: str, values: Any) -> None:
        x = np.asarray(values, dtype=float)
        x = x[np.isfinite(x)]
        if x.size:
            low, high = self._ranges.get(name, (np.inf, -np.inf))
            self._ranges[name] = (min(low, float(x.min())), max(high, float(x.max())))

    def range(self, name: str) -> Range:
        """Least and greatest, or None where no value was finite."""
        return list(self._ranges[name]) if name in self._ranges else None

    def largest(self, name: str, scale: float | None = None) -> float | None:
        """Largest magnitude, over a scale if that is not zero; None where nothing was finite."""
        if name not in self._ranges or (scale is not None and not np.isfinite(scale)):
            return None
        return max(map(abs, self._ranges[name])) / (scale or 1.0)


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def _utilisation(extremes: _Extremes, attrs: dict[str, Any]) -> float | None:
    """Largest tension over the breaking load; None where one of them is not known."""
    load = pendulum_of(attrs).string.breaking_load if CASE in attrs else None
    highest = [found[1] for name in TENSIONS if (found := extremes.range(name))]
    return max(highest) / load if load is not None and highest else None


def summarise(pieces: Iterable[Values], attrs: dict[str, Any], missing: Iterable[str] = ()) -> dict[str, Any]:
    """Extremes and conservation over consecutive pieces of one run; bounded memory.

    All figures are of finite values; None where there is none. `not_finite` counts the samples with other values, but
    not for variables that are `missing` in the file, as in one of an older format.
    """
    unknown = set(missing)
    first: Values | None = None
    last: Values = {}
    rows = not_finite = 0
    extremes = _Extremes()
    time, speed = 0.0, 0.0
    for piece in pieces:
        if first is None:
            first = {name: x[0] for name, x in piece.items()}
        last = {name: piece[name][-1] for name in ledger.names(*ledger.SIGN)}
        rows += len(piece["time"])
        time, speed = float(piece["time"][-1]), float(piece["reel_speed"][-1])
        extremes.note("balance", kept_energy(piece) - kept_energy(first))
        extremes.note("momentum", piece["angular_momentum"] - first["angular_momentum"])
        extremes.note("orthogonality", piece["orthogonality_error"])
        for name in EXTREMES:
            if name in piece:
                extremes.note(name, piece[name])
        good = np.ones(len(piece["time"]), dtype=bool)
        for name in piece.keys() - unknown:
            good &= np.isfinite(piece[name]).reshape(len(good), -1).all(axis=1)
        not_finite += int(np.count_nonzero(~good))
    if first is None:
        raise ValueError("a run has at least one sample")
    return {
        "status": attrs["status"],
        "message": attrs["message"],
        "remarks": str(attrs.get("remarks", "")).splitlines(),
        "time": time,
        "rows": rows,
        "not_finite": not_finite,
        "energy_error": extremes.largest("balance", extremes.largest("kinetic_energy")),
        "balance_error": attrs.get("balance_error"),
        "accounts": {name: _finite(x - first[name]) for name, x in last.items()},
        "unexplained_energy": _finite(kept_energy(last) - kept_energy(first)),
        "angular_momentum_drift": extremes.largest("momentum", abs(float(first["angular_momentum"]))),
        "orthogonality_error": extremes.largest("orthogonality"),
        **{name: extremes.range(name) for name in EXTREMES},
        "utilisation": _utilisation(extremes, attrs),
        "final_reel_speed": speed,
        "steps": attrs["steps"],
        "largest_step_ratio": attrs["largest_step_ratio"],
        "order": attrs["order"],
        "scheme": attrs["scheme"],
        "version": attrs["version"],
    }
