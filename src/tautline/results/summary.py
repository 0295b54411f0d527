"""The figures that describe a whole run, gathered piece by piece."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tautline import ledger
from tautline.ledger import kept_energy
from tautline.model.system.system import System
from tautline.results.conservation import kept_momentum
from tautline.results.inputs import system_of
from tautline.results.network import spans
from tautline.results.sampling import BetweenSamples
from tautline.results.values import Values
from tautline.results.warnings import WARNINGS, RunWarning, decoded

EXTREMES = (
    "kinetic_energy",
    "strain",
    "tension",
    "start_tension",
    "end_tension",
    "unstretched_length",
    "stretched_length",
    "reel_speed",
    "torque",
    "power",
)
# Of lines with reels alone: others add a zero, and a length that stays.
OF_REELS = ("reel_speed", "torque", "power")
OF_REELED_LINES = (*OF_REELS, "unstretched_length", "stretched_length")
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


class _Peaks:
    """Largest tensions of lines over their breaking loads, and whether samples are close enough to see them."""

    def __init__(self, system: System) -> None:
        loads = {name: line.string.breaking_load for name, line in system.lines.items()}
        self._loads = {name: load for name, load in loads.items() if load is not None}
        self._several, self._spans = len(loads) > 1, spans(system)
        self._found: dict[str, BetweenSamples] = {}

    def note(self, piece: Values) -> None:
        """Take in the tensions of consecutive samples."""
        for k, (name, (_, elements)) in enumerate(self._spans.items()):
            if name in self._loads:
                ends = [piece[end][:, k : k + 1] for end in ("start_tension", "end_tension")]
                along = np.concatenate([ends[0], piece["tension"][:, elements], ends[1]], axis=1)
                self._found.setdefault(name, BetweenSamples(along.shape[1])).note(piece["time"], along)

    def utilization(self) -> float | None:
        """Largest of all lines; None where none has a breaking load."""
        used = (float(columns.high.max()) / self._loads[name] for name, columns in self._found.items())
        return max((x for x in used if np.isfinite(x)), default=None)

    def warnings(self) -> list[RunWarning]:
        """Warnings on samples that are too far apart to see the largest tension of a line."""
        found = []
        for name, columns in self._found.items():
            highest = int(np.argmax(columns.high))
            what = {0: "start_tension", len(columns.high) - 1: "end_tension"}.get(highest, "tension")
            found += columns.warnings(highest, f"{what} of {name}" if self._several else what)
        return found


def _note_momenta(extremes: _Extremes, piece: Values, first: Values, system: System) -> None:
    """Changes of the momenta that should be kept."""
    kept = kept_momentum(system, *(piece[name] - first[name] for name in ("angular_momentum", "linear_momentum")))
    if kept is not None:
        extremes.note("angular momentum", np.linalg.norm(kept, axis=-1))
    if system.is_isolated:
        change = piece["linear_momentum"] - first["linear_momentum"]
        extremes.note("linear momentum", np.linalg.norm(change, axis=-1))


def _drifts(extremes: _Extremes, first: Values, system: System) -> dict[str, float | None]:
    """Drifts of the momenta over their sizes at the start; None of those that are not kept."""
    kept = kept_momentum(system, first["angular_momentum"], first["linear_momentum"])
    angular = None if kept is None else float(np.linalg.norm(kept))
    return {
        "angular_momentum_drift": extremes.largest("angular momentum", angular),
        "linear_momentum_drift": extremes.largest("linear momentum", float(np.linalg.norm(first["linear_momentum"]))),
    }


def summarize(pieces: Iterable[Values], attrs: dict[str, Any]) -> dict[str, Any]:
    """Extremes and conservation over consecutive pieces of one run; bounded memory.

    All figures are of finite values; None where there is none. `not_finite` counts the samples with other values.
    """
    first: Values | None = None
    last: Values = {}
    rows = not_finite = 0
    extremes = _Extremes()
    system = system_of(attrs)
    peaks = _Peaks(system)
    time, speed = 0.0, np.zeros(0)
    reeled = [k for k, line in enumerate(system.lines.values()) if line.reels]
    for piece in pieces:
        if first is None:
            first = {name: x[0] for name, x in piece.items()}
        last = {name: piece[name][-1] for name in ledger.names(*ledger.SIGN)}
        rows += len(piece["time"])
        time, speed = float(piece["time"][-1]), piece["reel_speed"][-1]
        _note_momenta(extremes, piece, first, system)
        peaks.note(piece)
        extremes.note("orthogonality", piece.get("orthogonality_error", np.zeros(1)))  # there may be no body
        for name in EXTREMES:
            if reeled and name in OF_REELED_LINES:
                extremes.note(name, piece[name][:, reeled])
            elif name not in OF_REELS:
                extremes.note(name, piece[name])
        good = np.ones(len(piece["time"]), dtype=bool)
        for x in piece.values():
            good &= np.isfinite(x).reshape(len(good), -1).all(axis=1)
        not_finite += int(np.count_nonzero(~good))
    if first is None:
        raise ValueError("a run has at least one sample")
    return {
        "status": attrs["status"],
        "message": attrs["message"],
        "warnings": [w.to_dict() for w in decoded(str(attrs[WARNINGS]))],
        "time": time,
        "rows": rows,
        "not_finite": not_finite,
        "balance_error": attrs["balance_error"],
        "accounts": {name: _finite(x - first[name]) for name, x in last.items()},
        "unexplained_energy": _finite(kept_energy(last) - kept_energy(first)),
        **_drifts(extremes, first, system),
        "orthogonality_error": extremes.largest("orthogonality"),
        **{name: extremes.range(name) for name in EXTREMES},
        "utilization": peaks.utilization(),
        "utilization_warnings": [w.to_dict() for w in peaks.warnings()],
        "final_reel_speed": {
            name: _finite(x)
            for (name, line), x in zip(system.lines.items(), speed, strict=True)
            if line.reel is not None
        },
        "steps": attrs["steps"],
        "largest_step_ratio": attrs["largest_step_ratio"],
        "order": attrs["order"],
        "scheme": attrs.get("scheme", "symmetric"),
        "version": attrs["version"],
    }
