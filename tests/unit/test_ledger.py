"""The ledger: one table of accounts, and everything that follows from it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tautline import ledger
from tautline.kernels import data
from tautline.kernels.balance import kept_energy
from tests.support.checking import check_close

ROOT = Path(__file__).parents[2]

# A run with an account that the table does not have, and with the work of a torque booked on it too.
ONE_MORE = """
from tautline import ledger
ledger.register(ledger.Account("trial_loss", ledger.LOSS, "energy that a trial has taken"))
import numpy as np
import tautline as tl
from tautline.kernels import balance, data, reeling
from tautline.results.conservation import balance_error
from tests.support import chains
TRIAL = data.account("trial_loss")

def book(par, reel, account, amount):
    balance.book(par, reel, account, amount)
    if account == data.CONTROL_WORK:
        balance.book(par, reel, TRIAL, amount)

reeling.book = book
pendulum = chains.Chain(tl.String(10.0, 0.05, 100.0), tl.Reel(0.3, 0.4, 0.8), tl.RigidBody.point(0.5))
start = chains.straight(pendulum, 4.0, 2, reel_speed=1.5)
run = chains.simulate(pendulum, start, tl.Torque(2.0), duration=0.02, sample=0.01, step=1e-3)
assert run.trial_loss.attrs == {"units": "J", "long_name": "energy that a trial has taken"}
work = run.control_work.values
assert abs(work[-1]) > 1e-3 and np.array_equal(run.trial_loss, work)
# what was booked twice, as work and as a loss, is missing in the balance once
plain = run.energy - run.control_work + run.guide_loss
assert np.allclose(balance_error(run) - (plain - plain[0]), work, rtol=0.0, atol=1e-14)
assert run.attrs["balance_error"] * run.attrs["energy_in_play"] > 0.9 * abs(work[-1])
system = chains.as_system(pendulum, start)
exact = tl.reference.integrate(*system, tl.Torque(2.0), duration=0.01, sample=0.01)
assert not exact.trial_loss.values.any()
"""


def test_a_new_account_is_one_line() -> None:
    environment = os.environ | {"TAUTLINE_ENGINE": "python", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", ONE_MORE], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_kernels_and_arrays_keep_the_same_balance() -> None:
    """Kernels sum by sign over columns, arrays by name."""
    x = np.random.default_rng(1).normal(size=data.SCALARS)
    by_name = {account.name: x[k] for k, account in enumerate(ledger.ACCOUNTS)}
    check_close("balance", kept_energy(x), ledger.kept_energy(by_name), 1e-14)
    for k, account in enumerate(ledger.ACCOUNTS):
        changed = x.copy()
        changed[k] += 1.0
        sign = -1.0 if account.kind == ledger.WORK else 1.0
        check_close(account.name, kept_energy(changed) - kept_energy(x), sign, 1e-14)


def test_the_theory_page_has_the_table() -> None:
    page = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
    section = page.split("## Energy ledger and balance")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{a.name}` | {a.kind} | {a.sentence} |" for a in ledger.ACCOUNTS]


def test_an_account_that_comes_too_late_is_refused() -> None:
    with pytest.raises(RuntimeError, match="before the kernels are loaded"):
        ledger.register(ledger.Account("late_work", ledger.WORK, "work that nothing would book"))
