"""The summary of a run in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tautline import ledger
from tautline.quantities import between as in_one_unit
from tautline.quantities import value
from tautline.results.inputs import case_text
from tautline.results.one_line import with_names
from tautline.results.summary import summarize

if TYPE_CHECKING:
    import xarray as xr

# Ranges in the summary: name in the table, name in the summary, unit.
_RANGES = (
    ("unstretched length", "unstretched_length", "m"),
    ("stretched length", "stretched_length", "m"),
    ("strain", "strain", "%"),
    ("tension", "tension", "N"),
    ("tension at start", "start_tension", "N"),
    ("tension at end", "end_tension", "N"),
    ("drum torque", "torque", "N m"),
    ("drum power", "power", "W"),
)


NO_VALUE = "no finite value"
# Ends of a range that are smaller than this part of the other are rounding, and shown as 0.
ROUNDING = 1e-12


def summary(run: xr.Dataset) -> str:
    """Status, conservation and extremes of a run in lines of text, as `tautline info` prints them.

    Parameters
    ----------
    run : Dataset
        From `simulate` or `open_run`.
    """
    case_text(getattr(run, "attrs", None))  # refuses what is no run
    values = {str(name): np.asarray(x) for name, x in with_names(run).data_vars.items()} | {"time": run.time.values}
    found = summarize([values], dict(run.attrs))
    rows = summary_rows(found, {})
    width = max(map(len, rows))
    return "\n".join([*(f"{name:{width}}  {text}" for name, text in rows.items()), found["message"]])


def summary_rows(summary: dict[str, Any], extra: dict[str, str]) -> dict[str, str]:
    """Names and values of the summary of a run, with extra ones, and its warnings."""

    def between(name: str, unit: str) -> str:
        if summary[name] is None:
            return NO_VALUE
        least = ROUNDING * max(map(abs, summary[name]))
        low, high = (0.0 if abs(x) <= least else x for x in summary[name])
        return in_one_unit(low, high, unit)

    def figure(name: str, digits: str, words: str) -> str:
        return NO_VALUE if summary[name] is None else f"{summary[name]:{digits}}{words}"

    rows = {
        "status": summary["status"],
        "simulated": f"{summary['time']:.6g} s, {summary['rows']} samples",
        "energy balance error": _balance(summary),
        **_accounts(summary),
        **_momenta(summary),
        "orthogonality error": figure("orthogonality_error", ".1e", ""),
        **{title: between(name, unit) for title, name, unit in _RANGES if summary[name] is not None},
        **_utilization(summary["utilization"], summary["utilization_warnings"]),
        **_reels(between("reel_speed", "m/s"), summary),
        "step / stability limit": figure("largest_step_ratio", ".2f", " at most"),
        **extra,
    }
    if summary["not_finite"]:
        rows["not finite"] = f"{summary['not_finite']} samples hold values that are no finite numbers"
    for number, warning in enumerate(summary["warnings"], start=1):
        rows["warning" if len(summary["warnings"]) == 1 else f"warning {number}"] = warning["text"]
    return rows


def _momenta(summary: dict[str, Any]) -> dict[str, str]:
    """Drifts of the momenta that the system keeps."""
    linear, angular = summary["linear_momentum_drift"], summary["angular_momentum_drift"]
    rows = {} if linear is None else {"linear momentum drift": f"{linear:.1e} (relative)"}
    about = "vertical" if linear is None else "origin"
    if angular is not None:
        rows["angular momentum drift"] = f"{angular:.1e} (relative, about the {about})"
    return rows


def _reels(between: str, summary: dict[str, Any]) -> dict[str, str]:
    """Speeds of the reels, if there are any: the range, and those at the end."""
    rounding = ROUNDING * max(map(abs, summary["reel_speed"] or (0.0,)))
    speeds = {
        name: NO_VALUE if x is None else value(x if abs(x) > rounding else 0.0, "m/s")
        for name, x in summary["final_reel_speed"].items()
    }
    at_end = [x if len(speeds) == 1 else f"{name} {x}" for name, x in speeds.items()]
    return {"reel speed": f"{between}, {', '.join(at_end)} at the end"} if speeds else {}


def _utilization(share: float | None, doubts: list[dict[str, Any]]) -> dict[str, str]:
    """Largest use of a breaking load, and whether samples are close enough to see it."""
    rows = {} if share is None else {"utilization": f"{value(share, '%', 3)} of the breaking load at most"}
    return rows | ({"between samples": "; ".join(doubt["text"] for doubt in doubts)} if doubts else {})


def _balance(summary: dict[str, Any]) -> str:
    """Error of the energy balance."""
    error = summary["balance_error"]
    return NO_VALUE if error is None else f"{value(error, '%', 3)} of the energy in play"


def _accounts(summary: dict[str, Any]) -> dict[str, str]:
    """Changes of the stored energies, works and losses since the start that are not zero, and what they leave open."""
    rows = {}
    for account in ledger.ACCOUNTS:
        change, name = summary["accounts"][account.name], account.name.replace("_", " ")
        if change:
            rows[f"change of {name}" if account.kind == ledger.STORED else name] = value(change, account.unit)
    open_ = summary["unexplained_energy"]
    rows["unexplained energy"] = (
        NO_VALUE if open_ is None else f"{value(open_, 'J', 2)} (changes less work plus losses)"
    )
    return rows
