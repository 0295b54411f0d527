"""Accounts of energy, and their balance between samples: what the method made or lost, against the energy in play."""

from __future__ import annotations

import math

from tautline import ledger
from tautline.kernels import data
from tautline.kernels.compensated import accumulate
from tautline.kernels.data import Array, Parameters
from tautline.kernels.jit import kernel

# How each account enters the balance.
SIGNS = tuple(ledger.SIGN[account.kind] for account in ledger.ACCOUNTS)
# Error of the balance in one sample interval, over the energy in play, above which "auto" repeats the interval.
TOLERANCE = 2e-3
# Parts of the elastic energy and of all energy that rounding and the last digits of a state of rest put into play.
AT_REST = 1e-6
ROUNDING = 1e-13


@kernel
def book(par: Parameters, reel: Array, account: int, amount: float) -> None:
    """Add an amount (J) to an account of work or loss."""
    place = data.ACCOUNT_PLACES[account]
    accumulate(reel, place, place + 1, amount, par.compensated)


@kernel
def copy_accounts(reel: Array, out: Array) -> None:
    """Write all accounts that are booked into the columns of a sample."""
    for account in range(data.FIRST_BOOKED, len(SIGNS)):
        out[account] = reel[data.ACCOUNT_PLACES[account]]


@kernel
def kept_energy(x: Array) -> float:
    """Energy less work plus losses of a sample (equation 29); constant, but for the error of the method."""
    total = 0.0
    for account in range(len(SIGNS)):
        total += SIGNS[account] * x[account]
    return float(total)


@kernel
def energy_in_play(reel: Array, x: Array) -> float:
    """Largest sum so far of kinetic energy and change of potential energy since the start."""
    now = x[data.KINETIC] + abs(x[data.ELASTIC] + x[data.GRAVITY] - reel[data.POTENTIAL])
    least = AT_REST * x[data.ELASTIC]
    for account in range(len(SIGNS)):
        least += ROUNDING * abs(x[account])
    return float(max(reel[data.IN_PLAY], now, least))


@kernel
def balance_jump(reel: Array, x: Array) -> float:
    """Error of the balance since the latest sample (J)."""
    return float(abs(kept_energy(x) - reel[data.KEPT]))


@kernel
def balance_tolerance(reel: Array, x: Array) -> float:
    """Error of the balance that a sample interval may have (J)."""
    return TOLERANCE * energy_in_play(reel, x)


@kernel
def note_balance(reel: Array, x: Array) -> None:
    """Go on from this sample."""
    if math.isfinite(x[data.KINETIC]):
        reel[data.IN_PLAY] = energy_in_play(reel, x)
    reel[data.KEPT] = kept_energy(x)
