"""Warnings: what a result says about its own accuracy. Kinds, objects, and their form in attributes of datasets."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from tautline.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

WARNINGS = "warnings"  # attribute of datasets, variable of studies


class Kind(NamedTuple):
    """Kind of warnings; docs/trust.md says what it means and what helps."""

    issued_by: str  # "run", "check", "derivatives", "fit" or "analysis"
    where: str = ""  # what `where` of a warning names: "line", "body" or "key"


_OF_LINES = (
    *("mesh", "mesh_noise", "front", "current", "sag", "swing", "fold", "slack", "snap", "compression"),
    *("breaking_load", "reel_speed", "end_stop", "slip", "slack_sheave", "motor_torque", "motor_power", "torque"),
    "torque_function",
)
KINDS: dict[str, Kind] = {
    **dict.fromkeys(("energy_balance", "step", "force_table", "prescribed_motion", "record_end"), Kind("run")),
    **dict.fromkeys(("turning", "attitude"), Kind("run", "body")),
    **dict.fromkeys(_OF_LINES, Kind("run", "line")),
    **dict.fromkeys(("strain", "stage", "target"), Kind("check", "line")),
    **dict.fromkeys(("derivative_growth", "derivative_unknown"), Kind("derivatives")),
    "derivative_kink": Kind("derivatives", "line"),
    "derivative_side": Kind("derivatives", "key"),
    **dict.fromkeys(("fit_residuals", "fit_sigma", "fit_sampling", "fit_left_out"), Kind("fit")),
    **dict.fromkeys(("fit_bound", "fit_undetermined", "fit_correlation", "fit_step"), Kind("fit", "key")),
    **dict.fromkeys(("sampling", "interpolated"), Kind("analysis")),
    "sensitivity": Kind("analysis", "key"),
}


@dataclass(frozen=True)
class RunWarning:
    """A warning on a result.

    Attributes
    ----------
    kind : str
        Identifier, one of those of docs/trust.md: "mesh", "energy_balance".
    text : str
        Sentence, with what to do.
    value, limit : float, optional
        Figure that it is about, and the limit that this exceeds.
    where : str, optional
        Name of the line or body, or key.
    """

    kind: str
    text: str
    value: float | None = None
    limit: float | None = None
    where: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"kind: expected one of {', '.join(KINDS)}, got {self.kind!r}")
        for name in ("value", "limit"):
            x = getattr(self, name)
            object.__setattr__(self, name, float(x) if x is not None and math.isfinite(x) else None)

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """All attributes, for JSON."""
        return asdict(self)

    def prefixed(self, words: str) -> RunWarning:
        """The warning with words before its sentence."""
        return replace(self, text=f"{words}{self.text}")


def warnings_of(run: xr.Dataset) -> list[RunWarning]:
    """Warnings on a result.

    Parameters
    ----------
    run : Dataset
        From `simulate`, `open_run`, `jacobian` or an analysis of a run; or one member of a study.
    """
    found = getattr(run, "attrs", {}).get(WARNINGS)
    if found is None and WARNINGS in getattr(run, "data_vars", ()) and run[WARNINGS].ndim == 0:
        found = run[WARNINGS].item()
    if not isinstance(found, str):
        raise InputError("run: expected a run of simulate() or open_run(), or another result with warnings")
    return decoded(found)


def encoded(warnings: Iterable[RunWarning]) -> str:
    """JSON of warnings, for an attribute."""
    return json.dumps([{name: x for name, x in w.to_dict().items() if x is not None} for w in warnings])


def decoded(text: str) -> list[RunWarning]:
    """Warnings from their JSON; none from an empty text, which a study has for members without any."""
    return [RunWarning(**each) for each in json.loads(text)] if text else []


def said(warnings: Iterable[RunWarning]) -> str:
    """One line of text for each warning."""
    return "\n".join(f"{w.kind}: {w.text}" for w in warnings)
