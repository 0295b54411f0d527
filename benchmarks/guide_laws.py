"""Energy under every guide law, from its formula and in runs.

`python -m benchmarks.guide_laws` writes the tables of docs/guide-laws.md, with which a test compares what is computed
here. The energy that goes from the guide to the drum (law `stretched`) is not lost and counts as kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr

from benchmarks import pages
from tautline import registry
from tautline.engine.lowering import line_parameters
from tautline.engine.simulate import simulate
from tautline.kernels import data, guide
from tautline.kernels.entrance import Entrance
from tautline.kernels.guide_laws import stretched
from tautline.paper.examples import EXAMPLES, only, start, system
from tautline.results.conservation import balance_error

PAGE = pages.ROOT / "docs" / "guide-laws.md"
LAWS = tuple(registry.GUIDE_LAWS)
STRAINS = {"taut": np.linspace(0.01, 0.3, 8), "compressed": -np.linspace(0.01, 0.3, 8)}
# Reel speeds as parts of the wave speed; the smoothing at standstill is left aside.
SPEEDS = np.linspace(0.05, 0.95, 10)
FASTER = np.linspace(1.05, 2.0, 10)
# Strains of the string on the drum over that outside; with the other laws it is spooled unstretched.
SPOOLED = (0.0, 0.5, 0.9, 1.1, 2.0)
# In the windows of the runs all laws are far from chaos, and no run has reached its end.
RUNS = {2: 5.0, 3: 6.0}
DIRECTIONS = {"retrieval": 1.0, "deployment": -1.0}
KEPT = 1e-12


class Range(NamedTuple):
    """Range of the energy lost with a unit of unstretched length, over EA jump^2/2."""

    least: float
    most: float

    def verdict(self) -> str:
        if max(-self.least, self.most) < KEPT:
            return "keeps"
        if self.least >= -KEPT:
            return "loses"
        return "**gains**" if self.most <= KEPT else "**either**"


def lost_energy(law: str, strain: float, spooled_strain: float, sigma: float) -> float:
    """With a unit of unstretched length that passes the guide; what the kernels do, on a drum of one wide cell."""
    (line,) = system(law).lines.values()
    par = line_parameters(line.string, line.reel, 1, "symmetric", True)._replace(sigma_0=1e-30)
    at = Entrance(strain, spooled_strain if law == "stretched" else 0.0)
    force = guide.carnot_force(par, at, sigma)[0]
    work = -(force + guide.spooled_force(par, at)) * np.sign(sigma)
    if law != "stretched":
        return float(work)
    reel = np.append(np.zeros(data.REEL_SIZE), at.spooled)
    length = 1e-3 * par.L
    if sigma > 0.0:  # into an empty cell; one that holds something mixes, which takes energy
        return float(work - stretched.wind_in(par, 0.0, length, strain, reel) / length)
    return float(work - stretched.wind_out(par, reel, par.L, par.L - length, strain, strain)[0] / length)


def scanned(law: str, strains: np.ndarray, speeds: np.ndarray, direction: float) -> Range:
    """Over strains and speeds, and for the law `stretched` over strains on the drum."""
    string = system().lines["line"].string
    EA, c = string.stiffness, string.wave_speed
    found = []
    for strain in strains:
        for ratio in SPOOLED if law == "stretched" else (0.0,):
            scale = 0.5 * EA * (strain - ratio * strain) ** 2
            found += [lost_energy(law, strain, ratio * strain, direction * c * x) / scale for x in speeds]
    return Range(min(found), max(found))


class Account(NamedTuple):
    """Energy lost at the guide in a run, by direction and state of the string, and in total."""

    parts: dict[tuple[str, str], float]
    lost: float
    worst: float  # least loss in a step
    deployed: float
    unexplained: float


def account(run: xr.Dataset) -> Account:
    """Sampled in every step. Steps count by the direction of the reel and by the strain of the first element."""
    steps = np.diff(run.guide_loss.values)
    turned = np.diff(run.reeled_length.values)
    strain = run.strain.values[:-1, 0]
    parts = {}
    for direction, sign in DIRECTIONS.items():
        for state in STRAINS:
            side = strain >= 0.0 if state == "taut" else strain < 0.0
            parts[direction, state] = float(steps[(sign * turned > 0.0) & side].sum())
    unexplained = float(np.abs(balance_error(run)).max())
    return Account(parts, float(run.guide_loss[-1]), float(steps.min()), float(run.unstretched_length[-1]), unexplained)


def run_of(number: int, law: str) -> xr.Dataset:
    example = EXAMPLES[number - 1]
    run = only(simulate(system(law), start(example), example.command, duration=RUNS[number], step=5e-4, sample=5e-4))
    if run.attrs["status"] != "completed":
        raise RuntimeError(f"example {number}, law {law}: {run.attrs['message']}")
    return run


def _joules(energy: float) -> str:
    return f"{energy:+.3g} J" if abs(energy) > KEPT else "0"


def _formula_table(speeds: np.ndarray, laws: Sequence[str]) -> str:
    rows = []
    for law in laws:
        for state, strains in STRAINS.items():
            cells = []
            for sign in DIRECTIONS.values():
                found = scanned(law, strains, speeds, sign)
                cells.append(found.verdict())
                if cells[-1] != "keeps":
                    cells[-1] += f", {found.least:+.2f} to {found.most:+.2f}"
            rows.append([f"`{law}`", state, *cells])
    return pages.table(["law", "string", "retrieval", "deployment"], rows)


def _run_table(number: int) -> str:
    states = [(direction, state) for direction in DIRECTIONS for state in STRAINS]
    rows = []
    for law in LAWS:
        found = account(run_of(number, law))
        parts = [_joules(found.parts[x]) for x in states]
        gains = "gains" if found.worst < -KEPT else "no gain"
        ends = [_joules(found.lost), gains, f"{found.deployed:.2f} m", f"{found.unexplained:.0e} J"]
        rows.append([f"`{law}`", *parts, *ends])
    head = [*(f"{d}, {s}" for d, s in states), "total", "any step", "out at the end", "balance error"]
    return pages.table(["law", *head], rows)


def tables() -> dict[str, str]:
    """Tables of docs/guide-laws.md by name."""
    return {
        "slower": _formula_table(SPEEDS, LAWS),
        "faster": _formula_table(FASTER, ["momentum"]),
        "deployment": _run_table(2),
        "retrieval": _run_table(3),
    }


if __name__ == "__main__":
    pages.rewrite(PAGE, tables())
