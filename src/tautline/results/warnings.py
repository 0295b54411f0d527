"""Warnings: what a result says about its own accuracy, and their form in attributes of datasets."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from tautline.errors import InputError
from tautline.results.warning_kinds import KINDS

if TYPE_CHECKING:
    import xarray as xr

WARNINGS = "warnings"  # attribute of datasets, variable of studies


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
