"""What commands print: tables for people, JSON for scripts, errors in one line."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import typer

from tautline import ledger
from tautline.errors import InputError, TautlineError
from tautline.extras import needed_by

# Exit codes, documented in `tautline --help`.
BAD_INPUT, STOPPED, FILE_TROUBLE, INTERRUPTED = 2, 3, 4, 130
# Events that belong to the numbers and not to the physics.
NUMERICAL = ("unstable_step", "newton_failed", "non_finite")


@contextmanager
def one_line_errors(command: str) -> Iterator[None]:
    """Our own errors become a message and an exit code, never a traceback; so does a library that is missing."""
    try:
        with needed_by(f"tautline {command}"):
            yield
    except TautlineError as error:
        for line in str(error).splitlines():
            print(f"error: {line}", file=sys.stderr)
        raise typer.Exit(BAD_INPUT if isinstance(error, InputError) else FILE_TROUBLE) from None
    except BrokenPipeError:
        raise
    except OSError as error:  # of a file that no code above knows more about
        print(f"error: {error.filename or command}: {error.strerror or error}", file=sys.stderr)
        raise typer.Exit(FILE_TROUBLE) from None


def summary_of(path: Path) -> dict[str, Any]:
    """Status, conservation and extremes of a run file."""
    from tautline.files import runs
    from tautline.results.summary import summarise

    with closing(runs.Reader(path)) as reader:
        return summarise(reader.blocks(), reader.attrs)


def console(no_color: bool, stderr: bool = False) -> Any:
    from rich.console import Console

    # no markup: a file name may hold brackets
    return Console(no_color=no_color, stderr=stderr, highlight=False, markup=False)


def print_json(value: Any) -> None:
    print(json.dumps(_plain(value), indent=2, allow_nan=False))


def _plain(value: Any) -> Any:
    """Value for JSON, which has no NaN and no infinity: null."""
    if isinstance(value, dict):
        return {name: _plain(x) for name, x in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(x) for x in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# Ranges in the summary: name in the table, name in the summary, unit. What a run does not have is left out.
_RANGES = (
    ("unstretched length", "unstretched_length", "m"),
    ("stretched length", "stretched_length", "m"),
    ("strain", "strain", ""),
    ("tension", "tension", "N"),
    ("tension at the guide", "guide_tension", "N"),
    ("tension at the body", "body_tension", "N"),
    ("tension at starts", "start_tension", "N"),
    ("tension at ends", "end_tension", "N"),
    ("drum torque", "torque", "N m"),
    ("drum power", "power", "W"),
)


NO_VALUE = "no finite value"
# Ends of a range that are smaller than this part of the other are rounding, and shown as 0.
ROUNDING = 1e-12


def summary_table(summary: dict[str, Any], extra: dict[str, str]) -> Any:
    """Table of the summary of a run and its remarks."""

    def between(name: str, unit: str) -> str:
        if summary[name] is None:
            return NO_VALUE
        least = ROUNDING * max(map(abs, summary[name]))
        low, high = (0.0 if abs(x) <= least else x for x in summary[name])
        return f"{low:.4g} to {high:.4g} {unit}".rstrip()

    def figure(name: str, digits: str, words: str) -> str:
        return NO_VALUE if summary[name] is None else f"{summary[name]:{digits}}{words}"

    rows = {
        "status": summary["status"],
        "simulated": f"{summary['time']:.6g} s, {summary['rows']} samples",
        "energy balance error": _balance(summary),
        **_accounts(summary),
        **_momenta(summary, figure),
        "orthogonality error": figure("orthogonality_error", ".1e", ""),
        **{title: between(name, unit) for title, name, unit in _RANGES if summary[name] is not None},
        **_utilisation(summary["utilisation"]),
        "reel speed": f"{between('reel_speed', 'm/s')}, {_speeds(summary['final_reel_speed'])} m/s at the end",
        "step / stability limit": figure("largest_step_ratio", ".2f", " at most"),
        **extra,
    }
    if summary["not_finite"]:
        rows["not finite"] = f"{summary['not_finite']} samples hold values that are no finite numbers"
    for number, text in enumerate(summary["remarks"], start=1):
        rows["remark" if len(summary["remarks"]) == 1 else f"remark {number}"] = text
    return two_columns(rows)


def _momenta(summary: dict[str, Any], figure: Any) -> dict[str, str]:
    """Drifts of momenta; of an assembly where nothing acts on it from outside."""
    if "linear_momentum_drift" not in summary:
        return {"angular momentum drift": figure("angular_momentum_drift", ".1e", " (relative, about the vertical)")}
    if summary["linear_momentum_drift"] is None:
        return {}
    return {
        "linear momentum drift": figure("linear_momentum_drift", ".1e", " (relative)"),
        "angular momentum drift": figure("angular_momentum_drift", ".1e", " (relative, about the origin)"),
    }


def _speeds(speed: Any) -> str:
    return ", ".join(f"{x:.4g}" for x in speed) if isinstance(speed, list) else f"{speed:.4g}"


def _utilisation(value: float | None) -> dict[str, str]:
    return {} if value is None else {"utilisation": f"{100 * value:.3g} % of the breaking load at most"}


def ending(summary: dict[str, Any]) -> str:
    """How a run ended, without the remarks that the table shows."""
    remarks = "; ".join(summary["remarks"])
    return str(summary["message"]).removesuffix(f"; {remarks}" if remarks else "")


def _balance(summary: dict[str, Any]) -> str:
    """Error of the energy balance."""
    error = summary["balance_error"]
    return NO_VALUE if error is None else f"{100 * error:.2e} % of the energy in play"


def _accounts(summary: dict[str, Any]) -> dict[str, str]:
    """Changes of the stored energies, works and losses since the start that are not zero, and what they leave open."""
    rows = {}
    for account in ledger.ACCOUNTS:
        value, name = summary["accounts"][account.name], account.name.replace("_", " ")
        if value:
            rows[f"change of {name}" if account.kind == ledger.STORED else name] = f"{value:.4g} {account.unit}"
    open_ = summary["unexplained_energy"]
    rows["unexplained energy"] = NO_VALUE if open_ is None else f"{open_:.2g} J (changes less work plus losses)"
    return rows


def two_columns(rows: dict[str, str]) -> Any:
    """Table of names and values."""
    from rich.table import Table

    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    for name, value in rows.items():
        table.add_row(name, value)
    return table
