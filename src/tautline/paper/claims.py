"""The statements of the paper's numerical section, each with a number computed from our runs and a verdict."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from scipy.optimize import brentq

from tautline.model.body import RigidBody
from tautline.paper import tumbling
from tautline.paper.examples import only, run, system
from tautline.results.conservation import conservation

# Scheme and order of the runs that every claim is tried on.
METHODS = (("paper", 2), ("symmetric", 2), ("symmetric", 4))
Runs = dict[int, xr.Dataset]


class Measured(NamedTuple):
    value: str  # for people
    number: float  # for machines; NaN where there is none
    holds: bool


class Claim(NamedTuple):
    example: int
    statement: str  # in our words
    paper: str  # the paper's value
    criterion: str  # how the verdict is computed
    measure: Callable[[xr.Dataset], Measured]  # of a result without the dimensions of line and body


def below(bound: str, pick: Callable[[xr.Dataset], float], unit: str = "") -> Callable[[xr.Dataset], Measured]:
    """Whether a figure is below the one that the paper prints, or rounds to it at the paper's last digit."""
    printed = Decimal(bound)

    def measure(result: xr.Dataset) -> Measured:
        x = pick(result)
        value = f"{x:.2g} {unit}".strip()
        if not np.isfinite(x) or x < float(printed):
            return Measured(value, x, bool(x < float(printed)))
        # wide enough for any float at the digit of any bound
        rounded = Decimal(x).quantize(printed, context=Context(prec=400))
        agrees = rounded <= printed
        return Measured(f"{value}, {bound} to the digit printed" if agrees else value, x, agrees)

    return measure


def elastic_peaks(result: xr.Dataset) -> Measured:
    """Times of the greatest elastic energy in [0, 4] and [4, 7] s."""
    times = [float(result.elastic_energy.sel(time=slice(a, b)).idxmax()) for a, b in ((0.0, 4.0), (4.0, 7.0))]
    close = abs(times[0] - 1.8) <= 0.1 and abs(times[1] - 5.5) <= 0.1
    return Measured(f"{times[0]:.2f} and {times[1]:.2f} s", times[0], close)


def transfer_at_stretch(result: xr.Dataset) -> Measured:
    """Kinetic energy dips while elastic energy peaks, and rotation peaks within half a second of it."""
    holds = True
    shares = []
    for peak in (1.8, 5.5):
        near = result.sel(time=slice(peak - 0.5, peak + 0.5))
        moment = result.sel(time=float(near.elastic_energy.idxmax()))
        shares.append(float(moment.elastic_energy / near.kinetic_energy.max()))
        quiet = float(result.rotational_energy.sel(time=slice(peak - 1.5, peak - 0.7)).mean())
        holds &= float(moment.kinetic_energy) < float(near.kinetic_energy.max())
        holds &= float(near.rotational_energy.max()) > 5.0 * quiet
    return Measured(f"{shares[0]:.2f} and {shares[1]:.2f} of T", shares[0], holds)


def turned_over(result: xr.Dataset) -> Measured:
    """First time from which the body hangs on the wrong side of the string's end for a third of the next second."""
    t = tumbling.onset(result).start
    return Measured(f"{t:.2f} s", t, abs(t - tumbling.PAPER) <= tumbling.WINDOW)


def spin_doubles(result: xr.Dataset) -> Measured:
    """First time at which |Omega|, averaged over half a second, is twice its mean over the first 2.5 s."""
    speed = np.linalg.norm(result.angular_velocity.values, axis=1)
    steps = round(0.5 / float(result.time[1] - result.time[0]))
    mean = np.convolve(speed, np.ones(steps) / steps, mode="same")
    early = float(speed[: 5 * steps].mean())
    found = np.flatnonzero(mean > 2.0 * early)
    t = float(result.time[found[0]]) if len(found) else np.nan
    return Measured(f"{t:.1f} s", t, 2.5 <= t <= 3.5)


def trend(name: str, sign: float) -> Callable[[xr.Dataset], Measured]:
    """Mean over the last quarter against the first quarter."""

    def measure(result: xr.Dataset) -> Measured:
        quarter = result.sizes["time"] // 4
        x = result[name].values
        first, last = float(x[:quarter].mean()), float(x[-quarter:].mean())
        return Measured(f"{first:.3g} to {last:.3g} J", last - first, sign * (last - first) > 0.0)

    return measure


EXCHANGE_END = 8.0  # s; after that the string is short and the elastic energy jumps with every swing


def _exchange_period(result: xr.Dataset) -> float:
    """Mean distance of the maxima of the elastic energy in [0, 8] s, smoothed over 0.2 s."""
    part = result.sel(time=slice(0.0, EXCHANGE_END))
    steps = round(0.2 / float(result.time[1] - result.time[0]))
    x = np.convolve(part.elastic_energy.values, np.ones(steps) / steps, mode="same")
    rises = (x[1:-1] > x[:-2]) & (x[1:-1] >= x[2:]) & (x[1:-1] > x.mean())
    peaks = part.time.values[1:-1][rises]
    # maxima nearer than half a second belong to one hump
    humps = [peaks[0], *(b for a, b in pairwise(peaks) if b - a > 0.5)]
    return float(np.diff(humps).mean())


def longitudinal_period(X: float) -> float:
    """Period of the first longitudinal mode with a point mass (s): x tan x = mu X/M with the unstretched length X."""
    paper = system()
    string, body = paper.lines["line"].string, paper.bodies["body"]
    assert isinstance(body, RigidBody)
    mu, M, EA = string.density, body.mass, string.stiffness
    ratio = mu * X / M
    x = brentq(lambda x: x * np.sin(x) - ratio * np.cos(x), 0.0, 0.5 * np.pi)
    return float(2.0 * np.pi * X / (x * np.sqrt(EA / mu)))


def exchange_period(result: xr.Dataset) -> Measured:
    period = _exchange_period(result)
    return Measured(f"{period:.2f} s", period, abs(period - 1.2) <= 0.2)


def exchange_is_longitudinal(result: xr.Dataset) -> Measured:
    """The measured period against the mode's mean over the lengths that were out meanwhile."""
    lengths = result.unstretched_length.sel(time=slice(0.0, EXCHANGE_END)).values
    mode = float(np.mean([longitudinal_period(X) for X in lengths]))
    period = _exchange_period(result)
    return Measured(f"{period:.2f} s; mode {mode:.2f} s", period / mode, abs(period / mode - 1.0) <= 0.1)


def percent(pick: Callable[[Any], float]) -> Callable[[xr.Dataset], float]:
    return lambda result: 100.0 * pick(conservation(result))


SAME = "same bound, at the digit that the paper prints"
TUMBLING = (1, "the body starts to tumble")  # example and statement
QUARTERS = "mean of the last quarter against that of the first"


def _orthogonality(result: xr.Dataset) -> float:
    return conservation(result).orthogonality


CLAIMS = (
    Claim(
        1,
        "the total energy stays within a bound",
        "< 0.01 % of the largest kinetic energy",
        SAME,
        below("0.01", percent(lambda kept: kept.energy), "%"),
    ),
    Claim(
        1,
        "the angular momentum about gravity is kept",
        "< 3e-8 % of its initial value",
        SAME,
        below("3e-8", percent(lambda kept: kept.angular_momentum), "%"),
    ),
    Claim(
        2,
        "energy changes only by the loss at the guide",
        "< 0.0003 % of the largest kinetic energy",
        SAME,
        below("0.0003", percent(lambda kept: kept.energy), "%"),
    ),
    Claim(2, "rotation matrices stay orthogonal", "< 1e-13", SAME, below("1e-13", _orthogonality)),
    Claim(3, "rotation matrices stay orthogonal", "< 1e-13", SAME, below("1e-13", _orthogonality)),
    Claim(
        1,
        "the string is stretched most at two moments",
        "1.8 and 5.5 s",
        "elastic energy peaks within 0.1 s of them",
        elastic_peaks,
    ),
    Claim(
        1,
        "then kinetic energy goes into stretch and rotation",
        "part of it",
        "kinetic energy dips, rotational energy rises fivefold within 0.5 s",
        transfer_at_stretch,
    ),
    Claim(
        1,
        TUMBLING[1],
        "7 s",
        "center of mass on the wrong side of the string's end for a third of the next second, within 1 s of 7 s",
        turned_over,
    ),
    Claim(2, "elastic energy grows while the string is paid out", "grows", QUARTERS, trend("elastic_energy", 1.0)),
    Claim(2, "rotational energy falls meanwhile", "falls", QUARTERS, trend("rotational_energy", -1.0)),
    Claim(3, "total energy grows by the drum's work", "grows", QUARTERS, trend("energy", 1.0)),
    Claim(3, "gravitational energy grows", "grows", QUARTERS, trend("gravity_energy", 1.0)),
    Claim(
        3,
        "elastic and gravitational energy are exchanged periodically",
        "about 1.2 s",
        "mean distance of elastic maxima to 8 s, within 0.2 s",
        exchange_period,
    ),
    Claim(
        3,
        "that exchange is the string's first longitudinal mode",
        "not said",
        "within 10 % of the mode's mean period over the lengths out meanwhile",
        exchange_is_longitudinal,
    ),
    Claim(3, "the body starts to tumble", "3 s", "|Omega| over 0.5 s doubles, within 0.5 s of 3 s", spin_doubles),
)


def all_runs() -> dict[tuple[str, int], Runs]:
    """The three examples by every method."""
    return {(scheme, order): {n: run(n, scheme=scheme, order=order) for n in (1, 2, 3)} for scheme, order in METHODS}


def table(runs: dict[tuple[str, int], Runs]) -> list[dict[str, Any]]:
    """Every claim with what each method measured."""
    rows = []
    for claim in CLAIMS:
        measured = {
            f"{scheme}, order {order}": claim.measure(only(found[claim.example]))
            for (scheme, order), found in runs.items()
        }
        words = {name: x for name, x in claim._asdict().items() if name != "measure"}
        rows.append({**words, "measured": {name: m._asdict() for name, m in measured.items()}})
    return rows


def verdicts_in_words(rows: list[dict[str, Any]], reasons: dict[tuple[int, str], str]) -> list[str]:
    """Number of verdicts that hold; then each claim of which one does not, with what was found and the reason for it.

    `reasons` are sentences by example and statement of the claim. Claims that hold only to the digit printed come last.
    """
    tried = sum(len(row["measured"]) for row in rows)
    held = sum(m["holds"] for row in rows for m in row["measured"].values())
    sentences = [f"{held} of {tried} verdicts hold."]
    for row in rows:
        failed = [f"{m['value']} by {name}" for name, m in row["measured"].items() if not m["holds"]]
        if failed:
            found = f"Example {row['example']}, {row['statement']} (paper: {row['paper']}), does not hold: "
            reason = reasons.get((row["example"], row["statement"]), "")
            sentences.append(f"{found}{'; '.join(failed)}. {reason}".strip())
    for row in rows:
        near = [name for name, m in row["measured"].items() if m["holds"] and "to the digit printed" in m["value"]]
        if near:
            value = row["measured"][near[0]]["value"].split(",")[0]
            sentences.append(
                f"Example {row['example']}, {row['statement']} (paper: {row['paper']}), holds to the digit that the "
                f"paper prints and no further: {value} by {' and by '.join(near)}."
            )
    return sentences
