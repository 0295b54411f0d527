"""How far the step of the runs moves the values of a fit, from one more run with half of it."""

from __future__ import annotations

import math

import numpy as np

from tautline.arrays import Array
from tautline.fitting.losses import push
from tautline.fitting.search import Search
from tautline.model.run import Run
from tautline.model.wording import both
from tautline.results.warnings import RunWarning

# Shift of a value by the step, in its standard errors: with more, intervals of 95 % hold the truth in less than 93.7 %.
SHIFT = 1.0 / 3.0
# Advised steps are to leave this part of that.
MARGIN = 0.8
# Digits of an advised step, and how many times as many steps as needed are allowed to have no more digits than that.
DIGITS, MOST_MORE = 3, 2
ROUNDING = 1e-9


def step_warnings(search: Search, keys: list[str], errors: Array, pull: Array) -> list[RunWarning]:
    """Warning on values that the step moves by a considerable part of their standard errors.

    Halving the step changes residuals by 1 - 2^-p of what its error is in them, with a method of order p.

    Parameters
    ----------
    search : Search
        At its end.
    keys : list of str
        Keys of the values that are not at a bound.
    errors : array
        Standard errors of x for them; NaN where they are unknown.
    pull : array
        Change of x by changes of the pushes of residuals.
    """
    step, finer = search.with_half_step()
    if isinstance(finer, str):
        text = f"a run with half the step, to find how far the step moves the values, was not possible: {finer}"
        return [RunWarning("fit_step", text)]
    run, residuals = search.model.case.run, search.residuals(search.x)
    order = 1 if run.scheme == "paper" else run.order
    exact = residuals + (finer - residuals) / (1.0 - 0.5**order)
    before, after = (push(x, search.loss)[0] for x in (residuals, exact))
    shifts = np.abs(pull @ (after - before))
    shares = np.nan_to_num(shifts / np.where(errors > 0.0, errors, np.nan))
    largest = float(np.max(shares, initial=0.0))
    if not largest > SHIFT:
        return []
    moved = [k for k in np.argsort(-shares) if shares[k] > SHIFT]
    needed = step * (MARGIN * SHIFT / largest) ** (1.0 / order)
    advised = advised_step(needed, run, search.model.sampling.interval)
    size = 1e3 if advised < 0.1 else 1.0
    parts = both([f"{keys[k]} by about {shares[k]:.2g}" for k in moved])
    text = (
        f"the step of {step:.3g} s moves {parts} standard errors; set run.step = "
        f'"{size * advised:.12g} {"ms" if size > 1.0 else "s"}", {step / advised:.2g} times as many steps'
    )
    return [RunWarning("fit_step", text, largest, SHIFT, where=keys[moved[0]])]


def advised_step(needed: float, run: Run, interval: float) -> float:
    """Step (s) that a case may have, not much smaller than needed: of few digits, and a part of the fit's interval too.

    Where that cannot be, of few digits at least.
    """
    own = run.duration if run.sample is None else run.sample
    unit = 10.0 ** (math.floor(math.log10(needed)) - DIGITS + 1)
    most = math.floor(needed / unit * (1.0 + ROUNDING))
    short = [float(f"{k * unit:.{DIGITS - 1}e}") for k in range(most, most // MOST_MORE, -1)]
    possible = [step for step in short if _divides(step, own)]
    both_ways = (step for step in possible if _divides(step, interval))
    return next(both_ways, possible[0] if possible else own / math.ceil(own / needed))


def _divides(step: float, time: float) -> bool:
    return round(time / step) >= 1 and math.isclose(time / step, round(time / step), rel_tol=ROUNDING)
