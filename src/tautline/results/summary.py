"""The figures that describe a whole run, gathered piece by piece."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tautline import ledger
from tautline.ledger import kept_energy
from tautline.model.assembly.assembly import System
from tautline.results.assembly import assembly_of, spans
from tautline.results.inputs import CASE, pendulum_of
from tautline.results.values import Values

EXTREMES = (
    "start_tension",
    "end_tension",
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

    def used(self, name: str, load: float | None) -> float | None:
        """Largest tension of a string over its breaking load."""
        found = self._ranges.get(f"string {name}")
        return found[1] / load if found is not None and load is not None else None

    def largest(self, name: str, scale: float | None = None) -> float | None:
        """Largest magnitude, over a scale if that is not zero; None where nothing was finite."""
        if name not in self._ranges or (scale is not None and not np.isfinite(scale)):
            return None
        return max(map(abs, self._ranges[name])) / (scale or 1.0)


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def _assembly(attrs: dict[str, Any]) -> System | None:
    """The assembly of a run, if it is of one."""
    return assembly_of(str(attrs[CASE])) if CASE in attrs else None


def _utilisation(extremes: _Extremes, attrs: dict[str, Any]) -> float | None:
    """Largest tension over the breaking load; None where one of them is not known."""
    assembly = _assembly(attrs)
    if assembly is not None:
        used = [extremes.used(name, line.string.breaking_load) for name, line in assembly.lines.items()]
        return max((x for x in used if x is not None), default=None)
    load = pendulum_of(attrs).string.breaking_load if CASE in attrs else None
    highest = [found[1] for name in TENSIONS if (found := extremes.range(name))]
    return max(highest) / load if load is not None and highest else None


def _note_strings(extremes: _Extremes, piece: Values, attrs: dict[str, Any]) -> None:
    """Tensions of each string of an assembly."""
    assembly = _assembly(attrs)
    if assembly is not None:
        for k, (name, (_, elements)) in enumerate(spans(assembly).items()):
            extremes.note(f"string {name}", piece["tension"][:, elements])
            for end in ("start_tension", "end_tension"):
                extremes.note(f"string {name}", piece[end][:, k])


def _drift(change: Any) -> Any:
    """Size of a change of momentum, of one axis or of three."""
    return np.abs(change) if np.ndim(change) == 1 else np.linalg.norm(change, axis=-1)


def _orthogonality(piece: Values) -> Any:
    if "orthogonality_error" in piece:
        return piece["orthogonality_error"]
    if "attitude" not in piece:  # there is no body
        return np.zeros(1)
    R = piece["attitude"]
    return np.linalg.norm(np.swapaxes(R, -1, -2) @ R - np.eye(3), axis=(-2, -1))


def _of_assembly(extremes: _Extremes, first: Values, attrs: dict[str, Any]) -> dict[str, Any]:
    """Drifts of the momenta of an assembly, over their sizes at the start; none where something acts from outside."""
    assembly = _assembly(attrs)
    if assembly is None:
        return {}
    if not assembly.is_isolated:
        return {"angular_momentum_drift": None, "linear_momentum_drift": None}
    return {
        "angular_momentum_drift": extremes.largest("momentum", float(np.linalg.norm(first["angular_momentum"]))),
        "linear_momentum_drift": extremes.largest("linear momentum", float(np.linalg.norm(first["linear_momentum"]))),
    }


def summarise(pieces: Iterable[Values], attrs: dict[str, Any]) -> dict[str, Any]:
    """Extremes and conservation over consecutive pieces of one run; bounded memory.

    All figures are of finite values; None where there is none. `not_finite` counts the samples with other values.
    """
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
        time, speed = float(piece["time"][-1]), piece["reel_speed"][-1].tolist()
        extremes.note("momentum", _drift(piece["angular_momentum"] - first["angular_momentum"]))
        if "linear_momentum" in piece:
            extremes.note("linear momentum", _drift(piece["linear_momentum"] - first["linear_momentum"]))
        extremes.note("orthogonality", _orthogonality(piece))
        _note_strings(extremes, piece, attrs)
        for name in EXTREMES:
            if name in piece:
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
        "remarks": str(attrs["remarks"]).splitlines(),
        "time": time,
        "rows": rows,
        "not_finite": not_finite,
        "balance_error": attrs["balance_error"],
        "accounts": {name: _finite(x - first[name]) for name, x in last.items()},
        "unexplained_energy": _finite(kept_energy(last) - kept_energy(first)),
        "angular_momentum_drift": extremes.largest("momentum", float(np.linalg.norm(first["angular_momentum"]))),
        **_of_assembly(extremes, first, attrs),
        "orthogonality_error": extremes.largest("orthogonality"),
        **{name: extremes.range(name) for name in EXTREMES},
        "utilisation": _utilisation(extremes, attrs),
        "final_reel_speed": speed,
        "steps": attrs["steps"],
        "largest_step_ratio": attrs["largest_step_ratio"],
        "order": attrs["order"],
        "scheme": attrs.get("scheme", "symmetric"),
        "version": attrs["version"],
    }
